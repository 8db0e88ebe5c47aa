//! Runs in the store compared with a naive model: random sequences of requests, drivers, steps back, hides, stale writers and
//! crashes, in both backends.

use std::sync::Arc;

use proptest::prelude::*;
use retake_core::{
    Action, Apply, ConversationId, EntryId, Fence, NewConversation, NewRun, PageRequest, Part, Pos,
    Projection, Reading, Reason, Role, Run, RunEffect, RunEnding, RunInput, STALE_AFTER_MS, SayRequest,
    SeenState, Steer, Time, Words, joined_text,
};
use retake_store::{Memory, Store, StoreError, digest};

use crate::kit::{NOW, by, new_id};
use crate::model::Home;

/// The possible actions. Fences and entries are counted back from the newest.
#[derive(Clone, Debug)]
enum Act {
    Words(Steer, Option<usize>),
    Again,
    Ask,
    Claim,
    EndAndClaim,
    Join(u64),
    Beat(u64),
    End(u64),
    Write(u64),
    Cancel,
    Unqueue,
    Rewind(usize),
    Hide(usize),
    Crash,
    Lost,
    Wait,
}

impl Act {
    /// The fence of a writer: sometimes one that is no longer valid.
    fn fence(&self, newest: u64) -> u64 {
        match self {
            Self::Join(age) | Self::Beat(age) | Self::End(age) | Self::Write(age) => {
                newest.saturating_sub(*age)
            }
            _ => newest,
        }
    }
}

fn act() -> impl Strategy<Value = Act> {
    let steer = prop::sample::select(Steer::ALL.to_vec());
    prop_oneof![
        4 => (steer, prop::option::of(0usize..3)).prop_map(|(steer, seen)| Act::Words(steer, seen)),
        1 => Just(Act::Again),
        2 => Just(Act::Ask),
        4 => Just(Act::Claim),
        1 => Just(Act::EndAndClaim),
        2 => (0u64..3).prop_map(Act::Join),
        1 => (0u64..3).prop_map(Act::Beat),
        2 => (0u64..3).prop_map(Act::End),
        4 => (0u64..3).prop_map(Act::Write),
        1 => Just(Act::Cancel),
        1 => Just(Act::Unqueue),
        1 => (0usize..4).prop_map(Act::Rewind),
        1 => (0usize..3).prop_map(Act::Hide),
        1 => Just(Act::Crash),
        1 => Just(Act::Lost),
        1 => Just(Act::Wait),
    ]
}

/// A run in the model.
#[derive(Clone, Debug)]
struct Live {
    no: u64,
    fence: u64,
    owner: u64,
    beat: i64,
    steer: Steer,
    /// Indexes of messages.
    stands_on: Option<usize>,
    words: Vec<String>,
}

/// A message: its text, its id, whether it is hidden.
struct Said(String, EntryId, bool);

/// The store, and its expected state.
struct World {
    home: Home,
    store: Option<Arc<Store>>,
    id: ConversationId,
    said: Vec<Said>,
    /// The path, as indexes of messages.
    path: Vec<usize>,
    running: Option<Live>,
    queued: Option<Live>,
    /// Ended runs: number, state, reason.
    over: Vec<(u64, &'static str, String)>,
    asked: u64,
    fence: u64,
    owner: u64,
    now: i64,
    last_words: Option<String>,
    thought: u64,
}

type Answer = Result<(), &'static str>;

impl World {
    async fn new(home: Home) -> Self {
        let store = home.open();
        let id = ConversationId::new(new_id());
        store.create(NewConversation { id, folder: None, title: None, by: by() }).await.expect("created");
        Self {
            home,
            store: Some(store),
            id,
            said: Vec::new(),
            path: Vec::new(),
            running: None,
            queued: None,
            over: Vec::new(),
            asked: 0,
            fence: 0,
            owner: 0,
            now: NOW.0,
            last_words: None,
            thought: 0,
        }
    }

    fn store(&self) -> &Store {
        self.store.as_deref().expect("open")
    }

    fn time(&self) -> Time {
        Time(self.now)
    }

    /// The end of the scheduling projection.
    fn tail(&self) -> Option<usize> {
        self.path.iter().rev().find(|at| !self.said[**at].2).copied()
    }

    fn ends(&mut self, run: Live, state: &'static str, why: &str) {
        self.over.push((run.no, state, why.to_owned()));
    }

