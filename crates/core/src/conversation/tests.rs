//! The rules of a conversation, as tables of scripts with their results.

use super::*;
use crate::testing::{Log, check, refused};

/// The step that undo reverts, the step that redo brings back, and the steps that undo passes over.
fn undo_history(log: &Log) -> String {
    let history = &log.now.history;
    let next = log.now.next_undo(log).expect("all rows are there");
    let redo = history.undone.map(|no| match log.op(no).expect("it is there").reason {
        Reason::Undo(step) => step,
        reason => panic!("redo of {reason:?}"),
    });
    let void: String = history.void.iter().map(|step| format!(" void {}", Log::step(Some(*step)))).collect();
    format!("{} undo {} redo {}{void}", log.path(), Log::step(next), Log::step(redo))
}

#[test]
fn a_step_moves_the_tip_and_nothing_else_of_the_path() {
    check(
        Log::path,
        &[
            ("", ""),
            ("uaua", "1-4"),
            ("uaua; rewind 3", "1-2"),
            ("uaua; rewind 1", ""),
            ("uaua; rewind 3; ua", "1-2 5-6"),
            ("uaua; rewind 3; ua; checkout 4", "1-4"),
            ("uaua; rewind 3; ua; checkout 3", "1-3"),
            ("uaua; checkout", ""),
            ("uaua; edit 3; ua", "1-2 5-6"),
            ("uaua; retry 4; a", "1-3 5"),
            ("uaua; retry 3", "1-3"),
            ("uaua; retry 2", "1"),
            ("uasa; retry 4", "1-3"),
            ("uaua; rewind 3; ua; restore 0.4", "1-4"),
            ("uaua; rewind 3; ua; restore 1.4", "1-2"),
            ("uaua; rewind 3; ua; restore 1.5", "1-2 5"),
            ("uaua; rewind 3; ua; restore 0.0", ""),
            ("ua; retry 2; a; choose 3 1", "1-2"),
            ("uaua; rewind 3; ua; retry 6; a; choose 7 1", "1-2 5-6"),
            ("ua; retry 2; aua; choose 3 1; choose 2 2", "1 3-5"),
            ("ua; retry 2; a; choose 3 2", "1 3"),
        ],
    );
}

#[test]
fn a_call_and_its_results_are_never_split() {
    check(
        Log::path,
        &[
            // A rewind to a result goes to before its call; a rewind to the next call's answer does
            // not.
            ("ucra; rewind 3", "1"),
            ("ucra; rewind 4", "1-3"),
            ("ucrcra; rewind 5", "1-3"),
            ("ucrua; rewind 4", "1-3"),
            // A call without a result on the path is no atom.
            ("ucua; rewind 4", "1-3"),
            ("uca; rewind 3", "1-2"),
            // A checkout of a call includes its results.
            ("ucra; checkout 2", "1-3"),
            ("ucra; checkout 3", "1-3"),
            ("ucra; checkout 1", "1"),
            ("ucrau; checkout 4", "1-4"),
            // A head between the two: the entries up to the result are included.
            ("ucra; restore 0.2", "1-3"),
            ("ucra; restore 0.3", "1-3"),
            ("ucra; fork 2", "0:1-3"),
            // Appended while the call ran: a rewind to it goes to before the call.
            ("ucsra; rewind 4", "1"),
            ("ucsra; checkout 2", "1-4"),
            ("ucurua; rewind 5", "1-4"),
            // A result without a call in this turn belongs to no call.
            ("ucura; retry 5", "1-3"),
        ],
    );
}

