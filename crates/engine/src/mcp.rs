//! The MCP servers of folders: started when they are first asked for, once for each folder, and anew when their files have changed.
//! Must never start a project's server without leave, nor change a file that is not the user's.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use retake_tools::Surroundings;
use retake_tools::mcp::{Allowed, Config, ConfigError, Deps, Variables, add, remove};
pub use retake_tools::mcp::{McpServers, Origin, ServerShown, State, ToolShown, Way, beginning};

use crate::engine::Engine;
use crate::error::{EngineError, Kind, Result, said};

/// The tool that reads files, as rules name it.
const READ: &str = "read";

/// The user's files about MCP servers.
#[derive(Clone, Debug)]
pub struct McpFiles {
    /// The servers.
    pub servers: PathBuf,
    /// The projects' servers that may be started.
    pub allowed: PathBuf,
}

impl McpFiles {
    /// Those in a folder of settings.
    pub fn below(folder: &Path) -> Self {
        Self { servers: folder.join("mcp.json"), allowed: folder.join("mcp-allowed.json") }
    }
}

/// A file that was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpWritten {
    /// Which.
    pub path: PathBuf,
    /// How large it is now.
    pub bytes: u64,
}

/// The servers of a folder, once they are started.
type Slot = Arc<tokio::sync::Mutex<Option<Arc<McpServers>>>>;

/// The servers that were started.
#[derive(Default)]
pub(crate) struct Started(Mutex<HashMap<PathBuf, Slot>>);

impl Started {
    fn slot(&self, folder: &Path) -> Slot {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(slots.entry(folder.to_owned()).or_default())
    }
}

impl Engine {
    /// The MCP servers of a folder, which may still be starting. What they offer does not change under whoever has asked for the
    /// tools: ask once a turn. Those that are started now get this environment; that of this process, without.
    pub async fn servers(&self, folder: &Path, theirs: Option<Arc<Surroundings>>) -> Arc<McpServers> {
        let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        let slot = self.started.slot(&folder);
        let mut slot = slot.lock().await;
        let (config, allowed) = match &self.parts().mcp {
            Some(files) => (Config::read(&files.servers, &folder), Allowed::at(&files.allowed)),
            None => (Config::default(), Allowed::at(Path::new(""))),
        };
        if let Some(servers) = slot.as_ref().filter(|servers| servers.are_of(&config, &allowed)) {
            return Arc::clone(servers);
        }
        let secrets = self.parts().agent.as_ref().map(|agent| agent.secrets.clone()).unwrap_or_default();
        let variables = match theirs {
            Some(theirs) => Variables::of(&theirs, secrets),
            None => Variables::process(secrets),
        };
        let umask = self.own_umask();
        let mut deps = Deps { umask, ..Deps::new(folder, variables, allowed) };
        if let Some(agent) = &self.parts().agent {
            (deps.sandbox, deps.memory) = (agent.sandbox.clone(), agent.memory);
            if deps.sandbox.is_some() && !config.servers.is_empty() {
                let roots = [deps.folder.clone()];
                deps.hide = self.secret_files_first(&deps.folder, &agent.guarded).await;
                deps.held = self.programs_in(&deps.folder).await;
                deps.hide.retain(|path| !agent.permission.allows_by_name(READ, path, &roots));
            }
        }
        let servers = Arc::new(McpServers::begin(&config, deps));
        // Calls that still go on keep those that were there before.
        *slot = Some(Arc::clone(&servers));
        servers
    }

    /// Adds a server to the user's file.
    pub fn add_server(&self, name: &str, way: &Way) -> Result<McpWritten> {
        let path = self.mcp_files()?.servers.clone();
        Ok(McpWritten { bytes: add(&path, name, way)?, path })
    }

    /// Takes a server out of the user's file.
    pub fn remove_server(&self, name: &str) -> Result<McpWritten> {
        let path = self.mcp_files()?.servers.clone();
        Ok(McpWritten { bytes: remove(&path, name)?, path })
    }

    /// Gives leave for a server that the project in a folder names, as its file says now; where somebody saw an entry before, for
    /// that one only.
    pub fn allow_server(&self, folder: &Path, name: &str, seen: Option<&str>) -> Result<McpWritten> {
        let files = self.mcp_files()?;
        let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        let config = Config::read(&files.servers, &folder);
        let Some(entry) = config.servers.iter().find(|entry| entry.name == name) else {
            let message = format!("no MCP server `{name}` is named for {}", folder.display());
            return Err(EngineError::new(Kind::NotFound, "mcp", message)
                .hint("`retake mcp list` shows those that there are"));
        };
        if entry.origin == Origin::User {
            let message = format!("the MCP server `{name}` is your own and needs no leave");
            return Err(EngineError::new(Kind::Refused, "mcp", message).hint("it is used as it is"));
        }
        if seen.is_some_and(|seen| seen != entry.digest) {
            let message = format!("the entry of the MCP server `{name}` has changed since you saw it");
            return Err(EngineError::new(Kind::Refused, "mcp", message)
                .hint(format!("see it again: `retake mcp allow {name}`")));
        }
        let bytes = Allowed::at(&files.allowed).allow(&folder, entry)?;
        Ok(McpWritten { bytes, path: files.allowed.clone() })
    }

    fn mcp_files(&self) -> Result<&McpFiles> {
        let none =
            || EngineError::new(Kind::Refused, "mcp", "there is no place for a file of MCP servers here");
        self.parts().mcp.as_ref().ok_or_else(none)
    }
}

impl From<ConfigError> for EngineError {
    fn from(error: ConfigError) -> Self {
        let kind = match &error {
            ConfigError::Unreadable { .. } | ConfigError::Unwritable { .. } => Kind::Storage,
            ConfigError::Exists { .. } => Kind::Refused,
            ConfigError::Missing { .. } => Kind::NotFound,
            ConfigError::Syntax { .. }
            | ConfigError::Wrong { .. }
            | ConfigError::BadName(_)
            | ConfigError::BadEntry { .. } => Kind::Usage,
        };
        let cause = std::error::Error::source(&error).map(|cause| said(cause.to_string()));
        Self { cause, ..Self::new(kind, "mcp", error.to_string()).hint(error.hint()) }
    }
}
