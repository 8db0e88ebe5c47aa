//! All servers of a folder together. Must never fail as a whole: an error of one server is reported, and the others
//! work.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::future::join_all;
use retake_core::mcp::{Approves, Note};
use tokio::task::AbortHandle;

use super::allowed::Allowed;
use super::config::{Config, ConfigError, ConfigFault, Entry, Origin};
use super::expand::Variables;
use super::failure::Failure;
use super::names::Names;
use super::server::Server;
use super::tool::McpTool;
use crate::sandbox::Sandbox;
use crate::set::Tool;
use crate::shell::ShellConfig;

/// The input for starting servers.
#[derive(Clone, Debug)]
pub struct Deps {
    /// The workspace folder, in which they are started.
    pub folder: PathBuf,
    /// The values for `${VAR}`, and without secrets, the environment of processes.
    pub variables: Variables,
    /// The umask of processes; without it, that of this process.
    pub umask: Option<u32>,
    /// The approved servers of projects.
    pub allowed: Allowed,
    /// The sandbox of servers, unless their entry disables it.
    pub sandbox: Option<Sandbox>,
    /// Why no confined server may start.
    pub refused: Option<Failure>,
    /// Files of the folder that are hidden from confined servers, if namespaces can do that.
    pub hide: Vec<PathBuf>,
    /// Files that confined servers must not change, if namespaces can protect them.
    pub held: Vec<PathBuf>,
    /// The memory limit for all processes of a confined server, in bytes, if the machine has control groups for that.
    pub memory: u64,
    /// The largest file that a confined server may write.
    pub file_size: u64,
    /// The time limit for its handshake, and for listing its tools.
    pub start_limit: Duration,
    /// The time limit for a call.
    pub call_limit: Duration,
}

impl Deps {
    /// With the usual limits, and without a sandbox.
    pub fn new(folder: PathBuf, variables: Variables, allowed: Allowed) -> Self {
        let (start_limit, call_limit) = (Duration::from_secs(30), Duration::from_secs(300));
        let ShellConfig { memory, file_size, .. } = ShellConfig::default();
        Self {
            folder,
            variables,
            umask: None,
            allowed,
            sandbox: None,
            refused: None,
            hide: Vec::new(),
            held: Vec::new(),
            memory,
            file_size,
            start_limit,
            call_limit,
        }
    }
}

/// The state of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum State {
    /// It is being started.
    Starting,
    /// Its tools can be called.
    Ready,
    /// It can't be used, and why.
    Failed(Failure),
    /// A project declares it, and nobody has approved it yet.
    NeedsApproval,
    /// Its entry disables it.
    Disabled,
}

/// A server, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerShown {
    /// Its name.
    pub name: String,
    /// The file that declares it.
    pub origin: Origin,
    /// Its command or address, from its file.
    pub way: String,
    /// What an approval allows; empty if none is needed.
    pub asked: Vec<Approves>,
    /// A digest of its entry, which the approval is for.
    pub entry: String,
    /// Its state.
    pub state: State,
    /// Its tools, sorted by name.
    pub tools: Vec<ToolShown>,
    /// Notices about it.
    pub notes: Vec<Note>,
}

/// A tool of a server, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolShown {
    /// Its name for the model.
    pub name: String,
    /// Its description by the server.
    pub about: String,
    /// Whether the server declares it as read-only.
    pub reads: bool,
}

/// A notice about a server before a turn.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ServerNotice {
    /// A remark.
    Note(Note),
    /// It can't be used, and why.
    Failed(Failure),
    /// A project declares it, and nobody has approved it yet.
    NeedsApproval,
}

/// The servers of a folder. Dropping this ends them.
pub struct McpServers {
    servers: Vec<Arc<Server>>,
    faults: Vec<ConfigFault>,
    /// Starts in progress.
    starts: Vec<AbortHandle>,
    /// Whether confined servers could not start, for a temporary reason.
    refused: bool,
    /// What was reported already: the problems of files, and the notices about each server.
    reported: Mutex<(bool, Vec<(String, ServerNotice)>)>,
}

impl Drop for McpServers {
    fn drop(&mut self) {
        self.starts.iter().for_each(AbortHandle::abort);
    }
}

impl McpServers {
    /// Starts all permitted servers in parallel, and waits until each one's tools are listed or its time is over.
    pub async fn connect(config: &Config, deps: Deps) -> Self {
        let servers = Self::begin(config, deps);
        servers.settled().await;
        servers
    }

    /// Begins to start all permitted servers, in parallel and in the background.
    pub fn begin(config: &Config, deps: Deps) -> Self {
        let faults = faults(config, &deps.allowed);
        let refused = deps.refused.is_some();
        let deps = Arc::new(deps);
        let server = |entry: &Entry| {
            let state = state(entry, &deps.allowed);
            Arc::new(Server::new(entry.clone(), state, Arc::clone(&deps)))
        };
        let servers: Vec<_> = config.servers.iter().map(server).collect();
        let start = |server: Arc<Server>| {
            let connect = async move { server.connect().await };
            tokio::spawn(tracing::Instrument::in_current_span(connect)).abort_handle()
        };
        let starts = servers.iter().cloned().map(start).collect();
        Self { servers, faults, starts, refused, reported: Mutex::default() }
    }

