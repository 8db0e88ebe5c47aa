//! Subscribers: every commit of a conversation has its own revision, and causes an event after it is durable, in order.

use std::sync::Arc;

use retake_core::{
    Action, ChangeEvent, ChangeKind, CommitEvent, ConversationId, Effect, EffectClass, EffectState, Fence,
    Mode, NewConversation, NewRun, Part, Permission, Role, RunEnding, RunInput, RunRefusal, Steer, Time,
};

use super::stage::{Stage, by, new_id};
use crate::{Store, StoreError, Subscriber};

const NOW: Time = Time(1_700_000_000_000);

/// The next commit, which must be available already.
async fn told(subscriber: &mut Subscriber) -> CommitEvent {
    let next = tokio::time::timeout(std::time::Duration::from_secs(20), subscriber.next());
    match next.await.expect("it is told").expect("the store is open") {
        ChangeEvent::Changed(changed) => changed,
        other => panic!("{other:?} instead of a commit"),
    }
}

async fn revision(stage: &Stage) -> u64 {
    stage.store.summary(stage.id).await.expect("a summary").revision.0
}

fn effect(stage: &Stage, call: &str) -> Effect {
    Effect {
        call: call.to_owned(),
        conversation: stage.id,
        entry: stage.named("T1!"),
        tool: "mail".into(),
        class: EffectClass::External,
        print: [1; 16],
        began: NOW,
        state: EffectState::Begun,
    }
}

fn ask() -> RunInput {
    RunInput::Enqueue(NewRun { words: None, steer: Steer::Queue, seen: None, model: None }, NOW)
}

/// Changes of runs, the ledger and permissions raise the revision like says and operations. Each request that changes
/// something raises it once, others never.
pub async fn every_commit_has_a_revision_and_an_event_in_order(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1"]).await;
    let other = Stage::with_turns(Arc::clone(&stage.store), &["T1"]).await;
    let (mut subscriber, first) = (stage.store.subscribe(Some(stage.id)), revision(&stage).await);
    let steps = |inputs: Vec<RunInput>| stage.store.step_runs(stage.id, inputs);
    let fence = steps(vec![ask(), RunInput::Claim(NOW)]).await.expect("begun").runs.fence;
    steps(vec![RunInput::Beat(fence, Time(NOW.0 + 1))]).await.expect("it lives");
    stage.store.begin_effect(effect(&stage, "following-1"), vec![(stage.id, fence)]).await.expect("begun");
    stage
        .store
        .begin_effect(effect(&stage, "following-1"), vec![(stage.id, fence)])
        .await
        .expect_err("begun already");
    steps(vec![RunInput::Beat(Fence(99), NOW)]).await.expect_err("nobody has it");
    other.store.end_effect("following-1".into(), EffectState::Done).await.expect("ended");
    let settled = Permission { mode: Mode::Plan, rules: Vec::new() };
    for _ in 0..2 {
        stage.store.set_permission(stage.id, settled.clone()).await.expect("settled");
    }
    steps(vec![RunInput::End(fence, RunEnding::Succeeded, NOW)]).await.expect("over");
    stage.say(Role::User, "T2").await;
    stage.act(Action::Label(None, Some("a title".into()))).await.expect("titled");
    let begun = RunInput::Claim(NOW);
    stage.store.step_runs(stage.id, vec![ask(), begun]).await.expect("begun");
    stage.rewind("T2").await;
    let erase = Action::Erase { entries: vec![stage.named("T1")], matching: None, objects: Vec::new() };
    stage.act(erase).await.expect("erased");
    let expected = [
        vec![ChangeKind::Run],
        vec![ChangeKind::Effect],
        vec![ChangeKind::Effect],
        vec![ChangeKind::Permission],
        vec![ChangeKind::Run],
        vec![ChangeKind::Said],
        vec![ChangeKind::Operation],
        vec![ChangeKind::Run],
        vec![ChangeKind::Operation, ChangeKind::Run],
        vec![ChangeKind::Erased],
    ];
    for (revision, kinds) in (first + 1..).zip(expected) {
        let changed = told(&mut subscriber).await;
        assert_eq!((changed.conversation, changed.revision.0, changed.kinds), (stage.id, revision, kinds));
    }
    assert_eq!(revision(&stage).await, first + 10);
    let again = stage.store.changes(stage.id, retake_core::Revision(first)).await.expect("caught up");
    assert_eq!((again.revision.0, again.came.len(), again.gone.len()), (first + 10, 0, 0));
}

