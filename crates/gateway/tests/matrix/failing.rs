//! Connections and answers that fail.

use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use retake_gateway::matrix::{Matrix, MatrixConfig};
use retake_gateway::{Adapter as _, Failure, Refused};
use retake_wire::chat::{InboundFile, Person as Author};

use super::people::{Collects, Person, marker, place, text, within};
use retake_fakes::synapse::Synapse;

/// What strangers must never read.
const SECRET: &str = "syt_secret_token";

/// A server before another one. It says on each connection what its function makes of the other's port.
pub(crate) struct Loses {
    port: u16,
    is_over: Arc<AtomicBool>,
}

impl Loses {
    /// Passes requests on, and closes the connection when the answer begins.
    pub(crate) fn answers_of(server: &Synapse) -> Self {
        let behind = server.port();
        Self::with(move |client| {
            let Ok(mut server) = TcpStream::connect((Ipv4Addr::LOCALHOST, behind)) else { return };
            let (mut from, mut to) =
                (client.try_clone().expect("a handle"), server.try_clone().expect("a handle"));
            let passing = std::thread::spawn(move || drop(std::io::copy(&mut from, &mut to)));
            // The server answers when the effect is there.
            let _ = server.read(&mut [0]);
            for stream in [&client, &server] {
                let _ = stream.shutdown(Shutdown::Both);
            }
            let _ = passing.join();
        })
    }

    /// Answers every request with this.
    fn says(answer: &'static str) -> Self {
        Self::answers(move |_| answer.to_owned())
    }

    /// Answers the head of each request.
    pub(crate) fn answers(answer: impl Fn(&str) -> String + Send + 'static) -> Self {
        Self::with(move |mut client| {
            let mut request = Vec::new();
            let mut piece = [0; 4096];
            while !request.windows(4).any(|end| end == b"\r\n\r\n") {
                match client.read(&mut piece) {
                    Ok(length @ 1..) => request.extend_from_slice(&piece[..length]),
                    _ => return,
                }
            }
            let request = String::from_utf8_lossy(&request);
            let _ = client.write_all(answer(&request).as_bytes());
            let _ = client.shutdown(Shutdown::Write);
            // Until the client has read it.
            let _ = std::io::copy(&mut client, &mut std::io::sink());
        })
    }

    fn with(answer: impl Fn(TcpStream) + Send + 'static) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let port = listener.local_addr().expect("an address").port();
        let is_over = Arc::new(AtomicBool::new(false));
        let over = Arc::clone(&is_over);
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                if over.load(Ordering::Relaxed) {
                    return;
                }
                answer(client);
            }
        });
        Self { port, is_over }
    }

    pub(crate) fn address(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }
}

impl Drop for Loses {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::Relaxed);
        // Wakes the thread.
        let _ = TcpStream::connect((Ipv4Addr::LOCALHOST, self.port));
    }
}

pub(crate) fn config(homeserver: String) -> MatrixConfig {
    MatrixConfig {
        account: "m".into(),
        homeserver,
        token: SECRET.to_owned().into(),
        device: None,
        invites: retake_gateway::matrix::Invites::Join,
        unreadable: None,
    }
}

/// What every call of the adapter answers.
async fn failures(adapter: &Matrix) -> Vec<(&'static str, Failure)> {
    let (place, post, marker) = (place("!r:chat.test", None), text("a text"), marker());
    let file = InboundFile {
        handle: "mxc://chat.test/x".into(),
        name: None,
        media_type: None,
        size: None,
        is_voice: false,
    };
    let person = Author { id: "@a:chat.test".into(), name: "A".into(), is_bot: false };
    let results = [
        ("identify", adapter.identify().await.map(drop)),
        ("send", adapter.send(&place, &post, &marker).await.map(drop)),
        ("edit", adapter.edit(&place, "$e", &post, &marker).await.map(drop)),
        ("delete", adapter.delete(&place, "$e").await.map(drop)),
        ("find", adapter.find(&place, &marker, 0).await.map(drop)),
        ("probe", adapter.probe(&place).await.map(drop)),
        ("moderates", adapter.moderates(&place, "@a:chat.test").await.map(drop)),
        ("fetch", adapter.fetch(&file, 10).await.map(drop)),
        ("whisper", adapter.whisper(&place, &person, "x", None).await),
        ("typing", adapter.typing(&place).await),
        ("receive", Err(within(adapter.receive(None, &Collects::default())).await)),
    ];
    results.into_iter().filter_map(|(call, result)| Some((call, result.err()?))).collect()
}

