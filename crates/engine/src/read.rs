//! Reads conversations for clients; each reply shows one committed state. Only `archive` writes. Must never make an operation.

use futures::future::BoxFuture;
use retake_core::{
    Alternative, ArchiveState, Branch, Caller, ChangeEvent, Changes, ConversationId, EffectState, EntryId,
    EntryPage, Head, Hits, ListRequest, MarkedPage, OpPage, OpRange, PageRequest, Part, Reading, Receipt,
    Refusal, RequestId, Revision, Run, SearchRequest, ShownEntry, Summary, TargetLine, Time, WorkspaceInfo,
};
use retake_store::{StoreError, Subscriber};

use crate::Engine;
use crate::error::Result;

/// The change events of one conversation, or of all, in their order, from the subscription on.
pub struct Subscription(Subscriber);

impl Subscription {
    /// The next event; `None` once the engine has ended.
    pub async fn next(&mut self) -> Option<ChangeEvent> {
        self.0.next().await
    }
}

impl Engine {
    /// Refuses if the data directory was moved or deleted since it was opened, or if its writer has failed.
    pub fn check_place(&self) -> Result<()> {
        Ok(self.store().check_place()?)
    }

    /// Subscribes to the commits of a conversation, or of all of them. A client that subscribes first and then reads misses nothing.
    pub fn subscribe(&self, of: Option<ConversationId>) -> Subscription {
        Subscription(self.store().subscribe(of))
    }

    /// The current head and revision of a conversation.
    pub async fn now_at(&self, of: ConversationId) -> Result<(Head, Revision)> {
        let snapshot = self.store().snapshot(of).await?;
        let now = snapshot.conversation();
        Ok((now.head, now.revision))
    }

    /// The title of a conversation, if a person gave it one.
    pub async fn title(&self, of: ConversationId) -> Result<Option<String>> {
        Ok(self.store().snapshot(of).await?.conversation().state.title().map(str::to_owned))
    }

    /// The summary of a conversation.
    pub async fn summary(&self, of: ConversationId) -> Result<Summary> {
        Ok(self.store().summary(of).await?)
    }

    /// Conversations, the last changed first; one more than the limit if there are more.
    pub async fn list(&self, request: ListRequest) -> Result<Vec<Summary>> {
        Ok(self.store().list(request).await?)
    }

    /// Archives a conversation, or takes it out of the archive. This is no operation and cannot be undone.
    pub async fn archive(&self, of: ConversationId, to: ArchiveState) -> Result<()> {
        Ok(self.store().archive(of, to).await?)
    }

    /// A page of a projection.
    pub async fn page(&self, of: ConversationId, reading: Reading, page: PageRequest) -> Result<EntryPage> {
        Ok(self.store().page(of, reading, page).await?)
    }

    /// An entry in the timeline; `None` if the timeline does not show it.
    pub async fn shown(&self, of: ConversationId, entry: EntryId) -> Result<Option<ShownEntry>> {
        Ok(self.store().shown(of, entry).await?)
    }

    /// The content of an entry; `None` if it was hidden or dropped.
    pub async fn visible_content(&self, of: ConversationId, entry: EntryId) -> Result<Option<Vec<Part>>> {
        match self.store().content(of, entry).await {
            Err(StoreError::Refused(Refusal::NotVisible(_))) => Ok(None),
            content => Ok(Some(content?)),
        }
    }

    /// The images and files of a message.
    pub async fn attachments(&self, of: ConversationId, entry: EntryId) -> Result<Vec<Part>> {
        let content = self.store().content(of, entry).await?.into_iter();
        // Calls and results are left out: a person attaches none.
        let is_attached = |part: &Part| matches!(part, Part::Image { .. } | Part::File { .. });
        // Nor is the text of a command attached: another message does not send it.
        Ok(content.filter(|part| is_attached(part) && !part.is_command_prompt()).collect())
    }

    /// Turns that a rewind can go to, newest first.
    pub async fn targets(
        &self,
        of: ConversationId,
        before: Option<EntryId>,
        limit: usize,
    ) -> Result<Vec<TargetLine>> {
        Ok(self.store().targets(of, before, limit).await?)
    }

