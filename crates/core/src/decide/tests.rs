//! Decisions as tables: refusals, requests without changes, and the commits of requests.

use crate::conversation::{ChangeOrigin, Commit, SeenState};
use crate::decide::{MarkRequest, Targets};
use crate::id::{Head, OpNo, Pos, RequestId, Time};
use crate::mark::Mark;
use crate::op::Reason;
use crate::refusal::Refusal;
use crate::testing::{Log, refused};
use crate::undo_history::Step;

#[test]
fn impossible_actions_are_refused_with_the_reason() {
    refused(&[
        ("ua; rewind 3", "unknown_entry"),
        ("ua; rewind 0", "unknown_entry"),
        ("uaua; rewind 3; rewind 4", "not_on_path"),
        ("uaua; hide 3; rewind 3", "not_visible"),
        ("uaua; drop 3; rewind 3", "not_visible"),
        ("ua; retry 3", "unknown_entry"),
        ("aa; retry 2", "not_an_answer"),
        ("ua; checkout 3", "unknown_entry"),
        ("ua; fork 2; checkout 1", "unknown_entry"),
        ("ua; restore 1.2", "unknown_head"),
        ("ua; restore 0.3", "unknown_head"),
        ("uaua; rewind 3; ua; restore 0.5", "unknown_head"),
        ("uaua; rewind 3; ua; restore 1.3", "unknown_head"),
        ("uaua; rewind 3; ua; restore 1.7", "unknown_head"),
        ("ua; choose 2 0", "no_such_alternative"),
        ("ua; choose 2 2", "no_such_alternative"),
        ("ua; choose 1 1", "not_an_answer"),
        ("undo", "nothing_to_undo"),
        ("ua; redo", "nothing_to_redo"),
        ("ua; undo; undo", "nothing_to_undo"),
        ("ua; undo; u; redo", "nothing_to_redo"),
        ("ua; hide 3", "unknown_entry"),
        ("ua; hide 1-3", "unknown_entry"),
        ("uaua; rewind 3; hide 3", "not_on_path"),
        ("ua; hide 1; exclude 1", "not_visible"),
        ("ua; drop 1; hide 1", "not_visible"),
        ("ua; fold 1-2", "empty_summary"),
        ("ua; fold 1-3 sum", "unknown_entry"),
        ("ua; hide 1-2; fold 1-2 sum", "not_foldable"),
        ("ua; exclude 1-2; fold 1-2 sum", "not_foldable"),
        ("ua; unfold 1", "unknown_fold"),
        ("ua; label 3 x", "unknown_entry"),
        ("ua; hide 2; label 2 x", "not_visible"),
        ("ua; label 1 x; label 2 x", "label_taken"),
        ("ua; label 1 x; label 2 ｘ", "label_taken"),
        ("ua; title \u{200d}", "empty_label"),
        ("ua; title a\u{1b}b", "bad_name"),
        ("ua; erase 3", "unknown_entry"),
        ("ua; compensate t1", "overtaken"),
        ("uau; rewind 3; compensate t3", "overtaken"),
        ("ua; retry 2; a; compensate 1", "overtaken"),
        ("ua; retry 2; compensate 1; compensate 1", "overtaken"),
        ("ua; hide 1; a; compensate 1", "overtaken"),
        ("ua; hide 1; hide 2; compensate 1", "overtaken"),
        ("ua; erase 1; compensate 1", "overtaken"),
        ("uaua; edit 3; ua; compensate 1", "overtaken"),
        // The tip is where the rewind left it, but another step moved it there.
        ("uaua; rewind 3; ua; rewind 5; compensate 1", "overtaken"),
        ("uaua; rewind 3; undo; redo; undo; compensate 1", "overtaken"),
    ]);
}

