//! What a reader gets of a conversation: pages, plans, lists and change events, as plain data for clients to show.

use crate::{
    ContentHash, ConversationId, DeltaId, Effect, EffectClass, EffectState, Entry, EntryId, FileChange,
    FoldId, Head, Leaf, Mark, Meta, OpNo, Operation, Part, PathMove, Plan, Pos, Receipt, Revision, Standing,
    Target, Time, Totals, WorkspaceNo,
};
/// A conversation in short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Its id.
    pub id: ConversationId,
    /// The title that somebody gave.
    pub title: Option<String>,
    /// The first visible message that a person said.
    pub preview: String,
    /// Its folder.
    pub folder: Option<String>,
    /// Of a fork: the parent and its head then.
    pub parent: Option<(ConversationId, Head)>,
    /// Of a fork: the first visible message that a person said in itself.
    pub own: Option<String>,
    /// When it was made.
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
    /// The steps that were taken back, and the next ones of undo and redo.
    pub steps: Steps,
    /// Why nothing can be written.
    pub read_only: Option<ReadOnly>,
    /// Whether somebody has put it away.
    pub archived: bool,
}

/// Why nothing can be written in a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ReadOnly {
    /// This operation is of a kind that only a newer version knows.
    NewerOperation(OpNo, String),
    /// Its rows cannot be read, for this reason.
    Damaged(String),
}

/// The steps of a conversation that were taken back, and the next ones of undo and redo.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Steps {
    /// How many rewinds it has seen.
    pub rewinds: u64,
    /// What undo takes back next, as a word: `turn`, `rewind`, `hide` …
    pub undo: Option<String>,
    /// What redo brings back next.
    pub redo: Option<String>,
}

/// Entries of a reading, in path order.
#[derive(Debug, Default)]
pub struct EntryPage {
    /// The entries.
    pub entries: Vec<ShownEntry>,
    /// Whether there are earlier ones.
    pub earlier: bool,
    /// Whether there are later ones.
    pub later: bool,
}

/// An entry as a reading shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ShownEntry {
    /// Where it stands.
    pub pos: Pos,
    /// The entry; what is wrong with it, when it is damaged.
    pub entry: Result<Entry, String>,
    /// Its mark.
    pub mark: Mark,
    /// The fold in force that covers it.
    pub fold: Option<FoldId>,
    /// Its label.
    pub label: Option<String>,
    /// Which alternative it is, from 1, and of how many, where there are several.
    pub alternative: Option<(usize, usize)>,
}

/// What became of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunResult {
    /// It was answered.
    By {
        /// What stored the answer.
        receipt: Box<Receipt>,
        /// The model, as the answer's author.
        author: String,
        /// Whether it was stopped or cut.
        interrupted: bool,
    },
    /// No answer is there, and the conversation still waits for one.
    Waiting,
    /// Nothing came of it, and the conversation is elsewhere now.
    Nothing,
}

/// An entry in one line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryLine {
    /// All but its content.
    pub meta: Meta,
    /// At most 80 graphemes of it; empty when the state at hand hides it.
    pub preview: String,
    /// Where it holds a call of a tool beside no words: who made it, the tool, and its arguments.
    pub called: Option<CallLine>,
}

/// A call that stands for an entry without words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallLine {
    /// Who made the entry.
    pub author: String,
    /// The tool.
    pub tool: String,
    /// Its arguments, as they were written.
    pub arguments: String,
}

/// A turn to go back to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetLine {
    /// The turn.
    pub target: Target,
    /// Its first message in one line.
    pub preview: String,
    /// What it did itself.
    pub did: TurnWork,
}

/// What a turn did to the world, as far as its visible entries tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnWork {
    /// Paths that its calls changed, each once in a workspace, and no folder that came or went with them.
    pub files: u64,
    /// Calls that it began and of which something may stay, in the order in which they were written down.
    pub begun: Vec<StartedCall>,
}

/// A call in the ledger, in short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StartedCall {
    /// The tool; no name, where it is erased.
    pub tool: String,
    /// What it does to the world at most.
    pub class: EffectClass,
}

