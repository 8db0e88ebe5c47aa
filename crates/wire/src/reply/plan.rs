//! The plan of an action. Must never leave out what can't be reverted.

use serde::{Deserialize, Serialize};

use super::{Composer, Counts, Line, StepPosts, Steps};
use crate::agent::EffectClass;
use crate::condition::Condition;
use crate::files::FilesPlan;
use crate::op_summary::PlannedStep;

/// The plan of an action: what it would do. Nothing has happened yet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plan {
    /// The id of the conversation.
    pub conversation: String,
    /// The head that the plan was made from. Name this head to apply the plan.
    pub head: String,
    /// Whether nothing would change.
    pub unchanged: bool,
    /// For an undo or a redo: how many steps are possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<Steps>,
    /// For an undo or a redo: the steps that it reverts or brings back, in the order of execution, at most 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub step_summaries: Vec<PlannedStep>,
    /// Deprecated, the next version leaves it out: `step_summaries` as English phrases; bounded by them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub step_lines: Vec<String>,
    /// What would leave the timeline and what would come into it.
    #[serde(flatten)]
    pub timeline: TimelinePlan,
    /// The text that would return to the composer.
    pub composer: Option<Composer>,
    /// What would happen to files. Absent if they stay as they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<FilesPlan>,
    /// Calls that would be reverted and have processes that still run. With the option `stop` these processes are ended first.
    /// Without it the action is refused.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub running: Vec<Running>,
    /// Whether a run is at work. With the option `stop` it is ended first. Without it the action is refused.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub at_work: bool,
    /// The number of messages that wait for the end of that run. The client that ends it gets them back.
    #[serde(default, skip_serializing_if = "is_none")]
    pub waiting: usize,
    /// What would happen outside the conversation and its files.
    #[serde(flatten)]
    pub outside: Outside,
    /// What would not change or cannot be reverted.
    #[serde(default)]
    pub conditions: Vec<Condition>,
    /// Deprecated, the next version leaves it out: `conditions` as English sentences; bounded by them.
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub stays: Vec<String>,
}

/// What would happen to the timeline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimelinePlan {
    /// The numbers of messages, tool calls and turns that would leave the timeline.
    pub taken_back: Counts,
    /// The first of these messages in path order, at most 20.
    pub gone: Vec<Line>,
    /// The numbers of messages, tool calls and turns that would come into the timeline.
    pub brought_back: Counts,
    /// The first of these messages, at most 20.
    pub came: Vec<Line>,
    /// Folds that would no longer be in force.
    pub lifted: Vec<String>,
    /// Folds that would come into force: a new one, or one that comes back.
    pub in_force: Vec<String>,
    /// For a fold: the first messages that it would cover in path order, at most 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub covers: Vec<Line>,
    /// For a fold: the number of messages that it would cover.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub covered: u64,
}

/// What a step does outside the conversation and its files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outside {
    /// Calls that leave the conversation and have effects that no step reverts. Empty in the receipt of a repeated request.
    #[serde(default, skip_serializing_if = "Effects::is_empty")]
    pub effects: Effects,
    /// What happens to the posts in chats.
    #[serde(default, skip_serializing_if = "StepPosts::is_empty")]
    pub posts: StepPosts,
}

/// Calls with effects that cannot be reverted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Effects {
    /// The number of these calls.
    pub count: u64,
    /// The newest of these calls, newest first, at most 10.
    pub calls: Vec<EffectLine>,
}

impl Effects {
    /// Whether there are none of these calls.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// A call with an effect that cannot be reverted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EffectLine {
    /// The call as one line. Deprecated if `words` is not `shown`: then this is the name of the tool, or an English phrase for an
    /// erased call, and the next version leaves it empty.
    pub line: String,
    /// Whether `line` has the text of the call, or why not.
    #[serde(default, skip_serializing_if = "EffectWords::is_unknown")]
    pub words: EffectWords,
    /// The name of the tool. Empty if it was erased.
    pub tool: String,
    /// The most that the call does to the world.
    pub class: EffectClass,
    /// When the call began, in Unix milliseconds.
    pub began_ms: i64,
    /// The result of the call.
    pub state: EffectState,
}

/// Whether the text of a call is available, or why not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EffectWords {
    /// The text is available.
    Shown,
    /// The message with the call is hidden or dropped.
    Hidden,
    /// The message with the call was erased.
    Erased,
    /// The message with the call cannot be read.
    Unreadable,
    /// A code that only a newer owner knows, or no code from an older owner.
    #[default]
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

impl EffectWords {
    /// Whether this client does not know the code.
    fn is_unknown(&self) -> bool {
        *self == Self::Unknown
    }
}

/// The result of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EffectState {
    /// The call began. Its end is not known.
    Begun,
    /// The call succeeded.
    Done,
    /// The call reported a failure. It may have had an effect anyway.
    Failed,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn is_none(count: &usize) -> bool {
    *count == 0
}

/// A call with processes that still run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Running {
    /// The entry with the call.
    pub entry: String,
    /// The number of its processes.
    pub processes: usize,
}
