//! The owner as a process: its place, the access of other users, and its end.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::net::{UnixListener, UnixStream};
use std::process::{Child, Command, Stdio};
use std::thread;

use rustix::process::Signal;
use serde_json::Value;

use super::harness::{World, error, out, signal, until};

/// An owner without a client.
pub(super) struct Serving {
    child: Option<Child>,
    /// Its output at the start.
    pub(super) said: Vec<String>,
}

impl Serving {
    pub(super) fn start(world: &World, arguments: &[&str]) -> Self {
        Self::by(world.command(&[&["serve"], arguments].concat()))
    }

    /// An owner that is killed when it first reaches a point.
    pub(super) fn doomed(world: &World, point: &str) -> Self {
        let mut command = world.command(&["serve"]);
        command.env("RETAKE_FAILPOINT", point);
        Self::by(command)
    }

    fn by(mut command: Command) -> Self {
        let mut child = command.spawn().expect("it starts");
        let stdout = child.stdout.take().expect("a pipe");
        let mut said = Vec::new();
        for line in BufReader::new(stdout).lines() {
            said.push(line.expect("a line"));
            if said.last().is_some_and(|line| line.contains("ends it")) {
                return Self { child: Some(child), said };
            }
        }
        panic!("it ended: {said:?} {:?}", child.wait_with_output());
    }

    fn child(&mut self) -> &mut Child {
        self.child.as_mut().expect("it was not waited for")
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.as_ref().expect("it was not waited for").id()
    }

    pub(super) fn signal(&self, told: Signal) {
        signal(&self.pid().to_string(), told);
    }

    pub(super) fn has_ended(&mut self) -> bool {
        self.child().try_wait().expect("asked").is_some()
    }

    /// Waits for its end by itself, which must be a failure; returns its output.
    pub(super) fn said_at_its_end(mut self) -> String {
        until("it ends", || self.has_ended());
        let output = self.child.take().expect("it is there").wait_with_output().expect("ended");
        assert_eq!(output.status.code(), Some(7), "{output:?}");
        error(&output)
    }

    /// Waits for its end; returns whether it was successful.
    pub(super) fn ended(mut self) -> bool {
        until("it ends", || self.has_ended());
        self.child.take().expect("it is there").wait().expect("ended").success()
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        // A failing test leaves nothing behind.
        if let Some(mut child) = self.child.take() {
            drop(child.kill());
            drop(child.wait());
        }
    }
}

fn socket_is_there(world: &World) -> bool {
    world.data().join("owner.sock").exists()
}

fn running(world: &World) -> usize {
    world.json(&["status"])["running"].as_array().map_or(0, Vec::len)
}

#[test]
fn all_commands_work_through_the_owner_until_it_is_told_to_stop() {
    let world = World::new();
    let serving = Serving::start(&world, &["--listen", "127.0.0.1:0"]);
    let data = world.data().display().to_string();
    assert_eq!(serving.said[0], format!("serving {data} (process {})", serving.pid()));
    assert!(serving.said[1].starts_with("listening at http://127.0.0.1:"), "{:?}", serving.said);
    let owner = |status: &Value| {
        assert_eq!((&status["pid"], &status["serves"]), (&serving.pid().into(), &true.into()));
    };
    owner(&world.json(&["status"]));
    let second = world.run(&["serve"]);
    assert!(!second.status.success());
    assert!(error(&second).contains(&format!("process {}", serving.pid())), "{second:?}");
    world.does(&["new"]);
    world.does(&["say", "one"]);
    world.does(&["ask", "two"]);
    assert_eq!(world.texts().len(), 3);
    world.does(&["rewind", "t2"]);
    assert_eq!(world.texts(), ["one"]);
    world.does(&["undo"]);
    assert_eq!(world.texts().len(), 3);
    owner(&world.json(&["status"]));
    assert_eq!(world.does(&["stop"]), "stopped\n");
    assert!(serving.ended());
    assert!(!socket_is_there(&world));
    assert!(world.does(&["status"]).starts_with("no process owns"));
    assert_eq!(world.does(&["stop"]), "no process owns the conversations now\n");
    assert_eq!(world.texts().len(), 3, "the next command starts another one");
}

/// The owner waits for the end of an answer after a request to stop.
#[test]
fn a_stopped_owner_waits_for_the_end_of_a_run() {
    for way in [None, Some(Signal::TERM), Some(Signal::INT)] {
        let world = World::new();
        world.settings("[model]\ndefault = \"demo\"\n[local]\nfind = false\n[demo]\nword_delay_ms = 40\n");
        let serving = Serving::start(&world, &[]);
        let asking = world.command(&["ask", "one apple"]).spawn().expect("it starts");
        until("it runs", || running(&world) == 1);
        match way {
            None => drop(world.does(&["stop"])),
            Some(signal) => serving.signal(signal),
        }
        assert!(serving.ended(), "{way:?}");
        let told = asking.wait_with_output().expect("ended");
        assert!(told.status.success(), "{way:?}: {told:?}");
        let log = world.json(&["log"]);
        assert_eq!(log["entries"].as_array().map(Vec::len), Some(2), "{way:?}: {log}");
        assert!(log["entries"][1]["interrupted"] != true, "{way:?}: {log}");
        assert!(!socket_is_there(&world), "{way:?}");
    }
}

