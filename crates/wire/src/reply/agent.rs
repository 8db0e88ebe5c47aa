//! Replies about the agent at work: its to-do list, jobs, tools, permissions and cost.

use serde::{Deserialize, Serialize};

use crate::agent::{EffectClass, Mode, Rule, Ruling};
use crate::content::{Part, Usage};
use crate::sandbox::{SandboxCause, SandboxFact};

/// The agent's to-do list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Todo {
    /// The items in the order of the list, at most 100.
    pub items: Vec<TodoItem>,
}

/// An item of a to-do list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TodoItem {
    /// What to do.
    pub text: String,
    /// The progress of the item.
    pub state: TodoState,
}

/// The progress of a to-do item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TodoState {
    /// The item is not begun.
    Open,
    /// The agent works on the item.
    Doing,
    /// The item is done.
    Done,
}

/// A page of background jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Jobs {
    /// The jobs, newest first.
    pub jobs: Vec<JobLine>,
    /// Whether older jobs exist.
    #[serde(default)]
    pub more: bool,
}

/// A background job: a command that runs in the background.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobLine {
    /// The id of the job.
    pub job: String,
    /// The command of the job.
    pub command: String,
    /// Whether the job still runs.
    pub running: bool,
    /// When the job started, in Unix milliseconds, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since_ms: Option<i64>,
    /// The exit code of the job, if it has ended and the code is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Deprecated, the next version leaves it out: `exit_code` as an English phrase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub ended: Option<String>,
    /// The size of the stored output in bytes. Absent if no output is stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub printed: Option<u64>,
}

/// A part of a job's output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobPrinted {
    /// The job.
    pub job: JobLine,
    /// The position in the output where the text begins, in bytes.
    pub from: u64,
    /// The text of this part. Its size is limited: request the rest from `to` on.
    pub text: String,
    /// The position in the output where the text ends, in bytes. The next part begins there.
    pub to: u64,
}

/// The tools that a model can call.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tools {
    /// The tools by name: all of them, bounded by the tools that Retake and the MCP servers have.
    pub tools: Vec<Tool>,
}

/// A tool that a model can call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tool {
    /// The name of the tool.
    pub name: String,
    /// The description of the tool, as the model reads it.
    pub about: String,
    /// The most that a call of this tool does to the world.
    pub class: EffectClass,
    /// The ruling that a rule or the mode gives for all calls of this tool. Absent if it depends on the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ruling: Option<Ruling>,
}

/// The permissions of the agent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Permissions {
    /// The permission mode.
    pub mode: Mode,
    /// The rules. Those of the settings, for every conversation, come first. All of them, bounded by the rules that a person has
    /// set.
    pub rules: Vec<ScopedRule>,
    /// What confines the commands that run.
    pub commands: Commands,
    /// What commands can do here that a machine with all sandbox mechanisms would prevent: at most ten facts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weaknesses: Vec<SandboxFact>,
    /// Deprecated, the next version leaves it out: `weaknesses` as English sentences; bounded by them.
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weaker: Vec<String>,
}

/// What confines commands, including approved ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "held", rename_all = "snake_case")]
pub enum Commands {
    /// A sandbox confines them. A call gets the network on request.
    #[default]
    Asking,
    /// A sandbox confines their access to files. The network is open.
    Open,
    /// A sandbox confines them. The network is closed.
    Closed,
    /// No sandbox confines them reliably.
    Free {
        /// Why no sandbox confines them.
        #[serde(default)]
        cause: SandboxCause,
        /// Deprecated, the next version leaves it out: `cause` as an English sentence.
        #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
        why: String,
    },
}

/// A rule of the permissions, with its scope.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ScopedRule {
    /// The rule.
    pub rule: Rule,
    /// Whether the rule comes from the settings and applies to every conversation.
    pub for_good: bool,
}

/// The messages that wait for a run to end.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Waiting {
    /// All waiting messages, oldest first, at most 1000. Further messages are refused.
    pub words: Vec<Words>,
}

/// A message that was sent while a run was at work.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Words {
    /// The content of the message.
    pub parts: Vec<Part>,
    /// The name of the author.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub author: String,
    /// When the message was typed, in Unix milliseconds.
    pub time_ms: i64,
}

/// What the model calls on the path of a conversation used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cost {
    /// The usage by model, in the order of the first answers: all of them, bounded by the models that have answered.
    pub models: Vec<ModelCost>,
}

/// The usage of one model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelCost {
    /// The name of the model.
    pub model: String,
    /// The number of answers of this model.
    pub answers: u64,
    /// The number of these answers without a known usage.
    pub unknown: u64,
    /// The sum of the known usage. The cost is absent unless the price of every answer is known.
    pub usage: Usage,
}
