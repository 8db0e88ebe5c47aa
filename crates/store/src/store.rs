//! The store's logic, shared by all backends: one writer that makes all queued requests durable as one transaction, concurrent
//! readers, and conversations in memory.
//!
//! A failed request does not affect the others: each has its own savepoint. A receipt is returned only after its commit is
//! durable. The cache contains only committed conversations, so a reader never sees a change that could still be rolled back.

mod access;
mod branches;
mod cache;
mod calls_without_result;
mod changes;
mod chat;
mod decide;
mod draft;
mod erase;
mod events;
mod facts;
mod family;
mod files;
mod load;
mod marked;
mod memory;
mod outbox;
mod prompt;
mod queue;
mod read;
mod reads;
mod requests;
mod run_result;
mod search;
mod targets;
mod tool_turns;
mod transfer;
mod unchanged;
mod write;

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use retake_core::{ConversationId, WorkspaceNo};
use tokio::sync::{Semaphore, oneshot};
use tokio::task::spawn_blocking;
use tracing::Span;

use crate::error::{Result, StoreError};
use crate::outbox::Destination;
use crate::rows::{Backend, LogNo, Rows, Transactions, read as read_rows};
use crate::untyped::{Untyped, typed, untyped};
use cache::{Cache, Staged};
pub use chat::PlannedPreview;
pub use events::Subscriber;
use events::{PendingEvents, Subscribers};
pub(crate) use load::Loaded;
use queue::{BATCH_MAX, Queue};
pub use tool_turns::RunsStepped;
#[cfg(test)]
pub(crate) use transfer::import_arguments;

/// The most concurrent readers; others wait for their turn. More would only slow each other down, and each holds a connection.
/// More than the number of cores, because a reader may wait for the disk or read much.
const READERS: usize = 8;

/// The context of a write: rows within a transaction, and conversations as that transaction leaves them.
pub(crate) struct Context {
    pub(crate) rows: Box<dyn Transactions>,
    cache: Arc<Cache>,
    staged: Staged,
    events: PendingEvents,
    scrub: bool,
    /// Whether the current request records changes of a folder.
    of_folder: bool,
    /// Counts how often this owner has set layers of a log's paths in a workspace. While the number is the same, an earlier
    /// comparison with these layers is still valid.
    layer_versions: HashMap<(LogNo, WorkspaceNo), u64>,
    /// Where notices go.
    destinations: Vec<Destination>,
}

impl Context {
    /// A conversation within this transaction.
    pub(crate) fn load(&mut self, id: ConversationId) -> Result<Arc<Loaded>> {
        if let Some(Some(staged)) = self.staged.get(&id) {
            return Ok(Arc::clone(staged));
        }
        let dropped = self.staged.contains_key(&id);
        if let Some(cached) = self.cache.get(id).filter(|_| !dropped) {
            return Ok(cached);
        }
        let row = self.rows.conversation(id)?;
        let row = row.ok_or_else(|| StoreError::UnknownConversation(id.to_string()))?;
        let loaded = Arc::new(load::load(&*self.rows, row)?);
        self.staged.insert(id, Some(Arc::clone(&loaded)));
        Ok(loaded)
    }

    /// Stores a conversation as a commit left it, to be published when the commit is durable.
    pub(crate) fn stage(&mut self, loaded: Loaded) {
        self.staged.insert(loaded.row.id, Some(Arc::new(loaded)));
    }

    /// Removes a conversation from memory: its next user loads it again.
    pub(crate) fn forget(&mut self, id: ConversationId) {
        self.staged.insert(id, None);
    }

    /// Requests that the pages are overwritten after the commit.
    pub(crate) fn scrub(&mut self) {
        self.scrub = true;
    }
}

/// Work for the writer, and work for a reader. Their results have one type, so that what queues and runs them is compiled once
/// and not for each of a hundred requests.
type WriteWork = Box<dyn FnOnce(&mut Context) -> Result<Untyped> + Send>;
type RowsWork = Box<dyn FnOnce(&dyn Rows) -> Result<Untyped> + Send>;
type ReadWork = Box<dyn FnOnce(&dyn Backend) -> Result<Untyped> + Send>;

