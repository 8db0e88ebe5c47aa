//! Plans of restores from a checkpoint, as a table.

use super::*;
use crate::files::plan::tests::{path, record};
use crate::files::testing::{World, layers, planned, told};
use crate::files::{DesiredState, Uncertain, WantedPath};

/// The layers of `f` and their grade, the checkpoint's version, whether it was named, the current version, somebody else's
/// version, the choice.
type Row<'a> = (&'a [(u64, &'a str)], Grade, char, bool, char, Option<char>, Option<Choice>);

fn plan((have, grade, was, named, now, theirs, choice): &Row<'_>) -> String {
    let mut world = World::of(&[("f", *now)]);
    world.theirs.extend(theirs.map(|what| (path("f"), record(what))));
    let stack = Stack::new(layers(have, *grade));
    let want = DesiredState::Version { record: record(*was), named: *named };
    let wanted_path = WantedPath { path: path("f"), stack, want };
    let chosen: Vec<_> = choice.iter().map(|choice| ("f", choice.clone())).collect();
    match planned(vec![wanted_path], &chosen, &mut world) {
        Ok(plan) => match plan.paths.as_slice() {
            [] => "nothing".to_owned(),
            [one] => {
                let theirs = if one.theirs { ", theirs goes" } else { "" };
                format!("{}{theirs}", told(one).trim_start_matches("f "))
            }
            _ => panic!("one path: {plan:?}"),
        },
        Err(unfit) => format!("{:?}", unfit.why),
    }
}

#[test]
fn a_restore_brings_back_what_was_there_and_leaves_what_others_made_since() {
    let (seen, unsure) = (Grade::Seen, Grade::Ambiguous(Uncertain::Late));
    let agents: &[(u64, &str)] = &[(1, "ab"), (2, "bc")];
    let made: &[(u64, &str)] = &[(1, " b")];
    let rows: Vec<(Row<'_>, &str)> = vec![
        ((agents, seen, 'c', false, 'c', None, None), "nothing"),
        ((agents, seen, 'a', false, 'c', None, None), "Revert c -> a [1 2] Checkpoint/Skip"),
        ((agents, seen, 'b', false, 'c', None, None), "Revert c -> b [1 2] Checkpoint/Skip"),
        ((agents, seen, 'a', false, 'x', None, None), "Revert x -> a [1 2] Checkpoint/Skip, theirs goes"),
        (
            (agents, seen, 'a', false, 'x', Some('x'), None),
            "Revert x -> a [1 2] Checkpoint/Yours/Skip, theirs goes",
        ),
        ((agents, seen, 'a', false, ' ', None, None), "Recreate nothing -> a [1 2] Checkpoint/Skip"),
        ((made, seen, ' ', false, 'b', None, None), "Delete b -> nothing [1] Checkpoint/Skip"),
        // A file that somebody else created or changed, or whose author is not known, goes only if it is named.
        ((made, seen, ' ', false, 'x', None, None), "Foreign x -> x [1] Skip/Checkpoint, Others"),
        ((made, unsure, ' ', false, 'b', None, None), "Foreign b -> b [1] Skip/Checkpoint, Others"),
        ((agents, seen, ' ', false, 'c', None, None), "Foreign c -> c [1 2] Skip/Checkpoint, Others"),
        ((&[], seen, ' ', false, 'x', None, None), "Foreign x -> x [] Skip/Checkpoint, Others"),
        ((made, seen, ' ', true, 'x', None, None), "Delete x -> nothing [1] Checkpoint/Skip, theirs goes"),
        ((made, unsure, ' ', true, 'b', None, None), "Delete b -> nothing [1] Checkpoint/Skip"),
        // A choice is carried out, as far as its version exists.
        (
            (made, seen, ' ', false, 'x', None, Some(Choice::Checkpoint)),
            "Delete x -> nothing [1] Skip/Checkpoint, theirs goes",
        ),
        (
            (agents, seen, 'a', false, 'x', Some('y'), Some(Choice::Yours)),
            "Revert x -> y [1 2] Checkpoint/Yours/Skip, theirs goes",
        ),
        (
            (agents, seen, 'a', false, 'x', Some(' '), Some(Choice::Yours)),
            "Delete x -> nothing [1 2] Checkpoint/Yours/Skip, theirs goes",
        ),
        (
            (agents, seen, 'a', false, 'x', None, Some(Choice::Yours)),
            "Revert x -> a [1 2] Checkpoint/Skip, theirs goes",
        ),
        ((agents, seen, 'a', false, 'c', None, Some(Choice::Merge)), "Revert c -> a [1 2] Checkpoint/Skip"),
        ((agents, seen, 'a', false, 'c', None, Some(Choice::Disk)), "Unchanged c -> c [1 2] Checkpoint/Skip"),
        ((agents, seen, 'a', false, 'c', None, Some(Choice::Skip)), "Unchanged c -> c [1 2] Checkpoint/Skip"),
        (
            (agents, seen, 'a', false, 'c', None, Some(Choice::Hunks(vec![1]))),
            "Part c -> c+ [1 2] Checkpoint/Skip",
        ),
        ((agents, seen, 'a', false, 'c', None, Some(Choice::Hunks(vec![9]))), "Bytes(NoText)"),
        ((agents, seen, 'a', false, '@', None, None), "NotCovered(Special) nothing -> nothing [1 2] Skip"),
        ((agents, seen, 'a', false, '@', None, Some(Choice::Hunks(vec![1]))), "NotPlanned"),
    ];
    let found: Vec<_> = rows.iter().map(|(row, _)| plan(row)).collect();
    assert_eq!(found, rows.iter().map(|(_, text)| (*text).to_owned()).collect::<Vec<_>>());
}
