//! The interface between the store's logic and its backends: a trait for each kind of row, with two implementations.
//!
//! A backend must know no rule of the conversation; it stores and finds rows. It decodes strictly: a row that cannot be
//! read is an error that names the row.

mod access;
mod chat;
mod claims;
mod files;
mod move_lists;
mod outbox;
mod tool_turns;

use retake_core::{
    ConversationId, Entry, EntryId, KeptChange, ListRequest, LogSegment, Meta, OpNo, Operation, Part, Pos,
    RequestId, SearchRequest, State, Time,
};

use crate::error::Result;
use crate::query::Query;
use crate::stream::StreamRow;
use crate::transfer::Upkeep;
pub use access::{AccessRows, TokenDigest};
pub use chat::ChatRows;
pub(crate) use claims::Claims;
pub use files::{ERASED_OBJECTS, FileRows, KEPT_SINCE};
pub use move_lists::{MoveListRows, OpenList};
pub use outbox::{OutboxKey, OutboxRows};
pub use tool_turns::{EffectRows, FactRows, RunRows};
pub(crate) use tool_turns::{facts_of, outlives};

pub use retake_core::LogNo;

/// The key of an entry's row: log and `seq`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// The log.
    pub log: LogNo,
    /// The entry's number in it.
    pub seq: u64,
}

impl Key {
    /// The name by which a person can find the entry.
    pub(crate) fn name(self) -> String {
        format!("entry {} of conversation number {}", self.seq, self.log.0)
    }
}

/// A conversation's row: its fixed values, and a derived copy of its head.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationRow {
    /// Its number.
    pub log: LogNo,
    /// The number of the conversation at the root of its tree of forks.
    pub root: LogNo,
    /// Its id.
    pub id: ConversationId,
    /// For a fork: the parent's number and head, and the last entry of the base.
    pub parent: Option<ParentRow>,
    /// For a subagent: the call that started it.
    pub caller: Option<CallerRow>,
    /// The folder it works in.
    pub folder: Option<String>,
    /// When it was created.
    pub created: Time,
    /// The request that created it, with its digest.
    pub request: Option<(RequestId, Fingerprint)>,
    /// Derived: its current state.
    pub now: NowRow,
}

/// The parent in a fork's row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParentRow {
    /// The parent.
    pub log: LogNo,
    /// Its head then.
    pub head: retake_core::Head,
    /// The last entry of the fork's base.
    pub tip: Option<Pos>,
}

/// The call in a subagent's row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallerRow {
    /// The answer that asks for it.
    pub answer: Key,
    /// Its key.
    pub call: String,
}

/// The current state of a conversation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NowRow {
    /// When it last changed.
    pub changed: Time,
    /// The number of commits.
    pub revision: retake_core::Revision,
    /// Its head.
    pub head: retake_core::Head,
    /// The number of its rewinds.
    pub rewinds: u64,
    /// Bytes of deltas since the last full state.
    pub delta_bytes: u64,
    /// Whether it is archived. The only value here that is not derived.
    pub archived: bool,
}

/// A digest of a request's arguments, which prevents one id from being used for two requests.
pub type Fingerprint = [u8; 16];

/// The origin of a row: the request's id and the digest of its arguments.
pub type MadeBy = Option<(RequestId, Fingerprint)>;

impl ConversationRow {
    /// Whether it belongs to the tree of forks of an earlier conversation.
    pub(crate) fn has_root(&self) -> bool {
        self.parent.is_some() || self.caller.is_some()
    }
}