/// A queued request.
struct Job {
    work: WriteWork,
    /// Whether it writes so much that no other request should wait for it: then it has a transaction of its own.
    alone: bool,
    /// The span of the request, for the log.
    span: Span,
    reply: oneshot::Sender<Result<Untyped>>,
}

impl Job {
    /// Runs it within a savepoint. The result replies when the outcome of the commit is known.
    fn run(self, context: &mut Context) -> Reply {
        let Self { work, span, reply, .. } = self;
        let _in_span = span.entered();
        let before = std::mem::take(&mut context.scrub);
        let result = within_savepoint(context, work);
        let erased = context.scrub && result.is_ok();
        context.scrub = before || erased;
        Reply { result, erased, reply }
    }

    /// Replies with an error; nothing was done.
    fn fail(self, error: StoreError) {
        drop(self.reply.send(Err(error)));
    }
}

/// The outcome of a transaction.
struct TransactionOutcome {
    /// Whether it is durable.
    commit: Result<()>,
    /// Whether erased bytes were overwritten, if it erased something.
    scrub: Result<()>,
}

/// A reply held back until the commit is durable.
struct Reply {
    result: Result<Untyped>,
    /// Whether the request erased something.
    erased: bool,
    reply: oneshot::Sender<Result<Untyped>>,
}

impl Reply {
    fn send(self, fate: &TransactionOutcome) {
        let result = match (self.result, &fate.commit, &fate.scrub) {
            (Ok(_), Err(error), _) => Err(shared(error)),
            (Ok(_), Ok(()), Err(error)) if self.erased => Err(StoreError::NotScrubbed(why(error))),
            (result, _, _) => result,
        };
        // The requester may be gone; a durable change stays.
        drop(self.reply.send(result));
    }
}

/// Runs the work completely or not at all.
fn within_savepoint(context: &mut Context, work: WriteWork) -> Result<Untyped> {
    let (before, mark) = (context.staged.clone(), context.events.mark());
    context.rows.save()?;
    let result = work(context).and_then(|value| context.count(mark).map(|()| value));
    match &result {
        Ok(_) => context.rows.keep()?,
        Err(_) => {
            context.of_folder = false;
            context.staged = before;
            context.events.back(mark);
            context.rows.back()?;
        }
    }
    result
}

/// The same error for each request of a failed commit.
fn shared(error: &StoreError) -> StoreError {
    match error {
        StoreError::TakenOver => StoreError::TakenOver,
        StoreError::Moved { dir } => StoreError::Moved { dir: dir.clone() },
        other => StoreError::NotDurable { why: why(other), is_full: other.is_full() },
    }
}

/// The cause. The error's own message contains the attempt.
fn why(error: &StoreError) -> String {
    std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string)
}

/// Runs the writer until every sender is gone.
fn write_on(mut context: Context, mut queue: Queue<Job>, subscribers: &Subscribers) {
    let mut together = 1;
    while let Some(jobs) = queue.gather(together) {
        let is_alone = jobs[0].alone;
        if let Err(error) = context.rows.begin() {
            tracing::error!(cause = error.for_log(), requests = jobs.len(), "a transaction cannot begin");
            jobs.into_iter().for_each(|job| job.fail(shared(&error)));
            continue;
        }
        // Requests that arrive during a job are included: writers that were woken together return one by one.
        let more = std::iter::from_fn(|| if is_alone { None } else { queue.another() });
        let jobs = jobs.into_iter().chain(more).take(BATCH_MAX);
        let replies: Vec<Reply> = jobs.map(|job| job.run(&mut context)).collect();
        together = replies.len();
        let commit = context.rows.commit();
        match &commit {
            Ok(()) => {
                context.cache.publish(&mut context.staged);
                subscribers.tell(context.events.take());
            }
            Err(error) => {
                tracing::error!(
                    cause = error.for_log(),
                    requests = together,
                    "a transaction was not committed"
                );
                context.rows.abandon();
                context.staged.clear();
                context.events.take();
            }
        }
        let erased = std::mem::take(&mut context.scrub) && commit.is_ok();
        let scrub = if erased { context.rows.scrub() } else { Ok(()) };
        if let Err(error) = &scrub {
            tracing::error!(cause = error.for_log(), "erased bytes are not overwritten yet");
        }
        let fate = TransactionOutcome { commit, scrub };
        replies.into_iter().for_each(|reply| reply.send(&fate));
    }
}

