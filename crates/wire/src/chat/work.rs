//! What the owner wants done on a chat platform, and what became of it. Must never hold the name of a platform.

use serde::{Deserialize, Serialize};

use super::notice::ChatNotice;
use super::{ChatButton, Place};

/// The kind of a post.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, strum::IntoStaticStr)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum PostKind {
    /// A part of an answer.
    Answer,
    /// Shows an answer while it is written.
    Preview,
    /// A message of ours that belongs to no turn.
    Notice,
    /// A request for an approval, with buttons.
    Approval,
}

/// A piece of work on one post.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PostWork {
    /// The post, by its id in the ledger.
    pub post: String,
    /// Its kind.
    pub kind: PostKind,
    /// Its place.
    pub place: Place,
    /// What to do.
    pub action: PostAction,
    /// How often it was tried before.
    #[serde(default)]
    pub attempts: u32,
}

/// What to do with a post.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "do", rename_all = "snake_case")]
pub enum PostAction {
    /// Send it. Report `sending` before the request leaves, and then what became of it.
    Send {
        /// The content of all parts of the message together.
        content: PostContent,
        /// The part to send, from 0. The parts follow from the content and the platform.
        part: u32,
        /// The message that it replies to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reply_to: Option<String>,
        /// An earlier attempt whose answer was lost: when it began, in Unix milliseconds, and the digest of what was sent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lost: Option<LostAttempt>,
    },
    /// Replace its text.
    Edit {
        /// Its new content.
        content: PostContent,
        /// Its platform ids.
        ids: Vec<String>,
    },
    /// Delete it.
    Delete {
        /// Its platform ids: the message, and its edits where they are messages.
        ids: Vec<String>,
        /// When it was sent, by the platform's clock.
        sent_ms: i64,
        /// Until when it can be deleted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline_ms: Option<i64>,
    },
}

/// An attempt to send whose answer was lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LostAttempt {
    /// When it began, in Unix milliseconds.
    pub began_ms: i64,
    /// The digest of what was sent.
    pub digest: String,
    /// How many answers were lost. Where a post cannot be recognised, it is sent only once more.
    #[serde(default = "once")]
    pub times: u32,
}

/// One lost answer.
fn once() -> u32 {
    1
}

/// The content of a post, before it has a platform's form.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "content", rename_all = "snake_case")]
pub enum PostContent {
    /// A text in Markdown.
    Markdown {
        /// The text.
        text: String,
        /// Whether it ended before it was complete.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_interrupted: bool,
        /// Rows of buttons below it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        buttons: Vec<Vec<ChatButton>>,
    },
    /// The beginning of an answer that is being written. One post shows as much of it as it can, as plain text.
    Preview {
        /// The text so far. Empty: a post that says that an answer is being written.
        text: String,
    },
    /// A fixed sentence with values.
    Notice {
        /// The values.
        notice: ChatNotice,
        /// Rows of buttons below it.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        buttons: Vec<Vec<ChatButton>>,
    },
}

/// What became of a piece of work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "outcome", rename_all = "snake_case", deny_unknown_fields)]
pub enum PostOutcome {
    /// The request leaves now: one that sends the post, or one that replaces its text. If the reply says that it is not wanted any
    /// more, it must not. Not needed for the edit of a notice.
    Sending {
        /// How many parts the message has on this platform.
        parts: u32,
        /// The digest of this part.
        digest: String,
        /// Whether the content is a preview.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_preview: bool,
    },
    /// The platform has it.
    Sent {
        /// All ids that the platform gave.
        ids: Vec<String>,
        /// When, by the platform's clock, in Unix milliseconds.
        sent_ms: i64,
        /// Until when it can be deleted. Absent: there is no such time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        deadline_ms: Option<i64>,
        /// Whether the platform has a way to delete it.
        #[serde(default = "yes")]
        deletable: bool,
    },
    /// The answer was lost: it may be there.
    Lost,
    /// It was not done. Try again then.
    Later {
        /// When, in Unix milliseconds.
        at_ms: i64,
    },
    /// It cannot be sent.
    Failed {
        /// Why.
        why: PostFailure,
    },
    /// Its text was replaced.
    Edited {
        /// Further ids, if the edit is a message.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        ids: Vec<String>,
        /// Whether the content was a preview.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        is_preview: bool,
    },
    /// The request for its deletion leaves now. If the reply says that the post is wanted, it must not.
    Deleting {
        /// Whether this gateway has asked the platform before, and the platform said that it deleted nothing.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        untouched: bool,
    },
    /// It was deleted.
    Deleted {
        /// How.
        how: Deletion,
    },
    /// It stays in the chat.
    Stays {
        /// Why.
        why: StayCause,
    },
}

/// The usual answer.
fn yes() -> bool {
    true
}

/// How a post was deleted.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, strum::IntoStaticStr, strum::EnumString,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Deletion {
    /// It is gone, by us or before.
    Gone,
    /// An empty message remains.
    Emptied,
    /// The clients were asked to remove it.
    Asked,
}

/// Why a post stays.
#[derive(
    Clone,
    Copy,
    Debug,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    strum::EnumString,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum StayCause {
    /// It is too old.
    TooOld,
    /// We may not delete here.
    NotPermitted,
    /// The platform has no way.
    NoWay,
    /// Messages of other people depend on it.
    HasReplies,
    /// The thread is closed.
    ClosedThread,
    /// A person chose to keep it.
    Kept,
    /// It was tried for too long.
    GaveUp,
}

/// Why a post cannot be sent.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, strum::IntoStaticStr, strum::EnumString,
)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum PostFailure {
    /// We may not post there.
    NotPermitted,
    /// The platform refused it.
    Refused,
    /// It was tried for too long.
    GaveUp,
}

/// How many posts of a step are in which state: what is in the chat now. The sum is the number in the plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PostCounts {
    /// Gone.
    #[serde(default)]
    pub gone: u32,
    /// An empty message remains.
    #[serde(default)]
    pub emptied: u32,
    /// The clients were asked.
    #[serde(default)]
    pub asked: u32,
    /// Still being deleted.
    #[serde(default)]
    pub trying: u32,
    /// Perhaps in the chat: the platform's answer to their sending or their deletion was lost.
    #[serde(default)]
    pub unknown: u32,
    /// Those that stay, by the cause. At most one row for each cause.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stays: Vec<StayCount>,
}

/// How many posts stay for one cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StayCount {
    /// The cause.
    pub why: StayCause,
    /// How many.
    pub count: u32,
}

impl PostCounts {
    /// All posts of the step.
    pub fn sum(&self) -> u32 {
        let stays: u32 = self.stays.iter().map(|stays| stays.count).sum();
        self.gone + self.emptied + self.asked + self.trying + self.unknown + stays
    }
}
