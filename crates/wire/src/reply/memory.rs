//! Memory: the remembered facts.

use serde::{Deserialize, Serialize};

/// Remembered facts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Memory {
    /// The facts, newest first; for a query, those with most of its words first.
    pub facts: Vec<MemoryFact>,
    /// Whether there are more.
    pub more: bool,
}

/// A remembered fact.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryFact {
    /// The id of the fact.
    pub id: String,
    /// The words.
    pub text: String,
    /// Whether the fact counts in all folders.
    pub everywhere: bool,
    /// The folder of the conversation that remembers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// A conversation that remembers it.
    pub conversation: String,
    /// The entry that remembers it.
    pub entry: String,
    /// The author of that entry: a person, or a tool of the model.
    pub author: String,
    /// The time of that entry, in Unix milliseconds.
    pub time_ms: i64,
}

/// The id of the fact that an entry remembers, from the receipt of a request that remembers or edits: the end of the entry's id.
pub fn fact_of(entry: &str) -> &str {
    entry.rsplit('-').next().unwrap_or(entry)
}
