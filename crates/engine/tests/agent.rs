//! Turns with tools: a model with scripted answers, real tools in a real folder, rewinds.

mod again;
mod approvals;
mod commands;
mod commits;
mod compacted;
mod context;
mod described;
mod edited;
mod guarded;
mod hostile;
mod ledger;
mod memory;
mod opening;
mod planned;
mod queue;
mod random;
mod repaired;
mod repeats;
mod servers;
mod several;
mod shortened;
mod subagents;
mod whole;
mod work;

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use futures::stream::BoxStream;
use retake_core::{
    Action, Apply, ConversationId, EntryId, Mode, PageRequest, Part, Permission, Projection, Reading,
    SeenState, ToolOutcome,
};
use retake_engine::clock::SystemClock;
use retake_engine::ids::SeededRandom;
use retake_engine::mcp::McpFiles;
use retake_engine::model::Catalogue;
use retake_engine::settings::Retention;
use retake_engine::{
    AgentConfig, Decision, Ended, Engine, FileOptions, Parts, Permit, RunEvent, RunRequest, Start,
};
use retake_store::Store;
use retake_testkit::{
    ModelOutput, Script, SingleModelCatalogue, agent_config, calls, files_config, next_seed, sqlite_store,
    words,
};
use retake_tools::{
    Guarded, Sandbox, ShellConfig, Toolbox, file_tools, memory_tools, plan_tool, shell_tools, with_programs,
};
use tempfile::TempDir;

/// The agent's folder.
struct Desk {
    engine: Arc<Engine>,
    store: Arc<Store>,
    script: Arc<Script>,
    id: ConversationId,
    dir: Arc<TempDir>,
}

impl Desk {
    async fn new(mode: Mode) -> Self {
        // A fork bomb must end early.
        Self::with(mode, ShellConfig { processes: 64, ..ShellConfig::default() }).await
    }

    async fn with(mode: Mode, shell: ShellConfig) -> Self {
        let dir = Arc::new(tempfile::tempdir().expect("a folder"));
        fs::create_dir(dir.path().join("work")).expect("made");
        let script = Arc::new(Script::default());
        let store = sqlite_store(&dir.path().join("data"));
        let engine =
            engine_with(&store, &dir, Arc::new(SingleModelCatalogue(Arc::clone(&script))), mode, shell).await;
        let folder = dir.path().join("work").to_str().expect("UTF-8").to_owned();
        let id = engine.create(None, Some(folder), engine.by(None)).await.expect("created").conversation;
        Self { engine, store, script, id, dir }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("work").join(name)
    }

    fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).expect("written");
    }

    fn read(&self, name: &str) -> Option<String> {
        fs::read_to_string(self.path(name)).ok()
    }

    fn request(&self, start: Start) -> RunRequest {
        RunRequest {
            start,
            model: None,
            steer: None,
            permit: Permit::default(),
            files: FileOptions::default(),
            seen: SeenState::Anything,
            by: self.engine.by(None),
        }
    }

    async fn run(&self, start: Start) -> BoxStream<'static, RunEvent> {
        self.engine.run(self.id, self.request(start)).await.expect("started")
    }

    async fn say(&self, text: &str) -> BoxStream<'static, RunEvent> {
        self.run(Start::Say(vec![Part::text(text)], None)).await
    }

    /// A turn with these answers of the model, to its end; returns the events of its calls.
    async fn turn(&self, text: &str, answers: Vec<Vec<ModelOutput>>) -> (Ended, Vec<String>) {
        answers.into_iter().for_each(|answer| self.script.then(answer));
        let events = self.say(text).await;
        self.follow(events, &mut |_| None).await
    }

    /// Follows a run to its end, and answers its requests.
    async fn follow(
        &self,
        mut events: BoxStream<'static, RunEvent>,
        decide: &mut dyn FnMut(&retake_engine::PendingApproval) -> Option<Decision>,
    ) -> (Ended, Vec<String>) {
        let mut told = Vec::new();
        loop {
            let next = tokio::time::timeout(Duration::from_secs(60), events.next()).await;
            match next.expect("a run goes on").expect("a run's last event is its end") {
                RunEvent::Ended(ended) => return (ended, told),
                RunEvent::Calling(call) => told.push(format!("{} ({})", call.line, call.class.name())),
                RunEvent::Called(ended) => {
                    let failed = if ended.outcome == ToolOutcome::Failed { "failed: " } else { "" };
                    let first = ended.shown.lines().next().unwrap_or_default();
                    told.push(format!("→ {failed}{first} [{}]", ended.changed));
                }
                RunEvent::Asks(asks) => {
                    told.push(format!("may it {}? {:?}", asks.call.line, asks.cause));
                    let decision =
                        decide(&asks).unwrap_or_else(|| panic!("nothing is asked: {asks:?} after {told:?}"));
                    self.engine.decide(self.id, &asks.id, decision).expect("asked");
                }
                RunEvent::Notice(notice) => told.push(format!("note: {notice:?}")),
                _ => {}
            }
        }
    }

    /// The visible messages, one per line.
    async fn shows(&self) -> Vec<String> {
        let reading = Reading::now(Projection::Timeline);
        let page = PageRequest { limit: 99, ..PageRequest::default() };
        let page = self.store.page(self.id, reading, page).await.expect("a page");
        let line = |part: &Part| match part {
            Part::Text(text) => Some(text.clone()),
            Part::ToolCall { name, .. } => Some(format!("calls {name}")),
            Part::ToolResult { outcome, .. } => Some(format!("{outcome:?}").to_lowercase()),
            _ => None,
        };
        let entries = page.entries.iter().map(|shown| shown.entry.as_ref().expect("sound"));
        entries.map(|entry| entry.parts.iter().filter_map(line).collect::<Vec<_>>().join(", ")).collect()
    }

    /// The entry with this line.
    async fn entry_with(&self, line: &str) -> EntryId {
        let at = self.shows().await.iter().position(|shown| shown == line).expect("it is shown");
        let reading = Reading::now(Projection::Timeline);
        let page = PageRequest { limit: 99, ..PageRequest::default() };
        let page = self.store.page(self.id, reading, page).await.expect("a page");
        page.entries[at].entry.as_ref().expect("sound").meta.id
    }

    async fn erase(&self, entries: Vec<EntryId>, text: Option<&str>) {
        let action = Action::Erase { entries, matching: text.map(str::to_owned), objects: Vec::new() };
        let apply = Apply { action, seen: SeenState::Anything, by: self.engine.by(None) };
        self.engine.erase(self.id, apply).await.expect("erased");
    }

    /// Rewinds to before a turn, with files.
    async fn rewind(&self, turn: &str) {
        let entry = self.engine.entry(self.id, turn).await.expect("a turn");
        self.apply(Action::Rewind(entry)).await;
    }

    async fn apply(&self, action: Action) {
        let apply = Apply { action, seen: SeenState::Anything, by: self.engine.by(None) };
        self.engine.apply_both(self.id, apply, FileOptions::default()).await.expect("applied");
    }
}

/// An engine on this store.
async fn engine_on(store: &Arc<Store>, dir: &TempDir, script: &Arc<Script>, mode: Mode) -> Arc<Engine> {
    engine_with(store, dir, Arc::new(SingleModelCatalogue(Arc::clone(script))), mode, ShellConfig::default())
        .await
}

/// The same, with these models and this shell configuration.
async fn engine_with(
    store: &Arc<Store>,
    dir: &TempDir,
    models: Arc<dyn Catalogue>,
    mode: Mode,
    shell: ShellConfig,
) -> Arc<Engine> {
    let data = dir.path().join("data");
    let mut tools = Toolbox::default();
    let sandbox = shell.sandbox.clone();
    let confined = ShellConfig { sandbox: Some(Sandbox::bare()), ..shell.clone() };
    for tool in with_programs(file_tools(), edited::after(confined)).into_iter().chain(shell_tools(shell)) {
        assert!(tools.add(tool), "a name comes once");
    }
    for tool in memory_tools() {
        assert!(tools.add(tool), "a name comes once");
    }
    assert!(tools.add(plan_tool()) && tools.add(Arc::new(ledger::Mail)), "a name comes once");
    let agent = AgentConfig {
        permission: Permission { mode, rules: Vec::new() },
        roots: super::files::further(dir.path()),
        guarded: Arc::new(Guarded::new(&[], Some(&dir.path().join("home")), []).expect("items")),
        sandbox,
        server_wait: Duration::from_millis(1_500),
        ..agent_config(&data, tools)
    };
    let parts = Parts {
        store: Arc::clone(store),
        clock: Arc::new(SystemClock),
        random: Arc::new(SeededRandom::new(next_seed())),
        models,
        system_prompt: Some("be kind".into()),
        user: "ann".into(),
        files: Some(files_config(&data, Retention::default())),
        agent: Some(agent),
        mcp: Some(McpFiles::below(dir.path())),
        destinations: Vec::new(),
        memory: None,
        hooks: None,
    };
    Engine::start(parts).await.expect("started")
}
