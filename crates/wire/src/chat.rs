//! What a chat platform and the owner tell each other: places, people, and inbound events. All texts are untrusted. Must never hold
//! the name of a platform's method or a token.

mod notice;
mod people;
mod request;
mod work;

use serde::{Deserialize, Serialize};

pub use notice::{ChatNotice, ChatRefusal, ChatStep};
pub use people::{
    Bind, ChatMember, MemberRole, Pair, People, PlaceLine, Places, PostLine, PostStatus, Posts, PostsOf,
    Unpair,
};
pub use request::{
    Arrival, Arrive, Arrived, BoundPlace, ChatCommand, ChatVerb, GatewayConnect, GatewayConnected,
    GatewayCursor, GatewayHold, GatewaySettle, GatewaySettled, GatewayTake, GatewayWork, Hold, JoinedMessage,
    Previews,
};
pub use work::{
    Deletion, LostAttempt, PostAction, PostContent, PostCounts, PostFailure, PostKind, PostOutcome, PostWork,
    StayCause, StayCount,
};

/// A button of a post.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChatButton {
    /// What it does.
    pub label: ButtonLabel,
    /// What comes back when it is pressed: at most 64 characters of `[A-Za-z0-9_-]`.
    pub data: String,
}

/// The label of a button.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "label", rename_all = "snake_case")]
pub enum ButtonLabel {
    /// Yes, do it.
    Confirm,
    /// No.
    Cancel,
    /// Allow the call.
    Approve,
    /// Deny the call.
    Deny,
    /// Post again what was removed.
    PostAgain,
    /// Go back to this turn: the beginning of its message, untrusted.
    Turn {
        /// The beginning of the message.
        text: String,
    },
    /// Older turns.
    Older,
    /// Take back only the own turn.
    DropMine,
    /// Send the answers that wait.
    SendWaiting,
    /// Go back to before the turn of the answer above.
    TakeBack,
    /// Say the new wording as a new message.
    SayNew,
}

/// The location of a message: an account, a chat, and a thread in it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Place {
    /// The name of the account: `retake gateway list` shows it.
    pub account: String,
    /// The platform's id of the chat.
    pub chat: String,
    /// The platform's id of the thread, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
}

/// A person, or another bot.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Person {
    /// The platform's id. Names change, this one does not.
    pub id: String,
    /// The name that people see.
    pub name: String,
    /// Whether a program writes with this account.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_bot: bool,
}

/// Who can read a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Audience {
    /// One person and the bot.
    Private,
    /// Several people.
    Shared,
}

/// How a message in a shared place addresses the bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Addressed {
    /// Not at all. In a private place, every message is addressed to the bot; adapters still say `Mention` there.
    No,
    /// It mentions the bot, or stands in a private place.
    Mention,
    /// It replies to a post of the bot.
    Reply,
    /// It is a command with the bot's name.
    Command,
}

/// An inbound event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
pub enum Inbound {
    /// A message.
    Message(InboundMessage),
    /// A message with another wording. `message` is the id of the original.
    Edited(InboundMessage),
    /// A message that its author, or a moderator, deleted.
    Recalled {
        /// Its place.
        place: Place,
        /// Its platform id.
        message: String,
        /// Who deleted it, if the platform says so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Person>,
    },
    /// A button was pressed.
    Pressed {
        /// Where the button stands.
        place: Place,
        /// The platform id of the post with the button.
        post: String,
        /// Who pressed it: never the author of the post.
        person: Person,
        /// The data of the button, as we sent it.
        button: String,
        /// What the adapter needs to answer the press.
        answer_to: String,
    },
    /// A chat has another id from now on.
    Migrated {
        /// The account.
        account: String,
        /// The id until now.
        from: String,
        /// The id from now on.
        to: String,
    },
    /// The bot was added to a chat or removed from it.
    Membership {
        /// The chat.
        place: Place,
        /// Whether it can post there now.
        is_member: bool,
    },
}

/// A message of a person.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct InboundMessage {
    /// Its place.
    pub place: Place,
    /// Who can read the place.
    pub audience: Audience,
    /// Its platform id.
    pub message: String,
    /// Its author.
    pub person: Person,
    /// When it was sent, by the platform's clock, in Unix milliseconds.
    pub sent_ms: i64,
    /// The text. A mention of the bot at its beginning is removed.
    pub text: String,
    /// How it addresses the bot.
    pub addressed: Addressed,
    /// The platform id of the message that it replies to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply_to: Option<String>,
    /// Messages with the same album belong together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub album: Option<String>,
    /// Whether it is a forward: its text is somebody else's, and holds no command for us.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_forward: bool,
    /// Attached files, not fetched yet.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub attached: Vec<InboundFile>,
}

/// A file that is attached to a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct InboundFile {
    /// What the adapter needs to fetch it.
    pub handle: String,
    /// Its name, as the platform says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its media type, as the platform says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// Its size in bytes, if the platform says it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// Whether it is a recorded voice message.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_voice: bool,
}
