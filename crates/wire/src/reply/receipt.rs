//! The reply to a change: what it made and what it did. Must never hold stored content; content for the composer is read each
//! time.

use serde::{Deserialize, Serialize};

use super::{Effects, Words};
use crate::condition::{Condition, StepRefusal};
use crate::content::Part;
use crate::files::FilesDone;

/// Proof of a change. The same request gets the same receipt again.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Receipt {
    /// The conversation.
    pub conversation: String,
    /// The head after it.
    pub head: String,
    /// The revision that stored it.
    pub revision: u64,
    /// Operations it made, in order; bounded by the steps of the request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub operations: Vec<u64>,
    /// Entries it made, in order; bounded by the parts of the request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<String>,
    /// Of an undo or a redo, how far it went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps: Option<Steps>,
    /// Nothing had to be changed: it was so already.
    #[serde(default)]
    pub unchanged: bool,
    /// What left and came.
    #[serde(flatten)]
    pub timeline: TimelineChange,
    /// What returns to the composer, to be edited; only for the one who asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub composer: Option<Composer>,
    /// What became of files; absent where none changed and none was left alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub files: Option<FilesDone>,
    /// What did not change or cannot be reverted, as in the plan, and bounded by it. A repeated request does not get it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// Deprecated, the next version leaves it out: `conditions` as English sentences; bounded by them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub stays: Vec<String>,
    /// Calls that went from the conversation, and that nothing takes back. Empty for a repeated request.
    #[serde(default, skip_serializing_if = "Effects::is_empty")]
    pub effects: Effects,
    /// Words that waited for a run and come back; bounded by the queue. A repeated request does not get them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub waited: Vec<Words>,
}

/// What became of the timeline.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimelineChange {
    /// What left the timeline.
    pub taken_back: Counts,
    /// What came into the timeline.
    pub brought_back: Counts,
    /// Folds no longer in force, by operation; bounded by the folds of the conversation.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lifted: Vec<String>,
}

/// How far an undo or a redo went: fewer steps than asked for where there are no more, or where one was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Steps {
    /// Steps done.
    pub done: usize,
    /// Steps asked for.
    pub asked: usize,
    /// Why the next step was refused, where it was; the steps before it are done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refusal: Option<StepRefusal>,
    /// Deprecated, the next version leaves it out: `refusal` as an English sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub refused: Option<String>,
}

/// How much.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Counts {
    /// Messages.
    pub messages: u64,
    /// Tool calls in them.
    pub calls: u64,
    /// Turns.
    pub turns: u64,
}

/// Words that return to the composer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Composer {
    /// The entry they were said in.
    pub entry: String,
    /// The text.
    pub text: String,
    /// All parts, images included.
    pub parts: Vec<Part>,
}
