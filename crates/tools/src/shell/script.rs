//! How a command line becomes a process: its shell, its environment and its limits. What it is started with never holds
//! a secret of ours.

use std::ffi::{OsStr, OsString};
use std::io::Read as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use tokio::process::Command;

use crate::regular;
use crate::secret::Secrets;

/// Variables that are for programs without a person before them.
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

/// What a shell would run first, or would read a line otherwise by.
const UNSET: [&str; 6] = ["BASHOPTS", "BASH_ENV", "CDPATH", "ENV", "PS4", "SHELLOPTS"];

/// No folder has a longer name, with the end of its line.
const LONGEST_NOTE: u64 = 4097;

/// Gives a command its environment: ours, these variables, without what is not for it.
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

/// The shell there is.
pub(super) fn shell() -> &'static OsStr {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let has_bash = std::env::split_paths(&path).any(|folder| folder.join("bash").is_file());
    OsStr::new(if has_bash { "bash" } else { "sh" })
}

/// A script that runs its first argument as a command line, and notes in a file where it leaves the shell. A command that
/// replaces the shell, or sets a trap of its own for its end, leaves no note.
pub(super) fn foreground(note: &Path, processes: usize) -> String {
    let trap = quoted(&format!("pwd -P 2>/dev/null >|{}", quoted(&note.to_string_lossy())));
    format!("trap {trap} EXIT; {}eval \"$1\"", limits(processes))
}

/// A script that runs its first argument as a job whose supervisor notes how it ended, and keeps what it prints.
pub(super) fn supervised(processes: usize) -> String {
    format!("{}eval \"$1\"", limits(processes))
}

/// A script that runs its first argument as a job which outlives us, and notes in a file how it ended. What the job prints
/// goes on to the script's own output up to a cap; what comes then is dropped, so that the job goes on.
pub(super) fn background(note: &Path, processes: usize, cap: u64) -> String {
    let trap = quoted(&format!("echo $? >|{}", quoted(&note.to_string_lossy())));
    let job = format!("( trap {trap} EXIT; {}eval \"$1\" )", limits(processes));
    // Small blocks, as a read that is not full counts as one.
    format!("{job} 2>&1 | {{ dd bs=64 count={} 2>/dev/null; cat >/dev/null; }}", cap.div_ceil(64))
}

/// No core files; and a limit on the number of the user's tasks, where one can be set. The kernel counts all tasks of
/// the user, and never limits root. Where we don't see all of them, any limit could be too low to start even one
/// process. There, as for root, the code that follows the command ends it when it has too many.
fn limits(processes: usize) -> String {
    let core = "ulimit -c 0 2>/dev/null; ";
    if rustix::process::geteuid().is_root() || !all_tasks_are_seen() {
        return core.to_owned();
    }
    let most = tasks_of_user() + processes;
    format!("{core}{{ ulimit -Su {most} || ulimit -Sp {most}; }} 2>/dev/null; ")
}

/// Whether `/proc` has the tasks of the whole machine, and not of a container alone.
fn all_tasks_are_seen() -> bool {
    /// The number of the machine's own namespace of processes, the same in every kernel.
    const OF_THE_MACHINE: u64 = 0xEFFF_FFFC;
    std::fs::metadata("/proc/self/ns/pid").is_ok_and(|namespace| namespace.ino() == OF_THE_MACHINE)
}

/// How many tasks our user has now.
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

/// A word of a shell's line that stands for itself.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// The name of the file that gets what a call prints.
fn log_name(call: &str) -> String {
    let safe = |char: char| char.is_ascii_alphanumeric() || "-_".contains(char);
    let name: String = call.chars().map(|char| if safe(char) { char } else { '_' }).collect();
    format!("{name}.log")
}

/// No exit code is longer.
const LONGEST_CODE: u64 = 64;

/// How a job ended that printed into this log, once it has.
pub fn code_of(log: &Path) -> Option<i32> {
    regular::text(&log.with_extension("end"), LONGEST_CODE)?.trim().parse().ok()
}

/// Whether a file is what a call prints to: in the folder of all spools, or in one of them. A fact may be anybody's, and name any file.
pub fn is_log_of(all: &Path, call: &str, log: &Path) -> bool {
    let is_within = log.parent() == Some(all) || log.parent().and_then(Path::parent) == Some(all);
    let is_plain = log.components().all(|part| part != std::path::Component::ParentDir);
    is_within && is_plain && log.file_name() == Some(log_name(call).as_ref())
}

/// The files of a call in its spool.
pub(super) struct Spool {
    /// What it printed.
    pub(super) log: PathBuf,
    /// What its shell noted at its end.
    pub(super) note: PathBuf,
}

impl Spool {
    /// The files of a call; the note is there and empty.
    pub(super) fn open(folder: &Path, call: &str) -> std::io::Result<Self> {
        crate::kept::folder(folder)?;
        let log = folder.join(log_name(call));
        let spool = Self { note: log.with_extension("end"), log };
        crate::kept::file(&spool.note)?;
        Ok(spool)
    }

    /// What a shell noted, as much as it may: the command can write to the note, too.
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

    use super::{Secrets, quoted, set_environment};

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

    #[test]
    fn a_quoted_word_stands_for_itself() {
        assert_eq!(quoted("a b"), "'a b'");
        assert_eq!(quoted("it's $x"), "'it'\\''s $x'");
    }
}
