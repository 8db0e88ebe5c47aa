//! Changes of one conversation by several concurrent clients, over connections that break: the result equals some order of them,
//! each once.

mod check;
mod hands;
mod model;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use super::world::{Desk, text};
use check::{Event, What, check};
use hands::Hands;
use model::{Act, Answer};

const CLIENTS: usize = 6;
const STEPS: usize = 60;

/// The number of additional operations, if this variable is set, in conversations of the usual length.
const OPERATIONS: &str = "RETAKE_MODEL_OPERATIONS";

/// The seeds of a run: a fixed one, and new ones.
fn seeds() -> impl Iterator<Item = u64> {
    let operations = std::env::var(OPERATIONS).map_or(0, |text| text.parse().expect("a number"));
    std::iter::once(1)
        .chain(std::iter::repeat_with(|| fastrand::u64(..)).take(1 + operations / (CLIENTS * STEPS)))
}

/// Runs clients concurrently; returns their requests and replies, and the final timeline.
async fn history(seed: u64, steps: usize) -> (Vec<Event>, Vec<model::Line>) {
    let desk = Desk::new().await;
    let of = desk.create(None, None).await;
    let reach = desk.reach();
    let clock = Arc::new(AtomicU64::new(1));
    let hands = (0..CLIENTS).map(|name| Hands::new(name, seed, reach.clone(), &of, Arc::clone(&clock)));
    let work: Vec<_> = hands.map(|hands| tokio::spawn(hands.work(steps))).collect();
    let mut history = Vec::new();
    for one in work {
        history.extend(one.await.unwrap_or_else(|error| panic!("seed {seed}: {error}")));
    }
    let (_, entries) = desk.timeline(&of).await;
    let line = |entry: &retake_wire::reply::Entry| {
        (entry.id.clone(), text(entry), entry.mark.name().to_owned(), entry.label.clone())
    };
    (history, entries.iter().map(line).collect())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn concurrent_requests_are_linearised_and_done_once() {
    for seed in seeds() {
        let (history, timeline) = history(seed, STEPS).await;
        let model = check(&history).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        assert_eq!(model.timeline(), timeline, "seed {seed}");
        let stale = |event: &&Event| {
            matches!(&event.what, What::Done { answer: Answer::Refused { head: Some(_), .. }, .. })
        };
        let sent_again =
            history.windows(2).filter(|two| two[0].request == two[1].request && !two[0].request.is_empty());
        assert!(history.iter().filter(stale).count() > 0, "seed {seed}: nobody was late");
        assert!(sent_again.count() > 0, "seed {seed}: nothing was sent twice");
    }
}

/// Each of these histories is a true one with one false event.
#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn impossible_history_is_found() {
    let (history, timeline) = history(2, 10).await;
    check(&history).expect("it is true");
    let is_done = |event: &Event| matches!(&event.what, What::Done { answer: Answer::Done { .. }, .. });
    let once = |event: &Event| history.iter().filter(|it| it.request == event.request).count() == 1;
    let done: Vec<usize> =
        (0..history.len()).filter(|at| is_done(&history[*at]) && once(&history[*at])).collect();
    let revision = |event: &Event| match &event.what {
        What::Done { receipt: Some(receipt), .. } => receipt.revision,
        _ => 0,
    };
    let last = history.iter().map(revision).max().expect("there are");
    let lies = |lie: &dyn Fn(&mut Vec<Event>)| {
        let mut told = history.clone();
        lie(&mut told);
        check(&told).expect_err("it is found")
    };
    let first = *done.iter().find(|at| revision(&history[**at]) < last).expect("one before the last");
    assert!(lies(&|it| drop(it.remove(first))).contains("nobody has the receipt"), "one is missing");
    let twice = lies(&|it| {
        let mut again = it[first].clone();
        if let What::Done { receipt: Some(receipt), .. } = &mut again.what {
            receipt.revision = last + 1;
        }
        it.push(again);
    });
    assert!(twice.contains("done twice"), "{twice}");
    let early = lies(&|it| {
        let at = it.iter().position(|event| revision(event) == last).expect("there");
        (it[at].from, it[at].to) = (0, 0);
    });
    assert!(early.contains("known before"), "{early}");
    let read = lies(&|it| {
        for event in it {
            if let What::Read { head, .. } = &mut event.what {
                *head = "99.99".to_owned();
            }
        }
    });
    assert!(read.contains("at no revision"), "{read}");
    // The final state was committed like this, whether or not a client read it meanwhile.
    let (_, there, ..) = timeline.last().expect("something is there");
    let mut told = history.clone();
    let said = told.iter_mut().find_map(|event| match &mut event.what {
        What::Done { act: Act::Say { text, .. }, answer: Answer::Done { .. }, .. } if text == there => {
            Some(text)
        }
        _ => None,
    });
    said.expect("it was said").push('!');
    assert!(check(&told).map_or(true, |model| model.timeline() != timeline), "other words were said");
}
