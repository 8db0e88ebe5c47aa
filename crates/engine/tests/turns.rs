//! Turns with a model controlled by the test: what is stored when it answers, is stopped, fails, or dies.

use std::time::Duration;

use futures::StreamExt;
use retake_core::{Action, Apply, Part, Role, SeenState, Steer, Usage};
use retake_engine::model::{Chunk, Effort, ModelInfo};
use retake_engine::{FileOptions, Notice, Outcome, Permit, RunEvent, RunRequest, Start};
use retake_testkit::{Table, ask, done, ended, failure, start, text};

#[tokio::test]
async fn an_answer_is_stored_whole_with_its_usage() {
    let table = Table::new().await;
    let usage = Usage { input_tokens: Some(7), ..Usage::default() };
    let says = vec![text("hel"), text("lo"), Ok(Chunk::Usage(usage)), done()];
    let ended = table.turn(ask("hi"), says).await;
    assert_eq!((ended.outcome, table.shows().await.as_str()), (Outcome::Succeeded, "hi | hello"));
    let (prompt, _) = table.puppet.call();
    assert_eq!(prompt.system.as_deref(), Some("be kind"));
    assert_eq!(prompt.messages.len(), 1);
    let messages = table.store.prompt(table.id, None).await.expect("a prompt");
    assert_eq!(messages[1].model.as_deref(), Some("test/puppet"));
    table.turn(ask("more"), vec![text("ok"), done()]).await;
    assert_eq!(table.puppet.call().0.messages.len(), 3);
}

#[tokio::test]
async fn a_run_says_that_an_effort_is_not_sent() {
    for (takes_effort, is_said) in [(None, true), (Some(false), true), (Some(true), false)] {
        let table = Table::new().await;
        let effort = Some(Effort::High);
        table.puppet.is_known(ModelInfo { effort, takes_effort, ..ModelInfo::default() });
        let events = table.run(ask("hi")).await;
        table.puppet.until_called().await;
        let answer = table.puppet.call().1;
        for output in [text("1"), done()] {
            answer.unbounded_send(output).expect("somebody listens");
        }
        drop(answer);
        let events: Vec<RunEvent> = events.collect().await;
        let notices: Vec<_> =
            events.into_iter().filter(|event| matches!(event, RunEvent::Notice(_))).collect();
        let expected = matches!(
            &notices[..],
            [RunEvent::Notice(Notice::EffortNotSent { model, effort: Effort::High })] if model == "test/puppet"
        );
        assert_eq!((expected, notices.is_empty()), (is_said, !is_said), "{takes_effort:?}: {notices:?}");
    }
}

#[tokio::test]
async fn stopped_before_any_output_the_turn_is_taken_back() {
    let table = Table::new().await;
    table.turn(ask("one"), vec![text("1"), done()]).await;
    let mut events = table.run(ask("two")).await;
    table.until_called(&mut events).await;
    assert!(table.engine.cancel(table.id));
    let ended = ended(events).await;
    assert_eq!(ended.outcome, Outcome::RolledBack);
    let receipt = ended.receipt.expect("a receipt");
    let words = table.store.content(table.id, receipt.composer.expect("words")).await.expect("content");
    assert_eq!(words, [Part::text("two")]);
    assert_eq!(table.shows().await, "one | 1");
    table.undo().await;
    assert_eq!(table.shows().await, "", "what was stopped is no step of the undo history");
    assert!(!table.engine.cancel(table.id));
}

#[tokio::test]
async fn stopped_after_some_output_it_is_kept() {
    let table = Table::new().await;
    let mut events = table.run(ask("story")).await;
    table.until_called(&mut events).await;
    table.puppet.call().1.unbounded_send(text("once upon")).expect("somebody listens");
    assert!(matches!(events.next().await, Some(RunEvent::Text(_))));
    table.engine.cancel(table.id);
    let ended = ended(events).await;
    assert_eq!((ended.outcome, table.shows().await.as_str()), (Outcome::Interrupted, "story | once upon…"));
    assert!(table.store.streams().await.expect("streams").is_empty());
}

