//! The reply to a client that catches up: the difference between the state that it saw and the current one. It leaves out what
//! came and went in between.

use serde::{Deserialize, Serialize};

use super::{Entry, Permissions, Words};

/// What changed in a conversation since a revision.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Changes {
    /// The current revision.
    pub revision: u64,
    /// The current head.
    pub head: String,
    /// Ids of entries that are no longer in the timeline: all of them, bounded by what has changed since.
    pub gone: Vec<String>,
    /// Entries that came into the timeline, in path order: all of them, bounded by what has changed since.
    pub came: Vec<Entry>,
    /// Entries that were in the timeline and look different now (mark, fold, erased): all of them, bounded by what has changed
    /// since.
    pub changed: Vec<Entry>,
    /// Whether a run is at work now.
    #[serde(default)]
    pub running: bool,
    /// The messages that wait now, oldest first, at most 1000.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<Words>,
    /// The current permissions of the agent.
    #[serde(default)]
    pub permissions: Permissions,
}
