//! How much of the model's context is used: what the provider counted or else an estimate, and the warning about a prompt that does
//! not fit.

use std::sync::Arc;

use futures::StreamExt;
use futures::stream::BoxStream;
use retake_core::{Action, Message, Mode, Part, Usage};
use retake_engine::model::{Chunk, Model, ModelInfo, Prompt};
use retake_engine::{ContextUse, Notice, Start};
use retake_testkit::{ModelOutput, SingleModelCatalogue};
use retake_tools::ShellConfig;
use serde_json::json;

use super::{Desk, calls, engine_with, words};

/// A model that counts a token for four bytes.
struct Counting {
    limit: Option<u64>,
}

impl Counting {
    fn tokens(prompt: &Prompt) -> u64 {
        let tools = prompt.tools.iter().map(|tool| tool.about.len() + tool.schema.to_string().len());
        let messages = prompt.messages.iter().map(Message::bytes);
        let bytes = tools.chain(messages).sum::<usize>() + prompt.system.as_ref().map_or(0, String::len);
        bytes as u64 / 4
    }
}

impl Model for Counting {
    fn name(&self) -> &str {
        "test/counting"
    }

    fn info(&self) -> ModelInfo {
        ModelInfo { context_tokens: self.limit, ..ModelInfo::default() }
    }

    fn stream(&self, prompt: Prompt) -> BoxStream<'static, ModelOutput> {
        let last = prompt.messages.last().and_then(|last| last.parts.last());
        let works = matches!(last, Some(Part::Text(text)) if text == "work");
        let is_summary = matches!(last, Some(Part::Text(text)) if text.starts_with("Write a summary"));
        let mut answer = match (works, is_summary) {
            (true, _) => calls(&[("shell", json!({"command": "seq 1 2000"}))]),
            (_, true) => words("All was said."),
            _ => words("yes"),
        };
        let usage =
            Usage { input_tokens: Some(Self::tokens(&prompt)), output_tokens: Some(2), ..Usage::default() };
        answer.insert(0, Ok(Chunk::Usage(usage)));
        futures::stream::iter(answer).boxed()
    }
}

async fn desk(limit: Option<u64>) -> Desk {
    let desk = Desk::new(Mode::AllowAll).await;
    let models = Arc::new(SingleModelCatalogue(Arc::new(Counting { limit })));
    let engine = engine_with(&desk.store, &desk.dir, models, Mode::AllowAll, ShellConfig::default()).await;
    Desk { engine, ..desk }
}

impl Desk {
    async fn context(&self, message: &str) -> ContextUse {
        let parts = if message.is_empty() { Vec::new() } else { vec![Part::text(message)] };
        self.engine.context(self.id, None, parts).await.expect("read")
    }
}

/// Whether two numbers differ by less than a tenth.
fn is_near(one: u64, other: u64) -> bool {
    one.abs_diff(other) * 10 < other
}

#[tokio::test]
async fn context_is_what_the_provider_counted_until_something_changes() {
    let desk = desk(Some(100_000)).await;
    let before = desk.context("").await;
    assert!(!before.is_counted && before.parts.system > 0, "{before:?}");
    assert_eq!((before.limit, before.summarised_at), (Some(100_000), Some(80_000)));
    desk.write("AGENTS.md", "Always be brief.");
    desk.turn("hello", Vec::new()).await;
    let first = desk.context("").await;
    assert!(first.is_counted, "{first:?}");
    assert!(first.parts.notes > 0 && first.parts.messages > 0, "{first:?}");
    assert_eq!((first.parts.summaries, first.parts.results), (0, 0));
    desk.turn("work", Vec::new()).await;
    let worked = desk.context("").await;
    assert!(worked.is_counted && worked.parts.results > 1_000, "{worked:?}");
    let parts = worked.parts;
    let sum = parts.system + parts.notes + parts.summaries + parts.messages + parts.results;
    assert_eq!(sum, worked.used);
    // An operation changes the prompt: the rest is estimated, near to what will be counted.
    desk.apply(Action::Undo(1)).await;
    let back = desk.context("").await;
    assert!(!back.is_counted && is_near(back.used, first.used), "{back:?} {first:?}");
    desk.apply(Action::Redo(1)).await;
    let compaction = retake_engine::Compaction::default();
    let run = desk.run(Start::Compact(compaction)).await;
    desk.follow(run, &mut |_| None).await;
    let folded = desk.context("").await;
    assert!(folded.parts.summaries > 0 && folded.parts.results == 0, "{folded:?}");
    assert!(folded.used < worked.used && !folded.is_counted);
}

#[tokio::test]
async fn warning_about_a_message_that_does_not_fit_comes_before_it_is_sent() {
    let long = "many words ".repeat(40_000);
    let desk = desk(Some(100_000)).await;
    desk.turn("hello", Vec::new()).await;
    assert!(desk.context("a short message").await.warning.is_none());
    let warning = desk.context(&long).await.warning.expect("it is too long");
    let Notice::TooLongForModel { model, tokens, limit } = warning else { panic!("{warning:?}") };
    assert_eq!((model.as_str(), limit), ("test/counting", 100_000));
    assert!(tokens > 105_000, "{tokens}");
    // A file that the message mentions counts.
    desk.write("short.txt", "few words");
    assert!(desk.context("look at @short.txt").await.warning.is_none());
    // The run itself says it, too, and only once.
    let (_, told) = desk.turn(&long, Vec::new()).await;
    assert_eq!(told.iter().filter(|line| line.contains("TooLongForModel")).count(), 1, "{told:?}");
    let (_, told) = desk.turn("short again", Vec::new()).await;
    assert!(!told.iter().any(|line| line.contains("TooLongForModel")), "it was summarised: {told:?}");
}

#[tokio::test]
async fn context_of_an_unknown_size_has_no_limit_and_no_warning() {
    let desk = desk(None).await;
    let unknown = desk.context(&"many words ".repeat(40_000)).await;
    assert_eq!((unknown.limit, unknown.summarised_at), (None, None));
    assert!(unknown.warning.is_none() && unknown.used > 0, "{unknown:?}");
    assert_eq!(unknown.model.as_deref(), Some("test/counting"));
}
