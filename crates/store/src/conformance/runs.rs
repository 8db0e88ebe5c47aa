//! Runs in the store: one runs, one waits, their messages are stored with the step, and a run with an old fence is refused. Also
//! the permissions of a conversation.

use std::sync::Arc;

use retake_core::{
    Action, Apply, Fence, Mode, NewRun, Part, Permission, Projection, Reason, Role, Rule, Ruling, Run,
    RunEnding, RunInput, RunRefusal, RunState, SayRequest, SeenState, Steer, Tail, Time, Words,
};

use super::stage::{Stage, by, by_request};
use crate::{Result, RunsStepped, Store, StoreError};

const NOW: Time = Time(1_700_000_000_000);

fn answer() -> RunInput {
    RunInput::Enqueue(NewRun { words: None, steer: Steer::Queue, seen: None, model: None }, NOW)
}

fn words(text: &str, request: Option<&str>) -> Words {
    let by = request.map(by_request).unwrap_or_default();
    let wording = by.request.is_some().then(|| crate::digest(text).into());
    Words {
        parts: vec![Part::text(text)],
        author: "bob".into(),
        request: by.request,
        wording,
        time: NOW,
        chat: None,
    }
}

async fn says(stage: &Stage, words: Words) -> RunInput {
    let seen = stage.store.answering(stage.id).await.expect("answering").tip;
    RunInput::Enqueue(NewRun { words: Some(words), steer: Steer::Queue, seen, model: Some("m".into()) }, NOW)
}

async fn steps(stage: &Stage, inputs: impl IntoIterator<Item = RunInput>) -> Result<RunsStepped> {
    stage.store.step_runs(stage.id, inputs.into_iter().collect()).await
}

/// Begins a run on the current path, and returns its fence.
async fn begun(stage: &Stage) -> Fence {
    let stepped = steps(stage, [answer(), RunInput::Claim(NOW)]).await.expect("begun");
    stepped.runs.running.expect("it runs").fence
}

/// An answer by a run.
async fn writes(stage: &mut Stage, text: &str, fence: Fence) -> Result<()> {
    let say = stage.saying(Role::Assistant, vec![Part::text(text)]);
    stage.send(SayRequest { fence: Some(fence), ..say }).await.map(drop)
}

fn assert_refused<T: std::fmt::Debug>(result: Result<T>, why: RunRefusal) {
    assert!(matches!(&result, Err(StoreError::Runs(refusal)) if *refusal == why), "{why:?}: {result:?}");
}

/// The runs, newest first, as `number state error` lines.
async fn told(stage: &Stage) -> Vec<String> {
    let runs = stage.store.runs(stage.id, 99).await.expect("runs");
    let line = |run: &Run| {
        let error = run.error.as_deref().unwrap_or("-");
        format!("{} {} {error}", run.no.0, run.state.name())
    };
    runs.iter().map(line).collect()
}

/// One runs and one waits; waiting messages are appended when their run begins; only the run at work may write.
pub async fn one_run_works_and_one_waits(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1"]).await;
    let other = Stage::with_turns(Arc::clone(&stage.store), &["T1"]).await;
    assert_refused(steps(&stage, [RunInput::Claim(NOW)]).await, RunRefusal::NothingQueued);
    let first = begun(&stage).await;
    steps(&stage, [answer()]).await.expect("one waits");
    assert_refused(steps(&stage, [answer()]).await, RunRefusal::Waiting);
    let waiting = says(&stage, words("T2", None)).await;
    steps(&stage, [waiting]).await.expect("taken along");
    assert_refused(steps(&stage, [RunInput::Claim(NOW)]).await, RunRefusal::Running);
    assert_eq!(stage.read(Projection::Timeline).await, "T1 T1!", "what waits is not said");
    writes(&mut stage, "first!", first).await.expect("it runs");
    let live = stage.store.live_runs().await.expect("runs");
    assert!(live.iter().all(|(id, _)| *id == stage.id) && live.len() == 2, "{live:?}");
    begun(&other).await;
    assert_eq!(stage.store.live_runs().await.expect("runs").len(), 3);

    let over = RunInput::End(first, RunEnding::Succeeded, NOW);
    let stepped = steps(&stage, [over, RunInput::Claim(NOW)]).await.expect("one after the other");
    assert_eq!(stepped.over.iter().map(|run| run.state).collect::<Vec<_>>(), [RunState::Succeeded]);
    assert_eq!((stepped.said.len(), stepped.said[0].head), (1, stage.head().await));
    assert_eq!(stage.read(Projection::Timeline).await, "T1 T1! first! T2");
    let said = stage.store.shown(stage.id, stepped.said[0].entries[0]).await.expect("read").expect("shown");
    let said = said.entry.expect("sound");
    assert_eq!((said.author.as_str(), said.meta.time, said.meta.opens_turn()), ("bob", NOW, true));
    let second = stepped.runs.running.expect("it runs");
    assert_eq!((second.fence, second.model.as_deref(), second.words.len()), (Fence(2), Some("m"), 0));
    let head = stage.head().await;
    for stale in [first, Fence(3), Fence(0)] {
        assert_refused(writes(&mut stage, "late!", stale).await, RunRefusal::Fenced);
        assert_refused(steps(&stage, [RunInput::Beat(stale, NOW)]).await, RunRefusal::Fenced);
    }
    assert_eq!(stage.head().await, head, "a refusal changes nothing");
    writes(&mut stage, "second!", second.fence).await.expect("it runs");
    let over = RunInput::End(second.fence, RunEnding::Failed("timeout".into()), NOW);
    steps(&stage, [over]).await.expect("over");
    assert_refused(writes(&mut stage, "late!", second.fence).await, RunRefusal::Fenced);
    assert_eq!(told(&stage).await, ["2 failed timeout", "1 succeeded -"]);
    assert_eq!(stage.store.runs(stage.id, 1).await.expect("runs").len(), 1);
}

