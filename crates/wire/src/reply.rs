//! Replies. Receipts hold ids; content for the composer is read each time.

mod agent;
mod changes;
mod composer;
mod files;
mod marked;
mod owner;
mod plan;
mod receipt;
mod report;
mod targets;
mod tree;

use serde::{Deserialize, Serialize};

use crate::condition::{ModelCause, ReadOnlyCause, UnavailableCause};
use crate::content::{Part, Role, Usage};
use crate::mcp::{McpServers, McpTools};
use crate::op_summary::{OpSummary, PlannedStep};
use crate::problem::Problem;
use crate::search::Hits;

pub use agent::{
    Commands, Cost, JobLine, JobPrinted, Jobs, ModelCost, Permissions, Settled, Todo, TodoItem, TodoState,
    Tool, Tools, Waiting, Words,
};
pub use changes::Changes;
pub use composer::{Draft, HistoryPage, PathLine, Paths};
pub use files::{
    Capture, Captures, Changed, Difference, Differences, FilesStatus, GoneFolder, Job, LetGo, NotCovered,
    Pruned, State, Uncovered, Workspace, WorkspaceShown, Workspaces, Written,
};
pub use marked::{Marked, MarkedPage};
pub use owner::{Doing, IdleEnd, JobAtWork, Status, Work};
pub use plan::{EffectLine, EffectState, EffectWords, Effects, Plan, Running, TimelinePlan};
pub use receipt::{Composer, Counts, Receipt, Steps, TimelineChange};
pub use report::{Finding, Repair, Report};
pub use targets::{Did, Target, TargetPage};
pub use tree::{Branch, ForkLine, Tree};

/// A reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum Reply {
    /// A change was made, or had been made by the same request.
    Receipt(Receipt),
    /// It is done; there is nothing to say.
    Done,
    /// What an action would do.
    Plan(Plan),
    /// What is being done to files right now.
    Work(Work),
    /// Conversations.
    Conversations(Conversations),
    /// A conversation.
    Conversation(Conversation),
    /// A page of a reading, in path order.
    Entries(Entries),
    /// A prompt.
    Prompt(Prompt),
    /// Turns, newest first.
    Targets(TargetPage),
    /// Alternatives of an answer.
    Alternatives(Alternatives),
    /// What is marked, newest first.
    Marked(MarkedPage),
    /// Operations, newest first.
    Operations(Operations),
    /// Branches.
    Tree(Tree),
    /// Hits of a search.
    Hits(Hits),
    /// What changed.
    Changes(Changes),
    /// A piece of an export.
    Chunk(Chunk),
    /// Models.
    Models(Models),
    /// MCP servers.
    McpServers(McpServers),
    /// Tools of MCP servers.
    McpTools(McpTools),
    /// A file was written.
    Written(Written),
    /// What a check found.
    Report(Report),
    /// What was seen of a folder.
    Captures(Captures),
    /// Folders.
    Workspaces(Workspaces),
    /// What differs in a folder now.
    FilesStatus(FilesStatus),
    /// How files differ between two points in time.
    Differences(Differences),
    /// A folder, or what it was before it was forgotten.
    Workspace(WorkspaceShown),
    /// What was taken out of what is kept of files, or would be.
    Pruned(Pruned),
    /// Earlier prompts.
    History(HistoryPage),
    /// Names of files.
    Paths(Paths),
    /// What somebody was about to say.
    Draft(Draft),
    /// A to-do list.
    Todo(Todo),
    /// Background jobs.
    Jobs(Jobs),
    /// What a job has printed.
    JobOutput(JobPrinted),
    /// Tools.
    Tools(Tools),
    /// What an agent may do.
    Permissions(Permissions),
    /// Words that wait, or that did.
    Waiting(Waiting),
    /// What model calls used.
    Cost(Cost),
    /// How the owner is.
    Status(Status),
}

/// An entry in one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Line {
    /// Its id.
    pub id: String,
    /// Who spoke.
    pub role: Role,
    /// When, Unix milliseconds.
    pub time_ms: i64,
    /// At most 80 characters of it.
    pub preview: String,
    /// Who ran it, where it is a command that a person ran (`exec`), though it is stored as a call of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran_by: Option<String>,
    /// Whether a program said it, in the name of nobody.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub synthetic: bool,
}

