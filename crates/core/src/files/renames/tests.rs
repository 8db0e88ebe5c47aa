//! Tests of both names of a rename, over a small tree in memory.

use super::*;
use crate::files::plan::tests::{Tree, path, record, shown};
use crate::files::stack::tests::delta;
use crate::files::{DesiredState, Grade};

/// A name, its layers (each as its delta with the version before and after), the wanted ones, and the current
/// version.
type Row<'a> = (&'a str, &'a [(u64, &'a str)], &'a [(u64, &'a str)], char);

fn layers(told: &[(u64, &str)]) -> Vec<Layer> {
    let layer = |(no, versions): &(u64, &str)| {
        let mut versions = versions.chars().map(record);
        let (before, after) = (versions.next().unwrap(), versions.next().unwrap());
        Layer { delta: delta(*no), grade: Grade::Seen, before, after }
    };
    told.iter().map(layer).collect()
}

fn planned(rows: &[Row<'_>], chosen: &[(&str, Choice)]) -> String {
    let mut tree = Tree::default();
    tree.0.extend(rows.iter().filter_map(|(name, .., now)| Some((path(name), record(*now)?))));
    let wanted_paths = rows.iter().map(|(name, have, want, _)| WantedPath {
        path: path(name),
        stack: Stack::new(layers(have)),
        want: DesiredState::Layers(layers(want)),
    });
    let paths = chosen.iter().map(|(name, choice)| (path(name), choice.clone())).collect();
    shown(wanted_paths.collect(), &Chosen { paths, others: None }, &mut tree)
}

#[test]
fn trial_03_a_choice_that_keeps_one_name_of_a_rename_keeps_the_other_one_too() {
    let back: [Row<'_>; 2] = [("new", &[(1, " a")], &[], 'a'), ("old", &[(1, "a ")], &[], ' ')];
    for name in ["new", "old"] {
        assert_eq!(
            planned(&back, &[(name, Choice::Disk)]),
            "new Unchanged a -> a, 0 left\nold Unchanged nothing -> nothing, 0 left\n"
        );
        assert_eq!(
            planned(&back, &[(name, Choice::Skip)]),
            "new Unchanged a -> a, 1 left\nold Unchanged nothing -> nothing, 1 left\n"
        );
    }
    // A choice for both names has the chosen result.
    assert_eq!(
        planned(&back, &[("old", Choice::Disk), ("new", Choice::Checkpoint)]),
        "new Delete a -> nothing, 0 left\nold Unchanged nothing -> nothing, 0 left\n"
    );
}

#[test]
fn trial_03_both_names_are_decided_together_whichever_way_the_rename_goes() {
    // The rename returns.
    let forth: [Row<'_>; 2] = [("new", &[], &[(1, " a")], ' '), ("old", &[], &[(1, "a ")], 'a')];
    for name in ["new", "old"] {
        assert_eq!(
            planned(&forth, &[(name, Choice::Disk)]),
            "new Unchanged nothing -> nothing, 0 left\nold Unchanged a -> a, 0 left\n"
        );
    }
    // It replaced another file.
    let over: [Row<'_>; 2] = [("new", &[(1, "za")], &[], 'a'), ("old", &[(1, "a ")], &[], ' ')];
    assert_eq!(
        planned(&over, &[("old", Choice::Disk)]),
        "new Unchanged a -> a, 0 left\nold Unchanged nothing -> nothing, 0 left\n"
    );
    // It was changed in between, and renamed again.
    let twice: [Row<'_>; 3] = [
        ("b", &[(1, " a"), (2, "ac"), (3, "c ")], &[], ' '),
        ("new", &[(3, " c"), (4, "cd")], &[], 'd'),
        ("old", &[(1, "a ")], &[], ' '),
    ];
    assert_eq!(
        planned(&twice, &[("old", Choice::Disk)]),
        "b Unchanged nothing -> nothing, 0 left\nnew Unchanged d -> d, 0 left\nold Unchanged nothing -> nothing, 0 left\n"
    );
}

#[test]
fn trial_03_what_can_not_come_back_under_the_old_name_does_not_go_from_the_new_one() {
    // Turn 1 wrote `b`, a person `c` in the same place, and turn 2 renamed the file.
    let back: [Row<'_>; 2] = [("new", &[(2, " c")], &[], 'c'), ("old", &[(1, "ab"), (2, "c ")], &[], ' ')];
    assert_eq!(
        planned(&back, &[]),
        "new Conflict(Bytes) c -> c, 1 left\nold Conflict(Bytes) nothing -> nothing, 2 left\n"
    );
    assert_eq!(
        planned(&back, &[("old", Choice::Checkpoint)]),
        "new Delete c -> nothing, 0 left\nold Recreate nothing -> a, 0 left\n"
    );
}

#[test]
fn trial_03_of_several_copies_none_is_lost_to_a_choice() {
    let copies: [Row<'_>; 3] =
        [("b", &[(1, " a")], &[], 'a'), ("c", &[(1, " a")], &[], 'a'), ("old", &[(1, "a ")], &[], ' ')];
    let kept = planned(&copies, &[("old", Choice::Disk)]);
    assert!(kept.contains("b Unchanged a -> a") && kept.contains("c Unchanged a -> a"), "{kept}");
    let one = planned(&copies, &[("b", Choice::Disk)]);
    assert!(one.contains("c Delete a -> nothing") && one.contains("old Recreate nothing -> a"), "{one}");
    // Files of a few bytes are no rename.
    let tiny: [Row<'_>; 2] = [("new", &[(1, " A")], &[], 'A'), ("old", &[(1, "A ")], &[], ' ')];
    assert!(planned(&tiny, &[("old", Choice::Disk)]).contains("new Delete A -> nothing"));
}

#[test]
fn trial_10_a_rename_is_followed_whose_bytes_hold_a_change_that_goes_too() {
    for (old, expected) in [
        // The agent wrote it, then renamed it.
        (&[(1, "ab"), (2, "b ")][..], "old Merge nothing -> 1a, 0 left\n"),
        // A person changed it in between: `2`.
        (&[(1, "ab"), (2, "2 ")], "old Merge nothing -> 12, 0 left\n"),
    ] {
        let made = if old[1].1 == "2 " { " 2" } else { " b" };
        let rows: [Row<'_>; 2] = [("new", &[(2, made)], &[], '1'), ("old", old, &[], ' ')];
        assert_eq!(planned(&rows, &[]), format!("new Delete 1 -> nothing, 0 left\n{expected}"));
    }
    // Renamed twice, and changed in between.
    let rows: [Row<'_>; 3] = [
        ("b", &[(1, " a"), (2, "ac"), (3, "c ")], &[], ' '),
        ("new", &[(3, " c")], &[], '1'),
        ("old", &[(1, "a ")], &[], ' '),
    ];
    let plan = planned(&rows, &[]);
    assert!(plan.contains("new Delete 1 -> nothing") && plan.contains("old Merge nothing -> 1a"), "{plan}");
    // The person's change cannot be merged: it stays a conflict.
    let rows: [Row<'_>; 2] = [("new", &[(2, " b")], &[], 'x'), ("old", &[(1, "ab"), (2, "b ")], &[], ' ')];
    assert!(planned(&rows, &[]).starts_with("new Conflict(Bytes) x -> x, 1 left\n"));
}

/// The layers of a path, and the wanted ones.
type Change = (&'static [(u64, &'static str)], &'static [(u64, &'static str)]);

/// Drops the first delta of `old`, which the second one renamed.
const DROP: Change = (&[(1, "ab"), (2, "b ")], &[(2, "b ")]);
/// Shows it again.
const SHOW: Change = (&[(2, "a ")], &[(1, "ab"), (2, "a ")]);

#[test]
fn trial_04_a_change_goes_and_comes_where_a_later_rename_has_moved_the_file() {
    let kept = "old Unchanged nothing -> nothing";
    let new: Row<'_> = ("new", &[(2, " b")], &[(2, " b")], 'b');
    let old: Row<'_> = ("old", DROP.0, DROP.1, ' ');
    assert_eq!(planned(&[new, old], &[]), format!("new Revert b -> a, 1 left\n{kept}, 1 left\n"));
    // A person's change there stays.
    let edited: Row<'_> = (new.0, new.1, new.2, '1');
    assert_eq!(planned(&[edited, old], &[]), format!("new Merge 1 -> 1a, 1 left\n{kept}, 1 left\n"));
    // So does a later turn's.
    let later: Row<'_> = ("new", &[(2, " b"), (3, "b1")], &[(2, " b"), (3, "b1")], '1');
    assert_eq!(planned(&[later, old], &[]), format!("new Revert 1 -> 1a, 2 left\n{kept}, 1 left\n"));
    let new: Row<'_> = ("new", &[(2, " a")], &[(2, " a")], 'a');
    let old: Row<'_> = ("old", SHOW.0, SHOW.1, ' ');
    assert_eq!(planned(&[new, old], &[]), format!("new Revert a -> b, 1 left\n{kept}, 2 left\n"));
    // A later turn renamed it once more.
    let between: Row<'_> = ("b", &[(2, " b"), (3, "b ")], &[(2, " b"), (3, "b ")], ' ');
    let new: Row<'_> = ("new", &[(3, " b")], &[(3, " b")], 'b');
    let old: Row<'_> = ("old", DROP.0, DROP.1, ' ');
    assert_eq!(
        planned(&[between, new, old], &[]),
        format!("b Unchanged nothing -> nothing, 2 left\nnew Revert b -> a, 1 left\n{kept}, 1 left\n")
    );
}

#[test]
fn trial_04_a_change_that_does_not_go_along_with_a_rename_is_a_conflict() {
    let clash = "old Conflict(Removed) nothing -> nothing, 2 left\n";
    let old: Row<'_> = ("old", DROP.0, DROP.1, ' ');
    // Two files fit.
    let one: Row<'_> = ("new", &[(2, " b")], &[(2, " b")], 'b');
    let other: Row<'_> = ("other", &[(2, " b")], &[(2, " b")], 'b');
    assert_eq!(planned(&[one, old, other], &[]), clash);
    // The turn had created the file.
    let made: Row<'_> = ("old", &[(1, " b"), (2, "b ")], &[(2, "b ")], ' ');
    assert_eq!(planned(&[one, made], &[]), clash);
    // Somebody wrote there, removed it, or its state is not known.
    let written: Row<'_> = (one.0, one.1, one.2, 'x');
    assert!(planned(&[written, old], &[]).starts_with("new Conflict(Bytes) x -> x, 1 left\n"));
    let removed: Row<'_> = (one.0, one.1, one.2, ' ');
    assert!(planned(&[removed, old], &[]).starts_with("new Conflict(Removed) nothing -> nothing, 1 left\n"));
    let unknown: Row<'_> = (one.0, one.1, one.2, '@');
    assert_eq!(planned(&[unknown, old], &[]), clash);
}

#[test]
fn trial_04_a_choice_for_one_name_holds_where_the_change_would_go_along() {
    let new: Row<'_> = ("new", &[(2, " b")], &[(2, " b")], 'b');
    let old: Row<'_> = ("old", DROP.0, DROP.1, ' ');
    for name in ["new", "old"] {
        assert_eq!(
            planned(&[new, old], &[(name, Choice::Skip)]),
            "new Unchanged b -> b, 1 left\nold Unchanged nothing -> nothing, 2 left\n"
        );
        assert_eq!(
            planned(&[new, old], &[(name, Choice::Disk)]),
            "new Unchanged b -> b, 1 left\nold Unchanged nothing -> nothing, 1 left\n"
        );
    }
}

#[test]
fn trial_04_a_removal_that_is_the_person_s_own_is_a_conflict_as_one_by_hand_is() {
    // In these tests the deltas from 90 on are adopted.
    let by_hand = "f Conflict(Removed) nothing -> nothing, 2 left\n";
    assert_eq!(planned(&[("f", &[(1, "ab"), (90, "b ")], &[(90, "b ")], ' ')], &[]), by_hand);
    for (have, want) in [
        // A later turn's own removal includes all of it.
        (&[(1, "ab"), (2, "b ")][..], &[(2, "b ")][..]),
        // The turn's own file is gone.
        (&[(1, " b"), (90, "b ")], &[(90, "b ")]),
    ] {
        assert_eq!(planned(&[("f", have, want, ' ')], &[]), "f Unchanged nothing -> nothing, 1 left\n");
    }
}

mod again;
