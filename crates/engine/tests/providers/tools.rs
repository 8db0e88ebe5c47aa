//! Tools over HTTP: what is sent of them, and the outcome of calls that are streamed, cut off, repeated or malformed.

use retake_core::{Part, Role, Source, ToolOutcome};
use retake_engine::model::{Answer, EndReason, Message, ModelError, ModelErrorKind, Prompt, ToolSpec};
use serde_json::{Value, json};

use super::bytes::{DONE, events, lines};
use super::{Connection, KINDS, gather};
use crate::poster::Poster;
use crate::raw::Raw;

fn tools() -> Vec<ToolSpec> {
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    let spec =
        |name: &str| ToolSpec { name: name.into(), about: format!("To {name}."), schema: schema.clone() };
    vec![spec("write"), spec("read")]
}

async fn asked(connection: &Connection, messages: Vec<Message>) -> (Answer, Option<ModelError>) {
    let model = connection.models().open("here/m").expect("a model");
    let system = Some("Be brief.".into());
    let (answer, _, error) =
        gather(&*model, Prompt { system, messages, tools: tools(), ..Prompt::default() }).await;
    (answer, error)
}

async fn hi(connection: &Connection) -> (Answer, Option<ModelError>) {
    asked(connection, vec![Message::text(Role::User, "hi")]).await
}

/// The calls of a complete answer: id, name, arguments.
async fn calls(connection: &Connection) -> Vec<(String, String, String)> {
    let (answer, error) = hi(connection).await;
    assert!(error.is_none(), "{error:?}");
    assert_eq!(answer.end(), Some(&EndReason::ToolUse));
    calls_of(&answer)
}

fn calls_of(answer: &Answer) -> Vec<(String, String, String)> {
    let parts = answer.parts().into_iter();
    let calls = parts.filter_map(|part| match part {
        Part::ToolCall { id, name, arguments } => Some((id, name, arguments)),
        _ => None,
    });
    calls.collect()
}

/// The kind of the error; no call may come before it.
async fn failure(connection: &Connection) -> ModelErrorKind {
    let (answer, error) = hi(connection).await;
    assert!(calls_of(&answer).is_empty(), "{answer:?}");
    error.expect("an error").kind()
}

fn body(server: &Raw) -> Value {
    let request = server.requests().pop().expect("a request");
    let (_, body) = request.split_once("\r\n\r\n").expect("a body");
    serde_json::from_str(body).expect("JSON")
}

/// A frame in OpenAI's format with these pieces of calls.
fn pieces(calls: Value) -> String {
    format!("data: {}", json!({"choices": [{"delta": {"tool_calls": calls}}]}))
}

fn piece(index: u32, id: Option<&str>, name: Option<&str>, arguments: &str) -> String {
    let mut call = json!({"index": index, "function": {"arguments": arguments}});
    if let Some(id) = id {
        call["id"] = id.into();
    }
    if let Some(name) = name {
        call["function"]["name"] = name.into();
    }
    pieces(json!([call]))
}

fn finish(reason: &str) -> String {
    format!("data: {}", json!({"choices": [{"delta": {}, "finish_reason": reason}]}))
}

fn openai(frames: &[String]) -> Raw {
    let frames: Vec<&str> = frames.iter().map(String::as_str).collect();
    Raw::start(vec![events(&frames)])
}

#[tokio::test]
async fn tools_reach_every_provider_in_the_same_order() {
    for (kind, _) in KINDS {
        let server = Raw::answering("500 Oops", "", "{}");
        drop(hi(&Connection::to(&server, kind)).await);
        let body = body(&server);
        let sent = match kind {
            "openai" | "ollama" => body["tools"].pointer("/0/function"),
            "anthropic" | "openai-responses" => body["tools"].pointer("/0"),
            _ => body["tools"].pointer("/0/functionDeclarations/0"),
        };
        let sent = sent.unwrap_or_else(|| panic!("{kind}: {body}"));
        assert_eq!((&sent["name"], &sent["description"]), (&json!("read"), &json!("To read.")), "{kind}");
        let schema =
            ["parameters", "input_schema", "parametersJsonSchema"].iter().find_map(|at| sent.get(at));
        assert_eq!(
            schema.and_then(|schema| schema.pointer("/required/0")),
            Some(&json!("path")),
            "{kind}: {body}"
        );
        if kind == "anthropic" {
            let mark = json!({"type": "ephemeral"});
            assert_eq!(body["tools"][1]["cache_control"], mark, "{body}");
            assert_eq!(
                (&body["system"][0]["text"], &body["system"][0]["cache_control"]),
                (&json!("Be brief."), &mark)
            );
            assert_eq!(body["messages"][0]["content"][0]["cache_control"], mark, "{body}");
        }
    }
}

