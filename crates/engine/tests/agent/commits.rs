//! The disk work of a turn must not depend on the number of earlier turns. Commits are counted, never timed.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use retake_core::{Mode, Part, Role, SayRequest, Time};
use retake_engine::Outcome;
use retake_store::{Sqlite, Store};
use serde_json::json;

use super::{Desk, ModelOutput, Script, calls, engine_on, words};

/// A desk with a conversation of this length, and a count of commits from now on.
async fn desk_with(entries: usize) -> (Desk, Arc<AtomicU64>) {
    let dir = Arc::new(tempfile::tempdir().expect("a folder"));
    std::fs::create_dir(dir.path().join("work")).expect("made");
    let mut opened = Sqlite::open(&dir.path().join("data"), Time(0), Duration::ZERO).expect("opened");
    let commits = Arc::<AtomicU64>::default();
    opened.writer.count_commits(&commits).expect("watched");
    let store = Arc::new(Store::start(opened.readers, opened.writer).expect("started"));
    let script = Arc::new(Script::default());
    let engine = engine_on(&store, &dir, &script, Mode::AllowAll).await;
    let folder = dir.path().join("work").to_str().expect("UTF-8").to_owned();
    let id = engine.create(None, Some(folder), engine.by(None)).await.expect("created").conversation;
    let says = (0..entries).map(|number| {
        SayRequest::new(
            engine.new_entry_id(),
            if number % 2 == 0 { Role::User } else { Role::Assistant },
            vec![Part::text(format!("message {number}"))],
            engine.by(None),
        )
    });
    store.say_all(id, says.collect()).await.expect("said");
    (Desk { engine, store, script, id, dir }, commits)
}

/// Commits of each kind of turn, measured on the third of its kind.
async fn costs(entries: usize) -> Vec<(&'static str, u64)> {
    let (desk, commits) = desk_with(entries).await;
    desk.write("there", "x\n");
    let mut costs = Vec::new();
    for round in 0..3 {
        costs.clear();
        let kinds: [(&str, Vec<Vec<ModelOutput>>); 4] = [
            ("words", vec![words("1")]),
            ("read", vec![calls(&[("read", json!({"path": "there"}))]), words("2")]),
            (
                "write",
                vec![calls(&[("write", json!({"path": format!("a{round}"), "content": "x"}))]), words("3")],
            ),
            (
                "shell",
                vec![calls(&[("shell", json!({"command": format!("echo x > b{round}")}))]), words("4")],
            ),
        ];
        for (kind, answers) in kinds {
            let before = commits.load(Ordering::SeqCst);
            let (ended, told) = desk.turn(kind, answers).await;
            assert_eq!(ended.outcome, Outcome::Succeeded, "{kind}: {told:?}");
            costs.push((kind, commits.load(Ordering::SeqCst) - before));
        }
    }
    costs
}

#[tokio::test]
async fn a_turn_makes_as_many_commits_in_a_long_conversation_as_in_a_short_one() {
    let short = costs(10).await;
    // These numbers should fall, and must never grow unnoticed.
    assert_eq!(short, [("words", 6), ("read", 9), ("write", 12), ("shell", 12)]);
    assert_eq!(costs(3000).await, short);
}
