//! The processes of a call: started in a group of their own, marked, and looked for until they are gone. It must never end
//! a process that does not bear the mark of the call or belong to its group.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, PidfdFlags, Signal};
use tokio::process::{Child, Command};

use crate::surroundings::Surroundings;
use crate::umask;

/// Marks every process of a call, its children's children included.
pub(crate) const MARK: &str = "RETAKE_CALL";

/// How long one process is waited for before all are looked for again.
const LOOK: Duration = Duration::from_millis(100);

/// How often all of them are looked for again while they are ended by force: whoever forks as fast as it can is faster once
/// or twice, not that often.
const ROUNDS: u32 = 50;

/// A command in a folder, marked with the id of its call, in a process group of its own. It reads nothing.
pub fn marked(program: &OsStr, folder: &Path, call: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).env(MARK, call).stdin(Stdio::null()).process_group(0);
    command
}

/// Starts a program with its arguments, marked as [`marked`] says; what it prints comes through pipes.
/// With these surroundings, in the place of ours.
pub async fn start(
    command: &[String],
    folder: &Path,
    call: &str,
    surroundings: Option<&Surroundings>,
) -> std::io::Result<Child> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "no command"));
    };
    let mut started = marked(OsStr::new(program), folder, call);
    if let Some(surroundings) = surroundings {
        surroundings.give(&mut started);
    }
    started.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    umask::spawn(started, surroundings.and_then(Surroundings::umask)).await
}

/// Asks every process of a call to end; with `force`, ends it.
pub fn stop(group: Option<u32>, call: &str, force: bool) {
    let signal = if force { Signal::KILL } else { Signal::TERM };
    let group = group.and_then(|group| i32::try_from(group).ok()).and_then(Pid::from_raw);
    if let Some(group) = group {
        // Gone already is as good.
        let _ = rustix::process::kill_process_group(group, signal);
    }
    for pid in alive(call) {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// The calls of which processes live, of every data directory.
pub fn calls() -> HashSet<String> {
    let mark = format!("{MARK}=");
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let call = |entry: std::fs::DirEntry| {
        entry.file_name().to_str()?.parse::<u32>().ok()?;
        let environment = std::fs::read(entry.path().join("environ")).ok()?;
        let call =
            environment.split(|byte| *byte == 0).find_map(|entry| entry.strip_prefix(mark.as_bytes()))?;
        let call = String::from_utf8(call.to_vec()).ok()?;
        (!is_zombie(&entry.path())).then_some(call)
    };
    processes.filter_map(call).collect()
}

/// The processes that bear the mark of a call, wherever they have gone to.
pub fn alive(call: &str) -> Vec<Pid> {
    let mark = format!("{MARK}={call}");
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let own = |entry: std::fs::DirEntry| {
        let pid = entry.file_name().to_str()?.parse().ok().and_then(Pid::from_raw)?;
        // Of somebody else's process nothing can be read: it is none of ours.
        let environment = std::fs::read(entry.path().join("environ")).ok()?;
        let marked = environment.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes());
        (marked && !is_zombie(&entry.path())).then_some(pid)
    };
    processes.flatten().filter_map(own).collect()
}

/// Waits until no process of a call is left; at most so long. Says whether none is.
pub fn wait_gone(call: &str, within: Duration) -> bool {
    for _ in 0..within.as_millis() / LOOK.as_millis() {
        let Some(pid) = alive(call).into_iter().next() else { return true };
        // Gone meanwhile is as good.
        if let Ok(process) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) {
            let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(LOOK.subsec_nanos()) };
            let _ = rustix::event::poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&timeout));
        }
    }
    alive(call).is_empty()
}

/// Ends every process of a call by force, however fast they make new ones; waits until none is left, for a few seconds at
/// most. Says whether none is. Blocks.
pub fn end(group: Option<u32>, call: &str) -> bool {
    (0..ROUNDS).any(|_| {
        // One that is halted starts no others while its siblings are looked for.
        for pid in alive(call) {
            let _ = rustix::process::kill_process(pid, Signal::STOP);
        }
        stop(group, call, true);
        wait_gone(call, LOOK)
    })
}

/// A process that has ended and is only waited for.
fn is_zombie(process: &Path) -> bool {
    let status = std::fs::read_to_string(process.join("stat")).unwrap_or_default();
    status.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('Z'))
}

/// What a process ended with, in words.
pub fn ended_with(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => status.to_string(),
    }
}

/// The line with which the result of a command that failed by itself ends.
pub fn failed_line(status: ExitStatus) -> String {
    let how = if status.signal().is_some() { "was ended by" } else { "ended with" };
    format!("[it {how} {}]", ended_with(status))
}
