//! Requests about the files of folders, and about stored content. Only types.

use serde::{Deserialize, Serialize};

use crate::files::FileName;
#[cfg(feature = "schema")]
use crate::shape;

/// A request for the differences of files between two points in time. Both are named as in [`crate::Action::RestoreFiles`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilesDiff {
    /// The conversation.
    pub conversation: String,
    /// Only these files and folders. Default: all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<FileName>,
    /// The first point in time. Default: before the last turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The second point in time. Default: now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
}

/// Names a workspace: a folder that conversations work in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkspaceTarget {
    /// The number or the path of the folder.
    pub workspace: String,
}

/// What a collection removes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PruneHow {
    /// Nothing. The reply only reports what would be removed.
    #[default]
    Look,
    /// Versions that nothing needs, and captures that are old or beyond the quota.
    Unneeded,
    /// Also versions that rewinds may need, the oldest first, until the quota is met.
    ToQuota,
}

/// A collection of stored file versions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkspacePrune {
    /// What the collection removes.
    #[serde(default)]
    pub how: PruneHow,
}

/// A checkpoint: a capture with a name.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Checkpoint {
    /// The conversation.
    pub conversation: String,
    /// The name of the checkpoint.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::SAYS_SOMETHING)))]
    pub name: String,
}
