//! Rewind, undo, redo: cases 1 to 8, 12 to 14, 22.

use std::sync::Arc;

use retake_core::{
    Action, AnswerPlace, Apply, Branch, Field, Flags, Head, Include, Part, Projection, Reason, Remedy, Role,
    SayRequest, SeenState, Step, ToolOutcome,
};

use super::stage::{Stage, by, by_request, code};
use crate::Store;

const AUDIT: Include = Include { rewound: true, hidden: true };

/// T1 T2 T3, rewind T3: T1 T2 in every projection.
pub async fn store_case_01_a_rewind_reaches_every_projection(store: Arc<Store>) {
    let stage = Stage::with_turns(store, &["T1", "T2", "T3"]).await;
    let receipt = stage.rewind("T3").await;
    assert_eq!((receipt.taken_back.messages, receipt.taken_back.turns), (2, 1));
    assert_eq!(receipt.composer, Some(stage.named("T3")));
    for projection in [Projection::Timeline, Projection::Prompt, Projection::Scheduling, Projection::Export] {
        assert_eq!(stage.read(projection).await, "T1 T1! T2 T2!", "{projection:?}");
    }
    assert_eq!(stage.prompt().await, "T1 | T1! | T2 | T2!");
    assert_eq!(stage.search("T3", Include::default()).await, "");
    assert_eq!(stage.search("T3", AUDIT).await, "T3(rewound) T3!(rewound)");
    let counts = stage.store.summary(stage.id).await.expect("a summary").counts;
    assert_eq!((counts.messages, counts.turns), (4, 2));
}

/// Rewind to T1: empty, valid; the next message is seq n+1.
pub async fn store_case_02_rewind_to_the_first_turn_empties(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1", "T2"]).await;
    stage.rewind("T1").await;
    assert_eq!(stage.shows().await, "");
    assert_eq!(stage.targets().await, "");
    assert_eq!(stage.prompt().await, "");
    stage.say(Role::User, "new").await;
    assert_eq!(stage.head().await, Head::new(1, 5));
    assert_eq!(stage.shows().await, "new");
}

/// T1..T4, rewind T3, say X: T3 and T4 are a listed branch, and restore returns to it.
pub async fn store_case_03_what_was_taken_back_is_a_branch(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1", "T2", "T3", "T4"]).await;
    let before = stage.head().await;
    stage.rewind("T3").await;
    stage.turn("X").await;
    assert_eq!(stage.shows().await, "T1 T2 X");
    assert_eq!(stage.targets().await, "X T2 T1");
    let branches = stage.store.branches(stage.id).await.expect("branches");
    let leaves: Vec<_> =
        branches.iter().map(|branch| (branch.last.preview.as_str(), branch.current)).collect();
    assert_eq!(leaves, [("T4!", false), ("X!", true)]);
    assert_eq!(branches[1].from.as_ref().map(|line| line.preview.as_str()), Some("T2!"));
    let called = |branches: Vec<Branch>| -> Vec<String> {
        branches.into_iter().map(|branch| branch.called.map_or(String::new(), |line| line.preview)).collect()
    };
    assert_eq!(called(branches), ["T3", "X"], "by what is on each alone, not by what they have in common");
    stage.act(Action::Restore(before)).await.expect("restored");
    assert_eq!(stage.shows().await, "T1 T2 T3 T4");
    stage.rewind("T4").await;
    assert_eq!(called(stage.store.branches(stage.id).await.expect("branches")), ["T4", "X", ""]);
}

