//! Failures at a provider in every place: their kind, the message for a person, and the remedy.

use std::time::Duration;

use retake_core::{Part, Remedy, Role, ToolOutcome};
use retake_engine::EngineError;
use retake_engine::model::{Answer, EndReason, Message, ModelError, ModelErrorKind as Kind};
use serde_json::{Value, json};

use super::bytes::{DONE, events, lines};
use super::{Connection, KINDS, ask};
use crate::raw::{Raw, Step, answer};

/// The outcome of an answer with this status and body, and the number of requests.
async fn refused(kind: &str, status: &str, body: &Value) -> (ModelError, usize) {
    let server = Raw::start(vec![vec![Step::Say(answer(status, "", &body.to_string()))]]);
    let error = Connection::to(&server, kind).tries(2).error("m", "hi").await;
    (error, server.requests().len())
}

/// The outcome of a stream.
async fn streamed(kind: &str, frames: &[String]) -> (Answer, Option<ModelError>) {
    let frames: Vec<&str> = frames.iter().map(String::as_str).collect();
    let script = if kind == "ollama" { lines(&frames) } else { events(&frames) };
    let server = Raw::start(vec![script]);
    let (answer, _, error) = Connection::to(&server, kind).tries(1).ask("m", "hi").await;
    (answer, error)
}

fn data(frame: &Value) -> String {
    format!("data: {frame}")
}

/// An event in Anthropic's format.
fn event(frame: &Value) -> String {
    format!("event: {}\ndata: {frame}", frame["type"].as_str().unwrap_or_default())
}

/// The kind, what failed, and what helps.
fn told(error: &ModelError) -> (Kind, String, Vec<Remedy>) {
    (error.kind(), error.brief(), EngineError::model(error).remedies)
}

#[tokio::test]
async fn a_refused_key_is_reported_at_once() {
    let remedies = [Remedy::Model];
    for (kind, _) in KINDS {
        for status in [401, 403] {
            let body = json!({"error": {"message": "no", "type": "authentication_error"}});
            let (error, asked) = refused(kind, &format!("{status} No"), &body).await;
            let brief = format!("the key was refused (HTTP {status})");
            assert_eq!(told(&error), (Kind::Refused, brief, remedies.to_vec()), "{kind}");
            assert_eq!(asked, 1, "{kind}");
        }
    }
}

#[tokio::test]
async fn a_limit_and_an_overload_are_waited_out_and_then_reported() {
    let remedies = [Remedy::Retry, Remedy::Model];
    for (kind, _) in KINDS {
        let (error, asked) = refused(kind, "429 Slow", &json!({"error": {"message": "slow down"}})).await;
        let limit = Kind::RateLimited { retry_after: None };
        assert_eq!(told(&error), (limit, "rate limit (HTTP 429)".into(), remedies.to_vec()), "{kind}");
        assert_eq!(asked, 2, "{kind}");
        let (error, asked) = refused(kind, "529 Busy", &json!({"error": {"message": "busy"}})).await;
        let brief = "the provider has trouble (HTTP 529)".to_owned();
        assert_eq!((told(&error), asked), ((Kind::Overloaded, brief, remedies.to_vec()), 2), "{kind}");
        let credit = json!({"error": {"message": "x", "type": "insufficient_quota"}});
        assert_eq!(refused(kind, "429 Slow", &credit).await.0.kind(), Kind::OutOfCredit, "{kind}");
    }
}

/// The start of an answer in each format.
fn hello(kind: &str) -> String {
    match kind {
        "openai" => data(&json!({"choices": [{"delta": {"content": "Hello"}}]})),
        "openai-responses" => event(&json!({
            "type": "response.output_text.delta", "output_index": 0, "content_index": 0, "delta": "Hello"
        })),
        "anthropic" => event(&json!({
            "type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Hello"}
        })),
        "gemini" => data(&json!({"candidates": [{"content": {"parts": [{"text": "Hello"}]}}]})),
        _ => json!({"message": {"content": "Hello"}, "done": false}).to_string(),
    }
}

