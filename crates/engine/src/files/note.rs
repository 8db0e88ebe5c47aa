//! Remarks of a plan and its receipt about what becomes a person's own and what stays. Only data: a client makes the sentences.

use retake_core::{ConversationId, Head, Mark, Reason};

/// A remark. Said once: a repeated request does not get it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// Files become the person's own: later steps treat them as the person's edits.
    Adopted {
        /// Their number.
        files: usize,
    },
    /// Files belong to their turns again.
    Returned {
        /// Their number.
        files: usize,
    },
    /// Marks stay as they are now, though the step restores an earlier head.
    MarksStay {
        /// That head.
        head: Head,
        /// The marks now, each with the number of its messages.
        marks: Vec<(Mark, u64)>,
        /// The actions that set the marks of that head.
        back: Vec<Reason>,
    },
    /// Files stay as turns of the conversation left them from which this one was forked.
    OfParent {
        /// That conversation.
        parent: ConversationId,
        /// The number of files.
        files: usize,
        /// The first of them.
        named: Vec<String>,
        /// The first of those turns, if a rewind in that conversation reverts the files.
        turn: Option<u64>,
    },
}
