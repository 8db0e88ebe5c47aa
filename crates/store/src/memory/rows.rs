//! Rows in memory: every query in the simplest form.

use std::cmp::Reverse;
use std::ops::RangeInclusive;

use retake_core::{
    ArchiveState, ConversationId, Entry, EntryId, ListRequest, LogSegment, Meta, OpNo, Operation, Part, Pos,
    RequestId, SearchRequest, Sort, State, Time,
};
use uuid::Uuid;

use super::MemoryRows;
use super::data::{Log, Saved, misplaced};
use crate::error::{Result, StoreError};
use crate::query::{Query, indexed, looks_through, words};
use crate::rows::{
    ConversationRow, ConversationRows, DraftRows, EntryRows, Erasure, Fingerprint, Key, LogNo, MadeBy,
    NowRow, OperationRows, Rows,
};
use crate::stream::StreamRow;

impl ConversationRows for MemoryRows {
    fn insert_conversation(&mut self, row: &ConversationRow) -> Result<LogNo> {
        let data = &mut self.data;
        let log = LogNo(data.logs.len() as i64 + 1);
        let request = row.request.as_ref().map(|(request, _)| request);
        if data.conversations.contains_key(&row.id)
            || request.is_some_and(|request| data.requests.contains_key(request))
        {
            return Err(misplaced(format!("conversation {}", row.id)));
        }
        let root = if row.has_root() { row.root } else { log };
        let row = ConversationRow { log, root, ..row.clone() };
        data.conversations.insert_mut(row.id, log);
        if let Some(request) = request {
            data.requests.insert_mut(request.clone(), log);
        }
        data.logs.push_back_mut(Log::new(row));
        Ok(log)
    }

    fn conversation(&self, id: ConversationId) -> Result<Option<ConversationRow>> {
        let log = self.data.conversations.get(&id);
        log.map(|log| self.log(*log)).transpose()
    }

    fn log(&self, log: LogNo) -> Result<ConversationRow> {
        Ok(self.data.log(log)?.row.clone())
    }

    fn conversation_by_request(&self, request: &RequestId) -> Result<Option<ConversationRow>> {
        let log = self.data.requests.get(request);
        log.map(|log| self.log(*log)).transpose()
    }

    fn set_now(&mut self, log: LogNo, now: NowRow) -> Result<()> {
        self.data.log_mut(log)?.row.now = now;
        Ok(())
    }

    fn conversations(&self, request: &ListRequest) -> Result<Vec<ConversationRow>> {
        let place = |row: &ConversationRow| Reverse((row.now.changed, row.log));
        let before = match request.before {
            None => None,
            Some(id) => match self.conversation(id)? {
                None => return Err(StoreError::UnknownConversation(id.to_string())),
                Some(row) => Some(place(&row)),
            },
        };
        let logs = self.data.logs.iter();
        let mut rows: Vec<_> = logs
            .map(|log| &log.row)
            .filter(|row| row.caller.is_none())
            .filter(|row| request.folder.is_none() || row.folder == request.folder)
            .filter(|row| {
                request.shelf.is_none_or(|shelf| row.now.archived == (shelf == ArchiveState::Archived))
            })
            .filter(|row| before.is_none_or(|before| place(row) > before))
            .collect();
        rows.sort_by_key(|row| place(row));
        Ok(rows.into_iter().take(request.limit).cloned().collect())
    }

    fn conversations_like(&self, prefix: &str, limit: usize) -> Result<Vec<ConversationId>> {
        let ids = self.data.conversations.keys().copied();
        let like = ids.filter(|id| begins(id.uuid(), prefix));
        Ok(like.take(limit).collect())
    }

    fn tree_of(&self, root: LogNo) -> Result<Vec<ConversationRow>> {
        let rows = self.data.logs.iter().map(|log| &log.row);
        Ok(rows.filter(|row| row.root == root).cloned().collect())
    }

    fn subagents(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<ConversationRow>> {
        let rows = self.data.logs.iter().map(|log| &log.row);
        let is_one = |row: &&ConversationRow| {
            let answer = row.caller.as_ref().map(|caller| caller.answer);
            answer.is_some_and(|answer| answer.log == log && (from..=to).contains(&answer.seq))
        };
        Ok(rows.filter(is_one).cloned().collect())
    }

    fn set_stream(&mut self, log: LogNo, stream: Option<&StreamRow>) -> Result<()> {
        self.data.log_mut(log)?.stream = stream.cloned();
        Ok(())
    }

    fn streams(&self) -> Result<Vec<StreamRow>> {
        let logs = self.data.logs.iter();
        Ok(logs.filter_map(|log| log.stream.clone()).collect())
    }
}

impl EntryRows for MemoryRows {
    fn insert_entry(
        &mut self,
        home: &ConversationRow,
        entry: &Entry,
        run: bool,
        made_by: &MadeBy,
    ) -> Result<()> {
        let data = &mut self.data;
        let (id, seq) = (entry.meta.id, entry.meta.pos.seq);
        let key = Key { log: home.log, seq };
        let known = data.entries.contains_key(&(home.root, id));
        let log = data.log_mut(home.log)?;
        let twice = made_by.as_ref().is_some_and(|(request, _)| log.said.contains_key(request));
        if known || twice || seq != log.entries.len() as u64 + 1 {
            return Err(misplaced(key.name()));
        }
        if let Some((request, fingerprint)) = made_by {
            log.said.insert_mut(request.clone(), (key, *fingerprint));
        }
        let entry = entry.clone();
        let platform = entry.platform_id.clone();
        data.agent.said(key, &entry);
        let log = data.log_mut(home.log)?;
        log.entries.push_back_mut(Saved { entry, run });
        data.entries.insert_mut((home.root, id), key);
        if let Some(platform) = platform {
            let name = (home.root, platform);
            let mut keys = data.platform.get(&name).cloned().unwrap_or_default();
            keys.push(key);
            data.platform.insert_mut(name, keys);
        }
        Ok(())
    }

