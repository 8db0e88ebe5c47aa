//! Carries out each step with core and in the naive model, and compares the results.

use retake_core::{
    Action, Apply, Commit, Conversation, ConversationId, EntryId, Pos, Say, SayRequest, SeenState,
};

use super::naive::Talk;
use super::requests::Talks;
use super::rows::{Log, Rows, Word};
use super::steps::{Do, Pick, Voice};
use super::verbs::{Outcome, Verdict};
use crate::kit::{by, new_id};

/// The depth of forks of forks.
const DEPTH_MAX: u32 = 3;
/// The most conversations.
const TALKS_MAX: usize = 6;

/// The conversations in core's form, and their expected state.
pub(super) struct World {
    pub(super) talks: Talks,
    logs: Vec<Log>,
}

impl World {
    pub(super) fn new() -> Self {
        let id = ConversationId::new(new_id());
        let talks = Talks { all: vec![Talk::new(id)], requests: 0 };
        Self { talks, logs: vec![Log::new(Conversation::new(id), None)] }
    }

    pub(super) fn rows(&self, at: usize) -> Rows<'_> {
        Rows { logs: &self.logs, at }
    }

    /// The current state of a conversation in core's form.
    pub(super) fn now(&self, at: usize) -> &Conversation {
        &self.logs[at].now
    }

    /// The position of an entry that the conversation knows.
    fn locate(&self, at: usize, id: EntryId) -> Result<Pos, Word> {
        let index = self.talks.all[at].find(id).ok_or(Word("unknown"))?;
        Ok(self.talks.all[at].said[index].pos)
    }

    /// Carries out a step. Returns the index of its conversation.
    pub(super) fn step(&mut self, talk: u8, step: &Do) -> usize {
        let at = usize::from(talk) % self.talks.all.len();
        match step {
            Do::Say(voice, seen) => {
                let say = self.talks.saying(at, *voice);
                let seen = seen.and_then(|pick| self.talks.pick(at, pick));
                self.say(at, &SayRequest { seen, ..say });
            }
            Do::Ask => {
                let asked = self.talks.all[at].answering();
                self.talks.all[at].asked.push(asked);
            }
            Do::Answer(number, voice) => {
                let asked = &self.talks.all[at].asked;
                if let Some(answering) = asked.get(usize::from(*number) % asked.len().max(1)).copied() {
                    let say = self.talks.saying(at, *voice);
                    self.say(at, &SayRequest { answering: Some(answering), ..say });
                }
            }
            Do::Reword(pick) => {
                if let Some(target) = self.talks.pick(at, *pick)
                    && self.apply(at, Action::Edit(target), SeenState::Anything)
                {
                    let say = self.talks.saying(at, Voice::User);
                    self.say(at, &say);
                }
            }
            Do::Fork(pick) => return self.fork(at, *pick),
            Do::Stale(head, pick) => self.stale(at, usize::from(*head), *pick),
            Do::Deliver(number) => {
                let platform_id = Some(format!("message-{}", number % 3));
                let talk = &self.talks.all[at];
                // The store recognizes repeated messages.
                if talk.path().iter().all(|index| talk.said[*index].platform != platform_id) {
                    let say = self.talks.saying(at, Voice::User);
                    self.say(at, &SayRequest { platform_id, ..say });
                }
            }
            // The same for a request. Here it is a check of something earlier.
            Do::Again(number) => super::checks::one_of_many(self, at, usize::from(*number)),
            Do::Reopen => {
                let (rows, now) = (self.rows(at), self.now(at));
                assert_eq!(rows.load(now.head), *now, "read again");
            }
            _ => {
                if let Some(action) = self.talks.action(at, step) {
                    let seen = SeenState::Exactly(self.talks.all[at].head());
                    self.apply(at, action, seen);
                }
            }
        }
        at
    }

    fn say(&mut self, at: usize, request: &SayRequest) {
        let mut after = self.talks.all[at].clone();
        let expected = after.say(request);
        let seen = request.seen.map(|id| self.locate(at, id)).transpose();
        let got = seen.and_then(|seen| {
            let say = Say {
                id: request.id,
                role: request.role,
                author: request.by.author.clone(),
                parts: request.parts.clone(),
                flags: request.flags,
                time: request.by.time,
                usage: request.usage,
                platform_id: request.platform_id.clone(),
                origin: None,
                seen,
                answering: request.answering,
            };
            self.now(at).say(&self.rows(at), say)
        });
        self.judge(at, after, &expected, got, &format!("{request:?}"));
    }

    /// Carries out an action with core and in the model. Returns whether it was not refused.
    fn apply(&mut self, at: usize, action: Action, seen: SeenState) -> bool {
        let before = self.talks.all[at].clone();
        let mut after = before.clone();
        let expected = after.act(&action);
        let apply = Apply { action, seen, by: self.talks.by() };
        let told = format!("{:?}", apply.action);
        let got = self.now(at).decide(&self.rows(at), &apply, &|id| self.locate(at, id));
        if let (Ok(outcome), Ok(commit)) = (&expected, &got) {
            super::checks::plan(self, at, &before, &after, outcome, commit, &told);
        }
        self.judge(at, after, &expected, got, &told)
    }

    /// Compares a decision with the model's, and appends its rows. Returns whether it was not
    /// refused.
    pub(super) fn judge(
        &mut self,
        at: usize,
        after: Talk,
        expected: &Verdict<Outcome>,
        got: Result<Commit, Word>,
        told: &str,
    ) -> bool {
        match (expected, got) {
            (Ok(outcome), Ok(commit)) => {
                let entry = commit.entries.first().map(|entry| entry.meta.id);
                assert_eq!((commit.ops.len() as u64, entry), (outcome.ops, outcome.entry), "{told}");
                let now = self.now(at).after(&self.rows(at), &commit).expect("a conversation");
                assert_eq!((now.head, now.revision.0), (after.head(), after.revision), "{told}");
                assert_eq!(commit.is_empty(), after.revision == self.talks.all[at].revision, "{told}");
                assert!(commit.ops.iter().all(|op| op.author == "ann" && op.time == by().time), "{told}");
                let log = &mut self.logs[at];
                log.now = now;
                log.ops.extend(commit.ops);
                log.entries.extend(commit.entries);
                self.talks.all[at] = after;
                true
            }
            (Err(expected), Err(Word(got))) => {
                assert_eq!(*expected, got, "{told}");
                false
            }
            (expected, got) => panic!("{told}\nexpected {expected:?}\ngot {got:?}"),
        }
    }

    fn fork(&mut self, at: usize, pick: Option<Pick>) -> usize {
        let parent = self.talks.all[at].clone();
        if parent.depth == DEPTH_MAX || self.talks.all.len() == TALKS_MAX {
            return at;
        }
        let entry = pick.and_then(|pick| self.talks.pick(at, pick));
        let expected = entry.map_or(Ok(parent.now.tip), |entry| parent.end_of_fork(entry).map(Some));
        let (now, rows) = (self.now(at), self.rows(at));
        let got = entry.map_or(Ok(now.state.tip), |entry| {
            let pos = self.locate(at, entry)?;
            now.in_sight(pos)?;
            now.end_at(&rows, pos).map(Some)
        });
        match (expected, got) {
            (Ok(expected), Ok(tip)) => {
                let id = ConversationId::new(new_id());
                let mut forked = now.forked(id, tip, now.totals);
                // Its last entry differs if the end of that branch is hidden.
                forked.totals = now.totals_at(&rows, forked.state.tip).expect("totals");
                self.logs.push(Log::new(forked, Some(at)));
                self.talks.all.push(parent.forked(id, expected));
                self.talks.all.len() - 1
            }
            (Err(expected), Err(Word(got))) => {
                assert_eq!(expected, got);
                at
            }
            (expected, got) => panic!("fork: expected {expected:?}, got {got:?}"),
        }
    }

    /// A move by a client that saw an earlier head.
    fn stale(&mut self, at: usize, number: usize, pick: Pick) {
        let talk = &self.talks.all[at];
        let seen = talk.heads[number % talk.heads.len()].0;
        let Some(target) = self.talks.pick(at, pick) else { return };
        let refused = self.talks.all[at].aim(target).err();
        let since = Apply { action: Action::Rewind(target), seen: SeenState::Since(seen), by: by() };
        let exactly = Apply { seen: SeenState::Exactly(seen), ..since.clone() };
        let decide = |apply: &Apply| {
            let commit = self.now(at).decide(&self.rows(at), apply, &|id| self.locate(at, id));
            commit.err().map(|Word(code)| code)
        };
        let now = self.talks.all[at].head();
        let stale = |is_stale: bool| refused.or(is_stale.then_some("stale_head"));
        assert_eq!(decide(&exactly), stale(seen != now), "exactly {seen}, now {now}");
        assert_eq!(decide(&since), stale(seen.op != now.op), "since {seen}, now {now}");
    }
}
