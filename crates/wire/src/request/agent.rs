//! Requests about the agent at work: approvals, questions, jobs, permissions.

use serde::{Deserialize, Serialize};

use crate::agent::{Decision, Mode, Rule};
#[cfg(feature = "schema")]
use crate::shape;

/// Answers an approval request. The first answer counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Decide {
    /// The conversation.
    pub conversation: String,
    /// The id of the approval request, from [`crate::PendingApproval`].
    pub id: String,
    /// The decision.
    #[serde(flatten)]
    pub decision: Decision,
}

/// Answers the question of a tool. The first answer counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Respond {
    /// The conversation.
    pub conversation: String,
    /// The id of the question, from [`crate::Question`].
    pub id: String,
    /// The answer.
    pub answer: String,
}

/// Names a background job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobTarget {
    /// The conversation.
    pub conversation: String,
    /// The id of the job, or a unique beginning or end of it.
    pub job: String,
}

/// A request for the output of a job.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobOutput {
    /// The conversation.
    pub conversation: String,
    /// The id of the job, or a unique beginning or end of it.
    pub job: String,
    /// The byte of the output to begin at. Default: the last part of the output is returned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<u64>,
}

/// Changes the permissions of the agent in a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetPermissions {
    /// The conversation.
    pub conversation: String,
    /// The new mode. Default: the mode stays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Rules to add for this conversation, as people write them: `allow shell(git push)`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(inner(regex(pattern = shape::RULE))))]
    pub add: Vec<String>,
    /// Rules to remove, including permanent ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remove: Vec<Rule>,
}
