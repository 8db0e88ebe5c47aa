//! A repeated run request: the model is called once, the receipts are the recorded ones, and another request with the
//! same id is refused.

use futures::StreamExt;
use futures::stream::BoxStream;
use retake_core::{Action, Apply, Part, Receipt, SeenState};
use retake_engine::{Ended, FileOptions, Outcome, Permit, Result, RunEvent, RunRequest, Start};
use retake_testkit::{ModelOutput, Table, ask, done, failure, text};

/// A request with an id.
fn request(table: &Table, id: &str, start: Start) -> RunRequest {
    let by = table.engine.by(Some(id.parse().expect("a request id")));
    RunRequest {
        start,
        model: None,
        steer: None,
        permit: Permit::default(),
        files: FileOptions::default(),
        seen: SeenState::Anything,
        by,
    }
}

/// The events of a run: the receipt it began with, and its end.
async fn told(mut events: BoxStream<'static, RunEvent>) -> (Option<Receipt>, Ended) {
    let Some(RunEvent::Started(began, ..)) = events.next().await else { panic!("not started") };
    loop {
        if let RunEvent::Ended(ended) = events.next().await.expect("an end") {
            return (began, ended);
        }
    }
}

/// Runs a request with these answers of the model.
async fn first(table: &Table, id: &str, start: Start, says: Vec<ModelOutput>) -> (Option<Receipt>, Ended) {
    let events = table.engine.run(table.id, request(table, id, start)).await.expect("started");
    table.puppet.until_called().await;
    let (_, model) = table.puppet.call();
    says.into_iter().for_each(|said| model.unbounded_send(said).expect("somebody listens"));
    drop(model);
    told(events).await
}

/// Sends it again; no model may be called.
async fn again(table: &Table, id: &str, start: Start) -> Result<(Option<Receipt>, Ended)> {
    Ok(told(table.engine.run(table.id, request(table, id, start)).await?).await)
}

/// The possible starts of a run in a conversation of two turns.
async fn starts(table: &Table) -> Vec<Start> {
    table.turn(ask("one"), vec![text("1"), done()]).await;
    table.turn(ask("two"), vec![text("2"), done()]).await;
    let prompt = table.engine.entry(table.id, "t2").await.expect("turn 2");
    let answer = table.newest().await;
    vec![ask("three"), Start::Edit(prompt, vec![Part::text("deux")]), Start::Retry(answer), Start::Answer]
}

#[tokio::test]
async fn store_case_22_a_run_is_made_once_and_tells_the_same_again() {
    for (number, start) in starts(&Table::new().await).await.into_iter().enumerate() {
        let table = Table::new().await;
        let mut all = starts(&table).await;
        let start = if matches!(start, Start::Answer) {
            table.turn(ask("three"), vec![failure()]).await;
            start
        } else {
            all.swap_remove(number)
        };
        let (began, ended) = first(&table, "r", start.clone(), vec![text("so"), done()]).await;
        let (shows, calls) = (table.shows().await, table.puppet.calls());
        let (began_again, ended_again) = again(&table, "r", start.clone()).await.expect("recorded");
        assert_eq!((began_again, ended_again.receipt), (began, ended.receipt), "{start:?}");
        assert_eq!((ended_again.outcome, ended_again.entry), (Outcome::Succeeded, ended.entry), "{start:?}");
        assert_eq!((table.shows().await, table.puppet.calls()), (shows.clone(), calls), "{start:?}");
        let other = again(&table, "r", ask("something else")).await.expect_err("another request");
        assert_eq!((other.code, table.shows().await), ("request_reused", shows), "{start:?}");
    }
}

#[tokio::test]
async fn unanswered_message_is_answered_now() {
    let table = Table::new().await;
    let (began, ended) = first(&table, "r", ask("hi"), vec![failure()]).await;
    assert_eq!(ended.outcome, Outcome::Failed);
    let (began_again, ended) = first(&table, "r", ask("hi"), vec![text("late"), done()]).await;
    assert_eq!((began_again, ended.outcome), (began, Outcome::Succeeded));
    assert_eq!(table.shows().await, "hi | late");
}

#[tokio::test]
async fn stopped_run_is_not_repeated_by_a_lost_reply() {
    let table = Table::new().await;
    let old = starts(&table).await;
    for (number, start) in old.into_iter().take(3).enumerate() {
        let id = format!("r{number}");
        let before = table.shows().await;
        let events = table.engine.run(table.id, request(&table, &id, start.clone())).await.expect("started");
        table.puppet.until_called().await;
        table.engine.cancel(table.id);
        assert_eq!(told(events).await.1.outcome, Outcome::RolledBack, "{start:?}");
        let calls = table.puppet.calls();
        let (_, ended) = again(&table, &id, start.clone()).await.expect("recorded");
        assert_eq!((ended.outcome, ended.error.expect("says so").code), (Outcome::Failed, "no_answer"));
        assert_eq!((table.shows().await, table.puppet.calls()), (before, calls), "{start:?}");
    }
}

#[tokio::test]
async fn an_answer_of_another_run_is_not_taken_for_this_ones() {
    let table = Table::new().await;
    let retry = starts(&table).await.swap_remove(2);
    let (_, failed) = first(&table, "r1", retry.clone(), vec![failure()]).await;
    assert_eq!(failed.outcome, Outcome::Failed);
    first(&table, "r2", retry.clone(), vec![text("second"), done()]).await;
    let (_, ended) = again(&table, "r1", retry).await.expect("recorded");
    assert_eq!((ended.outcome, ended.entry), (Outcome::Failed, None));
}

#[tokio::test]
async fn a_rewound_answer_has_its_receipts_still() {
    let table = Table::new().await;
    let (began, ended) = first(&table, "r", ask("hi"), vec![text("hello"), done()]).await;
    let back = Action::Rewind(table.engine.entry(table.id, "t1").await.expect("turn 1"));
    let apply = Apply { action: back, seen: SeenState::Anything, by: table.engine.by(None) };
    table.engine.apply(table.id, apply).await.expect("rewound");
    let (began_again, ended_again) = again(&table, "r", ask("hi")).await.expect("recorded");
    assert_eq!((began_again, ended_again.receipt), (began, ended.receipt));
    assert_eq!(table.shows().await, "");
}

#[tokio::test]
async fn a_run_that_begins_a_conversation_begins_one() {
    let table = Table::new().await;
    let begin = |start| table.engine.begin(None, request(&table, "r", start));
    let (made, events) = begin(ask("hi")).await.expect("begun");
    table.puppet.until_called().await;
    let (_, model) = table.puppet.call();
    model.unbounded_send(text("hello")).expect("somebody listens");
    model.unbounded_send(done()).expect("somebody listens");
    let (began, _) = told(events).await;
    let (again, events) = begin(ask("hi")).await.expect("begun");
    assert_eq!((again, told(events).await.0), (made, began));
    assert!(begin(ask("ho")).await.is_err_and(|error| error.code == "request_reused"));
}