    /// A message or an answer is requested.
    fn enqueues(&mut self, words: Option<String>, steer: Steer, seen: Option<usize>) -> Answer {
        let tail = self.tail();
        match (&mut self.queued, words) {
            (Some(_), None) => return Err("waiting"),
            (Some(queued), Some(words)) => {
                if queued.words.is_empty() {
                    queued.stands_on = seen;
                }
                queued.words.push(words);
                queued.steer = steer;
            }
            (None, words) => {
                self.asked += 1;
                let stands_on = if words.is_some() { seen } else { tail };
                let words = words.into_iter().collect();
                let (no, beat) = (self.asked, self.now);
                self.queued = Some(Live { no, fence: 0, owner: 0, beat, steer, stands_on, words });
            }
        }
        Ok(())
    }

    /// Whether a waiting run may continue: its message goes onto the path, or it is skipped.
    fn goes_on(&mut self, run: &Live) -> bool {
        let why = match run.words.is_empty() {
            true => (run.stands_on != self.tail()).then_some("expected_last_message_mismatch"),
            false => run
                .stands_on
                .is_some_and(|seen| !self.path.contains(&seen))
                .then_some("seen_message_taken_back"),
        };
        if let Some(why) = why {
            self.ends(run.clone(), "skipped", why);
        }
        why.is_none()
    }

    /// A waiting run is claimed; returns the messages that are then said.
    fn claims(&mut self) -> Result<Vec<String>, &'static str> {
        if self.queued.is_none() {
            return Err("nothing queued");
        }
        if let Some(running) = &self.running {
            if self.now - running.beat <= STALE_AFTER_MS {
                return Err("running");
            }
            let running = self.running.take().expect("it runs");
            self.ends(running, "failed", "stale_running_run");
        }
        let mut run = self.queued.take().expect("it waits");
        if !self.goes_on(&run) {
            return Ok(Vec::new());
        }
        self.fence += 1;
        let words = std::mem::take(&mut run.words);
        let (fence, owner, beat, stands_on) = (self.fence, self.owner, self.now, self.tail());
        self.running = Some(Live { fence, owner, beat, stands_on, ..run });
        Ok(words)
    }

    fn joins(&mut self, fence: u64) -> Result<Vec<String>, &'static str> {
        let now = self.now;
        self.runs(fence)?.beat = now;
        let joins = |run: &mut Live| run.steer == Steer::Join && !run.words.is_empty();
        let Some(mut run) = self.queued.take_if(joins) else { return Ok(Vec::new()) };
        if !self.goes_on(&run) {
            return Ok(Vec::new());
        }
        let words = std::mem::take(&mut run.words);
        self.ends(run, "succeeded", "joined");
        Ok(words)
    }

    fn runs(&mut self, fence: u64) -> Result<&mut Live, &'static str> {
        self.running.as_mut().filter(|run| run.fence == fence).ok_or("fenced")
    }

    fn is_over(&mut self, fence: u64) -> Answer {
        self.runs(fence)?;
        let run = self.running.take().expect("it runs");
        self.ends(run, "succeeded", "-");
        let tail = self.tail();
        if let Some(queued) = self.queued.as_mut().filter(|run| run.words.is_empty()) {
            queued.stands_on = tail;
        }
        Ok(())
    }
}

impl World {
    /// The index of a message, from the end of the path.
    fn back(&self, count: usize) -> Option<usize> {
        self.path.iter().rev().nth(count).copied()
    }

    fn pos(&self, at: usize) -> Pos {
        Pos::new(0, at as u64 + 1)
    }

    fn hears(&mut self, text: String, id: EntryId) {
        self.path.push(self.said.len());
        self.said.push(Said(text, id, false));
    }

