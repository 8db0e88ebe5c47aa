//! Unusable data directories: read-only, full, another user's, locked, from a newer version, without a store, damaged. Each is
//! reported, and nothing in them is changed.

use std::collections::BTreeMap;
use std::fs::{self, Permissions};
use std::io::Read;
use std::os::unix::fs::{FileTypeExt as _, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Output;

use retake_testkit::again::{Small, may_mount};
use rusqlite::Connection;

use super::harness::{World, error, out, shows};
use crate::term::pty::now;

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, Permissions::from_mode(mode)).expect("mode");
}

/// Every file with its content.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    let (folders, own): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let own = own.into_iter().map(|path| (path.clone(), fs::read(path).expect("a file")));
    own.chain(folders.iter().flat_map(|folder| files(folder))).collect()
}

/// Runs as a user without special rights, even if root runs the tests.
fn unprivileged(world: &World, arguments: &[&str]) -> Output {
    world.unprivileged(arguments).output().expect("it starts")
}

/// Everything in one file, with nothing beside it.
fn settle(world: &World) -> PathBuf {
    let file = world.data().join("retake.db");
    let db = Connection::open(&file).expect("a store");
    db.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).expect("settled");
    file
}

#[test]
fn a_read_only_data_directory_is_refused() {
    let world = World::talking();
    settle(&world);
    mode(world.home(), 0o755);
    mode(world.data(), 0o555);
    for (path, _) in files(world.data()) {
        mode(&path, 0o444);
    }
    let before = files(world.data());
    let seen: String = [&["log"][..], &["ask", "hello"], &["--json", "list"]]
        .into_iter()
        .map(|arguments| world.seen(arguments, &unprivileged(&world, arguments)))
        .collect();
    shows!(seen);
    assert_eq!(files(world.data()), before);
    mode(world.data(), 0o700);
    for (path, _) in files(world.data()) {
        mode(&path, 0o600);
    }
    assert_eq!(world.texts().len(), 4);
}

#[test]
fn a_data_directory_that_can_not_be_created_or_has_another_owner_is_refused() {
    let world = World::new();
    mode(world.home(), 0o555);
    let made = world.seen(&["ask", "hello"], &unprivileged(&world, &["ask", "hello"]));
    mode(world.home(), 0o755);
    world.does(&["ask", "one apple"]);
    mode(world.data(), 0o000);
    let foreign = world.seen(&["log"], &unprivileged(&world, &["log"]));
    mode(world.data(), 0o700);
    shows!(made + &foreign);
    assert_eq!(world.texts().len(), 2);
}

#[test]
fn a_full_disk_is_reported() {
    if !may_mount("live::folder::a_full_disk_is_reported") {
        return;
    }
    let world = World::new();
    let small = Small::mount(world.home().join("small"), "1m");
    let world = world.with_data(&small.path().join("data"));
    world.does(&["ask", "one apple"]);
    let filler = small.path().join("filler");
    // As much as fits: a failing write is expected here.
    let written = fs::write(&filler, vec![0; 2 << 20]);
    assert!(written.is_err(), "it is full");
    let mut seen = world.transcript(&[&["say", "two pears"]]);
    // Room to read and for small writes, not for a long message.
    let file = fs::File::options().write(true).open(&filler).expect("the filler");
    file.set_len(file.metadata().expect("its size").len() - 128 * 1024).expect("cut");
    assert_eq!(world.texts().len(), 2);
    let long = "pears ".repeat(50_000);
    for arguments in [["say", "-"], ["ask", "-"]] {
        seen += &world.seen(&arguments, &world.pipe(&arguments, &long));
    }
    assert_eq!(world.texts().len(), 2);
    fs::remove_file(&filler).expect("removed");
    assert_eq!(world.texts().len(), 2, "what was there is there, and nothing half");
    world.does(&["ask", "two pears"]);
    assert_eq!(world.texts().len(), 4);
    shows!(seen);
}

#[test]
fn a_folder_that_another_process_owns_is_reached_through_it() {
    let world = World::new();
    world.settings("[model]\ndefault = \"demo\"\n[demo]\nword_delay_ms = 200\n");
    let mut owner = world.command(&["ask", "one apple"]).spawn().expect("it starts");
    let mut first = [0];
    owner.stdout.as_mut().expect("a pipe").read_exact(&mut first).expect("the first of the answer");
    let status = world.json(&["status"]);
    assert_eq!(world.owners(), [status["pid"].to_string()], "{status}");
    assert_eq!(status["running"].as_array().map(Vec::len), Some(1), "{status}");
    let other = world.json(&["new"]);
    let list = world.json(&["list"]);
    assert_eq!(list["conversations"].as_array().map(Vec::len), Some(2), "{other} {list}");
    world.kill(owner);
    // A dead owner owns nothing, and its socket blocks nothing.
    let list = world.json(&["list"]);
    assert_eq!(list["conversations"].as_array().map(Vec::len), Some(2), "{list}");
    assert_eq!(out(&world.run(&["status"])).lines().count(), 1, "its owner has ended with the last command");
}

