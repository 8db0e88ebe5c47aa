//! The sockets of others: folders in which they are made, and those that are bound now.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};

/// Folders that hold nothing but sockets and what belongs to them.
const FOLDERS: [&str; 4] = ["/run/user", "/run/dbus", "/tmp/.X11-unix", "/tmp/.ICE-unix"];

/// How names of others begin, in the folder for temporary files.
const TEMPORARY: [&str; 3] = ["tmux-", "ssh-", "screens"];

/// Folders of sockets that are there.
pub(super) fn folders() -> Vec<PathBuf> {
    let is_named = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        TEMPORARY.iter().any(|begins| name.starts_with(begins))
    };
    let temporary = std::fs::read_dir("/tmp").into_iter().flatten().flatten();
    let temporary = temporary.map(|entry| entry.path()).filter(is_named);
    let all = FOLDERS.into_iter().map(PathBuf::from).chain(temporary);
    // A link could lead to anything, and is none of theirs.
    all.filter(|path| path.symlink_metadata().is_ok_and(|meta| meta.is_dir())).collect()
}

/// Sockets that are bound to a path, and those in folders that may be written, whatever they were bound as; but for those that are listed.
pub(super) fn of_others(listed: &[PathBuf], writable: &[PathBuf]) -> Vec<PathBuf> {
    use std::os::unix::ffi::OsStrExt as _;
    use std::os::unix::fs::FileTypeExt as _;
    let known = std::fs::read("/proc/net/unix").unwrap_or_default();
    let path_of = |line: &[u8]| {
        // The eighth field; a path may have spaces.
        let mut rest = line;
        for _ in 0..7 {
            let end = rest.iter().position(|byte| *byte == b' ')?;
            let skipped = rest[end..].iter().position(|byte| *byte != b' ')?;
            rest = &rest[end + skipped..];
        }
        rest.starts_with(b"/").then(|| PathBuf::from(std::ffi::OsStr::from_bytes(rest)))
    };
    let real = |path: PathBuf| path.canonicalize().ok();
    let is_listed = |path: &Path| listed.iter().any(|listed| path.starts_with(listed));
    let is_socket = |path: &Path| path.symlink_metadata().is_ok_and(|meta| meta.file_type().is_socket());
    let mut found: Vec<PathBuf> =
        known.split(|byte| *byte == b'\n').filter_map(path_of).filter_map(real).collect();
    found.extend(below(writable));
    found.sort();
    found.dedup();
    found.retain(|path| is_socket(path) && !is_listed(path));
    found
}

/// So many names are looked at in search of sockets, and so deep.
const NAMES: usize = 20_000;
const DEPTH: usize = 4;

/// Sockets in these folders.
fn below(folders: &[PathBuf]) -> Vec<PathBuf> {
    use std::os::unix::fs::FileTypeExt as _;
    let (mut found, mut left) = (Vec::new(), NAMES);
    // The nearest first: a large folder hides no socket that is not deep in it.
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
