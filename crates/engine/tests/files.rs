//! Files and conversation as one step: real commands in a real folder, plans, rewinds, undos.

mod adoption;
mod adoption_rows;
mod attributes;
mod authorship;
mod capture;
mod coming;
mod crash;
mod crossed;
mod doctor;
mod elsewhere;
mod erase;
mod git;
mod hostile;
mod jobs;
mod keep;
mod layers;
mod let_go;
mod model;
mod others;
mod restore;
mod returning;
mod rewinds;
mod several;
mod steps;
mod undo;
mod unseen;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use futures::StreamExt;
use futures::stream::BoxStream;
use retake_core::{
    Action, Apply, Choice, Chosen, ConversationId, EntryId, FilePath, FilePlan, Part, PathPlan, Receipt,
    Role, SayRequest, SeenState,
};
use retake_engine::clock::ManualClock;
use retake_engine::settings::Retention;
use retake_engine::{
    AgentConfig, AppliedFiles, Engine, Exec, FileOptions, FolderPlan, Outcome, PlannedFiles, Result,
    RunEvent, Scope, shown_in,
};
use retake_testkit::{Puppet, agent_config, files_config, next_seed, sqlite_store, start_with};
use retake_tools::Toolbox;
use tempfile::TempDir;

/// The folder of a conversation.
struct Yard {
    engine: Arc<Engine>,
    id: ConversationId,
    dir: Arc<TempDir>,
}

/// An engine on the data of a test; any earlier one on it must have ended.
async fn engine(dir: &TempDir) -> Arc<Engine> {
    engine_at(dir.path(), next_seed()).await
}

async fn engine_at(dir: &Path, seed: u64) -> Arc<Engine> {
    engine_kept(dir, seed, Retention::default(), 0).await
}

/// The same, with other retention settings, this many days later.
async fn engine_kept(dir: &Path, seed: u64, keep: Retention, days: i64) -> Arc<Engine> {
    // Later engines start slightly later.
    let start = 1_700_000_000_000 + i64::from(seed as u16) + days * 24 * 3_600_000;
    engine_by(dir, seed, keep, &ManualClock::new(start)).await
}

/// The same, with this clock.
pub(crate) async fn engine_by(dir: &Path, seed: u64, keep: Retention, clock: &ManualClock) -> Arc<Engine> {
    let data = dir.join("data");
    let agent = AgentConfig { roots: further(dir), limit: 1, ..agent_config(&data, Toolbox::default()) };
    let (store, config) = (sqlite_store(&data), files_config(&data, keep));
    start_with(&store, clock, &Arc::new(Puppet::default()), seed, Some(config), Some(agent)).await
}

/// The further folders in a test's settings, one per line.
pub(super) fn further(dir: &Path) -> Vec<PathBuf> {
    fs::read_to_string(dir.join("roots")).unwrap_or_default().lines().map(PathBuf::from).collect()
}

impl Yard {
    /// A folder with these files.
    async fn with(files: &[(&str, &str)]) -> Self {
        let dir = Arc::new(tempfile::tempdir().expect("a folder"));
        fs::create_dir(dir.path().join("work")).expect("made");
        let engine = engine(&dir).await;
        let yard = Self { id: Self::begin(&engine, &dir).await, engine, dir };
        files.iter().for_each(|(name, text)| yard.write(name, text));
        yard
    }

    async fn begin(engine: &Engine, dir: &TempDir) -> ConversationId {
        let folder = dir.path().join("work").to_str().expect("UTF-8").to_owned();
        engine.create(None, Some(folder), engine.by(None)).await.expect("created").conversation
    }

    /// Another conversation in the same folder.
    async fn another(&self) -> Self {
        let (engine, dir) = (Arc::clone(&self.engine), Arc::clone(&self.dir));
        Self { id: Self::begin(&engine, &dir).await, engine, dir }
    }