/// Case 88.
#[tokio::test]
async fn no_error_has_the_token_the_address_or_a_text_of_the_server() {
    let refuses = Loses::says(
        "HTTP/1.1 403 Forbidden\r\ncontent-length: 56\r\nconnection: close\r\n\r\n\
         {\"errcode\":\"M_FORBIDDEN\",\"error\":\"a text of the server\"}\n",
    );
    let servers = [
        (Synapse::shared().address(), Failure::BadToken),
        ("http://127.0.0.1:1".into(), Failure::Unreachable),
        (refuses.address(), Failure::Refused(Refused::NotPermitted)),
    ];
    for (address, expected) in servers {
        let adapter = Matrix::new(config(address)).unwrap();
        let failures = failures(&adapter).await;
        assert!(failures.len() >= 10, "{failures:?}");
        for (call, failure) in failures {
            let is_whisper = call == "whisper";
            assert!(failure == expected || is_whisper, "{call}: {failure:?}");
            let said = format!("{failure:?} {failure}");
            for secret in [SECRET, "127.0.0.1", "M_", "text of", "chat.test"] {
                assert!(!said.contains(secret), "{call}: {said}");
            }
        }
        assert!(!format!("{adapter:?}").contains(SECRET));
    }
    assert!(!format!("{:?}", config(String::new())).contains(SECRET));
    for address in ["", "chat.test", "file:///etc", "ws://chat.test"] {
        assert!(Matrix::new(config(address.into())).is_err(), "{address}");
    }
}

#[tokio::test]
async fn answers_that_are_not_of_matrix_are_never_a_success() {
    for (answer, read, write) in [
        ("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n<html>log in", Failure::Unreadable, Failure::Unknown),
        ("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n[1,{}]", Failure::Unreadable, Failure::Unknown),
        (
            "HTTP/1.1 302 Found\r\nlocation: /x\r\nconnection: close\r\n\r\n",
            Failure::Unreadable,
            Failure::Unreadable,
        ),
        ("HTTP/1.1 404 Not Found\r\nconnection: close\r\n\r\n", Failure::Unreadable, Failure::Unreadable),
        ("HTTP/1.1 502 Bad\r\nconnection: close\r\n\r\n", Failure::Unreachable, Failure::Unknown),
        ("", Failure::Unreachable, Failure::Unknown),
    ] {
        let server = Loses::says(answer);
        let adapter = Matrix::new(config(server.address())).unwrap();
        assert_eq!(adapter.identify().await, Err(read.clone()), "{answer}");
        let failure = within(adapter.receive(None, &Collects::default())).await;
        assert_eq!(failure, read, "{answer}");
        let sent = adapter.send(&place("!r", None), &text("x"), &marker()).await;
        assert_eq!(sent, Err(write), "{answer}");
    }
}

#[tokio::test]
async fn receiving_ends_when_the_token_is_revoked() {
    let bot = Person::new("bot").await;
    let (_, since) = super::people::receive(&bot.adapter(), None, 0).await;
    bot.post(&["logout"], &serde_json::json!({})).await;
    let failure = within(bot.adapter().receive(Some(since), &Collects::default())).await;
    assert_eq!(failure, Failure::BadToken);
}

#[tokio::test]
async fn file_that_is_kept_elsewhere_is_fetched_without_the_token() {
    let elsewhere = Loses::answers(|request| match request.to_lowercase().contains("authorization") {
        false => "HTTP/1.1 200 OK\r\nconnection: close\r\n\r\ntwelve bytes".into(),
        true => "HTTP/1.1 400 No\r\nconnection: close\r\n\r\n".into(),
    });
    let target = format!("{}/x", elsewhere.address());
    let server = Loses::answers(move |_| {
        format!("HTTP/1.1 307 There\r\nlocation: {target}\r\nconnection: close\r\n\r\n")
    });
    let adapter = Matrix::new(config(server.address())).unwrap();
    let handle = "mxc://chat.test/x".into();
    let file = InboundFile { handle, name: None, media_type: None, size: None, is_voice: false };
    assert_eq!(adapter.fetch(&file, 12).await.unwrap(), b"twelve bytes");
    let too_long = Err(Failure::Refused(Refused::TooLong));
    assert_eq!(adapter.fetch(&file, 11).await, too_long, "of a length that nobody stated");
}
