//! Compares the file at a path with a record. Reads only regular files, follows no link, and waits for no FIFO.

use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::BorrowedFd;

use retake_core::{ContentHash, Record};
use rustix::fs::{AtFlags, FileType, Stat};
use rustix::io::Errno;

use crate::root::open_file;

/// The permission bits in records.
pub(super) const PERMISSIONS: u32 = 0o777;
/// The bits that the owner of a folder needs to change its content.
pub(super) const OPEN: u16 = 0o700;

/// The errors of opening a file that was replaced since the look.
const CHANGED: [i32; 4] = [
    Errno::NOENT.raw_os_error(),
    Errno::LOOP.raw_os_error(),
    Errno::NXIO.raw_os_error(),
    Errno::STALE.raw_os_error(),
];

/// The state of a name in a folder. Its bytes are read once, when a comparison needs them.
pub(super) struct InspectedName<'a> {
    dir: BorrowedFd<'a>,
    name: &'a [u8],
    /// `None` if nothing is there.
    pub(super) stat: Option<Stat>,
    /// The regular file, once it was read.
    pub(super) file: Option<File>,
    hash: Option<ContentHash>,
}

impl<'a> InspectedName<'a> {
    pub(super) fn at(dir: BorrowedFd<'a>, name: &'a [u8]) -> io::Result<Self> {
        let stat = match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Some(stat),
            Err(Errno::NOENT | Errno::NOTDIR) => None,
            Err(errno) => return Err(errno.into()),
        };
        Ok(Self { dir, name, stat, file: None, hash: None })
    }

    /// A look at a place without a file.
    pub(super) fn nothing() -> Self {
        Self { dir: rustix::fs::CWD, name: b"", stat: None, file: None, hash: None }
    }

    pub(super) fn kind(&self) -> Option<FileType> {
        self.stat.map(|stat| FileType::from_raw_mode(stat.st_mode))
    }

    pub(super) fn mode(&self) -> u16 {
        self.stat.map_or(0, |stat| (stat.st_mode & PERMISSIONS) as u16)
    }

    /// Whether two names are links of one file.
    pub(super) fn is_same_file(&self, other: &InspectedName<'_>) -> bool {
        let id = |look: &InspectedName<'_>| look.stat.map(|stat| (stat.st_dev, stat.st_ino));
        id(self).is_some() && id(self) == id(other)
    }

    /// Whether it matches the record. A folder may also have been opened for its owner, as an apply does during its
    /// work.
    pub(super) fn is(&mut self, record: Option<&Record>) -> io::Result<bool> {
        match record {
            Some(Record::Folder { mode }) if self.kind() == Some(FileType::Directory) => {
                Ok(self.mode() == *mode || self.mode() == *mode | OPEN)
            }
            _ => self.is_exactly(record),
        }
    }

    /// Whether it matches the record exactly.
    pub(super) fn is_exactly(&mut self, record: Option<&Record>) -> io::Result<bool> {
        match (self.kind(), record) {
            (None, None) => Ok(true),
            (Some(FileType::Directory), Some(Record::Folder { mode })) => Ok(self.mode() == *mode),
            (Some(FileType::Symlink), Some(Record::Link { target })) => self.points_to(target),
            (Some(FileType::RegularFile), Some(Record::File { mode, .. })) => {
                Ok(self.mode() == *mode && self.holds(record)?)
            }
            _ => Ok(false),
        }
    }

    /// Whether it is a regular file with the record's bytes, whatever its mode.
    pub(super) fn holds(&mut self, record: Option<&Record>) -> io::Result<bool> {
        let Some(Record::File { hash, len, .. }) = record else { return Ok(false) };
        let regular = self.kind() == Some(FileType::RegularFile);
        let size = self.stat.map_or(-1, |stat| stat.st_size);
        if !regular || u64::try_from(size) != Ok(*len) {
            return Ok(false);
        }
        match self.hash() {
            Ok(found) => Ok(found == *hash),
            // Removed or replaced since the look.
            Err(error) if error.raw_os_error().is_some_and(|errno| CHANGED.contains(&errno)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn points_to(&self, target: &[u8]) -> io::Result<bool> {
        Ok(rustix::fs::readlinkat(self.dir, self.name, Vec::new())?.as_bytes() == target)
    }

    fn hash(&mut self) -> io::Result<ContentHash> {
        if let Some(hash) = self.hash {
            return Ok(hash);
        }
        let mut file = File::from(open_file(self.dir, self.name)?);
        // Replaced since the look by something that can be read endlessly.
        if !file.metadata()?.is_file() {
            return Err(Errno::STALE.into());
        }
        let hash = hash_of(&mut file)?;
        self.file = Some(file);
        self.hash = Some(hash);
        Ok(hash)
    }
}

fn hash_of(file: &mut File) -> io::Result<ContentHash> {
    let mut hasher = blake3::Hasher::new();
    let mut buffer = [0; 64 << 10];
    loop {
        match file.read(&mut buffer) {
            Ok(0) => return Ok(ContentHash(*hasher.finalize().as_bytes())),
            Ok(read) => drop(hasher.update(&buffer[..read])),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
