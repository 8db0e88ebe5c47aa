//! Work on posts: what a gateway is to do, and what it reports. Must never name a platform.

use super::{Deletion, Post, PostFailure, PostKey, StayCause};
use crate::chat::PostCounts;
use crate::id::{ConversationId, Time};

/// Work on a post, with what it shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostWork {
    /// The name of the post.
    pub key: PostKey,
    /// Its conversation.
    pub conversation: ConversationId,
    /// What to do.
    pub task: PostTask,
    /// The post.
    pub post: Post,
    /// The text of an answer, and whether the answer was interrupted.
    pub text: Option<(String, bool)>,
    /// What became of the posts of the step that a notice tells of.
    pub counts: PostCounts,
    /// The texts of its buttons, in their order: only those that name a turn have one.
    pub labels: Vec<String>,
}

/// What a gateway is to do with a post.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PostTask {
    /// Send it.
    Send,
    /// Find out whether it was sent, and send it if not.
    Resend,
    /// Replace its text.
    Edit,
    /// Delete it.
    Delete,
}

/// What a gateway reports.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PostResult {
    /// The request leaves.
    Sending {
        /// The parts of the message.
        parts: u32,
        /// The digest of this part.
        digest: String,
        /// Whether it shows a part of an answer that is being written.
        is_preview: bool,
    },
    /// The platform has it.
    Sent {
        /// Its ids.
        ids: Vec<String>,
        /// When, by the platform's clock.
        at: Time,
        /// Until when it can be deleted.
        deadline: Option<Time>,
        /// Whether there is a way to delete it.
        deletable: bool,
    },
    /// The answer was lost.
    Lost,
    /// Not now.
    Later(Time),
    /// Never.
    Failed(PostFailure),
    /// Its text was replaced.
    Edited {
        /// Further ids, if the edit is a message.
        ids: Vec<String>,
        /// Whether it shows a part of an answer that is being written.
        is_preview: bool,
    },
    /// The request for its deletion leaves. `untouched`: earlier ones certainly did not delete it.
    Deleting {
        /// Whether the platform has answered all earlier requests of this gateway, and deleted nothing.
        untouched: bool,
    },
    /// It was deleted.
    Deleted(Deletion),
    /// It stays.
    Stays(StayCause),
}
