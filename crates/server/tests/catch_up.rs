//! A client that was away and catches up equals a client that reads everything again, and never gets what came and went
//! meanwhile. Must only look at replies.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use fastrand::Rng;
use retake_wire::reply::{Changes, Entry, Permissions};
use retake_wire::request::{CatchUp, Edit, Fork};
use retake_wire::{Action, Attached, MarkVerb, Part, ProblemKind, Request, Role};

use super::world::{Desk, LARGEST, apply, get, label, mark, rewind, said, text, told, variant};

/// The changes, apart from what this machine lacks.
async fn changes(desk: &Desk, of: &str, since: u64) -> Changes {
    let mut changes = get!(desk, Changes, Request::CatchUp(CatchUp { conversation: of.into(), since }));
    changes.permissions.weaknesses.clear();
    changes.permissions.weaker.clear();
    changes
}

/// A client's copy of the timeline after a reply.
fn caught_up(copy: &[Entry], changes: &Changes) -> Vec<Entry> {
    let mut copy = copy.to_vec();
    for gone in &changes.gone {
        let at = copy.iter().position(|entry| entry.id == *gone);
        copy.remove(at.expect("nothing goes that was not seen"));
    }
    for changed in &changes.changed {
        let at = copy.iter().position(|entry| entry.id == changed.id);
        copy[at.expect("nothing changes that is not there")] = changed.clone();
    }
    for came in &changes.came {
        assert!(copy.iter().all(|entry| entry.id != came.id), "nothing comes that was there");
        copy.push(came.clone());
    }
    copy.sort_by_key(|entry| entry.place.position());
    copy
}

/// A conversation, and the timelines that clients have seen.
struct Talk {
    id: String,
    seen: BTreeMap<u64, Vec<Entry>>,
}

/// The events of a test: every text is unique, and every id is remembered.
struct Story {
    desk: Desk,
    random: Rng,
    talks: Vec<Talk>,
    entries: Vec<String>,
    heads: Vec<String>,
    said: u64,
    done: BTreeSet<String>,
    /// The likely next request.
    next: Option<(usize, Request)>,
}

const STEPS: usize = 120;

impl Story {
    async fn begin(seed: u64) -> Self {
        let desk = Desk::new().await;
        let id = desk.create(None, None).await;
        let talk = Talk { id, seen: BTreeMap::from([(0, Vec::new())]) };
        let random = Rng::with_seed(seed);
        let heads = vec!["0.0".to_owned()];
        let (entries, done) = (Vec::new(), BTreeSet::new());
        Self { desk, random, talks: vec![talk], entries, heads, said: 0, done, next: None }
    }

    fn text(&mut self) -> String {
        self.said += 1;
        format!("<{}>", self.said)
    }

    /// One of the matching entries that a conversation shows now, or any entry ever added.
    fn entry(&mut self, talk: usize, wanted: fn(&Entry) -> bool) -> String {
        let now = self.talks[talk].seen.values().next_back();
        let shown = now.into_iter().flatten().filter(|entry| wanted(entry)).map(|entry| entry.id.clone());
        let shown: Vec<String> = shown.collect();
        let from = if shown.is_empty() || self.random.u8(..5) == 0 { &self.entries } else { &shown };
        self.random.choice(from).cloned().unwrap_or_else(|| "@".into())
    }

    fn action(&mut self, talk: usize) -> Action {
        let [entry, to] = [(); 2].map(|()| self.entry(talk, |_| true));
        let answer = self.entry(talk, |entry| entry.alternative.is_some());
        let folded = self.entry(talk, |entry| entry.fold.is_some());
        let gone = self.random.choice(&self.entries).cloned().unwrap_or_default();
        let range =
            |verb| Action::Mark { verb, entries: vec![entry.clone(), to.clone()], range: true, seen: None };
        match self.random.u8(..20) {
            0 => rewind(&entry),
            1 | 2 => rewind(&self.entry(talk, |entry| !entry.place.opens_turn)),
            3 | 4 => Action::Undo { count: self.random.usize(1..3) },
            5 => Action::Redo { count: self.random.usize(1..3) },
            6 => Action::Restore { head: self.random.choice(&self.heads).cloned().expect("a head") },
            7 => Action::Checkout { entry: Some(gone) },
            8 | 17 | 18 => Action::Choose { entry: answer, number: self.random.usize(1..4) },
            9 => mark(MarkVerb::Hide, &entry),
            10 => mark(MarkVerb::Show, &gone),
            11 => range(MarkVerb::Exclude),
            12 => range(MarkVerb::Include),
            13 => Action::Fold { from: entry, to, summary: self.text() },
            14 => Action::Unfold { fold: folded },
            15 => label(&entry, &self.text()),
            16 if self.random.bool() => Action::Erase { entries: vec![entry], matching: None },
            16 => {
                let text = format!("<{}>", self.random.u64(..=self.said));
                Action::Erase { entries: vec![], matching: Some(text) }
            }
            _ => Action::Title { title: Some(self.text()) },
        }
    }

