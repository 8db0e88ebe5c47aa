//! A step over many files is written in several transactions, and decided in one. If an owner ends between any two of them, all
//! of the step is left, or nothing.

use std::path::Path;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::task::{Context, Wake, Waker};
use std::time::Duration;

use retake_core::{
    Action, Apply, ContentHash, FileChange, FilePath, Grade, Part, PathMove, Receipt, Record, Role,
    SeenState, Stack, Time, WorkspaceNo,
};
use retake_store::conformance::Stage;
use retake_store::{FilesHalf, NewDelta, Result, Sqlite, Store, StoreError};

use crate::kit::{NOW, by};

/// More than one batch.
const FILES: usize = 1500;

fn open(dir: &Path) -> Arc<Store> {
    let opened = Sqlite::open(dir, NOW, Duration::ZERO).expect("opened");
    Arc::new(Store::start(opened.readers, opened.writer).expect("started"))
}

fn made(no: usize) -> FileChange {
    let record = Record::File { hash: ContentHash([7; 32]), len: 1, mode: 0o644 };
    let path = FilePath::new(format!("d/f{no}").as_bytes()).expect("a path");
    FileChange { path, before: None, after: Some(record) }
}

/// A copy of a store's folder, without an owner.
fn copy(from: &Path) -> tempfile::TempDir {
    let to = tempfile::tempdir().expect("a directory");
    for name in ["retake.db", "retake.db-wal"] {
        if from.join(name).exists() {
            std::fs::copy(from.join(name), to.path().join(name)).expect("copied");
        }
    }
    to
}

/// Signals that a future can continue.
#[derive(Default)]
struct Woken(Mutex<bool>, Condvar);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        *self.0.lock().expect("no panic inside") = true;
        self.1.notify_all();
    }
}

impl Woken {
    fn wait(&self) {
        let woken = self.0.lock().expect("no panic inside");
        let (mut woken, timeout) = self
            .1
            .wait_timeout_while(woken, Duration::from_secs(60), |woken| !*woken)
            .expect("no panic inside");
        assert!(!timeout.timed_out(), "nobody wakes it");
        *woken = false;
    }
}

/// Polls a future this often; returns whether it is complete.
fn go_on<F: Future>(mut future: Pin<&mut F>, times: usize) -> bool {
    let woken = Arc::<Woken>::default();
    let waker = Waker::from(Arc::clone(&woken));
    for _ in 0..times {
        if future.as_mut().poll(&mut Context::from_waker(&waker)).is_ready() {
            return true;
        }
        woken.wait();
    }
    false
}

struct Prepared {
    stage: Stage,
    workspace: WorkspaceNo,
    changes: Vec<FileChange>,
    dir: tempfile::TempDir,
}

impl Prepared {
    async fn new() -> Self {
        let dir = tempfile::tempdir().expect("a directory");
        let stage = Stage::with_turns(open(dir.path()), &["one", "two"]).await;
        let workspace = stage.store.workspace(b"/work".to_vec(), (1, 2), Time(7)).await.expect("made").no;
        let changes: Vec<FileChange> = (0..FILES).map(made).collect();
        let prepared = Self { stage, workspace, changes, dir };
        prepared.changed(&prepared.changes).await;
        prepared.stage.store.preparing(workspace, ".retake-1".into()).await.expect("prepared");
        prepared
    }

    async fn changed(&self, changes: &[FileChange]) {
        let changes = changes.iter().map(|change| (Grade::Seen, change.clone())).collect();
        let (workspace, mark) = (self.workspace, ContentHash([7; 32]));
        let delta = NewDelta::new(workspace, changes, mark);
        let say = self.stage.saying(Role::Assistant, vec![Part::text("done")]);
        self.stage.store.say_changed(self.stage.id, say, vec![delta]).await.expect("said");
    }

    async fn stacks(&self, store: &Store) -> Vec<(FilePath, Stack)> {
        let paths = self.changes.iter().map(|change| change.path.clone()).collect();
        store.layers(self.stage.id, self.workspace, paths).await.expect("layers")
    }

