//! Hunks of a path compared with a naive model: a file is a row of slots, and each slot that differs is a hunk.

use proptest::prelude::*;

use super::*;
use crate::files::stack::tests::{BySlot, SLOTS, Slots, Write, observed, record, slots, wanted_of, writes};
use crate::files::{
    Choice, Chosen, ContentHash, CurrentPath, DesiredState, FilePlan, Layer, PathMove, PathPlan, PlanInput,
    Stack, Verdict, WantedPath,
};

/// One file, `f`: its content, and the version that somebody else wrote last.
#[derive(Default)]
pub(in crate::files) struct Disk {
    pub(in crate::files) now: Option<Record>,
    pub(in crate::files) theirs: Option<Option<Record>>,
}

impl MergeBytes for Disk {
    fn merge(
        &mut self,
        base: ContentHash,
        ours: ContentHash,
        theirs: ContentHash,
    ) -> Option<(ContentHash, u64)> {
        BySlot.merge(base, ours, theirs)
    }

    fn over(
        &mut self,
        base: ContentHash,
        ours: ContentHash,
        theirs: Option<ContentHash>,
    ) -> Option<(ContentHash, u64)> {
        BySlot.over(base, ours, theirs)
    }

    fn beside(&mut self, _: ContentHash, _: ContentHash, _: ContentHash) -> Option<(ContentHash, u64)> {
        None
    }

    fn part(
        &mut self,
        before: ContentHash,
        after: ContentHash,
        hunks: &[u32],
    ) -> Result<(ContentHash, u64), NoSuchHunks> {
        BySlot.part(before, after, hunks)
    }
}

impl PlanInput for Disk {
    fn bytes(&mut self) -> &mut dyn MergeBytes {
        self
    }

    fn now(&mut self, _: &FilePath) -> CurrentPath {
        CurrentPath::Covered(self.now.clone())
    }

    fn children(&mut self, _: &FilePath) -> Vec<Option<FilePath>> {
        Vec::new()
    }

    fn left_by(&mut self, _: &FilePath, _: Option<&Record>) -> Option<crate::files::DeltaId> {
        None
    }

    fn theirs(&mut self, _: &FilePath) -> Option<Option<Record>> {
        self.theirs.clone()
    }

    fn is_adopted(&mut self, _: &FilePath, _: crate::files::DeltaId) -> bool {
        false
    }

    fn is_git_s(&mut self, _: &FilePath) -> bool {
        false
    }
}

fn f() -> FilePath {
    FilePath::new(b"f").unwrap()
}

/// The plan of the file; `None` if nothing is wanted of it.
fn plan(
    stack: &Stack,
    disk: Option<&Record>,
    want: DesiredState,
    choice: Option<Choice>,
) -> Result<Option<PathPlan>, BadHunks> {
    let wanted_path = WantedPath { path: f(), stack: stack.clone(), want };
    let paths = choice.into_iter().map(|choice| (f(), choice)).collect();
    let plan = FilePlan::new(
        vec![wanted_path],
        &Chosen { paths, others: None },
        &mut Disk { now: disk.cloned(), ..Disk::default() },
    )?;
    Ok(plan.paths.into_iter().next())
}

fn layers(stack: &Stack, wanted: impl Fn(usize) -> bool) -> DesiredState {
    let wanted: Vec<bool> = (0..12).map(wanted).collect();
    DesiredState::Layers(wanted_of(stack, &wanted))
}

/// The expected slots after applying these hunks of the change, and the number of hunks.
fn model(disk: Slots, whole: Slots, hunks: &[u32]) -> (Slots, u32) {
    let (mut number, mut part) = (0, disk);
    for slot in (0..SLOTS).filter(|slot| disk[*slot] != whole[*slot]) {
        number += 1;
        if hunks.contains(&number) {
            part[slot] = whole[slot];
        }
    }
    (part, number)
}

/// Applies the hunks whose bit is set; returns the plan without a choice, the plan with it, and the expected bytes.
fn parted(stack: &Stack, disk: Slots, want: &DesiredState, bits: u32) -> Option<(PathPlan, PathPlan, Slots)> {
    let now = Some(record(disk));
    let whole = plan(stack, now.as_ref(), want.clone(), None).expect("no choice")?;
    let to = slots(whole.whole.as_ref()?);
    let hunks: Vec<u32> = (1..=model(disk, to, &[]).1).filter(|hunk| bits & (1 << hunk) != 0).collect();
    if hunks.is_empty() {
        return None;
    }
    let expected = model(disk, to, &hunks).0;
    let part =
        plan(stack, now.as_ref(), want.clone(), Some(Choice::Hunks(hunks))).expect("they are there")?;
    Some((whole, part, expected))
}

