//! An answer in progress, as the store keeps it outside the log.

use retake_core::{Answering, ConversationId, EntryId, Part, Step};

/// A stream in progress, saved outside the log so that a crash loses no more than a second of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StreamRow {
    /// The conversation.
    pub conversation: ConversationId,
    /// The id that the answer will have.
    pub entry: EntryId,
    /// What it answers.
    pub answering: Answering,
    /// The Move that a retry made, to be taken back when nothing came.
    pub step: Option<Step>,
    /// The model.
    pub author: String,
    /// What has come so far.
    pub parts: Vec<Part>,
}
