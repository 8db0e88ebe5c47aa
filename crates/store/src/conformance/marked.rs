//! Lists of marked entries, of the results of operations, and of the combined result of several steps.

use std::sync::Arc;

use retake_core::{Action, EntryId, Mark, OpNo, OpRange, Reason, Role};

use super::stage::Stage;
use crate::Store;

/// The marked entries, as `mark turn first*messages`, newest first.
async fn marked(stage: &Stage, before: Option<EntryId>, limit: usize) -> String {
    let page = stage.store.marked(stage.id, before, limit).await.expect("a page");
    let pieces = page
        .marked
        .iter()
        .map(|it| format!("{} {} {}*{}", it.mark.name(), it.turn, it.first.preview, it.totals.messages));
    let more = page.more.then(|| "…".to_owned());
    pieces.chain(more).collect::<Vec<_>>().join(" | ")
}

/// Groups of one turn and one mark, newest first, in pages; only those on the path, and those in a fork's base.
pub async fn marked_entries_are_listed_by_turns(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1", "T2", "T3", "T4"]).await;
    assert_eq!(marked(&stage, None, 9).await, "");
    stage.mark(Reason::Hide, &["T1!", "T2", "T2!", "T4"]).await.expect("hidden");
    stage.mark(Reason::Exclude, &["T3!"]).await.expect("excluded");
    let all = "hidden 4 T4*1 | excluded 3 T3!*1 | hidden 2 T2*2 | hidden 1 T1!*1";
    assert_eq!(marked(&stage, None, 9).await, all);
    let page = stage.store.marked(stage.id, None, 9).await.expect("a page");
    let ops = stage.store.ops(stage.id, OpRange { before: None, limit: 2 }).await.expect("operations").ops;
    let (excluded, hidden) = (Some(ops[0].op.time), Some(ops[1].op.time));
    let times: Vec<_> = page.marked.iter().map(|it| it.when).collect();
    assert_eq!(times, [hidden, excluded, hidden, hidden], "when it was marked");
    assert_eq!(marked(&stage, None, 2).await, "hidden 4 T4*1 | excluded 3 T3!*1 | …");
    assert_eq!(marked(&stage, Some(stage.named("T3!")), 1).await, "hidden 2 T2*2 | …");
    assert_eq!(marked(&stage, Some(stage.named("T2")), 1).await, "hidden 1 T1!*1");
    let fork = stage.fork(None).await;
    assert_eq!(marked(&fork, None, 9).await, "excluded 3 T3!*1", "what is hidden stays out of it for good");
    stage.rewind("T3").await;
    assert_eq!(marked(&stage, None, 9).await, "hidden 2 T2*2 | hidden 1 T1!*1");
    assert!(stage.store.marked(stage.id, Some(stage.named("T4")), 1).await.is_err(), "off the path");
    // A turn in two stretches of the log is one group.
    let next = stage.say(Role::User, "N").await;
    stage.say(Role::Assistant, "N!").await;
    stage.act(Action::Retry(next)).await.expect("back to the prompt");
    stage.say(Role::Assistant, "N2!").await;
    stage.mark(Reason::Drop, &["N", "N2!"]).await.expect("dropped");
    assert_eq!(marked(&stage, None, 1).await, "dropped 3 N*2 | …");
}

/// A turn includes its hidden entries, and is found even if its opener is hidden.
pub async fn turn_with_a_hidden_opener_is_found(store: Arc<Store>) {
    let stage = Stage::with_turns(store, &["T1", "T2", "T3"]).await;
    stage.mark(Reason::Hide, &["T2"]).await.expect("hidden");
    assert_eq!(stage.store.turn(stage.id, 2).await.expect("read"), None);
    let of = |number| stage.store.turn_entries(stage.id, number);
    let (opener, answer) = (stage.named("T2"), stage.named("T2!"));
    assert_eq!(of(2).await.expect("read"), [(opener, Mark::Hidden), (answer, Mark::Normal)]);
    assert_eq!(of(3).await.expect("read").len(), 2);
    assert_eq!(of(4).await.expect("read"), []);
    assert_eq!(of(0).await.expect("read"), [], "nothing was said before the first turn");
    let fork = stage.fork(None).await;
    let left = fork.store.turn_entries(fork.id, 2).await.expect("read");
    assert_eq!(left, [(answer, Mark::Normal)]);
    stage.rewind("T3").await;
    assert_eq!(of(3).await.expect("read"), []);
}

