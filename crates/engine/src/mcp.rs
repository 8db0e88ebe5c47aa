//! The MCP servers of folders: started at the first request, once for each folder, and again after their files changed. Must
//! never start a project's server without approval, nor change a file that is not the user's.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use futures::future::BoxFuture;

use retake_core::mcp::{Approves, Note};
use retake_core::{Field, Remedy, Rule};
use retake_tools::mcp::{
    Allowed, Config, ConfigError, ConfigFault, Deps, Failure, FailureKind, McpServers, Origin, ServerNotice,
    ServerShown, ServerTransport, State, Variables, add, beginning, broken, remove,
};
use retake_tools::{CallEnvironment, Guarded};

use crate::Engine;
use crate::error::{EngineError, Kind, Result, said};
use crate::files::blocking;
use crate::log;
use crate::notice::Notice;

/// The name of the tool that reads files, in rules.
const READ: &str = "read";

/// The user's files about MCP servers.
#[derive(Clone, Debug)]
pub struct McpFiles {
    /// The servers.
    pub servers: PathBuf,
    /// The approved servers of projects.
    pub allowed: PathBuf,
}

impl McpFiles {
    /// The files in a folder of settings.
    pub fn below(folder: &Path) -> Self {
        Self { servers: folder.join("mcp.json"), allowed: folder.join("mcp-allowed.json") }
    }
}

/// A file that was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpWritten {
    /// Its path.
    pub path: PathBuf,
    /// Its size now.
    pub bytes: u64,
}

/// The transport to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum McpTransport {
    /// A program that is started and reached through its pipes.
    Command {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Additional environment variables.
        env: Vec<(String, String)>,
    },
    /// An address with streamable HTTP.
    Url {
        /// The address.
        url: String,
        /// Headers of every request.
        headers: Vec<(String, String)>,
    },
}

/// The state of a server.
#[derive(Clone, Debug)]
pub enum McpState {
    /// It is being started.
    Starting,
    /// Its tools can be called.
    Ready,
    /// It cannot be used; the field `what` contains the kind of failure.
    Failed(EngineError),
    /// A project declares it, and no person has approved it yet.
    NeedsApproval,
    /// Its entry disables it.
    Disabled,
}

/// A server of a folder.
#[derive(Clone, Debug)]
pub struct McpServerInfo {
    /// Its name.
    pub name: String,
    /// Whether a file of the project declares it, and not the user's own.
    pub is_of_project: bool,
    /// Its command or address, from its file.
    pub command_line: String,
    /// What an approval allows; empty if none is needed.
    pub approval: Vec<Approves>,
    /// Rules that were made for another server with this name: after an approval they allow calls of this one, too.
    pub rules: Vec<Rule>,
    /// The digest of its entry, which the approval is for.
    pub entry: String,
    /// Its state.
    pub state: McpState,
    /// Its tools, by name.
    pub tools: Vec<McpToolInfo>,
    /// Remarks.
    pub notes: Vec<Note>,
}

/// A tool of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpToolInfo {
    /// The name that the model uses.
    pub name: String,
    /// Its description by the server.
    pub about: String,
    /// Whether the server declares it as read-only.
    pub reads: bool,
}

impl From<ServerShown> for McpServerInfo {
    fn from(shown: ServerShown) -> Self {
        let state = match shown.state {
            State::Starting => McpState::Starting,
            State::Ready => McpState::Ready,
            State::Failed(failure) => McpState::Failed(failed(failure)),
            State::NeedsApproval => McpState::NeedsApproval,
            State::Disabled => McpState::Disabled,
        };
        let tools = shown.tools.into_iter();
        let tools = tools.map(|tool| McpToolInfo { name: tool.name, about: tool.about, reads: tool.reads });
        Self {
            name: shown.name,
            is_of_project: shown.origin == Origin::Project,
            command_line: shown.way,
            approval: shown.asked,
            rules: Vec::new(),
            entry: shown.entry,
            state,
            tools: tools.collect(),
            notes: shown.notes,
        }
    }
}

/// Whether captures and commands in a folder are impossible after this error. Any other error may be temporary, as for a folder
/// in which another program works.
fn captures_nothing(error: &EngineError) -> bool {
    matches!(error.code, "no_workspace" | "no_files")
}

/// Why no server starts: the files that it must not read are not known.
fn refused(error: &EngineError) -> Failure {
    let why = format!(
        "its sandbox cannot be made, as the files that hold secrets cannot be listed: {error}; the next turn tries again"
    );
    Failure { kind: FailureKind::NotStarted, why }
}

/// The error of a server that cannot be used.
fn failed(Failure { kind, why }: Failure) -> EngineError {
    EngineError::new(Kind::Refused, "mcp", why.clone()).with("what", kind.name()).with("problem", why)
}

/// The servers of a folder after their start.
type Slot = Arc<tokio::sync::Mutex<Option<Arc<McpServers>>>>;

/// The servers that were started, by folder.
#[derive(Default)]
pub(crate) struct Started(Mutex<HashMap<PathBuf, Slot>>);

impl Started {
    fn slot(&self, folder: &Path) -> Slot {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(slots.entry(folder.to_owned()).or_default())
    }
}

