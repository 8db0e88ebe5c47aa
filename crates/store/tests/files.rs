//! A store on disk: closing and opening again, damage, newer versions, erased bytes.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use retake_core::{
    Action, Apply, ChangeOrigin, ContentHash, FileChange, FilePath, Grade, Include, ListRequest, NO_MESSAGE,
    NewRun, PageRequest, Part, PathMove, Projection, ReadOnly, Reading, Reason, Record, Role, RunInput,
    RunRefusal, SayRequest, SearchRequest, SeenState, Stack, Steer, Time, ToolOutcome, Words, joined_text,
};
use retake_store::conformance::Stage;
use retake_store::{FilesHalf, NewDelta, Sqlite, Store, StoreError, StreamRow};

fn open(dir: &Path) -> Arc<Store> {
    let opened = Sqlite::open(dir, Time(1_700_000_000_000), Duration::ZERO).expect("opened");
    Arc::new(Store::start(opened.readers, opened.writer).expect("started"))
}

/// Closes the stage's store and opens it again.
fn reopen(stage: &mut Stage, dir: &Path) {
    // The old owner must be gone before the new one starts.
    stage.store = Arc::new(
        Store::start(retake_store::Memory::new(), retake_store::Memory::new().writer()).expect("started"),
    );
    stage.store = open(dir);
}

/// Changes the file of the store directly.
fn tamper(dir: &Path, sql: &str) {
    let db = rusqlite::Connection::open(dir.join("retake.db")).expect("the file");
    assert!(db.execute(sql, []).expect(sql) > 0, "{sql}");
}

#[tokio::test]
async fn store_case_24_a_rewind_survives_closing_at_once() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut stage = Stage::with_turns(open(dir.path()), &["T1", "T2", "T3"]).await;
    stage.rewind("T2").await;
    reopen(&mut stage, dir.path());
    assert_eq!(stage.shows().await, "T1");
    stage.undo().await;
    reopen(&mut stage, dir.path());
    assert_eq!(stage.shows().await, "T1 T2 T3");
    stage.act(Action::Undo(2)).await.expect("undone");
    stage.mark(Reason::Hide, &["T1"]).await.expect("hidden");
    stage.undo().await;
    reopen(&mut stage, dir.path());
    assert_eq!(stage.shows().await, "T1");
    stage.redo().await;
    assert_eq!(stage.read(Projection::Timeline).await, "T1!");
    assert_eq!(stage.refused(Action::Redo(1)).await, "nothing_to_redo");
}

/// Every file below a directory that contains these bytes.
fn holding(dir: &Path, bytes: &[u8]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir).expect("readable") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(holding(&path, bytes));
        } else if std::fs::read(&path).expect("readable").windows(bytes.len()).any(|window| window == bytes) {
            found.push(path);
        }
    }
    found
}

