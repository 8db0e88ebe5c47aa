//! Replies about the agent at work: its todo list, jobs, tools, permissions, cost.

use serde::{Deserialize, Serialize};

use crate::agent::{EffectClass, Mode, Rule, Ruling};
use crate::content::{Part, Usage};
use crate::sandbox::{SandboxCause, SandboxFact};

/// A to-do list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Todo {
    /// In its order; 100 at most.
    pub items: Vec<TodoItem>,
}

/// Something to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TodoItem {
    /// What.
    pub text: String,
    /// How far it is.
    pub state: TodoState,
}

/// How far something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum TodoState {
    /// Not begun.
    Open,
    /// Being done.
    Doing,
    /// Done.
    Done,
}

/// Background jobs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Jobs {
    /// Newest first.
    pub jobs: Vec<JobLine>,
    /// Whether there are more.
    #[serde(default)]
    pub more: bool,
}

/// A command that was begun in the background.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobLine {
    /// Its id.
    pub job: String,
    /// The command.
    pub command: String,
    /// Whether it runs.
    pub running: bool,
    /// The exit code that it ended with, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Deprecated, the next version leaves it out: `exit_code` as an English phrase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub ended: Option<String>,
    /// How much it has printed, in bytes, where that is kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub printed: Option<u64>,
}

/// What a job has printed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct JobPrinted {
    /// The job.
    pub job: JobLine,
    /// Where the text begins, in bytes.
    pub from: u64,
    /// The text, bounded.
    pub text: String,
    /// Where it ends: ask for more from there.
    pub to: u64,
}

/// Tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tools {
    /// By name: all of them, bounded by the tools that Retake and the MCP servers have.
    pub tools: Vec<Tool>,
}

/// Something that a model can do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Tool {
    /// Its name.
    pub name: String,
    /// What it is for, as the model reads it.
    pub about: String,
    /// What it does to the world at most.
    pub class: EffectClass,
    /// What a rule or the mode says of all its calls; absent where it depends on the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ruling: Option<Ruling>,
}

/// What an agent may do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Permissions {
    /// The mode.
    pub mode: Mode,
    /// Rules; those that hold for good first. All of them, bounded by what a person has settled.
    pub rules: Vec<Settled>,
    /// What holds commands that run.
    pub commands: Commands,
    /// What they can do that they can't where the machine has everything that holds commands; at most ten.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weaknesses: Vec<SandboxFact>,
    /// Deprecated, the next version leaves it out: `weaknesses` as English sentences; bounded by them.
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub weaker: Vec<String>,
}

/// What confines commands, also approved ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "held", rename_all = "snake_case")]
pub enum Commands {
    /// A sandbox, which opens the network where a call asks for it.
    #[default]
    Asking,
    /// A sandbox that leaves the network open.
    Open,
    /// A sandbox, and no network.
    Closed,
    /// Nothing.
    Free {
        /// Why.
        #[serde(default)]
        cause: SandboxCause,
        /// Deprecated, the next version leaves it out: `cause` as an English sentence.
        #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
        why: String,
    },
}

/// A rule that is settled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Settled {
    /// The rule.
    pub rule: Rule,
    /// Whether it holds for every conversation, from the settings.
    pub for_good: bool,
}

/// Words that wait.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Waiting {
    /// All of them, oldest first: 1000 at most; more are refused.
    pub words: Vec<Words>,
}

/// Something that was said while a run went on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Words {
    /// What.
    pub parts: Vec<Part>,
    /// AuthorKind.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub author: String,
    /// When it was typed, Unix milliseconds.
    pub time_ms: i64,
}

/// What the model calls on the path of a conversation used.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cost {
    /// By model, in the order of their first calls: all of them, bounded by the models that have answered.
    pub models: Vec<ModelCost>,
}

/// What the calls of one model used.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelCost {
    /// The model.
    pub model: String,
    /// How many answers.
    pub answers: u64,
    /// Of so many of them nothing is known.
    pub unknown: u64,
    /// The sum of what is known; its cost only where the price of every answer is known.
    pub usage: Usage,
}