/// Steps are made all or none, and a run for another tip is skipped.
pub async fn steps_of_runs_are_all_or_none(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1"]).await;
    let words = says(&stage, words("T2", None)).await;
    let bad = RunInput::Beat(Fence(7), NOW);
    assert_refused(steps(&stage, [words, RunInput::Claim(NOW), bad]).await, RunRefusal::Fenced);
    assert_eq!((told(&stage).await, stage.shows().await.as_str()), (vec![], "T1"));
    let stepped = steps(&stage, [answer()]).await.expect("it waits");
    let tail = stepped.runs.queued.expect("it waits").tail;
    assert_eq!((tail.alternatives, tail.entry.map(|pos| pos.seq)), (1, Some(2)));
    stage.say(Role::User, "meanwhile").await;
    let stepped = steps(&stage, [RunInput::Claim(NOW)]).await.expect("skipped");
    assert_eq!(stepped.runs.running, None);
    assert_eq!(told(&stage).await, ["1 skipped expected_last_message_mismatch"]);
    stage.act(Action::Retry(stage.named("T1!"))).await.expect("back");
    stage.say(Role::Assistant, "other!").await;
    let tail = steps(&stage, [answer()]).await.expect("it waits").runs.queued.expect("it waits").tail;
    assert_eq!(tail.alternatives, 2);
    stage.mark(Reason::Exclude, &["other!"]).await.expect("excluded");
    steps(&stage, [RunInput::Claim(NOW)]).await.expect("skipped");
    assert_eq!(told(&stage).await[0], "2 skipped expected_last_message_mismatch", "its mark is another one");
    let empty = Stage::new(Arc::clone(&stage.store)).await;
    let tail = steps(&empty, [answer()]).await.expect("it waits").runs.queued.expect("it waits").tail;
    assert_eq!(tail, Tail::default());
}

/// A repeated request's message waits once and is appended once; another wording is refused. A waiting message whose request id
/// was used meanwhile is appended, too.
pub async fn waiting_messages_are_stored_once(store: Arc<Store>) {
    let stage = Stage::with_turns(store, &["T1"]).await;
    for _ in 0..2 {
        let waiting = says(&stage, words("T2", Some("r2"))).await;
        let queued = steps(&stage, [waiting]).await.expect("they wait").runs.queued.expect("it waits");
        assert_eq!(queued.words.len(), 1);
    }
    let other = says(&stage, words("else", Some("r2"))).await;
    let refused = steps(&stage, [other]).await;
    assert!(matches!(refused, Err(StoreError::RequestReused(_))), "{refused:?}");
    let more = says(&stage, words("T3", Some("r3"))).await;
    steps(&stage, [more]).await.expect("taken along");
    let direct = SayRequest { by: by_request("r3"), ..stage.saying(Role::User, vec![Part::text("direct")]) };
    stage.store.say(stage.id, direct).await.expect("said");
    let said = steps(&stage, [RunInput::Claim(NOW)]).await.expect("claimed").said;
    assert_eq!((said.len(), stage.shows().await.as_str()), (2, "T1 direct T2 T3"));
    let again = says(&stage, words("T2", Some("r2"))).await;
    let stepped = steps(&stage, [again]).await.expect("said already");
    assert_eq!((stepped.runs.queued, stepped.effects), (None, vec![]));
    let by = retake_core::ChangeOrigin { wording: Some(crate::digest("T2").into()), ..by_request("r2") };
    let receipt = stage.store.receipt(stage.id, by).await.expect("looked up");
    assert_eq!(receipt.map(|receipt| receipt.entries), Some(said[0].entries.clone()));
}

