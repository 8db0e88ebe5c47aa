//! What captures can't see is reported by the plan that reverts its call, and by the receipt.

use std::fs;

use futures::StreamExt as _;
use retake_core::UncoveredReason;
use retake_engine::{FileOptions, RunEvent, Scope, Uncaptured, UnseenReason};

use super::{Yard, scope};

/// The remarks of a rewind, in plan and receipt.
async fn said(yard: &Yard, turn: &str, options: FileOptions) -> Uncaptured {
    let planned = yard.plan(yard.rewind(turn).await, options.clone()).await.unseen;
    let done = yard.apply(yard.rewind(turn).await, options).await.expect("done").unseen;
    assert_eq!(planned, done, "what was planned is what was done");
    planned
}

fn paths(said: &Uncaptured) -> Vec<(&str, UnseenReason)> {
    said.paths.iter().map(|(path, why)| (path.as_str(), why.clone())).collect()
}

/// A file that is too large, and nothing that a capture covers.
async fn large() -> Yard {
    let yard = Yard::with(&[]).await;
    for name in ["big", "still"] {
        fs::File::create(yard.path(name)).and_then(|file| file.set_len(200 << 20)).expect("made");
    }
    yard
}

const TOO_LARGE: UnseenReason = UnseenReason::NotCovered(UncoveredReason::TooLarge);

#[tokio::test]
async fn rewind_case_11_what_is_not_covered_and_was_changed_is_named() {
    let special = UnseenReason::NotCovered(UncoveredReason::Special);
    for options in [FileOptions::default(), scope(Scope::Files)] {
        let yard = large().await;
        yard.run("mkfifo ff").await;
        yard.run("echo covered > a; printf CHANGED >> big; rm ff; truncate -s 100M new").await;
        let told = said(&yard, "t2", options).await;
        assert_eq!(paths(&told), [("big", TOO_LARGE), ("ff", special.clone()), ("new", TOO_LARGE)]);
        let changed = fs::metadata(yard.path("big")).expect("it stays").len();
        assert_eq!((changed, yard.path("new").exists()), ((200 << 20) + 7, true));
    }
}

#[tokio::test]
async fn unchanged_or_kept_content_is_not_named() {
    let yard = large().await;
    yard.run("printf CHANGED >> big").await;
    yard.run("echo covered > a").await;
    assert_eq!(said(&yard, "t2", FileOptions::default()).await, Uncaptured::default());
    let only = yard.plan(yard.rewind("t1").await, scope(Scope::Conversation)).await;
    assert_eq!(only.unseen, Uncaptured::default());
    assert_eq!(paths(&said(&yard, "t1", FileOptions::default()).await), [("big", TOO_LARGE)]);
}

/// A repeated effect is one remaining effect, however many calls had it.
#[tokio::test]
async fn change_of_several_calls_is_named_once() {
    let yard = large().await;
    yard.run("printf CHANGED >> big").await;
    yard.run("printf CHANGED >> still").await;
    yard.run("printf CHANGED >> big").await;
    assert_eq!(paths(&said(&yard, "t3", FileOptions::default()).await), [("big", TOO_LARGE)]);
    let all = said(&yard, "t1", FileOptions::default()).await;
    assert_eq!(paths(&all), [("big", TOO_LARGE), ("still", TOO_LARGE)]);
    assert_eq!(all.more, 0);
}

#[tokio::test]
async fn a_call_that_could_not_be_looked_at_is_named() {
    let yard = Yard::with(&[("a", "one\n")]).await;
    let mut events = yard.started("echo two > a; rm -rf ../work", Some("do it")).await;
    while !matches!(events.next().await.expect("an end"), RunEvent::Ended(_)) {}
    fs::create_dir(yard.path("")).expect("another folder");
    let told = said(&yard, "t1", FileOptions::default()).await;
    assert!(told.blind.len() == 1 && told.more_blind == 0 && told.paths.is_empty(), "{told:?}");
    assert!(told.blind[0].0.asked[0].arguments.contains("echo two > a"), "{told:?}");
}
