//! Whose changes prevent a plan, and the version of a file after each choice. Must never attribute a change of the conversation's
//! own turns to somebody else.

use std::collections::BTreeSet;

use super::change::Uncertain;
use super::choice::Choice;
use super::file_path::FilePath;
use super::plan::{CurrentPath, PathPlan, PlanInput};
use super::record::Record;
use super::stack::{ClashedBy, DeltaId, Layer, Stack};

/// Why the author of those of these layers in `out` is not known. A layer without an effect leaves nothing behind.
pub(super) fn uncertain(stack: &Stack, out: &[DeltaId]) -> BTreeSet<Uncertain> {
    let stay =
        stack.layers().iter().filter(|layer| layer.before != layer.after && out.contains(&layer.delta));
    stay.filter_map(|layer| layer.grade.uncertain()).collect()
}

/// Whose changes prevent a wanted version.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BlockingAuthor {
    /// A later change of this delta, which stays.
    Later(DeltaId),
    /// This delta's change, which is there.
    There(DeltaId),
    /// This delta's change is missing, and the returning one was made on it.
    Missing(DeltaId),
    /// No call: an edit by a person or another program, which a capture saw.
    Hand,
    /// Git's own folder or file: no plan can change its content, whatever program had git create it.
    Git,
    /// A file that captures do not cover: its author is not known.
    Uncovered,
    /// Nothing that the conversation knows, such as another conversation.
    Others,
}

impl BlockingAuthor {
    /// Its delta.
    pub fn delta(self) -> Option<DeltaId> {
        match self {
            Self::Later(no) | Self::There(no) | Self::Missing(no) => Some(no),
            Self::Hand | Self::Git | Self::Uncovered | Self::Others => None,
        }
    }
}

/// The version of a path after a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ChoiceOutcome {
    /// Unchanged; with the delta that left it so, if known.
    Stays(Option<DeltaId>),
    /// Absent.
    Gone,
    /// As this delta left it.
    Left(DeltaId),
    /// As it was before this delta.
    Before(DeltaId),
    /// As somebody else left it.
    Yours,
    /// The merged changes of all sides.
    Merged,
    /// A version of which nothing more is known.
    Other,
}

impl ChoiceOutcome {
    /// The delta that identifies it.
    pub fn delta(self) -> Option<DeltaId> {
        match self {
            Self::Left(no) | Self::Before(no) => Some(no),
            Self::Stays(no) => no,
            Self::Gone | Self::Yours | Self::Merged | Self::Other => None,
        }
    }
}

/// Whose changes made layers clash at a path with these wanted layers.
pub(super) fn against(
    path: &FilePath,
    by: &ClashedBy,
    wanted: &Stack,
    look: &mut dyn PlanInput,
) -> BlockingAuthor {
    match by {
        ClashedBy::Stays(delta) if look.is_adopted(path, *delta) => BlockingAuthor::Hand,
        ClashedBy::Stays(delta) => BlockingAuthor::Later(*delta),
        ClashedBy::Found(found) => who_left(path, found.as_ref(), look),
        ClashedBy::Comes(layer, below) => {
            let is_wanted = |no: &DeltaId| wanted.layers().iter().any(|layer| layer.delta == *no);
            let upon = look.left_by(path, layer.before.as_ref());
            match (upon.filter(|no| *no != layer.delta && !is_wanted(no)), below) {
                (Some(missing), _) => BlockingAuthor::Missing(missing),
                (None, Some(below)) if look.is_adopted(path, *below) => BlockingAuthor::Hand,
                (None, Some(below)) => BlockingAuthor::There(*below),
                (None, None) => match look.now(path) {
                    CurrentPath::Covered(now) => who_left(path, now.as_ref(), look),
                    CurrentPath::NotCovered(_) => BlockingAuthor::Others,
                },
            }
        }
    }
}

/// The author of this version at a path.
pub(super) fn who_left(path: &FilePath, record: Option<&Record>, look: &mut dyn PlanInput) -> BlockingAuthor {
    if look.theirs(path).is_some_and(|theirs| theirs.as_ref() == record) {
        return BlockingAuthor::Hand;
    }
    match look.left_by(path, record) {
        Some(delta) if look.is_adopted(path, delta) => BlockingAuthor::Hand,
        Some(delta) => BlockingAuthor::There(delta),
        None => BlockingAuthor::Others,
    }
}

/// The author of the content of a folder that would be removed or make way: of the first entry that stays.
pub(super) fn who_put(inside: &FilePath, look: &mut dyn PlanInput) -> BlockingAuthor {
    match look.now(inside) {
        CurrentPath::Covered(now) => who_left(inside, now.as_ref(), look),
        CurrentPath::NotCovered(_) => BlockingAuthor::Uncovered,
    }
}

/// Identifies the version of a path with this record after a choice, by its current and its new layers.
pub(super) fn becomes(
    (choice, record): (&Choice, Option<&Record>),
    disk: Option<&Record>,
    (stack, wanted): (&Stack, &Stack),
) -> ChoiceOutcome {
    let left = |layer: &&Layer| layer.after.as_ref() == record;
    if record == disk {
        let last = stack.layers().last();
        return ChoiceOutcome::Stays(last.filter(left).map(|last| last.delta));
    }
    match (choice, record) {
        (Choice::Merge, _) => return ChoiceOutcome::Merged,
        (_, None) => return ChoiceOutcome::Gone,
        (Choice::Yours, _) => return ChoiceOutcome::Yours,
        _ => {}
    }
    let all = || wanted.layers().iter().chain(stack.layers());
    let found = |layer: &&Layer| layer.before.as_ref() == record;
    match (wanted.layers().iter().rev().find(left), stack.layers().iter().find(found)) {
        (Some(last), _) => ChoiceOutcome::Left(last.delta),
        (None, Some(first)) => ChoiceOutcome::Before(first.delta),
        (None, None) => {
            all().find(left).map_or(ChoiceOutcome::Other, |layer| ChoiceOutcome::Left(layer.delta))
        }
    }
}

impl PathPlan {
    /// Whether a person chose that it stays as it is.
    pub fn is_chosen(&self) -> bool {
        matches!(self.choice, Some(Choice::Skip | Choice::Disk))
    }

    /// Why the authors of changes are not known that should leave it and are still in it after the step; empty if there are no
    /// such changes.
    pub fn uncertain(&self) -> BTreeSet<Uncertain> {
        uncertain(&self.step.stack_after, &self.out)
    }

    /// The version of the path after an offered choice.
    pub fn becomes(&self, choice: &Choice) -> Option<ChoiceOutcome> {
        self.outcomes.iter().find(|(offered, _)| offered == choice).map(|(_, becomes)| *becomes)
    }
}

#[cfg(test)]
mod tests;
