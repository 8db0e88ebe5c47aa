//! The ledger of effects: a call is recorded before it runs, closed after it, and listed when a rewind leaves its effect
//! behind.

use std::sync::Arc;

use retake_core::{
    Action, Effect, EffectClass, EffectState, EntryId, Fence, Mode, NewRun, Part, Permission, Reason, Role,
    Rule, Ruling, RunEnding, RunInput, RunRefusal, SayRequest, Steer, ToolOutcome, Words,
};

use super::stage::{Stage, by, by_request, new_id};
use super::tool_turns::copied;
use crate::{ActionContextRequest, Result, Store, StoreError};

const EXTERNAL: EffectClass = EffectClass::External;

/// A model's entry with this text and a call; returns its id.
pub(super) async fn asks(stage: &mut Stage, text: &str) -> EntryId {
    let call = Part::ToolCall { id: format!("c-{text}"), name: "mail".into(), arguments: "{}".into() };
    stage.send(stage.saying(Role::Assistant, vec![Part::text(text), call])).await.expect("said").entries[0]
}

fn effect(stage: &Stage, entry: EntryId, call: &str, class: EffectClass) -> Effect {
    let (tool, print) = ("mail".into(), [u8::try_from(call.len()).expect("short"); 16]);
    let began = by().time;
    let (conversation, call, state) = (stage.id, call.to_owned(), EffectState::Begun);
    Effect { call, conversation, entry, tool, class, print, began, state }
}

/// Records a call that the entry with this text requests.
pub(super) async fn begins(stage: &Stage, text: &str, call: &str, class: EffectClass) -> Result<()> {
    stage.store.begin_effect(effect(stage, stage.named(text), call, class), Vec::new()).await
}

fn names(effects: &[Effect]) -> String {
    effects.iter().map(|effect| effect.call.as_str()).collect::<Vec<_>>().join(" ")
}

async fn told(stage: &Stage) -> String {
    names(&stage.store.effects(stage.id, 99).await.expect("effects"))
}

async fn taken_back(stage: &Stage, action: Action) -> String {
    let outlook = stage
        .store
        .action_context(
            stage.id,
            ActionContextRequest { action: Some(action.clone()), ..ActionContextRequest::default() },
        )
        .await
        .expect("outlook");
    let planned = stage.store.plan(stage.id, action).await.expect("planned");
    assert_eq!(planned.effects, outlook.effects, "a plan says the same");
    names(&outlook.effects)
}

async fn again(stage: &Stage, call: &str) -> Option<String> {
    let print = [u8::try_from(call.len()).expect("short"); 16];
    stage.store.effect_again(stage.id, print.into()).await.expect("looked up").map(|effect| effect.call)
}

