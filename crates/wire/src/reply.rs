//! Replies. A receipt holds ids only: content for the composer is read again for each reply.

mod agent;
mod changes;
mod composer;
mod context;
mod entry;
mod files;
mod marked;
mod memory;
mod models;
mod outbox;
mod owner;
mod plan;
mod posts;
mod receipt;
mod report;
mod targets;
mod tree;

use serde::{Deserialize, Serialize};

use crate::access::{NewToken, Principal, Tokens};
use crate::chat::{Arrived, GatewayConnected, GatewaySettled, GatewayWork, People, Places, Posts};
use crate::command_file::CommandFiles;
use crate::condition::ReadOnlyCause;
use crate::content::{Part, Role};
use crate::hooks::Hooks;
use crate::mcp::{McpServers, McpTools};
use crate::notice::NoticeCause;
use crate::op_summary::{OpSummary, OperationKind, OperationReason, PlannedStep};
use crate::search::Hits;

pub use agent::{
    Commands, Cost, JobLine, JobPrinted, Jobs, ModelCost, Permissions, ScopedRule, Todo, TodoItem, TodoState,
    Tool, Tools, Waiting, Words,
};
pub use changes::Changes;
pub use composer::{Draft, HistoryPage, PathLine, Paths};
pub use context::{Context, ContextBasis, ContextParts};
pub use entry::{Entry, EntryFlags, EntryOrigin, EntryPlace};
pub use files::{
    Capture, Captures, Changed, Difference, Differences, FilesStatus, GoneFolder, Job, LostCalls, NotCovered,
    Pruned, State, Uncovered, Workspace, WorkspaceShown, Workspaces, Written,
};
pub use marked::{Marked, MarkedPage};
pub use memory::{Memory, MemoryFact, fact_of};
pub use models::{Model, Models};
pub use outbox::{Outbox, OutboxFailure, OutboxItem};
pub use owner::{Beside, GatewayState, GatewayTrouble, IdleEnd, JobAtWork, OwnerWork, Status, Work};
pub use plan::{EffectLine, EffectState, EffectWords, Effects, Outside, Plan, Running, TimelinePlan};
pub use posts::{PlacePosts, PostChanges, StepPosts};
pub use receipt::{Composer, Counts, Receipt, Steps, TimelineChange};
pub use report::{Finding, Repair, Report};
pub use targets::{Target, TargetPage, TurnActions};
pub use tree::{Branch, ForkLine, SubagentLine, Tree};