/// An alternative of an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    /// Whether it is the one on the path.
    pub current: bool,
    /// The entry.
    pub line: EntryLine,
}

/// A branch of the tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Its leaf, and where it leaves an older branch.
    pub leaf: Leaf,
    /// The leaf of that older branch.
    pub onto: Option<EntryId>,
    /// Whether it is the conversation now.
    pub current: bool,
    /// Of another branch than the conversation now: the last entry that both show.
    pub shared: Option<EntryLine>,
    /// The last entry it shares with an older branch.
    pub from: Option<EntryLine>,
    /// The first of its own.
    pub first: Option<EntryLine>,
    /// What it is called by: the first message of a person among the entries that are on it alone, else the first of them. None
    /// where the conversation is, if that is no leaf.
    pub called: Option<EntryLine>,
    /// The leaf.
    pub last: EntryLine,
    /// Entries from the root to the leaf.
    pub messages: u64,
    /// Entries of its own.
    pub own: u64,
    /// A label on one of its own entries.
    pub label: Option<String>,
}

/// What an action would do, with what is needed to show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// Core's plan.
    pub plan: Plan,
    /// Whether anything would change at all.
    pub unchanged: bool,
    /// How many operations it would make: of an undo or a redo, the steps that there are.
    pub ops: usize,
    /// The first of these steps.
    pub steps: Vec<StepLine>,
    /// The first entries that would leave the timeline.
    pub gone: Vec<EntryLine>,
    /// The first entries that would come into it.
    pub came: Vec<EntryLine>,
    /// The first entries that a fold would cover.
    pub covers: Vec<EntryLine>,
    /// How many it would cover.
    pub covered: u64,
    /// The entry whose words would return to the composer.
    pub composer: Option<(EntryId, Vec<Part>)>,
    /// The calls that it would take off the path and that nothing takes back, newest first.
    pub effects: Vec<Effect>,
    /// Whether there are changes of files that may come or go with it (`Store::has_changes` of the store).
    pub changes: bool,
    /// Calls without a result that would leave the timeline, those of the newest turn first.
    pub unanswered: Vec<Unanswered>,
}

/// A call that has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unanswered {
    /// The entry that asks for it.
    pub entry: EntryId,
    /// The tool.
    pub tool: String,
    /// Its arguments, as they were written.
    pub arguments: String,
    /// What the ledger says of it; nothing, where it was not written down.
    pub state: Option<EffectState>,
    /// Whether it is one of the newest turn, of which it may still run.
    pub newest: bool,
}
/// What a step of an undo or a redo takes back or brings back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepLine {
    /// The operation; none, where it is a turn.
    pub op: Option<Operation>,
    /// Where that led, or the turn.
    pub aim: Option<StepTarget>,
}

/// The message that an operation led to: the one that a rewind went back to, the end of a branch that was switched to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepTarget {
    /// The number of its turn.
    pub turn: u64,
    /// The message.
    pub line: EntryLine,
}

/// Messages of one turn that stand together and have one mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MarkedLine {
    /// The mark.
    pub mark: Mark,
    /// The number of the turn.
    pub turn: u64,
    /// What they come to.
    pub totals: Totals,
    /// The first of them, in its words.
    pub first: EntryLine,
    /// The last of them.
    pub last: EntryId,
    /// When they got the mark, where that is known.
    pub when: Option<Time>,
}

/// What is marked, newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MarkedPage {
    /// A page of it.
    pub marked: Vec<MarkedLine>,
    /// Whether there is more before it.
    pub more: bool,
}

/// What changed for a reader between two heads: what was said and taken back between them is in neither.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NetChange {
    /// What left the timeline.
    pub taken_back: Totals,
    /// What came into it.
    pub brought_back: Totals,
    /// Folds no longer in force.
    pub lifted: Vec<FoldId>,
}
/// What a client gets with a receipt in addition to what is recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReceiptDetails {
    /// What its operations did to files, in their order.
    pub moved: Vec<Moved>,
    /// What the composer gets, read at the time of the reply.
    pub composer: Option<Vec<Part>>,
}

