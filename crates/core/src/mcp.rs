//! What is known of an MCP server, as facts. Must never hold the value of a variable.

/// Something that an approval of a server allows. What acts on a terminal or is invisible stands in it as an escape.
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
    /// It is given the user's variable of this name.
    Given {
        /// The variable.
        variable: String,
        /// It looks like a secret.
        secret: bool,
    },
}

/// So many tools of one server are used: all of them stand in every prompt.
pub const MOST: usize = 128;

/// Something that should be known of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// This tool of its is left out.
    ToolLeftOut(String, LeftOut),
    /// So many more are left out, for such reasons.
    MoreLeftOut(usize),
    /// It offers at least so many tools; the first of them are used.
    TooMany(usize),
    /// Its tools changed, and can't be listed: why.
    NotListed(String),
}

/// Why a tool is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOut {
    /// Its name is empty or too long.
    BadName,
    /// There is one of that name before it.
    SameName,
    /// Its schema is no object.
    NoSchema,
    /// Its schema describes no object.
    BadSchema,
    /// Its schema is too long.
    LongSchema,
}