#[test]
fn a_data_directory_locked_by_a_silent_process_is_reported() {
    let world = World::new();
    world.does(&["new"]);
    let lock = world.data().join("owner.lock");
    let lock = fs::File::options().write(true).open(lock).expect("the lock");
    lock.lock().expect("locked");
    let began = now();
    let refused = world.run(&["say", "hello"]);
    let waited = now() - began;
    assert!(waited.as_millis() >= 200, "it waits for the holder to leave: {waited:?}");
    shows!(world.seen(&["say", "hello"], &refused));
    drop(lock);
    world.does(&["say", "hello"]);
}

#[test]
fn a_slow_pipe_delays_no_other_client() {
    let world = World::new();
    let mut slow = world.command(&["ask", "-"]);
    let mut slow = slow.stdin(std::process::Stdio::piped()).spawn().expect("it starts");
    world.does(&["ask", "one apple"]);
    drop(slow.stdin.take());
    let output = slow.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(2), "nothing came: {output:?}");
}

#[test]
fn a_store_from_the_future_is_not_touched() {
    let world = World::talking();
    let file = settle(&world);
    let db = Connection::open(&file).expect("a store");
    let version: i64 = db.query_row("PRAGMA user_version", [], |row| row.get(0)).expect("a version");
    db.pragma_update(None, "user_version", 999).expect("raised");
    drop(db);
    settle(&world);
    let before = fs::read(&file).expect("a file");
    shows!(
        world.transcript(&[&["log"], &["ask", "hello"]]).replace(&format!("up to {version}"), "up to NOW")
    );
    assert_eq!(fs::read(&file).expect("a file"), before);
    Connection::open(&file).expect("a store").pragma_update(None, "user_version", version).expect("lowered");
    assert_eq!(world.texts().len(), 4);
}

#[test]
fn a_file_that_is_no_store_is_not_touched() {
    let world = World::new();
    fs::create_dir(world.data()).expect("a folder");
    let file = world.data().join("retake.db");
    for text in ["my recipes", ""] {
        fs::write(&file, text).expect("written");
        let seen = world.transcript(&[&["ask", "hello"]]);
        assert_eq!(fs::read_to_string(&file).expect("a file"), text);
        shows!(seen);
    }
    let other = Connection::open(world.home().join("other.db")).expect("a database");
    other.execute_batch("CREATE TABLE recipe (name)").expect("a table");
    drop(other);
    fs::copy(world.home().join("other.db"), &file).expect("copied");
    let before = fs::read(&file).expect("a file");
    shows!(world.transcript(&[&["ask", "hello"]]));
    assert_eq!(fs::read(&file).expect("a file"), before);
}

/// Overwrites a page of the store's file.
fn ruin(file: &Path, page: usize) {
    const PAGE: usize = 4096;
    let mut bytes = fs::read(file).expect("a file");
    bytes[(page - 1) * PAGE..page * PAGE].fill(0xaa);
    fs::write(file, bytes).expect("written");
}

/// The first page of a table.
fn root_page(file: &Path, table: &str) -> usize {
    let db = Connection::open(file).expect("a store");
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?";
    let root: u32 = db.query_row(sql, [table], |row| row.get(0)).expect("a table");
    usize::try_from(root).expect("a page")
}

#[test]
fn a_truncated_file_is_reported_as_damaged() {
    let world = World::talking();
    let file = settle(&world);
    let whole = fs::read(&file).expect("a file");
    fs::write(&file, &whole[..whole.len() / 2]).expect("cut");
    let seen = world.transcript(&[&["log"], &["ask", "hello"], &["doctor"]]);
    assert_eq!(fs::read(&file).expect("a file"), whole[..whole.len() / 2]);
    shows!(seen);
}

