//! Runs: who answers when. At most one runs and one waits in a conversation, from all clients together. Every change of them is a step of
//! this machine, taken inside a transaction (spec `playground.md`, sections 7 and 10).
//!
//! A run that waits says what it stands on, and is compared with what is there when it is claimed. A run that was claimed
//! writes with a *fence*: once it is over, stopped by a step back, or taken over, nothing of it can be written any more.

use crate::content::Part;
use crate::id::{Pos, RequestId, Time};
use crate::mark::Mark;

mod step;

pub use step::{RunEffect, RunEnding, RunInput, Stepped};

/// The number of a run in its conversation: 1, 2, 3 …
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RunNo(pub u64);

/// Leave to write for a run: another one, and a higher one, each time a run of the conversation is claimed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fence(pub u64);

/// Without a sign of life for so long, in milliseconds, a run counts as dead.
pub const STALE_AFTER_MS: i64 = 10 * 60 * 1000;

/// So many messages wait for their turn in a conversation at most: they are said together, and listed as a whole.
pub(crate) const MOST_WORDS: usize = 1000;

/// Where a run is.
///
/// ```text
/// queued ──claimed──▶ running ──▶ succeeded | failed | canceled
/// queued ──what it stands on has changed──▶ skipped
/// queued ──taken back──▶ canceled
/// queued ──its words joined the running one──▶ succeeded
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RunState {
    /// It waits for its turn.
    Queued,
    /// It has been claimed.
    Running,
    /// Its answer is stored.
    Succeeded,
    /// It came to no answer.
    Failed,
    /// Somebody stopped it, or took back what it stood on.
    Canceled,
    /// It never ran: what it stood on was no longer there.
    Skipped,
}

impl RunState {
    /// Every state.
    pub const ALL: [Self; 6] =
        [Self::Queued, Self::Running, Self::Succeeded, Self::Failed, Self::Canceled, Self::Skipped];

    /// The name used in every format.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Canceled => "canceled",
            Self::Skipped => "skipped",
        }
    }

    /// The state of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }

    /// Whether nothing comes after it.
    pub fn is_over(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }

    /// Whether the one may follow the other.
    pub fn may_become(self, next: Self) -> bool {
        match self {
            Self::Queued => next != Self::Queued && next != Self::Failed,
            Self::Running => matches!(next, Self::Succeeded | Self::Failed | Self::Canceled),
            _ => false,
        }
    }
}

/// What becomes of words that are said while a run goes on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
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
    pub const ALL: [Self; 3] = [Self::Queue, Self::Join, Self::Interrupt];

    /// The name used in every format.
    pub fn name(self) -> &'static str {
        match self {
            Self::Queue => "queue",
            Self::Join => "join",
            Self::Interrupt => "interrupt",
        }
    }

    /// The way of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|steer| steer.name() == name)
    }
}

/// The end of the scheduling projection, with its alternatives and its mark: what a run answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Tail {
    /// The last entry; none in an empty conversation.
    pub entry: Option<Pos>,
    /// How many entries stand in its place, itself included.
    pub alternatives: u32,
    /// Its mark.
    pub mark: Mark,
}

/// Words that wait to be said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Words {
    /// What.
    pub parts: Vec<Part>,
    /// Whose.
    pub author: String,
    /// By which request.
    pub request: Option<RequestId>,
    /// The digest of the request as its author worded it.
    pub wording: Option<crate::Digest>,
    /// When they were typed.
    pub time: Time,
}

/// A run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// Its number.
    pub no: RunNo,
    /// Where it is.
    pub state: RunState,
    /// Of one that waits: how it takes its turn.
    pub steer: Steer,
    /// Words that are said when it is claimed, oldest first. They stay here when that never happens: no prompt is lost.
    pub words: Vec<Words>,
    /// What it stands on: compared when it is claimed; with words of its own, only this entry has to be on the path.
    pub tail: Tail,
    /// The model that is to answer; the configured one, without.
    pub model: Option<String>,
    /// Leave to write, once it is claimed.
    pub fence: Fence,
    /// The owner that has claimed it, by its epoch.
    pub owner: u64,
    /// When it was asked for.
    pub created: Time,
    /// Its last sign of life.
    pub beat: Time,
    /// When it was first asked to stop.
    pub cancel: Option<Time>,
    /// When it was over.
    pub ended: Option<Time>,
    /// Why it did not succeed: a stable word.
    pub error: Option<String>,
}

/// A run to be asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRun {
    /// Words that it begins with; none for an answer to what is there.
    pub words: Option<Words>,
    /// How it takes its turn.
    pub steer: Steer,
    /// With words: the last entry that their author saw.
    pub seen: Option<Pos>,
    /// The model that is to answer.
    pub model: Option<String>,
}

/// The live runs of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    /// The one that runs.
    pub running: Option<Run>,
    /// The one that waits.
    pub queued: Option<Run>,
    /// The number of the last one.
    pub last: RunNo,
    /// The last fence.
    pub fence: Fence,
}

/// What a step is taken on: the conversation as it is now.
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

/// Why a step is not taken. Nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunRefusal {
    /// One runs.
    Running,
    /// So many words wait already that no more are taken.
    TooManyWords,
    /// One waits already, and has no words that others could be added to.
    Waiting,
    /// None waits.
    NothingQueued,
    /// None runs.
    NothingRuns,
    /// Other words wait by now than were made ready to be said.
    OtherWords,
    /// The run may not write any more: it is over, was stopped, or was taken over.
    Fenced,
}

#[cfg(test)]
mod tests;
