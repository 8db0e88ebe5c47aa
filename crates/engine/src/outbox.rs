//! Deliveries to destinations outside: a worker delivers what the store's outbox owes, in order for each destination and
//! conversation, with retries over restarts. Nothing here can delay or fail the change that a delivery is about.

mod cloud_event;
mod endpoint;
mod folder_hooks;
mod hook;
mod waiting;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock, Weak};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::BoxFuture;
use retake_core::{
    Attempt, ConversationId, Delivery, DeliveryEvent, DeliveryOrder, DeliveryTerms, LogNo, OutboxFailure,
    Time,
};
use retake_store::{Destination as StoredDestination, OutboxKey, Wants};
use tokio::sync::Notify;
use tokio::task::JoinSet;
use tracing::{Instrument as _, info_span};

use crate::Engine;
use crate::clock::Clock;
use crate::error::{EngineError, Kind, Result};
use crate::log::LogFailure as _;

pub use cloud_event::cloud_event;
pub(crate) use endpoint::Endpoint;
pub use endpoint::EndpointGround;
pub use folder_hooks::{FolderHooks, HookShown, HookState, HooksShown};
pub use hook::{HookGround, hooks};

/// The most deliveries at once, of all destinations and of each.
const AT_ONCE: usize = 16;
const AT_ONCE_EACH: usize = 4;

/// How many rows of a destination that are due are read at a time.
const PAGE: usize = 64;

/// The wait before a row is tried again that could not be read or written.
const AFTER_FAILURE: Duration = Duration::from_secs(60);

/// How soon to look again if more is due than may be delivered at once.
const CROWDED: Duration = Duration::from_secs(1);

/// How much longer than its time limit a delivery is expected to take at most.
const LEASE: Duration = Duration::from_secs(30);

/// The most lines of a list.
const LINES: usize = 1000;

/// Where deliveries go.
#[async_trait]
pub trait Destination: Send + Sync {
    /// Its name: what it knows is kept by this name.
    fn name(&self) -> &str;
    /// It gets deliveries of conversations in this folder and below it; without one, of all.
    fn folder(&self) -> Option<&str>;
    /// The events that it gets.
    fn events(&self) -> &[DeliveryEvent];
    /// Whether it gets the texts of messages.
    fn texts(&self) -> bool;
    /// The time limit of a delivery.
    fn limit(&self) -> Duration;
    /// How long a delivery is tried again before it is passed over.
    fn keep_trying(&self) -> Duration;
    /// In which order it gets the deliveries of a conversation.
    fn order(&self) -> DeliveryOrder {
        DeliveryOrder::Strict
    }
    /// Hands a delivery over. The destination may have it already, with the same id.
    async fn deliver(&self, delivery: &Delivery) -> Attempt;
}

/// A row of the outbox for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutboxLine {
    /// Names it in requests.
    pub id: String,
    /// The destination.
    pub destination: String,
    /// Whether the settings still have the destination.
    pub is_configured: bool,
    /// The conversation.
    pub conversation: ConversationId,
    /// Messages and operations that the destination does not know.
    pub behind: u64,
    /// When the next attempt is; `None` for a delivery that was passed over.
    pub due: Option<Time>,
    /// The attempts so far.
    pub attempts: u32,
    /// When the first of them began.
    pub since: Option<Time>,
    /// Why it was passed over.
    pub failure: Option<OutboxFailure>,
    /// The result of the last attempt.
    pub why: Option<String>,
}

/// The destinations of an engine, and how its worker is woken.
pub(crate) struct Outbox {
    destinations: RwLock<Destinations>,
    /// Held while an approval changes: its file, the destinations here and those of the store change together.
    changing: tokio::sync::Mutex<()>,
    wake: Arc<Notify>,
    /// Whether the worker was started.
    is_started: AtomicBool,
    /// The number of rows that are being delivered.
    at_work: AtomicUsize,
}

/// Destinations by their names.
type Destinations = Arc<BTreeMap<String, Arc<dyn Destination>>>;

