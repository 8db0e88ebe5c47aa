//! Hooks through the program: a server that records what it gets and answers as the test says, owners that are killed, and what the
//! verbs print.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;

use super::harness::{World, out, until};

/// A server for hooks. It answers with one status; with 0 it closes the connection without an answer.
struct HookServer {
    address: SocketAddr,
    status: Arc<AtomicU16>,
    got: Arc<Mutex<Vec<Value>>>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl HookServer {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("bound");
        let (status, got, over) =
            (Arc::new(AtomicU16::new(200)), Arc::default(), Arc::new(AtomicBool::new(false)));
        let (answers, gets, ends) = (Arc::clone(&status), Arc::clone(&got), Arc::clone(&over));
        let thread = std::thread::spawn(move || {
            let mut servers = Vec::new();
            for stream in listener.incoming().map_while(Result::ok) {
                if ends.load(Ordering::SeqCst) {
                    break;
                }
                let (answers, gets) = (Arc::clone(&answers), Arc::clone(&gets));
                // A client that is killed leaves a request half sent.
                servers.push(std::thread::spawn(move || drop(serve(stream, &answers, &gets))));
            }
            // If one has panicked, its missing event has failed the test.
            servers.into_iter().for_each(|it| drop(it.join()));
        });
        Self { address, status, got, over, thread: Some(thread) }
    }

    fn answers(&self, status: u16) {
        self.status.store(status, Ordering::SeqCst);
    }

    /// The events so far, each as its id and its type.
    fn events(&self) -> Vec<(String, String)> {
        let got = self.got.lock().expect("no panic");
        let text = |event: &Value, field: &str| event[field].as_str().unwrap_or_default().to_owned();
        got.iter().map(|event| (text(event, "id"), text(event, "type"))).collect()
    }

    /// The types of the events so far, each id once. Messages in a row may be one event or several.
    fn types(&self) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let events = self.events().into_iter().filter(|(id, _)| seen.insert(id.clone()));
        let mut types: Vec<String> = events.map(|(_, kind)| kind).collect();
        types.dedup();
        types
    }

    fn settings(&self, more: &str) -> String {
        let address = self.address;
        format!(
            "[model]\ndefault = \"demo\"\n[demo]\nword_delay_ms = 0\n[hook.web]\nurl = \"http://{address}/secret-path\"\n\
             on = [\"said\", \"rewound\", \"restored\", \"turn-ended\"]\n{more}"
        )
    }
}

impl Drop for HookServer {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        // Wakes the thread, which then sees that it should end.
        let _ = TcpStream::connect(self.address);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has failed the test by its missing events.
            let _ = thread.join();
        }
    }
}

/// Reads a request, records its event, and answers.
fn serve(mut stream: TcpStream, status: &AtomicU16, got: &Mutex<Vec<Value>>) -> std::io::Result<()> {
    stream.set_read_timeout(Some(Duration::from_secs(20)))?;
    let (mut request, mut piece) = (Vec::new(), [0; 4096]);
    let body = loop {
        let head = request.windows(4).position(|it| it == b"\r\n\r\n");
        let text = String::from_utf8_lossy(&request).to_lowercase();
        let length =
            text.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
        if let (Some(head), Some(length)) = (head, length)
            && request.len() >= head + 4 + length
        {
            break request.split_off(head + 4);
        }
        match stream.read(&mut piece)? {
            0 => return Ok(()),
            read => request.extend_from_slice(&piece[..read]),
        }
    };
    let event = serde_json::from_slice(&body).expect("an event is JSON");
    got.lock().expect("no panic").push(event);
    let status = status.load(Ordering::SeqCst);
    if status == 0 {
        return Ok(());
    }
    write!(stream, "HTTP/1.1 {status} Status\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
}

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
    assert!(list.contains("waits ") && list.contains(": HTTP 503") && list.contains("2 changes"), "{list}");
    let doctor = world.does(&["doctor"]);
    assert!(doctor.contains("outbox: web-1 (2 changes) waits "), "{doctor}");
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
