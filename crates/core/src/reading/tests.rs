//! The content of each projection of a state, as tables.

use super::*;
use crate::conversation::Commit;
use crate::entry::Totals;
use crate::id::OpNo;
use crate::testing::{Log, check};

/// The timeline: excluded entries in brackets, covered ones with the fold's number.
fn timeline(log: &Log) -> String {
    let piece = |piece: &Piece| {
        let fold = piece.fold.map_or(String::new(), |fold| format!("f{}", fold.op));
        match piece.mark {
            Mark::Normal => format!("{}{fold}", log.span(piece.span)),
            mark => format!("{}({}){fold}", mark.name(), log.span(piece.span)),
        }
    };
    log.now.timeline().iter().map(piece).collect::<Vec<_>>().join(" ")
}

fn prompt(log: &Log) -> String {
    let piece = |piece: &PromptPiece| match piece {
        PromptPiece::Entries(span) => log.span(*span),
        PromptPiece::Summary(fold) => format!("f{}", fold.op),
    };
    log.now.prompt().iter().map(piece).collect::<Vec<_>>().join(" ")
}

#[test]
fn people_see_what_is_normal_and_what_is_excluded() {
    check(
        timeline,
        &[
            ("uaua", "1-4"),
            ("uaua; hide 2", "1 3-4"),
            ("uaua; hide 4", "1-3"),
            ("uaua; exclude 2-3", "1 excluded(2-3) 4"),
            ("uaua; exclude 2-3; include 2", "1-2 excluded(3) 4"),
            ("uaua; exclude 2-3; hide 1-2", "excluded(3) 4"),
            ("uaua; drop 1-2", "3-4"),
            ("uaua; hide 1-3; drop 4; show 2-4", "2-4"),
            ("uaua; hide 1,3", "2 4"),
            ("uaua; hide 4-2", "1"),
            ("uaua; hide 2; rewind 3", "1"),
            // A call and its results are marked together.
            ("ucra; hide 2", "1 4"),
            ("ucra; hide 3", "1 4"),
            ("ucra; hide 3-4", "1"),
            ("ucrcra; exclude 3-4", "1 excluded(2-5) 6"),
            ("uaua; fold 1-2 sum", "1-2f1 3-4"),
            ("uaua; fold 2-3 sum", "1 2-3f1 4"),
            ("uaua; fold 3-4 sum", "1-2 3-4f1"),
            ("uaua; fold 2-3 sum; hide 1", "2-3f1 4"),
            ("uaua; fold 2-3 sum; hide 2", "1 3-4"),
            ("uaua; exclude 2; fold 1-3 sum", "1f2 excluded(2) 3f2 4"),
            ("uaua; fold 1-2 sum; fold 3-4 sum", "1-2f1 3-4f2"),
            ("uaua; fold 1-2 sum; fold 1-4 all", "1-4f2"),
            ("uaua; fold 1-2 sum; fold 1-4 all; unfold 2", "1-2f1 3-4"),
            ("uaua; fold 1-2 sum; unfold 1", "1-4"),
            ("uaua; fold 1-2 sum; rewind 2", "1"),
            ("uaua; rewind 3; ua; fold 2-5 sum", "1 2f2 5f2 6"),
            ("ucra; fold 1-2 sum", "1-3f1 4"),
            ("ucra; fold 3-4 sum", "1 2-4f1"),
            // Folds may touch, in any order of creation; of those that share an entry the latest counts.
            ("uaua; fold 3-4 sum; fold 1-2 sum", "1-2f2 3-4f1"),
            ("uauaua; hide 2; fold 1-3 sum; fold 3-4 sum", "1 3-4f3 5-6"),
            ("uauaua; hide 2; fold 3-5 sum; fold 4-5 sum", "1 3 4-5f3 6"),
            ("uauaua; hide 3; fold 1-2 sum; fold 4-5 sum", "1-2f2 4-5f3 6"),
            ("uauaua; hide 3; fold 4-5 sum; fold 6-6 sum", "1-2 4-5f2 6f3"),
            ("uauaua; hide 3; fold 2-5 sum", "1 2f2 4-5f2 6"),
            ("uauaua; hide 3; fold 2-5 sum; show 3", "1-6"),
            ("uauaua; hide 3; fold 2-5 sum; hide 5", "1-2 4 6"),
            ("uauaua; hide 3; fold 2-5 sum; rewind 6", "1 2f2 4-5f2"),
            ("uauaua; hide 3; fold 2-5 sum; rewind 5", "1-2 4"),
            ("uaua; fold 2-3 sum; rewind 3; ua", "1-2 5-6"),
            ("uaua; fork 4; ua; fold 0:4-1 sum", "0:1-3 0:4f1 1f1 2"),
        ],
    );
}