    /// The inputs of an act.
    fn inputs(&self, act: &Act, words: Option<&String>) -> Vec<RunInput> {
        let (now, fence) = (self.time(), Fence(act.fence(self.fence)));
        let words = words.map(|text| Words {
            parts: vec![Part::text(text.clone())],
            author: "bob".into(),
            request: Some(text.replace(' ', "-").parse().expect("a request id")),
            wording: Some(digest(text).into()),
            time: now,
            chat: None,
        });
        let asks = |steer, seen: Option<usize>| {
            let seen = seen.map(|at| self.pos(at));
            RunInput::Enqueue(NewRun { words: words.clone(), steer, seen, model: None }, now)
        };
        let end = RunInput::End(fence, RunEnding::Succeeded, now);
        match act {
            Act::Words(steer, seen) => vec![asks(*steer, seen.and_then(|count| self.back(count)))],
            Act::Again | Act::Ask => vec![asks(Steer::Queue, None)],
            Act::Claim => vec![RunInput::Claim(now)],
            Act::EndAndClaim => vec![end, RunInput::Claim(now)],
            Act::Join(_) => vec![RunInput::Join(fence, now)],
            Act::Beat(_) => vec![RunInput::Beat(fence, now)],
            Act::End(_) => vec![end],
            Act::Cancel => vec![RunInput::Cancel(now)],
            Act::Unqueue => vec![RunInput::Unqueue(now)],
            _ => vec![RunInput::Lost(now)],
        }
    }

