//! A subscriber that never reads costs the owner little, and not for long. Others are not affected.

use std::time::Duration;

use futures::StreamExt;

use retake_wire::{Client as _, Follow, HttpClient, OwnerAddress, ProblemCode, Reply, Request, Role};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream, UnixStream};

use super::world::{Desk, get, said};

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

/// Sends a request over a connection of its own, and reads nothing of the reply.
async fn asks(desk: &Desk, target: &str) -> UnixStream {
    let mut stream = UnixStream::connect(desk.socket()).await.expect("connected");
    let request =
        format!("GET {target} HTTP/1.1\r\nhost: owner\r\nconnection: close\r\n{}\r\n", desk.bearer());
    stream.write_all(request.as_bytes()).await.expect("sent");
    stream.readable().await.expect("answered");
    stream
}

async fn following(desk: &Desk) -> u64 {
    get!(desk, Status, Request::Status).following
}

/// Sends long messages, a hundred at most, until there are this many subscribers.
async fn say_until(desk: &Desk, of: &str, wanted: u64) {
    let long = "long ".repeat(20_000);
    // These fill every buffer on the way; after that only the connection's time limit must pass.
    let mut says = 100;
    let waits = async {
        while following(desk).await != wanted {
            if says > 0 {
                says -= 1;
                desk.say(of, Role::User, &long).await;
            }
            tokio::task::yield_now().await;
        }
    };
    let ended = tokio::time::timeout(PATIENCE, waits).await;
    assert!(ended.is_ok(), "{} still follow", following(desk).await);
}

#[tokio::test]
async fn subscriber_that_never_reads_is_disconnected() {
    let desk = Desk::impatient().await;
    let id = desk.create(None, None).await;
    let stalled = asks(&desk, &format!("/v1/conversations/{id}/events")).await;
    let quick = Follow { conversation: Some(id.clone()), since: None };
    let mut quick = desk.client.follow(quick).await.expect("followed");
    let reader = tokio::spawn(async move {
        let mut heard = 0;
        while quick.next().await.is_some() {
            heard += 1;
        }
        heard
    });
    assert_eq!(following(&desk).await, 2);
    // It has not disconnected, nor read anything.
    say_until(&desk, &id, 1).await;
    drop(stalled);
    let said = desk.texts(&id).await.len();
    desk.served.stop().await;
    let heard = tokio::time::timeout(PATIENCE, reader).await.expect("in time").expect("joined");
    assert!(heard > 1 && said > 1, "who reads was not let go: {heard} of {said}");
}

/// A reader of a whole export stops in the middle for longer than any subscriber may.
#[tokio::test]
async fn slow_reader_of_an_export_is_not_disconnected() {
    let desk = Desk::impatient().await;
    let (id, other) = (desk.create(None, None).await, desk.create(None, None).await);
    let long = "long ".repeat(200_000);
    for _ in 0..4 {
        desk.say(&id, Role::User, &long).await;
    }
    let mut export = asks(&desk, &format!("/v1/conversations/{id}/export/stream?format=text")).await;
    let stalled = asks(&desk, &format!("/v1/conversations/{other}/events")).await;
    say_until(&desk, &other, 0).await;
    drop(stalled);
    let mut whole = String::new();
    export.read_to_string(&mut whole).await.expect("it goes on where it stopped");
    assert_eq!(whole.matches("long").count(), 4 * 200_000);
    assert!(
        whole.ends_with("\r\n0\r\n\r\n"),
        "to its end: {:?} {:?}",
        &whole[..300],
        &whole[whole.len() - 99..]
    );
}

/// Answers the first request on a connection, and closes it when the next one arrives. Returns the number of requests.
async fn owner_that_closes(listener: TcpListener, connections: usize) -> usize {
    let (mut requests, mut closes) = (0, true);
    for _ in 0..connections {
        let (mut stream, _) = listener.accept().await.expect("a client");
        let mut buffer = [0; 4096];
        while stream.read(&mut buffer).await.is_ok_and(|read| read > 0) {
            requests += 1;
            if requests > 1 && closes {
                closes = false;
                break;
            }
            let body = serde_json::to_string(&Reply::Status(Default::default())).expect("JSON");
            let answer = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            stream.write_all(answer.as_bytes()).await.expect("sent");
        }
    }
    requests
}

/// An owner closes an idle connection while the client sends the next request over it. Nobody knows whether the owner has read the
/// request, so only a read is sent again.
#[tokio::test]
async fn request_over_a_connection_that_was_closed_is_repeated_if_that_changes_nothing() {
    let change = |id: Option<&str>| {
        let id = id.map(str::to_owned);
        Request::Say(retake_wire::request::Say { request_id: id, ..said("c", Role::User, "one") })
    };
    let changes = [(change(None), 1, 2), (change(Some("one")), 1, 2)];
    for (request, connections, sent) in std::iter::once((Request::Status, 2, 3)).chain(changes) {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
        let base = format!("http://{}", listener.local_addr().expect("bound"));
        let owner = tokio::spawn(owner_that_closes(listener, connections));
        let client =
            HttpClient::new(OwnerAddress::Address { base, token: "token".into() }).expect("a client");
        client.call(Request::Status).await.expect("the first answer");
        let answer = client.call(request).await;
        match connections {
            1 => assert_eq!(answer.expect_err("it is not repeated").code, ProblemCode::OwnerLost),
            _ => assert!(matches!(answer, Ok(Reply::Status(_))), "{answer:?}"),
        }
        drop(client);
        let requests = tokio::time::timeout(PATIENCE, owner).await.expect("in time").expect("joined");
        assert_eq!(requests, sent);
    }
}

/// More than the limit of TCP connections.
const MANY: usize = 300;

/// Clients without a token open as many connections as allowed, and send nothing, or an incomplete
/// request.
#[tokio::test]
async fn trial_29_silent_connections_are_closed_and_block_no_client() {
    let desk = Desk::impatient().await;
    let address = desk.served.address.expect("it listens");
    let mut idle = Vec::new();
    for number in 0..MANY {
        let mut stream = TcpStream::connect(address).await.expect("connected");
        if number % 2 == 0 {
            stream.write_all(b"GET /v1/status HTTP/1.1\r\nhost: own").await.expect("sent");
        }
        idle.push(stream);
    }
    assert_eq!(following(&desk).await, 0, "the socket answers meanwhile");
    for mut stream in idle {
        let mut answer = Vec::new();
        let ended = tokio::time::timeout(PATIENCE, stream.read_to_end(&mut answer)).await;
        assert!(ended.is_ok(), "it is still connected");
    }
    let mut next = TcpStream::connect(address).await.expect("connected");
    next.write_all(b"GET /v1/status HTTP/1.1\r\nhost: owner\r\n\r\n").await.expect("sent");
    let mut answer = String::new();
    let ended = tokio::time::timeout(PATIENCE, next.read_to_string(&mut answer)).await.expect("in time");
    ended.expect("it ends: who knows no token asks once");
    assert!(answer.starts_with("HTTP/1.1 401 "), "{answer}");
}
