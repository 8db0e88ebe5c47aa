//! One server: its start, its calls, its end. Must never wait for it without a limit, and must name it in each message
//! about it.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use retake_core::mcp::{Approves, Note};
use serde_json::{Map, Value};
use tokio::process::Command;
use tokio::sync::watch;

use super::config::{Entry, ServerTransport};
use super::expand::{Expanded, Variables};
use super::failure::{Failure, FailureKind};
use super::http;
use super::link::{Link, LinkError};
use super::listed::{Listed, Listing};
use super::result;
use super::servers::{Deps, State};
use super::stdio::{Incoming, Outgoing, PipeState};
use crate::call::{Call, Output};
use crate::piped_process::{PipedProcess, Start};
use crate::sandbox::{Confinement, Net, Sandbox};

/// How long to wait for the end of a process whose connection closed.
const LAST: Duration = Duration::from_secs(1);

/// A note for a server that may fail only in the sandbox.
const HELD: &str = "it runs in a sandbox: if that is why, its entry in your own mcp.json can name folders that it may write (“write”), or \
                    say “confined”: false";

/// A server.
pub(super) struct Server {
    entry: Entry,
    deps: Arc<Deps>,
    changed: Arc<AtomicBool>,
    live: tokio::sync::Mutex<Option<Arc<Connection>>>,
    known: Mutex<ServerStatus>,
    /// Whether somebody may still be waiting for its start.
    awaited: watch::Sender<bool>,
}

/// Its known state.
#[derive(Clone)]
pub(super) struct ServerStatus {
    pub(super) state: State,
    pub(super) tools: Vec<Listed>,
    pub(super) notes: Vec<Note>,
}

/// A connection, with its process.
struct Connection {
    link: Link,
    process: Option<(PipedProcess, Arc<PipeState>)>,
    expanded: Expanded,
}

impl Connection {
    /// Ends its process.
    async fn end(&self) {
        if let Some((process, _)) = &self.process {
            process.end().await;
        }
    }
}

impl Server {
    pub(super) fn new(entry: Entry, state: State, deps: Arc<Deps>) -> Self {
        let awaited = watch::Sender::new(state == State::Starting);
        let known = Mutex::new(ServerStatus { state, tools: Vec::new(), notes: Vec::new() });
        Self { entry, deps, changed: Arc::default(), live: tokio::sync::Mutex::default(), known, awaited }
    }

    pub(super) fn entry(&self) -> &Entry {
        &self.entry
    }

    pub(super) fn name(&self) -> &str {
        &self.entry.name
    }

    /// What an approval allows.
    pub(super) fn asked(&self) -> Vec<Approves> {
        super::approval::asked(&self.entry.way, &self.deps.variables)
    }

    pub(super) fn known(&self) -> MutexGuard<'_, ServerStatus> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts it, if it may start, and requests its tools.
    pub(super) async fn connect(&self) {
        if self.known().state != State::Starting {
            return;
        }
        let told = match self.live().await {
            Ok(live) => self.list(&live).await,
            Err(why) => Err(why),
        };
        if let Err(why) = told {
            // The reason is for people: a server's text may contain anything.
            tracing::warn!(cause = why.kind.name(), "an MCP server cannot be used");
            self.known().state = State::Failed(why);
            self.live.lock().await.take();
        }
        self.give_up();
    }

    /// Whether it is useful to wait for its start.
    pub(super) fn is_awaited(&self) -> bool {
        *self.awaited.borrow()
    }

    /// Nobody waits for its start any more. It continues.
    pub(super) fn give_up(&self) {
        self.awaited.send_replace(false);
    }

    /// Waits for its start, while that is useful, and for its current tools.
    pub(super) async fn settled(&self) {
        // It lives as long as `self`.
        drop(self.awaited.subscribe().wait_for(|awaited| !awaited).await);
        self.refresh().await;
    }

    /// Requests its tools again, if it reported a change.
    pub(super) async fn refresh(&self) {
        if !self.changed.load(Ordering::Relaxed) || self.known().state != State::Ready {
            return;
        }
        let live = self.live.lock().await.clone().filter(|live| live.link.is_open());
        if let Some(live) = live
            && let Err(why) = self.list(&live).await
        {
            // The earlier tools can still be tried.
            self.known().notes = vec![Note::NotListed(why.why)];
        }
    }

