//! Requests about the files of folders, and about stored content. Only types.

use serde::{Deserialize, Serialize};

use crate::files::FileName;

/// Asks how files differ between two points in time, each named as in [`crate::Action::RestoreFiles`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilesDiff {
    /// The conversation.
    pub conversation: String,
    /// Only these files and folders. Default: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<FileName>,
    /// Since when. Default: before the last turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Until when. Default: now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

/// Names a folder that conversations work in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OfWorkspace {
    /// Its number, or its path.
    pub workspace: String,
}

/// How much is taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PruneHow {
    /// Nothing: what would be taken is only said.
    #[default]
    Look,
    /// What nothing needs, and captures that are old or beyond the quota.
    Unneeded,
    /// Also what going back may need, the oldest first, as far as the quota asks for it.
    ToQuota,
}

/// A collection.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkspacePrune {
    /// How much is taken.
    #[serde(default)]
    pub how: PruneHow,
}
