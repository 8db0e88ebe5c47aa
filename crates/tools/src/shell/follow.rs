//! A command from its start to its end: its output is read, and the time limit, the person's stop and the number of its
//! processes are checked. However it ends, its processes have ended, or the result reports those that have not.

use std::io::PipeReader;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use retake_core::ToolOutcome;
use tokio::io::AsyncReadExt as _;
use tokio::net::unix::pipe::Receiver;
use tokio::process::Child;
use tokio::sync::watch;

use super::script::{self, Spool};
use crate::call::{Call, Host, Piece};
use crate::cgroup::{Bounds, Group};
use crate::processes;
use crate::sandbox::{Confinement, Net, Sandbox};
use crate::secret::Secrets;
use crate::spooled_output::{OutputReporter, SpooledOutput};
use crate::supervisor::{Arguments, Inherits, Supervisor, shielded};
use crate::umask;

/// How long processes have to end after they were signalled.
const TO_END: Duration = Duration::from_secs(3);

/// How often a command is checked.
pub(super) const TICK: Duration = Duration::from_millis(200);

/// The most that a pipe contains.
const PIPE: usize = 1 << 20;

/// How a command ended.
pub(super) enum Ending {
    /// By itself.
    Exited(std::io::Result<ExitStatus>),
    /// It was ended, for this reason.
    Ended(&'static str),
}

/// A command that ended.
pub(super) struct EndedCommand {
    ending: Ending,
    /// Its approximate duration.
    took: Duration,
    /// Processes that could not be ended, or that it left running.
    pub(super) living: usize,
}

impl EndedCommand {
    /// Its outcome, and its end as a text.
    pub(super) fn said(&self) -> (ToolOutcome, String) {
        let after = match self.took.as_secs() {
            0 => String::new(),
            seconds => format!(", after {seconds} s"),
        };
        match &self.ending {
            Ending::Exited(Ok(status)) if status.success() => {
                // The call reports its duration from its own beginning: two numbers would differ.
                (ToolOutcome::Ok, "[exit code 0]".to_owned())
            }
            Ending::Exited(Ok(status)) => (ToolOutcome::Failed, processes::failed_line(*status)),
            Ending::Exited(Err(error)) => {
                (ToolOutcome::Failed, format!("[its end could not be waited for: {error}]"))
            }
            Ending::Ended(why) if self.living > 0 => (
                ToolOutcome::Failed,
                format!("[{why}{after}; {} of its processes can't be ended]", self.living),
            ),
            Ending::Ended(why) => {
                (ToolOutcome::Failed, format!("[{why}{after}; all its processes are gone]"))
            }
        }
    }

    /// Whether it ended by itself, with a failure.
    pub(super) fn has_failed(&self) -> bool {
        matches!(&self.ending, Ending::Exited(Ok(status)) if !status.success())
    }

    /// Whether it ended by itself, and left processes running.
    pub(super) fn left_some(&self) -> bool {
        matches!(self.ending, Ending::Exited(_)) && self.living > 0
    }
}

/// A command to start.
pub(super) struct CommandLaunch<'a> {
    pub(super) command: &'a str,
    pub(super) folder: &'a Path,
    pub(super) sandbox: Option<&'a Sandbox>,
    /// Its supervisor, the same as the sandbox's.
    pub(super) supervisor: Option<&'a Supervisor>,
    /// For a job: the most bytes of output that are kept.
    pub(super) job: Option<u64>,
    /// For a job with a supervisor: the pipe with frames for its standard input.
    pub(super) input: Option<OwnedFd>,
    /// For a program: its standard input.
    pub(super) stdin: Option<OwnedFd>,
    pub(super) net: Net,
    /// Whether it only reads, and is confined to that.
    pub(super) reads: bool,
    /// Variables that it does not get.
    pub(super) secrets: &'a Secrets,
    /// The most processes.
    pub(super) processes: usize,
    /// The largest file that it may write, if it is supervised.
    pub(super) file_size: u64,
    /// The memory limit for all its processes, in bytes, if the machine supports it.
    pub(super) memory: u64,
}

/// A command that was started.
pub(super) struct Started {
    pub(super) child: Child,
    /// Its control group; or why it has none.
    pub(super) group: Option<Result<Group, String>>,
}

