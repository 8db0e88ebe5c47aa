//! Apply: a plan's changes, made on disk all or not at all (spec `rewind.md`, *Apply*). Each step is a
//! call of its own, so that the caller writes its rows between two of them. Never deletes what it did not expect.
//!
//! The order of an apply, the caller's part in brackets:
//!
//! 1. \[the replaced contents are in the object store, synced; the staging folder's name is recorded\] [`StagedApply::prepare`]
//!    checks every path and stages all new contents, synced. Nothing has changed yet.
//! 2. \[one transaction records the operation, and the plan as an intent\]
//! 3. [`StagedApply::carry_out`] exchanges path by path and compares what was displaced. If somebody wrote in between: \[the
//!    reversed direction is recorded\] [`Interrupted::put_back`].
//! 4. [`SettledApply::finish`] removes the staging folder. \[the intent is closed, if the report says so\]
//!
//! Several roots are one step: each of the four is done for all of them before the next. If one is interrupted, the finished
//! ones are put back, too, and the others are discarded.
//!
//! After a crash: [`discard`] if only the name was recorded, [`recover`] if an intent is open. Both may be called any number of
//! times. There is one staging folder, on the root's own device; a path on another device is refused.

mod carry;
mod check;
mod cores;
mod look;
mod moves;
mod obstacle;
mod order;
mod report;
mod settle;
mod slots;
mod stage;
mod sync;

pub(crate) use cores::on_cores;
pub use obstacle::{Obstacle, Refusal};
pub use report::{Failed, Note, NoteKind, Report};

use crate::attributes::Changes;
use crate::error::{Result, WorktreeError};
use crate::objects::Objects;
use crate::root::{Root, RootLock};
use order::Plan;
use slots::Slots;

/// The direction of an apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Direction {
    /// To the planned version.
    Forward,
    /// To the earlier version.
    Back,
}

impl Direction {
    /// The opposite direction.
    #[must_use]
    pub fn turned(self) -> Self {
        match self {
            Self::Forward => Self::Back,
            Self::Back => Self::Forward,
        }
    }
}

/// The name of a staging folder, `.retake-ID`: in the root, private, removed after the apply.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StagingName(String);

impl StagingName {
    /// The prefix of these names.
    pub const PREFIX: &str = ".retake-";

    /// The name with this random ending, which the caller chooses.
    ///
    /// # Errors
    /// [`WorktreeError::BadStagingName`] unless it is 1 to 64 letters, digits and `-`.
    pub fn new(id: &str) -> Result<Self> {
        let good = id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if !good || id.is_empty() || id.len() > 64 {
            return Err(WorktreeError::BadStagingName(id.into()));
        }
        Ok(Self(format!("{}{id}", Self::PREFIX)))
    }

    /// The name, as it is in the root.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether a name in the root is that of a staging folder: captures skip it.
    pub fn is_staging(name: &[u8]) -> bool {
        name.starts_with(Self::PREFIX.as_bytes())
    }
}

/// The input of an apply: the locked root, the staging folder in it, the plan.
#[derive(Debug)]
struct ApplyContext {
    lock: RootLock,
    slots: Slots,
    plan: Plan,
}

/// The result of the preparation.
#[derive(Debug)]
#[must_use = "a staging folder is carried out, or discarded"]
pub enum Prepared {
    /// Everything is checked and staged.
    Ready(Box<StagedApply>),
    /// It is not possible. Nothing has changed, and nothing is left behind.
    Refused(Vec<Refusal>),
}

/// Checked and staged; the files are unchanged.
#[derive(Debug)]
#[must_use = "carry it out, or discard it"]
pub struct StagedApply {
    ground: ApplyContext,
}

/// The result of carrying out.
#[derive(Debug)]
#[must_use = "what is applied is finished, what was interrupted is put back"]
pub enum Outcome {
    /// Everything is as planned, and synced.
    Applied(SettledApply),
    /// It must be put back.
    Interrupted(Interrupted),
}

/// Somebody wrote in between, or the system failed. Some paths may have the planned version.
#[derive(Debug)]
#[must_use = "write down the turned direction, then put it back"]
pub struct Interrupted {
    ground: ApplyContext,
    /// The path and the error.
    pub cause: Failed,
}

/// All paths are settled; the staging folder still exists.
#[derive(Debug)]
#[must_use = "finish it"]
pub struct SettledApply {
    ground: ApplyContext,
    report: Report,
}

impl StagedApply {
    /// Checks that every path is what the plan found (`before`) and can get its new version (`after`), and stages all new
    /// contents, synced. `name` is the one that the caller has recorded.
    ///
    /// The objects of all records, before and after, must be in the store and synced: a recovery needs them.
    ///
    /// # Errors
    /// The root is missing or replaced, the plan contradicts itself, the folder cannot be created, or the disk is full. Nothing
    /// has changed then, and nothing is left behind.
    pub fn prepare(
        lock: &RootLock,
        name: &StagingName,
        changes: impl Into<Changes>,
        objects: &dyn Objects,
    ) -> Result<Prepared> {
        lock.root().check()?;
        let mut plan = Plan::new(changes.into(), name.as_str())?;
        plan.set_apart(check::apart(lock.root(), &plan));
        let models = match check::check(lock.root(), &plan, objects) {
            Ok(models) => models,
            Err(refusals) => return Ok(Prepared::Refused(refusals)),
        };
        let made = WorktreeError::io("make the staging folder in", lock.root().path());
        let slots = Slots::make(lock.root(), name).map_err(made)?;
        match stage::stage_all(lock.root(), &slots, &plan, &models, objects) {
            Ok(()) => {
                let ground = ApplyContext { lock: lock.clone(), slots, plan };
                Ok(Prepared::Ready(Box::new(Self { ground })))
            }
            Err(refused) => {
                slots.remove_all(lock.root())?;
                refused.map(Prepared::Refused)
            }
        }
    }