#[tokio::test]
async fn a_cut_stream_keeps_what_came_and_says_that_it_was_cut() {
    for (kind, _) in KINDS {
        let (answer, error) = streamed(kind, &[hello(kind)]).await;
        let error = error.unwrap_or_else(|| panic!("{kind}: {answer:?}"));
        let brief = "the connection ended before the answer was complete".to_owned();
        assert_eq!(told(&error), (Kind::Cut, brief, vec![Remedy::Retry]), "{kind}");
        assert_eq!((answer.text(), answer.end()), ("Hello", None), "{kind}");
    }
}

/// A frame in OpenAI's format with a call.
fn call(name: &str, arguments: &str) -> String {
    let function = json!({"name": name, "arguments": arguments});
    data(
        &json!({"choices": [{"delta": {"tool_calls": [{"index": 0, "id": "abc-xyz", "function": function}]}}]}),
    )
}

fn finish(reason: &str) -> String {
    data(&json!({"choices": [{"delta": {}, "finish_reason": reason}]}))
}

/// The provider's view of a call that failed.
async fn sent_back(call: Part) -> Value {
    let server = Raw::start(vec![events(&[&hello("openai"), &finish("stop"), DONE])]);
    let id = call.call_id().unwrap_or_default().to_owned();
    let result = Part::ToolResult { call: id, content: "no such tool".into(), outcome: ToolOutcome::Failed };
    let messages = vec![Message::new(Role::Assistant, vec![call]), Message::new(Role::Tool, vec![result])];
    let model = Connection::to(&server, "openai").tries(2).models().open("here/m").expect("a model");
    let (_, _, error) = ask(&*model, messages).await;
    assert!(error.is_none(), "{error:?}");
    let request = server.requests().pop().expect("a request");
    let (_, body) = request.split_once("\r\n\r\n").expect("a body");
    serde_json::from_str(body).expect("JSON")
}

#[tokio::test]
async fn malformed_arguments_reach_whoever_runs_tools_and_go_back_as_the_model_wrote_them() {
    let (answer, error) =
        streamed("openai", &[call("read", "{oops"), finish("tool_calls"), DONE.into()]).await;
    assert!(error.is_none(), "{error:?}");
    let parts = answer.parts();
    assert_eq!(
        parts,
        [Part::ToolCall { id: "abc-xyz".into(), name: "read".into(), arguments: "{oops".into() }]
    );
    let body = sent_back(parts.into_iter().next().expect("a call")).await;
    let arguments = body["messages"][1]["tool_calls"][0]["function"]["arguments"].as_str().expect("text");
    assert_eq!(serde_json::from_str::<Value>(arguments).expect("JSON"), json!({"not_an_object": "{oops"}));
    // An incomplete one is an error that says what to do.
    let (_, error) = streamed("openai", &[call("read", "{\"path"), finish("length"), DONE.into()]).await;
    let brief = "the answer reached its limit in the middle of a tool call".to_owned();
    let remedies = vec![Remedy::Edit, Remedy::Retry];
    assert_eq!(told(&error.expect("an error")), (Kind::OutputLimit, brief, remedies));
    let (_, error) = streamed("openai", &[finish("tool_calls"), DONE.into()]).await;
    let remedies = vec![Remedy::Retry, Remedy::Model];
    assert_eq!(
        told(&error.expect("an error")),
        (Kind::BadCall, "the model wrote an invalid tool call".into(), remedies)
    );
}

#[tokio::test]
async fn an_unknown_tool_reaches_whoever_runs_tools_and_breaks_no_later_request() {
    let (answer, error) =
        streamed("openai", &[call("rm -rf /", "{}"), finish("tool_calls"), DONE.into()]).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(answer.end(), Some(&EndReason::ToolUse));
    let call = answer.parts().into_iter().next().expect("a call");
    assert!(matches!(&call, Part::ToolCall { name, .. } if name == "rm -rf /"), "{call:?}");
    let body = sent_back(call).await;
    assert_eq!(body["messages"][1]["tool_calls"][0]["function"]["name"], "rm_-rf__");
    assert_eq!(body["messages"][2]["content"], "The tool failed: no such tool");
}