impl CommandLaunch<'_> {
    /// Starts it; standard output and standard error share one pipe.
    pub(super) async fn start(&self, call: &Call, spool: &Spool, out: OwnedFd) -> std::io::Result<Started> {
        // Other processes write its output.
        let files = match (self.supervisor, self.job) {
            (Some(_), Some(_)) => &[][..],
            _ => std::slice::from_ref(&spool.note),
        };
        let confined = self.confinement(call, files)?;
        let group = match self.supervisor {
            Some(supervisor) => {
                Group::of(supervisor, &call.id, Bounds::new(self.memory, self.processes)).await
            }
            None => None,
        };
        let (mut command, confined) = match self.supervisor {
            Some(supervisor) => {
                let plan = Arguments {
                    namespaces: confined.as_ref().is_some_and(|confined| confined.namespaces),
                    confined,
                    cap: self.job,
                    input: self.input.is_some(),
                    join: group.iter().flatten().flat_map(Group::joins).collect(),
                    note: self.job.map(|_| spool.note.clone()),
                    file_size: Some(self.file_size),
                    ..Arguments::new(&call.id, self.folder)
                };
                (supervisor.command(&plan, script::shell()), None)
            }
            None => (processes::marked(script::shell(), self.folder, &call.id), confined),
        };
        let script = match self.job {
            None => script::foreground(&spool.note, self.processes),
            Some(_) if self.supervisor.is_some() => script::supervised(self.processes),
            Some(cap) => script::background(&spool.note, self.processes, cap),
        };
        command.arg("-c").arg(script).arg(script::shell()).arg(self.command);
        let input = self.input.as_ref().or(self.stdin.as_ref()).map(OwnedFd::try_clone).transpose()?;
        command
            .stdin(input.map_or_else(Stdio::null, Stdio::from))
            .stdout(Stdio::from(out.try_clone()?))
            .stderr(Stdio::from(out));
        let theirs = call.host.environment().unwrap_or_default();
        theirs.give(&mut command);
        script::set_environment(&mut command, self.secrets, theirs.variables());
        let started = match confined {
            _ if self.supervisor.is_some() => {
                umask::spawn(shielded(command, &call.id, Inherits::All), theirs.umask()).await
            }
            Some(confined) => confined.spawn(command, theirs.umask()).await,
            None => umask::spawn(command, theirs.umask()).await,
        };
        Ok(Started { child: started?, group })
    }

    fn confinement(&self, call: &Call, files: &[PathBuf]) -> std::io::Result<Option<Confinement>> {
        let mut confined = self.confined(call, files);
        if let Some(confined) = &mut confined {
            confined.hide_too(&call.hide)?;
            if confined.namespaces {
                confined.held.extend(call.held.iter().cloned());
            }
        }
        Ok(confined)
    }

    fn confined(&self, call: &Call, files: &[PathBuf]) -> Option<Confinement> {
        match self.sandbox {
            _ if self.reads => {
                let bare = Sandbox { supervisor: self.supervisor.cloned(), ..Sandbox::bare() };
                Some(self.sandbox.unwrap_or(&bare).reading(&call.roots, files))
            }
            sandbox => sandbox.map(|sandbox| sandbox.confinement(&call.roots, files, self.net)),
        }
    }

    /// Follows it to its end, up to this time.
    pub(super) async fn follow(
        &self,
        call: &Call,
        mut child: Child,
        pipe: PipeReader,
        printed: SpooledOutput,
        limit: Duration,
    ) -> (EndedCommand, SpooledOutput) {
        // A larger pipe is only faster.
        let _ = rustix::pipe::fcntl_setpipe_size(&pipe, PIPE);
        let ticks = AtomicU32::new(0);
        let (over, is_over) = watch::channel(false);
        let watching = async {
            let ending = self.watch(call, &mut child, limit, &ticks).await;
            over.send_replace(true);
            ending
        };
        let (ending, printed) =
            tokio::join!(watching, pump(call.host.as_ref(), pipe, printed, &ticks, is_over));
        let living = alive(&call.id).await;
        let over = EndedCommand { ending, took: TICK * ticks.into_inner(), living };
        (over, printed)
    }

    async fn watch(&self, call: &Call, child: &mut Child, limit: Duration, ticks: &AtomicU32) -> Ending {
        let group = child.id();
        let (mut stopped, mut time) = (call.host.stopped(), call.host.sleep(limit));
        let before = tasks();
        let (why, by_force_at_once) = loop {
            tokio::select! {
                biased;
                () = &mut stopped => break (call.host.stopped_by(), false),
                () = &mut time => break ("its time limit has passed", false),
                status = child.wait() => return Ending::Exited(status),
                () = call.host.sleep(TICK) => {
                    ticks.fetch_add(1, Ordering::Relaxed);
                    if tasks() > before + self.processes / 2 && alive(&call.id).await > self.processes {
                        // Processes of a fork bomb would start others if they were only asked to end.
                        break ("it had started too many processes", true);
                    }
                }
            }
        };
        match by_force_at_once {
            true => by_force(&call.id, group).await,
            false => end(call, group).await,
        };
        let patience = call.host.sleep(TO_END);
        // Reaped, if it can be ended at all.
        tokio::select! {
            _ = child.wait() => {}
            () = patience => {}
        }
        Ending::Ended(why)
    }
}

