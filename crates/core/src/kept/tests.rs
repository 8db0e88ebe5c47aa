//! Changes of `kept`, compared with a map with a value for each entry.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;
use crate::testing::{Log, check};

fn keep() -> impl Strategy<Value = KeepState> {
    prop_oneof![Just(KeepState::ByPath), Just(KeepState::Adopted), Just(KeepState::TakenOut)]
}

fn path(number: u64) -> KeptPath {
    let name = FilePath::new(format!("f{number}").as_bytes()).expect("a path");
    KeptPath { entry: Pos::new(0, number), workspace: WorkspaceNo(1), path: name }
}

/// An operation: ranges that get a value, and a path that is kept or returned.
type Step = (Vec<(u64, u64, KeepState)>, u64);

fn change(kept: &Kept, (sets, number): &Step) -> KeptChange {
    let mut now = kept.entries.clone();
    let mut entries = Vec::new();
    for (from, more, value) in sets {
        let changes = now.changes(&Path::from_spans([Span::new(0, *from, from + more)]), *value);
        now.apply(&changes);
        entries.extend(changes);
    }
    let (adopted, returned) = match kept.paths.contains(&path(*number)) {
        true => (Vec::new(), vec![path(*number)]),
        false => (vec![path(*number)], Vec::new()),
    };
    KeptChange { entries, adopted, returned, before: kept.last }
}

proptest! {
    #[test]
    fn taking_changes_back_and_differences_lead_to_each_recorded_state(
        steps in prop::collection::vec((prop::collection::vec((1u64..20, 0u64..8, keep()), 0..4), 1u64..4), 1..12),
        to in 0usize..12,
    ) {
        let (mut kept, mut states, mut changes) = (Kept::default(), vec![Kept::default()], Vec::new());
        let mut model: BTreeMap<u64, KeepState> = BTreeMap::new();
        for (no, step) in (1..).zip(&steps) {
            let change = change(&kept, step);
            kept.apply(&change, OpNo(no));
            for (from, more, value) in &step.0 {
                model.extend((*from..=from + more).map(|seq| (seq, *value)));
            }
            for seq in 1..40 {
                let expected = model.get(&seq).copied().unwrap_or_default();
                prop_assert_eq!(kept.entries.get(Pos::new(0, seq)), expected);
            }
            changes.push(change);
            states.push(kept.clone());
        }
        let to = to.min(states.len() - 1);
        let mut led = kept.clone();
        led.apply(&kept.difference(&states[to]), OpNo(99));
        prop_assert_eq!((&led.entries, &led.paths), (&states[to].entries, &states[to].paths));
        for (change, before) in changes.iter().zip(&states).rev() {
            kept.take_back(change);
            prop_assert_eq!(&kept, before);
        }
    }
}

#[test]
fn a_later_change_of_the_same_operation_can_revert_an_earlier_one() {
    let kept = Kept::default();
    let first = change(&kept, &(vec![(1, 3, KeepState::Adopted)], 1));
    let both = first.clone().then(first.inverse());
    let mut after = kept.clone();
    after.apply(&both, OpNo(1));
    assert_eq!((after.entries, after.paths), (kept.entries, kept.paths));
}

/// The result of a script: the path, the entries whose changes are wanted in the files, those adopted and taken out, and single
/// paths.
fn kept(log: &Log) -> String {
    let wanted = log.now.wanted_entries();
    for seq in 1..=log.now.tree.last() {
        let pos = Pos::new(log.now.tree.depth(), seq);
        assert_eq!(log.now.wants_files_of(pos), wanted.contains(pos), "entry {seq}");
    }
    let mut text = format!("{} | {}", log.path(), log.part(&wanted));
    for (span, keep) in log.now.state.kept.entries.ranges() {
        let sign = if *keep == KeepState::Adopted { '+' } else { '-' };
        text += &format!(" {sign}{}", log.span(*span));
    }
    for path in &log.now.state.kept.paths {
        text += &format!(" {}@{}", path.path, path.entry.seq);
    }
    text
}

