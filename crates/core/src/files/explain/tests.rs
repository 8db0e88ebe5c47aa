//! Reasons, headings and counts of paths, from plans over a folder in memory.

use super::*;
use crate::files::plan::tests::{path, record};
use crate::files::stack::tests::delta;
use crate::files::testing::{World, layers, planned, wanted_path};
use crate::files::{Grade, Layer, Stack};

/// A path with these layers, all of which are to leave it, where `now` is on the disk.
fn taken_back(name: &str, have: &[(u64, &str)], now: char) -> PathPlan {
    let mut world = World::of(&[(name, now)]);
    let plan = planned(vec![wanted_path(name, have, &[])], &[], &mut world).unwrap();
    plan.paths.into_iter().next().unwrap()
}

/// A path of a plan with this verdict, before any author is known.
fn with(verdict: Verdict) -> PathPlan {
    PathPlan { verdict, against: None, ..taken_back("a", &[(1, "ab")], 'b') }
}

#[test]
fn each_verdict_has_its_reason() {
    let by = |verdict, against| PathPlan { against, ..with(verdict) }.reason();
    let chosen = |choice| PathPlan { choice: Some(choice), ..with(Verdict::Unchanged) }.reason();
    let (hand, turn) = (Some(BlockingAuthor::Hand), Some(BlockingAuthor::Later(delta(1))));
    let clash = |by, change| Some(PathReason::Clash { by, change, uncertain: false });
    let rows = [
        (by(Verdict::Conflict(Clash::Sealed), hand), Some(PathReason::FolderInTheWay)),
        (by(Verdict::Conflict(Clash::Parent), turn), Some(PathReason::NoParent { by: turn })),
        // Only a turn is named for a missing folder.
        (by(Verdict::Conflict(Clash::Parent), hand), Some(PathReason::NoParent { by: None })),
        (by(Verdict::Conflict(Clash::Mode), hand), clash(BlockingAuthor::Hand, PathChange::Permissions)),
        (by(Verdict::Conflict(Clash::Bytes), None), clash(BlockingAuthor::Others, PathChange::SamePlace)),
        (by(Verdict::Conflict(Clash::Kind), hand), clash(BlockingAuthor::Hand, PathChange::Kind)),
        (by(Verdict::Conflict(Clash::Made), hand), clash(BlockingAuthor::Hand, PathChange::Made)),
        (by(Verdict::Conflict(Clash::Removed), hand), clash(BlockingAuthor::Hand, PathChange::Removed)),
        (by(Verdict::NotEmpty, None), Some(PathReason::Needed)),
        (by(Verdict::NotEmpty, hand), Some(PathReason::NotEmpty { by: BlockingAuthor::Hand })),
        (by(Verdict::Foreign, None), Some(PathReason::MadeSince { by: BlockingAuthor::Others })),
        (by(Verdict::GitHas, Some(BlockingAuthor::Git)), Some(PathReason::MovedWithGit)),
        (by(Verdict::GitHas, hand), Some(PathReason::GitHead)),
        (
            by(Verdict::NotCovered(UncoveredReason::Ignored), None),
            Some(PathReason::NotCovered(UncoveredReason::Ignored)),
        ),
        (chosen(Choice::Skip), Some(PathReason::Undecided)),
        (chosen(Choice::Disk), Some(PathReason::ChosenDisk)),
        (chosen(Choice::Checkpoint), None),
        (by(Verdict::Revert, None), None),
    ];
    for (found, reason) in rows {
        assert_eq!(found, reason);
    }
}

#[test]
fn change_of_a_later_turn_is_named_by_what_it_did() {
    // The later turn's layer, and the change that is named for a clash of bytes and for one of a removed file.
    for (layer, of_bytes, of_removed) in [
        ("bc", PathChange::SamePlace, PathChange::File),
        ("b ", PathChange::Removed, PathChange::Removed),
        (" c", PathChange::Made, PathChange::Made),
    ] {
        for (grade, uncertain) in [(Grade::Seen, false), (Grade::Ambiguous(Uncertain::Job), true)] {
            let mut plan = with(Verdict::Conflict(Clash::Bytes));
            let all = [layers(&[(1, "ab")], Grade::Seen), layers(&[(2, layer)], grade)].concat();
            plan.step.stack_before = Stack::new(all);
            plan.against = Some(BlockingAuthor::Later(delta(2)));
            let by = BlockingAuthor::Later(delta(2));
            assert_eq!(plan.reason(), Some(PathReason::Clash { by, change: of_bytes, uncertain }), "{layer}");
            plan.verdict = Verdict::Conflict(Clash::Removed);
            assert_eq!(
                plan.reason(),
                Some(PathReason::Clash { by, change: of_removed, uncertain }),
                "{layer}"
            );
        }
    }
}

