//! The inbox of an adapter: it joins messages, and stores them in the order in which they came, place by place. Must never let a
//! cursor pass an event that is not stored.

use std::collections::{BTreeSet, HashMap, HashSet, VecDeque};
use std::sync::Arc;

use async_trait::async_trait;
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt as _};
use retake_wire::chat::{Addressed, Inbound, Place};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};

use super::arrive::{self, command_of};
use super::join::{Envelope, Joiner, Unit, place_of};
use super::missed::{Missed, Most};
use super::owner::NotDone;
use super::{Context, RuntimeError, sleep_until};
use crate::adapter::Inbox;
use crate::receipt::{InboxClosed, Receipt};

/// The most events that wait to be stored. An adapter that has more waits, too.
const MOST_WAITING: usize = 1_000;

/// How many keys of stored events are remembered. A platform delivers the newest ones again.
const REMEMBERED: usize = 4_096;

/// What an adapter hands over.
pub(super) enum Incoming {
    /// A connection begins.
    Connected,
    Event {
        key: String,
        event: Box<Inbound>,
        waiter: Waiter,
    },
    Cursor {
        cursor: String,
        done: oneshot::Sender<()>,
    },
}

/// A receipt that is open, and the room that its event takes.
pub(super) struct Waiter {
    done: oneshot::Sender<()>,
    _room: OwnedSemaphorePermit,
}

/// The adapter's end.
pub(super) struct Slot<'a> {
    context: &'a Context,
    sender: mpsc::UnboundedSender<Incoming>,
    room: Arc<Semaphore>,
}

impl<'a> Slot<'a> {
    pub(super) fn new(context: &'a Context, sender: mpsc::UnboundedSender<Incoming>) -> Self {
        Self { context, sender, room: Arc::new(Semaphore::new(MOST_WAITING)) }
    }

    /// Says that a connection begins.
    pub(super) fn connected(&self) {
        // The desk ends only with the gateway.
        drop(self.sender.send(Incoming::Connected));
    }
}

#[async_trait]
impl Inbox for Slot<'_> {
    async fn arrived(&self, transport_key: &str, event: Inbound) -> Result<Receipt, InboxClosed> {
        self.context.health.works();
        let room = Arc::clone(&self.room).acquire_owned().await.map_err(|_| InboxClosed)?;
        let (receipt, done) = Receipt::pending();
        let (key, event) = (transport_key.to_owned(), Box::new(event));
        let waiter = Waiter { done, _room: room };
        self.sender.send(Incoming::Event { key, event, waiter }).map_err(|_| InboxClosed)?;
        Ok(receipt)
    }

    async fn advance(&self, cursor: &str) -> Result<Receipt, InboxClosed> {
        self.context.health.works();
        let (receipt, done) = Receipt::pending();
        self.sender.send(Incoming::Cursor { cursor: cursor.to_owned(), done }).map_err(|_| InboxClosed)?;
        Ok(receipt)
    }

    async fn places(&self) -> Vec<(Place, Option<String>)> {
        self.context.places()
    }
}

/// What was done.
enum Done {
    Stored { place: Place, keys: Vec<String>, numbers: Vec<u64> },
    Recorded(Vec<oneshot::Sender<()>>),
}

/// A cursor that waits for the events before it.
struct Mark {
    /// All events with smaller numbers must be stored.
    before: u64,
    cursor: String,
    done: Vec<oneshot::Sender<()>>,
}

/// The keys of events that were stored last.
#[derive(Default)]
struct Recent {
    keys: HashSet<String>,
    order: VecDeque<String>,
}

impl Recent {
    fn add(&mut self, key: String) {
        if self.keys.insert(key.clone()) {
            self.order.push_back(key);
        }
        if self.order.len() > REMEMBERED
            && let Some(oldest) = self.order.pop_front()
        {
            self.keys.remove(&oldest);
        }
    }
}

/// The owner's end: stores events.
pub(super) struct Desk<'a> {
    context: &'a Context,
    incoming: mpsc::UnboundedReceiver<Incoming>,
    joiner: Joiner,
    missed: Missed,
    /// The units of each place that wait until the one before is stored. A place is here as long as one is being stored.
    lanes: HashMap<Place, VecDeque<Unit>>,
    /// What waits for a lane, because a chat moves: that is stored alone.
    next: VecDeque<Unit>,
    is_moving: bool,
    running: FuturesUnordered<BoxFuture<'a, Result<Done, RuntimeError>>>,
    waiting: HashMap<String, Vec<Waiter>>,
    stored: Recent,
    unstored: BTreeSet<u64>,
    marks: VecDeque<Mark>,
    is_recording: bool,
    next_number: u64,
}

impl<'a> Desk<'a> {
    pub(super) fn new(context: &'a Context, incoming: mpsc::UnboundedReceiver<Incoming>) -> Self {
        let missed = Missed::since(most(context), context.clock.now_ms());
        Self {
            context,
            incoming,
            joiner: Joiner::default(),
            missed,
            lanes: HashMap::new(),
            next: VecDeque::new(),
            is_moving: false,
            running: FuturesUnordered::new(),
            waiting: HashMap::new(),
            stored: Recent::default(),
            unstored: BTreeSet::new(),
            marks: VecDeque::new(),
            is_recording: false,
            next_number: 0,
        }
    }

