//! The watch: captures read only the places that it names; other changes are found by the next capture of the
//! whole, as late.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::time::Duration;

use retake_worktree::{CaptureScope, Permission, Rules};

use super::{World, lines, write};

const NOTHING: [&str; 0] = [];

/// Twenty folders, watched, and captured once.
fn world() -> World {
    let mut world = World::with(|root| {
        for number in 0..20 {
            write(root, &format!("d{number}/file"), "x");
        }
    });
    world.tree.watch().unwrap();
    assert_eq!(world.watched(), (21, vec![]), "what it does not know yet is looked at as a whole");
    world
}

fn named(world: &mut World, named: &[&str]) -> Vec<String> {
    let named = named.iter().map(|path| Some(super::file_path(path))).collect();
    let capture = world.tree.capture(&CaptureScope::Folders(named), Permission::Ask, &|_| ()).unwrap();
    lines(&world.accept(capture))
}

/// Waits until the clock of time stamps has advanced.
fn later() {
    let coarse = || {
        let now = rustix::time::clock_gettime(rustix::time::ClockId::RealtimeCoarse);
        (now.tv_sec, now.tv_nsec)
    };
    let (first, pause) = (coarse(), Duration::from_millis(1));
    let moved = (0..5_000).filter(|_| {
        std::thread::park_timeout(pause);
        coarse() > first
    });
    // Once for changes in the tick that has just begun.
    assert!(moved.take(10).count() == 10, "the clock stands");
}

#[test]
fn only_folders_with_changes_are_read() {
    let mut world = world();
    assert_eq!(world.watched(), (0, vec![]));
    world.write("d3/file", "y");
    world.mode("d7/file", 0o600);
    assert_eq!(world.watched(), (2, vec!["~ d3/file".to_owned(), "~ d7/file".into()]));
    assert_eq!(world.watched(), (0, vec![]));
    fs::remove_file(world.at("d5/file")).unwrap();
    fs::rename(world.at("d6/file"), world.at("d6/renamed")).unwrap();
    world.write("d8/new/deep/file", "x");
    let found = world.watched().1;
    assert_eq!(
        found,
        ["- d5/file", "- d6/file", "+ d6/renamed", "+ d8/new", "+ d8/new/deep", "+ d8/new/deep/file"]
    );
    // Content of new folders before the watch is read once more, and reported from then on.
    assert_eq!(world.watched(), (2, vec![]));
    world.write("d8/new/deep/file", "y");
    assert_eq!(world.watched(), (1, vec!["~ d8/new/deep/file".to_owned()]));
}

#[test]
fn hints_to_a_capture_that_was_not_kept_are_given_again() {
    let mut world = world();
    world.write("d3/file", "y");
    for _ in 0..2 {
        let dropped = world.tree.capture(&CaptureScope::Watched, Permission::Ask, &|_| ()).unwrap();
        assert_eq!(lines(&dropped.findings), ["~ d3/file"]);
    }
    assert_eq!(world.watched().1, ["~ d3/file"]);
}

#[test]
fn moved_folders_are_watched_at_their_new_place() {
    let mut world = world();
    let swap = |one: &str, other: &str| {
        fs::rename(world.at(one), world.at("aside")).unwrap();
        fs::rename(world.at(other), world.at(one)).unwrap();
        fs::rename(world.at("aside"), world.at(other)).unwrap();
    };
    swap("d1", "d2");
    fs::rename(world.at("d4"), world.at("d3/moved")).unwrap();
    assert_eq!(world.watched().1, ["+ d3/moved", "+ d3/moved/file", "- d4", "- d4/file"]);
    world.watched();
    for path in ["d1/file", "d3/moved/file"] {
        world.write(path, "y");
        assert_eq!(world.watched(), (1, vec![format!("~ {path}")]));
    }
    fs::remove_dir_all(world.at("d3")).unwrap();
    world.write("d3/file", "another folder");
    assert_eq!(world.watched().1, ["~ d3/file", "- d3/moved", "- d3/moved/file"]);
    world.watched();
    world.write("d3/file", "y");
    assert_eq!(world.watched(), (1, vec!["~ d3/file".to_owned()]));
}

#[test]
fn a_write_through_another_name_of_a_file_is_found() {
    let mut world = world();
    fs::hard_link(world.at("d1/file"), world.at("d2/link")).unwrap();
    assert_eq!(world.watched().1, ["+ d2/link"]);
    world.write("d2/link", "both");
    assert_eq!(world.watched().1, ["~ d1/file", "~ d2/link"]);
}

#[test]
fn trial_05_a_file_linked_and_written_between_two_captures_is_seen_under_both_names() {
    let mut world = world();
    let link = |world: &World, name: &str| {
        fs::create_dir_all(world.at(name).parent().unwrap()).unwrap();
        fs::hard_link(world.at("d1/file"), world.at(name)).unwrap();
        fs::write(world.at(name), format!("written as {name}")).unwrap();
    };
    link(&world, "d2/link");
    assert_eq!(world.watched(), (21, vec!["~ d1/file".to_owned(), "+ d2/link".into()]), "everywhere");
    // A third name; the first two are known to have others.
    world.watched();
    link(&world, "d3/link");
    assert_eq!(world.watched(), (3, ["~ d1/file", "~ d2/link", "+ d3/link"].map(str::to_owned).into()));
    link(&world, "new/deep/link");
    let found = world.watched().1;
    assert_eq!(
        found,
        ["~ d1/file", "~ d2/link", "~ d3/link", "+ new", "+ new/deep", "+ new/deep/link"],
        "also in a folder that is new"
    );
}

