//! Stacks compared with a naive model: a file is a row of slots, and a slot contains its last text.

use proptest::prelude::*;

use super::*;
use crate::files::{ContentHash, NoSuchHunks, Uncertain};

pub(in crate::files) fn delta(no: u64) -> DeltaId {
    DeltaId { log: LogNo(1), no }
}

pub(in crate::files) const SLOTS: usize = 4;

/// A file's content in the model, encoded in its hash: the content of each slot.
pub(in crate::files) type Slots = [u8; SLOTS];

pub(in crate::files) fn record(slots: Slots) -> Record {
    let mut hash = [0; 32];
    hash[..SLOTS].copy_from_slice(&slots);
    Record::File { hash: ContentHash(hash), len: SLOTS as u64, mode: 0o644 }
}

pub(in crate::files) fn slots(record: &Record) -> Slots {
    let hash = record.hash().expect("a file").0;
    std::array::from_fn(|at| hash[at])
}

/// Merges slot by slot.
pub(in crate::files) struct BySlot;

impl MergeBytes for BySlot {
    fn merge(
        &mut self,
        base: ContentHash,
        ours: ContentHash,
        theirs: ContentHash,
    ) -> Option<(ContentHash, u64)> {
        let mut hash = ours.0;
        let sides = base.0.into_iter().zip(theirs.0);
        for (ours, (base, theirs)) in hash.iter_mut().zip(sides) {
            match () {
                () if *ours == base || *ours == theirs => *ours = theirs,
                () if theirs == base => {}
                () => return None,
            }
        }
        Some((ContentHash(hash), SLOTS as u64))
    }

    /// A slot of a missing file is empty.
    fn over(
        &mut self,
        base: ContentHash,
        ours: ContentHash,
        theirs: Option<ContentHash>,
    ) -> Option<(ContentHash, u64)> {
        let mut hash = ours.0;
        let sides = base.0.into_iter().zip(theirs.map_or([0; 32], |theirs| theirs.0));
        for (ours, (base, theirs)) in hash.iter_mut().zip(sides) {
            *ours = if *ours == base { theirs } else { *ours };
        }
        Some((ContentHash(hash), SLOTS as u64))
    }

    /// Each slot that differs is a hunk.
    fn beside(&mut self, _: ContentHash, _: ContentHash, _: ContentHash) -> Option<(ContentHash, u64)> {
        None
    }

    fn part(
        &mut self,
        before: ContentHash,
        after: ContentHash,
        hunks: &[u32],
    ) -> Result<(ContentHash, u64), NoSuchHunks> {
        let differ: Vec<usize> = (0..SLOTS).filter(|at| before.0[*at] != after.0[*at]).collect();
        let mut hash = before.0;
        for hunk in hunks {
            let at = (*hunk as usize).checked_sub(1).and_then(|at| differ.get(at));
            let at = *at.ok_or(NoSuchHunks::Only(u32::try_from(differ.len()).unwrap()))?;
            hash[at] = after.0[at];
        }
        Ok((ContentHash(hash), SLOTS as u64))
    }
}

/// A write of the agent (with its delta) or of somebody else.
#[derive(Clone, Debug)]
pub(in crate::files) struct Write {
    pub(in crate::files) agent: bool,
    pub(in crate::files) slot: usize,
    pub(in crate::files) value: u8,
}

pub(in crate::files) fn writes() -> impl Strategy<Value = Vec<Write>> {
    // The agent writes the lower slots, others the upper ones: nothing clashes.
    let write = (any::<bool>(), 0..SLOTS / 2, 1u8..200).prop_map(|(agent, slot, value)| {
        let slot = if agent { slot } else { slot + SLOTS / 2 };
        Write { agent, slot, value }
    });
    prop::collection::vec(write, 1..12)
}

/// The file after these writes, with only the wanted deltas of the agent.
fn model(writes: &[Write], wanted: &[bool]) -> Slots {
    let mut file = [0; SLOTS];
    for (write, wanted) in writes.iter().zip(wanted) {
        if !write.agent || *wanted {
            file[write.slot] = write.value;
        }
    }
    file
}

/// The stack after these writes, and the version on disk.
pub(in crate::files) fn observed(writes: &[Write]) -> (Stack, Slots) {
    let (mut stack, mut disk) = (Stack::default(), [0; SLOTS]);
    for (no, write) in writes.iter().enumerate() {
        let before = Some(record(disk));
        disk[write.slot] = write.value;
        if write.agent {
            let (delta, after) = (delta(no as u64), Some(record(disk)));
            stack.push(Layer { delta, grade: Grade::Seen, before, after });
        }
    }
    (stack, disk)
}

