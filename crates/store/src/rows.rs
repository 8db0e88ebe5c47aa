//! The seam between the store's logic, written once, and where rows are kept: a trait for each kind of row, two backends.
//!
//! A backend knows no rule of the conversation; it keeps rows and finds them. Everything it reads it decodes
//! strictly: a row that can't be read is an error that names it.

mod agent;
mod claims;
mod files;
mod move_lists;

use retake_core::{
    ConversationId, Entry, EntryId, KeptChange, ListRequest, Meta, OpNo, Operation, Part, Pos, RequestId,
    SearchRequest, State, Stretch, Time,
};

use crate::error::Result;
use crate::query::Query;
use crate::stream::StreamRow;
use crate::transfer::Upkeep;
pub use agent::{EffectRows, FactRows, RunRows};
pub(crate) use agent::{facts_of, outlives};
pub(crate) use claims::Claims;
pub use files::{ERASED_OBJECTS, FileRows, KEPT_SINCE};
pub use move_lists::{MoveListRows, OpenList};

pub use retake_core::LogNo;

/// An entry's row: which log, which `seq`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Key {
    /// The log.
    pub log: LogNo,
    /// The entry's number in it.
    pub seq: u64,
}

impl Key {
    /// What a person can find the entry by.
    pub(crate) fn name(self) -> String {
        format!("entry {} of conversation number {}", self.seq, self.log.0)
    }
}

/// A conversation's row: what never changes, and a copy of its head that can be derived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConversationRow {
    /// Its number.
    pub log: LogNo,
    /// The number of the conversation at the root of its tree of forks.
    pub root: LogNo,
    /// Its id.
    pub id: ConversationId,
    /// Of a fork: the parent's number, the head there, and the entry it begins with.
    pub parent: Option<ParentRow>,
    /// The folder it works in.
    pub folder: Option<String>,
    /// When it was made.
    pub created: Time,
    /// The request that made it, with its fingerprint.
    pub request: Option<(RequestId, Fingerprint)>,
    /// Derived: how it is now.
    pub now: NowRow,
}

/// What a fork's first row names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ParentRow {
    /// The parent.
    pub log: LogNo,
    /// Its head then.
    pub head: retake_core::Head,
    /// The last entry that the fork begins with.
    pub tip: Option<Pos>,
}

/// Where a conversation stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NowRow {
    /// When it last changed.
    pub changed: Time,
    /// How many commits.
    pub revision: retake_core::Revision,
    /// Its head.
    pub head: retake_core::Head,
    /// How many rewinds it has seen.
    pub rewinds: u64,
    /// Bytes of deltas since the last full state.
    pub delta_bytes: u64,
    /// Whether somebody has put it away. The one thing here that nothing else tells.
    pub archived: bool,
}

/// A digest of a request's arguments, so that one id is not used for two requests.
pub type Fingerprint = [u8; 16];

/// What made a row: the request's id and the digest of its arguments.
pub type MadeBy = Option<(RequestId, Fingerprint)>;