    /// The common number of layers of all paths.
    async fn layers(&self, store: &Store) -> usize {
        let counts: std::collections::BTreeSet<usize> =
            self.stacks(store).await.iter().map(|(_, stack)| stack.layers().len()).collect();
        assert_eq!(counts.len(), 1, "all or nothing: {counts:?}");
        counts.into_iter().next().expect("one")
    }

    async fn rewind(&self, store: &Store) {
        self.apply(store).await.expect("rewound");
        store.settle(self.workspace).await.expect("settled");
    }

    async fn apply(&self, store: &Store) -> Result<Receipt> {
        let stacks = self.stacks(store).await.into_iter();
        let moves = stacks.zip(&self.changes).map(|((_, stack_before), change)| PathMove {
            change: change.inverse(),
            stack_before,
            stack_after: Stack::default(),
        });
        let half = FilesHalf {
            workspace: self.workspace,
            moves: moves.collect(),
            staged: true,
            adopted: Vec::new(),
        };
        let action = Action::Rewind(self.stage.named("two"));
        let apply = Apply { action, seen: SeenState::Anything, by: by() };
        store.apply_files(self.stage.id, apply, vec![half]).await
    }

    /// After an owner has ended, all or nothing is left, and the store can be used; returns whether it was all.
    async fn is_whole(&self, dir: &Path) -> bool {
        let store = open(dir);
        let turns = store.summary(self.stage.id).await.expect("a summary").counts.turns;
        let intent = store.intents().await.expect("intents").into_iter().next();
        let deltas = store.deltas(self.stage.id).await.expect("deltas");
        let decided = turns == 1;
        let expected = if decided { (0, 0) } else { (1, FILES as u64) };
        assert_eq!((self.layers(&store).await, deltas[0].0.applied), expected);
        assert!(intent.is_none_or(|intent| intent.op.is_some() == decided));
        let op = store.last_moved(self.stage.id, None).await.expect("read");
        assert_eq!(op.is_some(), decided);
        if !decided {
            assert_eq!(rows(dir), 0, "nothing is left of what nobody decided");
            self.rewind(&store).await;
        }
        store.settle(self.workspace).await.expect("settled");
        assert_eq!(self.layers(&store).await, 0);
        assert_eq!(rows(dir), FILES);
        decided
    }
}

/// The number of written moves, in effect or not.
fn rows(dir: &Path) -> usize {
    let db = rusqlite::Connection::open(dir.join("retake.db")).expect("the file");
    let count = db.query_row("SELECT count(*) FROM moved_path", [], |row| row.get::<_, u32>(0));
    count.expect("read") as usize
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_step_is_all_or_nothing_wherever_its_owner_ends() {
    let prepared = Prepared::new().await;
    let (mut before, mut after) = (0, 0);
    let done = AtomicBool::new(false);
    for times in 1..100 {
        let dir = copy(prepared.dir.path());
        let store = open(dir.path());
        let runtime = tokio::runtime::Handle::current();
        tokio::task::block_in_place(|| {
            let _inside = runtime.enter();
            done.store(go_on(pin!(prepared.rewind(&store)), times), Ordering::Relaxed);
        });
        // Earlier requests to the writer are written when it ends.
        drop(store);
        match prepared.is_whole(dir.path()).await {
            true => after += 1,
            false => before += 1,
        }
        if done.load(Ordering::Relaxed) {
            break;
        }
    }
    assert!(done.load(Ordering::Relaxed) && before >= 3 && after >= 3, "{before} before, {after} after");
}

/// Its moves were compared with layers that have changed when it is decided.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_step_is_refused_when_layers_change_while_it_is_written() {
    let prepared = Prepared::new().await;
    let store = &*prepared.stage.store;
    let mut rewind = pin!(prepared.apply(store));
    let staged = || rows(prepared.dir.path());
    while staged() < FILES {
        assert!(!tokio::task::block_in_place(|| go_on(rewind.as_mut(), 1)));
    }
    let again = FileChange { before: prepared.changes[0].after.clone(), ..prepared.changes[0].clone() };
    prepared.changed(&[again]).await;
    let refused = rewind.await;
    assert!(matches!(refused, Err(StoreError::StaleFiles(_))), "{refused:?}");
    assert_eq!(staged(), 0);
    assert_eq!(store.summary(prepared.stage.id).await.expect("a summary").counts.turns, 2);
}
