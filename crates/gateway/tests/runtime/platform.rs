//! A scripted platform: it keeps messages, follows a script of faults, and recognises repeated requests as far as its capabilities say.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use retake_gateway::*;
use retake_wire::chat::*;
use tokio::sync::Notify;

use super::kit::{Log, START_MS, TestClock};

#[derive(Clone, Debug)]
pub(crate) enum Fault {
    /// The failure, and nothing happens.
    Fails(Failure),
    /// It takes effect, and the answer is lost.
    LostAfter,
    /// It takes effect, and there is never an answer.
    Hangs,
    /// It takes effect, and the answer comes after so many milliseconds.
    Slow(u64),
}

#[derive(Clone, Debug)]
pub(crate) struct Message {
    pub(crate) id: String,
    pub(crate) place: Place,
    pub(crate) text: String,
    pub(crate) is_styled: bool,
    pub(crate) key: String,
    pub(crate) sent_ms: i64,
    pub(crate) is_deleted: bool,
    pub(crate) buttons: usize,
}

/// A call that reached the platform.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) at_ms: i64,
    pub(crate) method: &'static str,
    pub(crate) chat: String,
    pub(crate) ids: Vec<String>,
}

pub(crate) struct Inside {
    pub(crate) messages: Vec<Message>,
    pub(crate) calls: Vec<Call>,
    pub(crate) faults: HashMap<&'static str, VecDeque<Fault>>,
    pub(crate) probe: Probe,
    /// Ids that cannot be deleted.
    pub(crate) stuck: HashMap<String, Refused>,
    pub(crate) files: HashMap<String, Vec<u8>>,
    pub(crate) moderators: HashSet<String>,
    pub(crate) deleted: Deleted,
    /// Whether formatted posts are refused.
    pub(crate) refuses_format: bool,
    /// Whether the cursor is advanced before the events are stored.
    pub(crate) is_hasty: bool,
    /// What arrives, with its time since the start.
    feed: Vec<(i64, String, Inbound)>,
    next_id: usize,
}

pub(crate) struct Platform {
    capabilities: &'static Capabilities,
    inside: Mutex<Inside>,
    fed: Notify,
    clock: TestClock,
    log: Log,
}

impl Platform {
    pub(crate) fn new(capabilities: Capabilities, clock: TestClock, log: Log) -> Self {
        let inside = Inside {
            messages: Vec::new(),
            calls: Vec::new(),
            faults: HashMap::new(),
            probe: Probe::Unknown,
            stuck: HashMap::new(),
            files: HashMap::new(),
            moderators: HashSet::new(),
            deleted: Deleted::Gone,
            refuses_format: false,
            is_hasty: false,
            feed: Vec::new(),
            next_id: 0,
        };
        let capabilities = Box::leak(Box::new(capabilities));
        Self { capabilities, inside: Mutex::new(inside), fed: Notify::new(), clock, log }
    }

