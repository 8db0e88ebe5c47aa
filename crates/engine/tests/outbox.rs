//! The outbox through an engine: a destination that the test controls, and hooks on real servers and programs.

mod folder;
mod hooks;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::channel::{mpsc, oneshot};
use retake_core::{
    Action, Apply, Attempt, ConversationId, Delivery, DeliveryEvent, EntryId, OutboxFailure, Part, Role,
    SayRequest, SeenState,
};
use retake_engine::clock::ManualClock;
use retake_engine::outbox::Destination;
use retake_engine::{Engine, Parts};
use retake_store::Store;
use retake_testkit::{Puppet, conversation, memory_store, parts};

/// An hour.
const HOUR: Duration = Duration::from_secs(3600);

/// A delivery, and the place for its outcome.
type Pending = (Delivery, oneshot::Sender<Attempt>);

/// A destination whose deliveries end as the test says.
struct Controlled {
    name: String,
    events: Vec<DeliveryEvent>,
    deliveries: mpsc::UnboundedSender<Pending>,
}

#[async_trait]
impl Destination for Controlled {
    fn name(&self) -> &str {
        &self.name
    }

    fn folder(&self) -> Option<&str> {
        None
    }

    fn events(&self) -> &[DeliveryEvent] {
        &self.events
    }

    fn texts(&self) -> bool {
        true
    }

    fn limit(&self) -> Duration {
        Duration::from_secs(10)
    }

    fn keep_trying(&self) -> Duration {
        HOUR
    }

    async fn deliver(&self, delivery: &Delivery) -> Attempt {
        let (outcome, settled) = oneshot::channel();
        self.deliveries.unbounded_send((delivery.clone(), outcome)).expect("the test listens");
        settled.await.unwrap_or(Attempt::Later("the test said nothing".to_owned(), None))
    }
}

/// An engine with destinations, and the deliveries to them.
struct Desk {
    engine: Arc<Engine>,
    store: Arc<Store>,
    clock: ManualClock,
    id: ConversationId,
    deliveries: mpsc::UnboundedReceiver<Pending>,
}

/// Starts an owner on a store, with these destinations, each for these events.
async fn start(
    store: &Arc<Store>,
    clock: &ManualClock,
    names: &[(&str, &[DeliveryEvent])],
) -> (Arc<Engine>, mpsc::UnboundedReceiver<Pending>) {
    let (sender, deliveries) = mpsc::unbounded();
    let destinations = names.iter().map(|(name, events)| {
        let (name, events) = ((*name).to_owned(), events.to_vec());
        Arc::new(Controlled { name, events, deliveries: sender.clone() }) as Arc<dyn Destination>
    });
    let destinations = destinations.collect();
    let seed = retake_testkit::next_seed();
    let parts = Parts { destinations, ..parts(store, clock, &Arc::new(Puppet::default()), seed) };
    let engine = Engine::start(parts).await.expect("started");
    (engine, deliveries)
}

impl Desk {
    async fn new(names: &[(&str, &[DeliveryEvent])]) -> Self {
        let (store, clock) = (memory_store(), ManualClock::new(1_700_000_000_000));
        let (engine, deliveries) = start(&store, &clock, names).await;
        engine.deliver_in_background();
        let id = conversation(&engine).await;
        Self { engine, store, clock, id, deliveries }
    }

    async fn say(&self, text: &str) -> EntryId {
        let say = SayRequest::new(
            self.engine.new_entry_id(),
            Role::User,
            vec![Part::text(text)],
            self.engine.by(None),
        );
        self.engine.say(self.id, say).await.expect("said").entries[0]
    }

    async fn act(&self, action: Action) {
        let apply = Apply { action, seen: SeenState::Anything, by: self.engine.by(None) };
        self.engine.apply(self.id, apply).await.expect("done");
    }

    /// The next delivery, in words, and how to end it. Time goes on until it comes.
    async fn next(&mut self) -> (String, Delivery, oneshot::Sender<Attempt>) {
        let mut rounds = 0;
        let (delivery, outcome) = loop {
            match self.deliveries.try_recv() {
                Ok(delivery) => break delivery,
                Err(_) => tokio::task::yield_now().await,
            }
            rounds += 1;
            assert!(rounds < 1_000_000, "no delivery comes: {:?}", self.engine.outbox().await);
            if rounds % 1000 == 0 {
                self.clock.advance(Duration::from_millis(10));
            }
        };
        let texts = delivery.came.iter().map(|entry| entry.text.clone().unwrap_or_else(|| "-".to_owned()));
        let texts: Vec<_> = texts.collect();
        let words = format!("{} -{} +[{}]", delivery.event.name(), delivery.gone.len(), texts.join(" "));
        (words, delivery, outcome)
    }

    /// The same, ended at once.
    async fn done(&mut self) -> (String, String) {
        let (words, delivery, outcome) = self.next().await;
        outcome.send(Attempt::Done).expect("it waits");
        (words, delivery.id)
    }

