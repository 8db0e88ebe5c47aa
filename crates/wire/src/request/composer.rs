//! Requests of composers: drafts and earlier prompts.

use serde::{Deserialize, Serialize};

#[cfg(feature = "schema")]
use super::page::LARGEST_PAGE;
use crate::content::Part;
#[cfg(feature = "schema")]
use crate::shape;

/// Names a draft.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DraftOf {
    /// The conversation.
    pub conversation: String,
    /// AuthorKind draft it is. Default: the owner's user.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub author: String,
}

/// What somebody is about to say. It is no change of the conversation, and in no reading of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetDraft {
    /// The conversation.
    pub conversation: String,
    /// AuthorKind draft it is. Default: the owner's user.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub author: String,
    /// The text, and what is attached. Nothing, or only an empty text, removes the draft.
    pub parts: Vec<Part>,
    /// Drafts that moved aside to make room for other words, the one that comes back first at the end. Those that are kept stay,
    /// without; of those, words without a holder take the place of all that nobody holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aside: Option<Vec<Vec<Part>>>,
    /// What these parts take the place of, as it was kept; what else somebody keeps there stays. Default: all of it. Words of a
    /// holder take the place of what that one kept, whatever it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<Vec<Part>>,
    /// The entry that these words replace.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edits: Option<String>,
    /// The client that shows this content; while it lives, no other client gets it. Without a holder, the next client gets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::HOLDER)))]
    pub holder: Option<String>,
    /// Whether the holder no longer shows it: the next client gets it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub released: bool,
}

/// Names the draft of a conversation that nobody has begun.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DraftIn {
    /// The folder in which it would begin, absolute.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::ABSOLUTE)))]
    pub folder: String,
    /// AuthorKind draft it is. Default: the owner's user.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub author: String,
}

/// With what somebody is about to begin a conversation. It belongs to none: who begins one removes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetDraftIn {
    /// The folder in which it would begin, absolute.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::ABSOLUTE)))]
    pub folder: String,
    /// AuthorKind draft it is. Default: the owner's user.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub author: String,
    /// The text, and what is attached. Nothing, or only an empty text, removes the draft.
    pub parts: Vec<Part>,
    /// Drafts that moved aside to make room for other words, the one that comes back first at the end. Those that are kept stay,
    /// without; of those, words without a holder take the place of all that nobody holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aside: Option<Vec<Vec<Part>>>,
    /// What these parts take the place of, as it was kept; what else somebody keeps there stays. Default: all of it. Words of a
    /// holder take the place of what that one kept, whatever it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<Vec<Part>>,
    /// The client that shows this content; while it lives, no other client gets it. Without a holder, the next client gets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::HOLDER)))]
    pub holder: Option<String>,
    /// Whether the holder no longer shows it: the next client gets it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub released: bool,
}

/// Asks for the words of a draft that no other living holder shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClaimDraft {
    /// The conversation.
    pub conversation: String,
    /// AuthorKind draft it is. Default: the owner's user.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub author: String,
    /// The client that shows the content from here on, for as long as it lives. Without a holder, the next client gets it, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::HOLDER)))]
    pub holder: Option<String>,
}

/// Asks for the words with which a conversation was to begin in a folder, and that no other living holder shows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClaimDraftIn {
    /// The folder in which it would begin, absolute.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::ABSOLUTE)))]
    pub folder: String,
    /// AuthorKind draft it is. Default: the owner's user.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub author: String,
    /// The client that shows the content from here on, for as long as it lives. Without a holder, the next client gets it, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::HOLDER)))]
    pub holder: Option<String>,
}

/// Prompts said earlier: those of the conversation that changed last come first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct History {
    /// Only in conversations of this folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// How many at most: 1 to 1000. Default: 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = LARGEST_PAGE)))]
    pub limit: Option<usize>,
    /// Only those behind this place, which the page before named as `earlier`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
}

/// What is typed of a path: those names answer whose path goes on so, then those whose name does, then those that hold it. Nothing
/// outside of the folder; what ignore files leave out, and what rules keep from being read, is not named.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Typed {
    /// What is typed so far, from the folder. Hidden files are named where their name is begun with its dot.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prefix: String,
    /// How many at most: 1 to 1000. Default: 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = LARGEST_PAGE)))]
    pub limit: Option<usize>,
}

/// Asks for names of files of a conversation's folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Paths {
    /// The conversation.
    pub conversation: String,
    /// What is typed.
    #[serde(flatten)]
    pub typed: Typed,
}

/// Asks for names of files of a folder, where there is no conversation yet.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FolderPaths {
    /// The folder, absolute.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::ABSOLUTE)))]
    pub folder: String,
    /// What is typed.
    #[serde(flatten)]
    pub typed: Typed,
}
