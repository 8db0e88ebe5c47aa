//! The plan of a step and its receipt say how many remembered facts go and come: as many as the lists before and after it say.

use std::collections::BTreeSet;
use std::sync::Arc;

use retake_core::{
    Action, Fact, FactsChanged, MemoryId, MemoryRequest, MemoryScope, Part, Reason, Role, Scope,
};

use super::memory::{beside, forget, remember, remember_by_call};
use super::stage::Stage;
use crate::Store;

/// The ids of all facts that count.
async fn counting(stage: &Stage) -> BTreeSet<String> {
    let all = MemoryRequest { folder: None, limit: usize::MAX, ..MemoryRequest::default() };
    let facts = stage.store.memory(all).await.expect("read");
    facts.into_iter().map(|fact| fact.id.to_string()).collect()
}

/// Carries out an action that changes as many facts as expected: gone, and come. Its plan and its receipt must say what the lists
/// before and after it say.
async fn step(stage: &Stage, action: Action, expected: (u64, u64)) {
    let is_erasure = matches!(action, Action::Erase { .. });
    let planned = match is_erasure {
        true => stage.store.erasing(stage.id, action.clone()).await.expect("a plan").facts,
        false => stage.store.plan(stage.id, action.clone()).await.expect("a plan").facts,
    };
    let before = counting(stage).await;
    let receipt = stage.act(action.clone()).await.expect("done");
    let after = counting(stage).await;
    let only = |one: &BTreeSet<String>, other| one.difference(other).count() as u64;
    let model = FactsChanged { gone: only(&before, &after), came: only(&after, &before) };
    assert_eq!((model.gone, model.came), expected, "{action:?}");
    assert_eq!(planned, model, "{action:?}");
    if !is_erasure {
        let told = stage.store.facts_changed(stage.id, receipt.ops[0], receipt.head).await.expect("read");
        assert_eq!(told, model, "{action:?}");
    }
}

fn marking(stage: &Stage, verb: Reason, names: &[&str]) -> Action {
    let entries = names.iter().map(|name| stage.named(name)).collect();
    Action::Mark { verb, entries, range: false, seen: None }
}

fn erasing(stage: &Stage, name: &str) -> Action {
    Action::Erase { entries: vec![stage.named(name)], matching: None, objects: Vec::new() }
}

/// Two turns, and a fact in the second one, as a call of the model.
async fn with_a_fact(store: Arc<Store>) -> Stage {
    let mut stage = Stage::with_turns(store, &["T1", "T2"]).await;
    remember_by_call(&mut stage, "tabs").await;
    stage
}

/// Moves of the tip.
pub async fn moves_count_the_facts_that_go_and_come(store: Arc<Store>) {
    let mut stage = with_a_fact(store).await;
    let with = stage.head().await;
    step(&stage, Action::Rewind(stage.named("T2")), (1, 0)).await;
    let without = stage.head().await;
    step(&stage, Action::Undo(1), (0, 1)).await;
    step(&stage, Action::Redo(1), (1, 0)).await;
    step(&stage, Action::Restore(with), (0, 1)).await;
    step(&stage, Action::Restore(without), (1, 0)).await;
    remember(&mut stage, "spaces", MemoryScope::Everywhere).await;
    remember(&mut stage, "no semicolons", MemoryScope::Folder).await;
    step(&stage, Action::Checkout(Some(stage.named("kept tabs"))), (2, 1)).await;
    step(&stage, Action::Undo(1), (1, 2)).await;
    step(&stage, Action::Redo(1), (2, 1)).await;
    // The first of these steps brings back what the others take back: together they change neither.
    step(&stage, Action::Undo(3), (1, 0)).await;
    step(&stage, Action::Redo(2), (0, 2)).await;
    step(&stage, Action::Edit(stage.named("no semicolons")), (1, 0)).await;
    step(&stage, Action::Label(None, Some("a title".into())), (0, 0)).await;
}

/// Answers that remember, and steps on one half.
pub async fn another_answer_has_other_facts(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1"]).await;
    stage.say(Role::User, "T2").await;
    let first = remember_by_call(&mut stage, "tabs").await;
    step(&stage, Action::Retry(stage.named("")), (1, 0)).await;
    let other = stage.say(Role::Assistant, "no call").await;
    step(&stage, Action::Choose(other, 1), (0, 1)).await;
    step(&stage, Action::Choose(stage.named(""), 2), (1, 0)).await;
    step(&stage, Action::Choose(other, 1), (0, 1)).await;
    let half = |scope| Action::Half(scope, Box::new(Action::Rewind(stage.named("T2"))));
    step(&stage, half(Scope::Files), (0, 0)).await;
    step(&stage, half(Scope::Conversation), (1, 0)).await;
    assert_eq!(stage.store.memory_fact(first).await.expect("read"), None);
}

