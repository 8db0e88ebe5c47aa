//! The moves between the files and the staging folder: exchange, take, place, and the change of permission bits. Each moves one
//! name and overwrites nothing; if the folder was moved away meanwhile, the move is reverted at once.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use retake_core::{FileChange, FilePath, Record};
use rustix::fs::{AtFlags, FileType, Mode, OFlags, RenameFlags, Timespec, Timestamps, UTIME_NOW};
use rustix::io::Errno;

use super::carry::mode;
use super::look::InspectedName;
use super::obstacle::Obstacle;
use super::order::{Step, there, wanted};
use super::slots::{aside, slot};
use super::{ApplyContext, Direction};
use crate::attributes::SPECIAL;
use crate::failpoint::failpoint;
use crate::root::{RootId, enter, identity, names};

/// The modification times of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Times {
    /// The current time, so that builds are correct.
    Now,
    /// Their own, because nothing has changed.
    Keep,
}

/// A place and a name in it.
#[derive(Clone, Copy)]
pub(super) struct NameInFolder<'a> {
    pub(super) dir: BorrowedFd<'a>,
    pub(super) name: &'a [u8],
    /// Whether it is in the staging folder, where nobody else writes.
    pub(super) private: bool,
}

impl ApplyContext {
    /// Makes one move of the plan.
    pub(super) fn make(&self, place: usize, to: Direction, times: Times) -> Result<(), Obstacle> {
        let change = &self.plan.changes[place];
        let step = self.plan.step(change, to);
        if times == Times::Now && !matches!(wanted(change, to), None | Some(Record::Folder { .. })) {
            self.touch(place);
        }
        self.within(
            &change.path,
            |spot| match step {
                Step::Exchange => self.exchange(place, spot),
                Step::Take => {
                    failpoint!("apply.take")?;
                    move_over(spot, self.spot(&slot(place)))
                }
                Step::Place => {
                    failpoint!("apply.place")?;
                    move_over(self.spot(&slot(place)), spot)
                }
                Step::Mode => Ok(()),
            },
            |spot| match step {
                Step::Exchange => self.exchange(place, spot),
                Step::Take => move_over(self.spot(&slot(place)), spot),
                Step::Place => move_over(spot, self.spot(&slot(place))),
                Step::Mode => Ok(()),
            },
        )
    }

