//! Random interleavings: several people start runs, steer, stop, rewind and restore at the same time. Owners are lost in between,
//! and wake up later. Two runs are never active, no prompt is lost, nothing is written after a lost claim, and nothing is stuck.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::StreamExt;
use futures::stream::BoxStream;
use retake_core::{
    Action, Apply, ConversationId, Mode, Part, Pos, Receipt, RunState, SeenState, Steer, joined_text,
};
use retake_engine::model::{Model, ModelError, ModelErrorKind, ModelInfo, Prompt};
use retake_engine::{
    Ended, Engine, EngineError, FileOptions, Notice, Outcome, Permit, RunEvent, RunRequest, Start,
};
use retake_store::{Memory, Store};
use retake_tools::ShellConfig;
use serde_json::json;
use tempfile::TempDir;
use tokio::task::JoinHandle;

use retake_testkit::SingleModelCatalogue;

use super::{ModelOutput, calls, engine_with, words};

/// The number of cases; each uses its number as its seed.
const CASES: u64 = 160;
/// Cases that run at the same time: people mostly think.
const AT_ONCE: usize = 8;
/// Owners per case: all but the last are lost.
const OWNERS: u64 = 3;
/// People who act at the same time.
const PEOPLE: u64 = 3;
/// Actions of each person per owner.
const ACTS: usize = 7;

/// Time limit until waiting messages are sent.
const TAKEN_UP: Duration = Duration::from_secs(10);

/// A random model: it answers, calls a tool, fails, or says nothing until it is stopped.
struct Dice {
    owner: u64,
    chance: Mutex<fastrand::Rng>,
    asked: AtomicUsize,
    at_work: Arc<AtomicUsize>,
    two_ran: AtomicBool,
    /// Whether it only answers from now on.
    tame: AtomicBool,
}

/// Counts an active answer.
struct AtWork(Arc<AtomicUsize>);

impl Drop for AtWork {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Model for Dice {
    fn name(&self) -> &str {
        "test/dice"
    }

    fn info(&self) -> ModelInfo {
        ModelInfo::default()
    }

    fn stream(&self, _: Prompt) -> BoxStream<'static, ModelOutput> {
        if self.at_work.fetch_add(1, Ordering::SeqCst) > 0 {
            self.two_ran.store(true, Ordering::SeqCst);
        }
        let number = self.asked.fetch_add(1, Ordering::SeqCst);
        let at_work = AtWork(Arc::clone(&self.at_work));
        let said = words(&format!("answer {}.{number}", self.owner));
        let mut chance = self.chance.lock().expect("sound");
        let (throw, pause) = (chance.u8(0..10), chance.u64(0..8));
        let answer: Vec<ModelOutput> = match throw {
            _ if self.tame.load(Ordering::SeqCst) => said,
            0..4 => said,
            4..7 => calls(&[("mail", json!({"to": format!("{}.{number}", self.owner)}))]),
            7 => vec![Err(failed())],
            8 => said.into_iter().take(1).chain([Err(failed())]).collect(),
            _ => return futures::stream::pending().map(move |chunk| (&at_work, chunk).1).boxed(),
        };
        let paused = tokio::time::sleep(Duration::from_millis(pause));
        let chunks = async move {
            paused.await;
            futures::stream::iter(answer).map(move |chunk| (&at_work, chunk).1)
        };
        futures::stream::once(chunks).flatten().boxed()
    }
}

fn failed() -> ModelError {
    ModelError::new(ModelErrorKind::Cut, "test/dice")
}

/// The knowledge of the people.
#[derive(Default)]
struct KnownPath {
    /// Accepted messages, each with its owner.
    accepted: BTreeMap<String, u64>,
    /// Messages that came back.
    back: BTreeSet<String>,
    /// Number of messages so far.
    thought: u64,
    /// Steps back during a run: the number of answers requested by then, and the end of the log.
    under: Vec<(u64, usize, u64)>,
    /// Violations.
    faults: Vec<String>,
}

/// An owner of the store.
#[derive(Clone)]
struct Owner {
    number: u64,
    engine: Arc<Engine>,
    store: Arc<Store>,
    dice: Arc<Dice>,
    id: ConversationId,
    known: Arc<Mutex<KnownPath>>,
    lost: Arc<AtomicBool>,
}

