//! A conversation in several folders, with the real program: a command's changes in all of them are reverted as one step.

use std::fs;

use super::harness::{World, error, shows};

/// A folder and another one, with two turns that wrote in both.
fn two_folders() -> World {
    let world = World::working(&[("a", "0\n")]);
    fs::create_dir(world.home().join("other")).expect("made");
    fs::write(world.home().join("other/b"), "0\n").expect("written");
    world.does(&["config", "set", "agent.roots", &world.home().join("other").display().to_string()]);
    world.exec("echo 1 > a; echo 1 > ../other/b");
    world.exec("echo 2 > a; echo 2 > ../other/b; echo > ../other/made");
    world
}

/// The content of both.
fn both(world: &World) -> [Option<String>; 3] {
    ["a", "../other/b", "../other/made"].map(|name| world.read(name).map(|text| text.trim().to_owned()))
}

#[test]
fn a_rewind_reverts_all_folders() {
    let world = two_folders();
    let now = both(&world);
    world.does(&["rewind", "t2"]);
    assert_eq!(both(&world), [Some("1".to_owned()), Some("1".to_owned()), None]);
    world.does(&["undo"]);
    assert_eq!(both(&world), now);
    let other = world.home().join("other/b").display().to_string();
    world.does(&["files", "restore", &other, "--to", "t1"]);
    assert_eq!(both(&world), [now[0].clone(), Some("0".to_owned()), now[2].clone()]);
    world.does(&["undo"]);
    fs::write(&other, "mine\n").expect("written");
    let refused = world.run(&["rewind", "t1"]);
    assert!(!refused.status.success() && error(&refused).contains(&other), "{refused:?}");
    world.does(&["rewind", "t1", "--choose", &format!("{other}=disk")]);
    assert_eq!(both(&world), [Some("0".to_owned()), Some("mine".to_owned()), None]);
}

#[test]
fn the_screen_of_several_folders() {
    let world = two_folders();
    world.does(&["checkpoint", "lunch"]);
    fs::write(world.home().join("other/mine"), "mine\n").expect("written");
    fs::write(world.home().join("other/b"), "both\n").expect("written");
    let told = world.transcript(&[
        &["plan", "rewind", "t2", "--diff"],
        &["files", "status"],
        &["files", "diff"],
        &["plan", "files", "restore", ".", "--to", "lunch"],
        &["rewind", "t2", "--choose", "/etc/passwd=disk"],
        &["rewind", "t2", "--exact"],
        &["undo"],
    ]);
    shows!(told);
}