/// Conversations, newest first.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conversations {
    /// A page of them.
    pub conversations: Vec<Conversation>,
    /// Whether there are more.
    pub more: bool,
}

/// A conversation in short.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conversation {
    /// Its id.
    pub id: String,
    /// The title somebody gave.
    pub title: Option<String>,
    /// The first message that a person said and that is visible.
    pub preview: String,
    /// The folder it works in.
    pub folder: Option<String>,
    /// The conversation it is a fork of, and the head there.
    pub parent: Option<Parent>,
    /// When it was made, Unix milliseconds.
    pub created_ms: i64,
    /// When it last changed.
    pub changed_ms: i64,
    /// Its head.
    pub head: String,
    /// Its revision.
    pub revision: u64,
    /// Last entry of its path.
    pub tip: Option<String>,
    /// Totals of the timeline.
    pub counts: Counts,
    /// How often it went back, and what is next.
    #[serde(flatten)]
    pub steps: NextSteps,
    /// Whether it can be written to.
    #[serde(flatten)]
    pub access: Access,
    /// Whether a model is running.
    pub running: bool,
    /// Whether somebody has put it away: the plain list leaves it out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
}

/// Whether a conversation can be written to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Access {
    /// Why nothing can be written, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only_cause: Option<ReadOnlyCause>,
    /// Deprecated, the next version leaves it out: `read_only_cause` as an English sentence.
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub read_only: Option<String>,
}

/// The steps of a conversation that were taken back, and the next ones of undo and redo.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NextSteps {
    /// How many rewinds it has seen.
    pub rewinds: u64,
    /// What `undo` would take back next, without the words of a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo_step: Option<PlannedStep>,
    /// What `redo` would bring back next, without the words of a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redo_step: Option<PlannedStep>,
    /// Deprecated, the next version leaves it out: `undo_step` as an English word.
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub undo: Option<String>,
    /// Deprecated, the next version leaves it out: `redo_step` as an English word.
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub redo: Option<String>,
}

/// What a fork came from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Parent {
    /// The conversation.
    pub conversation: String,
    /// The head there.
    pub head: String,
    /// What that is called now: the title somebody gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The first message that a person said in the fork itself, and that is visible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<String>,
}

/// A page of a reading.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Entries {
    /// The conversation.
    pub conversation: String,
    /// The head that was read.
    pub head: String,
    /// The revision that was read.
    pub revision: u64,
    /// The entries, in path order.
    pub entries: Vec<Entry>,
    /// Whether there are earlier ones.
    pub earlier: bool,
    /// Whether there are later ones.
    pub later: bool,
    /// Calls of the last answer of the conversation as it is now that were cut off before they began, as a run names them: nothing
    /// has changed by them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unbegun: Vec<String>,
    /// Calls that had begun and were cut off before there was a result, as a run names them, as far as the entries here say. What they
    /// did is not known, nor what they went on to do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut_off: Vec<String>,
}

/// An entry as a reading shows it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Entry {
    /// Its id.
    pub id: String,
    /// Where it is.
    #[serde(flatten)]
    pub place: EntryPlace,
    /// Who spoke.
    pub role: Role,
    /// The speaker's name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub author: String,
    /// When, Unix milliseconds.
    pub time_ms: i64,
    /// `normal`, `excluded`, `hidden` or `dropped`.
    pub mark: String,
    /// The fold in force that covers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fold: Option<String>,
    /// The label.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// What is special about it.
    #[serde(flatten)]
    pub flags: EntryFlags,
    /// Which alternative it is, from 1, and of how many; only where there are several.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alternative: Option<(usize, usize)>,
    /// Its content.
    pub parts: Vec<Part>,
    /// What it used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// Of a tool's result, how long the call worked, in milliseconds, without the wait for an approval; only of calls of which
    /// something may stay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<i64>,
    /// Its id on its platform.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform_id: Option<String>,
}

