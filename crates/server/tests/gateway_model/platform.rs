//! A chat platform in memory: people's events in order, our posts by id, and faults. Must never know more of the owner than which
//! answers are on the path, to notice that a post of one is deleted.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use retake_engine::clock::{Clock as _, SystemClock};
use retake_gateway::{
    Adapter, Capabilities, CommandPrefix, Deleted, DeletionWindow, Failure, Found, Identity, Inbox,
    LengthUnit, Marker, Outgoing, Probe, Refused, Remains, Resend, Sent,
};
use retake_wire::chat::{Inbound, InboundFile, Person, Place, PostKind, PostLine, PostStatus};
use tokio::sync::Notify;

use super::owner::{Door, lock, tokens};

#[derive(Clone, Debug)]
pub(super) enum Fault {
    /// Nothing happens.
    Fails(Failure),
    /// It takes effect, and the answer is lost.
    LostAfter,
    /// It takes effect, and the answer comes late.
    Slow,
}

#[derive(Clone, Debug)]
pub(super) struct Post {
    pub(super) id: String,
    pub(super) place: Place,
    pub(super) text: String,
    key: String,
    sent_ms: i64,
    pub(super) is_there: bool,
}

#[derive(Clone)]
struct Event {
    key: String,
    event: Inbound,
    /// It comes when all before is stored and no run is at work.
    is_last: bool,
    /// It comes when all notices are shown, too.
    is_answer: bool,
}

#[derive(Default)]
pub(super) struct Inside {
    pub(super) posts: Vec<Post>,
    pub(super) faults: HashMap<&'static str, VecDeque<Fault>>,
    /// What must never happen.
    pub(super) broken: Vec<String>,
    /// Calls that took effect and whose answer was lost.
    pub(super) lost: usize,
    pub(super) deletions: usize,
    refused_to_look: bool,
    /// Answers that were seen off the path when a post of them was deleted.
    pub(super) taken: HashSet<usize>,
    feed: Vec<Event>,
    stored: usize,
}

pub(super) struct Platform {
    capabilities: &'static Capabilities,
    door: Arc<Door>,
    inside: Mutex<Inside>,
    fed: Notify,
}

/// A platform with this way to recognise lost posts.
pub(super) fn capabilities(
    resend: &'static [Resend],
    deletes: DeletionWindow,
    is_bulk: bool,
) -> Capabilities {
    let bulk = retake_gateway::BulkDeletion { least: 2, most: 5, oldest: Duration::from_hours(48) };
    Capabilities {
        platform: "test",
        title: "Test",
        commands: CommandPrefix::Slash,
        longest: 60,
        unit: LengthUnit::Chars,
        deletes,
        bulk: is_bulk.then_some(bulk),
        remains: Remains::Nothing,
        edits_are_messages: false,
        edits: true,
        resend,
        previews: [true, true],
        buttons: true,
        ephemeral: false,
        spacing: [Duration::ZERO, Duration::ZERO],
    }
}

impl Platform {
    pub(super) fn new(capabilities: Capabilities, door: Arc<Door>) -> Self {
        let capabilities = Box::leak(Box::new(capabilities));
        Self { capabilities, door, inside: Mutex::default(), fed: Notify::new() }
    }

