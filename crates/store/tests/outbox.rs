//! The outbox on disk: a damaged row keeps nobody from work, and a kill at any step of a delivery loses nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use retake_core::{
    Action, Attempt, CheckMode, Delivery, DeliveryEvent, DeliveryOrder, DeliveryTerms, EntryId, Finding,
    Projection, Time,
};
use retake_store::conformance::Stage;
use retake_store::{Destination, Sqlite, Store, Wants};

async fn open(dir: &Path) -> Arc<Store> {
    let opened = Sqlite::open(dir, Time(1_700_000_000_000), Duration::ZERO).expect("opened");
    let store = Arc::new(Store::start(opened.readers, opened.writer).expect("started"));
    let hook = Destination { name: "hook".to_owned(), folder: None };
    store.set_destinations(vec![hook], Time(1)).await.expect("set");
    store
}

#[tokio::test]
async fn damaged_row_of_the_outbox_keeps_nobody_from_work_and_is_reported() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut stage = Stage::with_turns(open(dir.path()).await, &["one"]).await;
    assert_eq!(stage.store.outbox(10).await.expect("read").len(), 1);
    let db = rusqlite::Connection::open(dir.path().join("retake.db")).expect("the file");
    assert_eq!(db.execute("UPDATE outbox SET told = 'x'", []).expect("changed"), 1);
    stage.turn("two").await;
    stage.rewind("two").await;
    assert_eq!(stage.shows().await, "one");
    // Also at the next start.
    let memory = retake_store::Memory::new();
    let writer = memory.writer();
    stage.store = Arc::new(Store::start(memory, writer).expect("started"));
    stage.store = open(dir.path()).await;
    stage.turn("three").await;
    assert_eq!(stage.shows().await, "one three");
    // Another conversation's row is delivered, and the damaged one can be postponed and given up.
    let other = Stage::with_turns(Arc::clone(&stage.store), &["other"]).await;
    let due = |store: Arc<Store>| async move {
        store.due("hook".to_owned(), Time(1 << 50), 10).await.expect("read")
    };
    let keys = due(Arc::clone(&stage.store)).await;
    assert_eq!(keys.len(), 2, "{keys:?}");
    let lines = stage.store.outbox(10).await.expect("read");
    assert_eq!(lines.iter().map(|line| line.conversation).collect::<Vec<_>>(), [other.id]);
    let damaged = keys.into_iter().find(|key| *key != lines[0].key).expect("two");
    let later = Time((1 << 50) + 1);
    stage.store.postpone_owed(damaged.clone(), later, "it cannot be read").await.expect("postponed");
    assert_eq!(due(Arc::clone(&stage.store)).await, [lines[0].key.clone()]);
    let checked = stage.store.check(CheckMode::Look).await.expect("checked");
    assert!(matches!(*checked.problems, [Finding::Unreadable { .. }]), "{checked:?}");
    assert_eq!(stage.store.drop_owed(Some(vec![damaged])).await.expect("dropped"), 1);
    assert_eq!(stage.store.check(CheckMode::Look).await.expect("checked").problems, []);
}

/// After every time of these tests.
const LATE: Time = Time(1 << 50);

const TERMS: DeliveryTerms = DeliveryTerms { deadline_ms: i64::MAX, order: DeliveryOrder::Strict };

/// The steps of a delivery behind which an owner is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Step {
    Committed,
    Read,
    Claimed,
    Delivered,
    Settled,
}

/// A destination that does what it is told, once for each id.
#[derive(Default)]
struct Copy {
    ids: BTreeSet<String>,
    held: BTreeMap<EntryId, Option<String>>,
}

impl Copy {
    fn take(&mut self, delivery: &Delivery) {
        if self.ids.insert(delivery.id.clone()) {
            delivery.gone.iter().for_each(|entry| drop(self.held.remove(&entry.id)));
            self.held.extend(delivery.came.iter().map(|entry| (entry.id, entry.text.clone())));
        }
    }

    /// Delivers one row up to a step. `false`: nothing is due.
    async fn deliver(&mut self, store: &Store, until: Step) -> bool {
        let due = store.due("hook".to_owned(), LATE, 1).await.expect("read");
        let Some(key) = due.into_iter().next().filter(|_| until > Step::Committed) else { return false };
        let wants = Wants { events: DeliveryEvent::ALL.to_vec(), texts: true };
        let Some(owed) = store.owed_delivery(key.clone(), wants).await.expect("read") else { return true };
        let delivery = owed.delivery.clone();
        if until >= Step::Claimed {
            assert!(store.claim_delivery(owed, LATE, LATE).await.expect("claimed"));
        }
        if until >= Step::Delivered {
            self.take(&delivery);
        }
        if until == Step::Settled {
            store.settle_delivery(key, Attempt::Done, LATE, TERMS).await.expect("settled");
        }
        true
    }
}

#[tokio::test]
async fn kill_at_any_step_of_a_delivery_loses_nothing_and_sends_nothing_that_did_not_commit() {
    let steps = [Step::Committed, Step::Read, Step::Claimed, Step::Delivered, Step::Settled];
    for (first, second) in steps.into_iter().flat_map(|one| steps.map(|other| (one, other))) {
        let dir = tempfile::tempdir().expect("a directory");
        let mut stage = Stage::with_turns(open(dir.path()).await, &["one"]).await;
        let mut copy = Copy::default();
        for (at, step) in [first, second, first, second, Step::Settled].into_iter().enumerate() {
            match at {
                0 => drop(stage.turn("two").await),
                1 => drop(stage.rewind("two").await),
                2 => drop(stage.act(Action::Undo(1)).await.expect("undone")),
                3 => drop(stage.turn("three").await),
                _ => drop(stage.rewind("two").await),
            }
            copy.deliver(&stage.store, step).await;
            // What is in memory is gone, as after a kill: a transaction that was acknowledged is in the file.
            let memory = retake_store::Memory::new();
            let writer = memory.writer();
            stage.store = Arc::new(Store::start(memory, writer).expect("started"));
            stage.store = open(dir.path()).await;
        }
        while copy.deliver(&stage.store, Step::Settled).await {}
        let held: Vec<&str> = copy.held.values().map(|text| text.as_deref().unwrap_or("-")).collect();
        let mut shown = stage.read(Projection::Timeline).await;
        shown = shown.split(' ').collect::<BTreeSet<_>>().into_iter().collect::<Vec<_>>().join(" ");
        let held: BTreeSet<&str> = held.into_iter().collect();
        assert_eq!(held.into_iter().collect::<Vec<_>>().join(" "), shown, "{first:?} {second:?}");
        assert_eq!(stage.store.outbox(10).await.expect("read"), [], "{first:?} {second:?}");
    }
}
