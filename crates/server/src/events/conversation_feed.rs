//! The feed of one conversation with subscribers.

use std::sync::{Arc, Mutex};

use retake_core::{ChangeEvent, ConversationId};
use retake_engine::{RunEvent, RunNow, RunSubscription, Subscription};
use retake_wire::{Changed, Event, Problem, reply};
use tokio::sync::{Notify, broadcast};
use tracing::{Instrument as _, info_span};

use super::{BEHIND, Frame, locked};
use crate::InProcess;
use crate::convert::problem;
use crate::log::LogFailure as _;

/// The feed of one conversation.
pub(crate) struct ConversationFeed {
    /// The events of the current run that were sent; and the number of erasures at its beginning.
    now: Mutex<(u64, RunNow)>,
    told: broadcast::Sender<Arc<Frame>>,
    /// Notified when a subscription ends.
    left: Arc<Notify>,
}

/// A subscription to a feed.
#[must_use = "dropping it ends the subscription"]
pub(super) struct FeedReceiver {
    told: Option<broadcast::Receiver<Arc<Frame>>>,
    left: Arc<Notify>,
}

impl FeedReceiver {
    /// The next event; `None` for a subscriber that lags too far, or when the owner ends.
    pub(super) async fn hear(&mut self) -> Option<Arc<Frame>> {
        self.told.as_mut()?.recv().await.ok()
    }
}

impl Drop for FeedReceiver {
    fn drop(&mut self) {
        self.told = None;
        self.left.notify_one();
    }
}

impl ConversationFeed {
    /// Subscribes: returns the run so far with its age, and the events from here on.
    fn enter(&self) -> ((u64, RunNow), FeedReceiver) {
        let now = locked(&self.now);
        let told = Some(self.told.subscribe());
        (now.clone(), FeedReceiver { told, left: Arc::clone(&self.left) })
    }

    /// The number of subscribers.
    pub(super) fn following(&self) -> usize {
        self.told.receiver_count()
    }

    fn tell(&self, frame: Frame) {
        // There may be no subscriber.
        drop(self.told.send(Arc::new(frame)));
    }
}

impl InProcess {
    /// Subscribes to the feed of a conversation, which is opened if needed. After the opening nothing is missed.
    pub(super) fn enter(&self, of: ConversationId) -> ((u64, RunNow), FeedReceiver) {
        // The feed cannot be closed meanwhile.
        let mut feeds = locked(&self.hub.feeds);
        feeds.entry(of).or_insert_with(|| self.open_feed(of)).enter()
    }

    fn open_feed(&self, of: ConversationId) -> Arc<ConversationFeed> {
        let commits = self.engine.subscribe(Some(of));
        let age = self.engine.erasures();
        let (now, runs) = self.engine.follow_runs(of);
        let (now, told) = (Mutex::new((age, now)), broadcast::channel(BEHIND).0);
        let feed = Arc::new(ConversationFeed { now, told, left: Arc::default() });
        let keeper = FeedWriter { server: self.clone(), of, feed: Arc::clone(&feed), revision: 0, age };
        let span = info_span!(parent: None, "background", operation = "tell_subscribers", conversation = %of);
        tokio::spawn(keeper.keep(commits, runs).instrument(span));
        feed
    }

    /// The changes of a conversation since a revision, with its current state, if they have at most this many entries. It waits
    /// while a step applies its files, because the step may still be reverted.
    pub(super) async fn changed(
        &self,
        of: ConversationId,
        since: u64,
        most: u64,
    ) -> Result<Option<Changed>, Problem> {
        loop {
            self.engine.plans_closed(of).await;
            let changed = self.changed_now(of, since, most).await;
            if !self.engine.has_open_plan(of) {
                return changed;
            }
        }
    }

    async fn changed_now(
        &self,
        of: ConversationId,
        since: u64,
        most: u64,
    ) -> Result<Option<Changed>, Problem> {
        let Some(changes) = self.few_changes(of, since, most).await? else { return Ok(None) };
        let conversation = self.conversation_in_short(of).await?;
        // Other fields may be newer already: then another event follows.
        let (running, revision, head) = (changes.running, changes.revision, changes.head.clone());
        let conversation = reply::Conversation { running, revision, head, ..conversation };
        Ok(Some(Changed { conversation, changes }))
    }
}

/// Writes the events of a feed.
struct FeedWriter {
    server: InProcess,
    of: ConversationId,
    feed: Arc<ConversationFeed>,
    /// The last revision that was sent.
    revision: u64,
    /// The number of erasures at its last check.
    age: u64,
}

impl FeedWriter {
    async fn keep(mut self, mut commits: Subscription, mut runs: RunSubscription) {
        let summary = self.server.engine.summary(self.of).await.map_err(problem);
        let Some(summary) = summary.or_log("subscribers get no events") else {
            return self.close();
        };
        self.revision = summary.revision.0;
        loop {
            tokio::select! {
                biased;
                followed = commits.next() => match followed {
                    Some(ChangeEvent::Changed(changed)) if changed.revision.0 <= self.revision => {}
                    Some(ChangeEvent::Changed(_)) => self.step().await,
                    Some(ChangeEvent::Drafts(_)) => self.drafts().await,
                    Some(ChangeEvent::Missed) => {
                        self.step().await;
                        self.drafts().await;
                    }
                    None => return self.close(),
                },
                event = runs.next() => match event {
                    Some(event) if self.age == self.server.engine.erasures() => self.run(event).await,
                    // This task was delayed for long, or earlier events may be erased: the current state is sent instead.
                    _ => runs = self.anew(),
                },
                () = self.feed.left.notified() => {}
                () = tokio::time::sleep(self.server.hub.empty), if self.feed.told.receiver_count() == 0 => {
                    if self.leave() {
                        return;
                    }
                }
            }
        }
    }