/// The row of a delta holds all of its layers: an apply writes only its count, once, whatever the number of its
/// paths.
#[tokio::test]
async fn trial_11_an_apply_of_many_paths_writes_a_count_and_no_row_of_a_delta() {
    let dir = tempfile::tempdir().expect("a directory");
    let stage = Stage::with_turns(open(dir.path()), &["T1"]).await;
    let workspace = stage.store.workspace(b"/work".to_vec(), (1, 2), Time(7)).await.expect("made").no;
    let file = Record::File { hash: ContentHash([1; 32]), len: 1, mode: 0o644 };
    let made = |number| FileChange {
        path: FilePath::new(format!("f{number}").as_bytes()).expect("a path"),
        before: None,
        after: Some(file.clone()),
    };
    let changes: Vec<FileChange> = (0..100).map(made).collect();
    let seen = changes.iter().map(|change| (Grade::Seen, change.clone())).collect();
    let mark = ContentHash([7; 32]);
    let delta = NewDelta::new(workspace, seen, mark);
    let say = stage.saying(Role::Assistant, vec![Part::text("done")]);
    stage.store.say_changed(stage.id, say, vec![delta]).await.expect("said");
    let db = rusqlite::Connection::open(dir.path().join("retake.db")).expect("the file");
    let watch = "CREATE TABLE written (what);
                 CREATE TRIGGER row AFTER UPDATE ON delta BEGIN INSERT INTO written VALUES ('row'); END;
                 CREATE TRIGGER first AFTER INSERT ON delta_count
                 BEGIN INSERT INTO written VALUES ('count'); END;
                 CREATE TRIGGER next AFTER UPDATE ON delta_count
                 BEGIN INSERT INTO written VALUES ('count'); END;";
    db.execute_batch(watch).expect("watched");
    let paths = changes.iter().map(|change| change.path.clone()).collect();
    let stacks = stage.store.layers(stage.id, workspace, paths).await.expect("layers").into_iter();
    let moves = stacks.zip(&changes).map(|((_, stack_before), change)| PathMove {
        change: change.inverse(),
        stack_before,
        stack_after: Stack::default(),
    });
    stage.store.preparing(workspace, ".retake-1".into()).await.expect("prepared");
    let half = FilesHalf { workspace, moves: moves.collect(), staged: true, adopted: Vec::new() };
    let by = ChangeOrigin { author: "test".into(), time: Time(9), ..ChangeOrigin::default() };
    let apply =
        Apply { action: Action::Rewind(stage.named("T1")), seen: SeenState::Anything, by: by.clone() };
    stage.store.apply_files(stage.id, apply, vec![half]).await.expect("rewound");
    let written = || {
        db.query_row("SELECT group_concat(what) FROM written", [], |row| row.get::<_, String>(0))
            .expect("read")
    };
    let applied = async || stage.store.deltas(stage.id).await.expect("deltas")[0].0.applied;
    assert_eq!((&*written(), applied().await), ("count", 0));
    stage.store.turn_back(workspace, by).await.expect("turned back");
    assert_eq!((&*written(), applied().await), ("count,count", 100));
}

#[tokio::test]
async fn store_case_29_erased_bytes_are_in_no_file() {
    let dir = tempfile::tempdir().expect("a directory");
    let secret = "hunter2zebra";
    let mut stage = Stage::with_turns(open(dir.path()), &["T1"]).await;
    let text = format!("the password is {secret}, keep it");
    stage.say(Role::User, &text).await;
    let arguments = format!("{{\"key\":\"{secret}\"}}");
    let call = Part::ToolCall { id: "c1".into(), name: "login".into(), arguments };
    stage.send(stage.saying(Role::Assistant, vec![call])).await.expect("said");
    let result =
        Part::ToolResult { call: "c1".into(), content: format!("ok {secret}"), outcome: ToolOutcome::Ok };
    stage.send(stage.saying(Role::Tool, vec![result])).await.expect("said");
    stage.fold("T1", &text, &format!("they said {secret}")).await;
    stage
        .act(Action::Label(Some(stage.named("T1")), Some(format!("{secret} label"))))
        .await
        .expect("labelled");
    stage.act(Action::Label(None, Some(format!("about {secret}")))).await.expect("titled");
    let child = stage.fork(None).await;
    let answering = stage.store.answering(stage.id).await.expect("answering");
    let stream = StreamRow {
        conversation: stage.id,
        entry: stage.named("T1"),
        answering,
        step: None,
        author: "demo".into(),
        parts: vec![Part::text(format!("your {secret}"))],
    };
    stage.store.save_stream(stage.id, Some(stream)).await.expect("saved");
    stage.undo().await;
    assert!(!holding(dir.path(), secret.as_bytes()).is_empty());
    let erase = Action::Erase { entries: Vec::new(), matching: Some(secret.into()), objects: Vec::new() };
    stage.act(erase).await.expect("erased");
    assert_eq!(holding(dir.path(), secret.as_bytes()), Vec::<PathBuf>::new());
    assert_eq!(child.store.summary(child.id).await.expect("a summary").counts.messages, 5);
    drop(child);
    reopen(&mut stage, dir.path());
    assert_eq!(holding(dir.path(), secret.as_bytes()), Vec::<PathBuf>::new());
    let again = stage.fork(None).await;
    assert!(!again.read(Projection::Timeline).await.contains(secret));
}

