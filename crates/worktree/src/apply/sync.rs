//! Makes written data durable before it returns. Must never claim this for a file system that does not ensure it.

use std::io;
use std::os::fd::AsFd;

use retake_core::FilePath;

use super::ApplyContext;
use super::slots::Slots;
use crate::failpoint::failpoint;
use crate::root::{Root, is_local, names};
use rustix::fs::{Mode, OFlags};

const READ: OFlags = OFlags::RDONLY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::CLOEXEC);

/// Syncs the whole file system, if that is reliable. One call is as fast as one file, and one file as slow as this.
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
            // A link has no bytes except its name.
            Err(rustix::io::Errno::LOOP) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(rustix::fs::fsync(slots)?)
}

/// Syncs the folders with moves, and the staging folder.
pub(super) fn moved(ground: &ApplyContext) -> io::Result<()> {
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

/// Syncs a path, if it is a file or a folder. A removed one is synced by syncing its folder.
fn one(root: &Root, folder: Option<&FilePath>, name: &[u8]) -> io::Result<()> {
    let Ok(folder) = root.folder(folder) else { return Ok(()) };
    match rustix::fs::openat(folder, name, READ, Mode::empty()) {
        Ok(file) => Ok(rustix::fs::fsync(file)?),
        Err(_) => Ok(()),
    }
}