/// Any rewind keeps both or neither of a call and its result in the prompt.
pub async fn store_case_04_a_tool_call_and_its_result_are_one(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1"]).await;
    stage.say(Role::User, "T2").await;
    let call = Part::ToolCall { id: "c1".into(), name: "ls".into(), arguments: "{}".into() };
    let call = stage.send(stage.saying(Role::Assistant, vec![Part::text("look"), call])).await.expect("said");
    let result = Part::ToolResult { call: "c1".into(), content: "files".into(), outcome: ToolOutcome::Ok };
    let result = stage.send(stage.saying(Role::Tool, vec![result])).await.expect("said").entries[0];
    stage.say(Role::Assistant, "done").await;
    let whole = "T1 | T1! | T2 | look call:c1 | result:c1 | done";
    assert_eq!(stage.prompt().await, whole);
    for target in [call.entries[0], result] {
        stage.act(Action::Rewind(target)).await.expect("rewound");
        let prompt = stage.prompt().await;
        assert_eq!(prompt.contains("call:c1"), prompt.contains("result:c1"), "{prompt}");
        stage.undo().await;
        assert_eq!(stage.prompt().await, whole);
        let hide = Action::Mark { verb: Reason::Hide, entries: vec![target], range: false, seen: None };
        stage.act(hide).await.expect("hidden");
        assert_eq!(stage.prompt().await, "T1 | T1! | T2 | done");
        stage.undo().await;
    }
    assert_eq!(stage.store.summary(stage.id).await.expect("a summary").counts.calls, 1);
}

/// The second rewind to the same target is refused.
pub async fn store_case_05_a_second_rewind_to_the_same_is_refused(store: Arc<Store>) {
    let stage = Stage::with_turns(store, &["T1", "T2"]).await;
    stage.rewind("T2").await;
    assert_eq!(stage.refused(Action::Rewind(stage.named("T2"))).await, "not_on_path");
    let error = stage.act(Action::Rewind(stage.named("T2"))).await.expect_err("refused");
    let crate::StoreError::Refused(refusal) = error else { panic!("{error}") };
    let by = refusal.fields().into_iter().find(|(name, _)| *name == "operation");
    assert_eq!(by, Some(("operation", Field::Number(1))));
    assert_eq!(refusal.remedies(), [Remedy::Undo, Remedy::Restore(Some(Head::new(0, 4)))]);
}

/// T1 T2, rewind T2, say B, rewind B; four undos and four redos go through each state.
pub async fn store_case_06_undo_and_redo_are_the_editors(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1", "T2"]).await;
    stage.rewind("T2").await;
    stage.turn("B").await;
    stage.rewind("B").await;
    let steps = [("T1 B", None), ("T1", Some("B")), ("T1 T2", None), ("T1", Some("T2")), ("", Some("T1"))];
    for (state, composer) in steps {
        let receipt = stage.undo().await;
        assert_eq!(stage.shows().await, state);
        assert_eq!(receipt.composer, composer.map(|name| stage.named(name)), "{state}");
    }
    assert_eq!(stage.refused(Action::Undo(1)).await, "nothing_to_undo");
    // A rewind that is redone returns the message again.
    let steps = [("T1", None), ("T1 T2", None), ("T1", Some("T2")), ("T1 B", None), ("T1", Some("B"))];
    for (state, composer) in steps {
        let receipt = stage.redo().await;
        assert_eq!(stage.shows().await, state);
        assert_eq!(receipt.composer, composer.map(|name| stage.named(name)), "{state}");
    }
    assert_eq!(stage.refused(Action::Redo(1)).await, "nothing_to_redo");
    stage.act(Action::Undo(3)).await.expect("undone");
    assert_eq!(stage.shows().await, "T1 T2");
    stage.act(Action::Redo(99)).await.expect("redone, clamped");
    assert_eq!(stage.shows().await, "T1");
    stage.act(Action::Undo(99)).await.expect("undone, clamped");
    assert_eq!(stage.shows().await, "");
}

/// Undo of the first operation restores the state before it.
pub async fn store_case_07_the_first_operation_undone(store: Arc<Store>) {
    let stage = Stage::with_turns(store, &["T1", "T2", "T3"]).await;
    let before = stage.read(Projection::Timeline).await;
    stage.rewind("T1").await;
    stage.undo().await;
    assert_eq!(stage.read(Projection::Timeline).await, before);
}

