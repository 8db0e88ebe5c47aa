//! Events for subscribers, and the revisions of conversations: every request that changes a conversation raises its revision.
//! Must never send an event that is not durable, nor one out of order.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Mutex, PoisonError};

use retake_core::{ArchiveState, Change, ChangeEvent, ChangeKind, Commit, CommitEvent, ConversationId};
use tokio::sync::broadcast::{self, error::RecvError};

use super::load::Loaded;
use super::{Context, Store};
use crate::error::Result;
use crate::rows::{ConversationRow, LogNo, NowRow};

/// How many events a subscriber may lag behind before it misses some.
const BEHIND_MAX: usize = 64;

impl Store {
    /// Archives a conversation, or takes it out of the archive. It is no operation: no entry changes, and it cannot be undone.
    /// Subscribers get an event.
    pub async fn archive(&self, conversation: ConversationId, to: ArchiveState) -> Result<()> {
        self.write(move |context| context.archive(conversation, to)).await
    }

    /// Subscribes to the commits of a conversation, or of all, from now on: each one after it is durable, in order. A client that
    /// subscribes first and then reads the changes misses nothing.
    pub fn subscribe(&self, conversation: Option<ConversationId>) -> Subscriber {
        self.subscribers.subscribe(conversation)
    }
}

/// The changes of a transaction so far.
#[derive(Debug, Default)]
pub(super) struct PendingEvents {
    /// By revisions, in order.
    changed: Vec<CommitEvent>,
    /// Conversations with a changed draft.
    drafts: Vec<ConversationId>,
    /// Changes of the current request beside the log: they get a revision when the request is done.
    beside: Vec<(ConversationId, ChangeKind)>,
}

impl PendingEvents {
    /// The place where the next request begins.
    pub(super) fn mark(&self) -> Mark {
        Mark { changed: self.changed.len(), drafts: self.drafts.len() }
    }

    /// Rolls a request back.
    pub(super) fn back(&mut self, mark: Mark) {
        self.changed.truncate(mark.changed);
        self.drafts.truncate(mark.drafts);
        self.beside.clear();
    }

    /// All changes of the transaction.
    pub(super) fn take(&mut self) -> Vec<ChangeEvent> {
        self.beside.clear();
        let changed = std::mem::take(&mut self.changed).into_iter().map(ChangeEvent::Changed);
        let drafts = std::mem::take(&mut self.drafts).into_iter().map(ChangeEvent::Drafts);
        changed.chain(drafts).collect()
    }
}

/// A place in the changes of a transaction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Mark {
    changed: usize,
    drafts: usize,
}

impl Context {
    /// Records the revision that a commit made.
    pub(super) fn made(&mut self, after: &Loaded, commit: &Commit) {
        let erases = commit.ops.iter().any(|op| matches!(op.change, Change::Erase(_)));
        let kinds = [
            (!commit.entries.is_empty(), ChangeKind::Said),
            (erases, ChangeKind::Erased),
            (!erases && !commit.ops.is_empty(), ChangeKind::Operation),
        ];
        let kinds = kinds.into_iter().filter_map(|(is, kind)| is.then_some(kind)).collect();
        let (conversation, revision) = (after.row.id, after.conversation.revision);
        self.events.changed.push(CommitEvent { conversation, revision, kinds });
    }

    /// Records a new conversation.
    pub(super) fn created(&mut self, row: &ConversationRow) {
        let (conversation, revision) = (row.id, row.now.revision);
        self.events.changed.push(CommitEvent { conversation, revision, kinds: vec![ChangeKind::Created] });
    }

    /// Records a change beside a conversation's log.
    pub(super) fn touched(&mut self, conversation: ConversationId, kind: ChangeKind) {
        self.events.beside.push((conversation, kind));
    }

    /// The same for a conversation's number.
    pub(super) fn touched_log(&mut self, log: LogNo, kind: ChangeKind) -> Result<()> {
        let row = self.rows.log(log)?;
        self.touched(row.id, kind);
        Ok(())
    }

    /// Records a changed draft.
    pub(super) fn drafted(&mut self, conversation: ConversationId) {
        if !self.events.drafts.contains(&conversation) {
            self.events.drafts.push(conversation);
        }
    }

    /// Archives a conversation, or takes it out of the archive.
    pub(super) fn archive(&mut self, id: ConversationId, to: ArchiveState) -> Result<()> {
        let loaded = self.load(id)?;
        let archived = to == ArchiveState::Archived;
        if loaded.row.now.archived != archived {
            let row = ConversationRow { now: NowRow { archived, ..loaded.row.now }, ..loaded.row.clone() };
            self.rows.set_now(row.log, row.now)?;
            self.stage(Loaded { row, ..(*loaded).clone() });
            self.touched(id, ChangeKind::Archived);
        }
        Ok(())
    }

    /// Ends a request: its changes beside the log belong to the revision that it has made, or make a new one.
    ///
    /// A request changes conversations of one tree of forks, unless it has declared that it records changes of a folder, in which
    /// several trees work.
    pub(super) fn count(&mut self, Mark { changed: mark, .. }: Mark) -> Result<()> {
        for (id, kind) in std::mem::take(&mut self.events.beside) {
            let made = self.events.changed[mark..].iter().rposition(|changed| changed.conversation == id);
            let at = match made {
                Some(at) => mark + at,
                None => {
                    let loaded = self.load(id)?;
                    let revision = loaded.conversation.revision.next();
                    let row =
                        ConversationRow { now: NowRow { revision, ..loaded.row.now }, ..loaded.row.clone() };
                    self.rows.set_now(row.log, row.now)?;
                    let mut after = Loaded { row, ..(*loaded).clone() };
                    after.conversation.revision = revision;
                    self.stage(after);
                    self.events.changed.push(CommitEvent { conversation: id, revision, kinds: Vec::new() });
                    self.events.changed.len() - 1
                }
            };
            let kinds = &mut self.events.changed[at].kinds;
            if !kinds.contains(&kind) {
                kinds.push(kind);
            }
        }
        let is_of_folder = std::mem::take(&mut self.of_folder);
        if cfg!(debug_assertions) && !is_of_folder {
            self.check_one_root(mark)?;
        }
        Ok(())
    }

