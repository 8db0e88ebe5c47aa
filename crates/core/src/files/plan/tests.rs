//! Plans over a small tree in memory: each verdict, each choice, renames and folders.

use std::collections::BTreeMap;
use std::fmt::Write;

use super::*;
use crate::files::stack::tests::delta;
use crate::files::{ContentHash, NoSuchHunks, Uncertain, testing};

/// A tree: the version of each path. The content of a file is one letter; two letters merge when one of them is a
/// digit, which stands for a change elsewhere in the file.
#[derive(Default)]
pub(in crate::files) struct Tree(pub(in crate::files) BTreeMap<FilePath, Record>);

impl MergeBytes for Tree {
    fn merge(
        &mut self,
        _: ContentHash,
        ours: ContentHash,
        theirs: ContentHash,
    ) -> Option<(ContentHash, u64)> {
        let mut hash = ours.0;
        hash[1] = theirs.0[0];
        ours.0[0].is_ascii_digit().then_some((ContentHash(hash), 32))
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
        match self.0.get(path) {
            Some(Record::Link { .. }) => CurrentPath::NotCovered(UncoveredReason::Special),
            record => CurrentPath::Covered(record.cloned()),
        }
    }

    fn children(&mut self, folder: &FilePath) -> Vec<Option<FilePath>> {
        self.0.keys().filter(|path| path.parent().as_ref() == Some(folder)).cloned().map(Some).collect()
    }

    fn theirs(&mut self, _: &FilePath) -> Option<Option<Record>> {
        None
    }

    fn left_by(&mut self, _: &FilePath, _: Option<&Record>) -> Option<DeltaId> {
        None
    }

    /// The deltas from 90 on are adopted.
    fn is_adopted(&mut self, _: &FilePath, delta: DeltaId) -> bool {
        delta.no >= 90
    }

    /// Git has every path whose name contains a `g`.
    fn is_git_s(&mut self, path: &FilePath) -> bool {
        path.name() == b"g"
    }
}

pub(in crate::files) fn path(text: &str) -> FilePath {
    FilePath::new(text.as_bytes()).unwrap()
}

/// `a` is a file with this letter in it, `/` a folder, `@` a path that is not covered, and a blank is absent.
pub(in crate::files) fn record(what: char) -> Option<Record> {
    match what {
        ' ' => None,
        '/' => Some(Record::Folder { mode: 0o755 }),
        '@' => Some(Record::Link { target: std::sync::Arc::from([b'x'].as_slice()) }),
        letter => {
            let mut hash = [0; 32];
            hash[0] = u8::try_from(letter).unwrap();
            // Long enough that equal content is no coincidence; a capital letter is a tiny file.
            let len = if letter.is_ascii_uppercase() { 31 } else { 32 };
            Some(Record::File { hash: ContentHash(hash), len, mode: 0o644 })
        }
    }
}

/// The letters of a record.
pub(in crate::files) fn letters(record: Option<&Record>) -> String {
    match record {
        None => "nothing".into(),
        Some(Record::Folder { .. }) => "/".into(),
        Some(Record::Link { .. }) => "@".into(),
        Some(Record::File { hash, .. }) => {
            hash.0.iter().take_while(|byte| **byte != 0).map(|byte| char::from(*byte)).collect()
        }
    }
}

/// Plans to revert everything. A row: path, the versions of the agent's deltas in order, the current version.
fn back(
    rows: &[(&str, &str, char)],
    others: &[(&str, char)],
    chosen: &[(&str, Choice)],
    grade: Grade,
) -> String {
    let mut tree = Tree::default();
    let at = rows.iter().map(|(name, _, now)| (*name, *now)).chain(others.iter().copied());
    tree.0.extend(at.filter_map(|(name, now)| Some((path(name), record(now)?))));
    let wanted_paths = rows.iter().map(|(name, versions, _)| {
        let versions: Vec<_> = versions.chars().map(record).collect();
        let layers = versions.windows(2).zip(1..).map(|(pair, no)| Layer {
            delta: delta(no),
            grade,
            before: pair[0].clone(),
            after: pair[1].clone(),
        });
        let stack = Stack::new(layers.collect());
        WantedPath { path: path(name), stack, want: DesiredState::Layers(Vec::new()) }
    });
    let paths = chosen.iter().map(|(name, choice)| (path(name), choice.clone())).collect();
    shown(wanted_paths.collect(), &Chosen { paths, others: None }, &mut tree)
}

