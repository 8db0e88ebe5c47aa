//! A fake Discord with a guild, an adapter, and an inbox that remembers.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use retake_fakes::discord::FakeDiscord;
use retake_gateway::{
    Adapter as _, Discord, DiscordConfig, Failure, Inbox, InboxClosed, Marker, Outgoing, Receipt, StyledText,
};
use retake_wire::chat::{Inbound, InboundMessage, Place};
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub(super) const TOKEN: &str = "MTIz.secret-token.value";

/// How long a test waits for something at most.
const PATIENCE: Duration = Duration::from_secs(20);

/// A fake with a guild of Anna and Ben, whose owner is somebody else, and a channel.
pub(crate) struct World {
    pub(crate) fake: FakeDiscord,
    pub(crate) guild: String,
    pub(crate) channel: String,
    pub(crate) anna: String,
    pub(crate) ben: String,
}

impl World {
    pub(crate) async fn new() -> Self {
        let fake = FakeDiscord::start(TOKEN).await;
        let [owner, anna, ben] = ["owner", "anna", "ben"].map(|name| fake.add_user(name));
        let guild = fake.add_guild(&[&owner, &anna, &ben]);
        let channel = fake.add_channel(&guild);
        Self { fake, guild, channel, anna, ben }
    }

    pub(crate) fn config(&self) -> DiscordConfig {
        let mut config = DiscordConfig::new("work", TOKEN.to_owned().into());
        config.rest = self.fake.rest();
        config.gateway = self.fake.gateway();
        config.files = vec![self.fake.files()];
        config
    }

    pub(crate) fn adapter(&self) -> Arc<Discord> {
        Arc::new(Discord::new(self.config()).expect("an adapter"))
    }

    pub(crate) fn place(&self) -> Place {
        place(&self.channel)
    }

    /// The contents of the channel that are ours, oldest first.
    pub(crate) fn own(&self, channel: &str) -> Vec<String> {
        let me = self.fake.me();
        let messages = self.fake.messages(channel);
        let own = messages.iter().filter(|message| message["author"]["id"] == me.as_str());
        own.map(|message| message["content"].as_str().expect("a content").to_owned()).collect()
    }
}

pub(super) fn place(chat: &str) -> Place {
    Place { account: "work".to_owned(), chat: chat.to_owned(), thread: None }
}

pub(super) fn thread(chat: &str, thread: &str) -> Place {
    Place { thread: Some(thread.to_owned()), ..place(chat) }
}

pub(super) fn post(text: &str) -> Outgoing {
    Outgoing { text: StyledText { text: text.to_owned(), styles: Vec::new() }, ..Outgoing::default() }
}

pub(super) fn marker(adapter: &Discord, key: &str, post: &Outgoing) -> Marker {
    Marker { key: key.to_owned(), digest: adapter.digest(post) }
}

/// Sends a text. Returns its id.
pub(super) async fn sent(adapter: &Discord, place: &Place, text: &str) -> String {
    let post = post(text);
    let key =
        format!("k{}", blake3::hash(format!("{place:?}{text}").as_bytes()).to_hex().get(..20).expect("hex"));
    let sent = adapter.send(place, &post, &marker(adapter, &key, &post)).await.expect("sent");
    sent.ids.first().expect("an id").clone()
}

/// An inbox that stores each event once by its key.
#[derive(Debug, Default)]
pub(super) struct TestInbox {
    state: watch::Sender<State>,
    places: Mutex<Vec<(Place, Option<String>)>>,
}

#[derive(Debug, Default)]
struct State {
    arrived: Vec<(String, Inbound)>,
    deliveries: usize,
    cursor: Option<String>,
    is_closed: bool,
}

impl TestInbox {
    pub(super) fn bind(&self, place: Place, last: Option<&str>) {
        self.places.lock().expect("no panic").push((place, last.map(str::to_owned)));
    }

    pub(super) fn close(&self) {
        self.state.send_modify(|state| state.is_closed = true);
    }

