//! Answers of a server that are not as they should be. Only our own fake can give them.

use std::sync::Mutex;

use retake_gateway::matrix::Matrix;
use retake_gateway::{Adapter as _, Failure};
use serde_json::{Value, json};

use super::failing::{Loses, config};
use super::people::{Collects, message, within};

fn ok(json: &Value) -> String {
    // With its length: an answer that is cut short is asked for again.
    let json = json.to_string();
    format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{json}", json.len())
}

const ENDED: &str =
    "HTTP/1.1 401 No\r\ncontent-length: 29\r\nconnection: close\r\n\r\n{\"errcode\":\"M_UNKNOWN_TOKEN\"}";

/// A server on which polls are answered by a function.
fn server(poll: impl Fn(&str) -> String + Send + 'static) -> Loses {
    Loses::answers(move |request| match request {
        request if request.contains("/whoami") => ok(&json!({ "user_id": "@us:t" })),
        request if request.contains("/sync?") && request.contains("since=") => poll(request),
        request if request.contains("/sync?") => ok(&json!({ "next_batch": "a" })),
        _ => ok(&json!({})),
    })
}

/// The adapter's result, and the number of messages.
async fn received(server: &Loses) -> (Failure, usize) {
    let adapter = Matrix::new(config(server.address())).expect("an adapter");
    let collects = Collects { wanted: usize::MAX, ..Collects::default() };
    let failure = within(adapter.receive(Some("a".into()), &collects)).await;
    (failure, collects.events.into_inner().expect("no panic").len())
}

fn said(room: &Value, next: &str) -> Value {
    json!({ "next_batch": next, "rooms": { "join": { "!r:t": room } } })
}

#[tokio::test]
async fn answer_that_is_too_long_is_asked_for_in_a_shorter_form() {
    let event = json!({ "event_id": "$e", "type": "m.room.message", "sender": "@a:t", "content": { "msgtype": "m.text", "body": "x" } });
    let server = server(move |request| match request {
        request if request.contains("since=b") => ENDED.into(),
        // The order of the fields is not ours.
        request if request.contains("limit%22%3A1%2C") || request.contains("limit%22%3A1%7D") => {
            ok(&said(&json!({ "timeline": { "events": [event] } }), "b"))
        }
        _ => ok(&json!({ "next_batch": "b", "long": "x".repeat(17 * 1024 * 1024) })),
    });
    let adapter = Matrix::new(config(server.address())).unwrap();
    let collects = Collects { wanted: usize::MAX, ..Collects::default() };
    let failure = within(adapter.receive(Some("a".into()), &collects)).await;
    assert_eq!(failure, Failure::BadToken);
    let events = collects.events.into_inner().unwrap();
    assert_eq!(events.into_iter().map(|(_, event)| message(event).text).collect::<Vec<_>>(), ["x"]);
}

/// Every place of an answer, with its path.
fn places(value: &Value, path: &str, found: &mut Vec<String>) {
    found.push(path.to_owned());
    match value {
        Value::Object(object) => {
            for (name, value) in object {
                let name = name.replace('~', "~0").replace('/', "~1");
                places(value, &format!("{path}/{name}"), found);
            }
        }
        Value::Array(array) => {
            for (number, value) in array.iter().enumerate() {
                places(value, &format!("{path}/{number}"), found);
            }
        }
        _ => {}
    }
}

/// A room in which everything happens.
fn room() -> Value {
    let event = |kind: &str, content: Value| {
        json!({
            "event_id": "$e", "type": kind, "sender": "@a:t", "origin_server_ts": 1, "content": content,
            "unsigned": { "prev_content": { "membership": "invite" } },
        })
    };
    let mut coming = event("m.room.member", json!({ "membership": "join", "displayname": "Us" }));
    coming["state_key"] = json!("@us:t");
    let file = json!({
        "msgtype": "m.audio", "body": "c", "filename": "f", "url": "mxc://t/x", "info": { "size": 1, "mimetype": "a/b" },
        "m.mentions": { "user_ids": ["@us:t"] },
        "m.relates_to": { "rel_type": "m.thread", "event_id": "$t", "m.in_reply_to": { "event_id": "$r" } },
    });
    let edit = json!({
        "msgtype": "m.text", "body": "* c", "m.new_content": { "msgtype": "m.text", "body": "c" },
        "m.relates_to": { "rel_type": "m.replace", "event_id": "$e" },
    });
    let messages = [event("m.room.message", file), event("m.room.message", edit)];
    let others = [
        event("m.room.redaction", json!({ "redacts": "$e" })),
        event("m.room.tombstone", json!({ "replacement_room": "!n:t" })),
        event("m.room.encryption", json!({})),
    ];
    let events: Vec<_> = [coming].into_iter().chain(messages).chain(others).collect();
    json!({ "state": { "events": [] }, "timeline": { "limited": true, "prev_batch": "p", "events": events } })
}

#[tokio::test]
async fn no_field_of_an_answer_can_stop_us_whatever_it_is() {
    let whole = said(&room(), "b");
    let mut paths = Vec::new();
    places(&whole["rooms"], "/rooms", &mut paths);
    let mut odd = vec![whole.clone()];
    for path in paths {
        for value in [Value::Null, json!(-7), json!("\u{0}é"), json!([[]]), json!({ "x": {} })] {
            let mut answer = whole.clone();
            *answer.pointer_mut(&path).unwrap() = value;
            odd.push(answer);
        }
    }
    let most = odd.len();
    assert!(most > 300, "{most}");
    let waiting = Mutex::new(odd.into_iter());
    let server = server(move |_| match waiting.lock().unwrap().next() {
        Some(answer) => ok(&answer),
        None => ENDED.into(),
    });
    let (failure, messages) = received(&server).await;
    assert_eq!(failure, Failure::BadToken);
    assert!(messages > most, "most of them still have messages: {messages}");
}