#[test]
fn files_belong_to_the_turns_of_the_path_until_one_half_moves_alone() {
    let rows = [
        ("uaua", "1-4 | 1-4"),
        ("uaua; rewind 3", "1-2 | 1-2"),
        ("uaua; drop 3-4", "1-4 | 1-2"),
        ("uaua; hide 3-4", "1-4 | 1-4"),
        // The conversation alone goes back: the files are adopted as they are.
        ("uaua; conversation: rewind 3", "1-2 | 1-4 +3-4"),
        ("uaua; conversation: rewind 3; ua", "1-2 5-6 | 1-6 +3-4"),
        ("uaua; conversation: rewind 3; rewind 1", " | 3-4 +3-4"),
        ("uaua; conversation: rewind 3; conversation: rewind 1", " | 1-4 +1-4"),
        ("uaua; conversation: drop 3-4", "1-4 | 1-4 +3-4"),
        ("uaua; conversation: undo", "1-2 | 1-4 +3-4"),
        // The files alone go back: what is taken out does not return by itself.
        ("uaua; files: rewind 3", "1-4 | 1-2 -3-4"),
        ("uaua; files: rewind 3; ua", "1-6 | 1-2 5-6 -3-4"),
        ("uaua; files: rewind 3; rewind 3", "1-2 | 1-2 -3-4"),
        ("uaua; files: rewind 3; rewind 1", " |  -3-4"),
        // The conversation follows: the files stay as they are.
        ("uaua; files: rewind 3; conversation: rewind 3", "1-2 | 1-2 -3-4"),
        ("uaua; conversation: rewind 3; files: rewind 1", "1-2 | 3-4 -1-2 +3-4"),
        // Undo, redo and restore return to the recorded state exactly.
        ("uaua; conversation: rewind 3; undo", "1-4 | 1-4"),
        ("uaua; conversation: rewind 3; undo; redo", "1-2 | 1-4 +3-4"),
        ("uaua; files: rewind 3; undo", "1-4 | 1-4"),
        ("uaua; files: rewind 3; undo; redo", "1-4 | 1-2 -3-4"),
        ("uaua; conversation: rewind 3; ua; restore 0.4", "1-4 | 1-4"),
        ("uaua; conversation: rewind 3; ua; restore 0.4; restore 1.6", "1-2 5-6 | 1-6 +3-4"),
        ("uaua; conversation: rewind 3; ua; restore 1.4", "1-2 | 1-4 +3-4"),
        ("uaua; files: rewind 3; files: rewind 1; restore 1.4", "1-4 | 1-2 -3-4"),
        ("uaua; conversation: rewind 3; compensate 1", "1-4 | 1-4"),
        // A new checkout or choice: the turns that it brings get their changes back.
        ("uaua; conversation: rewind 3; checkout 4", "1-4 | 1-4"),
        ("uaua; conversation: rewind 3; checkout 3", "1-3 | 1-4 +4"),
        ("uaua; files: rewind 3; rewind 3; checkout 4", "1-4 | 1-4"),
        ("ua; conversation: retry 2; a; choose 3 1", "1-2 | 1-2"),
        ("uaua; conversation: rewind 3; checkout 2", "1-2 | 1-4 +3-4"),
        ("uaua; conversation: checkout 2; conversation: checkout 4", "1-4 | 1-4"),
        ("uaua; rewind 3; conversation: checkout 4", "1-4 | 1-2 -3-4"),
        // A fork has files of its own entries only.
        ("uaua; conversation: rewind 3; checkout 4; fork 4; ua", "0:1-4 1-2 | 1-2"),
        ("uaua; fork 4; ua; conversation: rewind 1", "0:1-4 | 1-2 +1-2"),
    ];
    check(kept, &rows);
}

