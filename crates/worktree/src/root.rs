//! The root folder of a workspace: opened once, recognised by its identity, locked across processes, and the only way to
//! anything below it, for captures and applies alike. Must never leave it: no link is followed, no other device entered.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use retake_core::FilePath;
use rustix::fs::{AtFlags, FileType, FlockOperation, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::error::{Result, WorktreeError};
use crate::failpoint::{self, failpoint};

/// The identity of a root: another folder at the same path is another root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RootId {
    /// Its device.
    pub dev: u64,
    /// Its inode.
    pub ino: u64,
}

/// An opened root folder. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Root(Arc<Opened>);

#[derive(Debug)]
struct Opened {
    fd: OwnedFd,
    path: PathBuf,
    id: RootId,
    /// Set if the system has no `openat2`; then each component is opened by itself.
    step_by_step: AtomicBool,
}

/// While a clone of this lives, nobody else writes to the root through this crate, in this process or another.
#[must_use = "the root is unlocked when this is dropped"]
#[derive(Clone, Debug)]
pub struct RootLock(Arc<Locked>);

#[derive(Debug)]
struct Locked {
    root: Root,
    /// The lock belongs to this handle of the folder.
    opening: OwnedFd,
}

impl Drop for Locked {
    fn drop(&mut self) {
        // Not left to closing: a process that is just being started has a copy of the handle for a moment. It cannot fail on an
        // opened folder, and closing follows.
        let _ = rustix::fs::flock(&self.opening, FlockOperation::Unlock);
    }
}

const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

const BELOW: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS)
    .union(ResolveFlags::NO_XDEV);

/// The state of a path at a moment, which differs after a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    inode: u64,
    mode: u32,
    size: i64,
    changed: (i64, u64),
}

impl Root {
    /// Opens the folder at `path`, whatever its identity.
    ///
    /// # Errors
    /// [`WorktreeError::RootMissing`] if no folder is there, or the system's error.
    pub fn open(path: &Path) -> Result<Self> {
        let opened = rustix::fs::open(path, OFlags::RDONLY | FOLDER, Mode::empty());
        let fd = opened.map_err(|errno| failed(path, errno))?;
        let id = identity(&fd).map_err(WorktreeError::io("look at", path))?;
        let step_by_step = AtomicBool::new(false);
        Ok(Self(Arc::new(Opened { fd, path: path.into(), id, step_by_step })))
    }

    /// Opens the folder at `path`, if it has the identity `id`.
    ///
    /// # Errors
    /// [`WorktreeError::RootOther`] if another folder is there now, and those of [`Root::open`].
    pub fn open_known(path: &Path, id: RootId) -> Result<Self> {
        let root = Self::open(path)?;
        if root.id() == id { Ok(root) } else { Err(WorktreeError::RootOther(path.into())) }
    }

    /// Its identity.
    pub fn id(&self) -> RootId {
        self.0.id
    }

    /// The path with which it was opened.
    pub fn path(&self) -> &Path {
        &self.0.path
    }

    /// Whether its path still leads to it.
    ///
    /// # Errors
    /// [`WorktreeError::RootMissing`] or [`WorktreeError::RootOther`].
    pub fn check(&self) -> Result<()> {
        Self::open_known(self.path(), self.id()).map(drop)
    }

    /// Locks it without waiting. The lock is on the folder itself, so it leaves nothing behind.
    ///
    /// # Errors
    /// [`WorktreeError::RootBusy`] if somebody holds it.
    pub fn lock(&self) -> Result<RootLock> {
        let lock = || -> rustix::io::Result<OwnedFd> {
            let opening = rustix::fs::openat(&self.0.fd, ".", OFlags::RDONLY | FOLDER, Mode::empty())?;
            rustix::fs::flock(&opening, FlockOperation::NonBlockingLockExclusive)?;
            Ok(opening)
        };
        match lock() {
            Ok(opening) => Ok(RootLock(Arc::new(Locked { root: self.clone(), opening }))),
            Err(Errno::WOULDBLOCK) => Err(WorktreeError::RootBusy(self.path().into())),
            Err(errno) => Err(WorktreeError::io("lock", self.path())(errno.into())),
        }
    }

