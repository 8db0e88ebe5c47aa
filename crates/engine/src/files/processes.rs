//! The processes of a call: started in a group of their own, marked, and looked for until they are gone.

use std::collections::HashMap;
use std::path::Path;
use std::process::Stdio;

use rustix::process::{Pid, Signal};
use tokio::process::{Child, Command};

/// Marks every process of a call, its children's children included.
const MARK: &str = "RETAKE_CALL";

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
    marked().into_iter().filter_map(|(pid, mark)| (mark == call).then_some(pid)).collect()
}

/// How many processes of each call there are.
pub(super) fn marks() -> HashMap<String, usize> {
    let mut marks = HashMap::new();
    marked().into_iter().for_each(|(_, call)| *marks.entry(call).or_default() += 1);
    marks
}

/// The processes of calls, each with the id of its call.
fn marked() -> Vec<(Pid, String)> {
    let start = format!("{MARK}=");
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let own = |entry: std::fs::DirEntry| {
        let pid = entry.file_name().to_str()?.parse().ok().and_then(Pid::from_raw)?;
        // Of somebody else's process nothing can be read: it is none of ours.
        let environment = std::fs::read(entry.path().join("environ")).ok()?;
        let mut entries = environment.split(|byte| *byte == 0);
        let call = entries.find_map(|entry| entry.strip_prefix(start.as_bytes()))?;
        let call = String::from_utf8_lossy(call).into_owned();
        (!is_zombie(&entry.path())).then_some((pid, call))
    };
    processes.flatten().filter_map(own).collect()
}

/// A process that has ended and is only waited for.
fn is_zombie(process: &Path) -> bool {
    let status = std::fs::read_to_string(process.join("stat")).unwrap_or_default();
    status.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('Z'))
}