fn others(writes: &[Write], file: Slots) -> Vec<u8> {
    let theirs = (0..SLOTS).filter(|slot| writes.iter().any(|write| !write.agent && write.slot == *slot));
    theirs.map(|slot| file[slot]).collect()
}

proptest! {
    #[test]
    fn a_part_is_exact_and_the_rest_is_taken_back_later(
        writes in writes(),
        depth in 0usize..12,
        bits in any::<u32>(),
    ) {
        let (stack, disk) = observed(&writes);
        let want = layers(&stack, |no| no < depth);
        if let Some((whole, part, expected)) = parted(&stack, disk, &want, bits) {
            let step = part.step;
            prop_assert_eq!(&part.verdict, &Verdict::Part);
            prop_assert_eq!(step.change.after.as_ref().map(slots), Some(expected));
            // The rest belongs to the delta alone: nobody else has written there.
            let rest = plan(&step.stack_after, step.change.after.as_ref(), want, None).expect("no choice");
            let rest = rest.map(|rest| (rest.verdict == Verdict::Merge, rest.step.change.after, rest.step.stack_after));
            let expected = (slots(whole.whole.as_ref().expect("a file")) != expected)
                .then_some((false, whole.step.change.after, whole.step.stack_after));
            prop_assert_eq!(rest, expected);
        }
    }

    #[test]
    fn a_part_of_any_selection_is_exact_keeps_what_others_wrote_and_is_undone(
        writes in writes(),
        wanted in prop::collection::vec(any::<bool>(), 12),
        bits in any::<u32>(),
    ) {
        let (stack, disk) = observed(&writes);
        let want = layers(&stack, |no| wanted[no]);
        if let Some((_, part, expected)) = parted(&stack, disk, &want, bits) {
            let step = part.step;
            prop_assert_eq!(step.change.after.as_ref().map(slots), Some(expected));
            let later = plan(&step.stack_after, step.change.after.as_ref(), want, None).expect("no choice");
            let later = later.map_or(step.change.after.clone(), |later| later.step.change.after);
            prop_assert_eq!(others(&writes, slots(&later.expect("a file"))), others(&writes, expected));
            let undone = undo(&step).expect("something was done");
            prop_assert_eq!(undone.change, step.change.inverse());
            prop_assert_eq!(undone.stack_after, step.stack_before);
        }
    }
}

/// The reverse of the step.
fn undo(step: &PathMove) -> Option<PathMove> {
    let want = DesiredState::Back { reversed: vec![step.clone()], without: Vec::new(), staying: Vec::new() };
    let undone = plan(&step.stack_after, step.change.after.as_ref(), want, None).expect("no choice");
    undone.map(|undone| undone.step)
}

/// A file that one call changed from the first of these to the second; the third is the current one.
fn changed(before: Option<Slots>, after: Option<Slots>) -> Stack {
    let (delta, grade) = (crate::files::stack::tests::delta(1), crate::files::Grade::Seen);
    Stack::new(vec![Layer { delta, grade, before: before.map(record), after: after.map(record) }])
}

#[test]
fn one_hunk_goes_and_the_others_stay_the_calls() {
    let stack = changed(Some([1, 1, 1, 1]), Some([2, 2, 2, 1]));
    let disk = record([2, 2, 2, 9]);
    let all = || DesiredState::Layers(Vec::new());
    let first = plan(&stack, Some(&disk), all(), Some(Choice::Hunks(vec![2]))).unwrap().unwrap();
    assert_eq!(first.step.change.after, Some(record([2, 1, 2, 9])));
    let left = changed(Some([1, 1, 1, 9]), Some([2, 1, 2, 9]));
    assert_eq!(first.step.stack_after, left, "what is left is the call's, over what somebody wrote");
    let part = first.step.change.after;
    let rest = plan(&left, part.as_ref(), all(), Some(Choice::Hunks(vec![1, 2]))).unwrap().unwrap();
    assert_eq!(
        (rest.step.change.after, rest.step.stack_after),
        (Some(record([1, 1, 1, 9])), Stack::default())
    );
}

