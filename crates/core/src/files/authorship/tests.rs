//! Tests: whose changes prevent a plan, and the result of each choice, over stacks of a few versions.

use std::collections::{BTreeMap, HashMap};

use super::*;
use crate::files::plan::tests::record as testing_record;
use crate::files::stack::tests::delta;
use crate::files::{
    Chosen, ContentHash, DesiredState, FileChange, FilePlan, Grade, MergeBytes, NoSuchHunks, Verdict,
    WantedPath, testing,
};

/// A tree of files of one letter each, which never merge, with the last version without a call and the versions of deltas.
#[derive(Default)]
struct Tree {
    now: BTreeMap<FilePath, Record>,
    theirs: HashMap<FilePath, Option<Record>>,
    left: Vec<(FilePath, Option<Record>, DeltaId)>,
}

impl MergeBytes for Tree {
    fn merge(&mut self, _: ContentHash, _: ContentHash, _: ContentHash) -> Option<(ContentHash, u64)> {
        None
    }

    fn over(&mut self, _: ContentHash, _: ContentHash, _: Option<ContentHash>) -> Option<(ContentHash, u64)> {
        None
    }

    fn beside(&mut self, _: ContentHash, _: ContentHash, _: ContentHash) -> Option<(ContentHash, u64)> {
        None
    }

    fn part(&mut self, _: ContentHash, _: ContentHash, _: &[u32]) -> Result<(ContentHash, u64), NoSuchHunks> {
        Err(NoSuchHunks::NoText)
    }
}

impl PlanInput for Tree {
    fn bytes(&mut self) -> &mut dyn MergeBytes {
        self
    }

    fn now(&mut self, path: &FilePath) -> CurrentPath {
        CurrentPath::Covered(self.now.get(path).cloned())
    }

    fn children(&mut self, folder: &FilePath) -> Vec<Option<FilePath>> {
        self.now.keys().filter(|path| path.parent().as_ref() == Some(folder)).cloned().map(Some).collect()
    }

    fn theirs(&mut self, path: &FilePath) -> Option<Option<Record>> {
        self.theirs.get(path).cloned()
    }

    fn left_by(&mut self, path: &FilePath, record: Option<&Record>) -> Option<DeltaId> {
        let mut left = self.left.iter().rev();
        left.find(|(at, left, _)| at == path && left.as_ref() == record).map(|(_, _, no)| *no)
    }

    fn is_adopted(&mut self, _: &FilePath, _: DeltaId) -> bool {
        false
    }

    fn is_git_s(&mut self, _: &FilePath) -> bool {
        false
    }
}

fn path(text: &str) -> FilePath {
    FilePath::new(text.as_bytes()).unwrap()
}

/// A file with this letter in it, `/` a folder; a blank is absent.
fn record(what: char) -> Option<Record> {
    match what {
        ' ' => None,
        '/' => Some(Record::Folder { mode: 0o755 }),
        letter => {
            let mut hash = [0; 32];
            hash[0] = u8::try_from(letter).unwrap();
            Some(Record::File { hash: ContentHash(hash), len: 1, mode: 0o644 })
        }
    }
}

/// Layers, each as its delta with the version before and after.
fn layers(told: &[(u64, &str)]) -> Vec<Layer> {
    let layer = |(no, versions): &(u64, &str)| {
        let mut versions = versions.chars().map(record);
        let (before, after) = (versions.next().unwrap(), versions.next().unwrap());
        Layer { delta: delta(*no), grade: Grade::Written, before, after }
    };
    told.iter().map(layer).collect()
}

/// Why the path `f` waits for a choice, and its version after each, for these current and wanted layers.
fn clash(have: &[(u64, &str)], want: &[(u64, &str)], now: char, tree: Tree) -> String {
    let mut tree = tree;
    tree.now.extend(record(now).map(|record| (path("f"), record)));
    let wanted_path = WantedPath {
        path: path("f"),
        stack: Stack::new(layers(have)),
        want: DesiredState::Layers(layers(want)),
    };
    let plan = FilePlan::new(vec![wanted_path], &Chosen::default(), &mut tree).unwrap();
    let [planned] = plan.paths.as_slice() else { panic!("one path: {plan:?}") };
    let Verdict::Conflict(clash) = planned.verdict else { panic!("no conflict: {planned:?}") };
    let outcomes = planned.choices.iter().map(|choice| {
        let becomes = planned.becomes(choice).expect("each choice is told");
        format!("{choice:?} {becomes:?}")
    });
    let outcomes: Vec<String> = outcomes.collect();
    format!("{clash:?} {:?}: {}", planned.against.expect("somebody's"), outcomes.join(", "))
        .replace(" of log 1", "")
}