/// A prompt names the answers to it, and so does each later entry of an answer.
pub async fn any_entry_of_a_turn_names_its_alternatives(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1", "T2"]).await;
    stage.act(Action::Retry(stage.named("T2!"))).await.expect("back to the prompt");
    stage.say(Role::Assistant, "again").await;
    stage.say(Role::Assistant, "and more").await;
    stage.turn("T3").await;
    for (name, texts) in
        [("T2", "T2! again"), ("again", "T2! again"), ("and more", "T2! again"), ("T1", ""), ("T3", "")]
    {
        let answer = stage.store.answer_named(stage.id, stage.named(name)).await.expect("read");
        let found = stage.store.alternatives(stage.id, answer).await.expect("read");
        let found: Vec<_> = found.into_iter().map(|it| it.line.preview).collect();
        assert_eq!(found.join(" "), texts, "{name}");
    }
    stage.act(Action::Choose(stage.named("again"), 1)).await.expect("chosen");
    assert_eq!(stage.read(retake_core::Projection::Timeline).await, "T1 T1! T2 T2!");
    stage.mark(Reason::Hide, &["again"]).await.expect_err("off the path");
    assert_eq!(
        stage.store.answer_named(stage.id, stage.named("T2")).await.expect("read"),
        stage.named("T2!")
    );
    assert_eq!(
        stage.store.answer_named(stage.id, stage.named("T1!")).await.expect("read"),
        stage.named("T1!")
    );
    assert!(stage.store.answer_named(stage.id, stage.named("T3")).await.is_err(), "off the path");
}

/// The newest operation, as `turn words` of the entry that it moved to.
async fn led_to(stage: &Stage) -> String {
    let page = stage.store.ops(stage.id, OpRange { before: None, limit: 1 }).await.expect("operations");
    let aim = page.ops.into_iter().next().and_then(|line| line.aim);
    aim.map_or_else(String::new, |aim| format!("{} {}", aim.turn, aim.line.preview))
}

/// Each move names its entry, and each mark the first entry that it marks; hidden text is not shown.
pub async fn operations_show_the_tip_that_they_led_to(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1", "T2", "T3"]).await;
    stage.rewind("T2").await;
    assert_eq!(led_to(&stage).await, "2 T2");
    stage.turn("X").await;
    stage.act(Action::Retry(stage.named("X!"))).await.expect("back to the prompt");
    assert_eq!(led_to(&stage).await, "2 X");
    stage.act(Action::Checkout(Some(stage.named("T3!")))).await.expect("switched");
    assert_eq!(led_to(&stage).await, "3 T3!");
    stage.mark(Reason::Hide, &["T3"]).await.expect("hidden");
    assert_eq!(led_to(&stage).await, "3 ", "a mark names its turn, and no hidden words");
    stage.rewind("T3!").await;
    assert_eq!(led_to(&stage).await, "3 T3!");
    stage.mark(Reason::Hide, &["T2!"]).await.expect("hidden");
    stage.rewind("T2").await;
    assert_eq!(led_to(&stage).await, "2 T2");
    stage.undo().await;
    stage.mark(Reason::Hide, &["T2"]).await.expect("hidden");
    let page = stage.store.ops(stage.id, OpRange { before: None, limit: 3 }).await.expect("operations");
    let rewind = page.ops.last().and_then(|line| line.aim.clone()).expect("the rewind's");
    assert_eq!((rewind.turn, rewind.line.preview.as_str()), (2, ""), "hidden words are told nowhere");
}

/// A plan lists its steps one by one; their total is the net change.
pub async fn several_steps_are_listed_one_by_one_and_counted_together(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1", "T2"]).await;
    let before = stage.head().await;
    stage.rewind("T2").await;
    stage.act(Action::Restore(before)).await.expect("restored");
    stage.turn("X").await;
    let plan = stage.store.plan(stage.id, Action::Undo(9)).await.expect("a plan");
    let steps = plan.steps.iter().map(|step| {
        let verb = step.op.as_ref().map_or("turn", |op| op.reason.name());
        let words = step.aim.as_ref().map_or("", |aim| aim.line.preview.as_str());
        format!("{verb} {words}")
    });
    assert_eq!(steps.collect::<Vec<_>>(), ["turn X", "restore ", "rewind T2", "turn T2", "turn T1"]);
    let plan = stage.store.plan(stage.id, Action::Undo(3)).await.expect("a plan");
    let mut counted = Vec::new();
    for _ in 0..3 {
        let receipt = stage.undo().await;
        counted.push((receipt.taken_back.messages, receipt.brought_back.messages));
    }
    assert_eq!(counted, [(2, 0), (2, 0), (0, 2)], "T2 goes and comes on the way");
    let net = stage.store.net(stage.id, OpNo(3), stage.head().await).await.expect("read");
    assert_eq!((net.taken_back, net.brought_back), (plan.plan.taken_back, plan.plan.brought_back));
    assert_eq!((net.taken_back.messages, net.brought_back.messages), (2, 0));
}
