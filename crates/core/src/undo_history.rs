//! The undo history: what `undo` takes back next, and what `redo` brings forward.
//!
//! It is a linked list through the log: every operation keeps the undo history before and after it, a turn's is derived
//! from the operation before it. So a step back or forward reads a row or two, whatever the history's length.

use crate::id::{OpNo, Pos};

/// Something that was done and that `undo` takes back as one: a turn, or an operation with what was said in answer to
/// it. Examples are a retry with its answer, and an edit with the new words and their answer.
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
    /// The step that `undo` takes back next.
    pub done: Option<Step>,
    /// The undo operation that `redo` reverses next.
    pub undone: Option<OpNo>,
    /// Steps that were compensated while a later one was done: `undo` passes over them.
    pub void: Vec<Step>,
}

impl UndoHistory {
    /// The undo history after `step` was done: nothing is left to redo.
    #[must_use]
    pub fn did(&self, step: Step) -> Self {
        Self { done: Some(step), undone: None, void: self.void.clone() }
    }

    /// The undo history after something was said that is no step of its own.
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