/// The layers of the wanted deltas.
pub(in crate::files) fn wanted_of(stack: &Stack, wanted: &[bool]) -> Vec<Layer> {
    let is_wanted = |layer: &&Layer| wanted[usize::try_from(layer.delta.no).unwrap()];
    stack.layers().iter().filter(is_wanted).cloned().collect()
}

proptest! {
    #[test]
    fn any_selection_is_what_the_model_says_and_all_of_them_comes_back(
        writes in writes(),
        choices in prop::collection::vec(prop::collection::vec(any::<bool>(), 12), 1..5),
    ) {
        let (all, disk) = observed(&writes);
        let every = wanted_of(&all, &[true; 12]);
        let (mut stack, mut now) = (all.clone(), Some(record(disk)));
        for wanted in choices {
            let layers = wanted_of(&all, &wanted);
            // If the agent wrote over a slot in several deltas, the result of a lower one alone is not known.
            let Ok(rebuilt) = stack.rebuild(now.as_ref(), &layers, &mut BySlot) else { continue };
            let twice = |slot| writes.iter().filter(|write| write.agent && write.slot == slot).count() > 1;
            let expected = model(&writes, &wanted);
            let found = slots(rebuilt.record.as_ref().expect("a file"));
            for slot in 0..SLOTS {
                prop_assert!(found[slot] == expected[slot] || twice(slot), "{found:?} {expected:?}");
            }
            let names: Vec<_> = rebuilt.stack.layers().iter().map(|layer| layer.delta).collect();
            prop_assert_eq!(names, layers.iter().map(|layer| layer.delta).collect::<Vec<_>>());
            (stack, now) = (rebuilt.stack, rebuilt.record);
        }
        if let Ok(back) = stack.rebuild(now.as_ref(), &every, &mut BySlot) {
            prop_assert_eq!(back.record, Some(record(disk)));
        }
    }

    #[test]
    fn going_back_to_any_depth_is_exact(writes in writes(), depth in 0usize..12) {
        let (stack, disk) = observed(&writes);
        let wanted: Vec<_> = (0..12).map(|no| no < depth).collect();
        let layers = wanted_of(&stack, &wanted);
        let rebuilt = stack.rebuild(Some(&record(disk)), &layers, &mut BySlot).expect("nothing clashes");
        prop_assert_eq!(slots(rebuilt.record.as_ref().expect("a file")), model(&writes, &wanted));
        let forward = wanted_of(&stack, &[true; 12]);
        let again = rebuilt.stack.rebuild(rebuilt.record.as_ref(), &forward, &mut BySlot);
        prop_assert_eq!(again.expect("nothing clashes").record, Some(record(disk)));
    }
}

/// A stack of one-slot writes, `(before, after)` each, by deltas 1, 2, 3 …
fn chain(versions: &[u8]) -> Stack {
    let file = |value| Some(record([value, 0, 0, 0]));
    let layers = versions.windows(2).zip(1..).map(|(pair, no)| Layer {
        delta: delta(no),
        grade: Grade::Seen,
        before: file(pair[0]),
        after: file(pair[1]),
    });
    Stack::new(layers.collect())
}

#[test]
fn a_path_changed_twice_goes_back_in_one_step() {
    let stack = chain(&[1, 2, 3]);
    // Somebody else's change of another slot stays, though no version in between contains it.
    let disk = record([3, 0, 0, 9]);
    let rebuilt = stack.rebuild(Some(&disk), &[], &mut BySlot).unwrap();
    assert_eq!((rebuilt.record, rebuilt.mixed), (Some(record([1, 0, 0, 9])), true));
    assert_eq!(stack.difference(&[]), (vec![delta(2), delta(1)], vec![]));
}

#[test]
fn the_same_place_is_a_clash() {
    let stack = chain(&[1, 2]);
    let clash = stack.rebuild(Some(&record([7, 0, 0, 0])), &[], &mut BySlot).unwrap_err();
    assert_eq!(clash.clash, Clash::Bytes);
    assert_eq!(clash.by, ClashedBy::Found(Some(record([7, 0, 0, 0]))));
    assert_eq!(stack.rebuild(None, &[], &mut BySlot).unwrap_err().clash, Clash::Removed);
    assert_eq!(stack.checkpoint(&[]), Some(record([1, 0, 0, 0])));
}