/// A rewind to an entry off the path is refused; the newer messages on the path stay.
pub async fn store_case_08_rewind_off_the_path_is_refused(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1", "T2"]).await;
    stage.rewind("T2").await;
    stage.turn("new").await;
    assert_eq!(stage.refused(Action::Rewind(stage.named("T2"))).await, "not_on_path");
    assert_eq!(stage.shows().await, "T1 new");
    let stranger = Stage::with_turns(Arc::clone(&stage.store), &["other"]).await;
    let error = stage.act(Action::Rewind(stranger.named("other"))).await.expect_err("refused");
    let names_it =
        matches!(error, crate::StoreError::ForeignEntry { conversation, .. } if conversation == stranger.id);
    assert!(names_it || matches!(error, crate::StoreError::UnknownEntry { .. }), "{error}");
}

/// Undo of a hide never removes later messages; after a rewind past a hidden entry and back, it is still hidden.
pub async fn store_case_12_marks_and_undo(store: Arc<Store>) {
    let mut stage = Stage::new(store).await;
    for text in ["1", "2", "3"] {
        stage.say(Role::User, text).await;
    }
    stage.mark(Reason::Hide, &["2"]).await.expect("hidden");
    assert_eq!(stage.shows().await, "1 3");
    stage.say(Role::User, "4").await;
    stage.undo().await;
    assert_eq!(stage.shows().await, "1 3");
    stage.undo().await;
    assert_eq!(stage.shows().await, "1 2 3");
    stage.mark(Reason::Hide, &["2"]).await.expect("hidden");
    stage.say(Role::Assistant, "later").await;
    stage.undo().await;
    assert_eq!(stage.shows().await, "1 2 3 later");
    stage.mark(Reason::Hide, &["2"]).await.expect("hidden");
    stage.rewind("1").await;
    stage.undo().await;
    assert_eq!(stage.shows().await, "1 3 later");
}

/// `show` reverts a hide and is refused for a rewound entry; search distinguishes the two.
pub async fn store_case_13_show_tells_hidden_from_rewound(store: Arc<Store>) {
    let mut stage = Stage::new(store).await;
    for text in ["1", "2", "3"] {
        stage.say(Role::User, text).await;
    }
    stage.mark(Reason::Hide, &["2"]).await.expect("hidden");
    assert_eq!(stage.search("2", Include::default()).await, "");
    assert_eq!(stage.search("2", AUDIT).await, "2(hidden)");
    stage.mark(Reason::Show, &["2"]).await.expect("shown");
    assert_eq!(stage.shows().await, "1 2 3");
    stage.rewind("2").await;
    stage.say(Role::User, "x").await;
    let error = stage.mark(Reason::Show, &["2"]).await.expect_err("refused");
    assert_eq!(code(&error), "not_on_path");
    assert_eq!(stage.search("2", AUDIT).await, "2(rewound)");
    let again = stage.mark(Reason::Hide, &["x"]).await.expect("hidden");
    assert!(!again.unchanged);
    assert!(stage.mark(Reason::Hide, &["x"]).await.expect("hidden already").unchanged);
}

/// After the last message was excluded, the next message is normal.
pub async fn store_case_14_the_next_message_is_normal(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1"]).await;
    stage.mark(Reason::Exclude, &["T1!"]).await.expect("excluded");
    stage.say(Role::User, "next").await;
    assert_eq!(stage.read(Projection::Timeline).await, "T1 T1! next");
    assert_eq!(stage.prompt().await, "T1 next");
}

