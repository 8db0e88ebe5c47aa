//! Tests of what destinations are owed: by rows, and against a destination that only does what it is told.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::conversation::Conversation;
use crate::testing::Log;

fn terms(deadline_ms: i64) -> DeliveryTerms {
    DeliveryTerms { deadline_ms, order: DeliveryOrder::Strict }
}

/// A destination: what it knows by its place, and what it remembers from the deliveries.
#[derive(Clone, Debug, Default)]
struct Destination {
    told: Told,
    holds: BTreeSet<Pos>,
    deliveries: Vec<String>,
}

/// The state at a head; of a commit of several operations, also between them.
fn at(log: &Log, head: Head) -> Conversation {
    let before = log.was.iter().rfind(|state| state.head.op <= head.op && state.head.seq <= head.seq);
    let mut state = before.expect("the first state is empty").clone();
    for no in state.head.op.0 + 1..=head.op.0 {
        state.state.follow(&op(log, no));
    }
    state
}

fn op(log: &Log, no: u64) -> crate::op::Operation {
    crate::records::Records::op(log, OpNo(no)).expect("it is there")
}

/// What is pending, with at most `most` operations in one piece.
fn pending(log: &Log, told: Told, ended: &[(RunNo, Head)], most: usize) -> Pending {
    let op = |no| {
        let op = op(log, no);
        let before = at(log, Head { op: OpNo(no - 1), seq: op.at }).scheduling();
        PendingOp::new(&op, before, at(log, Head { op: op.no, seq: op.at }).scheduling())
    };
    let (first, last) = (told.head.op.0 + 1, log.now.head.op.0);
    let end = last.min(first + most as u64 - 1);
    Pending {
        depth: log.now.tree.depth(),
        then: at(log, told.head).scheduling(),
        now: log.now.scheduling(),
        last: log.now.head.seq,
        ops: (first..=end).map(op).collect(),
        newest: (end < last).then(|| op(last)),
        ended: ended.iter().filter(|(run, _)| *run > told.run).copied().collect(),
    }
}

impl Destination {
    /// Delivers one delivery; whether there was one.
    fn deliver(&mut self, log: &Log, ended: &[(RunNo, Head)], most: usize) -> bool {
        let claim = match owed(self.told, &pending(log, self.told, ended, most)) {
            Ok(claim) => claim,
            Err(told) => {
                self.told = told;
                return false;
            }
        };
        let told = claim.until;
        let states = [self.told.head, told.head].map(|head| at(log, head).scheduling());
        let (gone, came) = delivery_extent(self.told, claim, log.now.tree.depth(), (&states[0], &states[1]));
        for pos in gone.positions() {
            assert!(self.holds.remove(&pos), "{pos:?} is not there");
        }
        assert!(came.positions().all(|pos| !self.holds.contains(&pos)), "it came twice");
        self.holds.extend(came.positions());
        let words = match claim.kind {
            OwedKind::Said => format!("said {}", log.part(&came)),
            OwedKind::TurnEnded => format!("turn {}", told.run.0),
            OwedKind::Operation => {
                let erased =
                    PendingOp::new(&op(log, told.head.op.0), Path::default(), Path::default()).erased;
                let parts = [("gone", &gone), ("came", &came), ("erased", &erased)];
                let words = parts.iter().filter(|(_, path)| !path.is_empty());
                let words: Vec<_> = words.map(|(word, path)| format!("{word} {}", log.part(path))).collect();
                words.join(" ")
            }
        };
        assert!(told > self.told, "{told:?} is behind {:?}", self.told);
        self.told = told;
        self.deliveries.push(words);
        true
    }

    fn drain(&mut self, log: &Log) {
        while self.deliver(log, &[], 64) {}
    }
}

/// The deliveries for a script; at each `|` everything that is owed is delivered.
fn told(script: &str) -> String {
    let (mut log, mut destination) = (Log::new(), Destination::default());
    for part in script.split('|') {
        log.run(part).unwrap_or_else(|refusal| panic!("{script}: {refusal:?}"));
        destination.drain(&log);
    }
    destination.deliveries.join(", ")
}

