//! Erasure covers stored files: rows, and the bytes in the object store unless something else needs them.

use std::fs;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use retake_core::{Action, Apply, ConversationId, EntryId, SeenState};
use retake_engine::ObjectsErased;
use tempfile::TempDir;

use super::{Yard, engine};

/// Tells the child what to work on.
const WHERE: &str = "RETAKE_TEST_ERASE";

/// The part of a secret to search for.
const PIECE: std::ops::Range<usize> = 50_000..50_024;

/// Incompressible bytes, outside of the workspace and the data, with a word in the middle.
fn secret(dir: &TempDir) -> Vec<u8> {
    let mut rng = fastrand::Rng::with_seed(7);
    let mut bytes: Vec<u8> = std::iter::repeat_with(|| rng.u8(..)).take(100_000).collect();
    bytes[70_000..70_012].copy_from_slice(b"hunter2zebra");
    fs::write(dir.path().join("secret"), &bytes).expect("written");
    bytes
}

/// Every file of the data that holds these bytes.
fn holding(dir: &Path, bytes: &[u8]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).expect("readable") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            found.extend(holding(&path, bytes));
        } else if fs::read(&path).expect("readable").windows(bytes.len()).any(|window| window == bytes) {
            found.push(path);
        }
    }
    found
}

fn is_kept(yard: &Yard, bytes: &[u8]) -> bool {
    !holding(&yard.dir.path().join("data"), &bytes[PIECE]).is_empty()
}

/// The calls and results of a turn.
async fn result(yard: &Yard, at: usize) -> EntryId {
    yard.engine.kept().deltas(yard.id).await.expect("deltas")[at].1
}

fn entries(entries: &[EntryId]) -> Action {
    Action::Erase { entries: entries.to_vec(), matching: None, objects: Vec::new() }
}

fn matching(text: &str) -> Action {
    Action::Erase { entries: Vec::new(), matching: Some(text.to_owned()), objects: Vec::new() }
}

fn apply(yard: &Yard, action: Action) -> Apply {
    Apply { action, seen: SeenState::Anything, by: yard.engine.by(None) }
}

async fn erase(yard: &Yard, action: Action) -> ObjectsErased {
    let planned = yard.engine.plan_erase(yard.id, action.clone()).await.expect("planned").objects;
    let done = yard.engine.erase(yard.id, apply(yard, action)).await.expect("erased").1;
    assert_eq!(planned, done, "the plan says what is done");
    done
}

/// A secret that the first call created and the second one removed.
async fn made_and_removed() -> (Yard, Vec<u8>) {
    let yard = Yard::with(&[("a", "0\n")]).await;
    let bytes = secret(&yard.dir);
    yard.run("cp ../secret s; echo 1 > a").await;
    yard.run("rm s").await;
    (yard, bytes)
}

#[tokio::test]
async fn erasing_the_calls_erases_the_bytes_that_only_they_named() {
    let (yard, bytes) = made_and_removed().await;
    assert!(is_kept(&yard, &bytes));
    let first = erase(&yard, entries(&[result(&yard, 0).await])).await;
    assert_eq!(
        first,
        ObjectsErased { gone: 1, shared: 1, current: 1, lost: 0 },
        "a: was, s: the other call, a: is"
    );
    assert!(is_kept(&yard, &bytes), "the second call still needs it");
    let second = erase(&yard, entries(&[result(&yard, 1).await])).await;
    assert_eq!(second, ObjectsErased { gone: 1, current: 1, ..ObjectsErased::default() }, "a: is, as before");
    assert!(!is_kept(&yard, &bytes), "{:?}", holding(&yard.dir.path().join("data"), &bytes[PIECE]));
    assert_eq!(yard.read("a").as_deref(), Some("1\n"), "the user's files stay as they are");
    let yard = yard.restarted().await;
    assert!(!is_kept(&yard, &bytes));
    assert!(yard.verdicts("t1").await.is_empty(), "there is nothing left that could go back");
    yard.back("t1").await;
    assert_eq!(yard.read("a").as_deref(), Some("1\n"));
}