/// A second interrupt means not to wait: the output so far is stored, and marked.
#[test]
fn an_owner_that_is_interrupted_twice_ends_at_once() {
    let world = World::new();
    world.settings("[model]\ndefault = \"demo\"\n[local]\nfind = false\n[demo]\nword_delay_ms = 100\n");
    let mut serving = Serving::start(&world, &[]);
    let words: Vec<String> = (0..300).map(|number| format!("word{number}")).collect();
    let mut asking = world.command(&["ask", &words.join(" ")]).spawn().expect("it starts");
    let mut some = [0; 8];
    asking.stdout.as_mut().expect("a pipe").read_exact(&mut some).expect("the first of the answer");
    until("a part is saved", || {
        serving.signal(Signal::INT);
        serving.has_ended()
    });
    // The client becomes the owner, and shows the whole answer: the stored half, or a new one if none was stored.
    let told = asking.wait_with_output().expect("ended");
    let log = world.json(&["log"]);
    let entries = log["entries"].as_array().expect("entries");
    assert_eq!(entries.len(), 2, "{log} {told:?}");
    let answer = entries[1]["parts"][0]["text"].as_str().expect("a text");
    let printed = String::from_utf8_lossy(&some).into_owned() + &out(&told);
    assert!(printed.contains(answer) || entries[1]["interrupted"] == true, "{printed}\n{answer}");
    assert_eq!(out(&world.run(&["status"])).lines().count(), 1, "nobody is left");
    world.does(&["doctor"]);
}

/// Commands of two terminals at once, with an owner between them and without.
#[test]
fn two_concurrent_clients_lose_nothing() {
    for serves in [true, false] {
        let world = World::new().with("RETAKE_WAIT_MS", "20000");
        world.does(&["new"]);
        let serving = serves.then(|| Serving::start(&world, &[]));
        thread::scope(|scope| {
            for terminal in ["left", "right"] {
                let world = &world;
                scope.spawn(move || {
                    for number in 0..6 {
                        world.does(&["say", &format!("{terminal} {number}")]);
                        world.does(&["log"]);
                    }
                });
            }
        });
        let texts = world.texts();
        for terminal in ["left", "right"] {
            let own: Vec<_> = texts.iter().filter(|text| text.starts_with(terminal)).collect();
            let expected: Vec<String> = (0..6).map(|number| format!("{terminal} {number}")).collect();
            assert_eq!(own, expected.iter().collect::<Vec<_>>());
        }
        assert_eq!(texts.len(), 12);
        if let Some(serving) = serving {
            world.does(&["stop"]);
            assert!(serving.ended());
        }
    }
}

#[test]
fn a_data_directory_with_a_long_path() {
    let world = World::new();
    let long = world.home().join("x".repeat(90)).join("y".repeat(90)).join("data");
    let world = world.with_data(&long);
    let serving = Serving::start(&world, &[]);
    world.does(&["new"]);
    world.does(&["say", "hello"]);
    assert_eq!(world.json(&["status"])["pid"], serving.pid());
    assert_eq!(world.texts(), ["hello"]);
    world.does(&["stop"]);
    assert!(serving.ended());
    assert!(!socket_is_there(&world));
}

/// Replies to every client with this status; ends with the test.
fn answers_as(world: &World, status: &str) {
    std::fs::create_dir_all(world.data()).expect("made");
    let listener = UnixListener::bind(world.data().join("owner.sock")).expect("bound");
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{status}",
        status.len()
    );
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.expect("somebody comes");
            let mut asked: Vec<u8> = Vec::new();
            let mut piece = [0; 1024];
            while !asked.windows(4).any(|end| end == b"\r\n\r\n") {
                let count = stream.read(&mut piece).expect("asked");
                if count == 0 {
                    break;
                }
                asked.extend(&piece[..count]);
            }
            // A client that only checks for a listener has disconnected.
            drop(stream.write_all(answer.as_bytes()));
        }
    });
}

#[test]
fn an_owner_of_another_version_is_named() {
    let world = World::new();
    answers_as(
        &world,
        r#"{"reply":"status","version":"99.1.0","pid":4117,"data_dir":"there","since_ms":0,"serves":true,"running":[],"following":0}"#,
    );
    let commands: [&[&str]; 3] = [&["list"], &["status"], &["serve"]];
    for arguments in commands {
        let refused = world.run(arguments);
        let told = error(&refused);
        assert!(!refused.status.success(), "{arguments:?}: {refused:?}");
        assert!(told.contains("retake 99.1.0 (process 4117)"), "{arguments:?}: {told}");
        assert!(told.contains("hint: stop it with `retake stop` of that version"), "{arguments:?}: {told}");
    }
}

