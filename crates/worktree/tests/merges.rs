//! A three-way merge (cases 16 and 17), as in git, in bounded time.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{RngAlgorithm, TestRng, TestRunner};
use retake_core::{ContentHash, MergeBytes, NoSuchHunks};
use retake_worktree::{
    Hunks, MAX_TEXT, MemoryObjects, Objects, StoredMerges, WorktreeError, hash, merge_texts, merge_texts_over,
};

use crate::texts::{edited, text};

/// Base, ours, theirs, and the result; `None`: both changed the same place.
type Row = (&'static str, &'static str, &'static str, Option<&'static str>);

const ROWS: &[Row] = &[
    // Edits in different places (case 16).
    ("1\n2\n3\n4\n5\n", "A\n2\n3\n4\n5\n", "1\n2\n3\n4\nB\n", Some("A\n2\n3\n4\nB\n")),
    ("1\n2\n3\n4\n5\n", "1\n2\n3\nB\n4\n5\n", "2\n3\n4\n5\n", Some("2\n3\nB\n4\n5\n")),
    (
        "1\n2\n3\n4\n5\n6\n7\n",
        "A\n2\n3\n4\n5\n6\nC\n",
        "1\n2\n3\nB\n5\n6\n7\n",
        Some("A\n2\n3\nB\n5\n6\nC\n"),
    ),
    // The same place (case 17).
    ("1\n2\n3\n", "1\nA\n3\n", "1\nB\n3\n", None),
    ("1\n2\n3\n", "1\n3\n", "1\nB\n3\n", None),
    ("1\n2\n3\n", "1\n2\nA\n3\n", "1\n2\nB\n3\n", None),
    ("", "A\n", "B\n", None),
    // The same edit on both sides.
    ("1\n2\n3\n", "1\nA\n3\n", "1\nA\n3\n", Some("1\nA\n3\n")),
    ("1\n2\n3\n4\n5\n", "X\n2\n3\n4\nA\n", "1\n2\nY\n4\nA\n", Some("X\n2\nY\n4\nA\n")),
    // Edits with no line between them are one place, as in git; with one line between they are two.
    ("1\n2\n3\n", "A\n2\n3\n", "1\nB\n3\n", None),
    ("1\n2\n3\n", "A\n2\n3\n", "1\n2\nB\n", Some("A\n2\nB\n")),
    // A chain of touching edits is one place.
    ("1\n2\n3\n4\n5\n", "A\n2\nC\n4\n5\n", "1\nB\nB\n4\n5\n", None),
    // Line ends: kept for each line; a change of them is a change of every line.
    ("1\r\n2\n3\r\n4\n", "1\r\nA\n3\r\n4\n", "1\r\n2\n3\r\nB\r\n", Some("1\r\nA\n3\r\nB\r\n")),
    ("1\n2\n3\n", "1\r\n2\r\n3\r\n", "1\n2\nB\n", None),
    // No final line end.
    ("1\n2\n3", "A\n2\n3", "1\n2\n3\n", Some("A\n2\n3\n")),
    ("1\n2\n3\n", "A\n2\n3\n", "1\n2\n3", Some("A\n2\n3")),
    ("1\n2\n3", "1\n2\n3\n4\n", "1\n2\n3\n", None),
    ("1\n2\n3", "1\n2\n3\n4", "1\n2\n3", Some("1\n2\n3\n4")),
    // Only one side changed, for any bytes.
    ("a\0", "a\0", "b\0", Some("b\0")),
    ("a\0", "b\0", "a\0", Some("b\0")),
    ("a\0", "b\0", "b\0", Some("b\0")),
    // Binary content is not merged.
    ("1\n2\n3\n\0", "A\n2\n3\n\0", "1\n2\nB\n\0", None),
    ("1\n2\n3\n", "A\n2\n3\n", "1\n2\nB\n\0", None),
];

