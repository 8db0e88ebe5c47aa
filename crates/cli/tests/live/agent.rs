//! The agent at work in a real terminal, with the real owner: only a clear yes approves, text typed meanwhile goes to the
//! model, Ctrl-C stops.

use std::path::Path;

use super::harness::{World, error, out, shows, until};
use crate::term::pty::Pty;

const CTRL_C: &str = "\x03";
const CTRL_D: &str = "\x04";

/// A new conversation in the folder of the world, with this delay.
fn begun(world: &World, delay_ms: u32) -> Pty {
    let settings =
        format!("[model]\ndefault = \"demo\"\n[local]\nfind = false\n[demo]\nword_delay_ms = {delay_ms}\n");
    std::fs::write(world.config(), settings).expect("written");
    let path = |path: &Path| path.display().to_string();
    let command = format!("cd '{}' && exec '{}' --plain", path(world.folder()), env!("CARGO_BIN_EXE_retake"));
    let (home, data, config) = (path(world.home()), path(world.data()), path(&world.config()));
    let variables = [
        ("HOME", home.as_str()),
        ("RETAKE_DATA_DIR", data.as_str()),
        ("RETAKE_CONFIG", config.as_str()),
        ("PAGER", ""),
    ];
    let pty = Pty::run(Path::new("/bin/sh"), &["-c", &command], &variables);
    at_prompt(&pty);
    pty
}

fn at_prompt(pty: &Pty) {
    pty.until("the prompt", |screen| screen.trim_end().ends_with("\n>"));
    pty.reads_keys();
}

/// Waits for the request; earlier ones are gone by then.
fn asked(pty: &Pty, what: &str) {
    pty.until(what, |screen| screen.contains(what) && screen.trim_end().ends_with("\nallow?"));
    pty.reads_keys();
}

fn leaves(mut pty: Pty) {
    pty.send(CTRL_D);
    assert!(pty.ended());
    assert!(pty.is_restored());
}

#[test]
fn enter_alone_allows_nothing_and_y_does() {
    let world = World::working(&[]);
    let pty = begun(&world, 0);
    let file = world.folder().join("a.txt");
    pty.send("write a.txt: hello\r");
    asked(&pty, "● write a.txt");
    pty.send("\r");
    pty.until("the question again", |screen| screen.matches("allow?").count() == 2);
    assert!(!file.exists());
    pty.reads_keys();
    pty.answers("y");
    pty.shows("1 file has changed");
    at_prompt(&pty);
    assert_eq!(std::fs::read_to_string(&file).expect("written").trim_end(), "hello");
    leaves(pty);
}

#[test]
fn keys_pressed_before_an_approval_request_approve_nothing() {
    let world = World::working(&[]);
    let pty = begun(&world, 1500);
    pty.send("write a.txt: hello\r");
    // The model writes text before the tool call: an early yes is a message to it, on a line of its own.
    pty.shows("\nI");
    pty.send("y");
    pty.shows("meanwhile> y");
    pty.reads_keys();
    pty.send(CTRL_C);
    pty.shows("cleared");
    pty.send("\r");
    asked(&pty, "● write a.txt");
    assert!(!world.folder().join("a.txt").exists());
    pty.answers("n");
    pty.shows("✗ not run: the person said no");
    at_prompt(&pty);
    assert!(!world.folder().join("a.txt").exists());
    leaves(pty);
}

#[test]
fn a_text_as_answer_rejects_and_ctrl_c_stops_the_run() {
    let world = World::working(&[]);
    let pty = begun(&world, 0);
    pty.send("run `touch a`\r");
    asked(&pty, "● $ touch a");
    pty.answers("call it b");
    pty.shows("✗ not run: the person said no: call it b");
    at_prompt(&pty);
    pty.send("run `touch c`\r");
    asked(&pty, "● $ touch c");
    pty.send(CTRL_C);
    pty.shows("interrupted");
    at_prompt(&pty);
    assert!(!world.folder().join("a").exists() && !world.folder().join("c").exists());
    leaves(pty);
}

#[test]
fn lines_pasted_into_a_question_are_neither_answers_nor_messages() {
    let world = World::working(&[]);
    let pty = begun(&world, 0);
    for (bracketed, times) in [(false, 1), (true, 2)] {
        // The output of the first round is still on the screen in the second.
        let again = |what: &str| {
            pty.until(what, |screen| {
                screen.matches(what).count() == times && screen.trim_end().ends_with("\n>")
            });
        };
        pty.send("write a.txt: hello\r");
        asked(&pty, "● write a.txt");
        let pasted = "y\rrun `touch b`\rrun `touch c`";
        if bracketed {
            pty.paste(pasted);
        } else {
            pty.send(pasted);
        }
        pty.shows("· run `touch c`");
        pty.send(CTRL_C);
        pty.shows("cleared");
        pty.send("n\r");
        again("✗ not run: the person said no");
        pty.reads_keys();
        pty.send("/new\r");
        again("a new conversation begins with your next message");
        pty.reads_keys();
    }
    assert_eq!(world.json(&["list"])["conversations"].as_array().map(Vec::len), Some(2));
    assert_eq!(world.texts().iter().filter(|text| text.contains("touch")).count(), 0);
    assert!(std::fs::read_dir(world.folder()).expect("a folder").next().is_none(), "nothing was done");
    leaves(pty);
}

