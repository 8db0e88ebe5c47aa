//! Events for subscribers of a conversation, or of the list: first a snapshot, then every change. Must never hold content for a
//! composer: only the client that made the request gets that.

use serde::{Deserialize, Serialize};

use crate::agent::{Asks, CallShown, Question};
use crate::reply::{Changes, Conversation, Conversations, Draft, Entry, Permissions, Words};
use crate::run::RunEvent;

/// What to follow.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Follow {
    /// The conversation. Default: the list of all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// The id of the last event that was seen: what changed since comes first. Without it, or where that is too long ago, a
    /// snapshot does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
}

/// An event with its id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Told {
    /// Name this to go on from here. Events that are not stored, such as pieces of an answer, have none.
    pub id: Option<String>,
    /// What happened.
    pub event: Event,
}

/// Something that happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// The state of a conversation: it replaces all that a client has of it.
    Snapshot(Box<Snapshot>),
    /// What changed in a conversation since the last event that had an id.
    Changed(Box<Changed>),
    /// What the current run has said so far, for a client that joins during a run or reconnects; also that nothing runs. It replaces all
    /// that a client knows of runs.
    Now(Box<RunNow>),
    /// Something that a run says.
    Run {
        /// The event of the run.
        said: RunEvent,
    },
    /// All drafts of a conversation: when one of them changed, and for a client that reconnects.
    Drafts {
        /// The drafts, by the names of their authors.
        drafts: Vec<Draft>,
    },
    /// The list of conversations, newest first: it replaces all that a client has of it.
    List(Conversations),
    /// A conversation is new in the list, or its row changed.
    Listed(Box<Conversation>),
}

/// How a conversation is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Snapshot {
    /// The conversation in short.
    pub conversation: Conversation,
    /// The newest entries of its timeline, in path order.
    pub entries: Vec<Entry>,
    /// Whether there are earlier ones.
    pub earlier: bool,
    /// Whether a run is at work.
    pub running: bool,
    /// Words that wait, oldest first.
    pub waiting: Vec<Words>,
    /// What the agent may do.
    pub permissions: Permissions,
    /// All drafts, by the names of their authors.
    pub drafts: Vec<Draft>,
    /// Calls of the last answer that were cut off before they began, as a run names them: nothing has changed by them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unbegun: Vec<String>,
    /// Calls that had begun and were cut off before there was a result, as a run names them, as far as the entries here say. What they
    /// did is not known, nor what they went on to do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut_off: Vec<String>,
}

/// What changed in a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Changed {
    /// The conversation in short, as it is now.
    pub conversation: Conversation,
    /// What came and went.
    pub changes: Changes,
}

/// What the run at work has said so far.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunNow {
    /// The model that answers; absent if nothing runs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The answer up to now, as far as it is not stored.
    pub text: String,
    /// The model's reasoning, of the same.
    pub reasoning: String,
    /// Calls that run.
    pub calls: Vec<CallNow>,
    /// Calls that wait for an approval.
    pub asks: Vec<Asks>,
    /// What tools ask.
    pub questions: Vec<Question>,
}

/// A call that runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallNow {
    /// The call.
    pub call: CallShown,
    /// The end of what it has printed.
    pub printed: String,
    /// When it began, Unix milliseconds; only of calls of which something may stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began_ms: Option<i64>,
}
