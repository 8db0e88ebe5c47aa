//! The process of a server that is reached through its pipes: marked and in a group of its own, confined, its standard error, its
//! end. Must never leave a process behind, and must name processes by id only.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;

use crate::cgroup::{self, Bounds};
use crate::mcp::text;
use crate::processes;
use crate::sandbox::Confinement;
use crate::shell::ShellConfig;
use crate::supervisor::{Arguments, Inherits, Supervisor, shielded};

/// The bytes of standard error that are kept.
const KEPT: usize = 8 << 10;

/// The most of its last lines in a message, and the most bytes of them.
const TOLD: (usize, usize) = (8, 1_000);

/// How long a group may take to end by itself.
const GRACE: Duration = Duration::from_secs(2);

/// A running server. Dropping it ends the server.
pub(crate) struct PipedProcess {
    errors: Arc<Ring>,
    ended: watch::Receiver<Option<Ended>>,
    /// Set or dropped, it requests the end.
    end: watch::Sender<bool>,
}

/// How a process ended.
#[derive(Clone, Copy, Debug)]
enum Ended {
    With(ExitStatus),
    /// The system has killed it, or another process of it, because memory ran out.
    OutOfMemory,
    Unknown,
}

/// The input for starting a server.
pub(crate) struct Start<'a> {
    /// The kind of server, the beginning of its mark.
    pub(crate) kind: &'static str,
    pub(crate) program: &'a str,
    pub(crate) arguments: &'a [String],
    pub(crate) folder: &'a Path,
    /// Its confinement.
    pub(crate) confined: Option<Confinement>,
    /// Its supervisor.
    pub(crate) supervisor: Option<&'a Supervisor>,
    /// The memory limit for all its processes, in bytes, if the machine supports it.
    pub(crate) memory: u64,
    /// The largest file that it may write, if it is supervised.
    pub(crate) file_size: u64,
    /// Its umask; without it, that of this process.
    pub(crate) umask: Option<u32>,
}

impl Start<'_> {
    /// Starts it with the environment from `set_environment` alone.
    async fn spawn(
        self,
        mark: &str,
        set_environment: impl FnOnce(&mut Command),
    ) -> std::io::Result<(Child, Option<cgroup::Group>)> {
        let Start { confined, supervisor, memory, file_size, umask, .. } = self;
        let program = OsStr::new(self.program);
        let mut bound = None;
        let (mut command, confined) = match supervisor {
            Some(supervisor) => {
                let namespaces = confined.as_ref().is_some_and(|confined| confined.namespaces);
                let bounds = Bounds::new(memory, ShellConfig::default().processes);
                // If the group could not be created, it starts anyway: there is nobody to report to.
                bound = cgroup::Group::of(supervisor, mark, bounds).await.and_then(Result::ok);
                let join = bound.iter().flat_map(cgroup::Group::joins).collect();
                let file_size = Some(file_size);
                let plan =
                    Arguments { namespaces, confined, join, file_size, ..Arguments::new(mark, self.folder) };
                let mut command = supervisor.command(&plan, program);
                set_environment(&mut command);
                (shielded(command, mark, Inherits::Nothing), None)
            }
            None => {
                let mut command = processes::marked(program, self.folder, mark);
                set_environment(&mut command);
                command.env(processes::MARK, mark);
                (command, confined)
            }
        };
        command.args(self.arguments).kill_on_drop(true);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = match confined {
            Some(confined) => confined.spawn(command, umask).await,
            None => crate::umask::spawn(command, umask).await,
        };
        Ok((child?, bound))
    }
}

