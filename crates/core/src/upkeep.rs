//! Care for the whole store: a check of everything, and a backup.

use std::path::PathBuf;

use crate::ConversationId;

/// What a check may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Care {
    /// Only look.
    Look,
    /// Mend what can be mended without losing anything.
    Mend,
}

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Conversations looked at.
    pub conversations: u64,
    /// Entries in them.
    pub entries: u64,
    /// What is wrong.
    pub problems: Vec<Finding>,
    /// What the database says of it, for those who know its inside.
    pub details: Vec<String>,
    /// What was mended.
    pub mended: Vec<Repair>,
}

/// Something that is wrong with what is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The full-text index is damaged.
    SearchIndex,
    /// Another index of the store is damaged.
    Index,
    /// Pages of the store are damaged.
    Pages,
    /// Something cannot be read.
    Unreadable {
        /// Whose it is, where that is not said yet.
        conversation: Option<ConversationId>,
        /// What the store says.
        detail: String,
    },
    /// This entry of a conversation follows one behind it.
    Order(ConversationId, u64),
    /// The index of facts does not fit the messages.
    Facts(ConversationId),
    /// A step in this folder was cut short: its files are in between.
    StepCutShort(String),
    /// An erasure was cut short: versions of files are still there.
    EraseCutShort,
    /// Versions that going back may need are missing or damaged.
    LostVersions {
        /// How many.
        versions: usize,
        /// Whose they are, in order.
        conversations: Vec<ConversationId>,
    },
    /// So many versions that only captures saw are missing or damaged.
    LostCaptured(usize),
    /// So many files as they are now are missing or damaged in the object store. Mending takes them in again.
    LostCurrent(usize),
}

impl Finding {
    /// What cannot be read, where the message says all.
    pub fn unreadable(error: impl ToString) -> Self {
        Self::Unreadable { conversation: None, detail: error.to_string() }
    }
}

/// Something that was mended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Repair {
    /// The indexes were rebuilt.
    Indexes,
    /// So many versions that were missing or damaged are kept again, from the folders.
    Versions(usize),
    /// The step in this folder that was cut short is finished.
    StepFinished(String),
    /// The step in this folder that was cut short is taken back.
    StepTakenBack(String),
    /// The erasure that was cut short is finished.
    EraseFinished,
}

/// A copy of the whole store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    /// The file.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
}