#[tokio::test]
async fn a_call_in_pieces_is_put_together_as_the_model_wrote_it() {
    let server = openai(&[
        piece(0, Some("call_9pw2kq"), Some("write"), ""),
        piece(0, None, None, "{\"path\":"),
        piece(0, None, None, "  \"a\"}"),
        finish("tool_calls"),
        DONE.into(),
    ]);
    let expected = ("call_9pw2kq".into(), "write".into(), "{\"path\":  \"a\"}".into());
    assert_eq!(calls(&Connection::to(&server, "openai")).await, [expected]);
}

#[tokio::test]
async fn two_calls_at_once_are_two_also_without_ids() {
    for (a, b) in [
        (Some("aaaaaaaaa"), Some("bbbbbbbbb")),
        (None, None),
        (Some(""), Some("")),
        (Some("x1y"), Some("x1y")),
    ] {
        let server = openai(&[
            piece(0, a, Some("read"), "{\"path\":\"a\"}"),
            piece(1, b, Some("read"), "{\"path\":"),
            piece(1, None, None, "\"b\"}"),
            finish("stop"),
            DONE.into(),
        ]);
        let calls = calls(&Connection::to(&server, "openai")).await;
        let arguments: Vec<&str> = calls.iter().map(|(_, _, arguments)| arguments.as_str()).collect();
        assert_eq!(arguments, ["{\"path\":\"a\"}", "{\"path\":\"b\"}"], "{a:?}");
        assert!(calls[0].0 != calls[1].0 && calls.iter().all(|(id, _, _)| !id.is_empty()), "{calls:?}");
    }
}

#[tokio::test]
async fn an_id_that_the_conversation_has_is_made_again() {
    let script = [piece(0, Some("abc-xyz"), Some("read"), "{}"), finish("tool_calls"), DONE.into()];
    let server = openai(&script);
    let earlier = Part::ToolCall { id: "abc-xyz".into(), name: "read".into(), arguments: "{}".into() };
    let result = Part::ToolResult { call: "abc-xyz".into(), content: "x".into(), outcome: ToolOutcome::Ok };
    let messages = vec![Message::new(Role::Assistant, vec![earlier]), Message::new(Role::Tool, vec![result])];
    let (answer, error) = asked(&Connection::to(&server, "openai"), messages).await;
    assert!(error.is_none(), "{error:?}");
    assert!(calls_of(&answer)[0].0.starts_with("call_1_"), "{answer:?}");
}