#[test]
fn undo_takes_back_the_last_step_and_redo_brings_it_back() {
    check(
        undo_history,
        &[
            ("", " undo - redo -"),
            ("ua", "1-2 undo t1 redo -"),
            ("uaua; undo", "1-2 undo t1 redo t3"),
            ("uaua; undo; undo", " undo - redo t1"),
            ("uaua; undo 9", " undo - redo t1"),
            ("uaua; undo 2; redo", "1-2 undo t1 redo t3"),
            ("uaua; undo 2; redo 9", "1-4 undo t3 redo -"),
            ("uaua; undo; u", "1-2 5 undo t5 redo -"),
            ("uaua; undo; a", "1-2 5 undo t1 redo -"),
            ("uaua; rewind 3; undo", "1-4 undo t3 redo 1"),
            ("uaua; rewind 3; undo; redo", "1-2 undo 1 redo -"),
            ("uaua; rewind 3; ua; undo", "1-2 undo 1 redo t5"),
            // An edit and its new message are one step, and so are a retry and its answer.
            ("uaua; edit 3; ua", "1-2 5-6 undo 1 redo -"),
            ("uaua; edit 3; ua; undo", "1-4 undo t3 redo 1"),
            ("uaua; edit 3; ua; undo; redo", "1-2 5-6 undo 1 redo -"),
            ("uaua; edit 3; uaua", "1-2 5-8 undo t7 redo -"),
            ("ua; retry 2; a; undo", "1-2 undo t1 redo 1"),
            ("ua; hide 2; undo", "1-2 undo t1 redo 1"),
            ("ua; fold 1-2 sum; undo; redo", "1-2 undo 1 redo -"),
            // These are no steps.
            ("ua; title x; label 1 y; autofold 1-2 sum", "1-2 undo t1 redo -"),
            ("ua; undo; title x", " undo - redo t1"),
            ("sa", "1-2 undo - redo -"),
            ("oa", "1-2 undo - redo -"),
        ],
    );
}

#[test]
fn a_compensated_step_is_passed_over() {
    check(
        undo_history,
        &[
            ("uau; compensate t3", "1-2 undo t1 redo -"),
            ("ua; retry 2; compensate 1", "1-2 undo t1 redo -"),
            ("ua; retry 2; hide 1; compensate 1", "1-2 undo 2 redo - void 1"),
            ("ua; retry 2; hide 1; compensate 1; undo", "1-2 undo t1 redo 2 void 1"),
            ("uau; hide 1; compensate t3", "1-2 undo 1 redo - void t3"),
            ("uaua; edit 3; u; compensate 1", "1-4 undo t3 redo -"),
            ("ua; hide 1; compensate 1", "1-2 undo t1 redo -"),
            ("uaua; undo; compensate 1", "1-4 undo t3 redo -"),
            ("uaua; undo 2; compensate 2", "1-4 undo t3 redo -"),
        ],
    );
}

#[test]
fn a_late_answer_moves_nothing() {
    let detached = |log: &Log| {
        let late = log.meta(Pos::new(0, log.now.tree.last())).expect("it is there");
        let turn = late.turn.map_or(0, |turn| turn.seq);
        format!(
            "{} late {} turn {turn} after {}",
            log.path(),
            late.flags.detached,
            late.after.map_or(0, |pos| pos.seq)
        )
    };
    check(
        detached,
        &[
            ("ua; late a 1 2", "1-3 late false turn 1 after 2"),
            ("ua; rewind 1; late a 1 2", " late true turn 1 after 2"),
            ("ua; rewind 2; late a 1 2", "1 late true turn 1 after 2"),
            ("uc; rewind 2; late r 1 2", "1 late true turn 1 after 2"),
            // A person's message is appended at the current place: a new turn.
            ("ua; late u 1 2", "1-3 late false turn 3 after 2"),
        ],
    );
    let mut log = Log::after("ua; rewind 1; late a 1 2; u");
    assert_eq!((log.path(), log.now.totals.messages), ("4".to_owned(), 1));
    assert_eq!(log.run("late a 4 2").map(|()| log.path()), Ok("4".to_owned()));
}

#[test]
fn a_refusal_names_the_operation_that_took_an_entry_back() {
    let log = Log::after("uaua; hide 2");
    let say = |seq| log.now.say(&log, Say { seen: Some(Pos::new(0, seq)), ..log.said('u') });
    assert!(say(2).is_ok(), "hidden meanwhile, and still there");
    assert_eq!(say(9).map(drop), Err(Refusal::UnknownEntry));
    let log = Log::after("uaua; hide 2; rewind 3; a; title x; rewind 1; a");
    let taken_back =
        |seq| log.now.visible_on_path(&log, Pos::new(0, seq)).expect_err("it is not on the path");
    for (seq, op, head) in [(4, 2, Head::new(1, 4)), (5, 4, Head::new(3, 5)), (1, 4, Head::new(3, 5))] {
        let refusal = Refusal::NotOnPath { entry: Pos::new(0, seq), taken_back: Some((OpNo(op), head)) };
        assert_eq!(taken_back(seq), refusal, "{seq}");
    }
    let late = Log::after("uc; rewind 2; late r 1 2");
    let never = Refusal::NotOnPath { entry: Pos::new(0, 3), taken_back: None };
    assert_eq!(late.now.visible_on_path(&late, Pos::new(0, 3)), Err(never));
}

