//! The errors of model calls, for people.
//!
//! An error names the model and the address, never a key, a header or a query. The provider's message is the
//! `source`: cleaned, shortened, and with any key removed.

use std::time::Duration;

use retake_core::{Field, Remedy};
use strum::IntoStaticStr;
use thiserror::Error;

use crate::secret::KeyError;

/// The longest quote of a provider's message, in characters.
const MAX_QUOTE: usize = 400;

/// The kinds of failure that callers distinguish.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum ModelErrorKind {
    /// No key is configured, or it cannot be read.
    NoKey,
    /// The provider refuses the key, or the key may not use the model (401, 403).
    Refused,
    /// The account has no credit or quota left (402, or a 429 with that reason).
    OutOfCredit,
    /// Too many requests (429).
    RateLimited {
        /// The wait that the provider requests.
        retry_after: Option<Duration>,
    },
    /// The provider has a problem of its own (5xx).
    Overloaded,
    /// The prompt is longer than the model's context.
    ContextTooLong,
    /// The provider refuses to answer the prompt.
    SafetyRefusal,
    /// The model, or the address, does not exist (404).
    UnknownModel,
    /// The provider rejects the request (another 4xx).
    Rejected,
    /// No connection.
    Unreachable,
    /// The connection ended before the answer was complete.
    Cut,
    /// Nothing arrived for too long.
    TimedOut,
    /// The answer reached its limit in the middle of a tool call.
    OutputLimit,
    /// The model wrote an invalid tool call.
    BadCall,
    /// The reply violates the protocol.
    BadReply,
    /// The settings for the model are wrong.
    BadSettings,
}

impl ModelErrorKind {
    /// Its name in all output formats.
    pub fn name(self) -> &'static str {
        self.into()
    }

    fn what(self) -> &'static str {
        match self {
            Self::NoKey => "there is no key for it",
            Self::Refused => "the key was refused",
            Self::OutOfCredit => "the account has no credit or quota left",
            Self::RateLimited { .. } => "rate limit",
            Self::Overloaded => "the provider has trouble",
            Self::ContextTooLong => "the conversation is too long for its context",
            Self::SafetyRefusal => "the provider does not answer this",
            Self::UnknownModel => "there is no such model",
            Self::Rejected => "the provider rejected the request",
            Self::Unreachable => "it cannot be reached",
            Self::Cut => "the connection ended before the answer was complete",
            Self::TimedOut => "nothing arrived for too long",
            Self::OutputLimit => "the answer reached its limit in the middle of a tool call",
            Self::BadCall => "the model wrote an invalid tool call",
            Self::BadReply => "the reply makes no sense",
            Self::BadSettings => "the settings are wrong",
        }
    }

    /// What helps, in the order of the hint for it.
    fn remedies(self) -> Vec<Remedy> {
        use Remedy::{Config, Edit, Exclude, Fold, Model, Models, Retry, Rewind};
        match self {
            Self::NoKey | Self::BadReply => Vec::new(),
            Self::Refused | Self::OutOfCredit => vec![Model],
            Self::RateLimited { .. } | Self::Overloaded | Self::BadCall => vec![Retry, Model],
            Self::ContextTooLong => vec![Rewind, Fold, Exclude, Model],
            Self::SafetyRefusal | Self::Rejected => vec![Edit, Model],
            Self::UnknownModel => vec![Models],
            Self::Unreachable | Self::Cut | Self::TimedOut => vec![Retry],
            Self::OutputLimit => vec![Edit, Retry],
            Self::BadSettings => vec![Config],
        }
    }
}

/// A failed call of a model.
#[derive(Debug, Error)]
#[error("cannot get an answer from {target}: {}", self.brief())]
pub struct ModelError {
    kind: ModelErrorKind,
    target: String,
    detail: Option<String>,
    fields: Vec<(&'static str, Field)>,
    #[source]
    cause: Option<Cause>,
}

impl ModelError {
    /// An error of `kind` for `target`: the model's name, and its address.
    pub fn new(kind: ModelErrorKind, target: impl Into<String>) -> Self {
        Self { kind, target: target.into(), detail: None, fields: Vec::new(), cause: None }
    }

