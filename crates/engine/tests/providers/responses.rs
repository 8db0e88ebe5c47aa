//! OpenAI's format of responses: streamed text, reasoning and calls, what goes back of them, and every way in which one ends.

use retake_core::{Part, Role, ToolOutcome, Usage};
use retake_engine::model::{Answer, EndReason, Message, ModelError, ModelErrorKind, Prompt, ToolSpec};
use serde_json::{Value, json};

use super::bytes::events;
use super::{Connection, gather, quoted};
use crate::raw::Raw;

/// A frame, as the server sends it.
fn frame(data: &Value) -> String {
    format!("event: {}\ndata: {data}", data["type"].as_str().unwrap_or_default())
}

/// The frames of an item: where it begins, these pieces, and its end.
fn item(at: u32, done: &Value, pieces: &[Value]) -> Vec<Value> {
    let mut added = done.clone();
    for name in ["arguments", "encrypted_content"] {
        if added.get(name).is_some() {
            added[name] = "".into();
        }
    }
    let added = json!({ "type": "response.output_item.added", "output_index": at, "item": added });
    let done = json!({ "type": "response.output_item.done", "output_index": at, "item": done });
    std::iter::once(added).chain(pieces.iter().cloned()).chain([done]).collect()
}

fn reasoning() -> Value {
    json!({ "type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "c2VjcmV0" })
}

fn call(id: &str, path: &str) -> Value {
    let arguments = format!("{{\"path\":\"{path}\"}}");
    json!({ "type": "function_call", "id": "fc_1", "call_id": id, "name": "read", "arguments": arguments })
}

fn piece(at: u32, delta: &str) -> Value {
    json!({ "type": "response.function_call_arguments.delta", "output_index": at, "delta": delta })
}

fn text(delta: &str) -> Value {
    json!({ "type": "response.output_text.delta", "output_index": 1, "content_index": 0, "delta": delta })
}

/// The end of an answer.
fn end(status: &str, more: &Value) -> Value {
    let mut response = json!({ "id": "resp_1", "status": status, "model": "m", "output": [] });
    if let (Some(response), Some(more)) = (response.as_object_mut(), more.as_object()) {
        response.extend(more.clone());
    }
    json!({ "type": format!("response.{status}"), "response": response })
}

fn server(frames: &[Value]) -> Raw {
    let frames: Vec<String> = frames.iter().map(frame).collect();
    let frames: Vec<&str> = frames.iter().map(String::as_str).collect();
    Raw::start(vec![events(&frames)])
}

async fn asked(server: &Raw, messages: Vec<Message>) -> (Answer, Option<ModelError>) {
    let connection = Connection::new("openai-responses", &format!("{}/v1", server.address()));
    let model = connection.models().open("here/m").expect("a model");
    let schema = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
    let tools = vec![ToolSpec { name: "read".into(), about: "Reads a file.".into(), schema }];
    let system = Some("Be brief.".into());
    let (answer, _, error) = gather(&*model, Prompt { system, messages, tools, ..Prompt::default() }).await;
    (answer, error)
}

async fn hi(frames: &[Value]) -> (Answer, Option<ModelError>) {
    asked(&server(frames), vec![Message::text(Role::User, "hi")]).await
}

/// An answer with reasoning, text and two calls; the second one has no pieces.
fn whole() -> Vec<Value> {
    let summary =
        json!({ "type": "response.reasoning_summary_text.delta", "output_index": 0, "delta": "I think" });
    let usage = json!({
        "input_tokens": 90, "input_tokens_details": { "cached_tokens": 64 },
        "output_tokens": 7, "output_tokens_details": { "reasoning_tokens": 3 }, "total_tokens": 97,
    });
    let message = json!({ "type": "message", "id": "msg_1", "role": "assistant", "content": [] });
    let created =
        json!({ "type": "response.created", "response": { "id": "resp_1", "status": "in_progress" } });
    [
        vec![created],
        item(0, &reasoning(), &[summary]),
        item(1, &message, &[text("I "), text("look.")]),
        item(2, &call("call_abc", "a"), &[piece(2, "{\"path\":"), piece(2, "\"a\"}")]),
        item(3, &call("call_xyz", "b"), &[]),
        vec![end("completed", &json!({ "usage": usage }))],
    ]
    .concat()
}

#[tokio::test]
async fn an_answer_with_reasoning_and_calls_is_read_and_goes_back_as_it_was() {
    let (answer, error) = hi(&whole()).await;
    assert!(error.is_none(), "{error:?}");
    let arguments = |path: &str| format!("{{\"path\":\"{path}\"}}");
    let called = |id: &str, path: &str| Part::ToolCall {
        id: id.into(),
        name: "read".into(),
        arguments: arguments(path),
    };
    let thought = Part::Reasoning { text: "I think".into(), signature: Some("c2VjcmV0".into()) };
    let mut parts = answer.parts();
    parts.sort_by_key(|part| match part {
        Part::Reasoning { .. } => 0,
        Part::Text(_) => 1,
        _ => 2,
    });
    assert_eq!(parts, [thought, Part::text("I look."), called("call_abc", "a"), called("call_xyz", "b")]);
    assert_eq!(answer.end(), Some(&EndReason::ToolUse));
    let usage = Usage { input_tokens: Some(90), cached_input_tokens: Some(64), output_tokens: Some(7) };
    assert_eq!(answer.usage(), Some(usage));

    let own = Message { role: Role::Assistant, parts: answer.parts(), model: Some("here/m".into()) };
    let result = |call: &str| {
        let (call, content) = (call.into(), "x".into());
        Message::new(Role::Tool, vec![Part::ToolResult { call, content, outcome: ToolOutcome::Ok }])
    };
    let messages = vec![Message::text(Role::User, "hi"), own, result("call_abc"), result("call_xyz")];
    let server = server(&[end("completed", &json!({}))]);
    drop(asked(&server, messages).await);
    let request = server.requests().pop().expect("a request");
    let (_, body) = request.split_once("\r\n\r\n").expect("a body");
    let body: Value = serde_json::from_str(body).expect("JSON");
    insta::assert_snapshot!(serde_json::to_string_pretty(&body).expect("JSON"));
}

#[tokio::test]
async fn reasoning_of_another_provider_is_not_sent() {
    let thought = Part::Reasoning { text: "hm".into(), signature: Some("theirs".into()) };
    let parts = vec![thought, Part::text("done")];
    let theirs = Message { role: Role::Assistant, parts, model: Some("there/m".into()) };
    let server = server(&[end("completed", &json!({}))]);
    drop(
        asked(&server, vec![Message::text(Role::User, "hi"), theirs, Message::text(Role::User, "go")]).await,
    );
    let request = server.requests().pop().expect("a request");
    assert!(
        request.contains("done") && !request.contains("theirs") && !request.contains("hm\""),
        "{request}"
    );
}

#[tokio::test]
async fn an_answer_without_its_own_end_is_cut() {
    let all = whole();
    for frames in [&all[..all.len() - 1], &all[..3]] {
        let (_, error) = hi(frames).await;
        assert_eq!(error.map(|error| error.kind()), Some(ModelErrorKind::Cut));
    }
}

#[tokio::test]
async fn an_answer_that_reaches_its_limit_is_marked_and_half_a_call_is_an_error() {
    let limit = end("incomplete", &json!({ "incomplete_details": { "reason": "max_output_tokens" } }));
    let (answer, error) = hi(&[text("and so"), limit.clone()]).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!((answer.text(), answer.end()), ("and so", Some(&EndReason::Length)));
    let begun = item(0, &call("call_abc", "a"), &[])[0].clone();
    let (answer, error) = hi(&[begun, piece(0, "{\"path\": \"a"), limit]).await;
    assert_eq!(error.map(|error| error.kind()), Some(ModelErrorKind::OutputLimit), "{answer:?}");
}

#[tokio::test]
async fn a_refusal_ends_the_answer_without_its_calls() {
    let refusal = json!({ "type": "response.refusal.delta", "output_index": 1, "delta": "I cannot." });
    let called = item(0, &call("call_abc", "a"), &[]);
    let (answer, error) = hi(&[called.clone(), vec![refusal, end("completed", &json!({}))]].concat()).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!((answer.parts(), answer.end()), (vec![Part::text("I cannot.")], Some(&EndReason::Refusal)));
    let filtered = end("incomplete", &json!({ "incomplete_details": { "reason": "content_filter" } }));
    let (answer, error) = hi(&[called, vec![text("so"), filtered]].concat()).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!((answer.parts(), answer.end()), (vec![Part::text("so")], Some(&EndReason::Refusal)));
}

#[tokio::test]
async fn a_failed_response_is_reported_with_its_reason() {
    let limit = json!({ "error": { "code": "rate_limit_exceeded", "message": "too many" } });
    let sent = json!({ "type": "error", "code": "server_error", "message": "oops", "param": null });
    let long = json!({ "error": { "code": "context_length_exceeded", "message": "too long" } });
    for (last, kind, words) in [
        (end("failed", &limit), ModelErrorKind::RateLimited { retry_after: None }, "too many"),
        (end("failed", &long), ModelErrorKind::ContextTooLong, "too long"),
        (sent, ModelErrorKind::Overloaded, "oops"),
    ] {
        let (_, error) = hi(&[text("Hello"), last]).await;
        let error = error.expect("an error");
        assert_eq!((error.kind(), quoted(&error).as_str()), (kind, words));
    }
}

#[tokio::test]
async fn calls_that_come_whole_have_the_limits_of_all_calls() {
    let done = |at: u32, path: &str| {
        let item = call(&format!("c{at}"), path);
        json!({ "type": "response.output_item.done", "output_index": at, "item": item })
    };
    let many: Vec<Value> = (0..1001).map(|at| done(at, "a")).collect();
    let long = "x".repeat(20_000);
    let large: Vec<Value> = (0..900).map(|at| done(at, &long)).collect();
    for calls in [many, large] {
        let (answer, error) = hi(&[calls, vec![end("completed", &json!({}))]].concat()).await;
        assert!(!answer.parts().iter().any(|part| matches!(part, Part::ToolCall { .. })));
        let error = error.expect("an error");
        assert!(quoted(&error).contains("longer than any model writes"), "{error}");
    }
}
