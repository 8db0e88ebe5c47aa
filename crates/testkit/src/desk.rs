//! What the desks of several tests are made of: stores, settings of the agent, seeds.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use retake_core::{ConversationId, Permission, Time};
use retake_engine::settings::Retention;
use retake_engine::{AgentConfig, Engine, FilesConfig};
use retake_store::{Memory, Sqlite, Store};
use retake_tools::{Secrets, Toolbox};
use retake_worktree::Rules;

/// A store in memory.
pub fn memory_store() -> Arc<Store> {
    let memory = Memory::new();
    let rows = memory.writer();
    Arc::new(Store::start(memory, rows).expect("started"))
}

/// The store in this data folder; it waits for an earlier owner to end.
pub fn sqlite_store(data: &Path) -> Arc<Store> {
    let opened = Sqlite::open(data, Time(0), Duration::from_secs(5)).expect("opened");
    Arc::new(Store::start(opened.readers, opened.writer).expect("started"))
}

/// The stored files of this data folder.
pub fn files_config(data: &Path, keep: Retention) -> FilesConfig {
    let rules = Rules { own: Some(data.to_owned()), ..Rules::default() };
    FilesConfig { data_dir: data.to_owned(), rules, keep }
}

/// An agent with these tools, and with nothing else that is not the default.
pub fn agent_config(data: &Path, tools: Toolbox) -> AgentConfig {
    AgentConfig {
        tools,
        spool: data.join("output"),
        permission: Permission::default(),
        roots: Vec::new(),
        guarded: Arc::default(),
        secrets: Secrets::default(),
        sandbox: None,
        memory: u64::MAX,
        limit: 50,
        server_wait: Duration::ZERO,
        answer_wait: Duration::from_secs(600),
        recall: 20,
        compact_at: 80,
        subagents: 4,
        settings: None,
    }
}

/// A seed of ids that no other engine has, in this or another test process: the processes of a call are found by its id.
pub fn next_seed() -> u64 {
    static NEXT: AtomicU64 = AtomicU64::new(1);
    (u64::from(std::process::id()) << 20) + NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A new conversation without a folder.
pub async fn conversation(engine: &Engine) -> ConversationId {
    engine.create(None, None, engine.by(None)).await.expect("created").conversation
}