    /// Calls a tool.
    pub(super) async fn call(&self, tool: &str, arguments: Map<String, Value>, call: &Call) -> Output {
        let limit = self.deps.call_limit;
        let name = self.name();
        let asked = async {
            let live = self
                .live()
                .await
                .map_err(|why| format!("the MCP server “{name}” can't be started: {why}"))?;
            match live.link.call(tool, arguments).await {
                Ok(pending) => Ok((live, pending)),
                Err(trouble) => Err(self.broken(&live, trouble).await),
            }
        };
        let stop = async {
            tokio::select! {
                () = call.host.stopped() => call.host.stopped_by().to_owned(),
                () = call.host.sleep(limit) => format!("not answered within {}", seconds(limit)),
            }
        };
        tokio::pin!(asked, stop);
        let (live, mut pending) = tokio::select! {
            asked = &mut asked => match asked {
                Ok(asked) => asked,
                Err(why) => return Output::failed(why),
            },
            why = &mut stop => return Output::failed(format!("the call of the MCP server “{name}” was {why}, before it was sent")),
        };
        tokio::select! {
            answer = pending.answer() => match answer {
                Ok(answer) => result::output(name, &answer, call).await,
                Err(trouble) => Output::failed(self.broken(&live, trouble).await),
            },
            why = &mut stop => {
                pending.cancel(&why).await;
                Output::failed(format!("the call of the MCP server “{name}” was {why}; what it did until then is not known"))
            }
        }
    }

    /// Ends it.
    pub(super) async fn end(&self) {
        if let Some(live) = self.live.lock().await.take() {
            live.end().await;
        }
    }

    /// The connection; a new one if the old one is closed.
    async fn live(&self) -> Result<Arc<Connection>, Failure> {
        let mut slot = self.live.lock().await;
        if let Some(live) = slot.as_ref().filter(|live| live.link.is_open()) {
            return Ok(Arc::clone(live));
        }
        if let Some(old) = slot.take() {
            // The rest of it ends first; the new one may have other tools.
            old.end().await;
            self.changed.store(true, Ordering::Relaxed);
        }
        let live = Arc::new(self.start().await?);
        *slot = Some(Arc::clone(&live));
        Ok(live)
    }

    async fn start(&self) -> Result<Connection, Failure> {
        if let (Some(_), Some(refused)) = (self.sandbox(), &self.deps.refused) {
            return Err(refused.clone());
        }
        let expanded = Expanded::of(&self.entry.way, &self.deps.variables)?;
        let changed = Arc::clone(&self.changed);
        let limit = self.deps.start_limit;
        let (process, opened) = match &expanded.way {
            ServerTransport::Command { command, args, env, cwd } => {
                let cwd =
                    cwd.as_ref().map_or_else(|| self.deps.folder.clone(), |cwd| self.deps.folder.join(cwd));
                let name = super::text::line(command, 200);
                let not_started = |error: std::io::Error| {
                    let why = expanded.hide(&format!("its command `{name}` can't be started: {error}"));
                    FailureKind::NotStarted.with(why)
                };
                let start = Start {
                    kind: "mcp",
                    program: command,
                    arguments: args,
                    folder: &cwd,
                    confined: self.confinement()?.transpose().map_err(not_started)?,
                    supervisor: self.sandbox().and_then(|sandbox| sandbox.supervisor.as_ref()),
                    memory: self.deps.memory,
                    file_size: self.deps.file_size,
                    umask: self.deps.umask,
                };
                let set_environment = |built: &mut Command| set_environment(built, &self.deps.variables, env);
                let started = PipedProcess::start(start, set_environment).await.map_err(not_started)?;
                let (process, input, output) = started;
                let flow = Arc::new(PipeState::default());
                let incoming = Incoming::new(output, Arc::clone(&flow));
                let outgoing = Outgoing { pipe: input, flow: Arc::clone(&flow) };
                let opened = tokio::time::timeout(limit, Link::open((incoming, outgoing), changed)).await;
                (Some((process, flow)), opened)
            }
            ServerTransport::Url { url, headers } => {
                let transport = http::transport(url, headers)
                    .map_err(|why| FailureKind::BadAddress.with(expanded.hide(&why)))?;
                (None, tokio::time::timeout(limit, Link::open(transport, changed)).await)
            }
        };
        let trouble = match opened {
            Ok(Ok(link)) => return Ok(Connection { link, process, expanded }),
            Ok(Err(trouble)) => trouble,
            Err(_) => silent(format!(
                "it did not answer the first request (`initialize`) within {}",
                seconds(limit)
            )),
        };
        let mut failure = explain(process.as_ref(), &expanded, trouble).await;
        if process.is_some() && self.sandbox().is_some() {
            failure.why.push('\n');
            failure.why.push_str(HELD);
        }
        Err(failure)
    }

