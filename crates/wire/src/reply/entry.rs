//! An entry in a projection. Must never hold content that the projection does not show.

use serde::{Deserialize, Serialize};

use crate::chat::Place;
use crate::content::{Part, Role, Usage};
use crate::mark::Mark;

/// An entry in a projection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Entry {
    /// The id of the entry.
    pub id: String,
    /// The place of the entry.
    #[serde(flatten)]
    pub place: EntryPlace,
    /// The role of the author.
    pub role: Role,
    /// The name of the author: a person, a model or a tool.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub author: String,
    /// The time of the entry, in Unix milliseconds.
    pub time_ms: i64,
    /// The mark of the entry.
    pub mark: Mark,
    /// The fold in force that covers the entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fold: Option<String>,
    /// The label of the entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The special properties of the entry.
    #[serde(flatten)]
    pub flags: EntryFlags,
    /// The number of this alternative, from 1, and the number of all alternatives. Absent if there is only one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alternative: Option<(usize, usize)>,
    /// The content of the entry.
    pub parts: Vec<Part>,
    /// The tokens that the model call used, and its cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// For the result of a tool call: how long the call worked, in milliseconds, without the wait for an approval. Absent for
    /// calls that cannot leave an effect behind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<i64>,
    /// The id of the message on the platform that it comes from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform_id: Option<String>,
    /// Where the message was written, if it came from a chat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<EntryOrigin>,
}

/// Where a message was written. The names are untrusted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EntryOrigin {
    /// The place in the chat.
    pub place: Place,
    /// The platform's id of the message.
    pub message: String,
    /// The platform's id of its author.
    pub person: String,
}

/// The place of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EntryPlace {
    /// The number of the entry in its log (seq).
    pub seq: u64,
    /// The number of forks above that log. 0 is the log of the root conversation.
    pub depth: u32,
    /// The number of the entry's turn on the path, from 1. 0 before the first turn.
    pub turn: u64,
    /// Whether the entry opened that turn.
    pub opens_turn: bool,
}

impl EntryPlace {
    /// The depth and the seq. Positions sort in the order of the entries on a path.
    pub fn position(self) -> (u32, u64) {
        (self.depth, self.seq)
    }
}

/// The special properties of an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EntryFlags {
    /// A program made the entry, and no person wrote it.
    #[serde(default)]
    pub synthetic: bool,
    /// The message was not addressed to the agent.
    #[serde(default)]
    pub observed: bool,
    /// The answer was interrupted.
    #[serde(default)]
    pub interrupted: bool,
    /// The content was erased.
    #[serde(default)]
    pub erased: bool,
    /// The entry can't be read; its text says why.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub damaged: bool,
}