#[test]
fn trial_06_a_partial_merge_is_exact_by_lines() {
    for (base, ours, theirs, expected) in [
        // What ours left unchanged becomes theirs; the same line stays ours.
        ("A\n2\n3\nB\n", "X\n2\n3\nB\n", "1\n2\n3\n4\n", "X\n2\n3\n4\n"),
        // Neighbouring lines are two places.
        ("A\nB\n3\n", "X\nB\n3\n", "1\n2\n3\n", "X\n2\n3\n"),
        // This many lines are ambiguous: the rest of what theirs replaced goes.
        ("A\nB\nC\n5\n", "A\nX\nC\n5\n", "1\n5\n", "X\n5\n"),
        // A line that ours added in the middle stays.
        ("A\nB\n3\n", "A\nX\nB\n3\n", "1\n3\n", "1\nX\n3\n"),
        ("1\n2\n", "1\nX\n2\n", "1\nY\n2\n", "1\nX\n2\n"),
        ("1\n2\n3\n", "1\n3\n", "1\nB\n3\n", "1\n3\n"),
        // Everything that was created goes, except what was written into it.
        ("1\n2\n3\n", "1\nX\n3\n", "", "X\n"),
        ("1\n2\n3", "1\n2\nX", "", "X"),
        ("1\n2\n", "1\n2\n", "", ""),
    ] {
        let merged = merge_texts_over(base.as_bytes(), ours.as_bytes(), theirs.as_bytes());
        let merged = merged.map(|text| String::from_utf8(text).expect("lines"));
        assert_eq!(merged.as_deref(), Some(expected), "{base:?} {ours:?} {theirs:?}");
    }
    assert_eq!(merge_texts_over(b"1\n\0", b"2\n", b"3\n"), None);
}

proptest! {
    #[test]
    fn trial_06_a_partial_merge_equals_a_clean_merge(
        (base, ours, theirs) in (0usize..12).prop_flat_map(|len| {
            let line = || prop_oneof![3 => Just(0u8), 1 => 1u8..4];
            (Just(len), prop::collection::vec(line(), len), prop::collection::vec(line(), len))
        }).prop_map(|(len, ours, theirs)| {
            let base: String = (0..len).map(|at| format!("{at}\n")).collect();
            let side = |name: &str, edits: Vec<u8>| -> String {
                let lines = edits.into_iter().enumerate();
                lines.map(|(at, edit)| match edit {
                    0 => format!("{at}\n"),
                    1 => String::new(),
                    2 => format!("{name}{at}\n"),
                    _ => format!("{at}\n{name}{at}\n{name}\n"),
                }).collect()
            };
            (base, side("o", ours), side("t", theirs))
        })
    ) {
        let [base, ours, theirs] = [&base, &ours, &theirs].map(|text| text.as_bytes());
        let over = merge_texts_over(base, ours, theirs).expect("they are texts");
        if let Some(merged) = merge_texts(base, ours, theirs) {
            prop_assert_eq!(over, merged);
        }
    }
}

#[test]
fn rows() {
    for (base, ours, theirs, expected) in ROWS {
        let merged = merge_texts(base.as_bytes(), ours.as_bytes(), theirs.as_bytes());
        let merged = merged.map(|bytes| String::from_utf8(bytes).unwrap());
        assert_eq!(merged.as_deref(), *expected, "{base:?} {ours:?} {theirs:?}");
    }
}

