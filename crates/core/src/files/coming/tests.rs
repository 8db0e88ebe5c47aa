//! Tests: what was removed from a path is what returns.

use proptest::prelude::*;

use super::*;
use crate::files::plan::tests::record as letter;
use crate::files::stack::tests::{BySlot, SLOTS, Slots, Write, delta, observed, record, slots, writes};
use crate::files::{FileChange, FilePath, Record, testing};

/// The version and its layers.
type State = (Option<Record>, Stack);

fn step(before: &State, after: &State) -> PathMove {
    let path = FilePath::new(b"f").unwrap();
    let change = FileChange { path, before: before.0.clone(), after: after.0.clone() };
    PathMove { change, stack_before: before.1.clone(), stack_after: after.1.clone() }
}

/// A merge to exactly these layers.
fn merged(state: &State, wanted: &[Layer]) -> State {
    let rebuilt = state.1.rebuild(state.0.as_ref(), wanted, &mut BySlot).expect("nothing clashes");
    (rebuilt.record, rebuilt.stack)
}

/// The layers of these deltas as they return after these steps, last step first.
fn coming(made: &Stack, steps: &[PathMove]) -> Vec<Layer> {
    let mut deltas: Vec<DeltaId> = made.layers().iter().map(|layer| layer.delta).collect();
    deltas.dedup();
    let comes = |delta| {
        let of = made.layers().iter().filter(|layer| layer.delta == delta).cloned().collect();
        let mut coming = OriginalLayersFinder::new(delta, of);
        let _ = steps.iter().any(|step| coming.look_at(step, step.is_merge(&mut BySlot), &mut BySlot));
        coming.layers().to_vec()
    };
    deltas.into_iter().flat_map(comes).collect()
}

/// One slot of a file, or the next one, with the agent's text.
fn two() -> (Stack, State) {
    let write = |slot, value| Write { agent: true, slot, value };
    let (made, disk) = observed(&[write(0, 1), write(1, 2)]);
    (made.clone(), (Some(record(disk)), made))
}

#[test]
fn trial_10_what_a_person_had_cleared_stays_away_also_when_the_turn_goes_and_comes_again() {
    let (made, (_, stack)) = two();
    let cleared = (Some(record([1, 0, 0, 0])), stack);
    let gone = merged(&cleared, &[]);
    let out = step(&cleared, &gone);
    let back = merged(&gone, &coming(&made, std::slice::from_ref(&out)));
    assert_eq!(back.0, cleared.0);
    let (into, again) = (step(&gone, &back), merged(&back, &[]));
    let steps = [step(&back, &again), into, out];
    assert_eq!(merged(&again, &coming(&made, &steps)).0, cleared.0);
}

#[test]
fn trial_10_a_step_that_was_undone_says_nothing_of_what_comes_back() {
    let (made, whole) = two();
    let cleared = (Some(record([1, 0, 0, 0])), made.clone());
    let gone = merged(&cleared, &[]);
    let (out, undone) = (step(&cleared, &gone), step(&gone, &cleared));
    // The person writes it again.
    let away = merged(&whole, &[]);
    assert_eq!(coming(&made, &[step(&whole, &away), undone, out]), made.layers());
}

#[test]
fn trial_10_what_a_step_on_files_put_back_stays_so_when_its_turn_comes() {
    let (made, whole) = two();
    let before = Some(record([0; SLOTS]));
    let back = (before.clone(), made.put_back(Stack::default(), before.as_ref()));
    let gone = merged(&back, &[]);
    let came = merged(&gone, &coming(&made, &[step(&back, &gone), step(&whole, &back)]));
    assert_eq!(came.0, before);
}

#[test]
fn a_choice_says_nothing_about_returning_content() {
    let (made, whole) = two();
    let kept = (whole.0.clone(), Stack::default());
    assert_eq!(coming(&made, &[step(&whole, &kept)]), made.layers());
}

