//! The feed of the list of conversations. Must never send data from before an erasure: a late subscriber reads the list.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use retake_core::{ChangeEvent, ConversationId};
use retake_engine::Subscription;
use retake_wire::reply::{Conversation, Conversations};
use retake_wire::request::List;
use retake_wire::{Event, Problem, ReadOnlyCause, Reply};
use tokio::sync::broadcast;
use tokio::task::JoinSet;

use super::{BEHIND, Frame, locked};
use crate::InProcess;
use crate::log::LogFailure as _;

/// Changes of a conversation within this time become one event.
const TOGETHER: Duration = Duration::from_millis(20);

/// The feed of the list of conversations, which has had a subscriber for a while.
pub(super) struct ListFeed {
    /// Distinguishes the ids of this owner's events from those of another one.
    name: String,
    told: broadcast::Sender<Arc<Frame>>,
    /// The last events, for clients that reconnect.
    last: Mutex<RecentFrames>,
}

#[derive(Default)]
struct RecentFrames {
    count: u64,
    frames: VecDeque<(u64, Arc<Frame>)>,
}

impl ListFeed {
    fn id(&self, number: u64) -> String {
        format!("{}.{number}", self.name)
    }

    /// The events since another one, if they are still known and may still be sent.
    fn since(&self, last: &RecentFrames, id: &str, age: u64) -> Option<VecDeque<Arc<Frame>>> {
        let (name, number) = id.rsplit_once('.')?;
        let number: u64 = number.parse().ok().filter(|_| name == self.name)?;
        let first = last.frames.front().map_or(last.count + 1, |(number, _)| *number);
        let known = number <= last.count && number + 1 >= first;
        let later = || last.frames.iter().filter(|(at, _)| *at > number).map(|(_, frame)| frame);
        let known = known && later().all(|frame| frame.age == age);
        known.then(|| later().cloned().collect())
    }

    /// Whether there is no subscriber: then the remembered events are not complete.
    fn is_empty(&self) -> bool {
        let empty = self.told.receiver_count() == 0;
        if empty {
            let mut last = locked(&self.last);
            last.count += 1;
            last.frames.clear();
        }
        empty
    }

    /// The number of subscribers.
    pub(super) fn following(&self) -> usize {
        self.told.receiver_count()
    }

    fn tell(&self, age: u64, event: Event) {
        let mut last = locked(&self.last);
        last.frames.retain(|(_, frame)| frame.age == age);
        last.count += 1;
        let number = last.count;
        let frame = Arc::new(Frame::named(age, self.id(number), event));
        last.frames.push_back((number, Arc::clone(&frame)));
        if last.frames.len() > BEHIND {
            last.frames.pop_front();
        }
        // There may be no subscriber.
        drop(self.told.send(frame));
    }
}

/// Subscribes to the list.
pub(super) async fn follow(
    server: &InProcess,
    since: Option<String>,
) -> Result<BoxStream<'static, Arc<Frame>>, Problem> {
    let list_feed = server.list_feed();
    let told = list_feed.told.subscribe();
    let mut visitor =
        ListSubscriber { server: server.clone(), list_feed, seen: since, first: VecDeque::new(), told };
    visitor.begin().await?;
    let frames = stream::unfold(visitor, |mut visitor| async move {
        let frame = visitor.next().await?;
        Some((frame, visitor))
    });
    Ok(frames.boxed())
}

/// A subscriber of the list.
struct ListSubscriber {
    server: InProcess,
    list_feed: Arc<ListFeed>,
    /// The id of the last event that it got.
    seen: Option<String>,
    /// The events that it lacks, sent before new ones.
    first: VecDeque<Arc<Frame>>,
    told: broadcast::Receiver<Arc<Frame>>,
}

