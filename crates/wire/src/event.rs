//! Events for subscribers of a conversation, or of the list of conversations: first a snapshot, then every change. Must never
//! contain content for a composer: only the client that made the request gets that.

use serde::{Deserialize, Serialize};

use crate::agent::{CallShown, PendingApproval, Question};
use crate::reply::{Changes, Conversation, Conversations, Draft, Entry, Permissions, Words};
use crate::run::RunEvent;

/// A subscription to events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Follow {
    /// The conversation. Default: the list of all conversations.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// The id of the last event that the client received. The stream then begins with the changes since that event. Without it,
    /// or if the event is too old, the stream begins with a snapshot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
}

/// An event with its id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NumberedEvent {
    /// The id to resume from after this event. Events that are not stored, such as pieces of an answer, have none.
    pub id: Option<String>,
    /// The event.
    pub event: Event,
}

/// An event for a subscriber.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The state of a conversation. It replaces everything that a client knows about the conversation.
    Snapshot(Box<Snapshot>),
    /// The changes of a conversation since the last event that had an id.
    Changed(Box<Changed>),
    /// The current run so far, for a client that joins during a run or reconnects. Also sent to say that no run is active. It
    /// replaces everything that a client knows about runs.
    Now(Box<RunNow>),
    /// An event of a run.
    Run {
        /// The event.
        said: RunEvent,
    },
    /// All drafts of a conversation, sent when one of them changes and when a client reconnects.
    Drafts {
        /// The drafts, sorted by the names of their authors.
        drafts: Vec<Draft>,
    },
    /// The list of conversations, newest first. It replaces the list that a client has.
    List(Conversations),
    /// A conversation that is new in the list, or that has changed.
    Listed(Box<Conversation>),
}

/// The state of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Snapshot {
    /// The summary of the conversation.
    pub conversation: Conversation,
    /// The newest entries of its timeline, in path order.
    pub entries: Vec<Entry>,
    /// Whether there are earlier entries.
    pub earlier: bool,
    /// Whether a run is active.
    pub running: bool,
    /// The waiting messages, oldest first.
    pub waiting: Vec<Words>,
    /// The permissions of the agent.
    pub permissions: Permissions,
    /// All drafts, sorted by the names of their authors.
    pub drafts: Vec<Draft>,
    /// The ids of calls of the last answer that were interrupted before they began, as in run events. They changed nothing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unbegun: Vec<String>,
    /// The ids of calls, as in run events, that began and were interrupted before they had a result. Only calls of the entries in
    /// this snapshot are listed. It is not known what they did, or what they continued to do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut_off: Vec<String>,
}

/// The changes of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Changed {
    /// The current summary of the conversation.
    pub conversation: Conversation,
    /// The changes.
    pub changes: Changes,
}

/// The current run so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunNow {
    /// The model that answers. Absent if no run is active.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The text of the answer so far that is not stored yet.
    pub text: String,
    /// The model's reasoning for that part of the answer.
    pub reasoning: String,
    /// The running calls.
    pub calls: Vec<CallNow>,
    /// The calls that wait for an approval.
    pub asks: Vec<PendingApproval>,
    /// The open questions of tools.
    pub questions: Vec<Question>,
}

/// A running call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallNow {
    /// The call.
    pub call: CallShown,
    /// The end of its output so far.
    pub printed: String,
    /// When the call began, in Unix milliseconds. Only for calls that may have lasting effects.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began_ms: Option<i64>,
}
