//! A subscriber: first the events that it lacks, then the new ones, nothing missing and nothing twice. Must never send what was read
//! before an erasure: a late subscriber reads again.

use std::collections::VecDeque;
use std::sync::Arc;

use super::conversation_feed::FeedReceiver;
use super::{Frame, list_feed};
use crate::InProcess;
use crate::convert::problem;
use crate::dispatch::ConversationExtras;
use crate::log::{self, LogFailure as _};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use retake_core::ConversationId;
use retake_wire::request::{Log, Projection};
use retake_wire::{Event, Follow, Problem, Reply, Snapshot};

/// The entries of a timeline in a snapshot.
const NEWEST: usize = 100;

/// A difference with more entries is sent as a snapshot.
const TOO_MANY: u64 = 500;

/// The revision before a snapshot: any.
const ANYTHING: u64 = u64::MAX;

impl InProcess {
    /// Subscribes to a conversation, or to the list of them.
    pub(crate) async fn frames(&self, follow: Follow) -> Result<BoxStream<'static, Arc<Frame>>, Problem> {
        let span = log::of_follow(&follow);
        let work = async {
            self.authorize(follow.demand()).await?;
            self.subscribe(follow).await
        };
        let frames = self.logged(span, false, work).await?;
        Ok(frames.take_until(Box::pin(self.refused())).boxed())
    }

    async fn subscribe(&self, follow: Follow) -> Result<BoxStream<'static, Arc<Frame>>, Problem> {
        let Some(name) = follow.conversation else {
            return list_feed::follow(self, follow.since).await;
        };
        let of = self.conversation(&name).await?;
        let seen = follow.since.and_then(|since| since.parse().ok());
        let mut follower = Subscriber { server: self.clone(), of, seen, first: VecDeque::new(), told: None };
        follower.begin().await?;
        let frames = stream::unfold(follower, |mut follower| async move {
            follower.next().await.map(|frame| (frame, follower))
        });
        Ok(frames.boxed())
    }

    /// The changes since a revision, if they are small enough.
    async fn difference(&self, of: ConversationId, since: u64) -> Option<Frame> {
        let age = self.engine.erasures();
        let changed = self.changed(of, since, TOO_MANY).await.or_log("a subscriber gets a snapshot")??;
        let step = (since, changed.changes.revision);
        Some(Frame::step(age, step, Event::Changed(Box::new(changed))))
    }

    /// What a subscriber at a revision needs: the difference, or a snapshot.
    pub(super) async fn since(&self, of: ConversationId, since: u64) -> Result<Frame, Problem> {
        match self.difference(of, since).await {
            Some(frame) => Ok(frame),
            None => self.whole(of).await,
        }
    }

    async fn whole(&self, of: ConversationId) -> Result<Frame, Problem> {
        let age = self.engine.erasures();
        let snapshot = loop {
            self.engine.plans_closed(of).await;
            let snapshot = self.snapshot(of).await;
            if !self.engine.has_open_plan(of) {
                break snapshot?;
            }
        };
        let step = (ANYTHING, snapshot.conversation.revision);
        Ok(Frame::step(age, step, Event::Snapshot(Box::new(snapshot))))
    }

    async fn snapshot(&self, of: ConversationId) -> Result<Snapshot, Problem> {
        let newest = Log {
            conversation: of.to_string(),
            at: None,
            branch: None,
            projection: Projection::Timeline,
            limit: Some(NEWEST),
            before: None,
            after: None,
        };
        let Reply::Entries(page) = self.log(newest).await? else {
            unreachable!("BUG: a page of a reading is answered with entries");
        };
        // Newer changes are sent after the page.
        let ConversationExtras { running, waiting, permissions } = self.beside(of).await?;
        let mut conversation = self.conversation_in_short(of).await?;
        (conversation.revision, conversation.head) = (page.revision, page.head);
        conversation.running = running;
        Ok(Snapshot {
            unbegun: if running { Vec::new() } else { page.unbegun },
            cut_off: page.cut_off,
            conversation,
            entries: page.entries,
            earlier: page.earlier,
            running,
            waiting,
            permissions,
            drafts: self.drafts(of).await?,
        })
    }
}

/// A subscriber of one conversation.
struct Subscriber {
    server: InProcess,
    of: ConversationId,
    /// The last revision that it got; `None` if it needs a snapshot.
    seen: Option<u64>,
    /// The events that it lacks, sent before new ones.
    first: VecDeque<Arc<Frame>>,
    told: Option<FeedReceiver>,
}

impl Subscriber {
    /// Begins, or begins again: first the events that the subscriber lacks, then new ones.
    async fn begin(&mut self) -> Result<(), Problem> {
        let age = self.server.engine.erasures();
        let ((heard, mut now), told) = self.server.enter(self.of);
        if heard != age {
            now = self.server.engine.follow_runs(self.of).0;
        }
        let difference = match self.seen {
            Some(seen) => self.server.difference(self.of, seen).await,
            None => None,
        };
        self.first.clear();
        let comes_back = difference.is_some();
        let has_heard = self.seen.is_some() || self.told.is_some();
        let first = match difference {
            Some(frame) => frame,
            None => {
                self.seen = None;
                self.server.whole(self.of).await?
            }
        };
        if first.step.is_some_and(|(from, to)| from != to) {
            self.first.push_back(Arc::new(first));
        }
        if has_heard || now.model.is_some() {
            let mut now = crate::runs::now(now);
            let calls = now.calls.iter().map(|now| now.call.call.clone()).collect();
            let began = self.server.engine.calls_begun(calls).await.map_err(problem)?;
            for (call, began) in now.calls.iter_mut().zip(began) {
                call.began_ms = began.map(|(began, _)| began.0);
            }
            let now = Event::Now(Box::new(now));
            self.first.push_back(Arc::new(Frame::passing(age, now)));
        }
        if comes_back {
            let drafts = self.server.drafts(self.of).await?;
            self.first.push_back(Arc::new(Frame::passing(age, Event::Drafts { drafts })));
        }
        self.told = Some(told);
        Ok(())
    }

    /// The next event; `None` for a subscriber that lags too far, or when the owner ends.
    async fn next(&mut self) -> Option<Arc<Frame>> {
        loop {
            let frame = match self.first.pop_front() {
                Some(frame) => frame,
                None => self.told.as_mut()?.hear().await?,
            };
            if frame.age != self.server.engine.erasures() {
                // It may contain content that was erased after it was read, and so may all events after it.
                self.begin().await.or_log("a subscriber is dropped")?;
                continue;
            }
            let Some((from, to)) = frame.step else { return Some(frame) };
            match self.seen {
                Some(seen) if to <= seen => {}
                Some(seen) if from != seen && from != ANYTHING => {
                    let missed = self.server.since(self.of, seen).await;
                    self.first.push_front(Arc::new(missed.or_log("a subscriber is dropped")?));
                }
                _ => {
                    self.seen = Some(to);
                    return Some(frame);
                }
            }
        }
    }
}
