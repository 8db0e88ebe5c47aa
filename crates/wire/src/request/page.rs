//! Requests for a page of a list. Each has a start: `before` if the newest comes first, and `after` if the oldest does.

use serde::{Deserialize, Serialize};

/// A page has at most so many things; a request for more, or for none, is refused.
pub const LARGEST_PAGE: usize = 1000;

/// A page without a limit has at most so many things.
pub const USUAL_PAGE: usize = 50;

/// A page of hits without a limit has at most so many.
pub const USUAL_HITS: usize = 20;

/// Turns to go back to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Targets {
    /// The conversation.
    pub conversation: String,
    /// How many at most: 1 to 1000. Default: 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = LARGEST_PAGE)))]
    pub limit: Option<usize>,
    /// Only turns before this entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
}

/// What is hidden, dropped or excluded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Marked {
    /// The conversation.
    pub conversation: String,
    /// How many at most: 1 to 1000. Default: 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = LARGEST_PAGE)))]
    pub limit: Option<usize>,
    /// Only what stands before this entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
}

/// A page of operations, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Page {
    /// The conversation.
    pub conversation: String,
    /// How many at most: 1 to 1000. Default: 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = LARGEST_PAGE)))]
    pub limit: Option<usize>,
    /// Only those before this number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<u64>,
}

/// A page of branches, oldest first, and then of forks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tree {
    /// The conversation.
    pub conversation: String,
    /// How many of both at most: 1 to 1000. Default: 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = LARGEST_PAGE)))]
    pub limit: Option<usize>,
    /// Only those behind the branch with this leaf, or behind the fork of this id, in the order of the list.
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
    /// How many at most: 1 to 1000. Default: 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = LARGEST_PAGE)))]
    pub limit: Option<usize>,
    /// Only those after this number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<usize>,
}

/// A page of jobs, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Jobs {
    /// The conversation.
    pub conversation: String,
    /// How many at most: 1 to 1000. Default: 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = LARGEST_PAGE)))]
    pub limit: Option<usize>,
    /// Only those that began before this one: its id, or a unique beginning or end of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
}

/// A page of folders that conversations work in, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Workspaces {
    /// How many at most: 1 to 1000. Default: 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = LARGEST_PAGE)))]
    pub limit: Option<usize>,
    /// Only those after this number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<u64>,
}
