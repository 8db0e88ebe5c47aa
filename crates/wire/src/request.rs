//! All requests: each has one reply. Runs ([`crate::Run`]) and subscriptions ([`crate::Follow`]) are not requests: they have
//! streams of events.
//!
//! A conversation is named by its id, or by a unique prefix of it (8 characters or more). An entry is named by its id, a unique
//! prefix of it, a label, `tN` or `@` (the last entry of the path). `tN` is the opener of the turn with that number on the path.
//! In a request to show or include entries, it means all hidden or excluded entries of that turn.

mod agent;
mod composer;
mod context;
mod files;
mod identity;
mod memory;
mod owner;
mod page;
mod port;

use serde::{Deserialize, Serialize};
use strum::{EnumDiscriminants, EnumString, IntoStaticStr};

pub use agent::{Decide, JobOutput, JobTarget, Respond, SetPermissions};
pub use composer::{
    ClaimDraft, ClaimDraftIn, DraftIn, DraftOf, FolderPaths, History, Paths, SetDraft, SetDraftIn, Typed,
};
pub use context::ContextQuery;
pub use files::{Checkpoint, FilesDiff, PruneHow, WorkspacePrune, WorkspaceTarget};
pub use identity::Identity;
pub use memory::{EditMemory, Forget, ListMemory, MemoryHome, Remember};
pub use owner::{Backup, Doctor, OutboxItems};
pub use page::{
    Alternatives, Jobs, LARGEST_PAGE, Marked, Page, Targets, Tree, USUAL_HITS, USUAL_PAGE, Workspaces,
};
pub use port::{Export, ExportWhole, Format, ImportLines, ImportStart, ImportWhole};

use crate::access::{TokenCreate, TokenTarget};
use crate::action::Action;
use crate::chat::{Arrive, Bind, Pair, PostsOf, Unpair};
use crate::chat::{GatewayConnect, GatewayCursor, GatewayHold, GatewaySettle, GatewayTake};
use crate::command_file::CommandsOf;
use crate::content::{Part, Role};
use crate::files::FileOptions;
use crate::hooks::{HookApprove, HookRevoke, HooksOf};
use crate::mcp::{McpAdd, McpAllow, McpOf, McpRemove};
use crate::run::Attached;
use crate::search::Search;
#[cfg(feature = "schema")]
use crate::shape;

