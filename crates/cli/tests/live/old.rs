//! Data of the previous version (`tests/old`, made by its `make.sh`). Its store opens, can be read, rewound and redone, and
//! repeats its earlier replies; its exports are imported; its settings load. The data is never made again.
//!
//! A reply may have new fields. The earlier output must be in it, unchanged, except for texts for people.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use rusqlite::Connection;
use serde::Deserialize;
use serde_json::Value;

use super::harness::{World, error, out};
use super::owned::Serving;

/// Texts for people, which may change, and fields of only the first receipt.
const NOT_COMPARED: [&str; 4] = ["message", "hint", "stays", "effects"];

/// A command and its output, or the files of the folder.
#[derive(Deserialize)]
#[serde(untagged)]
enum Line {
    Command { arguments: Vec<String>, code: i32, printed: Vec<Value> },
    Files { files: std::collections::BTreeMap<String, String> },
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/old").join(name)
}

fn text(name: &str) -> String {
    fs::read_to_string(data(name)).expect("test data")
}

/// With the earlier working folder instead of this one.
fn with_old_paths(world: &World, text: &str) -> String {
    text.replace(world.folder().to_str().expect("UTF-8"), "/tmp/project")
}

fn lines(name: &str) -> Vec<Line> {
    text(name).lines().map(|line| serde_json::from_str(line).expect("a recorded line")).collect()
}

fn private(from: &Path, to: &Path) {
    fs::copy(from, to).expect("copied");
    fs::set_permissions(to, fs::Permissions::from_mode(0o600)).expect("private");
}

/// A copy of the earlier store, with the folder of its conversations.
fn old() -> World {
    let world = World::working(&[]);
    for line in lines("files.jsonl") {
        let Line::Files { files } = line else { panic!("the files of the folder") };
        files.iter().for_each(|(name, text)| world.write(name, text));
    }
    fs::create_dir_all(world.data().join("objects")).expect("made");
    for name in ["objects/00000000.index", "objects/00000000.pack", "retake.db"] {
        private(&data(name), &world.data().join(name));
    }
    let folder = fs::metadata(world.folder()).expect("a folder");
    let path = world.folder().to_str().expect("UTF-8");
    let db = Connection::open(world.data().join("retake.db")).expect("opened");
    db.execute_batch(&format!(
        "UPDATE conversation SET folder = '{path}' WHERE folder IS NOT NULL; UPDATE folder_draft SET folder = '{path}';
         UPDATE workspace SET root = CAST('{path}' AS BLOB), device = {}, inode = {};",
        folder.dev(),
        folder.ino()
    ))
    .expect("moved to the folder of this test");
    world
}

/// Where the present output lacks or changes part of the earlier one.
fn difference(now: &Value, then: &Value) -> Option<String> {
    let inside =
        |name: &str, now: &Value, then: &Value| difference(now, then).map(|it| format!("{name}.{it}"));
    match (now, then) {
        (Value::Object(now), Value::Object(then)) => then.iter().find_map(|(name, then)| {
            let now = now.get(name).unwrap_or(&Value::Null);
            if NOT_COMPARED.contains(&name.as_str()) { None } else { inside(name, now, then) }
        }),
        (Value::Array(now), Value::Array(then)) if now.len() == then.len() => {
            let mut pairs = now.iter().zip(then).enumerate();
            pairs.find_map(|(at, (now, then))| inside(&at.to_string(), now, then))
        }
        _ => (now != then).then(|| format!(" then {then}, now {now}")),
    }
}

/// Runs a command as JSON; returns its exit code and its documents.
fn run(world: &World, arguments: &[String]) -> (i32, Vec<Value>) {
    let output = world.run(&arguments.iter().map(String::as_str).collect::<Vec<_>>());
    let documents = with_old_paths(world, &out(&output));
    let documents = documents.lines().map(|line| serde_json::from_str(line).expect("JSON"));
    (output.status.code().expect("it ended by itself"), documents.collect())
}

/// Repeats everything recorded, and compares.
fn repeats(world: &World, name: &str) {
    for line in lines(name) {
        match line {
            Line::Command { arguments, code, printed } => {
                let found = run(world, &arguments);
                let (now, then) = (Value::Array(found.1), Value::Array(printed));
                assert_eq!((found.0, difference(&now, &then)), (code, None), "{arguments:?}");
            }
            Line::Files { files } => {
                let found = fs::read_dir(world.folder()).expect("a folder").map(|entry| {
                    let name = entry.expect("an entry").file_name().into_string().expect("UTF-8");
                    let text = world.read(&name).expect("a file");
                    (name, text)
                });
                assert_eq!(found.collect::<std::collections::BTreeMap<_, _>>(), files);
            }
        }
    }
}

#[test]
fn store_of_the_previous_version_reads_as_recorded() {
    let world = old();
    repeats(&world, "readings.jsonl");
    let doctor = world.does(&["doctor"]);
    assert!(doctor.ends_with("healthy\n"), "{doctor}");
}

