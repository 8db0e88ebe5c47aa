//! The system calls of a capture in an open folder: listing it, and reading a file's state. Opens nothing.

use std::ffi::CStr;
use std::os::fd::BorrowedFd;

use rustix::fs::{self, AtFlags, FileType, RawDir, Stat};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};

/// The part of a file's `stat` that shows changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    pub size: u64,
    /// Nanoseconds since 1970.
    pub mtime: i64,
    /// Nanoseconds since 1970. Nobody can set it, so it also tells how recent a change is.
    pub ctime: i64,
    pub inode: u64,
    /// Permission bits with setuid, setgid and sticky.
    pub mode: u16,
    pub links: u32,
}

impl Signature {
    /// The signature of no file: any file is read.
    pub(crate) const NONE: Self =
        Self { size: u64::MAX, mtime: i64::MIN, ctime: i64::MAX, inode: 0, mode: 0, links: 0 };

    pub(crate) fn of(stat: &Stat) -> Self {
        Self {
            size: u64::try_from(stat.st_size).unwrap_or(0),
            mtime: nanoseconds(stat.st_mtime, stat.st_mtime_nsec as i64),
            ctime: nanoseconds(stat.st_ctime, stat.st_ctime_nsec as i64),
            inode: stat.st_ino,
            mode: (stat.st_mode & 0o7777) as u16,
            links: u32::try_from(stat.st_nlink).unwrap_or(u32::MAX),
        }
    }
}

/// The file type in a `stat`.
pub(crate) fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

/// The state of a name in an open folder; of a link itself.
pub(crate) fn stat(folder: BorrowedFd<'_>, name: &CStr) -> Result<Stat, Errno> {
    fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
}

/// The clock that stamps files, in nanoseconds since 1970: later events never get an earlier stamp. Not the time of
/// day; nothing is dated by it.
pub(crate) fn stamp() -> i64 {
    let now = clock_gettime(ClockId::RealtimeCoarse);
    nanoseconds(now.tv_sec, now.tv_nsec)
}

fn nanoseconds(seconds: i64, rest: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}

/// The start of a name, its length with the zero, its type, and its inode.
type Item = (u32, u16, FileType, u64);

/// A folder's names with their kinds, sorted by bytes. Reused for one folder after another, so that a listing allocates
/// nothing for each name.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    buffer: Vec<u8>,
    /// Names one after another, each with its final zero.
    names: Vec<u8>,
    items: Vec<Item>,
}

impl Listing {
    /// Reads an open folder.
    pub(crate) fn read(&mut self, folder: BorrowedFd<'_>) -> Result<(), Errno> {
        self.names.clear();
        self.items.clear();
        self.buffer.reserve(32 << 10);
        let mut entries = RawDir::new(folder, self.buffer.spare_capacity_mut());
        while let Some(entry) = entries.next() {
            let entry = entry?;
            let name = entry.file_name().to_bytes_with_nul();
            if matches!(name, b".\0" | b"..\0") {
                continue;
            }
            let start = u32::try_from(self.names.len()).map_err(|_| Errno::NOMEM)?;
            let len = u16::try_from(name.len()).map_err(|_| Errno::NAMETOOLONG)?;
            self.names.extend_from_slice(name);
            self.items.push((start, len, entry.file_type(), entry.ino()));
        }
        let names = &self.names;
        self.items.sort_unstable_by(|a, b| slice(names, *a).cmp(slice(names, *b)));
        Ok(())
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&CStr, FileType, u64)> {
        self.items.iter().map(|item| {
            let name = CStr::from_bytes_with_nul(slice(&self.names, *item));
            (name.expect("BUG: a name of a listing ends with its only zero"), item.2, item.3)
        })
    }

    pub(crate) fn kind_of(&self, name: &[u8]) -> Option<FileType> {
        let bare = |item: &Item| {
            let whole = slice(&self.names, *item);
            &whole[..whole.len() - 1]
        };
        let at = self.items.binary_search_by(|item| bare(item).cmp(name)).ok()?;
        Some(self.items[at].2)
    }
}

fn slice(names: &[u8], (start, len, ..): Item) -> &[u8] {
    &names[start as usize..start as usize + usize::from(len)]
}
