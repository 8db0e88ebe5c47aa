//! The cost of an operation must not depend on the length of the conversation. Counted here, never timed: the
//! benchmark measures times.

mod facts;
mod folds;
mod large_steps;
mod targets;
mod turns;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use retake_core::{
    Action, Apply, ChangeOrigin, ConversationId, EntryId, NewConversation, NewFork, PageRequest, Part,
    Projection, Reading, Reason, Role, SayRequest, SeenState,
};
use retake_store::{ActionContextRequest, Sqlite, Store, Work};
use tempfile::TempDir;
use tokio::task::JoinSet;
use uuid::Uuid;

use crate::kit::{NOW, by};

/// The short conversation.
const SHORT: u64 = 100;
/// The long one, unless the environment sets its length, as `cargo xtask long` does.
const LONG: u64 = 20_000;
/// The measured operations.
const VERBS: [&str; 8] = ["rewind", "branch", "undo", "fork", "hide", "plan", "outlook", "targets"];
/// The variable with that length.
const LONG_VARIABLE: &str = "RETAKE_SCALE_ENTRIES";
/// Bytes of a page in the write-ahead log: its own and a header.
const FRAME: u64 = 4096 + 24;

fn entry_id(seq: u64) -> EntryId {
    EntryId::new(Uuid::from_u128(1 << 64 | u128::from(seq)))
}

fn conversation() -> ConversationId {
    ConversationId::new(Uuid::from_u128(2 << 64))
}

/// A store with one conversation, newly opened: nothing of it is in memory, and its log is empty.
struct Stage {
    store: Arc<Store>,
    work: Arc<Work>,
    commits: Arc<AtomicU64>,
    entries: u64,
    dir: TempDir,
    forks: u64,
}

impl Stage {
    async fn with_entries(entries: u64) -> Self {
        Self::with(entries, say).await
    }

    /// With entries made by this function.
    async fn with(entries: u64, say: fn(u64) -> SayRequest) -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let (store, ..) = open(dir.path());
        let new = NewConversation { id: conversation(), folder: None, title: None, by: by() };
        store.create(new).await.expect("created");
        let seqs: Vec<u64> = (1..=entries).collect();
        for batch in seqs.chunks(5000) {
            let says = batch.iter().map(|seq| say(*seq)).collect();
            store.say_all(conversation(), says).await.expect("said");
        }
        drop(store);
        let (store, work, commits) = open(dir.path());
        Self { store, work, commits, entries, dir, forks: 0 }
    }

    async fn act(&self, action: Action) {
        let apply = Apply { action, seen: SeenState::Anything, by: by() };
        let receipt = self.store.apply(conversation(), apply).await.expect("applied");
        assert!(!receipt.unchanged);
    }

    async fn run(&mut self, verb: &str, number: u64) {
        let middle = entry_id((self.entries / 2) | 1);
        match verb {
            "rewind" => self.act(Action::Rewind(middle)).await,
            "undo" => self.act(Action::Undo(1)).await,
            "branch" => {
                // The branch that the rewind took off the path.
                let leaf = Some(entry_id(self.entries));
                let reading = Reading { branch: leaf, ..Reading::now(Projection::Timeline) };
                let page = PageRequest { limit: 20, ..PageRequest::default() };
                let page = self.store.page(conversation(), reading, page).await.expect("a page");
                assert_eq!(page.entries.last().map(|shown| shown.pos.seq), Some(self.entries));
                assert_eq!(page.entries.len(), 20);
            }
            "hide" => self.act(hide(self.entries / 2 + 2 * number)).await,
            "fork" => {
                self.forks += 1;
                let id = ConversationId::new(Uuid::from_u128(3 << 64 | u128::from(self.forks)));
                let fork = NewFork { parent: conversation(), id, entry: None, title: None, by: by() };
                self.store.fork(fork).await.expect("forked");
            }
            "plan" => {
                let planned = self.store.plan(conversation(), Action::Rewind(middle)).await.expect("planned");
                assert!(!planned.unchanged);
            }
            "outlook" => {
                let action = Some(Action::Rewind(middle));
                let of = ActionContextRequest { action, facts: "job/".into(), said: "unseen".into() };
                let outlook = self.store.action_context(conversation(), of).await.expect("an outlook");
                assert_eq!((outlook.facts, outlook.said), (None, Vec::new()), "nothing is known");
            }
            _ => {
                let targets = self.store.targets(conversation(), None, 20).await.expect("targets");
                assert_eq!(targets.len(), 20);
            }
        }
    }

    /// Pages written so far.
    fn pages_written(&self) -> u64 {
        std::fs::metadata(self.dir.path().join("retake.db-wal")).expect("a log").len() / FRAME
    }

    /// Used bytes of the file, including its log.
    fn bytes(&self) -> u64 {
        let db = rusqlite::Connection::open(self.dir.path().join("retake.db")).expect("the file");
        let number = |pragma: &str| db.query_row(pragma, [], |row| row.get::<_, u32>(0)).expect("a number");
        let number = |pragma: &str| u64::from(number(pragma));
        (number("PRAGMA page_count") - number("PRAGMA freelist_count")) * number("PRAGMA page_size")
    }

    /// Statements, rows, steps and written pages of each operation, except the first of its kind.
    async fn costs(&mut self) -> Vec<(&'static str, [u64; 4])> {
        let mut costs = Vec::new();
        for number in 0..2 {
            costs.clear();
            for verb in VERBS {
                let (before, pages) = (self.work.counts(), self.pages_written());
                self.run(verb, number).await;
                let after = self.work.counts();
                let [statements, rows, steps] = [0, 1, 2].map(|count| after[count] - before[count]);
                costs.push((verb, [statements, rows, steps, self.pages_written() - pages]));
            }
        }
        costs
    }
}