#[test]
fn a_step_of_one_scope_is_recorded_with_its_reason() {
    let scope = [Scope::Both, Scope::Files, Scope::Conversation];
    assert_eq!(scope.map(Scope::name), ["both", "files", "conversation"]);
    for (script, reason) in [
        ("uaua; files: rewind 3", Reason::Rewind),
        ("uaua; files: undo", Reason::Files),
        ("uaua; conversation: rewind 3", Reason::Rewind),
        ("uaua; conversation: undo", Reason::Undo(crate::undo_history::Step::Turn(Pos::new(0, 3)))),
    ] {
        let log = Log::after(script);
        assert_eq!(log.op(OpNo(1)).map(|op| op.reason), Ok(reason), "{script}");
    }
    let log = Log::after("uaua");
    let both = log.decide("rewind 3").expect("it is possible");
    let undecided = Undecided::default();
    let whole = log.now.one_half(&log, &ChangeOrigin::default(), (Scope::Both, &undecided), both.clone());
    assert_eq!(whole, Ok(both));
}

#[test]
fn undecided_paths_of_earlier_steps_stay_as_on_disk() {
    let part = |from, to| Path::from_spans([Span::new(0, from, to)]);
    let none = Path::default;
    let rows = [
        // It is recorded as in the files and is not: the conversation that goes back adopts nothing of it.
        ("uaua", "rewind 3", Undecided { there: none(), missing: part(3, 3) }, "1-2 | 1-2 4 +4"),
        ("uaua", "rewind 3", Undecided { there: none(), missing: part(1, 2) }, "1-2 | 1-4 +3-4"),
        ("uaua", "rewind 3", Undecided { there: part(3, 4), missing: none() }, "1-2 | 1-4 +3-4"),
        // It is in the files already: the conversation that comes back removes nothing of it.
        ("uaua; rewind 3", "checkout 4", Undecided { there: part(3, 3), missing: none() }, "1-4 | 1-3 -4"),
        ("uaua; rewind 3", "checkout 4", Undecided { there: none(), missing: part(3, 4) }, "1-4 | 1-2 -3-4"),
    ];
    for (script, step, undecided, text) in rows {
        let mut log = Log::after(script);
        let commit = log.decide(step).expect("it is possible");
        let half =
            log.now.one_half(&log, &ChangeOrigin::default(), (Scope::Conversation, &undecided), commit);
        log.commit(half.expect("all rows are there"));
        assert_eq!(kept(&log), text, "{script}; {step}");
    }
}

#[test]
fn a_plan_names_what_becomes_the_persons_own_and_what_is_returned() {
    for (script, step, adopted, returned) in [
        ("uaua", "conversation: rewind 3", "3-4", ""),
        ("uaua; conversation: rewind 3", "conversation: rewind 1", "1-2", ""),
        ("uaua; conversation: rewind 3", "checkout 4", "", "3-4"),
        ("uaua; files: rewind 3", "files: rewind 1", "", ""),
        ("uaua; files: rewind 3", "undo", "", "3-4"),
        ("uaua; conversation: rewind 3", "undo", "", "3-4"),
    ] {
        let log = Log::after(script);
        let commit = log.decide(step).expect("it is possible");
        let part = |path: Result<Path, _>| log.part(&path.expect("all rows are there"));
        let found = (part(log.now.adopted_by(&log, &commit)), part(log.now.returned_by(&log, &commit)));
        assert_eq!(found, (adopted.to_owned(), returned.to_owned()), "{script}; {step}");
    }
}

#[test]
fn before_an_entry_all_is_kept_as_it_was_when_it_was_said() {
    for (script, entry, text) in [
        ("uaua; conversation: rewind 3; ua", "5", "1-2 | 1-4 +3-4"),
        ("uaua; conversation: rewind 3; ua", "1", " | "),
        ("uaua; files: rewind 3; ua", "5", "1-4 | 1-2 -3-4"),
        ("uaua; files: rewind 3; ua", "3", "1-2 | 1-2"),
        ("uau; files: rewind 1; a", "3", "1-2 | 1-2"),
        ("uaua; files: rewind 3; ua; files: rewind 5; ua", "7", "1-6 | 1-2 -3-6"),
        ("uaua; files: rewind 3; ua; files: rewind 5; ua", "5", "1-4 | 1-2 -3-4"),
        ("uaua; fork 4; ua; files: rewind 1", "0:3", "0:1-2 | "),
    ] {
        let mut log = Log::after(script);
        let commit = log.now.before_entry(&log, log.pos(entry)).expect("all rows are there");
        log.commit(commit);
        assert_eq!(kept(&log), text, "{script}: before {entry}");
    }
}

