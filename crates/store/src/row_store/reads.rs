//! The [`Store`] trait on a [`RowStore`]: each call to the writer or to a reader, nothing else.

use retake_core::{
    Action, Alternative, Answering, Apply, Branch, By, Care, Changes, Checked, ConversationId, Copied,
    EntryId, EntryPage, Head, Hits, ListRequest, Mark, MarkedPage, Message, Meta, NetChange, NewConversation,
    NewFork, OpNo, OpPage, OpRange, PageRequest, Part, Planned, Pos, Reading, Receipt, ReceiptDetails,
    Records, RequestId, Revision, RunResult, SayRequest, SearchRequest, Shelf, ShownEntry, Summary,
    TargetLine, Time, difference,
};
use std::collections::BTreeSet;
use std::path::PathBuf;

use async_trait::async_trait;

use super::decide::locate;
use super::load::{Loaded, load, load_at};
use super::run_result::answered;
use super::{RowStore, Subscriber, changes, marked, read, search, targets, transfer};
use crate::error::{Result, StoreError};
use crate::reading::Snapshot;
use crate::rows::{Backend, FileRows as _, LogNo, Rows, Transactions};
use crate::store::Store;
use crate::stream::StreamRow;
use crate::transfer::{Excerpt, ExportPlace, FullImport, FullPiece, Import, Upkeep as _};

impl<B: Backend> RowStore<B>
where
    B::Rows: Transactions + 'static,
{
    /// Reads a conversation as it is now.
    pub(super) async fn with<V: Send + 'static>(
        &self,
        id: ConversationId,
        reader: impl FnOnce(&B::Rows, &Loaded) -> Result<V> + Send + 'static,
    ) -> Result<V> {
        let loaded = self.now(id).await?;
        self.read(move |rows| reader(rows, &loaded)).await
    }

    /// Reads a conversation as it is now or was at a head.
    async fn with_at<V: Send + 'static>(
        &self,
        id: ConversationId,
        at: Option<Head>,
        reader: impl FnOnce(&B::Rows, &Loaded) -> Result<V> + Send + 'static,
    ) -> Result<V> {
        self.with(id, move |rows, now| match at {
            Some(head) if head != now.conversation.head => {
                reader(rows, &load_at(rows, now.row.clone(), head)?)
            }
            _ => reader(rows, now),
        })
        .await
    }
}

