//! Tests of folders in plans: what keeps a folder, what it makes way for, and its returning content.

use super::*;
use crate::files::plan::FilePlan;
use crate::files::plan::tests::{path, record};
use crate::files::stack::tests::delta;
use crate::files::testing::{World, all_told, planned, wanted_path};

/// The plan of paths whose layers all leave.
fn back(rows: &[(&str, &[(u64, &str)])], world: &mut World, chosen: &[(&str, Choice)]) -> FilePlan {
    let wanted_paths = rows.iter().map(|(name, have)| wanted_path(name, have, &[])).collect();
    planned(wanted_paths, chosen, world).expect("it fits")
}

/// The current versions, the leaving layers of each path, the choices.
type Row<'a> = (&'a [(&'a str, char)], &'a [(&'a str, &'a [(u64, &'a str)])], &'a [(&'a str, Choice)]);

#[track_caller]
fn check(rows: &[(Row<'_>, &[&str])]) {
    let found: Vec<_> = rows
        .iter()
        .map(|((now, rows, chosen), _)| all_told(&back(rows, &mut World::of(now), chosen)))
        .collect();
    assert_eq!(found, rows.iter().map(|(_, told)| told.to_vec()).collect::<Vec<_>>());
}

#[test]
fn a_folder_makes_way_or_stays_with_what_is_in_it() {
    let made: &[(u64, &str)] = &[(1, " /")];
    let instead: &[(u64, &str)] = &[(1, "f/")];
    let file: &[(u64, &str)] = &[(1, " a")];
    check(&[
        // In the place of a file it makes way only by a choice, because it contains somebody's file.
        (
            (&[("d", '/'), ("d/a", 'a'), ("d/mine", 'm')], &[("d", instead), ("d/a", file)], &[]),
            &[
                "d Conflict(Kind) / -> / [1] Skip/Checkpoint/Disk/Merge, Others",
                "d/a Delete a -> nothing [] Checkpoint/Disk/Merge/Skip",
            ],
        ),
        (
            (&[("d", '/'), ("d/a", 'a')], &[("d", instead), ("d/a", file)], &[]),
            &[
                "d Revert / -> f [] Checkpoint/Disk/Merge/Skip",
                "d/a Delete a -> nothing [] Checkpoint/Disk/Merge/Skip",
            ],
        ),
        (
            (&[("d", '/'), ("d/mine", 'm')], &[("d", instead)], &[("d", Choice::Checkpoint)]),
            &["d Conflict(Kind) / -> / [1] Skip/Checkpoint/Disk/Merge, Others"],
        ),
        // Content that no plan can reach seals it.
        (
            (&[("d", '/'), ("d/e", '@')], &[("d", instead)], &[]),
            &["d Conflict(Sealed) / -> / [1] Skip/Disk/Merge, Uncovered"],
        ),
        (
            (&[("d", '/'), ("d/e", '@')], &[("d", made)], &[]),
            &["d NotEmpty / -> / [] Checkpoint/Disk/Merge/Skip, Uncovered"],
        ),
        // Staying content keeps it, and each folder above.
        (
            (&[("d", '/'), ("d/e", '/'), ("d/e/x", 'x')], &[("d", made), ("d/e", made)], &[]),
            &[
                "d NotEmpty / -> / [] Checkpoint/Disk/Merge/Skip, Others",
                "d/e NotEmpty / -> / [] Checkpoint/Disk/Merge/Skip, Others",
            ],
        ),
        (
            (&[("d", '/'), ("d/a", 'a')], &[("d", made), ("d/a", file)], &[("d/a", Choice::Skip)]),
            &[
                "d NotEmpty / -> / [] Checkpoint/Disk/Merge/Skip, Others",
                "d/a Unchanged a -> a [1] Checkpoint/Disk/Merge/Skip",
            ],
        ),
        (
            (&[("d", '/'), ("d/a", 'b')], &[("d", made), ("d/a", &[(2, "ab")])], &[]),
            &[
                "d NotEmpty / -> / [] Checkpoint/Disk/Merge/Skip, Others",
                "d/a Revert b -> a [] Checkpoint/Disk/Merge/Skip",
            ],
        ),
        (
            (&[("d", '/'), ("d/a", '@')], &[("d", made), ("d/a", file)], &[]),
            &[
                "d NotEmpty / -> / [] Checkpoint/Disk/Merge/Skip, Uncovered",
                "d/a NotCovered(Special) nothing -> nothing [1] Skip",
            ],
        ),
    ]);
}

#[test]
fn a_returning_file_needs_a_real_parent_folder() {
    let removed: &[(u64, &str)] = &[(2, "a ")];
    check(&[
        (
            (&[("d", '/')], &[("d", &[(1, " /")]), ("d/a", removed)], &[]),
            &[
                "d NotEmpty / -> / [] Checkpoint/Disk/Merge/Skip",
                "d/a Recreate nothing -> a [] Checkpoint/Disk/Merge/Skip",
            ],
        ),
        (
            (&[("d", 'x')], &[("d", &[(1, "yx")]), ("d/a", removed)], &[]),
            &[
                "d Revert x -> y [] Checkpoint/Disk/Merge/Skip",
                "d/a Conflict(Parent) nothing -> nothing [2] Skip/Disk, Others",
            ],
        ),
        (
            (&[("d", 'x')], &[("d", &[(1, " x")]), ("d/a", removed)], &[]),
            &[
                "d Revert x -> / [] Checkpoint/Disk/Merge/Skip",
                "d/a Recreate nothing -> a [] Checkpoint/Disk/Merge/Skip",
            ],
        ),
        (
            (&[("d", 'z')], &[("d", &[(1, "yx")]), ("d/a", removed)], &[]),
            &[
                "d Conflict(Bytes) z -> z [1] Skip/Disk/Checkpoint, Others",
                "d/a Conflict(Parent) nothing -> nothing [2] Skip/Disk, Others",
            ],
        ),
        (
            (&[("d", '@')], &[("d/a", removed)], &[]),
            &["d/a Conflict(Parent) nothing -> nothing [2] Skip/Disk, Uncovered"],
        ),
        (
            (&[("d", 'x')], &[("d/e/a", removed)], &[]),
            &["d/e/a Conflict(Parent) nothing -> nothing [2] Skip/Disk, Others"],
        ),
        (
            (&[], &[("d", &[(1, "/ ")]), ("d/a", removed)], &[]),
            &[
                "d Recreate nothing -> / [] Checkpoint/Disk/Merge/Skip",
                "d/a Recreate nothing -> a [] Checkpoint/Disk/Merge/Skip",
            ],
        ),
        (
            (&[], &[("d/a", removed)], &[("d/a", Choice::Skip)]),
            &["d/a Unchanged nothing -> nothing [2] Checkpoint/Disk/Merge/Skip"],
        ),
    ]);
}

#[test]
fn a_folder_with_git_data_cannot_be_removed() {
    let now = [("d", '/'), ("d/e", '/'), ("d/e/x", 'x')];
    let told = |sealed: &'static str, have: &[(u64, &str)]| {
        let mut world = World { sealed: Some(sealed), ..World::of(&now) };
        all_told(&back(&[("d", have)], &mut world, &[]))
    };
    let found = [told("d/e/x", &[(1, "f/")]), told("d/e", &[(1, "f/")]), told("d/e", &[(1, " /")])];
    assert_eq!(
        found,
        [
            ["d Conflict(Sealed) / -> / [1] Skip/Disk/Merge, Others"],
            ["d Conflict(Sealed) / -> / [1] Skip/Disk/Merge, Git"],
            ["d NotEmpty / -> / [] Checkpoint/Disk/Merge/Skip, Git"]
        ]
    );
}

#[test]
fn a_folder_says_whose_it_is_what_stays_in_it() {
    let mut world = World::of(&[("d", '/'), ("d/e", '/'), ("d/e/x", 'x')]);
    world.left.push((path("d/e/x"), record('x'), delta(7)));
    let made: &[(u64, &str)] = &[(1, " /")];
    let plan = back(&[("d", made), ("d/e", made)], &mut world, &[]);
    let against: Vec<_> = plan.paths.iter().map(|path| path.against).collect();
    assert_eq!(against, [Some(BlockingAuthor::There(delta(7))); 2]);
}

#[test]
fn files_without_a_plan_are_in_the_way_of_their_folder() {
    let now = [("d", '/'), ("d/a", 'a'), ("d/e", '/'), ("d/e/mine", 'm'), ("z", '/'), ("z/y", 'y')];
    let rows: [(&str, &[(u64, &str)]); 3] = [("d", &[(1, "f/")]), ("d/a", &[(1, " a")]), ("z", &[(1, " /")])];
    for (chosen, way) in [
        (&[][..], &[][..]),
        (&[("d", Choice::Checkpoint)], &["d/e", "d/e/mine"]),
        (&[("d", Choice::Skip)], &[]),
        (&[("d/a", Choice::Checkpoint)], &[]),
        (&[("z", Choice::Checkpoint)], &[]),
    ] {
        let plan = back(&rows, &mut World::of(&now), chosen);
        let paths = chosen.iter().map(|(name, choice)| (path(name), choice.clone())).collect();
        let chosen = crate::files::Chosen { paths, others: None };
        let found = plan.in_the_way(&chosen, &mut World::of(&now));
        assert_eq!(found.iter().map(ToString::to_string).collect::<Vec<_>>(), way, "{chosen:?}");
    }
}