    /// The same conversation, after a restart of the program.
    async fn restarted(self) -> Self {
        let Self { engine: old, id, dir } = self;
        drop(old);
        Self { engine: engine(&dir).await, id, dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("work").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a parent")).expect("made");
        fs::write(path, text).expect("written");
    }

    /// The content of a file; `None` if it does not exist.
    fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path(name)).ok()
    }

    /// Runs a shell command as a call, in a turn of its own.
    async fn run(&self, script: &str) {
        self.call(script, Some(&format!("please {script}"))).await;
    }

    /// Runs a shell command as a call.
    async fn call(&self, script: &str, say: Option<&str>) {
        let mut events = self.started(script, say).await;
        loop {
            if let RunEvent::Ended(ended) = events.next().await.expect("an end") {
                assert_eq!(ended.outcome, Outcome::Succeeded, "{:?}", ended.error);
                return;
            }
        }
    }

    async fn started(&self, script: &str, say: Option<&str>) -> BoxStream<'static, RunEvent> {
        let command = ["sh", "-c", script].map(str::to_owned).to_vec();
        let exec = Exec { command, say: say.map(str::to_owned), by: self.engine.by(None) };
        self.engine.exec(self.id, exec).await.expect("started")
    }

    /// Sends a message, without a call.
    async fn say(&self, text: &str) {
        self.said_by(Role::User, text).await;
    }

    /// The same, with an author; returns the new entry.
    async fn said_by(&self, role: Role, text: &str) -> EntryId {
        let id = self.engine.new_entry_id();
        let say = SayRequest::new(id, role, vec![Part::text(text)], self.engine.by(None));
        self.engine.say(self.id, say).await.expect("said");
        id
    }

    async fn rewind(&self, turn: &str) -> Action {
        Action::Rewind(self.engine.entry(self.id, turn).await.expect("a turn"))
    }

    async fn plan(&self, action: Action, options: FileOptions) -> PlannedFiles {
        self.engine.plan_both(self.id, action, options).await.expect("planned")
    }

    async fn apply(&self, action: Action, options: FileOptions) -> Result<AppliedFiles> {
        let apply = Apply { action, seen: SeenState::Anything, by: self.engine.by(None) };
        self.engine.apply_both(self.id, apply, options).await
    }

    async fn does(&self, action: Action) -> Receipt {
        self.apply(action, FileOptions::default()).await.expect("done").receipt
    }

    /// Rewinds to before a turn, with files.
    async fn back(&self, turn: &str) -> Receipt {
        self.does(self.rewind(turn).await).await
    }

    async fn undo(&self) {
        self.does(Action::Undo(1)).await;
    }

    async fn redo(&self) {
        self.does(Action::Redo(1)).await;
    }

    /// The verdict of a rewind plan for each path.
    async fn verdicts(&self, turn: &str) -> Vec<String> {
        let plan = self.plan(self.rewind(turn).await, FileOptions::default()).await;
        let shown = |folder: FolderPlan| {
            let name = |path: &FilePath| shown_in(folder.folder.as_deref(), path);
            let paths = folder.plan.paths.iter();
            paths.map(|path| format!("{} {:?}", name(&path.path), path.verdict)).collect::<Vec<_>>()
        };
        plan.files.into_iter().flat_map(shown).collect()
    }

    /// The files with an uncertain change that stays in a rewind plan, and why.
    async fn uncertain(&self, turn: &str) -> Vec<String> {
        let plan = own(self.plan(self.rewind(turn).await, FileOptions::default()).await);
        let why = |path: &PathPlan| {
            path.uncertain().into_iter().map(|why| format!("{} {why:?}", path.path)).collect::<Vec<_>>()
        };
        plan.paths.iter().flat_map(why).collect()
    }

    /// Turns on the path.
    async fn turns(&self) -> u64 {
        self.engine.kept().summary(self.id).await.expect("it").counts.turns
    }

    /// Everything in the folder, with staging folders: kinds, modes, content and link targets.
    fn all(&self) -> String {
        let script =
            "find . -printf '%P %y %m %l ' -type f -exec sha256sum {} \\; -o -printf '%P %y %m %l\\n' | sort";
        let found = std::process::Command::new("sh").args(["-c", script]).current_dir(self.path("")).output();
        String::from_utf8(found.expect("find").stdout).expect("UTF-8")
    }

    /// The names in the folder, with staging folders.
    fn names(&self) -> Vec<String> {
        let names = fs::read_dir(self.path("")).expect("a folder");
        let mut names: Vec<_> =
            names.map(|entry| entry.expect("it").file_name().into_string().expect("UTF-8")).collect();
        names.sort();
        names
    }
}

/// The plan for the conversation's own folder.
fn own(plan: PlannedFiles) -> FilePlan {
    plan.files.into_iter().next().expect("files").plan
}

/// A choice for one path.
fn choose(path: &str, choice: Choice) -> FileOptions {
    let path = FilePath::new(path.as_bytes()).expect("a path");
    FileOptions { chosen: Chosen { paths: [(path, choice)].into(), others: None }, ..FileOptions::default() }
}

fn scope(scope: Scope) -> FileOptions {
    FileOptions { scope, ..FileOptions::default() }
}

/// Three turns, each of which writes its number into `a` and creates a file of its own.
async fn three() -> Yard {
    let yard = Yard::with(&[("a", "0\n")]).await;
    for turn in 1..=3 {
        yard.run(&format!("echo {turn} > a; echo {turn} > made{turn}")).await;
    }
    yard
}

/// The content of `a`.
fn a(yard: &Yard) -> String {
    yard.read("a").expect("it is there")
}
