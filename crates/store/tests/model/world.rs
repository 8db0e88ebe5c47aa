//! Does each step both in the store and in the naive model, and holds the answers against each other.

use std::sync::Arc;
use std::time::Duration;

use retake_core::{
    Action, Apply, By, ConversationId, EntryId, Fact, Flags, Head, Mark, NewConversation, NewFork, Part,
    Receipt, Role, SayRequest, Seen, Step, ToolOutcome,
};
use retake_store::{Memory, Result, RowStore, Sqlite, Store};
use tempfile::TempDir;

use super::naive::{Kind, Talk};
use super::steps::{Do, Pick, Voice};
use super::verbs::{Outcome, Verdict};
use crate::kit::{NOW, by, new_id, word};

/// Forks of forks, so deep.
const DEPTH_MAX: u32 = 3;
/// So many conversations.
const TALKS_MAX: usize = 6;

/// What entries make known.
pub(super) const FACT_KEYS: [&str; 3] = ["cwd", "job/a", "job/b"];

/// Where a store is, so that it can be closed and opened again.
pub(crate) enum Home {
    Memory(Memory),
    Sqlite(TempDir),
}

impl Home {
    /// A directory in memory where there is one: what is durable is another test's question.
    pub(crate) fn sqlite() -> Self {
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
        Self::Sqlite(dir.expect("a directory"))
    }

    pub(crate) fn open(&self) -> Arc<dyn Store> {
        match self {
            Self::Memory(memory) => {
                Arc::new(RowStore::start(memory.clone(), memory.writer()).expect("started"))
            }
            Self::Sqlite(dir) => {
                let opened = Sqlite::open(dir.path(), NOW, Duration::ZERO);
                let opened = opened.expect("opened");
                assert_eq!(opened.notices, [""; 0]);
                Arc::new(RowStore::start(opened.readers, opened.writer).expect("started"))
            }
        }
    }
}

/// A request that was carried out, to be sent again.
enum Sent {
    Say(ConversationId, SayRequest),
    Apply(ConversationId, Apply),
}

/// The store, and what it should be.
pub(super) struct World {
    home: Home,
    /// `None` only while it is opened again.
    store: Option<Arc<dyn Store>>,
    pub(super) talks: Vec<Talk>,
    sent: Vec<(Sent, Receipt)>,
    requests: u64,
}

impl World {
    pub(super) async fn new(home: Home) -> Self {
        let store = home.open();
        let id = ConversationId::new(new_id());
        store.create(NewConversation { id, folder: None, title: None, by: by() }).await.expect("created");
        let talks = vec![Talk::new(id)];
        Self { home, store: Some(store), talks, sent: Vec::new(), requests: 0 }
    }

    pub(super) fn store(&self) -> &dyn Store {
        self.store.as_deref().expect("open")
    }

    /// Every request has an id, so that it can be repeated.
    fn by(&mut self) -> By {
        self.requests += 1;
        let request = format!("request-{}", self.requests).parse().expect("a request id");
        By { request: Some(request), ..by() }
    }

    /// The entry that a step aims at.
    fn pick(&self, at: usize, pick: Pick) -> Option<EntryId> {
        let talk = &self.talks[at];
        let (list, number) = match pick {
            Pick::OnPath(number) => (talk.path(), number),
            Pick::Known(number) => ((0..talk.said.len()).collect(), number),
            Pick::Foreign(number) => {
                let others = self.talks.iter().flat_map(|talk| &talk.said).map(|said| said.id);
                let foreign: Vec<EntryId> = others.filter(|id| talk.find(*id).is_none()).collect();
                return foreign.get(usize::from(number) % foreign.len().max(1)).copied();
            }
        };
        let index = list.iter().rev().nth(usize::from(number) % list.len().max(1))?;
        Some(talk.said[*index].id)
    }

