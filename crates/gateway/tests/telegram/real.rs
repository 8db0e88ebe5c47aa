//! With `telegram-test-api`, a test server that others wrote (section 11 of the spec says how it differs).

use std::sync::Arc;

use retake_gateway::{Adapter as _, Deleted, Failure, Outgoing, Refused, Style, Styled, Telegram};
use retake_wire::chat::{Addressed, Inbound, Person};
use serde_json::{Value, json};

use super::{ANNA, adapter, marker, place, post};
use crate::node::Node;
use crate::recorder::{Receiving, Recorder, message};

const TOKEN: &str = "123:token";

/// A text, because the server takes its usual port for the number 0.
const SCRIPT: &str = "const Server = require(PACKAGE); \
    const server = new Server({port: '0', host: '127.0.0.1'}); \
    server.start().then(() => console.log(server.server.address().port));";

async fn start() -> (Node, String, Arc<Telegram>) {
    let node = Node::start("telegram-test-api", SCRIPT).await;
    let base = format!("http://127.0.0.1:{}", node.said);
    let adapter = adapter(&base, TOKEN);
    (node, base, adapter)
}

/// Calls the part of the server that stands for people's clients.
async fn client(base: &str, method: &str, body: Value) -> Value {
    let sent = reqwest::Client::new()
        .post(format!("{base}/{method}"))
        .json(&body)
        .send()
        .await
        .expect("BUG: the test server answers otherwise");
    sent.json::<Value>().await.expect("BUG: the test server answers otherwise")["result"].take()
}

/// The texts of the posts that are there.
async fn texts(base: &str) -> Vec<String> {
    let history = client(base, "getUpdatesHistory", json!({"token": TOKEN})).await;
    let text = |post: &Value| {
        post["message"]["text"].as_str().expect("BUG: the test server answers otherwise").to_owned()
    };
    history.as_array().expect("BUG: the test server answers otherwise").iter().map(text).collect()
}

/// Cases 18 and 42 (T).
#[tokio::test]
async fn real_server_posts_edits_and_deletes() {
    let (_node, base, adapter) = start().await;
    let identity = adapter.identify().await.unwrap();
    assert_eq!((identity.id.as_str(), identity.name.as_str()), ("666", "TestNameBot"));
    let mut ids = Vec::new();
    for text in ["one", "two", "three"] {
        let mut styled: Outgoing = post(text);
        styled.text.styles.push(Styled { range: 0..3, style: Style::Bold });
        let sent = adapter.send(&place(ANNA), &styled, &marker()).await.unwrap();
        // The server says milliseconds where the platform says seconds.
        assert!((1_700_000_000_000..9_000_000_000_000).contains(&sent.sent_ms.unwrap()));
        ids.extend(sent.ids);
    }
    assert_eq!(texts(&base).await, ["one", "two", "three"]);
    for _ in 0..2 {
        adapter.edit(&place(ANNA), &ids[0], &post("ONE"), &marker()).await.unwrap();
    }
    assert_eq!(adapter.delete(&place(ANNA), &ids[2]).await, Ok(Deleted::Gone));
    assert_eq!(adapter.delete(&place(ANNA), &ids[1]).await, Ok(Deleted::Gone));
    assert_eq!(texts(&base).await, ["ONE"]);
    // Its refusal has other words than the platform's, and comes with status 200.
    let again = adapter.delete(&place(ANNA), &ids[1]).await;
    assert_eq!(again, Err(Failure::Refused(Refused::Other)));
    // It has no such method, and no form for saying so.
    assert_eq!(adapter.typing(&place(ANNA)).await, Err(Failure::Unknown));
}

#[tokio::test]
async fn real_server_delivers_messages_commands_and_presses() {
    let (_node, base, adapter) = start().await;
    let from = json!({"id": ANNA, "first_name": "Anna", "is_bot": false});
    let chat = json!({"id": ANNA, "type": "private"});
    let said = |text: &str| json!({"botToken": TOKEN, "from": from, "chat": chat, "date": 1_790_000_000, "text": text});
    client(&base, "sendMessage", said("hello")).await;
    let inbox = Arc::new(Recorder::default());
    let _receiving = Receiving::start(&adapter, None, &inbox);
    inbox.until(1).await;
    let mut command = said("/undo 2");
    command["entities"] = json!([{"type": "bot_command", "offset": 0, "length": 5}]);
    client(&base, "sendCommand", command).await;
    let press = json!({
        "botToken": TOKEN, "from": {"id": 42, "first_name": "Ben"}, "data": "yes-1",
        "message": {"message_id": 1, "chat": chat, "from": {"id": 666}},
    });
    client(&base, "sendCallback", press).await;
    let arrived: Vec<Inbound> = inbox.until(3).await.into_iter().map(|(_, event)| event).collect();
    assert_eq!(
        (message(&arrived[0]).text.as_str(), message(&arrived[0]).sent_ms),
        ("hello", 1_790_000_000_000)
    );
    assert_eq!(
        (message(&arrived[1]).text.as_str(), message(&arrived[1]).addressed),
        ("/undo 2", Addressed::Mention)
    );
    let ben = Person { id: "42".into(), name: "Ben".into(), is_bot: false };
    let Inbound::Pressed { person, button, answer_to, .. } = &arrived[2] else { panic!("{:?}", arrived[2]) };
    assert_eq!((person, button.as_str()), (&ben, "yes-1"));
    adapter.whisper(&place(ANNA), &ben, "done", Some(answer_to)).await.unwrap();
}
