//! The targets of a rewind, with the badge of each. Must never hold messages that are not visible.

use serde::{Deserialize, Serialize};

use super::Counts;
use super::files::is_zero;

/// A page of turns that a rewind can go to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TargetPage {
    /// The head at which they were read.
    pub head: String,
    /// The turns, newest first.
    pub targets: Vec<Target>,
    /// Whether earlier turns exist.
    #[serde(default)]
    pub more: bool,
}

/// A turn that a rewind can go to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Target {
    /// The id of the entry that opened the turn.
    pub entry: String,
    /// The number of the turn.
    pub turn: u64,
    /// The time of that entry, in Unix milliseconds.
    pub time_ms: i64,
    /// The beginning of that entry, at most 80 characters.
    pub preview: String,
    /// Deprecated, the next version leaves it out: `at_work` as an English sentence.
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub reason: Option<String>,
    /// Whether a run is at work. A rewind stops it first if the request says so. Otherwise the rewind is refused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_work: bool,
    /// The numbers of messages, tool calls and turns that a rewind to this turn would take back.
    pub takes_back: Counts,
    /// What this turn itself did.
    #[serde(default, skip_serializing_if = "TurnActions::is_nothing")]
    pub did: TurnActions,
}

/// What a turn itself did, counted from its visible messages. A count of zero can be absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TurnActions {
    /// The number of files and folders that its calls changed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub files: u64,
    /// The number of commands of the agent that began, without those that are known to only read.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub commands: u64,
    /// The number of calls that the agent requested, whatever their result.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub calls: u64,
    /// The number of calls that began and may have effects that no step reverts. Commands with such effects are included.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub outside: u64,
    /// The number of posts of its answers in chats.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub posts: u64,
}

impl TurnActions {
    /// Whether the turn did nothing.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}
