//! The sockets of others: folders in which they are made, and those that are bound now.

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

/// Sockets that are bound to a path, but those that are listed.
pub(super) fn of_others(listed: &[PathBuf]) -> Vec<PathBuf> {
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
    found.sort();
    found.dedup();
    found.retain(|path| is_socket(path) && !is_listed(path));
    found
}