    pub(super) fn cursor(&self) -> Option<String> {
        self.state.borrow().cursor.clone()
    }

    pub(super) fn deliveries(&self) -> usize {
        self.state.borrow().deliveries
    }

    pub(super) fn events(&self) -> Vec<Inbound> {
        self.state.borrow().arrived.iter().map(|(_, event)| event.clone()).collect()
    }

    pub(super) fn keys(&self) -> Vec<String> {
        self.state.borrow().arrived.iter().map(|(key, _)| key.clone()).collect()
    }

    /// The texts of all messages, in order.
    pub(super) fn texts(&self) -> Vec<String> {
        let text = |event: Inbound| match event {
            Inbound::Message(message) => Some(message.text),
            _ => None,
        };
        self.events().into_iter().filter_map(text).collect()
    }

    /// The messages, in order.
    pub(super) fn messages(&self) -> Vec<InboundMessage> {
        let message = |event: Inbound| match event {
            Inbound::Message(message) => Some(message),
            _ => None,
        };
        self.events().into_iter().filter_map(message).collect()
    }

    pub(super) async fn until(&self, count: usize) {
        self.wait(&format!("{count} events"), |state| state.arrived.len() >= count).await;
    }

    pub(super) async fn until_delivered(&self, count: usize) {
        self.wait(&format!("{count} deliveries"), |state| state.deliveries >= count).await;
    }

    async fn wait(&self, what: &str, is_there: impl FnMut(&State) -> bool) {
        let mut state = self.state.subscribe();
        let waited = tokio::time::timeout(PATIENCE, state.wait_for(is_there)).await;
        let is_there = waited.is_ok_and(|waited| waited.is_ok());
        assert!(is_there, "no {what}: {:?}", self.keys());
    }
}

#[async_trait]
impl Inbox for TestInbox {
    async fn arrived(&self, transport_key: &str, event: Inbound) -> Result<Receipt, InboxClosed> {
        if self.state.borrow().is_closed {
            return Err(InboxClosed);
        }
        self.state.send_modify(|state| {
            state.deliveries += 1;
            if !state.arrived.iter().any(|(key, _)| key == transport_key) {
                state.arrived.push((transport_key.to_owned(), event));
            }
        });
        Ok(Receipt::durable_now())
    }

    async fn advance(&self, cursor: &str) -> Result<Receipt, InboxClosed> {
        self.state.send_modify(|state| state.cursor = Some(cursor.to_owned()));
        Ok(Receipt::durable_now())
    }

    async fn places(&self) -> Vec<(Place, Option<String>)> {
        self.places.lock().expect("no panic").clone()
    }
}

/// An adapter that receives until this is dropped.
pub(super) struct Receiving {
    task: JoinHandle<Failure>,
}

impl Receiving {
    /// Starts, and waits until a session has begun.
    pub(super) async fn start(world: &World, adapter: &Arc<Discord>, inbox: &Arc<TestInbox>) -> Self {
        let receiving = Self::resume(adapter, inbox, None);
        inbox.wait("session", |state| state.cursor.is_some()).await;
        world.fake.control().until_called("identify", 1).await;
        receiving
    }

    /// Starts with a cursor.
    pub(super) fn resume(adapter: &Arc<Discord>, inbox: &Arc<TestInbox>, cursor: Option<String>) -> Self {
        let (adapter, inbox) = (Arc::clone(adapter), Arc::clone(inbox));
        Self { task: tokio::spawn(async move { adapter.receive(cursor, &*inbox).await }) }
    }

    /// Waits until it fails.
    pub(super) async fn failure(mut self) -> Failure {
        let ended = tokio::time::timeout(PATIENCE, &mut self.task).await;
        ended.expect("it ends").expect("no panic")
    }

    /// Ends it as a killed process does.
    pub(super) async fn kill(mut self) {
        self.task.abort();
        drop((&mut self.task).await);
    }
}

impl Drop for Receiving {
    fn drop(&mut self) {
        self.task.abort();
    }
}