#[test]
fn store_of_the_previous_version_undoes_and_redoes_as_recorded() {
    let world = old();
    repeats(&world, "steps.jsonl");
}

/// The earlier record of an external call is compared with a call of today.
#[test]
fn external_call_of_the_previous_version_is_recognised_when_it_is_repeated() {
    let world = old();
    for line in lines("repeated.jsonl") {
        let Line::Command { arguments, code, printed } = line else { panic!("a command") };
        let again = |printed: &[Value]| {
            let asks = printed.iter().find(|event| event["event"] == "asks");
            asks.map(|event| event["again_ms"].clone()).expect("an approval request")
        };
        let found = run(&world, &arguments);
        assert_eq!((found.0, again(&found.1)), (code, again(&printed)), "{:?}", found.1);
    }
}

#[test]
fn drafts_and_permissions_of_the_previous_version_are_kept() {
    let world = old();
    let Line::Command { printed, .. } = &lines("requests.jsonl")[0] else { panic!("a command") };
    let one = printed[0]["conversation"].as_str().expect("an id");
    world.does(&["list"]);
    let serving = Serving::start(&world, &[]);
    let draft = get(&world, &format!("/v1/conversations/{one}/draft?author=ada"));
    assert_eq!(draft["parts"][0]["text"], "what I was about to say", "{draft}");
    let path = world.folder().display();
    let draft = get(&world, &format!("/v1/draft?author=ada&folder={path}"));
    assert_eq!(draft["parts"][0]["text"], "a first message", "{draft}");
    let permissions = get(&world, &format!("/v1/conversations/{one}/permissions"));
    assert_eq!(permissions["mode"], "allow-edits", "{permissions}");
    assert!(permissions.to_string().contains("git status"), "{permissions}");
    drop(serving);
}

/// The receipt in a command's output: for a run, the first one.
fn receipt(printed: &[Value]) -> Value {
    let first = printed.first().cloned().unwrap_or_default();
    match first.get("event") {
        Some(_) => first["receipt"].clone(),
        None => first,
    }
}

#[test]
fn request_answered_by_the_previous_version_gets_the_same_receipt() {
    let world = old();
    let before = run(&world, &["--json".into(), "list".into(), "--all".into()]);
    let mut repeated = 0;
    for line in lines("requests.jsonl") {
        let Line::Command { arguments, code, printed } = line else { panic!("a command") };
        // These have the folder as an argument, and it differs here: see `api.jsonl`.
        let names_folder = ["new", "import", "ask", "retry", "edit"].contains(&arguments[1].as_str());
        // The request of a dropped turn has no answer in either version.
        let is_dropped = arguments.iter().any(|word| word == "old-c");
        if names_folder || is_dropped || !arguments.iter().any(|word| word == "--request-id") {
            continue;
        }
        let found = run(&world, &arguments);
        let (then, now) = (receipt(&printed), receipt(&found.1));
        assert_eq!((found.0, difference(&now, &then)), (code, None), "{arguments:?}");
        repeated += 1;
    }
    assert_eq!(repeated, 23);
    let after = run(&world, &["--json".into(), "list".into(), "--all".into()]);
    assert_eq!(before, after, "a request that came again has changed nothing");
    drop(after);
    let serving = Serving::start(&world, &[]);
    for line in text("api.jsonl").lines() {
        let line: Value = serde_json::from_str(line).expect("a recorded line");
        let path = line["path"].as_str().expect("a path");
        let found = call(&world, "POST", path, &line["body"].to_string());
        let (then, now) = (receipt(line["printed"].as_array().expect("replies")), receipt(&found));
        assert_eq!(difference(&now, &then), None, "{path} {}", line["body"]);
    }
    drop(serving);
}

/// The same id with another text was never the same request.
#[test]
fn request_id_of_the_previous_version_with_other_words_is_refused() {
    let world = old();
    for line in lines("requests.jsonl") {
        let Line::Command { mut arguments, .. } = line else { panic!("a command") };
        if ["say", "ask", "title"].contains(&arguments[1].as_str())
            && arguments.iter().any(|it| it == "--request-id")
        {
            let changed = arguments.iter().position(|it| it == "--conversation").expect("named") + 2;
            match arguments[1].as_str() {
                "title" => arguments[changed] = "Another title".into(),
                _ => arguments.push("and more".into()),
            }
            let (code, printed) = run(&world, &arguments);
            assert!(code != 0, "{arguments:?}: {printed:?}");
        }
    }
}

const NAMES: [&str; 6] = ["one", "fork", "two", "three", "four", "five"];

/// The conversation of an export.
fn exported(name: &str) -> String {
    let text = text(&format!("{name}.jsonl"));
    let header: Value = serde_json::from_str(text.lines().next().expect("a header")).expect("JSON");
    header["conversation"]["id"].as_str().expect("an id").to_owned()
}