/// The reply to a request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "reply", rename_all = "snake_case")]
pub enum Reply {
    /// The receipt of a change, made by this request or by an earlier one with the same id.
    Receipt(Receipt),
    /// The request succeeded, and there is nothing to report.
    Done,
    /// The plan of an action: what it would do.
    Plan(Plan),
    /// The work on files that is in progress.
    Work(Work),
    /// A page of the list of conversations.
    Conversations(Conversations),
    /// The summary of a conversation.
    Conversation(Conversation),
    /// A page of entries in one projection, in path order.
    Entries(Entries),
    /// The prompt that a model would get.
    Prompt(Prompt),
    /// The turns that a rewind can go to, newest first.
    Targets(TargetPage),
    /// The alternatives of an answer.
    Alternatives(Alternatives),
    /// Hidden, dropped and excluded messages, newest first.
    Marked(MarkedPage),
    /// A page of operations, newest first.
    Operations(Operations),
    /// The branches and forks of a conversation.
    Tree(Tree),
    /// The hits of a search.
    Hits(Hits),
    /// What changed in a conversation since a revision.
    Changes(Changes),
    /// A part of an export.
    Chunk(Chunk),
    /// The known models.
    Models(Models),
    /// Commands and skills.
    CommandFiles(CommandFiles),
    /// MCP servers.
    McpServers(McpServers),
    /// The tools of MCP servers.
    McpTools(McpTools),
    /// Hooks.
    Hooks(Hooks),
    /// A new token, with its secret.
    NewToken(NewToken),
    /// All tokens.
    Tokens(Tokens),
    /// What a gateway needs to begin.
    GatewayConnected(GatewayConnected),
    /// What became of an event.
    Arrived(Arrived),
    /// Work on posts.
    GatewayWork(GatewayWork),
    /// The people of chats.
    People(People),
    /// The places of chats that are bound to conversations.
    Places(Places),
    /// A page of posts in chats.
    Posts(Posts),
    /// Whether a post is still wanted.
    GatewaySettled(GatewaySettled),
    /// A file that was written.
    Written(Written),
    /// The result of a check of the store.
    Report(Report),
    /// A page of captures of a folder.
    Captures(Captures),
    /// A page of the folders that conversations work in.
    Workspaces(Workspaces),
    /// The current differences in the folders of a conversation.
    FilesStatus(FilesStatus),
    /// How files differ between two points in time.
    Differences(Differences),
    /// What is stored of a folder. After the folder was forgotten: what was stored of it before.
    Workspace(WorkspaceShown),
    /// What a collection removed from the stored file versions, or would remove.
    Pruned(Pruned),
    /// Remembered facts.
    Memory(Memory),
    /// A page of earlier prompts.
    History(HistoryPage),
    /// Paths that match a typed text.
    Paths(Paths),
    /// A draft: text that a person has not sent yet.
    Draft(Draft),
    /// The agent's to-do list.
    Todo(Todo),
    /// A page of background jobs.
    Jobs(Jobs),
    /// A part of a job's output.
    JobOutput(JobPrinted),
    /// The tools that a model can call.
    Tools(Tools),
    /// The permissions of the agent.
    Permissions(Permissions),
    /// Messages that wait for a run to end, or that waited until this request removed them from the queue.
    Waiting(Waiting),
    /// How much of the model's context the next prompt takes.
    Context(Context),
    /// What the model calls of a conversation used.
    Cost(Cost),
    /// The state of the owner.
    Status(Status),
    /// What waits to be delivered to destinations outside.
    Outbox(Outbox),
}

/// An entry as one line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Line {
    /// The id of the entry.
    pub id: String,
    /// The role of its author.
    pub role: Role,
    /// The time of the entry, in Unix milliseconds.
    pub time_ms: i64,
    /// The beginning of its content, at most 80 characters.
    pub preview: String,
    /// The person who ran the command, if the entry is a command that a person ran (`exec`). Such a command is stored like a call
    /// of the agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ran_by: Option<String>,
    /// Whether a program made the entry and no person wrote it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub synthetic: bool,
}

/// A page of conversations, newest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conversations {
    /// The conversations of this page.
    pub conversations: Vec<Conversation>,
    /// Whether more conversations follow.
    pub more: bool,
    /// Why the folder of the request is never captured, so that an agent can change nothing there. Absent if it can be captured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub never_captured: Option<NoticeCause>,
}

/// The summary of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Conversation {
    /// The id of the conversation.
    pub id: String,
    /// The title, if a person gave one.
    pub title: Option<String>,
    /// The first visible message of a person.
    pub preview: String,
    /// The folder that the conversation works in.
    pub folder: Option<String>,
    /// For a fork: the conversation that it was forked from, and the head of that conversation at the time.
    pub parent: Option<Parent>,
    /// When the conversation was created, in Unix milliseconds.
    pub created_ms: i64,
    /// When the conversation last changed, in Unix milliseconds.
    pub changed_ms: i64,
    /// The current head.
    pub head: String,
    /// The current revision.
    pub revision: u64,
    /// The last entry of the path.
    pub tip: Option<String>,
    /// The numbers of messages, tool calls and turns in the timeline.
    pub counts: Counts,
    /// The number of rewinds, and the next steps of undo and redo.
    #[serde(flatten)]
    pub steps: NextSteps,
    /// Whether the conversation can be written to.
    #[serde(flatten)]
    pub access: Access,
    /// Whether a run is at work.
    pub running: bool,
    /// Whether the conversation is archived. The ordinary list leaves it out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
}

/// Whether a conversation can be written to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Access {
    /// Why the conversation is read-only. Absent if it can be written to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub read_only_cause: Option<ReadOnlyCause>,
    /// Deprecated, the next version leaves it out: `read_only_cause` as an English sentence.
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub read_only: Option<String>,
}