    /// Waits until each one's current tools are listed, or its time is over, or it is no longer awaited.
    pub async fn settled(&self) {
        join_all(self.servers.iter().map(|server| server.settled())).await;
    }

    /// The names of those whose start is worth waiting for.
    pub fn awaited(&self) -> Vec<String> {
        let awaited = self.servers.iter().filter(|server| server.is_awaited());
        awaited.map(|server| server.name().to_owned()).collect()
    }

    /// Stops waiting for starting servers. They continue; tools that are listed later are available to the next
    /// caller.
    pub fn give_up(&self) {
        self.servers.iter().for_each(|server| server.give_up());
    }

    /// Whether confined servers could not start, for a temporary reason.
    pub fn are_refused(&self) -> bool {
        self.refused
    }

    /// Whether these are the servers in the current files.
    pub fn are_of(&self, config: &Config, allowed: &Allowed) -> bool {
        let same = |server: &Arc<Server>, entry: &Entry| {
            let waits = server.known().state == State::NeedsApproval;
            server.entry() == entry && waits == (state(entry, allowed) == State::NeedsApproval)
        };
        self.servers.len() == config.servers.len()
            && self.servers.iter().zip(&config.servers).all(|(server, entry)| same(server, entry))
            && self.faults == faults(config, allowed)
    }

    /// Lists the tools of servers that reported a change: before a turn, never during one.
    pub async fn refresh(&self) {
        join_all(self.servers.iter().map(|server| server.refresh())).await;
    }

    /// The callable tools, sorted by server and name.
    pub fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.named().into_iter().map(|tool| Arc::new(tool) as Arc<dyn Tool>).collect()
    }

    /// The servers, for people.
    pub fn shown(&self) -> Vec<ServerShown> {
        let named = self.named();
        let shown = |server: &Arc<Server>| {
            let known = server.known().clone();
            let own = named.iter().filter(|tool| Arc::ptr_eq(&tool.server, server));
            let tool = |tool: &McpTool| {
                let (about, reads) = (tool.listed.about.clone(), tool.listed.reads);
                ToolShown { name: tool.name.clone(), about, reads }
            };
            let asked = match known.state {
                State::NeedsApproval => server.asked(),
                State::Starting | State::Ready | State::Failed(_) | State::Disabled => Vec::new(),
            };
            ServerShown {
                asked,
                entry: server.entry().digest.clone(),
                name: server.name().to_owned(),
                origin: server.entry().origin,
                way: super::text::line(&server.entry().way.line(), 500),
                state: known.state,
                tools: own.map(tool).collect(),
                notes: known.notes,
            }
        };
        self.servers.iter().map(shown).collect()
    }

    /// Ends all of them, and waits until they are gone.
    pub async fn shutdown(&self) {
        self.starts.iter().for_each(AbortHandle::abort);
        join_all(self.servers.iter().map(|server| server.end())).await;
    }

    /// New notices about each server, by name.
    pub fn news(&self) -> Vec<(String, ServerNotice)> {
        let of = |server: &Arc<Server>| {
            let (name, known) = (server.name().to_owned(), server.known().clone());
            let state = match known.state {
                State::Failed(why) => Some(ServerNotice::Failed(why)),
                State::NeedsApproval => Some(ServerNotice::NeedsApproval),
                State::Starting | State::Ready | State::Disabled => None,
            };
            known.notes.into_iter().map(ServerNotice::Note).chain(state).map(move |news| (name.clone(), news))
        };
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        let news: Vec<_> = self.servers.iter().flat_map(of).filter(|it| !reported.1.contains(it)).collect();
        reported.1.extend(news.iter().cloned());
        news
    }

    /// Whether the problems of the files must still be reported. True once.
    pub fn take_first_report(&self) -> bool {
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        !std::mem::replace(&mut reported.0, true)
    }

    fn named(&self) -> Vec<McpTool> {
        let mut names = Names::default();
        let mut tools = Vec::new();
        for server in &self.servers {
            let known = server.known();
            if known.state != State::Ready {
                continue;
            }
            for listed in &known.tools {
                let name = names.give(server.name(), &listed.tool);
                tools.push(McpTool { name, listed: listed.clone(), server: Arc::clone(server) });
            }
        }
        tools
    }
}

/// The state of a server before its start.
fn state(entry: &Entry, allowed: &Allowed) -> State {
    match (entry.enabled, allowed.holds(entry)) {
        (false, _) => State::Disabled,
        (true, Ok(true)) => State::Starting,
        // A problem of the list of approvals is reported once.
        (true, Ok(false) | Err(_)) => State::NeedsApproval,
    }
}

/// All problems of the files that declare servers.
fn faults(config: &Config, allowed: &Allowed) -> Vec<ConfigFault> {
    let broken = broken(config, allowed);
    config.problems.iter().chain(&broken).chain(&config.warnings).map(ConfigError::fault).collect()
}

/// The problem of the list of approvals.
pub fn broken(config: &Config, allowed: &Allowed) -> Option<ConfigError> {
    config.servers.iter().find_map(|entry| allowed.holds(entry).err())
}
