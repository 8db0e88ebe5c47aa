//! Replies for the composer: drafts, earlier prompts and paths.

use serde::{Deserialize, Serialize};

use crate::content::Part;

/// A draft: text that a person has not sent yet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Draft {
    /// The name of the author.
    pub author: String,
    /// The text and its attachments. Empty if there is no draft. All of it, bounded by what was typed.
    pub parts: Vec<Part>,
    /// Drafts that were moved aside to make room for other text. The last one is the first to return. All of them, bounded by
    /// what was typed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aside: Vec<Vec<Part>>,
    /// The entry that this text will replace, if the draft is an edit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edits: Option<String>,
}

/// A page of earlier prompts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HistoryPage {
    /// The prompts, newest first, without repetitions. A prompt that was sent several times can appear again on an earlier page.
    pub prompts: Vec<String>,
    /// The position where earlier prompts begin, for the field `before` of the next request. Absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<String>,
}

/// Paths of files and folders that match a typed text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Paths {
    /// The matching paths, the best match first.
    pub paths: Vec<PathLine>,
    /// Whether there may be more matches: the list was cut, or the folder is too large to be scanned completely.
    pub more: bool,
}

/// The path of a file or folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PathLine {
    /// The path relative to the folder. In a message, `@` followed by this path attaches the file.
    pub path: String,
    /// Whether the path is a folder.
    pub is_dir: bool,
}