proptest! {
    #[test]
    fn a_change_of_one_side_alone_is_merged((base, [edit]) in edited::<1>(20)) {
        prop_assert_eq!(merge_texts(&base, &edit, &base), Some(edit.clone()));
        prop_assert_eq!(merge_texts(&base, &base, &edit), Some(edit.clone()));
        prop_assert_eq!(merge_texts(&base, &edit, &edit), Some(edit.clone()));
    }

    #[test]
    fn a_merge_is_the_same_with_its_sides_swapped((base, [ours, theirs]) in edited::<2>(20)) {
        prop_assert_eq!(merge_texts(&base, &ours, &theirs), merge_texts(&base, &theirs, &ours));
    }

    #[test]
    fn edits_far_apart_are_all_kept(
        (above, [top]) in edited::<1>(12),
        (below, [bottom]) in edited::<1>(12),
        middle in text(6),
    ) {
        // Unique lines keep the halves apart.
        let between = [b"\n-- 1\n-- 2\n".as_slice(), &middle, b"\n-- 3\n-- 4\n"].concat();
        let join = |above: &[u8], below: &[u8]| [above, between.as_slice(), below].concat();
        let merged = merge_texts(&join(&above, &below), &join(&top, &below), &join(&above, &bottom));
        prop_assert_eq!(merged, Some(join(&top, &bottom)));
    }

    #[test]
    fn texts_without_common_lines_never_panic(base in text(30), ours in text(30), theirs in text(30)) {
        let merged = merge_texts(&base, &ours, &theirs);
        prop_assert_eq!(merged.is_some(), merge_texts(&base, &theirs, &ours).is_some());
    }
}

#[test]
fn merges_are_the_same_as_those_of_git() {
    let folder = tempfile::tempdir().unwrap();
    let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[7; 32]);
    let mut runner = TestRunner::new_with_rng(ProptestConfig::default(), rng);
    let (mut clean, mut conflicts) = (0, 0);
    for _ in 0..400 {
        let tree = edited::<2>(25).new_tree(&mut runner).unwrap();
        let (base, [ours, theirs]) = tree.current();
        let merged = merge_texts(&base, &ours, &theirs);
        assert_eq!(merged, git_merge_file(folder.path(), &base, &ours, &theirs), "{:?}", tree.current());
        *(if merged.is_some() { &mut clean } else { &mut conflicts }) += 1;
    }
    assert!(clean > 100 && conflicts > 100, "{clean} clean, {conflicts} conflicts: the texts say too little");
}