    fn request(&mut self, talk: usize, of: &str) -> Request {
        match self.random.u8(..20) {
            0..7 => Request::Say(said(of, Role::User, &self.text())),
            7..10 => Request::Say(said(of, Role::Assistant, &self.text())),
            10 => Request::Edit(Edit {
                files: Default::default(),
                conversation: of.into(),
                entry: self.entry(talk, |entry| entry.place.opens_turn),
                parts: vec![Part::text(self.text())],
                attached: Attached::Kept,
                head: None,
                request_id: None,
            }),
            11 if self.talks.len() < 3 => {
                let entry = Some(self.entry(talk, |_| true));
                Request::Fork(Fork { conversation: of.into(), entry, title: None, request_id: None })
            }
            _ => apply(of, self.action(talk)),
        }
    }

    async fn step(&mut self) {
        let (talk, request) = match self.next.take() {
            Some(next) if self.random.bool() => next,
            _ => {
                let talk = self.random.usize(..self.talks.len());
                (talk, self.request(talk, &self.talks[talk].id.clone()))
            }
        };
        let of = self.talks[talk].id.clone();
        let before = self.desk.info(&of).await.revision;
        let receipt = match self.desk.client.call(request.clone()).await {
            Ok(retake_wire::Reply::Receipt(receipt)) => receipt,
            Ok(other) => panic!("{other:?}"),
            Err(problem) => {
                let expected = [ProblemKind::Refused, ProblemKind::NotFound];
                assert!(expected.contains(&problem.kind), "{request:?}: {problem:?}");
                assert_eq!(self.desk.info(&of).await.revision, before, "a refusal changes nothing");
                return;
            }
        };
        let done = match &request {
            Request::Apply(apply) => variant(&apply.action),
            other => variant(other),
        };
        self.next = match &*done {
            "Undo" => Some((talk, apply(&of, Action::Redo { count: 1 }))),
            "Rewind" => Some((talk, Request::Say(said(&of, Role::Assistant, &self.text())))),
            "Fold" => Some((talk, apply(&of, Action::Unfold { fold: receipt.operations[0].to_string() }))),
            _ => None,
        };
        self.done.insert(done);
        if receipt.conversation != of {
            let seen = BTreeMap::from([(0, Vec::new())]);
            self.talks.push(Talk { id: receipt.conversation.clone(), seen });
        }
        self.entries.extend(receipt.entries);
        self.heads.push(receipt.head);
        for talk in 0..self.talks.len() {
            self.check(talk, &request).await;
        }
    }

    /// Clients of any age catch up.
    async fn check(&mut self, talk: usize, last: &Request) {
        let id = self.talks[talk].id.clone();
        let (revision, now) = self.desk.timeline(&id).await;
        let memory = &self.talks[talk].seen;
        let newest = *memory.keys().next_back().expect("there is one");
        let any = *memory.keys().nth(self.random.usize(..memory.len())).expect("there is one");
        for since in [0, any, newest] {
            let then = &memory[&since];
            let changes = changes(&self.desk, &id, since).await;
            assert_eq!(changes.revision, revision);
            assert_eq!(caught_up(then, &changes), now, "since {since}, after {last:?}");
            self.nothing_else(then, &now, &changes);
        }
        self.talks[talk].seen.insert(revision, now);
    }

