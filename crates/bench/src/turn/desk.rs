//! A real engine with a model and tools that cost nothing.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, bail};
use async_trait::async_trait;
use futures::StreamExt as _;
use futures::stream::BoxStream;
use retake_core::{
    ConversationId, EffectClass, Flags, Intent, Mark, Mode, Part, Permission, Role, SeenState, Time,
};
use retake_engine::clock::SystemClock;
use retake_engine::ids::SystemRandom;
use retake_engine::model::{
    Catalogue, Choice, ChosenBy, Chunk, EndReason, Model, ModelError, ModelInfo, OfferedModel, Prompt,
};
use retake_engine::outbox::Destination;
use retake_engine::settings::Retention;
use retake_engine::{
    AgentConfig, Compaction, Engine, FileOptions, FilesConfig, Outcome, Parts, Permit, RunEvent, RunRequest,
    Start,
};
use retake_store::{Import, ImportEntry, ImportMessage, Sqlite, Store};
use retake_tools::{Call, Output, Schema, Secrets, Tool, Toolbox};
use retake_worktree::Rules;
use serde_json::{Value, json};

use crate::text::Texts;

/// A tool that does nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Idle {
    /// As a tool that only reads.
    Looks,
    /// As one that may write: with captures around it.
    Writes,
    /// The engine's own tool that starts a subagent, whose model answers at once.
    Delegates,
}

impl Idle {
    fn arguments(self) -> &'static str {
        match self {
            Self::Looks | Self::Writes => "{}",
            Self::Delegates => r#"{"title": "nothing", "task": "do nothing"}"#,
        }
    }
}

#[async_trait]
impl Tool for Idle {
    fn name(&self) -> &str {
        match self {
            Self::Looks => "looks",
            Self::Writes => "writes",
            Self::Delegates => "subagent",
        }
    }

    fn about(&self) -> &str {
        "Does nothing."
    }

    fn schema(&self) -> Schema {
        json!({"type": "object"})
    }

    fn class(&self) -> EffectClass {
        match self {
            Self::Looks | Self::Delegates => EffectClass::None,
            Self::Writes => EffectClass::Workspace,
        }
    }

    fn needs_folder(&self) -> bool {
        *self == Self::Writes
    }

    fn intent(&self, _: &Value, _: &Path, _: &[PathBuf]) -> Result<Intent, String> {
        let line = self.name().to_owned();
        Ok(Intent { class: self.class(), touches: Vec::new(), line, detail: None })
    }

    async fn call(&self, _: Call) -> Output {
        Output::ok("done")
    }
}

/// A model that answers at once: a prompt with these calls, results with a word.
#[derive(Default)]
struct AtOnce {
    asks: Mutex<Option<(Idle, u64)>>,
    made: AtomicU64,
}

impl Model for AtOnce {
    fn name(&self) -> &str {
        "bench/at-once"
    }

    fn info(&self) -> ModelInfo {
        ModelInfo::default()
    }

    fn stream(&self, _: Prompt) -> BoxStream<'static, Result<Chunk, ModelError>> {
        let asks = self.asks.lock().unwrap_or_else(PoisonError::into_inner).take();
        let chunks = match asks {
            None => vec![Chunk::Text("done".to_owned()), Chunk::End(EndReason::Stop)],
            Some((tool, calls)) => {
                let call = |_| {
                    Chunk::Part(Part::ToolCall {
                        id: format!("call_{}", self.made.fetch_add(1, Ordering::Relaxed)),
                        name: tool.name().to_owned(),
                        arguments: tool.arguments().to_owned(),
                    })
                };
                (0..calls).map(call).chain([Chunk::End(EndReason::ToolUse)]).collect()
            }
        };
        futures::stream::iter(chunks.into_iter().map(Ok)).boxed()
    }
}

struct SingleModelCatalogue(Arc<AtOnce>);

#[async_trait]
impl Catalogue for SingleModelCatalogue {
    async fn choose(&self, _: Option<&str>) -> Result<Choice, ModelError> {
        Ok(Choice { model: Arc::clone(&self.0) as Arc<dyn Model>, why: ChosenBy::Settings })
    }

    async fn list(&self) -> Vec<OfferedModel> {
        Vec::new()
    }
}

/// An engine on a data directory of its own.
pub(crate) struct Desk {
    engine: Arc<Engine>,
    store: Arc<Store>,
    model: Arc<AtOnce>,
}

impl Desk {
    pub(super) fn open(data: &Path) -> anyhow::Result<Self> {
        tokio::runtime::Handle::current().block_on(Self::open_with(data, Vec::new()))
    }