#[test]
fn the_model_sees_summaries_in_the_place_of_what_they_cover() {
    check(
        prompt,
        &[
            ("uaua", "1-4"),
            ("uaua; exclude 2-3", "1 4"),
            ("uaua; fold 1-2 sum", "f1 3-4"),
            ("uaua; fold 2-3 sum; exclude 4", "1 f1"),
            // One summary, though its entries are in two places.
            ("uaua; exclude 2; fold 1-3 sum", "f2 4"),
            ("uaua; fold 1-2 sum; fold 3-4 sum", "f1 f2"),
            ("uaua; fold 1-2 sum; hide 1", "2-4"),
            ("uaua; fold 1-2 sum; hide 1; show 1", "f1 3-4"),
        ],
    );
}

#[test]
fn a_search_shows_what_people_see_and_more_only_where_it_is_asked_for() {
    let log = Log::after("uaua; exclude 1; hide 2; drop 3; rewind 4; a");
    let rows = [
        (5, Visibility::OnPath(Mark::Normal), [true, true, true]),
        (1, Visibility::OnPath(Mark::Excluded), [true, true, true]),
        (2, Visibility::OnPath(Mark::Hidden), [false, false, true]),
        (3, Visibility::OnPath(Mark::Dropped), [false, false, true]),
        (4, Visibility::Rewound, [false, true, false]),
    ];
    for (seq, visibility, shown) in rows {
        assert_eq!(log.now.visibility(Pos::new(0, seq)), visibility, "entry {seq}");
        let asked = [(false, false), (true, false), (false, true)];
        let found =
            asked.map(|(rewound, hidden)| Conversation::searchable(visibility, Include { rewound, hidden }));
        assert_eq!(found, shown, "entry {seq}");
    }
    assert_eq!(log.now.export(), log.now.timeline(), "an export takes along what people see");
}

/// The plan of the last step: gone, came, lifted and new folds, the text for the composer.
fn plan(script: &str) -> String {
    let (before, last) = script.rsplit_once(';').expect("two steps");
    let log = Log::after(before);
    let commit = match last.trim() {
        "" => Commit::default(),
        step => log.decide(step).expect("it is possible"),
    };
    let plan = log.now.plan(&log, &commit).expect("all rows are there");
    assert_eq!(plan.head, log.now.head);
    let count = |totals: Totals| format!("{}/{}/{}", totals.messages, totals.calls, totals.turns);
    let mut text = Vec::new();
    if !plan.gone.is_empty() {
        text.push(format!("-{} ({})", log.part(&plan.gone), count(plan.taken_back)));
    }
    if !plan.came.is_empty() {
        text.push(format!("+{} ({})", log.part(&plan.came), count(plan.brought_back)));
    }
    text.extend(plan.lifted.iter().map(|fold| format!("-f{}", fold.op)));
    text.extend(plan.in_force.iter().map(|fold| format!("+f{}", fold.op)));
    text.extend(plan.composer.map(|pos| format!("composer {}", pos.seq)));
    text.join(" ")
}

