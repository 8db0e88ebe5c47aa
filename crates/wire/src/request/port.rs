//! Requests that export and import conversations, piece by piece or as one body.

use serde::{Deserialize, Serialize};

#[cfg(feature = "schema")]
use crate::shape;

/// The formats of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Format {
    /// JSON Lines: a header, then a line per entry.
    #[default]
    Jsonl,
    /// For people.
    Markdown,
    /// For people.
    Text,
    /// Log and operations, lossless both ways.
    Full,
}

/// A piece of an export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Export {
    /// The conversation.
    pub conversation: String,
    /// The format.
    #[serde(default)]
    pub format: Format,
    /// Where the last chunk ended. Default: the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Begins an import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportStart {
    /// Title of the new conversation. Default: that of the import.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::SAYS_SOMETHING)))]
    pub title: Option<String>,
    /// Its folder. Default: that of the import. A full export is refused whose conversations work in another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::ABSOLUTE)))]
    pub folder: Option<String>,
    /// How many lines of a file stand before its first one: lines are named by their numbers there. Default: none.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lines_before: u64,
    /// The request's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::REQUEST_ID)))]
    pub request_id: Option<String>,
}

/// The next lines of an import: our own export, a line each, or the messages of a chat list, a JSON object each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportLines {
    /// The conversation that the import makes.
    pub conversation: String,
    /// Number of the first of these lines in the whole, from 0: lines sent twice are taken once.
    pub first: u64,
    /// The lines.
    pub lines: Vec<String>,
}

/// A whole export, as one body.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExportWhole {
    /// The conversation.
    pub conversation: String,
    /// The format.
    #[serde(default)]
    pub format: Format,
}

/// An import whose lines are the body, as [`ImportLines`] has them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportWhole {
    /// Title of the new conversation. Default: that of the import.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::SAYS_SOMETHING)))]
    pub title: Option<String>,
    /// Its folder. Default: that of the import. A full export is refused whose conversations work in another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::ABSOLUTE)))]
    pub folder: Option<String>,
}
