//! Requests to a conversation, and the receipt of a change. Ids and typed fields only: JSON belongs to `wire`.

use crate::{
    AnswerPlace, ChangeOrigin, ContentHash, ConversationId, EffectState, EntryId, Fence, Flags, FoldId, Head,
    Include, Mark, OpNo, Part, Path, Projection, Reason, Revision, Role, Scope, SeenState, Step, Time,
    Totals, Usage,
};

/// A new conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewConversation {
    /// Its id.
    pub id: ConversationId,
    /// The folder it works in.
    pub folder: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// The author of the request.
    pub by: ChangeOrigin,
}

/// A fork.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFork {
    /// The parent.
    pub parent: ConversationId,
    /// The child's id.
    pub id: ConversationId,
    /// The last entry of its base; without one, the tip.
    pub entry: Option<EntryId>,
    /// Its title.
    pub title: Option<String>,
    /// The author of the request.
    pub by: ChangeOrigin,
}

/// A subagent's conversation. It works in the same folder, begins without messages, and belongs to the tree of forks of the
/// conversation that started it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewSubagent {
    /// Its id.
    pub id: ConversationId,
    /// The call that starts it.
    pub caller: Caller,
    /// Its title.
    pub title: String,
    /// The author of the request.
    pub by: ChangeOrigin,
}

/// The call that started a subagent. The subagent's work counts while the call's answer does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Caller {
    /// The conversation of the call.
    pub conversation: ConversationId,
    /// The answer that asks for it.
    pub entry: EntryId,
    /// Its key.
    pub call: String,
}

/// A message to append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SayRequest {
    /// The new entry's id.
    pub id: EntryId,
    /// Its role.
    pub role: Role,
    /// Its content.
    pub parts: Vec<Part>,
    /// Its flags.
    pub flags: Flags,
    /// Its time, as its author gave it; an implausible one becomes `by.time`.
    pub time: Option<Time>,
    /// The usage of a model's answer.
    pub usage: Option<Usage>,
    /// Its id on its platform.
    pub platform_id: Option<String>,
    /// The last entry that the author saw.
    pub seen: Option<EntryId>,
    /// For an answer: its turn, and the entry that it answers.
    pub answering: Option<AnswerPlace>,
    /// For a result: its call in the ledger, and the call's state.
    pub ends: Option<(String, EffectState)>,
    /// For a run: its fence.
    pub fence: Option<Fence>,
    /// The author, the time of storing, and the request.
    pub by: ChangeOrigin,
}

impl SayRequest {
    /// A message with these parts and nothing else.
    pub fn new(id: EntryId, role: Role, parts: Vec<Part>, by: ChangeOrigin) -> Self {
        Self {
            id,
            role,
            parts,
            flags: Flags::default(),
            time: None,
            usage: None,
            platform_id: None,
            seen: None,
            answering: None,
            ends: None,
            fence: None,
            by,
        }
    }
}

/// A change of the state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Rewinds to before an entry.
    Rewind(EntryId),
    /// Moves to before an entry, for another wording.
    Edit(EntryId),
    /// Moves to a prompt, for another answer.
    Retry(EntryId),
    /// Makes steps back in the undo history.
    Undo(usize),
    /// Makes steps forward in the undo history.
    Redo(usize),
    /// Returns to an earlier head.
    Restore(Head),
    /// Moves to an entry of the tree; `None` is the beginning.
    Checkout(Option<EntryId>),
    /// Moves to alternative number `.1` (from 1) of an answer.
    Choose(EntryId, usize),
    /// Compensates a step without a result.
    Compensate(Step),
    /// Marks entries.
    Mark {
        /// `Hide`, `Show`, `Exclude`, `Include`, `Drop`.
        verb: Reason,
        /// The entries, or with `range` the two ends of a range.
        entries: Vec<EntryId>,
        /// Whether the entries are ends.
        range: bool,
        /// The mark that the author saw.
        seen: Option<Mark>,
    },
    /// Replaces a range by a summary.
    Fold {
        /// `Fold` or `AutoFold`.
        verb: Reason,
        /// First entry.
        from: EntryId,
        /// Last entry.
        to: EntryId,
        /// The summary.
        summary: String,
        /// The entries of an earlier summary.
        covers: Option<Path>,
    },
    /// Changes files alone; the other half of the request says how.
    Files(Reason),
    /// One half of an action: the conversation alone, or files alone. What is kept in the files is recorded with it.
    Half(Scope, Box<Action>),
    /// Removes a fold.
    Unfold(FoldId),
    /// Labels an entry, or with `None` the conversation.
    Label(Option<EntryId>, Option<String>),
    /// Overwrites content in every conversation of the root: of these entries, and of everything that contains
    /// the text.
    Erase {
        /// Entries.
        entries: Vec<EntryId>,
        /// A text.
        matching: Option<String>,
        /// Objects that contain the text: only the reader of the object store can find them.
        objects: Vec<ContentHash>,
    },
}