/// The protocol decides, not the version number.
#[test]
fn trial_18_an_owner_of_another_version_with_the_same_protocol_is_used() {
    let world = World::new();
    let status = r#"{"reply":"status","version":"99.1.0","pid":4117,"data_dir":"there","since_ms":0,"serves":true,"running":[],"following":0,"protocol":"#;
    answers_as(&world, &format!("{status}{}}}", retake_wire::PROTOCOL));
    assert_eq!(world.json(&["status"])["version"], "99.1.0");
    let other = World::new();
    answers_as(&other, &format!("{status}{}}}", retake_wire::PROTOCOL + 1));
    let refused = other.run(&["status"]);
    assert_eq!(refused.status.code(), Some(4), "{refused:?}");
    assert!(error(&refused).contains("retake 99.1.0 (process 4117)"), "{refused:?}");
}

/// For any request: nothing is done that the owner may understand differently, and no second owner is started.
#[test]
fn trial_18_an_older_client_is_refused_by_a_newer_owner_with_a_hint() {
    let newer = retake_wire::PROTOCOL + 1;
    let status = r#"{"reply":"status","version":"99.1.0","pid":4117,"data_dir":"there","since_ms":0,"serves":true,"running":[],"following":0,"#;
    for arguments in [
        &["new"][..],
        &["say", "one"],
        &["ask", "one"],
        &["exec", "--", "true"],
        &["rewind", "t1"],
        &["undo"],
        &["erase", "t1", "--yes"],
        &["export"],
        &["config", "set", "model.system_prompt", "be brief"],
    ] {
        let world = World::working(&[]);
        answers_as(&world, &format!("{status}\"protocol\":{newer}}}"));
        let told = world.run(arguments);
        if arguments[0] != "config" {
            assert_eq!(told.status.code(), Some(4), "{arguments:?}: {told:?}");
            let told = error(&told);
            let named = told.contains("retake 99.1.0 (process 4117)")
                && told.contains("hint: stop it with `retake stop`");
            assert!(named, "{arguments:?}: {told}");
        }
        assert!(!error(&told).contains("panic"), "{told:?}");
        assert_eq!(world.owners(), Vec::<String>::new(), "{arguments:?}");
        assert!(!world.data().join("retake.db").exists(), "{arguments:?}");
    }
}

/// So few descriptors that idle connections could take all of them; every client can at least queue.
const FEW: usize = 96;

/// An owner with few descriptors that also listens over TCP; returns its address.
fn with_few_descriptors(world: &World) -> (Serving, String) {
    let script = format!("ulimit -n {FEW}; exec \"$1\" serve --listen 127.0.0.1:0");
    let mut command = super::detached::shell(world, &script);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let serving = Serving::by(command);
    let rest = serving.said[1].split_once("http://").expect("an address").1;
    let address =
        rest.split(|c: char| !c.is_ascii_digit() && !".:".contains(c)).next().unwrap_or_default().to_owned();
    (serving, address)
}

/// Waits until an owner has its maximum of connections, and returns its number of descriptors.
fn descriptors_at_rest(pid: u32) -> usize {
    let count = || std::fs::read_dir(format!("/proc/{pid}/fd")).expect("its descriptors").count();
    let (mut last, mut same) = (count(), 0);
    until("no more connections are taken", || {
        let now = count();
        same = if now == last { same + 1 } else { 0 };
        last = now;
        same > 20
    });
    last
}

/// Over TCP, clients can connect without a token: these connections must not take all descriptors.
#[test]
fn trial_29_the_socket_answers_while_idle_connections_have_all_places_of_tcp() {
    let world = World::working(&[]);
    let (serving, address) = with_few_descriptors(&world);
    let idle: Vec<_> = (0..FEW).map(|_| TcpStream::connect(&address).expect("connected")).collect();
    let taken = descriptors_at_rest(serving.pid());
    world.does(&["ask", "one apple"]);
    world.does(&["exec", "--", "true"]);
    assert_eq!(world.texts().len(), 4, "{taken} descriptors");
    assert!(descriptors_at_rest(serving.pid()) >= taken, "they were let go before the socket answered");
    drop(idle);
    world.does(&["stop"]);
    assert!(serving.ended());
}

/// Each listener has connections of its own.
#[test]
fn trial_29_tcp_answers_while_idle_connections_have_all_places_of_the_socket() {
    let world = World::new();
    let (serving, address) = with_few_descriptors(&world);
    let socket = world.data().join("owner.sock");
    let idle: Vec<_> = (0..FEW).map(|_| UnixStream::connect(&socket).expect("connected")).collect();
    descriptors_at_rest(serving.pid());
    let mut stream = TcpStream::connect(&address).expect("connected");
    stream.write_all(b"GET /v1/status HTTP/1.1\r\nhost: owner\r\n\r\n").expect("sent");
    stream.set_read_timeout(Some(std::time::Duration::from_secs(10))).expect("a limit");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("answered");
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
    drop(idle);
    world.does(&["stop"]);
    assert!(serving.ended());
}
