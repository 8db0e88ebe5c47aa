//! A model over HTTP with scripted answers: each request gets the next one, streamed in OpenAI's format. Must never listen
//! outside of this machine, nor outlive its test.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};

use super::harness::{World, out};

/// How an answer continues after its text.
#[derive(Clone)]
enum Rest {
    /// It ends, with these calls: name and arguments, which need not be JSON.
    Calls(Vec<(String, String)>),
    /// It never continues.
    Hold,
    /// Its last word comes again and again, 50 times a second.
    Repeat,
}

/// An answer.
#[derive(Clone)]
pub(super) struct Answer {
    text: String,
    rest: Rest,
}

/// An answer of text only.
pub(super) fn words(text: &str) -> Answer {
    Answer { text: text.to_owned(), rest: Rest::Calls(Vec::new()) }
}

/// An answer with calls of these tools.
pub(super) fn calls(calls: &[(&str, Value)]) -> Answer {
    let calls = calls.iter().map(|(name, arguments)| ((*name).to_owned(), arguments.to_string())).collect();
    Answer { text: String::new(), rest: Rest::Calls(calls) }
}

/// An answer with one call.
pub(super) fn call(name: &str, arguments: Value) -> Answer {
    calls(&[(name, arguments)])
}

/// A command line.
pub(super) fn shell(command: &str) -> Answer {
    call("shell", json!({"command": command}))
}

/// The start of an answer that never continues.
pub(super) fn half(text: &str) -> Answer {
    Answer { text: text.to_owned(), rest: Rest::Hold }
}

/// An answer that ends with the same word again and again.
pub(super) fn endless(text: &str) -> Answer {
    Answer { text: text.to_owned(), rest: Rest::Repeat }
}

/// State shared by both sides.
#[derive(Default)]
struct Shared {
    answers: Mutex<VecDeque<Answer>>,
    requests: Mutex<Vec<Value>>,
    over: AtomicBool,
    next: AtomicU64,
}

/// The server.
pub(super) struct Model {
    address: SocketAddr,
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

impl Model {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("bound");
        let shared = Arc::new(Shared::default());
        let player = Arc::clone(&shared);
        let thread = std::thread::spawn(move || {
            let mut players = Vec::new();
            for stream in listener.incoming().map_while(Result::ok) {
                if player.over.load(Ordering::SeqCst) {
                    break;
                }
                let player = Arc::clone(&player);
                players.push(std::thread::spawn(move || player.play(stream)));
            }
            // If one has panicked, its missing answer has failed the test.
            players.into_iter().for_each(|it| drop(it.join()));
        });
        Self { address, shared, thread: Some(thread) }
    }

    /// A world with this model as its default.
    pub(super) fn world(&self, files: &[(&str, &str)]) -> World {
        let world = World::working(files).with("HERE_KEY", "k");
        let address = self.address;
        world.settings(&format!(
            "[model]\ndefault = \"here/m\"\n[local]\nfind = false\n[retry]\ntries = 1\n[endpoint.here]\nkind = \"openai\"\n\
             base_url = \"http://{address}/v1\"\nkey_env = \"HERE_KEY\"\n\
             [permissions]\nwait_s = 0\n"
        ));
        world
    }

    pub(super) fn then(&self, answers: Vec<Answer>) {
        self.shared.answers.lock().expect("no panic").extend(answers);
    }

    /// A turn with these answers and all permissions; returns its events.
    pub(super) fn turn(&self, world: &World, text: &str, answers: Vec<Answer>) -> Vec<Value> {
        self.then(answers);
        let output = world.run(&["--json", "ask", "--mode", "allow-all", text]);
        // A repeated call needs approval, whatever is allowed; and no person is there.
        assert!(matches!(output.status.code(), Some(0 | 9)), "{text}: {output:?}");
        let told = out(&output);
        let left = self.shared.answers.lock().expect("no panic").len();
        assert_eq!(left, 0, "the turn ended before the model had said all: {told}");
        told.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }

    /// The messages of each request so far.
    pub(super) fn asked(&self) -> Vec<Vec<Value>> {
        let requests = self.shared.requests.lock().expect("no panic");
        requests.iter().map(|it| it["messages"].as_array().expect("messages").clone()).collect()
    }

    /// The messages of the last one.
    pub(super) fn asked_last(&self) -> Vec<Value> {
        self.asked().pop().expect("it was asked")
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.shared.over.store(true, Ordering::SeqCst);
        // Wakes the thread, which then sees that it should end.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

impl Shared {
    fn play(&self, stream: TcpStream) {
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("a timeout");
        let Some(request) = read(&stream) else { return };
        self.requests.lock().expect("no panic").push(request);
        let answer = self.answers.lock().expect("no panic").pop_front();
        let Some(answer) = answer else {
            return say(&stream, "HTTP/1.1 400 Unscripted\r\nconnection: close\r\ncontent-length: 0\r\n\r\n");
        };
        say(&stream, "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n");
        // Word by word, like a real stream.
        for word in answer.text.split_inclusive(' ') {
            frame(&stream, &json!({"choices": [{"delta": {"content": word}}]}));
        }
        match answer.rest {
            Rest::Hold => self.hold(stream, || ()),
            Rest::Repeat => {
                let last = answer.text.rsplit(' ').next().unwrap_or_default().to_owned();
                let writer = stream.try_clone().expect("a second handle");
                self.hold(stream, || {
                    frame(&writer, &json!({"choices": [{"delta": {"content": format!(" {last}")}}]}));
                });
            }
            Rest::Calls(calls) => self.end(&stream, &calls),
        }
    }

    fn end(&self, stream: &TcpStream, calls: &[(String, String)]) {
        for (index, (name, arguments)) in calls.iter().enumerate() {
            let id = format!("call_{}", self.next.fetch_add(1, Ordering::SeqCst));
            let half =
                (0..=arguments.len() / 2).rev().find(|at| arguments.is_char_boundary(*at)).unwrap_or(0);
            let (first, second) = arguments.split_at(half);
            let piece = |call: Value| frame(stream, &json!({"choices": [{"delta": {"tool_calls": [call]}}]}));
            piece(json!({"index": index, "id": id, "function": {"name": name, "arguments": first}}));
            piece(json!({"index": index, "function": {"arguments": second}}));
        }
        let reason = if calls.is_empty() { "stop" } else { "tool_calls" };
        frame(stream, &json!({"choices": [{"delta": {}, "finish_reason": reason}]}));
        say(stream, "data: [DONE]\n\n");
    }

    /// Until the client disconnects, or the test is over; `meanwhile` happens 50 times a second.
    fn hold(&self, mut stream: TcpStream, meanwhile: impl Fn()) {
        stream.set_read_timeout(Some(Duration::from_millis(20))).expect("a timeout");
        while !self.over.load(Ordering::SeqCst) {
            // Anything else is no data yet, or a client that is gone: the flag ends that.
            if let Ok(0) = stream.read(&mut [0; 64]) {
                return;
            }
            meanwhile();
        }
    }
}

/// The client may have disconnected.
fn say(mut stream: &TcpStream, text: &str) {
    drop(stream.write_all(text.as_bytes()));
}

fn frame(stream: &TcpStream, value: &Value) {
    say(stream, &format!("data: {value}\n\n"));
}

/// The body of a request.
fn read(stream: &TcpStream) -> Option<Value> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim_end().split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse().ok()?;
            }
            None if line.trim_end().is_empty() => break,
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    serde_json::from_slice(&body).ok()
}
