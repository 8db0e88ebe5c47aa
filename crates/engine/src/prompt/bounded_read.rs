//! Reads unknown files safely: with a limit of bytes, and never a file that could block or that was replaced since it was
//! checked.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The beginning of a file.
pub(super) struct FileBeginning {
    /// Its first bytes.
    pub(super) bytes: Vec<u8>,
    /// The size of the file.
    pub(super) len: u64,
    /// Its metadata.
    pub(super) about: Metadata,
}

/// Reads the beginning of a regular file. Anything else is an error, without waiting for a pipe or a device. The path must have
/// no links: a link that has come into it means that the file was replaced.
pub(super) fn beginning(path: &Path, most: u64) -> io::Result<FileBeginning> {
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::CLOEXEC;
    let flags = i32::try_from(flags.bits()).expect("BUG: flags of open fit an int");
    let file: File = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))? != path {
        return Err(io::Error::other("it leads elsewhere than a moment ago"));
    }
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    // A growing file, or one of the kernel's, has more bytes than its size.
    let len = about.len().max(bytes.len() as u64);
    Ok(FileBeginning { bytes, len, about })
}

/// The text of bytes that may end in the middle of a character; `None` if they are no text.
pub(super) fn text(bytes: &[u8]) -> Option<&str> {
    if bytes.contains(&0) {
        return None;
    }
    match std::str::from_utf8(bytes) {
        Ok(text) => Some(text),
        Err(error) if error.error_len().is_none() => std::str::from_utf8(&bytes[..error.valid_up_to()]).ok(),
        Err(_) => None,
    }
}
