//! The findings of a check of the store. Must never hold the text of a message.

use serde::{Deserialize, Serialize};

use crate::sandbox::SandboxFact;

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// Conversations checked.
    pub conversations: u64,
    /// Entries checked.
    pub entries: u64,
    /// What is wrong; empty is healthy.
    #[serde(default)]
    pub findings: Vec<Finding>,
    /// What was repaired.
    #[serde(default)]
    pub repairs: Vec<Repair>,
    /// Deprecated, the next version leaves it out: `findings` as English sentences; bounded by them.
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub problems: Vec<String>,
    /// What the database says of it, for those who know its inside; a client for people need not show it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub details: Vec<String>,
    /// Deprecated, the next version leaves it out: `repairs` as English sentences; bounded by them.
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub mended: Vec<String>,
    /// What confines commands on this machine, and what does not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub confinement: Vec<SandboxFact>,
    /// Deprecated, the next version leaves it out: `confinement` as English sentences; bounded by them.
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sandbox: Vec<String>,
}

/// Something that is wrong.
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
    /// Something cannot be read.
    Unreadable {
        /// The conversation that it belongs to, where `detail` does not name it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        conversation: Option<String>,
        /// What the store says.
        detail: String,
    },
    /// An entry follows one behind it.
    Order {
        /// The conversation.
        conversation: String,
        /// The number of the entry.
        entry: u64,
    },
    /// The index of facts does not fit the messages.
    Facts {
        /// The conversation.
        conversation: String,
    },
    /// A step was cut short: some of its files may be as before, others as after.
    StepCutShort {
        /// The folder.
        folder: String,
    },
    /// An erasure was cut short: versions of files are still to be erased.
    EraseCutShort,
    /// Versions of files that a step back may need are missing or damaged.
    LostVersions {
        /// Their number.
        versions: u64,
        /// The conversations that need them.
        conversations: Vec<String>,
    },
    /// Versions of files that only captures need are missing or damaged.
    LostCaptured {
        /// Their number.
        versions: u64,
    },
    /// Files as they are now are missing or damaged in the object store: a repair takes them in again.
    LostCurrent {
        /// Their number.
        files: u64,
    },
    /// A code of a newer owner.
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

/// Something that was repaired.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Repair {
    /// The indexes of words and of facts were rebuilt from the messages.
    Indexes,
    /// Versions of files that were missing or damaged are kept again, from the folders.
    Versions {
        /// Their number.
        versions: u64,
    },
    /// A step that was cut short is finished.
    StepFinished {
        /// The folder.
        folder: String,
    },
    /// A step that was cut short is taken back.
    StepTakenBack {
        /// The folder.
        folder: String,
    },
    /// The erasure that was cut short is finished.
    EraseFinished,
    /// A code of a newer owner.
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}