/// A rewind ends the run of the rewound turn in the same transaction; messages of waiting runs stay.
pub async fn rewind_before_a_run_ends_it(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1", "T2"]).await;
    let fence = begun(&stage).await;
    let waiting = says(&stage, words("T3", None)).await;
    steps(&stage, [waiting]).await.expect("they wait");
    stage.mark(Reason::Hide, &["T1"]).await.expect("hidden");
    stage.act(Action::Label(None, Some("a title".into()))).await.expect("titled");
    writes(&mut stage, "still!", fence).await.expect("what is hidden elsewhere stops nobody");
    stage.rewind("T2").await;
    assert_refused(writes(&mut stage, "late!", fence).await, RunRefusal::Fenced);
    assert_eq!(told(&stage).await, ["2 canceled rewound", "1 canceled rewound"]);
    let runs = stage.store.runs(stage.id, 1).await.expect("runs");
    assert_eq!(runs[0].words, [words("T3", None)], "no prompt is lost");
    assert!(runs[0].ended.is_some());

    let fence = begun(&stage).await;
    stage.mark(Reason::Hide, &["T1!"]).await.expect("hidden");
    assert_refused(writes(&mut stage, "late!", fence).await, RunRefusal::Fenced);
    assert_eq!(told(&stage).await[0], "3 canceled message_hidden");
    stage.turn("T4").await;
    let fence = begun(&stage).await;
    let edit = Apply { action: Action::Edit(stage.named("T4")), seen: SeenState::Anything, by: by() };
    let say = stage.saying(Role::User, vec![Part::text("T5")]);
    stage.store.say_at(stage.id, edit, say).await.expect("reworded");
    assert_refused(writes(&mut stage, "late!", fence).await, RunRefusal::Fenced);
    assert_eq!(told(&stage).await[0], "4 canceled rewound");
    let refused = Apply {
        action: Action::Restore(retake_core::Head::new(99, 99)),
        seen: SeenState::Anything,
        by: by(),
    };
    let fence = begun(&stage).await;
    stage.store.apply(stage.id, refused).await.expect_err("there is no such head");
    writes(&mut stage, "on!", fence).await.expect("a refusal stops nobody");
}

fn rule(ruling: Ruling, tool: &str, what: Option<&str>) -> Rule {
    Rule { ruling, tool: tool.into(), what: what.map(str::to_owned) }
}

/// Permissions belong to one conversation; an erasure removes rules and waiting messages that contain the text.
pub async fn permissions_and_waiting_messages_with_an_erased_text_are_erased(store: Arc<Store>) {
    let stage = Stage::with_turns(store, &["T1"]).await;
    assert_eq!(stage.store.permission(stage.id).await.expect("read"), None);
    let plain = rule(Ruling::Allow, "shell", Some("git status"));
    let secret = rule(Ruling::Deny, "shell", Some("curl -u hunter2"));
    let mut settled = Permission { mode: Mode::AllowEdits, rules: vec![plain.clone(), secret] };
    for mode in [Mode::Plan, Mode::AllowEdits] {
        settled.mode = mode;
        stage.store.set_permission(stage.id, settled.clone()).await.expect("settled");
    }
    assert_eq!(stage.store.permission(stage.id).await.expect("read"), Some(settled));
    let child = stage.fork(None).await;
    assert_eq!(child.store.permission(child.id).await.expect("read"), None);
    for text in ["plain", "with hunter2"] {
        let waiting = says(&stage, words(text, None)).await;
        steps(&stage, [waiting]).await.expect("they wait");
    }
    let waiting = says(&child, words("hunter2 again", None)).await;
    steps(&child, [waiting]).await.expect("they wait");
    let erase = Action::Erase { entries: Vec::new(), matching: Some("hunter2".into()), objects: Vec::new() };
    assert!(!stage.act(erase.clone()).await.expect("erased").unchanged);
    let left = stage.store.permission(stage.id).await.expect("read").expect("settled");
    assert_eq!(left, Permission { mode: Mode::AllowEdits, rules: vec![plain] });
    let runs = stage.store.runs(stage.id, 9).await.expect("runs");
    assert_eq!(runs[0].words, [words("plain", None)]);
    assert_eq!(told(&stage).await, ["1 queued -"]);
    assert_eq!(told(&child).await, ["1 canceled erased"], "it had nothing else to say");
    assert_eq!(child.store.runs(child.id, 9).await.expect("runs")[0].words, []);
    assert!(stage.act(erase).await.expect("nothing is left").unchanged);
}
