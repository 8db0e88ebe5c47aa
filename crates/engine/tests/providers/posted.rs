//! Tests with `llmposter`: both formats streamed, tool calls, and the errors that it can produce.

use std::time::Duration;

use retake_core::{Part, Usage};
use retake_engine::model::{EndReason, ModelErrorKind};

use super::{Connection, KEY, quoted};
use crate::poster::Poster;

const FIXTURES: &str = r#"
fixtures:
  - match: { user_message: "plain" }
    response: { content: "Sieben Äpfel, 七个苹果, of course." }
    streaming: { latency: 1, chunk_size: 3 }
  - match: { user_message: "tool" }
    response: { tool_calls: [{ name: weather, arguments: { city: Bern, days: 2 } }] }
  - match: { user_message: "long" }
    provider: openai
    response: { content: "and so", finish_reason: length }
  - match: { user_message: "limited" }
    scenario: { name: limit, required_state: "", set_state: over }
    error: { status: 429, message: "slow down", headers: { retry-after: "7" } }
  - match: { user_message: "limited" }
    scenario: { name: limit, required_state: over, set_state: over }
    response: { content: "now" }
  - match: { user_message: "refused" }
    error: { status: 401, message: "the key sk-test-0123456789 is not valid" }
  - match: { user_message: "nowhere" }
    error: { status: 404, message: "no such model" }
  - match: { user_message: "broken" }
    error: { status: 500, message: "oops" }
  - match: { user_message: "busy" }
    error: { status: 529, message: "overloaded" }
  - match: { user_message: "cut" }
    response: { content: "one two three four five six seven" }
    streaming: { latency: 1, chunk_size: 4 }
    failure: { truncate_after_frames: 5 }
  - match: { user_message: "nonsense" }
    response: { content: "never seen" }
    failure: { corrupt_body: true }
  - match: { user_message: "slow" }
    response: { content: "one two three four five six seven" }
    streaming: { latency: 160, chunk_size: 4 }
"#;

const FORMATS: [(&str, &str); 4] =
    [("openai", "v1"), ("openai-responses", "v1"), ("anthropic", "v1"), ("gemini", "v1beta")];

/// Runs a check on each format, on a server of its own.
async fn on_each<C: AsyncFn(Connection, &'static str)>(check: C) {
    for (kind, path) in FORMATS {
        let poster = Poster::start(FIXTURES);
        check(Connection::new(kind, &format!("{}/{path}", poster.address())), kind).await;
    }
}

#[tokio::test]
async fn an_answer_is_streamed_whole() {
    on_each(async |connection, kind| {
        let answer = connection.answer("m", "plain").await;
        assert_eq!(answer.parts(), [Part::text("Sieben Äpfel, 七个苹果, of course.")], "{kind}");
        assert_eq!(answer.end(), Some(&EndReason::Stop), "{kind}");
    })
    .await;
}

#[tokio::test]
async fn the_usage_is_what_the_server_reports() {
    let poster = Poster::start(FIXTURES);
    for (kind, path) in [("anthropic", "v1"), ("gemini", "v1beta")] {
        let answer =
            Connection::new(kind, &format!("{}/{path}", poster.address())).answer("m", "plain").await;
        let usage = answer.usage().expect("reported");
        assert!(usage.input_tokens > Some(0) && usage.output_tokens > Some(0), "{kind}: {usage:?}");
    }
    // This server reports none in OpenAI's format, and none is invented.
    let answer = Connection::new("openai", &format!("{}/v1", poster.address())).answer("m", "plain").await;
    assert_eq!(answer.usage().unwrap_or_default(), Usage::default());
}