impl Engine {
    /// The MCP servers of a folder, which may still be starting. Their tools do not change while a caller uses the returned ones:
    /// call this once for each turn. Servers that start now get this environment, or that of this process.
    pub(crate) fn servers<'a>(
        &'a self,
        folder: &'a Path,
        theirs: Option<Arc<CallEnvironment>>,
    ) -> BoxFuture<'a, Arc<McpServers>> {
        Box::pin(async move {
            let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
            let slot = self.started.slot(&folder);
            let mut slot = slot.lock().await;
            let (config, allowed) = self.mcp_config(&folder);
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
                    match self.kept_from_servers(&deps.folder, &agent.guarded).await {
                        Ok((hide, held)) => (deps.hide, deps.held) = (hide, held),
                        Err(error) => {
                            log::failed(&error, "no MCP server starts in the sandbox");
                            deps.refused = Some(refused(&error));
                        }
                    }
                    deps.hide.retain(|path| !agent.permission.allows_by_name(READ, path, &roots));
                }
            }
            let servers = Arc::new(McpServers::begin(&config, deps));
            // Running calls keep the earlier servers.
            *slot = Some(Arc::clone(&servers));
            servers
        })
    }

    /// Starts those servers of a folder again that were refused for a reason that is gone. Once for each turn: the caller that
    /// waits for them calls it first.
    pub(crate) async fn retry_refused_servers(&self, folder: &Path) {
        let Some(agent) = &self.parts().agent else { return };
        let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        let slot = self.started.slot(&folder);
        let mut slot = slot.lock().await;
        if slot.as_ref().is_some_and(|servers| servers.are_refused())
            && self.kept_from_servers(&folder, &agent.guarded).await.is_ok()
        {
            *slot = None;
        }
    }

    /// The files of a folder that its servers must not read, and those that they must not change. None in a folder that is
    /// refused as a workspace: nothing is captured there, and commands do not run.
    async fn kept_from_servers(
        &self,
        folder: &Path,
        guarded: &Guarded,
    ) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
        let known = async {
            let hidden = self.secret_files_first(folder, guarded).await?;
            Ok::<_, EngineError>((hidden, self.programs_in(folder).await?))
        };
        match known.await {
            Err(error) if captures_nothing(&error) => Ok(Default::default()),
            known => known,
        }
    }

    /// The configuration of the servers of a folder, by its real path.
    fn mcp_config(&self, folder: &Path) -> (Config, Allowed) {
        match &self.parts().mcp {
            Some(files) => (Config::read(&files.servers, folder), Allowed::at(&files.allowed)),
            None => (Config::default(), Allowed::at(Path::new(""))),
        }
    }

    /// The servers of a folder, or the one with this name, after they have started or failed; and the problems of their files.
    pub fn mcp_servers<'a>(
        &'a self,
        folder: &'a Path,
        name: Option<&'a str>,
    ) -> BoxFuture<'a, Result<(Vec<McpServerInfo>, Vec<EngineError>)>> {
        Box::pin(async move {
            self.retry_refused_servers(folder).await;
            let servers = self.servers(folder, None).await;
            servers.settled().await;
            let mut shown: Vec<McpServerInfo> = servers.shown().into_iter().map(Into::into).collect();
            let permission = self.permission_for_all();
            for server in shown.iter_mut().filter(|server| matches!(server.state, McpState::NeedsApproval)) {
                server.rules = permission.allowing(&beginning(&server.name)).cloned().collect();
            }
            if let Some(name) = name {
                shown.retain(|server| server.name == name);
                if shown.is_empty() {
                    let message = format!("there is no MCP server `{name}`");
                    return Err(EngineError::new(Kind::NotFound, "mcp", message)
                        .with("what", "missing")
                        .with("server", name)
                        .remedies([Remedy::McpList]));
                }
            }
            Ok((shown, self.mcp_file_problems(folder)))
        })
    }

    /// The problems of the files that declare the servers of a folder.
    fn mcp_file_problems(&self, folder: &Path) -> Vec<EngineError> {
        let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
        let (config, allowed) = self.mcp_config(&folder);
        let broken = broken(&config, &allowed);
        let problems = config.problems.into_iter().chain(broken).chain(config.warnings);
        problems.map(EngineError::from).collect()
    }

    /// The notices about the servers of a folder and their files that were not reported yet.
    pub(crate) fn server_notices(&self, folder: &Path, servers: &McpServers) -> Vec<Notice> {
        let files = if servers.take_first_report() { self.mcp_file_problems(folder) } else { Vec::new() };
        let news = servers.news().into_iter().map(|(name, news)| match news {
            ServerNotice::Note(note) => Notice::Server(name, note),
            ServerNotice::Failed(failure) => Notice::ServerFailed(name, failed(failure)),
            ServerNotice::NeedsApproval => Notice::ServerNeedsApproval(name),
        });
        files.into_iter().map(Notice::ServerFile).chain(news).collect()
    }

    /// Adds a server to the user's file.
    pub async fn add_server(&self, name: String, transport: McpTransport) -> Result<McpWritten> {
        let way = match transport {
            McpTransport::Command { command, args, env } => {
                ServerTransport::Command { command, args, env, cwd: None }
            }
            McpTransport::Url { url, headers } => ServerTransport::Url { url, headers },
        };
        let path = self.mcp_files()?.servers.clone();
        blocking(move || Ok(McpWritten { bytes: add(&path, &name, &way)?, path })).await?
    }

    /// Removes a server from the user's file.
    pub async fn remove_server(&self, name: String) -> Result<McpWritten> {
        let path = self.mcp_files()?.servers.clone();
        blocking(move || Ok(McpWritten { bytes: remove(&path, &name)?, path })).await?
    }

    /// Approves a server that the project in a folder declares, with its current entry. If the person saw an entry before, only
    /// that one is approved.
    pub async fn allow_server(
        &self,
        folder: PathBuf,
        name: String,
        seen: Option<String>,
    ) -> Result<McpWritten> {
        let files = self.mcp_files()?.clone();
        blocking(move || allow(&files, &folder, &name, seen.as_deref())).await?
    }

    fn mcp_files(&self) -> Result<&McpFiles> {
        let none = || {
            EngineError::new(Kind::Refused, "mcp", "there is no place for a file of MCP servers here")
                .with("what", "no_place")
        };
        self.parts().mcp.as_ref().ok_or_else(none)
    }
}