    /// Opens a folder below the root, or the root itself, as a path descriptor. No component may be a link or on another device.
    ///
    /// # Errors
    /// `ELOOP` for a link, `EXDEV` for a mount point, else the system's.
    pub fn folder(&self, path: Option<&FilePath>) -> io::Result<OwnedFd> {
        Ok(self.open_below(path, OFlags::PATH | FOLDER)?)
    }

    /// The same, opened for reading.
    pub(crate) fn listed(&self, path: Option<&FilePath>) -> Result<OwnedFd, Errno> {
        self.open_below(path, OFlags::RDONLY | OFlags::NONBLOCK | FOLDER)
    }

    /// A stamp that shows whether a path has changed, covered or not; for a folder, including its direct entries. `None` if it
    /// cannot be read or does not exist.
    pub fn stamp(&self, path: &FilePath) -> Option<Stamp> {
        let folder = self.folder(path.parent().as_ref()).ok()?;
        let stat = rustix::fs::statat(folder, path.name(), AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some(Stamp {
            inode: stat.st_ino,
            mode: stat.st_mode,
            size: stat.st_size,
            changed: (stat.st_ctime, stat.st_ctime_nsec),
        })
    }

    /// The names in a folder below the root, covered or not.
    ///
    /// # Errors
    /// As for [`folder`](Self::folder), or it cannot be read.
    pub fn names(&self, path: Option<&FilePath>) -> io::Result<Vec<Vec<u8>>> {
        names(self.folder(path)?)
    }

    /// Why the root itself cannot be used.
    pub(crate) fn failed(&self, errno: Errno) -> WorktreeError {
        failed(self.path(), errno)
    }

    /// `O_NOFOLLOW` is not among the flags: with it a link at the end would not be a distinct error.
    fn open_below(&self, path: Option<&FilePath>, flags: OFlags) -> Result<OwnedFd, Errno> {
        let Some(path) = path else { return rustix::fs::openat(&self.0.fd, c".", flags, Mode::empty()) };
        if !self.0.step_by_step.load(Ordering::Relaxed) {
            let allowed = failpoint!("root.openat2").map_err(failpoint::errno);
            let open = |()| rustix::fs::openat2(&self.0.fd, path.as_bytes(), flags, Mode::empty(), BELOW);
            match allowed.and_then(open) {
                // An old kernel, or a sandbox that does not know the call.
                Err(Errno::NOSYS | Errno::PERM) => self.0.step_by_step.store(true, Ordering::Relaxed),
                opened => return opened,
            }
        }
        self.open_stepwise(path, flags)
    }

    /// The same, one component at a time. A mount of the same device is not detected this way.
    fn open_stepwise(&self, path: &FilePath, flags: OFlags) -> Result<OwnedFd, Errno> {
        let mut fd = rustix::fs::openat(&self.0.fd, c".", OFlags::PATH | FOLDER, Mode::empty())?;
        for component in path.components() {
            // `O_DIRECTORY` would report a link as no folder, not as a link.
            let through = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            fd = rustix::fs::openat(&fd, component, through, Mode::empty())?;
            let stat = rustix::fs::fstat(&fd)?;
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::Directory => {}
                FileType::Symlink => return Err(Errno::LOOP),
                _ => return Err(Errno::NOTDIR),
            }
            if stat.st_dev != self.0.id.dev {
                return Err(Errno::XDEV);
            }
        }
        if flags.contains(OFlags::PATH) {
            Ok(fd)
        } else {
            rustix::fs::openat(&fd, c".", flags, Mode::empty())
        }
    }
}

impl AsFd for Root {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.fd.as_fd()
    }
}

impl RootLock {
    /// The locked root.
    pub fn root(&self) -> &Root {
        &self.0.root
    }
}

fn failed(path: &Path, errno: Errno) -> WorktreeError {
    match errno {
        Errno::NOENT | Errno::NOTDIR => WorktreeError::RootMissing(path.into()),
        errno => WorktreeError::io("open", path)(errno.into()),
    }
}