#[test]
fn trial_05_other_names_outside_of_the_coverage_are_found_too() {
    let ruled = Rules { max_ignored: 4, ..Rules::default() };
    let mut world = World::ruled(ruled, |root| {
        write(root, "d/file", "x");
        write(root, ".gitignore", "*.o\n");
        write(root, "e/file", "x");
    });
    world.tree.watch().unwrap();
    world.watched();
    // An ignored file that is too large, and a file of rules in a new folder.
    fs::hard_link(world.at("d/file"), world.at("e/file.o")).unwrap();
    world.write("e/file.o", "written");
    assert_eq!(world.watched().1, ["~ d/file"]);
    world.watched();
    fs::create_dir(world.at("new")).unwrap();
    fs::hard_link(world.at("e/file"), world.at("new/.ignore")).unwrap();
    world.write("new/.ignore", "written");
    assert_eq!(world.watched().1, ["~ e/file", "+ new", "+ new/.ignore"]);
}

#[test]
fn trial_05_a_name_that_was_created_and_removed_is_followed_up() {
    let mut world = world();
    let linked = |world: &World| {
        fs::hard_link(world.at("d1/file"), world.at("d2/link")).unwrap();
        let text = fs::read_to_string(world.at("d1/file")).unwrap();
        fs::write(world.at("d2/link"), text + "more").unwrap();
    };
    linked(&world);
    fs::remove_file(world.at("d2/link")).unwrap();
    assert_eq!(world.watched().1, ["~ d1/file"], "removed");
    linked(&world);
    fs::rename(world.at("d2/link"), world.dir.path().join("outside")).unwrap();
    assert_eq!(world.watched().1, ["~ d1/file"], "moved out of the workspace");
    // A file that is first written under another name, as editors do, needs no capture of the whole.
    world.watched();
    world.write("d3/new~", "y");
    fs::rename(world.at("d3/new~"), world.at("d3/file")).unwrap();
    let (folders, found) = world.watched();
    assert!(folders <= 2 && found == ["~ d3/file"], "{folders} {found:?}");
}

#[test]
fn an_overflow_of_the_watch_leads_to_a_full_capture() {
    let mut world = world();
    let most = fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap();
    let most: u32 = most.trim().parse().unwrap();
    for number in 0..most {
        // Alternating between two folders, as the system reports repeated events only once.
        let mode = fs::Permissions::from_mode(0o600 + (number / 2) % 2);
        fs::set_permissions(world.at(if number % 2 == 0 { "d1/file" } else { "d2/file" }), mode).unwrap();
    }
    world.write("d9/file", "behind the last that was told");
    let (folders, found) = world.watched();
    assert_eq!(folders, 21, "everywhere");
    assert_eq!(found.last().unwrap(), "~ d9/file");
    assert_eq!(world.watched(), (0, vec![]), "and then it knows again");
}

#[test]
fn changes_that_the_watch_missed_are_late() {
    let mut world = World::with(|root| {
        for path in ["missed", "goes", "d/seen", "d/missed", "moves/file"] {
            write(root, path, "x");
        }
    });
    for path in ["missed", "d/missed"] {
        world.write(path, "y");
    }
    fs::remove_file(world.at("goes")).unwrap();
    fs::rename(world.at("moves"), world.at("moved")).unwrap();
    later();
    assert_eq!(named(&mut world, &[]), NOTHING);
    later();
    world.write("d/seen", "y");
    world.write("new/file", "x");
    // `new` arrived in the folder that `goes` and `moves` left: their order is unknown.
    let told = ["~ d/seen", "- goes", "- moves", "- moves/file", "+ new", "+ new/file"];
    let late = ["?~ d/missed", "?~ missed", "?+ moved", "?+ moved/file"];
    let found = world.lines();
    assert!(found.iter().all(|line| told.iter().chain(&late).any(|one| one == line)), "{found:?}");
    assert_eq!(found.len(), told.len() + late.len(), "{found:?}");
    // After a capture of the whole, nothing is late.
    world.write("missed", "z");
    assert_eq!(world.lines(), ["~ missed"]);
}

#[test]
fn the_removal_of_an_unwatched_folder_is_late_when_that_folder_alone_is_named() {
    let mut world = World::with(|root| write(root, "d/e/file", "x"));
    fs::remove_dir_all(world.at("d/e")).unwrap();
    assert_eq!(named(&mut world, &[]), NOTHING);
    assert_eq!(named(&mut world, &["d/e"]), ["?- d/e", "?- d/e/file"]);
    assert_eq!(world.lines(), NOTHING);
}

#[test]
fn a_folder_that_gets_a_marker_leaves_the_coverage_with_the_changes_of_all_its_files() {
    let mut world = World::with(|root| write(root, "d/e/file", "x"));
    world.write("d/e/file", "y");
    world.write("d/pyvenv.cfg", "");
    assert_eq!(named(&mut world, &["d"]), ["~ d/e/file", "+ d/pyvenv.cfg", "lost d: virtual_environment"]);
    assert_eq!(world.lines(), NOTHING);
}

#[test]
fn a_removed_root_ends_its_watch() {
    let mut world = world();
    let aside = world.dir.path().join("aside");
    fs::rename(world.root(), &aside).unwrap();
    assert!(world.tree.capture(&CaptureScope::Watched, Permission::Ask, &|_| ()).is_err());
    fs::rename(&aside, world.root()).unwrap();
    world.write("d1/file", "y");
    assert_eq!(world.watched().1, ["~ d1/file"]);
}
