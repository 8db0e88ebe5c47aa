//! The findings of a check of the store. Must never hold the text of a message.

use serde::{Deserialize, Serialize};

use crate::sandbox::SandboxFact;

/// The result of a check of the store.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// The number of conversations that were checked.
    pub conversations: u64,
    /// The number of entries that were checked.
    pub entries: u64,
    /// The problems that were found. Empty if the store is healthy.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// The repairs that were made.
    #[serde(default)]
    pub repairs: Vec<Repair>,
    /// Deprecated, the next version leaves it out: `findings` as English sentences; bounded by them.
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub problems: Vec<String>,
    /// The database's own messages about the problems, for experts. A client for people need not show them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
    /// Deprecated, the next version leaves it out: `repairs` as English sentences; bounded by them.
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub mended: Vec<String>,
    /// What confines commands on this machine, and which mechanisms are missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub confinement: Vec<SandboxFact>,
    /// What waits to be delivered to destinations outside, and what was passed over: at most 1000 items.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outbox: Vec<super::OutboxItem>,
    /// Deprecated, the next version leaves it out: `confinement` as English sentences; bounded by them.
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sandbox: Vec<String>,
}

/// A problem in the stored data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Finding {
    /// The full-text index is damaged: a search may miss messages.
    SearchIndex,
    /// Another index of the store is damaged.
    Index,
    /// Pages of the store are damaged.
    Pages,
    /// A part of the store cannot be read.
    Unreadable {
        /// The conversation that this part belongs to, if `detail` does not name it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        conversation: Option<String>,
        /// The error message of the store.
        detail: String,
    },
    /// An entry names a later entry as the one that it follows.
    Order {
        /// The id of the conversation.
        conversation: String,
        /// The number of the entry.
        entry: u64,
    },
    /// The index of facts does not match the messages.
    Facts {
        /// The id of the conversation.
        conversation: String,
    },
    /// A step was interrupted: some of its files may have the version before it, others the version after it.
    StepCutShort {
        /// The path of the folder.
        folder: String,
    },
    /// An erasure was interrupted: versions of files are still to be erased.
    EraseCutShort,
    /// Versions of files that a rewind may need are missing or damaged.
    LostVersions {
        /// The number of these versions.
        versions: u64,
        /// The ids of the conversations that need them.
        conversations: Vec<String>,
    },
    /// Versions of files that only captures need are missing or damaged.
    LostCaptured {
        /// The number of these versions.
        versions: u64,
    },
    /// Current versions of files are missing or damaged in the object store. A repair stores them again.
    LostCurrent {
        /// The number of these files.
        files: u64,
    },
    /// A code that only a newer owner knows.
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

/// A repair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Repair {
    /// The full-text index and the index of facts were rebuilt from the messages.
    Indexes,
    /// Missing or damaged versions of files were stored again from the folders.
    Versions {
        /// The number of these versions.
        versions: u64,
    },
    /// An interrupted step was finished.
    StepFinished {
        /// The path of the folder.
        folder: String,
    },
    /// An interrupted step was reverted.
    StepTakenBack {
        /// The path of the folder.
        folder: String,
    },
    /// An interrupted erasure was finished.
    EraseFinished,
    /// A code that only a newer owner knows.
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}