/// The store of conversations. Every backend runs the same conformance suite.
///
/// The reply to a write comes after it is durable. A write is checked for what it needs and nothing else; a refused one has
/// changed nothing. A repeated request gets an equal receipt.
pub struct Store {
    backend: Arc<dyn Backend>,
    readers: Arc<Semaphore>,
    cache: Arc<Cache>,
    subscribers: Arc<Subscribers>,
    queue: Option<Sender<Job>>,
    writer: Option<JoinHandle<()>>,
}

impl Store {
    /// Starts the writer on `rows`, which must be the backend's only writing rows.
    pub fn start(backend: impl Backend, rows: impl Transactions) -> Result<Self> {
        Self::on(Arc::new(backend), Box::new(rows))
    }

    fn on(backend: Arc<dyn Backend>, mut rows: Box<dyn Transactions>) -> Result<Self> {
        // A failure does not prevent other reads: leftover lists have no effect.
        if let Err(error) = files::step::sweep(&mut *rows) {
            tracing::warn!(cause = error.for_log(), "what is left of a large step stays");
        }
        let cache = Arc::<Cache>::default();
        let (sender, receiver) = channel();
        let subscribers = Arc::<Subscribers>::default();
        let told = Arc::clone(&subscribers);
        let (staged, events) = (HashMap::new(), PendingEvents::default());
        let context = Context {
            rows,
            cache: Arc::clone(&cache),
            staged,
            events,
            scrub: false,
            of_folder: false,
            layer_versions: HashMap::new(),
            destinations: Vec::new(),
        };
        let writer = std::thread::Builder::new()
            .name("retake-writer".into())
            .spawn(move || write_on(context, Queue::new(receiver, |job| job.alone), &told))
            .map_err(|source| StoreError::Io {
                attempt: "start",
                path: "the store's writer".into(),
                source,
            })?;
        let (queue, writer) = (Some(sender), Some(writer));
        Ok(Self { backend, readers: Arc::new(Semaphore::new(READERS)), cache, subscribers, queue, writer })
    }

