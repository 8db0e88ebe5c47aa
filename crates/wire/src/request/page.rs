//! Requests for a page of a list, newest first, each with where it goes on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A page has at most so many things; a request for more, or for none, is refused.
pub const LARGEST_PAGE: usize = 1000;

/// A page without a limit has at most so many things.
pub const USUAL_PAGE: usize = 50;

/// A page of hits without a limit has at most so many.
pub const USUAL_HITS: usize = 20;

/// Turns to go back to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Targets {
    /// The conversation.
    pub conversation: String,
    /// At most so many: 1 to 1000; 50, without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = LARGEST_PAGE))]
    pub limit: Option<usize>,
    /// Only turns before this entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
}

/// What is hidden, dropped or excluded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Marked {
    /// The conversation.
    pub conversation: String,
    /// At most so many: 1 to 1000; 50, without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = LARGEST_PAGE))]
    pub limit: Option<usize>,
    /// Only what stands before this entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
}

/// A page of operations, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Page {
    /// The conversation.
    pub conversation: String,
    /// At most so many: 1 to 1000; 50, without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = LARGEST_PAGE))]
    pub limit: Option<usize>,
    /// Only those before this number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<u64>,
}
