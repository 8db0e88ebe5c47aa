//! Rewind targets list what each turn did, and never hidden content.

use std::sync::Arc;

use retake_core::{EffectClass, Grade, Reason};

use super::effects::{asks, begins};
use super::files::{change, changed, workspace};
use super::stage::Stage;
use crate::{CallsSeen, CapturedCallChanges, NewCapture, Store};

/// The turns before an entry, newest first: the first text of each, the number of files that it changed, the classes of its
/// calls in the ledger, and its number of calls.
async fn did(stage: &Stage, before: Option<&str>, limit: usize) -> String {
    let before = before.map(|name| stage.named(name));
    let targets = stage.store.targets(stage.id, before, limit).await.expect("targets").into_iter();
    let told = targets.map(|line| {
        let began = line.did.begun.iter().map(|begun| format!("{} ", begun.class.name()));
        let (files, calls) = (line.did.files, line.target.holds.calls);
        format!("{}: {files} files, {}{calls} calls", line.preview, began.collect::<String>())
    });
    told.collect::<Vec<_>>().join("; ")
}

/// The changes of a turn are counted for that turn only, wherever a page begins and ends; a path that it changed
/// twice counts once.
pub async fn target_lists_the_changes_of_its_own_turn(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["one"]).await;
    let first = asks(&mut stage, "a1").await;
    for (call, class) in [("mail", EffectClass::External), ("file", EffectClass::Workspace)] {
        begins(&stage, "a1", call, class).await.expect("begun");
    }
    changed(&stage, "r1", vec![change("f", 'a', 'b'), change("g", ' ', 'x')]).await;
    changed(&stage, "r2", vec![change("f", 'b', 'c')]).await;
    stage.turn("two").await;
    stage.turn("three").await;
    asks(&mut stage, "a3").await;
    begins(&stage, "a3", "book", EffectClass::Compensable).await.expect("begun");
    changed(&stage, "r3", vec![change("f", 'c', 'd')]).await;
    let one = "one: 2 files, external workspace 1 calls";
    let (two, three) = ("two: 0 files, 0 calls", "three: 1 files, compensable 1 calls");
    assert_eq!(did(&stage, None, 9).await, format!("{three}; {two}; {one}"));
    assert_eq!(did(&stage, None, 1).await, three);
    for (before, expected) in [("three", two), ("two!", two), ("two", one), ("a1", one), ("a3", three)] {
        assert_eq!(did(&stage, Some(before), 1).await, expected, "before {before}");
    }
    let fork = stage.fork(Some("two!")).await;
    assert_eq!(did(&fork, None, 9).await, format!("{two}; {one}"), "its parent's turns did what they did");
    // A change that is found later belongs to the turn of its call.
    let changes = vec![(Grade::Seen, change("late", ' ', 'x'))];
    let owned =
        vec![CapturedCallChanges { conversation: stage.id, entry: first, changes, candidates: Vec::new() }];
    let (calls, mark) = (CallsSeen { owned, over: Vec::new() }, retake_core::ContentHash([7; 32]));
    let time = retake_core::Time(5);
    let capture = NewCapture { time, name: None, changes: Vec::new(), calls, mark, manifest: None };
    stage.store.captured(workspace(&stage.store).await, capture).await.expect("captured");
    assert_eq!(did(&stage, Some("two"), 9).await, one.replace("2 files", "3 files"));
    stage.mark(Reason::Hide, &["a1", "three"]).await.expect("hidden");
    let hidden = did(&stage, None, 9).await;
    assert!(hidden.ends_with("one: 2 files, 0 calls"), "{hidden}");
    assert!(!hidden.contains("three"), "{hidden}");
    stage.rewind("one").await;
    assert_eq!(did(&stage, None, 9).await, "");
}