    /// Waits until the outbox shows this.
    async fn until(&self, holds: impl Fn(&[retake_engine::outbox::OutboxLine]) -> bool) {
        for _ in 0..20_000 {
            let lines = self.engine.outbox().await.expect("read");
            if holds(&lines) {
                return;
            }
            tokio::task::yield_now().await;
        }
        panic!("the outbox stays {:?}", self.engine.outbox().await);
    }
}

fn later() -> Attempt {
    Attempt::Later("HTTP 503".to_owned(), None)
}

#[tokio::test]
async fn deliveries_are_delivered_in_order_and_tried_again_until_they_arrive() {
    let mut desk = Desk::new(&[("hook", DeliveryEvent::ALL)]).await;
    desk.say("one").await;
    let (words, first, outcome) = desk.next().await;
    assert_eq!(words, "said -0 +[one]");
    outcome.send(later()).expect("it waits");
    desk.until(|lines| lines.iter().any(|line| line.why.is_some())).await;
    let two = desk.say("two").await;
    desk.act(Action::Rewind(two)).await;
    // Nothing passes the first one, and nothing is sent before its time.
    desk.clock.advance(Duration::from_millis(999));
    tokio::task::yield_now().await;
    assert!(desk.deliveries.try_recv().is_err());
    desk.clock.advance(Duration::from_millis(11));
    let (words, again, outcome) = desk.next().await;
    assert_eq!((words.as_str(), &again.id), ("said -0 +[one]", &first.id));
    outcome.send(Attempt::Done).expect("it waits");
    // The second message and its rewind cancel each other.
    desk.until(<[_]>::is_empty).await;
    assert!(desk.deliveries.try_recv().is_err());
}

#[tokio::test]
async fn delivery_without_an_answer_ends_at_its_limit_and_others_go_on() {
    let mut desk = Desk::new(&[("hook", DeliveryEvent::ALL)]).await;
    desk.say("one").await;
    let (_, first, _never_answers) = desk.next().await;
    // A rewind does not wait for it, and another conversation is delivered meanwhile.
    let two = desk.say("two").await;
    desk.act(Action::Rewind(two)).await;
    let here = std::mem::replace(&mut desk.id, conversation(&desk.engine).await);
    desk.say("elsewhere").await;
    assert_eq!(desk.done().await.0, "said -0 +[elsewhere]");
    desk.until(|lines| lines.len() == 1).await;
    desk.id = here;
    desk.clock.advance(Duration::from_secs(10));
    desk.until(|lines| lines[0].why.as_deref() == Some("no answer within 10 s")).await;
    desk.clock.advance(Duration::from_secs(2));
    assert_eq!(desk.done().await, ("said -0 +[one]".to_owned(), first.id));
    desk.until(<[_]>::is_empty).await;
}

#[tokio::test]
async fn what_was_owed_is_delivered_by_the_next_owner_with_the_same_id() {
    let mut desk = Desk::new(&[("hook", &[DeliveryEvent::Said, DeliveryEvent::Rewound])]).await;
    let one = desk.say("one").await;
    let (_, claimed, _outcome) = desk.next().await;
    desk.say("two").await;
    desk.act(Action::Rewind(one)).await;
    // The owner ends in the middle of a delivery. The next one does not wait for its lease.
    let (store, clock) = (Arc::clone(&desk.store), desk.clock.clone());
    let (engine, deliveries) = start(&store, &clock, &[("hook", DeliveryEvent::ALL)]).await;
    engine.deliver_in_background();
    desk = Desk { engine, deliveries, ..desk };
    // The claimed message is told, without its text: it is no longer visible.
    assert_eq!(desk.done().await, ("said -0 +[-]".to_owned(), claimed.id));
    assert_eq!(desk.done().await.0, "said -0 +[-]");
    assert_eq!(desk.done().await.0, "rewound -2 +[]");
    desk.until(<[_]>::is_empty).await;
}

#[tokio::test]
async fn destination_is_told_only_of_its_events_and_owes_nothing_for_others() {
    let mut desk = Desk::new(&[
        ("a", &[DeliveryEvent::Rewound]),
        ("b", &[DeliveryEvent::Restored, DeliveryEvent::Marked]),
    ])
    .await;
    let one = desk.say("one").await;
    let two = desk.say("two").await;
    desk.until(<[_]>::is_empty).await;
    desk.act(Action::Rewind(two)).await;
    assert_eq!(desk.done().await.0, "rewound -1 +[]");
    // Otherwise the rewind and its undo cancel each other for the other one.
    desk.until(<[_]>::is_empty).await;
    desk.act(Action::Undo(1)).await;
    assert_eq!(desk.done().await.0, "restored -0 +[two]");
    desk.until(<[_]>::is_empty).await;
    let hide = Action::Mark { verb: retake_core::Reason::Hide, entries: vec![one], range: false, seen: None };
    desk.act(hide).await;
    assert_eq!(desk.done().await.0, "marked -1 +[]");
    desk.until(<[_]>::is_empty).await;
    assert!(desk.deliveries.try_recv().is_err());
}