/// Where an entry is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EntryPlace {
    /// Its number in its log.
    pub seq: u64,
    /// Number of forks above that log: 0 is the root conversation's.
    pub depth: u32,
    /// Number of its turn on the path, from 1; 0 before the first.
    pub turn: u64,
    /// Whether it opened that turn.
    pub opens_turn: bool,
}

impl EntryPlace {
    /// Depth and number: the order of entries on a path.
    pub fn position(self) -> (u32, u64) {
        (self.depth, self.seq)
    }
}

/// What is special about an entry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EntryFlags {
    /// Made by a program.
    #[serde(default)]
    pub synthetic: bool,
    /// Not addressed to the agent.
    #[serde(default)]
    pub observed: bool,
    /// Cut short.
    #[serde(default)]
    pub interrupted: bool,
    /// Its content was erased.
    #[serde(default)]
    pub erased: bool,
}

/// A prompt, repaired, as a provider gets it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Prompt {
    /// The head it was made from.
    pub head: String,
    /// The messages: all of them, bounded by what the model sees.
    pub messages: Vec<PromptMessage>,
}

/// A message of a prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PromptMessage {
    /// Who speaks.
    pub role: Role,
    /// What.
    pub parts: Vec<Part>,
}

/// The alternatives of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Alternatives {
    /// The head they were read at.
    pub head: String,
    /// Oldest first.
    pub alternatives: Vec<Alternative>,
    /// Whether there are more.
    #[serde(default)]
    pub more: bool,
}

/// An alternative.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Alternative {
    /// Which, from 1.
    pub number: usize,
    /// Whether it is the one on the path.
    pub current: bool,
    /// The entry.
    #[serde(flatten)]
    pub line: Line,
}

/// Operations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Operations {
    /// The head now.
    pub head: String,
    /// Newest first.
    pub operations: Vec<Operation>,
    /// Whether there are older ones.
    pub more: bool,
}

/// An operation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Operation {
    /// Its number.
    pub number: u64,
    /// The head that it made.
    pub head: String,
    /// `move`, `mark`, `fold`, `unfold`, `label`, `erase`.
    pub kind: String,
    /// The verb: `rewind`, `undo` …
    pub reason: String,
    /// What it did.
    #[serde(default, skip_serializing_if = "OpSummary::is_unknown")]
    pub summary: OpSummary,
    /// Deprecated, the next version leaves it out: `summary` as an English phrase.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub description: String,
    /// Who.
    pub author: String,
    /// When, Unix milliseconds.
    pub time_ms: i64,
    /// The head before it: `restore` it to be there again.
    pub before: String,
    /// Whether `undo` takes it back next.
    pub undo_next: bool,
    /// Whether `redo` brings it back next.
    pub redo_next: bool,
}

/// A piece of an export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Chunk {
    /// To be written as it is.
    pub text: String,
    /// Where the next one begins; none at the end.
    pub cursor: Option<String>,
    /// Entries exported so far, and in all.
    pub progress: (u64, u64),
}

/// Models.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Models {
    /// The one used when none is named.
    pub default: String,
    /// Why that one.
    #[serde(default)]
    pub cause: ModelCause,
    /// Deprecated, the next version leaves it out: `cause` as an English sentence.
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub why: String,
    /// Why that one can't be used, where that is known without asking it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
    /// Deprecated, the next version leaves it out: `problem` as an English sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub warning: Option<String>,
    /// What is known: all of it, bounded by the endpoints and what each lists.
    pub models: Vec<Model>,
}

/// A model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Model {
    /// `provider/model`.
    pub name: String,
    /// Why it can't be used; absent when it can.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unavailable_cause: Option<UnavailableCause>,
    /// Deprecated, the next version leaves it out: `unavailable_cause` as an English sentence.
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub unavailable: Option<String>,
    /// Its context size, where known.
    pub context_tokens: Option<u64>,
    /// US dollars per million input tokens, where set.
    pub input_price: Option<f64>,
    /// US dollars per million output tokens, where set.
    pub output_price: Option<f64>,
}
