//! Memory on the command line and in a conversation: a change is an entry, so that a rewind takes it back.

use std::fs;

use super::harness::{World, error, out};

/// The last column of the list: the words of the facts.
fn words(list: &str) -> Vec<&str> {
    list.lines().map(|line| line.rsplit("  ").next().unwrap_or_default().trim()).collect()
}

#[test]
fn facts_are_added_edited_forgotten_and_taken_back() {
    let world = World::working(&[]);
    assert_eq!(world.does(&["memory"]), "nothing is remembered here\n");
    let port = world.does(&["memory", "add", "The port is 80"]);
    world.does(&["memory", "add", "--everywhere", "Answer briefly"]);
    assert_eq!(words(&world.does(&["memory"])), ["Answer briefly", "The port is 80"]);
    assert_eq!(words(&world.does(&["memory", "search", "PORT"])), ["The port is 80"]);
    let edited = world.does(&["memory", "edit", port.trim(), "The port is 81"]);
    assert_eq!(words(&world.does(&["memory"])), ["The port is 81", "Answer briefly"]);
    let facts = world.json(&["memory"]);
    assert_eq!(facts["facts"][0]["id"], edited.trim());
    let home = facts["facts"][0]["conversation"].as_str().expect("a conversation").to_owned();
    world.does(&["undo", "--conversation", &home, "--yes"]);
    assert_eq!(words(&world.does(&["memory"])), ["Answer briefly", "The port is 80"]);
    assert_eq!(world.does(&["memory", "forget", &port[..6]]), "forgotten\n");
    assert_eq!(words(&world.does(&["memory"])), ["Answer briefly"]);
    let refused = world.run(&["memory", "forget", port.trim()]);
    assert!(error(&refused).contains("is remembered here"), "{refused:?}");
    // Another folder has only the facts for all.
    let elsewhere = world.home().join("elsewhere");
    fs::create_dir(&elsewhere).expect("made");
    let list = world.command(&["memory"]).current_dir(&elsewhere).output().expect("it runs");
    assert_eq!(words(&out(&list)), ["Answer briefly"]);
}

#[test]
fn model_gets_the_facts_once_and_the_person_sees_which() {
    let world = World::working(&[]);
    world.does(&["memory", "add", "The port is 80"]);
    world.does(&["ask", "one apple"]);
    world.does(&["ask", "two pears"]);
    let log = world.does(&["log"]);
    assert_eq!(log.matches("recalled 1 fact\n").count(), 1, "{log}");
    assert!(log.contains("- The port is 80"), "{log}");
    let facts = world.json(&["memory"]);
    let home = facts["facts"][0]["conversation"].as_str().expect("a conversation");
    world.does(&["rewind", "t1", "--conversation", home, "--yes"]);
    let log = world.does(&["log"]);
    assert!(!log.contains("The port is 80") && log.contains("- (no longer remembered)"), "{log}");
}

#[test]
fn change_in_a_conversation_goes_with_its_turn() {
    let world = World::working(&[]);
    world.does(&["ask", "one apple"]);
    let pty = world.converse();
    pty.until("the prompt", |screen| screen.trim_end().ends_with("\n>"));
    pty.reads_keys();
    pty.send("/memory add The port is 80\r");
    pty.until("the list has it", |_| world.does(&["memory"]).contains("The port is 80"));
    pty.until("the prompt", |screen| screen.trim_end().ends_with("\n>"));
    pty.reads_keys();
    pty.send("/memory port\r");
    pty.until("the line", |screen| {
        screen.matches("The port is 80").count() > 1 && screen.trim_end().ends_with("\n>")
    });
    pty.reads_keys();
    pty.send("/undo\r");
    pty.until("it is taken back", |_| world.does(&["memory"]) == "nothing is remembered here\n");
}
