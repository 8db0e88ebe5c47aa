//! What was written is on the disk when this returns. Must never claim it of a file system that does not keep it.

use std::io;
use std::os::fd::AsFd;

use retake_core::FilePath;

use super::Ground;
use super::slots::Slots;
use crate::failpoint::failpoint;
use crate::root::{Root, is_local, names};
use rustix::fs::{Mode, OFlags};

const READ: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// Syncs the whole file system, if that can be relied on. One call is as fast as one file, and one file as slow as this.
fn whole(fd: impl AsFd) -> io::Result<bool> {
    if !is_local(&fd)? || failpoint!("apply.syncfs").is_err() {
        return Ok(false);
    }
    rustix::fs::syncfs(fd)?;
    Ok(true)
}

/// Syncs all slots.
pub(super) fn staged(slots: &Slots) -> io::Result<()> {
    if whole(slots)? {
        return Ok(());
    }
    for slot in names(slots)? {
        match rustix::fs::openat(slots, &slot, READ, Mode::empty()) {
            Ok(file) => rustix::fs::fsync(file)?,
            // A link has no bytes but its name.
            Err(rustix::io::Errno::LOOP) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(rustix::fs::fsync(slots)?)
}

/// Syncs the folders in which something was moved, and the staging folder.
pub(super) fn moved(ground: &Ground) -> io::Result<()> {
    let root = ground.lock.root();
    if whole(root)? {
        return Ok(());
    }
    for change in &ground.plan.changes {
        let parent = change.path.parent();
        one(root, parent.as_ref(), b".")?;
        one(root, parent.as_ref(), change.path.name())?;
    }
    rustix::fs::fsync(&ground.slots)?;
    Ok(rustix::fs::fsync(root)?)
}

/// Syncs what is there, if it is a file or a folder. What is gone was synced by syncing what it was in.
fn one(root: &Root, folder: Option<&FilePath>, name: &[u8]) -> io::Result<()> {
    let Ok(folder) = root.folder(folder) else { return Ok(()) };
    match rustix::fs::openat(folder, name, READ, Mode::empty()) {
        Ok(file) => Ok(rustix::fs::fsync(file)?),
        Err(_) => Ok(()),
    }
}
