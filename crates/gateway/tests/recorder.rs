//! An inbox that remembers everything, for the tests of adapters that receive. Must never hide a second delivery.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use retake_gateway::{Adapter, Failure, Inbox, InboxClosed, Receipt};
use retake_wire::chat::{Inbound, InboundMessage, Place};
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;

/// How long a test waits at most.
const PATIENCE: Duration = Duration::from_secs(20);

/// What an adapter told the inbox, in order.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Told {
    Arrived(String, Box<Inbound>),
    Advanced(String),
}

/// An inbox that remembers everything.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    told: watch::Sender<Vec<Told>>,
    places: Vec<(Place, Option<String>)>,
    /// After so many events it takes no more.
    most: Mutex<Option<usize>>,
    /// Whether nothing is durable before the test says so.
    holds: bool,
    held: Mutex<Vec<oneshot::Sender<()>>>,
}

impl Recorder {
    /// An inbox with bound places.
    pub(crate) fn with_places(places: Vec<(Place, Option<String>)>) -> Arc<Self> {
        Arc::new(Self { places, ..Self::default() })
    }

    /// An inbox that takes so many events.
    pub(crate) fn with_most(most: usize) -> Arc<Self> {
        Arc::new(Self { most: Mutex::new(Some(most)), ..Self::default() })
    }

    /// An inbox in which nothing is durable at first.
    pub(crate) fn that_holds() -> Arc<Self> {
        Arc::new(Self { holds: true, ..Self::default() })
    }

    /// Makes the event durable that came as this one of all.
    pub(crate) fn store(&self, position: usize) {
        let mut held = self.held.lock().expect("BUG: a test panicked");
        let (unused, _) = oneshot::channel();
        std::mem::replace(&mut held[position], unused).send(()).expect("BUG: nobody waits for it");
    }

    /// Everything so far, in order.
    pub(crate) fn told(&self) -> Vec<Told> {
        self.told.borrow().clone()
    }

    /// The events so far with their keys, in order.
    pub(crate) fn arrived(&self) -> Vec<(String, Inbound)> {
        let event = |told: &Told| match told {
            Told::Arrived(key, event) => Some((key.clone(), (**event).clone())),
            Told::Advanced(_) => None,
        };
        self.told.borrow().iter().filter_map(event).collect()
    }

    /// Waits until so many events arrived, then returns all.
    pub(crate) async fn until(&self, count: usize) -> Vec<(String, Inbound)> {
        let is_there =
            |told: &Vec<Told>| told.iter().filter(|told| matches!(told, Told::Arrived(..))).count() >= count;
        self.wait_for(is_there).await;
        self.arrived()
    }

    /// Waits until the inbox was told so.
    pub(crate) async fn until_told(&self, expected: &Told) {
        self.wait_for(|told| told.contains(expected)).await;
    }

    async fn wait_for(&self, condition: impl Fn(&Vec<Told>) -> bool) {
        let mut told = self.told.subscribe();
        let waited = tokio::time::timeout(PATIENCE, told.wait_for(condition)).await;
        let is_there = waited.is_ok_and(|waited| waited.is_ok());
        assert!(is_there, "the inbox was only told {:?}", self.told());
    }
}

#[async_trait]
impl Inbox for Recorder {
    async fn arrived(&self, transport_key: &str, event: Inbound) -> Result<Receipt, InboxClosed> {
        let most = *self.most.lock().expect("BUG: a test panicked");
        if most.is_some_and(|most| self.arrived().len() >= most) {
            return Err(InboxClosed);
        }
        self.told.send_modify(|told| told.push(Told::Arrived(transport_key.to_owned(), Box::new(event))));
        if !self.holds {
            return Ok(Receipt::durable_now());
        }
        let (receipt, done) = Receipt::pending();
        self.held.lock().expect("BUG: a test panicked").push(done);
        Ok(receipt)
    }

    async fn advance(&self, cursor: &str) -> Result<Receipt, InboxClosed> {
        self.told.send_modify(|told| told.push(Told::Advanced(cursor.to_owned())));
        Ok(Receipt::durable_now())
    }

    async fn places(&self) -> Vec<(Place, Option<String>)> {
        self.places.clone()
    }
}

/// An adapter that receives. It stops when this is dropped.
#[derive(Debug)]
pub(crate) struct Receiving {
    task: JoinHandle<Failure>,
}

impl Receiving {
    /// Starts to receive.
    pub(crate) fn start<A: Adapter + 'static>(
        adapter: &Arc<A>,
        cursor: Option<&str>,
        inbox: &Arc<Recorder>,
    ) -> Self {
        let (adapter, inbox, cursor) = (Arc::clone(adapter), Arc::clone(inbox), cursor.map(str::to_owned));
        Self { task: tokio::spawn(async move { adapter.receive(cursor, &*inbox).await }) }
    }

    /// Waits until it ends.
    pub(crate) async fn ended(mut self) -> Failure {
        let ended = tokio::time::timeout(PATIENCE, &mut self.task).await;
        ended.expect("BUG: it does not end").expect("BUG: it panicked")
    }
}

impl Drop for Receiving {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Receives until it ends.
pub(crate) async fn received<A: Adapter>(adapter: &A, inbox: &Recorder) -> Failure {
    let ended = tokio::time::timeout(PATIENCE, adapter.receive(None, inbox)).await;
    ended.expect("BUG: it does not end")
}

/// The message of an event.
pub(crate) fn message(event: &Inbound) -> &InboundMessage {
    match event {
        Inbound::Message(message) | Inbound::Edited(message) => message,
        other => panic!("no message: {other:?}"),
    }
}
