//! A client that changes a conversation over a connection that it breaks sometimes, and records its requests and replies.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fastrand::Rng;
use retake_wire::reply::{Plan, Receipt};
use retake_wire::request::{Apply, Log, Say};
use retake_wire::{Action, Client as _, HttpClient, MarkVerb, OwnerAddress, Problem, Reply, Request, Role};

use super::super::world::{log, loses_the_reply, said, sends, text};
use super::check::{Event, What};
use super::model::{Act, Answer, Line};

/// A client.
pub(super) struct Hands {
    name: usize,
    random: Rng,
    client: HttpClient,
    reach: OwnerAddress,
    of: String,
    clock: Arc<AtomicU64>,
    /// The last head that it saw.
    head: String,
    entries: Vec<String>,
    history: Vec<Event>,
}

impl Hands {
    pub(super) fn new(name: usize, seed: u64, reach: OwnerAddress, of: &str, clock: Arc<AtomicU64>) -> Self {
        let client = HttpClient::new(reach.clone()).expect("a client");
        let random = Rng::with_seed(seed.wrapping_add(name as u64));
        let (head, entries) = ("0.0".to_owned(), Vec::new());
        Self { name, random, client, reach, of: of.to_owned(), clock, head, entries, history: Vec::new() }
    }

    pub(super) async fn work(mut self, steps: usize) -> Vec<Event> {
        for step in 0..steps {
            if self.random.u8(..2) == 0 {
                self.reads().await;
            }
            let act = self.some_act(step);
            match self.random.u8(..10) {
                0 => self.plans(act, step).await,
                _ => self.does(act, step).await,
            }
        }
        self.history
    }

    fn now(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }

    fn some_act(&mut self, step: usize) -> Act {
        let random = &mut self.random;
        let head = (random.u8(..3) > 0).then(|| self.head.clone());
        // Mostly a recent one: a conversation that always returns to its beginning tests little.
        let near = random.usize(..self.entries.len().clamp(1, 6));
        let entry = self.entries.iter().rev().nth(near).cloned();
        match (random.u8(..16), entry) {
            (7 | 8, Some(entry)) => Act::Rewind { entry, head },
            (9 | 10, _) => Act::Undo { head },
            (11, _) => Act::Redo { head },
            (12 | 13, Some(entry)) => {
                let verbs = [MarkVerb::Hide, MarkVerb::Show, MarkVerb::Exclude, MarkVerb::Include];
                Act::Mark { verb: verbs[random.usize(..4)], entry }
            }
            (14 | 15, Some(entry)) => Act::Label { entry, name: format!("l{}", random.u8(..20)) },
            (kind, entry) => {
                let role = if kind % 3 == 0 { Role::Assistant } else { Role::User };
                let text = format!("{} says {step}", self.name);
                Act::Say { role, text, seen: entry.filter(|_| kind == 1) }
            }
        }
    }

    async fn reads(&mut self) {
        let from = self.now();
        let all = Request::Log(Log { limit: Some(1_000), ..log(&self.of) });
        let reply = self.client.call(all).await.expect("read");
        let to = self.now();
        let Reply::Entries(page) = reply else { panic!("{reply:?}") };
        self.head.clone_from(&page.head);
        self.entries = page.entries.iter().map(|entry| entry.id.clone()).collect();
        let timeline: Vec<Line> = page
            .entries
            .iter()
            .map(|entry| (entry.id.clone(), text(entry), entry.mark.name().to_owned(), entry.label.clone()))
            .collect();
        let what = What::Read { revision: page.revision, head: page.head, timeline };
        self.history.push(Event { request: String::new(), from, to, what });
    }