proptest! {
    #[test]
    fn trial_10_what_goes_comes_back_as_it_went(
        writes in writes(),
        cleared in prop::collection::vec(any::<bool>(), SLOTS / 2),
        wanted in prop::collection::vec(any::<bool>(), 12),
    ) {
        let (made, disk) = observed(&writes);
        let mut there: Slots = disk;
        let once = |slot| writes.iter().filter(|write| write.agent && write.slot == slot).count() == 1;
        // If the agent wrote over a slot in several deltas, the result of a lower one alone is not known.
        for slot in (0..SLOTS / 2).filter(|slot| cleared[*slot] && once(*slot)) {
            there[slot] = 0;
        }
        let state = (Some(record(there)), made.clone());
        let is_wanted = |layer: &&Layer| wanted[usize::try_from(layer.delta.no).unwrap()];
        let wanted: Vec<Layer> = made.layers().iter().filter(is_wanted).cloned().collect();
        let Ok(gone) = made.rebuild(state.0.as_ref(), &wanted, &mut BySlot) else { return Ok(()) };
        let gone = (gone.record, gone.stack);
        let stays = slots(gone.0.as_ref().unwrap());
        for (write, delta) in writes.iter().zip(0..).filter(|(write, _)| write.agent && once(write.slot)) {
            let is_wanted = wanted.iter().any(|layer| layer.delta.no == delta);
            let expected = if is_wanted { there[write.slot] } else { 0 };
            prop_assert_eq!(stays[write.slot], expected, "slot {}", write.slot);
        }
        let (out, _) = made.difference(&wanted);
        let came = coming(&made, &[step(&state, &gone)]);
        let came = came.into_iter().filter(|layer| out.contains(&layer.delta)).collect::<Vec<_>>();
        let Ok(back) = gone.1.rebuild(gone.0.as_ref(), gone.1.together(&came).layers(), &mut BySlot) else {
            return Ok(());
        };
        let back = slots(back.record.as_ref().unwrap());
        for slot in (0..SLOTS).filter(|slot| *slot >= SLOTS / 2 || once(*slot)) {
            prop_assert_eq!(back[slot], there[slot], "slot {}", slot);
        }
    }
}