#[test]
fn a_dropped_change_kept_in_a_conflict_does_not_return() {
    // Delta 2 wrote over delta 1; delta 1 is dropped, and the version on disk is kept.
    let stack = chain(&[1, 2, 3]);
    let wanted = stack.layers()[1..].to_vec();
    let disk = record([3, 0, 0, 0]);
    assert_eq!(stack.rebuild(Some(&disk), &wanted, &mut BySlot).unwrap_err().clash, Clash::Bytes);
    for settled in [stack.settled(&wanted, &mut BySlot), stack.clone()] {
        let past = settled.rebuild(Some(&disk), &[], &mut BySlot).unwrap();
        assert_eq!(past.record, Some(record([1, 0, 0, 0])), "as before the dropped turn");
    }
}

#[test]
fn a_missing_file_needs_no_decision() {
    // Created by 1, changed by 2, removed by 3.
    let Stack(mut layers) = chain(&[0, 1, 2, 3]);
    (layers[0].before, layers[2].after) = (None, None);
    let stack = Stack::new(layers);
    for dropped in 0..3 {
        let mut wanted = stack.layers().to_vec();
        let taken = wanted.remove(dropped);
        let rebuilt =
            stack.rebuild(None, &wanted, &mut BySlot).map(|rebuilt| (rebuilt.record, rebuilt.stack));
        let (record, left) = rebuilt.expect("no clash");
        if dropped == 2 {
            assert_eq!(record, wanted[1].after, "nothing removes it any more");
            continue;
        }
        assert_eq!(record, None);
        // The dropped change does not return when the removal is reverted, and is below again after a show.
        let earlier = left.rebuild(None, &left.layers()[..1], &mut BySlot).expect("no clash");
        assert_eq!(earlier.record, left.layers()[0].after);
        let whole = left.together(&[taken]);
        let shown = left.rebuild(None, whole.layers(), &mut BySlot).expect("no clash");
        assert_eq!((shown.record, shown.stack), (None, stack.clone()));
    }
}

#[test]
fn a_dropped_change_does_not_return_if_the_later_version_was_chosen() {
    let stack = chain(&[1, 2, 3]);
    let wanted = &stack.layers()[1..];
    let left = stack.exactly(wanted, &mut BySlot);
    assert_eq!(stack.checkpoint(wanted), left.layers()[0].after);
    let back = left.rebuild(left.layers()[0].after.as_ref(), &[], &mut BySlot).expect("no clash");
    assert_eq!(back.record, stack.layers()[0].before);
    // After a show it is below the next one.
    assert_eq!(left.exactly(stack.layers(), &mut BySlot), stack);
}

/// Four digits are slots, a blank is absent.
fn version(text: &str) -> Option<Record> {
    let digits: Vec<u8> = text.bytes().map(|digit| digit - b'0').collect();
    Slots::try_from(digits).ok().map(record)
}

/// Layers of deltas 1, 2, 3 …, each with its version before and after: four digits are slots, a blank is absent.
fn told(layers: &[[&str; 2]]) -> Stack {
    let layers = layers.iter().zip(1..).map(|([before, after], no)| Layer {
        delta: delta(no),
        grade: Grade::Seen,
        before: version(before),
        after: version(after),
    });
    Stack::new(layers.collect())
}

