//! The sockets of other programs: their usual folders, existing ones, and later ones. Must never cover a socket that the call has
//! bound itself.

use std::collections::{HashSet, VecDeque};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::Mode;

use super::{Covers, at, cannot_be_made};
use crate::supervisor::threads;

/// Folders with only sockets and related files.
const FOLDERS: [&str; 4] = ["/run/user", "/run/dbus", "/tmp/.X11-unix", "/tmp/.ICE-unix"];

/// The prefixes of such sockets in the temporary folder.
const TEMPORARY: [&str; 3] = ["tmux-", "ssh-", "screens"];

/// Existing folders of sockets, and known ones that are missing. That of a terminal multiplexer is created like its program does
/// it, and stays. If it were free at any time, a command could wait there for the person.
pub(super) fn folders(multiplexer: Option<&Path>) -> Result<(Vec<PathBuf>, Vec<PathBuf>), String> {
    if let Some(folder) = multiplexer
        && let Err(error) = rustix::fs::mkdir(folder, Mode::RWXU)
        && !cannot_be_made(folder, error)
    {
        return Err(at(folder)(error));
    }
    let is_named = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        TEMPORARY.iter().any(|begins| name.starts_with(begins))
    };
    let temporary = std::fs::read_dir("/tmp").into_iter().flatten().flatten();
    let temporary = temporary.map(|entry| entry.path()).filter(is_named);
    let all = FOLDERS.into_iter().map(PathBuf::from).chain(temporary);
    let mut all: Vec<PathBuf> = all.chain(multiplexer.map(Path::to_owned)).collect();
    all.sort();
    all.dedup();
    let (there, absent): (Vec<_>, Vec<_>) = all.into_iter().partition(|path| path.symlink_metadata().is_ok());
    // A link could lead anywhere, and is none of theirs.
    let there = there.into_iter().filter(|path| path.symlink_metadata().is_ok_and(|meta| meta.is_dir()));
    Ok((there.collect(), absent))
}

/// The kernel's list of sockets.
const LIST: &str = "/proc/net/unix";

/// A socket with a path, in the kernel's list.
#[derive(PartialEq, Eq)]
struct Bound {
    /// Its unique number while it lives.
    number: Vec<u8>,
    path: PathBuf,
}

/// All sockets with absolute paths.
fn bound() -> Result<Vec<Bound>, String> {
    let known = std::fs::read(LIST).map_err(|error| format!("{LIST}: {error}"))?;
    let read = |line: &[u8]| {
        // The number is the seventh field, and the eighth is the path, which may contain spaces.
        let (mut rest, mut number) = (line, Vec::new());
        for _ in 0..7 {
            let end = rest.iter().position(|byte| *byte == b' ')?;
            number = rest[..end].to_vec();
            let skipped = rest[end..].iter().position(|byte| *byte != b' ')?;
            rest = &rest[end + skipped..];
        }
        let path = || PathBuf::from(std::ffi::OsStr::from_bytes(rest));
        // A connection that was not accepted yet has none.
        (rest.starts_with(b"/") && number != b"0").then(|| Bound { number, path: path() })
    };
    Ok(known.split(|byte| *byte == b'\n').filter_map(read).collect())
}

fn is_socket(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.file_type().is_socket())
}

fn is_listed(path: &Path, listed: &[PathBuf]) -> bool {
    listed.iter().any(|listed| path.starts_with(listed))
}

/// Sockets with a path, and those in writable folders, by whatever path they were bound; except the listed ones.
pub(super) fn of_others(listed: &[PathBuf], writable: &[PathBuf]) -> Result<Vec<PathBuf>, String> {
    let mut found: Vec<PathBuf> =
        bound()?.into_iter().filter_map(|bound| bound.path.canonicalize().ok()).collect();
    found.extend(below(writable));
    found.sort();
    found.dedup();
    found.retain(|path| is_socket(path) && !is_listed(path, listed));
    Ok(found)
}

/// Sockets that others bind during a call.
pub(super) struct LaterSockets {
    covers: Covers,
    /// Those that are not covered.
    listed: Vec<PathBuf>,
    known: HashSet<Vec<u8>>,
}

impl LaterSockets {
    pub(super) fn new(covers: &Covers, listed: &[PathBuf]) -> Result<Self, String> {
        let known = bound()?.into_iter().map(|bound| bound.number).collect();
        let covers = covers.another().map_err(|error| error.to_string())?;
        Ok(Self { covers, listed: listed.to_vec(), known })
    }

    /// Covers them as they appear, in a thread of its own. The kernel has no events for them, so it polls.
    pub(super) fn keep(mut self) -> std::io::Result<()> {
        threads::guard("sockets", move || {
            std::thread::sleep(super::OFTEN);
            self.look()
        })
    }

    fn look(&mut self) -> Result<(), String> {
        let mut new: Vec<Bound> =
            bound()?.into_iter().filter(|it| self.known.insert(it.number.clone())).collect();
        if new.is_empty() {
            return Ok(());
        }
        // Looked up once for all: a command could bind thousands.
        let own = own_sockets();
        new.retain(|it| !own.contains(&it.number));
        // One that is gone by now may have been the call's own.
        let still = if new.is_empty() { Vec::new() } else { bound()? };
        let still: HashSet<&[u8]> = still.iter().map(|it| it.number.as_slice()).collect();
        for it in new.iter().filter(|it| still.contains(it.number.as_slice())) {
            let Ok(path) = it.path.canonicalize() else { continue };
            if is_socket(&path) && !is_listed(&path, &self.listed) {
                self.covers.over(&path)?;
            }
        }
        Ok(())
    }
}

/// The numbers of the sockets that the call's processes have open: no other processes are visible here.
fn own_sockets() -> HashSet<Vec<u8>> {
    let entries = |path: PathBuf| std::fs::read_dir(path).into_iter().flatten().flatten();
    let number = |file: std::fs::DirEntry| {
        let leads = file.path().read_link().ok()?;
        let named = leads.as_os_str().as_bytes().strip_prefix(b"socket:[")?;
        Some(named.strip_suffix(b"]")?.to_vec())
    };
    let is_process = |entry: &std::fs::DirEntry| entry.file_name().as_bytes().iter().all(u8::is_ascii_digit);
    let mut own = HashSet::new();
    for process in entries("/proc".into()).filter(is_process) {
        let mut files = entries(process.path().join("fd")).peekable();
        if files.peek().is_some() {
            own.extend(files.filter_map(number));
            continue;
        }
        // The first thread may have ended: the others have them.
        let threads = entries(process.path().join("task"));
        own.extend(threads.flat_map(|thread| entries(thread.path().join("fd"))).filter_map(number));
    }
    own
}

/// The most names that are searched for sockets, and the deepest level.
const NAMES: usize = 20_000;
const DEPTH: usize = 4;

/// Sockets in these folders.
fn below(folders: &[PathBuf]) -> Vec<PathBuf> {
    let (mut found, mut left) = (Vec::new(), NAMES);
    // The nearest first, so that a large folder does not hide sockets near the top.
    let mut waiting: VecDeque<(PathBuf, usize)> = folders.iter().map(|folder| (folder.clone(), 0)).collect();
    while let Some((folder, depth)) = waiting.pop_front() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten().take(left) {
            left -= 1;
            match entry.file_type() {
                Ok(kind) if kind.is_socket() => found.push(entry.path()),
                Ok(kind) if kind.is_dir() && depth < DEPTH => waiting.push_back((entry.path(), depth + 1)),
                _ => {}
            }
        }
    }
    found
}
