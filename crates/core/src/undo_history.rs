//! The undo history: the next step to undo, and the next one to redo.
//!
//! It is a linked list through the log: every operation stores the undo history before and after it; a turn's is
//! derived from the operation before it. So a step back or forward reads a row or two, however long the history is.

use crate::id::{OpNo, Pos};

/// One unit of undo: a turn, or an operation with its answer. Examples are a retry with its answer, and an edit with
/// the new message and its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Step {
    /// The turn that this entry of the own log opened.
    Turn(Pos),
    /// An operation.
    Op(OpNo),
}

/// The undo history at a head.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct UndoHistory {
    /// The next step to undo.
    pub done: Option<Step>,
    /// The undo operation that the next redo reverts.
    pub undone: Option<OpNo>,
    /// Steps that were compensated while a later one was made: `undo` passes over them.
    pub void: Vec<Step>,
}

impl UndoHistory {
    /// The undo history after `step` was made: nothing is left to redo.
    #[must_use]
    pub fn did(&self, step: Step) -> Self {
        Self { done: Some(step), undone: None, void: self.void.clone() }
    }

    /// The undo history after an entry that is no step of its own.
    #[must_use]
    pub fn said(&self) -> Self {
        Self { undone: None, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_new_step_or_word_leaves_nothing_to_redo() {
        let history = UndoHistory {
            done: Some(Step::Op(OpNo(1))),
            undone: Some(OpNo(2)),
            void: vec![Step::Op(OpNo(3))],
        };
        let step = Step::Turn(Pos::new(0, 4));
        assert_eq!(
            history.did(step),
            UndoHistory { done: Some(step), undone: None, void: history.void.clone() }
        );
        assert_eq!(history.said(), UndoHistory { undone: None, ..history });
    }
}