#[test]
fn change_of_a_turn_that_left_nothing_is_a_removal() {
    let mut plan = with(Verdict::Conflict(Clash::Bytes));
    plan.against = Some(BlockingAuthor::There(delta(1)));
    let reason = |plan: &PathPlan| match plan.reason() {
        Some(PathReason::Clash { change, .. }) => change,
        other => panic!("{other:?}"),
    };
    assert_eq!(reason(&plan), PathChange::SamePlace);
    plan.step.change.before = None;
    assert_eq!(reason(&plan), PathChange::Removed);
}

#[test]
fn changes_of_unknown_authors_that_stay_are_a_reason() {
    let stays = |verdict: Verdict, delta_no| {
        let mut plan = with(verdict);
        plan.out = vec![delta(delta_no)];
        plan.step.stack_after = Stack::new(layers(&[(1, "ab")], Grade::Ambiguous(Uncertain::Late)));
        plan.reason()
    };
    let when = BTreeSet::from([Uncertain::Late]);
    assert_eq!(stays(Verdict::Kept, 1), Some(PathReason::Uncertain { when: when.clone() }));
    assert_eq!(stays(Verdict::Merge, 1), Some(PathReason::KeepsUncertain { when }));
    assert_eq!(stays(Verdict::Merge, 2), None, "it was not to leave the path");
}

#[test]
fn only_verdicts_about_authors_name_one() {
    let names =
        |verdict| PathPlan { against: Some(BlockingAuthor::Hand), ..with(verdict) }.opponent().is_some();
    assert!(names(Verdict::Conflict(Clash::Bytes)) && names(Verdict::NotEmpty) && names(Verdict::Foreign));
    assert!(!names(Verdict::Merge) && !names(Verdict::GitHas) && !names(Verdict::Unchanged));
}

#[test]
fn choices_are_explained_where_an_author_stands_in_the_way() {
    let explained = |verdict, against| {
        let mut plan = PathPlan { against, ..with(verdict) };
        plan.choices = vec![Choice::Disk, Choice::Skip, Choice::Yours];
        plan.outcomes = vec![(Choice::Disk, ChoiceOutcome::Stays(None)), (Choice::Skip, ChoiceOutcome::Gone)];
        plan.explained().map(|(choice, becomes)| (choice.clone(), becomes)).collect::<Vec<_>>()
    };
    // What a choice comes to is not known of the third.
    let both = vec![(Choice::Disk, ChoiceOutcome::Stays(None)), (Choice::Skip, ChoiceOutcome::Gone)];
    assert_eq!(explained(Verdict::Conflict(Clash::Bytes), None), both);
    assert_eq!(explained(Verdict::Unchanged, Some(BlockingAuthor::Hand)), both);
    assert_eq!(explained(Verdict::Unchanged, None), []);
    for verdict in [Verdict::NotEmpty, Verdict::Foreign, Verdict::NotCovered(UncoveredReason::Ignored)] {
        assert_eq!(explained(verdict, Some(BlockingAuthor::Hand)), []);
    }
}

#[test]
fn deltas_are_named_only_where_an_author_stands_in_the_way() {
    let mut plan = with(Verdict::Conflict(Clash::Bytes));
    plan.outcomes =
        vec![(Choice::Checkpoint, ChoiceOutcome::Before(delta(7))), (Choice::Disk, ChoiceOutcome::Gone)];
    assert_eq!(plan.named_deltas().count(), 0);
    plan.against = Some(BlockingAuthor::Missing(delta(5)));
    assert_eq!(plan.named_deltas().collect::<Vec<_>>(), [delta(5), delta(1), delta(7)]);
}

#[test]
fn last_delta_that_leaves_is_shown_first_and_what_returns_only_alone() {
    let mut plan = with(Verdict::Revert);
    (plan.out, plan.into) = (vec![delta(3), delta(2)], vec![delta(8), delta(9)]);
    assert_eq!(plan.shown_deltas().collect::<Vec<_>>(), [delta(3), delta(2)]);
    plan.out.clear();
    assert_eq!(plan.shown_deltas().collect::<Vec<_>>(), [delta(9), delta(8)]);
}

#[test]
fn outcome_is_partly_where_its_turn_changed_the_file_on_that_side_too() {
    let layer = |no| Layer { delta: delta(no), grade: Grade::Seen, before: record('a'), after: record('b') };
    let mut plan = with(Verdict::Conflict(Clash::Bytes));
    plan.step.stack_before = Stack::new(vec![layer(1), layer(2), layer(3)]);
    // The deltas 1 and 2 are of one turn, and 3 is of the next one.
    let same = |one: DeltaId, other: DeltaId| one.no.max(2) == other.no.max(2);
    let partly = |becomes| plan.is_partly(becomes, same);
    assert!(partly(ChoiceOutcome::Before(delta(2))), "1 came before it");
    assert!(!partly(ChoiceOutcome::Before(delta(1))), "nothing came before it");
    assert!(!partly(ChoiceOutcome::Before(delta(3))), "only another turn came before it");
    assert!(partly(ChoiceOutcome::Left(delta(1))), "2 comes after it");
    assert!(!partly(ChoiceOutcome::Left(delta(2))) && !partly(ChoiceOutcome::Left(delta(3))));
    assert!(!partly(ChoiceOutcome::Gone) && !partly(ChoiceOutcome::Stays(None)));
}

