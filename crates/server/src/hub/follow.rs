//! Somebody who follows: first what it lacks, then what happens, without gap or double.

use std::sync::Arc;

use futures::StreamExt;
use futures::stream::{self, BoxStream};
use retake_core::ConversationId;
use retake_wire::request::{Log, Projection};
use retake_wire::{Event, Follow, Problem, Reply, Snapshot};
use tokio::sync::broadcast;

use super::{Frame, lobby};
use crate::InProcess;

/// So many entries of a timeline come with a snapshot.
const NEWEST: usize = 100;

/// A difference of more entries than this is told as a snapshot.
const TOO_MANY: usize = 500;

impl InProcess {
    /// Follows a conversation, or the list of them.
    pub(crate) async fn frames(&self, follow: Follow) -> Result<BoxStream<'static, Arc<Frame>>, Problem> {
        let Some(name) = follow.conversation else {
            return lobby::follow(self, follow.since.as_deref()).await;
        };
        let of = self.conversation(&name).await?;
        let (now, told) = self.room(of).enter();
        let first = self.first(of, follow.since.as_deref()).await?;
        let seen = first.step.map_or(0, |(_, to)| to);
        let is_news = first.step.is_none_or(|(from, to)| from != to);
        let now = now.model.is_some().then(|| Frame::passing(Event::Now(Box::new(crate::runs::now(now)))));
        let begin = is_news.then_some(first).into_iter().chain(now).map(Arc::new);
        let follower = Follower { server: self.clone(), of, told, seen };
        let rest = stream::unfold(follower, |mut follower| async move {
            follower.next().await.map(|frame| (frame, follower))
        });
        Ok(stream::iter(begin.collect::<Vec<_>>()).chain(rest).boxed())
    }

    /// What somebody lacks who has seen a revision, or nothing yet.
    async fn first(&self, of: ConversationId, since: Option<&str>) -> Result<Frame, Problem> {
        if let Some(since) = since.and_then(|since| since.parse::<u64>().ok())
            && let Ok(changed) = self.changed(of, since).await
        {
            let changes = &changed.changes;
            if changes.came.len() + changes.gone.len() + changes.changed.len() <= TOO_MANY {
                return Ok(Frame::step(since, changes.revision, Event::Changed(Box::new(changed))));
            }
        }
        let snapshot = loop {
            self.engine.plans_closed(of).await;
            let snapshot = self.snapshot(of).await;
            if !self.engine.has_open_plan(of) {
                break snapshot?;
            }
        };
        let revision = snapshot.conversation.revision;
        Ok(Frame::step(u64::MAX, revision, Event::Snapshot(Box::new(snapshot))))
    }

    async fn snapshot(&self, of: ConversationId) -> Result<Snapshot, Problem> {
        let newest = Log {
            conversation: of.to_string(),
            at: None,
            projection: Projection::Timeline,
            limit: Some(NEWEST),
            before: None,
            after: None,
        };
        let Reply::Entries(page) = self.log(newest).await? else {
            unreachable!("BUG: a page of a reading is answered with entries");
        };
        // What the page has not is told after it: both are read anew from its revision on.
        let changed = self.changed(of, page.revision).await?;
        let mut conversation = changed.conversation;
        conversation.revision = page.revision;
        conversation.head = page.head;
        Ok(Snapshot {
            conversation,
            entries: page.entries,
            earlier: page.earlier,
            running: changed.changes.running,
            waiting: changed.changes.waiting,
            permissions: changed.changes.permissions,
        })
    }
}

/// Somebody in a room.
struct Follower {
    server: InProcess,
    of: ConversationId,
    told: broadcast::Receiver<Arc<Frame>>,
    /// The last revision that it was told.
    seen: u64,
}

impl Follower {
    /// The next event; nothing for who has fallen too far behind, or when the owner ends.
    async fn next(&mut self) -> Option<Arc<Frame>> {
        loop {
            let frame = self.told.recv().await.ok()?;
            let Some((from, to)) = frame.step else { return Some(frame) };
            if to <= self.seen {
                continue;
            }
            let seen = std::mem::replace(&mut self.seen, to);
            if from == seen {
                return Some(frame);
            }
            let changed = self.server.changed(self.of, seen).await.ok()?;
            self.seen = changed.changes.revision;
            return Some(Arc::new(Frame::step(seen, self.seen, Event::Changed(Box::new(changed)))));
        }
    }
}
