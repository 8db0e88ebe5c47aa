//! Tests of retries: which errors, how often, after what wait. They never really wait.

use std::sync::Mutex;

use super::*;
use crate::clock::ManualClock;
use crate::ids::SeededRandom;
use crate::model::EndReason;
use ModelErrorKind::{Cut, Overloaded, RateLimited, Refused};

type Script = Vec<Result<Chunk, ModelErrorKind>>;

/// Plays one script for each call.
struct Scripted(Mutex<Vec<Script>>);

impl Model for Scripted {
    fn name(&self) -> &str {
        "test/scripted"
    }

    fn info(&self) -> ModelInfo {
        ModelInfo::default()
    }

    fn stream(&self, _: Prompt) -> BoxStream<'static, Result<Chunk, ModelError>> {
        let script = self.0.lock().expect("no panic").remove(0);
        let items =
            script.into_iter().map(|item| item.map_err(|kind| ModelError::new(kind, "test/scripted")));
        futures::stream::iter(items).boxed()
    }
}

const POLICY: RetryPolicy = RetryPolicy {
    tries: 3,
    first_wait: Duration::from_millis(400),
    longest_wait: Duration::from_millis(600),
    longest_retry_after: Duration::from_secs(60),
};

fn end() -> Result<Chunk, ModelErrorKind> {
    Ok(Chunk::End(EndReason::Stop))
}

fn text(text: &str) -> Result<Chunk, ModelErrorKind> {
    Ok(Chunk::Text(text.into()))
}

fn limited(seconds: u64) -> Result<Chunk, ModelErrorKind> {
    Err(RateLimited { retry_after: Some(Duration::from_secs(seconds)) })
}

/// The result of a call with these scripts, shortened, and the waits in milliseconds.
fn play(scripts: Vec<Script>) -> (Vec<String>, Vec<u128>) {
    let clock = ManualClock::skipping(0);
    let model = Arc::new(Scripted(Mutex::new(scripts)));
    let retrying = Retrying::new(model, POLICY, Arc::new(clock.clone()), Arc::new(SeededRandom::new(1)));
    let items = futures::executor::block_on(retrying.stream(Prompt::default()).collect::<Vec<_>>());
    let brief = items.into_iter().map(|item| match item {
        Ok(Chunk::Retry { kind, .. }) => format!("retry {}", kind.name()),
        Ok(Chunk::Text(text)) => format!("text {text}"),
        Ok(chunk) => format!("{chunk:?}"),
        Err(error) => format!("error {:?}", error.kind()),
    });
    (brief.collect(), clock.slept().iter().map(Duration::as_millis).collect())
}

#[test]
fn a_call_that_works_is_left_alone() {
    assert_eq!(play(vec![vec![text("a"), end()]]), (vec!["text a".into(), "End(Stop)".into()], vec![]));
}

#[test]
fn trouble_before_the_first_content_is_repeated_with_growing_waits() {
    let (items, waits) = play(vec![vec![Err(Overloaded)], vec![Err(Cut)], vec![text("a"), end()]]);
    assert_eq!(items, ["retry overloaded", "retry cut", "text a", "End(Stop)"]);
    assert!((200..400).contains(&waits[0]) && (300..600).contains(&waits[1]), "{waits:?}");
}

#[test]
fn tries_are_bounded_and_the_last_error_is_reported() {
    let (items, waits) = play(vec![vec![Err(Overloaded)], vec![Err(Overloaded)], vec![Err(Cut)]]);
    assert_eq!((items.last().map(String::as_str), waits.len()), (Some("error Cut"), 2));
}

#[test]
fn a_retry_after_is_kept_exactly_up_to_its_cap() {
    assert_eq!(play(vec![vec![limited(60)], vec![end()]]).1, [60_000]);
    let (items, waits) = play(vec![vec![limited(61)]]);
    assert!(items[0].starts_with("error RateLimited") && waits.is_empty(), "{items:?}");
}

#[test]
fn permanent_errors_are_not_retried() {
    assert_eq!(play(vec![vec![Err(Refused)]]), (vec!["error Refused".into()], vec![]));
}

#[test]
fn after_content_an_error_is_passed_on() {
    assert_eq!(play(vec![vec![text("a"), Err(Cut)]]), (vec!["text a".into(), "error Cut".into()], vec![]));
}

#[test]
fn usage_alone_is_no_content() {
    let usage = Ok(Chunk::Usage(retake_core::Usage::default()));
    assert_eq!(play(vec![vec![usage, Err(Cut)], vec![end()]]).1.len(), 1);
}