/// The same call cannot begin twice, a result closes it once with its outcome, and a call that did not begin cannot be
/// closed.
pub async fn call_is_recorded_once_and_ends_with_its_result(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1"]).await;
    let entry = asks(&mut stage, "a1").await;
    let first = effect(&stage, entry, "call-1", EXTERNAL);
    stage.store.begin_effect(first.clone(), Vec::new()).await.expect("begun");
    let began = stage.store.began(vec!["call-2".to_owned(), "call-1".to_owned()]).await.expect("read");
    assert_eq!(began, [None, Some((first.began, EffectState::Begun))]);
    let twice = begins(&stage, "a1", "call-1", EffectClass::None).await;
    assert!(matches!(&twice, Err(StoreError::CallBegun(call)) if call == "call-1"), "{twice:?}");
    let nowhere = effect(&stage, EntryId::new(new_id()), "call-2", EXTERNAL);
    let nowhere = stage.store.begin_effect(nowhere, Vec::new()).await;
    assert!(matches!(nowhere, Err(StoreError::UnknownEntry { .. })), "{nowhere:?}");
    assert_eq!(stage.store.effects(stage.id, 9).await.expect("effects"), std::slice::from_ref(&first));
    let result = Part::ToolResult { call: "c-a1".into(), content: "sent".into(), outcome: ToolOutcome::Ok };
    let ends = |call: &str, state| Some((call.to_owned(), state));
    let say = stage.saying(Role::Tool, vec![result]);
    let head = stage.head().await;
    let unknown = SayRequest { ends: ends("call-9", EffectState::Done), ..say.clone() };
    let refused = stage.store.say(stage.id, unknown).await;
    assert!(matches!(&refused, Err(StoreError::UnknownCall(call)) if call == "call-9"), "{refused:?}");
    assert_eq!(stage.head().await, head, "and so nothing was said");
    let say = SayRequest { ends: ends("call-1", EffectState::Done), by: by_request("r1"), ..say };
    let receipt = stage.store.say(stage.id, say.clone()).await.expect("said");
    let done = Effect { state: EffectState::Done, ..first };
    assert_eq!(stage.store.effects(stage.id, 9).await.expect("effects"), [done]);
    stage.store.end_effect("call-1".into(), EffectState::Failed).await.expect("ended");
    assert_eq!(stage.store.say(stage.id, say).await.expect("again"), receipt);
    let state = stage.store.effects(stage.id, 9).await.expect("effects")[0].state;
    assert_eq!(state, EffectState::Failed, "a request that comes again does nothing");
    let refused = stage.store.end_effect("call-2".into(), EffectState::Done).await;
    assert!(matches!(refused, Err(StoreError::UnknownCall(_))), "{refused:?}");
}

/// The effects that a rewind, an undo, a drop or a checkout would leave behind, and those on the path, newest first.
pub async fn plan_names_effects_that_outlive_a_rewind(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1"]).await;
    asks(&mut stage, "a1").await;
    begins(&stage, "a1", "one", EXTERNAL).await.expect("begun");
    begins(&stage, "a1", "file", EffectClass::Workspace).await.expect("begun");
    stage.turn("T2").await;
    asks(&mut stage, "a2").await;
    for (call, class) in [("two", EffectClass::Compensable), ("three", EXTERNAL), ("look", EffectClass::None)]
    {
        begins(&stage, "a2", call, class).await.expect("begun");
    }
    let child = stage.fork(None).await;
    assert_eq!(
        (told(&stage).await.as_str(), told(&child).await.as_str()),
        ("three two one", "three two one")
    );
    assert_eq!(names(&stage.store.effects(stage.id, 2).await.expect("effects")), "three two");
    let (first, second) = (stage.named("T1"), stage.named("T2"));
    for (action, expected) in [
        (Action::Rewind(second), "three two"),
        (Action::Rewind(first), "three two one"),
        (Action::Undo(1), "three two"),
        (Action::Checkout(Some(first)), "three two one"),
        (Action::Label(Some(first), Some("x".into())), ""),
    ] {
        assert_eq!(taken_back(&stage, action.clone()).await, expected, "{action:?}");
    }
    assert_eq!(taken_back(&child, Action::Rewind(second)).await, "three two", "of the parent's part, too");
    let entries = vec![stage.named("a1")];
    let drop = Action::Mark { verb: Reason::Drop, entries, range: false, seen: None };
    assert_eq!(taken_back(&stage, drop).await, "one");
    stage.rewind("T2").await;
    assert_eq!((told(&stage).await.as_str(), told(&child).await.as_str()), ("one", "three two one"));
    stage.undo().await;
    assert_eq!(taken_back(&stage, Action::Redo(1)).await, "three two");
    stage.mark(Reason::Hide, &["a2"]).await.expect("hidden");
    assert_eq!(told(&stage).await, "one");
}

