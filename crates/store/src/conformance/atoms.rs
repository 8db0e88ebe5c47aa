//! No step separates a call from its results.

use std::sync::Arc;

use retake_core::{
    Action, Apply, Flags, PageRequest, Part, Projection, Reading, Reason, Role, SeenState, ToolOutcome,
};

use super::stage::{Stage, by};
use crate::Store;

/// An answer with these calls.
async fn asks(stage: &mut Stage, name: &str, calls: &[&str]) {
    let call = |id: &&str| Part::ToolCall { id: (*id).into(), name: "edit".into(), arguments: "{}".into() };
    let parts = std::iter::once(Part::text(name)).chain(calls.iter().map(call)).collect();
    stage.send(stage.saying(Role::Assistant, parts)).await.expect("said");
}

/// The result of a call.
async fn result(stage: &mut Stage, name: &str, id: &str) {
    let result = Part::ToolResult { call: id.into(), content: "done".into(), outcome: ToolOutcome::Ok };
    stage.send(stage.saying(Role::Tool, vec![Part::text(name), result])).await.expect("said");
}

/// `T1 T1! T2 asks r1 r2 end T3 T3!`: two calls of one answer.
async fn two_calls(store: Arc<Store>) -> Stage {
    let mut stage = Stage::with_turns(store, &["T1"]).await;
    stage.say(Role::User, "T2").await;
    asks(&mut stage, "asks", &["c1", "c2"]).await;
    result(&mut stage, "r1", "c1").await;
    result(&mut stage, "r2", "c2").await;
    stage.say(Role::Assistant, "end").await;
    stage.turn("T3").await;
    stage
}

/// A rewind to a result goes back to before its call; a step that ends at a call or a result ends after the last
/// result.
pub async fn trial_09_step_never_splits_a_call_from_its_results(store: Arc<Store>) {
    let stage = two_calls(store).await;
    let whole = stage.read(Projection::Timeline).await;
    let now = stage.head().await;
    for name in ["asks", "r1", "r2"] {
        let id = stage.named(name);
        let planned = stage.store.plan(stage.id, Action::Rewind(id)).await.expect("a plan").plan;
        assert_eq!((planned.taken_back.messages, planned.taken_back.calls), (6, 2), "{name}");
        for action in [Action::Rewind(id), Action::Edit(id), Action::Retry(id)] {
            let receipt = stage.act(action.clone()).await.expect("done");
            assert_eq!(receipt.taken_back, planned.taken_back);
            assert_eq!(stage.read(Projection::Timeline).await, "T1 T1! T2", "{action:?} of {name}");
            stage.undo().await;
            assert_eq!(stage.read(Projection::Timeline).await, whole);
        }
        let mut other = stage.fork(None).await;
        let edit = Apply { action: Action::Edit(id), seen: SeenState::Anything, by: by() };
        let says = other.saying(Role::User, vec![Part::text("X")]);
        other.store.say_at(other.id, edit, says).await.expect("said");
        assert_eq!(other.prompt().await, "T1 | T1! | T2 X", "{name}");
        asks(&mut other, "goes on", &[]).await;
    }
    stage.rewind("end").await;
    assert_eq!(stage.read(Projection::Timeline).await, "T1 T1! T2 asks r1 r2");
    stage.rewind("T1").await;
    for name in ["asks", "r1", "r2"] {
        let id = stage.named(name);
        let branch = Reading { branch: Some(id), ..Reading::now(Projection::Export) };
        let page = stage.store.page(stage.id, branch, PageRequest { limit: 99, ..PageRequest::default() });
        assert_eq!(
            page.await.expect("a page").entries.len(),
            6,
            "the branch of {name} is read as it is checked out"
        );
        stage.act(Action::Checkout(Some(id))).await.expect("checked out");
        assert_eq!(stage.read(Projection::Timeline).await, "T1 T1! T2 asks r1 r2", "{name}");
        stage.undo().await;
    }
    for seq in 4..=6 {
        let head = retake_core::Head::new(0, seq);
        stage.act(Action::Restore(head)).await.expect("restored");
        assert_eq!(stage.read(Projection::Timeline).await, "T1 T1! T2 asks r1 r2", "{head}");
        stage.undo().await;
    }
    let then = retake_core::Head::new(0, 5);
    assert_eq!(
        stage.read_at(Projection::Timeline, Some(then)).await,
        "T1 T1! T2 asks r1",
        "it is read as it was"
    );
    stage.act(Action::Restore(now)).await.expect("restored");
    assert_eq!(stage.read(Projection::Timeline).await, whole);
}

