//! The system's calls, all below one root: opening without following a link or leaving the device, listing, asking for
//! a file's state. Never opens for writing, and never by a path that begins outside the root.

use std::ffi::CStr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use retake_core::FilePath;
use rustix::fs::{self, AtFlags, FileType, Mode, OFlags, RawDir, ResolveFlags, Stat};
use rustix::io::Errno;
use rustix::time::{ClockId, clock_gettime};

use crate::error::{Result, WorktreeError};

/// Which folder a root is. Device numbers may change at a reboot; the file system's own number does not, where it has
/// one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub device: u64,
    pub inode: u64,
    pub volume: u64,
}

impl Identity {
    /// Whether this is the folder that `other` was.
    pub(crate) fn is(&self, other: &Self) -> bool {
        let same_volume = self.volume != 0 && self.volume == other.volume;
        self.inode == other.inode && (self.device == other.device || same_volume)
    }

    fn of(fd: BorrowedFd<'_>) -> Result<Self, Errno> {
        let stat = fs::fstat(fd)?;
        let volume = fs::fstatvfs(fd).map_or(0, |found| found.f_fsid);
        Ok(Self { device: stat.st_dev, inode: stat.st_ino, volume })
    }
}

/// An open root.
#[derive(Debug)]
pub(crate) struct Root {
    pub path: PathBuf,
    pub fd: OwnedFd,
    pub identity: Identity,
    /// Set when the system has no `openat2`; then each component is opened by itself.
    step_by_step: AtomicBool,
}

impl Root {
    /// Opens a folder as a root.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let gone = |errno: Errno| WorktreeError::Root { path: path.to_owned(), source: errno.into() };
        let fd = fs::open(path, flags, Mode::empty()).map_err(gone)?;
        let identity = Identity::of(fd.as_fd()).map_err(gone)?;
        Ok(Self { path: path.to_owned(), fd, identity, step_by_step: AtomicBool::new(false) })
    }

    /// Opens a folder below the root; `None` is the root itself.
    pub(crate) fn folder(&self, path: Option<&FilePath>) -> Result<OwnedFd, Errno> {
        let flags =
            OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK;
        match path {
            None => fs::openat(&self.fd, c".", flags, Mode::empty()),
            Some(path) if self.step_by_step.load(Ordering::Relaxed) => self.walk(path, flags),
            Some(path) => match fs::openat2(&self.fd, path.as_bytes(), flags, Mode::empty(), beneath()) {
                Err(Errno::NOSYS | Errno::PERM) => {
                    self.step_by_step.store(true, Ordering::Relaxed);
                    self.walk(path, flags)
                }
                opened => opened,
            },
        }
    }

    fn walk(&self, path: &FilePath, last: OFlags) -> Result<OwnedFd, Errno> {
        let through = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mut at = fs::openat(&self.fd, c".", through, Mode::empty())?;
        let mut names = path.components().peekable();
        while let Some(name) = names.next() {
            let flags = if names.peek().is_some() { through } else { last };
            at = fs::openat(&at, name, flags, Mode::empty())?;
            if fs::fstat(&at)?.st_dev != self.identity.device {
                return Err(Errno::XDEV);
            }
        }
        Ok(at)
    }
}

fn beneath() -> ResolveFlags {
    ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS | ResolveFlags::NO_XDEV
}

/// Opens a file in an open folder to read it. Never waits for a writer, should a FIFO have taken its place.
pub(crate) fn open_file(folder: BorrowedFd<'_>, name: &[u8]) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    match fs::openat2(folder, name, flags, Mode::empty(), beneath()) {
        Err(Errno::NOSYS | Errno::PERM) => fs::openat(folder, name, flags, Mode::empty()),
        opened => opened,
    }
}

/// What `stat` says of one file, as far as a change of it shows there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Signature {
    pub size: u64,
    /// Nanoseconds since 1970.
    pub mtime: i64,
    /// Nanoseconds since 1970. Nobody can set it, so it also tells how young a change is.
    pub ctime: i64,
    pub inode: u64,
    /// Permission bits with setuid, setgid and sticky.
    pub mode: u16,
    pub links: u32,
}

impl Signature {
    /// That of no file at all: whatever is found is read.
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

/// What kind of thing a `stat` is of.
pub(crate) fn kind(stat: &Stat) -> FileType {
    FileType::from_raw_mode(stat.st_mode)
}

/// The state of a name in an open folder, of a link the link's own.
pub(crate) fn stat(folder: BorrowedFd<'_>, name: &CStr) -> Result<Stat, Errno> {
    fs::statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
}

/// The clock that stamps files, in nanoseconds since 1970: what happens later never gets an earlier stamp. Not the time
/// of day; nothing is dated by it.
pub(crate) fn stamp() -> i64 {
    let now = clock_gettime(ClockId::RealtimeCoarse);
    nanoseconds(now.tv_sec, now.tv_nsec)
}

fn nanoseconds(seconds: i64, rest: i64) -> i64 {
    seconds.saturating_mul(1_000_000_000).saturating_add(rest)
}

/// Where a name begins, its length with the zero, what it is, and its inode.
type Item = (u32, u16, FileType, u64);

/// A folder's names with their kinds, sorted by bytes. Used again for one folder after another, so that a listing costs
/// no memory per name.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Without `openat2` nothing else may be opened than with it.
    #[test]
    fn step_by_step_leads_nowhere_else() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("a/b")).unwrap();
        std::os::unix::fs::symlink("a", dir.path().join("link")).unwrap();
        std::fs::write(dir.path().join("file"), "x").unwrap();
        let root = Root::open(dir.path()).unwrap();
        for step_by_step in [false, true] {
            root.step_by_step.store(step_by_step, Ordering::Relaxed);
            let open = |path: &str| {
                let path = FilePath::new(path.as_bytes()).unwrap();
                root.folder(Some(&path)).and_then(|fd| Ok(fs::fstat(fd)?.st_ino))
            };
            let inode = fs::stat(dir.path().join("a/b")).unwrap().st_ino;
            assert_eq!(open("a/b"), Ok(inode));
            assert!(matches!(open("link/b"), Err(Errno::LOOP | Errno::NOTDIR)), "{:?}", open("link/b"));
            assert!(matches!(open("link"), Err(Errno::LOOP | Errno::NOTDIR)), "{:?}", open("link"));
            assert_eq!(open("file"), Err(Errno::NOTDIR));
            assert_eq!(open("a/c"), Err(Errno::NOENT));
        }
        let system = Root::open(Path::new("/")).unwrap();
        system.step_by_step.store(true, Ordering::Relaxed);
        let proc = FilePath::new(b"proc/self").unwrap();
        assert_eq!(system.folder(proc.parent().as_ref()).err(), Some(Errno::XDEV));
    }
}
