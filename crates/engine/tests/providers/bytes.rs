//! Answers with bytes that a correct server cannot send.

use std::time::Duration;

use retake_core::{Part, Role, Usage};
use retake_engine::model::{EndReason, Message, ModelErrorKind};
use retake_engine::settings::WholeNumber;

use super::{Connection, ask, quoted};
use crate::raw::{Raw, Step, answer, stream_head};

/// An answer that streams these events and closes.
pub(super) fn events(frames: &[&str]) -> Vec<Step> {
    let frames = frames.iter().map(|frame| Step::Say(format!("{frame}\n\n")));
    std::iter::once(stream_head()).chain(frames).collect()
}

/// The same for lines of JSON.
pub(super) fn lines(lines: &[&str]) -> Vec<Step> {
    let lines = lines.iter().map(|line| Step::Say(format!("{line}\n")));
    std::iter::once(stream_head()).chain(lines).collect()
}

fn openai(server: &Raw) -> Connection {
    Connection::new("openai", &format!("{}/v1", server.address()))
}

const HELLO: &str = r#"data: {"choices":[{"delta":{"content":"Hello"}}]}"#;
const STOP: &str = r#"data: {"choices":[{"delta":{},"finish_reason":"stop"}]}"#;
pub(super) const DONE: &str = "data: [DONE]";

