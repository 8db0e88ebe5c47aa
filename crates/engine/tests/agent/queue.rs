//! Words that are said while a run goes on: they wait, join it, or stop it; none is lost.

use futures::StreamExt;
use retake_core::{Mode, Part, Steer};
use retake_engine::{Outcome, RunEvent, RunRequest, Start};
use serde_json::json;

use super::{Desk, calls, words};

impl Desk {
    async fn steer(&self, text: &str, steer: Steer) -> futures::stream::BoxStream<'static, RunEvent> {
        let start = Start::Say(vec![Part::text(text)], None);
        let request = RunRequest { steer: Some(steer), ..self.request(start) };
        self.engine.run(self.id, request).await.expect("taken")
    }

    /// Waits until the model was asked so often.
    async fn until_asked(&self, times: usize) {
        while self.script.times() < times {
            tokio::task::yield_now().await;
        }
    }
}

#[tokio::test]
async fn interrupting_words_stop_the_run_and_are_answered() {
    let desk = Desk::new(Mode::Ask).await;
    let first = desk.say("one").await;
    desk.until_asked(1).await;
    desk.script.then(words("two it is"));
    let second = desk.steer("no, two", Steer::Interrupt).await;
    let (ended, _) = desk.follow(first, &mut |_| None).await;
    assert_eq!(ended.outcome, Outcome::RolledBack, "nothing had come of it");
    let (ended, _) = desk.follow(second, &mut |_| None).await;
    assert_eq!(ended.outcome, Outcome::Succeeded, "{:?}", ended.error);
    assert_eq!(desk.shows().await, ["no, two", "two it is"]);
}

#[tokio::test]
async fn words_that_wait_are_answered_after_the_run() {
    let desk = Desk::new(Mode::Ask).await;
    desk.script.then(calls(&[("write", json!({"path": "a", "content": "x"}))]));
    let mut first = desk.say("one").await;
    let asks = loop {
        if let RunEvent::Asks(asks) = first.next().await.expect("goes on") {
            break asks;
        }
    };
    let mut second = desk.steer("two", Steer::Queue).await;
    assert!(matches!(second.next().await, Some(RunEvent::Queued)));
    let third = desk.steer("three", Steer::Queue).await;
    let waiting = desk.engine.waiting(desk.id).await.expect("read");
    assert_eq!(waiting.len(), 2);
    desk.script.then(words("1"));
    desk.script.then(words("2 and 3"));
    desk.engine.decide(desk.id, &asks.id, retake_engine::Decision::Deny(None)).expect("asked");
    assert_eq!(desk.follow(first, &mut |_| None).await.0.outcome, Outcome::Succeeded);
    assert_eq!(desk.follow(second, &mut |_| None).await.0.outcome, Outcome::Joined);
    assert_eq!(desk.follow(third, &mut |_| None).await.0.outcome, Outcome::Succeeded);
    assert_eq!(desk.shows().await, ["one", "calls write", "failed", "1", "two", "three", "2 and 3"]);
}

#[tokio::test]
async fn words_join_before_the_model_is_asked_again() {
    let desk = Desk::new(Mode::Ask).await;
    desk.script.then(calls(&[("write", json!({"path": "a", "content": "x"}))]));
    let mut first = desk.say("one").await;
    let asks = loop {
        if let RunEvent::Asks(asks) = first.next().await.expect("goes on") {
            break asks;
        }
    };
    let second = desk.steer("mind the gap", Steer::Join).await;
    desk.script.then(words("minded"));
    desk.engine.decide(desk.id, &asks.id, retake_engine::Decision::Once).expect("asked");
    assert_eq!(desk.follow(first, &mut |_| None).await.0.outcome, Outcome::Succeeded);
    assert_eq!(desk.follow(second, &mut |_| None).await.0.outcome, Outcome::Joined);
    assert_eq!(desk.shows().await, ["one", "calls write", "ok", "mind the gap", "minded"]);
    desk.rewind("t2").await;
    assert_eq!(desk.shows().await, ["one", "calls write", "ok"], "what joined is a turn to go back to");
}