fn open(dir: &Path) -> (Arc<Store>, Arc<Work>, Arc<AtomicU64>) {
    let mut opened = Sqlite::open(dir, NOW, Duration::ZERO).expect("opened");
    let (work, commits) = (Arc::<Work>::default(), Arc::<AtomicU64>::default());
    opened.writer.count_commits(&commits).expect("watched");
    opened.writer.count_work(&work).expect("watched");
    opened.readers.count_work(&work).expect("watched");
    (Arc::new(Store::start(opened.readers, opened.writer).expect("started")), work, commits)
}

fn say(seq: u64) -> SayRequest {
    SayRequest::new(
        entry_id(seq),
        if seq % 2 == 1 { Role::User } else { Role::Assistant },
        vec![Part::Text(format!("message {seq}"))],
        ChangeOrigin { author: "ann".into(), ..by() },
    )
}

fn hide(seq: u64) -> Action {
    Action::Mark { verb: Reason::Hide, entries: vec![entry_id(seq)], range: false, seen: None }
}

fn long() -> u64 {
    std::env::var(LONG_VARIABLE).map_or(LONG, |length| length.parse().expect("a number of entries"))
}

#[tokio::test]
async fn store_case_26_an_operation_costs_the_same_in_a_long_conversation() {
    let mut short = Stage::with_entries(SHORT).await;
    let mut long = Stage::with_entries(long()).await;
    for ((verb, few), (_, many)) in short.costs().await.into_iter().zip(long.costs().await) {
        let [statements, rows, steps, pages] = few;
        assert_eq!(many[..2], [statements, rows], "{verb}: statements and rows, {few:?} and {many:?}");
        assert!(many[2] <= steps + steps / 10, "{verb}: steps, {few:?} and {many:?}");
        assert!(many[3] <= pages + 1, "{verb}: pages written, {few:?} and {many:?}");
        assert!(rows < 100 && pages < 10, "{verb}: {few:?}");
    }
}

/// Each connection keeps its prepared statements: no statement text is parsed twice.
#[tokio::test]
async fn prepared_statements_are_kept() {
    let mut stage = Stage::with_entries(SHORT).await;
    let mut prepared = Vec::new();
    for number in 0..3 {
        for verb in VERBS {
            stage.run(verb, number).await;
        }
        prepared.push(stage.work.prepared());
    }
    assert!(prepared[0] > 0, "it is counted");
    assert_eq!(prepared[2], prepared[1]);
}

#[tokio::test]
async fn store_case_26_an_operation_adds_less_than_a_kilobyte() {
    const OPERATIONS: u64 = 100;
    let mut stage = Stage::with_entries(1000).await;
    for verbs in [&["rewind", "undo"][..], &["fork"], &["hide"]] {
        let before = stage.bytes();
        for number in 0..OPERATIONS {
            for verb in verbs {
                stage.run(verb, number).await;
            }
        }
        let each = (stage.bytes() - before) / (OPERATIONS * verbs.len() as u64);
        assert!(each < 1000, "{verbs:?}: {each} bytes");
    }
}

#[tokio::test]
async fn store_case_26_ten_thousand_hides_of_alternating_messages() {
    const HIDES: u64 = 10_000;
    let stage = Stage::with_entries(2 * HIDES).await;
    let before = stage.bytes();
    let mut hides = JoinSet::new();
    for seq in (1..=HIDES).map(|number| 2 * number) {
        let store = Arc::clone(&stage.store);
        let apply = Apply { action: hide(seq), seen: SeenState::Anything, by: by() };
        hides.spawn(async move { store.apply(conversation(), apply).await.map(drop) });
    }
    while let Some(hidden) = hides.join_next().await {
        hidden.expect("no panic").expect("hidden");
    }
    let bytes = stage.bytes() - before;
    assert!(bytes < 2_000_000, "{bytes} bytes");
    let summary = stage.store.summary(conversation()).await.expect("a summary");
    assert_eq!(summary.counts.messages, HIDES);
}