/// Rows of conversations, and the streams in progress, within one transaction.
pub trait ConversationRows {
    /// Adds a conversation; returns its number.
    fn insert_conversation(&mut self, row: &ConversationRow) -> Result<LogNo>;
    /// A conversation by id.
    fn conversation(&self, id: ConversationId) -> Result<Option<ConversationRow>>;
    /// A conversation by number.
    fn log(&self, log: LogNo) -> Result<ConversationRow>;
    /// The conversation that a request created.
    fn conversation_by_request(&self, request: &RequestId) -> Result<Option<ConversationRow>>;
    /// Sets the current state of a conversation.
    fn set_now(&mut self, log: LogNo, now: NowRow) -> Result<()>;
    /// A page of conversations, the last changed first. Those of subagents are left out.
    fn conversations(&self, request: &ListRequest) -> Result<Vec<ConversationRow>>;
    /// Conversations whose id begins with `prefix` (lower-case, without dashes), at most `limit`.
    fn conversations_like(&self, prefix: &str, limit: usize) -> Result<Vec<ConversationId>>;
    /// The conversations of a tree of forks, in order of their numbers.
    fn tree_of(&self, root: LogNo) -> Result<Vec<ConversationRow>>;
    /// The conversations of subagents that calls of these entries started, in order of their numbers.
    fn subagents(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<ConversationRow>>;
    /// Saves or removes the stream in progress of a conversation.
    fn set_stream(&mut self, log: LogNo, stream: Option<&StreamRow>) -> Result<()>;
    /// Every stream in progress.
    fn streams(&self) -> Result<Vec<StreamRow>>;
}

/// Rows of entries, within one transaction.
pub trait EntryRows {
    /// Appends an entry.
    fn insert_entry(
        &mut self,
        home: &ConversationRow,
        entry: &Entry,
        starts_stretch: bool,
        made_by: &MadeBy,
    ) -> Result<()>;
    /// An entry without its content.
    fn meta(&self, key: Key) -> Result<Meta>;
    /// Consecutive entries without their content, oldest first; one unreadable entry fails all.
    fn metas(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<Meta>>;
    /// An entry.
    fn entry(&self, key: Key) -> Result<Entry>;
    /// Consecutive entries, oldest first; a damaged one is an error in its place.
    fn entries(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<Result<Entry>>>;
    /// The last entry of a range that opened a turn.
    fn last_opener(&self, log: LogNo, from: u64, to: u64) -> Result<Option<u64>>;
    /// Results in this range of the log, as (seq of the result, the call).
    fn results_in(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<(u64, Pos)>>;
    /// Results in the log whose call is in this range of positions, as (seq of the result, the call).
    fn results_for(&self, log: LogNo, from: Pos, to: Pos) -> Result<Vec<(u64, Pos)>>;
    /// An entry by its id, within a tree of forks.
    fn entry_by_id(&self, root: LogNo, id: EntryId) -> Result<Option<Key>>;
    /// Entries of a tree of forks whose id begins with `prefix` (lower-case, without dashes), at most `limit`.
    fn entries_like(&self, root: LogNo, prefix: &str, limit: usize) -> Result<Vec<(EntryId, Key)>>;
    /// The entry that a request created.
    fn entry_by_request(&self, log: LogNo, request: &RequestId) -> Result<Option<(Key, Fingerprint)>>;
    /// The requests that created entries of a range, both ends included, by `seq`.
    fn requests_in(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<(u64, RequestId, Fingerprint)>>;
    /// Entries with this id on their platform.
    fn entries_by_platform(&self, root: LogNo, platform_id: &str) -> Result<Vec<Key>>;
    /// The stretches of a log.
    fn stretches(&self, log: LogNo) -> Result<Vec<LogSegment>>;
}

/// Rows of operations and full states, within one transaction.
pub trait OperationRows {
    /// Appends an operation; returns the bytes of its delta.
    fn insert_op(&mut self, home: &ConversationRow, op: &Operation, made_by: &MadeBy) -> Result<u64>;
    /// An operation.
    fn op(&self, log: LogNo, no: OpNo) -> Result<Operation>;
    /// Operations in a range of numbers, both included, oldest first.
    fn ops(&self, log: LogNo, from: OpNo, to: OpNo) -> Result<Vec<Operation>>;
    /// The operation that a request created.
    fn op_by_request(&self, log: LogNo, request: &RequestId) -> Result<Option<(OpNo, Fingerprint)>>;
    /// Stores a full state as of an operation; returns its bytes.
    fn insert_state(&mut self, home: &ConversationRow, op: OpNo, state: &State) -> Result<u64>;
    /// The last full state at or before an operation.
    fn state(&self, log: LogNo, op: OpNo) -> Result<Option<(OpNo, State)>>;
}

/// Rows of drafts, within one transaction.
pub trait DraftRows {
    /// Stores or removes an author's draft.
    fn set_draft(&mut self, home: &ConversationRow, author: &str, parts: Option<&[Part]>) -> Result<()>;
    /// The drafts of a log, by the names of their authors.
    fn drafts(&self, log: LogNo) -> Result<Vec<(String, Vec<Part>)>>;
    /// Stores or removes an author's draft of a new conversation in a folder.
    fn set_draft_in(&mut self, folder: &str, author: &str, parts: Option<&[Part]>) -> Result<()>;
    /// That draft.
    fn draft_in(&self, folder: &str, author: &str) -> Result<Option<Vec<Part>>>;
    /// All drafts of new conversations, by folder and author: there are few.
    fn drafts_in(&self) -> Result<Vec<(String, String, Vec<Part>)>>;
}

/// All rows, within one transaction.
pub trait Rows:
    ConversationRows
    + EntryRows
    + OperationRows
    + DraftRows
    + FileRows
    + MoveListRows
    + FactRows
    + EffectRows
    + RunRows
    + OutboxRows
    + AccessRows
    + ChatRows
    + Upkeep
    + Send
{
    /// Passes matching entries to `visit` in the requested order, until it returns `false`.
    fn search(
        &self,
        query: &Query,
        request: &SearchRequest,
        within: Option<&[(LogNo, u64, u64)]>,
        visit: &mut dyn FnMut(Key) -> Result<bool>,
    ) -> Result<()>;

    /// Overwrites the content of entries and everything derived from it, and the named texts of labels and summaries.
    /// Their old pages are overwritten when the transaction is finished.
    fn erase(&mut self, root: LogNo, what: &Erasure) -> Result<()>;
}

/// What an erasure overwrites.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Erasure {
    /// Entries.
    pub entries: Vec<Key>,
    /// Those of them whose author, or id on a platform, is erased as well.
    pub names: Vec<Key>,
    /// Operations that lose their summary or their label's texts.
    pub ops: Vec<(LogNo, OpNo)>,
    /// Operations that name erased paths, with the remaining change.
    pub kept: Vec<(LogNo, OpNo, KeptChange)>,
    /// Logs whose full states contain one of the labels or paths.
    pub states: Vec<LogNo>,
    /// Requests that are erased from the rows that they created: the log itself, its entries and operations.
    pub requests: Vec<(LogNo, RequestId)>,
    /// Operations whose author is erased.
    pub authors: Vec<(LogNo, OpNo)>,
}

/// Stores rows: transactions for one writer, concurrent readers.
pub trait Backend: Send + Sync + 'static {
    /// Runs a reader once, on one state of the rows. Blocks.
    fn read(&self, reader: &mut dyn FnMut(&dyn Rows)) -> Result<()>;

    /// Refuses if its files were moved or deleted since they were opened.
    fn check_place(&self) -> Result<()> {
        Ok(())
    }
}

/// The result of a reader on one state of the rows.
pub(crate) fn read<T>(backend: &dyn Backend, reader: impl FnOnce(&dyn Rows) -> Result<T>) -> Result<T> {
    let (mut reader, mut found) = (Some(reader), None);
    backend.read(&mut |rows| found = reader.take().map(|reader| reader(rows)))?;
    found.expect("BUG: a backend runs its reader")
}

/// The functions of the only writer, in addition to writing rows.
pub trait Transactions: Rows + 'static {
    /// The epoch of this owner: each owner that opens the store has another one.
    fn owner(&self) -> u64;
    /// Opens a transaction; refused after another owner has taken over.
    fn begin(&mut self) -> Result<()>;
    /// Sets a savepoint. A transaction writes only after one.
    fn save(&mut self) -> Result<()>;
    /// Returns to the savepoint.
    fn back(&mut self) -> Result<()>;
    /// Releases the savepoint.
    fn keep(&mut self) -> Result<()>;
    /// Makes everything durable.
    fn commit(&mut self) -> Result<()>;
    /// Discards everything since `begin`.
    fn abandon(&mut self);
    /// After the commit of an erasure: overwrites pages and logs that contained the bytes.
    fn scrub(&mut self) -> Result<()>;
}
