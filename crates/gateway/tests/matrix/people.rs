//! People on the server, bots with the adapter, and an inbox for tests.

use std::future::Future;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use reqwest::{Client, Method, Url};
use retake_gateway::matrix::{Invites, Matrix, MatrixConfig};
use retake_gateway::{Adapter as _, Failure, Inbox, InboxClosed, Marker, Outgoing, Receipt, StyledText};
use retake_wire::chat::{Inbound, InboundMessage, Place};
use serde_json::{Value, json};

use retake_fakes::synapse::Synapse;

/// The password of everybody.
pub(crate) const PASSWORD: &str = "a-password";

static NUMBER: AtomicUsize = AtomicUsize::new(0);

/// A number that nothing else has.
pub(crate) fn number() -> usize {
    NUMBER.fetch_add(1, Ordering::Relaxed)
}

/// A person, or a bot as the server sees it.
pub(crate) struct Person {
    pub(crate) id: String,
    pub(crate) token: String,
    pub(crate) device: String,
    address: String,
    http: Client,
}

impl Person {
    pub(crate) async fn new(name: &str) -> Self {
        Self::on(Synapse::shared(), name).await
    }

    pub(crate) async fn on(server: &Synapse, name: &str) -> Self {
        let http = client();
        let mut person = Self {
            id: String::new(),
            token: String::new(),
            device: String::new(),
            address: server.address(),
            http,
        };
        let body = json!({
            "username": format!("{name}{}", number()), "password": PASSWORD, "auth": { "type": "m.login.dummy" }
        });
        let answer = person.post(&["register"], &body).await;
        let text = |name: &str| answer[name].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned();
        (person.id, person.token, person.device) = (text("user_id"), text("access_token"), text("device_id"));
        person
    }

    /// The status and the JSON of a call below `/_matrix/client/v3`.
    pub(crate) async fn call(&self, method: Method, path: &[&str], body: Option<&Value>) -> (u16, Value) {
        let mut url = Url::parse(&self.address).expect("an address");
        url.path_segments_mut().expect("a path").extend(["_matrix", "client", "v3"].iter().chain(path));
        let mut request = self.http.request(method, url);
        if !self.token.is_empty() {
            request = request.bearer_auth(&self.token);
        }
        if let Some(body) = body {
            request = request.json(body);
        }
        let response = request.send().await.expect("an answer");
        (response.status().as_u16(), response.json().await.unwrap_or_default())
    }

    pub(crate) async fn post(&self, path: &[&str], body: &Value) -> Value {
        let (status, answer) = self.call(Method::POST, path, Some(body)).await;
        assert_eq!(status, 200, "{path:?}: {answer}");
        answer
    }

    pub(crate) async fn put(&self, path: &[&str], body: &Value) -> Value {
        let (status, answer) = self.call(Method::PUT, path, Some(body)).await;
        assert_eq!(status, 200, "{path:?}: {answer}");
        answer
    }

    pub(crate) async fn get(&self, path: &[&str]) -> Value {
        self.call(Method::GET, path, None).await.1
    }

    pub(crate) async fn event(&self, room: &str, id: &str) -> Value {
        self.get(&["rooms", room, "event", id]).await
    }

    /// The events of a room, oldest first, of one kind.
    pub(crate) async fn history(&self, room: &str, kind: &str) -> Vec<Value> {
        let mut url = Url::parse(&self.address).expect("an address");
        url.path_segments_mut()
            .expect("a path")
            .extend(["_matrix", "client", "v3", "rooms", room, "messages"]);
        let query = [("dir", "f"), ("limit", "1000")];
        let request = self.http.get(url).query(&query).bearer_auth(&self.token);
        let page: Value = request.send().await.expect("an answer").json().await.expect("JSON");
        let chunk = page["chunk"].as_array().expect("events").iter();
        chunk.filter(|event| event["type"] == kind).cloned().collect()
    }

    /// A new room with these invited people.
    pub(crate) async fn room(&self, invited: &[&Self]) -> String {
        self.room_with(invited, json!({})).await
    }

    pub(crate) async fn room_with(&self, invited: &[&Self], rest: Value) -> String {
        let invited: Vec<_> = invited.iter().map(|person| &person.id).collect();
        let mut body = json!({ "invite": invited, "preset": "private_chat" });
        body.as_object_mut().expect("an object").extend(rest.as_object().expect("an object").clone());
        self.post(&["createRoom"], &body).await["room_id"].as_str().expect("a room").to_owned()
    }

    pub(crate) async fn join(&self, room: &str) {
        self.post(&["rooms", room, "join"], &json!({})).await;
    }

    /// Sends an event of a message, and returns its id.
    pub(crate) async fn send(&self, room: &str, content: &Value) -> String {
        let number = format!("t{}", number());
        let answer = self.put(&["rooms", room, "send", "m.room.message", &number], content).await;
        answer["event_id"].as_str().expect("an id").to_owned()
    }