#[tokio::test]
async fn words_that_wait_can_be_taken_back() {
    let desk = Desk::new(Mode::Ask).await;
    let first = desk.say("one").await;
    desk.until_asked(1).await;
    let second = desk.steer("two", Steer::Queue).await;
    let back = desk.engine.unqueue(desk.id).await.expect("taken back");
    assert_eq!(back.len(), 1);
    assert_eq!(desk.follow(second, &mut |_| None).await.0.outcome, Outcome::RolledBack);
    desk.engine.cancel(desk.id);
    desk.follow(first, &mut |_| None).await;
    assert!(desk.shows().await.is_empty());
}

#[tokio::test]
async fn words_that_begin_to_wait_as_the_run_ends_are_answered_and_their_listener_hears_it() {
    let desk = Desk::new(Mode::Ask).await;
    desk.script.then(calls(&[("write", json!({"path": "a", "content": "x"}))]));
    let mut first = desk.say("one").await;
    let asks = loop {
        if let RunEvent::Asks(asks) = first.next().await.expect("goes on") {
            break asks;
        }
    };
    // The words are on their way to the store, and whoever says them gets no further until the run before them is over.
    let mut second = Box::pin(desk.steer("two", Steer::Queue));
    assert!(futures::poll!(second.as_mut()).is_pending());
    desk.script.then(words("1"));
    desk.script.then(words("2"));
    desk.engine.decide(desk.id, &asks.id, retake_engine::Decision::Deny(None)).expect("asked");
    assert_eq!(desk.follow(first, &mut |_| None).await.0.outcome, Outcome::Succeeded);
    let second = second.await;
    assert_eq!(desk.follow(second, &mut |_| None).await.0.outcome, Outcome::Succeeded);
    assert_eq!(desk.shows().await, ["one", "calls write", "failed", "1", "two", "2"]);
}

#[tokio::test]
async fn words_that_answer_a_prompt_keep_it_when_they_stop_its_run() {
    let desk = Desk::new(Mode::Ask).await;
    let first = desk.say("one").await;
    desk.until_asked(1).await;
    let prompt = desk.entry_with("one").await;
    desk.script.then(words("two it is"));
    let start = Start::Say(vec![Part::text("no, two")], Some(prompt));
    let request = RunRequest { steer: Some(Steer::Interrupt), ..desk.request(start) };
    let second = desk.engine.run(desk.id, request).await.expect("taken");
    assert_eq!(desk.follow(first, &mut |_| None).await.0.outcome, Outcome::Interrupted);
    let (ended, _) = desk.follow(second, &mut |_| None).await;
    assert_eq!(ended.outcome, Outcome::Succeeded, "{:?}", ended.error);
    assert_eq!(desk.shows().await, ["one", "no, two", "two it is"]);
}

#[tokio::test]
async fn words_to_what_is_gone_before_their_turn_comes_back_to_who_said_them() {
    let desk = Desk::new(Mode::Ask).await;
    desk.turn("zero", vec![words("0")]).await;
    let gone = desk.entry_with("0").await;
    desk.apply(retake_engine::store::Action::Undo(1)).await;
    desk.script.then(calls(&[("write", json!({"path": "a", "content": "x"}))]));
    let mut first = desk.say("one").await;
    let asks = loop {
        if let RunEvent::Asks(asks) = first.next().await.expect("goes on") {
            break asks;
        }
    };
    for (text, steer) in [("two", Steer::Join), ("three", Steer::Queue)] {
        let start = Start::Say(vec![Part::text(text)], Some(gone));
        let request = RunRequest { steer: Some(steer), ..desk.request(start) };
        let second = desk.engine.run(desk.id, request).await.expect("taken");
        if steer == Steer::Join {
            desk.script.then(calls(&[("write", json!({"path": "b", "content": "x"}))]));
            desk.engine.decide(desk.id, &asks.id, retake_engine::Decision::Deny(None)).expect("asked");
        } else {
            desk.engine.cancel(desk.id);
        }
        let (ended, _) = desk.follow(second, &mut |_| None).await;
        assert_eq!(ended.error.map(|error| error.code), Some("skipped"), "{text}");
    }
    while !matches!(first.next().await, Some(RunEvent::Ended(_))) {}
    assert_eq!(desk.shows().await[0], "one");
}
