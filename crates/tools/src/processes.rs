//! The processes of a call: started in a group of their own, marked, and found as descendants of marked ones. It must never
//! end a process that does not belong to the call.
//!
//! A process can drop its mark, its group and its session, but not its ancestors. The supervisor of a call adopts every
//! process whose parent has ended, so that the descendants of the supervisor are all processes of the call.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::process::{Pid, PidfdFlags, Signal};
use tokio::process::{Child, Command};

use crate::call_environment::CallEnvironment;
use crate::umask;

/// Marks every process of a call, including all descendants.
pub(crate) const MARK: &str = "RETAKE_CALL";

/// Marks the supervisors of a call: the stage, then the id of the call.
pub(crate) const SUPERVISOR: &str = "RETAKE_SUPERVISOR";

/// The supervisor that the owner starts, and that ends with the command.
pub(crate) const OUTER: &str = "1:";

/// The supervisor that starts the command, and that ends with the last process of the call.
pub(crate) const INNER: &str = "2:";

/// How long a supervisor may outlive the last process of its call before it counts as a process of it.
const TO_FOLLOW: Duration = Duration::from_secs(1);

/// How long to wait for one process before the next scan.
const LOOK: Duration = Duration::from_millis(100);

/// The number of scans while they are killed: a process that forks as fast as it can wins once or twice, not this often.
const ROUNDS: u32 = 50;

/// A command in a folder, marked with the id of its call, in a process group of its own. It has no input.
pub fn marked(program: &OsStr, folder: &Path, call: &str) -> Command {
    let mut command = Command::new(program);
    command.current_dir(folder).env(MARK, call).stdin(Stdio::null()).process_group(0);
    command
}

/// Starts a program with its arguments, marked as [`marked`] describes; its output comes through pipes. It gets this
/// environment instead of ours.
pub async fn start(
    command: &[String],
    folder: &Path,
    call: &str,
    environment: Option<&CallEnvironment>,
) -> std::io::Result<Child> {
    let Some((program, arguments)) = command.split_first() else {
        return Err(std::io::Error::new(std::io::ErrorKind::InvalidInput, "no command"));
    };
    let mut started = marked(OsStr::new(program), folder, call);
    if let Some(environment) = environment {
        environment.give(&mut started);
    }
    started.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    umask::spawn(started, environment.and_then(CallEnvironment::umask)).await
}

