//! The root folder of a workspace: opened once, known again by its identity, locked across processes, and the only way
//! to anything below it. Never leaves it: no link is followed, no other device entered.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use retake_core::FilePath;
use rustix::fs::{FlockOperation, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use crate::error::{Result, WorktreeError};
use crate::failpoint::failpoint;

/// What a root is known by: another folder at the same place is another root.
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
}

/// Nobody else writes to the root through this crate while a clone of this lives, in this process or another.
#[must_use = "the root is unlocked when this is dropped"]
#[derive(Clone, Debug)]
pub struct RootLock(Arc<Locked>);

#[derive(Debug)]
struct Locked {
    root: Root,
    /// The lock belongs to this opening of the folder.
    opening: OwnedFd,
}

impl Drop for Locked {
    fn drop(&mut self) {
        // Not left to the closing: a process that is just being started holds a copy of the opening for a moment. It
        // can't fail on an opened folder, and closing follows.
        let _ = rustix::fs::flock(&self.opening, FlockOperation::Unlock);
    }
}

const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

impl Root {
    /// Opens the folder at `path`, whichever it is.
    ///
    /// # Errors
    /// [`WorktreeError::RootMissing`] when no folder is there, or the system's error.
    pub fn open(path: &Path) -> Result<Self> {
        let opened = rustix::fs::open(path, OFlags::RDONLY | FOLDER, Mode::empty());
        let fd = match opened {
            Ok(fd) => fd,
            Err(Errno::NOENT | Errno::NOTDIR) => return Err(WorktreeError::RootMissing(path.into())),
            Err(errno) => return Err(WorktreeError::io("open", path)(errno.into())),
        };
        let id = identity(&fd).map_err(WorktreeError::io("look at", path))?;
        Ok(Self(Arc::new(Opened { fd, path: path.into(), id })))
    }

    /// Opens the folder at `path`, if it is the one that is known by `id`.
    ///
    /// # Errors
    /// [`WorktreeError::RootOther`] when another folder is there now, and those of [`Root::open`].
    pub fn open_known(path: &Path, id: RootId) -> Result<Self> {
        let root = Self::open(path)?;
        if root.id() == id { Ok(root) } else { Err(WorktreeError::RootOther(path.into())) }
    }

    /// What it is known by.
    pub fn id(&self) -> RootId {
        self.0.id
    }

    /// Where it was opened.
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

    /// Locks it, at once or not at all. The lock is on the folder itself, so it leaves nothing behind.
    ///
    /// # Errors
    /// [`WorktreeError::RootBusy`] when somebody holds it.
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

    /// Opens a folder below the root, or the root itself, as a place to look from. No component may be a link or lie
    /// on another device.
    ///
    /// # Errors
    /// `ELOOP` for a link, `EXDEV` for a mount point, else the system's.
    pub fn folder(&self, path: Option<&FilePath>) -> io::Result<OwnedFd> {
        let Some(path) = path else { return self.open_below(b".") };
        self.open_below(path.as_bytes())
    }

    /// The names in a folder below the root, covered or not.
    ///
    /// # Errors
    /// As for [`folder`](Self::folder), or it can't be read.
    pub fn names(&self, path: Option<&FilePath>) -> io::Result<Vec<Vec<u8>>> {
        let mut names = Vec::new();
        for entry in rustix::fs::Dir::read_from(readable(self.folder(path)?)?)? {
            let name = entry?.file_name().to_bytes().to_vec();
            if !matches!(name.as_slice(), b"." | b"..") {
                names.push(name);
            }
        }
        Ok(names)
    }

    fn open_below(&self, path: &[u8]) -> io::Result<OwnedFd> {
        let resolve = ResolveFlags::BENEATH
            | ResolveFlags::NO_SYMLINKS
            | ResolveFlags::NO_XDEV
            | ResolveFlags::NO_MAGICLINKS;
        let opened = failpoint!("root.openat2").and_then(|()| {
            // Without `O_NOFOLLOW`, by which a link at the end would be no error of its own.
            let flags = OFlags::PATH | FOLDER;
            Ok(rustix::fs::openat2(&self.0.fd, path, flags, Mode::empty(), resolve)?)
        });
        match opened.as_ref().map_err(io::Error::raw_os_error) {
            // An old kernel, or a sandbox that does not know the call.
            Err(Some(errno))
                if errno == Errno::NOSYS.raw_os_error() || errno == Errno::PERM.raw_os_error() =>
            {
                self.open_stepwise(path)
            }
            _ => opened,
        }
    }

    /// The same, one component at a time. A mount of the same device is not noticed this way.
    fn open_stepwise(&self, path: &[u8]) -> io::Result<OwnedFd> {
        let mut fd = rustix::fs::openat(&self.0.fd, ".", OFlags::PATH | FOLDER, Mode::empty())?;
        for component in path.split(|byte| *byte == b'/') {
            // `O_DIRECTORY` would say of a link that it is no folder, not that it is a link.
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            fd = rustix::fs::openat(&fd, component, flags, Mode::empty())?;
            let stat = rustix::fs::fstat(&fd)?;
            match rustix::fs::FileType::from_raw_mode(stat.st_mode) {
                rustix::fs::FileType::Directory => {}
                rustix::fs::FileType::Symlink => return Err(Errno::LOOP.into()),
                _ => return Err(Errno::NOTDIR.into()),
            }
            if stat.st_dev != self.0.id.dev {
                return Err(Errno::XDEV.into());
            }
        }
        Ok(fd)
    }
}

impl AsFd for Root {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.fd.as_fd()
    }
}

impl RootLock {
    /// The root that is locked.
    pub fn root(&self) -> &Root {
        &self.0.root
    }
}

/// What an opened folder is known by.
pub(crate) fn identity(fd: impl AsFd) -> io::Result<RootId> {
    let stat = rustix::fs::fstat(fd)?;
    Ok(RootId { dev: stat.st_dev, ino: stat.st_ino })
}

/// A folder that was opened as a place only, opened so that it can be read and synced.
pub(crate) fn readable(fd: impl AsFd) -> io::Result<File> {
    Ok(rustix::fs::openat(fd, ".", OFlags::RDONLY | FOLDER, Mode::empty())?.into())
}
