//! What went of a path is what comes back.

use proptest::prelude::*;

use super::*;
use crate::files::stack::tests::{BySlot, SLOTS, Slots, Write, observed, record, slots, writes};
use crate::files::{FileChange, FilePath, Record};

/// What is there, and the layers in it.
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

/// The layers of these deltas, as they come back after these steps, last step first.
fn coming(made: &Stack, steps: &[PathMove]) -> Vec<Layer> {
    let mut deltas: Vec<DeltaId> = made.layers().iter().map(|layer| layer.delta).collect();
    deltas.dedup();
    let comes = |delta| {
        let of = made.layers().iter().filter(|layer| layer.delta == delta).cloned().collect();
        let mut coming = Coming::new(delta, of);
        let _ = steps.iter().any(|step| coming.look_at(step, step.is_merge(&mut BySlot), &mut BySlot));
        coming.layers().to_vec()
    };
    deltas.into_iter().flat_map(comes).collect()
}

/// One slot of a file, or the next one, as the agent made them.
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
fn what_somebody_chose_says_nothing_of_what_comes_back() {
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
        // A slot that the agent wrote over in several deltas has no telling what a lower one alone would have left.
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
