//! Facts about an MCP server. Must never contain the value of a variable.

/// A permission that the approval of a server includes. Terminal control characters and invisible ones are escaped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Approves {
    /// It runs this command line.
    Command(String),
    /// It runs in this folder.
    Folder(String),
    /// It runs with this variable: `NAME=VALUE`.
    Variable(String),
    /// It gets the agent's calls at this address.
    Address(String),
    /// It gets this header: `NAME: VALUE`.
    Header(String),
    /// It gets the user's variable with this name.
    Given {
        /// The variable.
        variable: String,
        /// Whether it looks like a secret.
        secret: bool,
    },
}

/// The most tools of one server: all of them are in every prompt.
pub const MOST: usize = 128;

/// A notice about a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// This tool is left out.
    ToolLeftOut(String, LeftOut),
    /// This many more are left out, for similar reasons.
    MoreLeftOut(usize),
    /// It offers at least this many tools; only the first ones are used.
    TooMany(usize),
    /// Its tools changed, and cannot be listed, for this reason.
    NotListed(String),
}

/// Why a tool is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// Its name is empty or too long.
    BadName,
    /// An earlier tool has the same name.
    SameName,
    /// Its schema is not an object.
    NoSchema,
    /// Its schema does not describe an object.
    BadSchema,
    /// Its schema is too long.
    LongSchema,
}
