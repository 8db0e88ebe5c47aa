//! Stored file content, with the real program: erased permanently, collected, shown, forgotten, checked.

use std::fs;
use std::path::Path;

use super::harness::{World, error};

/// Whether any file below a folder contains these bytes.
fn holds(dir: &Path, bytes: &[u8]) -> bool {
    fs::read_dir(dir).expect("readable").any(|entry| {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            return holds(&path, bytes);
        }
        fs::read(&path).expect("readable").windows(bytes.len()).any(|window| window == bytes)
    })
}

/// A word that compression can't hide, among incompressible bytes.
fn secret(world: &World) -> Vec<u8> {
    let mut state = 88_172_645_463_325_252_u64;
    let mut noise = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state.to_le_bytes()
    };
    let mut bytes: Vec<u8> = std::iter::repeat_with(&mut noise).take(20_000).flatten().collect();
    bytes[90_000..90_012].copy_from_slice(b"hunter2zebra");
    fs::write(world.home().join("secret"), &bytes).expect("written");
    bytes[80_000..80_024].to_vec()
}

#[test]
fn erase_removes_output_of_commands_and_changes_no_file_of_the_folder() {
    let world = World::working(&[("a", "one\n")]);
    let piece = secret(&world);
    world.exec("cp ../secret s; echo two > a");
    world.exec("rm s");
    assert!(holds(world.data(), &piece));
    let plan = world.does(&["plan", "erase", "--matching", "hunter2zebra"]);
    assert!(plan.contains("what is kept of 1 path goes too, and can't go back any more: s"), "{plan}");
    assert!(plan.contains("1 version of a file would be erased"), "{plan}");
    assert!(holds(world.data(), &piece), "a plan changes nothing");
    let done = world.does(&["erase", "--matching", "hunter2zebra", "--yes"]);
    assert!(done.contains("erased 1 version of a file"), "{done}");
    assert!(!holds(world.data(), &piece));
    assert_eq!(world.read("a").as_deref(), Some("two\n"));
    world.does(&["rewind", "t1"]);
    assert_eq!(world.read("a").as_deref(), Some("one\n"), "the rest can go back still");
    assert!(world.does(&["doctor"]).contains("healthy"));
}

#[test]
fn a_folder_is_shown_pruned_and_forgotten() {
    let world = World::working(&[("a", "one\n"), (".gitignore", "out/\n")]);
    fs::create_dir(world.folder().join("out")).expect("made");
    world.exec("echo two > a; echo x > out/x");
    world.does(&["checkpoint", "dear"]);
    let shown = world.json(&["workspace", "show"]);
    assert_eq!(shown["workspace"]["folder"].as_str(), world.folder().to_str());
    assert_eq!((shown["calls"].as_u64(), shown["checkpoints"][0].as_str()), (Some(1), Some("dear")));
    assert_eq!(shown["examples"][0]["path"].as_str(), Some("out"));
    assert_eq!(shown["conversations"].as_array().map(Vec::len), Some(1));
    let would = world.json(&["workspace", "prune", "--dry-run"]);
    assert_eq!((would["how"].as_str(), would["versions"].as_u64()), (Some("look"), Some(0)));
    assert_eq!(world.json(&["workspace", "prune"])["how"].as_str(), Some("unneeded"));
    let refused = world.run(&["workspace", "forget", "."]);
    assert_eq!(refused.status.code(), Some(2), "{refused:?}");
    assert!(error(&refused).contains("--yes"));
    let unknown = world.run(&["workspace", "forget", "/nowhere", "--yes"]);
    assert_eq!(unknown.status.code(), Some(3), "{unknown:?}");
    let said = world.does(&["workspace", "forget", ".", "--yes"]);
    assert!(said.contains("what 1 command changed there"), "{said}");
    assert!(world.json(&["workspace", "list"])["workspaces"].as_array().is_some_and(Vec::is_empty));
    world.does(&["rewind", "t1"]);
    assert_eq!(world.read("a").as_deref(), Some("two\n"), "its files can't go back any more");
    world.exec("echo three > a");
    world.does(&["rewind", "@", "--yes"]);
}

#[test]
fn a_removed_folder_is_reported_and_can_be_forgotten() {
    let world = World::working(&[("a", "one\n")]);
    world.exec("echo two > a");
    let away = world.home().join("away");
    fs::rename(world.folder(), &away).expect("moved");
    fs::create_dir(world.folder()).expect("made");
    let shown = world.does(&["workspace", "show", "1"]);
    assert!(shown.contains("! "), "{shown}");
    fs::remove_dir(world.folder()).expect("removed");
    fs::create_dir(world.home().join("else")).expect("made");
    let gone = world
        .command(&["workspace", "forget", "../work", "--yes"])
        .current_dir(world.home().join("else"))
        .output();
    assert!(gone.expect("it starts").status.success());
    fs::create_dir(world.folder()).expect("made");
    assert_eq!(fs::read_to_string(away.join("a")).expect("it stays"), "two\n");
    assert!(world.does(&["doctor"]).contains("healthy"));
}
