//! Rates, holds and order, with a virtual clock. Must never wait.

mod order;
mod random;
mod refusals;

use std::time::Duration;

use retake_wire::chat::Place;

use super::{Bucket, Call, Hold, Next, Outcome, Pace, Purpose, Rate, WHOLE_ACCOUNT, Why, Work};

const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;

fn place(chat: &str) -> Place {
    Place { account: "a".to_owned(), chat: chat.to_owned(), thread: None }
}

fn work(id: u64, chat: &str, purpose: Purpose) -> Work {
    let call = if matches!(purpose, Purpose::Deletion { .. }) { Call::Delete } else { Call::Send };
    Work { id, place: place(chat), call, purpose }
}

fn deletion(id: u64, chat: &str, deadline_ms: Option<i64>, sent_ms: i64) -> Work {
    work(id, chat, Purpose::Deletion { deadline_ms, sent_ms })
}

fn pace(every_ms: u64, burst: u32) -> Pace {
    Pace { every: Duration::from_millis(every_ms), burst }
}

/// One call a second in a chat, thirty in the account.
fn rate() -> Rate {
    Rate::with_paces(pace(1000, 1), pace(33, 1))
}

fn wait(seconds: u64) -> Outcome {
    Outcome::Wait { wait: Duration::from_secs(seconds), bucket: None }
}

/// Runs all work with calls that take no time. Returns when each was made, and what was given up.
fn run(rate: &mut Rate, mut now: i64) -> Vec<(u64, Result<i64, Why>)> {
    let mut done = Vec::new();
    for _ in 0..100_000 {
        match rate.next(now) {
            Next::Run(work) => {
                done.push((work.id, Ok(now)));
                rate.settle(work.id, Outcome::Over, now);
            }
            Next::GiveUp(work, why) => done.push((work.id, Err(why))),
            Next::At(at) => {
                assert!(at > now, "it would be asked again at once");
                now = at;
            }
            Next::Idle => return done,
            Next::Probe(..) => panic!("nothing was refused"),
        }
    }
    panic!("it does not end");
}

fn ids(done: &[(u64, Result<i64, Why>)]) -> Vec<u64> {
    done.iter().map(|(id, _)| *id).collect()
}

/// The next call, which must be one that may be made now.
fn next_id(rate: &mut Rate, now: i64) -> u64 {
    match rate.next(now) {
        Next::Run(work) => work.id,
        other => panic!("{other:?}"),
    }
}

#[test]
fn gateways_case_27_wait_of_40_seconds_holds_one_chat_only() {
    let mut rate = rate();
    rate.add(work(1, "slow", Purpose::Answer));
    assert_eq!(next_id(&mut rate, 0), 1);
    rate.settle(1, wait(40), 10);
    rate.add(work(2, "other", Purpose::Answer));
    assert_eq!(next_id(&mut rate, 33), 2);
    rate.settle(2, Outcome::Over, 40);
    let Next::At(at) = rate.next(50) else { panic!("nothing to do yet") };
    assert!((40_010..=41_010).contains(&at), "{at}");
    assert_eq!(rate.next(at - 1), Next::At(at));
    assert_eq!(next_id(&mut rate, at), 1);
}

#[test]
fn gateways_case_29_hold_is_in_force_after_a_restart() {
    let mut before = rate();
    before.hold(&place("c"), Call::Send, Duration::from_secs(40), None, 0);
    before.hold(&place("d"), Call::Delete, Duration::from_secs(50), Some("x"), 0);
    let holds = before.holds(SECOND);
    let mut after = rate();
    for hold in &holds {
        let bucket: Bucket = hold.bucket.to_string().parse().unwrap();
        after.restore(&Hold { bucket, ..hold.clone() });
    }
    assert_eq!(after.holds(SECOND), holds);
    after.add(work(1, "c", Purpose::Answer));
    after.add(deletion(2, "d", None, 0));
    after.add(work(3, "d", Purpose::Answer));
    let done = run(&mut after, SECOND);
    assert_eq!(done, [(3, Ok(SECOND)), (1, Ok(40_500)), (2, Ok(50_500))]);
    assert_eq!(after.holds(60 * SECOND), []);
}