#[tokio::test]
async fn gemini_and_ollama_give_no_ids_and_get_some() {
    let call = json!({"functionCall": {"name": "read", "args": {"path": "a"}}});
    let chunk = |more: Value| {
        let mut chunk = json!({"candidates": [{"content": {"parts": [call]}}]});
        if more.is_string() {
            chunk["candidates"][0]["finishReason"] = more;
        }
        format!("data: {chunk}")
    };
    let frames = [chunk(Value::Null), chunk(json!("STOP"))];
    let gemini = openai(&frames);
    let call = json!({"function": {"name": "read", "arguments": {"path": "a"}}});
    let line = json!({"message": {"content": "", "tool_calls": [call, call]}}).to_string();
    let ollama =
        Raw::start(vec![lines(&[&line, r#"{"message":{"content":""},"done":true,"done_reason":"stop"}"#])]);
    for (server, kind) in [(&gemini, "gemini"), (&ollama, "ollama")] {
        let calls = calls(&Connection::to(server, kind)).await;
        assert_eq!(calls.len(), 2, "{kind}: {calls:?}");
        assert!(calls[0].0 != calls[1].0, "{kind}: {calls:?}");
        assert!(
            calls.iter().all(|(_, name, arguments)| name == "read" && arguments == "{\"path\":\"a\"}"),
            "{calls:?}"
        );
    }
}

#[tokio::test]
async fn geminis_signatures_go_back_with_their_calls() {
    let part = json!({"functionCall": {"name": "read", "args": {"path": "a"}}, "thoughtSignature": "c2ln"});
    let frame =
        format!("data: {}", json!({"candidates": [{"content": {"parts": [part]}, "finishReason": "STOP"}]}));
    let server = openai(&[frame]);
    let connection = Connection::to(&server, "gemini");
    let (answer, error) = hi(&connection).await;
    assert!(error.is_none(), "{error:?}");
    let call = calls_of(&answer).remove(0).0;
    let own = Message { role: Role::Assistant, parts: answer.parts(), model: Some("here/m".into()) };
    let result = Part::ToolResult { call, content: "x".into(), outcome: ToolOutcome::Ok };
    let image = Part::Image { media_type: "image/png".into(), source: Source::Inline(vec![1, 2, 3]) };
    let messages = vec![Message::text(Role::User, "hi"), own, Message::new(Role::Tool, vec![result, image])];
    drop(asked(&connection, messages).await);
    let body = body(&server);
    let call = &body["contents"][1]["parts"][0];
    assert_eq!(
        (&call["thoughtSignature"], &call["functionCall"]["name"]),
        (&json!("c2ln"), &json!("read")),
        "{body}"
    );
    assert_eq!(body["contents"][2]["parts"][0]["functionResponse"]["name"], "read", "{body}");
    assert_eq!(body["contents"][3]["parts"][1]["inline_data"]["data"], "AQID", "{body}");
}

#[tokio::test]
async fn anthropics_results_hold_pictures_and_say_that_they_are_failures() {
    let server = Raw::answering("500 Oops", "", "{}");
    let call = Part::ToolCall { id: "toolu_a1b2c3d".into(), name: "read".into(), arguments: "{}".into() };
    let result =
        Part::ToolResult { call: "toolu_a1b2c3d".into(), content: "x".into(), outcome: ToolOutcome::Failed };
    let image = Part::Image { media_type: "image/png".into(), source: Source::Inline(vec![1, 2, 3]) };
    let messages = vec![
        Message::text(Role::User, "hi"),
        Message::new(Role::Assistant, vec![call]),
        Message::new(Role::Tool, vec![result, image]),
    ];
    drop(asked(&Connection::to(&server, "anthropic"), messages).await);
    let body = body(&server);
    let sent = &body["messages"][2]["content"][0];
    assert_eq!((&sent["type"], &sent["is_error"]), (&json!("tool_result"), &json!(true)), "{body}");
    assert_eq!(sent["content"][1]["source"]["data"], "AQID", "{body}");
    assert!(sent.get("cache_control").is_some(), "{body}");
}

#[tokio::test]
async fn a_pdf_reaches_every_provider_that_takes_one() {
    for (kind, _) in KINDS {
        let server = Raw::answering("500 Oops", "", "{}");
        let source = Source::Inline(b"%PDF-1.7\n".to_vec());
        let pdf = Part::File { name: "a.pdf".into(), media_type: Some("application/pdf".into()), source };
        let words = Part::text("sum it up");
        drop(asked(&Connection::to(&server, kind), vec![Message::new(Role::User, vec![words, pdf])]).await);
        let body = body(&server);
        let data = "JVBERi0xLjcK";
        let (sent, expected) = match kind {
            "openai" => (
                &body["messages"][1]["content"][1]["file"]["file_data"],
                format!("data:application/pdf;base64,{data}"),
            ),
            "openai-responses" => {
                (&body["input"][0]["content"][1]["file_data"], format!("data:application/pdf;base64,{data}"))
            }
            "anthropic" => (&body["messages"][0]["content"][1]["source"]["data"], data.to_owned()),
            "gemini" => (&body["contents"][0]["parts"][1]["inline_data"]["data"], data.to_owned()),
            _ => (
                &body["messages"][1]["content"],
                "sum it up\n\n[File a.pdf: 9 bytes of application/pdf, which cannot be sent to you]"
                    .to_owned(),
            ),
        };
        assert_eq!(sent, &json!(expected), "{kind}: {body}");
    }
}

#[tokio::test]
async fn malformed_arguments_stay_the_text_that_the_model_wrote() {
    let server =
        openai(&[piece(0, Some("abc-xyz"), Some("read"), "{oops"), finish("tool_calls"), DONE.into()]);
    assert_eq!(
        calls(&Connection::to(&server, "openai")).await,
        [("abc-xyz".into(), "read".into(), "{oops".into())]
    );
}

#[tokio::test]
async fn a_cut_in_the_middle_of_a_call_is_an_error_and_never_half_a_call() {
    let begun = piece(0, Some("abc-xyz"), Some("write"), "{\"path\": \"a\", \"content\": \"one");
    let server = openai(std::slice::from_ref(&begun));
    assert_eq!(failure(&Connection::to(&server, "openai")).await, ModelErrorKind::Cut);
    // The limit of its answer is no reason to repeat the request.
    let server = openai(&[begun, finish("length"), DONE.into()]);
    let again = Connection::to(&server, "openai").tries(3);
    assert_eq!(failure(&again).await, ModelErrorKind::OutputLimit);
    assert_eq!(server.requests().len(), 1);
    let start = r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"toolu_a1b2c3d","name":"write","input":{}}}"#;
    let delta = r#"{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"path\": \"a"}}"#;
    let limit =
        r#"{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":5}}"#;
    let anthropic = |frames: &[(&str, &str)]| {
        let frames: Vec<String> =
            frames.iter().map(|(event, data)| format!("event: {event}\ndata: {data}")).collect();
        openai(&frames)
    };
    let begun = [("content_block_start", start), ("content_block_delta", delta)];
    let server = anthropic(&begun);
    assert_eq!(failure(&Connection::to(&server, "anthropic")).await, ModelErrorKind::Cut);
    let ended =
        [begun[0], begun[1], ("message_delta", limit), ("message_stop", r#"{"type":"message_stop"}"#)];
    let server = anthropic(&ended);
    assert_eq!(failure(&Connection::to(&server, "anthropic")).await, ModelErrorKind::OutputLimit);
    let call = json!({"functionCall": {"name": "read", "args": {"path": "a"}}});
    let server = openai(&[format!("data: {}", json!({"candidates": [{"content": {"parts": [call]}}]}))]);
    assert_eq!(failure(&Connection::to(&server, "gemini")).await, ModelErrorKind::Cut);
    let call = json!({"function": {"name": "read", "arguments": {"path": "a"}}});
    let server = Raw::start(vec![lines(&[&json!({"message": {"tool_calls": [call]}}).to_string()])]);
    assert_eq!(failure(&Connection::to(&server, "ollama")).await, ModelErrorKind::Cut);
}

#[tokio::test]
async fn a_call_that_is_none_is_reported_and_requested_again() {
    let server = openai(&[finish("tool_calls"), DONE.into()]);
    assert_eq!(failure(&Connection::to(&server, "openai").tries(2)).await, ModelErrorKind::BadCall);
    assert_eq!(server.requests().len(), 2);
    let frame = json!({"candidates": [{"finishReason": "MALFORMED_FUNCTION_CALL"}]});
    let server = openai(&[format!("data: {frame}")]);
    assert_eq!(failure(&Connection::to(&server, "gemini")).await, ModelErrorKind::BadCall);
}

#[tokio::test]
async fn a_refusal_takes_the_calls_before_it_along() {
    let server = openai(&[
        piece(0, Some("abc-xyz"), Some("write"), "{\"path\": \"a\"}"),
        finish("content_filter"),
        DONE.into(),
    ]);
    let (answer, error) = hi(&Connection::to(&server, "openai")).await;
    assert!(error.is_none() && calls_of(&answer).is_empty(), "{error:?} {answer:?}");
    assert_eq!(answer.end(), Some(&EndReason::Refusal));
}

#[tokio::test]
async fn a_server_that_we_did_not_write_takes_a_whole_turn_with_tools() {
    let fixtures = r#"
fixtures:
  - match: { user_message: "work" }
    scenario: { name: turn, required_state: "", set_state: called }
    response:
      tool_calls:
        - { name: read, arguments: { path: a } }
        - { name: write, arguments: { path: b } }
  - match: { user_message: "work" }
    scenario: { name: turn, required_state: called, set_state: called }
    response: { content: "done" }
"#;
    for (kind, path) in [("openai", "v1"), ("anthropic", "v1"), ("gemini", "v1beta")] {
        let poster = Poster::start(fixtures);
        let connection = Connection::new(kind, &format!("{}/{path}", poster.address()));
        let mut messages = vec![Message::text(Role::User, "work")];
        let (answer, error) = asked(&connection, messages.clone()).await;
        assert!(error.is_none(), "{kind}: {error:?}");
        let calls = calls_of(&answer);
        assert_eq!(calls.len(), 2, "{kind}: {answer:?}");
        assert!(calls[0].0 != calls[1].0, "{kind}: {calls:?}");
        messages.push(Message { role: Role::Assistant, parts: answer.parts(), model: Some("here/m".into()) });
        let result =
            |id: String| Part::ToolResult { call: id, content: "ok".into(), outcome: ToolOutcome::Ok };
        messages.push(Message::new(Role::Tool, calls.into_iter().map(|(id, _, _)| result(id)).collect()));
        if kind == "gemini" {
            // This server rejects a prompt in Gemini's format that ends with results.
            messages.push(Message::text(Role::User, "go on with the work"));
        }
        let (answer, error) = asked(&connection, messages).await;
        assert!(error.is_none(), "{kind}: {error:?}");
        assert_eq!(answer.text(), "done", "{kind}");
    }
}
