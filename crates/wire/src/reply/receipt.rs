//! The reply to a change: what it made and what it did. Must never hold stored content: content for the composer is read again
//! for each reply.

use serde::{Deserialize, Serialize};

use super::{Outside, Words};
use crate::condition::{Condition, StepRefusal};
use crate::content::Part;
use crate::files::FilesDone;
use crate::op_summary::PlannedStep;

/// The receipt of a change. A repeated request gets the same receipt again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Receipt {
    /// The id of the conversation.
    pub conversation: String,
    /// The head after the change.
    pub head: String,
    /// The revision that stored the change.
    pub revision: u64,
    /// The numbers of the operations that the request made, in order: bounded by the steps of the request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<u64>,
    /// The ids of the entries that the request made, in order: bounded by the parts of the request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<String>,
    /// For an undo or a redo: how many steps were made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<Steps>,
    /// For an undo or a redo: the steps that it took back or brought back, in the order of execution, at most 20.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub step_summaries: Vec<PlannedStep>,
    /// Whether nothing had to be changed because the state was already as requested.
    #[serde(default)]
    pub unchanged: bool,
    /// What left the timeline and what came into it.
    #[serde(flatten)]
    pub timeline: TimelineChange,
    /// The text that returns to the composer to be edited. Only the client that made the request gets it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub composer: Option<Composer>,
    /// What happened to files. Absent if none changed and none was left alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<FilesDone>,
    /// What did not change or cannot be reverted, as in the plan, and bounded by it. A repeated request does not get it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// Deprecated, the next version leaves it out: `conditions` as English sentences; bounded by them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub stays: Vec<String>,
    /// What happened outside the conversation and its files. A repeated request gets the posts as they are by then.
    #[serde(flatten)]
    pub outside: Outside,
    /// Messages that waited for a run and return to the client: bounded by the queue. A repeated request does not get them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waited: Vec<Words>,
}

/// What happened to the timeline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimelineChange {
    /// The numbers of messages, tool calls and turns that left the timeline.
    pub taken_back: Counts,
    /// The numbers of messages, tool calls and turns that came into the timeline.
    pub brought_back: Counts,
    /// Folds that are no longer in force, named by their operations: bounded by the folds of the conversation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lifted: Vec<String>,
}

/// How many steps an undo or a redo made: fewer than requested if no more exist, or if one was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Steps {
    /// The number of steps made.
    pub done: usize,
    /// The number of steps requested.
    pub asked: usize,
    /// Why the next step was refused. The steps before it are made. Absent if none was refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<StepRefusal>,
    /// Deprecated, the next version leaves it out: `refusal` as an English sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub refused: Option<String>,
}

/// The numbers of messages, tool calls and turns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counts {
    /// The number of messages.
    pub messages: u64,
    /// The number of tool calls in them.
    pub calls: u64,
    /// The number of turns.
    pub turns: u64,
}

/// The text that returns to the composer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Composer {
    /// The entry that the text comes from.
    pub entry: String,
    /// The text.
    pub text: String,
    /// All parts of the content, including images.
    pub parts: Vec<Part>,
}
