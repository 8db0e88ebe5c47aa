//! All requests. Every verb is one of these; no client does anything else.
//!
//! A conversation is named by its id, or by a unique prefix of it (8 characters or more). An entry is named by its id, a unique
//! prefix of it, a label, `tN` or `@` (the last entry of the path). `tN` is the opener of the turn with that number on the path.
//! In a request to show or include entries, it means all hidden or excluded entries of that turn.

mod agent;
mod composer;
mod files;
mod identity;
mod page;
mod port;

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

pub use agent::{Decide, JobOutput, OfJob, Respond, SetPermissions};
pub use composer::{
    ClaimDraft, ClaimDraftIn, DraftIn, DraftOf, FolderPaths, History, Paths, SetDraft, SetDraftIn, Typed,
};
pub use files::{FilesDiff, OfWorkspace, PruneHow, WorkspacePrune};
pub use page::{
    Alternatives, Jobs, LARGEST_PAGE, Marked, Page, Targets, Tree, USUAL_HITS, USUAL_PAGE, Workspaces,
};
pub use port::{Export, ExportWhole, Format, ImportLines, ImportStart, ImportWhole};

use crate::action::Action;
use crate::content::{Part, Role};
use crate::files::FileOptions;
use crate::mcp::{McpAdd, McpAllow, McpOf, McpRemove};
use crate::run::Attached;
use crate::search::Search;
#[cfg(feature = "schema")]
use crate::shape;

