//! Irreversible effects are shown before; active runs are ended first if requested, and no message is lost.

use std::path::{Path, PathBuf};

use async_trait::async_trait;
use futures::StreamExt;
use retake_core::{
    Action, Apply, AskCause, CallTarget, EffectClass, EffectState, EntryId, Intent, Mode, Part, Reason,
    SeenState, Steer,
};
use retake_engine::{
    AppliedFiles, Decision, Effects, Engine, ExportFormat, FileOptions, NoArguments, Outcome, Result,
    RunEvent, RunRequest, Scope, Start,
};
use retake_tools::{Call, Output, Sandbox, Sandboxed, ShellConfig, Tool};
use serde_json::{Value, json};

use super::{Desk, calls, engine_on, words};

/// A mail tool that sends nothing.
pub(super) struct Mail;

#[async_trait]
impl Tool for Mail {
    fn name(&self) -> &str {
        "mail"
    }

    fn about(&self) -> &str {
        "sends mail"
    }

    fn schema(&self) -> Value {
        json!({"type": "object"})
    }

    fn class(&self) -> EffectClass {
        EffectClass::External
    }

    fn needs_folder(&self) -> bool {
        false
    }

    fn intent(&self, arguments: &Value, _: &Path, _: &[PathBuf]) -> std::result::Result<Intent, String> {
        let line = format!("mail {arguments}");
        Ok(Intent { class: self.class(), touches: vec![CallTarget::Other], line, detail: None })
    }

    async fn call(&self, call: Call) -> Output {
        match call.arguments["to"].as_str() {
            Some("nobody") => std::future::pending().await,
            _ => Output::ok("sent"),
        }
    }
}

fn mail(to: &str) -> Vec<super::ModelOutput> {
    calls(&[("mail", json!({"to": to}))])
}

/// The lines of irreversible calls.
fn lines(effects: &Effects) -> Vec<&str> {
    effects.calls.iter().map(|call| call.arguments.as_deref().unwrap_or(&call.tool)).collect()
}

fn stop() -> FileOptions {
    FileOptions { stop: true, ..FileOptions::default() }
}

impl Desk {
    async fn turn_of(&self, name: &str) -> EntryId {
        self.engine.entry(self.id, name).await.expect("a turn")
    }

    async fn leaves(&self, engine: &Engine, action: Action) -> Effects {
        engine.plan_both(self.id, action, FileOptions::default()).await.expect("planned").effects
    }

    async fn does(&self, action: Action, seen: SeenState, options: FileOptions) -> Result<AppliedFiles> {
        let apply = Apply { action, seen, by: self.engine.by(None) };
        self.engine.apply_both(self.id, apply, options).await
    }

    /// Starts a turn that the model does not answer.
    async fn begins(&self, text: &str) -> futures::stream::BoxStream<'static, RunEvent> {
        let before = self.script.times();
        let events = self.say(text).await;
        while self.script.times() == before {
            tokio::task::yield_now().await;
        }
        events
    }

    /// Sends a message that waits for the active run.
    async fn waits(&self, text: &str) -> futures::stream::BoxStream<'static, RunEvent> {
        let start = Start::Say(vec![Part::text(text)], None);
        let request = RunRequest { steer: Some(Steer::Queue), ..self.request(start) };
        let mut events = self.engine.run(self.id, request).await.expect("taken");
        assert!(matches!(events.next().await, Some(RunEvent::Queued)));
        events
    }
}