impl Outbox {
    pub(crate) fn new(destinations: Vec<Arc<dyn Destination>>) -> Self {
        let named = destinations.into_iter().map(|destination| (destination.name().to_owned(), destination));
        Self {
            destinations: RwLock::new(Arc::new(named.collect())),
            changing: tokio::sync::Mutex::default(),
            wake: Arc::default(),
            is_started: AtomicBool::new(false),
            at_work: AtomicUsize::new(0),
        }
    }

    /// The destinations now.
    fn all(&self) -> Destinations {
        Arc::clone(&self.destinations.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sets or removes the destination with a name.
    fn put(&self, name: &str, destination: Option<Arc<dyn Destination>>) {
        let mut all = self.destinations.write().unwrap_or_else(PoisonError::into_inner);
        let all = Arc::make_mut(&mut all);
        match destination {
            Some(destination) => drop(all.insert(name.to_owned(), destination)),
            None => drop(all.remove(name)),
        }
    }

    /// Whether this destination was neither removed nor replaced.
    fn has(&self, destination: &dyn Destination) -> bool {
        let all = self.all();
        all.get(destination.name()).is_some_and(|it| std::ptr::addr_eq(Arc::as_ptr(it), destination))
    }

    fn stored(&self) -> Vec<StoredDestination> {
        self.all().values().map(|it| stored(&**it)).collect()
    }

    /// The destinations that get an event of a conversation in this folder.
    fn told_of(&self, event: DeliveryEvent, folder: Option<&str>) -> Vec<Arc<dyn Destination>> {
        let all = self.all();
        let of_event = all.values().filter(|it| it.events().contains(&event));
        of_event.filter(|it| stored(&***it).covers(folder)).cloned().collect()
    }
}

fn stored(it: &dyn Destination) -> StoredDestination {
    StoredDestination { name: it.name().to_owned(), folder: it.folder().map(str::to_owned) }
}

impl Engine {
    /// Tells the store its destinations: before anything is stored, and when an approval changes. A change owes a delivery from
    /// then on.
    pub(crate) async fn set_destinations(&self) -> Result<()> {
        Ok(self.store().set_destinations(self.outbox.stored(), self.now()).await?)
    }

    /// Starts deliveries in the background, as long as the engine lives. Without destinations nothing is started.
    pub fn deliver_in_background(self: &Arc<Self>) {
        if self.outbox.all().is_empty() || self.outbox.is_started.swap(true, Ordering::SeqCst) {
            return;
        }
        let (engine, clock) = (Arc::downgrade(self), Arc::clone(&self.parts().clock));
        let span = info_span!(parent: None, "background", operation = "deliver");
        tokio::spawn(deliver_in_background(engine, clock).instrument(span));
    }

    /// Whether a delivery is at work or due now: an owner that nobody else needs ends after it.
    pub async fn delivers(&self) -> bool {
        if self.outbox.at_work.load(Ordering::SeqCst) > 0 {
            return true;
        }
        for name in self.outbox.all().keys() {
            // What cannot be read is not delivered, so nobody waits for it.
            let due = self.store().due(name.clone(), self.now(), 1).await.unwrap_or_default();
            if !due.is_empty() {
                return true;
            }
        }
        false
    }

    /// What waits to be delivered, and what was passed over.
    pub fn outbox(&self) -> BoxFuture<'_, Result<Vec<OutboxLine>>> {
        Box::pin(async move {
            let lines = self.store().outbox(LINES).await?.into_iter();
            let set = self.outbox.all();
            let shown = lines.map(|line| OutboxLine {
                id: id_of(&line.key),
                is_configured: set.contains_key(&line.key.destination),
                destination: line.key.destination,
                conversation: line.conversation,
                behind: line.behind,
                due: line.item.due,
                attempts: line.item.attempts,
                since: line.item.since,
                failure: line.item.failure,
                why: line.item.why,
            });
            Ok(shown.collect())
        })
    }

    /// Tries these rows at once; without names, all. Returns their number.
    pub fn retry_owed(&self, ids: Option<Vec<String>>) -> BoxFuture<'_, Result<usize>> {
        Box::pin(async move {
            let keys = self.named_owed(ids).await?;
            let changed = self.store().retry_owed(keys, self.now()).await?;
            self.outbox.wake.notify_one();
            Ok(changed)
        })
    }

