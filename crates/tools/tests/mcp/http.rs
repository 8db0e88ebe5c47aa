//! Servers at an address: a small one on this machine, which answers as JSON and as a stream.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use retake_tools::mcp::State;
use serde_json::{Value, json};

use super::world::{World, fails, failure, only, said};

/// A server on a free port, for as long as the test runs.
struct Small {
    address: String,
    /// The heads of the requests that it got.
    heads: Arc<Mutex<Vec<String>>>,
}

impl Small {
    fn start(answer: fn(&Value) -> Answer) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let address = format!("http://{}/mcp", listener.local_addr().expect("an address"));
        let heads: Arc<Mutex<Vec<String>>> = Arc::default();
        let seen = Arc::clone(&heads);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let seen = Arc::clone(&seen);
                std::thread::spawn(move || serve(stream, answer, &seen));
            }
        });
        Self { address, heads }
    }

    fn world(&self) -> World {
        World::new(&json!({"it": {"type": "http", "url": self.address, "headers": {"X-Key": "abc"}}}))
    }
}

enum Answer {
    Json(Value),
    Stream(Value),
    Status(&'static str),
}

/// One request, one answer; the client may disconnect.
fn serve(stream: TcpStream, answer: fn(&Value) -> Answer, seen: &Mutex<Vec<String>>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let (mut head, mut length) = (String::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        let lower = line.to_ascii_lowercase();
        if let Some(value) = lower.strip_prefix("content-length:") {
            length = value.trim().parse().ok()?;
        }
        head.push_str(&lower);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let is_post = head.starts_with("post");
    seen.lock().expect("no panic").push(head);
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let answer = match request.get("id") {
        _ if !is_post => Answer::Status("405 Method Not Allowed"),
        None => Answer::Status("202 Accepted"),
        Some(_) => answer(&request),
    };
    let (status, kind, body) = match answer {
        Answer::Json(value) => ("200 OK", "application/json", value.to_string()),
        Answer::Stream(value) => {
            ("200 OK", "text/event-stream", format!("event: message\ndata: {value}\n\n"))
        }
        Answer::Status(status) => (status, "text/plain", String::new()),
    };
    let mut stream = stream;
    let length = body.len();
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream.write_all((head + &body).as_bytes()).ok()
}

fn result(request: &Value) -> Value {
    let result = match request["method"].as_str() {
        Some("initialize") => json!({"protocolVersion": request["params"]["protocolVersion"],
            "capabilities": {"tools": {}}, "serverInfo": {"name": "small", "version": "1"}}),
        Some("tools/list") => json!({"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}),
        _ => json!({"content": [{"type": "text", "text": request["params"]["arguments"].to_string()}]}),
    };
    json!({"jsonrpc": "2.0", "id": request["id"], "result": result})
}

#[tokio::test]
async fn a_server_at_an_address_is_called_and_gets_its_headers() {
    for answer in
        [|request: &Value| Answer::Json(result(request)), |request: &Value| Answer::Stream(result(request))]
    {
        let small = Small::start(answer);
        let servers = small.world().connect().await;
        assert_eq!(only(&servers).state, State::Ready);
        assert_eq!(said(&servers, "mcp__it__echo", json!({"a": 1})).await, r#"{"a":1}"#);
        let heads = small.heads.lock().expect("no panic");
        assert!(heads.iter().all(|head| head.contains("x-key: abc")), "{heads:?}");
    }
}

#[tokio::test]
async fn a_refusal_by_an_http_server_is_reported() {
    type Row = (fn(&Value) -> Answer, &'static str);
    let rows: [Row; 2] = [
        (|_| Answer::Status("500 Internal Server Error"), "HTTP 500"),
        (|_| Answer::Json(json!("hello")), "could not parse JSON response"),
    ];
    for (answer, expected) in rows {
        let why = failure(&Small::start(answer).world().connect().await);
        assert!(why.contains(expected) && why.len() < 700, "{why}");
    }
    let nobody = World::new(&json!({"it": {"url": "http://127.0.0.1:1/mcp"}}));
    let why = failure(&nobody.connect().await);
    assert!(why.contains("refused"), "{why}");
}

#[tokio::test]
async fn a_server_that_disappears_fails_only_the_call() {
    let small = Small::start(|request| match request["params"]["arguments"]["gone"].as_bool() {
        Some(true) => Answer::Status("503 Service Unavailable"),
        _ => Answer::Json(result(request)),
    });
    let servers = small.world().connect().await;
    let why = fails(&servers, "mcp__it__echo", json!({"gone": true})).await;
    assert_eq!(why, "the call of the MCP server “it” failed: HTTP 503");
    assert_eq!(said(&servers, "mcp__it__echo", json!({})).await, "{}");
}