    /// The answer with the alternatives of an entry: any entry of its turn names it.
    pub fn answer_named(&self, of: ConversationId, entry: EntryId) -> BoxFuture<'_, Result<EntryId>> {
        Box::pin(async move { Ok(self.store().answer_named(of, entry).await?) })
    }

    /// The alternatives of an entry's answer.
    pub async fn alternatives(&self, of: ConversationId, entry: EntryId) -> Result<Vec<Alternative>> {
        let answer = self.answer_named(of, entry).await?;
        Ok(self.store().alternatives(of, answer).await?)
    }

    /// The entries on the path with a mark, newest first; with `before`, those before that entry.
    pub async fn marked_page(
        &self,
        of: ConversationId,
        before: Option<EntryId>,
        limit: usize,
    ) -> Result<MarkedPage> {
        Ok(self.store().marked(of, before, limit).await?)
    }

    /// Operations, newest first.
    pub async fn ops(&self, of: ConversationId, range: OpRange) -> Result<OpPage> {
        Ok(self.store().ops(of, range).await?)
    }

    /// The branches of a conversation.
    pub async fn branches(&self, of: ConversationId) -> Result<Vec<Branch>> {
        Ok(self.store().branches(of).await?)
    }

    /// The forks of a conversation, with the last entry of each one's base.
    pub async fn forks(&self, of: ConversationId) -> Result<Vec<(Summary, Option<EntryId>)>> {
        Ok(self.store().forks(of).await?)
    }

    /// The subagents that answers on the path have started, each with its call.
    pub async fn subagents(&self, of: ConversationId) -> Result<Vec<(Caller, Summary)>> {
        Ok(self.store().subagents(of).await?)
    }

    /// Full-text search.
    pub async fn search(&self, request: SearchRequest) -> Result<Hits> {
        Ok(self.store().search(request).await?)
    }

    /// What changed since a revision.
    pub async fn changes(&self, of: ConversationId, since: Revision) -> Result<Changes> {
        Ok(self.store().changes(of, since).await?)
    }

    /// The same; `None` if more than `most` entries changed, and then none is read.
    pub async fn few_changes(
        &self,
        of: ConversationId,
        since: Revision,
        most: u64,
    ) -> Result<Option<Changes>> {
        Ok(self.store().few_changes(of, since, most).await?)
    }

    /// The newest runs; they include the running and the waiting run.
    pub async fn newest_runs(&self, of: ConversationId) -> Result<Vec<Run>> {
        Ok(self.store().runs(of, 2).await?)
    }

    /// When each of these calls began, and its state in the ledger; `None` for a call that is not in the ledger.
    pub async fn calls_begun(&self, calls: Vec<String>) -> Result<Vec<Option<(Time, EffectState)>>> {
        Ok(self.store().began(calls).await?)
    }

    /// The receipt of an earlier request with this id and digest in a conversation.
    pub async fn receipt(
        &self,
        of: ConversationId,
        by: &retake_core::ChangeOrigin,
    ) -> Result<Option<Receipt>> {
        match by.request {
            Some(_) => Ok(self.store().receipt(of, by.clone()).await?),
            None => Ok(None),
        }
    }

    /// The receipt of the conversation that an earlier request with this id and digest created.
    pub async fn created(&self, by: &retake_core::ChangeOrigin) -> Result<Option<Receipt>> {
        match by.request {
            Some(_) => Ok(self.store().created(by.clone()).await?),
            None => Ok(None),
        }
    }

    /// The receipt of the request with this id in a conversation; without a conversation, of the request that created one. `None`
    /// if no such request was carried out.
    pub async fn receipt_of(
        &self,
        of: Option<ConversationId>,
        request: RequestId,
    ) -> Result<Option<Receipt>> {
        Ok(self.store().receipt_of(of, request).await?)
    }

    /// All folders that conversations ever worked in.
    pub async fn known_folders(&self) -> Result<Vec<WorkspaceInfo>> {
        Ok(self.store().workspaces().await?)
    }
}