#[test]
fn a_change_of_a_later_turn_is_attributed_to_that_turn() {
    let tree = Tree::default;
    for (have, want, now, expected) in [
        // The first of two is dropped: the second one was made on it, and nobody has removed anything.
        (&[(1, " a"), (3, "ab")][..], &[(3, "ab")][..], 'b', "Removed Later(delta 3)"),
        (&[(1, "xa"), (3, "ab")], &[(3, "ab")], 'b', "Bytes Later(delta 3)"),
        // The first one is shown again.
        (&[(3, " b")], &[(1, " a"), (3, " b")], 'b', "Made Later(delta 3)"),
        (&[(3, "xb")], &[(1, "xa"), (3, "xb")], 'b', "Bytes Later(delta 3)"),
    ] {
        assert_eq!(
            clash(have, want, now, tree()),
            format!("{expected}: Skip Stays(Some(delta 3)), Disk Stays(Some(delta 3))"),
            "a checkpoint that is what is there anyway is not offered"
        );
    }
}

#[test]
fn a_returning_change_names_its_missing_base() {
    let left = vec![(path("f"), record('a'), delta(1)), (path("f"), record('b'), delta(3))];
    let tree = || Tree { left: left.clone(), ..Tree::default() };
    let expected = "Removed Missing(delta 1): Skip Stays(None), Disk Stays(None), Checkpoint Left(delta 3)";
    assert_eq!(clash(&[], &[(3, "ab")], ' ', tree()), expected);
    // The current version is an earlier delta's, which this one has never seen.
    let expected = "Bytes There(delta 1): Skip Stays(Some(delta 1)), Disk Stays(Some(delta 1)), Checkpoint Left(delta 3)";
    assert_eq!(clash(&[(1, "xa")], &[(1, "xa"), (3, "xb")], 'a', tree()), expected);
}

#[test]
fn only_what_no_turn_explains_is_somebody_else_s() {
    let by_hand = || Tree { theirs: [(path("f"), record('m'))].into(), ..Tree::default() };
    let have = [(1, "xa")];
    let told = clash(&have, &[], 'm', by_hand());
    assert_eq!(
        told,
        "Bytes Hand: Skip Stays(None), Disk Stays(None), Checkpoint Before(delta 1), Yours Stays(None)"
    );
    let told = clash(&have, &[], 'm', Tree::default());
    assert_eq!(told, "Bytes Others: Skip Stays(None), Disk Stays(None), Checkpoint Before(delta 1)");
    let told = clash(&[(1, " a")], &[], 'm', Tree::default());
    assert_eq!(told, "Bytes Others: Skip Stays(None), Disk Stays(None), Checkpoint Gone");
    // Somebody's edit on top of a later turn's, with an earlier one to leave: the edit is the first obstacle.
    let told = clash(&[(1, "xa"), (3, "ab")], &[(3, "ab")], 'm', by_hand());
    assert!(told.starts_with("Bytes Hand: "), "{told}");
}

#[test]
fn content_of_a_folder_is_attributed_to_its_author() {
    for (left, expected) in [
        (vec![(path("d/y"), record('y'), delta(3))], BlockingAuthor::There(delta(3))),
        (Vec::new(), BlockingAuthor::Others),
    ] {
        let mut tree = Tree { left, ..Tree::default() };
        tree.now.extend([(path("d"), record('/').unwrap()), (path("d/y"), record('y').unwrap())]);
        let stack = Stack::new(layers(&[(1, " /")]));
        let wanted_path = WantedPath { path: path("d"), stack, want: DesiredState::Layers(Vec::new()) };
        let plan = FilePlan::new(vec![wanted_path], &Chosen::default(), &mut tree).unwrap();
        let kept = FileChange { path: path("d"), before: record('/'), after: record('/') };
        assert_eq!((&plan.paths[0].verdict, &plan.paths[0].step.change), (&Verdict::NotEmpty, &kept));
        assert_eq!(plan.paths[0].against, Some(expected));
    }
}

