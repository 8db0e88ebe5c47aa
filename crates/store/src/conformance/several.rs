//! A call that changes several workspaces, and an operation on several: one step, decided and reversed for all of them at
//! once.

use std::sync::Arc;

use retake_core::{
    Action, Apply, ContentHash, FileChange, GitMove, GitRef, Grade, Part, PathMove, Receipt, Role, SeenState,
    Stack, Time, WorkspaceNo,
};

use super::files::{change, path};
use super::stage::{Stage, by};
use crate::{CallsSeen, FilesHalf, NewCapture, NewDelta, OpenCall, Result, Store, StoreError};

/// The mark of a capture.
const MARK: ContentHash = ContentHash([7; 32]);

async fn two(store: &Store) -> [WorkspaceNo; 2] {
    let one = store.workspace(b"/one".to_vec(), (1, 2), Time(7)).await.expect("made").no;
    let two = store.workspace(b"/two".to_vec(), (1, 3), Time(7)).await.expect("made").no;
    [one, two]
}

fn delta(workspace: WorkspaceNo, change: FileChange) -> NewDelta {
    let refs = vec![GitRef { name: format!("in {}", workspace.0), before: None, after: Some("c".into()) }];
    let git = Some(GitMove { refs, ..GitMove::default() });
    NewDelta { git, ..NewDelta::new(workspace, vec![(Grade::Seen, change)], MARK) }
}

/// Stores a result that changed the same name in all of these.
async fn changed(stage: &Stage, all: &[WorkspaceNo], change: FileChange) -> Receipt {
    let deltas = all.iter().map(|no| delta(*no, change.clone())).collect();
    let say = stage.saying(Role::Assistant, vec![Part::text("done")]);
    stage.store.say_changed(stage.id, say, deltas).await.expect("said")
}

async fn stack(stage: &Stage, workspace: WorkspaceNo) -> Stack {
    let layers = stage.store.layers(stage.id, workspace, vec![path("f")]).await.expect("layers");
    layers.into_iter().next().expect("one path").1
}

/// The file halves of an operation that reverts everything at the same name in all of these.
async fn halves(stage: &Stage, all: &[WorkspaceNo], staged: bool) -> Vec<FilesHalf> {
    let mut halves = Vec::new();
    for workspace in all.iter().copied() {
        if staged {
            stage.store.preparing(workspace, format!(".retake-{}", workspace.0)).await.expect("prepared");
        }
        let stack_before = stack(stage, workspace).await;
        let change = change("f", 'b', 'a');
        let moves = vec![PathMove { change, stack_before, stack_after: Stack::default() }];
        halves.push(FilesHalf { workspace, moves, staged, adopted: Vec::new() });
    }
    halves
}

async fn rewind(stage: &Stage, halves: Vec<FilesHalf>) -> Result<Receipt> {
    let apply = Apply { action: Action::Rewind(stage.named("two")), seen: SeenState::Anything, by: by() };
    stage.store.apply_files(stage.id, apply, halves).await
}

/// One result with a delta for each; a call that is closed in one workspace may still change another.
pub async fn a_call_may_change_several_workspaces(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["one"]).await;
    let entry = stage.turn("two").await;
    let both = two(&stage.store).await;
    let call = |workspace| OpenCall { id: "job".into(), workspace, conversation: stage.id, entry };
    let calls = both.map(call);
    stage.store.begin_call(calls.to_vec()).await.expect("begun");
    assert_eq!(stage.store.open_calls().await.expect("calls"), calls);
    let receipt = changed(&stage, &both, change("f", 'a', 'b')).await;
    let deltas = stage.store.deltas(stage.id).await.expect("deltas");
    let lines: Vec<_> = deltas.iter().map(|(line, id)| (line.id.no, line.workspace, *id)).collect();
    let result = receipt.entries[0];
    assert_eq!(lines, [(1, both[0], result), (2, both[1], result)]);
    assert_eq!(stack(&stage, both[1]).await.layers()[0].delta.no, 2);
    let rewind = Action::Rewind(stage.named("two"));
    let wanted = stage.store.wanted(stage.id, rewind).await.expect("it can be done");
    assert_eq!(wanted.running.len(), 1, "it is one call");
    let git: Vec<_> =
        wanted.git.iter().map(|taken| (taken.workspace, taken.moved.refs[0].name.clone())).collect();
    assert_eq!(git, both.map(|no| (no, format!("in {}", no.0))));
    let over = CallsSeen { owned: Vec::new(), over: vec!["job".into()] };
    let (time, changes) = (Time(5), Vec::new());
    let capture = NewCapture { time, name: None, changes, calls: over, mark: MARK, manifest: None };
    stage.store.captured(both[0], capture).await.expect("captured");
    assert_eq!(stage.store.open_calls().await.expect("calls"), [call(both[1])]);
    stage.store.forget_calls(both[1], vec!["job".into()]).await.expect("forgotten");
    assert_eq!(stage.store.open_calls().await.expect("calls"), []);
}

