//! An engine in memory with one conversation and a model controlled by the test.
//!
//! Any failure here panics: this is the set-up of a test.

use std::sync::Arc;

use futures::StreamExt;
use futures::stream::BoxStream;
use retake_core::{Action, Apply, ConversationId, PageRequest, Projection, Reading, SeenState, joined_text};
use retake_engine::clock::ManualClock;
use retake_engine::ids::SeededRandom;
use retake_engine::{
    AgentConfig, Ended, Engine, FileOptions, FilesConfig, Parts, Permit, RunEvent, RunRequest, Start,
};
use retake_store::Store;

use crate::desk::{conversation, memory_store};
use crate::puppet::{ModelOutput, Puppet};
use crate::script::SingleModelCatalogue;

/// An engine on a store in memory, with one conversation.
pub struct Table {
    /// The engine.
    pub engine: Arc<Engine>,
    /// Its store.
    pub store: Arc<Store>,
    /// The only model.
    pub puppet: Arc<Puppet>,
    /// The clock: it stands still until the test moves it.
    pub clock: ManualClock,
    /// The conversation.
    pub id: ConversationId,
}

impl Table {
    /// Everything new; time stands still.
    pub async fn new() -> Self {
        let store = memory_store();
        let clock = ManualClock::new(1_700_000_000_000);
        let puppet = Arc::new(Puppet::default());
        let engine = start(&store, &clock, &puppet, 1).await;
        let id = conversation(&engine).await;
        Self { engine, store, puppet, clock, id }
    }

    /// Starts a run.
    pub async fn run(&self, start: Start) -> BoxStream<'static, RunEvent> {
        let request = RunRequest {
            start,
            model: None,
            steer: None,
            permit: Permit::default(),
            files: FileOptions::default(),
            seen: SeenState::Anything,
            by: self.engine.by(None),
        };
        self.engine.run(self.id, request).await.expect("started")
    }

    /// Runs a turn to its end, with these chunks of the model.
    pub async fn turn(&self, start: Start, says: Vec<ModelOutput>) -> Ended {
        let mut events = self.run(start).await;
        self.until_called(&mut events).await;
        let (_, model) = self.puppet.call();
        says.into_iter().for_each(|said| model.unbounded_send(said).expect("somebody listens"));
        drop(model);
        ended(events).await
    }

    /// Waits until the model is called for this run.
    pub async fn until_called(&self, events: &mut BoxStream<'static, RunEvent>) {
        assert!(matches!(events.next().await, Some(RunEvent::Started(..))));
        self.puppet.until_called().await;
    }

    /// The visible messages, with `…` after interrupted ones.
    pub async fn shows(&self) -> String {
        let reading = Reading::now(Projection::Timeline);
        let page = PageRequest { limit: 99, ..PageRequest::default() };
        let page = self.store.page(self.id, reading, page).await.expect("a page");
        let entries = page.entries.iter().map(|shown| {
            let entry = shown.entry.as_ref().expect("sound");
            let cut = if entry.meta.flags.interrupted { "…" } else { "" };
            format!("{}{cut}", joined_text(&entry.parts))
        });
        entries.collect::<Vec<_>>().join(" | ")
    }

    /// The last entry.
    pub async fn newest(&self) -> retake_core::EntryId {
        self.engine.entry(self.id, "@").await.expect("there is a last entry")
    }

    /// Reverts the last step.
    pub async fn undo(&self) {
        let undo = Apply { action: Action::Undo(1), seen: SeenState::Anything, by: self.engine.by(None) };
        self.engine.apply(self.id, undo).await.expect("undone");
    }
}

/// An engine on a store that an earlier engine may have used.
pub async fn start(store: &Arc<Store>, clock: &ManualClock, puppet: &Arc<Puppet>, seed: u64) -> Arc<Engine> {
    start_in(store, clock, puppet, seed, None).await
}

/// The same, with a place for stored files.
pub async fn start_in(
    store: &Arc<Store>,
    clock: &ManualClock,
    puppet: &Arc<Puppet>,
    seed: u64,
    files: Option<FilesConfig>,
) -> Arc<Engine> {
    start_with(store, clock, puppet, seed, files, None).await
}

/// The same, with these tools.
pub async fn start_with(
    store: &Arc<Store>,
    clock: &ManualClock,
    puppet: &Arc<Puppet>,
    seed: u64,
    files: Option<FilesConfig>,
    agent: Option<AgentConfig>,
) -> Arc<Engine> {
    let parts = Parts { files, agent, ..parts(store, clock, puppet, seed) };
    Engine::start(parts).await.expect("started")
}

/// The parts of an engine on a store that an earlier engine may have used.
pub fn parts(store: &Arc<Store>, clock: &ManualClock, puppet: &Arc<Puppet>, seed: u64) -> Parts {
    Parts {
        store: Arc::clone(store),
        clock: Arc::new(clock.clone()),
        random: Arc::new(SeededRandom::new(seed)),
        models: Arc::new(SingleModelCatalogue(Arc::clone(puppet))),
        system_prompt: Some("be kind".into()),
        user: "ann".into(),
        files: None,
        mcp: None,
        agent: None,
        destinations: Vec::new(),
        memory: None,
        hooks: None,
    }
}

/// The end of a run.
pub async fn ended(mut events: BoxStream<'static, RunEvent>) -> Ended {
    while let Some(event) = events.next().await {
        if let RunEvent::Ended(ended) = event {
            return ended;
        }
    }
    panic!("a run's last event is its end")
}

/// A prompt of one text.
pub fn ask(text: &str) -> Start {
    Start::Say(vec![retake_core::Part::text(text)], None)
}
