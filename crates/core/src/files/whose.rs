//! Whose work stands in the way of a plan, and what a file is after each choice: what turns of the conversation explain is never
//! said to be somebody else's.

use std::collections::BTreeSet;

use super::change::Uncertain;
use super::file_path::FilePath;
use super::plan::{Choice, Look, Now, PathPlan};
use super::record::Record;
use super::stack::{ClashedBy, DeltaId, Layer, Stack};

/// Of these layers, why nobody knows whose those are that are among `out`. A layer without an effect leaves nothing behind.
pub(super) fn uncertain(stack: &Stack, out: &[DeltaId]) -> BTreeSet<Uncertain> {
    let stay =
        stack.layers().iter().filter(|layer| layer.before != layer.after && out.contains(&layer.delta));
    stay.filter_map(|layer| layer.grade.uncertain()).collect()
}

/// Whose work stands in the way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Against {
    /// What this delta did later, and what stays.
    Later(DeltaId),
    /// What this delta did, and what is there.
    There(DeltaId),
    /// What this delta did isn't there, and what comes back was made on it.
    Missing(DeltaId),
    /// No call: a person's edit, or that of another program, which a capture saw.
    Hand,
    /// Git's own folder, or its own file: what it keeps there no plan reaches, whatever program had git make it.
    Git,
    /// What captures do not cover: nobody knows who made it.
    Uncovered,
    /// Nothing that is known of the conversation, such as another conversation.
    Others,
}

impl Against {
    /// The delta that it is.
    pub fn delta(self) -> Option<DeltaId> {
        match self {
            Self::Later(no) | Self::There(no) | Self::Missing(no) => Some(no),
            Self::Hand | Self::Git | Self::Uncovered | Self::Others => None,
        }
    }
}

/// What a path is after a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Becomes {
    /// As it is now; as this delta left it, where it did.
    Stays(Option<DeltaId>),
    /// Nothing is there any more.
    Gone,
    /// As this delta left it.
    Left(DeltaId),
    /// As it was before this delta.
    Before(DeltaId),
    /// As somebody else left it last.
    Yours,
    /// What all sides did, together.
    Merged,
    /// A version of which nothing more is known.
    Other,
}

impl Becomes {
    /// The delta that it is recognised by.
    pub fn delta(self) -> Option<DeltaId> {
        match self {
            Self::Left(no) | Self::Before(no) => Some(no),
            Self::Stays(no) => no,
            Self::Gone | Self::Yours | Self::Merged | Self::Other => None,
        }
    }
}

/// Whose work made layers clash at a path that is to have these.
pub(super) fn against(path: &FilePath, by: &ClashedBy, wanted: &Stack, look: &mut dyn Look) -> Against {
    match by {
        ClashedBy::Stays(delta) if look.is_adopted(path, *delta) => Against::Hand,
        ClashedBy::Stays(delta) => Against::Later(*delta),
        ClashedBy::Found(found) => who_left(path, found.as_ref(), look),
        ClashedBy::Comes(layer, below) => {
            let is_wanted = |no: &DeltaId| wanted.layers().iter().any(|layer| layer.delta == *no);
            let upon = look.left_by(path, layer.before.as_ref());
            match (upon.filter(|no| *no != layer.delta && !is_wanted(no)), below) {
                (Some(missing), _) => Against::Missing(missing),
                (None, Some(below)) if look.is_adopted(path, *below) => Against::Hand,
                (None, Some(below)) => Against::There(*below),
                (None, None) => match look.now(path) {
                    Now::Covered(now) => who_left(path, now.as_ref(), look),
                    Now::NotCovered(_) => Against::Others,
                },
            }
        }
    }
}

/// Who left this at a path.
pub(super) fn who_left(path: &FilePath, record: Option<&Record>, look: &mut dyn Look) -> Against {
    if look.theirs(path).is_some_and(|theirs| theirs.as_ref() == record) {
        return Against::Hand;
    }
    match look.left_by(path, record) {
        Some(delta) if look.is_adopted(path, delta) => Against::Hand,
        Some(delta) => Against::There(delta),
        None => Against::Others,
    }
}

/// Who put something into a folder that would go, or make way: the first of what is in it and stays.
pub(super) fn who_put(inside: &FilePath, look: &mut dyn Look) -> Against {
    match look.now(inside) {
        Now::Covered(now) => who_left(inside, now.as_ref(), look),
        Now::NotCovered(_) => Against::Uncovered,
    }
}

/// What a path is with this record after a choice, told by the layers that are to be in it and those that are.
pub(super) fn becomes(
    (choice, record): (&Choice, Option<&Record>),
    disk: Option<&Record>,
    (stack, wanted): (&Stack, &Stack),
) -> Becomes {
    let left = |layer: &&Layer| layer.after.as_ref() == record;
    if record == disk {
        let last = stack.layers().last();
        return Becomes::Stays(last.filter(left).map(|last| last.delta));
    }
    match (choice, record) {
        (Choice::Merge, _) => return Becomes::Merged,
        (_, None) => return Becomes::Gone,
        (Choice::Yours, _) => return Becomes::Yours,
        _ => {}
    }
    let all = || wanted.layers().iter().chain(stack.layers());
    let found = |layer: &&Layer| layer.before.as_ref() == record;
    match (wanted.layers().iter().rev().find(left), stack.layers().iter().find(found)) {
        (Some(last), _) => Becomes::Left(last.delta),
        (None, Some(first)) => Becomes::Before(first.delta),
        (None, None) => all().find(left).map_or(Becomes::Other, |layer| Becomes::Left(layer.delta)),
    }
}

impl PathPlan {
    /// Whether somebody chose that it stays as it is.
    pub fn is_chosen(&self) -> bool {
        matches!(self.choice, Some(Choice::Skip | Choice::Disk))
    }

    /// Why nobody knows whose the changes are that were to leave it and stay in it after the step; none, where no such change stays.
    pub fn uncertain(&self) -> BTreeSet<Uncertain> {
        uncertain(&self.step.stack_after, &self.out)
    }

    /// What the path is after a choice that is offered.
    pub fn becomes(&self, choice: &Choice) -> Option<Becomes> {
        self.outcomes.iter().find(|(offered, _)| offered == choice).map(|(_, becomes)| *becomes)
    }
}

#[cfg(test)]
mod tests;
