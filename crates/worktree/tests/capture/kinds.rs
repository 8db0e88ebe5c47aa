//! The possible kinds of files in a folder, and their possible changes.

use std::fs;
use std::os::unix::fs::symlink;

use retake_core::Record;

use super::World;

#[test]
fn files_of_any_bytes_are_captured_exactly() {
    let mut world = World::new();
    let contents: [(&str, &[u8]); 5] = [
        ("binary", &[0, 255, 10, 13, 0]),
        ("gb18030", &[0xc4, 0xe3, 0xba, 0xc3]),
        ("empty", b""),
        ("crlf", b"a\r\nb\r\n"),
        ("large", &[7; 3_000_000]),
    ];
    for (name, bytes) in contents {
        world.write(name, bytes);
    }
    assert_eq!(world.lines(), ["+ binary", "+ crlf", "+ empty", "+ gb18030", "+ large"]);
    for (name, bytes) in contents {
        assert_eq!(world.kept(name), bytes, "{name}");
    }
    world.write("binary", b"");
    assert_eq!(world.lines(), ["~ binary"]);
    assert_eq!(world.kept("binary"), b"");
}

#[test]
fn an_edit_of_the_same_size_right_after_a_capture_is_seen() {
    let mut world = World::with(|root| super::write(root, "a", "0000"));
    for round in 1..80 {
        world.write("a", format!("{round:04}"));
        assert_eq!(world.lines(), ["~ a"], "round {round}");
    }
}

#[test]
fn links_are_captured_by_their_target_and_never_followed() {
    let mut world = World::with(|root| super::write(root, "real/file", "x"));
    let outside = world.dir.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("secret"), "s").unwrap();
    symlink("real", world.at("to-folder")).unwrap();
    symlink(&outside, world.at("out")).unwrap();
    symlink("nowhere", world.at("dangling")).unwrap();
    assert_eq!(world.lines(), ["+ dangling", "+ out", "+ to-folder"]);
    assert_eq!(world.record("dangling"), Some(Record::Link { target: b"nowhere".as_slice().into() }));
    fs::remove_file(world.at("dangling")).unwrap();
    symlink("real/file", world.at("dangling")).unwrap();
    fs::remove_file(world.at("to-folder")).unwrap();
    world.write("to-folder", "now a file");
    assert_eq!(world.lines(), ["~ dangling", "~ to-folder"]);
    assert!(!world.paths().iter().any(|path| path.contains("secret")));
}

#[test]
fn only_permission_bits_that_are_restored_are_captured() {
    let mut world = World::with(|root| {
        super::write(root, "run.sh", "x");
        fs::create_dir(root.join("folder")).unwrap();
    });
    world.mode("run.sh", 0o755);
    world.mode("folder", 0o700);
    assert_eq!(world.lines(), ["~ folder", "~ run.sh"]);
    assert!(matches!(world.record("run.sh"), Some(Record::File { mode: 0o755, .. })));
    world.mode("run.sh", 0o4755);
    assert_eq!(world.lines(), Vec::<String>::new(), "setuid is no part of a record");
    assert!(matches!(world.record("run.sh"), Some(Record::File { mode: 0o755, .. })));
}

#[test]
fn a_tree_is_removed_with_its_empty_folders_and_restored() {
    let mut world = World::with(|root| {
        super::write(root, "tree/a/b/file", "x");
        fs::create_dir_all(root.join("tree/empty/inner")).unwrap();
    });
    fs::rename(world.at("tree"), world.dir.path().join("aside")).unwrap();
    let gone = ["tree", "tree/a", "tree/a/b", "tree/a/b/file", "tree/empty", "tree/empty/inner"];
    assert_eq!(world.lines(), gone.map(|path| format!("- {path}")));
    assert_eq!(world.paths(), Vec::<String>::new());
    fs::rename(world.dir.path().join("aside"), world.at("tree")).unwrap();
    assert_eq!(world.lines(), gone.map(|path| format!("+ {path}")));
}

#[test]
fn a_change_of_kind_is_captured() {
    let mut world = World::with(|root| {
        super::write(root, "a/inner/file", "x");
        super::write(root, "b", "x");
    });
    fs::remove_dir_all(world.at("a")).unwrap();
    world.write("a", "now a file");
    fs::remove_file(world.at("b")).unwrap();
    world.write("b/inner/file", "now a folder");
    let changes = ["~ a", "- a/inner", "- a/inner/file", "~ b", "+ b/inner", "+ b/inner/file"];
    assert_eq!(world.lines(), changes);
    assert_eq!(world.lines(), Vec::<String>::new());
}

#[test]
fn a_hard_link_is_noted_and_seen_under_both_names() {
    let mut world = World::with(|root| super::write(root, "one", "x"));
    fs::hard_link(world.at("one"), world.at("two")).unwrap();
    assert_eq!(world.lines(), ["+ two"]);
    assert_eq!(world.tree.hard_links(), ["one", "two"].map(super::file_path));
    world.write("two", "changed in place");
    assert_eq!(world.lines(), ["~ one", "~ two"]);
}

#[test]
fn rewind_case_11_a_30_mb_file_is_covered_and_a_200_mb_one_is_named() {
    let mut world = World::new();
    let bytes = vec![b'x'; 30 << 20];
    world.write("thirty", &bytes);
    fs::File::create(world.at("two-hundred")).unwrap().set_len(200 << 20).unwrap();
    assert_eq!(world.lines(), ["+ thirty"]);
    assert_eq!(world.kept("thirty"), bytes);
    assert_eq!(world.uncovered(), ["two-hundred: too_large"]);
}
