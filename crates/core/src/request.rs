//! Requests to a conversation, and the receipt of a change. Ids and typed fields only: JSON is the business of `wire`.

use crate::{
    Answering, By, ContentHash, ConversationId, EffectState, EntryId, Fence, Flags, FoldId, Head, Include,
    Mark, OpNo, Part, Path, Projection, Reason, Revision, Role, Scope, Seen, Step, Time, Totals, Usage,
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
    /// Who asks.
    pub by: By,
}

/// A fork.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewFork {
    /// The parent.
    pub parent: ConversationId,
    /// The child's id.
    pub id: ConversationId,
    /// The last entry that it begins with; the tip, without.
    pub entry: Option<EntryId>,
    /// Its title.
    pub title: Option<String>,
    /// Who asks.
    pub by: By,
}

/// Something said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SayRequest {
    /// The new entry's id.
    pub id: EntryId,
    /// Who speaks.
    pub role: Role,
    /// What.
    pub parts: Vec<Part>,
    /// How it came about.
    pub flags: Flags,
    /// When it was said, as its author tells; nonsense becomes `by.time`.
    pub time: Option<Time>,
    /// What a model's answer used.
    pub usage: Option<Usage>,
    /// Its id on its platform.
    pub platform_id: Option<String>,
    /// The last entry that the author saw.
    pub seen: Option<EntryId>,
    /// For an answer: the run that gives it.
    pub answering: Option<Answering>,
    /// For a result: the call of the ledger that ends with it, and what came of it.
    pub ends: Option<(String, EffectState)>,
    /// Of a run: its fence.
    pub fence: Option<Fence>,
    /// Who speaks (the author), when it is stored, by which request.
    pub by: By,
}

impl SayRequest {
    /// A message with these parts and nothing else.
    pub fn new(id: EntryId, role: Role, parts: Vec<Part>, by: By) -> Self {
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
    /// Back to before an entry.
    Rewind(EntryId),
    /// Back to before an entry, for another wording.
    Edit(EntryId),
    /// Back to a prompt, for another answer.
    Retry(EntryId),
    /// Steps back on the undo history.
    Undo(usize),
    /// Steps forward on the undo history.
    Redo(usize),
    /// To what an earlier head left.
    Restore(Head),
    /// To an entry of the tree; `None` is the beginning.
    Checkout(Option<EntryId>),
    /// To alternative number `.1` (from 1) of an answer.
    Choose(EntryId, usize),
    /// Takes back what came to nothing.
    Compensate(Step),
    /// Marks entries.
    Mark {
        /// `Hide`, `Show`, `Exclude`, `Include`, `Drop`.
        verb: Reason,
        /// The entries, or with `range` the two ends of a range.
        entries: Vec<EntryId>,
        /// Whether the entries are ends.
        range: bool,
        /// The mark that was seen.
        seen: Option<Mark>,
    },
    /// Puts a summary in place of a range.
    Fold {
        /// `Fold` or `AutoFold`.
        verb: Reason,
        /// First entry.
        from: EntryId,
        /// Last entry.
        to: EntryId,
        /// The summary.
        summary: String,
        /// What it was made from, where that was earlier.
        covers: Option<Path>,
    },
    /// Files alone; what exactly, is in the other half of the request.
    Files(Reason),
    /// One half of an action: the conversation alone, or files alone. What the files keep by it is recorded with it.
    Half(Scope, Box<Action>),
    /// Takes a fold away.
    Unfold(FoldId),
    /// Names an entry, or with `None` the conversation.
    Label(Option<EntryId>, Option<String>),
    /// Overwrites content in every conversation of the root: of these entries, and of everything that contains
    /// the text.
    Erase {
        /// Entries.
        entries: Vec<EntryId>,
        /// A text.
        matching: Option<String>,
        /// Objects that contain the text: only who can read them knows.
        objects: Vec<ContentHash>,
    },
}

/// A change of the state, with what its author saw.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Apply {
    /// What.
    pub action: Action,
    /// The head that was seen.
    pub seen: Seen,
    /// Who asks.
    pub by: By,
}

/// Proof of a change. The same request gets an equal one again. Ids only.
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
    /// The entries it made, or recognised as there already.
    pub entries: Vec<EntryId>,
    /// Nothing had to be changed.
    pub unchanged: bool,
    /// What left the timeline.
    pub taken_back: Totals,
    /// What came into it.
    pub brought_back: Totals,
    /// Folds no longer in force.
    pub lifted: Vec<FoldId>,
    /// The entry whose text returns to the composer of the one who asked.
    pub composer: Option<EntryId>,
}

/// Where a conversation is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shelf {
    /// Among those that are at hand.
    AtHand,
    /// Among those that somebody has put away.
    Archived,
}

/// A page of conversations, newest change first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ListRequest {
    /// Only those of this folder.
    pub folder: Option<String>,
    /// Behind this one.
    pub before: Option<ConversationId>,
    /// At most so many.
    pub limit: usize,
    /// Only those of this shelf.
    pub shelf: Option<Shelf>,
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
    /// As the user typed it.
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
    /// Leaves out so many hits.
    pub offset: usize,
    /// At most so many hits.
    pub limit: usize,
    /// Audit.
    pub include: Include,
    /// How hits describe calls.
    pub calls: CallWords,
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

/// What to read of a conversation, and when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Which projection.
    pub projection: Projection,
    /// An earlier head; now, without.
    pub at: Option<Head>,
    /// The branch that leads to this entry, instead of the path.
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

/// Describes a call in words, by the name of its tool and its arguments. The caller knows the tools; the store does not.
#[derive(Clone, Copy, Debug)]
pub struct CallWords(pub fn(&str, &str) -> String);

impl Default for CallWords {
    fn default() -> Self {
        Self(|tool, _| tool.to_owned())
    }
}
