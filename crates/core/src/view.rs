//! The data that a reader gets of a conversation: pages, plans, lists and change events, for clients to show.

use crate::{
    Caller, ContentHash, ConversationId, DeltaId, Effect, EffectClass, EffectState, Entry, EntryId,
    FactsChanged, FileChange, FoldId, Head, Leaf, Mark, Meta, OpNo, Operation, Part, PathMove, Plan, Pos,
    Receipt, Revision, Target, Time, Totals, Visibility, WorkspaceNo,
};
/// The summary of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Its id.
    pub id: ConversationId,
    /// The title, if a person gave one.
    pub title: Option<String>,
    /// The first visible message of a person.
    pub preview: String,
    /// Its folder.
    pub folder: Option<String>,
    /// For a fork: the parent and its head then.
    pub parent: Option<(ConversationId, Head)>,
    /// For a fork: the first visible message of a person in the fork itself.
    pub own: Option<String>,
    /// When it was created.
    pub created: Time,
    /// When it last changed.
    pub changed: Time,
    /// Its head.
    pub head: Head,
    /// Its revision.
    pub revision: Revision,
    /// The last entry of its path.
    pub tip: Option<EntryId>,
    /// Totals of the timeline.
    pub counts: Totals,
    /// The number of rewinds, and the next steps of undo and redo.
    pub steps: Steps,
    /// Why the conversation is read-only.
    pub read_only: Option<ReadOnly>,
    /// Whether it is archived.
    pub archived: bool,
}

/// Why a conversation is read-only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadOnly {
    /// This operation is of a kind that only a newer version knows.
    NewerOperation(OpNo, String),
    /// Its rows cannot be read, for this reason.
    Damaged(String),
    /// It is a subagent's, which this call started: it is changed through the conversation of the call.
    Subagent(Caller),
}

/// The number of a conversation's rewinds, and the next steps of undo and redo.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// The number of its rewinds.
    pub rewinds: u64,
    /// The next step to undo.
    pub undo: Option<StepLine>,
    /// The next step to redo.
    pub redo: Option<StepLine>,
}

/// Entries of a projection, in path order.
#[derive(Debug, Default)]
pub struct EntryPage {
    /// The entries.
    pub entries: Vec<ShownEntry>,
    /// Whether there are earlier ones.
    pub earlier: bool,
    /// Whether there are later ones.
    pub later: bool,
}

/// An entry in a projection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownEntry {
    /// Its position.
    pub pos: Pos,
    /// The entry, or the error of a damaged one.
    pub entry: Result<Entry, String>,
    /// Its mark.
    pub mark: Mark,
    /// The fold in force that covers it.
    pub fold: Option<FoldId>,
    /// Its label.
    pub label: Option<String>,
    /// Its number among the alternatives, from 1, and their count, if there are several.
    pub alternative: Option<(usize, usize)>,
}

/// The result of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunResult {
    /// An answer.
    By {
        /// The receipt of the stored answer.
        receipt: Box<Receipt>,
        /// The model, as the answer's author.
        author: String,
        /// Whether it was stopped or cut.
        interrupted: bool,
    },
    /// There is no answer, and the conversation still waits for one.
    Waiting,
    /// There is no answer, and the conversation has moved on.
    Nothing,
}

/// An entry in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryLine {
    /// All except its content.
    pub meta: Meta,
    /// At most 80 graphemes of it; empty if the state hides it.
    pub preview: String,
    /// Its tool call, if it has no text: author, tool and arguments.
    pub called: Option<CallLine>,
}

/// A call that represents an entry without text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallLine {
    /// The author of the entry.
    pub author: String,
    /// The tool.
    pub tool: String,
    /// Its arguments, unchanged.
    pub arguments: String,
}

/// A turn as a rewind target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetLine {
    /// The turn.
    pub target: Target,
    /// Its first message, as one line.
    pub preview: String,
    /// Its own effects.
    pub did: TurnWork,
}

/// The effects of a turn, from its visible entries.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnWork {
    /// The number of paths that its calls changed, each once in a workspace, without folders that came or went with them.
    pub files: u64,
    /// Its calls whose effects may stay, in the order in which they were recorded.
    pub begun: Vec<StartedCall>,
    /// The number of posts of its answers that are, or may be, in a chat.
    pub posts: u64,
}