/// A request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, IntoStaticStr)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "request", rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum Request {
    /// A new conversation. → `Receipt`
    Create(Create),
    /// A new conversation that begins with another one's path. → `Receipt`
    Fork(Fork),
    /// Stores a message; no model is called. → `Receipt`
    Say(Say),
    /// Replaces a message; no model is called. → `Receipt`
    Edit(Edit),
    /// What an action would do. → `Plan`
    Plan(Plan),
    /// Does an action. → `Receipt`
    Apply(Apply),
    /// Captures the folder of a conversation under a name. → `Captures`
    Checkpoint(Checkpoint),
    /// The captures of a conversation's folder, newest first. → `Captures`
    FilesLog(Page),
    /// What differs in a conversation's folder now, with the authors. → `FilesStatus`
    FilesStatus(Of),
    /// How files differ between two points in time. → `Differences`
    FilesDiff(FilesDiff),
    /// The folders that conversations work in, oldest first. → `Workspaces`
    Workspaces(Workspaces),
    /// What is stored of a folder, and what is covered there; captures the folder if it exists. → `Workspace`
    WorkspaceShow(OfWorkspace),
    /// Forgets what is kept of a folder. Its files and the messages stay. → `Workspace`
    WorkspaceForget(OfWorkspace),
    /// Removes stored file versions that nothing needs. → `Pruned`
    WorkspacePrune(WorkspacePrune),
    /// The step that changes files right now, for clients that wait for it. → `Work`
    Work,
    /// Stops the run of a conversation. → `Done`
    Cancel(Of),
    /// Conversations, newest first. → `Conversations`
    List(List),
    /// One conversation. → `Conversation`
    Info(Of),
    /// Archives a conversation, or reverts that. Nothing in it changes; it can be searched and continued. → `Done`
    SetArchived(SetArchived),
    /// A page of a reading. → `Entries`
    Log(Log),
    /// The prompt as the model would get it now. → `Prompt`
    Prompt(At),
    /// Turns to go back to, newest first. → `Targets`
    Targets(Targets),
    /// The alternatives of an answer, which any entry of its turn names. → `Alternatives`
    Alternatives(Alternatives),
    /// What is hidden, dropped or excluded, newest first. → `Marked`
    Marked(Marked),
    /// Operations, newest first. → `Operations`
    Ops(Page),
    /// The receipt of an earlier request, by its id: for a client that lost the reply. → `Receipt`
    EarlierRequest(EarlierRequest),
    /// The branches, and the forks. → `Tree`
    Tree(Tree),
    /// Full-text search. → `Hits`
    Search(Search),
    /// What changed since a client last looked. → `Changes`
    CatchUp(CatchUp),
    /// A piece of an export. → `Chunk`
    Export(Export),
    /// Begins an import. → `Receipt`
    ImportStart(ImportStart),
    /// The next lines of an import. → `Done`
    ImportLines(ImportLines),
    /// Ends an import: the conversation is there. → `Receipt`
    ImportEnd(Of),
    /// The available models. → `Models`
    Models,
    /// The MCP servers of a folder; starts those that may be started. → `McpServers`
    McpList(McpOf),
    /// The tools of MCP servers; starts those that may be started. → `McpTools`
    McpTools(McpOf),
    /// Adds an MCP server to the user's file. → `Written`
    McpAdd(McpAdd),
    /// Removes an MCP server from the user's file. → `Written`
    McpRemove(McpRemove),
    /// Allows an MCP server that a project names. → `Written`
    McpAllow(McpAllow),
    /// Copies the whole store, consistently, while it is in use. → `Written`
    Backup(Backup),
    /// Checks the whole store. → `Report`
    Doctor(Doctor),
    /// Earlier prompts, for the composer's history, newest first. → `History`
    History(History),
    /// The draft of a conversation. → `Draft`
    Draft(DraftOf),
    /// The draft that is to begin a conversation in a folder. → `Draft`
    DraftIn(DraftIn),
    /// Names of files and folders of a conversation's folder that complete what a person types. → `Paths`
    Paths(Paths),
    /// Names of files and folders of a folder that complete what a person types. → `Paths`
    FolderPaths(FolderPaths),
    /// Replaces the draft of a conversation. → `Done`
    SetDraft(SetDraft),
    /// Replaces the draft that is to begin a conversation in a folder. → `Done`
    SetDraftIn(SetDraftIn),
    /// The draft of a conversation, for the client that shows it from here on. Pieces that another client shows stay with it. → `Draft`
    ClaimDraft(ClaimDraft),
    /// The same, of the draft that was to begin a conversation in a folder. → `Draft`
    ClaimDraftIn(ClaimDraftIn),
    /// Answers an approval request: whether the call may run. → `Done`
    Decide(Decide),
    /// Answers a question of a tool. → `Done`
    Respond(Respond),
    /// The agent's to-do list. → `Todo`
    Todo(Of),
    /// Commands that run in the background, newest first. → `Jobs`
    Jobs(Jobs),
    /// What a job has printed. → `JobOutput`
    JobOutput(JobOutput),
    /// Stops a job. → `Jobs`
    JobStop(OfJob),
    /// What the agent can do. → `Tools`
    Tools(Of),
    /// What the agent may do. → `Permissions`
    Permissions(Of),
    /// Changes what the agent may do in a conversation. → `Permissions`
    SetPermissions(SetPermissions),
    /// Messages that wait for the end of a run: all of them, at most 1000. → `Waiting`
    Waiting(Of),
    /// Takes waiting messages back. → `Waiting`
    Unqueue(Of),
    /// What the model calls of a conversation used. → `Cost`
    Cost(Of),
    /// The state of the owner. → `Status`
    Status,
    /// Stops the owner: active runs may end first. → `Done`
    Stop,
}

/// Names a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Of {
    /// Its id or a unique prefix.
    pub conversation: String,
}

/// Names a state: now, or an earlier head.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct At {
    /// The conversation.
    pub conversation: String,
    /// An earlier head (`OP.SEQ`). Default: now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::HEAD)))]
    pub at: Option<String>,
}

/// A new conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Create {
    /// Its title; without one, lists show the first message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::SAYS_SOMETHING)))]
    pub title: Option<String>,
    /// The folder it works in, absolute. It has to be there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::ABSOLUTE)))]
    pub folder: Option<String>,
    /// The request's id; repeating it returns the first receipt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::REQUEST_ID)))]
    pub request_id: Option<String>,
}

/// A fork.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fork {
    /// The parent.
    pub conversation: String,
    /// The last entry it begins with. Default: the tip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    /// Its title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::SAYS_SOMETHING)))]
    pub title: Option<String>,
    /// The request's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::REQUEST_ID)))]
    pub request_id: Option<String>,
}

