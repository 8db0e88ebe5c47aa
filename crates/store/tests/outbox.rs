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
    assert!(stage.store.outbox(10).await.is_err());
    let checked = stage.store.check(CheckMode::Look).await.expect("checked");
    assert!(matches!(*checked.problems, [Finding::Unreadable { .. }]), "{checked:?}");
}
