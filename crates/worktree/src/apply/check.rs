//! Checks everything that could stop an apply, before anything changes. Reads only.

use std::collections::{HashMap, HashSet};
use std::io;
use std::os::fd::{AsFd as _, OwnedFd};

use retake_core::{FileChange, FilePath, Record};
use rustix::fs::{Access, AtFlags, FileType, StatxAttributes, StatxFlags};
use rustix::io::Errno;

use super::Direction;
use super::cores::on_cores;
use super::look::{InspectedName, OPEN};
use super::obstacle::{Obstacle, Refusal};
use super::order::{Plan, Step};
use super::report::{Note, NoteKind};
use super::stage::{ConcatAll as _, Model};
use crate::failpoint::failpoint;
use crate::objects::Objects;
use crate::root::{Root, enter, names};

const SETGID: u32 = 0o2000;
const STICKY: u32 = 0o1000;

/// Checks all changes, with a result for each in order; every impossible one is refused.
pub(super) fn check(root: &Root, plan: &Plan, objects: &dyn Objects) -> Result<Vec<Model>, Vec<Refusal>> {
    let answers = on_cores(plan.changes.len(), |places| {
        let mut check = Check { root, plan, objects, folder: None };
        let one = |place| {
            let change: &FileChange = &plan.changes[place];
            let answer = check.one(change).and_then(|model| {
                failpoint!("apply.checked").map_err(Obstacle::of)?;
                Ok(model)
            });
            answer.map_err(|why| Refusal { path: change.path.clone(), why })
        };
        places.map(one).collect::<Vec<_>>()
    });
    let (mut models, mut refusals) = (Vec::new(), Vec::new());
    for answer in answers.concat_all() {
        match answer {
            Ok(model) => models.push(model),
            Err(refusal) => refusals.push(refusal),
        }
    }
    if refusals.is_empty() { Ok(models) } else { Err(refusals) }
}

/// What happens to the other hard links of replaced files, by path. A file whose links are all removed gets no note.
pub(super) fn link_notes(root: &Root, plan: &Plan) -> Vec<Note> {
    let is_file = |change: &&FileChange| matches!(change.before, Some(Record::File { .. }));
    let leaves = plan.changes.iter().filter(is_file);
    let leaves = leaves.filter(|change| plan.step(change, Direction::Forward) != Step::Mode);
    let mut notes = Vec::new();
    for ((_, _, all), named) in linked(root, leaves) {
        let stay: Vec<_> = named.iter().filter(|change| change.after.is_some()).collect();
        let kind = match stay.len() {
            _ if (named.len() as u64) < all => NoteKind::LinkBreaks,
            0 | 1 => continue,
            _ => NoteKind::LinkParts,
        };
        notes.extend(stay.into_iter().map(|change| Note { path: change.path.clone(), kind }));
    }
    notes.sort_by(|one, other| one.path.cmp(&other.path));
    notes
}

/// A device, a file on it, and its number of links.
type Linked = (u64, u64, u64);

/// The changes whose files have several hard links, by file. The checks report files that cannot be read.
fn linked<'a>(
    root: &Root,
    changes: impl Iterator<Item = &'a FileChange>,
) -> HashMap<Linked, Vec<&'a FileChange>> {
    let mut names: HashMap<_, Vec<&FileChange>> = HashMap::new();
    for change in changes {
        let stat = root.folder(change.path.parent().as_ref()).and_then(|folder| {
            Ok(rustix::fs::statat(folder, change.path.name(), AtFlags::SYMLINK_NOFOLLOW)?)
        });
        if let Ok(stat) = stat
            && stat.st_nlink > 1
        {
            names.entry((stat.st_dev, stat.st_ino, stat.st_nlink)).or_default().push(change);
        }
    }
    names
}

/// The files that must get their new permission bits by an exchange with another file. They have a hard link to which the plan
/// does not give these bits, and a change of the file itself would affect all links. The same if another file replaces one of
/// the links.
pub(super) fn apart(root: &Root, plan: &Plan) -> HashSet<FilePath> {
    let mut names = linked(root, plan.bits().map(|(_, change)| change));
    let replaced: HashSet<FilePath> = plan.replaced().collect();
    names.retain(|(_, _, all), named| {
        let parts = |change: &&FileChange| change.after != named[0].after || replaced.contains(&change.path);
        named.len() as u64 != *all || named.iter().any(parts)
    });
    names.into_values().flatten().map(|change| change.path.clone()).chain(replaced.iter().cloned()).collect()
}

struct Check<'a> {
    root: &'a Root,
    plan: &'a Plan,
    objects: &'a dyn Objects,
    /// The last folder: neighbouring paths share it.
    folder: Option<(Option<FilePath>, Folder)>,
}

