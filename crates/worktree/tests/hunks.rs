//! A change as hunks, each of which can be applied alone (case 37).

use std::fmt::Write;

use proptest::prelude::*;
use retake_core::{ContentHash, DiffHunks, FilePath, Record};
use retake_worktree::{Hunks, Line, Side, unified};

use crate::texts::{edited, text};

/// Twenty numbered lines, with some replaced.
fn numbered(replaced: &[(usize, &str)]) -> String {
    (1..=20).fold(String::new(), |mut text, number| {
        match replaced.iter().find(|(line, _)| *line == number) {
            Some((_, line)) => text.push_str(line),
            None => writeln!(text, "{number}").expect("a string takes everything"),
        }
        text
    })
}

#[test]
fn one_change_is_one_hunk() {
    let before = numbered(&[]);
    let after = numbered(&[(2, "two\n"), (10, ""), (19, "19\nand more\n")]);
    let hunks = Hunks::between(before.as_bytes(), after.as_bytes()).unwrap();
    let ranges: Vec<_> =
        hunks.list().iter().map(|hunk| (hunk.number, hunk.before.clone(), hunk.after.clone())).collect();
    assert_eq!(ranges, [(1, 0..5, 0..5), (2, 6..13, 6..12), (3, 16..20, 15..20)]);

    let only = |numbers: &[usize]| String::from_utf8(hunks.only(numbers).unwrap()).unwrap();
    assert_eq!(only(&[2]), numbered(&[(10, "")]));
    assert_eq!(only(&[3, 1, 3]), numbered(&[(2, "two\n"), (19, "19\nand more\n")]));

    assert_eq!(hunks.only(&[4]), None, "there are three");
    assert_eq!(hunks.only(&[1, 0]), None, "they are numbered from 1");
}

#[test]
fn a_diff_of_selected_hunks_leads_to_the_text_with_these_hunks() {
    let before = numbered(&[]);
    let after = numbered(&[(2, "two\n"), (10, ""), (19, "19\nand more\n")]);
    let hunks = Hunks::between(before.as_bytes(), after.as_bytes()).unwrap();
    let path = FilePath::new(b"f").unwrap();
    let record = |hash| Record::File { hash: ContentHash([hash; 32]), len: 1, mode: 0o644 };
    let diff = |after: &[u8], shown| {
        let side = |record, bytes| Side { path: &path, record: Some(record), bytes: Some(bytes) };
        unified(side(&record(1), before.as_bytes()), side(&record(2), after), &shown)
    };
    for numbers in [vec![2], vec![1, 3], vec![3], vec![1, 2, 3]] {
        let part = hunks.only(&numbers).unwrap();
        let plain = diff(&part, DiffHunks::All);
        let shown = diff(after.as_bytes(), DiffHunks::Only(numbers.clone()));
        let mut text = String::from_utf8(shown.text).unwrap();
        for number in &numbers {
            let label = format!(" hunk {number} of 3\n");
            assert!(text.contains(&label), "{text}");
            text = text.replace(&label, "\n");
        }
        assert_eq!((text.as_bytes(), shown.counts, shown.hunks), (&*plain.text, plain.counts, 3));
    }
    let all = String::from_utf8(diff(after.as_bytes(), DiffHunks::Numbered).text).unwrap();
    assert!(all.contains("@@ -1,5 +1,5 @@ hunk 1 of 3\n"), "{all}");
    let one = diff(&hunks.only(&[1]).unwrap(), DiffHunks::Numbered);
    assert!(!String::from_utf8(one.text).unwrap().contains("hunk"), "one alone needs no number");
}

#[test]
fn a_hunk_shows_its_lines_in_order() {
    let (before, after) = ("1\r\n2\n3", "1\r\ntwo\n3\n");
    let hunks = Hunks::between(before.as_bytes(), after.as_bytes()).unwrap();
    let lines = hunks.lines(&hunks.list()[0]);
    let expected = [
        Line::Same(b"1\r\n"),
        Line::Removed(b"2\n"),
        Line::Removed(b"3"),
        Line::Added(b"two\n"),
        Line::Added(b"3\n"),
    ];
    assert_eq!(lines, expected);
}

#[test]
fn changes_near_each_other_are_one_hunk() {
    let before = numbered(&[]);
    for (line, hunks) in [(9, 1), (10, 2)] {
        let after = numbered(&[(2, "x\n"), (line, "y\n")]);
        assert_eq!(Hunks::between(before.as_bytes(), after.as_bytes()).unwrap().list().len(), hunks);
    }
}

#[test]
fn binary_content_has_no_hunks() {
    assert!(Hunks::between(b"a\0", b"b").is_none());
    assert!(Hunks::between(b"a", b"\0b").is_none());
}

proptest! {
    #[test]
    fn every_change_is_after_the_apply_and_none_before((before, [after]) in edited::<1>(60)) {
        check(&before, &after)?;
    }

    #[test]
    fn texts_without_common_lines_have_hunks(before in text(40), after in text(40)) {
        check(&before, &after)?;
    }
}

/// The rules for the hunks of any two texts.
fn check(before: &[u8], after: &[u8]) -> Result<(), TestCaseError> {
    let hunks = Hunks::between(before, after).expect("they are texts");
    let all: Vec<_> = hunks.list().iter().map(|hunk| hunk.number).collect();
    prop_assert_eq!(all.clone(), (1..=all.len()).collect::<Vec<_>>());
    prop_assert_eq!(hunks.only(&all), Some(after.to_vec()));
    prop_assert_eq!(hunks.only(&[]), Some(before.to_vec()));
    prop_assert_eq!(all.is_empty(), before == after);

    for hunk in hunks.list() {
        let with = hunks.only(&[hunk.number]).expect("its number");
        let rest = Hunks::between(&with, after).expect("they are texts");
        prop_assert!(with != before && rest.list().len() < all.len());
        let lines = hunks.lines(hunk);
        let of = |after: bool| -> usize {
            let mine = |line: &&Line<'_>| match line {
                Line::Same(_) => true,
                Line::Removed(_) => !after,
                Line::Added(_) => after,
            };
            lines.iter().filter(mine).count()
        };
        prop_assert_eq!((of(false), of(true)), (hunk.before.len(), hunk.after.len()));
    }
    Ok(())
}
