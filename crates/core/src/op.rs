//! Operations: everything that changes the state, other than saying something.
//!
//! Typed, numbered, each with the delta of the one component that it changes. Never recognised by a text.

use crate::fold::Fold;
use crate::id::{OpNo, Pos, RequestId, Revision, Seq, Time};
use crate::kept::KeptChange;
use crate::line::{Line, Step};
use crate::mark::MarkChange;

/// What an operation changes, before and after.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// The tip.
    Move {
        /// The tip before.
        before: Option<Pos>,
        /// The tip after.
        after: Option<Pos>,
    },
    /// Marks.
    Mark(Vec<MarkChange>),
    /// A fold comes in. Its summary is in [`Operation::summary`].
    Fold(Fold),
    /// A fold goes.
    Unfold(Fold),
    /// A label, or the title.
    Label {
        /// What is named.
        target: LabelTarget,
        /// Its name before.
        before: Option<String>,
        /// Its name after.
        after: Option<String>,
    },
    /// Files of a workspace, and nothing else: which, is kept beside.
    Files,
    /// Content was overwritten; the state is the same.
    Erase(Vec<Pos>),
    /// An operation of a newer version; it makes the conversation read-only.
    Unknown {
        /// The kind's name, as stored.
        kind: String,
    },
}

impl Change {
    /// The change that takes this one back when the tip is `tip` now. `None`: it can't be taken back.
    pub fn inverse(&self, tip: Option<Pos>) -> Option<Self> {
        match self {
            Self::Move { before, .. } => Some(Self::Move { before: tip, after: *before }),
            Self::Mark(changes) => Some(Self::Mark(changes.iter().map(|change| change.inverse()).collect())),
            Self::Fold(fold) => Some(Self::Unfold(fold.clone())),
            Self::Unfold(fold) => Some(Self::Fold(fold.clone())),
            Self::Label { target, before, after } => {
                Some(Self::Label { target: *target, before: after.clone(), after: before.clone() })
            }
            Self::Files => Some(Self::Files),
            Self::Erase(_) | Self::Unknown { .. } => None,
        }
    }

    /// The kind's name: one lower-case word.
    pub fn kind(&self) -> &str {
        match self {
            Self::Move { .. } => "move",
            Self::Mark(_) => "mark",
            Self::Fold(_) => "fold",
            Self::Unfold(_) => "unfold",
            Self::Label { .. } => "label",
            Self::Files => "files",
            Self::Erase(_) => "erase",
            Self::Unknown { kind, .. } => kind,
        }
    }
}

/// What a label names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LabelTarget {
    /// The conversation: its title.
    Title,
    /// An entry.
    Entry(Pos),
}

/// Why an operation was made: the verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Back to before an entry.
    Rewind,
    /// One step back on the undo line.
    Undo(Step),
    /// One step forward on the undo line; names the step that is there again.
    Redo(Step),
    /// Back to what an earlier head left.
    Restore(crate::id::Head),
    /// To another branch of the tree.
    Checkout,
    /// To another alternative.
    Choose,
    /// To before an answer, for another one.
    Retry,
    /// To before an entry, for another wording.
    Edit,
    /// Takes back something that failed or was stopped before it came to anything; no step of the undo line.
    Compensate(Step),
    /// Marks entries hidden.
    Hide,
    /// Makes hidden or dropped entries normal.
    Show,
    /// Marks entries excluded.
    Exclude,
    /// Makes excluded entries normal.
    Include,
    /// Marks a middle turn dropped.
    Drop,
    /// Files put as they were, while the conversation stays.
    Files,
    /// A fold that somebody asked for.
    Fold,
    /// A fold that the engine made by itself; no step of the undo line.
    AutoFold,
    /// A fold taken away.
    Unfold,
    /// A label set or removed; no step of the undo line.
    Label,
    /// The title set or removed; no step of the undo line.
    Title,
    /// Content erased; no step of the undo line.
    Erase,
}

impl Reason {
    /// The verb in one lower-case word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rewind => "rewind",
            Self::Undo(_) => "undo",
            Self::Redo(_) => "redo",
            Self::Restore(_) => "restore",
            Self::Checkout => "checkout",
            Self::Choose => "choose",
            Self::Retry => "retry",
            Self::Edit => "edit",
            Self::Compensate(_) => "compensate",
            Self::Hide => "hide",
            Self::Show => "show",
            Self::Exclude => "exclude",
            Self::Include => "include",
            Self::Drop => "drop",
            Self::Files => "files",
            Self::Fold => "fold",
            Self::AutoFold => "auto-fold",
            Self::Unfold => "unfold",
            Self::Label => "label",
            Self::Title => "title",
            Self::Erase => "erase",
        }
    }
}

/// A row of a conversation's operations. It never changes, but for what `Erase` overwrites.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Its number.
    pub no: OpNo,
    /// The last entry of the own log when it was made: with `no`, the head that it made.
    pub at: Seq,
    /// The revision that stored it.
    pub revision: Revision,
    /// Why.
    pub reason: Reason,
    /// What it changes.
    pub change: Change,
    /// What it changes of `kept`.
    pub kept: KeptChange,
    /// The tip after it.
    pub tip: Option<Pos>,
    /// Of a fold: what stands for the covered entries in the prompt.
    pub summary: Option<String>,
    /// The undo line before it.
    pub line_before: Line,
    /// The undo line after it.
    pub line_after: Line,
    /// Who asked for it; may be empty.
    pub author: String,
    /// When.
    pub time: Time,
    /// The request that made it.
    pub request: Option<RequestId>,
}

impl Operation {
    /// Whether an entry of the same log rewords what an edit went back before: both are one step of the undo line.
    pub fn is_reworded_by(&self, pos: Pos) -> bool {
        self.reason == Reason::Edit && self.at.0 + 1 == pos.seq
    }
}