/// An equal call off the visible path is recognised: rewound, hidden, or in another conversation of the tree of forks.
pub async fn equal_call_after_a_rewind_is_recognised(store: Arc<Store>) {
    let other = Stage::with_turns(Arc::clone(&store), &["T1"]).await;
    let mut stage = Stage::with_turns(store, &["T1"]).await;
    asks(&mut stage, "a1").await;
    begins(&stage, "a1", "x1", EXTERNAL).await.expect("begun");
    begins(&stage, "a1", "work", EffectClass::Workspace).await.expect("begun");
    assert_eq!(again(&stage, "x1").await, None, "it is on the path");
    stage.mark(Reason::Hide, &["a1"]).await.expect("hidden");
    assert_eq!(again(&stage, "x1").await.as_deref(), Some("x1"));
    stage.mark(Reason::Show, &["a1"]).await.expect("shown");
    assert_eq!(again(&stage, "x1").await, None);
    let child = stage.fork(Some("T1!")).await;
    assert_eq!(again(&child, "x1").await.as_deref(), Some("x1"), "the tree of forks has sent it");
    stage.rewind("a1").await;
    assert_eq!(again(&stage, "x1").await.as_deref(), Some("x1"));
    assert_eq!(again(&stage, "work").await, None, "files are brought back");
    assert_eq!(again(&other, "x1").await, None, "another conversation has nothing to do with it");
    asks(&mut stage, "a2").await;
    begins(&stage, "a2", "x2", EXTERNAL).await.expect("begun");
    assert_eq!(again(&stage, "x2").await.as_deref(), Some("x1"), "the one that was taken back");
    stage.rewind("a2").await;
    assert_eq!(again(&stage, "x2").await.as_deref(), Some("x2"), "of several the last one");
    let erased = stage.named("a2");
    let erase = Action::Erase { entries: vec![erased], matching: None, objects: Vec::new() };
    stage.act(erase).await.expect("erased");
    assert_eq!(
        again(&stage, "x2").await.as_deref(),
        Some("x1"),
        "a digest could confirm a guess, so it goes"
    );
    assert_eq!(told(&stage).await, "");
}

/// Of an erased call, the ledger keeps only its existence, class, time and outcome; an erased text is removed from tool
/// names, too, and cannot be erased again.
pub async fn the_ledger_of_what_is_erased_names_nothing(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1"]).await;
    let print = [7; 16];
    for text in ["a1", "a2", "a3"] {
        let entry = asks(&mut stage, text).await;
        let tool = if text == "a2" { "mail_hunter2".to_owned() } else { "mail".to_owned() };
        let written = Effect { tool, print, ..effect(&stage, entry, &format!("erased-{text}"), EXTERNAL) };
        stage.store.begin_effect(written, Vec::new()).await.expect("begun");
    }
    let call = Part::ToolCall { id: "c-4".into(), name: "mail_hunter2".into(), arguments: "{}".into() };
    let entry = stage.send(stage.saying(Role::Assistant, vec![call])).await.expect("said").entries[0];
    let tool = "mail_hunter2".to_owned();
    let written = Effect { tool, print, ..effect(&stage, entry, "erased-a4", EXTERNAL) };
    stage.store.begin_effect(written, Vec::new()).await.expect("begun");
    let author = retake_core::ChangeOrigin { author: "mail_hunter2".into(), ..by() };
    let result = SayRequest { by: author, ..stage.saying(Role::Tool, vec![Part::text("sent")]) };
    let result = SayRequest { platform_id: Some("hunter2-1".into()), ..result };
    stage.store.say(stage.id, result).await.expect("said");
    let erase = |entries, text: Option<&str>| Action::Erase {
        entries,
        matching: text.map(str::to_owned),
        objects: Vec::new(),
    };
    let entries = vec![stage.named("a1"), stage.named("a2")];
    stage.act(erase(entries, None)).await.expect("erased");
    stage.act(erase(Vec::new(), Some("hunter2"))).await.expect("erased");
    let left = stage.store.effects(stage.id, 9).await.expect("effects");
    let lines: Vec<_> = left.iter().map(|it| (it.call.as_str(), it.tool.as_str(), it.print[0])).collect();
    let expected =
        [("erased-a4", "", 0), ("erased-a3", "mail", 7), ("erased-a2", "", 0), ("erased-a1", "", 0)];
    assert_eq!(lines, expected);
    assert!(left.iter().all(|it| it.class == EXTERNAL && it.state == EffectState::Begun));
    assert!(stage.act(erase(Vec::new(), Some("hunter2"))).await.expect("nothing is left").unchanged);
}

