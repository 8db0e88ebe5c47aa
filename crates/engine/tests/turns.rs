//! Turns with a model that the test speaks for: what is stored when it answers, is stopped, fails, or dies.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use futures::StreamExt;
use futures::channel::mpsc;
use futures::stream::BoxStream;
use retake_core::{ConversationId, Part, Projection, Role, Seen, Usage, joined_text};
use retake_engine::clock::ManualClock;
use retake_engine::ids::SeededRandom;
use retake_engine::model::{
    Catalogue, Choice, Chunk, EndReason, Model, ModelError, ModelErrorKind, ModelInfo, Offer, Prompt,
};
use retake_engine::store::{Action, Apply, Keeper, Memory, PageRequest, Reading, Store};
use retake_engine::{Ended, Engine, Outcome, Parts, RunEvent, RunRequest, Start};
use tokio::sync::Semaphore;

type Said = Result<Chunk, ModelError>;

/// A model whose every chunk the test sends, and whose every prompt it sees.
struct Puppet {
    /// One permit a call.
    called: Semaphore,
    calls: Mutex<Vec<(Prompt, mpsc::UnboundedSender<Said>)>>,
}

impl Puppet {
    /// The newest call.
    fn call(&self) -> (Prompt, mpsc::UnboundedSender<Said>) {
        let calls = self.calls.lock().unwrap_or_else(PoisonError::into_inner);
        calls.last().cloned().expect("the model was called")
    }
}

impl Model for Puppet {
    fn name(&self) -> &str {
        "test/puppet"
    }

    fn info(&self) -> ModelInfo {
        ModelInfo::default()
    }

    fn stream(&self, prompt: Prompt) -> BoxStream<'static, Said> {
        let (sender, receiver) = mpsc::unbounded();
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push((prompt, sender));
        self.called.add_permits(1);
        receiver.boxed()
    }
}

struct Only(Arc<Puppet>);

#[async_trait]
impl Catalogue for Only {
    async fn choose(&self, _: Option<&str>) -> Result<Choice, ModelError> {
        Ok(Choice { model: Arc::clone(&self.0) as Arc<dyn Model>, why: "it is the only one".into() })
    }

    async fn list(&self) -> Vec<Offer> {
        Vec::new()
    }
}

/// An engine on a store in memory, with one conversation.
struct Table {
    engine: Arc<Engine>,
    store: Arc<dyn Store>,
    puppet: Arc<Puppet>,
    clock: ManualClock,
    id: ConversationId,
}

impl Table {
    async fn new() -> Self {
        let memory = Memory::new();
        let rows = memory.writer();
        let store: Arc<dyn Store> = Arc::new(Keeper::start(memory, rows).expect("started"));
        let clock = ManualClock::new(1_700_000_000_000);
        let puppet = Arc::new(Puppet { called: Semaphore::new(0), calls: Mutex::default() });
        let engine = start(&store, &clock, &puppet, 1).await;
        let id = engine.create(None, None, None).await.expect("created").conversation;
        Self { engine, store, puppet, clock, id }
    }

    async fn run(&self, start: Start) -> BoxStream<'static, RunEvent> {
        let request = RunRequest { start, model: None, seen: Seen::Anything, request: None };
        self.engine.run(self.id, request).await.expect("started")
    }

    /// Runs a turn to its end; what the model says is given.
    async fn turn(&self, start: Start, says: Vec<Said>) -> Ended {
        let mut events = self.run(start).await;
        self.until_called(&mut events).await;
        let (_, model) = self.puppet.call();
        says.into_iter().for_each(|said| model.unbounded_send(said).expect("somebody listens"));
        drop(model);
        ended(events).await
    }

    /// Waits until the model is called for this run.
    async fn until_called(&self, events: &mut BoxStream<'static, RunEvent>) {
        assert!(matches!(events.next().await, Some(RunEvent::Started(..))));
        let called = tokio::time::timeout(Duration::from_secs(10), self.puppet.called.acquire()).await;
        called.expect("the model is called").expect("never closed").forget();
    }

    fn calls(&self) -> usize {
        self.puppet.calls.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    async fn shows(&self) -> String {
        let reading = Reading { projection: Projection::Timeline, at: None };
        let page = PageRequest { limit: 99, ..PageRequest::default() };
        let page = self.store.page(self.id, reading, page).await.expect("a page");
        let entries = page.entries.iter().map(|shown| {
            let entry = shown.entry.as_ref().expect("sound");
            let cut = if entry.meta.flags.interrupted { "…" } else { "" };
            format!("{}{cut}", joined_text(&entry.parts))
        });
        entries.collect::<Vec<_>>().join(" | ")
    }

    async fn newest(&self) -> retake_core::EntryId {
        self.engine.entry(self.id, "@").await.expect("there is a last entry")
    }

    async fn undo(&self) {
        let undo = Apply { action: Action::Undo(1), seen: Seen::Anything, by: self.engine.by(None) };
        self.engine.apply(self.id, undo).await.expect("undone");
    }
}

