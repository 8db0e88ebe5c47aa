//! Chats: the places that conversations are bound to, where a turn came from, and the posts of its answers. The state of a post
//! follows from what is wanted and from what the platform said (`docs/spec/gateways.md`, section 4). Must never hold a text.

mod counts;
mod joined;
mod notice;
mod post;
mod preview;
mod question;
mod step_posts;

pub use counts::{PostCounts, post_counts};
pub use joined::{ChatShare, join_pieces, split_joined};
pub use notice::{ChatNotice, ChatNoticeKind};
pub use post::{
    Deletion, Post, PostFailure, PostKey, PostKind, PostNo, PostResult, PostStanding, PostState, PostTask,
    PostWork, SendAttempt, StayCause,
};
pub use preview::Preview;
pub use question::{AskedStep, ChatButton, ChatQuestion};
pub use step_posts::{PlacePosts, missing_parts, step_posts};

use crate::id::{ConversationId, EntryId, Seq, Time};

/// The location of a message on a platform.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ChatPlace {
    /// The account.
    pub account: String,
    /// The platform's id of the chat.
    pub chat: String,
    /// The platform's id of the thread.
    pub thread: Option<String>,
}

/// Where a turn came from. It is stored on the entry that opened the turn.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ChatOrigin {
    /// The place.
    pub place: ChatPlace,
    /// The platform's id of the message.
    pub message: String,
    /// The platform's id of its author.
    pub person: String,
    /// If further messages were joined to it: the share of each, itself included, in their order.
    pub joined: Vec<ChatShare>,
}

/// An event that is recorded in the transaction of its effect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatArrival {
    /// Where the message came from.
    pub origin: ChatOrigin,
    /// The names under which the platform delivers it.
    pub keys: Vec<String>,
    /// The platform's ids of further messages that were joined with it, and the digest of each one's content.
    pub also: Vec<(String, [u8; 16])>,
    /// A digest of its own content, to recognise edits without a change.
    pub content: [u8; 16],
}

/// What became of an event. The same event gets it again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArrivalOutcome {
    /// A prompt of this conversation.
    Said(ConversationId),
    /// It is stored without a turn.
    Observed,
    /// A command or an edit.
    Done,
    /// Nothing is stored.
    Ignored,
}

/// A place that is bound to a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatBinding {
    /// The place.
    pub place: ChatPlace,
    /// The conversation.
    pub conversation: ConversationId,
    /// Whether several people can read the place.
    pub is_shared: bool,
    /// The platform's id of the person of a private place.
    pub person: Option<String>,
    /// The platform's id of the last message that arrived from it.
    pub last: Option<String>,
}

/// An account of a platform, as the owner knows it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChatAccount {
    /// Its name.
    pub name: String,
    /// The gateway that has it, and until when.
    pub lease: Option<(String, Time)>,
    /// Where its events end.
    pub cursor: Option<String>,
    /// Wrong pairing codes in a row.
    pub wrong_codes: u32,
}

/// A person on a platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatPerson {
    /// The account.
    pub account: String,
    /// The platform's id.
    pub person: String,
    /// The name that people see.
    pub name: String,
    /// What they may do here.
    pub role: ChatRole,
}

/// What a person may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChatRole {
    /// Nothing. A code was issued, which is valid until then; without one, the last has ended.
    Stranger {
        /// The code, until when it is valid.
        code: Option<([u8; 8], Time)>,
        /// When the last code was issued.
        asked: Time,
    },
    /// To talk, and to take back their own turns.
    Member,
    /// Everything.
    Owner,
}

impl ChatRole {
    /// Whether they may talk.
    pub fn may_talk(self) -> bool {
        matches!(self, Self::Member | Self::Owner)
    }
}

/// A message of a person, as it is known in its conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatMessageRow {
    /// The entry that its last wording became.
    pub entry: Option<Seq>,
    /// Those of earlier wordings, newest first: an undo of an edit brings one of them back. At most 32.
    pub earlier: Vec<Seq>,
    /// The digest of its content.
    pub content: [u8; 16],
}

/// The most earlier wordings of a message that are known.
const WORDINGS_MAX: usize = 32;

impl ChatMessageRow {
    /// The row after a message arrived, for the first time or in another wording.
    pub fn arrived(before: Option<Self>, entry: Option<Seq>, content: [u8; 16]) -> Self {
        let Some(before) = before else { return Self { entry, earlier: Vec::new(), content } };
        let replaced = before.entry.filter(|old| Some(*old) != entry);
        let earlier = replaced.into_iter().chain(before.earlier).take(WORDINGS_MAX).collect();
        Self { entry, earlier, content }
    }

    /// The entries of all wordings, newest first.
    pub fn entries(&self) -> impl Iterator<Item = Seq> {
        self.entry.into_iter().chain(self.earlier.iter().copied())
    }
}

/// The entry of a message or a post in a chat.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChatEntry {
    /// The entry; none for a notice, and for a message that waits.
    pub entry: Option<EntryId>,
    /// The post, if it is one of ours.
    pub post: Option<PostKey>,
    /// Where the turn of the entry came from.
    pub origin: Option<ChatOrigin>,
    /// The digest of the content, for a message of a person; none after an erasure.
    pub content: Option<[u8; 16]>,
}