#[async_trait]
impl<B: Backend> Store for RowStore<B>
where
    B::Rows: Transactions + 'static,
{
    fn check_place(&self) -> Result<()> {
        self.check_writer()?;
        self.backend.check_place()
    }

    async fn create(&self, new: NewConversation) -> Result<Receipt> {
        self.write(|context| context.create(new)).await
    }

    async fn fork(&self, fork: NewFork) -> Result<Receipt> {
        self.write(|context| context.fork(fork)).await
    }

    async fn say(&self, conversation: ConversationId, say: SayRequest) -> Result<Receipt> {
        self.write(move |context| context.say(conversation, say)).await
    }

    async fn say_all(&self, conversation: ConversationId, says: Vec<SayRequest>) -> Result<Receipt> {
        self.write(move |context| {
            let mut all: Option<Receipt> = None;
            for say in says {
                let receipt = context.say(conversation, say)?;
                let entries = all.map(|all| all.entries).unwrap_or_default();
                all = Some(Receipt { entries: [entries, receipt.entries].concat(), ..receipt });
            }
            let loaded = context.load(conversation)?;
            Ok(all.unwrap_or_else(|| super::write::said(&loaded, None)))
        })
        .await
    }

    async fn receipt(&self, conversation: ConversationId, by: By) -> Result<Option<Receipt>> {
        self.write(move |context| context.receipt(conversation, &by)).await
    }

    async fn created(&self, by: By) -> Result<Option<Receipt>> {
        self.write(move |context| context.created_before(&by, Some(by.wording.unwrap_or_default()))).await
    }

    async fn receipt_of(&self, of: Option<ConversationId>, request: RequestId) -> Result<Option<Receipt>> {
        self.write(move |context| context.receipt_of(of, request)).await
    }

    async fn answered(&self, conversation: ConversationId, receipt: Receipt) -> Result<RunResult> {
        self.with(conversation, move |rows, loaded| answered(rows, loaded, &receipt)).await
    }

    async fn apply(&self, conversation: ConversationId, apply: Apply) -> Result<Receipt> {
        self.write(move |context| context.apply(conversation, apply)).await
    }

    async fn say_at(
        &self,
        conversation: ConversationId,
        apply: Apply,
        say: SayRequest,
    ) -> Result<(Receipt, Receipt)> {
        self.write(move |context| context.say_at(conversation, apply, say)).await
    }

    async fn receipt_details(&self, receipt: &Receipt) -> Result<ReceiptDetails> {
        let (ops, composer) = (receipt.ops.clone(), receipt.composer);
        if ops.is_empty() && composer.is_none() {
            return Ok(ReceiptDetails::default());
        }
        self.with(receipt.conversation, move |rows, loaded| {
            let moved = ops.iter().map(|op| rows.moved(loaded.row.log, *op));
            let moved = moved.collect::<Result<Vec<_>>>()?.concat();
            let composer = composer.map(|id| read::composed(rows, loaded, id)).transpose()?.flatten();
            Ok(ReceiptDetails { moved, composer })
        })
        .await
    }

    async fn plan(&self, conversation: ConversationId, action: Action) -> Result<Planned> {
        self.with(conversation, |rows, loaded| read::plan(rows, loaded, action)).await
    }

    async fn snapshot(&self, conversation: ConversationId) -> Result<Snapshot> {
        Ok(Snapshot { loaded: self.now(conversation).await? })
    }

    async fn summary(&self, conversation: ConversationId) -> Result<Summary> {
        self.with(conversation, read::summary).await
    }

    async fn list(&self, request: ListRequest) -> Result<Vec<Summary>> {
        self.read(move |rows| read::summaries(rows, rows.conversations(&request)?)).await
    }

    async fn archive(&self, conversation: ConversationId, to: Shelf) -> Result<()> {
        self.write(move |context| context.archive(conversation, to)).await
    }

    async fn conversations_like(&self, prefix: String, limit: usize) -> Result<Vec<ConversationId>> {
        // One that is in memory is there.
        if let Some(id) = prefix.parse().ok().filter(|id| prefix.len() == 32 && self.cache.get(*id).is_some())
        {
            return Ok(vec![id]);
        }
        self.read(move |rows| rows.conversations_like(&prefix, limit)).await
    }

    async fn forks(&self, conversation: ConversationId) -> Result<Vec<(Summary, Option<EntryId>)>> {
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

    async fn page(
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

    async fn shown(&self, conversation: ConversationId, entry: EntryId) -> Result<Option<ShownEntry>> {
        self.with(conversation, move |rows, loaded| read::shown_entry(rows, loaded, entry)).await
    }

    async fn other_marks(&self, id: ConversationId, head: Head) -> Result<Vec<((Mark, Mark), u64)>> {
        let now = self.now(id).await?;
        self.with_at(id, Some(head), move |_, then| Ok(then.conversation.other_marks(&now.conversation)))
            .await
    }

    async fn prompt(&self, conversation: ConversationId, at: Option<Head>) -> Result<Vec<Message>> {
        self.with_at(conversation, at, read::prompt).await
    }

    async fn targets(
        &self,
        conversation: ConversationId,
        before: Option<EntryId>,
        limit: usize,
    ) -> Result<Vec<TargetLine>> {
        self.with(conversation, move |rows, loaded| targets::targets(rows, loaded, before, limit)).await
    }

    async fn marked(
        &self,
        conversation: ConversationId,
        before: Option<EntryId>,
        limit: usize,
    ) -> Result<MarkedPage> {
        self.with(conversation, move |rows, loaded| marked::marked(rows, loaded, before, limit)).await
    }

    async fn turn_entries(&self, conversation: ConversationId, number: u64) -> Result<Vec<(EntryId, Mark)>> {
        self.with(conversation, move |rows, loaded| marked::of_turn(rows, loaded, number)).await
    }

    async fn net(&self, conversation: ConversationId, first: OpNo, to: Head) -> Result<NetChange> {
        self.with(conversation, move |rows, loaded| {
            let records = loaded.records(rows);
            let op = records.op(first)?;
            let from = Head { op: OpNo(first.0.saturating_sub(1)), seq: op.at };
            let at = |head| load_at(rows, loaded.row.clone(), head).map(|loaded| loaded.conversation);
            let (before, after) = (at(from)?, at(to)?);
            let change = difference(&before, &after);
            Ok(NetChange {
                taken_back: before.visible_totals(&records, &change.gone)?,
                brought_back: after.visible_totals(&records, &change.came)?,
                lifted: change.lifted,
            })
        })
        .await
    }

    async fn answer_named(&self, conversation: ConversationId, entry: EntryId) -> Result<EntryId> {
        self.with(conversation, move |rows, loaded| {
            let records = loaded.records(rows);
            let answer = loaded.conversation.answer_named(&records, locate(rows, loaded, entry)?)?;
            Ok(records.meta(answer)?.id)
        })
        .await
    }

    async fn alternatives(&self, conversation: ConversationId, entry: EntryId) -> Result<Vec<Alternative>> {
        self.with(conversation, move |rows, loaded| read::alternatives(rows, loaded, entry)).await
    }

    async fn ops(&self, conversation: ConversationId, range: OpRange) -> Result<OpPage> {
        self.with(conversation, move |rows, loaded| read::ops(rows, loaded, range)).await
    }

    async fn branches(&self, conversation: ConversationId) -> Result<Vec<Branch>> {
        self.with(conversation, super::branches::branches).await
    }

    async fn content(&self, conversation: ConversationId, entry: EntryId) -> Result<Vec<Part>> {
        self.with(conversation, move |rows, loaded| read::content(rows, loaded, entry)).await
    }

    async fn search(&self, request: SearchRequest) -> Result<Hits> {
        let only = match request.conversation {
            Some(id) => Some(self.now(id).await?),
            None => None,
        };
        self.read(move |rows| search::search(rows, &request, only)).await
    }

    fn subscribe(&self, conversation: Option<ConversationId>) -> Subscriber {
        self.subscriber(conversation)
    }

    async fn changes(&self, conversation: ConversationId, since: Revision) -> Result<Changes> {
        let all = self.few_changes(conversation, since, u64::MAX).await?;
        Ok(all.expect("BUG: no path has more entries than that"))
    }

    async fn few_changes(
        &self,
        conversation: ConversationId,
        since: Revision,
        most: u64,
    ) -> Result<Option<Changes>> {
        self.with(conversation, move |rows, loaded| changes::changes(rows, loaded, since, most)).await
    }

    async fn answering(&self, conversation: ConversationId) -> Result<Answering> {
        self.with(conversation, |rows, loaded| {
            let tip = loaded.conversation.state.tip;
            let turn = loaded.conversation.turn_of(&loaded.records(rows), tip)?;
            Ok(Answering { turn, tip })
        })
        .await
    }

    async fn meta(&self, conversation: ConversationId, entry: EntryId) -> Result<Meta> {
        self.with(conversation, move |rows, loaded| {
            let pos = locate(rows, loaded, entry)?;
            Ok(Meta { pos, ..rows.meta(loaded.key(pos)?)? })
        })
        .await
    }

    async fn entry_id(&self, conversation: ConversationId, pos: Pos) -> Result<EntryId> {
        self.with(conversation, move |rows, loaded| Ok(rows.meta(loaded.key(pos)?)?.id)).await
    }

    async fn home_of(&self, prefix: String) -> Result<Option<(EntryId, ConversationId)>> {
        self.read(move |rows| {
            // Ids are looked for in each tree of forks by its index.
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

    async fn entries_like(
        &self,
        conversation: ConversationId,
        prefix: String,
        limit: usize,
    ) -> Result<Vec<EntryId>> {
        self.with(conversation, move |rows, loaded| {
            // Those of other conversations of the root don't count, so that more are looked at until enough are left.
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

    async fn turn(&self, conversation: ConversationId, number: u64) -> Result<Option<EntryId>> {
        self.with(conversation, move |rows, loaded| {
            let records = loaded.records(rows);
            let opener = loaded.conversation.turn_opener(&records, number)?;
            opener.map(|pos| records.meta(pos).map(|meta| meta.id)).transpose()
        })
        .await
    }

    async fn save_stream(&self, conversation: ConversationId, stream: Option<StreamRow>) -> Result<()> {
        self.write(move |context| {
            let log = context.load(conversation)?.row.log;
            context.rows.set_stream(log, stream.as_ref())
        })
        .await
    }

    async fn streams(&self) -> Result<Vec<StreamRow>> {
        self.read(Rows::streams).await
    }

    async fn set_draft(&self, conversation: ConversationId, author: String, parts: Vec<Part>) -> Result<()> {
        self.write(move |context| context.set_draft(conversation, &author, &parts)).await
    }

    async fn drafts(&self, conversation: ConversationId) -> Result<Vec<(String, Vec<Part>)>> {
        self.with(conversation, |rows, loaded| rows.drafts(loaded.row.log)).await
    }

    async fn set_draft_in(&self, folder: String, author: String, parts: Vec<Part>) -> Result<()> {
        self.write(move |context| context.set_draft_in(&folder, &author, &parts)).await
    }

    async fn draft_in(&self, folder: String, author: String) -> Result<Vec<Part>> {
        self.read(move |rows| Ok(rows.draft_in(&folder, &author)?.unwrap_or_default())).await
    }

    async fn export(&self, conversation: ConversationId, from: Option<ExportPlace>) -> Result<Excerpt> {
        self.with_at(conversation, from.map(|from| from.head), move |rows, loaded| {
            transfer::excerpt(rows, loaded, from.map_or(0, |from| from.done))
        })
        .await
    }

    async fn export_full(&self, conversation: ConversationId, cursor: Option<String>) -> Result<FullPiece> {
        self.with(conversation, move |rows, loaded| {
            transfer::full_piece(rows, loaded.row.root, cursor.as_deref())
        })
        .await
    }

    async fn import(&self, import: Import) -> Result<Receipt> {
        self.write(|context| context.import(import)).await
    }

    async fn restore_full(&self, import: FullImport, request: Option<RequestId>) -> Result<Receipt> {
        self.write(|context| context.restore_full(import, request)).await
    }

    async fn backup(&self, to: Option<PathBuf>, now: Time) -> Result<Copied> {
        self.read(move |rows| transfer::copied(rows, to.as_deref(), now)).await
    }

    async fn check(&self, care: Care) -> Result<Checked> {
        let found = self.read(transfer::look_through).await?;
        if care == Care::Look || found.problems.is_empty() {
            return Ok(found);
        }
        self.write(|context| context.rows.mend()).await?;
        let after = self.read(transfer::look_through).await?;
        Ok(transfer::mended(found, after))
    }
}