    pub(crate) async fn say(&self, room: &str, text: &str) -> String {
        self.send(room, &json!({ "msgtype": "m.text", "body": text })).await
    }

    pub(crate) async fn redact(&self, room: &str, id: &str) {
        let number = format!("r{}", number());
        self.put(&["rooms", room, "redact", id, &number], &json!({})).await;
    }

    /// An adapter with the account of this person.
    pub(crate) fn adapter(&self) -> Matrix {
        Matrix::new(self.config()).expect("an adapter")
    }

    pub(crate) fn config(&self) -> MatrixConfig {
        MatrixConfig {
            account: "m".into(),
            homeserver: self.address.clone(),
            token: self.token.clone().into(),
            device: Some(self.device.clone()),
            invites: Invites::Join,
            unreadable: Some("I cannot read here.".into()),
        }
    }
}

pub(crate) fn client() -> Client {
    drop(rustls::crypto::ring::default_provider().install_default());
    Client::builder().no_proxy().timeout(Duration::from_secs(60)).build().expect("a client")
}

/// A person and a bot in a room of their own, and the time from which the bot receives.
pub(crate) struct Two {
    pub(crate) person: Person,
    pub(crate) bot: Person,
    pub(crate) adapter: Matrix,
    pub(crate) room: String,
}

impl Two {
    pub(crate) async fn new() -> Self {
        let (person, bot) = (Person::new("anna").await, Person::new("bot").await);
        let room = person.room(&[&bot]).await;
        bot.join(&room).await;
        let adapter = bot.adapter();
        Self { person, bot, adapter, room }
    }

    pub(crate) fn place(&self) -> Place {
        place(&self.room, None)
    }

    /// The newest time of the server. Ask only once: the server repeats its answer for two minutes [T].
    pub(crate) async fn now(&self) -> String {
        receive(&self.adapter, None, 0).await.1
    }

    /// The next events since that time.
    pub(crate) async fn next(&self, since: &str, wanted: usize) -> Vec<(String, Inbound)> {
        receive(&self.adapter, Some(since.to_owned()), wanted).await.0
    }

    /// The next messages and edits.
    pub(crate) async fn messages(&self, since: &str, wanted: usize) -> Vec<InboundMessage> {
        self.next(since, wanted).await.into_iter().map(|(_, inbound)| message(inbound)).collect()
    }
}

pub(crate) fn message(inbound: Inbound) -> InboundMessage {
    match inbound {
        Inbound::Message(message) | Inbound::Edited(message) => message,
        other => panic!("no message: {other:?}"),
    }
}

pub(crate) fn place(room: &str, thread: Option<&str>) -> Place {
    Place { account: "m".into(), chat: room.into(), thread: thread.map(Into::into) }
}

pub(crate) fn text(text: &str) -> Outgoing {
    Outgoing { text: StyledText { text: text.into(), styles: Vec::new() }, ..Outgoing::default() }
}

/// A new marker.
pub(crate) fn marker() -> Marker {
    Marker { key: format!("k{}", number()), digest: String::new() }
}

/// Receives until so many events are there and a time is over. Returns the events and the time.
pub(crate) async fn receive(
    adapter: &Matrix,
    cursor: Option<String>,
    wanted: usize,
) -> (Vec<(String, Inbound)>, String) {
    let collects = Collects { wanted, ..Collects::default() };
    let failure = within(adapter.receive(cursor, &collects)).await;
    assert_eq!(failure, Failure::Closed);
    let cursor = collects.cursor.into_inner().expect("no panic").expect("a time");
    (collects.events.into_inner().expect("no panic"), cursor)
}

/// Fails if it takes too long.
pub(crate) async fn within<T>(future: impl Future<Output = T>) -> T {
    tokio::time::timeout(Duration::from_secs(60), future).await.expect("it ends in time")
}

/// Waits for a condition.
pub(crate) async fn until(is_so: impl Fn() -> bool) {
    for _ in 0..600 {
        if is_so() {
            return;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("it does not happen");
}

/// An inbox that closes when it has enough.
#[derive(Default)]
pub(crate) struct Collects {
    pub(crate) wanted: usize,
    pub(crate) events: Mutex<Vec<(String, Inbound)>>,
    pub(crate) cursor: Mutex<Option<String>>,
    pub(crate) places: Vec<(Place, Option<String>)>,
}

#[async_trait]
impl Inbox for Collects {
    async fn arrived(&self, transport_key: &str, event: Inbound) -> Result<Receipt, InboxClosed> {
        self.events.lock().expect("no panic").push((transport_key.to_owned(), event));
        Ok(Receipt::durable_now())
    }

    async fn advance(&self, cursor: &str) -> Result<Receipt, InboxClosed> {
        *self.cursor.lock().expect("no panic") = Some(cursor.to_owned());
        let is_enough = self.events.lock().expect("no panic").len() >= self.wanted;
        if is_enough { Err(InboxClosed) } else { Ok(Receipt::durable_now()) }
    }

    async fn places(&self) -> Vec<(Place, Option<String>)> {
        self.places.clone()
    }
}
