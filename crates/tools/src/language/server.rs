//! A language server of a workspace: its start in the background, its restarts, its end. Must never start one outside of a full
//! sandbox, and never start it more than a few times.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use tokio::task::JoinHandle;

use super::link::Link;
use super::session::{Problems, Session};
use super::{ChangedFile, LanguageServer};
use crate::call::Call;
use crate::piped_process::{PipedProcess, Start};
use crate::sandbox::{Net, Sandbox, Sandboxed};
use crate::shell::ShellConfig;

/// The longest wait of an edit.
const LONGEST_WAIT: Duration = Duration::from_secs(3);

/// The time limit of its handshake, which no edit waits for.
const START_LIMIT: Duration = Duration::from_secs(60);

/// How often it is started.
const MOST_STARTS: u32 = 3;

/// A server of a workspace.
pub(super) struct Server {
    config: Arc<LanguageServer>,
    root: PathBuf,
    shell: Arc<ShellConfig>,
    state: tokio::sync::Mutex<ServerState>,
}

/// Its state.
#[derive(Default)]
struct ServerState {
    phase: Phase,
    starts: u32,
    /// The files with secrets that were hidden from it at its start.
    hidden: Vec<PathBuf>,
}

#[derive(Default)]
enum Phase {
    #[default]
    Stopped,
    Starting(StartTask),
    Ready(Box<Session>),
    /// It has failed too often, which was reported.
    GivenUp,
}

/// A start in the background; dropped, it is cancelled.
struct StartTask(JoinHandle<Result<Session, String>>);

impl Drop for StartTask {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What comes of an edit.
pub(super) enum Checked {
    /// The problems found.
    Found(Problems),
    /// There is nothing to report.
    Nothing,
    /// It has failed, or did not answer in time.
    Failed(String),
}

impl ServerState {
    /// Ends it if a file with secrets was not hidden from it: there is a new one. That does not count as a failure.
    fn end_if_it_sees(&mut self, secrets: &[PathBuf]) {
        let is_running = matches!(self.phase, Phase::Starting(_) | Phase::Ready(_));
        if is_running && secrets.iter().any(|secret| !self.hidden.contains(secret)) {
            self.phase = Phase::Stopped;
            self.starts -= 1;
        }
    }
}

impl Server {
    pub(super) fn new(config: &Arc<LanguageServer>, root: &Path, shell: &Arc<ShellConfig>) -> Self {
        let (config, shell) = (Arc::clone(config), Arc::clone(shell));
        Self { config, root: root.to_owned(), shell, state: tokio::sync::Mutex::default() }
    }

    /// Its name in the settings.
    pub(super) fn name(&self) -> &str {
        &self.config.name
    }

    /// What it finds after an edit of these files. The call waits a few seconds at most.
    pub(super) async fn check(&self, call: &Call, files: &[ChangedFile]) -> Checked {
        let checked = tokio::select! {
            biased;
            checked = self.checked(call, files) => Some(checked),
            () = call.host.sleep(LONGEST_WAIT) => None,
            () = call.host.stopped() => return Checked::Nothing,
        };
        checked.unwrap_or_else(|| {
            let is_starting =
                self.state.try_lock().is_ok_and(|state| matches!(state.phase, Phase::Starting(_)));
            let why = if is_starting { "it is still starting" } else { "it gave no answer within 3 seconds" };
            Checked::Failed(why.to_owned())
        })
    }

    async fn checked(&self, call: &Call, files: &[ChangedFile]) -> Checked {
        let mut state = self.state.lock().await;
        state.end_if_it_sees(&call.hide);
        if let Err(checked) = self.ready(&mut state, call).await {
            return checked;
        }
        let Phase::Ready(session) = &mut state.phase else { return Checked::Nothing };
        match session.check(call, files).await {
            Ok(found) => Checked::Found(found),
            Err(why) => {
                state.phase = Phase::Stopped;
                Checked::Failed(why)
            }
        }
    }

    /// Starts it if necessary, and waits until it is ready. The error is what comes of the edit without it.
    async fn ready(&self, state: &mut ServerState, call: &Call) -> Result<(), Checked> {
        loop {
            match &mut state.phase {
                Phase::Ready(session) => match session.over() {
                    None => return Ok(()),
                    Some(_) => state.phase = Phase::Stopped,
                },
                Phase::Starting(task) => {
                    let started = (&mut task.0).await;
                    match started.unwrap_or_else(|_| Err("its start broke off".to_owned())) {
                        Ok(session) => state.phase = Phase::Ready(Box::new(session)),
                        Err(why) => {
                            state.phase = Phase::Stopped;
                            return Err(Checked::Failed(why));
                        }
                    }
                }
                Phase::Stopped if state.starts == MOST_STARTS => {
                    state.phase = Phase::GivenUp;
                    let why = format!("it ended {MOST_STARTS} times and is not started again");
                    return Err(Checked::Failed(why));
                }
                Phase::Stopped => {
                    state.starts += 1;
                    state.hidden.clone_from(&call.hide);
                    let start = self.start(call).await;
                    let start =
                        start.map_err(|why| Checked::Failed(format!("it cannot be started: {why}")))?;
                    let (config, root) = (Arc::clone(&self.config), self.root.clone());
                    let begin = async move {
                        let begun = Session::begin(start, &config, &root);
                        let in_time = tokio::time::timeout(START_LIMIT, begun).await;
                        in_time.unwrap_or_else(|_| {
                            Err("it did not answer the first request (`initialize`)".to_owned())
                        })
                    };
                    state.phase = Phase::Starting(StartTask(tokio::spawn(begin)));
                }
                Phase::GivenUp => return Err(Checked::Nothing),
            }
        }
    }

    /// Starts its process: it reads the workspace, writes its own folders only, and has no network.
    async fn start(&self, call: &Call) -> Result<Link, String> {
        let roots = [self.root.clone()];
        let with_own = |sandbox: &Sandbox| {
            let write = sandbox.write.iter().chain(&self.config.write).cloned().collect();
            Sandbox { write, ..sandbox.clone() }
        };
        let is_full = |sandbox: &Sandbox| sandbox.available(&roots) == Sandboxed::Full;
        let sandbox = self.shell.sandbox.as_ref().map(with_own).filter(is_full);
        let sandbox =
            sandbox.ok_or("it does not run without the full sandbox, which `retake doctor` describes")?;
        let (program, arguments) = self.config.command.split_first().ok_or("it has no command")?;
        let mut confined = sandbox.confinement(&[], &[], Net::Closed);
        // Git's settings stay unchanged even where the workspace is below a temporary folder.
        confined.roots = roots.to_vec();
        confined.hide_too(&call.hide).map_err(|error| error.to_string())?;
        if confined.namespaces {
            confined.held.extend(call.held.iter().cloned());
        }
        let theirs = call.host.environment().unwrap_or_default();
        let start = Start {
            kind: "language",
            program,
            arguments,
            folder: &self.root,
            confined: Some(confined),
            supervisor: sandbox.supervisor.as_ref(),
            memory: self.shell.memory,
            file_size: self.shell.file_size,
            umask: theirs.umask(),
        };
        let secrets = &self.shell.secrets;
        let started = PipedProcess::start(start, |command| {
            let given = theirs.variables().filter(|(name, value)| !secrets.holds(name, value));
            command.env_clear().envs(given);
        });
        started.await.map(Link::new).map_err(|error| error.to_string())
    }
}