async fn start(store: &Arc<dyn Store>, clock: &ManualClock, puppet: &Arc<Puppet>, seed: u64) -> Arc<Engine> {
    let parts = Parts {
        store: Arc::clone(store),
        clock: Arc::new(clock.clone()),
        random: Arc::new(SeededRandom::new(seed)),
        models: Arc::new(Only(Arc::clone(puppet))),
        system_prompt: Some("be kind".into()),
        user: "ann".into(),
    };
    Engine::start(parts).await.expect("started")
}

async fn ended(mut events: BoxStream<'static, RunEvent>) -> Ended {
    while let Some(event) = events.next().await {
        if let RunEvent::Ended(ended) = event {
            return ended;
        }
    }
    panic!("a run's last event is its end")
}

fn ask(text: &str) -> Start {
    Start::Say(vec![Part::text(text)], None)
}

fn text(text: &str) -> Said {
    Ok(Chunk::Text(text.into()))
}

fn done() -> Said {
    Ok(Chunk::End(EndReason::Stop))
}

fn failure() -> Said {
    Err(ModelError::new(ModelErrorKind::Overloaded, "test/puppet"))
}

#[tokio::test]
async fn an_answer_is_stored_whole_with_its_usage() {
    let table = Table::new().await;
    let usage = Usage { input_tokens: Some(7), ..Usage::default() };
    let says = vec![text("hel"), text("lo"), Ok(Chunk::Usage(usage)), done()];
    let ended = table.turn(ask("hi"), says).await;
    assert_eq!((ended.outcome, table.shows().await.as_str()), (Outcome::Succeeded, "hi | hello"));
    let (prompt, _) = table.puppet.call();
    assert_eq!(prompt.system.as_deref(), Some("be kind"));
    assert_eq!(prompt.messages.len(), 1);
    let messages = table.store.prompt(table.id, None).await.expect("a prompt");
    assert_eq!(messages[1].model.as_deref(), Some("test/puppet"));
    table.turn(ask("more"), vec![text("ok"), done()]).await;
    assert_eq!(table.puppet.call().0.messages.len(), 3);
}

#[tokio::test]
async fn stopped_before_any_output_the_turn_is_taken_back() {
    let table = Table::new().await;
    table.turn(ask("one"), vec![text("1"), done()]).await;
    let mut events = table.run(ask("two")).await;
    table.until_called(&mut events).await;
    assert!(table.engine.cancel(table.id));
    let ended = ended(events).await;
    assert_eq!(ended.outcome, Outcome::RolledBack);
    let receipt = ended.receipt.expect("a receipt");
    let words = table.store.content(table.id, receipt.composer.expect("words")).await.expect("content");
    assert_eq!(words, [Part::text("two")]);
    assert_eq!(table.shows().await, "one | 1");
    table.undo().await;
    assert_eq!(table.shows().await, "", "what was stopped is no step of the undo line");
    assert!(!table.engine.cancel(table.id));
}

#[tokio::test]
async fn stopped_after_some_output_it_is_kept() {
    let table = Table::new().await;
    let mut events = table.run(ask("story")).await;
    table.until_called(&mut events).await;
    table.puppet.call().1.unbounded_send(text("once upon")).expect("somebody listens");
    assert!(matches!(events.next().await, Some(RunEvent::Text(_))));
    table.engine.cancel(table.id);
    let ended = ended(events).await;
    assert_eq!((ended.outcome, table.shows().await.as_str()), (Outcome::Interrupted, "story | once upon…"));
    assert!(table.store.streams().await.expect("streams").is_empty());
}

#[tokio::test]
async fn failed_before_any_output_the_prompt_stays() {
    let table = Table::new().await;
    let ended = table.turn(ask("hi"), vec![failure()]).await;
    assert_eq!((ended.outcome, table.shows().await.as_str()), (Outcome::Failed, "hi"));
    let error = ended.error.expect("an error");
    assert!(error.hint.is_some(), "{error}");
    let targets = table.store.targets(table.id, None, 9).await.expect("targets");
    assert_eq!(targets.len(), 1, "an unanswered turn is a target like any other");
    let ended = table.turn(Start::Answer, vec![text("late"), done()]).await;
    assert_eq!((ended.outcome, table.shows().await.as_str()), (Outcome::Succeeded, "hi | late"));
}

#[tokio::test]
async fn cut_after_some_output_it_is_kept_with_the_error() {
    let table = Table::new().await;
    let ended = table.turn(ask("hi"), vec![text("half"), failure()]).await;
    assert_eq!((ended.outcome, table.shows().await.as_str()), (Outcome::Interrupted, "hi | half…"));
    assert!(ended.error.is_some());
}

