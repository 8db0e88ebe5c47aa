//! Requests that export and import conversations, in pieces or as one body.

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
    /// Markdown, for people.
    Markdown,
    /// Plain text, for people.
    Text,
    /// The log and the operations of the whole tree of forks, lossless in both directions.
    Full,
}

/// A request for a piece of an export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Export {
    /// The conversation.
    pub conversation: String,
    /// The format.
    #[serde(default)]
    pub format: Format,
    /// The cursor from the piece before. Default: the beginning.
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
    /// The title of the new conversation. Default: the title in the import.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::SAYS_SOMETHING)))]
    pub title: Option<String>,
    /// The folder of the new conversation, as an absolute path. Default: the folder in the import. A full export is refused if
    /// its conversations work in another folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::ABSOLUTE)))]
    pub folder: Option<String>,
    /// The number of lines in the imported file before the first line of the import. Errors name lines by their numbers in the
    /// file. Default: 0.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lines_before: u64,
    /// The id of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::REQUEST_ID)))]
    pub request_id: Option<String>,
}

/// The next lines of an import. They are the lines of an export by this program, or chat messages, each as a JSON object on one
/// line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportLines {
    /// The conversation that the import creates.
    pub conversation: String,
    /// The number of the first of these lines in the whole import, from 0. Lines that are sent twice are imported once.
    pub first: u64,
    /// The lines.
    pub lines: Vec<String>,
}

/// A whole export as one body.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExportWhole {
    /// The conversation.
    pub conversation: String,
    /// The format.
    #[serde(default)]
    pub format: Format,
}

/// An import with the lines as the body, in the form of [`ImportLines`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportWhole {
    /// The title of the new conversation. Default: the title in the import.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::SAYS_SOMETHING)))]
    pub title: Option<String>,
    /// The folder of the new conversation, as an absolute path. Default: the folder in the import. A full export is refused if
    /// its conversations work in another folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::ABSOLUTE)))]
    pub folder: Option<String>,
}