impl Owner {
    async fn new(memory: &Memory, dir: &TempDir, number: u64, case: u64, before: Option<&Self>) -> Self {
        let store = Arc::new(Store::start(memory.clone(), memory.writer()).expect("started"));
        let dice = Arc::new(Dice {
            owner: number,
            chance: Mutex::new(fastrand::Rng::with_seed(case << 8 | number)),
            asked: AtomicUsize::new(0),
            at_work: Arc::default(),
            two_ran: AtomicBool::new(false),
            tame: AtomicBool::new(false),
        });
        let models = Arc::new(SingleModelCatalogue(Arc::clone(&dice)));
        let engine = engine_with(&store, dir, models, Mode::AllowAll, ShellConfig::default()).await;
        let (id, known) = match before {
            Some(before) => (before.id, Arc::clone(&before.known)),
            None => {
                let made = engine.create(None, None, engine.by(None)).await.expect("created");
                (made.conversation, Arc::default())
            }
        };
        Self { number, engine, store, dice, id, known, lost: Arc::default() }
    }

    fn known(&self) -> std::sync::MutexGuard<'_, KnownPath> {
        self.known.lock().expect("sound")
    }

    fn fault(&self, what: String) {
        self.known().faults.push(what);
    }

    /// A new message.
    fn thought(&self) -> String {
        let mut known = self.known();
        known.thought += 1;
        format!("words {}", known.thought)
    }

    fn came_back(&self, words: &[retake_core::Words]) {
        self.known().back.extend(words.iter().map(|words| joined_text(&words.parts)));
    }

    /// Starts a run with a person's message; its events are followed concurrently.
    async fn starts(
        &self,
        start: Start,
        text: Option<String>,
        steer: Option<Steer>,
    ) -> Option<JoinHandle<()>> {
        let request = RunRequest {
            start,
            model: None,
            steer,
            permit: Permit::default(),
            files: FileOptions::default(),
            seen: SeenState::Anything,
            by: self.engine.by(None),
        };
        let events = match self.engine.run(self.id, request).await {
            Ok(events) => events,
            Err(error) => {
                self.not_sent(error.notices);
                return None;
            }
        };
        if let Some(text) = &text {
            self.known().accepted.insert(text.clone(), self.number);
        }
        let owner = self.clone();
        Some(tokio::spawn(async move {
            if !owner.followed(events, text.as_deref()).await && !owner.lost.load(Ordering::SeqCst) {
                owner.fault(format!("nobody told the end of {text:?}"));
            }
        }))
    }

    /// Follows a run; returns whether its end was reported.
    async fn followed(&self, mut events: BoxStream<'static, RunEvent>, text: Option<&str>) -> bool {
        while let Some(event) = events.next().await {
            match event {
                RunEvent::Started(Some(receipt), ..) => self.is_of(&receipt, text).await,
                RunEvent::Notice(notice) => self.not_sent(vec![notice]),
                RunEvent::Ended(ended) => {
                    self.ended(ended, text).await;
                    return true;
                }
                _ => {}
            }
        }
        false
    }

    /// The messages that were not sent, according to notices.
    fn not_sent(&self, notices: Vec<Notice>) {
        let messages = notices.into_iter().filter_map(|notice| match notice {
            Notice::NotSent(messages) => Some(messages),
            _ => None,
        });
        self.known().back.extend(messages.flatten());
    }

    async fn ended(&self, ended: Ended, text: Option<&str>) {
        if ended.outcome == Outcome::Joined {
            self.is_of(&ended.receipt.expect("what was said"), text).await;
        }
        let code = ended.error.as_ref().map(|error: &EngineError| error.code);
        if let (Some("skipped" | "unqueued"), Some(text)) = (code, text) {
            self.known().back.insert(text.to_owned());
        }
    }

    /// A sender gets the receipt of their own message, not of another one.
    async fn is_of(&self, receipt: &Receipt, text: Option<&str>) {
        let (Some(entry), Some(text)) = (receipt.entries.first(), text) else { return };
        let Ok(parts) = self.store.content(self.id, *entry).await else { return };
        if joined_text(&parts) != text {
            self.fault(format!("who said {text:?} hears of {:?}", joined_text(&parts)));
        }
    }

    async fn says(&self, chance: &mut fastrand::Rng) -> Option<JoinHandle<()>> {
        let text = self.thought();
        let seen = match chance.bool() {
            true => self.store.answering(self.id).await.ok()?.tip,
            false => None,
        };
        let seen = match seen {
            Some(seen) => self.store.entry_id(self.id, seen).await.ok(),
            None => None,
        };
        let steer = [None, Some(Steer::Queue), Some(Steer::Join), Some(Steer::Interrupt)][chance.usize(0..4)];
        self.starts(Start::Say(vec![Part::text(text.clone())], seen), Some(text), steer).await
    }

    /// Rewinds, undoes or redoes, as people do.
    async fn moves(&self, action: Action, stop: bool) {
        let apply = Apply { action, seen: SeenState::Anything, by: self.engine.by(None) };
        let options = FileOptions { stop, ..FileOptions::default() };
        match self.engine.apply_both(self.id, apply, options).await {
            Ok(applied) => self.came_back(&applied.waited),
            Err(error) => self.not_sent(error.notices),
        }
    }

    /// A step back that waits for nobody: the active run has lost its claim.
    async fn moves_under(&self) {
        let asked = self.dice.asked.load(Ordering::SeqCst);
        // Runs that were over before are reported elsewhere.
        let before = self.store.runs(self.id, usize::MAX).await.unwrap_or_default();
        let live = |no| before.iter().all(|run| run.no != no || !run.state.is_over());
        let apply = Apply { action: Action::Undo(1), seen: SeenState::Anything, by: self.engine.by(None) };
        let Ok(receipt) = self.store.apply(self.id, apply).await else { return };
        if !receipt.unchanged {
            self.known().under.push((self.number, asked, receipt.head.seq.0));
        }
        for run in self.store.runs(self.id, usize::MAX).await.unwrap_or_default() {
            if run.state == RunState::Canceled && live(run.no) {
                self.came_back(&run.words);
            }
        }
    }

    async fn act(&self, chance: &mut fastrand::Rng) -> Option<JoinHandle<()>> {
        let turn = format!("t{}", chance.u8(1..4));
        let stop = chance.bool();
        match chance.u8(0..16) {
            0..6 => return self.says(chance).await,
            6 => drop(self.engine.cancel(self.id)),
            7 => {
                if let Ok(words) = self.engine.unqueue(self.id).await {
                    self.came_back(&words);
                }
            }
            8 => {
                let entry = self.engine.entry(self.id, &turn).await.ok()?;
                self.moves(Action::Rewind(entry), stop).await;
            }
            9..11 => self.moves(Action::Undo(1), stop).await,
            11 => self.moves(Action::Redo(1), stop).await,
            12 => {
                let (entry, text) = (self.engine.entry(self.id, &turn).await.ok()?, self.thought());
                let start = Start::Edit(entry, vec![Part::text(text.clone())]);
                return self.starts(start, Some(text), None).await;
            }
            13 => {
                let tip = self.store.answering(self.id).await.ok()?.tip?;
                let entry = self.store.entry_id(self.id, tip).await.ok()?;
                return self.starts(Start::Retry(entry), None, None).await;
            }
            _ => self.moves_under().await,
        }
        None
    }

    /// A person who does random things, and then follows the runs to their end.
    async fn person(self, seed: u64) -> Vec<JoinHandle<()>> {
        let mut chance = fastrand::Rng::with_seed(seed);
        let mut followers = Vec::new();
        for _ in 0..ACTS {
            followers.extend(self.act(&mut chance).await);
            // So that runs advance by random amounts.
            tokio::time::sleep(Duration::from_millis(chance.u64(0..30))).await;
        }
        followers
    }

    /// All messages, in the order of the log.
    async fn log(&self) -> Vec<String> {
        let last = self.store.summary(self.id).await.expect("it").head.seq.0;
        let mut log = Vec::new();
        for seq in 1..=last {
            let id = self.store.entry_id(self.id, Pos::new(0, seq)).await.expect("an entry");
            let parts = self.store.content(self.id, id).await.expect("kept");
            log.push(joined_text(&parts));
        }
        log
    }

    /// Waiting messages of this owner.
    async fn own_waiting(&self) -> Option<String> {
        let waiting = self.engine.waiting(self.id).await.expect("read");
        let mut waiting = waiting.iter().map(|words| joined_text(&words.parts));
        waiting.find(|words| self.known().accepted.get(words) == Some(&self.number))
    }

    /// Ends active runs, and lets waiting messages be answered.
    async fn settles(&self) {
        self.dice.tame.store(true, Ordering::SeqCst);
        while self.engine.is_running(self.id) {
            self.engine.cancel(self.id);
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        // The task that sends a waiting message may still be about to start.
        let taken_up = async {
            while self.own_waiting().await.is_some() {
                self.engine.cancel(self.id);
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        };
        if tokio::time::timeout(TAKEN_UP, taken_up).await.is_err() {
            self.fault(format!("nobody takes up {:?}", self.own_waiting().await));
        }
        let start = Start::Say(vec![Part::text("words at last")], None);
        let follower = self.starts(start, Some("words at last".into()), Some(Steer::Queue)).await;
        follower.expect("it goes on").await.expect("no panic");
        while self.engine.is_running(self.id) || !self.store.live_runs().await.expect("runs").is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }
}

/// Runs one case; returns the violations.
async fn case(case: u64) -> Vec<String> {
    let dir = tempfile::tempdir().expect("a folder");
    let memory = Memory::new();
    let mut owner = Owner::new(&memory, &dir, 0, case, None).await;
    let mut lost: Vec<(u64, u64)> = Vec::new();
    let (mut people, mut owners) = (Vec::new(), Vec::new());
    for number in 1..=OWNERS {
        let acts = (0..PEOPLE).map(|person| owner.clone().person(case << 16 | number << 8 | person));
        let acts: Vec<_> = acts.map(tokio::spawn).collect();
        owners.push(owner.clone());
        if number == OWNERS {
            people.extend(acts);
            break;
        }
        tokio::time::sleep(Duration::from_millis(case % 7 * 15)).await;
        owner.lost.store(true, Ordering::SeqCst);
        people.extend(acts);
        let next = Owner::new(&memory, &dir, number, case, Some(&owner)).await;
        lost.push((owner.number, next.store.summary(next.id).await.expect("it").head.seq.0));
        owner = next;
    }
    let mut followers = Vec::new();
    for person in people {
        followers.extend(person.await.expect("no panic"));
    }
    owner.settles().await;
    judged(&owner, &owners, &lost).await
}

/// Returns the violations.
async fn judged(owner: &Owner, owners: &[Owner], lost: &[(u64, u64)]) -> Vec<String> {
    let log = owner.log().await;
    let runs = owner.store.runs(owner.id, usize::MAX).await.expect("runs");
    let mut known = owner.known();
    let mut faults = std::mem::take(&mut known.faults);
    faults.extend(
        owners
            .iter()
            .filter(|it| it.dice.two_ran.load(Ordering::SeqCst))
            .map(|it| format!("two ran: {}", it.number)),
    );
    for text in known.accepted.keys() {
        let said = log.iter().filter(|said| *said == text).count();
        let back = usize::from(known.back.contains(text));
        if said + back != 1 {
            let by = known.accepted[text];
            let with =
                runs.iter().filter(|run| run.words.iter().any(|words| joined_text(&words.parts) == *text));
            let with: Vec<_> = with.map(|run| (run.no.0, run.state, run.error.clone())).collect();
            faults.push(format!(
                "{text:?}, of owner {by}, was said {said} times, and came back {back} times: {with:?} of {}",
                runs.len()
            ));
        }
    }
    for (seq, text) in (1..).zip(&log) {
        let Some((by, number)) = text.strip_prefix("answer ").and_then(|tag| tag.split_once('.')) else {
            continue;
        };
        let (by, number): (u64, usize) = (by.parse().expect("a number"), number.parse().expect("a number"));
        let fenced = |(of, asked, end): &(u64, usize, u64)| *of == by && number < *asked && seq > *end;
        if lost.iter().any(|(of, end)| *of == by && seq > *end) || known.under.iter().any(fenced) {
            faults.push(format!("{text:?} was written too late"));
        }
    }
    faults
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn never_two_no_lost_prompt_no_write_after_a_fence_no_stuck_state() {
    let judge = |number| async move {
        let faults = tokio::time::timeout(Duration::from_secs(30), case(number)).await;
        (number, faults.unwrap_or_else(|_| vec!["stuck".to_owned()]))
    };
    let mut cases = futures::stream::iter((0..CASES).map(judge)).buffer_unordered(AT_ONCE);
    while let Some((number, faults)) = cases.next().await {
        assert_eq!(faults, Vec::<String>::new(), "case {number}");
    }
}