impl ListSubscriber {
    /// Begins, or begins again: first the events that the subscriber lacks, then new ones.
    async fn begin(&mut self) -> Result<(), Problem> {
        let age = self.server.engine.erasures();
        let (told, id, missed) = {
            let last = locked(&self.list_feed.last);
            let missed = self.seen.as_deref().and_then(|seen| self.list_feed.since(&last, seen, age));
            (self.list_feed.told.subscribe(), self.list_feed.id(last.count), missed)
        };
        self.told = told;
        self.first = match missed {
            Some(missed) => missed,
            None => {
                let list = Event::List(self.server.whole_list().await?);
                VecDeque::from([Arc::new(Frame::named(age, id, list))])
            }
        };
        Ok(())
    }

    async fn next(&mut self) -> Option<Arc<Frame>> {
        loop {
            let frame = match self.first.pop_front() {
                Some(frame) => frame,
                None => self.told.recv().await.ok()?,
            };
            if frame.age == self.server.engine.erasures() {
                self.seen.clone_from(&frame.told().id);
                return Some(frame);
            }
            // It may contain content that was erased after it was read.
            self.begin().await.or_log("a subscriber is dropped")?;
        }
    }
}

impl InProcess {
    fn list_feed(&self) -> Arc<ListFeed> {
        let mut list_feed = locked(&self.hub.list_feed);
        if let Some(list_feed) = &*list_feed {
            return Arc::clone(list_feed);
        }
        let commits = self.engine.subscribe(None);
        let name = self.engine.new_entry_id().to_string();
        let opened = Arc::new(ListFeed { name, told: broadcast::channel(BEHIND).0, last: Mutex::default() });
        *list_feed = Some(Arc::clone(&opened));
        let span = tracing::info_span!(parent: None, "background", operation = "tell_subscribers");
        tokio::spawn(tracing::Instrument::instrument(keep(self.clone(), Arc::clone(&opened), commits), span));
        opened
    }

    async fn whole_list(&self) -> Result<Conversations, Problem> {
        match self.list(List::default()).await? {
            Reply::Conversations(list) => Ok(list),
            _ => unreachable!("BUG: a list is answered with conversations"),
        }
    }
}

/// Sends each changed conversation to the subscribers of the list.
async fn keep(server: InProcess, list_feed: Arc<ListFeed>, mut commits: Subscription) {
    // A change with files is sent when they are done.
    let mut held = JoinSet::new();
    loop {
        let mut changed = BTreeSet::new();
        let mut missed = tokio::select! {
            followed = commits.next() => match followed {
                Some(followed) => heard(followed, &mut changed),
                None => return,
            },
            Some(done) = held.join_next() => {
                changed.extend(done.ok());
                false
            }
        };
        let over = tokio::time::sleep(TOGETHER);
        tokio::pin!(over);
        loop {
            tokio::select! {
                biased;
                () = &mut over => break,
                followed = commits.next() => match followed {
                    Some(followed) => missed |= heard(followed, &mut changed),
                    None => return,
                },
            }
        }
        if list_feed.is_empty() {
            continue;
        }
        let age = server.engine.erasures();
        if missed {
            if let Some(list) = server.whole_list().await.or_log("subscribers are not told the list") {
                list_feed.tell(age, Event::List(list));
            }
            continue;
        }
        for of in changed {
            // A reader gets the error itself.
            let conversation = server.conversation_in_short(of).await;
            if conversation.as_ref().is_ok_and(is_of_subagent) {
                continue;
            }
            if server.engine.has_open_plan(of) {
                let engine = Arc::clone(&server.engine);
                held.spawn(async move {
                    engine.plans_closed(of).await;
                    of
                });
            } else if let Some(conversation) = conversation.or_log("subscribers are not told a change") {
                list_feed.tell(age, Event::Listed(Box::new(conversation)));
            }
        }
    }
}

/// Whether it is the conversation of a subagent: the list leaves these out.
fn is_of_subagent(conversation: &Conversation) -> bool {
    matches!(conversation.access.read_only_cause, Some(ReadOnlyCause::Subagent { .. }))
}

/// Records a change. Returns whether events were missed.
fn heard(followed: ChangeEvent, changed: &mut BTreeSet<ConversationId>) -> bool {
    match followed {
        ChangeEvent::Changed(of) => {
            changed.insert(of.conversation);
            false
        }
        ChangeEvent::Drafts(_) => false,
        ChangeEvent::Missed => true,
    }
}