/// Approves a server that the project in a folder declares.
fn allow(files: &McpFiles, folder: &Path, name: &str, seen: Option<&str>) -> Result<McpWritten> {
    let folder = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let config = Config::read(&files.servers, &folder);
    let Some(entry) = config.servers.iter().find(|entry| entry.name == name) else {
        let message = format!("no MCP server `{name}` is named for {}", folder.display());
        return Err(EngineError::new(Kind::NotFound, "mcp", message)
            .with("what", "missing")
            .with("server", name)
            .with("folder", &*folder)
            .remedies([Remedy::McpList]));
    };
    if entry.origin == Origin::User {
        let message = format!("the MCP server `{name}` is your own and needs no permission");
        return Err(EngineError::new(Kind::Refused, "mcp", message).with("what", "own").with("server", name));
    }
    if seen.is_some_and(|seen| !entry.has_digest(seen)) {
        let message = format!("the entry of the MCP server `{name}` has changed since you saw it");
        return Err(EngineError::new(Kind::Refused, "mcp", message)
            .with("what", "changed")
            .with("server", name)
            .remedies([Remedy::McpAllow(name.to_owned())]));
    }
    let bytes = Allowed::at(&files.allowed).allow(&folder, entry)?;
    Ok(McpWritten { bytes, path: files.allowed.clone() })
}

/// The problem of a servers file, with its place.
fn fields_of(error: &ConfigError) -> Vec<(&'static str, Field)> {
    let ConfigFault { what, path, line, key, keys, server, problem } = error.fault();
    let path = path.map(|path| ("path", Field::Text(path.display().to_string())));
    let line = line.map(|line| ("line", Field::Number(line as u64)));
    let texts = [("key", key), ("server", server), ("problem", problem)].into_iter();
    let texts = texts.filter_map(|(name, text)| Some((name, Field::Text(text?))));
    let keys = (!keys.is_empty()).then_some(("keys", Field::Texts(keys)));
    let what = ("what", Field::Text(what.to_owned()));
    std::iter::once(what).chain(path).chain(line).chain(texts).chain(keys).collect()
}

impl From<ConfigError> for EngineError {
    fn from(error: ConfigError) -> Self {
        let kind = match &error {
            ConfigError::Unreadable { .. } | ConfigError::Unwritable { .. } => Kind::Storage,
            ConfigError::Exists { .. } => Kind::Refused,
            ConfigError::Missing { .. } => Kind::NotFound,
            ConfigError::Syntax { .. }
            | ConfigError::Wrong { .. }
            | ConfigError::NoServers { .. }
            | ConfigError::UnknownKey { .. }
            | ConfigError::BadName(_)
            | ConfigError::BadEntry { .. } => Kind::Usage,
        };
        let cause = std::error::Error::source(&error).map(|cause| said(cause.to_string()));
        Self {
            cause,
            remedies: error.remedies(),
            fields: fields_of(&error),
            ..Self::new(kind, "mcp", error.to_string())
        }
    }
}

#[cfg(test)]
mod tests {
    use retake_worktree::WorktreeError;

    use super::*;

    #[test]
    fn only_a_folder_that_is_no_workspace_lets_servers_start_with_nothing_hidden() {
        let folder = PathBuf::from("/x");
        let rows = [
            (WorktreeError::RootMissing(folder.clone()), true),
            (WorktreeError::RootRefused { path: folder.clone(), why: "it is the whole system" }, true),
            (WorktreeError::TooMuch { files: 1, bytes: 1 }, false),
            (WorktreeError::RootBusy(folder.clone()), false),
            (WorktreeError::RootOther(folder), false),
        ];
        for (error, expected) in rows {
            let text = error.to_string();
            assert_eq!(captures_nothing(&error.into()), expected, "{text}");
        }
    }
}
