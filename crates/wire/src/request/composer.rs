//! Requests of composers: drafts, earlier prompts, and completions of file names.

use serde::{Deserialize, Serialize};

#[cfg(feature = "schema")]
use super::page::LARGEST_PAGE;
use crate::content::Part;
#[cfg(feature = "schema")]
use crate::shape;

/// Names the draft of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DraftOf {
    /// The conversation.
    pub conversation: String,
    /// The author of the draft. Default: the owner's user.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub author: String,
}

/// A draft to store: text that a person has not sent yet. It does not change the conversation, and no projection contains it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetDraft {
    /// The conversation.
    pub conversation: String,
    /// The author of the draft. Default: the owner's user.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub author: String,
    /// The text and its attachments. If there are none, or only an empty text, the draft is removed.
    pub parts: Vec<Part>,
    /// Drafts that were moved aside for another text. The one that returns first is the last. Default: the stored ones stay. A
    /// list replaces the stored ones that have this holder or none. Without `instead_of`, it replaces all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aside: Option<Vec<Vec<Part>>>,
    /// The parts that these parts replace, exactly as they were stored. Other stored parts stay. Default: all of them are
    /// replaced. If the holder has a stored piece, that piece is replaced, whatever this field contains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<Vec<Part>>,
    /// The entry that this text replaces when it is sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edits: Option<String>,
    /// The client that shows this content. While it lives, no other client gets the content. Without a holder, the next client
    /// gets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::HOLDER)))]
    pub holder: Option<String>,
    /// Whether the holder no longer shows the content. Then the next client gets it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub released: bool,
}

/// Names the draft for a new conversation in a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DraftIn {
    /// The folder of the new conversation, as an absolute path.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::ABSOLUTE)))]
    pub folder: String,
    /// The author of the draft. Default: the owner's user.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub author: String,
}

/// A draft to store for a new conversation in a folder. It belongs to no conversation. The client that begins the conversation
/// removes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetDraftIn {
    /// The folder of the new conversation, as an absolute path.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::ABSOLUTE)))]
    pub folder: String,
    /// The author of the draft. Default: the owner's user.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub author: String,
    /// The text and its attachments. If there are none, or only an empty text, the draft is removed.
    pub parts: Vec<Part>,
    /// Drafts that were moved aside for another text. The one that returns first is the last. Default: the stored ones stay. A
    /// list replaces the stored ones that have this holder or none. Without `instead_of`, it replaces all of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aside: Option<Vec<Vec<Part>>>,
    /// The parts that these parts replace, exactly as they were stored. Other stored parts stay. Default: all of them are
    /// replaced. If the holder has a stored piece, that piece is replaced, whatever this field contains.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead_of: Option<Vec<Part>>,
    /// The client that shows this content. While it lives, no other client gets the content. Without a holder, the next client
    /// gets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::HOLDER)))]
    pub holder: Option<String>,
    /// Whether the holder no longer shows the content. Then the next client gets it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub released: bool,
}

/// A request for the draft of a conversation, without the pieces that other living holders show.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClaimDraft {
    /// The conversation.
    pub conversation: String,
    /// The author of the draft. Default: the owner's user.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub author: String,
    /// The client that shows the content from now on, as long as it lives. Without a holder, the next client gets the content,
    /// too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::HOLDER)))]
    pub holder: Option<String>,
}

/// A request for the draft for a new conversation in a folder, without the pieces that other living holders show.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClaimDraftIn {
    /// The folder of the new conversation, as an absolute path.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::ABSOLUTE)))]
    pub folder: String,
    /// The author of the draft. Default: the owner's user.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub author: String,
    /// The client that shows the content from now on, as long as it lives. Without a holder, the next client gets the content,
    /// too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::HOLDER)))]
    pub holder: Option<String>,
}

/// A page of earlier prompts. Prompts of the conversation that changed last come first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct History {
    /// Only prompts from conversations of this folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The maximum number of prompts: 1 to 1000. Default: 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = LARGEST_PAGE)))]
    pub limit: Option<usize>,
    /// Only prompts after this place in the list. The page before contains the place as `earlier`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
}

/// A path that a person has begun to type. The names come in this order: paths that begin with the text, names that begin with
/// it, paths that contain it. Paths outside of the folder, ignored files, and files that a rule forbids to read are left out.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Typed {
    /// The typed text, relative to the folder. Hidden files are only included if the typed name begins with a dot.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prefix: String,
    /// The maximum number of names: 1 to 1000. Default: 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = LARGEST_PAGE)))]
    pub limit: Option<usize>,
}

/// A request for the names of files and folders in a conversation's folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Paths {
    /// The conversation.
    pub conversation: String,
    /// The typed text.
    #[serde(flatten)]
    pub typed: Typed,
}

/// A request for the names of files and folders in a folder, before a conversation exists.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FolderPaths {
    /// The folder, as an absolute path.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::ABSOLUTE)))]
    pub folder: String,
    /// The typed text.
    #[serde(flatten)]
    pub typed: Typed,
}