#[test]
fn hunks_of_a_clash_leave_the_layers_as_they_are() {
    let stack = changed(Some([1, 1, 1, 1]), Some([2, 2, 1, 1]));
    let disk = record([2, 7, 1, 9]);
    let all = || DesiredState::Layers(Vec::new());
    // The version then: the call's slot, the slot that both wrote, and the slot that somebody else wrote.
    let part = plan(&stack, Some(&disk), all(), Some(Choice::Hunks(vec![2]))).unwrap().unwrap();
    assert_eq!(part.step.change.after, Some(record([2, 1, 1, 9])));
    assert_eq!(part.step.stack_after, stack, "what somebody else wrote never becomes the call's");
    let rest = plan(&stack, part.step.change.after.as_ref(), all(), None).unwrap().unwrap();
    assert_eq!(rest.step.change.after, Some(record([1, 1, 1, 9])));
}

#[test]
fn trial_06_what_a_later_turn_did_not_write_over_goes_exactly_and_by_its_hunk() {
    let layer = |no, before, after| crate::files::Layer {
        delta: crate::files::stack::tests::delta(no),
        grade: crate::files::Grade::Seen,
        before: Some(record(before)),
        after: Some(record(after)),
    };
    let stack = Stack::new(vec![layer(1, [5, 0, 0, 0], [1, 2, 0, 0]), layer(2, [1, 2, 0, 0], [3, 2, 0, 0])]);
    let (disk, dropped) = (record([3, 2, 0, 0]), || DesiredState::Layers(stack.layers()[1..].to_vec()));
    let conflict = plan(&stack, Some(&disk), dropped(), None).unwrap().unwrap();
    assert!(matches!(conflict.verdict, Verdict::Conflict(_)));
    assert!(conflict.choices.contains(&Choice::Checkpoint));
    for choice in [Choice::Checkpoint, Choice::Hunks(vec![1])] {
        let chosen = plan(&stack, Some(&disk), dropped(), Some(choice)).unwrap().unwrap();
        assert_eq!(
            chosen.step.change.after,
            Some(record([3, 0, 0, 0])),
            "the later turn's place stays its own"
        );
        assert_eq!(chosen.step.stack_after.layers(), [layer(2, [5, 0, 0, 0], [3, 0, 0, 0])]);
    }
}

#[test]
fn trial_06_what_cannot_be_taken_out_exactly_is_a_conflict_and_never_done_already() {
    let first = changed(None, Some([1, 1, 1, 1])).layers()[0].clone();
    let (before, after) = (Some(record([1, 1, 1, 1])), Some(record([1, 2, 1, 1])));
    let delta = crate::files::stack::tests::delta(2);
    let later = crate::files::Layer { delta, before, after: after.clone(), ..first.clone() };
    let stack = Stack::new(vec![first, later.clone()]);
    let want = DesiredState::Layers(vec![later]);
    let exact = plan(&stack, after.as_ref(), want, Some(Choice::Checkpoint)).unwrap().unwrap();
    assert!(matches!(exact.verdict, Verdict::Conflict(_)), "{:?}", exact.verdict);
    assert!(!exact.choices.contains(&Choice::Checkpoint));
}

#[test]
fn unknown_hunks_are_refused_with_the_existing_ones() {
    let (one, two) = (Some([1, 1, 1, 1]), Some([2, 2, 1, 1]));
    let refused = |stack: &Stack, disk: Option<Record>, hunk| {
        let choice = Some(Choice::Hunks(vec![hunk]));
        plan(stack, disk.as_ref(), DesiredState::Layers(Vec::new()), choice)
            .map(|_| ())
            .unwrap_err()
            .to_string()
    };
    let folder = Some(Record::Folder { mode: 0o755 });
    let mode = two.map(|two| match record(two) {
        Record::File { hash, len, .. } => Record::File { hash, len, mode: 0o755 },
        other => other,
    });
    for (stack, disk, hunk, why) in [
        (changed(one, two), two.map(record), 3, "it has 2 hunks"),
        (changed(one, two), two.map(record), 0, "it has 2 hunks"),
        (changed(None, two), two.map(record), 1, "it goes as a whole"),
        (changed(one, None), None, 1, "it comes back as a whole"),
        (changed(one, two), one.map(record), 1, "none of its lines would change"),
        (changed(two, two), mode, 1, "none of its lines would change"),
        (changed(one, two), folder, 1, "only a file that stays a file has hunks"),
        (Stack::default(), two.map(record), 1, "nothing would be done to it"),
    ] {
        assert_eq!(refused(&stack, disk, hunk), format!("can't choose hunks of f: {why}"));
    }
}
