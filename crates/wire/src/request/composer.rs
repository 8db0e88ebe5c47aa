//! Requests of composers: what somebody is about to say, and what was said before.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::content::Part;

/// Names a draft.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DraftOf {
    /// The conversation.
    pub conversation: String,
    /// Whose it is; the owner's user, without.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub author: String,
}

/// What somebody is about to say. It is no change of the conversation, and in no reading of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SetDraft {
    /// The conversation.
    pub conversation: String,
    /// Whose it is; the owner's user, without.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub author: String,
    /// The text, and what is attached. Nothing, or only an empty text, removes the draft.
    pub parts: Vec<Part>,
}

/// Names the draft of a conversation that nobody has begun.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DraftIn {
    /// The folder in which it would begin, absolute.
    pub folder: String,
    /// Whose it is; the owner's user, without.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub author: String,
}

/// With what somebody is about to begin a conversation. It belongs to none: who begins one removes it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SetDraftIn {
    /// The folder in which it would begin, absolute.
    pub folder: String,
    /// Whose it is; the owner's user, without.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub author: String,
    /// The text, and what is attached. Nothing, or only an empty text, removes the draft.
    pub parts: Vec<Part>,
}

/// Prompts said earlier: those of the conversation that changed last come first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct History {
    /// Only in conversations of this folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// At most so many.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
    /// Only those behind this place, which the page before named as `earlier`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
}

/// Asks for names of files: those whose path goes on as `prefix` does, then those whose name does, then those that hold it. Of a
/// conversation or of a folder, and of nothing outside of it; what ignore files leave out, and what rules keep from being read,
/// is not named.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Paths {
    /// In the folder of this conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// In this folder, absolute, where there is no conversation yet.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// What is typed so far, from the folder. Hidden files are named where their name is begun with its dot.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub prefix: String,
    /// At most so many; 50, without.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<usize>,
}