/// A full export contains the ledger, runs and permissions: calls are still listed and recognised, no message is lost, and
/// no run is at work.
pub async fn full_export_has_ledger_runs_and_permissions(store: Arc<Store>) {
    let mut stage = Stage::with_turns(store, &["T1"]).await;
    asks(&mut stage, "a1").await;
    begins(&stage, "a1", "mail-1", EXTERNAL).await.expect("begun");
    begins(&stage, "a1", "file-1", EffectClass::Workspace).await.expect("begun");
    stage.store.end_effect("mail-1".into(), EffectState::Done).await.expect("ended");
    let rule = Rule { ruling: Ruling::Deny, tool: "shell".into(), what: Some("rm".into()) };
    let allow = Rule { ruling: Ruling::Allow, tool: "*".into(), what: None };
    let settled = Permission { mode: Mode::AllowAll, rules: vec![rule.clone(), allow] };
    stage.store.set_permission(stage.id, settled).await.expect("settled");
    let now = by().time;
    let new = |words: Option<Words>| {
        RunInput::Enqueue(NewRun { words, steer: Steer::Queue, seen: None, model: None }, now)
    };
    let words = Words {
        parts: vec![Part::text("and then?")],
        author: "bob".into(),
        request: by_request("waits").request,
        wording: Some([7; 16].into()),
        time: now,
        chat: None,
    };
    let end = RunInput::End(Fence(1), RunEnding::Succeeded, now);
    let claim = RunInput::Claim(now);
    let steps = vec![new(None), claim.clone(), end, new(None), claim.clone(), new(Some(words.clone()))];
    stage.store.step_runs(stage.id, steps).await.expect("one runs, one waits");
    let child = stage.fork(None).await;
    let copy = copied(&stage).await;
    assert_eq!((told(&copy).await.as_str(), told(&child).await.as_str()), ("mail-1-copied", "mail-1"));
    let first = Action::Rewind(copy.named("a1"));
    assert_eq!(taken_back(&copy, first).await, "mail-1-copied");
    let of = |effects: Vec<Effect>| effects.into_iter().map(|it| (it.entry, it.print, it.began, it.state));
    let lines = |effects| of(effects).collect::<Vec<_>>();
    let (one, two) = (stage.store.effects(stage.id, 9).await, copy.store.effects(copy.id, 9).await);
    assert_eq!(lines(one.expect("effects")), lines(two.expect("effects")));
    // Anybody may have written an export: its permissions are not taken over.
    let forbids = Permission { mode: Mode::Ask, rules: vec![rule] };
    assert_eq!(copy.store.permission(copy.id).await.expect("read"), Some(forbids));
    let runs = copy.store.runs(copy.id, 9).await.expect("runs");
    let told: Vec<_> = runs.iter().map(|run| (run.no.0, run.state.name(), run.error.as_deref())).collect();
    let over = [(3, "canceled", Some("unqueued")), (2, "failed", Some("owner_lost")), (1, "succeeded", None)];
    assert_eq!(told, over, "nor are anybody's words said here that waited there");
    assert_eq!(runs[0].words, [words]);
    copy.rewind("a1").await;
    assert_eq!(again(&copy, "mail-1").await.as_deref(), Some("mail-1-copied"));
    let claimed = copy.store.step_runs(copy.id, vec![claim]).await;
    assert!(matches!(claimed, Err(StoreError::Runs(RunRefusal::NothingQueued))), "{claimed:?}");
}