    async fn plans(&mut self, act: Act, step: usize) {
        let Request::Apply(Apply { conversation, action, files, .. }) = self.request(&act, step) else {
            return self.does(act, step).await;
        };
        // A plan uses the current state, whatever was seen.
        let act = act.blind();
        let from = self.now();
        let plan = retake_wire::request::Plan { conversation, action, files, diff: false };
        let reply = self.client.call(Request::Plan(plan)).await;
        let to = self.now();
        let answer = match reply {
            Ok(Reply::Plan(Plan { unchanged: true, head, .. })) => Answer::Unchanged { head },
            Ok(Reply::Plan(plan)) => Answer::Done {
                head: plan.head,
                gone: plan.timeline.taken_back.messages,
                came: plan.timeline.brought_back.messages,
                composer: plan.composer.map(|composer| composer.text),
            },
            Ok(other) => panic!("{other:?}"),
            Err(problem) => refused(&act, problem),
        };
        self.history.push(Event { request: String::new(), from, to, what: What::Planned { act, answer } });
    }

    /// Makes the change exactly once, whatever happens to the connection.
    async fn does(&mut self, act: Act, step: usize) {
        let request = self.request(&act, step);
        let from = self.now();
        match self.random.u8(..8) {
            0 => loses_the_reply(&self.reach, &request).await,
            1 => drop(sends(&self.reach, &request, 2).await),
            2 if is_final(&act) => drop(sends(&self.reach, &request, 1).await),
            3 => {
                let other = HttpClient::new(self.reach.clone()).expect("a client");
                let (one, same) = tokio::join!(self.client.call(request.clone()), other.call(request));
                self.note(&act, step, from, one);
                return self.note(&act, step, from, same);
            }
            _ => {}
        }
        let reply = self.client.call(request).await;
        self.note(&act, step, from, reply);
    }

    fn note(&mut self, act: &Act, step: usize, from: u64, reply: Result<Reply, Problem>) {
        let to = self.now();
        let (answer, receipt) = match reply {
            Ok(Reply::Receipt(receipt)) => {
                let receipt: Receipt = receipt;
                self.head.clone_from(&receipt.head);
                self.entries.extend(receipt.entries.iter().cloned());
                let head = receipt.head.clone();
                let answer = match receipt.unchanged {
                    true => Answer::Unchanged { head },
                    false => Answer::Done {
                        head,
                        gone: receipt.timeline.taken_back.messages,
                        came: receipt.timeline.brought_back.messages,
                        composer: receipt.composer.as_ref().map(|composer| composer.text.clone()),
                    },
                };
                (answer, Some(Box::new(receipt)))
            }
            Ok(other) => panic!("{other:?}"),
            Err(problem) => {
                if let Some(head) = &problem.head {
                    self.head.clone_from(head);
                }
                (refused(act, problem), None)
            }
        };
        let what = What::Done { act: act.clone(), answer, receipt };
        self.history.push(Event { request: self.id_of(step), from, to, what });
    }

    fn id_of(&self, step: usize) -> String {
        format!("{}-{step}", self.name)
    }

    fn request(&self, act: &Act, step: usize) -> Request {
        let request_id = Some(self.id_of(step));
        let (action, head) = match act.clone() {
            Act::Say { role, text, seen } => {
                return Request::Say(Say { seen, request_id, ..said(&self.of, role, &text) });
            }
            Act::Rewind { entry, head } => (Action::Rewind { entry }, head),
            Act::Undo { head } => (Action::Undo { count: 1 }, head),
            Act::Redo { head } => (Action::Redo { count: 1 }, head),
            Act::Mark { verb, entry } => {
                (Action::Mark { verb, entries: vec![entry], range: false, seen: None }, None)
            }
            Act::Label { entry, name } => (Action::Label { entry, name: Some(name) }, None),
        };
        let (conversation, files) = (self.of.clone(), Default::default());
        Request::Apply(Apply { conversation, action, head, since: false, files, request_id })
    }
}

/// Whether its refusal is final. If a client disconnects without waiting, the owner may handle that request later, even after it
/// has refused the same one sent again.
fn is_final(act: &Act) -> bool {
    match act {
        Act::Say { seen, .. } => seen.is_none(),
        act => act.head().is_some(),
    }
}

fn refused(act: &Act, problem: Problem) -> Answer {
    assert!(problem.code != "internal" && problem.causes.is_empty(), "{act:?}: {problem:?}");
    Answer::Refused { code: problem.code.to_string(), head: problem.head }
}