/// A request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, IntoStaticStr, EnumDiscriminants)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "request", rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
#[strum_discriminants(
    name(RequestKind),
    derive(EnumString),
    strum(serialize_all = "snake_case"),
    doc = "The kind of a request, without its fields."
)]
pub enum Request {
    /// Creates a conversation. → `Receipt`
    Create(Create),
    /// Creates a conversation that begins with the path of another one. → `Receipt`
    Fork(Fork),
    /// Stores a message. No model is called. → `Receipt`
    Say(Say),
    /// Replaces a message. No model is called. → `Receipt`
    Edit(Edit),
    /// Computes what an action would do, without doing it. → `Plan`
    Plan(Plan),
    /// Applies an action. → `Receipt`
    Apply(Apply),
    /// Captures the folder of a conversation under a name. → `Captures`
    Checkpoint(Checkpoint),
    /// The captures of a conversation's folder, newest first. → `Captures`
    FilesLog(Page),
    /// The current changes in a conversation's folder, with their authors. → `FilesStatus`
    FilesStatus(ConversationTarget),
    /// The differences of files between two points in time. → `Differences`
    FilesDiff(FilesDiff),
    /// The folders that conversations work in, oldest first. → `Workspaces`
    Workspaces(Workspaces),
    /// What is stored about a folder, and what captures cover there. Captures the folder if it exists. → `Workspace`
    WorkspaceShow(WorkspaceTarget),
    /// Forgets what is stored about a folder. Its files and the messages stay. → `Workspace`
    WorkspaceForget(WorkspaceTarget),
    /// Removes stored file versions that nothing needs. → `Pruned`
    WorkspacePrune(WorkspacePrune),
    /// The step that is changing files now, for clients that wait for it. → `Work`
    Work,
    /// Stops the run of a conversation. → `Done`
    Cancel(ConversationTarget),
    /// Conversations, newest first. → `Conversations`
    List(List),
    /// One conversation. → `Conversation`
    Info(ConversationTarget),
    /// Archives a conversation, or reverts that. Its content does not change, and it can be searched and continued. → `Done`
    SetArchived(SetArchived),
    /// A page of entries. → `Entries`
    Log(Log),
    /// The prompt as the model would get it, now or at an earlier head. → `Prompt`
    Prompt(At),
    /// The turns that a rewind can go to, newest first. → `Targets`
    Targets(Targets),
    /// The alternatives of an answer. Any entry of its turn names the answer. → `Alternatives`
    Alternatives(Alternatives),
    /// The hidden, dropped and excluded entries, newest first. → `Marked`
    Marked(Marked),
    /// Operations, newest first. → `Operations`
    Ops(Page),
    /// The receipt of an earlier request, by its id, for a client that lost the reply. → `Receipt`
    EarlierRequest(EarlierRequest),
    /// The branches and the forks of a conversation. → `Tree`
    Tree(Tree),
    /// Full-text search. → `Hits`
    Search(Search),
    /// The changes since a client last read a conversation. → `Changes`
    CatchUp(CatchUp),
    /// A piece of an export. → `Chunk`
    Export(Export),
    /// Begins an import. → `Receipt`
    ImportStart(ImportStart),
    /// The next lines of an import. → `Done`
    ImportLines(ImportLines),
    /// Ends an import: from now on, the conversation exists. → `Receipt`
    ImportEnd(ConversationTarget),
    /// The available models. → `Models`
    Models,
    /// The remembered facts, newest first. → `Memory`
    ListMemory(ListMemory),
    /// The conversation for facts that belong to no other conversation. It is created on first use. → `Receipt`
    MemoryHome(MemoryHome),
    /// Remembers a fact. → `Receipt`
    Remember(Remember),
    /// Replaces a remembered fact by another one. → `Receipt`
    EditMemory(EditMemory),
    /// Forgets a remembered fact. → `Receipt`
    Forget(Forget),
    /// The commands and skills of a folder and of the settings, with their origin. → `CommandFiles`
    CommandFiles(CommandsOf),
    /// The MCP servers of a folder. Starts the servers that may be started. → `McpServers`
    McpList(McpOf),
    /// The tools of MCP servers. Starts the servers that may be started. → `McpTools`
    McpTools(McpOf),
    /// Adds an MCP server to the user's file. → `Written`
    McpAdd(McpAdd),
    /// Removes an MCP server from the user's file. → `Written`
    McpRemove(McpRemove),
    /// Approves an MCP server that a project declares. → `Written`
    McpAllow(McpAllow),
    /// The hooks of the settings, and those that a folder brings. → `Hooks`
    HooksList(HooksOf),
    /// Approves a hook that a folder brings. It gets what happens from then on. → `Hooks`
    HookApprove(HookApprove),
    /// Revokes the approval of a hook that a folder brings. → `Hooks`
    HookRevoke(HookRevoke),
    /// Makes a consistent copy of the whole store while it is in use. → `Written`
    Backup(Backup),
    /// Checks the whole store. → `Report`
    Doctor(Doctor),
    /// Earlier prompts, for the composer's history, newest first. → `History`
    History(History),
    /// The draft of a conversation. → `Draft`
    Draft(DraftOf),
    /// The draft for a new conversation in a folder. → `Draft`
    DraftIn(DraftIn),
    /// The names of files and folders in a conversation's folder that complete a typed text. → `Paths`
    Paths(Paths),
    /// The names of files and folders in a folder that complete a typed text. → `Paths`
    FolderPaths(FolderPaths),
    /// Replaces the draft of a conversation. → `Done`
    SetDraft(SetDraft),
    /// Replaces the draft for a new conversation in a folder. → `Done`
    SetDraftIn(SetDraftIn),
    /// Gives a client the draft of a conversation. Pieces that another living client shows stay there. → `Draft`
    ClaimDraft(ClaimDraft),
    /// Gives a client the draft for a new conversation in a folder, like `claim_draft`. → `Draft`
    ClaimDraftIn(ClaimDraftIn),
    /// Answers an approval request. → `Done`
    Decide(Decide),
    /// Answers the question of a tool. → `Done`
    Respond(Respond),
    /// The agent's to-do list. → `Todo`
    Todo(ConversationTarget),
    /// The commands that run in the background, newest first. → `Jobs`
    Jobs(Jobs),
    /// The output of a job. → `JobOutput`
    JobOutput(JobOutput),
    /// Stops a job. → `Jobs`
    JobStop(JobTarget),
    /// The tools of the agent. → `Tools`
    Tools(ConversationTarget),
    /// The permissions of the agent. → `Permissions`
    Permissions(ConversationTarget),
    /// Changes the permissions of the agent in a conversation. → `Permissions`
    SetPermissions(SetPermissions),
    /// The messages that wait for the end of a run: all of them, at most 1000. → `Waiting`
    Waiting(ConversationTarget),
    /// Withdraws the waiting messages and returns them. → `Waiting`
    Unqueue(ConversationTarget),
    /// How much of the model's context the next prompt takes. → `Context`
    Context(ContextQuery),
    /// The usage and cost of a conversation's model calls. → `Cost`
    Cost(ConversationTarget),
    /// The state of the owner. → `Status`
    Status,
    /// Stops the owner. Active runs may finish first. → `Done`
    Stop,
    /// What waits to be delivered to destinations outside, and what was passed over. → `Outbox`
    Outbox,
    /// Delivers items of the outbox at once. → `Outbox`
    OutboxRetry(OutboxItems),
    /// Gives items of the outbox up: their destinations are not told. → `Outbox`
    OutboxDrop(OutboxItems),
    /// Connects a gateway to its account. → `GatewayConnected`
    GatewayConnect(GatewayConnect),
    /// An event of a chat platform. → `Arrived`
    Arrive(Arrive),
    /// Records where the events of an account end. → `Done`
    GatewayCursor(GatewayCursor),
    /// Takes work on posts. → `GatewayWork`
    GatewayTake(GatewayTake),
    /// Reports what became of work on a post. → `GatewaySettled`
    GatewaySettle(GatewaySettle),
    /// Records until when nothing is sent to a bucket. → `Done`
    GatewayHold(GatewayHold),
    /// Pairs a person of a chat. → `People`
    Pair(Pair),
    /// Takes the rights of a person of a chat away. → `People`
    Unpair(Unpair),
    /// The people of chats who were paired, or wait for it. → `People`
    PeopleList,
    /// Binds a place of a chat to a conversation, or to none. → `Places`
    Bind(Bind),
    /// The places of chats that are bound to conversations. → `Places`
    PlaceList,
    /// The posts of a conversation in chats, newest first. → `Posts`
    Posts(PostsOf),
    /// Makes a token. → `NewToken`
    TokenCreate(TokenCreate),
    /// All tokens, without their secrets. → `Tokens`
    TokenList,
    /// Revokes a token: its bearers are refused from now on, and their streams end. → `Tokens`
    TokenRevoke(TokenTarget),
}