/// The plan of these wanted paths.
pub(in crate::files) fn shown(wanted_paths: Vec<WantedPath>, chosen: &Chosen, tree: &mut Tree) -> String {
    let plan = FilePlan::new(wanted_paths, chosen, tree).unwrap();
    let mut shown = String::new();
    for planned in &plan.paths {
        let change = &planned.step.change;
        let (before, after) = (letters(change.before.as_ref()), letters(change.after.as_ref()));
        let left = planned.step.stack_after.layers().len();
        writeln!(shown, "{} {:?} {before} -> {after}, {left} left", planned.path, planned.verdict).unwrap();
    }
    shown
}

/// The plan of one path.
#[track_caller]
fn check(versions: &str, now: char, expected: &str) {
    let shown = back(&[("f", versions, now)], &[], &[], Grade::Seen);
    assert_eq!(shown.trim_end(), format!("f {expected}"));
}

#[test]
fn each_situation_of_a_path_has_its_verdict() {
    check("ab", 'b', "Revert b -> a, 0 left");
    check("abc", 'c', "Revert c -> a, 0 left");
    check(" b", 'b', "Delete b -> nothing, 0 left");
    check("b ", ' ', "Recreate nothing -> b, 0 left");
    check("ab", '1', "Merge 1 -> 1a, 0 left");
    check("ab", 'x', "Conflict(Bytes) x -> x, 1 left");
    check("ab", ' ', "Conflict(Removed) nothing -> nothing, 1 left");
    check("b ", 'x', "Conflict(Made) x -> x, 1 left");
    check("ab", '/', "Conflict(Kind) / -> /, 1 left");
    check("ab", 'a', "Unchanged a -> a, 0 left");
    check("aba", 'a', "Unchanged a -> a, 0 left");
    check("ab", '@', "NotCovered(Special) nothing -> nothing, 1 left");
}

#[test]
fn each_choice_has_its_outcome() {
    for (choice, expected) in [
        (Choice::Checkpoint, "f Revert x -> a, 0 left"),
        (Choice::Disk, "f Unchanged x -> x, 0 left"),
        (Choice::Skip, "f Unchanged x -> x, 1 left"),
        (Choice::Merge, "f Conflict(Bytes) x -> x, 1 left"),
        (Choice::Yours, "f Conflict(Bytes) x -> x, 1 left"),
    ] {
        let shown = back(&[("f", "ab", 'x')], &[], &[("f", choice)], Grade::Written);
        assert_eq!(shown.trim_end(), expected);
    }
}

#[test]
fn an_ambiguous_change_stays_unless_it_is_chosen() {
    let rows = [("f", "ab", 'b')];
    assert_eq!(back(&rows, &[], &[], Grade::Ambiguous(Uncertain::Several)), "f Kept b -> b, 1 left\n");
    let chosen = back(&rows, &[], &[("f", Choice::Checkpoint)], Grade::Ambiguous(Uncertain::Several));
    assert_eq!(chosen, "f Revert b -> a, 0 left\n");
}

#[test]
fn content_of_git_stays_unless_it_is_chosen() {
    for now in ['b', 'x'] {
        let rows = [("g", "ab", now), ("h", "ab", 'b')];
        let plan = back(&rows, &[], &[], Grade::Seen);
        assert_eq!(plan, format!("g GitHas {now} -> {now}, 1 left\nh Revert b -> a, 0 left\n"));
        let chosen = back(&rows, &[], &[("g", Choice::Checkpoint)], Grade::Seen);
        assert_eq!(chosen, format!("g Revert {now} -> a, 0 left\nh Revert b -> a, 0 left\n"));
    }
    assert_eq!(back(&[("g", "ab", 'a')], &[], &[], Grade::Seen), "g Unchanged a -> a, 0 left\n");
}

#[test]
fn a_folder_goes_only_when_it_is_empty() {
    let rows = [("d", " /", '/'), ("d/a", " a", 'a')];
    assert_eq!(
        back(&rows, &[], &[], Grade::Seen),
        "d Delete / -> nothing, 0 left\nd/a Delete a -> nothing, 0 left\n"
    );
    assert_eq!(
        back(&rows, &[("d/mine", 'm')], &[], Grade::Seen),
        "d NotEmpty / -> /, 0 left\nd/a Delete a -> nothing, 0 left\n"
    );
}

#[test]
fn a_returning_file_gets_its_folder_or_is_a_conflict() {
    let rows = [("d/e/a", "a ", ' ')];
    assert_eq!(
        back(&rows, &[], &[], Grade::Seen),
        "d Recreate nothing -> /, 0 left\nd/e Recreate nothing -> /, 0 left\nd/e/a Recreate nothing -> a, 0 left\n"
    );
    assert_eq!(
        back(&rows, &[("d", 'x')], &[], Grade::Seen),
        "d/e/a Conflict(Parent) nothing -> nothing, 1 left\n"
    );
}