#[test]
fn a_request_for_what_is_so_already_changes_nothing() {
    for script in [
        "ua; checkout 2",
        "ua; retry 1; retry 1",
        "ua; restore 0.2",
        "ua; retry 2; a; choose 3 2",
        "ua; hide 1; hide 1",
        "ua; exclude 1; exclude 1",
        "ua; drop 1; drop 1",
        "ua; show 1",
        "ua; include 1",
        "ua; exclude 1; show 1",
        "ua; fold 1-2 sum; fold 1-2 sum",
        "ua; label 1 x; label 1 x",
        "ua; label 1",
        "ua; title x; title x",
    ] {
        let (before, last) = script.rsplit_once(';').expect("two steps");
        let log = Log::after(before);
        assert_eq!(log.decide(last.trim()), Ok(Commit::default()), "{script}");
    }
}

#[test]
fn a_move_for_what_somebody_saw_is_refused_once_it_is_otherwise() {
    let log = Log::after("ua; label 1 x; ua");
    let (before, now, by) = (Head::new(1, 2), Head::new(1, 4), ChangeOrigin::default());
    for (seen, fits) in [
        (SeenState::Exactly(now), true),
        (SeenState::Exactly(before), false),
        (SeenState::Exactly(Head::new(0, 4)), false),
        (SeenState::Since(now), true),
        (SeenState::Since(before), true),
        (SeenState::Since(Head::new(0, 2)), false),
        (SeenState::Since(Head::new(1, 5)), false),
        (SeenState::Anything, true),
    ] {
        let stale = |commit: Result<Commit, Refusal>| match commit {
            Ok(_) => false,
            Err(Refusal::Stale { .. }) => true,
            Err(other) => panic!("{other:?}"),
        };
        let (pos, now) = (Pos::new(0, 3), &log.now);
        assert_eq!(!stale(now.rewind(&log, &by, seen, pos)), fits, "rewind {seen:?}");
        assert_eq!(!stale(now.edit(&log, &by, seen, pos)), fits, "edit {seen:?}");
        assert_eq!(!stale(now.retry(&log, &by, seen, pos)), fits, "retry {seen:?}");
        assert_eq!(!stale(now.checkout(&log, &by, seen, Some(pos))), fits, "checkout {seen:?}");
        assert_eq!(!stale(now.restore(&log, &by, seen, now.head)), fits, "restore {seen:?}");
        assert_eq!(!stale(now.choose(&log, &by, seen, Pos::new(0, 4), 1)), fits, "choose {seen:?}");
        assert_eq!(!stale(now.undo(&log, &by, seen, 1)), fits, "undo {seen:?}");
        assert_eq!(!stale(now.files(&by, seen, Reason::Files)), fits, "files {seen:?}");
    }
}

#[test]
fn nothing_is_written_behind_an_operation_of_a_newer_version() {
    let mut log = Log::after("uaua; rewind 3; undo; hide 1");
    log.now.unknown = Some((OpNo(9), "merge".to_owned()));
    for step in [
        "u",
        "rewind 3",
        "edit 3",
        "retry 4",
        "checkout 2",
        "restore 0.4",
        "choose 4 1",
        "undo",
        "redo",
        "hide 3",
        "show 1",
        "fold 2-4 sum",
        "unfold 1",
        "label 2 x",
        "title x",
        "files",
        "compensate t3",
    ] {
        let found = log.clone().run(step).map_err(|refusal| refusal.code());
        assert_eq!(found, Err("read_only"), "{step}");
    }
}