    /// Gives up what these rows owe; without names, of all. Returns their number.
    pub fn drop_owed(&self, ids: Option<Vec<String>>) -> BoxFuture<'_, Result<usize>> {
        Box::pin(async move {
            let keys = self.named_owed(ids).await?;
            Ok(self.store().drop_owed(keys).await?)
        })
    }

    async fn named_owed(&self, ids: Option<Vec<String>>) -> Result<Option<Vec<OutboxKey>>> {
        let Some(ids) = ids else { return Ok(None) };
        let keys = ids.iter().map(|id| key_of(id).ok_or_else(|| unknown(id))).collect::<Result<Vec<_>>>()?;
        let open = self.store().open_rows(keys.clone()).await?;
        match open.iter().position(|is_open| !is_open) {
            Some(at) => Err(unknown(&ids[at])),
            None => Ok(Some(keys)),
        }
    }
}

fn unknown(id: &str) -> EngineError {
    let message = format!("nothing in the outbox is called {}", id.escape_debug());
    EngineError::new(Kind::NotFound, "unknown_outbox_item", message).with("name", id)
}

/// The name of a row for people: `hook-3`, or `hook-3.1` for the first delivery that was passed over.
fn id_of(OutboxKey { log, destination, no }: &OutboxKey) -> String {
    match no {
        0 => format!("{destination}-{}", log.0),
        no => format!("{destination}-{}.{no}", log.0),
    }
}

/// The row with such a name.
fn key_of(id: &str) -> Option<OutboxKey> {
    let (destination, numbers) = id.rsplit_once('-')?;
    let (log, no) = match numbers.split_once('.') {
        Some((log, no)) => (log, no.parse().ok().filter(|no| *no > 0)?),
        None => (numbers, 0),
    };
    Some(OutboxKey { log: LogNo(log.parse().ok()?), destination: destination.to_owned(), no })
}

/// Delivers until the engine is gone.
async fn deliver_in_background(engine: Weak<Engine>, clock: Arc<dyn Clock>) {
    let (mut commits, wake) = match engine.upgrade() {
        Some(engine) => (engine.store().subscribe(None), Arc::clone(&engine.outbox.wake)),
        None => return,
    };
    let mut at_work = AtWork::default();
    loop {
        let Some(running) = engine.upgrade() else { return };
        let next = at_work.fill(&running, &clock).await;
        let wait = match next {
            Some(wait) => clock.sleep(wait),
            None => Box::pin(futures::future::pending()),
        };
        // An engine that nobody needs must not live for this.
        drop(running);
        tokio::select! {
            () = wake.notified() => {}
            // Also after events that were missed: everything that is due is read anew.
            event = commits.next() => if event.is_none() { return },
            () = wait => {}
            Some(done) = at_work.tasks.join_next() => at_work.ended(done),
        }
    }
}

/// The deliveries that are at work.
#[derive(Default)]
struct AtWork {
    tasks: JoinSet<OutboxKey>,
    keys: BTreeSet<OutboxKey>,
}