/// A message to store.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Say {
    /// The conversation.
    pub conversation: String,
    /// Who speaks.
    pub role: Role,
    /// What.
    pub parts: Vec<Part>,
    /// The speaker's name.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub author: String,
    /// Made by a program: opens no turn.
    #[serde(default)]
    pub synthetic: bool,
    /// Not addressed to the agent: opens no turn.
    #[serde(default)]
    pub observed: bool,
    /// When, in Unix milliseconds. Default: now, also where the value makes no sense.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<i64>,
    /// Its id on the platform it came from; a message that is there already is not stored again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform_id: Option<String>,
    /// The last entry that the author saw: it must still be on the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<String>,
    /// The request's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::REQUEST_ID)))]
    pub request_id: Option<String>,
}

/// Another wording of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Edit {
    /// The conversation.
    pub conversation: String,
    /// The message.
    pub entry: String,
    /// The new wording.
    pub parts: Vec<Part>,
    /// What becomes of the images and files of the old one.
    #[serde(default)]
    pub attached: Attached,
    /// The options for files: they go back with what is taken back.
    #[serde(default, skip_serializing_if = "FileOptions::is_default")]
    pub files: FileOptions,
    /// The head that the author saw.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::HEAD)))]
    pub head: Option<String>,
    /// The request's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::REQUEST_ID)))]
    pub request_id: Option<String>,
}

/// Asks what an action would do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plan {
    /// The conversation.
    pub conversation: String,
    /// The action.
    #[serde(flatten)]
    pub action: Action,
    /// The options for files, of an action that takes files along.
    #[serde(default, skip_serializing_if = "FileOptions::is_default")]
    pub files: FileOptions,
    /// Say of each file how it would differ.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub diff: bool,
}

/// Does an action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Apply {
    /// The conversation.
    pub conversation: String,
    /// The action.
    #[serde(flatten)]
    pub action: Action,
    /// The head that the author saw; a Move is refused when it is another one now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::HEAD)))]
    pub head: Option<String>,
    /// Take back also what arrived since that head.
    #[serde(default)]
    pub since: bool,
    /// The options for files, of an action that takes files along. Without it they go back as the plan says.
    #[serde(default, skip_serializing_if = "FileOptions::is_default")]
    pub files: FileOptions,
    /// The request's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::REQUEST_ID)))]
    pub request_id: Option<String>,
}

/// Asks for the receipt of an earlier request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EarlierRequest {
    /// The id of that request (its `Idempotency-Key`).
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::REQUEST_ID)))]
    pub key: String,
    /// The conversation that it was about. Without, it is a request that made a conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
}

/// Lists conversations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct List {
    /// Only those of this folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// How many at most: 1 to 1000. Default: 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = LARGEST_PAGE)))]
    pub limit: Option<usize>,
    /// Behind this conversation in the order of the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Those that were put away, instead of the others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
}

/// Archives a conversation, or takes it out of the archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetArchived {
    /// The conversation.
    pub conversation: String,
    /// Whether it is to be archived. Repeating it changes nothing.
    pub archived: bool,
}

/// The readings.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Projection {
    /// What people see.
    #[default]
    Timeline,
    /// What the model sees.
    Prompt,
    /// What turn taking looks at.
    Scheduling,
    /// What an export takes along.
    Export,
}

/// A page of a reading: the newest, or next to an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Log {
    /// The conversation.
    pub conversation: String,
    /// An earlier head. Default: now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::HEAD)))]
    pub at: Option<String>,
    /// Read the branch that leads to this entry instead of the current path. What is hidden stays hidden there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Which reading.
    #[serde(default, rename = "as")]
    pub projection: Projection,
    /// How many entries at most: 1 to 1000. Default: 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = LARGEST_PAGE)))]
    pub limit: Option<usize>,
    /// Only entries before this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Only entries after this one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// Asks for what changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CatchUp {
    /// The conversation.
    pub conversation: String,
    /// The last revision that the client saw.
    pub since: u64,
}

/// A backup.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Backup {
    /// The file to write, absolute. Default: a dated one in the data directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::ABSOLUTE)))]
    pub to: Option<String>,
}

/// A named capture.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Checkpoint {
    /// The conversation.
    pub conversation: String,
    /// The name.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::SAYS_SOMETHING)))]
    pub name: String,
}

/// A check.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Doctor {
    /// Mend what can be mended without losing anything.
    #[serde(default)]
    pub mend: bool,
}
