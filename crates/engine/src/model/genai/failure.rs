//! Converts the library's and the providers' errors to ours.
//!
//! Providers agree on little: if the status is not enough, their code or message decides. The key is removed from every
//! quote.

use std::sync::Arc;
use std::time::Duration;

use ::genai::Error;
use ::genai::webc::StreamTimeout;
use jiff::fmt::rfc2822;
use secrecy::{ExposeSecret, SecretString};
use serde_json::Value;

use super::super::{ModelError, ModelErrorKind};
use super::told;
use crate::clock::Clock;
use ModelErrorKind as Kind;

/// Creates the errors of one call.
pub(super) struct Failures {
    target: String,
    key: Option<SecretString>,
    clock: Arc<dyn Clock>,
}

impl Failures {
    pub(super) fn new(target: String, key: Option<SecretString>, clock: Arc<dyn Clock>) -> Self {
        Self { target, key, clock }
    }

    /// An error without a quote.
    pub(super) fn kind(&self, kind: Kind) -> ModelError {
        ModelError::new(kind, &self.target)
    }

    /// An error with the provider's message.
    pub(super) fn quoting(&self, kind: Kind, words: &str) -> ModelError {
        self.kind(kind).because(&self.without_key(words))
    }

    /// An error that the provider sent within a stream.
    pub(super) fn sent(&self, body: &Value) -> ModelError {
        let (code, message) = code_and_message(body);
        self.quoting(classify(None, &code, &message, None), &message)
    }

    /// An error of the library.
    pub(super) fn of(&self, error: &Error) -> ModelError {
        match error {
            Error::HttpError { status, body, headers, .. } => {
                let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
                let wait = retry_after(header, self.clock.now_ms());
                self.status(status.as_u16(), body, wait)
            }
            Error::WebStream { error, .. } => self.transport(&**error),
            Error::ChatResponse { body, .. } => self.sent(body),
            Error::StreamParse { serde_error, .. } => self.quoting(Kind::BadReply, &serde_error.to_string()),
            Error::WebModelCall { webc_error: ::genai::webc::Error::Reqwest(error), .. } => {
                self.transport(error)
            }
            Error::RequiresApiKey { .. } | Error::NoAuthData { .. } | Error::NoAuthResolver { .. } => {
                self.kind(Kind::NoKey)
            }
            Error::ChatReqHasNoMessages { .. } | Error::MessageContentTypeNotSupported { .. } => {
                self.quoting(Kind::Rejected, &error.to_string())
            }
            other => self.quoting(Kind::BadReply, &other.to_string()),
        }
    }

    fn status(&self, status: u16, body: &str, wait: Option<Duration>) -> ModelError {
        let json = serde_json::from_str::<Value>(body).unwrap_or_else(|_| Value::from(body));
        let (code, message) = code_and_message(&json);
        let kind = classify(Some(status), &code, &message, wait);
        let detail = match wait {
            Some(wait) => format!("HTTP {status}, retry after {} s", wait.as_secs_f64().ceil()),
            None => format!("HTTP {status}"),
        };
        self.quoting(kind, &message).detail(detail)
    }