#[test]
fn alternatives_are_the_visible_answers_after_the_same_entry() {
    let alternatives = |log: &Log, seq: u64| {
        let all = log.now.alternatives(log, Pos::new(0, seq)).expect("it is there");
        (
            all.iter().map(|pos| pos.seq).collect::<Vec<_>>(),
            log.now.answer_named(log, Pos::new(0, seq)).map(|pos| pos.seq),
        )
    };
    let rows: [(&str, u64, &[u64], u64); 9] = [
        ("ua", 2, &[2], 2),
        ("ua", 1, &[], 1),
        ("ua; retry 2; a", 3, &[2, 3], 3),
        // A prompt names the answers to it, and so does each later entry of an answer.
        ("ua; retry 2; a", 1, &[], 3),
        ("ua; retry 2; aa", 4, &[4], 3),
        ("ua; retry 2; a; hide 3; checkout 2", 2, &[2], 2),
        ("uaua; edit 3; ua", 5, &[], 5),
        ("ua; rewind 2; late a 1 2; a", 4, &[2, 4], 4),
        ("uaua; retry 4; aua; retry 7; a", 1, &[], 1),
    ];
    for (script, seq, all, named) in rows {
        assert_eq!(alternatives(&Log::after(script), seq), (all.to_vec(), Ok(named)), "{script}: {seq}");
    }
}

#[test]
fn a_request_names_only_the_first_operation_that_it_makes() {
    let log = Log::after("uaua; hide 1; hide 2");
    let request: RequestId = "r1".parse().expect("an id");
    let by = ChangeOrigin {
        author: "ada".to_owned(),
        time: Time(7),
        request: Some(request.clone()),
        wording: None,
        principal: crate::Principal::Token("phone".to_owned()),
        chat: None,
    };
    let ops = log.now.undo(&log, &by, SeenState::Anything, 3).expect("it is possible").ops;
    let requests: Vec<_> = ops.iter().map(|op| op.request.clone()).collect();
    assert_eq!(requests, [Some(request), None, None]);
    for op in &ops {
        assert_eq!((op.author.as_str(), op.time, op.revision), ("ada", Time(7), log.now.revision.next()));
    }
    assert_eq!(ops.iter().map(|op| op.no.0).collect::<Vec<_>>(), [3, 4, 5]);
}

#[test]
fn undo_steps_of_one_request_are_compensated_together() {
    let mut log = Log::after("uaua; hide 1; undo 2");
    let before = log.was[log.was.len() - 2].clone();
    let request: RequestId = "r1".parse().expect("an id");
    let by = ChangeOrigin { request: Some(request), ..ChangeOrigin::default() };
    let commit = log.now.compensate(&log, &by, Step::Op(OpNo(3))).expect("it is the last thing");
    assert_eq!(commit.ops.len(), 2);
    assert_eq!(commit.ops.iter().filter(|op| op.request.is_some()).count(), 1);
    assert!(commit.ops.iter().all(|op| op.revision == log.now.revision.next()));
    log.commit(commit);
    assert_eq!((&log.now.state, &log.now.history), (&before.state, &before.history));
}

#[test]
fn marks_are_changed_only_where_they_are_as_their_author_saw_them() {
    let log = Log::after("uaua; exclude 2");
    for (entries, seen, fits) in [
        (vec![1], Mark::Normal, true),
        (vec![2], Mark::Excluded, true),
        (vec![2], Mark::Normal, false),
        (vec![1, 2], Mark::Normal, false),
        (vec![1, 3], Mark::Normal, true),
    ] {
        let targets = Targets::Entries(entries.iter().map(|seq| Pos::new(0, *seq)).collect());
        let request = MarkRequest { verb: Reason::Hide, targets, seen: Some(seen) };
        let found = log.now.mark_entries(&log, &ChangeOrigin::default(), &request).map(drop);
        let expected = if fits { Ok(()) } else { Err(Refusal::StaleMark(seen)) };
        assert_eq!(found, expected, "{entries:?} {seen:?}");
    }
}

#[test]
fn show_and_include_remove_marks_and_the_other_verbs_set_one() {
    assert_eq!(Reason::Show.removes(), [Mark::Hidden, Mark::Dropped]);
    assert_eq!(Reason::Include.removes(), [Mark::Excluded]);
    for verb in [Reason::Hide, Reason::Exclude, Reason::Drop, Reason::Rewind] {
        assert_eq!(verb.removes(), [], "{verb:?}");
    }
}
