//! Exports and imports as one body equal those in pieces, and an incomplete body imports nothing.

use futures::StreamExt;
use reqwest::{Body, Method, RequestBuilder};
use retake_wire::http::REQUEST_ID;
use retake_wire::request::{Format, List};
use retake_wire::{Request, Role};
use serde_json::{Value, json};

use super::http::Asking;
use super::port::{export, rich};
use super::world::{Desk, get};

/// Messages of several megabytes, one per line.
fn messages(count: usize) -> String {
    let long = "long ".repeat(400);
    let line = |number| json!({ "role": "user", "content": format!("{number} {long}") }).to_string() + "\n";
    (0..count).map(line).collect()
}

/// A body in pieces that end anywhere; it may break off at the end.
fn pieces(text: &str, breaks: bool) -> Body {
    let pieces: Vec<Vec<u8>> = text.as_bytes().chunks(7_919).map(<[u8]>::to_vec).collect();
    let broken = breaks.then(|| Err(std::io::Error::other("it breaks off")));
    Body::wrap_stream(futures::stream::iter(pieces.into_iter().map(Ok).chain(broken)))
}

async fn answered(request: RequestBuilder) -> (u16, Value) {
    let response = request.send().await.expect("an answer");
    (response.status().as_u16(), response.json().await.expect("JSON"))
}

async fn conversations(desk: &Desk) -> usize {
    get!(desk, Conversations, Request::List(List::default())).conversations.len()
}

/// A body is imported and exported as one, and equals the pieces; the same key imports it once.
#[tokio::test]
async fn body_of_megabytes_is_sent_and_received() {
    let desk = Desk::new().await;
    let asking = Asking::new(&desk);
    let text = messages(2_000);
    assert!(text.len() > 4_000_000);
    let import = || {
        let at = "/v1/imports/stream?title=much&folder=%2Fhere";
        asking.request(Method::POST, at).header(REQUEST_ID, "once").body(pieces(&text, false))
    };
    let (status, receipt) = answered(import()).await;
    assert_eq!((status, &receipt["reply"]), (200, &json!("receipt")), "{receipt}");
    let (status, again) = answered(import()).await;
    assert_eq!((status, &again["conversation"]), (200, &receipt["conversation"]), "{again}");
    assert_eq!(conversations(&desk).await, 1);
    let id = receipt["conversation"].as_str().expect("an id");
    let info = desk.info(id).await;
    assert_eq!((info.title.as_deref(), info.folder.as_deref()), (Some("much"), Some("/here")));
    assert_eq!(desk.timeline(id).await.1.len(), 2_000);
    for of in [id.to_owned(), rich(&desk).await] {
        for (format, name, kind) in [
            (Format::Jsonl, "jsonl", "application/x-ndjson"),
            (Format::Full, "full", "application/x-ndjson"),
            (Format::Markdown, "markdown", "text/markdown; charset=utf-8"),
            (Format::Text, "text", "text/plain; charset=utf-8"),
        ] {
            let at = format!("/v1/conversations/{of}/export/stream?format={name}");
            let response = asking.request(Method::GET, &at).send().await.expect("an answer");
            assert_eq!(
                (response.status().as_u16(), &response.headers()["content-type"]),
                (200, &kind.parse().expect("a type"))
            );
            let whole = response.text().await.expect("all of it");
            let (expected, chunks) = export(&desk, &of, format, None).await;
            assert!(chunks > 1 || of != id, "{name} comes in pieces");
            // The first line of an export for programs has its time.
            let behind = |text: &str| text.split_once('\n').map(|(_, rest)| rest.to_owned());
            assert!(behind(&whole) == behind(&expected), "{name} of {of}");
        }
    }
}

/// The rows of a full export are the original ones: the record of the import identifies it anyway.
#[tokio::test]
async fn a_full_import_that_comes_again_gets_the_same_receipt() {
    let (desk, other) = (Desk::new().await, Desk::new().await);
    let id = rich(&desk).await;
    let (text, _) = export(&desk, &id, Format::Full, None).await;
    let asking = Asking::new(&other);
    let import = |key: &str, text: &str| {
        let body = Body::from(text.to_owned());
        asking.request(Method::POST, "/v1/imports/stream").header(REQUEST_ID, key).body(body)
    };
    let first = answered(import("once", &text)).await;
    assert_eq!(first.0, 200, "{}", first.1);
    other.say(&id, Role::User, "said since").await;
    assert_eq!(answered(import("once", &text)).await, first);
    assert_eq!(answered(import("twice", &text)).await.1["code"], "conversation_exists");
    desk.say(&id, Role::User, "another").await;
    let (another, _) = export(&desk, &id, Format::Full, None).await;
    let (status, told) = answered(import("once", &another)).await;
    assert_eq!((status, &told["code"]), (409, &json!("request_reused")), "{told}");
    assert_eq!(other.texts(&id).await.last().map(String::as_str), Some("said since"));
}

#[tokio::test]
async fn interrupted_import_stores_nothing() {
    let desk = Desk::new().await;
    let asking = Asking::new(&desk);
    let import =
        |body: Body| asking.request(Method::POST, "/v1/imports/stream").header(REQUEST_ID, "once").body(body);
    let text = messages(300);
    assert!(import(pieces(&text, true)).send().await.is_err());
    let bad = format!("{text}{{\"role\": \"nobody\"}}\n");
    let (status, told) = answered(import(pieces(&bad, false))).await;
    assert_eq!(status, 422, "{told}");
    assert!(told["detail"].as_str().is_some_and(|detail| detail.contains("line 301")), "{told}");
    let (status, told) = answered(import(Body::from(vec![b'{', 0xff, b'\n']))).await;
    assert_eq!((status, &told["code"]), (422, &json!("bad_import")), "{told}");
    let misspelt = asking.request(Method::POST, "/v1/imports/stream?titel=x").body(pieces(&text, false));
    assert_eq!(answered(misspelt).await.0, 400);
    assert_eq!(conversations(&desk).await, 0);
    let (status, receipt) = answered(import(pieces(&text, false))).await;
    assert_eq!(status, 200, "{receipt}");
    assert_eq!(desk.timeline(receipt["conversation"].as_str().expect("an id")).await.1.len(), 300);
}

/// A client that disconnects during an export delays nothing.
#[tokio::test]
async fn export_is_read_only_as_fast_as_its_client_reads() {
    let desk = Desk::new().await;
    let asking = Asking::new(&desk);
    let import = asking.request(Method::POST, "/v1/imports/stream").body(pieces(&messages(2_000), false));
    let (_, receipt) = answered(import).await;
    let at = format!("/v1/conversations/{}/export/stream", receipt["conversation"].as_str().expect("an id"));
    let response = asking.request(Method::GET, &at).send().await.expect("an answer");
    let mut body = response.bytes_stream();
    assert!(body.next().await.is_some_and(|piece| piece.is_ok_and(|piece| !piece.is_empty())));
    drop(body);
    let nowhere = asking.request(Method::GET, "/v1/conversations/nonsense/export/stream");
    let (status, told) = answered(nowhere).await;
    assert_eq!((status, &told["code"]), (404, &json!("unknown_conversation")), "{told}");
}
