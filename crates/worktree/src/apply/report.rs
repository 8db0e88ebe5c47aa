//! What an apply or a recovery says afterwards. Values only.

use std::io;

use retake_core::{FilePath, LeftPath, WhyLeft};

use super::obstacle::Obstacle;
use super::plan::Plan;
use super::slots::{SlotName, Slots};

/// What became of the paths.
#[derive(Debug, Default)]
pub struct Report {
    /// So many paths are as they were to be.
    pub done: usize,
    /// Someone's: left alone.
    pub left: Vec<LeftPath>,
    /// Neither here nor there, as the system refused. The intent stays open; a recovery mends it later.
    pub failed: Vec<Failed>,
    /// Slots that stay in the staging folder.
    pub(super) kept: Vec<SlotName>,
}

/// What stopped an apply, or could not be settled.
#[derive(Debug)]
pub struct Failed {
    /// Which path; none where it is about all of them.
    pub path: Option<FilePath>,
    /// Why.
    pub why: Obstacle,
}

impl Failed {
    pub(super) fn at(path: &FilePath) -> impl FnOnce(Obstacle) -> Self {
        let path = Some(path.clone());
        move |why| Self { path, why }
    }

    /// Failed as a whole.
    pub(super) fn whole(error: io::Error) -> Self {
        Self { path: None, why: Obstacle::System(error) }
    }
}

/// What will be different though the plan does not say it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Which path.
    pub path: FilePath,
    /// What.
    pub kind: NoteKind,
}

/// What will be different.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteKind {
    /// The file has other names that do not change; they stay as they are.
    LinkBreaks,
    /// The file has several names that all change; each becomes a file of its own.
    LinkParts,
}

impl Report {
    /// Whether the intent may be closed.
    pub fn is_closed(&self) -> bool {
        self.failed.is_empty()
    }

    /// Reports that a slot stayed, unless that is reported already.
    pub(super) fn keep(&mut self, plan: &Plan, slots: &Slots, slot: SlotName) {
        let digits = slot.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let place = std::str::from_utf8(&slot[..digits]).ok().and_then(|digits| digits.parse::<usize>().ok());
        let kept = slots.path_of(&slot);
        let path =
            place.and_then(|place| plan.changes.get(place)).map(|change| &change.path).or(kept.as_ref());
        let said = self.kept.contains(&slot);
        if let Some(path) = path.filter(|_| !said).cloned() {
            self.left.push(LeftPath { path, why: WhyLeft::Foreign, kept: kept.into_iter().collect() });
        }
    }
}