/// Marks: a fact counts only while its entry has none.
pub async fn marks_count_the_facts_that_go_and_come(store: Arc<Store>) {
    let stage = with_a_fact(store).await;
    let fact = ["kept tabs"];
    step(&stage, marking(&stage, Reason::Hide, &fact), (1, 0)).await;
    step(&stage, marking(&stage, Reason::Show, &fact), (0, 1)).await;
    step(&stage, marking(&stage, Reason::Exclude, &fact), (1, 0)).await;
    step(&stage, marking(&stage, Reason::Hide, &fact), (0, 0)).await;
    step(&stage, Action::Undo(2), (0, 1)).await;
    step(&stage, marking(&stage, Reason::Exclude, &fact), (1, 0)).await;
    step(&stage, marking(&stage, Reason::Include, &fact), (0, 1)).await;
    step(&stage, marking(&stage, Reason::Exclude, &["T1"]), (0, 0)).await;
    step(&stage, marking(&stage, Reason::Drop, &["T2", "T2!", "", "kept tabs"]), (1, 0)).await;
    step(&stage, Action::Undo(1), (0, 1)).await;
}

/// Entries that forget, in this and in another conversation.
pub async fn fact_comes_with_the_rewind_of_what_forgets_it(store: Arc<Store>) {
    let mut stage = with_a_fact(store).await;
    let id = remember(&mut stage, "the port is 80", MemoryScope::Folder).await;
    let mut other = beside(&stage, Some("/work")).await;
    forget(&mut other, &id, "forget it").await;
    // It is forgotten anyway.
    step(&stage, Action::Rewind(stage.named("the port is 80")), (0, 0)).await;
    step(&stage, Action::Undo(1), (0, 0)).await;
    step(&other, Action::Rewind(other.named("forget it")), (0, 1)).await;
    step(&other, Action::Undo(1), (1, 0)).await;
    step(&other, marking(&other, Reason::Hide, &["forget it"]), (0, 1)).await;
    let mut say = stage.saying(Role::User, vec![Part::text("the port is 81")]);
    let now = MemoryId::of(say.id);
    let facts = [Fact::forgetting(&id), Fact::remembering(&now, MemoryScope::Folder)];
    say.parts.push(Part::Facts(facts.to_vec()));
    stage.send(say).await.expect("edited");
    step(&stage, Action::Undo(1), (1, 1)).await;
    step(&stage, Action::Redo(1), (1, 1)).await;
    step(&stage, Action::Rewind(stage.named("the port is 80")), (1, 0)).await;
    step(&stage, Action::Undo(1), (0, 1)).await;
    step(&stage, erasing(&stage, "the port is 81"), (1, 1)).await;
}

/// A fact that another fork still has is not gone.
pub async fn fact_that_a_fork_has_neither_goes_nor_comes(store: Arc<Store>) {
    let mut stage = with_a_fact(store).await;
    let mut child = stage.fork(None).await;
    step(&stage, Action::Rewind(stage.named("T2")), (0, 0)).await;
    step(&stage, Action::Undo(1), (0, 0)).await;
    step(&child, Action::Rewind(child.named("T2")), (0, 0)).await;
    step(&stage, Action::Rewind(stage.named("T2")), (1, 0)).await;
    step(&child, Action::Undo(1), (0, 1)).await;
    step(&stage, Action::Undo(1), (0, 0)).await;
    // The own fact of a fork, and a fork that still forgets.
    remember(&mut child, "only here", MemoryScope::Folder).await;
    step(&child, Action::Rewind(child.named("T1")), (1, 0)).await;
    step(&child, Action::Undo(1), (0, 1)).await;
    let id = remember(&mut stage, "the port is 80", MemoryScope::Folder).await;
    forget(&mut stage, &id, "forget it").await;
    let heir = stage.fork(None).await;
    step(&stage, Action::Rewind(stage.named("forget it")), (0, 0)).await;
    step(&heir, Action::Rewind(heir.named("forget it")), (0, 1)).await;
    step(&stage, erasing(&stage, "kept tabs"), (1, 0)).await;
}

/// An erasure takes a fact for good; one of an entry that forgets returns it.
pub async fn erasures_count_the_facts_that_go_and_come(store: Arc<Store>) {
    let mut stage = with_a_fact(store).await;
    let id = remember(&mut stage, "the port is 80", MemoryScope::Folder).await;
    remember(&mut stage, "the port is 443 by night", MemoryScope::Folder).await;
    forget(&mut stage, &id, "forget it").await;
    step(&stage, erasing(&stage, "T1"), (0, 0)).await;
    step(&stage, erasing(&stage, "forget it"), (0, 1)).await;
    // The words of this fact are in the call.
    step(&stage, erasing(&stage, ""), (1, 0)).await;
    step(&stage, erasing(&stage, ""), (0, 0)).await;
    let matching = Some("the port".to_owned());
    let all = Action::Erase { entries: Vec::new(), matching, objects: Vec::new() };
    step(&stage, Action::Rewind(stage.named("the port is 443 by night")), (1, 0)).await;
    step(&stage, all, (1, 0)).await;
}
