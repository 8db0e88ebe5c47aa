//! Hooks through the program: a server that records what it gets and answers as the test says, owners that are killed, and what the
//! verbs print.

use std::collections::BTreeSet;
use std::net::TcpListener;

use serde_json::Value;

use super::harness::{World, out, until};
use super::hook_server::HookServer;

#[test]
fn events_of_a_conversation_reach_a_hook_in_their_order() {
    let server = HookServer::start();
    let world = World::new();
    world.settings(&server.settings(""));
    let all = ["retake.said", "retake.turn-ended", "retake.rewound", "retake.restored"];
    // What is taken back before it was sent is not sent.
    world.does(&["ask", "one"]);
    until("the turn is there", || server.types() == all[..2]);
    world.does(&["rewind", "t1", "--yes"]);
    until("the rewind is there", || server.types() == all[..3]);
    world.does(&["undo", "--yes"]);
    until("all events are there", || server.types() == all);
    until("nothing waits", || world.does(&["outbox", "list"]) == "nothing waits to be delivered\n");
    let got = server.got.lock().expect("no panic").clone();
    let entries = got.iter().flat_map(|event| event["data"]["came"].as_array().expect("a list"));
    assert!(entries.clone().all(|entry| entry.get("text").is_none()), "texts are not sent: {got:?}");
    assert_eq!(entries.count(), 4, "{got:?}");
    assert_eq!(got[got.len() - 2]["data"]["gone_count"], 2, "{got:?}");
}

#[test]
fn what_could_not_be_delivered_waits_over_a_kill_and_is_named() {
    let server = HookServer::start();
    let world = World::new();
    world.settings(&server.settings(""));
    server.answers(503);
    world.does(&["ask", "one"]);
    until("an attempt has failed", || {
        world.json(&["outbox", "list"])["items"][0]["last_result"] == "HTTP 503"
    });
    let list = world.does(&["outbox", "list"]);
    assert!(list.contains("waits ") && list.contains(": HTTP 503") && list.contains(" changes"), "{list}");
    let doctor = world.does(&["doctor"]);
    assert!(doctor.contains("outbox: web-1 (") && doctor.contains(" changes) waits "), "{doctor}");
    assert!(doctor.contains("healthy"), "{doctor}");
    // The owner is killed with the connection cut in the middle.
    server.answers(0);
    world.does(&["outbox", "retry", "--all"]);
    world.kill_owners();
    server.answers(200);
    // Any command starts an owner, which delivers.
    until("the rest arrives", || {
        world.does(&["outbox", "list"]);
        server.types() == ["retake.said", "retake.turn-ended"]
    });
    until("nothing waits", || world.does(&["outbox", "list"]) == "nothing waits to be delivered\n");
    // Each delivery has had one id in all attempts.
    let ids: BTreeSet<String> = server.events().into_iter().map(|(id, _)| id).collect();
    assert!((2..=3).contains(&ids.len()), "{:?}", server.events());
    let seen = world.owner_log() + &list + &doctor;
    assert!(!seen.contains("secret-path"), "an address may hold a secret: {seen}");
}

#[test]
fn refused_delivery_is_passed_over_and_can_be_dropped() {
    let server = HookServer::start();
    let world = World::new();
    world.settings(&server.settings(""));
    server.answers(400);
    world.does(&["ask", "one"]);
    let items = || world.json(&["outbox", "list"])["items"].as_array().expect("items").clone();
    let passed = || items().iter().filter(|item| item["failure"] == "refused").count();
    until("all are passed over", || passed() >= 2 && passed() == items().len());
    let all = passed();
    let list = world.does(&["outbox", "list"]);
    assert!(
        list.contains("web-1.1") && list.contains("passed over, because the destination refused it"),
        "{list}"
    );
    server.answers(200);
    assert!(world.does(&["outbox", "retry", "web-1.1"]).starts_with("1 item to deliver now\n"));
    until("it is delivered", || items().len() == all - 1);
    let dropped = world.does(&["outbox", "drop", "--all"]);
    assert!(dropped.ends_with(" given up\nnothing waits to be delivered\n"), "{dropped}");
    let none = world.run(&["outbox", "drop", "web-9"]);
    assert_eq!(none.status.code(), Some(3), "{none:?}");
    let nothing = world.run(&["outbox", "retry"]);
    assert_eq!(nothing.status.code(), Some(2), "{nothing:?}");
    assert_eq!(out(&nothing), "");
}

#[test]
fn rewind_does_not_wait_for_a_hook_that_hangs() {
    // Nobody accepts: the connection stays open without an answer.
    let silent = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = silent.local_addr().expect("bound");
    let world = World::new();
    world.settings(&format!(
        "[model]\ndefault = \"demo\"\n[demo]\nword_delay_ms = 0\n[hook.silent]\nurl = \"http://{address}/\"\n\
         timeout_s = 300\non = [\"rewound\"]\n"
    ));
    world.does(&["ask", "one"]);
    let done = world.does(&["rewind", "t1", "--yes"]);
    assert!(done.contains("rewound: 2 messages"), "{done}");
    let list = world.json(&["outbox", "list"]);
    assert_eq!(list["items"][0]["destination"], "silent", "it is still being delivered: {list}");
    // The owner ends without waiting for it.
    assert!(world.run(&["stop"]).status.success());
}

