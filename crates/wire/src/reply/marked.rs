//! Hidden, dropped and excluded messages, for clients that request them. Must never be part of another reply.

use serde::{Deserialize, Serialize};

use super::{Counts, Line};
use crate::mark::Mark;

/// A page of hidden, dropped and excluded messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MarkedPage {
    /// The head at which they were read.
    pub head: String,
    /// The ranges of messages, newest first.
    pub marked: Vec<Marked>,
    /// Whether earlier ones exist.
    pub more: bool,
}

/// Neighbouring messages of one turn with the same mark: a range from `line` to `last`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Marked {
    /// The mark. Never `normal`.
    pub mark: Mark,
    /// The number of their turn. 0 before the first turn.
    pub turn: u64,
    /// The numbers of messages, tool calls and turns in the range.
    pub counts: Counts,
    /// The first message of the range, with its text although it is hidden.
    pub line: Line,
    /// The id of the last message of the range.
    pub last: String,
    /// When they got the mark, in Unix milliseconds, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub marked_ms: Option<i64>,
}