#[test]
fn each_head_leads_back_to_what_it_named() {
    for script in [
        "uaua; rewind 3; ua; undo; label 1 x; redo; a; hide 2; retry 6; a; choose 8 1",
        "ua; rewind 1; late a 1 2; late a 1 2; u; rewind 5; late a 1 2",
        "uauaua; undo 2; redo; undo; checkout 6; edit 3; uaua; undo 3; title x; restore 2.6",
        "ua; fork 1; aua; rewind 2; a; undo; label 0:1 x; checkout 3; compensate 3",
    ] {
        let log = Log::after(script);
        for was in &log.was {
            let head = was.head;
            assert_eq!(log.now.tip_at(&log, head), Ok(was.state.tip), "{script}: tip at {head}");
            assert_eq!(log.now.head_of(&log, head), Ok(head), "{script}");
            let path: Vec<_> = was.path().positions().collect();
            let count =
                |of: fn(&Meta) -> u64| path.iter().map(|pos| of(&log.meta(*pos).expect("it is there"))).sum();
            let totals = Totals {
                messages: path.len() as u64,
                calls: count(|meta| meta.calls.into()),
                turns: count(|meta| meta.opens_turn().into()),
            };
            assert_eq!(was.totals, totals, "{script}: totals at {head}");
        }
        for op in 0..=log.now.head.op.0 + 1 {
            for seq in 0..=log.now.head.seq.0 + 1 {
                let was = log.was.iter().any(|was| was.head == Head::new(op, seq));
                // Several operations of one request are one commit, and each of them has a head.
                let made =
                    op > 0 && op <= log.now.head.op.0 && log.op(OpNo(op)).is_ok_and(|op| op.at.0 == seq);
                assert_eq!(
                    log.now.head_of(&log, Head::new(op, seq)).is_ok(),
                    was || made,
                    "{script}: {op}.{seq}"
                );
            }
        }
        for seq in 0..=log.now.head.seq.0 {
            let before = log.was.iter().rfind(|was| was.head.seq.0 == seq).expect("each entry has a commit");
            assert_eq!(
                log.now.history_at(&log, seq),
                Ok((*before.history).clone()),
                "{script}: history at {seq}"
            );
            let last = log.now.last_op_at(&log, seq).expect("it is there");
            assert_eq!(last.map_or(OpNo(0), |op| op.no), before.head.op, "{script}: operation at {seq}");
        }
    }
}

#[test]
fn a_branch_is_read_as_if_it_were_checked_out() {
    let log = Log::after("uaua; hide 1; rewind 3; ucra");
    for (tip, path) in [("4", "1-4"), ("3", "1-3"), ("6", "1-2 5-7"), ("2", "1-2")] {
        let branch = log.now.on_branch(&log, log.pos(tip)).expect("it is there");
        assert_eq!(log.part(&branch.path()), path);
        let totals = log.meta(branch.state.tip.expect("a tip")).expect("it is there").totals;
        assert_eq!(
            (branch.totals, branch.head, branch.mark(Pos::new(0, 1))),
            (totals, log.now.head, Mark::Hidden)
        );
    }
    assert_eq!(log.now.on_branch(&log, Pos::new(0, 9)), Err(Refusal::UnknownEntry));
    assert_eq!(log.now.on_branch(&log, Pos::new(0, 0)), Err(Refusal::UnknownEntry));
    // At an earlier head, later entries are on no branch.
    let earlier = Conversation { head: Head::new(1, 4), ..log.now.clone() };
    assert_eq!(earlier.on_branch(&log, Pos::new(0, 5)), Err(Refusal::UnknownEntry));
    assert!(earlier.on_branch(&log, Pos::new(0, 4)).is_ok());
    let call = Conversation { head: Head::new(2, 6), ..log.now.clone() };
    assert_eq!(call.on_branch(&log, Pos::new(0, 6)).map(|branch| branch.state.tip), Ok(Some(Pos::new(0, 6))));
}

