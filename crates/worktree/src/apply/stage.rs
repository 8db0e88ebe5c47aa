//! Stages new contents: bytes, permission bits, and attributes of the file that they replace. Must never touch a path of the
//! user's.

use std::fs::File;
use std::io::Write as _;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};

use retake_core::{FilePath, Record};
use rustix::fs::{AtFlags, FileType, Gid, Mode, OFlags, Stat, Uid, XattrFlags};
use rustix::io::Errno;

use super::ApplyContext;
use super::cores::on_cores;
use super::look::{InspectedName, OPEN};
use super::moves::{move_over, set_mode};
use super::obstacle::{Obstacle, Refusal};
use super::order::{Plan, Step, wanted};
use super::slots::{Slots, draft, slot};
use super::{Direction, sync};
use crate::attributes::{AS_OWNER, Attribute, Attributes, SPECIAL, attribute, attributes};
use crate::error::{Result, WorktreeError};
use crate::failpoint::failpoint;
use crate::objects::Objects;
use crate::root::Root;

const ACCESS_LIST: &[u8] = b"system.posix_acl_access";

/// The attributes that a new file takes from the one that it replaces, or from its folder.
#[derive(Debug, Default)]
pub(super) struct Model {
    owner: Option<u32>,
    group: Option<u32>,
    /// Setuid, setgid, sticky. A new folder passes its group on like its parent.
    special: u32,
    attributes: Vec<Attribute>,
}

impl Model {
    /// The attributes for a record that replaces the file at this path. If the path has no such file, those known of the record
    /// (`known`); `given` ones count in any case. `group` is that of a folder that passes its group on. Set-uid and set-gid bits
    /// are given only to the same bytes that had them, as far as is known.
    pub(super) fn of(
        look: &InspectedName<'_>,
        record: &Record,
        group: Option<u32>,
        (known, given): (Option<&Attributes>, Option<&Attributes>),
    ) -> Result<Self, Obstacle> {
        let lost = Obstacle::Attributes("attributes");
        let old = look.stat.filter(|_| look.kind() != Some(FileType::Directory));
        let old = old.filter(|_| !matches!(record, Record::Folder { .. }));
        match (look.file.as_ref().filter(|_| given.is_none()), record, old, given.or(known)) {
            (Some(file), Record::File { .. }, Some(stat), _) => {
                let special = stat.st_mode & SPECIAL;
                if special & AS_OWNER & !known.map_or(0, |known| u32::from(known.special)) != 0 {
                    return Err(Obstacle::RunsAsOwner);
                }
                let attributes = attributes(file).map_err(|_| lost)?;
                Ok(Self { owner: Some(stat.st_uid), group: Some(stat.st_gid), special, attributes })
            }
            (_, _, _, Some(Attributes { special, owner, group, extended })) => {
                let (owner, group, special) = (Some(*owner), Some(*group), u32::from(*special));
                Ok(Self { owner, group, special, attributes: extended.clone().ok_or(lost)? })
            }
            (_, _, Some(stat), None) => {
                Ok(Self { owner: Some(stat.st_uid), group: Some(stat.st_gid), ..Self::default() })
            }
            (_, Record::Folder { .. }, None, None) => {
                let special = group.map_or(0, |_| Mode::SGID.as_raw_mode());
                Ok(Self { group, special, ..Self::default() })
            }
            (_, _, None, None) => Ok(Self { group, ..Self::default() }),
        }
    }

    /// Sets the owner and group of a file, or of this name.
    fn own(&self, slots: &Slots, name: &[u8]) -> Result<(), Obstacle> {
        let now = rustix::fs::statat(slots, name, AtFlags::SYMLINK_NOFOLLOW).map_err(system)?;
        let owner = self.owner.filter(|owner| *owner != now.st_uid).map(Uid::from_raw);
        let group = self.group.filter(|group| *group != now.st_gid).map(Gid::from_raw);
        if owner.is_none() && group.is_none() {
            return Ok(());
        }
        let given = rustix::fs::chownat(slots, name, owner, group, AtFlags::SYMLINK_NOFOLLOW);
        given.map_err(|_| Obstacle::Attributes("owner"))
    }

    /// The system silently removes bits that it does not permit.
    fn has_special(&self, made: Stat) -> Result<(), Obstacle> {
        let has = made.st_mode & self.special == self.special;
        if has { Ok(()) } else { Err(Obstacle::Attributes("setuid, setgid or sticky bit")) }
    }

    fn attribute(&self, file: impl AsFd) -> Result<(), Obstacle> {
        let replaces = self.owner.is_some();
        if replaces && !self.attributes.iter().any(|(name, _)| name == ACCESS_LIST) {
            // Its folder may have given it one that the old file did not have.
            match rustix::fs::fremovexattr(&file, ACCESS_LIST) {
                Ok(()) | Err(Errno::NODATA | Errno::NOTSUP) => {}
                Err(_) => return Err(Obstacle::Attributes("access list")),
            }
        }
        for (name, value) in &self.attributes {
            let name = name.as_slice();
            if rustix::fs::fsetxattr(&file, name, value, XattrFlags::empty()).is_err()
                && attribute(&file, name).ok().as_ref() != Some(value)
            {
                return Err(Obstacle::Attributes("attributes"));
            }
        }
        Ok(())
    }
}