/// A change of the state, with the head that its author saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Apply {
    /// The action.
    pub action: Action,
    /// The head that its author saw.
    pub seen: SeenState,
    /// The author of the request.
    pub by: ChangeOrigin,
}

/// The receipt of a change. A repeated request gets an equal one. Ids only.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The conversation.
    pub conversation: ConversationId,
    /// The head after it.
    pub head: Head,
    /// The revision that stored it.
    pub revision: Revision,
    /// The operations it made.
    pub ops: Vec<OpNo>,
    /// The entries that it created, or found as existing.
    pub entries: Vec<EntryId>,
    /// Whether nothing had to be changed.
    pub unchanged: bool,
    /// The totals that left the timeline.
    pub taken_back: Totals,
    /// The totals that came into it.
    pub brought_back: Totals,
    /// Folds no longer in force.
    pub lifted: Vec<FoldId>,
    /// The entry whose text returns to the requester's composer.
    pub composer: Option<EntryId>,
}

/// Whether a conversation is in the ordinary list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveState {
    /// In the ordinary list.
    AtHand,
    /// In the archive.
    Archived,
}

/// A page of conversations, newest change first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListRequest {
    /// Only those of this folder.
    pub folder: Option<String>,
    /// After this one.
    pub before: Option<ConversationId>,
    /// The most conversations.
    pub limit: usize,
    /// Only those of this shelf.
    pub shelf: Option<ArchiveState>,
}

/// The order of hits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Sort {
    /// Best first.
    #[default]
    Rank,
    /// Newest first.
    Newest,
    /// Oldest first.
    Oldest,
}

/// A search.
#[derive(Clone, Debug, Default)]
pub struct SearchRequest {
    /// The query as it was typed.
    pub query: String,
    /// Only this conversation.
    pub conversation: Option<ConversationId>,
    /// Only this role.
    pub role: Option<Role>,
    /// Only this author.
    pub source: Option<String>,
    /// None of these authors.
    pub not_source: Vec<String>,
    /// Not before.
    pub from: Option<Time>,
    /// Before.
    pub to: Option<Time>,
    /// The order.
    pub sort: Sort,
    /// The number of hits to skip.
    pub offset: usize,
    /// The most hits.
    pub limit: usize,
    /// What an audit includes.
    pub include: Include,
    /// How hits describe calls.
    pub calls: CallWords,
}

/// A page of a projection.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PageRequest {
    /// Only before this entry.
    pub before: Option<EntryId>,
    /// Only after this entry.
    pub after: Option<EntryId>,
    /// The most entries.
    pub limit: usize,
}

/// What to read of a conversation, at which head.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The projection.
    pub projection: Projection,
    /// An earlier head; without one, the current state.
    pub at: Option<Head>,
    /// The branch to this entry, instead of the path.
    pub branch: Option<EntryId>,
}

impl Reading {
    /// The current content of a projection.
    pub const fn now(projection: Projection) -> Self {
        Self { projection, at: None, branch: None }
    }
}

/// A range of operation numbers, newest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpRange {
    /// Only those before this one.
    pub before: Option<OpNo>,
    /// The most operations.
    pub limit: usize,
}

/// Describes a call as a sentence, from the name of its tool and its arguments. The caller knows the tools; the store
/// does not.
#[derive(Clone, Copy, Debug)]
pub struct CallWords(pub fn(&str, &str) -> String);

impl Default for CallWords {
    fn default() -> Self {
        Self(|tool, _| tool.to_owned())
    }
}
