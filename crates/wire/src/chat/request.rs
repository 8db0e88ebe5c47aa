//! The requests of a gateway, and their replies. A gateway's token permits these and nothing else.

use serde::{Deserialize, Serialize};

use super::notice::ChatNotice;
use super::work::{PostOutcome, PostWork};
use super::{Audience, Inbound, Place};
use crate::content::Part;

/// Connects a gateway to its account. One gateway at a time has it; its lease lasts a minute, and each of its requests renews it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GatewayConnect {
    /// The account.
    pub account: String,
    /// The name of this gateway, for others that want the account: its process and machine.
    pub holder: String,
    /// The gateway that has the account until now, if it is known to have ended: its lease ends now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaces: Option<String>,
}

/// What a gateway needs to begin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GatewayConnected {
    /// Where the events ended, if there were some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// The holds that are in force: at most one for each bucket.
    pub holds: Vec<Hold>,
    /// The places that are bound to a conversation: bounded by the places of the account.
    pub places: Vec<BoundPlace>,
}

/// A time until which nothing is sent to a bucket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hold {
    /// The name of the bucket.
    pub bucket: String,
    /// Until when, in Unix milliseconds.
    pub until_ms: i64,
}

/// A place that is bound to a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BoundPlace {
    /// The place.
    pub place: Place,
    /// The platform id of the last message that arrived from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_message: Option<String>,
}

/// An event of the platform. When the reply comes, it is durable, and can be acknowledged to the platform.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Arrive {
    /// The account.
    pub account: String,
    /// The name of this gateway.
    pub holder: String,
    /// The name of the event, unique in the account. An event that arrives again with this name gets the first reply, and nothing
    /// is done.
    pub transport_key: String,
    /// The event.
    pub event: Inbound,
    /// Further messages that were joined with the first one: the rest of an album, or of a text that the client cut. Each name is
    /// recorded with the same outcome, so that one of them that arrives again alone is recognised.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<JoinedMessage>,
    /// The fetched files of the message, and the transcript of a voice message.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// The command that the message is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<ChatCommand>,
    /// Whether the person moderates the place. Only asked for commands that may need it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub moderates: bool,
    /// Whether the message was missed and is too old to be answered: it is stored without a turn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_late: bool,
}

/// A message that was joined with another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct JoinedMessage {
    /// The name of its event, unique in the account.
    pub transport_key: String,
    /// Its platform id.
    pub message: String,
    /// The length of its own text at the end of the texts before it, in bytes of UTF-8.
    pub text_bytes: u32,
    /// How many of the files are its own, after those of the messages before it.
    #[serde(default)]
    pub files: u32,
    /// Whether its text goes on where the client cut the one before. Otherwise a line break is between two texts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_rest: bool,
}

/// A command that a person wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct ChatCommand {
    /// What to do.
    pub verb: ChatVerb,
    /// How many turns or steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub count: Option<u32>,
}

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ChatVerb {
    /// Take back turns: `count` of them, or those from the replied message on. Without either, the turns are listed.
    Rewind,
    /// Undo steps.
    Undo,
    /// Do undone steps again.
    Redo,
    /// Answer the last message again.
    Retry,
    /// Take back the turn of the replied message only.
    Drop,
    /// Stop the run.
    Stop,
    /// Begin a new conversation in this place.
    New,
    /// List the commands.
    Help,
    /// Say what is going on.
    Status,
    /// List the posts that stay.
    Posts,
    /// Do what the newest question to this person asks about.
    Confirm,
    /// Leave everything as it is.
    Cancel,
}

/// What became of an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Arrived {
    /// What became of it.
    pub outcome: Arrival,
    /// Whether it had arrived before: then nothing was done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
}

/// What became of an event.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "arrival", rename_all = "snake_case")]
pub enum Arrival {
    /// A prompt: it is answered.
    Said {
        /// The conversation.
        conversation: String,
    },
    /// It is stored, and not answered: it came too late.
    Observed,
    /// A command or an edit was carried out, or refused. What people read of it is a post.
    Done,
    /// Nothing is stored.
    Ignored,
    /// The author is not known here, and nothing of the event is stored. With a code, tell it to the author in one sentence.
    Stranger {
        /// The pairing code.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        code: Option<String>,
    },
    /// A press was handled: show this to the person who pressed.
    Pressed {
        /// What to show.
        notice: ChatNotice,
    },
}

/// Records where the events of an account end: everything before is durable.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GatewayCursor {
    /// The account.
    pub account: String,
    /// The name of this gateway.
    pub holder: String,
    /// The place, in the platform's words.
    pub cursor: String,
}

/// Takes the next work of an account. Waits for it, if there is none.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GatewayTake {
    /// The account.
    pub account: String,
    /// The name of this gateway.
    pub holder: String,
    /// How long to wait for work, in milliseconds: at most 30,000. Default: not at all.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(range(max = 30_000)))]
    pub wait_ms: u64,
    /// The most pieces of work: 1 to 100. Default: 20.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = 100)))]
    pub most: Option<u32>,
    /// Where answers can be shown while they are written. Absent: nowhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previews: Option<Previews>,
}

/// Where a platform can show an answer while it is written: by edits of a post.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Previews {
    /// In which places.
    pub audiences: Vec<Audience>,
    /// Whether the first post has no text: the platform does not recognise a request that it gets twice.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub begin_empty: bool,
}

/// Work of an account. It is leased for a minute; without an outcome until then, it is due again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GatewayWork {
    /// The work, in the order in which it should be done.
    pub work: Vec<PostWork>,
}

/// Reports what became of a piece of work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GatewaySettle {
    /// The account.
    pub account: String,
    /// The name of this gateway.
    pub holder: String,
    /// The post.
    pub post: String,
    /// What became of it.
    pub result: PostOutcome,
}

/// The reply to a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GatewaySettled {
    /// Whether the post is still wanted. If not, and its request has not left, it must not leave.
    pub is_wanted: bool,
}

/// Records a hold that the platform asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GatewayHold {
    /// The account.
    pub account: String,
    /// The name of this gateway.
    pub holder: String,
    /// The name of the bucket.
    pub bucket: String,
    /// Until when, in Unix milliseconds.
    pub until_ms: i64,
}