/// A hit of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hit {
    /// The conversation it was found in.
    pub conversation: ConversationId,
    /// Its title, or its first message.
    pub title: String,
    /// The entry.
    pub line: EntryLine,
    /// How it stands there.
    pub standing: Standing,
    /// Text around the match.
    pub snippet: String,
    /// Byte ranges of the matches in it.
    pub marks: Vec<std::ops::Range<usize>>,
    /// The entry before it, in the same reading.
    pub before: Option<EntryLine>,
    /// The entry after it, in the same reading.
    pub after: Option<EntryLine>,
}

/// The hits of a search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hits {
    /// In the order asked for.
    pub hits: Vec<Hit>,
    /// Whether there are more.
    pub more: bool,
    /// The query as it was understood, where that is not what was typed.
    pub understood: Option<String>,
}

/// What a commit changed of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ChangeKind {
    /// It was made.
    Created,
    /// Something was said.
    Said,
    /// An operation.
    Operation,
    /// Content was erased.
    Erased,
    /// Runs, or words that wait.
    Run,
    /// The ledger of what calls did to the world.
    Effect,
    /// What its agent may do.
    Permission,
    /// It was put away, or fetched back.
    Archived,
    /// What calls and operations did to files, or files that are settled.
    Files,
}

/// A commit of a conversation. Those of one conversation have the revisions 1, 2, 3 … without a gap; one that was
/// restored begins with the revision that it has. A stream in progress, a run's sign of life, and rows of workspaces are
/// no commits of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitEvent {
    /// Which one.
    pub conversation: ConversationId,
    /// The revision that the commit made.
    pub revision: Revision,
    /// What it changed.
    pub kinds: Vec<ChangeKind>,
}

/// What a follower hears.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeEvent {
    /// A commit.
    Changed(CommitEvent),
    /// Somebody's draft in this conversation is another one. Only subscribers of this one conversation get this event.
    Drafts(ConversationId),
    /// The subscriber has fallen behind and missed some events: it must read the conversation again.
    Missed,
}

/// What changed between a revision and now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changes {
    /// The head now.
    pub head: Head,
    /// The revision now.
    pub revision: Revision,
    /// Entries no longer in the timeline.
    pub gone: Vec<EntryId>,
    /// Entries that came into it.
    pub came: Vec<ShownEntry>,
    /// Entries that look different.
    pub changed: Vec<ShownEntry>,
}

/// An operation and how it stands on the undo history.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpLine {
    /// The operation.
    pub op: Operation,
    /// The head before it.
    pub before: Head,
    /// Whether undo takes it back next.
    pub undo_next: bool,
    /// Whether redo brings it back next.
    pub redo_next: bool,
    /// The message that it led to, where it moved the tip, or the first one that it marked.
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
    /// Its path, absolute, as the system has it.
    pub root: Vec<u8>,
    /// Device and inode of the folder when it was first seen: another one under the same name is another folder.
    pub identity: (u64, u64),
    /// When it was first seen.
    pub created: Time,
    /// What its last capture saw, by the name that the capture gave it; nothing before the first one.
    pub mark: Option<ContentHash>,
}

/// A capture: what changed in a workspace since the one before it and belongs to no call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capture {
    /// Its number in the workspace: 1, 2, 3 …
    pub no: u64,
    /// When.
    pub time: Time,
    /// The name that somebody gave it.
    pub name: Option<String>,
    /// What no call changed: the user's, as far as is known.
    pub changes: Vec<FileChange>,
    /// All that was there, as an object: of a capture that somebody named.
    pub manifest: Option<ContentHash>,
}

/// A delta, without what it changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeltaLine {
    /// Which.
    pub id: DeltaId,
    /// The entry of the own log that it belongs to.
    pub seq: u64,
    /// Where.
    pub workspace: WorkspaceNo,
    /// How many paths.
    pub paths: u64,
    /// In how many of them it is now.
    pub applied: u64,
}

/// What an operation did, or is doing, to the files of a workspace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// Where.
    pub workspace: WorkspaceNo,
    /// What.
    pub moves: Vec<PathMove>,
}