    /// Adds a short detail in brackets, such as `HTTP 401`.
    #[must_use]
    pub fn detail(mut self, detail: impl Into<String>) -> Self {
        self.detail = Some(detail.into());
        self
    }

    /// Adds a message of the provider or a lower layer. The caller has removed any key.
    #[must_use]
    pub fn because(mut self, words: &str) -> Self {
        let quote = quoted(words);
        self.cause = (!quote.is_empty()).then_some(Cause(quote));
        self
    }

    /// Adds a named value, of which clients make a better hint than of the kind alone.
    #[must_use]
    pub fn with(mut self, name: &'static str, value: impl Into<Field>) -> Self {
        self.fields.push((name, value.into()));
        self
    }

    /// The error for a key that is not available.
    pub(crate) fn no_key(target: impl Into<String>, error: &KeyError) -> Self {
        Self { fields: error.fields(), ..Self::new(ModelErrorKind::NoKey, target) }
    }

    /// A model's name, and where it was sought.
    pub(crate) fn target(&self) -> &str {
        &self.target
    }

    /// The kind of failure.
    pub fn kind(&self) -> ModelErrorKind {
        self.kind
    }

    /// Whether the same request may succeed later.
    pub fn retryable(&self) -> bool {
        use ModelErrorKind as Kind;
        matches!(
            self.kind,
            Kind::RateLimited { .. }
                | Kind::Overloaded
                | Kind::Unreachable
                | Kind::Cut
                | Kind::TimedOut
                | Kind::BadCall
        )
    }

    /// What helps, in the order of the hint for it.
    pub(crate) fn remedies(&self) -> Vec<Remedy> {
        match self.kind {
            // Without the place of the key, nobody can be told where to put it.
            ModelErrorKind::NoKey if self.fields.is_empty() => vec![Remedy::Model],
            kind => kind.remedies(),
        }
    }

    /// The values that were added.
    pub(crate) fn fields(&self) -> &[(&'static str, Field)] {
        &self.fields
    }

    /// What failed, without the address: `rate limit (HTTP 429)`.
    pub fn brief(&self) -> String {
        let detail = self.detail.as_ref().map(|detail| format!(" ({detail})")).unwrap_or_default();
        format!("{}{detail}", self.kind.what())
    }

    /// A short detail, such as `HTTP 429`.
    pub fn detail_text(&self) -> Option<&str> {
        self.detail.as_deref()
    }
}

/// A message of another program.
#[derive(Debug, Error)]
#[error("{0}")]
struct Cause(String);

/// Untrusted text on one line, without control characters.
fn quoted(words: &str) -> String {
    let line = words.split(|c: char| c.is_control() || c.is_whitespace()).filter(|word| !word.is_empty());
    let line = line.collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(MAX_QUOTE) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    #[test]
    fn an_error_says_what_was_attempted_on_what() {
        let error =
            ModelError::new(ModelErrorKind::Refused, "openai/x at https://api.example/v1").detail("HTTP 401");
        assert_eq!(
            error.to_string(),
            "cannot get an answer from openai/x at https://api.example/v1: the key was refused (HTTP 401)"
        );
        assert_eq!(error.brief(), "the key was refused (HTTP 401)");
        assert!(!error.retryable());
    }

    #[test]
    fn foreign_words_are_the_source_on_one_clean_line() {
        let error = ModelError::new(ModelErrorKind::Overloaded, "m").because("try\n\u{1b}[31m later\u{7}");
        let cause = error.source().expect("a cause").to_string();
        assert_eq!(cause, "try [31m later");
        assert!(!error.to_string().contains("later"));
        assert!(error.retryable());
        let long = ModelError::new(ModelErrorKind::Overloaded, "m").because(&"ä".repeat(1_000));
        assert_eq!(long.source().expect("a cause").to_string().chars().count(), MAX_QUOTE + 1);
        assert!(ModelError::new(ModelErrorKind::Cut, "m").because(" \n").source().is_none());
    }
}
