//! The process of a command line: its shell, its environment and its limits. Its environment must never contain a secret of ours.

use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use retake_core::shell_word;
use tokio::process::Command;

use crate::regular;
use crate::secret::Secrets;

/// Variables for programs without a terminal.
const SET: [(&str, &str); 8] = [
    ("TERM", "dumb"),
    ("NO_COLOR", "1"),
    ("PAGER", "cat"),
    ("MANPAGER", "cat"),
    ("GIT_PAGER", "cat"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("DEBIAN_FRONTEND", "noninteractive"),
    ("PYTHONUNBUFFERED", "1"),
];

/// Variables that run something at a shell's start, or change how it parses a line.
const UNSET: [&str; 6] = ["BASHOPTS", "BASH_ENV", "CDPATH", "ENV", "PS4", "SHELLOPTS"];

/// The longest folder name, with its line end.
const LONGEST_NOTE: u64 = 4097;

/// Sets the environment of a command: ours with these variables, without withheld ones.
pub(super) fn set_environment(
    command: &mut Command,
    secrets: &Secrets,
    ours: impl Iterator<Item = (OsString, OsString)>,
) {
    for (name, _) in ours.filter(|(name, value)| secrets.holds(name, value)) {
        command.env_remove(name);
    }
    for name in UNSET {
        command.env_remove(name);
    }
    command.envs(SET);
}

/// The available shell.
pub(super) fn shell() -> &'static OsStr {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let has_bash = std::env::split_paths(&path).any(|folder| folder.join("bash").is_file());
    OsStr::new(if has_bash { "bash" } else { "sh" })
}

/// A script that runs its first argument as a command line, and writes the shell's last folder to a file. A command that replaces
/// the shell, or sets its own exit trap, leaves no note.
pub(super) fn foreground(note: &Path, processes: usize) -> String {
    let trap = shell_word(&format!("pwd -P 2>/dev/null >|{}", shell_word(&note.to_string_lossy())));
    format!("trap {trap} EXIT; {}eval \"$1\"", limits(processes))
}

/// A script that runs its first argument as a job whose supervisor records its end and keeps its output.
pub(super) fn supervised(processes: usize) -> String {
    format!("{}eval \"$1\"", limits(processes))
}

/// A script that runs its first argument as a job which outlives us, and writes its end to a file. The job's output goes to the
/// script's own output up to a cap; the rest is dropped, so that the job continues.
pub(super) fn background(note: &Path, processes: usize, cap: u64) -> String {
    let trap = shell_word(&format!("echo $? >|{}", shell_word(&note.to_string_lossy())));
    let job = format!("( trap {trap} EXIT; {}eval \"$1\" )", limits(processes));
    // Small blocks, because a partial read counts as one.
    format!("{job} 2>&1 | {{ dd bs=64 count={} 2>/dev/null; cat >/dev/null; }}", cap.div_ceil(64))
}

/// No core files; and a limit on the number of the user's tasks, if one can be set. The kernel counts all tasks of the user, and
/// never limits root. If we do not see all of them, any limit could be too low to start even one process. Then, and for root, the
/// code that follows the command ends it when it has too many.
fn limits(processes: usize) -> String {
    let core = "ulimit -c 0 2>/dev/null; ";
    if rustix::process::geteuid().is_root() || !all_tasks_are_seen() {
        return core.to_owned();
    }
    let most = tasks_of_user() + processes;
    format!("{core}{{ ulimit -Su {most} || ulimit -Sp {most}; }} 2>/dev/null; ")
}

/// Whether `/proc` has the tasks of the whole machine, and not only of a container.
fn all_tasks_are_seen() -> bool {
    /// The number of the machine's own pid namespace, the same in every kernel.
    const OF_THE_MACHINE: u64 = 0xEFFF_FFFC;
    std::fs::metadata("/proc/self/ns/pid").is_ok_and(|namespace| namespace.ino() == OF_THE_MACHINE)
}

/// The number of our user's tasks.
fn tasks_of_user() -> usize {
    let user = rustix::process::getuid().as_raw().to_string();
    let own = |status: String| {
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
        let is_own = field("Uid:")?.split_whitespace().next()? == user;
        is_own.then(|| field("Threads:")?.trim().parse::<usize>().ok())?
    };
    let processes = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let states = processes.filter_map(|entry| std::fs::read_to_string(entry.path().join("status")).ok());
    states.filter_map(own).sum()
}

/// The name of the log file of a call's output.
fn log_name(call: &str) -> String {
    let safe = |char: char| char.is_ascii_alphanumeric() || "-_".contains(char);
    let name: String = call.chars().map(|char| if safe(char) { char } else { '_' }).collect();
    format!("{name}.log")
}

/// The longest exit code.
const LONGEST_CODE: u64 = 64;

/// The exit code of a job with this log, once it has ended.
pub fn code_of(log: &Path) -> Option<i32> {
    regular::text(&log.with_extension("end"), LONGEST_CODE)?.trim().parse().ok()
}

/// Whether a file is a call's log: in the folder of all spools, or in one of them. A fact is untrusted, and may name any file.
pub fn is_log_of(all: &Path, call: &str, log: &Path) -> bool {
    let is_within = log.parent() == Some(all) || log.parent().and_then(Path::parent) == Some(all);
    let is_plain = log.components().all(|part| part != std::path::Component::ParentDir);
    is_within && is_plain && log.file_name() == Some(log_name(call).as_ref())
}

/// The files of a call in its spool.
pub(super) struct Spool {
    /// Its output.
    pub(super) log: PathBuf,
    /// The note of its shell at its end.
    pub(super) note: PathBuf,
}

impl Spool {
    /// Creates the files of a call; the note exists and is empty.
    pub(super) fn open(folder: &Path, call: &str) -> std::io::Result<Self> {
        crate::kept::folder(folder)?;
        let log = folder.join(log_name(call));
        let spool = Self { note: log.with_extension("end"), log };
        crate::kept::file(&spool.note)?;
        Ok(spool)
    }

    /// The shell's note, up to a limit: the command can write to it, too.
    pub(super) fn noted(&self) -> Vec<u8> {
        let mut noted = Vec::new();
        if let Ok(file) = std::fs::File::open(&self.note) {
            let _ = file.take(LONGEST_NOTE).read_to_end(&mut noted);
        }
        noted
    }
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;

    use tokio::process::Command;

    use super::{Secrets, set_environment};

    #[test]
    fn no_secret_is_passed_to_a_command() {
        let mut command = Command::new("true");
        let names =
            ["PATH", "MODEL_API_KEY", "gh_token", "TOKENISER", "AWS_SECRET_ACCESS_KEY", "DB_PASSWORD"];
        let plain = names.map(|name| (name, "x")).into_iter();
        let ours = plain.chain([("MIRROR", "https://user:pw@host")]);
        set_environment(
            &mut command,
            &Secrets::default(),
            ours.map(|(name, value)| (name.into(), value.into())),
        );
        let taken = command.as_std().get_envs().filter(|(_, value)| value.is_none());
        let taken: Vec<&OsStr> = taken.map(|(name, _)| name).collect();
        assert_eq!(
            taken,
            [
                "AWS_SECRET_ACCESS_KEY",
                "BASHOPTS",
                "BASH_ENV",
                "CDPATH",
                "DB_PASSWORD",
                "ENV",
                "MIRROR",
                "MODEL_API_KEY",
                "PS4",
                "SHELLOPTS",
                "gh_token"
            ]
        );
    }
}