/// Names a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ConversationTarget {
    /// The id of the conversation, or a unique prefix of it.
    pub conversation: String,
}

/// Names a state of a conversation: the current one, or that of an earlier head.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct At {
    /// The conversation.
    pub conversation: String,
    /// An earlier head, `OP.SEQ`. Default: the current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::HEAD)))]
    pub at: Option<String>,
}

/// A new conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Create {
    /// The title. Without one, lists show the first message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::SAYS_SOMETHING)))]
    pub title: Option<String>,
    /// The folder that the conversation works in, as an absolute path. The folder must exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::ABSOLUTE)))]
    pub folder: Option<String>,
    /// The id of the request. A repeated request with this id gets the first receipt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::REQUEST_ID)))]
    pub request_id: Option<String>,
}

/// A fork of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fork {
    /// The parent conversation.
    pub conversation: String,
    /// The last entry that the fork begins with. Default: the tip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entry: Option<String>,
    /// The title of the fork.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::SAYS_SOMETHING)))]
    pub title: Option<String>,
    /// The id of the request.
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
    /// The role of the author.
    pub role: Role,
    /// The content of the message.
    pub parts: Vec<Part>,
    /// The name of the author.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub author: String,
    /// Whether a program made the message. Such a message opens no turn.
    #[serde(default)]
    pub synthetic: bool,
    /// Whether the message is not addressed to the agent. Such a message opens no turn.
    #[serde(default)]
    pub observed: bool,
    /// The time of the message, in Unix milliseconds. Default: now. An implausible time is replaced by now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<i64>,
    /// The id of the message on the platform that it came from. A message that is already stored is not stored again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub platform_id: Option<String>,
    /// The last entry that the author saw. It must still be on the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<String>,
    /// The id of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::REQUEST_ID)))]
    pub request_id: Option<String>,
}