    /// Queues work for the writer and waits until it is durable.
    pub(crate) async fn write<V: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Context) -> Result<V> + Send + 'static,
    ) -> Result<V> {
        self.enqueue(Box::new(move |context| work(context).map(untyped)), false).await.map(typed)
    }

    /// The same for a large write: other requests wait for no more than this one.
    pub(crate) async fn write_alone<V: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Context) -> Result<V> + Send + 'static,
    ) -> Result<V> {
        self.enqueue(Box::new(move |context| work(context).map(untyped)), true).await.map(typed)
    }

    async fn enqueue(&self, work: WriteWork, alone: bool) -> Result<Untyped> {
        let (reply, answer) = oneshot::channel();
        let queue = self.queue.as_ref().ok_or(StoreError::Closed)?;
        let job = Job { work, alone, span: Span::current(), reply };
        queue.send(job).map_err(|_| StoreError::Closed)?;
        answer.await.map_err(|_| StoreError::Closed)?
    }

    /// Reads concurrently with the writer. A started reading runs to its end, even if nobody waits for it any more.
    pub(crate) async fn read<V: Send + 'static>(
        &self,
        read: impl FnOnce(&dyn Rows) -> Result<V> + Send + 'static,
    ) -> Result<V> {
        self.read_untyped(Box::new(move |rows| read(rows).map(untyped))).await.map(typed)
    }

    async fn read_untyped(&self, read: RowsWork) -> Result<Untyped> {
        self.read_outside(Box::new(move |backend| read_rows(backend, read))).await
    }

    /// The same, for a caller that begins the transaction itself.
    async fn read_outside(&self, read: ReadWork) -> Result<Untyped> {
        let turn = Arc::clone(&self.readers).acquire_owned().await.map_err(|_| StoreError::Closed)?;
        let (backend, span) = (Arc::clone(&self.backend), Span::current());
        let reading = spawn_blocking(move || {
            let (_turn, _in_span) = (turn, span.entered());
            read(&*backend)
        });
        reading.await.map_err(|_| StoreError::Closed)?
    }

    /// Refuses if the data directory was moved or deleted since it was opened, or if the writer has failed. Costs one check of a
    /// file name.
    pub fn check_place(&self) -> Result<()> {
        match self.writer.as_ref().is_some_and(|writer| writer.is_finished()) {
            true => Err(StoreError::Closed),
            false => self.backend.check_place(),
        }
    }

    /// The current conversation. If it is not in memory, a reader loads it concurrently with the writer.
    pub(crate) async fn now(&self, id: ConversationId) -> Result<Arc<Loaded>> {
        if let Some(loaded) = self.cache.get(id) {
            return Ok(loaded);
        }
        let cache = Arc::clone(&self.cache);
        let reading = self.read_outside(Box::new(move |backend| {
            cache.begin_loading(id);
            let loaded = read_rows(backend, |rows| {
                let row = rows.conversation(id)?;
                let row = row.ok_or_else(|| StoreError::UnknownConversation(id.to_string()))?;
                load::load(rows, row).map(Arc::new)
            });
            cache.end_loading(id, loaded.as_ref().ok());
            loaded.map(untyped)
        }));
        reading.await.map(typed)
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(writer) = self.writer.take() {
            // After a panic of the writer, its waiting requests lost their replies and got an error.
            drop(writer.join());
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Condvar, Mutex};
    use std::time::Duration;

    use tokio::task::JoinSet;

    use super::{READERS, Store};
    use crate::error::{Result, StoreError};
    use crate::memory::Memory;
    use crate::rows::{Backend, Rows};

    /// The number of current readers, and the most at once.
    #[derive(Default)]
    struct ReaderCount {
        now: Mutex<(usize, usize)>,
        full: Condvar,
    }

    impl ReaderCount {
        /// Keeps readers inside until the limit is reached.
        fn stay(&self) {
            let mut now = self.now.lock().expect("no panic inside");
            now.0 += 1;
            now.1 = now.1.max(now.0);
            self.full.notify_all();
            let patience = Duration::from_secs(10);
            let (mut now, _) =
                self.full.wait_timeout_while(now, patience, |now| now.1 < READERS).expect("no panic inside");
            now.0 -= 1;
        }
    }

    struct Counted(Memory, Arc<ReaderCount>);

    impl Backend for Counted {
        fn read(&self, reader: &mut dyn FnMut(&dyn Rows)) -> Result<()> {
            self.1.stay();
            self.0.read(reader)
        }
    }

    /// Each reader holds a connection: others wait for their turn.
    #[tokio::test]
    async fn at_most_eight_readers_run_at_once() {
        let (memory, inside) = (Memory::new(), Arc::<ReaderCount>::default());
        let rows = memory.writer();
        let store = Store::start(Counted(memory, Arc::clone(&inside)), rows).expect("started");
        let store = Arc::new(store);
        let mut crowd = JoinSet::new();
        for _ in 0..8 * READERS {
            let store = Arc::clone(&store);
            crowd.spawn(async move { store.read(|_| Ok(())).await });
        }
        while let Some(read) = crowd.join_next().await {
            read.expect("no panic").expect("read");
        }
        assert_eq!(*inside.now.lock().expect("no panic inside"), (0, READERS));
    }

    /// An owner that finds this ends, so that the next command starts another one.
    #[tokio::test]
    async fn failed_writer_is_reported_by_the_check_of_the_place() {
        let memory = Memory::new();
        let rows = memory.writer();
        let store = Store::start(memory, rows).expect("started");
        store.check_place().expect("it writes");
        let failed = store.write(|_| -> Result<()> { panic!("a defect") }).await;
        assert!(matches!(failed, Err(StoreError::Closed)));
        let writer = store.writer.as_ref().expect("a writer");
        while !writer.is_finished() {
            tokio::task::yield_now().await;
        }
        assert!(matches!(store.check_place(), Err(StoreError::Closed)));
    }
}
