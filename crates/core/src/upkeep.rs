//! Upkeep of the whole store: a check, and a backup.

use std::path::PathBuf;

use crate::ConversationId;

/// What a check may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CheckMode {
    /// Only look.
    Look,
    /// Repair what can be repaired without loss.
    Mend,
}

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// The number of checked conversations.
    pub conversations: u64,
    /// The number of their entries.
    pub entries: u64,
    /// The problems.
    pub problems: Vec<Finding>,
    /// The database's own messages about them, for experts.
    pub details: Vec<String>,
    /// The repairs.
    pub mended: Vec<Repair>,
}

/// A problem in the stored data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The full-text index is damaged.
    SearchIndex,
    /// Another index of the store is damaged.
    Index,
    /// Pages of the store are damaged.
    Pages,
    /// Data that cannot be read.
    Unreadable {
        /// Its conversation, if the text does not name it.
        conversation: Option<ConversationId>,
        /// The store's error.
        detail: String,
    },
    /// This entry of a conversation follows a later one.
    Order(ConversationId, u64),
    /// The index of facts does not match the messages.
    Facts(ConversationId),
    /// A step in this folder was interrupted: some of its files are changed and others are not.
    StepCutShort(String),
    /// An erasure was interrupted: versions of files still exist.
    EraseCutShort,
    /// Versions that a rewind may need are missing or damaged.
    LostVersions {
        /// Their number.
        versions: usize,
        /// Their conversations, in order.
        conversations: Vec<ConversationId>,
    },
    /// This many versions that only captures need are missing or damaged.
    LostCaptured(usize),
    /// This many current files are missing or damaged in the object store. A repair stores them again.
    LostCurrent(usize),
}

impl Finding {
    /// Data that cannot be read, if the message contains everything.
    pub fn unreadable(error: impl ToString) -> Self {
        Self::Unreadable { conversation: None, detail: error.to_string() }
    }
}

/// A repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repair {
    /// The indexes were rebuilt.
    Indexes,
    /// This many missing or damaged versions were stored again from the folders.
    Versions(usize),
    /// The interrupted step in this folder was finished.
    StepFinished(String),
    /// The interrupted step in this folder was reverted.
    StepTakenBack(String),
    /// The interrupted erasure was finished.
    EraseFinished,
}

/// A copy of the whole store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BackupInfo {
    /// The file.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
}
