//! Does each step in the store and in the naive model, and compares the results.

use std::sync::Arc;
use std::time::Duration;

use retake_core::{Action, Apply, ConversationId, NewConversation, NewFork, Receipt, SayRequest, SeenState};
use retake_store::{Memory, Result, Sqlite, Store};
use tempfile::TempDir;

use super::naive::Talk;
use super::requests::Talks;
use super::steps::{Do, Pick, Voice};
use super::verbs::{Outcome, Verdict};
use crate::kit::{NOW, by, new_id, word};

/// The depth of forks of forks.
const DEPTH_MAX: u32 = 3;
/// The most conversations.
const TALKS_MAX: usize = 6;

/// The place of a store, so that it can be closed and opened again.
pub(crate) enum Home {
    Memory(Memory),
    Sqlite(TempDir),
}

impl Home {
    /// A directory in memory if possible: durability is tested elsewhere.
    pub(crate) fn sqlite() -> Self {
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        Self::Sqlite(dir.expect("a directory"))
    }

    pub(crate) fn open(&self) -> Arc<Store> {
        match self {
            Self::Memory(memory) => Arc::new(Store::start(memory.clone(), memory.writer()).expect("started")),
            Self::Sqlite(dir) => {
                let opened = Sqlite::open(dir.path(), NOW, Duration::ZERO);
                let opened = opened.expect("opened");
                assert_eq!(opened.notices, [""; 0]);
                Arc::new(Store::start(opened.readers, opened.writer).expect("started"))
            }
        }
    }
}

/// A request that was carried out, to be sent again.
enum Sent {
    Say(ConversationId, SayRequest),
    Apply(ConversationId, Apply),
}

/// The store, and its expected state.
pub(super) struct World {
    home: Home,
    /// `None` only while it is opened again.
    store: Option<Arc<Store>>,
    pub(super) talks: Talks,
    sent: Vec<(Sent, Receipt)>,
}

impl World {
    pub(super) async fn new(home: Home) -> Self {
        let store = home.open();
        let id = ConversationId::new(new_id());
        store.create(NewConversation { id, folder: None, title: None, by: by() }).await.expect("created");
        let talks = Talks { all: vec![Talk::new(id)], requests: 0 };
        Self { home, store: Some(store), talks, sent: Vec::new() }
    }

    pub(super) fn store(&self) -> &Store {
        self.store.as_deref().expect("open")
    }

    /// Does a step; returns the number of its conversation.
    pub(super) async fn step(&mut self, talk: u8, step: &Do) -> usize {
        let at = usize::from(talk) % self.talks.all.len();
        match step {
            Do::Say(voice, seen) => {
                let say = self.talks.saying(at, *voice);
                let seen = seen.and_then(|pick| self.talks.pick(at, pick));
                self.say(at, SayRequest { seen, ..say }).await;
            }
            Do::Deliver(number) => {
                let say = self.talks.saying(at, Voice::User);
                let platform_id = Some(format!("message-{}", number % 3));
                self.say(at, SayRequest { platform_id, ..say }).await;
            }
            Do::Ask => {
                let asked = self.talks.all[at].answering();
                self.talks.all[at].asked.push(asked);
            }
            Do::Answer(number, voice) => {
                let asked = &self.talks.all[at].asked;
                if let Some(answering) = asked.get(usize::from(*number) % asked.len().max(1)).copied() {
                    let say = self.talks.saying(at, *voice);
                    self.say(at, SayRequest { answering: Some(answering), ..say }).await;
                }
            }
            Do::Reword(pick) => self.reword(at, *pick).await,
            Do::Fork(pick) => return self.fork(at, *pick).await,
            Do::Again(number) => self.again(usize::from(*number)).await,
            Do::Stale(head, pick) => self.stale(at, usize::from(*head), *pick).await,
            Do::Reopen => {
                drop(self.store.take());
                self.store = Some(self.home.open());
            }
            _ => {
                if let Some(action) = self.talks.action(at, step) {
                    self.apply(at, action).await;
                }
            }
        }
        at
    }

    async fn say(&mut self, at: usize, say: SayRequest) {
        let id = self.talks.all[at].id;
        let mut after = self.talks.all[at].clone();
        let expected = after.say(&say);
        let got = self.store().say(id, say.clone()).await;
        let receipt = self.judge(at, after, &expected, got, &format!("{say:?}"));
        if let Some(receipt) = receipt.filter(|receipt| !receipt.unchanged) {
            self.sent.push((Sent::Say(id, say), receipt));
        }
    }

