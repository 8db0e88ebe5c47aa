//! [`Rows`] for SQLite: names each request and leaves it to the file of its table.

use std::path::PathBuf;
use std::sync::Arc;

use retake_core::{
    ConversationId, Entry, EntryId, ListRequest, Meta, OpNo, Operation, Part, Pos, RequestId, SearchRequest,
    State, Stretch,
};
use rusqlite::Connection;

use super::{agent, conversation, draft, entry, erase, operation, search};
use crate::error::Result;
use crate::lock::OwnerLock;
use crate::query::Query;
use crate::rows::{ConversationRow, Erasure, Fingerprint, Key, LogNo, MadeBy, NowRow, Rows};
use crate::stream::StreamRow;

/// Rows of an SQLite file: the writer's, or a reader's that can't write.
#[derive(Debug)]
pub struct SqliteRows {
    pub(super) db: Connection,
    pub(super) file: PathBuf,
    /// The epoch that this owner wrote when it opened the store.
    pub(super) epoch: i64,
    /// Texts for the full-text index. They are added at the end of the transaction: the index writes what it has
    /// at every savepoint, and one for each request would make a segment of each entry.
    pub(super) texts: Vec<(i64, String)>,
    /// How many of them are in the index already.
    pub(super) indexed: usize,
    /// How many texts there were at the savepoint, and how many of them in the index.
    pub(super) saved: (usize, usize),
    /// Whether the transaction holds nothing yet: then its beginning is the point to return to, and a request on its
    /// own needs no savepoint, for which SQLite copies every page that it touches.
    pub(super) fresh: bool,
    pub(super) notices: Vec<String>,
    /// Held until the file is closed: fields are dropped in order.
    pub(super) lock: Arc<OwnerLock>,
}

impl Rows for SqliteRows {
    fn insert_conversation(&mut self, row: &ConversationRow) -> Result<LogNo> {
        conversation::insert(&self.db, row)
    }

    fn conversation(&self, id: ConversationId) -> Result<Option<ConversationRow>> {
        conversation::by_id(&self.db, id)
    }

    fn log(&self, log: LogNo) -> Result<ConversationRow> {
        conversation::by_log(&self.db, log)
    }

    fn conversation_by_request(&self, request: &RequestId) -> Result<Option<ConversationRow>> {
        conversation::by_request(&self.db, request)
    }

    fn set_now(&mut self, log: LogNo, now: NowRow) -> Result<()> {
        conversation::set_now(&self.db, log, now)
    }

    fn conversations(&self, request: &ListRequest) -> Result<Vec<ConversationRow>> {
        conversation::page(&self.db, request)
    }

    fn conversations_like(&self, prefix: &str, limit: usize) -> Result<Vec<ConversationId>> {
        conversation::like(&self.db, prefix, limit)
    }

    fn tree_of(&self, root: LogNo) -> Result<Vec<ConversationRow>> {
        conversation::tree_of(&self.db, root)
    }

    fn insert_entry(
        &mut self,
        home: &ConversationRow,
        entry: &Entry,
        run: bool,
        made_by: &MadeBy,
    ) -> Result<()> {
        let key = entry::insert(&self.db, home, entry, run, made_by)?;
        agent::facts::insert(&self.db, home, entry)?;
        self.texts.extend(search::text_of(&entry.parts).map(|text| (key, text)));
        Ok(())
    }

    fn meta(&self, key: Key) -> Result<Meta> {
        entry::meta(&self.db, key)
    }

