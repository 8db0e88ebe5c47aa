//! The errors of files with MCP servers: place, reason and remedies. Must never quote a value, which may be secret.

use std::path::PathBuf;

use retake_core::Remedy;
use strum::IntoStaticStr;
use thiserror::Error;

/// Why a file of servers cannot be read or changed.
#[derive(Debug, Error, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum ConfigError {
    /// It can't be read.
    #[error("cannot read the MCP servers in {}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
    /// It can't be written.
    #[error("cannot write the MCP servers to {}", path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
    /// It is not JSON.
    #[error("{}, line {line}: this is not valid JSON: {problem}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
        /// The error there.
        problem: String,
    },
    /// A key has an invalid value.
    #[error("{}, line {line}: `{key}`: {problem}", path.display())]
    #[strum(serialize = "wrong_value")]
    Wrong {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
        /// The key.
        key: String,
        /// The error.
        problem: String,
    },
    /// It has other keys and no servers.
    #[error("{} names no server: it has {}, and no “mcpServers”", path.display(), keys.join(", "))]
    NoServers {
        /// The file.
        path: PathBuf,
        /// The first of its keys, in quotes.
        keys: Vec<String>,
    },
    /// A server has an unknown key.
    #[error("{}, line {line}: “{key}” of the server “{server}” means nothing here", path.display())]
    UnknownKey {
        /// The file.
        path: PathBuf,
        /// The line.
        line: usize,
        /// The key.
        key: String,
        /// The name of the server.
        server: String,
    },
    /// The name is not valid for a server.
    #[error("`{0}` can't be the name of an MCP server")]
    BadName(String),
    /// The description of a server is not valid.
    #[error("the MCP server `{name}` can't be added: {problem}")]
    BadEntry {
        /// Its name.
        name: String,
        /// The error.
        problem: String,
    },
    /// A server with this name exists already.
    #[error("there is an MCP server `{name}` in {}", path.display())]
    Exists {
        /// Its name.
        name: String,
        /// The file.
        path: PathBuf,
    },
    /// There is no server with this name.
    #[error("there is no MCP server `{name}` in {}", path.display())]
    Missing {
        /// Its name.
        name: String,
        /// The file.
        path: PathBuf,
    },
}

/// The error of a file of servers, for programs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConfigFault {
    /// The kind of error; the same in every format.
    pub what: &'static str,
    /// The file.
    pub path: Option<PathBuf>,
    /// The line, from 1.
    pub line: Option<usize>,
    /// The key.
    pub key: Option<String>,
    /// The first keys of a file without servers, in quotes.
    pub keys: Vec<String>,
    /// The name of the server.
    pub server: Option<String>,
    /// What is wrong, as the message says it.
    pub problem: Option<String>,
}

impl ConfigError {
    /// The error with its place.
    pub fn fault(&self) -> ConfigFault {
        let (path, line, key, server, problem) = match self {
            Self::Unreadable { path, .. } | Self::Unwritable { path, .. } | Self::NoServers { path, .. } => {
                (Some(path), None, None, None, None)
            }
            Self::Syntax { path, line, problem } => (Some(path), Some(*line), None, None, Some(problem)),
            Self::Wrong { path, line, key, problem } => {
                (Some(path), Some(*line), Some(key), None, Some(problem))
            }
            Self::UnknownKey { path, line, key, server } => {
                (Some(path), Some(*line), Some(key), Some(server), None)
            }
            Self::BadName(name) => (None, None, None, Some(name), None),
            Self::BadEntry { name, problem } => (None, None, None, Some(name), Some(problem)),
            Self::Exists { name, path } | Self::Missing { name, path } => {
                (Some(path), None, None, Some(name), None)
            }
        };
        let keys = match self {
            Self::NoServers { keys, .. } => keys.clone(),
            _ => Vec::new(),
        };
        ConfigFault {
            what: self.name(),
            keys,
            path: path.cloned(),
            line,
            key: key.cloned(),
            server: server.cloned(),
            problem: problem.cloned(),
        }
    }

    fn name(&self) -> &'static str {
        self.into()
    }

    /// What helps, in the order of the hint for it.
    pub fn remedies(&self) -> Vec<Remedy> {
        match self {
            Self::Exists { .. } => vec![Remedy::McpRemove],
            Self::Missing { .. } => vec![Remedy::McpList],
            _ => Vec::new(),
        }
    }
}
