//! The processes of a call: started in a group of their own, marked, and looked for until they are gone.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, PidfdFlags, Signal};
use tokio::process::{Child, Command};

/// Marks every process of a call, its children's children included.
const MARK: &str = "RETAKE_CALL";

/// How long one process is waited for before all are looked for again.
const LOOK: Duration = Duration::from_millis(100);

/// Starts a command in a folder, marked with the id of its call. It reads nothing; what it prints comes through pipes.
pub(super) fn start(command: &[String], folder: &Path, call: &str) -> std::io::Result<Child> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "no command"));
    };
    Command::new(program)
        .args(arguments)
        .current_dir(folder)
        .env(MARK, call)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
}

/// Asks every process of a call to end; with `force`, ends it.
pub(super) fn stop(group: Option<u32>, call: &str, force: bool) {
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

/// The processes that bear the mark of a call, wherever they have gone to.
pub(super) fn alive(call: &str) -> Vec<Pid> {
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
pub(super) fn wait_gone(call: &str, within: Duration) -> bool {
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

/// A process that has ended and is only waited for.
fn is_zombie(process: &Path) -> bool {
    let status = std::fs::read_to_string(process.join("stat")).unwrap_or_default();
    status.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('Z'))
}