#[test]
fn trial_06_a_layer_that_stays_loses_what_was_dropped_below_it_and_nothing_else() {
    for (have, dropped, left) in [
        // A person wrote the last slot in between.
        (&[["0000", "1000"], ["1009", "2009"]][..], &[1][..], &[["0009", "2009"]][..]),
        // Their text in the same slot stays as it was found.
        (&[["0000", "1000"], ["9000", "2000"]], &[1], &[["9000", "2000"]]),
        // Two of them, with a person's edit before each.
        (&[["0000", "1000"], ["1008", "2008"], ["2098", "3098"]], &[1, 2], &[["0098", "3098"]]),
        // Text that it left in other places is not its own.
        (&[["0000", "1000"], ["1000", "1200"]], &[1], &[["0000", "0200"]]),
        // Text that cannot be separated further is kept as it is.
        (&[["0000", "1000"], ["9000", "9200"], ["9200", "9300"]], &[1, 2], &[["9000", "9300"]]),
        // Created and written over; created, changed by a person, and written over, including the person's text.
        (&[["", "1000"], ["1000", "2000"]], &[1], &[["", "2000"]]),
        (&[["", "1000"], ["1009", "2009"]], &[1], &[["0009", "2009"]]),
        (&[["", "1100"], ["1109", "2102"]], &[1], &[["0109", "2102"]]),
        // Removed and created again; by a person in between.
        (&[["1000", ""], ["", "2000"]], &[1], &[["1000", "2000"]]),
        (&[["1000", ""], ["9000", "2000"]], &[1], &[["9000", "2000"]]),
        // Changed, removed by a person, created again.
        (&[["0000", "1000"], ["", "2000"]], &[1], &[["", "2000"]]),
    ] {
        let have = told(have);
        let wanted = have.without(&dropped.iter().map(|no| delta(*no)).collect::<Vec<_>>());
        for settled in
            [have.settled(wanted.layers(), &mut BySlot), have.exactly(wanted.layers(), &mut BySlot)]
        {
            let versions = |stack: &Stack| {
                let layers = stack.layers().iter();
                layers.map(|layer| (layer.before.clone(), layer.after.clone())).collect::<Vec<_>>()
            };
            assert_eq!(versions(&settled), versions(&told(left)), "{have:?}");
        }
    }
}

/// A turn's two slots, of which a later turn wrote over the first.
fn written_over() -> (Stack, Stack) {
    let stack = told(&[["0000", "1100"], ["1100", "2100"]]);
    let later = stack.without(&[delta(1)]);
    (stack, later)
}

#[test]
fn trial_06_what_is_kept_of_a_dropped_turn_stays_when_a_later_turn_that_wrote_over_it_goes() {
    let (stack, later) = written_over();
    let disk = record([2, 1, 0, 0]);
    assert_eq!(stack.rebuild(Some(&disk), later.layers(), &mut BySlot).unwrap_err().clash, Clash::Bytes);
    let settled = stack.settled(later.layers(), &mut BySlot);
    let past = settled.rebuild(Some(&disk), &[], &mut BySlot).expect("no clash");
    assert_eq!(past.record, Some(record([0, 1, 0, 0])), "what was written over does not come back");
    // Shown and dropped again, it stays a person's.
    let first = &stack.layers()[..1];
    let shown = past.stack.rebuild(past.record.as_ref(), first, &mut BySlot).expect("no clash");
    let again = shown.stack.rebuild(shown.record.as_ref(), &[], &mut BySlot).expect("no clash");
    assert_eq!((shown.record, again.record), (Some(record([1, 1, 0, 0])), past.record));
}

#[test]
fn trial_06_what_is_kept_of_dropped_turns_stays_below_everything_that_later_turns_do() {
    for (have, dropped, disk, past) in [
        // Two calls of the dropped turn.
        (&[["0000", "1100"], ["1100", "1110"], ["1110", "2110"]][..], &[1, 2][..], "2110", "0110"),
        // Two turns, each written over once.
        (&[["0000", "1100"], ["1100", "1220"], ["1220", "3220"], ["3220", "3240"]], &[1, 2], "3240", "0200"),
        // The first of the staying layers writes over nothing.
        (&[["0000", "1100"], ["1100", "1150"], ["1150", "2150"]], &[1], "2150", "0100"),
        // A person wrote between the layers, and above.
        (&[["0000", "1100"], ["1190", "2190"]], &[1], "2198", "0198"),
        // Created, and written over in one place: the text that was written over goes, as if it had never existed.
        (&[["", "1111"], ["1111", "2111"]], &[1], "2111", "0111"),
        (&[["", "1111"], ["1111", "1121"], ["1121", "3121"]], &[1], "3121", "0101"),
        // Created, and written over completely.
        (&[["", "1111"], ["1111", "2222"]], &[1], "2222", ""),
        // Removed, and created again.
        (&[["1111", ""], ["", "2222"]], &[1], "2222", "1111"),
        // Removed; created again by a person, and removed by a later turn.
        (&[["1111", ""], ["9999", ""]], &[1], "", "9999"),
        // The same, and created again by a delta that leaves alone: the staying removal is the reason that the file was
        // absent.
        (&[["1111", ""], ["9999", ""], ["", "2222"]], &[1], "2222", "9999"),
    ] {
        let stack = told(have);
        let wanted = stack.without(&dropped.iter().map(|no| delta(*no)).collect::<Vec<_>>());
        let settled = stack.settled(wanted.layers(), &mut BySlot);
        let found = settled.rebuild(version(disk).as_ref(), &[], &mut BySlot).expect("no clash");
        assert_eq!(found.record, version(past), "{have:?}");
    }
}

