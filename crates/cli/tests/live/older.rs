//! A store of format 11, kept as text: its file in SQL, its objects as hexadecimal bytes, and output. The program whose
//! newest format that was made all of it. The store opens, shows the same, and undoes and redoes the same. It also opens after a
//! process was killed during the update of the file.
//!
//! Five conversations are in one folder. They have a rewind of only the conversation with a turn after it; a drop and a rewind
//! of only files; an excluded and a hidden message. There are a fold and a label, a fork of that, and two undone turns. The
//! texts are never made again: only the earlier program can.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::Command;

use rusqlite::Connection;

use super::harness::{World, error};

/// The format of the store.
const FORMAT: u32 = 11;
const STORE: &str = include_str!("older/store.sql");
const OBJECTS: &str = include_str!("older/objects.hex");
/// Command lines with their output, and between them `$ files`: the content of the folder.
const PRINTED: &str = include_str!("older/printed.txt");

/// The content of the folder then.
const FILES: [(&str, &str); 6] = [
    ("b.txt", "b\n"),
    ("c.txt", "see\n"),
    ("f.txt", "out\n"),
    ("lines.txt", "1\ntwo\n3\n4\n5\n6\n7\n8\n9\n"),
    ("new.txt", "what is renamed has to be long enough for it\n"),
    ("p.txt", "hi\n"),
];

/// The earlier store, with the folder of its conversations.
fn older() -> World {
    let world = World::working(&FILES);
    let (folder, data) = (fs::metadata(world.folder()).expect("a folder"), world.data());
    fs::create_dir_all(data.join("objects")).expect("made");
    let home = world.home().to_str().expect("UTF-8");
    let sql = STORE.replace("@HOME@", home).replace("@DEVICE@", &folder.dev().to_string());
    let sql = sql.replace("@INODE@", &folder.ino().to_string());
    let file = data.join("retake.db");
    private(&file, b"");
    let db = Connection::open(&file).expect("opened");
    db.execute_batch(&format!("BEGIN; {sql} COMMIT;")).expect("the store of then");
    for object in OBJECTS.split("== ").skip(1) {
        let (name, hex) = object.split_once('\n').expect("a name");
        let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
        let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).expect("digits"), 16);
        let bytes: Vec<u8> = digits.chunks(2).map(|pair| byte(pair).expect("a byte")).collect();
        private(&data.join("objects").join(name), &bytes);
    }
    world
}

/// A file of the data, private to its owner.
fn private(file: &Path, bytes: &[u8]) {
    let mut options = fs::OpenOptions::new();
    let mut file = options.write(true).create_new(true).mode(0o600).open(file).expect("created");
    file.write_all(bytes).expect("written");
}

fn format(world: &World) -> u32 {
    let db = Connection::open(world.data().join("retake.db")).expect("opened");
    db.query_row("PRAGMA user_version", [], |row| row.get(0)).expect("a format")
}

/// The content of the folder, one line each.
fn files(world: &World) -> String {
    let names = fs::read_dir(world.folder()).expect("a folder");
    let mut names: Vec<String> =
        names.map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8")).collect();
    names.sort();
    let line = |name: String| {
        let text = world.read(&name).expect("a file");
        format!("{name}: {}\n", text.split_whitespace().collect::<Vec<_>>().join(" "))
    };
    format!("$ files\n{}", names.into_iter().map(line).collect::<String>())
}

/// The earlier output, one command each.
fn printed() -> Vec<String> {
    let mut blocks: Vec<String> = Vec::new();
    for line in PRINTED.split_inclusive('\n') {
        if line.starts_with("$ ") {
            blocks.push(String::new());
        }
        blocks.last_mut().expect("a command comes first").push_str(line);
    }
    blocks
}

/// A printed text without these members of JSON objects.
fn without_member(text: &str, name: &str) -> String {
    let member = format!("\"{name}\":");
    let mut pieces = text.split(&member);
    let first = pieces.next().unwrap_or_default().to_owned();
    pieces.fold(first, |all, piece| {
        let mut values = serde_json::Deserializer::from_str(piece).into_iter::<serde_json::Value>();
        values.next().expect("a value").expect("JSON");
        all + piece[values.byte_offset()..].trim_start_matches(',')
    })
}

