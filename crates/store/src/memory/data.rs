//! The rows of the store in memory: logs, and the few indexes that every append needs.
//!
//! Copies share their common structure, so copies and appends are cheap.

use retake_core::{Change, ConversationId, Entry, EntryId, OpNo, Operation, Part, RequestId, State};
use rpds::{HashTrieMapSync, RedBlackTreeMapSync, VectorSync};

use crate::error::{Result, StoreError};
use crate::rows::{ConversationRow, Erasure, Fingerprint, Key, LogNo};
use crate::stream::StreamRow;

/// All rows.
#[derive(Clone, Debug, Default)]
pub(super) struct Data {
    /// The first one is log number 1.
    pub(super) logs: VectorSync<Log>,
    pub(super) conversations: RedBlackTreeMapSync<ConversationId, LogNo>,
    pub(super) requests: HashTrieMapSync<RequestId, LogNo>,
    /// By root and id.
    pub(super) entries: RedBlackTreeMapSync<(LogNo, EntryId), Key>,
    /// By root and the platform's id.
    pub(super) platform: HashTrieMapSync<(LogNo, String), Vec<Key>>,
    pub(super) files: super::files::Files,
    pub(super) agent: super::tool_turns::Agent,
    pub(super) outbox: super::outbox::Outbox,
    pub(super) tokens: super::access::Tokens,
    pub(super) chats: super::chat::Chats,
    /// Drafts of new conversations, by folder and author.
    pub(super) drafts_in: RedBlackTreeMapSync<(String, String), Vec<Part>>,
}

/// A conversation.
#[derive(Clone, Debug)]
pub(super) struct Log {
    pub(super) row: ConversationRow,
    /// The first one is entry 1.
    pub(super) entries: VectorSync<Saved>,
    /// The first one is operation 1.
    pub(super) ops: VectorSync<Operation>,
    pub(super) states: RedBlackTreeMapSync<OpNo, State>,
    pub(super) said: HashTrieMapSync<RequestId, (Key, Fingerprint)>,
    pub(super) done: HashTrieMapSync<RequestId, (OpNo, Fingerprint)>,
    pub(super) stream: Option<StreamRow>,
    /// By author.
    pub(super) drafts: RedBlackTreeMapSync<String, Vec<Part>>,
}

/// An entry.
#[derive(Clone, Debug)]
pub(super) struct Saved {
    pub(super) entry: Entry,
    /// Whether it begins a stretch.
    pub(super) run: bool,
}

impl Log {
    /// An empty log.
    pub(super) fn new(row: ConversationRow) -> Self {
        Self {
            row,
            entries: VectorSync::default(),
            ops: VectorSync::default(),
            states: RedBlackTreeMapSync::default(),
            said: HashTrieMapSync::default(),
            done: HashTrieMapSync::default(),
            stream: None,
            drafts: RedBlackTreeMapSync::default(),
        }
    }

    /// The existing entries in a range of numbers, both included.
    pub(super) fn range(&self, from: u64, to: u64) -> impl DoubleEndedIterator<Item = &Saved> {
        let last = to.min(self.entries.len() as u64);
        (from.max(1)..=last).filter_map(|seq| self.entries.get(index(seq)))
    }
}

impl Data {
    /// A conversation.
    pub(super) fn log(&self, log: LogNo) -> Result<&Log> {
        let found = self.logs.get(log_index(log));
        found.ok_or_else(|| StoreError::missing(format!("conversation number {}", log.0)))
    }

    /// A conversation for changes.
    pub(super) fn log_mut(&mut self, log: LogNo) -> Result<&mut Log> {
        let found = self.logs.get_mut(log_index(log));
        found.ok_or_else(|| StoreError::missing(format!("conversation number {}", log.0)))
    }

    /// An entry.
    pub(super) fn saved(&self, key: Key) -> Result<&Saved> {
        let found = self.log(key.log)?.entries.get(index(key.seq));
        found.ok_or_else(|| StoreError::missing(key.name()))
    }

    /// An operation.
    pub(super) fn op(&self, log: LogNo, no: OpNo) -> Result<&Operation> {
        let found = self.log(log)?.ops.get(index(no.0));
        found.ok_or(StoreError::MissingOperation(no))
    }

    fn entry_mut(&mut self, key: Key) -> Result<&mut Entry> {
        let found = self.log_mut(key.log)?.entries.get_mut(index(key.seq));
        found.map(|saved| &mut saved.entry).ok_or_else(|| StoreError::missing(key.name()))
    }

    fn op_mut(&mut self, log: LogNo, no: OpNo) -> Result<&mut Operation> {
        let found = self.log_mut(log)?.ops.get_mut(index(no.0));
        found.ok_or(StoreError::MissingOperation(no))
    }

    /// Overwrites the content that an erasure names.
    pub(super) fn erase(&mut self, what: &Erasure) -> Result<()> {
        for key in &what.entries {
            let erased = self.saved(*key)?.entry.clone();
            self.agent.erased(*key, &erased);
            let entry = self.entry_mut(*key)?;
            entry.parts = vec![Part::Erased];
            entry.meta.flags.erased = true;
            self.chats.erased(*key);
        }
        for key in &what.names {
            let entry = self.entry_mut(*key)?;
            (entry.author, entry.platform_id, entry.origin) = (String::new(), None, None);
        }
        for (log, no) in &what.ops {
            erase_op(self.op_mut(*log, *no)?);
        }
        for (log, no, kept) in &what.kept {
            self.op_mut(*log, *no)?.kept = kept.clone();
        }
        for (log, request) in &what.requests {
            let log = self.log_mut(*log)?;
            if let Some((no, _)) = log.done.get(request).copied()
                && let Some(op) = log.ops.get_mut(index(no.0))
            {
                op.request = None;
            }
            log.row.request.take_if(|(made, _)| made == request);
            log.said.remove_mut(request);
            log.done.remove_mut(request);
            self.requests.remove_mut(request);
        }
        for (log, no) in &what.authors {
            let op = self.op_mut(*log, *no)?;
            op.author.clear();
            op.principal = op.principal.erased();
        }
        for log in &what.states {
            // A full state can be computed from the operations again.
            self.log_mut(*log)?.states = RedBlackTreeMapSync::default();
        }
        Ok(())
    }
}

/// Overwrites the texts of an operation.
fn erase_op(op: &mut Operation) {
    if let Some(summary) = &mut op.summary {
        summary.clear();
    }
    if let Change::Label { before, after, .. } = &mut op.change {
        [before, after].into_iter().flatten().for_each(String::clear);
    }
}

/// The index of a number that counts from 1; 0 stays 0.
fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(0).wrapping_sub(1)
}

fn log_index(log: LogNo) -> usize {
    index(u64::try_from(log.0).unwrap_or(0))
}

/// The error for a row that is not the next one, or whose name exists already.
pub(super) fn misplaced(row: String) -> StoreError {
    let why = "it is there already, or one before it is not".into();
    StoreError::Damaged { row, why }
}
