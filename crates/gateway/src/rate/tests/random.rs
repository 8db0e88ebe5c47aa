//! Random work with random outcomes: what must hold of every order.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;

use super::*;

#[derive(Clone, Debug)]
enum Step {
    Add(u8, u8, i64),
    Pass(i64),
    Preview(u8),
    /// The next call is answered with a wait of so many seconds.
    Wait(u8),
    /// The next call fails, and may be made again after so many milliseconds.
    Fail(i64),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => (0_u8..3, 0_u8..5, 0_i64..3_000).prop_map(|(chat, kind, time)| Step::Add(chat, kind, time)),
        3 => (0_i64..3_000).prop_map(Step::Pass),
        1 => (0_u8..3).prop_map(Step::Preview),
        1 => (0_u8..20).prop_map(Step::Wait),
        1 => (0_i64..5_000).prop_map(Step::Fail),
    ]
}

fn chat(number: u8) -> String {
    format!("c{number}")
}

fn purpose(kind: u8, time: i64, now: i64) -> Purpose {
    match kind {
        0 => Purpose::Waiting,
        1 => Purpose::Answer,
        2 => Purpose::Progress,
        3 => Purpose::Deletion { deadline_ms: None, sent_ms: time },
        _ => Purpose::Deletion { deadline_ms: Some(now + 10 * time), sent_ms: now - time },
    }
}

/// Every call that was made, and the holds, as a plain list.
#[derive(Default)]
struct Seen {
    calls: Vec<(i64, String)>,
    holds: HashMap<String, i64>,
    over: HashSet<u64>,
}

impl Seen {
    /// Checks the least time between calls, and the holds.
    fn call(&mut self, now: i64, chat: &str) -> Result<(), TestCaseError> {
        let last =
            |is: &dyn Fn(&str) -> bool| self.calls.iter().rev().find(|(_, it)| is(it)).map(|(at, _)| *at);
        prop_assert!(last(&|it| it == chat).is_none_or(|at| now >= at + 1000), "too early in the chat");
        prop_assert!(last(&|_| true).is_none_or(|at| now >= at + 33), "too early in the account");
        prop_assert!(self.holds.get(chat).is_none_or(|until| now >= *until), "during a hold");
        self.calls.push((now, chat.to_owned()));
        Ok(())
    }
}

/// Makes all calls until `end`.
fn pass(
    rate: &mut Rate,
    seen: &mut Seen,
    now: &mut i64,
    end: i64,
    outcomes: &mut Vec<Step>,
) -> Result<(), TestCaseError> {
    loop {
        match rate.next(*now) {
            Next::Run(work) => {
                seen.call(*now, &work.place.chat)?;
                prop_assert!(!seen.over.contains(&work.id), "made twice");
                match outcomes.pop() {
                    Some(Step::Wait(seconds)) => {
                        seen.holds.insert(work.place.chat.clone(), *now + i64::from(seconds) * 1000);
                        rate.settle(work.id, wait(u64::from(seconds)), *now);
                    }
                    Some(Step::Fail(after)) => rate.settle(work.id, Outcome::Again(*now + after), *now),
                    _ => {
                        seen.over.insert(work.id);
                        rate.settle(work.id, Outcome::Over, *now);
                    }
                }
            }
            Next::GiveUp(work, why) => {
                let deadline = work.purpose.deadline();
                prop_assert!(why == Why::TooOld && deadline.is_some_and(|it| it < *now));
                prop_assert!(seen.over.insert(work.id));
            }
            Next::At(at) if at <= end => {
                prop_assert!(at > *now, "asked again at once");
                *now = at;
            }
            Next::At(_) | Next::Idle => {
                *now = end;
                return Ok(());
            }
            Next::Probe(..) => prop_assert!(false, "nothing was refused"),
        }
    }
}

proptest! {
    #[test]
    fn calls_keep_rates_and_holds_and_each_is_over_once(steps in prop::collection::vec(step(), 0..80)) {
        let (mut rate, mut seen, mut now, mut outcomes) = (rate(), Seen::default(), 0, Vec::new());
        let mut added = 0;
        for it in steps {
            match it {
                Step::Add(of, kind, time) => {
                    added += 1;
                    let work = work(added, &chat(of), purpose(kind, time, now));
                    rate.add(work);
                }
                Step::Pass(time) => {
                    let end = now + time;
                    pass(&mut rate, &mut seen, &mut now, end, &mut outcomes)?;
                }
                Step::Preview(of) => {
                    if rate.preview(&place(&chat(of)), Call::Edit, now) {
                        seen.call(now, &chat(of))?;
                    }
                }
                outcome => outcomes.push(outcome),
            }
        }
        let end = now + 10 * HOUR;
        pass(&mut rate, &mut seen, &mut now, end, &mut outcomes)?;
        prop_assert_eq!(seen.over.len() as u64, added, "all are over");
    }

    #[test]
    fn sends_of_a_place_keep_their_order(chats in prop::collection::vec((0_u8..3, 0_u8..3, any::<bool>()), 0..40)) {
        let mut rate = rate();
        let mut orders: HashMap<(u8, u8), Vec<u64>> = HashMap::new();
        let mut fails = HashSet::new();
        for (id, (of, kind, fails_once)) in (1..).zip(chats) {
            rate.add(work(id, &chat(of), purpose(kind, 0, 0)));
            orders.entry((of, kind)).or_default().push(id);
            if fails_once {
                fails.insert(id);
            }
        }
        let (mut now, mut done) = (0, Vec::new());
        loop {
            match rate.next(now) {
                Next::Run(work) if fails.remove(&work.id) => rate.settle(work.id, Outcome::Again(now + 2500), now),
                Next::Run(work) => {
                    done.push(work.id);
                    rate.settle(work.id, Outcome::Over, now);
                }
                Next::At(at) => now = at,
                _ => break,
            }
        }
        for ids in orders.values() {
            let of_place: Vec<&u64> = done.iter().filter(|id| ids.contains(id)).collect();
            prop_assert_eq!(of_place, ids.iter().collect::<Vec<_>>());
        }
    }

    #[test]
    fn deadlines_that_can_be_met_are_met(
        deadlines in prop::collection::vec(1_i64..3_600, 0..60),
        answers in 0_u64..120,
        every in 1_i64..20,
    ) {
        let mut rate = Rate::with_paces(pace(every.unsigned_abs() * 1000, 1), pace(33, 1));
        let mut sorted = deadlines.clone();
        sorted.sort_unstable();
        // With nothing else to do, the one with the n-th deadline is made after n - 1 others.
        let mut made = 0;
        for deadline in &sorted {
            if made * every <= *deadline {
                made += 1;
            }
        }
        for id in 0..answers {
            rate.add(work(1000 + id, "c", Purpose::Answer));
        }
        for (id, deadline) in (0..).zip(&deadlines) {
            rate.add(deletion(id, "c", Some(deadline * 1000), 0));
        }
        let done = run(&mut rate, 0);
        let missed = done.iter().filter(|(_, at)| at.is_err()).count();
        prop_assert_eq!(i64::try_from(missed).unwrap(), i64::try_from(deadlines.len()).unwrap() - made);
    }
}