#[test]
fn a_folder_that_made_way_for_a_file_comes_back_with_what_was_in_it() {
    let rows = [("d", "/f", 'f'), ("d/a", "a ", ' ')];
    assert_eq!(
        back(&rows, &[], &[], Grade::Seen),
        "d Revert f -> /, 0 left\nd/a Recreate nothing -> a, 0 left\n"
    );
    let rows = [("d", "f/", '/'), ("d/a", " a", 'a')];
    assert_eq!(
        back(&rows, &[("d/mine", 'm')], &[], Grade::Seen),
        "d Conflict(Kind) / -> /, 1 left\nd/a Delete a -> nothing, 0 left\n"
    );
}

#[test]
fn a_rename_carries_what_was_written_since_along() {
    let rows = [("new", " a", 'x'), ("old", "a ", ' ')];
    assert_eq!(
        back(&rows, &[], &[], Grade::Seen),
        "new Delete x -> nothing, 0 left\nold Merge nothing -> x, 0 left\n"
    );
    // Two files with this content: it is not known which of them it was.
    let rows = [("new", " a", 'x'), ("old", "a ", ' '), ("older", "a ", ' ')];
    assert!(back(&rows, &[], &[], Grade::Seen).starts_with("new Conflict(Bytes)"));
}

#[test]
fn trial_03_only_what_others_wrote_since_goes_along_with_a_rename() {
    let old = ("old", "a ", ' ');
    for (versions, now, expected) in [
        // The agent wrote into it, too: without that it is as created, and somebody's change follows.
        ("ab", '1', "new Delete 1 -> nothing, 0 left\nold Merge nothing -> 1a, 0 left\n"),
        // Somebody's change cannot be merged with that: it stays where it is.
        ("ab", 'x', "new Conflict(Bytes) x -> x, 2 left\nold Recreate nothing -> a, 0 left\n"),
    ] {
        let versions = format!(" {versions}");
        assert_eq!(back(&[("new", &versions, now), old], &[], &[], Grade::Seen), expected);
    }
    let doubtful = back(&[("new", " a", '1'), old], &[], &[], Grade::Ambiguous(Uncertain::Several));
    assert_eq!(doubtful, "new Kept 1 -> 1, 1 left\nold Kept nothing -> nothing, 1 left\n");
}

#[test]
fn trial_04_equal_bytes_of_tiny_files_are_no_rename() {
    let rows = [("new", " A", 'x'), ("old", "A ", ' ')];
    assert_eq!(
        back(&rows, &[], &[], Grade::Seen),
        "new Conflict(Bytes) x -> x, 1 left\nold Recreate nothing -> A, 0 left\n"
    );
}

#[test]
fn reversing_what_an_operation_did_is_exact_also_over_what_others_wrote_before_it() {
    // Rewound over somebody's change: `1` became `1a` by a merge. Reversed, it is `1` again.
    let stack = Stack::new(vec![Layer {
        delta: delta(1),
        grade: Grade::Written,
        before: record('a'),
        after: record('b'),
    }]);
    let mut tree = Tree::default();
    tree.0.extend(record('1').map(|record| (path("f"), record)));
    let wanted_path = WantedPath { path: path("f"), stack, want: DesiredState::Layers(Vec::new()) };
    let there = FilePlan::new(vec![wanted_path], &Chosen::default(), &mut tree).unwrap();
    let step = there.paths[0].step.clone();
    tree.0.extend(step.change.after.clone().map(|record| (path("f"), record)));
    let want = DesiredState::Back { reversed: vec![step.clone()], without: Vec::new(), staying: Vec::new() };
    let wanted_path = WantedPath { path: path("f"), stack: step.stack_after.clone(), want };
    let back = FilePlan::new(vec![wanted_path], &Chosen::default(), &mut tree).unwrap();
    assert_eq!(back.paths[0].step.change, step.change.inverse());
    assert_eq!(back.paths[0].step.stack_after, step.stack_before);
}

#[test]
fn a_plan_tells_what_is_left_to_choose_what_changes_and_what_is_adopted() {
    let rows = [("a", &[(1, "ab")][..], 'b'), ("b", &[(1, "ab"), (2, "bc")], 'x'), ("c", &[(1, "ab")], 'a')];
    let plan = |chosen: &[(&str, Choice)]| {
        let now: Vec<_> = rows.iter().map(|(name, _, now)| (*name, *now)).collect();
        let wanted_paths = rows.iter().map(|(name, have, _)| testing::wanted_path(name, have, &[])).collect();
        let plan = testing::planned(wanted_paths, chosen, &mut testing::World::of(&now)).expect("it fits");
        let changes: Vec<_> = plan.changes().map(|change| change.path.to_string()).collect();
        let adopted: Vec<_> = plan.adopted().map(|(delta, path)| format!("{path} {}", delta.no)).collect();
        (plan.is_clean(), changes.join(" "), adopted.join(", "))
    };
    let told = |clean, changes: &str, adopted: &str| (clean, changes.to_owned(), adopted.to_owned());
    assert_eq!(plan(&[]), told(false, "a", ""));
    assert_eq!(plan(&[("b", Choice::Disk)]), told(true, "a", "b 2, b 1"));
    assert_eq!(plan(&[("b", Choice::Skip)]), told(true, "a", ""));
    assert_eq!(plan(&[("b", Choice::Checkpoint), ("a", Choice::Disk)]), told(true, "b", "a 1"));
}

