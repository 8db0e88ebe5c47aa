//! Everything that a turn can leave behind, at once: a summary, a subagent's files, a remembered fact and a job go and come
//! together.

use std::collections::BTreeMap;

use retake_core::{Action, Apply, MemoryRequest, Mode, SeenState};
use retake_engine::model::{ModelError, ModelErrorKind};
use retake_engine::{FileOptions, Outcome};
use serde_json::json;

use super::subagents::{desk, shell, task, turn};
use super::{Desk, calls, words};

/// What a person and the next turn can see of a conversation.
#[derive(Debug, PartialEq)]
struct Visible {
    files: BTreeMap<String, String>,
    messages: Vec<String>,
    facts: Vec<String>,
    jobs: usize,
    subagents: usize,
    folds: usize,
}

async fn visible(desk: &Desk) -> Visible {
    let names = std::fs::read_dir(desk.path("")).expect("a folder").flatten();
    let names = names.map(|entry| entry.file_name().to_string_lossy().into_owned());
    let files = names.map(|name| (name.clone(), desk.read(&name).expect("a file"))).collect();
    let request = MemoryRequest { limit: 99, ..MemoryRequest::default() };
    let facts = desk.engine.memory_in(desk.id, request).await.expect("facts").into_iter();
    let snapshot = desk.store.snapshot(desk.id).await.expect("a snapshot");
    Visible {
        files,
        messages: desk.shows().await,
        facts: facts.map(|fact| fact.text).collect(),
        jobs: desk.engine.jobs_of(desk.id, None).await.expect("jobs").len(),
        subagents: desk.store.subagents(desk.id).await.expect("subagents").len(),
        folds: snapshot.conversation().state.folds.all().len(),
    }
}

#[tokio::test]
async fn summary_subagent_memory_and_job_go_and_come_together() {
    let (desk, tasks) = desk(Mode::AllowAll).await;
    desk.write("a", "one\n");
    let long = "and so on ".repeat(60);
    tasks.then("begin", vec![words(&long)]);
    turn(&desk, "begin").await;
    let before = visible(&desk).await;
    let too_long = vec![Err(ModelError::new(ModelErrorKind::ContextTooLong, "test/tasks"))];
    tasks.then("begin", vec![too_long, words("It began.")]);
    let job = calls(&[("shell", json!({"command": "echo $$ > pid; exec sleep 600", "background": true}))]);
    let remember = calls(&[("remember", json!({"text": "the door is blue"}))]);
    // After the summary, the newest message is the first one.
    tasks.then("work", vec![remember, calls(&[task("edit it")]), job, words("done")]);
    tasks.then("edit it", vec![shell("echo two > a; echo new > b"), words("edited")]);
    let (ended, told) = turn(&desk, "work").await;
    assert_eq!(ended.outcome, Outcome::Succeeded, "{told:?}");
    while desk.read("pid").is_none_or(|pid| !pid.ends_with('\n')) {
        tokio::task::yield_now().await;
    }
    let after = visible(&desk).await;
    assert_eq!((after.facts.len(), after.jobs, after.subagents, after.folds), (1, 1, 1, 1), "{after:?}");
    assert_eq!(after.files["a"], "two\n");
    let entry = desk.engine.entry(desk.id, "t2").await.expect("a turn");
    let rewind = Apply { action: Action::Rewind(entry), seen: SeenState::Anything, by: desk.engine.by(None) };
    let options = FileOptions { stop: true, ..FileOptions::default() };
    desk.engine.apply_both(desk.id, rewind, options).await.expect("rewound");
    // The summary covers messages that stay, so it stays, too: nothing that a person sees.
    assert_eq!(visible(&desk).await, Visible { folds: 1, ..before });
    assert!(desk.engine.jobs_at_work().await.is_empty(), "the job has ended");
    desk.apply(Action::Undo(1)).await;
    assert_eq!(visible(&desk).await, after);
}