#[test]
fn a_plan_says_what_goes_what_comes_and_what_returns_to_the_composer() {
    let rows = [
        ("uaua;", ""),
        ("uaua; rewind 3", "-3-4 (2/0/1) composer 3"),
        ("uaua; rewind 2", "-2-4 (3/0/1)"),
        ("uaua; rewind 4", "-4 (1/0/0)"),
        ("ucrua; rewind 1", "-1-5 (5/1/2) composer 1"),
        ("uasa; rewind 3", "-3-4 (2/0/0)"),
        ("uaua; hide 4; rewind 3", "-3 (1/0/1) composer 3"),
        ("uaua; edit 3", "-3-4 (2/0/1) composer 3"),
        ("uaua; retry 4", "-4 (1/0/0)"),
        ("uaua; checkout 2", "-3-4 (2/0/1)"),
        ("uaua; undo", "-3-4 (2/0/1) composer 3"),
        ("uaua; undo; redo", "+3-4 (2/0/1)"),
        ("uaua; undo 2", "-1-4 (4/0/2) composer 1"),
        ("uaua; rewind 3; ua; checkout 4", "-5-6 (2/0/1) +3-4 (2/0/1)"),
        ("uaua; rewind 3; ua; undo; undo", "+3-4 (2/0/1)"),
        ("uaua; rewind 3; ua; checkout 4; undo", "-3-4 (2/0/1) +5-6 (2/0/1)"),
        ("uaua; hide 2-3", "-2-3 (2/0/1)"),
        ("uaua; hide 2-3; show 3", "+3 (1/0/1)"),
        ("uaua; hide 2-3; undo", "+2-3 (2/0/1)"),
        ("uaua; exclude 2", ""),
        ("uaua; exclude 2; hide 1-2", "-1-2 (2/0/1)"),
        ("uaua; fold 1-2 sum", "+f1"),
        ("uaua; fold 1-2 sum; hide 2", "-2 (1/0/0) -f1"),
        ("uaua; fold 1-2 sum; hide 2; show 2", "+2 (1/0/0) +f1"),
        ("uaua; fold 1-2 sum; exclude 1", "-f1"),
        ("uaua; fold 1-2 sum; fold 1-4 all", "-f1 +f2"),
        ("uaua; fold 1-2 sum; rewind 1", "-1-4 (4/0/2) -f1 composer 1"),
        ("uau; compensate t3", "-3 (1/0/1) composer 3"),
        // The new message of a compensated edit returns, although the old one is there again.
        ("uaua; edit 3; u; compensate 1", "-5 (1/0/1) +3-4 (2/0/1) composer 5"),
        ("uaua; rewind 3; compensate 1", "+3-4 (2/0/1)"),
        // A redo that hides the prompt again returns nothing.
        ("uaua; hide 3; undo; redo", "-3 (1/0/1)"),
        ("uaua; hide 3; rewind 4; undo 2", "+3-4 (2/0/1)"),
    ];
    let found = rows.map(|(script, _)| (script, plan(script)));
    assert_eq!(found, rows.map(|(script, text)| (script, text.to_owned())));
}

#[test]
fn marks_of_a_later_state_are_counted_where_they_differ() {
    let log = Log::after("uaua; hide 2; exclude 3; rewind 4; a; show 2");
    let pairs = |at: usize| log.was[at].other_marks(&log.now);
    assert_eq!(pairs(4), [((Mark::Normal, Mark::Excluded), 1)]);
    assert_eq!(pairs(5), [((Mark::Normal, Mark::Excluded), 1), ((Mark::Hidden, Mark::Normal), 1)]);
    assert_eq!(pairs(log.was.len() - 1), []);
}

/// The marked entries, newest first: mark, number of the turn, entries, and their totals.
fn marked(log: &Log, before: Option<u64>, limit: usize) -> String {
    let before = before.map(|seq| Pos::new(log.now.tree.depth(), seq));
    let pieces = log.now.marked(log, before, limit).expect("all rows are there");
    let piece = |piece: &crate::Marked| {
        let (mark, part) = (piece.mark.name(), log.part(&piece.part));
        format!("{mark} t{} {part} ({}/{})", piece.turn, piece.totals.messages, piece.totals.calls)
    };
    pieces.iter().map(piece).collect::<Vec<_>>().join(", ")
}

#[test]
fn marked_entries_are_listed_by_turn_newest_first() {
    let rows = [
        ("uaua", None, 9, ""),
        ("uaua; hide 1-4", None, 9, "hidden t2 3-4 (2/0), hidden t1 1-2 (2/0)"),
        ("uaua; hide 2-3", None, 9, "hidden t2 3 (1/0), hidden t1 2 (1/0)"),
        ("suaua; hide 1-3", None, 9, "hidden t1 2-3 (2/0), hidden t0 1 (1/0)"),
        ("ucra; hide 2; exclude 4", None, 9, "excluded t1 4 (1/0), hidden t1 2-3 (2/1)"),
        ("uaaa; hide 2,4", None, 9, "hidden t1 4 (1/0), hidden t1 2 (1/0)"),
        ("uaua; hide 1-4", None, 1, "hidden t2 3-4 (2/0)"),
        ("uaua; hide 1-4", None, 0, ""),
        ("uaua; hide 1-4", Some(3), 9, "hidden t1 1-2 (2/0)"),
        ("uaua; hide 1-4", Some(1), 9, ""),
        ("uaaa; rewind 4; a; rewind 3; a; hide 2-6", None, 9, "hidden t1 2 6 (2/0)"),
        ("uaua; hide 3-4; rewind 2", None, 9, ""),
    ];
    let found = rows.map(|(script, before, limit, _)| marked(&Log::after(script), before, limit));
    assert_eq!(found, rows.map(|(.., text)| text.to_owned()));
    let named = Log::after("uaua; fold 1-2 sum").now.folds_in_force();
    assert_eq!(named, [FoldId { depth: 0, op: OpNo(1) }]);
}