/// The number of rewinds of a conversation, and the next steps of undo and redo.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NextSteps {
    /// The number of rewinds so far.
    pub rewinds: u64,
    /// The step that `undo` would revert next, without the text of a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub undo_step: Option<PlannedStep>,
    /// The step that `redo` would bring back next, without the text of a message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redo_step: Option<PlannedStep>,
    /// Deprecated, the next version leaves it out: `undo_step` as an English word.
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub undo: Option<String>,
    /// Deprecated, the next version leaves it out: `redo_step` as an English word.
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub redo: Option<String>,
}

/// The conversation that a fork began from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Parent {
    /// The id of the parent conversation.
    pub conversation: String,
    /// The head of the parent at which the fork begins.
    pub head: String,
    /// The current title of the parent, if a person gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The first visible message of a person in the fork itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<String>,
}

/// A page of entries in one projection of a conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Entries {
    /// The id of the conversation.
    pub conversation: String,
    /// The head that the entries belong to.
    pub head: String,
    /// The revision that was read.
    pub revision: u64,
    /// The entries, in path order.
    pub entries: Vec<Entry>,
    /// Whether earlier entries exist.
    pub earlier: bool,
    /// Whether later entries exist.
    pub later: bool,
    /// Ids of tool calls of the last answer that were interrupted before they began. They changed nothing. The ids are those in
    /// the events of a run. Empty unless the current timeline is read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unbegun: Vec<String>,
    /// Ids of tool calls on this page that began and were interrupted before they had a result. It is not known what they did, or
    /// what they went on to do. The ids are those in the events of a run. Empty unless the current timeline is read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cut_off: Vec<String>,
}

/// A prompt in the repaired form that a provider gets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Prompt {
    /// The head that the prompt was made from.
    pub head: String,
    /// The messages of the prompt: all of them, bounded by what the model sees.
    pub messages: Vec<PromptMessage>,
}

/// A message of a prompt.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PromptMessage {
    /// The role of the author.
    pub role: Role,
    /// The content of the message.
    pub parts: Vec<Part>,
}

/// A page of the alternatives of an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Alternatives {
    /// The head at which they were read.
    pub head: String,
    /// The alternatives, oldest first.
    pub alternatives: Vec<Alternative>,
    /// Whether more alternatives follow.
    #[serde(default)]
    pub more: bool,
}

/// An alternative of an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Alternative {
    /// The number of the alternative, from 1.
    pub number: usize,
    /// Whether this alternative is on the path.
    pub current: bool,
    /// The entry, as one line.
    #[serde(flatten)]
    pub line: Line,
}

/// A page of operations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Operations {
    /// The current head.
    pub head: String,
    /// The operations, newest first.
    pub operations: Vec<Operation>,
    /// Whether older operations exist.
    pub more: bool,
}

/// An operation of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Operation {
    /// The number of the operation.
    pub number: u64,
    /// The head after the operation.
    pub head: String,
    /// The kind of change.
    pub kind: OperationKind,
    /// The reason for the operation, as a verb.
    pub reason: OperationReason,
    /// What the operation did.
    #[serde(default, skip_serializing_if = "OpSummary::is_unknown")]
    pub summary: OpSummary,
    /// Deprecated, the next version leaves it out: `summary` as an English phrase.
    #[serde(default)]
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub description: String,
    /// The name of the author.
    pub author: String,
    /// Who asked for it. Absent: the user of the machine.
    #[serde(default, skip_serializing_if = "Principal::is_local")]
    pub principal: Principal,
    /// When the operation was made, in Unix milliseconds.
    pub time_ms: i64,
    /// The head before the operation. `restore` with this head returns to that state.
    pub before: String,
    /// Whether `undo` reverts this operation next.
    pub undo_next: bool,
    /// Whether `redo` brings this operation back next.
    pub redo_next: bool,
}

/// A part of an export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Chunk {
    /// The text of this part, to be written unchanged.
    pub text: String,
    /// The cursor for the next part. None after the last part.
    pub cursor: Option<String>,
    /// The number of entries exported so far, and the number of all entries. In a full export these are rows.
    pub progress: (u64, u64),
}