    /// Stores what arrives, until the gateway must end.
    pub(super) async fn run(mut self) -> RuntimeError {
        loop {
            let wake = self.joiner.next_ms();
            let result = tokio::select! {
                Some(incoming) = self.incoming.recv() => {
                    self.take(incoming);
                    Ok(())
                }
                Some(done) = self.running.next() => done.map(|done| self.done(done)),
                () = sleep_until(&*self.context.clock, wake) => Ok(()),
            };
            if let Err(error) = result {
                return error;
            }
            let units = self.joiner.due(self.context.clock.now_ms());
            self.enqueue(units);
            self.record();
        }
    }

    fn take(&mut self, incoming: Incoming) {
        let now = self.context.clock.now_ms();
        match incoming {
            Incoming::Connected => self.missed = Missed::since(most(self.context), now),
            Incoming::Cursor { cursor, done } => {
                let before = self.next_number;
                match self.marks.back_mut().filter(|last| last.before == before) {
                    Some(last) => {
                        last.cursor = cursor;
                        last.done.push(done);
                    }
                    None => self.marks.push_back(Mark { before, cursor, done: vec![done] }),
                }
            }
            Incoming::Event { key, event, waiter } => {
                if let Some(waiting) = self.waiting.get_mut(&key) {
                    // It was delivered again before it was stored.
                    waiting.push(waiter);
                    return;
                }
                if self.stored.keys.contains(&key) {
                    tell([waiter.done]);
                    return;
                }
                let number = self.next_number;
                self.next_number += 1;
                self.waiting.insert(key.clone(), vec![waiter]);
                self.unstored.insert(number);
                let is_alone = command_of(self.context, &event).is_some();
                let units = self.joiner.add(Envelope { number, key, event: *event }, is_alone, now);
                self.enqueue(units);
            }
        }
    }

    fn enqueue(&mut self, units: Vec<Unit>) {
        self.next.extend(units);
        while let Some(first) = self.next.front().and_then(|unit| unit.first()) {
            let moves = matches!(first.event, Inbound::Migrated { .. });
            if self.is_moving || (moves && !self.lanes.is_empty()) {
                break;
            }
            let place = place_of(&first.event);
            let Some(unit) = self.next.pop_front() else { break };
            self.is_moving = moves;
            match self.lanes.get_mut(&place) {
                Some(lane) => lane.push_back(unit),
                None => {
                    self.lanes.insert(place.clone(), VecDeque::new());
                    self.start(place, unit);
                }
            }
        }
    }

    fn start(&mut self, place: Place, unit: Unit) {
        let (context, is_late) = (self.context, self.is_late(&unit));
        self.running.push(Box::pin(async move {
            arrive::store(context, &unit, is_late).await?;
            let (keys, numbers) = unit.into_iter().map(|it| (it.key, it.number)).unzip();
            Ok(Done::Stored { place, keys, numbers })
        }));
    }

    /// Whether a message is too old, or was missed with too many others, to be answered.
    fn is_late(&mut self, unit: &Unit) -> bool {
        let Some(Envelope { event: Inbound::Message(message), .. }) = unit.first() else { return false };
        let is_addressed = unit
            .iter()
            .any(|it| matches!(&it.event, Inbound::Message(message) if message.addressed != Addressed::No));
        let counts = is_addressed && unit.iter().all(|it| command_of(self.context, &it.event).is_none());
        self.missed.is_late(&message.place, message.sent_ms, counts, self.context.clock.now_ms())
    }

    fn done(&mut self, done: Done) {
        match done {
            Done::Stored { place, keys, numbers } => {
                for number in numbers {
                    self.unstored.remove(&number);
                }
                for key in keys {
                    let waiting = self.waiting.remove(&key).into_iter().flatten();
                    tell(waiting.map(|it| it.done));
                    self.stored.add(key);
                }
                match self.lanes.get_mut(&place).and_then(VecDeque::pop_front) {
                    Some(next) => self.start(place, next),
                    None => drop(self.lanes.remove(&place)),
                }
                if self.lanes.is_empty() {
                    self.is_moving = false;
                }
                self.enqueue(Vec::new());
            }
            Done::Recorded(waiting) => {
                self.is_recording = false;
                tell(waiting);
            }
        }
    }

    /// Records the last cursor before which everything is stored.
    fn record(&mut self) {
        if self.is_recording {
            return;
        }
        let stored = self.unstored.first().copied().unwrap_or(self.next_number);
        let mut last = None;
        let mut waiting = Vec::new();
        while self.marks.front().is_some_and(|mark| mark.before <= stored) {
            let Some(mark) = self.marks.pop_front() else { break };
            last = Some(mark.cursor);
            waiting.extend(mark.done);
        }
        let Some(cursor) = last else { return };
        self.is_recording = true;
        let context = self.context;
        self.running.push(Box::pin(async move {
            match context.owner.cursor(&cursor).await {
                Ok(()) => context.set_cursor(cursor),
                Err(NotDone::Refused(code)) => {
                    tracing::warn!(code = code.as_str(), "a cursor was refused");
                }
                Err(NotDone::End(error)) => return Err(error),
            }
            Ok(Done::Recorded(waiting))
        }));
    }
}

fn most(context: &Context) -> Most {
    let limits = &context.limits;
    Most { age: limits.answer_missed_for, of_place: limits.missed_of_place, places: limits.missed_runs }
}

/// Tells adapters that something is durable. Some do not wait for it.
fn tell(waiting: impl IntoIterator<Item = oneshot::Sender<()>>) {
    for done in waiting {
        done.send(()).ok();
    }
}