/// Repeats the earlier commands, and compares their output.
fn shows_the_same(world: &World, blocks: &[String]) {
    for expected in blocks {
        let command = expected.lines().next().expect("a command");
        let found = match command.strip_prefix("$ retake ") {
            Some(words) => {
                let words: Vec<&str> = words.split(' ').collect();
                let found = world.seen(&words, &world.run(&words));
                // Targets now say whether there are more.
                let found = match expected.contains("\"more\"") {
                    true => found,
                    false => found.replace(",\"more\":false}", "}"),
                };
                // Operations now have a code for what they did.
                let found = without_member(&found, "summary");
                // Receipts now say what stays.
                let is_then_s = |line: &&str| !line.starts_with("! ") || expected.contains(*line);
                found.split_inclusive('\n').filter(is_then_s).map(undone).collect()
            }
            None => files(world),
        };
        // A fold of one message has its singular since then.
        let expected = expected.replace("a summary of 1 messages", "a summary of 1 message");
        let expected: String = expected.split_inclusive('\n').map(undone).collect();
        assert_eq!(found, expected, "{command}");
    }
}

#[test]
fn turns_of_the_previous_version_are_shown_rewound_and_redone_unchanged() {
    let world = older();
    let opened = world.run(&["list"]);
    let notice = format!("brought the store from format {FORMAT} to ");
    assert!(opened.status.success() && error(&opened).contains(&notice), "{opened:?}");
    shows_the_same(&world, &printed());
    let notices = error(&world.run(&["list"]));
    assert!(!notices.contains(&notice), "{notices}");
}

#[test]
fn rewind_case_35_new_records_of_an_older_store_are_final() {
    let world = older();
    let rewind = |scope: &str| world.does(&["rewind", "t1", "--scope", scope, "--yes"]);
    world.does(&["redo", "2"]);
    rewind("conversation");
    world.does(&["say", "something else"]);
    rewind("both");
    assert_eq!(world.read("u.txt").as_deref(), Some("gone\nmore\n"));
}

#[test]
fn a_store_whose_migration_was_killed_opens_unchanged() {
    let (mut before, mut after) = (0, 0);
    // The copy, the steps and their commit: each sync, and some of the writes between.
    for (call, step) in [("fdatasync", 1), ("pwrite64", 13)] {
        for nth in (1..200).step_by(step) {
            let world = older();
            let inject = format!("inject={call}:signal=KILL:when={nth}");
            let trace = world.home().join("trace");
            let program = world.command(&["list"]);
            let mut strace = Command::new("strace");
            strace.args(["-f", "-qq", "-o"]).arg(trace).args(["-e", &inject]).arg(program.get_program());
            strace.args(program.get_args()).current_dir(world.folder());
            for (name, value) in program.get_envs() {
                match value {
                    Some(value) => strace.env(name, value),
                    None => strace.env_remove(name),
                };
            }
            let done = strace.output().expect("strace is installed; `cargo xtask test` does it");
            if done.status.success() {
                break;
            }
            // The client reports that the owner could not start.
            assert!(
                matches!(done.status.code(), Some(7 | 137)) || done.status.signal() == Some(9),
                "{call}:{nth}: {done:?}"
            );
            match format(&world) {
                FORMAT => before += 1,
                _ => after += 1,
            }
            let opened = world.run(&["list"]);
            assert!(opened.status.success(), "{call}:{nth}: {opened:?}");
            let doctor = world.does(&["doctor"]);
            assert!(doctor.ends_with("healthy\n"), "{call}:{nth}: {doctor}");
            shows_the_same(&world, &printed()[..1]);
            assert!(fs::read_dir(world.data().join("backups")).expect("a copy").count() > 0, "{call}:{nth}");
        }
    }
    assert!(before > 5 && after > 0, "{before} before, {after} after");
}

/// A line without what an undo, a redo or a hint says: since then an undo names the steps, and a hint has other words. Their
/// messages are in the state that is compared.
fn undone(line: &str) -> &str {
    match line.split([' ', ':', '\n']).next() {
        Some("undid" | "undone") => "undone\n",
        Some("redid" | "redone") => "redone\n",
        Some("hint") => "hint\n",
        _ => line,
    }
}
