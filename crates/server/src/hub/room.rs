//! One conversation that is followed.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use retake_core::ConversationId;
use retake_engine::store::{Followed, Follower};
use retake_engine::{Following, RunEvent, RunNow};
use retake_wire::{Changed, Event, Problem, reply};
use tokio::sync::broadcast;

use super::{BEHIND, Frame, locked};
use crate::InProcess;

/// How long a room stays that nobody is in.
const EMPTY: Duration = Duration::from_secs(10);

/// One conversation that is followed.
pub(crate) struct Room {
    /// What the run at work has said, of what was told; and how often something had been erased when that began to be heard.
    now: Mutex<(u64, RunNow)>,
    told: broadcast::Sender<Arc<Frame>>,
}

impl Room {
    /// Comes in: what was said so far, with its age, and what is told from here on.
    pub(super) fn enter(&self) -> ((u64, RunNow), broadcast::Receiver<Arc<Frame>>) {
        let now = locked(&self.now);
        (now.clone(), self.told.subscribe())
    }

    /// How many are there.
    pub(super) fn following(&self) -> usize {
        self.told.receiver_count()
    }

    fn tell(&self, frame: Frame) {
        // Nobody may be there.
        drop(self.told.send(Arc::new(frame)));
    }
}

impl InProcess {
    /// The room of a conversation; opened, if it is not. Once it is, nothing is missed.
    pub(super) fn room(&self, of: ConversationId) -> Arc<Room> {
        let mut rooms = locked(&self.hub.rooms);
        if let Some(room) = rooms.get(&of) {
            return Arc::clone(room);
        }
        let commits = self.engine.store().follow(Some(of));
        let age = self.engine.erasures();
        let (now, runs) = self.engine.follow_runs(of);
        let room = Arc::new(Room { now: Mutex::new((age, now)), told: broadcast::channel(BEHIND).0 });
        rooms.insert(of, Arc::clone(&room));
        let keeper = Keeper { server: self.clone(), of, room: Arc::clone(&room), revision: 0, age };
        tokio::spawn(keeper.keep(commits, runs));
        room
    }

    /// What changed in a conversation since a revision, with how it is now. While files go along with something, it waits: nobody
    /// is told of what may yet be taken back.
    pub(super) async fn changed(&self, of: ConversationId, since: u64) -> Result<Changed, Problem> {
        loop {
            self.engine.plans_closed(of).await;
            let changed = self.changed_now(of, since).await;
            if !self.engine.has_open_plan(of) {
                return changed;
            }
        }
    }

    async fn changed_now(&self, of: ConversationId, since: u64) -> Result<Changed, Problem> {
        let changes = self.changes(of, since).await?;
        let conversation = self.conversation_in_short(of).await?;
        // What it says beside may be newer already: then another event is on its way.
        let (running, revision, head) = (changes.running, changes.revision, changes.head.clone());
        Ok(Changed { conversation: reply::Conversation { running, revision, head, ..conversation }, changes })
    }
}

/// Who tells a room what happens.
struct Keeper {
    server: InProcess,
    of: ConversationId,
    room: Arc<Room>,
    /// The last one that was told.
    revision: u64,
    /// How often something had been erased when it last looked.
    age: u64,
}

impl Keeper {
    async fn keep(mut self, mut commits: Follower, mut runs: Following) {
        let Ok(summary) = self.server.engine.store().summary(self.of).await else {
            return self.close();
        };
        self.revision = summary.revision.0;
        loop {
            tokio::select! {
                biased;
                followed = commits.next() => match followed {
                    Some(Followed::Changed(changed)) if changed.revision.0 <= self.revision => {}
                    Some(Followed::Changed(_)) => self.step().await,
                    Some(Followed::Drafts(_)) => self.drafts().await,
                    Some(Followed::Missed) => {
                        self.step().await;
                        self.drafts().await;
                    }
                    None => return self.close(),
                },
                event = runs.next() => match event {
                    Some(event) if self.age == self.server.engine.erasures() => self.run(event).await,
                    // This task was held up for long, or what was said before may be erased: what is said now is told instead.
                    _ => runs = self.anew(),
                },
                () = tokio::time::sleep(EMPTY), if self.room.told.receiver_count() == 0 => {
                    if self.leave() {
                        return;
                    }
                }
            }
        }
    }