#[tokio::test]
async fn damaged_row_is_shown_in_its_place_and_other_rows_stay_readable() {
    let dir = tempfile::tempdir().expect("a directory");
    let stage = Stage::with_turns(open(dir.path()), &["T1", "T2", "T3"]).await;
    tamper(dir.path(), "UPDATE entry SET content = '{\"broken' WHERE key & 4294967295 = 3");
    let reading = Reading::now(Projection::Timeline);
    let page = PageRequest { limit: 9, ..PageRequest::default() };
    let page = stage.store.page(stage.id, reading, page).await.expect("a page");
    let texts: Vec<String> = page
        .entries
        .iter()
        .map(|shown| shown.entry.as_ref().map_or("damaged".into(), |entry| joined_text(&entry.parts)))
        .collect();
    assert_eq!(texts, ["T1", "T1!", "damaged", "T2!", "T3", "T3!"]);
    assert_eq!(stage.prompt().await, format!("T1 | T1! | {NO_MESSAGE} | T2! | T3 | T3!"));
    stage.rewind("T3").await;
    stage.undo().await;
    let other = Stage::with_turns(Arc::clone(&stage.store), &["fine"]).await;
    assert_eq!(other.shows().await, "fine");
}

/// The summary of a conversation names its next undo without reading the message.
#[tokio::test]
async fn damaged_target_of_the_next_undo_leaves_the_summary_readable() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut stage = Stage::with_turns(open(dir.path()), &["T1", "T2", "T3"]).await;
    stage.rewind("T3").await;
    let undo = stage.store.summary(stage.id).await.expect("a summary").steps.undo.expect("the rewind");
    let target = undo.aim.expect("its message");
    assert_eq!((target.turn, target.line.preview.as_str()), (3, ""));
    tamper(dir.path(), "UPDATE entry SET role = 'nobody' WHERE key & 4294967295 = 5");
    reopen(&mut stage, dir.path());
    let undo = stage.store.summary(stage.id).await.expect("a summary").steps.undo.expect("the rewind");
    assert!(undo.op.is_some() && undo.aim.is_none(), "{undo:?}");
}

#[tokio::test]
async fn damaged_conversation_is_marked_in_the_list_and_others_are_listed() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut stage = Stage::with_turns(open(dir.path()), &["T1", "T2"]).await;
    stage.rewind("T2").await;
    let fine = Stage::with_turns(Arc::clone(&stage.store), &["fine"]).await;
    let id = fine.id;
    drop(fine);
    tamper(dir.path(), "UPDATE operation SET delta = '{broken' WHERE no = 1");
    reopen(&mut stage, dir.path());
    let list = ListRequest { limit: 9, ..ListRequest::default() };
    let list = stage.store.list(list).await.expect("a list");
    let previews: Vec<&str> = list.iter().map(|summary| summary.preview.as_str()).collect();
    assert_eq!(previews[0], "fine");
    assert!(previews[1].contains("damaged") && list[1].read_only.is_some(), "{previews:?}");
    assert_eq!(list[0].id, id);
    assert!(stage.store.summary(stage.id).await.is_err());
}

