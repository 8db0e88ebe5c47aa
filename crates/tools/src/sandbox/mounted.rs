//! Other paths of the same files: a file system may be mounted at a second place, completely or in part.

use std::os::unix::ffi::OsStringExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// A mount of a file system.
struct Mount {
    /// The number of its device.
    device: Vec<u8>,
    /// The folder of it that is mounted there.
    root: PathBuf,
    at: PathBuf,
}

/// Other paths that lead to the same files and folders, or to something below them. Links are not searched.
pub(super) fn other_paths(paths: &[PathBuf]) -> Vec<PathBuf> {
    let table = std::fs::read("/proc/self/mountinfo").unwrap_or_default();
    let mounts: Vec<Mount> = table.split(|byte| *byte == b'\n').filter_map(mount).collect();
    paths.iter().flat_map(|path| others(path, &mounts)).collect()
}

fn others(path: &Path, mounts: &[Mount]) -> Vec<PathBuf> {
    // Of several mounts at one place the last one is visible.
    let around = mounts.iter().filter(|mount| path.starts_with(&mount.at));
    let Some(own) = around.max_by_key(|mount| mount.at.components().count()) else { return Vec::new() };
    let Ok(rest) = path.strip_prefix(&own.at) else { return Vec::new() };
    let within = own.root.join(rest);
    let other = |mount: &Mount| {
        let (here, there) = match within.strip_prefix(&mount.root) {
            Ok(rest) => (path.to_owned(), joined(&mount.at, rest)),
            // A folder below it is mounted by itself.
            Err(_) => (joined(path, mount.root.strip_prefix(&within).ok()?), mount.at.clone()),
        };
        (here != there && is_same(&here, &there)).then_some(there)
    };
    mounts.iter().filter(|mount| mount.device == own.device).filter_map(other).collect()
}

/// Without a trailing slash.
fn joined(folder: &Path, rest: &Path) -> PathBuf {
    if rest.as_os_str().is_empty() { folder.to_owned() } else { folder.join(rest) }
}

/// Whether both paths lead to the same file: nothing else covers it.
fn is_same(one: &Path, other: &Path) -> bool {
    let id = |path: &Path| path.symlink_metadata().map(|meta| (meta.dev(), meta.ino())).ok();
    id(one).is_some() && id(one) == id(other)
}

/// Parses a line of the kernel's table.
fn mount(line: &[u8]) -> Option<Mount> {
    let mut fields = line.split(|byte| *byte == b' ').skip(2);
    let device = fields.next()?.to_vec();
    Some(Mount { device, root: path(fields.next()?), at: path(fields.next()?) })
}

/// A path in the table: blanks and similar are three digits after a backslash.
fn path(field: &[u8]) -> PathBuf {
    let (mut bytes, mut rest) = (Vec::with_capacity(field.len()), field);
    while let Some((first, more)) = rest.split_first() {
        let number =
            more.get(..3).filter(|_| *first == b'\\').and_then(|digits| std::str::from_utf8(digits).ok());
        let (byte, length) = match number.and_then(|digits| u8::from_str_radix(digits, 8).ok()) {
            Some(byte) => (byte, 4),
            None => (*first, 1),
        };
        bytes.push(byte);
        rest = &rest[length..];
    }
    std::ffi::OsString::from_vec(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_kernels_table_is_read() {
        let line = br"36 35 98:0 /a\040b /mnt/c\134d rw,noatime master:1 - ext3 /dev/root rw";
        let read = mount(line).expect("a mount");
        assert_eq!(read.device, b"98:0");
        assert_eq!((read.root, read.at), (PathBuf::from("/a b"), PathBuf::from(r"/mnt/c\d")));
    }
}