/// Layers, each as its delta with its version before and after.
type Told<'a> = &'a [(u64, &'a str)];

fn told(layers: Told<'_>) -> Vec<Layer> {
    testing::layers(layers, crate::files::Grade::Seen)
}

/// A step from a version with these layers to another with those.
fn moved((before, had): (char, Told<'_>), (after, has): (char, Told<'_>)) -> PathMove {
    let stack = |layers| Stack::new(told(layers));
    let change =
        FileChange { path: FilePath::new(b"f").unwrap(), before: letter(before), after: letter(after) };
    PathMove { change, stack_before: stack(had), stack_after: stack(has) }
}

/// Steps, the last one first: the layers before and after, and whether nobody made a choice. Then the result of each reading,
/// and the layers of delta 2 above delta 1.
type Looks<'a> = (&'a [(Told<'a>, Told<'a>, bool)], &'a [bool], Option<Told<'a>>);

#[test]
fn a_delta_comes_back_above_others_with_the_layers_that_it_had_upon_them() {
    let (both, upon, alone, none): (Told<'_>, Told<'_>, Told<'_>, Told<'_>) =
        (&[(1, "ab"), (2, "bc")], &[(2, "bc")], &[(2, "ac")], &[]);
    let below: Told<'_> = &[(1, "ab")];
    let other: Told<'_> = &[(3, "ab")];
    let rows: [Looks<'_>; 11] = [
        // The others went from below it.
        (&[(both, alone, true)], &[true], Some(upon)),
        (&[(both, none, true)], &[true], Some(upon)),
        // It came on top of them.
        (&[(below, both, true)], &[true], Some(upon)),
        (&[(alone, both, true)], &[true], Some(upon)),
        // A person has made a choice about it since.
        (&[(both, alone, false)], &[true], None),
        (&[(both, none, false)], &[true], Some(upon)),
        (&[(alone, alone, false), (both, alone, true)], &[false, true], Some(upon)),
        // It was made while they were away.
        (&[(below, none, true)], &[true], None),
        // It had returned, so it was made before.
        (&[(none, alone, true), (below, none, true)], &[false, false], None),
        (&[(none, alone, true), (both, none, true)], &[false, true], Some(upon)),
        (&[(other, none, true)], &[false], None),
    ];
    for (steps, said, layers) in rows {
        let mut above = UpperLayersFinder::new(delta(2), vec![delta(1)]);
        assert_eq!(above.delta(), delta(2));
        let looks: Vec<bool> = steps
            .iter()
            .map(|(had, has, is_merge)| above.look_at(&moved(('x', had), ('x', has)), *is_merge))
            .collect();
        assert_eq!((&looks[..], above.layers()), (said, layers.map(told).as_deref()), "{steps:?}");
    }
}

#[test]
fn layers_upon_others_stand_for_those_that_were_left_of_them() {
    let (both, alone): (Told<'_>, Told<'_>) = (&[(1, "ab"), (2, "bc")], &[(2, "ac")]);
    let mut above = UpperLayersFinder::new(delta(2), vec![delta(1)]);
    assert!(above.look_at(&moved(('c', both), ('c', alone)), true));
    assert_eq!(above.instead_of(&told(alone)), Some(&told(&[(2, "bc")])[..]));
    assert_eq!(above.instead_of(&told(&[(2, "xc")])), None, "they are something else");
    let mut twice = UpperLayersFinder::new(delta(2), vec![delta(1)]);
    assert!(!twice.look_at(&moved(('c', alone), ('a', &[])), true));
    assert!(twice.look_at(&moved(('c', both), ('c', alone)), true));
    assert_eq!(twice.instead_of(&told(alone)), Some(&told(&[(2, "bc")])[..]), "and it went since");
}

#[test]
fn a_step_says_whether_it_is_told_by_others_and_what_it_left() {
    let (one, none): (Told<'_>, Told<'_>) = (&[(1, "ab")], &[]);
    for (step, by_others) in [
        (moved(('b', one), ('a', none)), false),
        (moved((' ', one), ('a', none)), true),
        (moved(('b', one), (' ', none)), true),
        // It was away before.
        (moved(('b', &[(1, "a "), (2, " b")]), ('a', none)), true),
        (moved(('b', &[(1, " a"), (2, "ab")]), ('a', &[(1, " a")])), false),
    ] {
        assert_eq!(step.is_told_by_others(), by_others, "{step:?}");
    }
    let two: Told<'_> = &[(1, "ab"), (2, "bc")];
    let step = moved(('c', two), ('b', one));
    let stack = |layers| Stack::new(told(layers));
    assert!(step.led_from(&told(two), &stack(one)));
    assert!(!step.led_from(&told(one), &stack(one)), "other deltas are wanted");
    assert!(!step.led_from(&told(two), &stack(two)), "it is no longer as the step left it");
    assert!(!step.led_from(&told(&[(1, "ab"), (2, "bc"), (3, "cd")]), &stack(one)));
    for (had, has, parted) in [
        (one, &[(1, "xb")][..], true),
        (one, one, false),
        (one, none, false),
        (none, one, false),
        (&[(2, "ab")], &[(2, "xb")], false),
    ] {
        assert_eq!(moved(('b', had), ('b', has)).parted(delta(1)), parted, "{had:?} {has:?}");
    }
}

#[test]
fn a_step_is_a_merge_where_it_did_what_layers_come_to() {
    let (one, none): (Told<'_>, Told<'_>) = (&[(1, "ab")], &[]);
    let mut bytes = testing::World::default();
    for (step, is_merge) in [
        (moved(('b', one), ('a', none)), true),
        (moved(('b', one), ('b', none)), false),
        (moved(('b', one), ('a', one)), false),
        (moved(('x', one), ('a', none)), false),
    ] {
        assert_eq!(step.is_merge(&mut bytes), is_merge, "{step:?}");
    }
}
