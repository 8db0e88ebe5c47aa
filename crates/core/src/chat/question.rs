//! Questions of notices: their buttons, who may press them, and what they do. Must never hold a text: the words are made when the notice
//! is sent.

use crate::id::{EntryId, Head, OpNo};

/// A question to people in a chat. What it asks about is done only as long as it takes back what the person has seen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatQuestion {
    /// The platform's id of the person who may answer. `None`: an owner.
    pub person: Option<String>,
    /// The head of the conversation when it was asked.
    pub head: Head,
    /// The digest of the plan of files that the person has seen.
    pub files: Option<[u8; 16]>,
    /// How often its post has asked something before: a button of an earlier question is void.
    pub round: u32,
    /// The buttons, in their order.
    pub buttons: Vec<ChatButton>,
}

/// What a button does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChatButton {
    /// Makes the step.
    Confirm(AskedStep),
    /// Leaves everything as it is.
    Cancel,
    /// Goes back to before this turn.
    Turn(EntryId),
    /// Lists the turns before this one.
    Older(EntryId),
    /// Says the new wording of this message as a new message: the platform's id.
    SayNew(String),
    /// Drops only these turns, which are the person's own.
    DropMine(Vec<EntryId>),
    /// Posts again what the step of these operations brought back and is gone from the chat.
    PostAgain {
        /// The first of the operations.
        first: OpNo,
        /// The head after the last of them.
        to: Head,
    },
    /// Sends the answers that wait in this place.
    SendWaiting,
    /// Allows this call.
    Approve(String),
    /// Denies this call.
    Deny(String),
}

/// A step that waits for a confirmation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AskedStep {
    /// Goes back to before this turn.
    Rewind(EntryId),
    /// Replaces a message by its new wording, and takes back everything after it.
    Edit {
        /// The entry of its turn.
        entry: EntryId,
        /// The platform's id of the message.
        message: String,
    },
    /// Takes these turns out.
    Drop(Vec<EntryId>),
    /// Undoes so many steps.
    Undo(usize),
    /// Does so many undone steps again.
    Redo(usize),
}
