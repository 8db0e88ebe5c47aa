//! Settling: brings each path of a plan to one side, from any state that a crash or an abort left. It checks before it
//! moves; a version of neither side is somebody's, and must never be changed or deleted.

use std::collections::HashSet;
use std::io;
use std::os::fd::AsFd as _;

use retake_core::{FileChange, FilePath, LeftPath, LeftReason, Record};
use rustix::fs::FileType;

use super::carry::mode;
use super::look::{InspectedName, OPEN};
use super::moves::NameInFolder;
pub(super) use super::moves::Times;
use super::obstacle::Obstacle;
use super::order::{Plan, there, wanted};
use super::report::{Failed, Report};
use super::slots::{SlotName, Slots, aside, slot};
use super::{ApplyContext, Direction, stage, sync};
use crate::failpoint::failpoint;
use crate::objects::Objects;
use crate::root::{enter, names};

/// Brings every path to one side. Continues after a path that cannot be settled.
pub(super) fn settle(ground: &ApplyContext, to: Direction, times: Times, objects: &dyn Objects) -> Report {
    let mut settle = ApplySettlement { ground, to, times, objects, report: Report::default() };
    let changes = &ground.plan.changes;
    for place in ground.plan.closed_on_a_side() {
        settle.each(place, ApplySettlement::open);
    }
    for place in ground.plan.moves(to) {
        settle.each(place, ApplySettlement::bring);
    }
    for place in ground.plan.modes(to) {
        settle.each(place, ApplySettlement::set_mode);
    }
    let mut report = settle.report;
    report.failed.extend(ground.close_again(&report, to).err());
    let synced = sync::moved(ground).and_then(|()| failpoint!("apply.settled"));
    report.failed.extend(synced.err().map(Failed::whole));
    report.done =
        changes.len() - report.left.len() - report.failed.iter().filter(|f| f.path.is_some()).count();
    report
}

/// The files that get their permission bits by an exchange: they have a staged version.
pub(super) fn apart(plan: &Plan, slots: &Slots) -> io::Result<HashSet<FilePath>> {
    let mut apart = HashSet::new();
    for (place, change) in plan.bits() {
        if slots.look(&slot(place))?.stat.is_some() || slots.look(&aside(place))?.stat.is_some() {
            apart.insert(change.path.clone());
        }
    }
    Ok(apart)
}

struct ApplySettlement<'a> {
    ground: &'a ApplyContext,
    to: Direction,
    times: Times,
    objects: &'a dyn Objects,
    report: Report,
}

/// The result of a path.
enum PathOutcome {
    Done,
    /// Left; somebody's earlier version may still be in the slot.
    Left(LeftReason),
}

/// The content of a slot.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SlotContent {
    Nothing,
    Wanted,
    /// The version of the other side, which is in the object store too.
    Other,
    Foreign,
}