/// Opens a file in an open folder for reading. Never waits for a writer if a FIFO has taken its place.
pub(crate) fn open_file(folder: impl AsFd, name: &[u8]) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    match rustix::fs::openat2(&folder, name, flags, Mode::empty(), BELOW) {
        Err(Errno::NOSYS | Errno::PERM) => rustix::fs::openat(folder, name, flags, Mode::empty()),
        opened => opened,
    }
}

/// The folder with this name in a folder, opened as a path descriptor; a link is not followed.
pub(crate) fn enter(dir: impl AsFd, name: &[u8]) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::NOFOLLOW | FOLDER;
    Ok(rustix::fs::openat(dir, name, flags, Mode::empty())?)
}

/// The names in a folder.
pub(crate) fn names(folder: impl AsFd) -> io::Result<Vec<Vec<u8>>> {
    let mut names = Vec::new();
    for entry in rustix::fs::Dir::read_from(readable(folder)?)? {
        let entry = entry?;
        let name = entry.file_name().to_bytes();
        if !matches!(name, b"." | b"..") {
            names.push(name.to_vec());
        }
    }
    Ok(names)
}

/// Local file systems: ext2 to ext4, XFS, Btrfs, F2FS, tmpfs.
const LOCAL: [i64; 5] = [0xEF53, 0x5846_5342, 0x9123_683E, 0xF2F5_2010, 0x0102_1994];

/// Whether a file system is local: one call syncs everything and reports a failure, and only this computer writes, with its
/// clock.
pub(crate) fn is_local(fd: impl AsFd) -> io::Result<bool> {
    #[expect(clippy::useless_conversion, reason = "the width differs between machines")]
    let kind = i64::from(rustix::fs::fstatfs(fd)?.f_type);
    Ok(LOCAL.contains(&kind))
}

/// The identity of an opened folder.
pub(crate) fn identity(fd: impl AsFd) -> io::Result<RootId> {
    let stat = rustix::fs::fstat(fd)?;
    Ok(RootId { dev: stat.st_dev, ino: stat.st_ino })
}

/// A folder that was opened as a path descriptor, opened again for reading and syncing.
pub(crate) fn readable(fd: impl AsFd) -> io::Result<File> {
    Ok(rustix::fs::openat(fd, ".", OFlags::RDONLY | FOLDER, Mode::empty())?.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Without `openat2`, exactly the same folders can be opened.
    #[test]
    fn opening_step_by_step_finds_the_same_folder() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("a/b")).unwrap();
        std::os::unix::fs::symlink("a", dir.path().join("link")).unwrap();
        std::fs::write(dir.path().join("file"), "x").unwrap();
        let root = Root::open(dir.path()).unwrap();
        for step_by_step in [false, true] {
            root.0.step_by_step.store(step_by_step, Ordering::Relaxed);
            let open = |path: &str| {
                let path = FilePath::new(path.as_bytes()).unwrap();
                let inode = |fd| Ok(rustix::fs::fstat(fd)?.st_ino);
                let place = root.folder(Some(&path)).and_then(|fd| Ok(inode(fd)?));
                let listed = root.listed(Some(&path)).and_then(inode);
                assert_eq!(
                    place.map_err(|error| error.raw_os_error()),
                    listed.map_err(|e| Some(e.raw_os_error()))
                );
                listed
            };
            let inode = rustix::fs::stat(dir.path().join("a/b")).unwrap().st_ino;
            assert_eq!(open("a/b"), Ok(inode));
            assert_eq!(open("link/b"), Err(Errno::LOOP));
            assert_eq!(open("link"), Err(Errno::LOOP));
            assert_eq!(open("file"), Err(Errno::NOTDIR));
            assert_eq!(open("a/c"), Err(Errno::NOENT));
        }
        let system = Root::open(Path::new("/")).unwrap();
        system.0.step_by_step.store(true, Ordering::Relaxed);
        let proc = FilePath::new(b"proc/self").unwrap();
        assert_eq!(system.listed(proc.parent().as_ref()).err(), Some(Errno::XDEV));
    }
}