#[test]
fn damage_in_the_middle_is_reported_and_the_rest_stays_readable() {
    let world = World::talking();
    // A message that takes more than a page of its own.
    world.pipe(&["say", "-"], &"plums ".repeat(2000));
    world.does(&["say", "four figs"]);
    let file = settle(&world);
    let needle = b"plums plums plums plums";
    let bytes = fs::read(&file).expect("a file");
    let at: Vec<usize> = (0..bytes.len() / 4096)
        .filter(|page| {
            bytes[page * 4096 + 100..][..needle.len() * 2].windows(needle.len()).any(|it| it == needle)
        })
        .collect();
    ruin(&file, at.last().expect("a page of it") + 1);
    let texts = world.texts();
    assert_eq!(texts.len(), 6);
    assert_eq!((texts[0].as_str(), texts[5].as_str()), ("one apple", "four figs"));
    assert!(texts[4].starts_with("[damaged: "), "{}", texts[4]);
    let log = world.json(&["log"]);
    let flags = log["entries"].as_array().expect("entries").iter().map(|entry| &entry["damaged"]);
    let damaged = flags.enumerate().filter(|(_, flag)| **flag == true).map(|(number, _)| number);
    assert_eq!(damaged.collect::<Vec<_>>(), [4], "only that one: {log}");
    shows!(world.transcript(&[&["list"], &["search", "figs"], &["doctor"], &["say", "five"]]));
}

#[test]
fn one_damaged_conversation_does_not_hide_the_others() {
    let world = World::talking();
    world.does(&["ask", "--new", "three plums"]);
    let file = settle(&world);
    let db = Connection::open(&file).expect("a store");
    db.execute("DELETE FROM entry WHERE key >> 32 = 1", []).expect("ruined");
    drop(db);
    shows!(world.transcript(&[&["list"], &["doctor"]]));
    assert_eq!(world.texts()[0], "three plums");
}

#[test]
fn a_damaged_index_is_rebuilt_with_a_notice() {
    let world = World::talking();
    for table in ["search_config", "search_data", "search_idx"] {
        let file = settle(&world);
        ruin(&file, root_page(&file, table));
        let output = world.run(&["search", "pears"]);
        assert!(out(&output).contains("two *pears*"), "{table}: {output:?}");
        assert!(error(&output).contains("the full-text index was damaged"), "{table}: {output:?}");
        assert!(world.does(&["doctor"]).contains("healthy"), "{table}");
    }
}

/// A pipe of any name gets a backup as it is made, and stays a pipe; nothing is left beside it. The intermediate copy is never
/// where commands of the agent could read it.
#[test]
fn trial_16_a_backup_goes_into_pipes_and_devices() {
    let world = World::talking();
    let scratch = tempfile::tempdir().expect("a folder");
    let world = world.with("TMPDIR", scratch.path().join("none").to_str().expect("UTF-8"));
    let pipe = world.folder().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().expect("it runs").success());
    let link = world.folder().join("link");
    symlink("pipe", &link).expect("linked");
    let is_whole = |bytes: &[u8], name: &str| {
        let copy = scratch.path().join("copy.db");
        fs::write(&copy, bytes).expect("written");
        let db = Connection::open(&copy).expect("a store");
        let said: i64 = db.query_row("SELECT count(*) FROM entry", [], |row| row.get(0)).expect("entries");
        assert!(said > 1, "{name}");
        drop(db);
        fs::remove_file(&copy).expect("removed");
    };
    for name in [&pipe, &link] {
        let reader = std::thread::spawn({
            let pipe = pipe.clone();
            move || fs::read(pipe).expect("read")
        });
        let name = name.to_str().expect("UTF-8");
        let said = world.does(&["backup", name]);
        assert!(said.contains(name), "{said}");
        is_whole(&reader.join().expect("read"), name);
    }
    for name in ["-", "/dev/stdout"] {
        let output = world.run(&["backup", name]);
        assert!(output.status.success(), "{}", error(&output));
        is_whole(&output.stdout, name);
        assert!(error(&output).contains("standard output"), "{}", error(&output));
    }
    world.does(&["backup", "/dev/null"]);
    assert!(fs::symlink_metadata(&pipe).expect("there").file_type().is_fifo());
    assert!(fs::symlink_metadata(&link).expect("there").is_symlink());
    let mine = world.folder().join("mine.db");
    fs::write(&mine, "mine").expect("written");
    let refused = world.run(&["backup", "mine.db"]);
    assert!(error(&refused).contains("is there already"), "{}", error(&refused));
    assert_eq!(fs::read_to_string(&mine).expect("there"), "mine");
    assert_eq!(fs::read_dir(scratch.path()).expect("a folder").count(), 0, "nothing is left");
    assert_eq!(fs::read_dir(world.data().join("backups")).expect("a folder").count(), 0, "nor there");
}