    pub(crate) fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().expect("no panic before")
    }

    /// Lets an event arrive at a time since the start.
    pub(crate) fn feed(&self, at_ms: i64, key: &str, event: Inbound) {
        self.inside().feed.push((at_ms, key.into(), event));
        self.fed.notify_waiters();
    }

    pub(crate) fn fault(&self, method: &'static str, fault: Fault) {
        self.inside().faults.entry(method).or_default().push_back(fault);
    }

    /// How many events there are.
    pub(crate) fn fed(&self) -> usize {
        self.inside().feed.len()
    }

    /// The texts in a chat.
    pub(crate) fn texts(&self, chat: &str) -> Vec<String> {
        let inside = self.inside();
        let shown = inside.messages.iter().filter(|it| it.place.chat == chat && !it.is_deleted);
        shown.map(|it| it.text.clone()).collect()
    }

    pub(crate) fn calls(&self, method: &str) -> Vec<Call> {
        self.inside().calls.iter().filter(|it| it.method == method).cloned().collect()
    }

    /// Puts a message there, as if we had sent it.
    pub(crate) fn put(&self, place: &Place, id: &str, sent_ms: i64) {
        let mut inside = self.inside();
        inside.messages.push(Message {
            id: id.into(),
            place: place.clone(),
            text: "sent".into(),
            is_styled: false,
            key: String::new(),
            sent_ms,
            is_deleted: false,
            buttons: 0,
        });
    }

    /// A call arrives. Its fault, if it has one.
    async fn arrives(
        &self,
        method: &'static str,
        place: &Place,
        ids: &[String],
    ) -> Result<Option<Fault>, Failure> {
        tokio::task::yield_now().await;
        let at_ms = self.clock.now_ms() - START_MS;
        let mut inside = self.inside();
        inside.calls.push(Call { at_ms, method, chat: place.chat.clone(), ids: ids.to_vec() });
        match inside.faults.get_mut(method).and_then(VecDeque::pop_front) {
            Some(Fault::Fails(failure)) => Err(failure),
            fault => Ok(fault),
        }
    }

    /// The answer of a call that took effect.
    async fn answers<T>(&self, fault: Option<Fault>, answer: T) -> Result<T, Failure> {
        tokio::task::yield_now().await;
        match fault {
            None => Ok(answer),
            Some(Fault::Hangs) => std::future::pending().await,
            Some(Fault::Slow(ms)) => {
                tokio::time::sleep(Duration::from_millis(ms)).await;
                Ok(answer)
            }
            Some(_) => Err(Failure::Unknown),
        }
    }

    fn post(&self, place: &Place, post: &Outgoing, marker: &Marker) -> Sent {
        let now = self.clock.now_ms();
        let mut inside = self.inside();
        let again = self.capabilities.resend.iter().find_map(|way| match way {
            Resend::Again(within) => Some(i64::try_from(within.as_millis()).expect("small")),
            _ => None,
        });
        let known = inside
            .messages
            .iter()
            .find(|it| it.key == marker.key && again.is_some_and(|within| now - it.sent_ms < within));
        if let Some(known) = known {
            return Sent { ids: vec![known.id.clone()], sent_ms: Some(known.sent_ms) };
        }
        inside.next_id += 1;
        let id = format!("p{}", inside.next_id);
        self.log.add(format!("sent {} {}", id, post.text.text));
        inside.messages.push(Message {
            id: id.clone(),
            place: place.clone(),
            text: post.text.text.clone(),
            is_styled: !post.text.styles.is_empty(),
            key: marker.key.clone(),
            sent_ms: now,
            is_deleted: false,
            buttons: post.buttons.iter().flatten().count(),
        });
        Sent { ids: vec![id], sent_ms: Some(now) }
    }

    fn remove(&self, id: &str) -> Result<Deleted, Failure> {
        let mut inside = self.inside();
        if let Some(why) = inside.stuck.get(id) {
            return Err(Failure::Refused(*why));
        }
        let deleted = inside.deleted;
        match inside.messages.iter_mut().find(|it| it.id == id && !it.is_deleted) {
            Some(message) => {
                message.is_deleted = true;
                Ok(deleted)
            }
            None => Err(Failure::NotFound),
        }
    }
}

