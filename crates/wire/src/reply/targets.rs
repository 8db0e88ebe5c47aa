//! The targets of a rewind, with the badge of each. Must never hold messages that are not shown.

use serde::{Deserialize, Serialize};

use super::Counts;
use super::files::is_zero;

/// Turns to go back to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TargetPage {
    /// The head they were read at.
    pub head: String,
    /// Newest first.
    pub targets: Vec<Target>,
    /// Whether there are more.
    #[serde(default)]
    pub more: bool,
}

/// A turn to go back to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Target {
    /// The entry that opened it.
    pub entry: String,
    /// Its number.
    pub turn: u64,
    /// When, Unix milliseconds.
    pub time_ms: i64,
    /// At most 80 characters of it.
    pub preview: String,
    /// Deprecated, the next version leaves it out: `at_work` as an English sentence.
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub reason: Option<String>,
    /// A run is at work: a rewind stops it first, if that is requested; else it is refused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_work: bool,
    /// What that would take back.
    pub takes_back: Counts,
    /// What this one turn did itself.
    #[serde(default, skip_serializing_if = "Did::is_nothing")]
    pub did: Did,
}

/// What a turn did itself, as far as its messages are shown. What is zero may be left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Did {
    /// Files and folders that its calls changed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub files: u64,
    /// Commands of the agent that began and were not known to only read.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub commands: u64,
    /// Calls that were asked for, whatever became of them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub calls: u64,
    /// Calls that began and of which something may stay in the world, whatever is taken back; such a command is one of them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub outside: u64,
}

impl Did {
    /// Whether nothing was done.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}