/// A subscriber of all conversations gets each one's events in the order of revisions, never before a reader can see the
/// change. A lagging subscriber learns that it missed something.
pub async fn subscriber_of_all_conversations_gets_every_event_or_a_notice_of_missed_ones(store: Arc<Store>) {
    let (mut all, mut slow) = (store.subscribe(None), store.subscribe(None));
    let id = ConversationId::new(new_id());
    let mut own = store.subscribe(Some(id));
    let new = NewConversation { id, folder: None, title: Some("a title".into()), by: by() };
    store.create(new).await.expect("created");
    for (revision, kind) in [(1, ChangeKind::Created), (2, ChangeKind::Operation)] {
        for subscriber in [&mut all, &mut own] {
            let changed = told(subscriber).await;
            assert_eq!((changed.conversation, changed.revision.0), (id, revision));
            assert_eq!(changed.kinds, [kind]);
        }
    }
    let stage = Arc::new(Stage::new(Arc::clone(&store)).await);
    assert_eq!(told(&mut all).await.kinds, [ChangeKind::Created]);
    let writer = |number: u64| {
        let stage = Arc::clone(&stage);
        tokio::spawn(async move {
            for step in 0..5 {
                let say = stage.saying(Role::User, vec![Part::text(format!("{number} {step}"))]);
                stage.store.say(stage.id, say).await.expect("said");
            }
        })
    };
    let writers: Vec<_> = (0..8).map(writer).collect();
    for expected in 2..42 {
        let changed = told(&mut all).await;
        assert_eq!((changed.conversation, changed.revision.0), (stage.id, expected));
        assert!(revision(&stage).await >= expected, "it is there for everybody");
    }
    for writer in writers {
        writer.await.expect("written");
    }
    for expected in 42..72 {
        let say = stage.saying(Role::User, vec![Part::text("and on")]);
        stage.store.say(stage.id, say).await.expect("said");
        assert_eq!(told(&mut all).await.revision.0, expected);
    }
    assert_eq!(slow.next().await, Some(ChangeEvent::Missed));
    let went_on = told(&mut slow).await;
    assert!(went_on.revision.0 > 2, "then it goes on with what is left");
    drop((all, slow));
    let last = stage.store.subscribe(Some(stage.id));
    drop(last);
    let say = stage.saying(Role::User, vec![Part::text("to nobody")]);
    stage.store.say(stage.id, say).await.expect("said");
}

/// A run with an invalid fence begins no call, and the ledger gets no row.
pub async fn call_of_a_run_that_is_over_is_refused(store: Arc<Store>) {
    let stage = Stage::with_turns(store, &["T1", "T2"]).await;
    let begins = || async {
        let stepped = stage.store.step_runs(stage.id, vec![ask(), RunInput::Claim(NOW)]).await;
        stepped.expect("begun").runs.fence
    };
    let fence = begins().await;
    stage.store.begin_effect(effect(&stage, "fenced-1"), vec![(stage.id, fence)]).await.expect("it runs");
    stage.rewind("T2").await;
    let next = begins().await;
    let before = revision(&stage).await;
    for stale in [fence, Fence(0), Fence(next.0 + 1)] {
        let refused = stage.store.begin_effect(effect(&stage, "fenced-2"), vec![(stage.id, stale)]).await;
        assert!(matches!(refused, Err(StoreError::Runs(RunRefusal::Fenced))), "{refused:?}");
    }
    assert_eq!(revision(&stage).await, before, "a refusal changes nothing");
    let calls = stage.store.effects(stage.id, 9).await.expect("effects");
    assert_eq!(calls.iter().map(|effect| effect.call.as_str()).collect::<Vec<_>>(), ["fenced-1"]);
    stage.store.begin_effect(effect(&stage, "fenced-2"), vec![(stage.id, next)]).await.expect("it runs");
}