#[test]
fn a_rule_that_is_chosen_holds_for_the_conversation() {
    let world = World::working(&[]);
    let pty = begun(&world, 0);
    pty.send("run `touch a`\r");
    asked(&pty, "● $ touch a");
    pty.answers("c");
    pty.until("the rules", |screen| screen.trim_end().ends_with("number:"));
    pty.reads_keys();
    pty.send("1\r");
    pty.shows("allowed in this conversation: shell(touch a)");
    pty.shows("file has changed");
    at_prompt(&pty);
    pty.send("run `touch a b`\r");
    pty.until("the second", |screen| screen.matches("file has changed").count() == 2);
    at_prompt(&pty);
    pty.send("/permissions\r");
    pty.shows("allow  shell(touch a)");
    assert!(world.folder().join("b").exists());
    at_prompt(&pty);
    leaves(pty);
}

#[test]
fn a_rule_granted_for_good_is_named_and_can_be_taken_back() {
    let world = World::working(&[]);
    let pty = begun(&world, 0);
    pty.send("run `touch a`\r");
    asked(&pty, "● $ touch a");
    pty.answers("a");
    pty.until("the rules", |screen| screen.trim_end().ends_with("number:"));
    pty.reads_keys();
    pty.send("1\r");
    pty.shows("granted for good, in the settings: shell(touch a)");
    pty.shows("file has changed");
    at_prompt(&pty);
    let has_rule = || std::fs::read_to_string(world.config()).expect("read").contains("shell(touch a)");
    assert!(has_rule());
    pty.send("/permissions forget 1\r");
    until("the rule is gone", || !has_rule());
    at_prompt(&pty);
    leaves(pty);
}

#[test]
fn messages_typed_during_an_answer_are_answered_next() {
    let world = World::working(&[]);
    let pty = begun(&world, 60);
    pty.send("hello\r");
    pty.shows("I am the demo");
    pty.send("and more");
    pty.shows("meanwhile> and more");
    pty.reads_keys();
    pty.send("\r");
    pty.shows("the model gets this at its next step");
    pty.until("the second answer", |screen| {
        screen.contains("\n> and more\n") && screen.contains("This is turn 2")
    });
    pty.send(CTRL_C);
    pty.shows("interrupted, partial answer stored");
    at_prompt(&pty);
    leaves(pty);
}

#[test]
fn without_a_person_every_approval_is_rejected() {
    let world = World::working(&[]);
    let file = world.folder().join("a.txt");
    let ask = |flags: &[&str]| {
        let mut all = vec!["ask", "--new", "write a.txt: hello"];
        all.extend(flags);
        world.run(&all)
    };
    let denied = ask(&[]);
    assert!(!file.exists(), "{denied:?}");
    assert_eq!(denied.status.code(), Some(9), "the model was told, and answered: {denied:?}");
    assert!(
        error(&denied).contains("1 call was not allowed, so the task may be incomplete: exit code 9"),
        "{denied:?}"
    );
    assert!(
        error(&denied).contains("not allowed: write a.txt (it writes a file); --allow 'write(**)' or"),
        "{denied:?}"
    );
    let planned = ask(&["--mode", "plan", "--allow", "write"]);
    assert!(!file.exists() && error(&planned).contains("plan mode only reads"), "{planned:?}");
    assert_eq!(planned.status.code(), Some(0), "what plan mode denies was meant so: {planned:?}");
    let allowed = ask(&["--allow", "write(**)"]);
    assert!(file.exists(), "{allowed:?}");
    std::fs::remove_file(&file).expect("removed");
    let events = ask(&["--mode", "allow-edits", "--json"]);
    assert_eq!(events.status.code(), Some(0));
    let events: Vec<serde_json::Value> =
        out(&events).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let names: Vec<&str> = events.iter().map(|event| event["event"].as_str().expect("a name")).collect();
    assert!(file.exists() && names.contains(&"calling") && names.contains(&"called"), "{names:?}");
    assert_eq!(names.last(), Some(&"ended"));
    let bad = ask(&["--allow", "rm -rf"]);
    shows!(world.seen(&["ask", "--allow", "rm -rf"], &bad));
}

#[test]
fn formatter_of_the_settings_follows_an_edit_and_is_undone_with_it() {
    let world = World::working(&[]);
    let settings = "[model]\ndefault = \"demo\"\n[local]\nfind = false\n[demo]\nword_delay_ms = 0\n[formatter.tidy]\n\
                    files = [\"*.txt\"]\ncommand = [\"sed\", \"-i\", \"s/milk/tea/\"]\n[language_server.none]\nfiles = [\"*.md\"]\n";
    world.settings(settings);
    let told = world.does(&["ask", "--mode", "allow-edits", "write notes.txt: buy milk"]);
    assert_eq!(world.read("notes.txt").as_deref(), Some("buy tea\n"), "{told}");
    let edit = "edit notes.txt: replace \"tea\" with \"milk and milk\"";
    world.does(&["ask", "--mode", "allow-edits", edit]);
    assert_eq!(world.read("notes.txt").as_deref(), Some("buy tea and milk\n"));
    world.does(&["undo", "--yes"]);
    assert_eq!(world.read("notes.txt").as_deref(), Some("buy tea\n"));
    world.does(&["undo", "--yes"]);
    assert_eq!(world.read("notes.txt"), None);
    let wrong = out(&world.run(&["config", "check"]));
    assert!(wrong.contains("language_server.none.command") && wrong.contains("never runs"), "{wrong}");
}
