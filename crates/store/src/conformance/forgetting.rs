//! Removal of stored file changes: by an erasure with its objects, by age, or with a workspace.

use std::collections::BTreeSet;
use std::sync::Arc;

use retake_core::{Action, ContentHash, OpNo, Stack, Time};

use super::files::{change, changed, half, layers, path, record, rewind, workspace};
use super::stage::Stage;
use crate::{CallsSeen, Claimant, ErasureSum, NewCapture, Store, StoreError};

/// The hashes of these letters.
fn bytes(letters: &str) -> BTreeSet<ContentHash> {
    letters.chars().filter_map(|letter| record(letter)?.hash()).collect()
}

fn erase(entries: &[retake_core::EntryId], matching: Option<&str>, objects: &str) -> Action {
    let matching = matching.map(str::to_owned);
    Action::Erase { entries: entries.to_vec(), matching, objects: bytes(objects).into_iter().collect() }
}

/// The objects that all rows name.
async fn named(store: &Store) -> BTreeSet<ContentHash> {
    store.claims().await.expect("claims").into_iter().map(|claim| claim.object).collect()
}

async fn noted(store: &Store) -> BTreeSet<ContentHash> {
    store.erased_objects().await.expect("a note").into_iter().collect()
}

/// An erased call loses its changes, its layers, and the steps over them; other changes at the same path stay.
pub async fn erasing_a_call_erases_its_file_changes(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["one"]).await;
    changed(&stage, "r1", vec![change("f", 'a', 'b'), change("h", ' ', 'h')]).await;
    stage.turn("two").await;
    let second = changed(&stage, "r2", vec![change("f", 'b', 'c'), change("g", ' ', 'x')]).await;
    let taken = half(&stage, "g", None).await;
    let back = rewind(&stage, "two", taken).await.expect("rewound");
    let action = erase(&second.entries, None, "");
    let would = stage.store.erasing(stage.id, action.clone()).await.expect("it can be");
    let paths = ["f", "g"].map(path).into_iter().collect();
    let objects = bytes("bcx");
    let (lines, workspace) =
        (stage.store.deltas(stage.id).await.expect("deltas"), workspace(&stage.store).await);
    let rows = [Claimant::Call(stage.id, lines[1].0.id), Claimant::Op(stage.id, back.ops[0])];
    let rows = rows.into_iter().map(|by| (workspace, by)).collect();
    let (stays, all) = (BTreeSet::new(), objects.clone());
    let messages = would.messages.clone();
    assert_eq!(messages.iter().map(|(of, _)| *of).collect::<Vec<_>>(), [stage.id]);
    let operations = would.operations;
    let files = ErasureSum {
        messages,
        entries: second.entries.clone(),
        operations,
        facts: Default::default(),
        calls: 1,
        steps: 1,
        captures: 0,
        paths,
        objects: all,
        rows,
        stays,
    };
    assert_eq!(would, files);
    assert_eq!(named(&stage.store).await, bytes("abchx"), "a plan changes nothing");
    stage.act(action.clone()).await.expect("erased");
    assert_eq!(named(&stage.store).await, bytes("abh"));
    assert_eq!(noted(&stage.store).await, objects, "what still names b is not the store's to weigh");
    let of_f: Vec<_> = layers(&stage, "f").await.layers().iter().map(|layer| layer.delta.no).collect();
    assert_eq!(of_f, [1]);
    assert_eq!(layers(&stage, "g").await, Stack::default());
    let lines: Vec<_> = stage.store.deltas(stage.id).await.expect("deltas");
    assert_eq!((lines[1].0.paths, lines[1].0.applied), (0, 0), "the row stays");
    let moved = stage.store.moved(stage.id, back.ops[0]).await.expect("read");
    assert!(matches!(&moved[..], [row] if row.moves.is_empty()), "the row stays: {moved:?}");
    assert!(stage.store.erasing(stage.id, action).await.expect("it can be").paths.is_empty());
    stage.store.objects_erased(Vec::new()).await.expect("forgotten");
    assert!(noted(&stage.store).await.is_empty());
}

/// A text is erased from file names, links and captures, and with the objects that contain it, also in forks.
pub async fn erasing_a_text_erases_files_that_contain_it(store: Arc<Store>) {
    let stage = Stage::with_turns(store, &["one"]).await;
    let fork = stage.fork(None).await;
    changed(&stage, "r1", vec![change("f", 'a', 's'), change("hunter2.txt", ' ', 'b')]).await;
    changed(&fork, "r1", vec![change("f", 's', 'c'), change("g", ' ', 'g')]).await;
    let workspace = workspace(&stage.store).await;
    let changes = vec![change("f", ' ', 's'), change("k", ' ', 'k')];
    for name in [None, Some("with hunter2".to_owned())] {
        let new = NewCapture {
            time: Time(5),
            name,
            changes: changes.clone(),
            calls: CallsSeen::default(),
            mark: ContentHash([7; 32]),
            manifest: None,
        };
        stage.store.captured(workspace, new).await.expect("captured");
    }
    stage.act(erase(&[], Some("hunter2"), "s")).await.expect("erased");
    assert_eq!(named(&stage.store).await, bytes("gk"));
    assert_eq!(noted(&stage.store).await, bytes("abcs"));
    let captures = stage.store.captures(workspace, None, 9).await.expect("captures");
    assert!(captures.iter().all(|row| row.name.is_none() && row.changes == [change("k", ' ', 'k')]));
    let line = stage.store.deltas(fork.id).await.expect("deltas")[0].0;
    assert_eq!((line.paths, line.applied), (1, 1), "of the fork's call the other file stays");
}