    async fn apply(&mut self, at: usize, action: Action) {
        let id = self.talks.all[at].id;
        let before = self.talks.all[at].clone();
        let mut after = before.clone();
        let expected = after.act(&action);
        let planned = self.store().plan(id, action.clone()).await;
        let apply = Apply { action, seen: SeenState::Exactly(before.head()), by: self.talks.by() };
        let got = self.store().apply(id, apply.clone()).await;
        let told = format!("{:?}", apply.action);
        super::checks::plan(&before, &after, &expected, &planned, &got, &told);
        let receipt = self.judge(at, after, &expected, got, &told);
        if let Some(receipt) = receipt.filter(|receipt| !receipt.unchanged) {
            self.sent.push((Sent::Apply(id, apply), receipt));
        }
    }

    /// Compares a result with the model's, which then is the model.
    fn judge(
        &mut self,
        at: usize,
        after: Talk,
        expected: &Verdict<Outcome>,
        got: Result<Receipt>,
        told: &str,
    ) -> Option<Receipt> {
        match (expected, got) {
            (Ok(outcome), Ok(receipt)) => {
                let ops = receipt.ops.len() as u64;
                assert_eq!((ops, receipt.composer), (outcome.ops, outcome.composer), "{told}");
                assert_eq!(receipt.entries, Vec::from_iter(outcome.entry), "{told}");
                assert_eq!((receipt.head, receipt.revision.0), (after.head(), after.revision), "{told}");
                assert_eq!(receipt.unchanged, after.revision == self.talks.all[at].revision, "{told}");
                self.talks.all[at] = after;
                Some(receipt)
            }
            (Err(expected), Err(error)) => {
                assert_eq!(*expected, word(&error), "{told}");
                None
            }
            (expected, got) => panic!("{told}\nexpected {expected:?}\ngot {got:?}"),
        }
    }

    /// An edit: a move to before an entry, and another message there, as one.
    async fn reword(&mut self, at: usize, pick: Pick) {
        let Some(target) = self.talks.pick(at, pick) else { return };
        let id = self.talks.all[at].id;
        let say = self.talks.saying(at, Voice::User);
        let mut after = self.talks.all[at].clone();
        let edit = Apply { action: Action::Edit(target), seen: SeenState::Anything, by: by() };
        let expected = after.act(&edit.action).and_then(|edited| Ok((edited, after.say(&say)?)));
        let got = self.store().say_at(id, edit, say.clone()).await;
        match (expected, got) {
            (Ok((edited, said)), Ok((moved, receipt))) => {
                assert_eq!(moved.composer, edited.composer);
                assert_eq!(receipt.entries, Vec::from_iter(said.entry));
                assert_eq!((receipt.head, receipt.revision.0), (after.head(), after.revision));
                self.talks.all[at] = after;
                self.sent.push((Sent::Say(id, say), receipt));
            }
            (Err(expected), Err(error)) => assert_eq!(expected, word(&error)),
            (expected, got) => panic!("reword: expected {expected:?}, got {got:?}"),
        }
    }

    async fn fork(&mut self, at: usize, pick: Option<Pick>) -> usize {
        let parent = self.talks.all[at].clone();
        if parent.depth == DEPTH_MAX || self.talks.all.len() == TALKS_MAX {
            return at;
        }
        let entry = pick.and_then(|pick| self.talks.pick(at, pick));
        let tip = entry.map_or(Ok(parent.now.tip), |entry| parent.end_of_fork(entry).map(Some));
        let id = ConversationId::new(new_id());
        let fork = NewFork { parent: parent.id, id, entry, title: None, by: self.talks.by() };
        match (tip, self.store().fork(fork).await) {
            (Ok(tip), Ok(_)) => {
                self.talks.all.push(parent.forked(id, tip));
                self.talks.all.len() - 1
            }
            (Err(expected), Err(error)) => {
                assert_eq!(expected, word(&error));
                at
            }
            (expected, got) => panic!("fork: expected {expected:?}, got {got:?}"),
        }
    }

    /// The same request gets the same receipt, whatever has happened since.
    async fn again(&mut self, number: usize) {
        let Some((sent, receipt)) = self.sent.get(number % self.sent.len().max(1)) else { return };
        let got = match sent {
            Sent::Say(id, say) => self.store().say(*id, say.clone()).await,
            Sent::Apply(id, apply) => self.store().apply(*id, apply.clone()).await,
        };
        assert_eq!(got.expect("a receipt"), *receipt);
    }

    /// A move by a client that saw an earlier head.
    async fn stale(&mut self, at: usize, number: usize, pick: Pick) {
        let talk = &self.talks.all[at];
        let seen = talk.heads[number % talk.heads.len()].0;
        let Some(target) = self.talks.pick(at, pick) else { return };
        let unaimed = talk.aim(target).err();
        let apply =
            Apply { action: Action::Rewind(target), seen: SeenState::Exactly(seen), by: self.talks.by() };
        if seen != self.talks.all[at].head() {
            let got = self.store().apply(self.talks.all[at].id, apply).await;
            assert_eq!(word(&got.expect_err("stale")), unaimed.unwrap_or("stale_head"));
        } else {
            self.apply(at, apply.action).await;
        }
    }
}
