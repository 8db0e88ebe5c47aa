//! Reads of conversations: their list, one of them, its pages and entries.

use retake_core::{
    Caller, ConversationId, EntryId, EntryPage, FactsChanged, Head, ListRequest, Message, Meta, NetChange,
    OpNo, OpPage, OpRange, PageRequest, Part, Pos, Reading, Records as _, ShownEntry, Summary, difference,
};
use std::collections::BTreeSet;

use super::decide::locate;
use super::load::{Loaded, load, load_at};
use super::{Store, memory, prompt, read};
use crate::error::{Result, StoreError};
use crate::reading::Snapshot;
use crate::rows::{LogNo, Rows};
use crate::untyped::{Untyped, typed, untyped};

/// Work on a conversation and its rows, as [`RowsWork`](super::RowsWork).
type ReaderWork = Box<dyn FnOnce(&dyn Rows, &Loaded) -> Result<Untyped> + Send>;

impl Store {
    /// Reads the current conversation.
    pub(super) async fn with<V: Send + 'static>(
        &self,
        id: ConversationId,
        reader: impl FnOnce(&dyn Rows, &Loaded) -> Result<V> + Send + 'static,
    ) -> Result<V> {
        self.with_untyped(id, Box::new(move |rows, loaded| reader(rows, loaded).map(untyped)))
            .await
            .map(typed)
    }

    async fn with_untyped(&self, id: ConversationId, reader: ReaderWork) -> Result<Untyped> {
        let loaded = self.now(id).await?;
        self.read_untyped(Box::new(move |rows| reader(rows, &loaded))).await
    }

    /// Reads a conversation, now or at a head.
    pub(super) async fn with_at<V: Send + 'static>(
        &self,
        id: ConversationId,
        at: Option<Head>,
        reader: impl FnOnce(&dyn Rows, &Loaded) -> Result<V> + Send + 'static,
    ) -> Result<V> {
        self.with(id, move |rows, now| match at {
            Some(head) if head != now.conversation.head => {
                reader(rows, &load_at(rows, now.row.clone(), head)?)
            }
            _ => reader(rows, now),
        })
        .await
    }

    /// The current conversation.
    pub async fn snapshot(&self, conversation: ConversationId) -> Result<Snapshot> {
        Ok(Snapshot { loaded: self.now(conversation).await? })
    }

    /// A conversation's summary.
    pub async fn summary(&self, conversation: ConversationId) -> Result<Summary> {
        self.with(conversation, read::summary).await
    }

    /// Conversations, the last changed first (of changes in one millisecond, the newer conversation), one more than requested if
    /// there are more.
    pub async fn list(&self, request: ListRequest) -> Result<Vec<Summary>> {
        self.read(move |rows| read::summaries(rows, rows.conversations(&request)?)).await
    }

    /// Conversations whose id has this prefix, at most `limit`.
    pub async fn conversations_like(&self, prefix: String, limit: usize) -> Result<Vec<ConversationId>> {
        // A conversation in memory exists.
        if let Some(id) = prefix.parse().ok().filter(|id| prefix.len() == 32 && self.cache.get(*id).is_some())
        {
            return Ok(vec![id]);
        }
        self.read(move |rows| rows.conversations_like(&prefix, limit)).await
    }

    /// The forks of a conversation, with the last entry of each one's base.
    pub async fn forks(&self, conversation: ConversationId) -> Result<Vec<(Summary, Option<EntryId>)>> {
        self.with(conversation, |rows, parent| {
            let mut forks = Vec::new();
            for row in rows.tree_of(parent.row.root)? {
                let Some(from) = row.parent.filter(|from| from.log == parent.row.log) else {
                    continue;
                };
                let tip = from.tip.map(|tip| Ok::<_, StoreError>(rows.meta(parent.key(tip)?)?.id));
                forks.push((read::summary(rows, &load(rows, row)?)?, tip.transpose()?));
            }
            Ok(forks)
        })
        .await
    }

    /// The call that started a subagent; `None` for any other conversation.
    pub async fn caller(&self, conversation: ConversationId) -> Result<Option<Caller>> {
        match self.now(conversation).await?.row.caller.is_some() {
            true => self.with(conversation, |rows, loaded| read::caller(rows, &loaded.row)).await,
            false => Ok(None),
        }
    }

    /// The subagents that calls on the path started, in the order of their beginning, each with its call. A call that was taken
    /// back names none.
    pub async fn subagents(&self, conversation: ConversationId) -> Result<Vec<(Caller, Summary)>> {
        self.with(conversation, |rows, calling| {
            let mut found = Vec::new();
            for span in calling.conversation.scheduling().spans() {
                for row in rows.subagents(calling.key(span.first())?.log, span.from, span.to)? {
                    if let Some(caller) = read::caller(rows, &row)? {
                        found.push((caller, read::summary(rows, &load(rows, row)?)?));
                    }
                }
            }
            Ok(found)
        })
        .await
    }

    /// The subagents that calls of an entry started, whether they count or not.
    pub async fn subagents_of(
        &self,
        conversation: ConversationId,
        entry: EntryId,
    ) -> Result<Vec<ConversationId>> {
        self.with(conversation, move |rows, calling| {
            let answer = calling.key(locate(rows, calling, entry)?)?;
            let started = rows.subagents(answer.log, answer.seq, answer.seq)?;
            Ok(started.into_iter().map(|row| row.id).collect())
        })
        .await
    }

    /// A page of a projection.
    pub async fn page(
        &self,
        conversation: ConversationId,
        reading: Reading,
        page: PageRequest,
    ) -> Result<EntryPage> {
        let Reading { projection, at, branch } = reading;
        self.with_at(conversation, at, move |rows, loaded| match branch {
            None => read::page(rows, loaded, projection, &page),
            Some(id) => {
                let tip = locate(rows, loaded, id)?;
                let conversation = loaded.conversation.on_branch(&loaded.records(rows), tip)?;
                read::page(rows, &Loaded { conversation, ..loaded.clone() }, projection, &page)
            }
        })
        .await
    }

    /// An entry in the timeline; `None` if it does not show it.
    pub async fn shown(&self, conversation: ConversationId, entry: EntryId) -> Result<Option<ShownEntry>> {
        self.with(conversation, move |rows, loaded| read::shown_entry(rows, loaded, entry)).await
    }

    /// The repaired prompt, now or at an earlier head.
    pub async fn prompt(&self, conversation: ConversationId, at: Option<Head>) -> Result<Vec<Message>> {
        self.with_at(conversation, at, prompt::prompt).await
    }

    /// The net change of the operations from `first` on, up to a head.
    pub async fn net(&self, conversation: ConversationId, first: OpNo, to: Head) -> Result<NetChange> {
        self.with(conversation, move |rows, loaded| {
            let records = loaded.records(rows);
            let [before, after] = around(rows, loaded, first, to)?.map(|loaded| loaded.conversation);
            let change = difference(&before, &after);
            Ok(NetChange {
                taken_back: before.visible_totals(&records, &change.gone)?,
                brought_back: after.visible_totals(&records, &change.came)?,
                lifted: change.lifted,
            })
        })
        .await
    }

    /// How these operations changed which remembered facts count. Other conversations are taken as they are now.
    pub async fn facts_changed(
        &self,
        conversation: ConversationId,
        first: OpNo,
        to: Head,
    ) -> Result<FactsChanged> {
        self.with(conversation, move |rows, loaded| {
            memory::changed(rows, loaded, || around(rows, loaded, first, to))
        })
        .await
    }

    /// Operations, newest first.
    pub async fn ops(&self, conversation: ConversationId, range: OpRange) -> Result<OpPage> {
        self.with(conversation, move |rows, loaded| read::ops(rows, loaded, range)).await
    }

    /// The content of an entry that is visible in this conversation, or on another branch.
    pub async fn content(&self, conversation: ConversationId, entry: EntryId) -> Result<Vec<Part>> {
        self.with(conversation, move |rows, loaded| read::content(rows, loaded, entry)).await
    }

    /// The content of these entries, in their order, as [`Self::content`] has it.
    pub async fn contents(
        &self,
        conversation: ConversationId,
        entries: Vec<EntryId>,
    ) -> Result<Vec<Result<Vec<Part>>>> {
        self.with(conversation, move |rows, loaded| {
            Ok(entries.into_iter().map(|entry| read::content(rows, loaded, entry)).collect())
        })
        .await
    }

    /// The place and time of an entry that the conversation knows, also on another branch.
    pub async fn meta(&self, conversation: ConversationId, entry: EntryId) -> Result<Meta> {
        self.with(conversation, move |rows, loaded| meta(rows, loaded, entry)).await
    }

    /// The places and times of these entries, in their order, as [`Self::meta`] has them.
    pub async fn metas(&self, conversation: ConversationId, entries: Vec<EntryId>) -> Result<Vec<Meta>> {
        self.with(conversation, move |rows, loaded| {
            entries.into_iter().map(|entry| meta(rows, loaded, entry)).collect()
        })
        .await
    }

    /// The id of the entry at a position.
    pub async fn entry_id(&self, conversation: ConversationId, pos: Pos) -> Result<EntryId> {
        self.with(conversation, move |rows, loaded| Ok(rows.meta(loaded.key(pos)?)?.id)).await
    }

    /// The ids of the entries at these positions, in their order.
    pub async fn entry_ids(&self, conversation: ConversationId, places: Vec<Pos>) -> Result<Vec<EntryId>> {
        self.with(conversation, move |rows, loaded| {
            places.into_iter().map(|pos| Ok(rows.meta(loaded.key(pos)?)?.id)).collect()
        })
        .await
    }

    /// An entry of any conversation whose id has this prefix, and its conversation. For ids that a conversation does not know.
    pub async fn home_of(&self, prefix: String) -> Result<Option<(EntryId, ConversationId)>> {
        self.read(move |rows| {
            // Each tree of forks has its own index of ids.
            let all = rows.conversations(&ListRequest { limit: usize::MAX, ..ListRequest::default() })?;
            let roots: BTreeSet<LogNo> = all.into_iter().map(|row| row.root).collect();
            for root in roots {
                if let Some((id, key)) = rows.entries_like(root, &prefix, 1)?.into_iter().next() {
                    return Ok(Some((id, rows.log(key.log)?.id)));
                }
            }
            Ok(None)
        })
        .await
    }

    /// Entries that the conversation knows and whose id has this prefix, at most `limit`.
    pub async fn entries_like(
        &self,
        conversation: ConversationId,
        prefix: String,
        limit: usize,
    ) -> Result<Vec<EntryId>> {
        self.with(conversation, move |rows, loaded| {
            // Entries of other conversations of the root do not count, so more are read until enough are left.
            let mut most = limit;
            loop {
                let found = rows.entries_like(loaded.row.root, &prefix, most)?;
                let all = found.len() < most;
                let mut known: Vec<EntryId> = found
                    .into_iter()
                    .filter(|(_, key)| loaded.pos(*key).is_some())
                    .map(|(id, _)| id)
                    .collect();
                if all || known.len() >= limit {
                    known.truncate(limit);
                    return Ok(known);
                }
                most = most.saturating_mul(4);
            }
        })
        .await
    }
}

/// A conversation before the operation `first`, and at a head.
pub(super) fn around(rows: &dyn Rows, loaded: &Loaded, first: OpNo, to: Head) -> Result<[Loaded; 2]> {
    let op = loaded.records(rows).op(first)?;
    let from = Head { op: OpNo(first.0.saturating_sub(1)), seq: op.at };
    let at = |head| load_at(rows, loaded.row.clone(), head);
    Ok([at(from)?, at(to)?])
}

fn meta(rows: &dyn Rows, loaded: &Loaded, entry: EntryId) -> Result<Meta> {
    let pos = locate(rows, loaded, entry)?;
    Ok(Meta { pos, ..rows.meta(loaded.key(pos)?)? })
}
