//! The order of work: section 4, *Rate*, and case 49 of the specification.

use super::*;

#[test]
fn waiting_people_come_first_and_progress_last() {
    let mut rate = rate();
    rate.add(work(1, "c", Purpose::Progress));
    rate.add(deletion(2, "c", None, 5));
    rate.add(deletion(3, "c", None, 9));
    rate.add(deletion(4, "c", Some(3 * HOUR), 5));
    rate.add(work(5, "c", Purpose::Answer));
    rate.add(deletion(6, "c", Some(9 * MINUTE), 5));
    rate.add(deletion(7, "c", Some(8 * MINUTE), 5));
    rate.add(work(8, "c", Purpose::Waiting));
    rate.add(work(9, "c", Purpose::Answer));
    assert_eq!(ids(&run(&mut rate, 0)), [8, 7, 6, 5, 9, 4, 3, 2, 1]);
}

#[test]
fn chunk_waits_for_the_chunk_before_it() {
    let mut rate = Rate::with_paces(pace(0, 1), pace(0, 1));
    rate.add(work(1, "c", Purpose::Answer));
    rate.add(work(2, "c", Purpose::Answer));
    rate.add(work(3, "d", Purpose::Answer));
    rate.add(work(4, "c", Purpose::Waiting));
    assert_eq!([next_id(&mut rate, 0), next_id(&mut rate, 0), next_id(&mut rate, 0)], [4, 1, 3]);
    assert_eq!(rate.next(0), Next::Idle, "the first chunk is being sent");
    rate.settle(1, Outcome::Again(500), 0);
    assert_eq!(rate.next(0), Next::At(500));
    assert_eq!(next_id(&mut rate, 500), 1);
    rate.settle(1, Outcome::Over, 501);
    assert_eq!(next_id(&mut rate, 501), 2);
}

#[test]
fn threads_of_a_chat_share_its_rate_but_not_their_order() {
    let mut rate = rate();
    let in_thread = |id, thread: &str| {
        let place = Place { thread: Some(thread.to_owned()), ..place("c") };
        Work { place, ..work(id, "c", Purpose::Answer) }
    };
    rate.add(in_thread(1, "x"));
    rate.add(in_thread(2, "y"));
    assert_eq!(next_id(&mut rate, 0), 1);
    assert_eq!(rate.next(0), Next::At(1000));
    assert_eq!(next_id(&mut rate, 1000), 2);
}

#[test]
fn gateways_case_49_nearest_deadline_is_first_and_none_is_missed() {
    let now = 100 * HOUR;
    // Telegram: 48 h, less 2 minutes.
    let of_age = |id, age: i64| deletion(id, "c", Some(now - age + 48 * HOUR - 2 * MINUTE), now - age);
    let mut rate = Rate::with_paces(pace(20_000, 1), pace(33, 1));
    rate.add(of_age(1, HOUR));
    rate.add(of_age(2, 10 * HOUR));
    rate.add(of_age(3, 47 * HOUR + 55 * MINUTE));
    for id in 10..40 {
        rate.add(work(id, "c", Purpose::Answer));
    }
    let done = run(&mut rate, now);
    assert_eq!(done[0], (3, Ok(now)));
    assert_eq!(ids(&done[done.len() - 2..]), [2, 1]);
    assert!(done.iter().all(|(_, at)| at.is_ok()));
}

#[test]
fn deletions_begin_early_enough_for_all_of_them() {
    let mut rate = Rate::with_paces(pace(20_000, 1), pace(33, 1));
    // They need 30 minutes, and have 35. The answers alone would need 40.
    for id in 0..90 {
        rate.add(deletion(id, "c", Some(35 * MINUTE), 0));
    }
    for id in 100..220 {
        rate.add(work(id, "c", Purpose::Answer));
    }
    assert!(run(&mut rate, 0).iter().all(|(_, at)| at.is_ok()));
}

#[test]
fn deletion_after_its_deadline_is_given_up_without_a_call() {
    let mut rate = rate();
    rate.add(deletion(1, "c", Some(SECOND), 0));
    rate.add(deletion(2, "c", Some(HOUR), 0));
    rate.hold(&place("c"), Call::Delete, Duration::from_secs(60), None, 0);
    assert_eq!(rate.next(0), Next::At(SECOND + 1));
    let expected = [(1, Err(Why::TooOld)), (2, Ok(60_500))];
    assert_eq!(run(&mut rate, SECOND), expected);
}