#[test]
fn destination_is_told_what_holds_and_not_what_was_taken_back_before() {
    let rows = [
        ("ua", "said 1-2"),
        ("ua|ua", "said 1-2, said 3-4"),
        ("uaua|rewind 3", "said 1-4, gone 3-4"),
        // Undone before it was sent.
        ("uaua|rewind 3;undo", "said 1-4"),
        ("uaua|rewind 3;undo;redo;undo", "said 1-4"),
        ("uaua|rewind 3|undo", "said 1-4, gone 3-4, came 3-4"),
        ("uaua|rewind 3|undo;redo", "said 1-4, gone 3-4"),
        // What was never sent need not be taken back.
        ("ua;rewind 1", ""),
        ("ua|ua;rewind 3;ua", "said 1-2, said 5-6"),
        ("ua|ua;rewind 3;undo", "said 1-2, said 3-4"),
        // The net effect of a move over several steps.
        ("uaua|rewind 3;rewind 1;undo 2", "said 1-4"),
        ("uaua|rewind 3;rewind 1;undo", "said 1-4, gone 3-4"),
        ("uaua|hide 3", "said 1-4, gone 3"),
        ("uaua|hide 3;show 3", "said 1-4"),
        ("uaua;hide 3", "said 1-2 4"),
        // The rewind is told, so what it took back is named before.
        ("ua|ua;rewind 1", "said 1-2, said 3-4, gone 1-4"),
        // What changes nothing that is visible is not told.
        ("ua|label 1 x;title y;exclude 1", "said 1-2"),
        ("ua|erase 1", "said 1-2, erased 1"),
        ("uaua|rewind 3;erase 1;undo", "said 1-4, gone 3-4, erased 1, came 3-4"),
        ("uauaua|rewind 5;ua|checkout 6", "said 1-6, gone 5-6, said 7-8, gone 7-8 came 5-6"),
    ];
    let found: Vec<_> = rows.iter().map(|(script, _)| (*script, told(script))).collect();
    let expected: Vec<_> = rows.iter().map(|(script, words)| (*script, (*words).to_owned())).collect();
    assert_eq!(found, expected);
}

#[test]
fn end_of_a_turn_stands_behind_its_messages_and_before_what_follows() {
    let log = Log::after("ua;rewind 1;ua");
    let ended = [(RunNo(1), Head::new(0, 2)), (RunNo(2), Head::new(1, 4))];
    let mut destination = Destination::default();
    while destination.deliver(&log, &ended, 64) {}
    assert_eq!(destination.deliveries, ["turn 1", "said 3-4", "turn 2"]);
    let mut seen = Destination::default();
    let before = Log::after("ua");
    while seen.deliver(&before, &ended[..1], 64) {}
    while seen.deliver(&log, &ended, 64) {}
    assert_eq!(seen.deliveries, ["said 1-2", "turn 1", "gone 1-2", "said 3-4", "turn 2"]);
}

#[test]
fn a_delivery_holds_a_hundred_messages_at_most() {
    let log = Log::after(&"ua".repeat(120));
    let mut destination = Destination::default();
    destination.drain(&log);
    assert_eq!(destination.deliveries, ["said 1-100", "said 101-200", "said 201-240"]);
}

#[test]
fn messages_that_are_in_place_but_not_sent_are_not_taken_back() {
    let (mut log, mut destination) = (Log::after(&"ua".repeat(55)), Destination::default());
    log.run(&format!("label 1 x;{}", "ua".repeat(5))).expect("said");
    assert!(destination.deliver(&log, &[], 64));
    log.run("rewind 105").expect("rewound");
    destination.drain(&log);
    assert_eq!(destination.deliveries, ["said 1-100", "said 101-104"]);
}

proptest! {
    /// Whatever happens between deliveries, a destination that is told everything holds exactly what is visible; and nothing
    /// reaches it between a change and its undo.
    #[test]
    fn destination_that_does_what_it_is_told_holds_what_is_visible(
        steps in proptest::collection::vec((0..12_u8, 1..12_u8, any::<bool>()), 1..40),
        most in 1..4_usize,
    ) {
        let (mut log, mut destination) = (Log::new(), Destination::default());
        for (verb, at, delivers) in steps {
            let step = match verb {
                0..=3 => "ua".to_owned(),
                4 => format!("rewind {at}"),
                5 | 6 => "undo".to_owned(),
                7 => "redo".to_owned(),
                8 => format!("hide {at}"),
                9 => format!("show {at}"),
                10 => format!("checkout {at}"),
                _ => format!("label {at} x"),
            };
            // Refused steps and entries that don't exist change nothing.
            if verb <= 3 || u64::from(at) <= log.now.tree.last() {
                drop(log.run(&step));
            }
            if delivers {
                destination.deliver(&log, &[], most);
            }
        }
        while destination.deliver(&log, &[], most) {}
        let visible: BTreeSet<Pos> = log.now.scheduling().positions().collect();
        prop_assert_eq!(&destination.holds, &visible, "{:?}", destination.deliveries);
        // Everything is told: a change and its undo send nothing more.
        let sent = destination.deliveries.len();
        if log.run("undo").is_ok() && log.run("redo").is_ok() {
            while destination.deliver(&log, &[], most) {}
            prop_assert_eq!(destination.deliveries.len(), sent, "{:?}", destination.deliveries);
        }
    }
}

/// A delivery of two messages.
fn said_two() -> Claim {
    let until = Told { said: Seq(2), head: Head::new(0, 2), ..Told::default() };
    Claim { kind: OwedKind::Said, until }
}