#[test]
fn single_paths_are_kept_with_a_step_and_returned_with_a_checkout() {
    let adopting = |numbers: &[u64]| KeptChange {
        adopted: numbers.iter().map(|number| path(*number)).collect(),
        ..KeptChange::default()
    };
    let mut log = Log::after("uaua");
    let step = |log: &mut Log, step: &str, change: KeptChange| {
        let commit = log.decide(step).expect("it is possible");
        let commit = log.now.kept_with(log, commit, change).expect("all rows are there");
        log.commit(commit);
        kept(log)
    };
    assert_eq!(step(&mut log, "rewind 3", adopting(&[3, 4])), "1-2 | 1-2 f3@3 f4@4");
    assert_eq!(log.op(OpNo(1)).map(|op| op.kept.before), Ok(None));
    // A path that is kept already stays so, and is not recorded again.
    assert_eq!(step(&mut log, "rewind 1", adopting(&[2, 3])), " |  f2@2 f3@3 f4@4");
    let second = log.op(OpNo(2)).expect("it is there").kept;
    assert_eq!((second.adopted, second.before), (vec![path(2)], Some(OpNo(1))));
    // After a checkout that brings the entries back, those that are chosen again stay kept.
    assert_eq!(step(&mut log, "checkout 3", adopting(&[2])), "1-3 | 1-3 f2@2 f4@4");
    assert_eq!(step(&mut log, "undo", KeptChange::default()), " |  f2@2 f3@3 f4@4");
    assert_eq!(step(&mut log, "undo 2", KeptChange::default()), "1-4 | 1-4");
    assert_eq!(step(&mut log, "checkout 4", adopting(&[1])), "1-4 | 1-4", "no step, nothing to record");
    assert_eq!(step(&mut log, "restore 2.4", KeptChange::default()), " |  f2@2 f3@3 f4@4");
}

#[test]
fn an_erasure_takes_single_paths_out_of_what_was_recorded() {
    let change =
        KeptChange { adopted: vec![path(1), path(2)], returned: vec![path(3)], ..KeptChange::default() };
    let without = |number| change.without_paths(|erased| *erased == path(number));
    assert_eq!(without(1), Some(KeptChange { adopted: vec![path(2)], ..change.clone() }));
    assert_eq!(without(3), Some(KeptChange { returned: Vec::new(), ..change.clone() }));
    assert_eq!(without(4), None);
    let only = |adopted, returned| KeptChange { adopted, returned, ..KeptChange::default() };
    let entries =
        vec![RangeChange { span: Span::new(0, 1, 1), before: KeepState::ByPath, after: KeepState::Adopted }];
    let rows = [
        (KeptChange::default(), true, false),
        (only(vec![path(1)], vec![]), false, true),
        (only(vec![], vec![path(1)]), false, true),
        (KeptChange { entries, ..KeptChange::default() }, false, true),
        // Nothing is left of it, and the chain of changes goes through it.
        (KeptChange { before: Some(OpNo(1)), ..KeptChange::default() }, true, true),
    ];
    for (change, is_empty, is_recorded) in rows {
        assert_eq!((change.is_empty(), change.is_recorded()), (is_empty, is_recorded), "{change:?}");
    }
    let both = only(vec![path(1), path(2)], vec![path(3)])
        .then(only(vec![path(3), path(4)], vec![path(1), path(5)]));
    assert_eq!(both, only(vec![path(2), path(4)], vec![path(5)]));
}

/// An undo of a step may find entries already as it leaves them, because steps on one half came in between.
#[test]
fn what_was_kept_is_read_back_at_every_earlier_head() {
    let log = Log::after("ua;files: rewind 2;files: undo;restore 0.1;a;conversation: undo;undo;a");
    for then in &log.was {
        let change = log.now.kept_at(&log, then.head).expect("it is there");
        let mut kept = (*log.now.state.kept).clone();
        kept.apply(&change, OpNo(0));
        assert_eq!(
            (&kept.entries, &kept.paths),
            (&then.state.kept.entries, &then.state.kept.paths),
            "{}",
            then.head
        );
    }
}
