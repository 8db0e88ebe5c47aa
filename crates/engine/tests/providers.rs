//! Models over HTTP: what a turn sees of good and bad answers, and that the key is never shown.
//!
//! `posted` uses an independent server, `bytes` one that misbehaves on purpose. `found` tests servers that exist or not; `tools`
//! tests calls, `responses` OpenAI's second format, `requests` the whole requests, `rules` the rules of each format for messages, `folded` summaries and shortened results, `failures` the messages for people.

mod bytes;
mod failures;
mod folded;
mod found;
mod posted;
mod requests;
mod responses;
mod rules;
mod tools;

use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use retake_core::Role;
use retake_engine::clock::ManualClock;
use retake_engine::ids::SeededRandom;
use retake_engine::model::{Answer, Message, Model, ModelError, ModelErrorKind, Models, Prompt};
use retake_engine::secret::Environment;
use retake_engine::settings::{Settings, Time, WholeNumber};

use crate::raw::Raw;

/// The key that must never be shown.
const KEY: &str = "sk-test-0123456789";

/// The kinds of endpoints, and the paths below which their APIs usually are.
const KINDS: [(&str, &str); 5] = [
    ("openai", "/v1"),
    ("openai-responses", "/v1"),
    ("anthropic", "/v1"),
    ("gemini", "/v1beta"),
    ("ollama", ""),
];

/// Time limit for short steps.
const SOON: Duration = Duration::from_secs(30);

/// An endpoint `here` of a kind, as a turn sees it. Pauses before retries take no time.
struct Connection {
    settings: Settings,
    clock: ManualClock,
}

impl Connection {
    fn new(kind: &str, base_url: &str) -> Self {
        let text = format!(
            "[endpoint.here]\nbase_url = \"{base_url}\"\nkind = \"{kind}\"\nkey_env = \"HERE_KEY\"\n"
        );
        let mut settings = Settings::parse(&text).expect("valid settings");
        settings.retry.tries = WholeNumber(1);
        Self { settings, clock: ManualClock::skipping(0) }
    }

    /// To a server, at the usual path of this kind.
    fn to(server: &Raw, kind: &str) -> Self {
        let path = KINDS.iter().find(|(known, _)| *known == kind).map_or("", |(_, path)| path);
        Self::new(kind, &format!("{}{path}", server.address()))
    }

    /// Without a key.
    fn keyless(kind: &str, base_url: &str) -> Self {
        let text = format!("[endpoint.here]\nbase_url = \"{base_url}\"\nkind = \"{kind}\"\n");
        Self { settings: Settings::parse(&text).expect("valid settings"), ..Self::new(kind, base_url) }
    }

    /// Its settings with these tables instead of its own.
    fn with(&self, text: &str) -> Settings {
        let more = Settings::parse(text).expect("valid settings");
        Settings { model: more.model, models: more.models, ..self.settings.clone() }
    }

    fn tries(mut self, tries: u64) -> Self {
        self.settings.retry.tries = WholeNumber(tries);
        self
    }

    fn idle(mut self, idle: Duration) -> Self {
        self.settings.network.idle_timeout_s = Time(idle);
        self
    }

    fn first_byte(mut self, first_byte: Duration) -> Self {
        self.settings.network.first_byte_timeout_s = Time(first_byte);
        self
    }

    fn models(&self) -> Models {
        let environment = Environment::fixed([("HERE_KEY", KEY)]);
        let random = Arc::new(SeededRandom::new(1));
        Models::new(self.settings.clone(), environment, Arc::new(self.clock.clone()), random)
    }

    /// Says one message to `here/model`.
    async fn ask(&self, model: &str, text: &str) -> (Answer, Vec<String>, Option<ModelError>) {
        let model = self.models().open(&format!("here/{model}")).expect("a model");
        ask(&*model, vec![Message::text(Role::User, text)]).await
    }

    /// The answer, which must be complete.
    async fn answer(&self, model: &str, text: &str) -> Answer {
        let (answer, _, error) = self.ask(model, text).await;
        assert!(error.is_none(), "{error:?}");
        assert!(answer.end().is_some());
        answer
    }

    /// The error, which must come before any content.
    async fn error(&self, model: &str, text: &str) -> ModelError {
        let (answer, _, error) = self.ask(model, text).await;
        assert!(answer.is_empty(), "{answer:?}");
        error.expect("an error")
    }

    /// The text before an error, and the error's kind.
    async fn broken(&self, model: &str, text: &str) -> (String, ModelErrorKind) {
        let (answer, _, error) = self.ask(model, text).await;
        (answer.text().to_owned(), error.expect("an error").kind())
    }
}

/// Collects an answer, the notices and the error. Every error is checked for the key, and must be the last item.
async fn ask(model: &dyn Model, messages: Vec<Message>) -> (Answer, Vec<String>, Option<ModelError>) {
    gather(model, Prompt { system: Some("Be brief.".into()), messages, ..Prompt::default() }).await
}

/// The same for a whole prompt.
async fn gather(model: &dyn Model, prompt: Prompt) -> (Answer, Vec<String>, Option<ModelError>) {
    let gathered = async {
        let mut stream = model.stream(prompt);
        let (mut answer, mut notices, mut error) = (Answer::default(), Vec::new(), None);
        while let Some(item) = stream.next().await {
            assert!(error.is_none() && answer.end().is_none(), "something follows the end: {item:?}");
            match item {
                Ok(retake_engine::model::Chunk::Retry { wait, kind, detail }) => {
                    notices.push(format!(
                        "{} s: {} ({})",
                        wait.as_secs(),
                        kind.name(),
                        detail.unwrap_or_default()
                    ));
                }
                Ok(chunk) => answer.push(chunk),
                Err(failed) => error = Some(failed),
            }
        }
        (answer, notices, error)
    };
    let (answer, notices, error) = tokio::time::timeout(SOON, gathered).await.expect("in time");
    assert!(error.is_some() || answer.end().is_some(), "neither end nor error: {answer:?}");
    if let Some(error) = &error {
        assert!(!shown(error).contains(KEY), "{}", shown(error));
    }
    assert!(!notices.concat().contains(KEY));
    (answer, notices, error)
}

/// Every text of an error.
fn shown(error: &ModelError) -> String {
    let mut text = format!("{error:?} {error}");
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text} {error} {error:?}");
        cause = error.source();
    }
    text
}

/// The provider's text, as quoted by the error.
fn quoted(error: &ModelError) -> String {
    std::error::Error::source(error).map(ToString::to_string).unwrap_or_default()
}
