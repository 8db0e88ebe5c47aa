//! The interface for rows of turns with tools.

use retake_core::{
    ConversationId, Effect, EffectClass, EffectState, Fact, MemoryId, Part, Permission, Run, RunNo, Runs,
    StartedCall, Time,
};

use super::{ConversationRow, Key, LogNo};
use crate::error::Result;

/// Rows of facts, within one transaction.
pub trait FactRows {
    /// The last fact of a key in a log, up to this entry: its entry and its value.
    fn fact_before(&self, log: LogNo, key: &str, seq: u64) -> Result<Option<(u64, String)>>;
    /// The first key of a fact in a log that is not less than `from`.
    fn fact_key(&self, log: LogNo, from: &str) -> Result<Option<String>>;
    /// The facts of all logs that remember or forget: with this id, or all of them. In order of their keys, as entry, key and value.
    fn memory(&self, id: Option<&MemoryId>) -> Result<Vec<(Key, String, String)>>;
}

/// Rows of effects: the ledger of calls, within one transaction.
pub trait EffectRows {
    /// Adds the effect of a call that this entry requests.
    fn insert_effect(&mut self, root: LogNo, key: Key, effect: &Effect) -> Result<()>;
    /// Sets the state of a call; returns its log if the call exists.
    fn set_effect(&mut self, call: &str, state: EffectState) -> Result<Option<LogNo>>;
    /// When a call with this name was recorded, if it exists, and its state.
    fn effect_began(&self, call: &str) -> Result<Option<(Time, EffectState)>>;
    /// The last effects that outlive a rewind in a range of a log, newest first, at most `limit`.
    fn effects_in(&self, log: LogNo, from: u64, to: u64, limit: usize) -> Result<Vec<Effect>>;
    /// All effects in a range of a log with the entries that request them, in the order in which they were recorded.
    fn ledger(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<(u64, Effect)>>;
    /// The same, shortened.
    fn begun(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<(u64, StartedCall)>>;
    /// The last effect before a place (log and entry) that outlives a rewind, for a call with this digest in a tree of forks.
    fn effect_like(&self, root: LogNo, print: [u8; 16], before: Key) -> Result<Option<(Key, Effect)>>;
}

/// Rows of runs and permissions, within one transaction.
pub trait RunRows {
    /// The live runs of a log, the last number and the last fence.
    fn live_runs_of(&self, log: LogNo) -> Result<Runs>;
    /// Adds or overwrites a run. A second running or waiting one is an error.
    fn set_run(&mut self, home: &ConversationRow, run: &Run) -> Result<()>;
    /// The runs of a log, newest first, at most `limit`.
    fn runs_of(&self, log: LogNo, limit: usize) -> Result<Vec<Run>>;
    /// The runs of a range of numbers, both ends included, in their order.
    fn runs_in(&self, log: LogNo, from: RunNo, to: RunNo) -> Result<Vec<Run>>;
    /// The live runs of all logs.
    fn live_runs(&self) -> Result<Vec<(ConversationId, Run)>>;

    /// The permissions of a log.
    fn permission(&self, log: LogNo) -> Result<Option<Permission>>;
    /// Sets them.
    fn set_permission(&mut self, home: &ConversationRow, permission: &Permission) -> Result<()>;
}

/// The facts of an entry. Of two with one key the later one counts.
pub(crate) fn facts_of(parts: &[Part]) -> impl Iterator<Item = &Fact> {
    let facts = parts.iter().filter_map(|part| match part {
        Part::Facts(facts) => Some(facts),
        _ => None,
    });
    facts.flatten()
}

/// Whether an effect outlives a rewind: no step of the store reverts it.
pub(crate) fn outlives(class: EffectClass) -> bool {
    matches!(class, EffectClass::Compensable | EffectClass::External)
}
