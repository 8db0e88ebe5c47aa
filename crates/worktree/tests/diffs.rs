//! Two versions of a path as a diff: in words, and in lines that `git apply` accepts.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use proptest::prelude::*;
use retake_core::{ContentHash, DiffHunks, FilePath, Record};
use retake_worktree::{
    Diff, LineCounts, MAX_SHOWN, MAX_TEXT, MemoryObjects, Objects, Side, WorktreeError, diff, hash, unified,
};

use crate::texts::{edited, text};

fn path(name: &str) -> FilePath {
    FilePath::new(name.as_bytes()).expect("a good path")
}

fn file(bytes: &[u8], mode: u16) -> Record {
    Record::File { hash: hash(bytes), len: bytes.len() as u64, mode }
}

fn link(target: &[u8]) -> Record {
    Record::Link { target: Arc::from(target) }
}

/// A version with this record, and these bytes in the store.
fn version<'a>(path: &'a FilePath, record: &'a Record, bytes: &'a [u8]) -> Side<'a> {
    Side { path, record: Some(record), bytes: Some(bytes) }
}

/// The diff of two texts in the same file.
fn of_texts(before: &[u8], after: &[u8]) -> Diff {
    let (name, old, new) = (path("f"), file(before, 0o644), file(after, 0o644));
    unified(version(&name, &old, before), version(&name, &new, after), &DiffHunks::All)
}

/// The diff of two versions from a store, as people see it.
fn shown(before: Option<(&Record, &[u8])>, after: Option<(&Record, &[u8])>) -> String {
    let objects = MemoryObjects::default();
    before.iter().chain(&after).for_each(|(_, bytes)| assert!(objects.put(bytes).is_ok()));
    let name = path("src/a.rs");
    let records = (before.map(|(record, _)| record), after.map(|(record, _)| record));
    let diff = diff(&objects, (&name, records.0), (&name, records.1), &DiffHunks::All)
        .expect("all of it is in the store");
    String::from_utf8(diff.to_bytes()).expect("it is UTF-8")
}

#[test]
fn a_change_of_lines() {
    let (before, after) = (b"1\n2\n3\n4\n5\n6\n".as_slice(), b"1\n2\n3\n4\nfive\n6".as_slice());
    let diff = shown(Some((&file(before, 0o644), before)), Some((&file(after, 0o755), after)));
    let expected = "mode 644 became 755\n--- a/src/a.rs\n+++ b/src/a.rs\n@@ -2,5 +2,5 @@\n 2\n 3\n 4\n-5\n-6\n+five\n+6\n\
                    \\ No newline at end of file\n";
    assert_eq!(diff, expected);
    assert_eq!(of_texts(before, after).counts, Some(LineCounts { added: 2, removed: 2 }));
}

#[test]
fn changes_without_lines_are_described_in_words() {
    let (text, empty) = (file(b"1\n", 0o644), file(b"", 0o600));
    let (binary, other) = (file(b"\0a", 0o644), file(b"\0ab", 0o644));
    let made = "new file, mode 644\n--- /dev/null\n+++ b/src/a.rs\n@@ -0,0 +1 @@\n+1\n";
    let removed = "removed file, mode 644\n--- a/src/a.rs\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n";
    let became = "file, mode 644 became link to \"x\"\n--- a/src/a.rs\n+++ /dev/null\n@@ -1 +0,0 @@\n-1\n";
    let folder = |mode| Record::Folder { mode };
    let (text, empty) = ((&text, b"1\n".as_slice()), (&empty, b"".as_slice()));
    let (binary, other) = ((&binary, b"\0a".as_slice()), (&other, b"\0ab".as_slice()));
    for (before, after, expected) in [
        (None, Some(text), made),
        (Some(text), None, removed),
        (Some(text), Some((&link(b"x"), b"".as_slice())), became),
        (None, Some(empty), "new file, mode 600\n"),
        (Some(text), Some(text), ""),
        (None, None, ""),
        (Some(binary), Some(other), "binary, 2 bytes became 3 bytes\n"),
        (None, Some(binary), "new file, mode 644\nbinary, 2 bytes\n"),
        (
            Some((&link(b"a"), b"")),
            Some((&link(b"b\n\x1b"), b"")),
            "link to \"a\" became link to \"b\\n\\u{1b}\"\n",
        ),
        (Some((&folder(0o755), b"")), Some((&folder(0o700), b"")), "mode 755 became 700\n"),
        (Some((&folder(0o755), b"")), None, "removed folder, mode 755\n"),
    ] {
        assert_eq!(shown(before, after), expected);
    }
}