/// Asks every process of a call to end; with `force`, kills it.
pub fn stop(group: Option<u32>, call: &str, force: bool) {
    let signal = if force { Signal::KILL } else { Signal::TERM };
    let found = CallProcesses::of(call);
    let group = group.and_then(|group| i32::try_from(group).ok()).and_then(Pid::from_raw);
    // A supervisor in the group reports how the command ended, so it ends after it.
    if let Some(group) = group.filter(|_| found.supervisors.is_empty()) {
        // It may be gone already.
        let _ = rustix::process::kill_process_group(group, signal);
    }
    // When the first process of a namespace ends, all others in it end at once.
    for pid in found.supervisors.iter().filter(|pid| force && is_first_of_namespace(**pid)) {
        let _ = rustix::process::kill_process(*pid, Signal::KILL);
    }
    for pid in found.members {
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// The calls with running processes, of every data directory.
pub fn calls() -> HashSet<String> {
    // A process may have dropped its mark; its supervisor has not.
    let marks = [format!("{MARK}="), format!("{SUPERVISOR}={OUTER}"), format!("{SUPERVISOR}={INNER}")];
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let call = |entry: std::fs::DirEntry| {
        entry.file_name().to_str()?.parse::<u32>().ok()?;
        let environment = environment(&state(&entry.path())?.0?);
        let of = |entry: &[u8]| {
            marks.iter().find_map(|mark| entry.strip_prefix(mark.as_bytes()).map(<[u8]>::to_vec))
        };
        let call = environment.split(|byte| *byte == 0).find_map(of)?;
        let call = String::from_utf8(call).ok()?;
        Some(call)
    };
    processes.filter_map(call).collect()
}

/// The processes of a call without its supervisors, wherever they are.
pub fn members(call: &str) -> Vec<Pid> {
    CallProcesses::of(call).members
}

/// The processes of a call, wherever they are. A supervisor counts only if it outlives all others.
pub fn alive(call: &str) -> Vec<Pid> {
    let found = CallProcesses::of(call);
    if !found.members.is_empty() || found.supervisors.is_empty() {
        return found.members;
    }
    let rounds = TO_FOLLOW.as_millis() / LOOK.as_millis();
    for _ in 0..rounds {
        let found = CallProcesses::of(call);
        match found.supervisors.first() {
            Some(pid) if found.members.is_empty() => wait_for(*pid),
            _ => return found.members,
        }
    }
    CallProcesses::of(call).all()
}

/// The command line of a process; for the shell of a command, the command.
pub fn line(pid: Pid) -> String {
    let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words: Vec<_> = line.split(|byte| *byte == 0).map(String::from_utf8_lossy).collect();
    match &words[..] {
        // As `shell` starts it.
        [shell, option, _, name, command, end] if option == "-c" && name == shell && end.is_empty() => {
            command.clone().into_owned()
        }
        words => words.join(" ").trim_end().to_owned(),
    }
}

/// Waits until no process of a call is left, up to this time. Returns whether none is.
pub fn wait_gone(call: &str, within: Duration) -> bool {
    for _ in 0..within.as_millis() / LOOK.as_millis() {
        let Some(pid) = CallProcesses::of(call).all().into_iter().next() else { return true };
        wait_for(pid);
    }
    CallProcesses::of(call).all().is_empty()
}

/// Waits for the end of a process, for a moment.
fn wait_for(pid: Pid) {
    // It may be gone already.
    if let Ok(process) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) {
        let timeout = Timespec { tv_sec: 0, tv_nsec: i64::from(LOOK.subsec_nanos()) };
        let _ = rustix::event::poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&timeout));
    }
}

/// Kills every process of a call, however fast they fork; waits until none is left, for a few seconds at most. Returns whether
/// none is. Blocks.
pub fn end(group: Option<u32>, call: &str) -> bool {
    (0..ROUNDS).any(|_| {
        let found = CallProcesses::of(call);
        // A stopped process starts no others while its siblings are searched.
        for pid in &found.members {
            let _ = rustix::process::kill_process(*pid, Signal::STOP);
        }
        if found.members.is_empty() {
            for pid in found.supervisors {
                let _ = rustix::process::kill_process(pid, Signal::KILL);
            }
        }
        stop(group, call, true);
        wait_gone(call, LOOK)
    })
}

/// The mark of a process.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    Call,
    Outer,
    Inner,
}

/// A process in a scan.
struct ProcessInfo {
    parent: i32,
    /// Whether it is a zombie.
    has_ended: bool,
    mark: Option<Mark>,
}

/// The processes of a call.
struct CallProcesses {
    /// All except the supervisors.
    members: Vec<Pid>,
    supervisors: Vec<Pid>,
}

impl CallProcesses {
    fn of(call: &str) -> Self {
        let all = seen(call);
        let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
        for (pid, process) in &all {
            children.entry(process.parent).or_default().push(*pid);
        }
        let is_supervisor = |pid: i32| is_supervisor(pid, &all);
        let mut open: Vec<i32> =
            all.iter().filter(|(_, seen)| seen.mark.is_some()).map(|(pid, _)| *pid).collect();
        let mut found = std::collections::BTreeSet::new();
        while let Some(pid) = open.pop() {
            if found.insert(pid) {
                open.extend(children.get(&pid).into_iter().flatten());
            }
        }
        let (supervisors, members): (Vec<i32>, Vec<i32>) =
            found.into_iter().filter(|pid| !all[pid].has_ended).partition(|pid| is_supervisor(*pid));
        let pids = |pids: Vec<i32>| pids.into_iter().filter_map(Pid::from_raw).collect();
        Self { members: pids(members), supervisors: pids(supervisors) }
    }