/// A folder with a planned change.
struct Folder {
    fd: OwnedFd,
    /// The owner, if only owners may move their files in it.
    sticky: Option<u32>,
    /// The group, if new files inherit it.
    group: Option<u32>,
    /// Whether names in it can be changed.
    writable: Result<(), Errno>,
}

impl Folder {
    fn open(root: &Root, path: Option<&FilePath>) -> io::Result<Self> {
        let fd = root.folder(path)?;
        let stat = rustix::fs::fstat(&fd)?;
        let allowed = rustix::fs::accessat(&fd, ".", Access::WRITE_OK | Access::EXEC_OK, AtFlags::EACCESS);
        let fixed = is_fixed(rustix::fs::statx(&fd, "", AtFlags::EMPTY_PATH, StatxFlags::empty()));
        let writable = if fixed { Err(Errno::PERM) } else { allowed };
        let has = |bit: u32| stat.st_mode & bit != 0;
        let sticky = has(STICKY).then_some(stat.st_uid);
        let group = has(SETGID).then_some(stat.st_gid);
        Ok(Self { fd, sticky, group, writable })
    }
}

/// Whether it is immutable or append-only.
fn is_fixed(statx: rustix::io::Result<rustix::fs::Statx>) -> bool {
    let fixed = StatxAttributes::IMMUTABLE | StatxAttributes::APPEND;
    // A system without the call or the attribute reports an error at the move.
    statx.is_ok_and(|statx| statx.stx_attributes.intersects(fixed))
}