impl ApplySettlement<'_> {
    /// Handles one path, unless a report ended it already.
    fn each(&mut self, place: usize, act: fn(&Self, usize) -> Result<PathOutcome, Obstacle>) {
        let path = &self.ground.plan.changes[place].path;
        let said = self.report.left.iter().any(|left| left.path == *path)
            || self.report.failed.iter().any(|failed| failed.path.as_ref() == Some(path));
        if said {
            return;
        }
        let why = match act(self, place) {
            Ok(PathOutcome::Done) => return,
            Ok(PathOutcome::Left(why)) => why,
            Err(Obstacle::NoFolder | Obstacle::Linked | Obstacle::Elsewhere) => LeftReason::Unreachable,
            Err(Obstacle::Changed) => LeftReason::Foreign,
            Err(Obstacle::NotEmpty) => LeftReason::NotEmpty,
            Err(why) => return self.report.failed.push(Failed::at(path)(why)),
        };
        let mut left = LeftPath::new(path, why);
        for slot in self.foreign_slots(place) {
            left.kept.extend(self.ground.slots.path_of(&slot));
            self.report.kept.push(slot);
        }
        self.report.left.push(left);
    }

    /// The slots of a path that was left which contain, or may contain, somebody's bytes.
    fn foreign_slots(&self, place: usize) -> Vec<SlotName> {
        let mut slots = Vec::new();
        if !matches!(self.held(place), Ok(SlotContent::Nothing | SlotContent::Wanted | SlotContent::Other)) {
            slots.push(slot(place));
        }
        if !self.ground.slots.look(&aside(place)).is_ok_and(|look| look.stat.is_none()) {
            slots.push(aside(place));
        }
        slots
    }

    /// Opens a folder of the plan for its owner. A folder that was replaced meanwhile is detected later.
    fn open(&self, place: usize) -> Result<PathOutcome, Obstacle> {
        let change = &self.ground.plan.changes[place];
        let Ok(dir) = self.ground.lock.root().folder(change.path.parent().as_ref()) else {
            return Ok(PathOutcome::Done);
        };
        let look = InspectedName::at(dir.as_fd(), change.path.name()).map_err(Obstacle::of)?;
        let ours = look.kind() == Some(FileType::Directory) && modes_of(change).contains(&look.mode());
        if ours && look.mode() & OPEN != OPEN {
            self.ground.set_mode(&change.path, look.mode() | OPEN, None)?;
        }
        Ok(PathOutcome::Done)
    }

    /// Brings a path to its side by the move of its step.
    fn bring(&self, place: usize) -> Result<PathOutcome, Obstacle> {
        let change = &self.ground.plan.changes[place];
        let dir = match self.ground.lock.root().folder(change.path.parent().as_ref()).map_err(Obstacle::of) {
            Ok(dir) => dir,
            Err(why) => return self.unreachable(place, why),
        };
        let spot = NameInFolder { dir: dir.as_fd(), name: change.path.name(), private: false };
        self.ground.end_exchange(place, spot).map_err(Obstacle::System)?;
        let held = self.held(place)?;
        if held == SlotContent::Foreign {
            return self.hand_back(place, spot);
        }
        let mut look = InspectedName::at(spot.dir, spot.name).map_err(Obstacle::of)?;
        if look.is(wanted(change, self.to)).map_err(unread)? {
            return Ok(PathOutcome::Done);
        }
        if !look.is(there(change, self.to)).map_err(unread)? {
            return Ok(PathOutcome::Left(LeftReason::Foreign));
        }
        // Only one copy of it is ours. If it is both here and in the slot, somebody has saved an equal version.
        if held == SlotContent::Other && !self.is_in_slot(place, &look)? {
            return Ok(PathOutcome::Left(LeftReason::Foreign));
        }
        let emptied = || enter(spot.dir, spot.name).and_then(names);
        if look.kind() == Some(FileType::Directory) && !emptied().map_err(Obstacle::of_move)?.is_empty() {
            return Ok(PathOutcome::Left(LeftReason::NotEmpty));
        }
        self.refill(place, spot, &look)?;
        self.ground.make(place, self.to, self.times)?;
        failpoint!("apply.stepped").map_err(Obstacle::System)?;
        match self.held(place)? {
            SlotContent::Foreign => self.hand_back(place, spot),
            _ => Ok(PathOutcome::Done),
        }
    }

    /// A path whose folder cannot be reached: a missing file is done, and the content of the slot may be somebody's.
    fn unreachable(&self, place: usize, why: Obstacle) -> Result<PathOutcome, Obstacle> {
        let change = &self.ground.plan.changes[place];
        if !self.foreign_slots(place).is_empty() {
            return Ok(PathOutcome::Left(LeftReason::Foreign));
        }
        let nowhere = match why {
            Obstacle::Linked => self.ground.plan.link_above(&change.path),
            _ => matches!(why, Obstacle::NoFolder),
        };
        if nowhere && wanted(change, self.to).is_none() {
            return Ok(PathOutcome::Done);
        }
        Err(why)
    }

    fn held(&self, place: usize) -> Result<SlotContent, Obstacle> {
        let change = &self.ground.plan.changes[place];
        let slot = slot(place);
        let read = || -> io::Result<SlotContent> {
            let mut look = self.ground.slots.look(&slot)?;
            if look.stat.is_none() {
                return Ok(SlotContent::Nothing);
            }
            let sides = [
                (wanted(change, self.to), SlotContent::Wanted),
                (there(change, self.to), SlotContent::Other),
            ];
            for (side, held) in sides {
                if side.is_some() && self.ground.slot_is(&mut look, &slot, side)? {
                    return Ok(held);
                }
            }
            Ok(SlotContent::Foreign)
        };
        read().map_err(Obstacle::System)
    }

    /// Whether the file at a path is also in its slot, as a second link that a crash left.
    fn is_in_slot(&self, place: usize, look: &InspectedName<'_>) -> Result<bool, Obstacle> {
        let slot = slot(place);
        let held = self.ground.slots.look(&slot).map_err(Obstacle::System)?;
        Ok(held.is_same_file(look))
    }

    /// Prepares the slot for the move: empty for a removal, otherwise with the wanted content, staged again if needed.
    fn refill(&self, place: usize, spot: NameInFolder<'_>, look: &InspectedName<'_>) -> Result<(), Obstacle> {
        let change = &self.ground.plan.changes[place];
        let held = self.held(place)?;
        let record = wanted(change, self.to);
        if held == SlotContent::Wanted && record.is_some() {
            return Ok(());
        }
        if held != SlotContent::Nothing {
            self.ground.slots.drop_slot(&slot(place)).map_err(Obstacle::System)?;
        }
        let Some(record) = record else { return Ok(()) };
        let folder = rustix::fs::fstat(spot.dir).map_err(|errno| Obstacle::System(errno.into()))?;
        let group = (folder.st_mode & 0o2000 != 0).then_some(folder.st_gid);
        let plan = &self.ground.plan;
        let attributes = (plan.attributes(&change.path, record), plan.given(&change.path, record));
        let model = stage::Model::of(look, record, group, attributes)?;
        stage::stage_again(self.ground, place, record, &model, self.objects)
    }

    /// Somebody's bytes in the slot return to the path, unless they have a newer version there.
    fn hand_back(&self, place: usize, spot: NameInFolder<'_>) -> Result<PathOutcome, Obstacle> {
        let change = &self.ground.plan.changes[place];
        let mut look = InspectedName::at(spot.dir, spot.name).map_err(Obstacle::of)?;
        let ours = look.is(wanted(change, self.to)).map_err(unread)?
            || self.to == Direction::Back && look.is(there(change, self.to)).map_err(unread)?;
        let slot = slot(place);
        if !ours {
            let held = self.ground.slots.look(&slot).map_err(Obstacle::System)?;
            if !held.is_same_file(&look) {
                return Ok(PathOutcome::Left(LeftReason::Foreign));
            }
            // It is back, and a crash left its second link.
            self.ground.slots.drop_slot(&slot).map_err(Obstacle::System)?;
            return Ok(PathOutcome::Left(LeftReason::Foreign));
        }
        if look.stat.is_none() {
            super::moves::move_over(self.ground.spot(&slot), spot).map_err(Obstacle::of_move)?;
            return Ok(PathOutcome::Left(LeftReason::Foreign));
        }
        self.ground.exchange(place, spot).map_err(Obstacle::of_move)?;
        if self.held(place)? != SlotContent::Foreign {
            return Ok(PathOutcome::Left(LeftReason::Foreign));
        }
        // Written again at that moment: the newer version stays at its path.
        self.ground.exchange(place, spot).map_err(Obstacle::of_move)?;
        Ok(PathOutcome::Left(LeftReason::Foreign))
    }

    /// Sets the permission bits of their side.
    fn set_mode(&self, place: usize) -> Result<PathOutcome, Obstacle> {
        let change = &self.ground.plan.changes[place];
        let dir = self.ground.lock.root().folder(change.path.parent().as_ref()).map_err(Obstacle::of)?;
        let mut look = InspectedName::at(dir.as_fd(), change.path.name()).map_err(Obstacle::of)?;
        let record = wanted(change, self.to);
        let aim = mode(record);
        let (ours, same) = match record {
            Some(Record::Folder { .. }) => {
                let folder = look.kind() == Some(FileType::Directory);
                (folder && modes_of(change).contains(&look.mode()), folder)
            }
            _ => {
                let file = look.kind() == Some(FileType::RegularFile);
                let same = look.holds(record).map_err(unread)?;
                // Our bits on somebody's bytes are reverted; bits are never set on somebody's bytes.
                (
                    file && look.mode() == mode(there(change, self.to))
                        && (same || self.to == Direction::Back),
                    same,
                )
            }
        };
        if ours && look.mode() != aim {
            self.ground.set_mode(&change.path, aim, self.ground.plan.special(change, self.to))?;
            failpoint!("apply.stepped").map_err(Obstacle::System)?;
        }
        let good = same && (ours || look.mode() == aim);
        Ok(if good { PathOutcome::Done } else { PathOutcome::Left(LeftReason::Foreign) })
    }
}

/// All permission bits that a folder of the plan has during the apply.
fn modes_of(change: &FileChange) -> Vec<u16> {
    let sides = [&change.before, &change.after];
    let folders = sides.into_iter().filter_map(|side| match side {
        Some(Record::Folder { mode }) => Some([*mode, *mode | OPEN]),
        _ => None,
    });
    folders.flatten().collect()
}

/// An unreadable path is not reported as somebody's: it stays open.
fn unread(error: io::Error) -> Obstacle {
    Obstacle::System(error)
}
