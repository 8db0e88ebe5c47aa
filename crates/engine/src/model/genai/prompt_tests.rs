//! Tests of the way to a provider: what each kind of part becomes.

use serde_json::json;

use super::*;
use crate::secret::KeySource;

fn endpoint(kind: EndpointKind) -> Endpoint {
    Endpoint { name: "p".into(), kind, base_url: "http://127.0.0.1:1".into(), key: KeySource::None }
}

/// The request's messages as JSON, for a message of an assistant of the same provider.
fn sent(kind: EndpointKind, role: Role, parts: Vec<Part>) -> Value {
    let message = Message { role, parts, model: Some("p/m".into()) };
    let prompt = Prompt { messages: vec![message], ..Prompt::default() };
    serde_json::to_value(request(prompt, &endpoint(kind)).messages).expect("JSON")
}

fn content(kind: EndpointKind, parts: Vec<Part>) -> Value {
    sent(kind, Role::Assistant, parts).pointer("/0/content").cloned().unwrap_or(Value::Null)
}

fn signed(text: &str, signature: &str) -> Part {
    Part::Reasoning { text: text.into(), signature: Some(signature.into()) }
}

fn result(outcome: ToolOutcome) -> Part {
    Part::ToolResult { call: "c".into(), content: "out".into(), outcome }
}

#[test]
fn signed_reasoning_goes_back_verbatim_to_its_maker() {
    let parts = vec![signed("hm", "s"), Part::text("a")];
    let expected = json!([{"ThoughtSignature": "s"}, {"ReasoningContent": "hm"}, {"Text": "a"}]);
    assert_eq!(content(EndpointKind::Anthropic, parts.clone()), expected);
    assert_eq!(
        content(EndpointKind::Gemini, parts.clone()),
        json!([{"ThoughtSignature": "s"}, {"Text": "a"}])
    );
    assert_eq!(content(EndpointKind::OpenAi, parts), json!([{"Text": "a"}]));
}

#[test]
fn open_reasoning_goes_back_beside_the_calls_it_led_to() {
    let call = Part::ToolCall { id: "c".into(), name: "f".into(), arguments: "{}".into() };
    let reasoning = Part::Reasoning { text: "hm".into(), signature: None };
    let sent = content(EndpointKind::OpenAi, vec![reasoning, call]);
    assert_eq!(sent[0], json!({"ReasoningContent": "hm"}));
}

#[test]
fn a_redacted_block_goes_back_as_it_came() {
    let block = r#"{"type":"redacted_thinking","data":"x"}"#;
    let sent = content(EndpointKind::Anthropic, vec![signed("", block)]);
    assert_eq!(sent.pointer("/0/Custom/data/data"), Some(&json!("x")), "{sent}");
}

#[test]
fn another_providers_reasoning_is_not_sent() {
    let message = |model: Option<&str>| Message {
        role: Role::Assistant,
        parts: vec![signed("hm", "s")],
        model: model.map(str::to_owned),
    };
    let prompt = Prompt { messages: vec![message(Some("q/m")), message(None)], ..Prompt::default() };
    assert!(request(prompt, &endpoint(EndpointKind::Anthropic)).messages.is_empty());
}

#[test]
fn unsigned_reasoning_is_not_sent_to_anthropic() {
    let part = Part::Reasoning { text: "hm".into(), signature: None };
    assert_eq!(content(EndpointKind::Anthropic, vec![part]), Value::Null);
}

#[test]
fn a_tool_call_and_its_result_keep_id_name_and_arguments() {
    let call = Part::ToolCall { id: "c".into(), name: "f".into(), arguments: r#"{"a":1}"#.into() };
    let messages = vec![
        Message::new(Role::Assistant, vec![call]),
        Message::new(Role::Tool, vec![result(ToolOutcome::Ok)]),
    ];
    let prompt = Prompt { messages, ..Prompt::default() };
    let sent = serde_json::to_value(request(prompt, &endpoint(EndpointKind::OpenAi)).messages).expect("JSON");
    assert_eq!(
        sent[0]["content"][0]["ToolCall"],
        json!({"call_id": "c", "fn_name": "f", "fn_arguments": {"a": 1}})
    );
    assert_eq!(
        sent[1]["content"][0]["ToolResponse"],
        json!({"call_id": "c", "fn_name": "f", "content": "out"})
    );
}

#[test]
fn a_failed_tool_says_so() {
    let sent = content(EndpointKind::OpenAi, vec![result(ToolOutcome::Failed)]);
    assert_eq!(sent[0]["ToolResponse"]["content"], "The tool failed: out");
}

#[test]
fn ollama_gets_one_result_in_a_message() {
    let parts = || vec![result(ToolOutcome::Ok), result(ToolOutcome::Ok)];
    assert_eq!(sent(EndpointKind::Ollama, Role::Tool, parts()).as_array().map(Vec::len), Some(2));
    assert_eq!(sent(EndpointKind::OpenAi, Role::Tool, parts()).as_array().map(Vec::len), Some(1));
}

#[test]
fn images_and_files_are_sent_as_bytes_links_or_text() {
    let image = Part::Image { media_type: "image/png".into(), source: Source::Inline(vec![1, 2, 3]) };
    let sent = content(EndpointKind::OpenAi, vec![image]);
    assert_eq!(sent[0]["Binary"]["source"], json!({"Base64": "AQID"}), "{sent}");
    let text = Part::File { name: "a.rs".into(), media_type: None, source: Source::Inline(b"fn".to_vec()) };
    assert_eq!(content(EndpointKind::OpenAi, vec![text]), json!([{"Text": "File a.rs:\nfn"}]));
    let link = Part::Image { media_type: "image/png".into(), source: Source::Link("https://h/i.png".into()) };
    let sent = content(EndpointKind::OpenAi, vec![link]);
    assert_eq!(sent[0]["Binary"]["source"], json!({"Url": "https://h/i.png"}), "{sent}");
}

#[test]
fn broken_and_missing_arguments_are_kept() {
    assert_eq!(arguments_value("{oops"), json!("{oops"));
    assert_eq!(arguments_value(" "), json!({}));
}

#[test]
fn only_anthropics_last_message_marks_the_cache() {
    let messages = || vec![Message::text(Role::User, "a"), Message::text(Role::User, "b")];
    let marks = |kind| {
        let prompt = Prompt { messages: messages(), ..Prompt::default() };
        request(prompt, &endpoint(kind)).messages.iter().map(|m| m.options.is_some()).collect::<Vec<_>>()
    };
    assert_eq!(marks(EndpointKind::Anthropic), [false, true]);
    assert_eq!(marks(EndpointKind::OpenAi), [false, false]);
}