#[test]
fn attempts_are_repeated_with_growing_delays_until_the_deadline() {
    let until = said_two();
    let mut item = OutboxItem::default();
    let (mut now, mut delays) = (Time(0), Vec::new());
    let passed = loop {
        item = item.claimed(until, now, Time(now.0 + 60_000));
        let (kept, passed) = item.after(Attempt::Later("503".to_owned(), None), now, terms(100_000), true);
        item = kept.expect("the row stays");
        if let Some(passed) = passed {
            break passed;
        }
        let due = item.due.expect("it is due again");
        delays.push((due.0 - now.0) / 1000);
        now = due;
    };
    assert_eq!(delays, [1, 2, 4, 8, 16, 32]);
    assert_eq!(
        (passed.failure, passed.attempts, passed.claim),
        (Some(OutboxFailure::TooOld), 7, Some(until))
    );
    // The next delivery begins anew.
    assert_eq!(item, OutboxItem { told: until.until, due: Some(now), ..OutboxItem::default() });
}

#[test]
fn an_attempt_settles_its_row() {
    let until = said_two();
    let item = OutboxItem::default().claimed(until, Time(5), Time(9));
    let done = item.clone().after(Attempt::Done, Time(6), terms(1), false);
    assert_eq!(done, (Some(OutboxItem { told: until.until, ..OutboxItem::default() }), None));
    // The destination asked for a delay: never less than ours, never more than an hour.
    let later = |after| {
        item.clone().after(Attempt::Later(String::new(), Some(after)), Time(6), terms(1 << 40), false)
    };
    let due = |after| later(after).0.and_then(|item| item.due).map(|due| due.0 - 6);
    assert_eq!([due(0), due(7_000), due(i64::MAX)], [Some(1_000), Some(7_000), Some(3_600_000)]);
    let never = Attempt::Never(OutboxFailure::Refused, "HTTP 400".to_owned());
    let (lane, passed) = item.clone().after(never.clone(), Time(6), terms(1), true);
    assert_eq!(lane.map(|lane| (lane.told, lane.due)), Some((until.until, Some(Time(6)))));
    let passed = OutboxItem { no: 3, ..passed.expect("it is passed over") };
    assert_eq!((passed.failure, passed.due), (Some(OutboxFailure::Refused), None));
    // A delivery that is tried again is gone when it is delivered, and stays when it fails again.
    let again = passed.claimed(until, Time(7), Time(9));
    assert_eq!(again.clone().after(Attempt::Done, Time(8), terms(1), false), (None, None));
    let late = again.clone().after(Attempt::Later("503".to_owned(), None), Time(8), terms(10), false);
    assert_eq!(late.0.map(|item| (item.failure, item.due)), Some((Some(OutboxFailure::TooOld), None)));
    let (kept, other) = again.after(never, Time(8), terms(1), false);
    assert_eq!((kept.map(|item| (item.no, item.due)), other), (Some((3, None)), None));
}

#[test]
fn delivery_without_an_order_is_set_aside_and_holds_up_nobody() {
    let until = said_two();
    let terms = DeliveryTerms { deadline_ms: 1 << 40, order: DeliveryOrder::Scheduled };
    let later = || Attempt::Later("HTTP 503".to_owned(), None);
    let item = OutboxItem::default().claimed(until, Time(5), Time(9));
    let (row, aside) = item.after(later(), Time(6), terms, true);
    assert_eq!(row, Some(OutboxItem { told: until.until, due: Some(Time(6)), ..OutboxItem::default() }));
    let aside = OutboxItem { no: 1, ..aside.expect("it is set aside") };
    assert_eq!((aside.due, aside.claim, aside.failure), (Some(Time(1006)), Some(until), None));
    // It waits by itself from then on, and its attempts go on.
    let (waits, none) = aside.claimed(until, Time(2000), Time(9000)).after(later(), Time(2000), terms, false);
    let waits = waits.expect("it waits");
    assert_eq!((waits.no, waits.due, waits.attempts, none), (1, Some(Time(4000)), 2, None));
}

#[test]
fn every_event_has_a_name_of_its_own() {
    for event in DeliveryEvent::ALL {
        assert_eq!(DeliveryEvent::from_name(event.name()), Some(*event));
    }
    for failure in OutboxFailure::VARIANTS {
        assert_eq!(OutboxFailure::from_name(failure.name()), Some(*failure));
    }
    let step = crate::undo_history::Step::Op(OpNo(1));
    let rows = [
        (Reason::Rewind, Some("rewound")),
        (Reason::Compensate(step), Some("rewound")),
        (Reason::Undo(step), Some("restored")),
        (Reason::Choose, Some("switched")),
        (Reason::Hide, Some("marked")),
        (Reason::Erase, Some("erased")),
        (Reason::Fold, None),
    ];
    for (reason, name) in rows {
        assert_eq!(DeliveryEvent::of(reason).map(DeliveryEvent::name), name);
    }
}
