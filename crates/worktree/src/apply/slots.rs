//! The staging folder: one slot for each path of a plan, in the root, for its owner only. Must never remove a file that
//! the plan does not know.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use retake_core::FilePath;
use rustix::fs::{AtFlags, Mode};
use rustix::io::Errno;

use super::StagingName;
use super::cores::on_disk;
use super::look::InspectedName;
use crate::error::{Result, WorktreeError};
use crate::failpoint::failpoint;
use crate::root::{Root, names, readable};
use std::fs::File;

/// A name in the staging folder.
pub(super) type SlotName = Vec<u8>;

/// The opened staging folder.
#[derive(Debug)]
pub(super) struct Slots {
    folder: File,
    name: StagingName,
}

/// The slot of the n-th path: first the staged version, then the displaced one.
pub(super) fn slot(place: usize) -> SlotName {
    place.to_string().into_bytes()
}

/// The place for a displaced file on file systems without exchange, for a moment.
pub(super) fn aside(place: usize) -> SlotName {
    format!("{place}d").into_bytes()
}

/// The place where content is staged again: an incomplete file is in no slot.
pub(super) fn draft(place: usize) -> SlotName {
    format!("{place}n").into_bytes()
}

/// Whether a name is one of the above.
fn is_ours(name: &[u8]) -> bool {
    let digits = name.strip_suffix(b"d").or_else(|| name.strip_suffix(b"n")).unwrap_or(name);
    !digits.is_empty() && digits.iter().all(u8::is_ascii_digit)
}

impl Slots {
    /// Creates the folder; its name must be free.
    pub(super) fn make(root: &Root, name: &StagingName) -> io::Result<Self> {
        rustix::fs::mkdirat(root, name.as_str(), Mode::RWXU)?;
        failpoint!("apply.made").and_then(|()| Self::enter(root, name)).inspect_err(|_| {
            // It is empty. If it stays, the caller knows its name.
            let _ = rustix::fs::unlinkat(root, name.as_str(), AtFlags::REMOVEDIR);
        })
    }

    /// Opens the folder, if it exists.
    pub(super) fn open(root: &Root, name: &StagingName) -> io::Result<Option<Self>> {
        match Self::enter(root, name) {
            Ok(slots) => Ok(Some(slots)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    fn enter(root: &Root, name: &StagingName) -> io::Result<Self> {
        let path = FilePath::new(name.as_str().as_bytes()).map_err(io::Error::other)?;
        let place = root.folder(Some(&path))?;
        // Another user's folder could change during the work.
        if rustix::fs::fstat(&place)?.st_uid != rustix::process::geteuid().as_raw() {
            return Err(Errno::PERM.into());
        }
        Ok(Self { folder: readable(&place)?, name: name.clone() })
    }

    /// Its name below the root.
    pub(super) fn path_of(&self, slot: &[u8]) -> Option<FilePath> {
        FilePath::new(&[self.name.as_str().as_bytes(), b"/", slot].concat()).ok()
    }

    /// Removes one slot with its content; a folder only if it is empty.
    pub(super) fn drop_slot(&self, slot: &[u8]) -> io::Result<()> {
        match rustix::fs::unlinkat(self, slot, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(Errno::ISDIR) => Ok(rustix::fs::unlinkat(self, slot, AtFlags::REMOVEDIR)?),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Removes the slots that may be removed, and the folder if it is empty then. Returns the slots that stay.
    pub(super) fn remove(
        &self,
        root: &Root,
        may_go: impl Fn(&SlotName) -> bool + Sync,
    ) -> Result<Vec<SlotName>> {
        self.sweep(root, may_go).map_err(WorktreeError::io("remove the staging folder in", root.path()))
    }

    /// Removes the folder with all its staged content.
    pub(super) fn remove_all(&self, root: &Root) -> Result<()> {
        let stays = self.remove(root, |_| true)?;
        if stays.is_empty() {
            return Ok(());
        }
        let error = WorktreeError::io("remove the staging folder in", root.path());
        Err(error(Errno::NOTEMPTY.into()))
    }

    fn sweep(&self, root: &Root, may_go: impl Fn(&SlotName) -> bool + Sync) -> io::Result<Vec<SlotName>> {
        let slots = names(self)?;
        let swept = on_disk(slots.len(), |places| {
            let mut stays = Vec::new();
            for slot in &slots[places] {
                failpoint!("apply.swept")?;
                let gone = is_ours(slot) && may_go(slot) && self.try_drop(slot)?;
                if !gone {
                    stays.push(slot.clone());
                }
            }
            Ok(stays)
        });
        let stays = swept.into_iter().collect::<io::Result<Vec<_>>>()?.concat();
        if stays.is_empty() {
            match rustix::fs::unlinkat(root, self.name.as_str(), AtFlags::REMOVEDIR) {
                Ok(()) | Err(Errno::NOENT) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        failpoint!("apply.removed")?;
        rustix::fs::fsync(root)?;
        failpoint!("apply.finished")?;
        Ok(stays)
    }

    /// Removes one slot, unless it is a folder with content: it was compared while it was empty.
    fn try_drop(&self, slot: &[u8]) -> io::Result<bool> {
        match self.drop_slot(slot) {
            Err(error) if error.raw_os_error() == Some(Errno::NOTEMPTY.raw_os_error()) => Ok(false),
            dropped => dropped.map(|()| true),
        }
    }

    /// A look at a slot.
    pub(super) fn look<'a>(&'a self, slot: &'a [u8]) -> io::Result<InspectedName<'a>> {
        InspectedName::at(self.as_fd(), slot)
    }
}

impl AsFd for Slots {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.folder.as_fd()
    }
}