    /// The sandbox of its process: none if its entry disables it, or the kernel cannot.
    fn sandbox(&self) -> Option<&Sandbox> {
        self.deps.sandbox.as_ref().filter(|_| self.entry.confined && crate::sandbox::is_there())
    }

    /// Its confinement: like that of a command with network. None if it is not confined; an inner error if too much would be
    /// hidden.
    fn confinement(&self) -> Result<Option<std::io::Result<Confinement>>, Failure> {
        let Some(sandbox) = self.sandbox() else { return Ok(None) };
        let write = sandbox.write.iter().cloned().chain(self.write()?).collect();
        let sandbox = Sandbox { write, ..sandbox.clone() };
        let mut confined = sandbox.confinement(std::slice::from_ref(&self.deps.folder), &[], Net::Open);
        let hidden = confined.hide_too(&self.deps.hide);
        confined.held.extend(self.deps.held.iter().cloned());
        Ok(Some(hidden.map(|()| confined)))
    }

    /// The additional writable folders of its entry.
    fn write(&self) -> Result<Vec<PathBuf>, Failure> {
        let put_in = |path: &String| super::expand::path(path, &self.deps.variables);
        self.entry.write.iter().map(put_in).collect()
    }

    async fn list(&self, live: &Connection) -> Result<(), Failure> {
        self.changed.store(false, Ordering::Relaxed);
        let limit = self.deps.start_limit;
        let mut listing = Listing::default();
        let pages = async {
            let mut cursor = None;
            loop {
                let page = live.link.list(cursor).await?;
                let bad = |why| LinkError::Said(FailureKind::BadReply.with(why));
                cursor = listing.page(page).map_err(bad)?;
                if cursor.is_none() {
                    return Ok::<_, LinkError>(());
                }
            }
        };
        let listed = match tokio::time::timeout(limit, pages).await {
            Ok(listed) => listed,
            Err(_) => Err(silent(format!("it did not list its tools within {}", seconds(limit)))),
        };
        if let Err(trouble) = listed {
            return Err(explain(live.process.as_ref(), &live.expanded, trouble).await);
        }
        let (tools, notes) = listing.done();
        *self.known() = ServerStatus { state: State::Ready, tools, notes };
        Ok(())
    }

    /// Why a call failed.
    async fn broken(&self, live: &Connection, trouble: LinkError) -> String {
        let (why, again) = match trouble {
            LinkError::Said(failure) => (live.expanded.hide(&failure.why), ""),
            LinkError::Closed => {
                let why = explain(live.process.as_ref(), &live.expanded, LinkError::Closed).await;
                (why.why, "\nThe next call starts it again.")
            }
        };
        format!("the call of the MCP server “{}” failed: {why}{again}", self.name())
    }
}

/// The trouble as a text, with the server's last output if that helps.
async fn explain(
    process: Option<&(PipedProcess, Arc<PipeState>)>,
    expanded: &Expanded,
    trouble: LinkError,
) -> Failure {
    let closed = |why: String| FailureKind::Closed.with(why);
    let (failure, last) = match (process, trouble) {
        (Some((process, flow)), LinkError::Closed) => {
            let why = match flow.why() {
                Some(why) => why.to_owned(),
                None => process.outcome(LAST).await,
            };
            (closed(why), process.last_words())
        }
        (None, LinkError::Closed) => (closed("it closed the connection".to_owned()), String::new()),
        (Some((process, _)), LinkError::Said(failure)) => (failure, process.last_words()),
        (None, LinkError::Said(failure)) => (failure, String::new()),
    };
    let last = if last.is_empty() { last } else { format!("; the last it said:\n{last}") };
    failure.kind.with(expanded.hide(&format!("{failure}{last}")))
}

/// The environment of a server: the user's without secrets, and the variables of its entry.
fn set_environment(command: &mut Command, variables: &Variables, env: &[(String, String)]) {
    command.env_clear().envs(variables.for_servers()).envs(env.iter().map(|(name, value)| (name, value)));
}

fn silent(why: String) -> LinkError {
    LinkError::Said(FailureKind::Silent.with(why))
}

fn seconds(time: Duration) -> String {
    match time.as_secs() {
        0 => format!("{} ms", time.as_millis()),
        seconds => format!("{seconds} s"),
    }
}