    /// Makes the changes, path by path, and compares the displaced versions with the plan. The intent is already recorded.
    ///
    /// # Errors
    /// The root is missing or replaced: nothing was done, the intent stays open.
    pub fn carry_out(self) -> Result<Outcome> {
        self.ground.lock.root().check()?;
        Ok(match carry::carry_out(&self.ground) {
            Ok(report) => Outcome::Applied(SettledApply { ground: self.ground, report }),
            Err(cause) => Outcome::Interrupted(Interrupted { ground: self.ground, cause }),
        })
    }

    /// Removes the staging folder: the step was not decided.
    ///
    /// # Errors
    /// It could not be removed; [`discard`] may be called again.
    pub fn discard(self) -> Result<()> {
        self.ground.slots.remove_all(self.ground.lock.root())
    }
}

/// What happens to the other hard links of files that such changes replace, by path: the plan does not contain it. Reads only.
///
/// # Errors
/// The plan contradicts itself.
pub fn link_notes(root: &Root, changes: impl Into<Changes>) -> Result<Vec<Note>> {
    let mut plan = Plan::new(changes.into(), "")?;
    plan.set_apart(check::apart(root, &plan));
    Ok(check::link_notes(root, &plan))
}

impl Interrupted {
    /// Puts back what was changed so far. Changes that somebody else made meanwhile stay where they are and are reported. The
    /// reversed direction is already recorded.
    ///
    /// # Errors
    /// The root is missing or replaced: the intent stays open.
    pub fn put_back(self, objects: &dyn Objects) -> Result<SettledApply> {
        put_back(self.ground, objects)
    }
}

impl SettledApply {
    /// The paths that were done, left and failed.
    pub fn report(&self) -> &Report {
        &self.report
    }

    /// Puts back what was changed, because another root of the same step was interrupted. Changes that somebody else made
    /// meanwhile stay where they are and are reported. The reversed direction is already recorded.
    ///
    /// # Errors
    /// The root is missing or replaced: the intent stays open.
    pub fn put_back(self, objects: &dyn Objects) -> Result<Self> {
        put_back(self.ground, objects)
    }

    /// Removes the staging folder, unless a path failed: then it stays for the next recovery. Content that is not certainly in
    /// the object store is never removed with it. Close the intent only if [`Report::is_closed`].
    ///
    /// # Errors
    /// It could not be removed; [`recover`] may be called again.
    pub fn finish(self) -> Result<Report> {
        let Self { ground, mut report } = self;
        if report.is_closed() {
            for slot in ground.slots.remove(ground.lock.root(), |slot| !report.kept.contains(slot))? {
                report.keep(&ground.plan, &ground.slots, slot);
            }
        }
        Ok(report)
    }
}

fn put_back(ground: ApplyContext, objects: &dyn Objects) -> Result<SettledApply> {
    ground.lock.root().check()?;
    let report = settle::settle(&ground, Direction::Back, settle::Times::Keep, objects);
    Ok(SettledApply { ground, report })
}

/// Finishes an apply whose intent is open: after a crash, or after a report that was not closed. A path with the new version is
/// done, one with the planned old version is changed; any other version is somebody's, left alone and reported. Idempotent.
///
/// # Errors
/// The root or the staging folder could not be used: everything stays open.
pub fn recover(
    lock: &RootLock,
    name: &StagingName,
    changes: impl Into<Changes>,
    direction: Direction,
    objects: &dyn Objects,
) -> Result<Report> {
    lock.root().check()?;
    let mut plan = Plan::new(changes.into(), name.as_str())?;
    let opened = Slots::open(lock.root(), name).and_then(|slots| match slots {
        Some(slots) => Ok(slots),
        None => Slots::make(lock.root(), name),
    });
    let failed = |error| WorktreeError::io("open the staging folder in", lock.root().path())(error);
    let slots = opened.map_err(failed)?;
    plan.set_apart(settle::apart(&plan, &slots).map_err(failed)?);
    let ground = ApplyContext { lock: lock.clone(), slots, plan };
    let report = settle::settle(&ground, direction, settle::Times::Now, objects);
    SettledApply { ground, report }.finish()
}

/// Removes the staging folder of an apply that was never decided. Nothing happens if there is none.
///
/// # Errors
/// The root is missing or replaced, or the folder could not be removed.
pub fn discard(lock: &RootLock, name: &StagingName) -> Result<()> {
    lock.root().check()?;
    let opened = Slots::open(lock.root(), name);
    match opened.map_err(WorktreeError::io("open the staging folder in", lock.root().path()))? {
        Some(slots) => slots.remove_all(lock.root()),
        None => Ok(()),
    }
}
