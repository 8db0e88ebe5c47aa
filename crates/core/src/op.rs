//! Operations: all changes of the state other than appending an entry.
//!
//! Typed, numbered, each with the delta of the one component that it changes. Must never be recognised by a text.

use strum::{EnumDiscriminants, IntoStaticStr};

use crate::fold::Fold;
use crate::id::{OpNo, Pos, RequestId, Revision, Seq, Time};
use crate::kept::KeptChange;
use crate::mark::MarkChange;
use crate::principal::Principal;
use crate::undo_history::{Step, UndoHistory};

/// An operation's change, before and after.
#[derive(Clone, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
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
    /// A new fold. Its summary is in [`Operation::summary`].
    Fold(Fold),
    /// A removed fold.
    Unfold(Fold),
    /// A label, or the title.
    Label {
        /// The target.
        target: LabelTarget,
        /// Its label before.
        before: Option<String>,
        /// Its label after.
        after: Option<String>,
    },
    /// Only files of a workspace; which ones, is stored beside it.
    Files,
    /// Content was overwritten; the state does not change.
    Erase(Vec<Pos>),
    /// An operation of a newer version; it makes the conversation read-only.
    Unknown {
        /// The kind's name, as stored.
        kind: String,
    },
}

impl Change {
    /// The change that reverts this one when the tip is `tip`. `None`: it cannot be reverted.
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
            Self::Unknown { kind } => kind,
            known => known.into(),
        }
    }
}

/// The target of a label.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum LabelTarget {
    /// The conversation: its title.
    Title,
    /// An entry.
    Entry(Pos),
}

/// Why an operation was made: its verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumDiscriminants, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[strum_discriminants(name(Verb), vis(pub(crate)), doc = "A kind of action, without its target.")]
pub enum Reason {
    /// A rewind to before an entry.
    Rewind,
    /// A step back in the undo history.
    Undo(Step),
    /// A step forward in the undo history; names the step that is back.
    Redo(Step),
    /// A return to an earlier head.
    Restore(crate::id::Head),
    /// A move to another branch of the tree.
    Checkout,
    /// A move to another alternative.
    Choose,
    /// A move to before an answer, for another one.
    Retry,
    /// A move to before an entry, for another wording.
    Edit,
    /// Compensates something that failed or was stopped without a result; no step of the undo history.
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
    /// Files restored, while the conversation stays.
    Files,
    /// A fold that a person requested.
    Fold,
    /// A fold that the engine made by itself; no step of the undo history.
    AutoFold,
    /// A removed fold.
    Unfold,
    /// A label set or removed; no step of the undo history.
    Label,
    /// The title set or removed; no step of the undo history.
    Title,
    /// Content erased; no step of the undo history.
    Erase,
}

impl Reason {
    /// The verb in one lower-case word.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// A row of a conversation's operations. It never changes, except for content that `Erase` overwrites.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// Its number.
    pub no: OpNo,
    /// The last entry of the own log before it: with `no`, the head that it made.
    pub at: Seq,
    /// The revision that stored it.
    pub revision: Revision,
    /// Its reason.
    pub reason: Reason,
    /// Its change.
    pub change: Change,
    /// Its change of `kept`.
    pub kept: KeptChange,
    /// The tip after it.
    pub tip: Option<Pos>,
    /// For a fold: the summary that replaces the covered entries in the prompt.
    pub summary: Option<String>,
    /// The undo history before it.
    pub history_before: UndoHistory,
    /// The undo history after it.
    pub history_after: UndoHistory,
    /// The author of the request; may be empty.
    pub author: String,
    /// Who the request came from.
    pub principal: Principal,
    /// Its time.
    pub time: Time,
    /// The request that made it.
    pub request: Option<RequestId>,
}

impl Operation {
    /// Whether an entry of the same log is the new message of this edit: both are one step of the undo history.
    pub fn is_reworded_by(&self, pos: Pos) -> bool {
        self.reason == Reason::Edit && self.at.0 + 1 == pos.seq
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::fold::FoldId;
    use crate::id::Head;
    use crate::mark::Mark;
    use crate::path::{Path, Span};

    /// Every reason: its stored name, whether it is a step of the undo history, and whether files can change with it.
    #[test]
    fn reasons_have_stored_names_and_fixed_traits() {
        let step = Step::Op(OpNo(1));
        let rows = [
            (Reason::Rewind, "rewind", true, true),
            (Reason::Undo(step), "undo", false, true),
            (Reason::Redo(step), "redo", false, true),
            (Reason::Restore(Head::default()), "restore", true, true),
            (Reason::Checkout, "checkout", true, true),
            (Reason::Choose, "choose", true, true),
            (Reason::Retry, "retry", true, false),
            (Reason::Edit, "edit", true, true),
            (Reason::Compensate(step), "compensate", false, false),
            (Reason::Hide, "hide", true, false),
            (Reason::Show, "show", true, true),
            (Reason::Exclude, "exclude", true, false),
            (Reason::Include, "include", true, false),
            (Reason::Drop, "drop", true, true),
            (Reason::Files, "files", true, true),
            (Reason::Fold, "fold", true, false),
            (Reason::AutoFold, "auto-fold", false, false),
            (Reason::Unfold, "unfold", true, false),
            (Reason::Label, "label", false, false),
            (Reason::Title, "title", false, false),
            (Reason::Erase, "erase", false, false),
        ];
        for (reason, name, is_step, touches_files) in rows {
            let found = (reason.name(), reason.traits().is_step, reason.traits().touches_files);
            assert_eq!(found, (name, is_step, touches_files));
        }
    }

    #[test]
    fn a_change_is_taken_back_by_its_opposite() {
        let (one, two, tip) = (Some(Pos::new(0, 1)), Some(Pos::new(0, 2)), Some(Pos::new(0, 3)));
        let span = Span::new(0, 1, 2);
        let mark = |before, after| Change::Mark(vec![MarkChange { span, before, after }]);
        let fold = || Fold { id: FoldId { depth: 0, op: OpNo(1) }, covers: Path::from_spans([span]) };
        let label = |before: &str, after: &str| Change::Label {
            target: LabelTarget::Title,
            before: Some(before.to_owned()),
            after: Some(after.to_owned()),
        };
        let unknown = Change::Unknown { kind: "merge".to_owned() };
        let rows = [
            // It moves from the current tip, not from the tip of then.
            (
                "move",
                Change::Move { before: one, after: two },
                Some(Change::Move { before: tip, after: one }),
            ),
            ("mark", mark(Mark::Normal, Mark::Hidden), Some(mark(Mark::Hidden, Mark::Normal))),
            ("fold", Change::Fold(fold()), Some(Change::Unfold(fold()))),
            ("unfold", Change::Unfold(fold()), Some(Change::Fold(fold()))),
            ("label", label("a", "b"), Some(label("b", "a"))),
            ("files", Change::Files, Some(Change::Files)),
            ("erase", Change::Erase(Vec::new()), None),
            ("merge", unknown, None),
        ];
        for (kind, change, inverse) in rows {
            assert_eq!((change.kind(), change.inverse(tip)), (kind, inverse));
        }
    }
}