    fn meta(&self, key: Key) -> Result<Meta> {
        Ok(self.data.saved(key)?.entry.meta.clone())
    }

    fn metas(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<Meta>> {
        Ok(self.data.log(log)?.range(from, to).map(|saved| saved.entry.meta.clone()).collect())
    }

    fn entry(&self, key: Key) -> Result<Entry> {
        Ok(self.data.saved(key)?.entry.clone())
    }

    fn entries(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<Result<Entry>>> {
        let range = self.data.log(log)?.range(from, to);
        Ok(range.map(|saved| Ok(saved.entry.clone())).collect())
    }

    fn last_opener(&self, log: LogNo, from: u64, to: u64) -> Result<Option<u64>> {
        let mut range = self.data.log(log)?.range(from, to);
        let opener = range.rfind(|saved| saved.entry.meta.opens_turn());
        Ok(opener.map(|saved| saved.entry.meta.pos.seq))
    }

    fn results_in(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<(u64, Pos)>> {
        Ok(results(self.data.log(log)?.range(from, to)).collect())
    }

    fn results_for(&self, log: LogNo, from: Pos, to: Pos) -> Result<Vec<(u64, Pos)>> {
        let all = results(self.data.log(log)?.entries.iter());
        Ok(all.filter(|(_, call)| (from..=to).contains(call)).collect())
    }

    fn entry_by_id(&self, root: LogNo, id: EntryId) -> Result<Option<Key>> {
        Ok(self.data.entries.get(&(root, id)).copied())
    }

    fn entries_like(&self, root: LogNo, prefix: &str, limit: usize) -> Result<Vec<(EntryId, Key)>> {
        let tree = self.data.entries.range(ids_of(root));
        let like = tree.filter(|((_, id), _)| begins(id.uuid(), prefix));
        Ok(like.map(|((_, id), key)| (*id, *key)).take(limit).collect())
    }

    fn entry_by_request(&self, log: LogNo, request: &RequestId) -> Result<Option<(Key, Fingerprint)>> {
        Ok(self.data.log(log)?.said.get(request).copied())
    }

    fn requests_in(&self, log: LogNo, from: u64, to: u64) -> Result<Vec<(u64, RequestId, Fingerprint)>> {
        let said = self.data.log(log)?.said.iter().map(|(request, (key, print))| (key.seq, request, *print));
        let inside = said.filter(|(seq, ..)| (from..=to).contains(seq));
        Ok(inside.map(|(seq, request, print)| (seq, request.clone(), print)).collect())
    }

    fn entries_by_platform(&self, root: LogNo, platform_id: &str) -> Result<Vec<Key>> {
        let keys = self.data.platform.get(&(root, platform_id.to_owned()));
        Ok(keys.cloned().unwrap_or_default())
    }

    fn stretches(&self, log: LogNo) -> Result<Vec<LogSegment>> {
        let entries = self.data.log(log)?.entries.iter();
        let starts = entries.filter(|saved| saved.run).map(|saved| LogSegment {
            start: saved.entry.meta.pos.seq,
            after: saved.entry.meta.after,
            detached: saved.entry.meta.flags.detached,
        });
        Ok(starts.collect())
    }
}

impl OperationRows for MemoryRows {
    fn insert_op(&mut self, home: &ConversationRow, op: &Operation, made_by: &MadeBy) -> Result<u64> {
        let log = self.data.log_mut(home.log)?;
        let twice = made_by.as_ref().is_some_and(|(request, _)| log.done.contains_key(request));
        if twice || op.no.0 != log.ops.len() as u64 + 1 {
            let name = format!("operation {} of conversation {}", op.no, home.log.0);
            return Err(misplaced(name));
        }
        if let Some((request, fingerprint)) = made_by {
            log.done.insert_mut(request.clone(), (op.no, *fingerprint));
        }
        log.ops.push_back_mut(op.clone());
        Ok(bytes(&op.change))
    }

    fn op(&self, log: LogNo, no: OpNo) -> Result<Operation> {
        self.data.op(log, no).cloned()
    }

    fn ops(&self, log: LogNo, from: OpNo, to: OpNo) -> Result<Vec<Operation>> {
        let last = to.0.min(self.data.log(log)?.ops.len() as u64);
        let range = from.0.max(1)..=last;
        range.map(|no| self.op(log, OpNo(no))).collect()
    }

    fn op_by_request(&self, log: LogNo, request: &RequestId) -> Result<Option<(OpNo, Fingerprint)>> {
        Ok(self.data.log(log)?.done.get(request).copied())
    }

    fn insert_state(&mut self, home: &ConversationRow, op: OpNo, state: &State) -> Result<u64> {
        let log = self.data.log_mut(home.log)?;
        log.states.insert_mut(op, state.clone());
        Ok(bytes(state))
    }

    fn state(&self, log: LogNo, op: OpNo) -> Result<Option<(OpNo, State)>> {
        let states = &self.data.log(log)?.states;
        let last = states.range(..=op).next_back();
        Ok(last.map(|(op, state)| (*op, state.clone())))
    }
}

impl DraftRows for MemoryRows {
    fn set_draft(&mut self, home: &ConversationRow, author: &str, parts: Option<&[Part]>) -> Result<()> {
        let drafts = &mut self.data.log_mut(home.log)?.drafts;
        match parts {
            Some(parts) => drafts.insert_mut(author.to_owned(), parts.to_vec()),
            None => drop(drafts.remove_mut(author)),
        }
        Ok(())
    }

    fn drafts(&self, log: LogNo) -> Result<Vec<(String, Vec<Part>)>> {
        let drafts = self.data.log(log)?.drafts.iter();
        Ok(drafts.map(|(author, parts)| (author.clone(), parts.clone())).collect())
    }

    fn set_draft_in(&mut self, folder: &str, author: &str, parts: Option<&[Part]>) -> Result<()> {
        let key = (folder.to_owned(), author.to_owned());
        match parts {
            Some(parts) => self.data.drafts_in.insert_mut(key, parts.to_vec()),
            None => drop(self.data.drafts_in.remove_mut(&key)),
        }
        Ok(())
    }

    fn draft_in(&self, folder: &str, author: &str) -> Result<Option<Vec<Part>>> {
        Ok(self.data.drafts_in.get(&(folder.to_owned(), author.to_owned())).cloned())
    }

    fn drafts_in(&self) -> Result<Vec<(String, String, Vec<Part>)>> {
        let all = self.data.drafts_in.iter();
        Ok(all.map(|((folder, author), parts)| (folder.clone(), author.clone(), parts.clone())).collect())
    }
}

impl Rows for MemoryRows {
    fn search(
        &self,
        query: &Query,
        request: &SearchRequest,
        within: Option<&[(LogNo, u64, u64)]>,
        visit: &mut dyn FnMut(Key) -> Result<bool>,
    ) -> Result<()> {
        let all = || self.data.logs.iter().map(|log| (log.row.log, 1, u64::MAX));
        let ranges = within.map_or_else(|| all().collect(), <[_]>::to_vec);
        let mut hits: Vec<(usize, Time, Key)> = Vec::new();
        for (log, from, to) in ranges {
            for Saved { entry, .. } in self.data.log(log)?.range(from, to) {
                let (seq, time) = (entry.meta.pos.seq, entry.meta.time);
                match count(query, request, entry) {
                    0 => {}
                    found => hits.push((found, time, Key { log, seq })),
                }
            }
        }
        match request.sort {
            Sort::Rank => hits.sort_by_key(|hit| Reverse(*hit)),
            Sort::Newest => hits.sort_by_key(|(_, time, key)| Reverse((*time, *key))),
            Sort::Oldest => hits.sort_by_key(|(_, time, key)| (*time, *key)),
        }
        for (_, _, key) in hits {
            if !visit(key)? {
                break;
            }
        }
        Ok(())
    }

    fn erase(&mut self, _root: LogNo, what: &Erasure) -> Result<()> {
        self.data.erase(what)
    }
}

/// The number of matches in an entry; 0 if the request excludes it.
fn count(query: &Query, request: &SearchRequest, entry: &Entry) -> usize {
    let Entry { meta, author, .. } = entry;
    if !looks_through(request, meta.role, author, meta.time) {
        return 0;
    }
    let text = indexed(&entry.parts);
    let words: Vec<String> = words(&text).map(|word| word.text).collect();
    query.occurrences(&words)
}

/// The tool results among entries, with their calls.
fn results<'a>(entries: impl Iterator<Item = &'a Saved>) -> impl Iterator<Item = (u64, Pos)> {
    entries.filter_map(|saved| {
        let meta = &saved.entry.meta;
        meta.answers.map(|call| (meta.pos.seq, call))
    })
}

/// Whether an id begins with these hexadecimal digits.
fn begins(id: Uuid, prefix: &str) -> bool {
    id.simple().to_string().starts_with(prefix)
}

/// The range of a tree of forks in the index of ids.
fn ids_of(root: LogNo) -> RangeInclusive<(LogNo, EntryId)> {
    (root, EntryId::new(Uuid::nil()))..=(root, EntryId::new(Uuid::max()))
}

/// An estimate of a value's stored size.
fn bytes(what: &impl std::fmt::Debug) -> u64 {
    format!("{what:?}").len() as u64
}