#[tokio::test]
async fn failed_before_any_output_the_prompt_stays() {
    let table = Table::new().await;
    let ended = table.turn(ask("hi"), vec![failure()]).await;
    assert_eq!((ended.outcome, table.shows().await.as_str()), (Outcome::Failed, "hi"));
    let error = ended.error.expect("an error");
    assert!(!error.remedies.is_empty(), "{error}");
    let targets = table.store.targets(table.id, None, 9).await.expect("targets");
    assert_eq!(targets.len(), 1, "an unanswered turn is a target like any other");
    let ended = table.turn(Start::Answer, vec![text("late"), done()]).await;
    assert_eq!((ended.outcome, table.shows().await.as_str()), (Outcome::Succeeded, "hi | late"));
}

#[tokio::test]
async fn cut_after_some_output_it_is_kept_with_the_error() {
    let table = Table::new().await;
    let ended = table.turn(ask("hi"), vec![text("half"), failure()]).await;
    assert_eq!((ended.outcome, table.shows().await.as_str()), (Outcome::Interrupted, "hi | half…"));
    assert!(ended.error.is_some());
}

#[tokio::test]
async fn a_retry_that_fails_or_is_stopped_leaves_the_old_answer() {
    let table = Table::new().await;
    table.turn(ask("hi"), vec![text("old"), done()]).await;
    let old = table.newest().await;
    let ended_badly = table.turn(Start::Retry(old), vec![failure()]).await;
    assert_eq!((ended_badly.outcome, table.shows().await.as_str()), (Outcome::Failed, "hi | old"));
    let mut events = table.run(Start::Retry(old)).await;
    table.until_called(&mut events).await;
    table.engine.cancel(table.id);
    assert_eq!(ended(events).await.outcome, Outcome::RolledBack);
    assert_eq!(table.shows().await, "hi | old");
    let empty = table.turn(Start::Retry(old), vec![done()]).await;
    assert_eq!((empty.outcome, table.shows().await.as_str()), (Outcome::Failed, "hi | old"));
    table.turn(Start::Retry(old), vec![text("new"), done()]).await;
    assert_eq!(table.shows().await, "hi | new");
    assert_eq!(table.puppet.call().0.variant, 1);
    table.undo().await;
    assert_eq!(table.shows().await, "hi | old");
}

#[tokio::test]
async fn an_edit_is_a_sibling_and_stopping_it_brings_everything_back() {
    let table = Table::new().await;
    table.turn(ask("hi"), vec![text("one"), done()]).await;
    let prompt = table.engine.entry(table.id, "t1").await.expect("turn 1");
    let mut events = table.run(Start::Edit(prompt, vec![Part::text("hello")])).await;
    table.until_called(&mut events).await;
    assert_eq!(table.shows().await, "hello");
    table.engine.cancel(table.id);
    let stopped = ended(events).await;
    let words = stopped.receipt.and_then(|receipt| receipt.composer).expect("words");
    assert_eq!(table.store.content(table.id, words).await.expect("content"), [Part::text("hello")]);
    assert_eq!(table.shows().await, "hi | one");
    table.turn(Start::Edit(prompt, vec![Part::text("hello")]), vec![text("two"), done()]).await;
    assert_eq!(table.shows().await, "hello | two");
}

#[tokio::test]
async fn while_a_model_answers_nothing_goes_back() {
    let table = Table::new().await;
    let mut events = table.run(ask("hi")).await;
    table.until_called(&mut events).await;
    let undo = Apply { action: Action::Undo(1), seen: SeenState::Anything, by: table.engine.by(None) };
    let refused = table.engine.apply(table.id, undo).await.expect_err("refused");
    assert_eq!(refused.code, "run_active");
    let request = RunRequest {
        start: ask("too"),
        model: None,
        steer: None,
        permit: Permit::default(),
        files: FileOptions::default(),
        seen: SeenState::Anything,
        by: table.engine.by(None),
    };
    assert!(table.engine.run(table.id, request).await.is_err_and(|error| error.code == "run_active"));
    assert_eq!(table.shows().await, "hi");
    table.engine.cancel(table.id);
    ended(events).await;
}