    /// Tells what changed since it was last told.
    async fn step(&mut self) {
        let age = self.server.engine.erasures();
        match self.server.changed(self.of, self.revision).await {
            Ok(changed) if changed.changes.revision > self.revision => {
                let (from, to) = (self.revision, changed.changes.revision);
                self.revision = to;
                self.room.tell(Frame::step(age, (from, to), Event::Changed(Box::new(changed))));
            }
            // Told already; or it can't be read, and who reads it is told why.
            _ => {}
        }
    }

    async fn drafts(&self) {
        let age = self.server.engine.erasures();
        // What can't be read is told to who reads it.
        if let Ok(drafts) = self.server.drafts(self.of).await {
            self.room.tell(Frame::passing(age, Event::Drafts { drafts }));
        }
    }

    async fn run(&mut self, event: RunEvent) {
        if is_stored(&event) {
            // What it is about comes before it.
            self.step().await;
        }
        let said = crate::runs::without_composer(self.server.event(self.of, event.clone()).await);
        let mut now = locked(&self.room.now);
        now.1.heard(&event);
        self.room.tell(Frame::passing(self.age, Event::Run { said }));
    }

    fn anew(&mut self) -> Following {
        self.age = self.server.engine.erasures();
        let (now, runs) = self.server.engine.follow_runs(self.of);
        let mut told = locked(&self.room.now);
        *told = (self.age, now.clone());
        self.room.tell(Frame::passing(self.age, Event::Now(Box::new(crate::runs::now(now)))));
        runs
    }

    /// Closes the room, unless somebody has come in.
    fn leave(&self) -> bool {
        let mut rooms = locked(&self.server.hub.rooms);
        let empty = self.room.told.receiver_count() == 0;
        if empty {
            rooms.remove(&self.of);
        }
        empty
    }

    fn close(&self) {
        locked(&self.server.hub.rooms).remove(&self.of);
    }
}

/// Whether an event says that something was stored.
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

    use retake_wire::request::Create;
    use retake_wire::{Client as _, Follow, Reply, Request};

    use super::*;
    use crate::{Options, open};

    /// Who never reads holds as many frames as may be behind, and no more; and none when it is gone.
    #[tokio::test]
    async fn who_never_reads_keeps_so_many_frames_and_no_more() {
        let home = tempfile::tempdir().expect("a folder");
        let (data_dir, config_file) = (home.path().join("data"), home.path().join("config.toml"));
        let user = "ada".to_owned();
        let options = Options { data_dir, config_file, user, home: None, wait_for_owner: Duration::ZERO };
        let (owner, _) = open(options).await.expect("opened");
        let Reply::Receipt(made) = owner.call(Request::Create(Create::default())).await.expect("made") else {
            panic!("no receipt");
        };
        let follow = Follow { conversation: Some(made.conversation.clone()), since: None };
        let stalled = owner.frames(follow).await.expect("followed");
        let room = owner.room(made.conversation.parse().expect("an id"));
        let (_, mut told) = room.enter();
        let mut frames: Vec<Weak<Frame>> = Vec::new();
        for _ in 0..3 * BEHIND {
            room.tell(Frame::passing(0, Event::Drafts { drafts: Vec::new() }));
            frames.push(Arc::downgrade(&told.recv().await.expect("it reads")));
        }
        let kept = || frames.iter().filter(|frame| frame.strong_count() > 0).count();
        assert_eq!(kept(), BEHIND);
        drop(stalled);
        assert_eq!(kept(), 0);
    }
}
