//! With `emulate`, a test server that others wrote (section 11 of the spec says how it differs). It has no Socket Mode.

use std::sync::Arc;

use retake_gateway::{Adapter as _, Deleted, Failure, Found, Outgoing, Refused, SentFile, Slack};
use retake_wire::chat::{InboundFile, Place};
use serde_json::{Value, json};

use super::{adapter, marker, place, post};
use crate::node::Node;

const CHANNEL: &str = "C000000001";

/// Two people. The first one stands for the bot.
const SCRIPT: &str = "import(PACKAGE + '/dist/api.js').then(async ({createEmulator}) => { \
    const tokens = [{token: 'xoxb-bot', user: 'admin'}, {token: 'xoxb-ben', user: 'ben'}]; \
    const seed = {slack: {users: [{name: 'ben'}], tokens}}; \
    const server = await createEmulator({service: 'slack', port: 0, seed}); console.log(server.url); });";

async fn start() -> (Node, Arc<Slack>) {
    let node = Node::start("emulate", SCRIPT).await;
    let adapter = adapter(&node.said, "xoxb-bot", "xapp-1");
    (node, adapter)
}

/// Ben calls a method.
async fn ben(node: &Node, method: &str, form: &[(&str, &str)]) -> Value {
    let request = reqwest::Client::new().post(format!("{}/api/{method}", node.said)).bearer_auth("xoxb-ben");
    request
        .form(form)
        .send()
        .await
        .expect("BUG: the test server answers otherwise")
        .json()
        .await
        .expect("BUG: the test server answers otherwise")
}

async fn texts(node: &Node) -> Vec<String> {
    let mut answer = ben(node, "conversations.history", &[("channel", CHANNEL)]).await;
    let messages: Vec<Value> =
        serde_json::from_value(answer["messages"].take()).expect("BUG: the test server answers otherwise");
    messages
        .iter()
        .rev()
        .map(|message| message["text"].as_str().expect("BUG: the test server answers otherwise").to_owned())
        .collect()
}

/// Cases 18, 36 and 42 (S).
#[tokio::test]
async fn real_server_posts_edits_and_deletes() {
    let (node, adapter) = start().await;
    let channel = place(CHANNEL, None);
    let identity = adapter.identify().await.unwrap();
    // It says nothing of scopes.
    assert_eq!((identity.name.as_str(), identity.missing), ("admin", vec![]));
    let mut ids = Vec::new();
    for text in ["one", "two & <three>", "four"] {
        ids.extend(adapter.send(&channel, &post(text), &marker(text)).await.unwrap().ids);
    }
    assert_eq!(texts(&node).await, ["one", "two &amp; &lt;three&gt;", "four"]);
    adapter.edit(&channel, &ids[0], &post("ONE"), &marker("k1")).await.unwrap();
    assert_eq!(adapter.delete(&channel, &ids[2]).await, Ok(Deleted::Gone));
    assert_eq!(adapter.delete(&channel, &ids[2]).await, Ok(Deleted::AlreadyGone));
    let gone = adapter.edit(&channel, &ids[2], &post("again"), &marker("k1")).await;
    assert_eq!(gone, Err(Failure::NotFound));
    assert_eq!(adapter.delete(&channel, &ids[1]).await, Ok(Deleted::Gone));
    assert_eq!(texts(&node).await, ["ONE"]);
    let theirs = ben(&node, "chat.postMessage", &[("channel", CHANNEL), ("text", "mine")]).await;
    let refused = adapter.delete(&channel, theirs["ts"].as_str().unwrap()).await;
    assert_eq!(refused, Err(Failure::Refused(Refused::NotPermitted)));
    let elsewhere = adapter.send(&place("C404", None), &post("x"), &marker("k1")).await;
    assert_eq!(elsewhere, Err(Failure::Refused(Refused::NotPermitted)));
}

/// Case 23 (S).
#[tokio::test]
async fn real_server_finds_a_post_by_its_marker() {
    let (node, adapter) = start().await;
    let root = ben(&node, "chat.postMessage", &[("channel", CHANNEL), ("text", "root")]).await;
    let thread: Place = place(CHANNEL, root["ts"].as_str());
    for (number, place) in [place(CHANNEL, None), thread].into_iter().enumerate() {
        let key = format!("k{number}");
        adapter.send(&place, &post("other"), &marker("other")).await.unwrap();
        let sent = adapter.send(&place, &post("hi"), &marker(&key)).await.unwrap();
        let since_ms = sent.sent_ms.unwrap();
        assert_eq!(adapter.find(&place, &marker(&key), since_ms).await, Ok(Found::Found(sent)));
        assert_eq!(adapter.find(&place, &marker("k9"), since_ms).await, Ok(Found::Absent));
    }
}

#[tokio::test]
async fn real_server_takes_and_gives_files() {
    let (node, adapter) = start().await;
    let file = SentFile { name: "a.txt".into(), media_type: "text/plain".into(), bytes: b"hello".to_vec() };
    let with_file = Outgoing { file: Some(file), ..post("see") };
    let sent = adapter.send(&place(CHANNEL, None), &with_file, &marker("k1")).await.unwrap();
    assert_eq!(sent.ids.len(), 2);
    assert_eq!(texts(&node).await, ["see"]);
    let info = ben(&node, "files.info", &[("file", &sent.ids[1])]).await;
    let handle = info["file"]["url_private"].as_str().unwrap().to_owned();
    let file = InboundFile { handle, name: None, media_type: None, size: None, is_voice: false };
    assert_eq!(adapter.fetch(&file, 99).await, Ok(b"hello".to_vec()));
    for id in &sent.ids {
        assert_eq!(adapter.delete(&place(CHANNEL, None), id).await, Ok(Deleted::Gone), "{}", json!(id));
    }
    assert_eq!(texts(&node).await, Vec::<String>::new());
}