#[test]
fn a_step_includes_foreign_text_that_no_call_left_or_found() {
    let step = |before: char, have: &[(u64, &str)], after: char, left: &[(u64, &str)]| {
        let stack = |told| Stack::new(testing::layers(told, Grade::Seen));
        let change = FileChange { path: path("f"), before: record(before), after: record(after) };
        PathMove { change, stack_before: stack(have), stack_after: stack(left) }
    };
    for (step, verdict, alone) in [
        (step('b', &[(1, "ab")], 'a', &[]), Verdict::Revert, true),
        (step('c', &[(1, "ab"), (2, "bc")], 'b', &[(1, "ab")]), Verdict::Revert, true),
        (step('x', &[(1, "ab")], 'y', &[]), Verdict::Merge, false),
        (step('x', &[(1, "ab")], 'a', &[]), Verdict::Revert, false),
        (step('b', &[(1, "ab")], 'y', &[]), Verdict::Merge, false),
        // Layers without a change only record that the restored version is there.
        (step('x', &[(1, "aa")], 'y', &[(1, "aa")]), Verdict::Revert, false),
        (step('b', &[(1, " b")], ' ', &[]), Verdict::Delete, true),
        (step(' ', &[(1, "b ")], 'b', &[]), Verdict::Recreate, true),
        (step('b', &[(1, "ab")], 'b', &[(1, "ab")]), Verdict::Unchanged, true),
    ] {
        assert_eq!((step.verdict(), step.is_of_layers_alone()), (verdict, alone), "{step:?}");
    }
}

#[test]
fn a_change_kept_for_its_unknown_author_says_why() {
    let layers = |told, grade| testing::layers(told, grade);
    let unsure = Grade::Ambiguous(Uncertain::Late);
    let stack = [layers(&[(1, "ab")], Grade::Seen), layers(&[(2, "b1")], unsure)].concat();
    let wanted_path =
        WantedPath { path: path("f"), stack: Stack::new(stack), want: DesiredState::Layers(Vec::new()) };
    let plan = |chosen: &[(&str, Choice)]| {
        let plan =
            testing::planned(vec![wanted_path.clone()], chosen, &mut testing::World::of(&[("f", '1')]));
        plan.expect("it fits").paths.remove(0)
    };
    let kept = plan(&[]);
    assert_eq!((kept.grade, kept.uncertain(), kept.is_chosen()), (unsure, [Uncertain::Late].into(), false));
    assert_eq!(testing::told(&kept), "f Merge 1 -> 1a [2] Merge/Disk/Checkpoint/Skip");
    let skipped = plan(&[("f", Choice::Skip)]);
    assert_eq!((skipped.uncertain(), skipped.is_chosen()), ([Uncertain::Late].into(), true));
    let gone = plan(&[("f", Choice::Checkpoint)]);
    assert_eq!((gone.uncertain(), gone.is_chosen()), ([].into(), false));
    assert!(plan(&[("f", Choice::Disk)]).is_chosen());
}

#[test]
fn an_uncovered_path_is_left_alone_and_reported() {
    let have: &[(u64, &str)] = &[(1, "ab"), (2, "bc")];
    let unsure = Grade::Ambiguous(Uncertain::Job);
    let stack = Stack::new(testing::layers(have, unsure));
    let want = DesiredState::Layers(testing::layers(&[(3, "ax")], Grade::Seen));
    let wanted_path = WantedPath { path: path("f"), stack, want };
    let world = || testing::World::of(&[("f", '@')]);
    let plan = testing::planned(vec![wanted_path.clone()], &[], &mut world()).expect("it fits");
    let one = &plan.paths[0];
    assert_eq!(
        (one.grade, &one.out[..], &one.into[..]),
        (unsure, &[delta(2), delta(1)][..], &[delta(3)][..])
    );
    let hunks = testing::planned(vec![wanted_path], &[("f", Choice::Hunks(vec![1]))], &mut world());
    assert_eq!(hunks.map(drop).map_err(|unfit| unfit.why), Err(HunkDefect::NotPlanned));
}
