//! Hidden, dropped and excluded messages, for clients that request them. Must never be part of another reply.

use serde::{Deserialize, Serialize};

use super::{Counts, Line};

/// What is hidden, dropped or excluded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MarkedPage {
    /// The head that it was read at.
    pub head: String,
    /// Newest first.
    pub marked: Vec<Marked>,
    /// Whether there is more before it.
    pub more: bool,
}

/// Messages of one turn that stand together and have one mark: a range from `line` to `last`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Marked {
    /// `hidden`, `dropped` or `excluded`.
    pub mark: String,
    /// The number of their turn; 0 before the first.
    pub turn: u64,
    /// What they come to.
    pub counts: Counts,
    /// The first of them, in its own words though it is hidden.
    pub line: Line,
    /// The id of the last of them.
    pub last: String,
    /// When they got the mark, Unix milliseconds, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marked_ms: Option<i64>,
}