#[test]
fn diff_shows_what_the_path_would_be_where_it_waits_and_the_chosen_hunks_of_a_part() {
    let diff = |verdict, hunks: &[u32]| {
        let mut plan = with(verdict);
        (plan.whole, plan.hunks) = (record('w'), hunks.to_vec());
        plan.step.change.after = record('s');
        let (change, hunks) = plan.shown_change();
        (change.after, hunks)
    };
    assert_eq!(diff(Verdict::Conflict(Clash::Bytes), &[]), (record('w'), DiffHunks::Numbered));
    assert_eq!(diff(Verdict::Kept, &[]), (record('w'), DiffHunks::Numbered));
    assert_eq!(diff(Verdict::Part, &[2]), (record('w'), DiffHunks::Only(vec![2])));
    assert_eq!(diff(Verdict::Revert, &[]), (record('s'), DiffHunks::Numbered));
}

#[test]
fn hunks_can_be_chosen_only_between_two_files() {
    let change = |before, after| FileChange { path: path("a"), before: record(before), after: record(after) };
    assert!(change('a', 'b').has_hunks_to_choose());
    assert!(!change('a', ' ').has_hunks_to_choose() && !change(' ', 'a').has_hunks_to_choose());
    assert!(!change('/', 'a').has_hunks_to_choose());
}

/// A plan of paths: each its name, what is there and what is to be there, and its verdict.
fn listed(rows: &[(&str, char, char, Verdict)]) -> FilePlan {
    let one = |(name, before, after, verdict): &(&str, char, char, Verdict)| {
        let change = FileChange { path: path(name), before: record(*before), after: record(*after) };
        let step = PathMove { change, stack_before: Stack::default(), stack_after: Stack::default() };
        PathPlan { path: path(name), step, whole: None, ..with(verdict.clone()) }
    };
    FilePlan { paths: rows.iter().map(one).collect() }
}

#[test]
fn folder_is_not_counted_where_its_content_has_the_same_heading() {
    use Verdict::{Conflict, Delete, Foreign, Unchanged};
    let clash = || Conflict(Clash::Bytes);
    /// The paths, which of them are full folders, how many wait and how many are left.
    type Row<'a> = (&'a [(&'a str, char, char, Verdict)], &'a [bool], u64, u64);
    let rows: [Row<'_>; 6] = [
        (&[("d", '/', '/', Foreign), ("d/a", 'a', 'a', Foreign)], &[true, false], 0, 1),
        (&[("d", '/', '/', Foreign), ("e", 'a', 'a', Foreign)], &[false, false], 0, 2),
        (&[("d", '/', '/', clash()), ("d/a", 'a', 'a', clash())], &[true, false], 1, 0),
        // Another heading below it hides no folder.
        (&[("d", '/', '/', Foreign), ("d/a", 'a', 'a', clash())], &[false, false], 1, 1),
        // A file with something below its name is no folder.
        (&[("d", 'a', '/', Foreign), ("d/a", 'a', 'a', Foreign)], &[false, false], 0, 2),
        (&[("d", '/', ' ', Delete), ("d/a", 'a', 'a', Unchanged)], &[false, false], 0, 0),
    ];
    for (paths, full_folders, conflicts, left) in rows {
        let list = PathList { full_folders: full_folders.to_vec(), conflicts, left };
        assert_eq!(listed(paths).list(), list, "{paths:?}");
    }
}

#[test]
fn path_that_was_chosen_to_stay_is_left_and_one_that_is_as_wanted_is_not() {
    let mut plan = listed(&[("a", 'a', 'a', Verdict::Unchanged), ("b", 'b', 'b', Verdict::Unchanged)]);
    plan.paths[1].choice = Some(Choice::Disk);
    assert_eq!(plan.list(), PathList { full_folders: vec![false; 2], conflicts: 0, left: 1 });
    assert!(!plan.concerns_files());
    plan.paths[0].verdict = Verdict::Kept;
    assert!(plan.concerns_files());
}

#[test]
fn totals_count_files_by_what_became_of_them() {
    let plan = listed(&[
        ("d", '/', ' ', Verdict::Delete),
        ("d/a", 'a', ' ', Verdict::Delete),
        ("e", ' ', 'e', Verdict::Recreate),
        ("f", 'f', 'g', Verdict::Revert),
        ("g", 'g', 'g', Verdict::Unchanged),
    ]);
    let mut totals = FileTotals::default();
    totals.add(plan.paths.iter().map(|path| &path.step));
    assert_eq!(totals, FileTotals { deleted: 1, recreated: 1, merged: 0, reverted: 1 });
    // What is left holds what others wrote: it is neither a version that a call found nor one that it left.
    let mut merged = taken_back("a", &[(1, "ab")], 'b').step;
    merged.change.after = record('x');
    totals.add([&merged].into_iter());
    assert_eq!(totals.merged, 1);
}
