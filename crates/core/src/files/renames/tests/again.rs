//! Tests of both names of a returning rename, and of a rename whose file is gone from one of them.

use super::{Choice, Row};
use crate::files::testing::{World, all_told, planned, wanted_path};

/// The case, the names with their layers, the choices, and the plan of each path.
type Case =
    (&'static str, &'static [Row<'static>], &'static [(&'static str, Choice)], &'static [&'static str]);

fn check(cases: &[Case]) {
    for (name, rows, chosen, told) in cases {
        let now: Vec<_> = rows.iter().map(|(name, .., now)| (*name, *now)).collect();
        let wanted_paths = rows.iter().map(|(name, have, want, _)| wanted_path(name, have, want)).collect();
        let plan = planned(wanted_paths, chosen, &mut World::of(&now)).expect("it fits");
        assert_eq!(all_told(&plan), *told, "{name}");
    }
}

const NEW: Row<'static> = ("new", &[], &[(1, " a")], ' ');
const OLD: Row<'static> = ("old", &[], &[(1, "a ")], 'x');

/// The agent had renamed `old` to `new`, that was reverted, and it returns.
const AGAIN: &[Case] = &[
    (
        "again",
        &[NEW, OLD],
        &[],
        &[
            "new Merge nothing -> x [1] Checkpoint/Disk/Merge/Skip, with old",
            "old Delete x -> nothing [1] Skip/Disk/Checkpoint, Others, with new",
        ],
    ),
    (
        "as it was",
        &[NEW, ("old", &[], &[(1, "a ")], 'a')],
        &[],
        &[
            "new Recreate nothing -> a [1] Checkpoint/Disk/Merge/Skip",
            "old Delete a -> nothing [1] Checkpoint/Disk/Merge/Skip",
        ],
    ),
    (
        "merges",
        &[NEW, ("old", &[], &[(1, "a ")], '1')],
        &[],
        &[
            "new Merge nothing -> 1 [1] Checkpoint/Disk/Merge/Skip, with old",
            "old Delete 1 -> nothing [1] Skip/Disk/Checkpoint, Others, with new",
        ],
    ),
    (
        "gone",
        &[NEW, ("old", &[], &[(1, "a ")], ' ')],
        &[],
        &[
            "new Conflict(Removed) nothing -> nothing [] Skip/Checkpoint/Disk/Merge, Others, with old",
            "old Unchanged nothing -> nothing [] Checkpoint/Disk/Merge/Skip",
        ],
    ),
    (
        "a folder",
        &[NEW, ("old", &[], &[(1, "a ")], '/')],
        &[],
        &[
            "new Recreate nothing -> a [1] Checkpoint/Disk/Merge/Skip",
            "old Conflict(Bytes) / -> / [] Skip/Disk/Checkpoint, Others",
        ],
    ),
    (
        "tiny",
        &[("new", &[], &[(1, " A")], ' '), ("old", &[], &[(1, "A ")], 'x')],
        &[],
        &[
            "new Recreate nothing -> A [1] Checkpoint/Disk/Merge/Skip",
            "old Conflict(Bytes) x -> x [] Skip/Disk/Checkpoint, Others",
        ],
    ),
    (
        "another call",
        &[("new", &[], &[(2, " a")], ' '), OLD],
        &[],
        &[
            "new Recreate nothing -> a [2] Checkpoint/Disk/Merge/Skip",
            "old Conflict(Bytes) x -> x [] Skip/Disk/Checkpoint, Others",
        ],
    ),
    (
        "other bytes",
        &[("new", &[], &[(1, " b")], ' '), OLD],
        &[],
        &[
            "new Recreate nothing -> b [1] Checkpoint/Disk/Merge/Skip",
            "old Conflict(Bytes) x -> x [] Skip/Disk/Checkpoint, Others",
        ],
    ),
    (
        "two new names",
        &[NEW, ("new2", &[], &[(1, " a")], ' '), OLD],
        &[],
        &[
            "new Recreate nothing -> a [1] Checkpoint/Disk/Merge/Skip",
            "new2 Recreate nothing -> a [1] Checkpoint/Disk/Merge/Skip",
            "old Conflict(Bytes) x -> x [] Skip/Disk/Checkpoint, Others",
        ],
    ),
    (
        "two old names",
        &[NEW, OLD, ("old2", &[], &[(1, "a ")], 'y')],
        &[],
        &[
            "new Recreate nothing -> a [1] Checkpoint/Disk/Merge/Skip",
            "old Conflict(Bytes) x -> x [] Skip/Disk/Checkpoint, Others",
            "old2 Conflict(Bytes) y -> y [] Skip/Disk/Checkpoint, Others",
        ],
    ),
    (
        "more comes",
        &[("new", &[], &[(1, " a"), (2, "ab")], ' '), OLD],
        &[],
        &[
            "new Recreate nothing -> b [1 2] Checkpoint/Disk/Merge/Skip",
            "old Conflict(Bytes) x -> x [] Skip/Disk/Checkpoint, Others",
        ],
    ),
    (
        "taken",
        &[("new", &[], &[(1, " a")], 'z'), OLD],
        &[],
        &[
            "new Conflict(Made) z -> z [] Skip/Disk/Checkpoint, Others",
            "old Conflict(Bytes) x -> x [] Skip/Disk/Checkpoint, Others",
        ],
    ),
    (
        "chosen",
        &[NEW, OLD],
        &[("old", Choice::Checkpoint)],
        &[
            "new Recreate nothing -> a [1] Checkpoint/Disk/Merge/Skip",
            "old Delete x -> nothing [1] Checkpoint/Disk/Skip, Others",
        ],
    ),
    (
        "kept",
        &[NEW, OLD],
        &[("new", Choice::Skip)],
        &[
            "new Unchanged nothing -> nothing [] Checkpoint/Disk/Merge/Skip",
            "old Unchanged x -> x [] Checkpoint/Disk/Skip, Others, with new",
        ],
    ),
    (
        "something else goes",
        &[NEW, ("old", &[(3, "ac")], &[(1, "a ")], 'x')],
        &[],
        &[
            "new Recreate nothing -> a [1] Checkpoint/Disk/Merge/Skip",
            "old Conflict(Bytes) x -> x [3] Skip/Disk/Checkpoint, Others",
        ],
    ),
];

#[test]
fn text_under_the_old_name_moves_along_when_the_rename_returns() {
    check(AGAIN);
}

/// The agent renamed `old` to `new`, and that is reverted.
const BACK: &[Case] = &[
    // The agent renamed `old`; somebody removed `new` since.
    (
        "removed",
        &[("new", &[(1, " a")], &[], ' '), ("old", &[(1, "a ")], &[], ' ')],
        &[],
        &[
            "new Unchanged nothing -> nothing [1] Checkpoint/Disk/Merge/Skip",
            "old Conflict(Removed) nothing -> nothing [1] Skip/Checkpoint/Disk/Merge, Others, with new",
        ],
    ),
    (
        "there",
        &[("new", &[(1, " a")], &[], 'a'), ("old", &[(1, "a ")], &[], ' ')],
        &[],
        &[
            "new Delete a -> nothing [] Checkpoint/Disk/Merge/Skip",
            "old Recreate nothing -> a [] Checkpoint/Disk/Merge/Skip",
        ],
    ),
    (
        "chosen",
        &[("new", &[(1, " a")], &[], ' '), ("old", &[(1, "a ")], &[], ' ')],
        &[("old", Choice::Checkpoint)],
        &[
            "new Unchanged nothing -> nothing [] Checkpoint/Disk/Merge/Skip",
            "old Recreate nothing -> a [] Checkpoint/Disk/Merge/Skip",
        ],
    ),
    (
        "comes",
        &[("new", &[], &[(1, " a")], ' '), ("old", &[], &[(1, "a ")], ' ')],
        &[],
        &[
            "new Conflict(Removed) nothing -> nothing [] Skip/Checkpoint/Disk/Merge, Others, with old",
            "old Unchanged nothing -> nothing [] Checkpoint/Disk/Merge/Skip",
        ],
    ),
    (
        "comes to nothing",
        &[("new", &[], &[(1, " a")], ' '), ("old", &[], &[(0, "  "), (1, "a ")], ' ')],
        &[],
        &[
            "new Conflict(Removed) nothing -> nothing [] Skip/Checkpoint/Disk/Merge, Others, with old",
            "old Unchanged nothing -> nothing [] Checkpoint/Disk/Merge/Skip",
        ],
    ),
    // A turn wrote `c` into the old name, and its author is in doubt: the rename stays.
    (
        "later",
        &[("new", &[(2, " c")], &[], 'c'), ("old", &[(1, "ab"), (2, "c ")], &[], 'x')],
        &[],
        &[
            "new Conflict(Made) c -> c [2] Skip/Checkpoint/Disk/Merge, Others, with old",
            "old Conflict(Made) x -> x [1 2] Skip/Disk/Checkpoint, Others",
        ],
    ),
    (
        "old uncovered",
        &[("new", &[(1, " a")], &[], 'a'), ("old", &[(1, "a ")], &[], '@')],
        &[],
        &[
            "new Conflict(Removed) a -> a [1] Skip/Checkpoint/Disk/Merge, with old",
            "old NotCovered(Special) nothing -> nothing [1] Skip",
        ],
    ),
    (
        "old taken",
        &[("new", &[(1, " a")], &[], 'a'), ("old", &[(1, "a ")], &[], 'x')],
        &[],
        &[
            "new Conflict(Made) a -> a [1] Skip/Checkpoint/Disk/Merge, Others, with old",
            "old Conflict(Made) x -> x [1] Skip/Disk/Checkpoint, Others",
        ],
    ),
    (
        "old taken, chosen",
        &[("new", &[(1, " a")], &[], 'a'), ("old", &[(1, "a ")], &[], 'x')],
        &[("old", Choice::Disk)],
        &[
            "new Unchanged a -> a [] Checkpoint/Disk/Merge/Skip, with old",
            "old Unchanged x -> x [] Checkpoint/Disk/Skip, Others",
        ],
    ),
    (
        "over another",
        &[("new", &[(1, "za")], &[], 'a'), ("old", &[(1, "a ")], &[], 'x')],
        &[],
        &[
            "new Revert a -> z [] Checkpoint/Disk/Merge/Skip",
            "old Conflict(Made) x -> x [1] Skip/Disk/Checkpoint, Others",
        ],
    ),
    (
        "written, over another",
        &[("new", &[(1, "za")], &[], 'x'), ("old", &[(1, "a ")], &[], ' ')],
        &[],
        &[
            "new Conflict(Bytes) x -> x [1] Skip/Disk/Checkpoint, Others",
            "old Recreate nothing -> a [] Checkpoint/Disk/Merge/Skip",
        ],
    ),
    (
        "folder in the old place",
        &[("new", &[(1, " a")], &[], 'x'), ("old", &[(1, "a/")], &[], '/')],
        &[],
        &[
            "new Delete x -> nothing [] Skip/Disk/Checkpoint, Others, with old",
            "old Merge / -> x [] Checkpoint/Disk/Merge/Skip, with new",
        ],
    ),
    (
        "folder, as made",
        &[("new", &[(1, " a")], &[], 'a'), ("old", &[(1, "a/")], &[], '/')],
        &[],
        &[
            "new Delete a -> nothing [] Checkpoint/Disk/Merge/Skip",
            "old Revert / -> a [] Checkpoint/Disk/Merge/Skip",
        ],
    ),
    (
        "two clashes for one name",
        &[("b", &[(1, " a")], &[], 'x'), ("c", &[(1, " a")], &[], 'y'), ("old", &[(1, "a ")], &[], ' ')],
        &[],
        &[
            "b Conflict(Bytes) x -> x [1] Skip/Disk/Checkpoint, Others",
            "c Conflict(Bytes) y -> y [1] Skip/Disk/Checkpoint, Others",
            "old Recreate nothing -> a [] Checkpoint/Disk/Merge/Skip",
        ],
    ),
    (
        "exact",
        &[("new", &[(1, " a")], &[], 'x'), ("old", &[(1, "a ")], &[], ' ')],
        &[("old", Choice::Checkpoint)],
        &[
            "new Conflict(Bytes) x -> x [1] Skip/Disk/Checkpoint, Others",
            "old Recreate nothing -> a [] Checkpoint/Disk/Merge/Skip",
        ],
    ),
    (
        "copied, then removed",
        &[("new", &[(1, " a")], &[], 'x'), ("old", &[(2, "a ")], &[], ' ')],
        &[],
        &[
            "new Conflict(Bytes) x -> x [1] Skip/Disk/Checkpoint, Others",
            "old Recreate nothing -> a [] Checkpoint/Disk/Merge/Skip",
        ],
    ),
    (
        "between, skipped",
        &[
            ("b", &[(1, " a"), (2, "a ")], &[], ' '),
            ("new", &[(2, " a")], &[], 'x'),
            ("old", &[(1, "a ")], &[], ' '),
        ],
        &[("b", Choice::Skip)],
        &[
            "b Unchanged nothing -> nothing [1 2] Checkpoint/Disk/Merge/Skip",
            "new Conflict(Removed) x -> x [2] Skip/Disk/Checkpoint, with b",
            "old Merge nothing -> x [] Checkpoint/Disk/Merge/Skip, with new",
        ],
    ),
    (
        "written between",
        &[
            ("b", &[(1, " a"), (2, "ac"), (3, "c ")], &[], ' '),
            ("new", &[(3, " c")], &[], 'x'),
            ("old", &[(1, "a ")], &[], ' '),
        ],
        &[],
        &[
            "b Unchanged nothing -> nothing [] Checkpoint/Disk/Merge/Skip",
            "new Conflict(Bytes) x -> x [3] Skip/Disk/Checkpoint, Others",
            "old Recreate nothing -> a [] Checkpoint/Disk/Merge/Skip",
        ],
    ),
    (
        "back and forth",
        &[
            ("new", &[(1, " a"), (2, "a "), (3, " a")], &[], 'x'),
            ("old", &[(1, "a "), (2, " a"), (3, "a ")], &[], ' '),
        ],
        &[],
        &[
            "new Conflict(Bytes) x -> x [1 2 3] Skip/Disk/Checkpoint, Others",
            "old Recreate nothing -> a [] Checkpoint/Disk/Merge/Skip",
        ],
    ),
];

#[test]
fn a_file_missing_under_one_name_is_not_created_under_the_other() {
    check(BACK);
}
