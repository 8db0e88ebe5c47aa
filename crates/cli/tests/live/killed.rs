//! The program killed in the middle of a turn, and started again: no message is lost, nothing is stuck, and the model learns
//! what is unknown.

use std::path::Path;
use std::process::Child;

use serde_json::{Value, json};

use super::harness::{World, outside, runs, until};
use super::model::{Model, call, half, shell, words};
use super::{CTRL_D, prompt};

/// The model's text for a call with an unknown result.
const NO_RESULT: &str = "The tool failed: [no result: the call was interrupted]";

/// Starts a turn with all permissions.
fn ask(world: &World, text: &str) -> Child {
    world.command(&["--json", "ask", "--mode", "allow-all", text]).spawn().expect("it starts")
}

pub(super) fn holds(folder: &Path, needle: &[u8]) -> bool {
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    files
        .filter(|path| path.is_file())
        .filter_map(|path| std::fs::read(path).ok())
        .any(|bytes| bytes.windows(needle.len()).any(|it| it == needle))
}

/// The last result of a call in the model's prompt.
fn results(model: &Model) -> Vec<Value> {
    let asked = model.asked_last();
    asked.into_iter().filter(|it| it["role"] == "tool").map(|it| it["content"].clone()).collect()
}

fn succeeded(told: &[Value]) {
    let end = told.last().expect("an end");
    assert_eq!((&end["event"], &end["outcome"]), (&json!("ended"), &json!("succeeded")), "{end}");
}

#[test]
fn in_the_middle_of_a_command() {
    let model = Model::start();
    let world = model.world(&[("a", "one\n")]);
    model.turn(&world, "hello", vec![words("hi")]);
    let command = format!("echo two > a; echo $$ > made; {}", world.waits_for("nothing"));
    model.then(vec![shell(&command)]);
    let child = ask(&world, "work");
    until("the command has written", || world.read("made").is_some_and(|it| it.ends_with('\n')));
    world.kill(child);

    let log = world.json(&["log"]);
    let entries = log["entries"].as_array().expect("entries");
    assert_eq!(entries.len(), 4, "{log}");
    assert_eq!(entries[2]["parts"][0]["text"], "work");
    assert_eq!(entries[3]["parts"][0]["name"], "shell");
    succeeded(&model.turn(&world, "and now?", vec![words("I see")]));
    assert_eq!(results(&model), [NO_RESULT]);

    let plan = world.json(&["plan", "rewind", "t2"]);
    let paths = plan["files"]["paths"].as_array().expect("paths");
    let names: Vec<&str> = paths.iter().filter_map(|path| path["path"].as_str()).collect();
    assert_eq!(names, ["a", "made"], "{plan}");
    let verdicts: Vec<&Value> = paths.iter().map(|path| &path["verdict"]).collect();
    assert_eq!(verdicts, ["ambiguous", "ambiguous"], "nobody was there to see who wrote: {plan}");
    let pid = outside(&world.read("made").expect("it is there"), world.home());
    let pid = pid.expect("it goes on without the program");
    world.does(&["rewind", "t2", "--stop", "--choose", "a=checkpoint", "--choose", "made=checkpoint"]);
    assert!(!runs(&pid), "it has ended");
    assert_eq!((world.read("a").as_deref(), world.read("made")), (Some("one\n"), None), "{plan}");
    succeeded(&model.turn(&world, "again", vec![shell("cat a"), words("one")]));
}

#[test]
fn in_the_middle_of_an_answer() {
    let model = Model::start();
    let world = model.world(&[("a", "one\n")]);
    model.then(vec![call("write", json!({"path": "b", "content": "b\n"})), half("so far it is ")]);
    let child = ask(&world, "tell");
    until("the half is saved", || holds(world.data(), b"so far it is"));
    world.kill(child);

    let log = world.json(&["log"]);
    let entries = log["entries"].as_array().expect("entries");
    assert_eq!(entries.len(), 4, "{log}");
    assert_eq!(entries[3]["interrupted"], true, "{log}");
    assert_eq!(entries[3]["parts"][0]["text"], "so far it is ");
    assert_eq!(world.read("b").as_deref(), Some("b\n"));
    succeeded(&model.turn(&world, "go on", vec![words("good")]));
    let asked = model.asked_last();
    let texts: Vec<&Value> = asked.iter().map(|it| &it["content"]).collect();
    assert!(texts.iter().any(|it| it.as_str().is_some_and(|it| it.contains("so far it is"))), "{texts:?}");
    world.does(&["rewind", "t1"]);
    assert_eq!((world.read("b"), world.texts().len()), (None, 0));
}

#[test]
fn before_a_word_of_the_answer() {
    let model = Model::start();
    let world = model.world(&[]);
    model.then(vec![half("")]);
    let child = ask(&world, "tell");
    until("it is asked", || !model.asked().is_empty());
    world.kill(child);
    assert_eq!(world.texts(), ["tell"], "what was said is kept");
    succeeded(&model.turn(&world, "are you there?", vec![words("yes")]));
    assert_eq!(world.texts(), ["tell", "are you there?", "yes"]);
}

#[test]
fn while_a_person_is_asked() {
    let model = Model::start();
    let world = model.world(&[("a", "one\n")]);
    model.turn(&world, "hello", vec![words("hi")]);
    model.then(vec![call("write", json!({"path": "b", "content": "b\n"}))]);
    let mut pty = world.converse();
    prompt(&pty);
    pty.send("write it\r");
    pty.shows("write b");
    pty.shows("allow? ");
    pty.kill_at_once();
    world.kill_owners();

    let log = world.json(&["log"]);
    assert_eq!(log["entries"].as_array().map(Vec::len), Some(4), "{log}");
    assert_eq!(world.read("b"), None, "nobody said that it may");
    let mut pty = world.converse();
    prompt(&pty);
    model.then(vec![call("write", json!({"path": "b", "content": "b\n"})), words("written")]);
    pty.send("once more\r");
    pty.shows("allow? ");
    pty.reads_keys();
    pty.answers("y");
    pty.shows("written");
    prompt(&pty);
    pty.send(CTRL_D);
    assert!(pty.ended());
    assert_eq!(world.read("b").as_deref(), Some("b\n"));
    assert_eq!(results(&model)[0], NO_RESULT);
}