#[test]
fn a_fork_begins_with_what_is_seen_and_goes_its_own_way() {
    let shown = |log: &Log| {
        let counters = log.now.counters(log).expect("all rows are there");
        let marks = log.now.state.marks.ranges().iter();
        let marks: String =
            marks.map(|(span, mark)| format!(" {} {}", mark.name(), log.span(*span))).collect();
        let folds: String = log.now.folds_in_force().iter().map(|fold| format!(" f{}", fold.op)).collect();
        let labels: String = log.now.state.labels.values().map(|label| format!(" “{label}”")).collect();
        format!("{} ({}/{}){marks}{folds}{labels}", log.path(), counters.messages, counters.turns)
    };
    check(
        shown,
        &[
            ("uaua; fork 2", "0:1-2 (2/1)"),
            ("uaua; fork 2; ua", "0:1-2 1-2 (4/2)"),
            ("uaua; fork 2; ua; rewind 1", "0:1-2 (2/1)"),
            ("uaua; fork 4; rewind 0:3; u", "0:1-2 1 (3/2)"),
            ("uaua; fork 4; rewind 0:3; u; checkout 0:4", "0:1-4 (4/2)"),
            ("uaua; fork 4; ua; fork 1", "0:1-4 1:1 (5/3)"),
            ("uaua; fork 4; ua; fork 1; hide 0:4-1:1", "0:1-4 1:1 (3/2) hidden 0:4 hidden 1:1"),
            // Hidden or dropped entries stay out for ever; excluded entries are excluded there.
            ("uaua; hide 2; fork 4", "0:1 0:3-4 (3/2)"),
            ("uaua; drop 1-2; fork 4", "0:3-4 (2/1)"),
            ("uaua; exclude 2; fork 4", "0:1-4 (4/2) excluded 0:2"),
            ("uaua; exclude 4; fork 2", "0:1-2 (2/1)"),
            ("uaua; fold 1-2 sum; fork 4", "0:1-4 (4/2) f1"),
            ("uaua; fold 1-2 sum; fork 1", "0:1 (1/1)"),
            ("uaua; fold 1-2 sum; exclude 1; fork 4", "0:1-4 (4/2) excluded 0:1"),
            ("uaua; fold 1-2 sum; exclude 1; fork 4; include 0:1", "0:1-4 (4/2) f1"),
            ("uaua; label 2 kept; label 4 lost; title x; fork 2", "0:1-2 (2/1) “kept”"),
        ],
    );
    refused(&[
        ("uaua; hide 2; fork 4; show 0:2", "unknown_entry"),
        ("uaua; fork 2; rewind 0:3", "unknown_entry"),
        ("uaua; fork 2; undo", "nothing_to_undo"),
    ]);
    let fork = Log::after("uaua; hide 3; fork 4; a");
    assert_eq!(fork.now.turn_of(&fork, Some(Pos::new(0, 4))), Ok(None), "its opener was hidden");
    assert_eq!(fork.now.turn_of(&fork, Some(Pos::new(0, 2))), Ok(Some(Pos::new(0, 1))));
    assert_eq!(fork.meta(Pos::new(1, 1)).expect("it is there").turn, None);
}

#[test]
fn erasure_is_recorded_and_changes_no_state() {
    let mut log = Log::after("ua; rewind 2; label 1 x");
    let state = log.now.state.clone();
    log.run("erase 2").expect("it is possible");
    assert_eq!(log.now.state, state);
    let commit = log.decide("erase 1").expect("it is possible");
    assert_eq!(commit.ops[0].change, Change::Erase(vec![Pos::new(0, 1)]));
    assert!(!commit.is_empty() && Commit::default().is_empty());
    let said = log.now.say(&log, log.said('u')).expect("it is possible");
    assert!(!said.is_empty());
}

#[test]
fn how_an_entry_came_about_is_decided_with_it() {
    let log = Log::after("ua; conversation: rewind 2; fork 1");
    let flags = Flags { detached: true, erased: true, interrupted: true, ..Flags::default() };
    let commit = log.now.say(&log, Say { flags, ..log.said('u') }).expect("it is possible");
    let kept = Flags { interrupted: true, ..Flags::default() };
    assert_eq!((commit.entries[0].meta.flags, commit.entries[0].meta.opens_turn()), (kept, true));
    // The parent's record of its files is no operation of the fork.
    let mut fork = Log::after("uaua; conversation: rewind 3; fork 2; ua");
    assert_eq!(fork.run("restore 0.1").map(|()| fork.path()), Ok("0:1-2 1".to_owned()));
}
