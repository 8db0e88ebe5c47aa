//! The test environment of a tool: a folder, a spool, and a host that stores its messages.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::{BoxFuture, FutureExt as _};
use retake_core::{EffectClass, Fact};
use retake_tools::{
    Call, Host, Output, Piece, Sandbox, ShellConfig, Supervisor, Tool, ToolQuestion, processes,
};
use serde_json::Value;
use tempfile::TempDir;
use tokio::sync::watch;

/// The supervisor of commands in these tests; the test program can't be started as one.
pub(crate) fn supervisor() -> Supervisor {
    let copy = std::env::var_os(SUPERVISOR);
    Supervisor::by(copy.unwrap_or_else(|| env!("CARGO_BIN_EXE_retake-supervisor").into()))
}

/// Names a supervisor that a test's other user can start, and a folder in which that user can work.
pub(crate) const SUPERVISOR: &str = "RETAKE_TEST_SUPERVISOR";
pub(crate) const FOLDER: &str = "RETAKE_TEST_FOLDER";

/// A supervised sandbox.
pub(crate) fn bare() -> Sandbox {
    Sandbox { supervisor: Some(supervisor()), ..Sandbox::bare() }
}

/// A supervised shell.
pub(crate) fn config() -> ShellConfig {
    ShellConfig { supervisor: Some(supervisor()), ..ShellConfig::default() }
}

/// Time limit for any wait.
const PATIENCE: Duration = Duration::from_secs(60);

/// A host with a faster clock.
pub(crate) struct Stand {
    pub(crate) facts: Mutex<BTreeMap<String, String>>,
    told: watch::Sender<String>,
    stop: watch::Sender<bool>,
    pub(crate) answer: Option<String>,
    clock: Clock,
}

/// The clock of a host.
enum Clock {
    /// So many times as fast as the real one.
    Fast(u32),
    /// It stands still, and moves on when a test says so: its time, and the ends of all waits.
    Still(watch::Sender<(Duration, Vec<Duration>)>),
}

#[async_trait]
impl Host for Stand {
    async fn fact(&self, key: &str) -> Option<String> {
        self.facts.lock().expect("nobody panics while it is held").get(key).cloned()
    }

    async fn facts(&self, prefix: &str) -> Vec<Fact> {
        let facts = self.facts.lock().expect("nobody panics while it is held");
        let wanted = facts.iter().filter(|(key, _)| key.starts_with(prefix));
        wanted.map(|(key, value)| Fact::new(key, value)).collect()
    }

    async fn ask(&self, question: ToolQuestion) -> Option<String> {
        self.answer
            .as_ref()
            .map(|answer| format!("{} {} {answer}", question.question, question.choices.join("/")))
    }

    async fn tell(&self, piece: Piece) {
        self.told.send_modify(|told| told.push_str(&piece.text));
    }

    fn stopped_by(&self) -> &'static str {
        "stopped by the test"
    }

    async fn stopped(&self) {
        let mut stop = self.stop.subscribe();
        if stop.wait_for(|stop| *stop).await.is_err() {
            std::future::pending::<()>().await;
        }
    }

    fn sleep(&self, time: Duration) -> BoxFuture<'static, ()> {
        match &self.clock {
            Clock::Fast(times) => tokio::time::sleep(time / *times).boxed(),
            Clock::Still(clock) => {
                let end = clock.borrow().0 + time;
                clock.send_modify(|(_, ends)| ends.push(end));
                let mut clock = clock.subscribe();
                async move { drop(clock.wait_for(|(now, _)| *now >= end).await) }.boxed()
            }
        }
    }
}

/// A conversation with its folder.
pub(crate) struct Stage {
    pub(crate) host: Arc<Stand>,
    pub(crate) roots: Vec<PathBuf>,
    /// The git folders that calls must protect.
    pub(crate) held: Vec<PathBuf>,
    /// The name patterns hidden from calls.
    pub(crate) hide: Vec<PathBuf>,
    pub(crate) spool: PathBuf,
    calls: Mutex<u32>,
    last: Mutex<String>,
    /// Calls that left processes behind.
    left: Mutex<Vec<String>>,
    _folder: TempDir,
}

impl Drop for Stage {
    /// Even if a test fails, no process continues.
    fn drop(&mut self) {
        let left = self.left.get_mut().map(std::mem::take).unwrap_or_default();
        left.iter().for_each(|call| assert!(processes::end(None, call) || std::thread::panicking()));
    }
}

impl Stage {
    /// A new one, in the system's temporary folder.
    pub(crate) fn new() -> Self {
        Self::of(tempfile::tempdir().expect("a folder"), Clock::Fast(1))
    }

    /// One with a clock ten times as fast.
    pub(crate) fn quick() -> Self {
        Self::of(tempfile::tempdir().expect("a folder"), Clock::Fast(10))
    }