/// All of them, or none, even if only the last one is stale.
pub async fn changes_in_several_workspaces_are_one_step(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["one"]).await;
    stage.turn("two").await;
    let both = two(&stage.store).await;
    changed(&stage, &both, change("f", 'a', 'b')).await;
    let before = stage.store.summary(stage.id).await.expect("a summary");
    let stale = halves(&stage, &both, false).await;
    changed(&stage, &both[1..], change("f", 'b', 'c')).await;
    let said = stage.store.summary(stage.id).await.expect("a summary");
    assert_ne!(before, said);
    let refused = rewind(&stage, stale).await;
    assert!(matches!(refused, Err(StoreError::StaleFiles(path)) if path == "f"));
    assert_eq!(stage.store.summary(stage.id).await.expect("a summary"), said);
    assert_eq!(stack(&stage, both[0]).await.layers().len(), 1, "nor in the first one");
    let mut taken = halves(&stage, &both[..1], true).await;
    taken.extend(
        halves(&stage, &both[1..], false).await.into_iter().map(|half| FilesHalf { staged: true, ..half }),
    );
    let refused = rewind(&stage, taken.clone()).await;
    assert!(matches!(refused, Err(StoreError::Unsettled)), "the second one was not prepared");
    stage.store.preparing(both[1], ".retake-x".into()).await.expect("prepared");
    let receipt = rewind(&stage, taken.clone()).await.expect("rewound");
    let moved = stage.store.moved(stage.id, receipt.ops[0]).await.expect("read");
    let moved: Vec<_> = moved.into_iter().map(|moved| (moved.workspace, moved.moves)).collect();
    assert_eq!(moved, taken.into_iter().map(|half| (half.workspace, half.moves)).collect::<Vec<_>>());
    let intents = stage.store.intents().await.expect("intents");
    let op = Some((stage.id, receipt.ops[0]));
    assert_eq!(
        intents.iter().map(|row| (row.workspace, row.op)).collect::<Vec<_>>(),
        both.map(|no| (no, op))
    );
    for no in both {
        assert_eq!(stack(&stage, no).await, Stack::default());
        stage.store.settle(no).await.expect("settled");
    }
    assert_eq!(stage.store.intents().await.expect("intents"), []);
}

/// Reversing one reverses all, including changes of layers alone; an intent of another operation stays.
pub async fn interrupted_step_is_reverted_in_all_workspaces(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["one"]).await;
    stage.turn("two").await;
    let both = two(&stage.store).await;
    let third = stage.store.workspace(b"/three".to_vec(), (1, 4), Time(7)).await.expect("made").no;
    let fourth = stage.store.workspace(b"/four".to_vec(), (1, 5), Time(7)).await.expect("made").no;
    let all = [both[0], both[1], third];
    changed(&stage, &all, change("f", 'a', 'b')).await;
    let before = stage.store.summary(stage.id).await.expect("it");
    let mut taken = halves(&stage, &both, true).await;
    taken.extend(halves(&stage, &[third], false).await);
    stage.store.preparing(fourth, ".retake-4".into()).await.expect("prepared");
    rewind(&stage, taken).await.expect("rewound");
    stage.store.turn_back(both[1], by()).await.expect("turned back");
    let intents = stage.store.intents().await.expect("intents");
    let back: Vec<_> = intents.iter().map(|row| (row.workspace, row.back)).collect();
    assert_eq!(back, [(both[0], true), (both[1], true), (fourth, false)]);
    for no in all {
        assert_eq!(stack(&stage, no).await.layers().len(), 1, "{no:?}");
        stage.store.settle(no).await.expect("settled");
    }
    let after = stage.store.summary(stage.id).await.expect("it");
    assert_eq!((after.tip, after.counts, after.steps.undo), (before.tip, before.counts, before.steps.undo));
    let applied = stage.store.deltas(stage.id).await.expect("deltas");
    assert!(applied.iter().all(|(line, _)| line.applied == 1));
}