/// A call in the ledger, shortened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartedCall {
    /// The tool; no name if it is erased.
    pub tool: String,
    /// The most that it does to the world.
    pub class: EffectClass,
}

/// An alternative of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// Whether it is on the path.
    pub current: bool,
    /// The entry.
    pub line: EntryLine,
}

/// A branch of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Its leaf, and its branch point on an older branch.
    pub leaf: Leaf,
    /// The leaf of that older branch.
    pub onto: Option<EntryId>,
    /// Whether it is the current one.
    pub current: bool,
    /// For another than the current branch: the last entry of both.
    pub shared: Option<EntryLine>,
    /// The last entry that it shares with an older branch.
    pub from: Option<EntryLine>,
    /// Its first own entry.
    pub first: Option<EntryLine>,
    /// The entry that names it: the first message of a person among the entries that are on it alone, else the first of them.
    /// None at the current place, if that is no leaf.
    pub called: Option<EntryLine>,
    /// The leaf.
    pub last: EntryLine,
    /// The number of entries from the root to the leaf.
    pub messages: u64,
    /// The number of its own entries.
    pub own: u64,
    /// A label on one of its own entries.
    pub label: Option<String>,
}

/// The plan of an action, with the content for showing it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// Core's plan.
    pub plan: Plan,
    /// Whether anything would change at all.
    pub unchanged: bool,
    /// The number of operations that it would make: for an undo or a redo, the available steps.
    pub ops: usize,
    /// The first of these steps.
    pub steps: Vec<StepLine>,
    /// The first entries that would leave the timeline.
    pub gone: Vec<EntryLine>,
    /// The first entries that would come into it.
    pub came: Vec<EntryLine>,
    /// The first entries that a fold would cover.
    pub covers: Vec<EntryLine>,
    /// The number of entries that it would cover.
    pub covered: u64,
    /// The entry whose text would return to the composer.
    pub composer: Option<(EntryId, Vec<Part>)>,
    /// How it would change which remembered facts count.
    pub facts: FactsChanged,
    /// The calls that it would take off the path and whose effects stay, newest first.
    pub effects: Vec<Effect>,
    /// Whether files may change with it (`Store::has_changes` of the store).
    pub changes: bool,
    /// Calls without a result that would leave the timeline, those of the newest turn first.
    pub unanswered: Vec<Unanswered>,
}

/// A call without a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unanswered {
    /// The entry that requests it.
    pub entry: EntryId,
    /// The tool.
    pub tool: String,
    /// Its arguments, unchanged.
    pub arguments: String,
    /// Its state in the ledger; `None` if it was not recorded.
    pub state: Option<EffectState>,
    /// Whether it belongs to the newest turn: then it may still run.
    pub newest: bool,
}
/// A step of an undo or a redo.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepLine {
    /// The operation; none for a turn.
    pub op: Option<Operation>,
    /// The entry that it moved to, or the turn.
    pub aim: Option<StepTarget>,
}

impl StepLine {
    /// What it is, as a word: `turn`, `rewind`, `hide` …
    pub fn name(&self) -> &'static str {
        self.op.as_ref().map_or("turn", |op| op.reason.name())
    }
}

/// The entry that an operation moved to: the target of a rewind, the end of another branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepTarget {
    /// The number of its turn.
    pub turn: u64,
    /// The message.
    pub line: EntryLine,
}

/// Neighbouring messages of one turn with one mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkedLine {
    /// The mark.
    pub mark: Mark,
    /// The number of the turn.
    pub turn: u64,
    /// Their totals.
    pub totals: Totals,
    /// The first of them, with its text.
    pub first: EntryLine,
    /// The last of them.
    pub last: EntryId,
    /// When they got the mark, if known.
    pub when: Option<Time>,
}

/// Marked entries, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MarkedPage {
    /// The page.
    pub marked: Vec<MarkedLine>,
    /// Whether there are earlier ones.
    pub more: bool,
}

/// The net change for a reader between two heads: entries that were appended and rewound in between are in neither.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetChange {
    /// The totals that left the timeline.
    pub taken_back: Totals,
    /// The totals that came into it.
    pub brought_back: Totals,
    /// Folds no longer in force.
    pub lifted: Vec<FoldId>,
}
/// What a client gets with a receipt in addition to the recorded part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReceiptDetails {
    /// The file changes of its operations, in their order.
    pub moved: Vec<Moved>,
    /// The current content for the composer.
    pub composer: Option<Vec<Part>>,
    /// The first steps that its operations took back or brought back.
    pub steps: Vec<StepLine>,
}

