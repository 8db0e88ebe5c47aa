//! Messages sent during a run: they wait, join it, or stop it; none is lost.

use std::task::Poll;

use futures::StreamExt;
use retake_core::{EntryId, Mode, NewRun, Part, Role, RunInput, SeenState, Steer, Time, Words, joined_text};
use retake_engine::{EngineError, FileOptions, Outcome, RunEvent, RunRequest, Start};
use serde_json::json;

use super::{Desk, calls, engine_on, words};

impl Desk {
    async fn steer(&self, text: &str, steer: Steer) -> futures::stream::BoxStream<'static, RunEvent> {
        let start = Start::Say(vec![Part::text(text)], None);
        let request = RunRequest { steer: Some(steer), ..self.request(start) };
        self.engine.run(self.id, request).await.expect("taken")
    }

    /// Waits until the model was called this often.
    pub(super) async fn until_asked(&self, times: usize) {
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

/// Whether the sender still waited for the store when the run before ended.
async fn words_begin_to_wait_as_the_run_ends() -> bool {
    let desk = Desk::new(Mode::Ask).await;
    desk.script.then(calls(&[("write", json!({"path": "a", "content": "x"}))]));
    let mut first = desk.say("one").await;
    let asks = loop {
        if let RunEvent::Asks(asks) = first.next().await.expect("goes on") {
            break asks;
        }
    };
    // The message is on its way to the store, and its sender waits until the run before is over.
    let mut second = Box::pin(desk.steer("two", Steer::Queue));
    let early = futures::poll!(second.as_mut());
    desk.script.then(words("1"));
    desk.script.then(words("2"));
    desk.engine.decide(desk.id, &asks.id, retake_engine::Decision::Deny(None)).expect("asked");
    assert_eq!(desk.follow(first, &mut |_| None).await.0.outcome, Outcome::Succeeded);
    let is_late = early.is_pending();
    let second = match early {
        Poll::Ready(waits) => waits,
        Poll::Pending => second.await,
    };
    assert_eq!(desk.follow(second, &mut |_| None).await.0.outcome, Outcome::Succeeded);
    assert_eq!(desk.shows().await, ["one", "calls write", "failed", "1", "two", "2"]);
    is_late
}

#[tokio::test]
async fn words_that_begin_to_wait_as_the_run_ends_are_answered_and_their_listener_hears_it() {
    // The store may be faster than the test; then it is tried again.
    for _ in 0..50 {
        if words_begin_to_wait_as_the_run_ends().await {
            return;
        }
    }
    panic!("the store was always faster");
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
async fn message_to_a_removed_turn_returns_to_its_author() {
    let desk = Desk::new(Mode::Ask).await;
    desk.turn("zero", vec![words("0")]).await;
    let gone = desk.entry_with("0").await;
    desk.apply(retake_core::Action::Undo(1)).await;
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

/// The last message of a person in the prompt, and its files.
fn prompt_of(desk: &Desk) -> (String, Vec<String>) {
    let asked = desk.script.asked();
    let prompt = asked.messages.iter().rev().find(|message| message.role == Role::User).expect("a prompt");
    let names = prompt.parts.iter().filter_map(|part| match part {
        Part::File { name, .. } => Some(name.clone()),
        _ => None,
    });
    (joined_text(&prompt.parts), names.collect())
}

/// A run that has read a file and now needs approval to write another.
async fn at_work(
    desk: &Desk,
) -> (futures::stream::BoxStream<'static, RunEvent>, retake_engine::PendingApproval) {
    desk.write("a.txt", "one\n");
    desk.write("notes.txt", "remember the milk\n");
    desk.script.then(calls(&[("read", json!({"path": "a.txt"}))]));
    desk.script.then(calls(&[("write", json!({"path": "b.txt", "content": "x"}))]));
    let mut events = desk.say("one").await;
    loop {
        if let RunEvent::Asks(asks) = events.next().await.expect("goes on") {
            return (events, asks);
        }
    }
}

#[tokio::test]
async fn words_that_waited_open_their_turn_as_others_do() {
    for steer in [Steer::Queue, Steer::Join] {
        let desk = Desk::new(Mode::Ask).await;
        let (first, asks) = at_work(&desk).await;
        let second = desk.steer("see @notes.txt and @missing.txt", steer).await;
        let third = desk.steer("and mind a.txt", steer).await;
        let typed: Vec<_> = desk.engine.waiting(desk.id).await.expect("read");
        assert_eq!(typed.iter().map(|words| words.parts.len()).collect::<Vec<_>>(), [1, 1]);
        desk.write("a.txt", "mine\n");
        desk.script.then(words("1"));
        desk.script.then(words("2"));
        desk.engine.decide(desk.id, &asks.id, retake_engine::Decision::Deny(None)).expect("asked");
        let (ended, of_first) = desk.follow(first, &mut |_| None).await;
        assert_eq!(ended.outcome, Outcome::Succeeded);
        assert_eq!(desk.follow(second, &mut |_| None).await.0.outcome, Outcome::Joined);
        let (ended, of_third) = desk.follow(third, &mut |_| None).await;
        let (expected, told) = match steer {
            Steer::Join => (Outcome::Joined, of_first),
            _ => (Outcome::Succeeded, of_third),
        };
        assert_eq!(ended.outcome, expected);
        assert!(told.iter().any(|line| line.contains("missing.txt")), "{steer:?}: {told:?}");
        let (text, files) = prompt_of(&desk);
        assert!(text.contains("see @notes.txt") && text.contains("and mind a.txt"), "{steer:?}: {text}");
        assert!(files.iter().any(|name| name.ends_with("notes.txt")), "{steer:?}: {files:?}");
        let heard: Vec<String> =
            desk.script.asked().messages.iter().map(|message| joined_text(&message.parts)).collect();
        let changed = heard.iter().filter(|text| text.contains("Changed: ") && text.contains("a.txt"));
        assert_eq!(changed.count(), 1, "{steer:?}: {heard:?}");
    }
}

impl Desk {
    /// A message that an earlier owner left waiting, in answer to this entry.
    async fn left_waiting(&self, text: &str, seen: EntryId) {
        let words = Words {
            parts: vec![Part::text(text)],
            author: "ann".into(),
            request: Some(format!("of-{text}").parse().expect("a request")),
            wording: None,
            time: Time(0),
            chat: None,
        };
        let seen = Some(self.store.meta(self.id, seen).await.expect("an entry").pos);
        let new = NewRun { words: Some(words), steer: Steer::Queue, seen, model: None };
        self.store.step_runs(self.id, vec![RunInput::Enqueue(new, Time(0))]).await.expect("waits");
    }

    async fn edited(&self, line: &str, text: &str) -> Result<Vec<String>, EngineError> {
        let (entry, parts) = (self.entry_with(line).await, vec![Part::text(text)]);
        let by = self.engine.by(None);
        let (_, back) =
            self.engine.edit(self.id, entry, parts, FileOptions::default(), SeenState::Anything, by).await?;
        Ok(back.waited.iter().map(|words| joined_text(&words.parts)).collect())
    }

    async fn words_waiting(&self) -> Vec<String> {
        let waiting = self.engine.waiting(self.id).await.expect("read");
        waiting.iter().map(|words| joined_text(&words.parts)).collect()
    }
}

fn writes(text: &str) -> Vec<super::ModelOutput> {
    calls(&[("write", json!({"path": "a.txt", "content": text}))])
}

#[tokio::test]
async fn words_that_a_crash_left_come_back_from_an_edit_without_a_model() {
    for answers in [vec![words("1")], vec![writes("x\n"), words("1")]] {
        let desk = Desk::new(Mode::AllowAll).await;
        desk.turn("one", answers).await;
        desk.left_waiting("left", desk.entry_with("1").await).await;
        assert_eq!(desk.edited("one", "uno").await.expect("edited"), ["left"]);
        assert_eq!((desk.shows().await, desk.words_waiting().await), (vec!["uno".to_owned()], Vec::new()));
        assert_eq!(desk.read("a.txt"), None, "the file goes along");
        desk.script.then(words("2"));
        desk.follow(desk.say("two").await, &mut |_| None).await;
        assert_eq!(desk.shows().await, ["uno", "two", "2"], "they are not said as well");
    }
}

#[tokio::test]
async fn words_wait_on_where_an_edit_is_refused() {
    let desk = Desk::new(Mode::AllowAll).await;
    desk.write("a.txt", "one\n");
    desk.turn("one", vec![calls(&[("read", json!({"path": "a.txt"}))]), writes("x\n"), words("1")]).await;
    desk.left_waiting("left", desk.entry_with("1").await).await;
    desk.left_waiting("more", desk.entry_with("1").await).await;
    desk.write("a.txt", "mine\n");
    let refused = desk.edited("one", "uno").await.expect_err("somebody else has written there");
    assert_eq!(refused.code, "conflict", "{refused:?}");
    assert_eq!(desk.words_waiting().await, ["left", "more"]);
    desk.script.then(words("2"));
    desk.follow(desk.say("two").await, &mut |_| None).await;
    let shows = desk.shows().await;
    assert!(shows.ends_with(&["two".into(), "left".into(), "more".into(), "2".into()]), "{shows:?}");
}

#[tokio::test]
async fn words_that_a_crash_left_come_back_to_who_is_answered_first() {
    let desk = Desk::new(Mode::AllowAll).await;
    desk.turn("one", vec![words("1")]).await;
    let gone = desk.entry_with("1").await;
    desk.apply(retake_core::Action::Undo(1)).await;
    desk.left_waiting("left", gone).await;
    let (ended, told) = desk.turn("two", vec![words("2")]).await;
    assert_eq!(ended.outcome, Outcome::Succeeded);
    assert!(told.iter().any(|line| line.contains("NotSent([\"left\"])")), "{told:?}");
    assert_eq!(
        (desk.shows().await, desk.words_waiting().await),
        (vec!["two".to_owned(), "2".into()], Vec::new())
    );
}

#[tokio::test]
async fn words_that_a_crash_left_behind_a_retry_come_back_to_who_is_answered_first() {
    let desk = Desk::new(Mode::AllowAll).await;
    desk.turn("one", vec![words("1")]).await;
    desk.turn("two", vec![words("2")]).await;
    let gone = desk.entry_with("2").await;
    desk.apply(retake_core::Action::Undo(1)).await;
    let _retry = desk.run(Start::Retry(desk.entry_with("1").await)).await;
    desk.until_asked(3).await;
    desk.left_waiting("left", gone).await;
    desk.left_waiting("more", gone).await;
    // The next start takes the retry back, which had no result.
    let engine = engine_on(&desk.store, &desk.dir, &desk.script, Mode::AllowAll).await;
    let desk = Desk { engine, ..desk };
    assert_eq!(
        (desk.shows().await, desk.words_waiting().await),
        (vec!["one".to_owned(), "1".into()], vec!["left".to_owned(), "more".into()])
    );
    let (ended, told) = desk.turn("three", vec![words("3")]).await;
    assert_eq!(ended.outcome, Outcome::Succeeded);
    assert!(told.iter().any(|line| line.contains("NotSent([\"left\", \"more\"])")), "{told:?}");
    assert_eq!(desk.shows().await, ["one", "1", "three", "3"]);
}