#[test]
fn the_result_of_a_choice_names_its_delta() {
    let no = delta(3);
    let rows = [
        (ChoiceOutcome::Left(no), Some(no)),
        (ChoiceOutcome::Before(no), Some(no)),
        (ChoiceOutcome::Stays(Some(no)), Some(no)),
        (ChoiceOutcome::Stays(None), None),
        (ChoiceOutcome::Gone, None),
        (ChoiceOutcome::Yours, None),
        (ChoiceOutcome::Merged, None),
        (ChoiceOutcome::Other, None),
    ];
    for (becomes, delta) in rows {
        assert_eq!(becomes.delta(), delta, "{becomes:?}");
    }
    let rows = [
        (BlockingAuthor::Later(no), Some(no)),
        (BlockingAuthor::There(no), Some(no)),
        (BlockingAuthor::Missing(no), Some(no)),
        (BlockingAuthor::Hand, None),
        (BlockingAuthor::Git, None),
        (BlockingAuthor::Uncovered, None),
        (BlockingAuthor::Others, None),
    ];
    for (against, delta) in rows {
        assert_eq!(against.delta(), delta, "{against:?}");
    }
}

#[test]
fn a_choice_says_what_it_makes_of_the_path() {
    let (stack, wanted) = (Stack::new(layers(&[(1, "ab"), (2, "bc")])), Stack::new(layers(&[(1, "ab")])));
    let rows = [
        (Choice::Skip, 'c', 'c', ChoiceOutcome::Stays(Some(delta(2)))),
        (Choice::Skip, 'x', 'x', ChoiceOutcome::Stays(None)),
        (Choice::Merge, 'y', 'c', ChoiceOutcome::Merged),
        (Choice::Merge, ' ', 'c', ChoiceOutcome::Merged),
        (Choice::Yours, 'y', 'c', ChoiceOutcome::Yours),
        (Choice::Yours, ' ', 'c', ChoiceOutcome::Gone),
        (Choice::Checkpoint, 'b', 'c', ChoiceOutcome::Left(delta(1))),
        (Choice::Checkpoint, 'a', 'c', ChoiceOutcome::Before(delta(1))),
        (Choice::Checkpoint, 'c', 'x', ChoiceOutcome::Left(delta(2))),
        (Choice::Checkpoint, 'y', 'c', ChoiceOutcome::Other),
    ];
    for (choice, then, disk, expected) in rows {
        let (then, disk) = (record(then), record(disk));
        let found = becomes((&choice, then.as_ref()), disk.as_ref(), (&stack, &wanted));
        assert_eq!(found, expected, "{choice:?} {then:?}");
    }
}

#[test]
fn adopted_content_is_attributed_to_the_person() {
    let against = |have: &[(u64, &str)], want: &[(u64, &str)], now: char, left: Option<(char, u64)>| {
        let mut world = testing::World::of(&[("f", now)]);
        world.left.extend(left.map(|(what, no)| (path("f"), testing_record(what), delta(no))));
        let plan = testing::planned(vec![testing::wanted_path("f", have, want)], &[], &mut world);
        plan.expect("it fits").paths[0].against
    };
    for (own, other) in [(95, BlockingAuthor::Hand), (5, BlockingAuthor::Later(delta(5)))] {
        assert_eq!(against(&[(1, "xa"), (own, "ab")], &[(own, "ab")], 'b', None), Some(other));
    }
    for (own, other) in [(95, BlockingAuthor::Hand), (5, BlockingAuthor::There(delta(5)))] {
        assert_eq!(against(&[(own, "xa")], &[(own, "xa"), (97, "xb")], 'a', None), Some(other));
        assert_eq!(against(&[(1, "xa")], &[], 'm', Some(('m', own))), Some(other));
    }
}
