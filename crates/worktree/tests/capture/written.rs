//! Writes of tools and applies, reported to the index.

use std::fs;

use retake_core::{FileChange, Record};
use retake_worktree::{Objects as _, WriteSource, hash};

use super::{World, file_path, lines, write};

const NOTHING: [&str; 0] = [];

fn file(bytes: &str) -> Option<Record> {
    Some(Record::File { hash: hash(bytes.as_bytes()), len: bytes.len() as u64, mode: 0o644 })
}

fn change(path: &str, before: Option<Record>, after: Option<Record>) -> FileChange {
    FileChange { path: file_path(path), before, after }
}

impl World {
    fn note(&mut self, noting: WriteSource, changes: &[FileChange]) -> Vec<String> {
        let capture = self.tree.note(changes, noting).unwrap();
        lines(&self.accept(capture))
    }
}

#[test]
fn a_write_of_a_tool_is_not_reported_by_the_next_capture() {
    let mut world = World::with(|root| write(root, "a", "1"));
    assert_eq!(world.tree.keep(&file_path("a")).unwrap(), file("1"));
    world.write("a", "2");
    world.write("b", "new");
    let written = [change("a", file("1"), file("2")), change("b", None, file("new"))];
    assert_eq!(world.note(WriteSource::Tool, &written), NOTHING);
    assert_eq!(
        world.note(WriteSource::Tool, &written),
        NOTHING,
        "whoever notes may have died right after it"
    );
    world.reopen();
    assert_eq!(world.lines(), NOTHING);
    assert_eq!(world.kept("a"), b"2");
    fs::remove_file(world.at("b")).unwrap();
    assert_eq!(world.note(WriteSource::Tool, &[change("b", file("new"), None)]), NOTHING);
    assert_eq!(world.lines(), NOTHING);
}

#[test]
fn foreign_writes_before_and_after_a_tool_are_found() {
    let mut world = World::with(|root| write(root, "a", "1"));
    world.write("a", "by the user");
    world.tree.keep(&file_path("a")).unwrap();
    world.objects.put(b"by the tool").unwrap();
    world.write("a", "by the user again");
    let written = [change("a", file("by the user"), file("by the tool"))];
    let capture = world.tree.note(&written, WriteSource::Tool).unwrap();
    assert_eq!(world.accept(capture).changes, [change("a", file("1"), file("by the user"))]);
    let capture = world.look().unwrap();
    let later = change("a", file("by the tool"), file("by the user again"));
    assert_eq!(world.accept(capture).changes, [later]);
}

#[test]
fn a_reported_write_that_the_disk_does_not_confirm_is_ignored() {
    let mut world = World::with(|root| write(root, "a", "1"));
    assert_eq!(world.note(WriteSource::Tool, &[change("a", file("1"), file("never written"))]), NOTHING);
    world.write("a", "2");
    let capture = world.look().unwrap();
    assert_eq!(world.accept(capture).changes, [change("a", file("1"), file("2"))]);
}

#[test]
fn rewind_case_12_a_file_that_a_tool_wrote_is_covered_from_then_on() {
    let mut world = World::with(|root| {
        write(root, ".gitignore", "target/\n");
        write(root, "target/other", "x");
    });
    world.write("target/made", "1");
    assert_eq!(world.note(WriteSource::Tool, &[change("target/made", None, file("1"))]), NOTHING);
    assert_eq!(world.lines(), NOTHING);
    world.reopen();
    world.write("target/made", "2");
    world.write("target/other", "2");
    assert_eq!(world.lines(), ["~ target/made"]);
    // A folder that the tool created is covered, and new; the file in it is not new any more.
    world.write("fresh/made", "1");
    assert_eq!(world.note(WriteSource::Tool, &[change("fresh/made", None, file("1"))]), NOTHING);
    assert_eq!(world.lines(), ["+ fresh"]);
}

#[test]
fn an_apply_moves_folders_links_and_files() {
    let mut world = World::with(|root| write(root, "old/inner/file", "x"));
    fs::remove_dir_all(world.at("old")).unwrap();
    world.write("new/file", "x");
    std::os::unix::fs::symlink("file", world.at("new/link")).unwrap();
    world.mode("new", 0o755);
    let folder = || Some(Record::Folder { mode: 0o755 });
    let link = Some(Record::Link { target: b"file".as_slice().into() });
    let written = [
        change("old", folder(), None),
        change("old/inner", folder(), None),
        change("old/inner/file", file("x"), None),
        change("new", None, folder()),
        change("new/file", None, file("x")),
        change("new/link", None, link),
    ];
    assert_eq!(world.note(WriteSource::Apply, &written), NOTHING);
    world.reopen();
    assert_eq!(world.lines(), NOTHING);
    assert_eq!(world.paths(), ["new", "new/file", "new/link"]);
}

#[test]
fn a_single_path_is_read_in_its_current_state() {
    let world = World::with(|root| write(root, "folder/a", "1"));
    world.write("folder/a", "2");
    std::os::unix::fs::symlink("folder", world.at("link")).unwrap();
    assert_eq!(world.tree.record(&file_path("folder/a")).unwrap(), file("2"));
    assert!(!world.objects.contains(&hash(b"2")));
    assert_eq!(world.tree.keep(&file_path("folder/a")).unwrap(), file("2"));
    assert!(world.objects.contains(&hash(b"2")));
    assert_eq!(world.tree.record(&file_path("nowhere/a")).unwrap(), None);
    assert_eq!(world.tree.record(&file_path("link/a")).unwrap(), None, "a link is never followed");
    let link = Some(Record::Link { target: b"folder".as_slice().into() });
    assert_eq!(world.tree.record(&file_path("link")).unwrap(), link);
    fs::File::create(world.at("large")).unwrap().set_len(65 << 20).unwrap();
    let refused = world.tree.record(&file_path("large")).unwrap_err().to_string();
    assert_eq!(refused, "large is not covered: too_large");
}
