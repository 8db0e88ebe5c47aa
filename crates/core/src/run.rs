//! Runs: the schedule of answers. At most one runs and one waits in a conversation, from all clients together. Every change of
//! them is a step of this machine, made inside a transaction (spec `playground.md`, sections 7 and 10).
//!
//! A waiting run records the tail that it answers, which is compared with the current one when the run is claimed. A claimed run
//! writes with a *fence*: once it is over, rewound or taken over, its writes are refused.

use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::content::Part;
use crate::id::{Pos, RequestId, Time};
use crate::mark::Mark;

mod step;

pub use step::{RunEffect, RunEnding, RunInput, Stepped};

/// The number of a run in its conversation: 1, 2, 3 …
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunNo(pub u64);

/// Permits the writes of a run: a higher one each time a run of the conversation is claimed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fence(pub u64);

/// How long a run may go without renewing its claim, in milliseconds, before it counts as dead.
pub const STALE_AFTER_MS: i64 = 10 * 60 * 1000;

/// The most messages that wait in a conversation: they are sent together, and listed as a whole.
pub(crate) const MOST_WORDS: usize = 1000;

/// The state of a run.
///
/// ```text
/// queued ──claimed──▶ running ──▶ succeeded | failed | canceled
/// queued ──its tail has changed──▶ skipped
/// queued ──withdrawn──▶ canceled
/// queued ──its messages joined the running one──▶ succeeded
/// ```
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, EnumString, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "snake_case")]
pub enum RunState {
    /// It waits for its turn.
    Queued,
    /// It has been claimed.
    Running,
    /// Its answer is stored.
    Succeeded,
    /// It gave no answer.
    Failed,
    /// A person stopped it, or rewound the entry that it answers.
    Canceled,
    /// It never ran: the entry that it answers was no longer there.
    Skipped,
}

impl RunState {
    /// Every state.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// The name used in every format.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The state with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        name.parse().ok()
    }

    /// Whether it is final.
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }
}

/// What happens to messages that arrive during a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum Steer {
    /// They wait until it is over.
    #[default]
    Queue,
    /// They join it before the model is called the next time.
    Join,
    /// They stop it.
    Interrupt,
}

impl Steer {
    /// Every way.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// The name used in every format.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The way with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        name.parse().ok()
    }
}

/// The end of the scheduling projection, with its alternatives and its mark: the entry that a run answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tail {
    /// The last entry; none in an empty conversation.
    pub entry: Option<Pos>,
    /// The number of alternatives in its place, itself included.
    pub alternatives: u32,
    /// Its mark.
    pub mark: Mark,
}

/// A waiting message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words {
    /// Its content.
    pub parts: Vec<Part>,
    /// Its author.
    pub author: String,
    /// Its request.
    pub request: Option<RequestId>,
    /// The digest of the request in its author's wording.
    pub wording: Option<crate::Digest>,
    /// When it was typed.
    pub time: Time,
    /// The message of a chat that it comes from.
    pub chat: Option<std::sync::Arc<crate::chat::ChatArrival>>,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Its number.
    pub no: RunNo,
    /// Its state.
    pub state: RunState,
    /// For a waiting run: how it begins.
    pub steer: Steer,
    /// Messages that are appended when it is claimed, oldest first. If that never happens, they stay here: no prompt is lost.
    pub words: Vec<Words>,
    /// The entry that it answers: compared when it is claimed; with messages of its own, only this entry must be on the path.
    pub tail: Tail,
    /// The model; without one, the configured model.
    pub model: Option<String>,
    /// Permits its writes, once it is claimed.
    pub fence: Fence,
    /// The epoch of the owner that claimed it.
    pub owner: u64,
    /// When it was requested.
    pub created: Time,
    /// When its claim was last renewed.
    pub beat: Time,
    /// When it was first asked to stop.
    pub cancel: Option<Time>,
    /// When it ended.
    pub ended: Option<Time>,
    /// Why it did not succeed: a stable word.
    pub error: Option<String>,
}

/// A request for a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRun {
    /// The message that it begins with; none for an answer to the current path.
    pub words: Option<Words>,
    /// How it begins.
    pub steer: Steer,
    /// With a message: the last entry that its author saw.
    pub seen: Option<Pos>,
    /// The model.
    pub model: Option<String>,
}

/// The live runs of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    /// The running one.
    pub running: Option<Run>,
    /// The waiting one.
    pub queued: Option<Run>,
    /// The number of the last one.
    pub last: RunNo,
    /// The last fence.
    pub fence: Fence,
}

/// The input of a step: the current state of the conversation.
pub struct RunGround<'a> {
    /// The end of the scheduling projection.
    pub tail: Tail,
    /// The owner's epoch.
    pub owner: u64,
    /// Whether an entry is on the path.
    pub on_path: &'a dyn Fn(Pos) -> bool,
    /// The mark of an entry.
    pub mark: &'a dyn Fn(Pos) -> Mark,
}

/// Why a step is refused. Nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunRefusal {
    /// A run is at work.
    Running,
    /// The limit of waiting messages is reached.
    TooManyWords,
    /// A run waits already, and has no messages to which others could be added.
    Waiting,
    /// No run waits.
    NothingQueued,
    /// No run is at work.
    NothingRuns,
    /// Other messages are waiting by now than those that were prepared.
    OtherWords,
    /// The fence is no longer valid: the run is over, was stopped, or was taken over.
    Fenced,
}

#[cfg(test)]
mod tests;
