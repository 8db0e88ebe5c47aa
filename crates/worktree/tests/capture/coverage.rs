//! The rule: a change needs its path covered on both sides. An unknown state is never a deletion or a creation.

use std::fs;

use super::{World, lines, without_privilege, write};

const NOTHING: [&str; 0] = [];

#[test]
fn a_line_removed_from_an_ignore_file_reports_no_creation() {
    let mut world = World::with(|root| {
        write(root, ".gitignore", "data/\n*.tmp\n");
        write(root, "data/mine", "x");
        write(root, "data/deep/mine", "x");
        write(root, "large.tmp", vec![0; 2 << 20]);
    });
    world.write(".gitignore", "");
    world.write("data/new", "x");
    assert_eq!(world.lines(), ["~ .gitignore", "gained data", "gained large.tmp"]);
    world.write("data/deep/mine", "y");
    assert_eq!(world.lines(), ["~ data/deep/mine"]);
}

#[test]
fn a_line_added_to_an_ignore_file_reports_only_real_deletions() {
    let mut world = World::with(|root| {
        for name in ["same", "edited", "removed"] {
            write(root, &format!("data/deep/{name}"), name);
        }
        write(root, "large.tmp", vec![0; 2 << 20]);
    });
    world.write(".gitignore", "data/\n*.tmp\n");
    world.write("data/deep/edited", "by the same call");
    world.write("data/made", "x");
    fs::remove_file(world.at("data/deep/removed")).unwrap();
    assert_eq!(
        world.lines(),
        [
            "+ .gitignore",
            "~ data/deep/edited",
            "- data/deep/removed",
            "+ data/made",
            "lost data: ignored",
            "lost large.tmp: ignored_and_large",
        ]
    );
    world.write("data/deep/edited", "later");
    assert_eq!(world.lines(), NOTHING);
}

#[test]
fn an_ignore_file_that_is_removed_or_created_with_its_folder_counts() {
    let mut world = World::with(|root| {
        write(root, "a/.gitignore", "out/\n");
        write(root, "a/out/file", "x");
    });
    // Files that a new folder's own ignore file excludes were never covered.
    world.write("b/.gitignore", "out/\n");
    world.write("b/out/file", "x");
    world.write("b/file", "x");
    fs::remove_file(world.at("a/.gitignore")).unwrap();
    assert_eq!(world.lines(), ["- a/.gitignore", "+ b", "+ b/.gitignore", "+ b/file", "gained a/out"]);
}

#[test]
fn a_marker_in_a_folder_ends_its_coverage() {
    let mut world = World::with(|root| write(root, "cache/file", "x"));
    world.write("cache/CACHEDIR.TAG", "Signature: 8a477f597d28d172789f06886806bc55");
    world.write("cache/file", "y");
    assert_eq!(world.lines(), ["+ cache/CACHEDIR.TAG", "~ cache/file", "lost cache: cache_folder"]);
    fs::remove_file(world.at("cache/CACHEDIR.TAG")).unwrap();
    assert_eq!(world.lines(), ["gained cache"]);
}

#[test]
fn a_file_that_grows_over_the_limit_is_not_deleted() {
    let mut world = World::with(|root| write(root, "data", "x"));
    fs::File::create(world.at("data")).unwrap().set_len(65 << 20).unwrap();
    assert_eq!(world.lines(), ["lost data: too_large"]);
    world.write("data", "small again");
    assert_eq!(world.lines(), ["gained data"]);
    fs::remove_file(world.at("data")).unwrap();
    assert_eq!(world.lines(), ["- data"]);
}

#[test]
fn changed_limits_change_only_the_coverage() {
    let mut world = World::with(|root| write(root, "data", "12345"));
    world.rules.max_file = 4;
    world.reopen();
    world.write("data", "54321");
    assert_eq!(world.lines(), ["~ data", "lost data: too_large"]);
    world.rules.max_file = 5;
    world.reopen();
    assert_eq!(world.lines(), ["gained data"]);
}

#[test]
fn unreadable_files_are_unknown_and_compared_later() {
    let mut world = World::with(|root| {
        write(root, "locked/deep/same", "x");
        write(root, "locked/deep/edited", "x");
        write(root, "locked/deep/removed", "x");
        write(root, "file", "x");
    });
    world.mode("locked", 0o000);
    world.mode("file", 0o000);
    without_privilege(|| {
        assert_eq!(world.lines(), ["lost file: unreadable", "lost locked: unreadable"]);
        assert_eq!(world.uncovered(), ["file: unreadable", "locked: unreadable"]);
        world.reopen();
        assert_eq!(world.lines(), NOTHING);
    });
    world.mode("locked", 0o755);
    world.mode("file", 0o644);
    assert_eq!(world.lines(), ["gained file", "gained locked"], "all as it was");

    world.mode("locked/deep", 0o000);
    without_privilege(|| assert_eq!(world.lines(), ["lost locked/deep: unreadable"]));
    world.mode("locked/deep", 0o755);
    world.write("locked/deep/edited", "while nobody could look");
    fs::remove_file(world.at("locked/deep/removed")).unwrap();
    assert_eq!(
        world.lines(),
        ["?~ locked/deep/edited", "?- locked/deep/removed", "gained locked/deep"],
        "nobody can say during which call"
    );
}