#[async_trait]
impl Adapter for Platform {
    fn capabilities(&self) -> &'static Capabilities {
        self.capabilities
    }

    async fn identify(&self) -> Result<Identity, Failure> {
        self.arrives("identify", &nowhere(), &[]).await?;
        Ok(Identity { id: "us".into(), name: "retake".into(), missing: Vec::new() })
    }

    async fn receive(&self, cursor: Option<String>, inbox: &dyn Inbox) -> Failure {
        if let Err(failure) = self.arrives("receive", &nowhere(), &[]).await {
            return failure;
        }
        let mut next: usize = cursor.map_or(0, |cursor| cursor.parse().expect("a number"));
        let mut advanced = next;
        let mut arriving = FuturesUnordered::new();
        loop {
            let fed = self.fed.notified();
            let event = self.inside().feed.get(next).cloned();
            let age = self.clock.now_ms() - START_MS;
            match event {
                Some((at, key, event)) if at <= age => {
                    next += 1;
                    let hasty = self.inside().is_hasty.then(|| next.to_string());
                    let Ok(mut receipt) = inbox.arrived(&key, event).await else { return Failure::Closed };
                    if let Some(cursor) = hasty
                        && inbox.advance(&cursor).await.is_err()
                    {
                        return Failure::Closed;
                    }
                    arriving.push(async move { receipt.durable().await });
                }
                later => {
                    let wait = later.map_or(60_000, |(at, ..)| (at - age).clamp(1, 60_000));
                    tokio::select! {
                        Some(arrived) = arriving.next() => {
                            if arrived.is_err() {
                                return Failure::Closed;
                            }
                        }
                        () = fed => {}
                        () = tokio::time::sleep(Duration::from_millis(wait.unsigned_abs())) => {}
                    }
                }
            }
            if arriving.is_empty() && advanced < next {
                let recorded = async { inbox.advance(&next.to_string()).await?.durable().await };
                if recorded.await.is_err() {
                    return Failure::Closed;
                }
                advanced = next;
            }
            let has_fault = self.inside().faults.get("receive").is_some_and(|it| !it.is_empty());
            if has_fault && arriving.is_empty() && self.inside().feed.len() == next {
                return Failure::Unreachable;
            }
        }
    }

    async fn send(&self, place: &Place, post: &Outgoing, marker: &Marker) -> Result<Sent, Failure> {
        let fault = self.arrives("send", place, std::slice::from_ref(&marker.key)).await?;
        if self.inside().refuses_format && !post.text.styles.is_empty() {
            return Err(Failure::Refused(Refused::BadFormat));
        }
        let sent = self.post(place, post, marker);
        self.answers(fault, sent).await
    }

    async fn edit(&self, place: &Place, id: &str, post: &Outgoing, marker: &Marker) -> Result<Sent, Failure> {
        let fault = self.arrives("edit", place, &[id.to_owned(), marker.key.clone()]).await?;
        let is_there = {
            let mut inside = self.inside();
            let message = inside.messages.iter_mut().find(|it| it.id == id && !it.is_deleted);
            message.map(|message| message.text.clone_from(&post.text.text)).is_some()
        };
        if !is_there {
            return Err(Failure::NotFound);
        }
        let sent = match self.capabilities.edits_are_messages {
            true => self.post(place, post, marker),
            false => Sent { ids: vec![id.into()], sent_ms: None },
        };
        self.answers(fault, sent).await
    }

    async fn delete(&self, place: &Place, id: &str) -> Result<Deleted, Failure> {
        let fault = self.arrives("delete", place, &[id.to_owned()]).await?;
        let deleted = self.remove(id)?;
        self.answers(fault, deleted).await
    }

    async fn delete_many(&self, place: &Place, ids: &[String]) -> Result<(), Failure> {
        let fault = self.arrives("delete_many", place, ids).await?;
        if self.inside().stuck.keys().any(|id| ids.contains(id)) {
            return Err(Failure::Refused(Refused::Batch));
        }
        // One that is not there any more is skipped.
        ids.iter().for_each(|id| drop(self.remove(id)));
        self.answers(fault, ()).await
    }

    async fn find(&self, place: &Place, marker: &Marker, _: i64) -> Result<Found, Failure> {
        self.arrives("find", place, &[]).await?;
        if !self.capabilities.resend.contains(&Resend::Find) {
            return Ok(Found::CannotTell);
        }
        let inside = self.inside();
        let found = inside.messages.iter().find(|it| it.key == marker.key && it.place == *place);
        Ok(found.map_or(Found::Absent, |it| {
            Found::Found(Sent { ids: vec![it.id.clone()], sent_ms: Some(it.sent_ms) })
        }))
    }

    async fn probe(&self, place: &Place) -> Result<Probe, Failure> {
        self.arrives("probe", place, &[]).await?;
        Ok(self.inside().probe)
    }

    async fn moderates(&self, place: &Place, person: &str) -> Result<bool, Failure> {
        self.arrives("moderates", place, &[]).await?;
        Ok(self.inside().moderators.contains(person))
    }

    async fn fetch(&self, file: &InboundFile, most: u64) -> Result<Vec<u8>, Failure> {
        self.arrives("fetch", &nowhere(), std::slice::from_ref(&file.handle)).await?;
        match self.inside().files.get(&file.handle) {
            Some(bytes) if bytes.len() as u64 > most => Err(Failure::Refused(Refused::TooLong)),
            Some(bytes) => Ok(bytes.clone()),
            None => Err(Failure::NotFound),
        }
    }

    async fn whisper(
        &self,
        place: &Place,
        _: &Person,
        text: &str,
        answer_to: Option<&str>,
    ) -> Result<(), Failure> {
        self.arrives("whisper", place, &[answer_to.unwrap_or_default().into(), text.into()]).await?;
        Ok(())
    }

    async fn typing(&self, place: &Place) -> Result<(), Failure> {
        self.arrives("typing", place, &[]).await.map(drop)
    }
}

fn nowhere() -> Place {
    Place { account: String::new(), chat: String::new(), thread: None }
}

/// A platform that can do everything, without a way to recognise posts.
pub(crate) fn plain() -> Capabilities {
    Capabilities {
        platform: "test",
        title: "Test",
        commands: CommandPrefix::Slash,
        longest: 100,
        unit: LengthUnit::Chars,
        deletes: DeletionWindow::Always,
        bulk: None,
        remains: Remains::Nothing,
        edits_are_messages: false,
        edits: true,
        resend: &[Resend::Send],
        previews: [true, true],
        buttons: true,
        ephemeral: true,
        spacing: [Duration::from_secs(1), Duration::from_millis(30)],
    }
}