#[tokio::test]
async fn a_conversation_that_is_too_long_says_how_to_make_it_shorter() {
    let shorter = [Remedy::Rewind, Remedy::Fold, Remedy::Exclude, Remedy::Model];
    let cases = [
        ("openai", "400 Bad", json!({"error": {"message": "x", "code": "context_length_exceeded"}})),
        (
            "openai",
            "400 Bad",
            json!({"error": {"message": "This model's maximum context length is 8 tokens."}}),
        ),
        (
            "openai",
            "400 Bad",
            json!({"error": {"message": "the request exceeds the available context size"}}),
        ),
        (
            "anthropic",
            "400 Bad",
            json!({"error": {"type": "invalid_request_error", "message": "prompt is too long: 9 > 8"}}),
        ),
        ("anthropic", "413 Big", json!({"error": {"type": "request_too_large", "message": "x"}})),
        ("gemini", "400 Bad", json!({"error": {"message": "The input token count (9) exceeds the maximum"}})),
        ("ollama", "400 Bad", json!({"error": "the input is too long: context window exceeded"})),
    ];
    for (kind, status, body) in cases {
        let (error, asked) = refused(kind, status, &body).await;
        let (found, brief, remedies) = told(&error);
        assert_eq!((found, asked), (Kind::ContextTooLong, 1), "{kind} {body}");
        assert_eq!(remedies, shorter, "{kind} {body}");
        assert!(brief.starts_with("the conversation is too long for its context (HTTP 4"), "{brief}");
    }
    let error = data(&json!({"error": {"message": "x", "code": "context_length_exceeded"}}));
    let (_, error) = streamed("openai", &[error]).await;
    assert_eq!(error.map(|error| error.kind()), Some(Kind::ContextTooLong));
    let full = [
        hello("anthropic"),
        event(&json!({"type": "message_delta", "delta": {"stop_reason": "model_context_window_exceeded"}})),
        event(&json!({"type": "message_stop"})),
    ];
    let (answer, error) = streamed("anthropic", &full).await;
    assert_eq!((answer.text(), error.map(|error| error.kind())), ("Hello", Some(Kind::ContextTooLong)));
}

#[tokio::test]
async fn a_safety_refusal_is_none_of_the_answers() {
    let remedies = [Remedy::Edit, Remedy::Model];
    let body = json!({"error": {"message": "x", "code": "content_filter"}});
    let (error, asked) = refused("openai", "400 Bad", &body).await;
    let brief = "the provider does not answer this".to_owned();
    assert_eq!(
        (told(&error), asked),
        ((Kind::SafetyRefusal, format!("{brief} (HTTP 400)"), remedies.to_vec()), 1)
    );
    let blocked = data(&json!({"promptFeedback": {"blockReason": "SAFETY"}}));
    let (_, error) = streamed("gemini", &[blocked]).await;
    assert_eq!(told(&error.expect("an error")), (Kind::SafetyRefusal, brief, remedies.to_vec()));
    // After the first output it is no error: the answer ends, and says why.
    let ends = [
        ("openai", vec![finish("content_filter"), DONE.to_owned()]),
        (
            "anthropic",
            vec![
                event(&json!({"type": "message_delta", "delta": {"stop_reason": "refusal"}})),
                event(&json!({"type": "message_stop"})),
            ],
        ),
        ("gemini", vec![data(&json!({"candidates": [{"finishReason": "SAFETY"}]}))]),
    ];
    for (kind, end) in ends {
        let frames: Vec<String> = std::iter::once(hello(kind)).chain(end).collect();
        let (answer, error) = streamed(kind, &frames).await;
        assert!(error.is_none(), "{kind}: {error:?}");
        assert_eq!((answer.text(), answer.end()), ("Hello", Some(&EndReason::Refusal)), "{kind}");
    }
}

#[tokio::test]
async fn unknown_model_and_silent_server_are_different_errors() {
    let (error, _) = refused("openai", "404 No", &json!({"error": {"message": "no model m"}})).await;
    let remedies = vec![Remedy::Models];
    assert_eq!(told(&error), (Kind::UnknownModel, "there is no such model (HTTP 404)".into(), remedies));
    let silent = Raw::start(vec![vec![Step::Hang]]);
    let connection = Connection::to(&silent, "openai").tries(1).first_byte(Duration::from_millis(200));
    let error = connection.error("m", "hi").await;
    assert_eq!(told(&error), (Kind::TimedOut, "nothing arrived for too long".into(), vec![Remedy::Retry]));
}