impl Check<'_> {
    fn one(&mut self, change: &FileChange) -> Result<Model, Obstacle> {
        for record in [&change.before, &change.after].into_iter().flatten() {
            if record.hash().is_some_and(|hash| !self.objects.contains(&hash)) {
                return Err(Obstacle::NotStored);
            }
        }
        let unreadable = |mode: u16| mode & 0o400 == 0 && !is_root();
        if matches!(change.after, Some(Record::File { mode, .. }) if unreadable(mode)) {
            return Err(Obstacle::Unreadable);
        }
        let parent = change.path.parent();
        if self.folder.as_ref().is_none_or(|(path, _)| *path != parent) {
            match Folder::open(self.root, parent.as_ref()).map_err(Obstacle::of) {
                Ok(folder) => self.folder = Some((parent, folder)),
                Err(Obstacle::NoFolder) => return self.in_new_folder(change),
                Err(Obstacle::Linked) if self.plan.link_above(&change.path) => {
                    return self.in_new_folder(change);
                }
                Err(why) => return Err(why),
            }
        }
        let Some((_, folder)) = self.folder.take() else { return Err(Obstacle::NoFolder) };
        let answer = self.in_folder(change, &folder);
        self.folder = Some((change.path.parent(), folder));
        answer
    }

    /// A path whose folder the plan creates.
    fn in_new_folder(&self, change: &FileChange) -> Result<Model, Obstacle> {
        let made = |parent: &FileChange| matches!(parent.after, Some(Record::Folder { .. }));
        match &change.after {
            Some(record) if change.before.is_none() && self.plan.parent(change).is_some_and(made) => {
                let group = self.inherited(&change.path)?;
                nothing(|look| {
                    Model::of(look, record, group, (self.plan.attributes(&change.path, record), None))
                })
            }
            _ if change.before.is_some() => Err(Obstacle::Changed),
            _ => Err(Obstacle::NoFolder),
        }
    }

    /// The group that files inherit from the nearest existing folder.
    fn inherited(&self, path: &FilePath) -> Result<Option<u32>, Obstacle> {
        let mut folder = path.parent();
        loop {
            match Folder::open(self.root, folder.as_ref()).map_err(Obstacle::of) {
                Ok(found) => return Ok(found.group),
                Err(Obstacle::NoFolder | Obstacle::Linked) if folder.is_some() => {
                    folder = folder.and_then(|folder| folder.parent());
                }
                Err(why) => return Err(why),
            }
        }
    }

    fn in_folder(&mut self, change: &FileChange, folder: &Folder) -> Result<Model, Obstacle> {
        let mut look = InspectedName::at(folder.fd.as_fd(), change.path.name()).map_err(Obstacle::of)?;
        if let Some(kind) = strange(look.kind()) {
            return Err(Obstacle::Strange(kind));
        }
        let planned = match look.is_exactly(change.before.as_ref()) {
            Ok(planned) => planned || change.before.is_none() && self.is_twin(change, &look),
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                return Err(Obstacle::Unreadable);
            }
            Err(error) => return Err(Obstacle::of(error)),
        };
        if !planned {
            return Err(Obstacle::Changed);
        }
        self.may_change(change, folder, &look)?;
        let step = self.plan.step(change, Direction::Forward);
        match &change.after {
            Some(record) if step != Step::Mode => {
                let (path, plan) = (&change.path, self.plan);
                let attributes = (plan.attributes(path, record), plan.given(path, record));
                match change.before {
                    Some(_) => Model::of(&look, record, folder.group, attributes),
                    None => nothing(|look| Model::of(look, record, folder.group, attributes)),
                }
            }
            _ => Ok(Model::default()),
        }
    }

    /// Whether the file under a name that should be free is a path of the plan in another case, which is moved first.
    fn is_twin(&self, change: &FileChange, look: &InspectedName<'_>) -> bool {
        let lower = |path: &FilePath| String::from_utf8_lossy(path.as_bytes()).to_lowercase();
        let Some(stat) = look.stat.filter(|stat| stat.st_nlink == 1) else { return false };
        let name = lower(&change.path);
        let goes = |other: &&FileChange| other.after.is_none() && lower(&other.path) == name;
        self.plan.changes.iter().filter(goes).any(|other| {
            let folder = self.root.folder(other.path.parent().as_ref());
            let found = folder.and_then(|folder| {
                Ok(rustix::fs::statat(folder, other.path.name(), AtFlags::SYMLINK_NOFOLLOW)?)
            });
            found.is_ok_and(|found| (found.st_dev, found.st_ino) == (stat.st_dev, stat.st_ino))
        })
    }

    fn may_change(
        &self,
        change: &FileChange,
        folder: &Folder,
        look: &InspectedName<'_>,
    ) -> Result<(), Obstacle> {
        let me = rustix::process::geteuid().as_raw();
        let owner = look.stat.map(|stat| stat.st_uid);
        let mine = is_root() || owner.is_none_or(|owner| owner == me);
        let name = change.path.name();
        if look.stat.is_some() {
            let flags = AtFlags::SYMLINK_NOFOLLOW;
            if is_fixed(rustix::fs::statx(&folder.fd, name, flags, StatxFlags::empty())) {
                return Err(Obstacle::Protected);
            }
        }
        let step = self.plan.step(change, Direction::Forward);
        let folders = matches!(change.before, Some(Record::Folder { .. }));
        if !mine && (step == Step::Mode || folders || folder.sticky.is_some_and(|sticky| sticky != me)) {
            return Err(Obstacle::Protected);
        }
        if step != Step::Mode {
            self.may_move(change, folder)?;
        } else if look.stat.is_some_and(|stat| {
            let special = self.plan.special(change, Direction::Forward).unwrap_or(stat.st_mode);
            special & SETGID != 0 && !is_of_mine(stat.st_gid)
        }) {
            // The system would remove it when the other bits change.
            return Err(Obstacle::Attributes("setgid bit"));
        }
        if folders && step == Step::Exchange && !self.all_goes(change, folder).map_err(Obstacle::of)? {
            return Err(Obstacle::NotEmpty);
        }
        Ok(())
    }

    /// Whether names in the folder can be changed; a folder of the plan is opened for its owner first.
    fn may_move(&self, change: &FileChange, folder: &Folder) -> Result<(), Obstacle> {
        let opened = |parent: &FileChange| matches!(parent.before, Some(Record::Folder { mode }) if mode & OPEN != OPEN);
        match folder.writable {
            Err(Errno::ACCESS) if self.plan.parent(change).is_some_and(opened) => Ok(()),
            writable => writable.map_err(|errno| Obstacle::of(errno.into())),
        }
    }

    /// Whether the plan removes everything in a folder that something else replaces.
    fn all_goes(&self, change: &FileChange, folder: &Folder) -> io::Result<bool> {
        let names = names(enter(&folder.fd, change.path.name())?)?;
        Ok(names.into_iter().all(|name| {
            let path = change.path.join(&name).ok();
            let goes = path.and_then(|path| self.plan.change(&path));
            goes.is_some_and(|change| change.after.is_none())
        }))
    }
}

/// A look at a place without a file.
fn nothing<T>(of: impl FnOnce(&InspectedName<'_>) -> T) -> T {
    of(&InspectedName::nothing())
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Whether this process may set a setgid bit for this group.
fn is_of_mine(group: u32) -> bool {
    let groups = || rustix::process::getgroups().unwrap_or_default();
    is_root()
        || rustix::process::getegid().as_raw() == group
        || groups().iter().any(|mine| mine.as_raw() == group)
}

fn strange(kind: Option<FileType>) -> Option<&'static str> {
    match kind? {
        FileType::RegularFile | FileType::Directory | FileType::Symlink => None,
        FileType::Fifo => Some("FIFO"),
        FileType::Socket => Some("socket"),
        FileType::CharacterDevice | FileType::BlockDevice => Some("device"),
        FileType::Unknown => Some("file of an unknown kind"),
    }
}
