//! The paths that are covered.

use std::collections::BTreeSet;
use std::fs;

use retake_worktree::{CaptureScope, Permission, Rules, WorktreeError};

use super::{World, file_path, write};

const CACHE_TAG: &str = "Signature: 8a477f597d28d172789f06886806bc55\n# a cache\n";

#[test]
fn ignored_folders_are_not_covered_and_ignored_files_are() {
    let mut world = World::with(|root| {
        write(root, ".gitignore", "target/\n.env\n*.log\n");
        write(root, "target/debug/app", "x");
    });
    world.write(".env", "TOKEN=1");
    world.write("big.log", vec![0; (1 << 20) + 1]);
    world.write("plain.bin", vec![0; (1 << 20) + 1]);
    world.write("target/debug/app", "rebuilt");
    world.write("target/debug/more", "x");
    assert_eq!(world.lines(), ["+ .env", "+ plain.bin"]);
    fs::remove_file(world.at(".env")).unwrap();
    fs::remove_dir_all(world.at("target")).unwrap();
    assert_eq!(world.lines(), ["- .env"]);
    world.write("target/debug/app", "again");
    assert_eq!(world.lines(), Vec::<String>::new());
    assert_eq!(world.uncovered(), ["big.log: ignored_and_large", "target: ignored"]);
}

#[test]
fn nested_ignore_files_override_outer_ones() {
    let covered = |files: &[(&str, &str)], folder: &str| {
        let world = World::with(|root| {
            for (path, text) in files {
                write(root, path, text);
            }
            write(root, &format!("{folder}/file"), "x");
        });
        world.paths().contains(&format!("{folder}/file"))
    };
    type Row<'a> = (&'a [(&'a str, &'a str)], &'a str, bool);
    let rows: &[Row<'_>] = &[
        (&[(".gitignore", "out/\n")], "out", false),
        (&[(".gitignore", "out/\n")], "a/out", false),
        (&[(".gitignore", "/out\n")], "a/out", true),
        (&[(".gitignore", "a/out\n")], "a/out", false),
        (&[(".gitignore", "out\n!out\n")], "out", true),
        (&[(".gitignore", "out/\n"), ("a/.gitignore", "!out/\n")], "a/out", true),
        (&[(".gitignore", "!out/\n"), ("a/.gitignore", "out/\n")], "a/out", false),
        (&[("a/.gitignore", "/out\n")], "a/out", false),
        (&[("a/.gitignore", "/out\n")], "b/out", true),
        (&[("a/.gitignore", "out\n"), (".ignore", "!out\n")], "a/out", true),
        (&[(".ignore", "out\n"), (".retakeignore", "!out\n")], "out", true),
        (&[(".retakeignore", "out\n"), (".gitignore", "!out\n")], "out", false),
        (&[(".gitignore", "\u{feff}out\r\n[\n")], "out", false),
        (&[(".gitignore", "out/\n")], ".git-not/out-not", true),
        (&[], "node_modules", false),
        (&[("a/CACHEDIR.TAG", CACHE_TAG)], "a", false),
        (&[("a/CACHEDIR.TAG", "Signature: none\n")], "a", true),
        (&[("a/pyvenv.cfg", "")], "a", false),
        (&[("CACHEDIR.TAG", CACHE_TAG)], "a", true),
    ];
    for (files, folder, expected) in rows {
        assert_eq!(covered(files, folder), *expected, "{files:?} {folder}");
    }
}

#[test]
fn files_of_git_are_never_covered() {
    let world = World::with(|root| {
        write(root, ".git/HEAD", "ref: refs/heads/main");
        write(root, "sub/.GIT/config", "x");
        write(root, "module/.git", "gitdir: elsewhere");
        write(root, "module/file", "x");
        write(root, "bare.git/HEAD", "ref: refs/heads/main");
        fs::create_dir_all(root.join("bare.git/objects")).unwrap();
        fs::create_dir_all(root.join("bare.git/refs")).unwrap();
    });
    assert_eq!(world.paths(), ["module", "module/file", "sub"]);
    assert_eq!(world.uncovered(), ["bare.git: repository"]);
}

#[test]
fn a_repository_that_is_created_around_files_deletes_none() {
    let mut world = World::with(|root| write(root, "a/file", "x"));
    world.write("a/HEAD", "ref: refs/heads/main");
    fs::create_dir_all(world.at("a/objects")).unwrap();
    fs::create_dir_all(world.at("a/refs")).unwrap();
    assert_eq!(world.lines(), ["lost a: repository"]);
    assert_eq!(world.paths(), Vec::<String>::new());
}

#[test]
fn a_very_large_addition_needs_a_confirmation() {
    let rules = Rules { ask_files: 3, ask_bytes: 100, ..Rules::default() };
    let mut world = World::ruled(rules, |_| {});
    world.write("large", [0; 101]);
    let asked = world.look().unwrap_err();
    assert!(matches!(asked, WorktreeError::TooMuch { files: 1, bytes: 101 }), "{asked}");
    fs::remove_file(world.at("large")).unwrap();
    for name in ["a", "b", "c", "d"] {
        world.write(name, "x");
    }
    let asked = world.look().unwrap_err();
    assert!(matches!(asked, WorktreeError::TooMuch { files: 4, bytes: 4 }), "{asked}");
    let capture = world.tree.capture(&CaptureScope::Whole, Permission::Granted, &|_| ()).unwrap();
    assert_eq!(super::lines(&world.accept(capture)), ["+ a", "+ b", "+ c", "+ d"]);
}

#[test]
fn always_covered_paths_are_covered_in_folders_that_are_not() {
    let always = BTreeSet::from([file_path("target/gen/made.rs"), file_path("huge.log")]);
    let rules = Rules { always, ..Rules::default() };
    let mut world = World::ruled(rules, |root| {
        write(root, ".gitignore", "target/\n*.log\n");
        write(root, "target/other", "x");
    });
    world.write("target/gen/made.rs", "1");
    world.write("huge.log", vec![0; 2 << 20]);
    assert_eq!(world.lines(), ["+ huge.log", "+ target/gen/made.rs"]);
    world.write("target/gen/made.rs", "2");
    world.write("target/gen/other.rs", "2");
    assert_eq!(world.lines(), ["~ target/gen/made.rs"]);
    assert_eq!(world.kept("target/gen/made.rs"), b"2");
    world.reopen();
    fs::remove_dir_all(world.at("target")).unwrap();
    assert_eq!(world.lines(), ["- target/gen/made.rs"]);
    world.write("target/gen/made.rs", "3");
    assert_eq!(world.lines(), ["+ target/gen/made.rs"]);
    // Its folder becomes covered, and the file was covered all the time.
    world.write(".gitignore", "");
    world.write("target/gen/made.rs", "4");
    assert_eq!(world.lines(), ["~ .gitignore", "~ target/gen/made.rs", "gained target"]);
}