/// The same request id: one effect, equal receipts, even after the head moved on; with other arguments it is refused.
pub async fn store_case_22_the_same_request_gets_the_same_receipt(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1", "T2", "T3"]).await;
    let say = |stage: &Stage, text: &str| SayRequest {
        by: by_request("say-1"),
        ..stage.saying(Role::User, vec![Part::text(text)])
    };
    let said = stage.send(say(&stage, "once")).await.expect("said");
    let rewind = Apply {
        action: Action::Rewind(stage.named("T2")),
        seen: SeenState::Exactly(stage.head().await),
        by: by_request("rewind-1"),
    };
    let rewound = stage.store.apply(stage.id, rewind.clone()).await.expect("rewound");
    let undo = Apply { action: Action::Undo(2), seen: SeenState::Anything, by: by_request("undo-2") };
    let undone = stage.store.apply(stage.id, undo.clone()).await.expect("undone");
    assert_eq!(undone.ops.len(), 2);
    stage.turn("more").await;
    let head = stage.head().await;
    for _ in 0..3 {
        assert_eq!(stage.store.say(stage.id, say(&stage, "once")).await.expect("again"), said);
        assert_eq!(stage.store.apply(stage.id, rewind.clone()).await.expect("again"), rewound);
        assert_eq!(stage.store.apply(stage.id, undo.clone()).await.expect("again"), undone);
    }
    let other = stage.store.say(stage.id, say(&stage, "twice")).await.expect_err("refused");
    assert!(matches!(other, crate::StoreError::RequestReused(_)), "{other}");
    let crossed = SayRequest { by: by_request("rewind-1"), ..say(&stage, "once") };
    let other = stage.store.say(stage.id, crossed).await.expect_err("refused");
    assert!(matches!(other, crate::StoreError::RequestReused(_)), "{other}");
    assert_eq!(stage.head().await, head);
    // A request can be looked up by its id alone, in its own conversation only.
    let found =
        async |of, id: &str| stage.store.receipt_of(of, id.parse().expect("an id")).await.expect("looked up");
    assert_eq!(found(Some(stage.id), "rewind-1").await, Some(rewound));
    assert_eq!(found(Some(stage.id), "say-1").await, Some(said));
    assert_eq!(found(None, "rewind-1").await, None, "it has made no conversation");
    assert_eq!(found(Some(stage.id), "rewind-2").await, None);
}

/// A request that changed nothing is remembered: its retry shows no message that was hidden since.
pub async fn trial_12_a_request_that_changed_nothing_is_remembered(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1", "T2"]).await;
    let mark = |stage: &Stage, verb| Action::Mark {
        verb,
        entries: vec![stage.named("T1")],
        range: false,
        seen: None,
    };
    let show =
        Apply { action: mark(&stage, Reason::Show), seen: SeenState::Anything, by: by_request("show-1") };
    let shown = stage.store.apply(stage.id, show.clone()).await.expect("it is shown already");
    assert!(shown.unchanged);
    let platform = |stage: &Stage, request| SayRequest {
        platform_id: Some("m1".into()),
        by: by_request(request),
        ..stage.saying(Role::User, vec![Part::text("from a platform")])
    };
    let first = stage.send(platform(&stage, "first")).await.expect("said");
    let again = stage.send(platform(&stage, "second")).await.expect("it is there already");
    assert!(again.unchanged && again.entries == first.entries);
    stage.act(mark(&stage, Reason::Hide)).await.expect("hidden");
    stage.undo().await;
    stage.undo().await;
    stage.act(mark(&stage, Reason::Hide)).await.expect("hidden once more");
    let head = stage.head().await;
    assert_eq!(stage.store.apply(stage.id, show).await.expect("again"), shown);
    assert_eq!(stage.send(platform(&stage, "second")).await.expect("again"), again);
    assert_eq!(stage.head().await, head, "nothing was shown, and nothing said");
    let other =
        Apply { action: mark(&stage, Reason::Hide), seen: SeenState::Anything, by: by_request("show-1") };
    let other = stage.store.apply(stage.id, other).await.expect_err("refused");
    assert!(matches!(other, crate::StoreError::RequestReused(_)), "{other}");
    // An erasure removes the digest of a request: then the id alone counts.
    stage
        .act(Action::Erase { entries: vec![stage.named("T2")], matching: None, objects: Vec::new() })
        .await
        .expect("erased");
    let other =
        Apply { action: mark(&stage, Reason::Hide), seen: SeenState::Anything, by: by_request("show-1") };
    assert_eq!(stage.store.apply(stage.id, other).await.expect("the same id"), shown);
}