/// The result of git for three texts; `None`: conflicts.
fn git_merge_file(folder: &Path, base: &[u8], ours: &[u8], theirs: &[u8]) -> Option<Vec<u8>> {
    for (name, bytes) in [("base", base), ("ours", ours), ("theirs", theirs)] {
        std::fs::write(folder.join(name), bytes).expect("a temporary file");
    }
    let output = Command::new("git")
        .args(["merge-file", "--stdout", "--quiet", "ours", "base", "theirs"])
        .current_dir(folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CEILING_DIRECTORIES", folder)
        .output()
        .expect("git is installed");
    let code = output.status.code().expect("git wasn't killed");
    assert!(code < 128, "{}", String::from_utf8_lossy(&output.stderr));
    (code == 0).then_some(output.stdout)
}

/// Random lines of so many kinds: the most expensive to compare.
fn noise(rng: &mut fastrand::Rng, kinds: u32, lines: usize) -> Vec<u8> {
    (0..lines).flat_map(|_| format!("{}\n", rng.u32(..kinds)).into_bytes()).collect()
}

#[test]
fn merges_of_hostile_texts_take_bounded_time() {
    let mut rng = fastrand::Rng::with_seed(1);
    for kinds in [2, 50, 5_000] {
        let [base, ours, theirs] = [(); 3].map(|()| noise(&mut rng, kinds, 20_000));
        assert_eq!(merge_texts(&base, &ours, &theirs), None, "{kinds} kinds of lines");
    }
    // Every other line changed, the worst case for a histogram.
    let every_other = |word: &str| -> Vec<u8> {
        (0..50_000).flat_map(|line| format!("{line}\n{word} {line}\n").into_bytes()).collect()
    };
    assert_eq!(merge_texts(&every_other("a"), &every_other("b"), &every_other("c")), None);
}

#[test]
fn changes_spread_too_far_are_not_compared_and_near_ones_are() {
    let lines = noise(&mut fastrand::Rng::with_seed(2), 10, 100_000);
    let wrapped =
        |top: &str, bottom: &str| [top.as_bytes(), b"\n", &lines, bottom.as_bytes(), b"\n"].concat();
    let (base, spread) = (wrapped("1", "2"), wrapped("A", "B"));
    assert_eq!(merge_texts(&base, &spread, &wrapped("1", "2\n3")), None);
    assert!(Hunks::between(&base, &spread).is_none());
    assert_eq!(merge_texts(&base, &wrapped("A", "2"), &wrapped("1", "B")), Some(spread));
}

#[test]
fn content_that_is_too_large_is_not_compared() {
    let (long, lines) = (vec![b'x'; MAX_TEXT + 1], vec![b'\n'; (1 << 20) + 1]);
    for base in [long, lines] {
        let (ours, theirs) = ([b"a\n", base.as_slice()].concat(), [base.as_slice(), b"\nb"].concat());
        assert_eq!(merge_texts(&base, &ours, &theirs), None);
        assert_eq!(merge_texts(&base, &base, &theirs), Some(theirs), "one side alone is no merge");
    }
}

#[test]
fn stored_texts_are_merged_and_kept() {
    let objects = Arc::new(MemoryObjects::default());
    let put = |text: &str| objects.put(text.as_bytes()).unwrap();
    let (base, ours, theirs, clash) =
        (put("1\n2\n3\n"), put("A\n2\n3\n"), put("1\n2\nB\n"), put("C\n2\n3\n"));
    let mut merges = StoredMerges::new(objects.clone());

    let merged = merges.merge(base, ours, theirs);
    assert_eq!(merged, Some((hash(b"A\n2\nB\n"), 6)));
    assert_eq!(objects.get(&hash(b"A\n2\nB\n")).unwrap(), b"A\n2\nB\n");
    assert_eq!(merges.merge(base, ours, clash), None);
    assert!(merges.take_error().is_none(), "a conflict is no error");
}

#[test]
fn hunks_of_stored_files_are_stored() {
    let objects = Arc::new(MemoryObjects::default());
    let put = |text: &[u8]| objects.put(text).expect("stored");
    let (before, after) = (put(b"1\n2\n3\n4\n5\n6\n7\n8\n9\n"), put(b"one\n2\n3\n4\n5\n6\n7\n8\nnine\n"));
    let (binary, same) = (put(b"\0"), before);
    let mut merges = StoredMerges::new(objects.clone());
    let part = merges.part(before, after, &[2]).expect("there are two");
    assert_eq!(objects.get(&part.0).unwrap(), b"1\n2\n3\n4\n5\n6\n7\n8\nnine\n");
    assert_eq!(part.1, 21);
    assert_eq!(merges.part(before, after, &[3]), Err(NoSuchHunks::Only(2)));
    assert_eq!(merges.part(before, same, &[1]), Err(NoSuchHunks::Only(0)));
    assert_eq!(merges.part(before, binary, &[1]), Err(NoSuchHunks::NoText));
    assert!(merges.take_error().is_none(), "what has no hunks is no error");
    let missing = hash(b"missing");
    assert_eq!(merges.part(missing, after, &[1]), Err(NoSuchHunks::NoText));
    assert!(matches!(merges.take_error(), Some(WorktreeError::Missing(hash)) if hash == missing));
}

#[test]
fn an_error_of_the_object_store_is_reported_and_is_no_conflict() {
    let objects = Arc::new(MemoryObjects::default());
    let there = objects.put(b"1\n").unwrap();
    let (first, second) = (ContentHash([1; 32]), ContentHash([2; 32]));
    let mut merges = StoredMerges::new(objects);
    assert_eq!(merges.merge(there, first, there), None);
    assert_eq!(merges.merge(second, there, there), None);
    let error = merges.take_error();
    assert!(matches!(error, Some(WorktreeError::Missing(hash)) if hash == first), "{error:?}");
    assert!(merges.take_error().is_none());
}