/// A new wording of a message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Edit {
    /// The conversation.
    pub conversation: String,
    /// The message to replace.
    pub entry: String,
    /// The new content of the message.
    pub parts: Vec<Part>,
    /// What happens to the images and files of the old message.
    #[serde(default)]
    pub attached: Attached,
    /// The options for files. By default, the file changes of the entries that leave the path are reverted, too.
    #[serde(default, skip_serializing_if = "FileOptions::is_default")]
    pub files: FileOptions,
    /// The head that the author saw. The request is refused if the head has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::HEAD)))]
    pub head: Option<String>,
    /// The id of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::REQUEST_ID)))]
    pub request_id: Option<String>,
}

/// A request for the plan of an action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plan {
    /// The conversation.
    pub conversation: String,
    /// The action.
    #[serde(flatten)]
    pub action: Action,
    /// The options for files, for an action that changes files.
    #[serde(default, skip_serializing_if = "FileOptions::is_default")]
    pub files: FileOptions,
    /// Whether the plan contains a diff of each file.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub diff: bool,
}

/// A request to apply an action.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Apply {
    /// The conversation.
    pub conversation: String,
    /// The action.
    #[serde(flatten)]
    pub action: Action,
    /// The head that the author saw. A move is refused if the head has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::HEAD)))]
    pub head: Option<String>,
    /// Whether entries that arrived after `head` are taken back, too.
    #[serde(default)]
    pub since: bool,
    /// The options for files, for an action that changes files. Default: files are changed as in the plan.
    #[serde(default, skip_serializing_if = "FileOptions::is_default")]
    pub files: FileOptions,
    /// The id of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::REQUEST_ID)))]
    pub request_id: Option<String>,
}

/// A request for the receipt of an earlier request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EarlierRequest {
    /// The id of the earlier request (its `Idempotency-Key`).
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::REQUEST_ID)))]
    pub key: String,
    /// The conversation of the earlier request. Absent if that request created a conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
}

/// A request for a page of conversations, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct List {
    /// Only conversations of this folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// The maximum number of conversations: 1 to 1000. Default: 50.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = LARGEST_PAGE)))]
    pub limit: Option<usize>,
    /// Only conversations after this one in the order of the list.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// Whether to list the archived conversations instead of the others.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
}

/// Archives a conversation, or takes it out of the archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetArchived {
    /// The conversation.
    pub conversation: String,
    /// Whether the conversation is to be archived. Repeating the request changes nothing.
    pub archived: bool,
}

/// A projection: one of the readings of a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Projection {
    /// The entries that people see.
    #[default]
    Timeline,
    /// The entries that the model sees.
    Prompt,
    /// The entries that count for turn taking.
    Scheduling,
    /// The entries that an export contains.
    Export,
}

/// A request for a page of entries: the newest ones, or those next to an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Log {
    /// The conversation.
    pub conversation: String,
    /// An earlier head, `OP.SEQ`. Default: the current one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::HEAD)))]
    pub at: Option<String>,
    /// Read the branch that leads to this entry, instead of the current path. Hidden entries stay hidden.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The projection to read.
    #[serde(default, rename = "as")]
    pub projection: Projection,
    /// The maximum number of entries: 1 to 1000. Default: 50.
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

/// A request for the changes since a revision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CatchUp {
    /// The conversation.
    pub conversation: String,
    /// The last revision that the client saw.
    pub since: u64,
}