impl AtWork {
    /// Starts what is due; returns when to look again, if nothing else wakes it.
    async fn fill(&mut self, engine: &Arc<Engine>, clock: &Arc<dyn Clock>) -> Option<Duration> {
        let now = engine.now();
        let mut skipped = false;
        for (name, destination) in engine.outbox.all().iter() {
            let Some(due) =
                engine.store().due(name.clone(), now, PAGE).await.or_log("what is due cannot be read")
            else {
                return Some(AFTER_FAILURE);
            };
            for key in due {
                let same = self.keys.iter().filter(|key| key.destination == *name).count();
                if same >= AT_ONCE_EACH || self.tasks.len() >= AT_ONCE || !self.keys.insert(key.clone()) {
                    skipped = true;
                    continue;
                }
                self.tasks.spawn(
                    deliver_due(Arc::clone(engine), Arc::clone(destination), Arc::clone(clock), key)
                        .in_current_span(),
                );
            }
        }
        if skipped {
            // The end of a delivery looks again, too; but one of another destination may be due before.
            return Some(CROWDED);
        }
        let next = engine.store().next_due(now).await.or_log("what is due cannot be read").flatten()?;
        Some(Duration::from_millis(u64::try_from(next.0 - now.0).unwrap_or(0)))
    }

    fn ended(&mut self, done: Result<OutboxKey, tokio::task::JoinError>) {
        match done {
            Ok(key) => drop(self.keys.remove(&key)),
            // The panic hook has logged it; its row is due again after its lease.
            Err(_) => self.keys.clear(),
        }
    }
}

/// Counts a delivery while it is at work, also if it panics.
struct Counted(Arc<Engine>);

impl Counted {
    fn new(engine: &Arc<Engine>) -> Self {
        engine.outbox.at_work.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(engine))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.outbox.at_work.fetch_sub(1, Ordering::SeqCst);
    }
}

/// Delivers what a row owes. One that cannot be read or written is tried again later: the store may be damaged there, or the disk
/// full.
async fn deliver_due(
    engine: Arc<Engine>,
    destination: Arc<dyn Destination>,
    clock: Arc<dyn Clock>,
    key: OutboxKey,
) -> OutboxKey {
    let counted = Counted::new(&engine);
    if deliver_row(&engine, &*destination, &clock, key.clone())
        .await
        .or_log("a delivery is not made yet")
        .is_none()
    {
        let due = Time(engine.now().0 + millis(AFTER_FAILURE));
        let later = engine.store().postpone_owed(key.clone(), due, "it cannot be read or stored").await;
        if later.or_log("a delivery is not postponed").is_none() {
            drop(counted);
            clock.sleep(AFTER_FAILURE).await;
        }
    }
    key
}

/// Delivers what a row owes, until nothing is due in it.
async fn deliver_row(
    engine: &Engine,
    destination: &dyn Destination,
    clock: &Arc<dyn Clock>,
    key: OutboxKey,
) -> Result<()> {
    let store = engine.store();
    let wants = Wants { events: destination.events().to_vec(), texts: destination.texts() };
    let (limit, lease) = (destination.limit(), destination.limit() + LEASE);
    let terms = DeliveryTerms { deadline_ms: millis(destination.keep_trying()), order: destination.order() };
    // An approval may be revoked, or another one take its place.
    while engine.outbox.has(destination) {
        let Some(owed) = store.owed_delivery(key.clone(), wants.clone()).await? else { return Ok(()) };
        let (now, delivery) = (engine.now(), owed.delivery.clone());
        if !store.claim_delivery(owed, now, Time(now.0 + millis(lease))).await? {
            // Another operation has changed what is owed.
            continue;
        }
        let attempt = tokio::select! {
            biased;
            attempt = destination.deliver(&delivery) => attempt,
            () = clock.sleep(limit) => {
                Attempt::Later(format!("no answer within {} s", limit.as_secs()), None)
            }
        };
        let is_done = attempt == Attempt::Done;
        if let Attempt::Later(why, _) | Attempt::Never(_, why) = &attempt {
            tracing::warn!(destination = key.destination, outcome = why, "a delivery was not delivered");
        }
        store.settle_delivery(key.clone(), attempt, engine.now(), terms).await?;
        if !is_done || key.no > 0 {
            break;
        }
    }
    Ok(())
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

/// The folder for files of deliveries.
pub(crate) fn spool(data_dir: &std::path::Path) -> PathBuf {
    data_dir.join("output").join("outbox")
}