#[test]
fn hold_is_never_shortened_and_never_longer_than_a_week() {
    let mut rate = rate();
    rate.hold(&place("c"), Call::Send, Duration::from_secs(40), None, 0);
    rate.hold(&place("c"), Call::Send, Duration::from_secs(1), None, SECOND);
    assert_eq!(rate.holds(0)[0].until_ms, 40_500);
    rate.hold(&place("c"), Call::Send, Duration::MAX, None, 0);
    assert_eq!(rate.holds(0)[0].until_ms, 7 * 24 * HOUR + 500);
}

#[test]
fn hold_of_a_named_bucket_is_for_its_kind_of_call() {
    let mut rate = rate();
    rate.add(deletion(1, "c", None, 0));
    assert_eq!(next_id(&mut rate, 0), 1);
    let bucket = Some("deletes".to_owned());
    rate.settle(1, Outcome::Wait { wait: Duration::from_secs(40), bucket }, 0);
    rate.add(work(2, "c", Purpose::Answer));
    assert_eq!(run(&mut rate, SECOND), [(2, Ok(SECOND)), (1, Ok(40_500))]);
}

#[test]
fn hold_of_the_account_is_for_all_chats() {
    let mut rate = rate();
    rate.hold(&place("c"), Call::Send, Duration::from_secs(40), Some(WHOLE_ACCOUNT), 0);
    rate.add(work(1, "d", Purpose::Waiting));
    assert_eq!(run(&mut rate, 0), [(1, Ok(40_500))]);
}

#[test]
fn burst_is_spent_first_and_comes_back_slowly() {
    let mut rate = Rate::with_paces(pace(1000, 3), pace(0, 1));
    for id in 1..=5 {
        rate.add(work(id, "c", Purpose::Answer));
    }
    assert_eq!(
        run(&mut rate, 10_000).iter().map(|(_, at)| at.unwrap() - 10_000).collect::<Vec<_>>(),
        [0, 0, 0, 1000, 2000]
    );
}

#[test]
fn named_bucket_has_the_rate_that_the_platform_says() {
    let mut rate = Rate::with_paces(pace(0, 1), pace(0, 1));
    rate.hold(&place("c"), Call::Send, Duration::ZERO, Some("x"), 0);
    rate.set_pace("x", pace(5000, 1));
    rate.add(work(1, "c", Purpose::Answer));
    rate.add(work(2, "c", Purpose::Answer));
    assert_eq!(run(&mut rate, SECOND), [(1, Ok(SECOND)), (2, Ok(6 * SECOND))]);
}

#[test]
fn preview_is_dropped_if_it_would_wait_or_let_others_wait() {
    let mut rate = rate();
    assert!(rate.preview(&place("c"), Call::Send, 0));
    assert!(!rate.preview(&place("c"), Call::Edit, 999), "its chat has no token");
    assert!(rate.preview(&place("c"), Call::Edit, 1000));
    rate.hold(&place("c"), Call::Edit, Duration::from_secs(5), None, 1000);
    assert!(!rate.preview(&place("c"), Call::Edit, 5000), "a hold");
    rate.add(work(1, "d", Purpose::Answer));
    assert!(!rate.preview(&place("e"), Call::Edit, 7000), "a call that could be made now");
    assert_eq!(next_id(&mut rate, 7000), 1);
    assert!(!rate.preview(&place("d"), Call::Edit, 9000), "a call is being made in its chat");
    assert!(rate.preview(&place("e"), Call::Edit, 9000));
    assert_eq!(rate.next(99_000), Next::Idle, "none was queued");
}

#[test]
fn call_that_failed_is_made_again_at_its_time_and_a_cancelled_one_never() {
    let mut rate = rate();
    for id in 1..=3 {
        rate.add(work(id, "c", Purpose::Answer));
    }
    assert_eq!(next_id(&mut rate, 0), 1);
    assert!(!rate.cancel(1), "it is being made");
    rate.settle(1, Outcome::Again(9000), 0);
    assert!(rate.cancel(2) && !rate.cancel(2));
    assert_eq!(run(&mut rate, 0), [(1, Ok(9000)), (3, Ok(10_000))]);
}