    pub(super) fn inside(&self) -> MutexGuard<'_, Inside> {
        lock(&self.inside)
    }

    /// Whether it may not know a post again whose answer was lost: it has no way, or has refused to look.
    pub(super) fn is_blind(&self) -> bool {
        self.capabilities.resend == [Resend::Send] || self.inside().refused_to_look
    }

    /// Lets an event arrive. With `is_last` it waits until nothing else goes on.
    pub(super) fn feed(&self, key: &str, event: Inbound, is_last: bool) {
        self.push(Event { key: key.to_owned(), event, is_last, is_answer: false });
    }

    /// Lets an answer to a question arrive, when nothing else goes on and the question is shown.
    pub(super) fn feed_answer(&self, key: &str, event: Inbound) {
        self.push(Event { key: key.to_owned(), event, is_last: true, is_answer: true });
    }

    fn push(&self, event: Event) {
        self.inside().feed.push(event);
        self.fed.notify_waiters();
    }

    /// Delivers an earlier event again.
    pub(super) fn feed_again(&self, number: usize) {
        let event = self.inside().feed.get(number).cloned();
        if let Some(Event { key, event, .. }) = event {
            self.feed(&key, event, false);
        }
    }

    /// How many events there are.
    pub(super) fn events(&self) -> usize {
        self.inside().feed.len()
    }

    /// Whether all events are stored.
    pub(super) fn is_read(&self) -> bool {
        let inside = self.inside();
        inside.stored == inside.feed.len()
    }

    /// The events that are not stored.
    pub(super) fn unread(&self) -> String {
        let inside = self.inside();
        let events = inside.feed[inside.stored..].iter();
        events.map(|it| format!("{} {} {:?}; ", it.key, it.is_last, it.event)).collect()
    }

    /// Whether nothing goes on, and, for an answer to a question, the question is shown.
    async fn is_quiet(&self, event: &Event) -> bool {
        let is_open = |post: &PostLine| {
            post.kind == PostKind::Notice && matches!(post.state, PostStatus::Planned | PostStatus::Sending)
        };
        self.door.is_idle().await
            && (!event.is_answer || self.door.posts().await.is_some_and(|posts| !posts.iter().any(is_open)))
    }

    pub(super) fn fault(&self, method: &'static str, fault: Fault) {
        self.inside().faults.entry(method).or_default().push_back(fault);
    }

    /// A person deletes one of our posts.
    pub(super) fn someone_deletes(&self, at: usize) {
        let found = {
            let mut inside = self.inside();
            let mut answers =
                inside.posts.iter_mut().filter(|post| post.is_there && !tokens(&post.text).is_empty());
            answers.nth(at).map(|post| {
                post.is_there = false;
                (post.place.clone(), post.id.clone())
            })
        };
        if let Some((place, message)) = found {
            let key = format!("gone-{message}");
            self.feed(&key, Inbound::Recalled { place, message, by: None }, false);
        }
    }

    fn begins(&self, method: &'static str) -> Result<Option<Fault>, Failure> {
        match self.inside().faults.get_mut(method).and_then(VecDeque::pop_front) {
            Some(Fault::Fails(failure)) => Err(failure),
            fault => Ok(fault),
        }
    }

    async fn answers<T>(&self, fault: Option<Fault>, answer: T) -> Result<T, Failure> {
        match fault {
            None => Ok(answer),
            Some(Fault::Slow) => {
                SystemClock.sleep(Duration::from_millis(30)).await;
                Ok(answer)
            }
            Some(_) => {
                self.inside().lost += 1;
                Err(Failure::Unknown)
            }
        }
    }

    fn remove(&self, id: &str) -> Result<Deleted, Failure> {
        let mut inside = self.inside();
        inside.deletions += 1;
        match inside.posts.iter_mut().find(|post| post.id == id && post.is_there) {
            Some(post) => {
                post.is_there = false;
                Ok(Deleted::Gone)
            }
            None => Err(Failure::NotFound),
        }
    }

    /// No post of a turn on the path is deleted.
    async fn looks_at(&self, ids: &[String]) {
        for id in ids {
            let text = self.inside().posts.iter().find(|post| post.id == *id).map(|post| post.text.clone());
            for (answer, part) in tokens(&text.unwrap_or_default()) {
                match self.door.is_on_path(answer).await {
                    Some(true) if lock(&self.door.watch).may_have_changed(id) => {}
                    Some(true) => {
                        let what = format!("A{answer}.{part} ({id}) is deleted and on the path");
                        self.inside().broken.push(what);
                    }
                    Some(false) => drop(self.inside().taken.insert(answer)),
                    None => {}
                }
            }
        }
    }
}

