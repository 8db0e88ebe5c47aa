//! The outbox on disk: a damaged row keeps nobody from work.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use retake_core::{CheckMode, Finding, Time};
use retake_store::conformance::Stage;
use retake_store::{Destination, Sqlite, Store};

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
