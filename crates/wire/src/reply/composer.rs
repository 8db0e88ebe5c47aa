//! Replies for composers.

use serde::{Deserialize, Serialize};

use crate::content::Part;

/// What somebody is about to say.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Draft {
    /// AuthorKind it is.
    pub author: String,
    /// The text, and what is attached; empty, when there is none. All of it, bounded by what was typed.
    pub parts: Vec<Part>,
    /// Drafts that moved aside to make room for other words, the one that comes back first at the end. All of them, bounded by what
    /// was typed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub aside: Vec<Vec<Part>>,
    /// The entry that these words were to replace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edits: Option<String>,
}

/// Earlier prompts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HistoryPage {
    /// Newest first, each once. One that was said several times may come again on an earlier page.
    pub prompts: Vec<String>,
    /// Where earlier ones begin, where there may be some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<String>,
}

/// Names of files and folders.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Paths {
    /// Those that fit, the best first.
    pub paths: Vec<PathLine>,
    /// Whether there may be others: more fit, or the folder is too large to be looked through.
    pub more: bool,
}

/// A file or folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PathLine {
    /// From the folder; `@` and this, in words that are said, attaches the file.
    pub path: String,
    /// Whether it is a folder.
    pub is_dir: bool,
}