#[tokio::test]
async fn delivery_that_fails_for_good_is_listed_and_can_be_tried_again_or_given_up() {
    let mut desk = Desk::new(&[("hook", DeliveryEvent::ALL)]).await;
    desk.say("one").await;
    let (_, _, outcome) = desk.next().await;
    outcome.send(Attempt::Never(OutboxFailure::Refused, "HTTP 400".to_owned())).expect("it waits");
    desk.say("two").await;
    assert_eq!(desk.done().await.0, "said -0 +[two]");
    desk.until(|lines| lines.len() == 1).await;
    let line = desk.engine.outbox().await.expect("read").remove(0);
    assert_eq!(
        (line.id.as_str(), line.failure, line.why.as_deref()),
        ("hook-1.1", Some(OutboxFailure::Refused), Some("HTTP 400"))
    );
    assert_eq!(desk.engine.retry_owed(Some(vec![line.id.clone()])).await.expect("due"), 1);
    assert_eq!(desk.done().await.0, "said -0 +[one]");
    desk.until(<[_]>::is_empty).await;
    let error = desk.engine.retry_owed(Some(vec![line.id])).await.expect_err("it is gone");
    assert_eq!(
        (error.code, error.message.as_str()),
        ("unknown_outbox_item", "nothing in the outbox is called hook-1.1")
    );
    // A lane that waits is given up: what it owed is never sent.
    desk.say("three").await;
    let (_, _, outcome) = desk.next().await;
    outcome.send(later()).expect("it waits");
    desk.until(|lines| lines.iter().any(|line| line.why.is_some())).await;
    assert_eq!(desk.engine.drop_owed(None).await.expect("dropped"), 1);
    desk.clock.advance(HOUR);
    desk.say("four").await;
    assert_eq!(desk.done().await.0, "said -0 +[four]");
}

#[tokio::test]
async fn delivery_is_passed_over_after_its_time() {
    let mut desk = Desk::new(&[("hook", DeliveryEvent::ALL)]).await;
    desk.say("one").await;
    let (mut attempts, mut rounds) = (0, 0);
    // A line that was passed over has no next attempt.
    while desk.engine.outbox().await.expect("read")[0].due.is_some() {
        let Ok((_, outcome)) = desk.deliveries.try_recv() else {
            // It is not due yet, or on its way. Time must not go on much faster than the engine works.
            rounds += 1;
            assert!(rounds < 1_000_000, "no delivery comes: {:?}", desk.engine.outbox().await);
            if rounds % 25 == 0 {
                desk.clock.advance(Duration::from_secs(5));
            }
            tokio::task::yield_now().await;
            continue;
        };
        outcome.send(later()).expect("it waits");
        attempts += 1;
        desk.until(|lines| lines[0].attempts == attempts && lines[0].why.is_some()).await;
    }
    assert!(attempts > 5, "{attempts}");
    let line = desk.engine.outbox().await.expect("read").remove(0);
    assert_eq!((line.failure, line.attempts), (Some(OutboxFailure::TooOld), attempts));
}

#[tokio::test]
async fn owner_stays_for_what_is_due() {
    let (store, clock) = (memory_store(), ManualClock::new(1_700_000_000_000));
    let (engine, deliveries) = start(&store, &clock, &[("hook", DeliveryEvent::ALL)]).await;
    let id = conversation(&engine).await;
    let desk = Desk { engine, store, clock, id, deliveries };
    assert!(!desk.engine.delivers().await);
    desk.say("one").await;
    assert!(desk.engine.delivers().await);
}

#[tokio::test]
async fn delivery_that_cannot_be_read_is_postponed_and_others_go_on() {
    let dir = tempfile::tempdir().expect("a folder");
    let (store, clock) = (retake_testkit::sqlite_store(dir.path()), ManualClock::new(1_700_000_000_000));
    let (engine, deliveries) = start(&store, &clock, &[("hook", DeliveryEvent::ALL)]).await;
    let id = conversation(&engine).await;
    let mut desk = Desk { engine, store, clock, id, deliveries };
    desk.say("one").await;
    let db = rusqlite::Connection::open(dir.path().join("retake.db")).expect("the file");
    assert_eq!(db.execute("UPDATE outbox SET told = 'x'", []).expect("changed"), 1);
    desk.id = conversation(&desk.engine).await;
    desk.say("elsewhere").await;
    desk.engine.deliver_in_background();
    assert_eq!(desk.done().await.0, "said -0 +[elsewhere]");
    for _ in 0..20_000 {
        if !desk.engine.delivers().await {
            break;
        }
        tokio::task::yield_now().await;
    }
    let due = desk.store.next_due(desk.engine.now()).await.expect("read").expect("it is tried again");
    let wait = due.0 - desk.engine.now().0;
    assert!((1..=60_000).contains(&wait), "{wait}");
}
