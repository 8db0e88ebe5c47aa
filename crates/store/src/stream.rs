//! An answer in progress, which the store keeps outside the log.

use retake_core::{AnswerPlace, ConversationId, EntryId, Part, Step};

/// A stream in progress, saved outside the log so that a crash loses no more than a second of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamRow {
    /// The conversation.
    pub conversation: ConversationId,
    /// The id that the answer will have.
    pub entry: EntryId,
    /// The entry that it answers.
    pub answering: AnswerPlace,
    /// The retry's move, which is compensated if there was no output.
    pub step: Option<Step>,
    /// The model.
    pub author: String,
    /// The output so far.
    pub parts: Vec<Part>,
}