    /// One whose clock shows ten seconds after a few moments.
    pub(crate) fn hurried() -> Self {
        Self::of(tempfile::tempdir().expect("a folder"), Clock::Fast(50))
    }

    /// One whose clock stands still.
    pub(crate) fn timeless() -> Self {
        Self::of(tempfile::tempdir().expect("a folder"), Clock::Still(watch::Sender::default()))
    }

    /// Moves a clock on that stands still.
    pub(crate) fn advance(&self, time: Duration) {
        let Clock::Still(clock) = &self.host.clock else { panic!("its clock moves by itself") };
        clock.send_modify(|(now, _)| *now += time);
    }

    /// Whether something waits for this time from now on.
    pub(crate) fn waits_for(&self, time: Duration) -> bool {
        let Clock::Still(clock) = &self.host.clock else { panic!("its clock moves by itself") };
        let (now, ends) = &*clock.borrow();
        ends.contains(&(*now + time))
    }

    /// One outside of temporary folders, which anyone may write.
    pub(crate) fn apart() -> Self {
        let folder = std::env::var_os(FOLDER).unwrap_or_else(|| env!("CARGO_TARGET_TMPDIR").into());
        Self::of(tempfile::tempdir_in(folder).expect("a folder"), Clock::Fast(1))
    }

    fn of(folder: TempDir, clock: Clock) -> Self {
        let path = folder.path().canonicalize().expect("it is there");
        let (root, spool) = (path.join("work"), path.join("data/spool"));
        std::fs::create_dir(&root).expect("a folder");
        let host = Stand {
            facts: Mutex::default(),
            told: watch::Sender::new(String::new()),
            stop: watch::Sender::new(false),
            answer: None,
            clock,
        };
        Self {
            host: Arc::new(host),
            roots: vec![root],
            held: Vec::new(),
            hide: Vec::new(),
            spool,
            calls: Mutex::new(0),
            last: Mutex::default(),
            left: Mutex::default(),
            _folder: folder,
        }
    }

    /// The first root.
    pub(crate) fn root(&self) -> &Path {
        &self.roots[0]
    }

    /// A call of a tool, with a unique id.
    pub(crate) fn prepare(&self, arguments: Value) -> Call {
        let mut calls = self.calls.lock().expect("nobody panics while it is held");
        *calls += 1;
        let folder = self
            .root()
            .parent()
            .and_then(Path::file_name)
            .expect("it is below one")
            .to_string_lossy()
            .into_owned();
        Call {
            id: format!("{}{calls:08}", folder.trim_start_matches('.')),
            arguments,
            roots: self.roots.clone(),
            writable: self.roots.clone(),
            reads: false,
            writes: None,
            hide: self.hide.clone(),
            held: self.held.clone(),
            spool: self.spool.clone(),
            host: self.host.clone(),
        }
    }

    /// Calls a tool; the facts of its answer are stored. Its processes are gone, unless the answer says
    /// otherwise.
    pub(crate) async fn call(&self, tool: &Arc<dyn Tool>, arguments: Value) -> Output {
        let intent = tool.intent(&arguments, self.root(), &self.roots);
        let reads = intent.is_ok_and(|intent| intent.class == EffectClass::None);
        let call = Call { reads, ..self.prepare(arguments) };
        let id = call.id.clone();
        self.last.lock().expect("nobody panics while it is held").clone_from(&id);
        let output = tokio::time::timeout(PATIENCE, tool.call(call)).await.expect("it never ended");
        if output.lives {
            self.left.lock().expect("nobody panics while it is held").push(id.clone());
        }
        assert_eq!(!processes::alive(&id).is_empty(), output.lives, "{}", output.content);
        for fact in &output.facts {
            self.host
                .facts
                .lock()
                .expect("nobody panics while it is held")
                .insert(fact.key.clone(), fact.value.clone());
        }
        output
    }

    /// The id of the last call.
    pub(crate) fn last_call(&self) -> String {
        self.last.lock().expect("nobody panics while it is held").clone()
    }

    /// The messages so far.
    pub(crate) fn told(&self) -> String {
        self.host.told.borrow().clone()
    }

    /// Waits until this text was sent.
    pub(crate) async fn hears(&self, words: &str) {
        let mut told = self.host.told.subscribe();
        let heard = tokio::time::timeout(PATIENCE, told.wait_for(|told| told.contains(words))).await;
        assert!(heard.is_ok(), "never heard {words:?}");
    }

    /// Stops the active call.
    pub(crate) fn stop(&self) {
        self.host.stop.send_replace(true);
    }
}

/// The tool with this name.
pub(crate) fn tool(tools: &[Arc<dyn Tool>], name: &str) -> Arc<dyn Tool> {
    Arc::clone(tools.iter().find(|tool| tool.name() == name).expect("a tool of that name"))
}

/// Waits until a condition is true, with a time limit.
pub(crate) async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let waits = async {
        while !holds().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    assert!(tokio::time::timeout(PATIENCE, waits).await.is_ok(), "never: {what}");
}