    /// Makes a move in a path's folder, and reverts it if the path no longer leads to that folder.
    fn within(
        &self,
        path: &FilePath,
        act: impl FnOnce(NameInFolder<'_>) -> io::Result<()>,
        undo: impl FnOnce(NameInFolder<'_>) -> io::Result<()>,
    ) -> Result<(), Obstacle> {
        let root = self.lock.root();
        let parent = path.parent();
        let dir = root.folder(parent.as_ref()).map_err(Obstacle::of)?;
        let spot = NameInFolder { dir: dir.as_fd(), name: path.name(), private: false };
        act(spot).map_err(Obstacle::of_move)?;
        failpoint!("apply.moved").map_err(Obstacle::System)?;
        let here = identity(&dir).map_err(Obstacle::System)?;
        let why = match root.folder(parent.as_ref()).and_then(identity) {
            Ok(still) if still == here => return Ok(()),
            Ok(_) => Obstacle::Elsewhere,
            Err(error) => Obstacle::of(error),
        };
        undo(spot).map_err(Obstacle::System)?;
        Err(why)
    }

    pub(super) fn spot<'a>(&'a self, slot: &'a [u8]) -> NameInFolder<'a> {
        NameInFolder { dir: self.slots.as_fd(), name: slot, private: true }
    }

    /// Exchanges the file in the slot with the one at the spot.
    pub(super) fn exchange(&self, place: usize, spot: NameInFolder<'_>) -> io::Result<()> {
        let slot = slot(place);
        let at_once = failpoint!("apply.exchange").and_then(|()| {
            let flags = RenameFlags::EXCHANGE;
            Ok(rustix::fs::renameat_with(&self.slots, slot.as_slice(), spot.dir, spot.name, flags)?)
        });
        match at_once {
            Err(error) if is_unsupported(&error) => self.exchange_in_steps(place, spot),
            done => done,
        }
    }

    /// The same on a file system without exchange: for a moment nothing is at the spot.
    fn exchange_in_steps(&self, place: usize, spot: NameInFolder<'_>) -> io::Result<()> {
        move_over(spot, self.spot(&aside(place)))?;
        failpoint!("apply.aside")?;
        move_over(self.spot(&slot(place)), spot)?;
        failpoint!("apply.refilled")?;
        move_over(self.spot(&aside(place)), self.spot(&slot(place)))
    }

    /// Ends an interrupted exchange in steps: the file that was set aside goes back, or into the slot.
    pub(super) fn end_exchange(&self, place: usize, spot: NameInFolder<'_>) -> io::Result<()> {
        let (aside, slot) = (aside(place), slot(place));
        let set_aside = self.slots.look(&aside)?;
        if set_aside.stat.is_none() {
            return Ok(());
        }
        let here = InspectedName::at(spot.dir, spot.name)?;
        if here.stat.is_none() {
            return move_over(self.spot(&aside), spot);
        }
        if set_aside.is_same_file(&here) {
            // It is back, and a crash left its second link.
            return self.slots.drop_slot(&aside);
        }
        // The path has its new version, or one that somebody wrote at this moment. The content of the slot is at the path too, or
        // can be staged again.
        let change = &self.plan.changes[place];
        let mut staged = self.slots.look(&slot)?;
        let known = staged.is_same_file(&here)
            || staged.is(change.before.as_ref())?
            || staged.is(change.after.as_ref())?;
        if staged.stat.is_some() && known {
            self.slots.drop_slot(&slot)?;
        }
        move_over(self.spot(&aside), self.spot(&slot))
    }

    /// Staged content gets the current time. If this fails, a build may see an old time; nothing worse.
    fn touch(&self, place: usize) {
        let now = Timespec { tv_sec: 0, tv_nsec: UTIME_NOW };
        let times = Timestamps { last_access: now, last_modification: now };
        let slot = slot(place);
        let _ = rustix::fs::utimensat(&self.slots, slot.as_slice(), &times, AtFlags::SYMLINK_NOFOLLOW);
    }

    /// Sets the permission bits of a file or a folder, and its setuid, setgid and sticky bits if these are given.
    pub(super) fn set_mode(&self, path: &FilePath, mode: u16, special: Option<u32>) -> Result<(), Obstacle> {
        failpoint!("apply.mode").map_err(Obstacle::of)?;
        let dir = self.lock.root().folder(path.parent().as_ref()).map_err(Obstacle::of)?;
        set_mode(dir.as_fd(), path.name(), mode, special, None).map_err(Obstacle::of_move)
    }

    /// The same for a file, which must still have these bytes, with one of these modes: a file that somebody saved meanwhile
    /// keeps its own.
    pub(super) fn set_mode_of(&self, change: &FileChange, to: Direction) -> Result<(), Obstacle> {
        failpoint!("apply.mode").map_err(Obstacle::of)?;
        let (path, special) = (&change.path, self.plan.special(change, to));
        let dir = self.lock.root().folder(path.parent().as_ref()).map_err(Obstacle::of)?;
        let mut look = InspectedName::at(dir.as_fd(), path.name()).map_err(Obstacle::of)?;
        let aim = mode(wanted(change, to));
        // Another link of the same file may have got them before.
        let known = [mode(there(change, to)), aim].contains(&look.mode());
        let same = match look.holds(wanted(change, to)) {
            // A file that even its owner cannot read is compared by its length alone.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => true,
            same => same.map_err(Obstacle::of)?,
        };
        if !known || !same {
            return Err(Obstacle::Changed);
        }
        let seen = look.stat.map(|stat| RootId { dev: stat.st_dev, ino: stat.st_ino });
        set_mode(dir.as_fd(), path.name(), aim, special, seen).map_err(Obstacle::of_move)
    }

    /// Whether a slot contains this record; a folder must be empty.
    pub(super) fn slot_is(
        &self,
        look: &mut InspectedName<'_>,
        slot: &[u8],
        record: Option<&Record>,
    ) -> io::Result<bool> {
        if !look.is(record)? {
            return Ok(false);
        }
        match look.kind() {
            Some(FileType::Directory) => Ok(names(enter(&self.slots, slot)?)?.is_empty()),
            _ => Ok(true),
        }
    }
}

/// Sets the permission bits of this name; leaves setuid, setgid and sticky bits unchanged, unless they are given; follows no
/// link. If a file is given, it must be this one.
pub(super) fn set_mode(
    dir: BorrowedFd<'_>,
    name: &[u8],
    mode: u16,
    special: Option<u32>,
    only: Option<RootId>,
) -> io::Result<()> {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let place = rustix::fs::openat(dir, name, flags | OFlags::PATH, Mode::empty())?;
    let stat = rustix::fs::fstat(&place)?;
    if only.is_some_and(|only| only != RootId { dev: stat.st_dev, ino: stat.st_ino }) {
        return Err(Errno::STALE.into());
    }
    let upper = match FileType::from_raw_mode(stat.st_mode) {
        FileType::Directory | FileType::RegularFile => special.unwrap_or(stat.st_mode & SPECIAL),
        _ => return Err(Errno::LOOP.into()),
    };
    let mode = Mode::from_raw_mode(u32::from(mode) | upper);
    match rustix::fs::openat(dir, name, flags | OFlags::RDONLY, Mode::empty()) {
        Ok(file) if identity(&file)? == identity(&place)? => Ok(rustix::fs::fchmod(file, mode)?),
        Ok(_) => Err(Errno::STALE.into()),
        // Not readable even by us: set through the path descriptor.
        Err(Errno::ACCESS) => {
            use std::os::fd::AsRawFd as _;
            let through = format!("/proc/self/fd/{}", place.as_raw_fd());
            Ok(rustix::fs::chmodat(rustix::fs::CWD, through, mode, AtFlags::empty())?)
        }
        Err(errno) => Err(errno.into()),
    }
}

/// Moves a name to an unused one.
pub(super) fn move_over(from: NameInFolder<'_>, to: NameInFolder<'_>) -> io::Result<()> {
    let at_once = failpoint!("apply.noreplace").and_then(|()| {
        let flags = RenameFlags::NOREPLACE;
        Ok(rustix::fs::renameat_with(from.dir, from.name, to.dir, to.name, flags)?)
    });
    match at_once {
        Err(error) if is_unsupported(&error) => move_carefully(from, to),
        done => done,
    }
}

/// The same on a file system without a move that replaces nothing. In the staging folder a check is enough. Elsewhere a second
/// link never replaces a file, and then the first one, which is private, is removed; a folder replaces only an empty one.
fn move_carefully(from: NameInFolder<'_>, to: NameInFolder<'_>) -> io::Result<()> {
    if InspectedName::at(to.dir, to.name)?.stat.is_some() {
        return Err(Errno::EXIST.into());
    }
    if to.private || InspectedName::at(from.dir, from.name)?.kind() == Some(FileType::Directory) {
        return Ok(rustix::fs::renameat(from.dir, from.name, to.dir, to.name)?);
    }
    match rustix::fs::linkat(from.dir, from.name, to.dir, to.name, AtFlags::empty()) {
        Ok(()) => {
            failpoint!("apply.linked")?;
            Ok(rustix::fs::unlinkat(from.dir, from.name, AtFlags::empty())?)
        }
        Err(Errno::PERM | Errno::NOTSUP | Errno::NOSYS) => {
            Ok(rustix::fs::renameat(from.dir, from.name, to.dir, to.name)?)
        }
        Err(errno) => Err(errno.into()),
    }
}

fn is_unsupported(error: &io::Error) -> bool {
    let unsupported = [Errno::INVAL, Errno::NOSYS, Errno::NOTSUP];
    error.raw_os_error().is_some_and(|errno| unsupported.iter().any(|other| other.raw_os_error() == errno))
}