#[tokio::test]
async fn a_retry_that_fails_or_is_stopped_leaves_the_old_answer() {
    let table = Table::new().await;
    table.turn(ask("hi"), vec![text("old"), done()]).await;
    let old = table.newest().await;
    let ended_badly = table.turn(Start::Retry(old), vec![failure()]).await;
    assert_eq!((ended_badly.outcome, table.shows().await.as_str()), (Outcome::Failed, "hi | old"));
    let mut events = table.run(Start::Retry(old)).await;
    table.until_called(&mut events).await;
    table.engine.cancel(table.id);
    assert_eq!(ended(events).await.outcome, Outcome::RolledBack);
    assert_eq!(table.shows().await, "hi | old");
    let empty = table.turn(Start::Retry(old), vec![done()]).await;
    assert_eq!((empty.outcome, table.shows().await.as_str()), (Outcome::Failed, "hi | old"));
    table.turn(Start::Retry(old), vec![text("new"), done()]).await;
    assert_eq!(table.shows().await, "hi | new");
    assert_eq!(table.puppet.call().0.variant, 1);
    table.undo().await;
    assert_eq!(table.shows().await, "hi | old");
}

#[tokio::test]
async fn an_edit_is_a_sibling_and_stopping_it_brings_everything_back() {
    let table = Table::new().await;
    table.turn(ask("hi"), vec![text("one"), done()]).await;
    let prompt = table.engine.entry(table.id, "t1").await.expect("turn 1");
    let mut events = table.run(Start::Edit(prompt, vec![Part::text("hello")])).await;
    table.until_called(&mut events).await;
    assert_eq!(table.shows().await, "hello");
    table.engine.cancel(table.id);
    let stopped = ended(events).await;
    let words = stopped.receipt.and_then(|receipt| receipt.composer).expect("words");
    assert_eq!(table.store.content(table.id, words).await.expect("content"), [Part::text("hello")]);
    assert_eq!(table.shows().await, "hi | one");
    table.turn(Start::Edit(prompt, vec![Part::text("hello")]), vec![text("two"), done()]).await;
    assert_eq!(table.shows().await, "hello | two");
}

#[tokio::test]
async fn while_a_model_answers_nothing_goes_back() {
    let table = Table::new().await;
    let mut events = table.run(ask("hi")).await;
    table.until_called(&mut events).await;
    let undo = Apply { action: Action::Undo(1), seen: Seen::Anything, by: table.engine.by(None) };
    let refused = table.engine.apply(table.id, undo).await.expect_err("refused");
    assert_eq!(refused.code, "run_active");
    let request = RunRequest { start: ask("too"), model: None, seen: Seen::Anything, request: None };
    assert!(table.engine.run(table.id, request).await.is_err_and(|error| error.code == "run_active"));
    assert_eq!(table.shows().await, "hi");
    table.engine.cancel(table.id);
    ended(events).await;
}

#[tokio::test]
async fn a_crash_in_mid_stream_loses_no_more_than_a_second() {
    let table = Table::new().await;
    let mut events = table.run(ask("story")).await;
    table.until_called(&mut events).await;
    let (_, model) = table.puppet.call();
    model.unbounded_send(text("saved")).expect("somebody listens");
    assert!(matches!(events.next().await, Some(RunEvent::Text(_))));
    table.clock.advance(Duration::from_secs(1));
    while table.store.streams().await.expect("streams").is_empty() {
        tokio::task::yield_now().await;
    }
    let again = start(&table.store, &table.clock, &table.puppet, 2).await;
    assert_eq!(table.shows().await, "story | saved…");
    assert!(!again.is_running(table.id));
    assert!(table.store.streams().await.expect("streams").is_empty());
}

#[tokio::test]
async fn the_same_request_asks_the_model_once() {
    let table = Table::new().await;
    let request = |text: &str| RunRequest {
        start: ask(text),
        model: None,
        seen: Seen::Anything,
        request: Some("r-1".parse().expect("a request id")),
    };
    let mut events = table.engine.run(table.id, request("hi")).await.expect("started");
    table.until_called(&mut events).await;
    let (_, model) = table.puppet.call();
    model.unbounded_send(text("once")).expect("somebody listens");
    model.unbounded_send(done()).expect("somebody listens");
    ended(events).await;
    let again = ended(table.engine.run(table.id, request("hi")).await.expect("started")).await;
    assert_eq!(again.outcome, Outcome::Succeeded);
    assert_eq!((table.calls(), table.shows().await.as_str()), (1, "hi | once"));
    let reused = table.engine.run(table.id, request("other")).await;
    assert!(reused.is_err_and(|error| error.code == "request_reused"));
}

#[tokio::test]
async fn an_empty_message_is_refused_before_anything_is_stored() {
    let table = Table::new().await;
    let request = RunRequest { start: ask("  \n"), model: None, seen: Seen::Anything, request: None };
    assert!(table.engine.run(table.id, request).await.is_err_and(|error| error.code == "usage"));
    assert_eq!(table.shows().await, "");
    let names = table.engine.entry(table.id, "nothing").await.expect_err("unknown");
    assert_eq!(names.code, "unknown_entry");
    let role = Role::from_name("user").expect("a role");
    assert_eq!(role, Role::User);
}
