//! The trait through which a turn calls a model, with its input and output.
//!
//! Details of providers end here: a turn sees a [`Prompt`], a stream of [`Chunk`]s and a [`ModelError`]. A model
//! must never know of conversations, storage or settings files.

pub mod answer;
pub mod demo;
pub mod discover;
pub mod error;
pub(crate) mod facts;
pub mod genai;
pub mod probe;
pub mod retry;

use std::time::Duration;

use futures::stream::BoxStream;
use retake_core::{Part, Usage};
use strum::IntoStaticStr;

pub use retake_core::Message;

pub use answer::Answer;
pub use demo::Demo;
pub use discover::{Catalogue, Choice, ChosenBy, Models, OfferedModel, Unavailable};
pub use error::{ModelError, ModelErrorKind};
pub use retry::{RetryPolicy, Retrying};

/// The input of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Prompt {
    /// The system prompt.
    pub system: Option<String>,
    /// The conversation, oldest first.
    pub messages: Vec<Message>,
    /// The tools that the model may call.
    pub tools: Vec<ToolSpec>,
    /// The number of existing alternatives of this answer. Only deterministic models use it, to give a different
    /// answer.
    pub variant: u32,
}

/// A tool, as the model sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolSpec {
    /// Its name: ASCII letters, digits, `_` and `-`.
    pub name: String,
    /// What it does and when to use it.
    pub about: String,
    /// The JSON Schema of its arguments.
    pub schema: serde_json::Value,
}

impl ToolSpec {
    /// The specification of a tool for the model.
    pub(crate) fn of(tool: &dyn retake_tools::Tool) -> Self {
        Self { name: tool.name().to_owned(), about: tool.about().to_owned(), schema: tool.schema() }
    }
}

/// One piece of a streamed answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chunk {
    /// More of the answer's text.
    Text(String),
    /// More of the reasoning, to show while it streams. At the end of a complete answer a `Part` with all of it
    /// and its signature replaces these pieces.
    Reasoning(String),
    /// A part that is only known completely: reasoning with its signature, or a tool call.
    Part(Part),
    /// The usage of the call. The last one counts.
    Usage(Usage),
    /// The answer is complete. Nothing follows.
    End(EndReason),
    /// Not part of the answer: the call is retried.
    Retry {
        /// After this time.
        wait: Duration,
        /// The kind of failure.
        kind: ModelErrorKind,
        /// A short detail, such as `HTTP 429`.
        detail: Option<String>,
    },
}

impl Chunk {
    /// Whether this is a part of the answer itself.
    pub fn is_content(&self) -> bool {
        matches!(self, Self::Text(_) | Self::Reasoning(_) | Self::Part(_))
    }
}

/// Why an answer ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EndReason {
    /// The model finished.
    Stop,
    /// The limit of tokens was reached.
    Length,
    /// The provider or the model refused to continue.
    Refusal,
    /// The model waits for the results of its tool calls.
    ToolUse,
    /// Another reason, in the provider's word.
    Other(String),
}

/// What is known about a model. `None` is unknown, and must be shown as unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ModelInfo {
    /// Size of the context window in tokens.
    pub context_tokens: Option<u64>,
    /// The most tokens of an answer.
    pub output_tokens: Option<u64>,
    /// US dollars per million tokens of the prompt.
    pub input_price: Option<f64>,
    /// US dollars per million tokens of the prompt that the provider reads from its cache.
    pub cached_input_price: Option<f64>,
    /// US dollars per million tokens of the answer.
    pub output_price: Option<f64>,
    /// Whether it takes pictures.
    pub images: Option<bool>,
    /// Whether the effort of its reasoning can be set.
    pub takes_effort: Option<bool>,
    /// The effort that the settings ask for.
    pub effort: Option<Effort>,
}

impl ModelInfo {
    /// The effort that is sent: none to a model that is not known to take one.
    pub fn sent_effort(&self) -> Option<Effort> {
        self.effort.filter(|_| self.takes_effort == Some(true))
    }
}

/// How much a model reasons before it answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Effort {
    /// Little: the answer is quick and cheap.
    Low,
    /// Between both.
    Medium,
    /// Much: the answer is slow and costs more.
    High,
}

/// A language model.
pub trait Model: Send + Sync {
    /// `provider/model`, such as `anthropic/…`; or `demo`.
    fn name(&self) -> &str;

    /// What is known about it.
    fn info(&self) -> ModelInfo;

    /// Calls the model. The stream ends with one [`Chunk::End`] or one error, and nothing after it. Dropping the
    /// stream cancels the call. Nothing is sent before the stream is first polled.
    fn stream(&self, prompt: Prompt) -> BoxStream<'static, Result<Chunk, ModelError>>;
}

/// The cost of a call in US dollars by these prices; `None` if a count or a price that it needs is unknown.
///
/// Without a price for cached tokens they cost as much as the others, so the cost is never too low.
pub(crate) fn cost(usage: &Usage, info: &ModelInfo) -> Option<f64> {
    let input = usage.input_tokens?;
    let cached = usage.cached_input_tokens.unwrap_or(0).min(input);
    let input_price = info.input_price?;
    let cached_price = info.cached_input_price.unwrap_or(input_price);
    let output = price(usage.output_tokens?, info.output_price?);
    Some(price(input - cached, input_price) + price(cached, cached_price) + output)
}

#[expect(clippy::cast_precision_loss, reason = "no call has 2^53 tokens, and a price is an estimate")]
fn price(tokens: u64, per_million: f64) -> f64 {
    tokens as f64 * per_million / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input: u64, cached: Option<u64>, output: u64) -> Usage {
        Usage { input_tokens: Some(input), cached_input_tokens: cached, output_tokens: Some(output) }
    }

    const PRICED: ModelInfo = ModelInfo {
        context_tokens: None,
        output_tokens: None,
        input_price: Some(3.0),
        cached_input_price: Some(0.3),
        output_price: Some(15.0),
        images: None,
        takes_effort: None,
        effort: None,
    };

    #[test]
    fn the_cost_counts_cached_tokens_apart() {
        let cost = cost(&usage(1_000_000, Some(400_000), 100_000), &PRICED).expect("known");
        assert!((cost - (1.8 + 0.12 + 1.5)).abs() < 1e-9, "{cost}");
    }

    #[test]
    fn without_a_cached_price_they_cost_as_the_others() {
        let info = ModelInfo { cached_input_price: None, ..PRICED };
        let cost = cost(&usage(1_000_000, Some(400_000), 0), &info).expect("known");
        assert!((cost - 3.0).abs() < 1e-9, "{cost}");
    }

    #[test]
    fn unknown_price_makes_the_cost_unknown() {
        assert_eq!(cost(&usage(1, None, 1), &ModelInfo::default()), None);
        assert_eq!(cost(&usage(1, None, 1), &ModelInfo { output_price: None, ..PRICED }), None);
        assert_eq!(cost(&Usage { output_tokens: Some(1), ..Usage::default() }, &PRICED), None);
    }
}