#[tokio::test]
async fn another_answer_ends_the_run_at_work_first_on_request() {
    let table = Table::new().await;
    table.turn(ask("hi"), vec![text("old"), done()]).await;
    let old = table.newest().await;
    let mut events = table.run(ask("more")).await;
    table.until_called(&mut events).await;
    let (_, model) = table.puppet.call();
    model.unbounded_send(text("half")).expect("somebody listens");
    assert!(matches!(events.next().await, Some(RunEvent::Text(_))));
    let seen = SeenState::Exactly(table.store.summary(table.id).await.expect("a summary").head);
    let retry = |stop| RunRequest {
        start: Start::Retry(old),
        model: None,
        steer: None,
        permit: Permit::default(),
        files: FileOptions { stop, ..FileOptions::default() },
        seen,
        by: table.engine.by(None),
    };
    let refused = table.engine.run(table.id, retry(false)).await;
    assert!(refused.is_err_and(|error| error.code == "run_active"));
    let mut again = table.engine.run(table.id, retry(true)).await.expect("begun");
    assert_eq!(ended(events).await.outcome, Outcome::Interrupted);
    table.until_called(&mut again).await;
    let (_, model) = table.puppet.call();
    for event in [text("new"), done()] {
        model.unbounded_send(event).expect("somebody listens");
    }
    drop(model);
    assert_eq!(ended(again).await.outcome, Outcome::Succeeded);
    assert_eq!(table.shows().await, "hi | new");
}

#[tokio::test]
async fn a_crash_in_mid_stream_loses_no_more_than_a_second() {
    let table = Table::new().await;
    let mut events = table.run(ask("story")).await;
    table.until_called(&mut events).await;
    let (_, model) = table.puppet.call();
    model.unbounded_send(text("saved")).expect("somebody listens");
    assert!(matches!(events.next().await, Some(RunEvent::Text(_))));
    table.clock.advance(Duration::from_secs(1));
    while table.store.streams().await.expect("streams").is_empty() {
        tokio::task::yield_now().await;
    }
    let again = start(&table.store, &table.clock, &table.puppet, 2).await;
    assert_eq!(table.shows().await, "story | saved…");
    assert!(!again.is_running(table.id));
    assert!(table.store.streams().await.expect("streams").is_empty());
}

#[tokio::test]
async fn a_run_after_the_end_of_the_engine_is_refused_before_anything_is_stored() {
    let table = Table::new().await;
    table.turn(ask("one"), vec![text("1"), done()]).await;
    table.engine.finish(Duration::from_secs(1)).await;
    for steer in [None, Some(Steer::Queue)] {
        let request = RunRequest {
            start: ask("two"),
            model: None,
            steer,
            permit: Permit::default(),
            files: FileOptions::default(),
            seen: SeenState::Anything,
            by: table.engine.by(None),
        };
        let refused = table.engine.run(table.id, request).await;
        assert_eq!(refused.err().map(|error| error.code), Some("owner_leaving"));
    }
    assert_eq!(table.shows().await, "one | 1");
    assert!(table.engine.running().is_empty());
}

#[tokio::test]
async fn an_empty_message_is_refused_before_anything_is_stored() {
    let table = Table::new().await;
    let request = RunRequest {
        start: ask("  \n"),
        model: None,
        steer: None,
        permit: Permit::default(),
        files: FileOptions::default(),
        seen: SeenState::Anything,
        by: table.engine.by(None),
    };
    assert!(table.engine.run(table.id, request).await.is_err_and(|error| error.code == "usage"));
    assert_eq!(table.shows().await, "");
    let names = table.engine.entry(table.id, "nothing").await.expect_err("unknown");
    assert_eq!(names.code, "unknown_entry");
    let role = Role::from_name("user").expect("a role");
    assert_eq!(role, Role::User);
}
