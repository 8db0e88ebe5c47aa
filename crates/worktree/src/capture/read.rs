//! Reads a file's bytes of one moment into the object store. A file that changes during the reading is read again; one
//! that keeps changing is unstable, and must never be recorded in part.

use std::os::fd::{AsFd, BorrowedFd};
use std::sync::Arc;

use retake_core::{ContentHash, UncoveredReason};
use rustix::fs::{self, FileType};
use rustix::io::Errno;

use super::below::{self, Signature};
use super::index::{FileSeen, LinkSeen, NameState};
use crate::attributes::Attributes;
use crate::error::Result;
use crate::failpoint::{self, failpoint};
use crate::objects::{Objects, hash};
use crate::root::open_file;

/// The result of reading.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    Read(FileSeen),
    Uncovered(UncoveredReason),
    Unknown(UncoveredReason),
    Gone,
}

impl Reading {
    /// As an entry; `None` if it is gone.
    pub(crate) fn what(self) -> Option<NameState> {
        match self {
            Self::Read(file) => Some(NameState::File(file)),
            Self::Uncovered(why) => Some(NameState::Uncovered(why)),
            Self::Unknown(why) => Some(NameState::Unknown(why, None)),
            Self::Gone => None,
        }
    }
}

/// One file to read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    pub folder: BorrowedFd<'a>,
    pub name: &'a [u8],
    /// Its `stat`.
    pub signature: Signature,
    /// The hash of its bytes when it was last read: they are in the object store.
    pub known: Option<ContentHash>,
    pub limit: u64,
}

/// How often a file that changes while it is read is read again.
const AGAIN: usize = 3;

/// Reads a file; `keep` gets bytes other than the known ones and returns their name.
pub(crate) fn read(
    request: Request<'_>,
    buffer: &mut Vec<u8>,
    keep: &dyn Fn(&[u8]) -> Result<ContentHash>,
) -> Result<Reading> {
    let mut expected = Some(request.signature);
    for _ in 0..=AGAIN {
        let attempt = match attempt(request, expected.take(), buffer) {
            Ok(attempt) => attempt,
            Err(errno) => return refused(errno, request.name).map(Reading::from),
        };
        match attempt {
            Attempt::Changed => {}
            Attempt::Uncovered(why) => return Ok(Reading::Uncovered(why)),
            Attempt::Whole(signature, read_at, attributes) => {
                let name = hash(buffer);
                let hash = if request.known == Some(name) { name } else { keep(buffer)? };
                return Ok(Reading::Read(FileSeen { signature, hash, read_at, attributes }));
            }
        }
    }
    Ok(Reading::Unknown(UncoveredReason::Unstable))
}

/// A `keep` for [`read`] that stores the bytes.
pub(crate) fn into(objects: &dyn Objects) -> impl Fn(&[u8]) -> Result<ContentHash> {
    move |bytes| objects.put(bytes)
}

enum Attempt {
    Whole(Signature, i64, Option<Arc<Attributes>>),
    Changed,
    Uncovered(UncoveredReason),
}

/// Reads the file clock first, then the bytes and the attributes, then the state: a change after any of them is
/// visible, or leaves the file young.
fn attempt(
    request: Request<'_>,
    expected: Option<Signature>,
    buffer: &mut Vec<u8>,
) -> Result<Attempt, Errno> {
    let read_at = below::stamp();
    let file = open_file(request.folder, request.name)?;
    failpoint!("capture.reading").map_err(failpoint::errno)?;
    let expected = match expected {
        Some(expected) => expected,
        None => {
            let stat = fs::fstat(&file)?;
            if below::kind(&stat) != FileType::RegularFile {
                return Ok(Attempt::Uncovered(UncoveredReason::Special));
            }
            Signature::of(&stat)
        }
    };
    if expected.size > request.limit {
        return Ok(Attempt::Uncovered(UncoveredReason::TooLarge));
    }
    let size = usize::try_from(expected.size).map_err(|_| Errno::FBIG)?;
    let len = fill(file.as_fd(), size, buffer)?;
    failpoint!("capture.read").map_err(failpoint::errno)?;
    let attributes = Attributes::of(&file, &fs::fstat(&file)?);
    let stat = fs::fstat(&file)?;
    let unchanged = below::kind(&stat) == FileType::RegularFile && Signature::of(&stat) == expected;
    Ok(if unchanged && len == size {
        Attempt::Whole(expected, read_at, attributes)
    } else {
        Attempt::Changed
    })
}

/// Reads at most one byte more than `size`.
fn fill(file: BorrowedFd<'_>, size: usize, buffer: &mut Vec<u8>) -> Result<usize, Errno> {
    const ROOMY: usize = 8 << 20;
    if buffer.capacity() > ROOMY && size < ROOMY {
        *buffer = Vec::new();
    }
    buffer.clear();
    buffer.reserve_exact(size + 1);
    while buffer.len() < size {
        match rustix::io::read(file, rustix::buffer::spare_capacity(buffer)) {
            Ok(0) => break,
            Ok(_) => {}
            Err(Errno::INTR) => {}
            // A FIFO took its place; its state shows that.
            Err(Errno::AGAIN | Errno::ISDIR) => break,
            Err(errno) => return Err(errno),
        }
    }
    Ok(buffer.len())
}

/// The meaning of a system error for one path; a lack of resources is an error of the capture.
pub(crate) enum Refusal {
    Unknown(UncoveredReason),
    Special,
    Gone,
}

impl From<Refusal> for Reading {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Unknown(why) => Self::Unknown(why),
            Refusal::Special => Self::Uncovered(UncoveredReason::Special),
            Refusal::Gone => Self::Gone,
        }
    }
}

pub(crate) fn refused(errno: Errno, name: &[u8]) -> Result<Refusal> {
    Ok(match errno {
        Errno::NOENT => Refusal::Gone,
        Errno::XDEV => Refusal::Unknown(UncoveredReason::OtherFileSystem),
        // Something else took its place between listing and opening.
        Errno::LOOP | Errno::NOTDIR => Refusal::Unknown(UncoveredReason::Unstable),
        Errno::NXIO | Errno::NODEV => Refusal::Special,
        Errno::MFILE | Errno::NFILE | Errno::NOMEM => {
            let name = String::from_utf8_lossy(name).into_owned();
            return Err(crate::WorktreeError::io("read", name)(errno.into()));
        }
        _ => Refusal::Unknown(UncoveredReason::Unreadable),
    })
}

/// Reads a link, never following it.
pub(crate) fn link(folder: BorrowedFd<'_>, name: &[u8], signature: Signature) -> Result<Option<NameState>> {
    let read_at = below::stamp();
    match fs::readlinkat(folder, name, Vec::new()) {
        Ok(target) => {
            Ok(Some(NameState::Link(LinkSeen { signature, target: Arc::from(target.as_bytes()), read_at })))
        }
        // It is no longer a link.
        Err(Errno::INVAL) => Ok(Some(NameState::Unknown(UncoveredReason::Unstable, None))),
        Err(errno) => Ok(Reading::from(refused(errno, name)?).what()),
    }
}