    /// Entries neither seen then nor there now are not in the reply; removed entries appear only by id.
    fn nothing_else(&self, then: &[Entry], now: &[Entry], changes: &Changes) {
        let answer = format!("{changes:?}");
        let texts: BTreeSet<String> = now.iter().map(text).collect();
        let labels: BTreeSet<&String> = now.iter().filter_map(|entry| entry.label.as_ref()).collect();
        for text in (1..=self.said).map(|number| format!("<{number}>")) {
            let known = texts.contains(&text) || labels.contains(&text);
            assert!(known || !answer.contains(&text), "{text} in {answer}");
        }
        let ids: BTreeSet<&String> = then.iter().chain(now).map(|entry| &entry.id).collect();
        for id in self.entries.iter().filter(|id| !ids.contains(id)) {
            assert!(!answer.contains(id.as_str()), "{id} in {answer}");
        }
    }
}

#[tokio::test]
async fn a_client_that_catches_up_has_what_a_fresh_one_reads() {
    let mut done = BTreeSet::new();
    for seed in 1..=4 {
        let mut story = Story::begin(seed).await;
        for _ in 0..STEPS {
            story.step().await;
        }
        done.append(&mut story.done);
    }
    let all = "Checkout Choose Edit Erase Fold Fork Label Mark Redo Restore Rewind Say Title Undo Unfold";
    assert_eq!(done.into_iter().collect::<Vec<_>>().join(" "), all);
}

#[tokio::test]
async fn catching_up_from_now_is_empty_and_from_the_future_is_refused() {
    let desk = Desk::new().await;
    let (id, _) = desk.talk(&["one", "two"]).await;
    let info = desk.info(&id).await;
    let nothing = Changes {
        revision: info.revision,
        head: info.head,
        gone: vec![],
        came: vec![],
        changed: vec![],
        running: false,
        waiting: vec![],
        permissions: Permissions::default(),
    };
    assert_eq!(changes(&desk, &id, info.revision).await, nothing);
    for since in [info.revision + 1, LARGEST as u64] {
        let problem = desk.refused(Request::CatchUp(CatchUp { conversation: id.clone(), since })).await;
        assert_eq!(
            (problem.kind, &*problem.code),
            (ProblemKind::NotFound, "unknown_revision"),
            "{}",
            told(&problem)
        );
        assert!(problem.hint.is_some());
    }
}

#[tokio::test]
async fn erasure_is_an_event_in_every_fork() {
    let desk = Desk::new().await;
    let (id, entries) = desk.talk(&["one", "a secret"]).await;
    let fork = |title: &str| Fork {
        conversation: id.clone(),
        entry: None,
        title: Some(title.into()),
        request_id: None,
    };
    let child = get!(desk, Receipt, Request::Fork(fork("child"))).conversation;
    let sibling = get!(desk, Receipt, Request::Fork(fork("sibling"))).conversation;
    desk.apply(&sibling, label("t1", "a secret, too")).await;
    let mut before = Vec::new();
    for of in [&id, &child, &sibling] {
        before.push((of, desk.timeline(of).await));
    }
    desk.apply(&child, Action::Erase { entries: vec![], matching: Some("a secret".into()) }).await;
    for (of, (since, then)) in before {
        let changes = changes(&desk, of, since).await;
        let now = desk.timeline(of).await.1;
        assert_eq!(caught_up(&then, &changes), now);
        assert!(now[1].flags.erased && now.iter().all(|entry| entry.label.is_none()), "{now:?}");
    }
    assert_eq!(desk.refused(apply(&sibling, rewind(""))).await.code, "unknown_entry");
    assert_eq!(desk.timeline(&id).await.1[1].id, entries[1]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn page_read_during_writes_is_of_one_revision() {
    let desk = Desk::new().await;
    let (id, _) = desk.talk(&["one"]).await;
    let (client, of) = (Arc::clone(&desk.client), id.clone());
    let talking = tokio::spawn(async move {
        for number in 0..100 {
            client.call(Request::Say(said(&of, Role::User, &number.to_string()))).await.expect("said");
        }
    });
    let mut pages = Vec::new();
    while !talking.is_finished() {
        pages.push(desk.timeline(&id).await);
    }
    talking.await.expect("joined");
    let now = desk.timeline(&id).await.1;
    for (since, then) in pages {
        assert_eq!(caught_up(&then, &changes(&desk, &id, since).await), now, "since {since}");
    }
}