/// Rows of conversations, and the streams in progress, within one transaction.
pub trait ConversationRows {
    /// Adds a conversation; its number comes back.
    fn insert_conversation(&mut self, row: &ConversationRow) -> Result<LogNo>;
    /// A conversation by id.
    fn conversation(&self, id: ConversationId) -> Result<Option<ConversationRow>>;
    /// A conversation by number.
    fn log(&self, log: LogNo) -> Result<ConversationRow>;
    /// The conversation that a request made.
    fn conversation_by_request(&self, request: &RequestId) -> Result<Option<ConversationRow>>;
    /// Says where a conversation stands.
    fn set_now(&mut self, log: LogNo, now: NowRow) -> Result<()>;
    /// A page of conversations, newest change first.
    fn conversations(&self, request: &ListRequest) -> Result<Vec<ConversationRow>>;
    /// Conversations whose id begins with `prefix` (lower-case, without dashes), at most `limit`.
    fn conversations_like(&self, prefix: &str, limit: usize) -> Result<Vec<ConversationId>>;
    /// The conversations of a tree of forks, in order of their numbers.
    fn tree_of(&self, root: LogNo) -> Result<Vec<ConversationRow>>;
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
    /// Consecutive entries without their content, oldest first; one that can't be read fails all.
    fn metas(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<Meta>>;
    /// An entry.
    fn entry(&self, key: Key) -> Result<Entry>;
    /// Consecutive entries, oldest first; a damaged one is an error in its place.
    fn entries(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<Result<Entry>>>;
    /// The last entry of a range that opened a turn.
    fn last_opener(&self, log: LogNo, from: u64, to: u64) -> Result<Option<u64>>;
    /// Results in this range of the log, as (seq of the result, the call).
    fn results_in(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<(u64, Pos)>>;
    /// Results in the log whose call lies in this range of positions, as (seq of the result, the call).
    fn results_for(&self, log: LogNo, from: Pos, to: Pos) -> Result<Vec<(u64, Pos)>>;
    /// An entry by its id, within a tree of forks.
    fn entry_by_id(&self, root: LogNo, id: EntryId) -> Result<Option<Key>>;
    /// Entries of a tree of forks whose id begins with `prefix` (lower-case, without dashes), at most `limit`.
    fn entries_like(&self, root: LogNo, prefix: &str, limit: usize) -> Result<Vec<(EntryId, Key)>>;
    /// The entry that a request made.
    fn entry_by_request(&self, log: LogNo, request: &RequestId) -> Result<Option<(Key, Fingerprint)>>;
    /// The requests that made entries of a range, both ends included, by `seq`.
    fn requests_in(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<(u64, RequestId, Fingerprint)>>;
    /// Entries with this id on their platform.
    fn entries_by_platform(&self, root: LogNo, platform_id: &str) -> Result<Vec<Key>>;
    /// The runs of a log.
    fn stretches(&self, log: LogNo) -> Result<Vec<Stretch>>;
}

/// Rows of operations and full states, within one transaction.
pub trait OperationRows {
    /// Appends an operation; the bytes of its delta come back.
    fn insert_op(&mut self, home: &ConversationRow, op: &Operation, made_by: &MadeBy) -> Result<u64>;
    /// An operation.
    fn op(&self, log: LogNo, no: OpNo) -> Result<Operation>;
    /// Operations in a range of numbers, both included, oldest first.
    fn ops(&self, log: LogNo, from: OpNo, to: OpNo) -> Result<Vec<Operation>>;
    /// The operation that a request made.
    fn op_by_request(&self, log: LogNo, request: &RequestId) -> Result<Option<(OpNo, Fingerprint)>>;
    /// Keeps a full state, as of an operation; its bytes come back.
    fn insert_state(&mut self, home: &ConversationRow, op: OpNo, state: &State) -> Result<u64>;
    /// The last full state at or before an operation.
    fn state(&self, log: LogNo, op: OpNo) -> Result<Option<(OpNo, State)>>;
}

/// Rows of drafts, within one transaction.
pub trait DraftRows {
    /// Keeps or removes what somebody is about to say.
    fn set_draft(&mut self, home: &ConversationRow, author: &str, parts: Option<&[Part]>) -> Result<()>;
    /// The drafts of a log, by the names of their authors.
    fn drafts(&self, log: LogNo) -> Result<Vec<(String, Vec<Part>)>>;
    /// Keeps or removes with what somebody is about to begin a conversation in a folder.
    fn set_draft_in(&mut self, folder: &str, author: &str, parts: Option<&[Part]>) -> Result<()>;
    /// What is kept so.
    fn draft_in(&self, folder: &str, author: &str) -> Result<Option<Vec<Part>>>;
    /// All that is kept so, by folder and author: there are few.
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
    + Upkeep
    + Send
{
    /// Entries that match, in the order asked for, to `visit`, until it says stop (`false`).
    fn search(
        &self,
        query: &Query,
        request: &SearchRequest,
        within: Option<&[(LogNo, u64, u64)]>,
        visit: &mut dyn FnMut(Key) -> Result<bool>,
    ) -> Result<()>;

    /// Overwrites the content of entries and of everything derived from it, the texts of the labels and the
    /// summaries named. The pages that held them are overwritten when the transaction is finished.
    fn erase(&mut self, root: LogNo, what: &Erasure) -> Result<()>;
}

/// What an erasure overwrites.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Erasure {
    /// Entries.
    pub entries: Vec<Key>,
    /// Those of them whose author, or id on a platform, goes as well.
    pub names: Vec<Key>,
    /// Operations: their summary, their label's texts.
    pub ops: Vec<(LogNo, OpNo)>,
    /// Operations that name single paths which go, with what is left of their change.
    pub kept: Vec<(LogNo, OpNo, KeptChange)>,
    /// Logs whose full states hold one of the labels or of the paths.
    pub states: Vec<LogNo>,
    /// Requests that go from what they made: the log itself, its entries and operations.
    pub requests: Vec<(LogNo, RequestId)>,
    /// Operations whose author goes.
    pub authors: Vec<(LogNo, OpNo)>,
}

/// A place to keep rows: transactions for one writer, readers beside it.
pub trait Backend: Send + Sync + 'static {
    /// Runs a reader, once, on one state of the rows. Blocks.
    fn read(&self, reader: &mut dyn FnMut(&dyn Rows)) -> Result<()>;

    /// Refuses where what it keeps is no longer where it was opened.
    fn check_place(&self) -> Result<()> {
        Ok(())
    }
}

/// What a reader finds on one state of the rows.
pub(crate) fn read<T>(backend: &dyn Backend, reader: impl FnOnce(&dyn Rows) -> Result<T>) -> Result<T> {
    let (mut reader, mut found) = (Some(reader), None);
    backend.read(&mut |rows| found = reader.take().map(|reader| reader(rows)))?;
    found.expect("BUG: a backend runs its reader")
}

/// What the one writer does in addition to writing rows.
pub trait Transactions: Rows + 'static {
    /// The epoch of this owner: another one for each that opens the store.
    fn owner(&self) -> u64;
    /// Opens a transaction; refused when another owner has taken over.
    fn begin(&mut self) -> Result<()>;
    /// Sets a point to return to. Whatever a transaction writes, it writes behind one.
    fn save(&mut self) -> Result<()>;
    /// Returns to that point.
    fn back(&mut self) -> Result<()>;
    /// Gives that point up.
    fn keep(&mut self) -> Result<()>;
    /// Makes everything durable.
    fn commit(&mut self) -> Result<()>;
    /// Drops everything since `begin`.
    fn abandon(&mut self);
    /// After the commit of an erasure: overwrites pages and logs that held the bytes.
    fn scrub(&mut self) -> Result<()>;
}
