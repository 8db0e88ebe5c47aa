//! Reads files of which nothing is known: at most so many bytes, and never one that could block, nor another one than was looked at.

use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, Read};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

/// The beginning of a file.
pub(super) struct Beginning {
    /// Its first bytes.
    pub(super) bytes: Vec<u8>,
    /// How many there are.
    pub(super) len: u64,
    /// What the system says of it.
    pub(super) about: Metadata,
}

/// Opens a file as it is: a pipe or a device is not waited for. Nothing is read of what is no regular file. The path is one without
/// links: where one has come into it, the file is another one than was looked at.
pub(super) fn beginning(path: &Path, most: u64) -> io::Result<Beginning> {
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOCTTY | rustix::fs::OFlags::CLOEXEC;
    let flags = i32::try_from(flags.bits()).expect("BUG: flags of open fit an int");
    let file: File = OpenOptions::new().read(true).custom_flags(flags).open(path)?;
    if std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd()))? != path {
        return Err(io::Error::other("it leads elsewhere than a moment ago"));
    }
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is no regular file"));
    }
    let mut bytes = Vec::new();
    file.take(most).read_to_end(&mut bytes)?;
    // A file that grows, or one of the kernel's, has more bytes than it says.
    let len = about.len().max(bytes.len() as u64);
    Ok(Beginning { bytes, len, about })
}

/// The text of bytes that may end in the middle of a character; nothing, of what is no text.
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