#[test]
fn a_folder_that_may_be_listed_but_not_entered_is_unknown_as_a_whole() {
    let mut world = World::with(|root| write(root, "listed/file", "x"));
    world.mode("listed", 0o444);
    without_privilege(|| assert_eq!(world.lines(), ["lost listed: unreadable"]));
    world.mode("listed", 0o755);
    assert_eq!(world.lines(), ["gained listed"]);
}

#[test]
fn the_removal_of_an_unreadable_folder_is_late() {
    let mut world = World::with(|root| write(root, "locked/file", "x"));
    world.mode("locked", 0o000);
    without_privilege(|| assert_eq!(world.lines(), ["lost locked: unreadable"]));
    world.mode("locked", 0o755);
    fs::remove_dir_all(world.at("locked")).unwrap();
    assert_eq!(world.lines(), ["?- locked", "?- locked/file"]);
}

#[test]
fn special_files_are_named_and_not_covered() {
    let mut world = World::with(|root| {
        write(root, "pipe", "x");
        write(root, "folder/file", "x");
    });
    for path in ["pipe", "folder"] {
        let _ = fs::remove_file(world.at(path)).or_else(|_| fs::remove_dir_all(world.at(path)));
        let at = world.at(path);
        rustix::fs::mknodat(rustix::fs::CWD, &at, rustix::fs::FileType::Fifo, 0o644.into(), 0).unwrap();
    }
    let _socket = std::os::unix::net::UnixListener::bind(world.at("socket")).unwrap();
    let why = "special";
    assert_eq!(world.lines(), [format!("lost folder: {why}"), format!("lost pipe: {why}")]);
    assert_eq!(world.uncovered(), ["folder", "pipe", "socket"].map(|path| format!("{path}: {why}")));
    fs::remove_file(world.at("pipe")).unwrap();
    fs::remove_file(world.at("folder")).unwrap();
    world.write("pipe", "y");
    assert_eq!(world.lines(), ["gained pipe"]);
}

#[test]
fn named_folders_alone_are_looked_at() {
    use retake_worktree::{CaptureScope, Permission};
    let mut world = World::with(|root| {
        for folder in ["a", "a/inner", "b"] {
            write(root, &format!("{folder}/file"), "x");
        }
    });
    for folder in ["a", "a/inner", "b"] {
        world.write(&format!("{folder}/file"), "y");
    }
    world.write("a/new/deep/file", "x");
    let mut found = |named: &[&str]| {
        let named = named.iter().map(|path| Some(super::file_path(path))).collect();
        let capture = world.tree.capture(&CaptureScope::Folders(named), Permission::Ask, &|_| ()).unwrap();
        (capture.stats.folders, lines(&world.accept(capture)))
    };
    let (folders, first) = found(&["a"]);
    assert_eq!(first, ["~ a/file", "+ a/new", "+ a/new/deep", "+ a/new/deep/file"]);
    assert_eq!(folders, 3);
    // A file that was written a moment ago may have changed again: the sign for that comes first.
    let is_only =
        |found: &[String], line: &str| matches!(found, [one] if one.trim_start_matches('?') == line);
    let second = found(&["a/inner", "nowhere/at/all"]).1;
    assert!(is_only(&second, "~ a/inner/file"), "{second:?}");
    let missed = world.lines();
    assert!(is_only(&missed, "~ b/file"), "{missed:?}");
    world.write("a/.gitignore", "inner/\n");
    let named = CaptureScope::Folders(vec![Some(super::file_path("a"))]);
    let capture = world.tree.capture(&named, Permission::Ask, &|_| ()).unwrap();
    assert_eq!(lines(&world.accept(capture)), ["+ a/.gitignore", "lost a/inner: ignored"]);
}

#[test]
fn a_folder_that_takes_the_place_of_a_known_one_is_looked_at_whole() {
    use retake_worktree::{CaptureScope, Permission};
    let mut world = World::with(|root| {
        write(root, "one/inner/file", "x");
        write(root, "two/other", "x");
    });
    fs::remove_dir_all(world.at("one")).unwrap();
    fs::rename(world.at("two"), world.at("one")).unwrap();
    let capture = world.tree.capture(&CaptureScope::Folders(vec![None]), Permission::Ask, &|_| ()).unwrap();
    let found = lines(&world.accept(capture));
    assert_eq!(found, ["- one/inner", "- one/inner/file", "+ one/other", "- two", "- two/other"]);
}