#[tokio::test]
async fn an_external_call_is_in_the_plan_and_asked_about_again() {
    let desk = Desk::new(Mode::AllowAll).await;
    let both = calls(&[("mail", json!({"to": "ann"})), ("mail", json!({"to": "bob"}))]);
    desk.turn("write to them", vec![both, words("sent")]).await;
    let back = Action::Rewind(desk.turn_of("t1").await);
    let effects = desk.leaves(&desk.engine, back.clone()).await;
    assert_eq!(lines(&effects), [r#"{"to":"bob"}"#, r#"{"to":"ann"}"#]);
    assert!(effects.calls.iter().all(|call| call.state == EffectState::Done));
    let applied = desk.does(back, SeenState::Anything, FileOptions::default()).await.expect("rewound");
    assert_eq!(applied.effects, effects, "what was said before is said after");
    desk.script.then(mail("ann"));
    desk.script.then(words("then not"));
    let events = desk.say("write to ann").await;
    let mut again = Vec::new();
    let (_, told) = desk
        .follow(events, &mut |asks| {
            again.push(asks.again);
            assert_eq!(asks.cause, AskCause::RanBefore);
            assert!(asks.offers.is_empty(), "it would be asked under each of them: {:?}", asks.offers);
            Some(Decision::Deny(None))
        })
        .await;
    assert_eq!(again, [Some(effects.calls[1].began)], "{told:?}");
}

#[tokio::test]
async fn a_command_whose_network_is_closed_is_not_reported_and_not_asked_about_again() {
    let sandbox = Sandbox { temporary: Sandbox::temporary(), ..Sandbox::bare() };
    if sandbox.available(&[]) != Sandboxed::Full {
        return;
    }
    let shell = ShellConfig { sandbox: Some(sandbox), ..ShellConfig::default() };
    let desk = Desk::with(Mode::AllowAll, shell).await;
    let both = || {
        let (plain, asking) = (json!({"command": "touch a"}), json!({"command": "touch b", "network": true}));
        vec![calls(&[("shell", plain), ("shell", asking)]), words("done")]
    };
    let (_, told) = desk.turn("work", both()).await;
    assert_eq!(told[0], "$ touch a (workspace)");
    assert!(told.contains(&"with network: $ touch b (external)".to_owned()), "{told:?}");
    let back = Action::Rewind(desk.turn_of("t1").await);
    assert_eq!(lines(&desk.leaves(&desk.engine, back).await), [r#"{"command":"touch b","network":true}"#]);
    desk.rewind("t1").await;
    assert_eq!((desk.read("a"), desk.read("b")), (None, None));
    both().into_iter().for_each(|answer| desk.script.then(answer));
    let events = desk.say("again").await;
    let mut asked = Vec::new();
    let decide = &mut |asks: &retake_engine::PendingApproval| {
        asked.push((asks.call.line.clone(), asks.again.is_some()));
        Some(Decision::Once)
    };
    desk.follow(events, decide).await;
    assert_eq!(asked, [("with network: $ touch b".to_owned(), true)]);
}

#[tokio::test]
async fn a_command_that_reaches_nothing_else_is_not_reported_though_it_may_see_what_is_hidden() {
    let hidden = std::env::temp_dir().join("retake-hidden");
    let sandbox = Sandbox { temporary: Sandbox::temporary(), hide: vec![hidden], ..Sandbox::bare() };
    if !matches!(sandbox.available(&[]), Sandboxed::Exposed(_)) {
        return;
    }
    let shell = ShellConfig { sandbox: Some(sandbox), ..ShellConfig::default() };
    let desk = Desk::with(Mode::AllowAll, shell).await;
    let (plain, asking) = (json!({"command": "touch a"}), json!({"command": "touch b", "network": true}));
    let both = vec![calls(&[("shell", plain), ("shell", asking)]), words("done")];
    let (_, told) = desk.turn("work", both).await;
    assert_eq!(told[0], "$ touch a (external)", "whoever is asked about it hears what it might reach");
    let back = Action::Rewind(desk.turn_of("t1").await);
    assert_eq!(lines(&desk.leaves(&desk.engine, back).await), [r#"{"command":"touch b","network":true}"#]);
}

#[tokio::test]
async fn effects_are_listed_also_after_an_import_into_another_data_folder() {
    let (desk, mut other) = (Desk::new(Mode::AllowAll).await, Desk::new(Mode::AllowAll).await);
    desk.turn("write to ann", vec![mail("ann"), words("sent")]).await;
    let back = Action::Rewind(desk.turn_of("t1").await);
    let effects = desk.leaves(&desk.engine, back.clone()).await;
    let piece = desk.engine.export(desk.id, ExportFormat::Full, None).await.expect("exported");
    let lines: Vec<String> = piece.text.lines().map(str::to_owned).collect();
    assert_eq!(piece.cursor, None, "it is all of it");
    let import = other.engine.import_start(None, None, 0, None).conversation;
    other.engine.import_lines(import, 0, &lines).expect("taken");
    other.id = other.engine.import_end(import).await.expect("imported").conversation;
    assert_eq!(other.leaves(&other.engine, back.clone()).await, effects);
    assert_eq!(effects.count, 1);
    other.does(back, SeenState::Anything, FileOptions::default()).await.expect("rewound");
    other.script.then(mail("ann"));
    other.script.then(words("then not"));
    let mut again = Vec::new();
    let events = other.say("write to ann").await;
    let (_, told) = other
        .follow(events, &mut |asks| {
            again.push(asks.again);
            Some(Decision::Deny(None))
        })
        .await;
    assert_eq!(again, [Some(effects.calls[0].began)], "{told:?}");
}

#[tokio::test]
async fn many_calls_are_counted_and_the_last_ones_listed() {
    let desk = Desk::new(Mode::AllowAll).await;
    let names: Vec<String> = (0..14).map(|number| format!("a{number}")).collect();
    let all: Vec<_> = names.iter().map(|name| ("mail", json!({"to": name}))).collect();
    desk.turn("write to all", vec![calls(&all), words("sent")]).await;
    let effects = desk.leaves(&desk.engine, Action::Undo(1)).await;
    assert_eq!((effects.count, effects.calls.len()), (14, 10));
    assert_eq!(lines(&effects)[0], r#"{"to":"a13"}"#);
}

#[tokio::test]
async fn a_call_that_never_ended_is_reported_as_such_after_a_restart() {
    let desk = Desk::new(Mode::AllowAll).await;
    desk.script.then(mail("nobody"));
    let _events = desk.say("write").await;
    while desk.store.effects(desk.id, 9).await.expect("read").is_empty() {
        tokio::task::yield_now().await;
    }
    let next = engine_on(&desk.store, &desk.dir, &desk.script, Mode::AllowAll).await;
    // For the conversation only: the first owner has the files, as it never ended.
    let back = Action::Rewind(desk.turn_of("t1").await);
    let options = FileOptions { scope: Scope::Conversation, ..FileOptions::default() };
    let effects = next.plan_both(desk.id, back, options).await.expect("planned").effects;
    assert_eq!(lines(&effects), [r#"{"to":"nobody"}"#]);
    assert_eq!(effects.calls[0].state, EffectState::Begun);
}

#[tokio::test]
async fn hidden_and_erased_calls_are_not_listed() {
    let desk = Desk::new(Mode::AllowAll).await;
    for to in ["ann", "bob"] {
        desk.turn("write", vec![mail(to), words(to)]).await;
    }
    let back = Action::Rewind(desk.turn_of("t1").await);
    let hidden = desk.entry_with("calls mail").await;
    let hide = Action::Mark { verb: Reason::Hide, entries: vec![hidden], range: false, seen: None };
    assert_eq!(lines(&desk.leaves(&desk.engine, hide.clone()).await), [r#"{"to":"ann"}"#]);
    desk.apply(hide).await;
    assert_eq!(lines(&desk.leaves(&desk.engine, back.clone()).await), [r#"{"to":"bob"}"#]);
    let erased = desk.entry_with("calls mail").await;
    desk.erase(vec![erased], None).await;
    let effects = desk.leaves(&desk.engine, back).await;
    assert_eq!((lines(&effects), effects.calls[0].tool.as_str()), (vec![""], ""));
    assert_eq!(effects.calls[0].arguments, Err(NoArguments::Erased));
}

#[tokio::test]
async fn a_fork_knows_what_its_siblings_have_done() {
    let desk = Desk::new(Mode::AllowAll).await;
    desk.turn("hello", vec![words("hello")]).await;
    let here = desk.entry_with("hello").await;
    let fork = |entry| desk.engine.fork(desk.id, entry, None, desk.engine.by(None));
    let sibling = fork(Some(here)).await.expect("forked").conversation;
    desk.turn("write", vec![mail("ann"), words("sent")]).await;
    let child = fork(None).await.expect("forked").conversation;
    let plan = desk.engine.plan_both(child, Action::Rewind(desk.turn_of("t2").await), FileOptions::default());
    assert_eq!(lines(&plan.await.expect("planned").effects), [r#"{"to":"ann"}"#]);
    desk.script.then(mail("ann"));
    let request = desk.request(Start::Say(vec![Part::text("write")], None));
    let mut events = desk.engine.run(sibling, request).await.expect("started");
    let asks = loop {
        match events.next().await.expect("goes on") {
            RunEvent::Asks(asks) => break asks,
            RunEvent::Ended(ended) => panic!("nothing was asked: {ended:?}"),
            _ => {}
        }
    };
    assert!(asks.again.is_some(), "{:?}", asks.cause);
    desk.engine.cancel(sibling);
}

#[tokio::test]
async fn running_run_is_stopped_on_request_and_waiting_messages_return() {
    let desk = Desk::new(Mode::Ask).await;
    desk.turn("one", vec![words("1")]).await;
    let first = desk.begins("two").await;
    let second = desk.waits("three").await;
    let back = Action::Rewind(desk.turn_of("t1").await);
    let plan = desk.engine.plan_both(desk.id, back.clone(), FileOptions::default()).await.expect("planned");
    assert_eq!((plan.at_work, plan.waiting), (true, 1));
    let refused =
        desk.does(back.clone(), SeenState::Anything, FileOptions::default()).await.expect_err("at work");
    assert_eq!(refused.code, "run_active");
    let head = plan.conversation.expect("both").plan.head;
    let applied = desk.does(back, SeenState::Exactly(head), stop()).await.expect("rewound");
    let waited: Vec<_> = applied.waited.iter().flat_map(|words| words.parts.clone()).collect();
    assert_eq!(waited, [Part::text("three")]);
    assert!(desk.shows().await.is_empty() && !desk.engine.is_running(desk.id));
    assert!(desk.engine.waiting(desk.id).await.expect("read").is_empty());
    assert_eq!(desk.follow(first, &mut |_| None).await.0.outcome, Outcome::RolledBack);
    assert_eq!(desk.follow(second, &mut |_| None).await.0.outcome, Outcome::RolledBack);
}

#[tokio::test]
async fn compensation_by_a_stopped_run_is_not_repeated() {
    for undo in [true, false] {
        let desk = Desk::new(Mode::Ask).await;
        desk.turn("one", vec![words("1")]).await;
        let _events = desk.begins("two").await;
        let action = if undo { Action::Undo(1) } else { Action::Rewind(desk.turn_of("t2").await) };
        let applied = desk.does(action, SeenState::Anything, stop()).await.expect("done");
        assert_eq!(desk.shows().await, ["one", "1"]);
        assert_eq!((applied.receipt.ops.len(), applied.receipt.taken_back.messages), (1, 1));
        assert!(applied.receipt.composer.is_some(), "its words return");
    }
}

#[tokio::test]
async fn compensation_by_a_stopped_run_is_not_repeated_by_the_same_request() {
    for undo in [true, false] {
        let desk = Desk::new(Mode::Ask).await;
        desk.turn("one", vec![words("1")]).await;
        let _events = desk.begins("two").await;
        let action = if undo { Action::Undo(1) } else { Action::Rewind(desk.turn_of("t2").await) };
        let request = |action| Apply {
            action,
            seen: SeenState::Anything,
            by: desk.engine.by(Some("back".parse().expect("a request id"))),
        };
        let does = |action| desk.engine.apply_both(desk.id, request(action), stop());
        let first = does(action.clone()).await.expect("done").receipt;
        let again = does(action).await.expect("done already").receipt;
        assert_eq!((&again.ops, again.taken_back), (&first.ops, first.taken_back));
        assert_eq!(desk.shows().await, ["one", "1"]);
        let reused = does(Action::Undo(2)).await.expect_err("another request of this name");
        assert_eq!(reused.code, "request_reused");
    }
}

#[tokio::test]
async fn rewind_stops_the_run_and_removes_its_output() {
    let desk = Desk::new(Mode::Ask).await;
    desk.script.then(calls(&[("write", json!({"path": "a", "content": "x"}))]));
    let mut events = desk.say("one").await;
    while !matches!(events.next().await.expect("goes on"), RunEvent::Asks(_)) {}
    let back = Action::Rewind(desk.turn_of("t1").await);
    let head = desk.engine.plan(desk.id, back.clone()).await.expect("planned").plan.head;
    desk.does(back, SeenState::Exactly(head), stop()).await.expect("rewound");
    assert!(desk.shows().await.is_empty());
    assert_eq!(desk.follow(events, &mut |_| None).await.0.outcome, Outcome::Interrupted);
}

#[tokio::test]
async fn a_stale_step_ends_nothing_and_a_refused_one_lets_what_waits_go_on() {
    let desk = Desk::new(Mode::AllowAll).await;
    let old = desk.engine.kept().summary(desk.id).await.expect("it").head;
    let write = calls(&[("write", json!({"path": "a", "content": "x"}))]);
    desk.turn("one", vec![write, words("1")]).await;
    desk.apply(Action::Label(None, Some("here".into()))).await;
    let _first = desk.begins("two").await;
    let second = desk.waits("three").await;
    let back = || Action::Undo(2);
    let stale = desk.does(back(), SeenState::Exactly(old), stop()).await.expect_err("stale");
    assert!(stale.head.is_some() && desk.engine.is_running(desk.id), "{stale:?}");
    desk.script.then(words("3"));
    let other = FileOptions { seen: Some([9; 16]), ..stop() };
    let refused = desk.does(back(), SeenState::Anything, other).await.expect_err("another plan was seen");
    assert_eq!(refused.code, "stale_plan");
    assert_eq!(desk.follow(second, &mut |_| None).await.0.outcome, Outcome::Succeeded);
    assert_eq!(desk.shows().await, ["one", "calls write", "ok", "1", "three", "3"]);
}

/// Like a full disk: the ledger stores no row.
#[tokio::test]
async fn a_call_that_cannot_be_written_down_does_not_run() {
    let desk = Desk::new(Mode::AllowAll).await;
    let data = desk.dir.path().join("data/retake.db");
    let ledger =
        |sql: &str| rusqlite::Connection::open(&data).expect("opened").execute_batch(sql).expect("done");
    let make = |name: &str| {
        let both = [("shell", json!({"command": format!("touch {name}")})), ("mail", json!({"to": "ada"}))];
        vec![calls(&both)]
    };
    ledger("CREATE TRIGGER full BEFORE INSERT ON effect BEGIN SELECT RAISE(FAIL, 'full'); END");
    let (ended, told) = desk.turn("work", make("a")).await;
    assert_eq!(desk.read("a"), None, "{told:?}");
    assert!(ended.outcome != Outcome::Succeeded && ended.error.is_some(), "{ended:?}");
    ledger("DROP TRIGGER full");
    let mut script = make("b");
    script.push(words("done"));
    let (ended, told) = desk.turn("again", script).await;
    assert_eq!((ended.outcome, desk.read("b").as_deref()), (Outcome::Succeeded, Some("")), "{told:?}");
}
