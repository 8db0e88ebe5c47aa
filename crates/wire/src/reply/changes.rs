//! The reply to a client that catches up: the difference between the state that it saw and the current one. It leaves out what
//! came and went in between.

use serde::{Deserialize, Serialize};

use super::{Entry, Permissions, Words};

/// What changed since a revision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Changes {
    /// The revision now.
    pub revision: u64,
    /// The head now.
    pub head: String,
    /// Ids of entries that are no longer in the timeline: all of them, bounded by what has changed since.
    pub gone: Vec<String>,
    /// Entries that came into it, in path order: all of them, bounded by what has changed since.
    pub came: Vec<Entry>,
    /// Entries that were there and look different now (mark, fold, erased): all of them, bounded by what has changed since.
    pub changed: Vec<Entry>,
    /// Whether a run is at work, now.
    #[serde(default)]
    pub running: bool,
    /// Words that wait, now, oldest first; 1000 at most.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<Words>,
    /// What the agent may do, now.
    #[serde(default)]
    pub permissions: Permissions,
}