#[tokio::test]
async fn openai_usage_comes_after_the_last_choice() {
    let usage = r#"data: {"choices":[],"usage":{"prompt_tokens":90,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":64}}}"#;
    let server = Raw::start(vec![events(&[HELLO, STOP, usage, DONE])]);
    let answer = openai(&server).answer("m", "hi").await;
    let expected = Usage { input_tokens: Some(90), cached_input_tokens: Some(64), output_tokens: Some(7) };
    assert_eq!((answer.text(), answer.usage()), ("Hello", Some(expected)));
    let request = server.requests().remove(0);
    assert!(request.contains(r#""include_usage":true"#) && request.contains("Be brief."), "{request}");
}

#[tokio::test]
async fn the_key_goes_to_the_provider_and_nowhere_else() {
    let server = Raw::start(vec![events(&[HELLO, STOP, DONE])]);
    openai(&server).answer("m", "hi").await;
    let request = server.requests().remove(0);
    assert!(request.starts_with("POST /v1/chat/completions "), "{request}");
    assert!(request.contains(&format!("authorization: Bearer {}", super::KEY)), "{request}");
    let elsewhere = Raw::start(vec![events(&[HELLO, STOP, DONE])]);
    let moved = Raw::answering("307 Moved", &format!("location: {}/v1\r\n", elsewhere.address()), "");
    assert_eq!(openai(&moved).error("m", "hi").await.kind(), ModelErrorKind::BadSettings);
    assert!(elsewhere.requests().is_empty());
}

/// A server without a key gets no key header: some servers take any value for a wrong key.
#[tokio::test]
async fn trial_17_a_provider_without_a_key_is_sent_none() {
    let kinds = [
        ("openai", "/v1/chat/completions "),
        ("openai-responses", "/v1/responses "),
        ("anthropic", "/v1/messages "),
        ("gemini", "/v1/models/m:streamGenerateContent?alt=sse "),
        ("ollama", "/v1/api/chat "),
    ];
    for (kind, place) in kinds {
        let server = Raw::answering("500 Oops", "", "{}");
        let mut connection = super::Connection::keyless(kind, &format!("{}/v1", server.address()));
        connection.settings.retry.tries = WholeNumber(1);
        connection.error("m", "hi").await;
        let request = server.requests().remove(0);
        let (head, body) = request.split_once("\r\n\r\n").expect("a head");
        assert!(head.starts_with(&format!("POST {place}")), "{kind}: {head}");
        for header in ["authorization", "x-api-key", "x-goog-api-key", "none"] {
            assert!(!head.to_lowercase().contains(header), "{kind}: {head}");
        }
        assert_eq!(head.to_lowercase().contains("anthropic-version"), kind == "anthropic", "{head}");
        assert!(body.contains("hi"), "{kind}: {body}");
    }
}

#[tokio::test]
async fn a_rate_limit_is_waited_for_and_one_that_is_too_long_is_reported() {
    let limited = |seconds: u32| answer("429 Too Many", &format!("retry-after: {seconds}\r\n"), "{}");
    let server = Raw::start(vec![vec![Step::Say(limited(9))], events(&[HELLO, STOP, DONE])]);
    let connection = openai(&server).tries(4);
    assert_eq!(connection.answer("m", "hi").await.text(), "Hello");
    assert_eq!(connection.clock.slept(), [Duration::from_secs(9)]);
    let server = Raw::start(vec![vec![Step::Say(limited(86_400))]]);
    let error = openai(&server).tries(4).error("m", "hi").await;
    assert!(error.to_string().ends_with("rate limit (HTTP 429, retry after 86400 s)"), "{error}");
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_date_to_come_back_at_counts_from_the_servers_own_clock() {
    let limited = "date: Sun, 06 Nov 1994 08:49:07 GMT\r\nretry-after: Sun, 06 Nov 1994 08:49:37 GMT\r\n";
    let server = Raw::start(vec![
        vec![Step::Say(answer("429 Too Many", limited, "{}"))],
        events(&[HELLO, STOP, DONE]),
    ]);
    let connection = openai(&server).tries(4);
    assert_eq!(connection.answer("m", "hi").await.text(), "Hello");
    assert_eq!(connection.clock.slept(), [Duration::from_secs(30)]);
}

#[tokio::test]
async fn a_server_error_is_tried_again_a_bounded_number_of_times() {
    let server = Raw::answering("500 Oops", "", r#"{"error":{"message":"boom"}}"#);
    let (_, notices, error) = openai(&server).tries(3).ask("m", "hi").await;
    assert_eq!((error.map(|error| error.kind()), notices.len()), (Some(ModelErrorKind::Overloaded), 2));
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn a_stream_cut_in_the_middle_is_reported_and_keeps_what_came() {
    for frames in [vec![HELLO], vec![HELLO, STOP], vec![HELLO, "data: {\"choices\":[{\"del"]] {
        let server = Raw::start(vec![events(&frames)]);
        let (text, kind) = openai(&server).tries(3).broken("m", "hi").await;
        assert_eq!(text, "Hello");
        assert!(matches!(kind, ModelErrorKind::Cut | ModelErrorKind::BadReply), "{frames:?}: {kind:?}");
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn a_body_shorter_than_its_length_is_cut() {
    let head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: 9999\r\n\r\n";
    let server = Raw::start(vec![vec![Step::Say(head.into()), Step::Say(format!("{HELLO}\n\n"))]]);
    assert_eq!(openai(&server).broken("m", "hi").await, ("Hello".into(), ModelErrorKind::Cut));
}

#[tokio::test]
async fn a_cut_before_any_content_is_tried_again() {
    let server = Raw::start(vec![vec![], events(&[HELLO, STOP, DONE])]);
    assert_eq!(openai(&server).tries(2).answer("m", "hi").await.text(), "Hello");
}

#[tokio::test]
async fn a_slow_stream_is_fine_and_a_silent_one_is_not() {
    let pause = || Step::Pause(Duration::from_millis(250));
    let mut slow = events(&[HELLO]);
    for _ in 0..6 {
        // A comment shows that the server is alive.
        slow.extend([pause(), Step::Say(": still here\n\n".into())]);
    }
    slow.push(Step::Say(format!("{STOP}\n\n{DONE}\n\n")));
    let server = Raw::start(vec![slow]);
    let idle = Duration::from_secs(1);
    assert_eq!(openai(&server).idle(idle).answer("m", "hi").await.text(), "Hello");
    let mut silent = events(&[HELLO]);
    silent.push(Step::Hang);
    let server = Raw::start(vec![silent]);
    assert_eq!(
        openai(&server).idle(idle).broken("m", "hi").await,
        ("Hello".into(), ModelErrorKind::TimedOut)
    );
}

#[tokio::test]
async fn a_server_that_never_answers_times_out() {
    let server = Raw::start(vec![vec![Step::Hang]]);
    let error = openai(&server).first_byte(Duration::from_millis(200)).error("m", "hi").await;
    assert_eq!(error.kind(), ModelErrorKind::TimedOut);
}

#[tokio::test]
async fn dropping_the_stream_ends_the_call() {
    let mut endless = events(&[HELLO]);
    endless.push(Step::Hang);
    let server = Raw::start(vec![endless]);
    let model = openai(&server).models().open("here/m").expect("a model");
    let mut stream = model.stream(retake_engine::model::Prompt {
        messages: vec![Message::text(Role::User, "hi")],
        ..Default::default()
    });
    let first = futures::StreamExt::next(&mut stream).await;
    assert!(matches!(first, Some(Ok(retake_engine::model::Chunk::Text(text))) if text == "Hello"));
    drop(stream);
    let left = async {
        while !server.was_left() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), left).await.expect("the call goes on");
}

#[tokio::test]
async fn an_error_within_a_stream_is_the_providers() {
    let error = r#"data: {"error":{"message":"the server is on fire","type":"server_error"}}"#;
    let server = Raw::start(vec![events(&[error])]);
    let error = openai(&server).error("m", "hi").await;
    assert_eq!(
        (error.kind(), quoted(&error).as_str()),
        (ModelErrorKind::Overloaded, "the server is on fire")
    );
    let event = "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"busy\"}}";
    let server = Raw::start(vec![events(&[event])]);
    let connection = Connection::new("anthropic", &format!("{}/v1", server.address()));
    assert_eq!(connection.error("m", "hi").await.kind(), ModelErrorKind::Overloaded);
}

#[tokio::test]
async fn refusals_are_distinguished_from_answers() {
    let refusal = r#"data: {"choices":[{"delta":{"refusal":"I cannot."}}]}"#;
    let server = Raw::start(vec![events(&[refusal, STOP, DONE])]);
    let answer = openai(&server).answer("m", "hi").await;
    assert_eq!((answer.text(), answer.end()), ("I cannot.", Some(&EndReason::Refusal)));
    let blocked =
        r#"data: {"promptFeedback":{"blockReason":"SAFETY"},"usageMetadata":{"promptTokenCount":3}}"#;
    let server = Raw::start(vec![events(&[blocked])]);
    let error = Connection::new("gemini", &format!("{}/v1beta", server.address())).error("m", "hi").await;
    assert_eq!((error.kind(), quoted(&error).as_str()), (ModelErrorKind::SafetyRefusal, "SAFETY"));
}

const THINKING: [&str; 9] = [
    "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":10,\"cache_read_input_tokens\":30,\"output_tokens\":1}}}",
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"thinking\",\"thinking\":\"\",\"signature\":\"\"}}",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"thinking_delta\",\"thinking\":\"hm\"}}",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"signature_delta\",\"signature\":\"c2ln\"}}",
    "event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}",
    "event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":1,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}",
    "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":1,\"delta\":{\"type\":\"text_delta\",\"text\":\"Hello\"}}",
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":5}}",
    "event: message_stop\ndata: {\"type\":\"message_stop\"}",
];

#[tokio::test]
async fn anthropics_signed_reasoning_comes_and_goes_back_verbatim() {
    let server = Raw::start(vec![events(&THINKING)]);
    let connection = Connection::new("anthropic", &format!("{}/v1", server.address()));
    let answer = connection.answer("m", "hi").await;
    let reasoning = Part::Reasoning { text: "hm".into(), signature: Some("c2ln".into()) };
    assert_eq!(answer.parts(), [reasoning, Part::text("Hello")]);
    let expected = Usage { input_tokens: Some(40), cached_input_tokens: Some(30), output_tokens: Some(5) };
    assert_eq!(answer.usage(), Some(expected));
    let own = Message { role: Role::Assistant, parts: answer.parts(), model: Some("here/m".into()) };
    let messages = vec![Message::text(Role::User, "hi"), own, Message::text(Role::User, "and?")];
    ask(&*connection.models().open("here/m").expect("a model"), messages).await;
    let request = server.requests().pop().expect("the second");
    let (_, body) = request.split_once("\r\n\r\n").expect("a body");
    let body: serde_json::Value = serde_json::from_str(body).expect("JSON");
    let sent = &body["messages"][1]["content"][0];
    assert_eq!((&sent["thinking"], &sent["signature"]), (&"hm".into(), &"c2ln".into()), "{body}");
    assert!(body["messages"][2].to_string().contains("ephemeral"), "{body}");
}

#[tokio::test]
async fn ollama_answers_break_off_and_fail_as_they_are() {
    let hello = r#"{"message":{"role":"assistant","content":"Hello","thinking":"hm"},"done":false}"#;
    let done =
        r#"{"message":{"content":""},"done":true,"done_reason":"stop","prompt_eval_count":9,"eval_count":2}"#;
    let connection = |server: &Raw| Connection::new("ollama", &server.address());
    let server = Raw::start(vec![lines(&[hello, done])]);
    let answer = connection(&server).answer("m", "hi").await;
    let reasoning = Part::Reasoning { text: "hm".into(), signature: None };
    assert_eq!(answer.parts(), [reasoning, Part::text("Hello")]);
    assert_eq!(answer.usage().and_then(|usage| usage.input_tokens), Some(9));
    let server = Raw::start(vec![lines(&[hello])]);
    assert_eq!(connection(&server).broken("m", "hi").await, ("Hello".into(), ModelErrorKind::Cut));
    let server = Raw::start(vec![lines(&[hello, r#"{"error":"out of memory"}"#])]);
    let (_, _, error) = connection(&server).ask("m", "hi").await;
    assert_eq!(error.map(|error| quoted(&error)).as_deref(), Some("out of memory"));
}

/// A server's answer takes no more memory than an answer can have.
#[tokio::test]
async fn trial_24_an_answer_without_end_is_an_error_and_takes_no_memory() {
    let numbered = r#"data: {"choices":[{"delta":{"tool_calls":[{"index":4000000000,"id":"x","function":{"name":"todo","arguments":"{}"}}]}}]}"#;
    let piece = format!(r#"data: {{"choices":[{{"delta":{{"content":"{}"}}}}]}}"#, "x".repeat(1 << 20));
    let call = |number: u32| {
        format!(
            r#"data: {{"choices":[{{"delta":{{"tool_calls":[{{"index":{number},"id":"id-{number}x","function":{{"name":"todo","arguments":"{{}}"}}}}]}}}}]}}"#
        )
    };
    let calls: Vec<String> = (0..1001).map(call).collect();
    let calls: Vec<&str> = calls.iter().map(String::as_str).collect();
    for frames in [vec![HELLO, numbered, STOP, DONE], vec![&*piece; 18], calls] {
        let server = Raw::start(vec![events(&frames)]);
        let (_, _, error) = openai(&server).ask("m", "hi").await;
        let error = error.expect("an error");
        assert_eq!(error.kind(), ModelErrorKind::BadReply, "{error}");
        assert!(quoted(&error).contains("longer than any model writes"), "{error}");
    }
}