#[test]
fn command_of_a_hook_gets_events_on_its_standard_input() {
    let world = World::working(&[("a", "one\n")]);
    let log = world.home().join("log");
    std::fs::create_dir(&log).expect("a folder");
    let log = log.display();
    world.settings(&format!(
        "[model]\ndefault = \"demo\"\n[demo]\nword_delay_ms = 0\n[hook.log]\non = [\"rewound\"]\n\
         command = [\"sh\", \"-c\", \"cat >> {log}/events\"]\nwrite = [\"{log}\"]\n",
    ));
    world.does(&["ask", "one"]);
    world.does(&["rewind", "t1", "--yes"]);
    until("the command has run", || world.json(&["outbox", "list"])["items"] == serde_json::json!([]));
    let event = std::fs::read(format!("{log}/events")).expect("written");
    let event: Value = serde_json::from_slice(&event).expect("JSON");
    assert_eq!((&event["type"], &event["data"]["gone_count"]), (&"retake.rewound".into(), &2.into()));
}

#[test]
fn hook_of_a_folder_gets_events_after_its_approval_without_a_restart() {
    let server = HookServer::start();
    let address = server.address;
    let file = format!("[hook.web]\nurl = \"http://{address}/secret-path\"\non = [\"said\", \"rewound\"]\n");
    let world = World::working(&[]).with("RETAKE_IDLE_S", "60");
    std::fs::create_dir(world.folder().join(".retake")).expect("a folder");
    world.write(".retake/hooks.toml", &file);
    world.settings("[model]\ndefault = \"demo\"\n[demo]\nword_delay_ms = 0\n");
    world.does(&["ask", "one"]);
    let state = || world.json(&["hooks"])["hooks"][0]["state"].clone();
    assert_eq!(state(), "needs_approval");
    let unasked = world.run(&["hooks", "approve", "web"]);
    assert_eq!((unasked.status.code(), out(&unasked).as_str()), (Some(2), ""), "{unasked:?}");
    let owner = || world.json(&["status"])["pid"].clone();
    let before = owner();
    assert!(world.does(&["hooks", "approve", "web", "--yes"]).starts_with("web  set"));
    world.does(&["rewind", "t1", "--yes"]);
    until("the rewind is there", || server.types() == ["retake.rewound"]);
    assert_eq!((owner(), server.events().len()), (before, 1), "what was before is not sent");
    // A changed entry waits, also after a kill, until the file is as it was.
    world.write(".retake/hooks.toml", &file.replace("said", "marked"));
    world.does(&["ask", "two"]);
    let item = || world.json(&["outbox", "list"])["items"][0].clone();
    until("it waits", || item()["last_result"] == "its file has changed since its approval");
    world.kill_owners();
    assert_eq!((state(), &item()["configured"]), ("changed".into(), &true.into()));
    world.write(".retake/hooks.toml", &file);
    world.does(&["outbox", "retry", "--all"]);
    until("the messages are there", || server.types() == ["retake.rewound", "retake.said"]);
    until("nothing waits", || world.does(&["outbox", "list"]) == "nothing waits to be delivered\n");
    // A revoked one gets nothing, and what it was owed is listed.
    server.answers(503);
    world.does(&["ask", "three"]);
    until("it is tried", || item()["last_result"] == "HTTP 503");
    let got = server.events().len();
    world.does(&["hooks", "revoke", "web"]);
    assert_eq!((state(), &item()["configured"]), ("needs_approval".into(), &false.into()));
    server.answers(200);
    world.does(&["ask", "four"]);
    let list = world.does(&["outbox", "list"]);
    assert!(list.contains("waits: its destination is not set any more"), "{list}");
    assert_eq!(server.events().len(), got);
    let seen = world.owner_log() + &list;
    assert!(!seen.contains("secret-path"), "an address may hold a secret: {seen}");
    world.kill_owners();
}

#[test]
fn approval_request_reaches_a_hook_while_it_waits() {
    let server = HookServer::start();
    let world = World::working(&[]);
    world.settings(&server.settings("").replace("turn-ended", "approval-waiting"));
    world.does(&["ask", "one"]);
    let pty = world.converse();
    pty.until("the prompt", |screen| screen.trim_end().ends_with("\n>"));
    pty.reads_keys();
    pty.send("make a file a.txt with hello\r");
    let waiting = || {
        let got = server.got.lock().expect("no panic");
        got.iter().find(|event| event["type"] == "retake.approval-waiting").cloned()
    };
    until("the request is there", || waiting().is_some());
    let event = waiting().expect("it is there");
    assert_eq!(event["data"]["tool"], "write", "{event}");
    assert!(event["data"]["call"].is_string(), "{event}");
    assert_eq!(world.read("a.txt"), None, "nobody has answered");
    drop(pty);
    world.kill_owners();
}
