//! An owner that ends or is suspended during an answer is reported at once or after some seconds; a working one is waited for.

use std::io::Read as _;
use std::process::{Child, Command, Stdio};
use std::thread;

use rustix::process::Signal;

use super::harness::{World, error, out, signal, until};

/// A world with an owner that stays, and a slow model.
fn staying() -> World {
    let world = World::working(&[]).with("RETAKE_IDLE_S", "600").with("RETAKE_WAIT_MS", "20000");
    world.settings("[model]\ndefault = \"demo\"\n[local]\nfind = false\n[demo]\nword_delay_ms = 40\n");
    world
}

fn owner(world: &World) -> String {
    world.owners().first().expect("an owner").clone()
}

/// Sends a request, and waits for the first part of the answer.
fn asking(world: &World) -> Child {
    let mut client = world.command(&["ask", "one apple"]).spawn().expect("it starts");
    let mut first = [0; 4];
    client.stdout.as_mut().expect("a pipe").read_exact(&mut first).expect("the first of the answer");
    client
}

#[test]
fn trial_18_a_stopped_owner_is_reported_in_the_middle_of_an_answer_that_goes_on_later() {
    let world = staying();
    let mut client = asking(&world);
    let owner = owner(&world);
    signal(&owner, Signal::STOP);
    let mut stderr = client.stderr.take().expect("a pipe");
    let mut said = String::new();
    while !said.contains('\n') {
        let mut piece = [0; 256];
        let count = stderr.read(&mut piece).expect("it says something");
        assert_ne!(count, 0, "it ended instead: {said}");
        said.push_str(&String::from_utf8_lossy(&piece[..count]));
    }
    assert!(
        said.contains("the owner does not answer") && said.contains(&format!("kill -CONT {owner}")),
        "{said}"
    );
    signal(&owner, Signal::CONT);
    let told = client.wait_with_output().expect("it ends");
    assert!(told.status.success() && out(&told).contains("This is turn 1"), "{told:?}");
    world.does(&["stop"]);
}

#[test]
fn trial_18_a_terminal_reports_a_stopped_owner_and_works_when_it_is_resumed() {
    let world = staying();
    world.does(&["new"]);
    world.does(&["say", "hello"]);
    let mut pty = world.converse();
    super::prompt(&pty);
    let owner = owner(&world);
    signal(&owner, Signal::STOP);
    pty.send("/cost\r");
    pty.shows(&format!("kill -CONT {owner}"));
    let refused = world.run(&["list"]);
    assert_eq!(refused.status.code(), Some(4), "{refused:?}");
    let told = error(&refused);
    assert!(told.contains(&format!("its process {owner} is suspended")) && !told.contains("`fg`"), "{told}");
    signal(&owner, Signal::CONT);
    pty.send("/title Still here\r");
    until("it is done", || world.does(&["list"]).contains("Still here"));
    pty.send(super::CTRL_D);
    assert!(pty.ended());
    world.does(&["stop"]);
}

/// The reply to a command that works for longer than an idle owner would be silent.
#[test]
fn trial_18_a_client_waits_for_an_owner_that_works_for_long() {
    let world = staying();
    let done = world.run(&["exec", "--", "sh", "-c", "sleep 6; echo done"]);
    assert!(done.status.success() && out(&done) == "done\n", "{done:?}");
    assert!(!error(&done).contains("the owner"), "it was taken for gone, and found again: {done:?}");
    world.does(&["stop"]);
}

#[test]
fn trial_18_an_owner_that_is_killed_in_the_middle_of_an_answer_is_replaced_at_once() {
    let world = staying();
    let client = asking(&world);
    let old = owner(&world);
    signal(&old, Signal::KILL);
    let told = client.wait_with_output().expect("it ends");
    assert!(error(&told).contains("the owner ended during the run"), "{told:?}");
    assert_ne!(owner(&world), old);
    world.does(&["stop"]);
}

/// A process that listens like an owner but is not the one that replies, as if another process held its sockets. Requests about
/// anything but the owner itself are never answered.
const HELD: &str = r#"
import json, os, socket, sys, threading, time
home, path, protocol = sys.argv[1:]
listener = socket.socket(socket.AF_UNIX)
listener.bind(path)
listener.listen(64)
owner = os.getpid()
if os.fork():
    print("ready", flush=True)
    time.sleep(3600)
def answers(connection):
    asked = b""
    while True:
        while b"\r\n\r\n" not in asked:
            piece = connection.recv(65536)
            if not piece:
                return
            asked += piece
        head, _, asked = asked.partition(b"\r\n\r\n")
        lines = head.decode().lower().split("\r\n")
        length = sum(int(line.split(":")[1]) for line in lines if line.startswith("content-length"))
        while len(asked) < length:
            asked += connection.recv(65536)
        asked = asked[length:]
        if lines[0].startswith("post /v1/clients "):
            connection.sendall(b'HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: {"client":0}\n\n')
        elif lines[0].startswith("get /v1/status "):
            status = {"reply": "status", "version": "0", "pid": owner, "data_dir": home, "since_ms": 0,
                      "serves": True, "running": [], "following": 0, "protocol": int(protocol)}
            body = json.dumps(status).encode()
            connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body) + body)
        else:
            open(home + "/asked", "w").close()
def serves():
    while True:
        connection, _ = listener.accept()
        threading.Thread(target=answers, args=(connection,), daemon=True).start()
threading.Thread(target=serves, daemon=True).start()
while os.path.exists(home):
    time.sleep(0.05)
"#;

#[test]
fn trial_18_a_call_to_an_owner_that_is_killed_ends_at_once_even_if_its_socket_is_held() {
    let world = staying();
    std::fs::create_dir_all(world.data()).expect("made");
    let (home, socket) = (world.home().to_owned(), world.data().join("owner.sock"));
    let mut held = Command::new("python3")
        .args(["-c", HELD])
        .args([&home, &socket])
        .arg(retake_wire::PROTOCOL.to_string())
        .stdout(Stdio::piped())
        .spawn()
        .expect("python3 is there");
    let mut ready = [0; 6];
    held.stdout.as_mut().expect("a pipe").read_exact(&mut ready).expect("it listens");
    let mut client = world.command(&["list", "--all"]).spawn().expect("it starts");
    until("it has asked", || home.join("asked").exists());
    // Reaped meanwhile: a zombie has ended, too.
    let buried = thread::spawn(move || {
        held.kill().expect("killed");
        held.wait().expect("ended")
    });
    until("it is answered by the next one", || client.try_wait().expect("asked").is_some());
    let told = client.wait_with_output().expect("it ended");
    assert!(told.status.success(), "{told:?}");
    assert_eq!(world.owners().len(), 1, "another one has taken its place");
    buried.join().expect("no panic");
    world.does(&["stop"]);
}