#[tokio::test]
async fn a_tool_call_arrives_with_its_arguments() {
    on_each(async |connection, kind| {
        let answer = connection.answer("m", "tool").await;
        let [Part::ToolCall { id, name, arguments }] = &answer.parts()[..] else {
            panic!("{kind}: {answer:?}")
        };
        let arguments: serde_json::Value = serde_json::from_str(arguments).expect("JSON");
        assert_eq!(
            (name.as_str(), &arguments["city"], &arguments["days"]),
            ("weather", &"Bern".into(), &2.into())
        );
        assert!(!id.is_empty(), "{kind}");
    })
    .await;
}

#[tokio::test]
async fn an_answer_at_the_limit_of_tokens_says_so() {
    let poster = Poster::start(FIXTURES);
    let answer = Connection::new("openai", &format!("{}/v1", poster.address())).answer("m", "long").await;
    assert_eq!(answer.end(), Some(&EndReason::Length));
}

#[tokio::test]
async fn a_rate_limit_is_waited_for_as_long_as_requested() {
    on_each(async |connection, kind| {
        let connection = connection.tries(2);
        let (answer, notices, error) = connection.ask("m", "limited").await;
        assert!(error.is_none(), "{kind}: {error:?}");
        assert_eq!(answer.text(), "now", "{kind}");
        assert_eq!(notices, ["7 s: rate_limited (HTTP 429, retry after 7 s)"], "{kind}");
        assert_eq!(connection.clock.slept(), [Duration::from_secs(7)], "{kind}");
    })
    .await;
}

#[tokio::test]
async fn errors_have_their_kind_and_the_providers_words() {
    let cases = [
        ("refused", ModelErrorKind::Refused, "the key [key] is not valid"),
        ("nowhere", ModelErrorKind::UnknownModel, "no such model"),
        ("broken", ModelErrorKind::Overloaded, "oops"),
        ("busy", ModelErrorKind::Overloaded, "overloaded"),
        ("limited", ModelErrorKind::RateLimited { retry_after: Some(Duration::from_secs(7)) }, "slow down"),
    ];
    on_each(async |connection, format| {
        for (text, kind, words) in cases {
            let error = connection.error("m", text).await;
            assert_eq!((error.kind(), quoted(&error).as_str()), (kind, words), "{format}");
            assert!(error.to_string().contains("here/m at http://127.0.0.1:"), "{error}");
        }
    })
    .await;
}

#[tokio::test]
async fn a_refused_key_is_shown_nowhere_even_if_the_provider_quotes_it() {
    assert!(FIXTURES.contains(KEY));
    on_each(async |connection, kind| {
        let error = connection.error("m", "refused").await;
        assert!(!super::shown(&error).contains("0123456789"), "{kind}");
        assert_eq!(error.kind(), ModelErrorKind::Refused, "{kind}");
    })
    .await;
}

#[tokio::test]
async fn a_cut_answer_keeps_what_came_and_is_no_end() {
    for (kind, path) in FORMATS {
        let poster = Poster::start(FIXTURES);
        let connection = Connection::new(kind, &format!("{}/{path}", poster.address())).tries(3);
        let (text, error) = connection.broken("m", "cut").await;
        assert_eq!(error, ModelErrorKind::Cut, "{kind}");
        assert!(!text.is_empty() && "one two three four five six seven".starts_with(&text), "{kind}: {text}");
        assert!(connection.clock.slept().is_empty(), "{kind}: content had begun");
    }
}

#[tokio::test]
async fn an_answer_in_no_format_is_a_bad_reply() {
    let poster = Poster::start(FIXTURES);
    let connection = Connection::new("openai", &format!("{}/v1", poster.address()));
    assert_eq!(connection.error("m", "nonsense").await.kind(), ModelErrorKind::BadReply);
}

#[tokio::test]
async fn a_slow_answer_outlasts_the_idle_timeout() {
    let poster = Poster::start(FIXTURES);
    let idle = Duration::from_secs(1);
    let connection = Connection::new("openai", &format!("{}/v1", poster.address())).idle(idle);
    assert_eq!(connection.answer("m", "slow").await.text(), "one two three four five six seven");
}