#[tokio::test]
async fn erasing_a_call_by_the_entry_that_asked_for_it_does_the_same() {
    let (yard, bytes) = made_and_removed().await;
    let page = retake_core::PageRequest { limit: 99, ..Default::default() };
    let reading = retake_core::Reading::now(retake_core::Projection::Timeline);
    let all = yard.engine.kept().page(yard.id, reading, page).await.expect("a page").entries;
    let all: Vec<EntryId> = all.into_iter().map(|shown| shown.entry.expect("whole").meta.id).collect();
    let done = erase(&yard, entries(&[all[1], all[4]])).await;
    assert_eq!((done.gone, done.shared), (2, 0));
    assert!(!is_kept(&yard, &bytes));
}

#[tokio::test]
async fn erasing_a_text_erases_every_version_that_holds_it_but_the_one_that_is_there() {
    let (yard, bytes) = made_and_removed().await;
    yard.run("cp ../secret t").await;
    let done = erase(&yard, matching("hunter2zebra")).await;
    assert_eq!((done.gone, done.current), (0, 1), "it is in a file now");
    assert!(is_kept(&yard, &bytes));
    fs::remove_file(yard.path("t")).expect("removed");
    yard.run("true").await;
    let done = erase(&yard, matching("hunter2zebra")).await;
    assert_eq!((done.gone, done.current), (1, 0), "the user's own removal of it is forgotten too");
    assert!(!is_kept(&yard, &bytes));
    let left = yard.engine.kept().deltas(yard.id).await.expect("deltas");
    let paths: Vec<u64> = left.iter().map(|(line, _)| line.paths).collect();
    assert_eq!(paths, [1, 0, 0], "what the first call did to another file can still go back");
    yard.back("t1").await;
    assert_eq!(yard.read("a").as_deref(), Some("0\n"));
}

#[tokio::test]
async fn the_same_request_erases_once() {
    let (yard, bytes) = made_and_removed().await;
    let by = yard.engine.by(Some("erase-1".parse().expect("a request id")));
    let apply = || Apply { by: by.clone(), ..apply(&yard, matching("hunter2zebra")) };
    let first = yard.engine.erase(yard.id, apply()).await.expect("erased");
    assert!(!is_kept(&yard, &bytes));
    let again = yard.engine.erase(yard.id, apply()).await.expect("the same request");
    assert_eq!((again.0.ops, again.1), (first.0.ops, ObjectsErased::default()));
}

#[tokio::test]
async fn erasure_includes_the_changes_of_rewinds() {
    let yard = Yard::with(&[]).await;
    let bytes = secret(&yard.dir);
    yard.run("cp ../secret s").await;
    let result = result(&yard, 0).await;
    yard.back("t1").await;
    yard.undo().await;
    yard.redo().await;
    assert_eq!(yard.read("s"), None);
    let done = erase(&yard, entries(&[result])).await;
    assert_eq!((done.gone, done.shared), (1, 0));
    assert!(!is_kept(&yard, &bytes));
    yard.undo().await;
    assert_eq!((yard.turns().await, yard.read("s")), (1, None), "messages come back, the file can't");
}

/// Started by the test below, in a process of its own: the rows are erased, the bytes are not.
#[tokio::test]
async fn an_erasure_to_be_killed() {
    let Some(dir) = std::env::var_os(WHERE).map(PathBuf::from) else {
        let (yard, bytes) = made_and_removed().await;
        assert!(is_kept(&yard, &bytes), "by itself it shows that there is something to erase");
        return;
    };
    let id: ConversationId = fs::read_to_string(dir.join("id")).expect("an id").parse().expect("an id");
    let engine = super::engine_at(&dir, u64::from(std::process::id()) << 16).await;
    let deltas = engine.kept().deltas(id).await.expect("deltas");
    let action = entries(&deltas.iter().map(|(_, entry)| *entry).collect::<Vec<_>>());
    let apply = Apply { action, seen: SeenState::Anything, by: engine.by(None) };
    engine.kept().apply(id, apply).await.expect("erased");
    rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::KILL).expect("killed");
}