/// Stages the new versions of all paths, and syncs them. The inner error is a refusal of some paths.
pub(super) fn stage_all(
    root: &Root,
    slots: &Slots,
    plan: &Plan,
    models: &[Model],
    objects: &dyn Objects,
) -> Result<(), Result<Vec<Refusal>>> {
    let stop = AtomicBool::new(false);
    let refusals = on_cores(plan.changes.len(), |places| {
        let mut refusals = Vec::new();
        let mut near = FolderCache { root, last: None };
        for place in places {
            let change = &plan.changes[place];
            let Some(record) = wanted(change, Direction::Forward) else { continue };
            if plan.step(change, Direction::Forward) == Step::Mode || stop.load(Ordering::Relaxed) {
                continue;
            }
            let near = near.folder(&change.path);
            let staged = stage_one(slots, &slot(place), record, &models[place], near, objects)
                .and_then(|_| failpoint!("apply.staged").map_err(Obstacle::of));
            if let Err(why) = staged {
                stop.store(true, Ordering::Relaxed);
                refusals.push(Refusal { path: change.path.clone(), why });
            }
        }
        refusals
    });
    let refusals = refusals.concat_all();
    if !refusals.is_empty() {
        return Err(Ok(refusals));
    }
    let synced = sync::staged(slots).and_then(|()| failpoint!("apply.synced"));
    synced.map_err(WorktreeError::io("sync what was staged in", root.path())).map_err(Err)
}

/// The folder of a new file, if it exists: neighbours share it.
struct FolderCache<'a> {
    root: &'a Root,
    last: Option<(Option<FilePath>, Option<OwnedFd>)>,
}

impl FolderCache<'_> {
    fn folder(&mut self, path: &FilePath) -> Option<BorrowedFd<'_>> {
        let parent = path.parent();
        if self.last.as_ref().is_none_or(|(last, _)| *last != parent) {
            let folder = self.root.folder(parent.as_ref()).ok();
            self.last = Some((parent, folder));
        }
        self.last.as_ref()?.1.as_ref().map(OwnedFd::as_fd)
    }
}

/// Joins the lists to one.
pub(super) trait ConcatAll<T> {
    fn concat_all(self) -> Vec<T>;
}

impl<T> ConcatAll<T> for Vec<Vec<T>> {
    fn concat_all(self) -> Vec<T> {
        self.into_iter().flatten().collect()
    }
}

/// Stages again, in a free slot, synced. An incomplete draft has no owner.
pub(super) fn stage_again(
    ground: &ApplyContext,
    place: usize,
    record: &Record,
    model: &Model,
    objects: &dyn Objects,
) -> Result<(), Obstacle> {
    let (draft, slot) = (draft(place), slot(place));
    ground.slots.drop_slot(&draft).map_err(Obstacle::System)?;
    if let Some(file) = stage_one(&ground.slots, &draft, record, model, None, objects)? {
        file.sync_all().map_err(Obstacle::of)?;
    }
    failpoint!("apply.restaged").map_err(Obstacle::of)?;
    move_over(ground.spot(&draft), ground.spot(&slot)).map_err(Obstacle::of)
}

fn stage_one(
    slots: &Slots,
    name: &[u8],
    record: &Record,
    model: &Model,
    near: Option<BorrowedFd<'_>>,
    objects: &dyn Objects,
) -> Result<Option<File>, Obstacle> {
    match record {
        Record::File { hash, mode, .. } => {
            let bytes = objects.get(hash).map_err(|_| Obstacle::NotStored)?;
            let mut file = new_file(slots, name, near)?;
            file.write_all(&bytes).map_err(Obstacle::of)?;
            model.own(slots, name)?;
            model.attribute(&file)?;
            // Last, because setting an owner removes bits and an access list sets some.
            let mode = Mode::from_raw_mode(u32::from(*mode) | model.special);
            rustix::fs::fchmod(&file, mode).map_err(|_| Obstacle::Attributes("permissions"))?;
            model.has_special(rustix::fs::fstat(&file).map_err(system)?)?;
            Ok(Some(file))
        }
        Record::Link { target } => {
            rustix::fs::symlinkat(&**target, slots, name).map_err(system)?;
            model.own(slots, name)?;
            Ok(None)
        }
        Record::Folder { mode } => {
            rustix::fs::mkdirat(slots, name, Mode::RWXU).map_err(system)?;
            model.own(slots, name)?;
            if !model.attributes.is_empty() {
                let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
                model.attribute(rustix::fs::openat(slots, name, flags, Mode::empty()).map_err(system)?)?;
            }
            if model.special != 0 {
                let mode = Mode::RWXU | Mode::from_raw_mode(model.special);
                rustix::fs::chmodat(slots, name, mode, AtFlags::empty()).map_err(system)?;
            }
            // Open for its owner until it is filled.
            set_mode(slots.as_fd(), name, mode | OPEN, None, None).map_err(Obstacle::of)?;
            let made = rustix::fs::statat(slots, name, AtFlags::SYMLINK_NOFOLLOW).map_err(system)?;
            model.has_special(made)?;
            Ok(None)
        }
    }
}

/// An empty file with this name. If the system can, it is created without a name in its future folder. So it is near its
/// neighbours on disk and inherits that folder's attributes.
fn new_file(slots: &Slots, name: &[u8], near: Option<BorrowedFd<'_>>) -> Result<File, Obstacle> {
    let mode = Mode::RUSR | Mode::WUSR;
    let flags = OFlags::WRONLY | OFlags::CLOEXEC;
    if let Some(near) = near
        && let Ok(file) = rustix::fs::openat(near, ".", flags | OFlags::TMPFILE, mode)
    {
        let through = format!("/proc/self/fd/{}", file.as_raw_fd());
        let follow = AtFlags::SYMLINK_FOLLOW;
        if rustix::fs::linkat(rustix::fs::CWD, through.as_bytes(), slots, name, follow).is_ok() {
            return Ok(File::from(file));
        }
    }
    let flags = flags | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW;
    Ok(File::from(rustix::fs::openat(slots, name, flags, mode).map_err(system)?))
}

fn system(errno: Errno) -> Obstacle {
    Obstacle::of(errno.into())
}
