//! What is known of an MCP server, as facts. Must never hold the value of a variable.

use std::fmt;

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

/// For notices of a run. A person reads the same words in a list: `wire/src/english/mcp.rs`.
impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ToolLeftOut(tool, why) => {
                let why = match why {
                    LeftOut::BadName => "its name is empty or longer than 128 characters",
                    LeftOut::SameName => "there is one of that name before it",
                    LeftOut::NoSchema => "its schema is no object",
                    LeftOut::BadSchema => "its schema describes no object",
                    LeftOut::LongSchema => "its schema has more than 64 kB",
                };
                write!(f, "left out its tool “{tool}”: {why}")
            }
            Self::MoreLeftOut(more) => write!(f, "left out {more} more of its tools, for such reasons"),
            Self::TooMany(offered) => {
                write!(f, "it offers {offered} tools and more; the first {MOST} are used")
            }
            Self::NotListed(why) => write!(f, "its tools changed, and can't be listed: {why}"),
        }
    }
}
