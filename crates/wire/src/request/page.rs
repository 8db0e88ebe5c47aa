//! Requests for a page of a list. Each has a start: `before` if the newest comes first, and `after` if the oldest does.

use serde::{Deserialize, Serialize};

/// The maximum size of a page. A request for more items, or for none, is refused.
pub const LARGEST_PAGE: usize = 1000;

/// The maximum size of a page for a request without a limit.
pub const USUAL_PAGE: usize = 50;

/// The maximum number of hits on a page for a request without a limit.
pub const USUAL_HITS: usize = 20;

/// A page of turns that a rewind can go to, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Targets {
    /// The conversation.
    pub conversation: String,
    /// The maximum number of turns: 1 to 1000. Default: 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = LARGEST_PAGE)))]
    pub limit: Option<usize>,
    /// Only turns before this entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
}

/// A page of hidden, dropped and excluded entries, newest first. Neighbouring entries of one turn with the same mark are one
/// group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Marked {
    /// The conversation.
    pub conversation: String,
    /// The maximum number of groups: 1 to 1000. Default: 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = LARGEST_PAGE)))]
    pub limit: Option<usize>,
    /// Only entries before this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
}

/// A page of operations or captures, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Page {
    /// The conversation.
    pub conversation: String,
    /// The maximum number of operations or captures: 1 to 1000. Default: 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = LARGEST_PAGE)))]
    pub limit: Option<usize>,
    /// Only operations or captures with a lower number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<u64>,
}

/// A page of branches, oldest first, and then of forks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tree {
    /// The conversation.
    pub conversation: String,
    /// The maximum number of branches and forks together: 1 to 1000. Default: 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = LARGEST_PAGE)))]
    pub limit: Option<usize>,
    /// The leaf of a branch, or the id of a fork. Only branches and forks after it in the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// A page of the alternatives of an answer, oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Alternatives {
    /// The conversation.
    pub conversation: String,
    /// The answer, or any entry of its turn.
    pub entry: String,
    /// The maximum number of alternatives: 1 to 1000. Default: 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = LARGEST_PAGE)))]
    pub limit: Option<usize>,
    /// Only alternatives with a higher number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<usize>,
}

/// A page of jobs, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Jobs {
    /// The conversation.
    pub conversation: String,
    /// The maximum number of jobs: 1 to 1000. Default: 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = LARGEST_PAGE)))]
    pub limit: Option<usize>,
    /// Only jobs that began before this one. It is named by its id, or by a unique beginning or end of the id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
}

/// A page of folders that conversations work in, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Workspaces {
    /// The maximum number of folders: 1 to 1000. Default: 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = LARGEST_PAGE)))]
    pub limit: Option<usize>,
    /// Only folders with a higher number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
}