impl PipedProcess {
    /// Starts it with its pipes.
    pub(crate) async fn start(
        start: Start<'_>,
        set_environment: impl FnOnce(&mut Command),
    ) -> std::io::Result<(Self, ChildStdin, ChildStdout)> {
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let mark =
            format!("{}-{}-{}", start.kind, std::process::id(), STARTED.fetch_add(1, Ordering::Relaxed));
        let (mut child, bound) = start.spawn(&mark, set_environment).await?;
        let missing = || std::io::Error::other("a pipe is missing");
        let input = child.stdin.take().ok_or_else(missing)?;
        let output = child.stdout.take().ok_or_else(missing)?;
        let stderr = child.stderr.take().ok_or_else(missing)?;
        let errors = Arc::new(Ring::default());
        tokio::spawn(keep(stderr, Arc::clone(&errors)));
        let (told, ended) = watch::channel(None);
        let (end, asked) = watch::channel(false);
        let group = Group { group: child.id(), mark, bound };
        tokio::spawn(attend(child, group, asked, told));
        Ok((Self { errors, ended, end }, input, output))
    }

    /// Waits until it has ended, or for this time; returns its end as a text.
    pub(crate) async fn outcome(&self, time: Duration) -> String {
        let mut ended = self.ended.clone();
        let waited = tokio::time::timeout(time, ended.wait_for(Option::is_some)).await;
        match waited.ok().and_then(Result::ok).and_then(|ended| *ended) {
            Some(Ended::With(status)) => {
                format!("its process ended ({})", crate::processes::ended_with(status))
            }
            Some(Ended::OutOfMemory) => {
                "the system ended it: it used more memory than it may (permissions.memory_mb)".to_owned()
            }
            Some(Ended::Unknown) => "its process ended".to_owned(),
            None => "it closed the connection".to_owned(),
        }
    }

    /// Ends it, and waits until it is gone.
    pub(crate) async fn end(&self) {
        self.end.send_replace(true);
        // If nobody can report its end any more, it is gone as well.
        drop(self.ended.clone().wait_for(Option::is_some).await);
    }

    /// The end of its standard error; empty if there was none.
    pub(crate) fn last_words(&self) -> String {
        self.errors.tail()
    }
}

/// The processes of a server. When this is dropped with a runtime, they are killed.
struct Group {
    group: Option<u32>,
    mark: String,
    /// Their control group.
    bound: Option<cgroup::Group>,
}

impl Group {
    fn stop(&self, force: bool) {
        processes::stop(self.group, &self.mark, force);
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.stop(true);
    }
}

/// Waits for the end of a process, or ends it on request, with everything that it started.
async fn attend(
    mut child: Child,
    group: Group,
    mut asked: watch::Receiver<bool>,
    told: watch::Sender<Option<Ended>>,
) {
    let ended = tokio::select! {
        status = child.wait() => status,
        _ = asked.changed() => {
            group.stop(false);
            if let Ok(status) = tokio::time::timeout(GRACE, child.wait()).await {
                status
            } else {
                group.stop(true);
                child.wait().await
            }
        }
    };
    let is_hungry = group.bound.as_ref().is_some_and(cgroup::Group::was_out_of_memory);
    drop(group);
    let ended = if is_hungry { Ended::OutOfMemory } else { ended.map_or(Ended::Unknown, Ended::With) };
    told.send_replace(Some(ended));
}

/// The end of a pipe's output.
#[derive(Default)]
struct Ring(Mutex<VecDeque<u8>>);

impl Ring {
    fn push(&self, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend(&bytes[bytes.len().saturating_sub(KEPT)..]);
        let over = kept.len().saturating_sub(KEPT);
        kept.drain(..over);
    }

    fn tail(&self) -> String {
        let bytes: Vec<u8> = self.0.lock().unwrap_or_else(PoisonError::into_inner).iter().copied().collect();
        let text = text::lines(&String::from_utf8_lossy(&bytes), KEPT);
        let lines: Vec<_> = text.lines().filter(|line| !line.trim().is_empty()).collect();
        let last = lines[lines.len().saturating_sub(TOLD.0)..].join("\n");
        let from = last.ceil_char_boundary(last.len().saturating_sub(TOLD.1));
        last[from..].to_owned()
    }
}

async fn keep(mut pipe: impl AsyncRead + Unpin, ring: Arc<Ring>) {
    let mut bytes = vec![0; 4 << 10];
    while let Ok(count @ 1..) = pipe.read(&mut bytes).await {
        ring.push(&bytes[..count]);
    }
}