/// Results that are hidden or dropped with their call stay with it.
pub async fn trial_09_a_hidden_call_keeps_its_results(store: Arc<Store>) {
    for verb in [Reason::Hide, Reason::Drop, Reason::Exclude] {
        let stage = two_calls(store.clone()).await;
        stage.mark(verb, &["asks"]).await.expect("marked");
        for name in ["asks", "r1", "r2"] {
            stage.act(Action::Checkout(Some(stage.named(name)))).await.expect("checked out");
            stage.mark(Reason::Show, &[name]).await.expect("shown");
            stage.mark(Reason::Include, &[name]).await.expect("included");
            assert_eq!(stage.read(Projection::Timeline).await, "T1 T1! T2 asks r1 r2", "{verb:?} {name}");
            stage.act(Action::Undo(2)).await.expect("undone");
        }
    }
}

/// A step that names one of several results affects all of them.
pub async fn trial_09_marks_and_folds_take_all_results_of_a_call(store: Arc<Store>) {
    let stage = two_calls(store).await;
    let whole = stage.prompt().await;
    for verb in [Reason::Hide, Reason::Drop, Reason::Exclude] {
        for (from, to, left) in [
            ("r1", "r1", "T1 | T1! | T2 | end | T3 | T3!"),
            ("r2", "end", "T1 | T1! | T2 T3 | T3!"),
            ("T2", "asks", "T1 | T1! | [no message is shown here] | end | T3 | T3!"),
        ] {
            let entries = vec![stage.named(from), stage.named(to)];
            stage.act(Action::Mark { verb, entries, range: true, seen: None }).await.expect("marked");
            assert_eq!(stage.prompt().await, left, "{verb:?} {from}..{to}");
            stage.undo().await;
            assert_eq!(stage.prompt().await, whole);
        }
    }
    for (from, to, left) in [
        ("r2", "end", "T1 | T1! | T2 Σsum T3 | T3!"),
        ("T2", "r1", "T1 | T1! | Σsum | end | T3 | T3!"),
        ("r1", "r1", "T1 | T1! | T2 Σsum | end | T3 | T3!"),
    ] {
        stage.fold(from, to, "sum").await;
        assert_eq!(stage.prompt().await, left, "{from}..{to}");
        stage.undo().await;
    }
}

/// A message between two results of one answer belongs to neither, and no step can end there.
pub async fn trial_09_message_between_results_splits_no_call(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1"]).await;
    stage.say(Role::User, "T2").await;
    asks(&mut stage, "asks", &["c1", "c2"]).await;
    result(&mut stage, "r1", "c1").await;
    let note = stage.saying(Role::User, vec![Part::text("note")]);
    let flags = Flags { observed: true, ..Flags::default() };
    stage.send(retake_core::SayRequest { flags, ..note }).await.expect("said");
    result(&mut stage, "r2", "c2").await;
    stage.say(Role::Assistant, "end").await;
    for name in ["r1", "note", "r2"] {
        for action in [Action::Rewind(stage.named(name)), Action::Retry(stage.named(name))] {
            stage.act(action.clone()).await.expect("done");
            assert_eq!(stage.read(Projection::Timeline).await, "T1 T1! T2", "{action:?} of {name}");
            stage.undo().await;
        }
        let fork = stage.fork(Some(name)).await;
        assert_eq!(fork.read(Projection::Timeline).await, "T1 T1! T2 asks r1 note r2", "{name}");
        stage.act(Action::Checkout(Some(stage.named(name)))).await.expect("checked out");
        assert_eq!(stage.read(Projection::Timeline).await, "T1 T1! T2 asks r1 note r2", "{name}");
        stage.undo().await;
    }
    assert_eq!(stage.fork(Some("T2")).await.read(Projection::Timeline).await, "T1 T1! T2");
}