    fn metas(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<Meta>> {
        entry::metas(&self.db, log, from, to)
    }

    fn entry(&self, key: Key) -> Result<Entry> {
        entry::one(&self.db, key)
    }

    fn entries(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<Result<Entry>>> {
        entry::many(&self.db, log, from, to)
    }

    fn last_opener(&self, log: LogNo, from: u64, to: u64) -> Result<Option<u64>> {
        entry::last_opener(&self.db, log, from, to)
    }

    fn results_in(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<(u64, Pos)>> {
        entry::results_in(&self.db, log, from, to)
    }

    fn results_for(&self, log: LogNo, from: Pos, to: Pos) -> Result<Vec<(u64, Pos)>> {
        entry::results_for(&self.db, log, from, to)
    }

    fn entry_by_id(&self, root: LogNo, id: EntryId) -> Result<Option<Key>> {
        entry::by_id(&self.db, root, id)
    }

    fn entries_like(&self, root: LogNo, prefix: &str, limit: usize) -> Result<Vec<(EntryId, Key)>> {
        entry::like(&self.db, root, prefix, limit)
    }

    fn entry_by_request(&self, log: LogNo, request: &RequestId) -> Result<Option<(Key, Fingerprint)>> {
        entry::by_request(&self.db, log, request)
    }

    fn requests_in(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<(u64, RequestId, Fingerprint)>> {
        entry::requests_in(&self.db, log, from, to)
    }

    fn entries_by_platform(&self, root: LogNo, platform_id: &str) -> Result<Vec<Key>> {
        entry::by_platform(&self.db, root, platform_id)
    }

    fn stretches(&self, log: LogNo) -> Result<Vec<Stretch>> {
        entry::runs(&self.db, log)
    }

    fn insert_op(&mut self, home: &ConversationRow, op: &Operation, made_by: &MadeBy) -> Result<u64> {
        operation::insert(&self.db, home, op, made_by)
    }

    fn op(&self, log: LogNo, no: OpNo) -> Result<Operation> {
        operation::one(&self.db, log, no)
    }

    fn ops(&self, log: LogNo, from: OpNo, to: OpNo) -> Result<Vec<Operation>> {
        operation::many(&self.db, log, from, to)
    }

    fn op_by_request(&self, log: LogNo, request: &RequestId) -> Result<Option<(OpNo, Fingerprint)>> {
        operation::by_request(&self.db, log, request)
    }

    fn insert_state(&mut self, home: &ConversationRow, op: OpNo, state: &State) -> Result<u64> {
        operation::insert_state(&self.db, home, op, state)
    }

    fn state(&self, log: LogNo, op: OpNo) -> Result<Option<(OpNo, State)>> {
        operation::state(&self.db, log, op)
    }

    fn set_stream(&mut self, log: LogNo, stream: Option<&StreamRow>) -> Result<()> {
        conversation::set_stream(&self.db, log, stream)
    }

    fn streams(&self) -> Result<Vec<StreamRow>> {
        conversation::streams(&self.db)
    }

    fn set_draft(&mut self, home: &ConversationRow, author: &str, parts: Option<&[Part]>) -> Result<()> {
        draft::set(&self.db, home, author, parts)
    }

    fn drafts(&self, log: LogNo) -> Result<Vec<(String, Vec<Part>)>> {
        draft::all_of(&self.db, log)
    }

    fn set_draft_in(&mut self, folder: &str, author: &str, parts: Option<&[Part]>) -> Result<()> {
        draft::set_in(&self.db, folder, author, parts)
    }

    fn draft_in(&self, folder: &str, author: &str) -> Result<Option<Vec<Part>>> {
        draft::one_in(&self.db, folder, author)
    }

    fn drafts_in(&self) -> Result<Vec<(String, String, Vec<Part>)>> {
        draft::all_in(&self.db)
    }

    fn search(
        &self,
        query: &Query,
        request: &SearchRequest,
        within: Option<&[(LogNo, u64, u64)]>,
        visit: &mut dyn FnMut(Key) -> Result<bool>,
    ) -> Result<()> {
        search::search(&self.db, query, request, within, visit)
    }

    fn erase(&mut self, root: LogNo, what: &Erasure) -> Result<()> {
        // What is taken out of the index has to be in it.
        self.index_texts()?;
        erase::erase(&self.db, root, what)
    }
}
