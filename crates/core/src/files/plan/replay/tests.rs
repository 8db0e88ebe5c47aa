//! Tests of steps on files that are planned again.

use super::*;
use crate::files::plan::tests::{Tree, path, record};
use crate::files::stack::Stack;
use crate::files::testing::{World, layers, planned, wanted_path};
use crate::files::{Choice, Grade};

/// A path: its layers, the wanted ones, and its current version.
type Row<'a> = (&'a str, &'a [(u64, &'a str)], &'a [(u64, &'a str)], char);

/// The moves of a step at these paths.
fn step(rows: &[Row<'_>], chosen: &[(&str, Choice)]) -> Moves {
    let now: Vec<_> = rows.iter().map(|(name, _, _, now)| (*name, *now)).collect();
    let wanted_paths = rows.iter().map(|(name, have, want, _)| wanted_path(name, have, want)).collect();
    let plan = planned(wanted_paths, chosen, &mut World::of(&now)).expect("it fits");
    plan.paths.into_iter().map(|path| (path.path.clone(), path.step)).collect()
}

fn names(of: BTreeSet<FilePath>) -> Vec<String> {
    of.iter().map(ToString::to_string).collect()
}

#[test]
fn a_step_is_a_merge_where_nobody_chose_anything_else() {
    let rows: [Row<'_>; 3] =
        [("a", &[(1, "ab")], &[], 'b'), ("d/x", &[(1, " x")], &[], 'x'), ("d", &[(1, " /")], &[], '/')];
    for (chosen, merges) in [
        (&[][..], [true, true, true]),
        (&[("a", Choice::Disk)], [false, true, true]),
        (&[("d/x", Choice::Skip)], [true, false, true]),
    ] {
        let moves = step(&rows, chosen);
        let replay = Replay::new(&moves, &mut Tree::default());
        let found = ["a", "d/x", "d"].map(|name| replay.is_merge(&moves[&path(name)]));
        assert_eq!(found, merges, "{chosen:?}");
    }
    let other = step(&[("z", &[(1, "ab")], &[], 'b')], &[]);
    let replay = Replay::new(&step(&rows, &[]), &mut Tree::default());
    assert!(!replay.is_merge(&other[&path("z")]), "it did nothing there");
}

#[test]
fn a_step_that_brought_a_turn_back_is_planned_again_with_the_layers_that_it_brought() {
    let moves =
        step(&[("a", &[(1, "ab")], &[(1, "ab"), (2, "bc")], 'b'), ("n/b", &[], &[(2, " x")], ' ')], &[]);
    let replay = Replay::new(&moves, &mut Tree::default());
    assert!(moves.values().all(|made| replay.is_merge(made)), "{moves:?}");
}

#[test]
fn content_of_git_and_adopted_content_are_not_part_of_the_state_before_a_step() {
    // `g` is git's now; an earlier step that reverted it found it as a file.
    let have = Stack::new(layers(&[(1, "ab")], Grade::Seen));
    let change = super::super::FileChange { path: path("g"), before: record('b'), after: record('a') };
    let made = PathMove { change, stack_before: have, stack_after: Stack::default() };
    let replay = Replay::new(&[(path("g"), made.clone())].into(), &mut Tree::default());
    assert!(replay.is_merge(&made));
}

#[test]
fn paths_that_were_renamed_go_together() {
    let rows: [Row<'_>; 4] = [
        ("a", &[(1, "x ")], &[], ' '),
        ("b", &[(1, " x"), (2, "x ")], &[], ' '),
        ("c", &[(2, " x")], &[], 'x'),
        ("d", &[(2, "yz")], &[], 'z'),
    ];
    let moves = step(&rows, &[]);
    let replay = Replay::new(&moves, &mut Tree::default());
    for (name, with) in [("a", &["b", "c"][..]), ("b", &["a", "c"]), ("c", &["a", "b"]), ("d", &[])] {
        assert_eq!(names(replay.renamed_with(&path(name))), with, "{name}");
    }
}
