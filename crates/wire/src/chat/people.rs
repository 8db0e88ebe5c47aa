//! People of chats, and the ledger of posts, for the owner's clients.

use serde::{Deserialize, Serialize};

use super::work::{Deletion, PostFailure, PostKind, StayCause};
use super::{Audience, Place};
#[cfg(feature = "schema")]
use crate::request::LARGEST_PAGE;

/// Pairs the person who waits with this code.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pair {
    /// The code that the person was told.
    pub code: String,
    /// Whether the person may do everything in the chat, such as allow a group. Otherwise they may talk, and take back their own turns.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub as_owner: bool,
}

/// Takes the rights of a person away.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unpair {
    /// The account.
    pub account: String,
    /// The platform's id of the person.
    pub person: String,
}

/// Binds a place to a conversation: what is written there from now on belongs to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Bind {
    /// The place. Somebody must have written there before.
    pub place: Place,
    /// The conversation. Absent: none. A group is not answered any more then, until an owner writes there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
}

/// The places of chats that are bound to conversations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Places {
    /// The places. The list is bounded by the chats and threads in which somebody wrote.
    pub places: Vec<PlaceLine>,
}

/// A place that is bound to a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlaceLine {
    /// The place.
    pub place: Place,
    /// The conversation.
    pub conversation: String,
    /// Who can read the place.
    pub audience: Audience,
}

/// The people of all accounts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct People {
    /// The people. The list is bounded by those who were paired or asked for it.
    pub people: Vec<ChatMember>,
}

/// A person of a chat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChatMember {
    /// The account.
    pub account: String,
    /// The platform's id of the person.
    pub person: String,
    /// The name that people see: untrusted.
    pub name: String,
    /// What they may do.
    pub role: MemberRole,
}

/// What a person of a chat may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum MemberRole {
    /// Nothing: they have asked.
    Stranger,
    /// To talk, and to take back their own turns.
    Member,
    /// Everything.
    Owner,
}

/// A request for the posts of a conversation, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PostsOf {
    /// The conversation.
    pub conversation: String,
    /// Only those that stay in the chat although they were taken back.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stays: bool,
    /// The maximum number of posts: 1 to 1000. Default: 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = LARGEST_PAGE)))]
    pub limit: Option<usize>,
    /// Only posts before this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
}

/// A page of posts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Posts {
    /// The posts, newest first.
    pub posts: Vec<PostLine>,
    /// Whether older ones exist.
    pub more: bool,
}

/// A post.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PostLine {
    /// Its id in the ledger.
    pub post: String,
    /// Its kind.
    pub kind: PostKind,
    /// Its place.
    pub place: Place,
    /// The entry that it shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    /// Its part of the message, from 1.
    pub part: u32,
    /// Its state.
    pub state: PostStatus,
    /// When it was sent, by the platform's clock, in Unix milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sent_ms: Option<i64>,
    /// Until when it can be deleted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ms: Option<i64>,
    /// Whether it came with an import: it is history of another owner, and no gateway does anything with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_imported: bool,
}

/// The state of a post.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum PostStatus {
    /// It is to be sent.
    Planned,
    /// Its request may have left.
    Sending,
    /// It may be in the chat: the platform's answer was lost.
    Unknown,
    /// It is in the chat.
    Sent,
    /// It is in the chat, and being deleted.
    Deleting,
    /// It is not in the chat any more.
    Gone {
        /// How.
        how: Deletion,
    },
    /// It stays in the chat, although it was taken back.
    Stays {
        /// Why.
        why: StayCause,
    },
    /// It could not be sent.
    Failed {
        /// Why.
        why: PostFailure,
    },
    /// It was never sent.
    Cancelled,
}