#[test]
fn trial_06_exactly_takes_out_what_nothing_that_stays_wrote_over() {
    let (stack, later) = written_over();
    let exact = stack.exact(later.layers(), &mut BySlot).expect("it can be told apart");
    assert_eq!(exact.record, Some(record([2, 0, 0, 0])));
    let left = exact.stack.rebuild(exact.record.as_ref(), &[], &mut BySlot).expect("no clash");
    assert_eq!(left.record, Some(record([0, 0, 0, 0])));
    let shown = exact.stack.exact(exact.stack.together(stack.layers()).layers(), &mut BySlot);
    assert_eq!(shown.map(|shown| (shown.record, shown.stack)), Some((Some(record([2, 1, 0, 0])), stack)));
    // A created file goes with all its content, or not at all.
    let made = told(&[["", "1111"], ["1111", "2111"]]);
    assert_eq!(made.exact(&made.layers()[1..], &mut BySlot), None);
    let rewritten = told(&[["", "1111"], ["1111", "2222"]]);
    let exact = rewritten.exact(&rewritten.layers()[1..], &mut BySlot).expect("nothing of it is left");
    assert_eq!(exact.stack.layers()[0].before, None);
}

#[test]
fn trial_06_what_comes_in_exactly_lies_below_what_a_person_wrote() {
    for (above, whole) in [
        (["0009", "0209"], ["1009", "1209"]),
        // The person wrote in its place.
        (["9000", "9200"], ["9000", "9200"]),
    ] {
        let whole = told(&[["0000", "1000"], whole]);
        let above = Stack::new(told(&[["", ""], above]).layers()[1..].to_vec());
        let wanted = above.together(&whole.layers()[..1]);
        assert_eq!(above.exactly(wanted.layers(), &mut BySlot), whole);
    }
}

#[test]
fn trial_06_a_clash_below_a_removal_keeps_what_a_person_wrote() {
    let stack = told(&[["0000", "1000"], ["9000", ""]]);
    let dropped = stack.rebuild(None, &stack.layers()[1..], &mut BySlot).expect("nothing is to be decided");
    assert_eq!((dropped.record, dropped.mixed), (None, false));
    let back = dropped.stack.rebuild(None, &[], &mut BySlot).expect("no clash");
    assert_eq!(back.record, Some(record([9, 0, 0, 0])));
}

#[test]
fn trial_07_what_is_known_goes_from_below_what_is_uncertain() {
    // The second delta is on top of the first one, and a person wrote over the second.
    let stack = told(&[["0000", "1000"], ["1000", "1200"]]);
    let disk = record([1, 9, 0, 0]);
    assert!(stack.rebuild(Some(&disk), &stack.layers()[1..], &mut BySlot).is_err());
    let below = stack.from_below(&stack.layers()[1..], Some(&disk), &mut BySlot).expect("it goes");
    assert_eq!(below.record, Some(record([0, 9, 0, 0])));
    let left = Stack::new(told(&[["", ""], ["0000", "0200"]]).layers()[1..].to_vec());
    assert_eq!(below.stack, left);
    // In the same place it is not.
    let stack = told(&[["0000", "1000"], ["1000", "2000"]]);
    assert_eq!(stack.from_below(&stack.layers()[1..], Some(&record([2, 0, 0, 0])), &mut BySlot), None);
}

#[test]
fn several_steps_of_one_delta_are_one_piece_unless_somebody_wrote_in_between() {
    let file = |value| Some(record([value, 0, 0, 0]));
    let layer =
        |before, after, grade| Layer { delta: delta(1), grade, before: file(before), after: file(after) };
    let mut stack = Stack::default();
    stack.push(layer(1, 2, Grade::Seen));
    stack.push(layer(2, 3, Grade::Ambiguous(Uncertain::Job)));
    assert_eq!(stack.layers(), [layer(1, 3, Grade::Ambiguous(Uncertain::Job))]);
    stack.push(layer(7, 8, Grade::Seen));
    assert_eq!(stack.layers().len(), 2);
}
