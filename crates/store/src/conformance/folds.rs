//! Folds: cases 9 to 11.

use std::sync::Arc;

use retake_core::{Action, FoldId, FoldableRange, NO_MESSAGE, OpNo, Part, Reason, Role, ToolOutcome};

use super::stage::{Stage, code};
use crate::Store;

/// A fold counts while the path contains its entries; of two folds, the matching one is in force.
pub async fn store_case_09_folds_follow_the_path(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1", "T2", "T3", "T4"]).await;
    stage.fold("T1", "T2!", "S12").await;
    stage.rewind("T4").await;
    assert_eq!(stage.prompt().await, "ΣS12 T3 | T3!");
    let receipt = stage.rewind("T2").await;
    assert_eq!(receipt.lifted, [FoldId { depth: 0, op: OpNo(1) }]);
    assert_eq!(stage.prompt().await, "T1 | T1!");
    stage.undo().await;
    assert_eq!(stage.prompt().await, "ΣS12 T3 | T3!");
    stage.turn("T5").await;
    stage.fold("T1", "T5", "S15").await;
    assert_eq!(stage.prompt().await, "ΣS15 | T5!");
    stage.rewind("T5").await;
    assert_eq!(stage.prompt().await, "ΣS12 T3 | T3!");
    assert_eq!(stage.targets().await, "T3 T2 T1");
}

/// If a covered entry is hidden, its words are not in the prompt. After a show, the fold is in force again.
pub async fn store_case_10_a_hidden_word_never_stays_in_a_summary(store: Arc<Store>) {
    let stage = Stage::with_turns(store, &["T1", "T2", "T3"]).await;
    stage.fold("T1", "T2!", "S").await;
    for (away, back) in [(Reason::Hide, Reason::Show), (Reason::Exclude, Reason::Include)] {
        stage.mark(away, &["T1"]).await.expect("marked");
        assert_eq!(stage.prompt().await, format!("{NO_MESSAGE} | T1! | T2 | T2! | T3 | T3!"));
        stage.mark(back, &["T1"]).await.expect("marked");
        assert_eq!(stage.prompt().await, "ΣS T3 | T3!");
    }
    stage.act(Action::Undo(5)).await.expect("undone");
    stage.mark(Reason::Hide, &["T1!"]).await.expect("hidden");
    stage.fold("T1", "T2!", "S").await;
    assert_eq!(stage.prompt().await, "ΣS T3 | T3!");
    stage.mark(Reason::Show, &["T1!"]).await.expect("shown");
    assert_eq!(stage.prompt().await, "T1 | T1! | T2 | T2! | T3 | T3!");
}

/// After a rewind, a fold and a redo of the rewind, the rewound entries are there again, and none twice.
pub async fn store_case_11_rewind_fold_redo(store: Arc<Store>) {
    let stage = Stage::with_turns(store, &["T1", "T2", "T3"]).await;
    stage.rewind("T3").await;
    stage.fold("T1", "T1!", "S").await;
    stage.undo().await;
    stage.undo().await;
    assert_eq!(stage.prompt().await, "T1 | T1! | T2 | T2! | T3 | T3!");
    stage.redo().await;
    stage.redo().await;
    assert_eq!(stage.prompt().await, "ΣS T2 | T2!");
    let unknown = stage.act(Action::Unfold(FoldId { depth: 0, op: OpNo(9) })).await.expect_err("refused");
    assert_eq!(code(&unknown), "unknown_fold");
    stage.act(Action::Unfold(FoldId { depth: 0, op: OpNo(2) })).await.expect("unfolded");
    assert_eq!(stage.prompt().await, "T1 | T1! | T2 | T2!");
    stage.undo().await;
    assert_eq!(stage.prompt().await, "ΣS T2 | T2!");
}

/// A fold with the same summary and the same entries as the one in force changes nothing. In a fork, the parent's fold counts,
/// too.
pub async fn trial_15_a_fold_that_equals_the_one_in_force_changes_nothing(store: Arc<Store>) {
    let stage = Stage::with_turns(store, &["T1", "T2", "T3"]).await;
    assert!(!stage.fold("T1", "T2!", "S").await.unchanged);
    let head = stage.head().await;
    assert!(stage.fold("T1", "T2!", "S").await.unchanged);
    assert!(stage.fold("T2!", "T1", "S").await.unchanged, "from its other end");
    assert_eq!(stage.head().await, head);
    let fork = stage.fork(None).await;
    assert!(fork.fold("T1", "T2!", "S").await.unchanged, "the parent's fold");
    assert!(!fork.fold("T1", "T2!", "other words").await.unchanged);
    assert!(!fork.fold("T1", "T3", "other words").await.unchanged);
    assert!(!fork.fold("T1", "T2!", "S").await.unchanged, "it is there, but a longer one is in force");
    fork.mark(Reason::Hide, &["T2"]).await.expect("hidden");
    fork.fold("T1", "T2!", "S").await;
    fork.mark(Reason::Show, &["T2"]).await.expect("shown");
    assert!(!fork.fold("T1!", "T2!", "S").await.unchanged, "other messages");
}

/// No call without its result, summaries as a whole, nothing before the first turn; and the newest message only by request.
pub async fn what_a_summary_may_replace_has_whole_calls_and_not_the_newest_message(store: Arc<Store>) {
    let mut stage = Stage::new(store).await;
    stage.say(Role::System, "note").await;
    stage.turn("T1").await;
    let call = Part::ToolCall { id: "c1".into(), name: "shell".into(), arguments: "{}".into() };
    stage.say(Role::User, "T2").await;
    let say = stage.saying(Role::Assistant, vec![Part::text("calls"), call]);
    let called = stage.send(say).await.expect("said").entries[0];
    let result = Part::ToolResult { call: "c1".into(), content: "out".into(), outcome: ToolOutcome::Ok };
    let answer = stage.saying(Role::Tool, vec![result]);
    let answered = stage.send(answer).await.expect("said").entries[0];
    stage.say(Role::Assistant, "T2!").await;
    let of = |range: FoldableRange| {
        let (store, id) = (Arc::clone(&stage.store), stage.id);
        async move {
            let part = store.foldable(id, range).await.expect("read");
            part.map(|part| (part.covers.first().map(|pos| pos.seq), part.covers.last().map(|pos| pos.seq)))
        }
    };
    let (from, to) = (Some(answered), Some(called));
    let whole = (Some(2), Some(7));
    assert_eq!(of(FoldableRange::default()).await, Some(whole), "not the note before the first turn");
    assert_eq!(of(FoldableRange { to, ..FoldableRange::default() }).await, Some((Some(2), Some(4))));
    assert_eq!(of(FoldableRange { from, ..FoldableRange::default() }).await, Some((Some(5), Some(7))));
    assert_eq!(of(FoldableRange { from, to, keep_bytes: 0 }).await, None, "its ends are the wrong way round");
    // Something stays: at least the newest message, and as much as fits.
    let keeping = |keep_bytes| of(FoldableRange { keep_bytes, ..FoldableRange::default() });
    assert_eq!(keeping(1).await, Some((Some(2), Some(6))));
    assert_eq!(keeping(6).await, Some((Some(2), Some(4))), "the result would stay without its call");
    assert_eq!(keeping(10_000).await, None);
}