/// Ends all processes of a call: first by request, then by force. Returns whether they are gone.
pub(super) async fn end(call: &Call, group: Option<u32>) -> bool {
    end_processes(call.host.as_ref(), &call.id, group).await
}

/// The same for the processes of another call.
pub(super) async fn end_processes(host: &dyn Host, call: &str, group: Option<u32>) -> bool {
    processes::stop(group, call, false);
    let mut patience = host.sleep(TO_END);
    loop {
        let id = call.to_owned();
        let waited = process_work(move || processes::wait_gone(&id, TICK));
        tokio::select! {
            biased;
            gone = waited => if gone { return true },
            () = &mut patience => break,
        }
    }
    by_force(call, group).await
}

async fn by_force(call: &str, group: Option<u32>) -> bool {
    let id = call.to_owned();
    process_work(move || processes::end(group, &id)).await
}

/// The number of a call's processes.
pub(super) async fn alive(call: &str) -> usize {
    let id = call.to_owned();
    process_work(move || processes::alive(&id).len()).await
}

/// Runs blocking work on processes on a thread of its own.
async fn process_work<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> T {
    crate::blocking(work).await.expect("BUG: work on processes does not panic")
}

/// The number of the machine's tasks; cheap.
fn tasks() -> usize {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let all = load.split_whitespace().nth(3).and_then(|field| field.split_once('/'));
    all.and_then(|(_, all)| all.parse().ok()).unwrap_or_default()
}

/// Reads and reports the output from the pipe, until no process can write to it any more or the command has ended. The
/// rest in the pipe is read, too, but other processes that hold it are not waited for.
async fn pump(
    host: &dyn Host,
    pipe: PipeReader,
    mut printed: SpooledOutput,
    ticks: &AtomicU32,
    mut is_over: watch::Receiver<bool>,
) -> SpooledOutput {
    let Ok(mut pipe) = Receiver::from_owned_fd(pipe.into()) else { return printed };
    let mut buffer = vec![0; PIPE / 4];
    let mut teller = OutputReporter::default();
    let mut last = 2 * PIPE / buffer.len();
    loop {
        let read = tokio::select! {
            biased;
            // The command's follower is gone: treat it as the end.
            _ = is_over.wait_for(|over| *over) => {
                last -= 1;
                Some(if last == 0 { Ok(0) } else { rustix::io::read(&pipe, &mut buffer).map_err(Into::into) })
            }
            read = pipe.read(&mut buffer) => Some(read),
            () = host.sleep(TICK), if teller.holds() => None,
        };
        let text = match read {
            Some(Ok(read)) if read > 0 => {
                printed.add(&buffer[..read]);
                teller.piece(&buffer[..read], ticks.load(Ordering::Relaxed))
            }
            Some(_) => break,
            // It prints nothing more for now: the last output is reported.
            None => teller.rest(),
        };
        if let Some(text) = text {
            host.tell(Piece { text }).await;
        }
    }
    if let Some(text) = teller.end() {
        host.tell(Piece { text }).await;
    }
    printed
}
