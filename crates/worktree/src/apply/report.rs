//! The result of an apply or a recovery. Values only.

use std::io;

use retake_core::{FilePath, LeftPath, LeftReason};

use super::obstacle::Obstacle;
use super::order::Plan;
use super::slots::{SlotName, Slots};

/// The results of the paths.
#[derive(Debug, Default)]
pub struct Report {
    /// The number of paths with their new version.
    pub done: usize,
    /// Paths with somebody's version, which are left alone.
    pub left: Vec<LeftPath>,
    /// Paths on neither side, because the system refused. The intent stays open; a recovery repairs it
    /// later.
    pub failed: Vec<Failed>,
    /// Slots that stay in the staging folder.
    pub(super) kept: Vec<SlotName>,
}

/// The error that stopped an apply, or that prevented settling.
#[derive(Debug)]
pub struct Failed {
    /// The path; none if it concerns all of them.
    pub path: Option<FilePath>,
    /// The reason.
    pub why: Obstacle,
}

impl Failed {
    pub(super) fn at(path: &FilePath) -> impl FnOnce(Obstacle) -> Self {
        let path = Some(path.clone());
        move |why| Self { path, why }
    }

    /// A failure of the whole apply.
    pub(super) fn whole(error: io::Error) -> Self {
        Self { path: None, why: Obstacle::System(error) }
    }
}

/// A change that the plan does not contain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// The path.
    pub path: FilePath,
    /// The kind of change.
    pub kind: NoteKind,
}

/// The kind of a change beyond the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoteKind {
    /// The file has other hard links that do not change; they stay as they are.
    LinkBreaks,
    /// The file has several hard links that all change; each becomes a file of its own.
    LinkParts,
}

impl Report {
    /// Whether the intent may be closed.
    pub fn is_closed(&self) -> bool {
        self.failed.is_empty()
    }

    /// Reports that a slot stayed, unless it is reported already.
    pub(super) fn keep(&mut self, plan: &Plan, slots: &Slots, slot: SlotName) {
        let digits = slot.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let place = std::str::from_utf8(&slot[..digits]).ok().and_then(|digits| digits.parse::<usize>().ok());
        let kept = slots.path_of(&slot);
        let path =
            place.and_then(|place| plan.changes.get(place)).map(|change| &change.path).or(kept.as_ref());
        let said = self.kept.contains(&slot);
        if let Some(path) = path.filter(|_| !said).cloned() {
            self.left.push(LeftPath { path, why: LeftReason::Foreign, kept: kept.into_iter().collect() });
        }
    }
}