    fn transport(&self, error: &(dyn std::error::Error + Send + Sync + 'static)) -> ModelError {
        if let Some(error) = error.downcast_ref::<Error>() {
            return self.of(error);
        }
        if error.is::<StreamTimeout>() {
            return self.kind(Kind::TimedOut);
        }
        let Some(error) = error.downcast_ref::<reqwest::Error>() else {
            return self.quoting(Kind::BadReply, &told(error));
        };
        let kind = match () {
            () if error.is_builder() => Kind::BadSettings,
            () if error.is_connect() => Kind::Unreachable,
            () if error.is_timeout() => Kind::TimedOut,
            () => Kind::Cut,
        };
        // The outer layers repeat the address; the innermost one contains the cause.
        let mut inner: &dyn std::error::Error = error;
        while let Some(source) = inner.source() {
            inner = source;
        }
        self.quoting(kind, &inner.to_string())
    }

    fn without_key(&self, words: &str) -> String {
        match &self.key {
            Some(key) => words.replace(key.expose_secret(), "[key]"),
            None => words.to_owned(),
        }
    }
}

/// The machine-readable words (type, code, status) and the message of an error body, in any provider's form.
fn code_and_message(body: &Value) -> (String, String) {
    let body = body.as_array().and_then(|list| list.first()).unwrap_or(body);
    let error = body.get("error").unwrap_or(body);
    let codes = ["type", "code", "status"].iter().filter_map(|name| error.get(name).and_then(Value::as_str));
    let code = codes.collect::<Vec<_>>().join(" ");
    let message = [error.get("message"), error.get("detail"), body.get("message"), Some(error)];
    let message = message.into_iter().flatten().find_map(Value::as_str).unwrap_or_default();
    (code, message.to_owned())
}

/// The wait that the provider requests: a number, or a date, which is relative to the provider's own clock if it sends
/// one.
fn retry_after<'a>(header: impl Fn(&str) -> Option<&'a str>, now_ms: i64) -> Option<Duration> {
    let number = |name: &str| header(name)?.trim().parse::<f64>().ok().filter(|n| n.is_finite() && *n >= 0.0);
    if let Some(seconds) = number("retry-after-ms").map(|ms| ms / 1e3).or_else(|| number("retry-after")) {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let date = |name: &str| rfc2822::parse(header(name)?.trim()).ok().map(|date| date.timestamp());
    let until = date("retry-after")?.as_millisecond();
    let now = date("date").map_or(now_ms, |date| date.as_millisecond());
    Some(Duration::from_millis(u64::try_from(until - now).unwrap_or_default()))
}

fn classify(status: Option<u16>, code: &str, message: &str, wait: Option<Duration>) -> Kind {
    let (code, message) = (code.to_lowercase(), message.to_lowercase());
    let coded = |words: &[&str]| words.iter().any(|word| code.contains(word));
    let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
    if status.is_none_or(|status| status < 500) {
        if coded(&["context_length", "request_too_large"]) || says(&TOO_LONG) {
            return Kind::ContextTooLong;
        }
        if coded(&["insufficient_quota", "billing"]) || says(&["credit balance"]) {
            return Kind::OutOfCredit;
        }
        if coded(&["content_filter", "content_policy"]) {
            return Kind::SafetyRefusal;
        }
        if says(&["api key not valid", "api key expired"]) {
            return Kind::Refused;
        }
    }
    match status {
        Some(401 | 403) => Kind::Refused,
        Some(402) => Kind::OutOfCredit,
        Some(404) => Kind::UnknownModel,
        Some(408) => Kind::TimedOut,
        Some(413) => Kind::ContextTooLong,
        Some(429) => Kind::RateLimited { retry_after: wait },
        Some(300..=399) => Kind::BadSettings,
        Some(400..=499) => Kind::Rejected,
        Some(_) => Kind::Overloaded,
        None if coded(&["authentication", "permission"]) => Kind::Refused,
        None if coded(&["not_found"]) => Kind::UnknownModel,
        None if coded(&["rate_limit"]) => Kind::RateLimited { retry_after: None },
        None if coded(&["invalid_request"]) => Kind::Rejected,
        None => Kind::Overloaded,
    }
}

/// Phrases of providers for a prompt that is too long, if they have no code for it.
const TOO_LONG: [&str; 9] = [
    "context length",
    "context window",
    "maximum context",
    "prompt is too long",
    "available context size",
    "input token count",
    "context limit",
    "maximum prompt length",
    "input is too long",
];

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use super::*;

    fn failures() -> Failures {
        let clock = Arc::new(crate::clock::ManualClock::new(0));
        Failures::new("openai/x at http://h/v1".into(), Some(SecretString::from("sk-secret")), clock)
    }

    #[test]
    fn statuses_and_words_become_kinds() {
        let cases = [
            (401, r#"{"error":{"message":"no","type":"authentication_error"}}"#, Kind::Refused),
            (403, "", Kind::Refused),
            (402, "", Kind::OutOfCredit),
            (404, r#"{"error":"model 'x' not found"}"#, Kind::UnknownModel),
            (400, r#"{"error":{"message":"x","code":"context_length_exceeded"}}"#, Kind::ContextTooLong),
            (400, r#"{"error":{"message":"prompt is too long: 9 > 8","type":"x"}}"#, Kind::ContextTooLong),
            (
                400,
                r#"[{"error":{"message":"API key not valid.","status":"INVALID_ARGUMENT"}}]"#,
                Kind::Refused,
            ),
            (
                400,
                r#"{"error":{"message":"input length and `max_tokens` exceed context limit: 9 > 8"}}"#,
                Kind::ContextTooLong,
            ),
            (400, r#"{"error":{"message":"x","code":"content_filter"}}"#, Kind::SafetyRefusal),
            (400, "{}", Kind::Rejected),
            (429, r#"{"error":{"message":"x","code":"insufficient_quota"}}"#, Kind::OutOfCredit),
            (429, "slow down", Kind::RateLimited { retry_after: None }),
            (500, "context window", Kind::Overloaded),
            (529, "", Kind::Overloaded),
            (302, "", Kind::BadSettings),
        ];
        for (status, body, kind) in cases {
            assert_eq!(failures().status(status, body, None).kind(), kind, "{status} {body}");
        }
    }

    #[test]
    fn errors_within_a_stream_become_kinds() {
        let cases = [
            (r#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#, Kind::Overloaded),
            (r#"{"message":"slow","type":"rate_limit_error"}"#, Kind::RateLimited { retry_after: None }),
            (r#"{"message":"no","type":"invalid_request_error"}"#, Kind::Rejected),
            (r#""out of memory""#, Kind::Overloaded),
        ];
        for (body, kind) in cases {
            let error = failures().sent(&serde_json::from_str(body).expect("JSON"));
            assert_eq!(error.kind(), kind, "{body}");
            assert!(error.source().is_some(), "{body}");
        }
    }

    #[test]
    fn the_key_is_taken_out_of_what_a_provider_says() {
        let error = failures().status(401, r#"{"error":{"message":"Incorrect API key: sk-secret."}}"#, None);
        assert_eq!(error.source().expect("quoted").to_string(), "Incorrect API key: [key].");
        assert!(!format!("{error} {error:?}").contains("sk-secret"));
    }

    #[test]
    fn retry_after_is_a_number_or_a_date() {
        // Ten seconds before the date in the specification of HTTP.
        let now_ms = 784_111_767_000;
        let after = |headers: &[(&str, &'static str)]| {
            retry_after(|name| headers.iter().find(|(n, _)| *n == name).map(|(_, value)| *value), now_ms)
        };
        let date = ("retry-after", "Sun, 06 Nov 1994 08:49:37 GMT");
        assert_eq!(after(&[date]), Some(Duration::from_secs(10)));
        let theirs = ("date", "Sun, 06 Nov 1994 08:49:07 GMT");
        assert_eq!(after(&[date, theirs]), Some(Duration::from_secs(30)));
        assert_eq!(after(&[date, ("date", "Mon, 07 Nov 1994 08:49:37 GMT")]), Some(Duration::ZERO));
        assert_eq!(after(&[("retry-after", "Sun, 06 Nov 1994")]), None);
        assert_eq!(after(&[("retry-after", "7")]), Some(Duration::from_secs(7)));
        assert_eq!(
            after(&[("retry-after", "7"), ("retry-after-ms", "250")]),
            Some(Duration::from_millis(250))
        );
        assert_eq!(after(&[("retry-after", "-1")]), None);
        assert_eq!(after(&[("retry-after", "soon")]), None);
        assert_eq!(after(&[("retry-after", "1e300")]), None);
    }
}