    /// The same in the model; returns the messages that it says.
    fn expects(&mut self, act: &Act, words: Option<String>) -> Result<Vec<String>, &'static str> {
        let fence = act.fence(self.fence);
        match act {
            Act::Words(steer, seen) => {
                let seen = seen.and_then(|count| self.back(count));
                self.enqueues(words, *steer, seen)?;
            }
            // It waits, or was said. Or the same message comes for the first time again, since the waiting one was taken back.
            Act::Again if words.as_ref().is_none_or(|words| self.knows(words)) => {}
            Act::Again | Act::Ask => self.enqueues(words, Steer::Queue, None)?,
            Act::Claim => return self.claims(),
            Act::EndAndClaim => {
                self.is_over(fence)?;
                return self.claims();
            }
            Act::Join(_) => return self.joins(fence),
            Act::Beat(_) => {
                let now = self.now;
                self.runs(fence)?.beat = now;
            }
            Act::End(_) => self.is_over(fence)?,
            Act::Cancel => drop(self.running.as_ref().ok_or("nothing runs")?),
            Act::Unqueue => {
                let run = self.queued.take().ok_or("nothing queued")?;
                self.ends(run, "canceled", "unqueued");
            }
            _ => {
                let owner = self.owner;
                if let Some(run) = self.running.take_if(|run| run.owner != owner) {
                    self.ends(run, "failed", "owner_lost");
                }
            }
        }
        Ok(Vec::new())
    }

    /// Whether a message was said, or waits.
    fn knows(&self, words: &String) -> bool {
        let waits = self.queued.as_ref().is_some_and(|run| run.words.contains(words));
        waits || self.said.iter().any(|said| said.0 == *words)
    }

    async fn steps(&mut self, act: &Act) {
        let words = match act {
            Act::Words(..) => {
                self.thought += 1;
                self.last_words = Some(format!("words {}", self.thought));
                self.last_words.clone()
            }
            Act::Again => match self.last_words.clone() {
                Some(words) => Some(words),
                None => return,
            },
            _ => None,
        };
        let inputs = self.inputs(act, words.as_ref());
        let before = (self.running.clone(), self.queued.clone(), self.over.len());
        let expected = self.expects(act, words);
        let got = self.store().step_runs(self.id, inputs).await;
        match (expected, got) {
            (Ok(said), Ok(stepped)) => {
                let texts = stepped.effects.iter().filter_map(|effect| match effect {
                    RunEffect::Say(words) => Some(joined_text(&words.parts)),
                    _ => None,
                });
                assert_eq!(texts.collect::<Vec<_>>(), said, "{act:?}");
                for (text, receipt) in said.into_iter().zip(&stepped.said) {
                    self.hears(text, receipt.entries[0]);
                }
            }
            (Err(_), Err(StoreError::Runs(_))) => {
                (self.running, self.queued) = {
                    self.over.truncate(before.2);
                    (before.0, before.1)
                }
            }
            (expected, got) => panic!("{act:?}: {expected:?} and {got:?}"),
        }
    }

    /// A write with a claim, which may be lost.
    async fn writes(&mut self, fence: u64) {
        self.thought += 1;
        let (text, id) = (format!("answer {}", self.thought), EntryId::new(new_id()));
        let say = SayRequest {
            fence: Some(Fence(fence)),
            ..SayRequest::new(id, Role::Assistant, vec![Part::text(text.clone())], by())
        };
        match (self.runs(fence).is_ok(), self.store().say(self.id, say).await) {
            (true, Ok(_)) => self.hears(text, id),
            (false, Err(StoreError::Runs(_))) => {}
            (may, got) => panic!("with {fence}, {may}: {got:?}"),
        }
    }

    async fn applies(&self, action: Action) {
        let apply = Apply { action, seen: SeenState::Anything, by: by() };
        self.store().apply(self.id, apply).await.expect("applied");
    }

    /// A step back to before a visible message.
    async fn rewinds(&mut self, count: usize) {
        let Some(at) = self.back(count).filter(|at| !self.said[*at].2) else { return };
        self.applies(Action::Rewind(self.said[at].1)).await;
        let keep = self.path.iter().position(|other| *other == at).expect("on the path");
        self.path.truncate(keep);
        if let Some(run) = self.running.take() {
            self.ends(run, "canceled", "rewound");
        }
        let path = &self.path;
        let gone = |run: &mut Live| run.stands_on.is_some_and(|at| !path.contains(&at));
        if let Some(run) = self.queued.take_if(gone) {
            self.ends(run, "canceled", "rewound");
        }
    }

    async fn hides(&mut self, count: usize) {
        let Some(at) = self.back(count).filter(|at| !self.said[*at].2) else { return };
        let entries = vec![self.said[at].1];
        self.applies(Action::Mark { verb: Reason::Hide, entries, range: false, seen: None }).await;
        self.said[at].2 = true;
        if let Some(run) = self.running.take_if(|run| run.stands_on == Some(at)) {
            self.ends(run, "canceled", "message_hidden");
        }
    }

    async fn act(&mut self, act: &Act) {
        self.now += 1;
        match act {
            Act::Write(_) => self.writes(act.fence(self.fence)).await,
            Act::Rewind(count) => self.rewinds(*count).await,
            Act::Hide(count) => self.hides(*count).await,
            Act::Crash => {
                drop(self.store.take());
                self.store = Some(self.home.open());
                self.owner += 1;
            }
            Act::Wait => self.now += STALE_AFTER_MS,
            _ => self.steps(act).await,
        }
    }

    /// The store equals the model.
    async fn agrees(&self, act: &Act) {
        let mut expected = self.over.clone();
        expected.extend(self.running.iter().map(|run| (run.no, "running", "-".to_owned())));
        expected.extend(self.queued.iter().map(|run| (run.no, "queued", "-".to_owned())));
        expected.sort();
        let runs = self.store().runs(self.id, usize::MAX).await.expect("runs");
        let told = |run: &Run| (run.no.0, run.state.name(), run.error.clone().unwrap_or("-".into()));
        assert_eq!(runs.iter().rev().map(told).collect::<Vec<_>>(), expected, "{act:?}");
        let live = self.store().live_runs().await.expect("runs");
        assert_eq!(live.len(), usize::from(self.running.is_some()) + usize::from(self.queued.is_some()));
        let waiting = live.iter().flat_map(|(_, run)| &run.words).map(|words| joined_text(&words.parts));
        let expected = self.queued.iter().flat_map(|run| run.words.clone());
        assert_eq!(waiting.collect::<Vec<_>>(), expected.collect::<Vec<_>>(), "{act:?}");
        let reading = Reading::now(Projection::Timeline);
        let page = PageRequest { limit: 1000, ..PageRequest::default() };
        let page = self.store().page(self.id, reading, page).await.expect("a page");
        let shown = page.entries.iter().map(|shown| joined_text(&shown.entry.as_ref().expect("sound").parts));
        let shows =
            self.path.iter().map(|at| &self.said[*at]).filter(|said| !said.2).map(|said| said.0.clone());
        assert_eq!(shown.collect::<Vec<_>>(), shows.collect::<Vec<_>>(), "{act:?}");
    }
}

fn run(home: Home, acts: &[Act]) {
    let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
    runtime.block_on(async {
        let mut world = World::new(home).await;
        for act in acts {
            world.act(act).await;
            world.agrees(act).await;
        }
    });
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn memory_holds_runs_as_a_naive_model_does(acts in prop::collection::vec(act(), 0..50)) {
        run(Home::Memory(Memory::new()), &acts);
    }

    #[test]
    fn sqlite_holds_runs_as_a_naive_model_does(acts in prop::collection::vec(act(), 0..50)) {
        run(Home::sqlite(), &acts);
    }
}