#[async_trait]
impl Adapter for Platform {
    fn capabilities(&self) -> &'static Capabilities {
        self.capabilities
    }

    async fn identify(&self) -> Result<Identity, Failure> {
        Ok(Identity { id: "us".into(), name: "retake".into(), missing: Vec::new() })
    }

    async fn receive(&self, cursor: Option<String>, inbox: &dyn Inbox) -> Failure {
        let mut next: usize = cursor.map_or(0, |cursor| cursor.parse().expect("a number"));
        let mut arriving = FuturesUnordered::new();
        loop {
            let fed = self.fed.notified();
            let event = self.inside().feed.get(next).cloned();
            match event {
                Some(event) if !event.is_last || (arriving.is_empty() && self.is_quiet(&event).await) => {
                    next += 1;
                    let Ok(mut receipt) = inbox.arrived(&event.key, event.event).await else {
                        return Failure::Closed;
                    };
                    if event.is_last {
                        if receipt.durable().await.is_err() {
                            return Failure::Closed;
                        }
                    } else {
                        arriving.push(Box::pin(async move { receipt.durable().await }));
                    }
                }
                Some(_) if arriving.is_empty() => SystemClock.sleep(Duration::from_millis(5)).await,
                _ => tokio::select! {
                    Some(arrived) = arriving.next() => if arrived.is_err() {
                        return Failure::Closed;
                    },
                    () = fed => {}
                },
            }
            if arriving.is_empty() && self.inside().stored < next {
                let recorded = async { inbox.advance(&next.to_string()).await?.durable().await };
                if recorded.await.is_err() {
                    return Failure::Closed;
                }
                self.inside().stored = next;
            }
        }
    }

    async fn send(&self, place: &Place, post: &Outgoing, marker: &Marker) -> Result<Sent, Failure> {
        tokio::task::yield_now().await;
        let fault = self.begins("send")?;
        let sent = {
            let mut inside = self.inside();
            let is_known = self.capabilities.resend.iter().any(|way| matches!(way, Resend::Again(_)));
            let known = inside.posts.iter().find(|it| it.key == marker.key && is_known);
            let (id, sent_ms) = match known {
                Some(known) => (known.id.clone(), known.sent_ms),
                None => (format!("p{}", inside.posts.len()), self.door.clock.now()),
            };
            if inside.posts.iter().all(|it| it.id != id) {
                let (place, text, key) = (place.clone(), post.text.text.clone(), marker.key.clone());
                inside.posts.push(Post { id: id.clone(), place, text, key, sent_ms, is_there: true });
            }
            Sent { ids: vec![id], sent_ms: Some(sent_ms) }
        };
        self.answers(fault, sent).await
    }

    async fn edit(&self, _: &Place, id: &str, post: &Outgoing, _: &Marker) -> Result<Sent, Failure> {
        let fault = self.begins("edit")?;
        let is_there = {
            let mut inside = self.inside();
            let found = inside.posts.iter_mut().find(|it| it.id == id && it.is_there);
            found.map(|it| it.text.clone_from(&post.text.text)).is_some()
        };
        match is_there {
            true => self.answers(fault, Sent { ids: vec![id.to_owned()], sent_ms: None }).await,
            false => Err(Failure::NotFound),
        }
    }

    async fn delete(&self, _: &Place, id: &str) -> Result<Deleted, Failure> {
        let fault = self.begins("delete")?;
        self.looks_at(&[id.to_owned()]).await;
        let deleted = self.remove(id)?;
        self.answers(fault, deleted).await
    }

    async fn delete_many(&self, _: &Place, ids: &[String]) -> Result<(), Failure> {
        let fault = self.begins("delete_many")?;
        self.looks_at(ids).await;
        // One that is not there any more is skipped.
        ids.iter().for_each(|id| drop(self.remove(id)));
        self.answers(fault, ()).await
    }

    async fn find(&self, place: &Place, marker: &Marker, _: i64) -> Result<Found, Failure> {
        if let Err(failure) = self.begins("find") {
            self.inside().refused_to_look |= matches!(failure, Failure::Refused(_));
            return Err(failure);
        }
        if !self.capabilities.resend.contains(&Resend::Find) {
            return Ok(Found::CannotTell);
        }
        let inside = self.inside();
        let found = inside.posts.iter().find(|it| it.key == marker.key && it.place == *place && it.is_there);
        Ok(found.map_or(Found::Absent, |it| {
            Found::Found(Sent { ids: vec![it.id.clone()], sent_ms: Some(it.sent_ms) })
        }))
    }

    async fn probe(&self, _: &Place) -> Result<Probe, Failure> {
        self.begins("probe")?;
        Ok(Probe::Yes { bulk: self.capabilities.bulk.is_some() })
    }

    async fn moderates(&self, _: &Place, _: &str) -> Result<bool, Failure> {
        Ok(false)
    }

    async fn fetch(&self, _: &InboundFile, _: u64) -> Result<Vec<u8>, Failure> {
        Err(Failure::NotFound)
    }

    async fn whisper(&self, _: &Place, _: &Person, _: &str, _: Option<&str>) -> Result<(), Failure> {
        Err(Failure::Refused(Refused::Other))
    }

    async fn typing(&self, _: &Place) -> Result<(), Failure> {
        Ok(())
    }
}
