//! Requests about memory: facts that later conversations recall. A change of memory is an entry of a conversation, so that a rewind
//! takes it back.

use serde::{Deserialize, Serialize};

#[cfg(feature = "schema")]
use super::LARGEST_PAGE;
#[cfg(feature = "schema")]
use crate::shape;

/// A request for remembered facts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ListMemory {
    /// Only the facts that count in this conversation: those of its folder and those for all folders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// Only the facts of this folder and those for all folders, as an absolute path. It is ignored if a conversation is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::ABSOLUTE)))]
    pub folder: Option<String>,
    /// Only facts with one of these words. Those with most of them come first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query: Option<String>,
    /// The maximum number of facts: 1 to 1000. Default: 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = LARGEST_PAGE)))]
    pub limit: Option<usize>,
}

/// Names the conversation for facts that belong to no other conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryHome {
    /// The folder of the facts, as an absolute path. Default: they are facts for all folders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::ABSOLUTE)))]
    pub folder: Option<String>,
}

/// A fact to remember.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Remember {
    /// The conversation that gets the entry.
    pub conversation: String,
    /// The words, at most 1000 characters.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::SAYS_SOMETHING)))]
    pub text: String,
    /// Whether the fact counts in all folders, not only in that of the conversation.
    #[serde(default)]
    pub everywhere: bool,
    /// The id of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::REQUEST_ID)))]
    pub request_id: Option<String>,
}

/// New words for a remembered fact. It gets a new id.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EditMemory {
    /// The conversation that gets the entry.
    pub conversation: String,
    /// The id of the fact, or a unique prefix of it (4 characters or more).
    pub fact: String,
    /// The new words, at most 1000 characters.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::SAYS_SOMETHING)))]
    pub text: String,
    /// The id of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::REQUEST_ID)))]
    pub request_id: Option<String>,
}

/// A remembered fact to forget.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Forget {
    /// The conversation that gets the entry.
    pub conversation: String,
    /// The id of the fact, or a unique prefix of it (4 characters or more).
    pub fact: String,
    /// The id of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::REQUEST_ID)))]
    pub request_id: Option<String>,
}