/// Labels and titles are no steps of the undo history.
pub async fn labels_and_titles_are_no_steps(store: Arc<Store>) {
    let stage = Stage::with_turns(store, &["T1", "T2"]).await;
    stage.undo().await;
    stage.act(Action::Label(Some(stage.named("T1")), Some("start".into()))).await.expect("labelled");
    stage.act(Action::Label(None, Some("A title".into()))).await.expect("titled");
    assert_eq!(stage.store.summary(stage.id).await.expect("a summary").title.as_deref(), Some("A title"));
    let taken = Action::Label(Some(stage.named("T1!")), Some("start".into()));
    assert_eq!(stage.refused(taken).await, "label_taken");
    stage.redo().await;
    assert_eq!(stage.shows().await, "T1 T2");
    stage.undo().await;
    assert_eq!(stage.shows().await, "T1");
    let found = stage.store.snapshot(stage.id).await.expect("a snapshot");
    assert_eq!(found.conversation().state.labels.len(), 2);
}

/// Labels help to find a rewound branch again. They are no steps, so they stay over an undo and a redo.
pub async fn branch_off_the_path_can_be_labelled(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1", "T2"]).await;
    stage.rewind("T2").await;
    stage.turn("other").await;
    let left = stage.named("T2!");
    let name = |name: Option<&str>| Action::Label(Some(left), name.map(str::to_owned));
    stage.act(name(Some("first try"))).await.expect("named");
    let labels = async |stage: &Stage| -> Vec<Option<String>> {
        let branches = stage.store.branches(stage.id).await.expect("branches");
        branches.into_iter().map(|branch| branch.label).collect()
    };
    let named = vec![Some("first try".to_owned()), None];
    assert_eq!(labels(&stage).await, named);
    stage.undo().await;
    assert_eq!(stage.shows().await, "T1", "it is no step");
    stage.redo().await;
    assert_eq!(labels(&stage).await, named);
    let taken = Action::Label(Some(stage.named("T1")), Some("first try".into()));
    assert_eq!(stage.refused(taken).await, "label_taken");
    stage.act(name(None)).await.expect("the name is removed");
    assert_eq!(labels(&stage).await, [None, None]);
    stage.mark(Reason::Hide, &["T1"]).await.expect("hidden");
    let hidden = Action::Label(Some(stage.named("T1")), Some("gone".into()));
    assert_eq!(stage.refused(hidden).await, "not_visible");
}

/// A retry and its new answer are one step.
pub async fn retry_with_its_answer_is_one_step(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1", "T2"]).await;
    stage.act(Action::Retry(stage.named("T2!"))).await.expect("back");
    stage.say(Role::Assistant, "other!").await;
    assert_eq!(stage.read(Projection::Timeline).await, "T1 T1! T2 other!");
    stage.undo().await;
    assert_eq!(stage.read(Projection::Timeline).await, "T1 T1! T2 T2!");
    stage.redo().await;
    assert_eq!(stage.read(Projection::Timeline).await, "T1 T1! T2 other!");
}

/// A turn that was stopped before any output leaves no trace in the undo history.
pub async fn run_without_output_is_no_step(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1", "T2"]).await;
    stage.undo().await;
    stage.say(Role::User, "stopped").await;
    let snapshot = stage.store.snapshot(stage.id).await.expect("a snapshot");
    let opener = snapshot.conversation().state.tip.expect("a tip");
    let receipt = stage.act(Action::Compensate(Step::Turn(opener))).await.expect("compensated");
    assert_eq!(receipt.composer, Some(stage.named("stopped")));
    assert_eq!(stage.shows().await, "T1");
    stage.undo().await;
    assert_eq!(stage.shows().await, "");
    stage.redo().await;
    assert_eq!(stage.shows().await, "T1");
}

