//! Files whose names a person gives: each command that writes one follows links, keeps modes, and never replaces anything except
//! a regular file.

use std::fs::{self, Permissions};
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::harness::{World, error};

/// A command that writes a file, set up to write this one.
type Writer = fn(&World, &Path) -> Command;

fn export(world: &World, file: &Path) -> Command {
    world.command(&["export", "-o", file.to_str().expect("UTF-8")])
}

fn backup(world: &World, file: &Path) -> Command {
    world.command(&["backup", file.to_str().expect("UTF-8")])
}

/// Settings, in this file.
fn set(world: &World, file: &Path) -> Command {
    let mut command = world.command(&["config", "set", "model.system_prompt", "be brief"]);
    command.env("RETAKE_CONFIG", file);
    command
}

fn unset(world: &World, file: &Path) -> Command {
    let mut command = world.command(&["config", "unset", "model.system_prompt"]);
    command.env("RETAKE_CONFIG", file);
    command
}

/// The file of servers is beside the settings.
fn servers(world: &World, file: &Path, arguments: &[&str]) -> Command {
    let own = world.home().join("mcp.json");
    let _ = fs::remove_file(&own);
    symlink(file, own).expect("linked");
    world.command(arguments)
}

fn add(world: &World, file: &Path) -> Command {
    servers(world, file, &["mcp", "add", "it", "--", "true"])
}

fn remove(world: &World, file: &Path) -> Command {
    servers(world, file, &["mcp", "remove", "it"])
}

/// With the earlier content of its file.
const WRITERS: [(&str, Writer, &str); 5] = [
    ("export", export, "old"),
    ("config set", set, "[model]\ndefault = \"demo\"\n"),
    ("config unset", unset, "[model]\nsystem_prompt = \"be brief\"\n"),
    ("mcp add", add, "{\"mcpServers\": {}}"),
    ("mcp remove", remove, "{\"mcpServers\": {\"it\": {\"command\": \"true\"}}}"),
];

fn does(what: &str, mut command: Command) {
    let output = command.output().expect("it starts");
    assert!(output.status.success(), "{what}: {output:?}");
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("there").permissions().mode() & 0o7777
}

fn is_link(path: &Path) -> bool {
    fs::symlink_metadata(path).expect("there").is_symlink()
}

/// A folder with unique names.
fn names<const N: usize>(world: &World, names: [&str; N]) -> [PathBuf; N] {
    let folder = world.home().join("written");
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir(&folder).expect("made");
    names.map(|name| folder.join(name))
}

#[test]
fn trial_16_each_rewritten_file_keeps_its_mode_and_its_links() {
    let world = World::talking();
    for (what, writer, before) in WRITERS {
        for (kept, has_another) in [(0o640, false), (0o604, true)] {
            let [file, link, other] = names(&world, ["file", "link", "other"]);
            fs::write(&file, before).expect("written");
            fs::set_permissions(&file, Permissions::from_mode(kept)).expect("set");
            if has_another {
                fs::hard_link(&file, &other).expect("linked");
            }
            symlink("file", &link).expect("linked");
            does(what, writer(&world, &link));
            assert!(is_link(&link), "{what}");
            assert_ne!(fs::read_to_string(&file).expect("there"), before, "{what}");
            assert_eq!(mode(&file), kept, "{what}");
            let names = fs::read_dir(file.parent().expect("a folder")).expect("listed").count();
            assert_eq!(names, if has_another { 3 } else { 2 }, "{what}: nothing else is left");
            if has_another {
                assert_eq!(fs::read(&file).expect("there"), fs::read(&other).expect("there"), "{what}");
            }
        }
    }
}

#[test]
fn trial_16_a_dangling_link_leads_to_each_new_file() {
    let world = World::talking();
    for (what, writer) in
        [("export", export as Writer), ("backup", backup), ("config set", set), ("mcp add", add)]
    {
        let [link, next, file] = names(&world, ["link", "next", "file"]);
        symlink("next", &link).expect("linked");
        symlink("file", &next).expect("linked");
        does(what, writer(&world, &link));
        assert!(is_link(&link) && is_link(&next) && !is_link(&file), "{what}");
        assert_eq!(mode(&file) & 0o022, 0, "{what}: nobody else writes it");
        assert!(fs::metadata(&file).expect("there").len() > 0, "{what}");
    }
    // A backup never replaces an existing file, whatever leads to it.
    let [link, file] = names(&world, ["link", "file"]);
    fs::write(&file, "mine").expect("written");
    symlink("file", &link).expect("linked");
    let refused = backup(&world, &link).output().expect("it starts");
    assert!(error(&refused).contains("is there already"), "{refused:?}");
    assert_eq!(fs::read_to_string(&file).expect("there"), "mine");
}

/// A device like `/dev/null`: a test device, if this user may create one, so that no bug removes the machine's.
fn device(at: &Path) -> PathBuf {
    let made = Command::new("mknod").arg(at).args(["c", "1", "3"]).output().expect("mknod is there");
    let is_of_use = made.status.success() && fs::write(at, "x").is_ok();
    if is_of_use { at.to_owned() } else { PathBuf::from("/dev/null") }
}

#[test]
fn trial_16_no_command_replaces_a_device() {
    let world = World::talking();
    let [there, link] = names(&world, ["device", "link"]);
    let device = device(&there);
    symlink(&device, &link).expect("linked");
    for name in [&device, &link] {
        does("export", export(&world, name));
        does("backup", backup(&world, name));
        // A file that is read before it is written is refused, or written like any other.
        for writer in [set, add] {
            drop(writer(&world, name).output().expect("it starts"));
        }
        assert!(fs::metadata(&device).expect("there").file_type().is_char_device());
        assert!(is_link(&link));
    }
}

/// A command may have created the link.
#[test]
fn trial_16_an_export_through_a_link_overwrites_no_file_of_retake_and_names_its_target() {
    let world = World::talking();
    let token = world.data().join("token");
    let before = fs::read(&token).expect("a token");
    for (name, own) in
        [("token.md", token.clone()), ("new.md", world.data().join("new")), ("set.md", world.config())]
    {
        symlink(&own, world.folder().join(name)).expect("linked");
        let refused = world.run(&["export", "-o", name]);
        assert_eq!(refused.status.code(), Some(2), "{refused:?}");
        assert!(error(&refused).contains("in Retake's own folder"), "{refused:?}");
    }
    assert_eq!(fs::read(&token).expect("a token"), before);
    assert!(!world.data().join("new").exists());
    let target = world.folder().join("target.md");
    symlink(&target, world.folder().join("link.md")).expect("linked");
    let told = world.does(&["export", "-o", "link.md"]);
    assert!(told.contains(&target.display().to_string()), "{told}");
}
