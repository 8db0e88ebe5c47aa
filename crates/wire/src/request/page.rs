//! Requests for a page of a list, newest first, each with where it goes on.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Turns to go back to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Targets {
    /// The conversation.
    pub conversation: String,
    /// At most so many; with 0 the reply says only what it says besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    /// At most so many; with 0 the reply says only what it says besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
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
    /// At most so many; with 0 the reply says only what it says besides.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// Only those before this number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<u64>,
}
