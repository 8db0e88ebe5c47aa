//! A server that sends given bytes: for answers that a correct server cannot give.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// What the server does after it has read a request.
#[derive(Clone)]
pub(crate) enum Step {
    /// Sends these bytes.
    Say(String),
    /// Sends nothing for a while.
    Pause(Duration),
    /// Sends nothing more, and waits for the client to disconnect.
    Hang,
}

/// A server that plays one script per connection, the last one repeatedly.
pub(crate) struct Raw {
    address: SocketAddr,
    over: Arc<AtomicBool>,
    requests: Arc<Mutex<Vec<String>>>,
    left: Arc<AtomicBool>,
    served: Arc<Mutex<Option<TcpStream>>>,
    thread: Option<JoinHandle<()>>,
}

impl Raw {
    pub(crate) fn start(scripts: Vec<Vec<Step>>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("bound");
        let over = Arc::new(AtomicBool::new(false));
        let requests = Arc::new(Mutex::new(Vec::new()));
        let left = Arc::new(AtomicBool::new(false));
        let served = Arc::new(Mutex::new(None));
        let player =
            Player { over: Arc::clone(&over), requests: Arc::clone(&requests), left: Arc::clone(&left) };
        let now = Arc::clone(&served);
        let thread = std::thread::spawn(move || {
            for (i, stream) in listener.incoming().map_while(Result::ok).enumerate() {
                *now.lock().expect("no panic") = stream.try_clone().ok();
                if player.over.load(Ordering::SeqCst) {
                    return;
                }
                player.play(stream, &scripts[i.min(scripts.len() - 1)]);
                // The last handle: the client sees the end.
                *now.lock().expect("no panic") = None;
            }
        });
        Self { address, over, requests, left, served, thread: Some(thread) }
    }

    /// The same answer to every request.
    pub(crate) fn answering(status: &str, headers: &str, body: &str) -> Self {
        Self::start(vec![vec![Step::Say(answer(status, headers, body))]])
    }

    pub(crate) fn address(&self) -> String {
        format!("http://{}", self.address)
    }

    pub(crate) fn port(&self) -> u16 {
        self.address.port()
    }

    /// Whether a client has disconnected while the server hung.
    pub(crate) fn was_left(&self) -> bool {
        self.left.load(Ordering::SeqCst)
    }

    /// The requests so far, head and body.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.requests.lock().expect("no panic").clone()
    }
}

impl Drop for Raw {
    fn drop(&mut self) {
        self.over.store(true, Ordering::SeqCst);
        // Wakes the thread, which then sees that it should end.
        let _ = TcpStream::connect(self.address);
        // It may be sending to a client that reads no more, and that can't disconnect while this thread waits here.
        if let Some(served) = self.served.lock().expect("no panic").take() {
            // The client may have disconnected.
            let _ = served.shutdown(Shutdown::Both);
        }
        if let Some(thread) = self.thread.take() {
            // A panic of the thread has failed the test by its missing answer.
            let _ = thread.join();
        }
    }
}

/// A complete HTTP answer with a length.
pub(crate) fn answer(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nconnection: close\r\ncontent-length: {length}\r\n{headers}\r\n{body}")
}

/// The head of an answer that streams events until the connection closes.
pub(crate) fn stream_head() -> Step {
    Step::Say("HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\r\n".into())
}

/// The side of the thread.
struct Player {
    over: Arc<AtomicBool>,
    requests: Arc<Mutex<Vec<String>>>,
    left: Arc<AtomicBool>,
}

impl Player {
    fn play(&self, mut stream: TcpStream, script: &[Step]) {
        let patience = Some(Duration::from_secs(20));
        stream.set_read_timeout(patience).expect("a timeout");
        let Some(request) = read_request(&mut stream) else {
            return;
        };
        self.requests.lock().expect("no panic").push(request);
        for step in script {
            match step {
                // The client may have disconnected.
                Step::Say(bytes) => drop(stream.write_all(bytes.as_bytes())),
                Step::Pause(duration) => std::thread::sleep(*duration),
                Step::Hang => self.hang(&mut stream),
            }
        }
    }

    /// Until the client disconnects, or the test is over.
    fn hang(&self, stream: &mut TcpStream) {
        let step = Some(Duration::from_millis(20));
        stream.set_read_timeout(step).expect("a timeout");
        while !self.over.load(Ordering::SeqCst) {
            match stream.read(&mut [0; 64]) {
                Ok(1..) => {}
                Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {}
                Ok(0) | Err(_) => return self.left.store(true, Ordering::SeqCst),
            }
        }
    }
}

fn read_request(stream: &mut TcpStream) -> Option<String> {
    let mut bytes = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return None,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return None,
        }
        let text = String::from_utf8_lossy(&bytes);
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            continue;
        };
        let length = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
        });
        if body.len() >= length.unwrap_or(0) {
            return Some(text.into_owned());
        }
    }
}
