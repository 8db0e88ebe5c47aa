//! A client that requests a step and goes away leaves no incomplete step; an interrupted step is finished before anything
//! overwrites it.

use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use futures::future::poll_fn;
use retake_core::{Action, CheckMode};
use retake_engine::FileOptions;

use super::{Yard, a, three};

/// Polls a future this often, then drops it. Returns whether it was complete.
async fn let_go_after(looks: usize, work: impl Future) -> bool {
    let (mut work, mut left) = (pin!(work), looks);
    poll_fn(|context| {
        if left == 0 {
            return Poll::Ready(false);
        }
        left -= 1;
        work.as_mut().poll(context).map(|_| true)
    })
    .await
}

/// Nothing is open, and files and conversation agree.
async fn is_whole(yard: &Yard) {
    let rests = tokio::time::timeout(Duration::from_secs(10), yard.engine.at_rest());
    rests.await.expect("it comes to rest");
    assert!(yard.engine.kept().intents().await.expect("intents").is_empty());
    let turns = yard.turns().await;
    let made: Vec<_> = (1..=turns).map(|turn| format!("made{turn}")).collect();
    let there = yard.names().into_iter().filter(|name| name.starts_with("made")).collect::<Vec<_>>();
    assert_eq!((a(yard), there), (format!("{turns}\n"), made));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn step_is_completed_when_its_client_disconnects() {
    let yard = three().await;
    let mut over = 0;
    for looks in 1..=40 {
        for action in [yard.rewind("t2").await, Action::Undo(1)] {
            // A step of a client that is gone may still be at work.
            over += u64::from(let_go_after(looks, yard.apply(action, FileOptions::default())).await);
            is_whole(&yard).await;
        }
        while yard.turns().await < 3 {
            yard.undo().await;
        }
        is_whole(&yard).await;
        if over >= 2 {
            break;
        }
    }
    assert!(over >= 2, "it was waited for at last");
    yard.back("t1").await;
    is_whole(&yard).await;
}

#[tokio::test]
async fn interrupted_step_is_finished_before_the_next_one() {
    let yard = three().await;
    let workspace = yard.engine.kept().workspaces().await.expect("workspaces")[0].no;
    let staging = ".retake-staging-left".to_owned();
    yard.engine.kept().preparing(workspace, staging).await.expect("written down");
    // The start did not look for it.
    let yard = yard.restarted().await;
    assert_eq!(yard.engine.kept().intents().await.expect("intents").len(), 1);
    yard.back("t2").await;
    is_whole(&yard).await;
}

/// A reader during a step waits for it, and does not report it as interrupted.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_at_work_is_not_reported_as_interrupted() {
    let yard = three().await;
    for turn in 0..20 {
        let action = if turn % 2 == 0 { yard.rewind("t2").await } else { Action::Undo(1) };
        let (done, checked) =
            tokio::join!(yard.apply(action, FileOptions::default()), yard.engine.doctor(CheckMode::Look));
        done.expect("done");
        let checked = checked.expect("looked at");
        assert_eq!((checked.problems, checked.mended), (Vec::new(), Vec::new()), "{turn}");
        let (action, mended) = (Action::Undo(1), yard.engine.settle_files());
        let (_, mended) = tokio::join!(yard.plan(action, FileOptions::default()), mended);
        assert_eq!(mended.expect("looked at"), [""; 0]);
        is_whole(&yard).await;
    }
}
