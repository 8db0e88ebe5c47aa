//! The plan of an action. Must never leave out what can't be reverted.

use serde::{Deserialize, Serialize};

use super::{Composer, Counts, Line, Steps};
use crate::agent::EffectClass;
use crate::condition::Condition;
use crate::files::FilesPlan;
use crate::op_summary::PlannedStep;

/// What an action would do. Nothing has happened yet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plan {
    /// The conversation.
    pub conversation: String,
    /// The head it was made from; apply it with this one.
    pub head: String,
    /// Nothing would change.
    pub unchanged: bool,
    /// Of an undo or a redo, how far it would go.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<Steps>,
    /// Of an undo or a redo, what each step takes back or brings back, in the order in which that is done, at most 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub step_summaries: Vec<PlannedStep>,
    /// Deprecated, the next version leaves it out: `step_summaries` as English phrases; bounded by them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub step_lines: Vec<String>,
    /// What would leave and come.
    #[serde(flatten)]
    pub timeline: TimelinePlan,
    /// The text that would return to the composer.
    pub composer: Option<Composer>,
    /// What would become of files; absent where they stay as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<FilesPlan>,
    /// Calls that would be taken back and of which processes still run: they are ended first, or it is refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub running: Vec<Running>,
    /// A run is at work: it is ended first, or it is refused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_work: bool,
    /// How many messages wait for its end: the client that ends it gets them back.
    #[serde(default, skip_serializing_if = "is_none")]
    pub waiting: usize,
    /// Calls that would go from the conversation, and that nothing takes back.
    #[serde(default, skip_serializing_if = "Effects::is_empty")]
    pub effects: Effects,
    /// What would not change or cannot be reverted.
    #[serde(default)]
    pub conditions: Vec<Condition>,
    /// Deprecated, the next version leaves it out: `conditions` as English sentences; bounded by them.
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub stays: Vec<String>,
}

/// What would become of the timeline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimelinePlan {
    /// What would leave the timeline.
    pub taken_back: Counts,
    /// The first of that, in path order, at most 20.
    pub gone: Vec<Line>,
    /// What would come into the timeline.
    pub brought_back: Counts,
    /// The first of that, at most 20.
    pub came: Vec<Line>,
    /// Folds that would no longer be in force.
    pub lifted: Vec<String>,
    /// Folds that would be in force and are not now: a new one, or one that comes back.
    pub in_force: Vec<String>,
    /// Of a fold, the first of what it would cover, in path order, at most 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub covers: Vec<Line>,
    /// How many messages it would cover.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub covered: u64,
}

/// Calls that can't be taken back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Effects {
    /// How many there are.
    pub count: u64,
    /// The newest of them, at most 10, newest first.
    pub calls: Vec<EffectLine>,
}

impl Effects {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// A call that can't be taken back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EffectLine {
    /// What it was asked to do, in a line. Deprecated where `words` is not `shown`: it is an English phrase in the place of it then, which
    /// the next version leaves empty.
    pub line: String,
    /// Whether `line` has what it was asked to do.
    #[serde(default, skip_serializing_if = "EffectWords::is_unknown")]
    pub words: EffectWords,
    /// The tool; empty where that was erased.
    pub tool: String,
    /// What it does to the world at most.
    pub class: EffectClass,
    /// When it began, Unix milliseconds.
    pub began_ms: i64,
    /// What came of it.
    pub state: EffectState,
}

/// Whether the words of a call are there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EffectWords {
    /// They are.
    Shown,
    /// Its message is hidden or dropped.
    Hidden,
    /// Its message was erased.
    Erased,
    /// Its message cannot be read.
    Unreadable,
    /// A code of a newer owner, or none of an older one.
    #[default]
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

impl EffectWords {
    /// Whether only its owner knows what it is.
    fn is_unknown(&self) -> bool {
        *self == Self::Unknown
    }
}

/// What came of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EffectState {
    /// It was begun; how it ended is not known.
    Begun,
    /// It did what was asked.
    Done,
    /// It says that it failed; something may have happened all the same.
    Failed,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

/// A call of which processes still run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Running {
    /// The entry that made it.
    pub entry: String,
    /// The number of its processes.
    pub processes: usize,
}
