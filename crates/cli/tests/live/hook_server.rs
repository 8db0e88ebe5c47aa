//! A server that gets events of hooks and what goes to a memory service, records them, and answers as a test says.

use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::Value;

/// A server for hooks and memory. It answers with one status; with 0 it closes the connection without an answer.
pub(super) struct HookServer {
    pub(super) address: SocketAddr,
    status: Arc<AtomicU16>,
    pub(super) got: Arc<Mutex<Vec<Value>>>,
    /// What it answers to questions for facts, and the questions.
    recalls: Arc<Mutex<(Value, Vec<Value>)>>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl HookServer {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("bound");
        let (status, got, over) =
            (Arc::new(AtomicU16::new(200)), Arc::default(), Arc::new(AtomicBool::new(false)));
        let recalls = Arc::new(Mutex::new((Value::Null, Vec::new())));
        let seen = (Arc::clone(&status), Arc::clone(&got), Arc::clone(&recalls));
        let ends = Arc::clone(&over);
        let thread = std::thread::spawn(move || {
            let mut servers = Vec::new();
            for stream in listener.incoming().map_while(Result::ok) {
                if ends.load(Ordering::SeqCst) {
                    break;
                }
                let (answers, gets, asks) = seen.clone();
                // A client that is killed leaves a request half sent.
                servers.push(std::thread::spawn(move || drop(serve(stream, &answers, &gets, &asks))));
            }
            // If one has panicked, its missing event has failed the test.
            servers.into_iter().for_each(|it| drop(it.join()));
        });
        Self { address, status, got, recalls, over, thread: Some(thread) }
    }

    pub(super) fn answers(&self, status: u16) {
        self.status.store(status, Ordering::SeqCst);
    }

    /// The events so far, each as its id and its type.
    pub(super) fn events(&self) -> Vec<(String, String)> {
        let got = self.got.lock().expect("no panic");
        let text = |event: &Value, field: &str| event[field].as_str().unwrap_or_default().to_owned();
        got.iter().map(|event| (text(event, "id"), text(event, "type"))).collect()
    }

    /// The types of the events so far, each id once. Messages in a row may be one event or several.
    pub(super) fn types(&self) -> Vec<String> {
        let mut seen = BTreeSet::new();
        let events = self.events().into_iter().filter(|(id, _)| seen.insert(id.clone()));
        let mut types: Vec<String> = events.map(|(_, kind)| kind).collect();
        types.dedup();
        types
    }

    /// Answers questions for facts with these.
    pub(super) fn recalls(&self, facts: Value) {
        self.recalls.lock().expect("no panic").0 = facts;
    }

    /// The questions for facts so far.
    pub(super) fn questions(&self) -> Vec<Value> {
        self.recalls.lock().expect("no panic").1.clone()
    }

    pub(super) fn settings(&self, more: &str) -> String {
        let on = "on = [\"said\", \"rewound\", \"restored\", \"turn-ended\"]";
        self.in_table("hook.web", &format!("{on}\n{more}"))
    }

    /// The settings of the demo, with the address in this table.
    pub(super) fn in_table(&self, table: &str, more: &str) -> String {
        let demo = "[model]\ndefault = \"demo\"\n[demo]\nword_delay_ms = 0";
        format!("{demo}\n[{table}]\nurl = \"http://{}/secret-path\"\n{more}", self.address)
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
fn serve(
    mut stream: TcpStream,
    status: &AtomicU16,
    got: &Mutex<Vec<Value>>,
    recalls: &Mutex<(Value, Vec<Value>)>,
) -> std::io::Result<()> {
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
    let answer = if request.starts_with(b"POST /secret-path/recall ") {
        let mut recalls = recalls.lock().expect("no panic");
        recalls.1.push(event);
        serde_json::json!({ "facts": recalls.0 }).to_string()
    } else {
        got.lock().expect("no panic").push(event);
        String::new()
    };
    let (status, length) = (status.load(Ordering::SeqCst), answer.len());
    if status == 0 {
        return Ok(());
    }
    write!(
        stream,
        "HTTP/1.1 {status} Status\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n{answer}"
    )
}