/// Undo passes over a retry that failed while another step was made.
pub async fn step_compensated_below_a_later_step_is_passed_over_by_undo(store: Arc<Store>) {
    let stage = Stage::with_turns(store, &["T1", "T2"]).await;
    let retry = stage.act(Action::Retry(stage.named("T2!"))).await.expect("back");
    stage.mark(Reason::Hide, &["T1"]).await.expect("hidden");
    stage.act(Action::Compensate(Step::Op(retry.ops[0]))).await.expect("compensated");
    assert_eq!(stage.shows().await, "T2");
    assert_eq!(stage.read(Projection::Timeline).await, "T1! T2 T2!");
    stage.undo().await;
    assert_eq!(stage.shows().await, "T1 T2");
    stage.undo().await;
    assert_eq!(stage.shows().await, "T1");
    stage.act(Action::Redo(2)).await.expect("redone");
    assert_eq!(stage.shows().await, "T2");
}

/// An answer to a turn that was rewound meanwhile moves nothing and is on that turn's branch.
pub async fn a_late_answer_is_detached(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1"]).await;
    stage.say(Role::User, "T2").await;
    let answering: AnswerPlace = stage.store.answering(stage.id).await.expect("answering");
    stage.rewind("T2").await;
    stage.say(Role::User, "T3").await;
    let late =
        SayRequest { answering: Some(answering), ..stage.saying(Role::Assistant, vec![Part::text("late!")]) };
    stage.send(late).await.expect("stored");
    assert_eq!(stage.read(Projection::Timeline).await, "T1 T1! T3");
    stage.say(Role::Assistant, "T3!").await;
    assert_eq!(stage.read(Projection::Timeline).await, "T1 T1! T3 T3!");
    stage.act(Action::Checkout(Some(stage.named("late!")))).await.expect("checked out");
    assert_eq!(stage.read(Projection::Timeline).await, "T1 T1! T2 late!");
    stage.say(Role::User, "T4").await;
    assert_eq!(stage.read(Projection::Timeline).await, "T1 T1! T2 late! T4");
    let flags = Flags { detached: true, ..Flags::default() };
    let page = retake_core::PageRequest { limit: 9, ..retake_core::PageRequest::default() };
    let reading = retake_core::Reading::now(Projection::Timeline);
    let shown = stage.store.page(stage.id, reading, page).await.expect("a page");
    let flagged: Vec<_> =
        shown.entries.iter().map(|entry| entry.entry.as_ref().expect("sound").meta.flags).collect();
    assert_eq!(flagged[3], flags);
}

/// A head that never existed is refused; a head between the entries after an operation is valid.
pub async fn restore_to_an_unknown_head_is_refused(store: Arc<Store>) {
    let stage = Stage::with_turns(store, &["T1", "T2"]).await;
    stage.rewind("T2").await;
    for head in [Head::new(0, 5), Head::new(1, 3), Head::new(2, 4)] {
        assert_eq!(stage.refused(Action::Restore(head)).await, "unknown_head");
    }
    stage.act(Action::Restore(Head::new(0, 3))).await.expect("restored");
    assert_eq!(stage.read(Projection::Timeline).await, "T1 T1! T2");
    let seen = Apply { action: Action::Undo(1), seen: SeenState::Exactly(Head::new(1, 4)), by: by() };
    let error = stage.store.apply(stage.id, seen).await.expect_err("stale");
    assert_eq!(code(&error), "stale_head");
}

/// Later messages are rewound with an undo only if its author requests this; a later operation refuses it.
pub async fn later_messages_go_with_an_undo_only_when_requested(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1", "T2"]).await;
    let seen = stage.head().await;
    stage.turn("T3").await;
    let rewind = |seen| Apply { action: Action::Rewind(stage.named("T2")), seen, by: by() };
    let error = stage.store.apply(stage.id, rewind(SeenState::Exactly(seen))).await.expect_err("stale");
    assert_eq!(code(&error), "stale_head");
    stage.store.apply(stage.id, rewind(SeenState::Since(seen))).await.expect("rewound");
    assert_eq!(stage.shows().await, "T1");
    stage.undo().await;
    let error = stage.store.apply(stage.id, rewind(SeenState::Since(seen))).await.expect_err("stale");
    assert_eq!(code(&error), "stale_head");
}
