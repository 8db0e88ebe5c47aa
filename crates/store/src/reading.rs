//! What a store gives back when it is read: shapes for whoever shows them.

use std::sync::Arc;

use retake_core::{
    Conversation, ConversationId, Effect, EffectClass, EffectState, Entry, EntryId, Fact, FoldId, Head, Leaf,
    Mark, Meta, OpNo, Operation, Part, Plan, Pos, Projection, Revision, Run, Standing, Target, Time, Totals,
};

use crate::files::Moved;
use crate::request::{Action, Receipt};

/// A conversation at a head, for reading. Cheap to clone; it does not change.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Its rows' places; the store's own business.
    pub(crate) loaded: Arc<crate::keeper::Loaded>,
}

impl Snapshot {
    /// What core knows of it.
    pub fn conversation(&self) -> &Conversation {
        &self.loaded.conversation
    }

    /// Its folder.
    pub fn folder(&self) -> Option<&str> {
        self.loaded.row.folder.as_deref()
    }

    /// When it was made.
    pub fn created(&self) -> Time {
        self.loaded.row.created
    }
}

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
    /// How many rewinds it has seen.
    pub rewinds: u64,
    /// What undo takes back next, as a word: `turn`, `rewind`, `hide` …
    pub undo: Option<String>,
    /// What redo brings back next.
    pub redo: Option<String>,
    /// Why nothing can be written.
    pub read_only: Option<String>,
    /// Whether somebody has put it away.
    pub archived: bool,
}

/// A page of a reading.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageRequest {
    /// Only before this entry.
    pub before: Option<EntryId>,
    /// Only after this entry.
    pub after: Option<EntryId>,
    /// At most so many.
    pub limit: usize,
}

/// Entries of a reading, in path order.
#[derive(Debug, Default)]
pub struct Page {
    /// The entries.
    pub entries: Vec<Shown>,
    /// Whether there are earlier ones.
    pub earlier: bool,
    /// Whether there are later ones.
    pub later: bool,
}

/// An entry as a reading shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shown {
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
pub enum Answered {
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
pub struct Line {
    /// All but its content.
    pub meta: Meta,
    /// At most 80 graphemes of it; empty when the state at hand hides it.
    pub preview: String,
    /// Where it holds a call of a tool beside no words: who made it, the tool, and its arguments.
    pub called: Option<CalledLine>,
}

/// A call that stands for an entry without words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CalledLine {
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
    pub did: Did,
}

/// What a turn did to the world, as far as its visible entries tell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Did {
    /// Paths that its calls changed, each once in a workspace, and no folder that came or went with them.
    pub files: u64,
    /// Calls that it began and of which something may stay, in the order in which they were written down.
    pub begun: Vec<Begun>,
}

/// A call in the ledger, in short.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Begun {
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
    pub line: Line,
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
    pub shared: Option<Line>,
    /// The last entry it shares with an older branch.
    pub from: Option<Line>,
    /// The first of its own.
    pub first: Option<Line>,
    /// What it is called by: the first message of a person among the entries that are on it alone, else the first of them. None
    /// where the conversation is, if that is no leaf.
    pub called: Option<Line>,
    /// The leaf.
    pub last: Line,
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
    pub gone: Vec<Line>,
    /// The first entries that would come into it.
    pub came: Vec<Line>,
    /// The first entries that a fold would cover.
    pub covers: Vec<Line>,
    /// How many it would cover.
    pub covered: u64,
    /// The entry whose words would return to the composer.
    pub composer: Option<(EntryId, Vec<Part>)>,
    /// The calls that it would take off the path and that nothing takes back, newest first.
    pub effects: Vec<Effect>,
    /// Whether there are changes of files that may come or go with it ([`crate::FileStore::has_changes`]).
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

/// What is asked for before an action is done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AheadOf {
    /// The action; without one nothing is taken off the path.
    pub action: Option<Action>,
    /// The facts on the path are asked for whose keys begin so.
    pub facts: String,
    /// All is asked for that was ever made known of this key by what is taken off the path.
    pub said: String,
}

/// What a step of an undo or a redo takes back or brings back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepLine {
    /// The operation; none, where it is a turn.
    pub op: Option<Operation>,
    /// Where that led, or the turn.
    pub aim: Option<Aim>,
}

/// The message that an operation led to: the one that a rewind went back to, the end of a branch that was switched to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aim {
    /// The number of its turn.
    pub turn: u64,
    /// The message.
    pub line: Line,
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
    pub first: Line,
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
pub struct Net {
    /// What left the timeline.
    pub taken_back: Totals,
    /// What came into it.
    pub brought_back: Totals,
    /// Folds no longer in force.
    pub lifted: Vec<FoldId>,
}

/// What is to be known before an action is done, all of one state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outlook {
    /// The calls that it takes off the path and that nothing takes back, newest first.
    pub effects: Vec<Effect>,
    /// Whether there are changes of files that may come or go with it ([`crate::FileStore::has_changes`]).
    pub changes: bool,
    /// The newest runs: one that runs or waits is among them.
    pub runs: Vec<Run>,
    /// The facts on the path that were asked for; nothing, where there are none off it either, so that no step brings one.
    pub facts: Option<Vec<Fact>>,
    /// What the entries that it takes off the path have made known of the key that was asked for, newest first.
    pub said: Vec<String>,
    /// Calls without a result that it takes off the path, those of the newest turn first.
    pub unanswered: Vec<Unanswered>,
}

/// What is told with a receipt beside what is recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aftermath {
    /// What its operations did to files, in their order.
    pub moved: Vec<Moved>,
    /// What the composer gets, read afresh.
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
    pub line: Line,
    /// How it stands there.
    pub standing: Standing,
    /// Text around the match.
    pub snippet: String,
    /// Byte ranges of the matches in it.
    pub marks: Vec<std::ops::Range<usize>>,
    /// The entry before it, in the same reading.
    pub before: Option<Line>,
    /// The entry after it, in the same reading.
    pub after: Option<Line>,
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
pub enum Kind {
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
pub struct Changed {
    /// Which one.
    pub conversation: ConversationId,
    /// The revision that the commit made.
    pub revision: Revision,
    /// What it changed.
    pub kinds: Vec<Kind>,
}

/// What a follower hears.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Followed {
    /// A commit.
    Changed(Changed),
    /// Somebody's draft in this conversation is another one; only who follows this one conversation hears it.
    Drafts(ConversationId),
    /// It has fallen behind, and was not told of some: what it follows is to be read anew.
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
    pub came: Vec<Shown>,
    /// Entries that look different.
    pub changed: Vec<Shown>,
}

/// An operation and how it stands on the undo line.
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
    pub aim: Option<Aim>,
}

/// Operations, newest first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpPage {
    /// The operations.
    pub ops: Vec<OpLine>,
    /// Whether there are older ones.
    pub more: bool,
}

/// What to read of a conversation, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Which projection.
    pub projection: Projection,
    /// An earlier head; now, without.
    pub at: Option<Head>,
    /// The branch that leads to this entry, in the place of the path.
    pub branch: Option<EntryId>,
}

impl Reading {
    /// What a projection shows now.
    pub const fn now(projection: Projection) -> Self {
        Self { projection, at: None, branch: None }
    }
}

/// A stretch of operation numbers, newest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpRange {
    /// Only those before this one.
    pub before: Option<OpNo>,
    /// At most so many.
    pub limit: usize,
}
