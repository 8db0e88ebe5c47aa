//! Requests about the agent at work: approvals, questions, jobs, permissions.

use serde::{Deserialize, Serialize};

use crate::agent::{Decision, Mode, Rule};
#[cfg(feature = "schema")]
use crate::shape;

/// Says whether a call may run. The first answer counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Decide {
    /// The conversation.
    pub conversation: String,
    /// What [`crate::Asks`] names.
    pub id: String,
    /// The answer.
    #[serde(flatten)]
    pub decision: Decision,
}

/// Answers a question of a tool. The first answer counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Respond {
    /// The conversation.
    pub conversation: String,
    /// What [`crate::Question`] names.
    pub id: String,
    /// The answer.
    pub answer: String,
}

/// Names a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OfJob {
    /// The conversation.
    pub conversation: String,
    /// The job, or a unique beginning or end of its id.
    pub job: String,
}

/// Asks for what a job has printed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobOutput {
    /// The conversation.
    pub conversation: String,
    /// The job, or a unique beginning or end of its id.
    pub job: String,
    /// From this byte on. Default: the end of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
}

/// Changes what the agent may do in a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetPermissions {
    /// The conversation.
    pub conversation: String,
    /// Another mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Rules to add for this conversation, as people write them: `allow shell(git push)`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(inner(regex(pattern = shape::RULE))))]
    pub add: Vec<String>,
    /// Rules to forget, also those that hold for good.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove: Vec<Rule>,
}
