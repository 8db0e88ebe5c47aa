//! What happens after a 403: cases 39, 57 and 62 of the specification.

use super::*;
use crate::adapter::Probe;

/// Ten deletions of which the second is refused. Returns the rate after that, with eight that were never tried.
fn refused() -> Rate {
    let mut rate = Rate::with_paces(pace(0, 1), pace(0, 1));
    for id in 1..=10 {
        rate.add(deletion(id, "c", None, 100 - i64::try_from(id).unwrap()));
    }
    assert_eq!(next_id(&mut rate, 0), 1);
    rate.settle(1, Outcome::Over, 0);
    assert_eq!(next_id(&mut rate, 0), 2);
    rate.settle(2, Outcome::NotPermitted, 0);
    assert_eq!(rate.next(0), Next::Probe(place("c"), Call::Delete));
    assert_eq!(rate.next(0), Next::Idle, "the probe is asked for once");
    rate
}

fn given_up(rate: &mut Rate) -> usize {
    (0..100).take_while(|_| matches!(rate.next(0), Next::GiveUp(_, Why::NotPermitted))).count()
}

#[test]
fn gateways_case_62_refused_deletions_are_tried_once_more_after_the_probe() {
    for found in [Probe::Unknown, Probe::Yes { bulk: true }] {
        let mut rate = refused();
        rate.probed(&place("c"), Call::Delete, found);
        assert_eq!(next_id(&mut rate, 0), 2);
        assert_eq!(rate.next(0), Next::Idle, "one at a time");
        rate.settle(2, Outcome::NotPermitted, 0);
        assert_eq!(given_up(&mut rate), 9);
        assert_eq!(rate.next(0), Next::Idle);
    }
}

#[test]
fn probe_that_says_no_ends_all_without_a_further_call() {
    let mut rate = refused();
    rate.probed(&place("c"), Call::Delete, Probe::NotPermitted);
    assert_eq!(given_up(&mut rate), 9);
    rate.add(deletion(11, "c", None, 0));
    assert_eq!(given_up(&mut rate), 1);
}

#[test]
fn refusal_is_for_one_kind_of_call_in_one_chat() {
    let mut rate = refused();
    rate.add(work(11, "c", Purpose::Answer));
    rate.add(deletion(12, "d", None, 0));
    assert_eq!([next_id(&mut rate, 0), next_id(&mut rate, 0)], [11, 12]);
    assert!(!rate.preview(&place("c"), Call::Delete, 0));
}

#[test]
fn permission_that_is_back_lets_the_rest_run() {
    let mut rate = refused();
    rate.probed(&place("c"), Call::Delete, Probe::Yes { bulk: false });
    assert_eq!(run(&mut rate, 0).len(), 9);
}

#[test]
fn gateways_case_39_work_begins_again_when_the_bot_is_back() {
    let mut rate = Rate::with_paces(pace(0, 1), pace(0, 1));
    rate.probed(&place("c"), Call::Send, Probe::NotPermitted);
    rate.add(work(1, "c", Purpose::Answer));
    assert_eq!(given_up(&mut rate), 1);
    rate.probed(&place("c"), Call::Send, Probe::Unknown);
    rate.add(work(2, "c", Purpose::Answer));
    assert_eq!(given_up(&mut rate), 1);
    rate.probed(&place("c"), Call::Send, Probe::Yes { bulk: false });
    rate.add(work(3, "c", Purpose::Answer));
    assert_eq!(run(&mut rate, 0), [(3, Ok(0))]);
}

#[test]
fn probe_waits_for_a_hold() {
    let mut rate = Rate::with_paces(pace(0, 1), pace(0, 1));
    rate.add(deletion(1, "c", None, 0));
    assert_eq!(next_id(&mut rate, 0), 1);
    rate.settle(1, Outcome::NotPermitted, 0);
    rate.hold(&place("c"), Call::Delete, Duration::from_secs(9), None, 0);
    assert_eq!(rate.next(0), Next::At(9500));
    assert_eq!(rate.next(9500), Next::Probe(place("c"), Call::Delete));
}