    fn all(self) -> Vec<Pid> {
        self.members.into_iter().chain(self.supervisors).collect()
    }
}

/// Whether a process is a supervisor of its call. A command cannot fake one by setting its mark: the fake descends from the
/// true one.
fn is_supervisor(pid: i32, all: &HashMap<i32, ProcessInfo>) -> bool {
    let own = all.get(&pid).and_then(|process| process.mark);
    let ancestors =
        std::iter::successors(all.get(&pid), |process| all.get(&process.parent)).skip(1).take(all.len());
    let mut above = ancestors.filter_map(|process| process.mark);
    match (own, above.next(), above.next()) {
        (Some(Mark::Outer | Mark::Inner), None, _) => true,
        (Some(Mark::Inner), Some(Mark::Outer), None) => {
            all.get(&all[&pid].parent).is_some_and(|parent| parent.mark == Some(Mark::Outer))
        }
        _ => false,
    }
}

/// All processes, with their marks of a call. The marks of another user's processes cannot be read: they have none.
fn seen(call: &str) -> HashMap<i32, ProcessInfo> {
    let marks = [
        (format!("{MARK}={call}"), Mark::Call),
        (format!("{SUPERVISOR}={OUTER}{call}"), Mark::Outer),
        (format!("{SUPERVISOR}={INNER}{call}"), Mark::Inner),
    ];
    let look = |entry: std::fs::DirEntry| {
        let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
        let (lives, parent) = state(&entry.path())?;
        let environment = lives.as_deref().map(environment).unwrap_or_default();
        let bears = |mark: &str| environment.split(|byte| *byte == 0).any(|entry| entry == mark.as_bytes());
        let mark = marks.iter().find(|(mark, _)| bears(mark)).map(|(_, mark)| *mark);
        Some((pid, ProcessInfo { parent, has_ended: lives.is_none(), mark }))
    };
    std::fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(look).collect()
}

/// The folder of a living process, or of another thread if its first one has ended; and its parent.
fn state(process: &Path) -> Option<(Option<PathBuf>, i32)> {
    let (is_over, parent) = status(process)?;
    if !is_over {
        return Some((Some(process.to_owned()), parent));
    }
    let threads = std::fs::read_dir(process.join("task")).into_iter().flatten().flatten();
    let mut threads = threads.map(|thread| thread.path());
    Some((threads.find(|thread| status(thread).is_some_and(|(is_over, _)| !is_over)), parent))
}

/// Whether a process or thread has ended, and the process's parent.
fn status(of: &Path) -> Option<(bool, i32)> {
    let status = std::fs::read(of.join("stat")).ok()?;
    // A program's name may contain anything, and is the only field in parentheses.
    let end = memchr::memrchr(b')', &status)?;
    let rest = String::from_utf8_lossy(&status[end + 1..]).into_owned();
    let mut fields = rest.split_whitespace();
    let is_over = matches!(fields.next()?, "Z" | "X");
    Some((is_over, fields.next()?.parse().ok()?))
}

fn environment(of: &Path) -> Vec<u8> {
    std::fs::read(of.join("environ")).unwrap_or_default()
}

/// Whether a process is the first of another pid namespace.
fn is_first_of_namespace(pid: Pid) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let pids = status.lines().find_map(|line| line.strip_prefix("NSpid:")).unwrap_or_default();
    pids.split_whitespace().skip(1).last() == Some("1")
}

/// The exit of a process as a text.
pub fn ended_with(status: ExitStatus) -> String {
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => status.to_string(),
    }
}

/// The last line of the result of a command that failed by itself.
pub fn failed_line(status: ExitStatus) -> String {
    let how = if status.signal().is_some() { "was ended by" } else { "ended with" };
    format!("[it {how} {}]", ended_with(status))
}
