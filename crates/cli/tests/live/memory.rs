//! Memory on the command line and in a conversation: a change is an entry, so that a rewind takes it back.

use std::fs;

use serde_json::json;

use super::harness::{World, error, out, until};
use super::hook_server::HookServer;

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
    let counts = "! 1 remembered fact is taken back, and 1 comes back\n";
    for undo in [&["plan", "undo", "--conversation", &home][..], &["undo", "--conversation", &home, "--yes"]]
    {
        let told = world.does(undo);
        assert!(told.contains(counts), "{undo:?}: {told}");
    }
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

#[test]
fn memory_service_gets_what_comes_and_goes_and_recalls_what_still_holds() {
    let server = HookServer::start();
    let world = World::new();
    world.settings(&server.in_table("agent.memory", ""));
    server.recalls(json!([{ "text": "Tests need\na database" }]));
    world.does(&["ask", "which port"]);
    let question = server.questions().remove(0);
    assert_eq!((&question["query"], &question["limit"]), (&json!("which port"), &json!(20)), "{question}");
    assert!(world.does(&["log"]).contains("- Tests need a database"));
    let entries = || {
        let got = server.got.lock().expect("no panic").clone();
        let lists = got.iter().filter_map(|event| event["data"]["came"].as_array());
        (lists.flatten().cloned().collect::<Vec<_>>(), got[0]["data"]["conversation"].clone())
    };
    until("the answer is there", || entries().0.last().is_some_and(|entry| entry["role"] == "assistant"));
    let (said, conversation) = entries();
    assert!(said.iter().any(|entry| entry["text"] == "which port"), "{said:?}");
    // A fact that names what it comes from is recalled only while that is there.
    let entries = [said[said.len() - 1]["id"].clone()];
    let from = json!({ "text": "It is port 80", "conversation": conversation, "entries": entries });
    server.recalls(json!([{ "text": "Tests need a database" }, from]));
    world.does(&["ask", "again"]);
    let log = world.does(&["log"]);
    assert_eq!(
        (log.matches("- Tests need").count(), log.matches("- It is port 80").count()),
        (1, 1),
        "{log}"
    );
    world.does(&["rewind", "t1", "--yes"]);
    until("the rewind is told", || server.types().ends_with(&["retake.rewound".to_owned()]));
    world.does(&["ask", "once more"]);
    let log = world.does(&["log"]);
    assert!(log.contains("- Tests need") && !log.contains("port 80"), "{log}");
    assert_eq!(server.questions().len(), 3);
}

#[test]
fn memory_service_that_fails_is_named_and_the_turn_goes_on() {
    let server = HookServer::start();
    let world = World::new();
    world.settings(&server.in_table("agent.memory", ""));
    server.answers(503);
    let asked = world.run(&["ask", "one"]);
    assert!(asked.status.success(), "{asked:?}");
    let expected = "the memory service recalls nothing: HTTP 503; the turn goes on without its facts";
    assert!(error(&asked).contains(expected), "{asked:?}");
    server.answers(200);
    server.recalls(json!("none"));
    let asked = world.run(&["ask", "two"]);
    assert!(error(&asked).contains("its answer has another form"), "{asked:?}");
    // Its deliveries were not lost.
    until("both turns are told", || {
        world.does(&["outbox", "retry", "--all"]);
        server.got.lock().expect("no panic").iter().any(|it| it.to_string().contains("two"))
    });
    assert!(!(world.owner_log() + &error(&asked)).contains("secret-path"));
}