#[tokio::test]
async fn operation_of_a_newer_version_makes_a_conversation_read_only_never_empty() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut stage = Stage::with_turns(open(dir.path()), &["T1", "T2", "T3"]).await;
    stage.rewind("T3").await;
    stage.mark(Reason::Hide, &["T1"]).await.expect("hidden");
    tamper(dir.path(), "UPDATE operation SET kind = 'teleport' WHERE no = 2");
    reopen(&mut stage, dir.path());
    assert_eq!(stage.shows().await, "T1 T2");
    assert_eq!(stage.refused(Action::Undo(1)).await, "read_only");
    let say = stage.saying(Role::User, vec![Part::text("more")]);
    let error = stage.store.say(stage.id, say).await.expect_err("read-only");
    assert!(matches!(&error, StoreError::Refused(refusal) if refusal.code() == "read_only"), "{error}");
    let summary = stage.store.summary(stage.id).await.expect("a summary");
    assert!(matches!(summary.read_only, Some(ReadOnly::NewerOperation(_, kind)) if kind == "teleport"));
}

/// A run that was active when its owner ended is over; a waiting run still waits, with its message.
#[tokio::test]
async fn run_of_a_lost_owner_ends_and_its_messages_still_wait() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut stage = Stage::with_turns(open(dir.path()), &["T1"]).await;
    let parts = vec![Part::text("T2")];
    let words =
        Words { parts, author: "ann".into(), request: None, wording: None, time: Time(1), chat: None };
    let ask = |words| {
        let new = NewRun { words, steer: Steer::Queue, seen: None, model: None };
        RunInput::Enqueue(new, Time(1))
    };
    let begin = vec![ask(None), RunInput::Claim(Time(1)), ask(Some(words.clone())), RunInput::Lost(Time(1))];
    let began = stage.store.step_runs(stage.id, begin).await.expect("begun");
    let run = began.runs.running.expect("an owner does not lose its own");
    reopen(&mut stage, dir.path());
    let live = stage.store.live_runs().await.expect("runs");
    assert_eq!(
        live.iter().map(|(id, run)| (*id, run.state.name())).collect::<Vec<_>>(),
        [(stage.id, "running"), (stage.id, "queued")]
    );
    let inputs = vec![RunInput::Lost(Time(2)), RunInput::Claim(Time(2))];
    let stepped = stage.store.step_runs(stage.id, inputs).await.expect("taken over");
    let over: Vec<_> = stepped.over.iter().map(|run| (run.state.name(), run.error.as_deref())).collect();
    assert_eq!(over, [("failed", Some("owner_lost"))]);
    assert_eq!(stage.shows().await, "T1 T2");
    let next = stepped.runs.running.expect("its turn has come");
    assert!(next.fence > run.fence && next.owner != run.owner);
    let late =
        SayRequest { fence: Some(run.fence), ..stage.saying(Role::Assistant, vec![Part::text("late!")]) };
    let refused = stage.store.say(stage.id, late).await;
    assert!(matches!(refused, Err(StoreError::Runs(RunRefusal::Fenced))), "{refused:?}");
}

#[tokio::test]
async fn request_gets_the_same_receipt_after_a_restart() {
    let dir = tempfile::tempdir().expect("a directory");
    let mut stage = Stage::with_turns(open(dir.path()), &["T1", "T2"]).await;
    let by =
        ChangeOrigin { request: Some("rewind-7".parse().expect("a request id")), ..ChangeOrigin::default() };
    let apply = Apply { action: Action::Rewind(stage.named("T2")), seen: SeenState::Anything, by };
    let first = stage.store.apply(stage.id, apply.clone()).await.expect("rewound");
    stage.turn("T3").await;
    reopen(&mut stage, dir.path());
    assert_eq!(stage.store.apply(stage.id, apply).await.expect("again"), first);
    assert_eq!(stage.shows().await, "T1 T3");
    let found = SearchRequest { query: "T2".into(), limit: 9, ..SearchRequest::default() };
    assert!(stage.store.search(found).await.expect("hits").hits.is_empty());
    assert_eq!(
        stage.search("T2", Include { rewound: true, hidden: false }).await,
        "T2(rewound) T2!(rewound)"
    );
}
