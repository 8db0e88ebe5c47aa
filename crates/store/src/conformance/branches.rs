//! Alternatives, forks, earlier heads: cases 15 and 25.

use std::sync::Arc;

use retake_core::{Action, Head, Part, Projection, Reason, Role, ToolOutcome};

use super::stage::Stage;
use crate::Store;

/// Two retries make three alternatives; a turn after one of them belongs to it.
pub async fn store_case_15_alternatives(store: Arc<Store>) {
    let mut stage = Stage::new(store).await;
    stage.say(Role::User, "T1").await;
    stage.say(Role::Assistant, "a").await;
    for answer in ["b", "c"] {
        stage.act(Action::Retry(stage.named("T1"))).await.expect("back");
        stage.say(Role::Assistant, answer).await;
    }
    let alternatives = stage.store.alternatives(stage.id, stage.named("c")).await.expect("alternatives");
    let texts: Vec<_> = alternatives.iter().map(|a| (a.line.preview.as_str(), a.current)).collect();
    assert_eq!(texts, [("a", false), ("b", false), ("c", true)]);
    stage.turn("T2").await;
    for (number, shows) in [(1, "T1 a"), (3, "T1 c T2 T2!"), (2, "T1 b"), (3, "T1 c T2 T2!")] {
        let current = ["a", "b", "c"].into_iter();
        let mut on_path = None;
        for name in current {
            if stage.read(Projection::Timeline).await.split(' ').any(|word| word == name) {
                on_path = Some(stage.named(name));
            }
        }
        stage.act(Action::Choose(on_path.expect("one is chosen"), number)).await.expect("chosen");
        assert_eq!(stage.read(Projection::Timeline).await, shows);
    }
    assert_eq!(stage.refused(Action::Choose(stage.named("c"), 4)).await, "no_such_alternative");
    assert_eq!(stage.refused(Action::Choose(stage.named("T1"), 1)).await, "not_an_answer");
}

/// A fork at a call includes its results and nothing that was appended after them; so does a fork at the first of
/// several results.
pub async fn fork_has_the_results_of_its_calls(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1"]).await;
    stage.say(Role::User, "T2").await;
    let call = |id: &str| Part::ToolCall { id: id.into(), name: "edit".into(), arguments: "{}".into() };
    let asks = stage.saying(Role::Assistant, vec![Part::text("asks"), call("c1"), call("c2")]);
    stage.send(asks).await.expect("said");
    let unfinished = stage.fork(Some("asks")).await;
    for (name, id) in [("r1", "c1"), ("r2", "c2")] {
        let result = Part::ToolResult { call: id.into(), content: "done".into(), outcome: ToolOutcome::Ok };
        let says = stage.saying(Role::Tool, vec![Part::text(name), result]);
        stage.send(says).await.expect("said");
    }
    stage.say(Role::Assistant, "end").await;
    let whole = "T1 T1! T2 asks r1 r2";
    assert_eq!(unfinished.read(Projection::Timeline).await, "T1 T1! T2 asks", "there was none yet");
    for at in ["asks", "r1", "r2"] {
        assert_eq!(stage.fork(Some(at)).await.read(Projection::Timeline).await, whole, "at {at}");
    }
    assert_eq!(stage.fork(Some("T2")).await.read(Projection::Timeline).await, "T1 T1! T2");
    stage.rewind("T2").await;
    assert_eq!(
        stage.fork(Some("asks")).await.read(Projection::Timeline).await,
        whole,
        "of a branch that was left"
    );
}

/// A fork sees its base as it was; entries that were hidden there stay out for ever; later steps of the parent do not
/// affect it.
pub async fn store_case_25_forks(store: Arc<Store>) {
    let parent = Stage::with_turns(store, &["T1", "T2", "T3"]).await;
    let before = parent.fork(Some("T2!")).await;
    parent.mark(Reason::Hide, &["T1"]).await.expect("hidden");
    let mut after = parent.fork(Some("T2!")).await;
    assert_eq!(before.shows().await, "T1 T2");
    assert_eq!(after.shows().await, "T2");
    let again = after.act(Action::Mark {
        verb: Reason::Show,
        entries: vec![after.named("T1")],
        range: false,
        seen: None,
    });
    assert!(again.await.is_err(), "what was hidden in the parent can't be shown in the fork");
    parent.mark(Reason::Show, &["T1"]).await.expect("shown");
    assert_eq!(after.shows().await, "T2");
    after.turn("T9").await;
    assert_eq!(after.targets().await, "T9 T2");
    after.rewind("T2").await;
    assert_eq!(after.read(Projection::Timeline).await, "T1!");
    assert_eq!(parent.shows().await, "T1 T2 T3");
    after.undo().await;
    assert_eq!(after.shows().await, "T2 T9");
    let grandchild = after.fork(None).await;
    after.rewind("T9").await;
    assert_eq!(grandchild.shows().await, "T2 T9");
    assert_eq!(parent.store.forks(parent.id).await.expect("forks").len(), 2);
    parent
        .act(Action::Erase { entries: vec![parent.named("T2")], matching: None, objects: Vec::new() })
        .await
        .expect("erased");
    assert_eq!(grandchild.read(Projection::Timeline).await, "T1!  T2! T9 T9!");
    assert_eq!(before.search("T2", retake_core::Include::default()).await, "T2!");
}

/// Any earlier head can be read with its marks and folds.
pub async fn earlier_heads_can_be_read(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1", "T2"]).await;
    stage.mark(Reason::Hide, &["T1"]).await.expect("hidden");
    stage.rewind("T2").await;
    stage.turn("T3").await;
    stage.mark(Reason::Show, &["T1"]).await.expect("shown");
    for (head, shows) in [
        (Head::new(0, 2), "T1 T1!"),
        (Head::new(0, 4), "T1 T1! T2 T2!"),
        (Head::new(1, 4), "T1! T2 T2!"),
        (Head::new(2, 4), "T1!"),
        (Head::new(2, 6), "T1! T3 T3!"),
        (Head::new(3, 6), "T1 T1! T3 T3!"),
    ] {
        assert_eq!(stage.read_at(Projection::Timeline, Some(head)).await, shows, "{head}");
    }
}

/// Entries of unrelated conversations of the root neither make a prefix of an id ambiguous nor hide an entry.
pub async fn id_prefix_matches_entries_that_the_conversation_knows(store: Arc<Store>) {
    let parent = Stage::with_turns(store, &["T1", "T2", "T3"]).await;
    let mut child = parent.fork(Some("T1")).await;
    child.say(Role::User, "X").await;
    let (first, last) = (child.named("T1"), child.named("X"));
    let shared = |(a, b): &(char, char)| a == b;
    let (first_text, last_text) = (first.to_string(), last.to_string());
    let prefix: String =
        first_text.chars().zip(last_text.chars()).take_while(shared).map(|(c, _)| c).collect();
    let prefix = prefix.replace('-', "");
    assert!(!prefix.is_empty());
    let like = |limit| child.store.entries_like(child.id, prefix.clone(), limit);
    assert_eq!(like(2).await.expect("two"), [first, last]);
    assert_eq!(like(9).await.expect("two"), [first, last]);
    assert_eq!(like(1).await.expect("one"), [first]);
}
