//! Carries a plan out forwards right after its check. It is quick, because nothing is checked again before a move; and
//! safe, because displaced versions are compared before anything is deleted. Must stop at the first path that is not as
//! planned.

use std::os::fd::AsFd as _;

use retake_core::{FileChange, LeftPath, LeftReason, Record};

use super::cores::on_cores;
use super::look::{InspectedName, OPEN};
use super::moves::Times;
use super::obstacle::Obstacle;
use super::order::{Step, wanted};
use super::report::{Failed, Report};
use super::slots::slot;
use super::{ApplyContext, Direction, sync};
use crate::failpoint::failpoint;
use crate::root::{enter, names};

const TO: Direction = Direction::Forward;

/// Makes all changes, compares the displaced versions, and syncs.
pub(super) fn carry_out(ground: &ApplyContext) -> Result<Report, Failed> {
    let changes = &ground.plan.changes;
    let mut report = Report::default();
    for place in ground.plan.closed(TO) {
        open(ground, &changes[place]).map_err(Failed::at(&changes[place].path))?;
    }
    failpoint!("apply.opened").map_err(Failed::whole)?;
    let mut stay = vec![false; changes.len()];
    for place in ground.plan.moves(TO) {
        let change = &changes[place];
        stay[place] = carry(ground, place).map_err(Failed::at(&change.path))? == Moved::NotEmpty;
        if stay[place] {
            report.left.push(LeftPath::new(&change.path, LeftReason::NotEmpty));
        }
        failpoint!("apply.stepped").map_err(Failed::whole)?;
    }
    for place in ground.plan.modes(TO) {
        let change = &changes[place];
        let set = match wanted(change, TO) {
            Some(Record::File { .. }) => ground.set_mode_of(change, TO),
            record => ground.set_mode(&change.path, mode(record), ground.plan.special(change, TO)),
        };
        set.map_err(Failed::at(&change.path))?;
    }
    ground.close_again(&report, TO)?;
    failpoint!("apply.carried").map_err(Failed::whole)?;
    compare_all(ground, &stay)?;
    failpoint!("apply.verified").map_err(Failed::whole)?;
    sync::moved(ground).map_err(Failed::whole)?;
    failpoint!("apply.durable").map_err(Failed::whole)?;
    report.done = changes.len() - report.left.len();
    Ok(report)
}

/// The result of a move.
#[derive(PartialEq, Eq)]
enum Moved {
    Done,
    /// A folder that should be removed contains somebody's files.
    NotEmpty,
}

fn carry(ground: &ApplyContext, place: usize) -> Result<Moved, Obstacle> {
    let change = &ground.plan.changes[place];
    let folder = matches!(change.before, Some(Record::Folder { .. }));
    if folder && ground.plan.step(change, TO) == Step::Take && !is_empty(ground, change)? {
        return Ok(Moved::NotEmpty);
    }
    ground.make(place, TO, Times::Now)?;
    Ok(Moved::Done)
}

fn is_empty(ground: &ApplyContext, change: &FileChange) -> Result<bool, Obstacle> {
    let dir = ground.lock.root().folder(change.path.parent().as_ref()).map_err(Obstacle::of)?;
    let listed = enter(dir, change.path.name()).and_then(names);
    Ok(listed.map_err(Obstacle::of_move)?.is_empty())
}

/// Opens a folder of the plan for its owner, if it is still the planned one.
fn open(ground: &ApplyContext, change: &FileChange) -> Result<(), Obstacle> {
    let dir = ground.lock.root().folder(change.path.parent().as_ref()).map_err(Obstacle::of)?;
    let mut look = InspectedName::at(dir.as_fd(), change.path.name()).map_err(Obstacle::of)?;
    if !look.is_exactly(change.before.as_ref()).map_err(Obstacle::of)? {
        return Err(Obstacle::Changed);
    }
    ground.set_mode(&change.path, look.mode() | OPEN, None)
}

pub(super) fn mode(record: Option<&Record>) -> u16 {
    match record {
        Some(Record::File { mode, .. } | Record::Folder { mode }) => *mode,
        Some(Record::Link { .. }) | None => 0,
    }
}

/// Compares all displaced versions with the plan.
fn compare_all(ground: &ApplyContext, stay: &[bool]) -> Result<(), Failed> {
    let changes = &ground.plan.changes;
    let answers = on_cores(changes.len(), |places| {
        places.filter(|place| !stay[*place]).try_for_each(|place| {
            let same = compare(ground, place).map_err(Failed::at(&changes[place].path))?;
            if same { Ok(()) } else { Err(Failed::at(&changes[place].path)(Obstacle::Changed)) }
        })
    });
    answers.into_iter().collect()
}

fn compare(ground: &ApplyContext, place: usize) -> Result<bool, Obstacle> {
    let change = &ground.plan.changes[place];
    match ground.plan.step(change, TO) {
        Step::Place => Ok(true),
        Step::Exchange | Step::Take => {
            let slot = slot(place);
            let mut look = ground.slots.look(&slot).map_err(Obstacle::System)?;
            ground.slot_is(&mut look, &slot, change.before.as_ref()).map_err(Obstacle::System)
        }
        Step::Mode => {
            let dir = ground.lock.root().folder(change.path.parent().as_ref()).map_err(Obstacle::of)?;
            let mut look = InspectedName::at(dir.as_fd(), change.path.name()).map_err(Obstacle::of)?;
            look.is(change.after.as_ref()).map_err(Obstacle::of)
        }
    }
}

impl ApplyContext {
    /// Restores the permission bits of folders that were opened for their owner and stay anyway.
    pub(super) fn close_again(&self, report: &Report, to: Direction) -> Result<(), Failed> {
        for left in report.left.iter().filter(|left| left.why == LeftReason::NotEmpty) {
            let had = self.plan.change(&left.path).and_then(|change| wanted(change, to.turned()));
            if let Some(Record::Folder { mode }) = had
                && mode & OPEN != OPEN
            {
                self.set_mode(&left.path, *mode, None).map_err(Failed::at(&left.path))?;
            }
        }
        Ok(())
    }
}