    /// Does a step; the number of the conversation that it touched.
    pub(super) async fn step(&mut self, talk: u8, step: &Do) -> usize {
        let at = usize::from(talk) % self.talks.len();
        match step {
            Do::Say(voice, seen) => {
                let say = self.saying(at, *voice);
                let seen = seen.and_then(|pick| self.pick(at, pick));
                self.say(at, SayRequest { seen, ..say }).await;
            }
            Do::Deliver(number) => {
                let say = self.saying(at, Voice::User);
                let platform_id = Some(format!("message-{}", number % 3));
                self.say(at, SayRequest { platform_id, ..say }).await;
            }
            Do::Ask => {
                let asked = self.talks[at].answering();
                self.talks[at].asked.push(asked);
            }
            Do::Answer(number, voice) => {
                let asked = &self.talks[at].asked;
                if let Some(answering) = asked.get(usize::from(*number) % asked.len().max(1)).copied() {
                    let say = self.saying(at, *voice);
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
                if let Some(action) = self.action(at, step) {
                    self.apply(at, action).await;
                }
            }
        }
        at
    }

    /// The action that a step asks for, where there is something to aim at.
    fn action(&self, at: usize, step: &Do) -> Option<Action> {
        let talk = &self.talks[at];
        let one = |pick: &Pick| self.pick(at, *pick);
        Some(match step {
            Do::Rewind(pick) => Action::Rewind(one(pick)?),
            Do::Retry(pick) => Action::Retry(one(pick)?),
            Do::Edit(pick) => Action::Edit(one(pick)?),
            Do::Undo(count) => Action::Undo(usize::from(*count)),
            Do::Redo(count) => Action::Redo(usize::from(*count)),
            Do::Restore(number) => Action::Restore(talk.heads[usize::from(*number) % talk.heads.len()].0),
            Do::RestoreNever(op, seq) => Action::Restore(Head::new(u64::from(*op), u64::from(*seq))),
            Do::Checkout(None) => Action::Checkout(None),
            Do::Checkout(Some(pick)) => Action::Checkout(Some(one(pick)?)),
            Do::Choose(pick, number) => Action::Choose(one(pick)?, usize::from(*number)),
            Do::Compensate(number) => {
                let moves = talk.done.iter().rev().filter(|done| matches!(done.kind, Kind::Tip { .. }));
                let steps: Vec<Step> = moves.map(|done| done.step).collect();
                Action::Compensate(*steps.get(usize::from(*number) % steps.len().max(1))?)
            }
            Do::CompensateTip => Action::Compensate(Step::Turn(talk.said[talk.now.tip?].pos)),
            Do::Mark(verb, picks, range, seen) => {
                let entries = picks.iter().map(one).collect::<Option<Vec<_>>>()?;
                let seen = Mark::ALL.get(usize::from(*seen)).copied();
                Action::Mark { verb: *verb, entries, range: *range, seen }
            }
            Do::Fold(verb, from, to) => {
                let summary = format!("summary{}", self.requests % 2);
                Action::Fold { verb: *verb, from: one(from)?, to: one(to)?, summary, covers: None }
            }
            Do::Unfold(number) => {
                let folds = &talk.now.folds;
                Action::Unfold(folds.get(usize::from(*number) % folds.len().max(1))?.id)
            }
            Do::Label(pick, name) => {
                let name = name.map(|name| if name == 0 { " ".to_owned() } else { format!("label{name}") });
                Action::Label(pick.as_ref().map(|pick| one(pick).ok_or(())).transpose().ok()?, name)
            }
            _ => return None,
        })
    }

    /// Something to say, with a word that nobody else says.
    fn saying(&mut self, at: usize, voice: Voice) -> SayRequest {
        let by = self.by();
        let text = Part::text(format!("w{} all", self.requests));
        let flags = |synthetic, observed| Flags { synthetic, observed, ..Flags::default() };
        let (role, flags, parts) = match voice {
            Voice::User => (Role::User, Flags::default(), vec![text]),
            Voice::Assistant => (Role::Assistant, Flags::default(), vec![text]),
            Voice::Synthetic => (Role::User, flags(true, false), vec![text]),
            Voice::Observed => (Role::User, flags(false, true), vec![text]),
            Voice::System => (Role::System, Flags::default(), vec![text]),
            Voice::Call(count) => {
                let call = |number| Part::ToolCall {
                    id: format!("c{}x{number}", self.requests),
                    name: "ls".into(),
                    arguments: "{}".into(),
                };
                let calls = (0..count).map(call);
                (Role::Assistant, Flags::default(), std::iter::once(text).chain(calls).collect())
            }
            Voice::Result(number) => {
                let talk = &self.talks[at];
                let calls: Vec<&String> = talk.said.iter().rev().flat_map(|said| &said.calls).collect();
                let call = calls.get(usize::from(number) % calls.len().clamp(1, 3));
                let call = call.map_or_else(|| "nowhere".to_owned(), |call| (*call).clone());
                let result = Part::ToolResult { call, content: "done".into(), outcome: ToolOutcome::Ok };
                (Role::Tool, Flags::default(), vec![text, result])
            }
        };
        let tells = matches!(voice, Voice::Assistant | Voice::Result(_));
        SayRequest {
            flags,
            ..SayRequest::new(
                EntryId::new(new_id()),
                role,
                parts.into_iter().chain(tells.then(|| self.fact())).collect(),
                by,
            )
        }
    }

    /// One of a few facts; now and then it takes one away.
    fn fact(&self) -> Part {
        let (key, number) = (FACT_KEYS[self.requests as usize % 3], self.requests);
        let value = if number.is_multiple_of(4) { String::new() } else { format!("fact{number}") };
        Part::Facts(vec![Fact::new(key, "of two the later one counts"), Fact::new(key, value)])
    }

    async fn say(&mut self, at: usize, say: SayRequest) {
        let id = self.talks[at].id;
        let mut after = self.talks[at].clone();
        let expected = after.say(&say);
        let got = self.store().say(id, say.clone()).await;
        let receipt = self.judge(at, after, &expected, got, &format!("{say:?}"));
        if let Some(receipt) = receipt.filter(|receipt| !receipt.unchanged) {
            self.sent.push((Sent::Say(id, say), receipt));
        }
    }

    async fn apply(&mut self, at: usize, action: Action) {
        let id = self.talks[at].id;
        let before = self.talks[at].clone();
        let mut after = before.clone();
        let expected = after.act(&action);
        let planned = self.store().plan(id, action.clone()).await;
        let apply = Apply { action, seen: Seen::Exactly(before.head()), by: self.by() };
        let got = self.store().apply(id, apply.clone()).await;
        let told = format!("{:?}", apply.action);
        super::checks::plan(&before, &after, &expected, &planned, &got, &told);
        let receipt = self.judge(at, after, &expected, got, &told);
        if let Some(receipt) = receipt.filter(|receipt| !receipt.unchanged) {
            self.sent.push((Sent::Apply(id, apply), receipt));
        }
    }

    /// Holds an answer against the model's, which then is the model.
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
                assert_eq!(receipt.unchanged, after.revision == self.talks[at].revision, "{told}");
                self.talks[at] = after;
                Some(receipt)
            }
            (Err(expected), Err(error)) => {
                assert_eq!(*expected, word(&error), "{told}");
                None
            }
            (expected, got) => panic!("{told}\nexpected {expected:?}\ngot {got:?}"),
        }
    }

    /// An edit: back to before an entry, and something else said there, as one.
    async fn reword(&mut self, at: usize, pick: Pick) {
        let Some(target) = self.pick(at, pick) else { return };
        let id = self.talks[at].id;
        let say = self.saying(at, Voice::User);
        let mut after = self.talks[at].clone();
        let edit = Apply { action: Action::Edit(target), seen: Seen::Anything, by: by() };
        let expected = after.act(&edit.action).and_then(|edited| Ok((edited, after.say(&say)?)));
        let got = self.store().say_at(id, edit, say.clone()).await;
        match (expected, got) {
            (Ok((edited, said)), Ok((moved, receipt))) => {
                assert_eq!(moved.composer, edited.composer);
                assert_eq!(receipt.entries, Vec::from_iter(said.entry));
                assert_eq!((receipt.head, receipt.revision.0), (after.head(), after.revision));
                self.talks[at] = after;
                self.sent.push((Sent::Say(id, say), receipt));
            }
            (Err(expected), Err(error)) => assert_eq!(expected, word(&error)),
            (expected, got) => panic!("reword: expected {expected:?}, got {got:?}"),
        }
    }

    async fn fork(&mut self, at: usize, pick: Option<Pick>) -> usize {
        let parent = self.talks[at].clone();
        if parent.depth == DEPTH_MAX || self.talks.len() == TALKS_MAX {
            return at;
        }
        let entry = pick.and_then(|pick| self.pick(at, pick));
        let tip = entry.map_or(Ok(parent.now.tip), |entry| parent.end_of_fork(entry).map(Some));
        let id = ConversationId::new(new_id());
        let fork = NewFork { parent: parent.id, id, entry, title: None, by: self.by() };
        match (tip, self.store().fork(fork).await) {
            (Ok(tip), Ok(_)) => {
                self.talks.push(parent.forked(id, tip));
                self.talks.len() - 1
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

    /// A Move by somebody who saw an earlier head.
    async fn stale(&mut self, at: usize, number: usize, pick: Pick) {
        let talk = &self.talks[at];
        let seen = talk.heads[number % talk.heads.len()].0;
        let Some(target) = self.pick(at, pick) else { return };
        let unaimed = talk.aim(target).err();
        let apply = Apply { action: Action::Rewind(target), seen: Seen::Exactly(seen), by: self.by() };
        if seen != self.talks[at].head() {
            let got = self.store().apply(self.talks[at].id, apply).await;
            assert_eq!(word(&got.expect_err("stale")), unaimed.unwrap_or("stale_head"));
        } else {
            self.apply(at, apply.action).await;
        }
    }
}