    /// The same, with destinations of deliveries.
    pub(crate) async fn open_with(
        data: &Path,
        destinations: Vec<Arc<dyn Destination>>,
    ) -> anyhow::Result<Self> {
        let opened = Sqlite::open(data, Time(0), Duration::from_secs(5)).context("cannot open the store")?;
        let store = Arc::new(Store::start(opened.readers, opened.writer)?);
        let mut tools = Toolbox::default();
        for tool in [Idle::Looks, Idle::Writes] {
            tools.add(Arc::new(tool));
        }
        let agent = AgentConfig {
            tools,
            spool: data.join("output"),
            permission: Permission { mode: Mode::AllowAll, rules: Vec::new() },
            roots: Vec::new(),
            guarded: Arc::default(),
            secrets: Secrets::default(),
            sandbox: None,
            memory: u64::MAX,
            limit: 4,
            server_wait: Duration::ZERO,
            answer_wait: Duration::from_secs(600),
            recall: 20,
            compact_at: 80,
            subagents: 4,
            settings: None,
        };
        let rules = Rules { own: Some(data.to_owned()), ..Rules::default() };
        let model = Arc::new(AtOnce::default());
        let parts = Parts {
            store: Arc::clone(&store),
            clock: Arc::new(SystemClock),
            random: Arc::new(SystemRandom::default()),
            models: Arc::new(SingleModelCatalogue(Arc::clone(&model))),
            system_prompt: None,
            user: "bench".into(),
            files: Some(FilesConfig { data_dir: data.to_owned(), rules, keep: Retention::default() }),
            agent: Some(agent),
            mcp: None,
            destinations,
            memory: None,
            hooks: None,
        };
        let engine = Engine::start(parts).await?;
        Ok(Self { engine, store, model })
    }

    /// The engine.
    pub(crate) fn engine(&self) -> &Arc<Engine> {
        &self.engine
    }

    /// A new conversation.
    pub(crate) async fn begin(&self, folder: Option<&Path>) -> anyhow::Result<ConversationId> {
        let folder = folder.map(|folder| folder.to_string_lossy().into_owned());
        Ok(self.engine.create(None, folder, self.engine.by(None)).await?.conversation)
    }

    /// A conversation of so many entries.
    pub(super) async fn import(&self, entries: u64) -> anyhow::Result<ConversationId> {
        let mut text = Texts::new(1);
        let mut said = |number: u64| ImportMessage {
            id: self.engine.new_entry_id(),
            role: if number.is_multiple_of(2) { Role::User } else { Role::Assistant },
            author: String::new(),
            parts: vec![Part::text(text.entry(number))],
            flags: Flags::default(),
            time: None,
            usage: None,
            platform_id: None,
        };
        let mut entry =
            |number| ImportEntry { said: vec![said(number)], chosen: 0, mark: Mark::Normal, label: None };
        let import = Import {
            id: ConversationId::new(self.engine.new_entry_id().uuid()),
            title: None,
            folder: None,
            created: None,
            entries: (0..entries).map(&mut entry).collect(),
            by: self.engine.by(None),
        };
        Ok(self.store.import(import).await?.conversation)
    }

    /// A turn in which the model makes so many calls of a tool.
    pub(crate) async fn turn(
        &self,
        of: ConversationId,
        tool: Option<Idle>,
        calls: u64,
    ) -> anyhow::Result<()> {
        *self.model.asks.lock().unwrap_or_else(PoisonError::into_inner) = tool.map(|tool| (tool, calls));
        let start = Start::Say(vec![Part::text("go on")], None);
        let done = self.run(of, start).await?;
        if done != tool.map_or(0, |_| calls) {
            bail!("a turn did not do what it should: {done} calls");
        }
        Ok(())
    }

    /// A summary of all messages.
    pub(super) async fn compact(&self, of: ConversationId) -> anyhow::Result<()> {
        self.run(of, Start::Compact(Compaction::default())).await.map(drop)
    }

    /// A run to its end; returns the number of its calls.
    async fn run(&self, of: ConversationId, start: Start) -> anyhow::Result<u64> {
        let request = RunRequest {
            start,
            model: None,
            steer: None,
            permit: Permit::default(),
            files: FileOptions::default(),
            seen: SeenState::Anything,
            by: self.engine.by(None),
        };
        let mut events = self.engine.run(of, request).await?;
        let mut done = 0;
        while let Some(event) = events.next().await {
            match event {
                RunEvent::Called(_) => done += 1,
                RunEvent::Ended(ended) => {
                    if ended.outcome != Outcome::Succeeded {
                        bail!("a run did not do what it should: {ended:?} after {done} calls");
                    }
                    return Ok(done);
                }
                _ => {}
            }
        }
        bail!("a run ended without saying so")
    }
}