/// An unsettled rewind prevents an erasure of what it needs.
pub async fn erase_is_refused_while_a_rewind_is_unfinished(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["one"]).await;
    stage.turn("two").await;
    let call = changed(&stage, "r1", vec![change("f", 'a', 'b')]).await;
    let taken = half(&stage, "f", Some(".retake-1")).await;
    let workspace = taken.workspace;
    rewind(&stage, "two", taken).await.expect("rewound");
    let refused = stage.act(erase(&call.entries, None, "")).await;
    assert!(matches!(refused, Err(StoreError::Unsettled)), "{refused:?}");
    assert_eq!(named(&stage.store).await, bytes("ab"));
    stage.store.settle(workspace).await.expect("settled");
    stage.act(erase(&call.entries, None, "")).await.expect("erased");
    assert!(named(&stage.store).await.is_empty());
}

/// Captures without a name are removed by age, except the number of the last one: the next number follows it.
pub async fn old_captures_are_removed_by_age(store: Arc<Store>) {
    let workspace = workspace(&store).await;
    for (time, name) in [(1, None), (2, Some("dear".to_owned())), (3, None), (4, None)] {
        let changes = vec![change("f", ' ', 'a')];
        let new = NewCapture {
            time: Time(time),
            name,
            changes,
            calls: CallsSeen::default(),
            mark: ContentHash([7; 32]),
            manifest: None,
        };
        store.captured(workspace, new).await.expect("captured");
    }
    assert_eq!(store.old_captures(Time(9)).await.expect("counted"), 3);
    assert_eq!(store.forget_captures(Time(3)).await.expect("forgotten"), 1);
    assert_eq!(store.forget_captures(Time(9)).await.expect("forgotten"), 2);
    assert_eq!(store.old_captures(Time(9)).await.expect("counted"), 0);
    let left: Vec<_> = store.captures(workspace, None, 9).await.expect("captures");
    assert_eq!(left.iter().map(|row| row.no).collect::<Vec<_>>(), [4, 2]);
    let claims = store.claims().await.expect("claims");
    let by: Vec<_> = claims.iter().map(|claim| (claim.by, claim.time)).collect();
    assert_eq!(by, [(Claimant::Checkpoint(2), Time(2))]);
    assert_eq!(store.kept_since().await.expect("read"), None);
    for since in [7, 5] {
        store.keep_since(Time(since)).await.expect("noted");
    }
    assert_eq!(store.kept_since().await.expect("read"), Some(Time(7)), "it never goes back");
}

/// A forgotten workspace loses its captures and its file changes; messages and other workspaces stay.
pub async fn forgotten_workspace_leaves_no_captures_and_no_changes(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["one"]).await;
    stage.turn("two").await;
    changed(&stage, "r1", vec![change("f", 'a', 'b')]).await;
    let workspace = workspace(&stage.store).await;
    let other = stage.store.workspace(b"/other".to_vec(), (1, 9), Time(7)).await.expect("made").no;
    for of in [workspace, other] {
        let changes = vec![change("k", ' ', 'k')];
        let new = NewCapture {
            time: Time(1),
            name: None,
            changes,
            calls: CallsSeen::default(),
            mark: ContentHash([7; 32]),
            manifest: None,
        };
        stage.store.captured(of, new).await.expect("captured");
    }
    let taken = half(&stage, "f", Some(".retake-1")).await;
    rewind(&stage, "two", taken).await.expect("rewound");
    let before = stage.store.summary(stage.id).await.expect("a summary");
    stage.store.forget_workspace(workspace).await.expect("forgotten");
    assert_eq!(stage.store.summary(stage.id).await.expect("a summary"), before);
    let left: Vec<_> = stage.store.workspaces().await.expect("listed").iter().map(|row| row.no).collect();
    assert_eq!(left, [other]);
    assert!(stage.store.intents().await.expect("intents").is_empty());
    assert_eq!(named(&stage.store).await, bytes("k"), "of the other one");
    let moved = stage.store.moved(stage.id, OpNo(1)).await.expect("read");
    assert!(matches!(&moved[..], [row] if row.moves.is_empty()), "the row stays: {moved:?}");
    assert_eq!(stage.store.deltas(stage.id).await.expect("deltas")[0].0.paths, 0);
}