/// Compares exports; the working folder and the number of the format were different.
fn same_lines(world: &World, now: &str, name: &str) {
    let (now, then) = (with_old_paths(world, now), text(name));
    // Only the importing person may grant permissions: an import takes over only denials.
    let lines = |text: &str| -> Vec<String> {
        let lines = text.lines().filter(|line| !line.starts_with("{\"permission\""));
        lines.map(|line| unnumbered(&stamped(line))).collect()
    };
    let (now, then) = (lines(&now), lines(&then));
    now.iter().zip(&then).for_each(|(now, then)| assert_eq!(now, then, "{name}"));
    assert_eq!(now.len(), then.len(), "{name}");
}

/// Without the time of the export.
/// The header of an export without the version of its format.
fn unnumbered(line: &str) -> String {
    match line.strip_prefix("{\"format\":").and_then(|rest| rest.split_once(",\"version\":")) {
        Some((format, rest)) => {
            format!("{format}{}", rest.trim_start_matches(|it: char| it.is_ascii_digit()))
        }
        None => line.to_owned(),
    }
}

fn stamped(text: &str) -> String {
    match text.split_once("\"exported_ms\":") {
        Some((before, after)) => {
            format!("{before}{}", after.trim_start_matches(|it: char| it.is_ascii_digit()))
        }
        None => text.to_owned(),
    }
}

#[test]
fn an_old_store_exports_the_same_as_before() {
    let world = old();
    for name in NAMES {
        let id = exported(name);
        let plain = world.does(&["export", "--conversation", &id]);
        same_lines(&world, &plain, &format!("{name}.jsonl"));
        if name != "fork" {
            let full = world.does(&["export", "--conversation", &id, "--full"]);
            same_lines(&world, &full, &format!("{name}.full.jsonl"));
        }
    }
}

#[test]
fn exports_of_the_previous_version_are_imported() {
    let world = World::working(&[]);
    let mut imported = Vec::new();
    for name in ["one", "two", "three", "four", "five"] {
        let file = world.home().join(format!("{name}.full.jsonl"));
        fs::write(&file, text(&format!("{name}.full.jsonl"))).expect("written");
        world.does(&["import", "--keep-folder", file.to_str().expect("UTF-8")]);
        let id = exported(name);
        let again = world.does(&["export", "--conversation", &id, "--full"]);
        imported.push(id);
        same_lines(&world, &again, &format!("{name}.full.jsonl"));
    }
    for line in lines("readings.jsonl") {
        let Line::Command { arguments, code, printed } = line else { panic!("a command") };
        let is_imported = imported.iter().any(|id| arguments.last() == Some(id));
        if !is_imported || !["log", "ops", "hidden"].contains(&arguments[1].as_str()) {
            continue;
        }
        let found = run(&world, &arguments);
        let (now, then) = (Value::Array(found.1), Value::Array(printed));
        assert_eq!((found.0, difference(&now, &then)), (code, None), "{arguments:?}");
    }
    for name in NAMES {
        let file = world.home().join(format!("{name}.jsonl"));
        fs::write(&file, text(&format!("{name}.jsonl"))).expect("written");
        let receipt = world.json(&["import", "--keep-folder", file.to_str().expect("UTF-8")]);
        let id = receipt["conversation"].as_str().expect("an id").to_owned();
        let again = world.does(&["export", "--conversation", &id]);
        let texts = |text: &str| -> Vec<Value> {
            let line = |line: &str| serde_json::from_str::<Value>(line).expect("JSON")["parts"].clone();
            text.lines().skip(1).map(line).collect()
        };
        assert_eq!(texts(&again), texts(&text(&format!("{name}.jsonl"))), "{name}");
    }
}

#[test]
fn settings_of_the_previous_version_load_without_a_warning() {
    let world = World::working(&[]);
    world.settings(&text("settings.toml"));
    let checked = world.run(&["config", "check"]);
    assert!(checked.status.success() && error(&checked).is_empty(), "{checked:?}");
    repeats(&world, "settings.jsonl");
    let created = world.run(&["new"]);
    assert!(created.status.success() && error(&created).is_empty(), "{created:?}");
}

fn get(world: &World, path: &str) -> Value {
    call(world, "GET", path, "").remove(0)
}

/// One request over the owner's socket: its reply, or the events of a run.
fn call(world: &World, method: &str, path: &str, body: &str) -> Vec<Value> {
    let token = fs::read_to_string(world.data().join("token")).expect("a token");
    let mut stream = UnixStream::connect(world.data().join("owner.sock")).expect("connected");
    let request = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Type: application/json\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{body}",
        token.trim(),
        body.len()
    );
    stream.write_all(request.as_bytes()).expect("sent");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    let lines = answer.lines().filter_map(|line| match line.starts_with('{') {
        true => Some(line),
        false => line.strip_prefix("data:"),
    });
    lines.map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {answer}"))).collect()
}