/// A hit of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The conversation with the hit.
    pub conversation: ConversationId,
    /// Its title, or its first message.
    pub title: String,
    /// The entry.
    pub line: EntryLine,
    /// Its visibility there.
    pub visibility: Visibility,
    /// Text around the match.
    pub snippet: String,
    /// Byte ranges of the matches in it.
    pub marks: Vec<std::ops::Range<usize>>,
    /// The entry before it, in the same projection.
    pub before: Option<EntryLine>,
    /// The entry after it, in the same projection.
    pub after: Option<EntryLine>,
}

/// The hits of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hits {
    /// The hits, in the requested order.
    pub hits: Vec<Hit>,
    /// Whether there are more.
    pub more: bool,
    /// The query as it was understood, if that differs from the typed text.
    pub understood: Option<String>,
}

/// The kind of change in a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ChangeKind {
    /// It was created.
    Created,
    /// An entry was appended.
    Said,
    /// An operation.
    Operation,
    /// Content was erased.
    Erased,
    /// Runs, or waiting messages.
    Run,
    /// The ledger.
    Effect,
    /// The permissions of its agent.
    Permission,
    /// It was archived, or taken out of the archive.
    Archived,
    /// File changes of calls and operations, or settled files.
    Files,
}

/// A commit of a conversation. Those of one conversation have the revisions 1, 2, 3 … without a gap; a restored one continues
/// from its own revision. A stream in progress, the renewal of a claim, and rows of workspaces are no commits of a
/// conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitEvent {
    /// The conversation.
    pub conversation: ConversationId,
    /// Its revision.
    pub revision: Revision,
    /// The kinds of change.
    pub kinds: Vec<ChangeKind>,
}

/// An event for a subscriber.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeEvent {
    /// A commit.
    Changed(CommitEvent),
    /// A draft of this conversation has changed. Only subscribers of this one conversation get this event.
    Drafts(ConversationId),
    /// The subscriber lagged and missed some events: it must read the conversation again.
    Missed,
}

/// The changes between a revision and now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes {
    /// The current head.
    pub head: Head,
    /// The current revision.
    pub revision: Revision,
    /// Entries no longer in the timeline.
    pub gone: Vec<EntryId>,
    /// Entries that were added to it.
    pub came: Vec<ShownEntry>,
    /// Entries that look different.
    pub changed: Vec<ShownEntry>,
}

/// An operation with its place in the undo history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpLine {
    /// The operation.
    pub op: Operation,
    /// The head before it.
    pub before: Head,
    /// Whether it is the next step to undo.
    pub undo_next: bool,
    /// Whether it is the next step to redo.
    pub redo_next: bool,
    /// The entry that it moved to, or the first one that it marked.
    pub aim: Option<StepTarget>,
}

/// Operations, newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpPage {
    /// The operations.
    pub ops: Vec<OpLine>,
    /// Whether there are older ones.
    pub more: bool,
}

/// A folder that conversations work in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkspaceInfo {
    /// Its number.
    pub no: WorkspaceNo,
    /// Its absolute path, as the system has it.
    pub root: Vec<u8>,
    /// Device and inode of the folder when it was first seen: another folder under the same name differs.
    pub identity: (u64, u64),
    /// When it was first seen.
    pub created: Time,
    /// The mark of its last capture; `None` before the first one.
    pub mark: Option<ContentHash>,
}

/// A capture: the changes in a workspace since the one before that belong to no call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// Its number in the workspace: 1, 2, 3 …
    pub no: u64,
    /// Its time.
    pub time: Time,
    /// Its name, if it has one.
    pub name: Option<String>,
    /// Changes without a call: the user's, as far as is known.
    pub changes: Vec<FileChange>,
    /// The manifest of all files, as an object: only for a checkpoint.
    pub manifest: Option<ContentHash>,
}

/// A delta without its changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeltaLine {
    /// Its id.
    pub id: DeltaId,
    /// Its entry in the own log.
    pub seq: u64,
    /// The workspace.
    pub workspace: WorkspaceNo,
    /// The number of its paths.
    pub paths: u64,
    /// The number of paths that contain it now.
    pub applied: u64,
}

/// An operation's moves in a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The workspace.
    pub workspace: WorkspaceNo,
    /// The moves.
    pub moves: Vec<PathMove>,
}