    /// Sends the changes since the last event.
    async fn step(&mut self) {
        // A reader gets the error itself.
        let frame = self.server.since(self.of, self.revision).await;
        let Some(frame) = frame.or_log("subscribers are not told a change") else { return };
        if let Some((_, to)) = frame.step.filter(|(_, to)| *to > self.revision) {
            self.revision = to;
            self.feed.tell(frame);
        }
    }

    async fn drafts(&self) {
        let age = self.server.engine.erasures();
        // A reader gets the error itself.
        if let Some(drafts) = self.server.drafts(self.of).await.or_log("subscribers are not told drafts") {
            self.feed.tell(Frame::passing(age, Event::Drafts { drafts }));
        }
    }

    async fn run(&mut self, event: Arc<RunEvent>) {
        if is_stored(&event) {
            // The entry that it is about comes first.
            self.step().await;
        }
        let said = crate::runs::without_composer(self.server.event(self.of, RunEvent::clone(&event)).await);
        let mut now = locked(&self.feed.now);
        now.1.heard(&event);
        self.feed.tell(Frame::passing(self.age, Event::Run { said }));
    }

    fn anew(&mut self) -> RunSubscription {
        self.age = self.server.engine.erasures();
        let (now, runs) = self.server.engine.follow_runs(self.of);
        let mut told = locked(&self.feed.now);
        *told = (self.age, now.clone());
        self.feed.tell(Frame::passing(self.age, Event::Now(Box::new(crate::runs::now(now)))));
        runs
    }

    /// Closes the feed, unless there is a new subscriber.
    fn leave(&self) -> bool {
        let mut feeds = locked(&self.server.hub.feeds);
        let empty = self.feed.told.receiver_count() == 0;
        if empty {
            feeds.remove(&self.of);
        }
        empty
    }

    fn close(&self) {
        locked(&self.server.hub.feeds).remove(&self.of);
    }
}

/// Whether an event means that an entry was stored.
fn is_stored(event: &RunEvent) -> bool {
    matches!(
        event,
        RunEvent::Started(..)
            | RunEvent::Answered(_)
            | RunEvent::Called(_)
            | RunEvent::Joined(_)
            | RunEvent::Ended(_)
    )
}

#[cfg(test)]
mod tests {
    use std::sync::Weak;
    use std::time::Duration;

    use retake_wire::request::Create;
    use retake_wire::{Client as _, Follow, Reply, Request};
    use tempfile::TempDir;

    use super::super::Subscriptions;
    use super::*;
    use crate::{Options, open};

    /// An owner, and a conversation to subscribe to.
    async fn owner(home: &TempDir) -> (InProcess, Follow) {
        let (data_dir, config_file) = (home.path().join("data"), home.path().join("config.toml"));
        let user = "ada".to_owned();
        let stays = crate::OwnerLifetime::UntilTold;
        let wait_for_owner = Duration::ZERO;
        let options = Options { data_dir, config_file, user, home: None, wait_for_owner, stays };
        let (owner, _) = open(options).await.expect("opened");
        match owner.call(Request::Create(Create::default())).await {
            Ok(Reply::Receipt(made)) => {
                (owner, Follow { conversation: Some(made.conversation), since: None })
            }
            other => panic!("{other:?}"),
        }
    }

    fn feed(owner: &InProcess) -> Option<Arc<ConversationFeed>> {
        locked(&owner.hub.feeds).values().next().cloned()
    }

    /// For a client that never reads, at most the buffered frames wait, and none after it is gone.
    #[tokio::test]
    async fn buffer_of_a_client_that_never_reads_is_bounded() {
        let home = tempfile::tempdir().expect("a folder");
        let (owner, follow) = owner(&home).await;
        let stalled = owner.frames(follow).await.expect("followed");
        let feed = feed(&owner).expect("it is open");
        let (_, mut here) = feed.enter();
        let mut frames: Vec<Weak<Frame>> = Vec::new();
        for _ in 0..3 * BEHIND {
            feed.tell(Frame::passing(0, Event::Drafts { drafts: Vec::new() }));
            frames.push(Arc::downgrade(&here.hear().await.expect("it reads")));
        }
        let kept = || frames.iter().filter(|frame| frame.strong_count() > 0).count();
        assert_eq!(kept(), BEHIND);
        drop(stalled);
        assert_eq!(kept(), 0);
    }

    /// Even if nothing ever happens in the conversation again.
    #[tokio::test]
    async fn feed_closes_with_its_last_subscriber() {
        let home = tempfile::tempdir().expect("a folder");
        let (owner, follow) = owner(&home).await;
        let owner = InProcess {
            hub: Arc::new(Subscriptions { empty: Duration::ZERO, ..Subscriptions::default() }),
            ..owner
        };
        let streams = [owner.frames(follow.clone()).await, owner.frames(follow).await];
        assert_eq!(owner.hub.following(), 2);
        // Its task exists, and waits for an event.
        for _ in 0..1_000 {
            tokio::task::yield_now().await;
        }
        assert!(feed(&owner).is_some());
        drop(streams);
        let closed = async {
            while feed(&owner).is_some() {
                tokio::task::yield_now().await;
            }
        };
        tokio::time::timeout(Duration::from_secs(30), closed).await.expect("it closes");
    }
}