    /// Declares that the current request records changes of a folder, which may belong to calls of several trees of forks.
    pub(super) fn is_of_folder(&mut self) {
        self.of_folder = true;
    }

    fn check_one_root(&mut self, mark: usize) -> Result<()> {
        let changed: Vec<ConversationId> =
            self.events.changed[mark..].iter().map(|changed| changed.conversation).collect();
        let roots = changed.into_iter().map(|id| self.load(id).map(|loaded| loaded.row.root));
        let roots = roots.collect::<Result<BTreeSet<LogNo>>>()?;
        assert!(roots.len() <= 1, "BUG: one request changes several trees of forks: {roots:?}");
        Ok(())
    }
}

/// The subscribers by conversation; without one, of all conversations.
#[derive(Debug, Default)]
pub(super) struct Subscribers(Mutex<HashMap<Option<ConversationId>, broadcast::Sender<ChangeEvent>>>);

impl Subscribers {
    /// Adds a subscriber from now on.
    pub(super) fn subscribe(&self, of: Option<ConversationId>) -> Subscriber {
        let mut senders = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        senders.retain(|_, sender| sender.receiver_count() > 0);
        let sender = senders.entry(of).or_insert_with(|| broadcast::channel(BEHIND_MAX).0);
        Subscriber(sender.subscribe())
    }

    /// Sends durable events.
    pub(super) fn tell(&self, news: Vec<ChangeEvent>) {
        let senders = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if senders.is_empty() {
            return;
        }
        for told in news {
            let (all, one) = match &told {
                ChangeEvent::Changed(changed) => (senders.get(&None), Some(changed.conversation)),
                ChangeEvent::Drafts(of) => (None, Some(*of)),
                ChangeEvent::Missed => (senders.get(&None), None),
            };
            let one = one.and_then(|one| senders.get(&Some(one)));
            for sender in all.into_iter().chain(one) {
                // There may be no subscriber left.
                drop(sender.send(told.clone()));
            }
        }
    }
}

/// A subscriber: gets each commit after it is durable, in the order of revisions.
#[derive(Debug)]
pub struct Subscriber(broadcast::Receiver<ChangeEvent>);

impl Subscriber {
    /// Waits for the next event; `None` when the store is closed. A dropped wait loses nothing.
    pub async fn next(&mut self) -> Option<ChangeEvent> {
        match self.0.recv().await {
            Ok(told) => Some(told),
            Err(RecvError::Lagged(_)) => Some(ChangeEvent::Missed),
            Err(RecvError::Closed) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use retake_core::{ChangeOrigin, ConversationId, Revision};
    use uuid::Uuid;

    use crate::error::{Result, StoreError};
    use crate::{Memory, Store};
    use retake_core::NewConversation;
    use retake_core::{ChangeEvent, ChangeKind, CommitEvent};

    fn new(number: u128) -> NewConversation {
        let id = ConversationId::new(Uuid::from_u128(number));
        NewConversation { id, folder: None, title: None, by: ChangeOrigin::default() }
    }

    /// The commit fails because another owner takes over during its preparation: no event is sent. A refused request causes no
    /// event either.
    #[tokio::test]
    async fn no_event_before_its_commit_is_durable() {
        let memory = Memory::new();
        let store = Store::start(memory.clone(), memory.writer()).expect("started");
        let mut subscriber = store.subscribe(None);
        let refused: Result<()> = store
            .write(|context| {
                context.create(new(1))?;
                Err(StoreError::NothingToDo)
            })
            .await;
        assert!(matches!(refused, Err(StoreError::NothingToDo)), "{refused:?}");
        store.create(new(2)).await.expect("created");
        let (conversation, revision) = (new(2).id, Revision(1));
        let told = CommitEvent { conversation, revision, kinds: vec![ChangeKind::Created] };
        assert_eq!(subscriber.next().await, Some(ChangeEvent::Changed(told)));
        let taken_over = store
            .write(move |context| {
                let made = context.create(new(3));
                drop(memory.writer());
                made
            })
            .await;
        assert!(matches!(taken_over, Err(StoreError::TakenOver)), "{taken_over:?}");
        drop(store);
        assert_eq!(subscriber.next().await, None, "nothing else was told until the store was closed");
    }

    #[tokio::test]
    async fn request_that_changes_two_trees_of_forks_is_a_defect_and_is_not_stored() {
        let memory = Memory::new();
        let store = Store::start(memory.clone(), memory.writer()).expect("started");
        let two: Result<()> = store
            .write(|context| {
                context.create(new(1))?;
                context.create(new(2)).map(drop)
            })
            .await;
        assert!(matches!(two, Err(StoreError::Closed)), "the writer has ended: {two:?}");
        drop(store);
        let store = Store::start(memory.clone(), memory.writer()).expect("started");
        assert!(store.summary(new(1).id).await.is_err() && store.summary(new(2).id).await.is_err());
    }
}