#[tokio::test]
async fn killed_between_rows_and_bytes_an_erasure_is_finished_at_the_next_start() {
    let (yard, bytes) = made_and_removed().await;
    let Yard { engine: old, id, dir } = yard;
    drop(old);
    fs::write(dir.path().join("id"), id.to_string()).expect("written");
    let program = std::env::current_exe().expect("this program");
    let mut child = Command::new(program);
    child.args(["--exact", "files::erase::an_erasure_to_be_killed"]).env(WHERE, dir.path());
    let done = child.output().expect("it starts");
    assert_eq!(done.status.signal(), Some(9), "{done:?}");
    let yard = Yard { engine: engine(&dir).await, id, dir };
    assert!(is_kept(&yard, &bytes), "in between");
    assert_eq!(yard.engine.settle_files().await.expect("settled"), Vec::<String>::new());
    assert!(!is_kept(&yard, &bytes));
    let left = yard.engine.kept().erased_objects().await.expect("a note");
    assert_eq!(left, [retake_worktree::hash(b"1\n")], "what a file is now");
    assert_eq!(yard.engine.settle_files().await.expect("settled"), Vec::<String>::new(), "twice is once");
    assert_eq!(yard.read("a").as_deref(), Some("1\n"));
}

#[tokio::test]
async fn file_that_the_user_just_removed_is_erased_with_its_name() {
    let yard = Yard::with(&[("a", "0\n")]).await;
    yard.run("echo x > hunter2name").await;
    yard.engine.checkpoint(yard.id, "cp".into()).await.expect("kept");
    fs::remove_file(yard.path("hunter2name")).expect("removed");
    let done = erase(&yard, matching("hunter2name")).await;
    assert_eq!((done.gone > 0, done.shared, done.current), (true, 0, 0), "{done:?}");
    assert_eq!(holding(&yard.dir.path().join("data"), b"hunter2name"), Vec::<PathBuf>::new());
}

/// A file stored in chunks, most of which two versions share.
#[tokio::test]
async fn trial_28_no_chunk_of_an_erased_large_file_is_left() {
    let yard = Yard::with(&[("a", "0\n")]).await;
    let bytes = [secret(&yard.dir), (0..6).flat_map(|_| secret(&yard.dir)).collect()].concat();
    fs::write(yard.dir.path().join("secret"), &bytes).expect("written");
    yard.run("cp ../secret s").await;
    yard.run("echo more >> s").await;
    yard.run("rm s").await;
    assert!(is_kept(&yard, &bytes));
    let done = erase(&yard, matching("hunter2zebra")).await;
    assert_eq!((done.gone, done.current, done.shared), (2, 0, 0));
    assert!(!is_kept(&yard, &bytes));
    let data = yard.dir.path().join("data");
    assert_eq!(holding(&data, b"hunter2zebra"), Vec::<PathBuf>::new());
    assert_eq!(holding(&data, &bytes[..24]), Vec::<PathBuf>::new(), "nor of chunks without the text");
}

async fn fork_of(yard: Yard) -> Yard {
    let fork = yard.engine.fork(yard.id, None, None, yard.engine.by(None)).await.expect("forked");
    Yard { id: fork.conversation, ..yard }
}

#[tokio::test]
async fn trial_28_content_of_a_removed_file_is_erased_also_from_a_fork() {
    for text in [true, false] {
        for forked in [false, true] {
            for restarted in [false, true] {
                let yard = Yard::with(&[("a", "0\n")]).await;
                let bytes = secret(&yard.dir);
                yard.run("cp ../secret s").await;
                let mut from = if forked { fork_of(yard).await } else { yard };
                let call = last(&from).await;
                let action = || if text { matching("hunter2zebra") } else { entries(&[call]) };
                let done = erase(&from, action()).await;
                assert_eq!((done.gone, done.current), (0, 1), "{text} {forked}: it is in a file now");
                if restarted {
                    from = from.restarted().await;
                }
                fs::remove_file(from.path("s")).expect("removed");
                let done = erase(&from, action()).await;
                assert_eq!((done.gone, done.current, done.shared), (1, 0, 0), "{text} {forked} {restarted}");
                assert!(!is_kept(&from, &bytes), "{text} {forked} {restarted}");
            }
        }
    }
}

/// The last visible entry: the result of a call.
async fn last(yard: &Yard) -> EntryId {
    let reading = retake_core::Reading::now(retake_core::Projection::Timeline);
    let request = retake_core::PageRequest { limit: 99, ..Default::default() };
    let page = yard.engine.kept().page(yard.id, reading, request).await;
    let entries = page.expect("a page").entries;
    let last = entries.into_iter().next_back().expect("one");
    last.entry.expect("whole").meta.id
}