#[test]
fn a_rename_names_both_paths_and_quotes_what_is_special() {
    let (before, after) = (path("old"), path("new\n+++ \"b\""));
    let (old, new) = (file(b"1\n", 0o644), file(b"2\n", 0o644));
    let diff = unified(version(&before, &old, b"1\n"), version(&after, &new, b"2\n"), &DiffHunks::All);
    let expected = "renamed from old to new\\n+++ \"b\"\n--- a/old\n+++ \"b/new\\012+++ \\\"b\\\"\"\n@@ -1 +1 @@\n-1\n+2\n";
    assert_eq!(String::from_utf8(diff.to_bytes()).unwrap(), expected);
}

#[test]
fn objects_that_are_too_large_for_a_diff_are_not_read() {
    let objects = MemoryObjects::default();
    let small = file(b"1\n", 0o644);
    let large = Record::File { hash: ContentHash([1; 32]), len: MAX_TEXT as u64 + 1, mode: 0o644 };
    let name = path("f");
    let diff = |before, after| diff(&objects, (&name, Some(before)), (&name, Some(after)), &DiffHunks::All);
    let words = String::from_utf8(diff(&small, &large).unwrap().to_bytes()).unwrap();
    assert_eq!(words, "too large to show, 2 bytes became 16777217 bytes\n");

    let missing = Record::File { hash: ContentHash([2; 32]), len: 5, mode: 0o644 };
    assert!(diff(&missing, &large).is_ok());
    assert!(matches!(diff(&small, &missing), Err(WorktreeError::Missing(_))));
}

#[test]
fn a_diff_that_is_too_long_is_counted_and_not_shown() {
    let lines = MAX_SHOWN / 30;
    let text = |word: &str| -> Vec<u8> {
        (0..lines).flat_map(|line| format!("{word}, line {line:20}\n").into_bytes()).collect()
    };
    let diff = of_texts(&text("before"), &text("after"));
    assert_eq!(diff.counts, Some(LineCounts { added: lines, removed: lines }));
    assert!(diff.text.is_empty());
    assert!(diff.remarks[0].to_string().starts_with("too large to show, "), "{:?}", diff.remarks);
}

#[test]
fn a_long_new_file_is_counted() {
    let lines = b"x\n".repeat(300_000);
    let counts = LineCounts { added: 300_000, removed: 0 };
    assert_eq!(of_texts(b"", &lines).counts, Some(counts));
    assert_eq!(of_texts(b"y\n", &[b"y\n", lines.as_slice()].concat()).counts, Some(counts));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn git_applies_every_diff((before, [after]) in edited::<1>(60)) {
        prop_assert_eq!(git_apply(&before, &of_texts(&before, &after)), after);
    }

    #[test]
    fn git_applies_diffs_of_texts_without_common_lines(before in text(30), after in text(30)) {
        prop_assert_eq!(git_apply(&before, &of_texts(&before, &after)), after);
    }
}

/// The result of git for a file and a diff of it.
fn git_apply(before: &[u8], diff: &Diff) -> Vec<u8> {
    if diff.text.is_empty() {
        return before.to_vec();
    }
    let folder = tempfile::tempdir().expect("a temporary file");
    std::fs::write(folder.path().join("f"), before).expect("a temporary file");
    std::fs::write(folder.path().join("diff"), &diff.text).expect("a temporary file");
    git(folder.path(), &["apply", "--whitespace=nowarn", "--unidiff-zero", "diff"]);
    std::fs::read(folder.path().join("f")).expect("a temporary file")
}

fn git(folder: &Path, arguments: &[&str]) {
    let output = Command::new("git")
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CEILING_DIRECTORIES", folder)
        .output()
        .expect("git is installed");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
