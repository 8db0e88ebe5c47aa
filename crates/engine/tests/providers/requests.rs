//! What is sent to each kind of provider: the model's name, and the whole request as a golden file.

use retake_core::{Part, Role, Source, ToolOutcome};
use retake_engine::model::{Message, Prompt, ToolSpec};
use retake_engine::settings::Settings;
use serde_json::{Value, json};

use super::{Connection, KEY, gather};
use crate::raw::Raw;

/// The formats with the place of a request in each.
const FORMATS: [(&str, &str); 5] = [
    ("openai", "POST /chat/completions "),
    ("openai-responses", "POST /responses "),
    ("anthropic", "POST /messages "),
    ("gemini", "POST /models/MODEL:streamGenerateContent?alt=sse "),
    ("ollama", "POST /api/chat "),
];

/// A request: its first line, and its body.
async fn sent(server: &Raw, connection: &Connection, model: &str, prompt: Prompt) -> (String, Value) {
    let model = connection.models().open(model).expect("a model");
    drop(gather(&*model, prompt).await);
    let request = server.requests().pop().expect("a request");
    let (head, body) = request.split_once("\r\n\r\n").expect("a body");
    let line = head.lines().next().expect("a line").to_owned();
    (line, serde_json::from_str(body).expect("JSON"))
}

fn said(text: &str) -> Prompt {
    Prompt { messages: vec![Message::text(Role::User, text)], ..Prompt::default() }
}

/// A prompt with everything that a request can hold.
fn whole_prompt() -> Prompt {
    let call = Part::ToolCall {
        id: "toolu_abcdefg".into(),
        name: "read".into(),
        arguments: r#"{"path":"a"}"#.into(),
    };
    let result =
        Part::ToolResult { call: "toolu_abcdefg".into(), content: "x".into(), outcome: ToolOutcome::Ok };
    let picture = Part::Image { media_type: "image/png".into(), source: Source::Inline(vec![1, 2, 3]) };
    let source = Source::Inline(b"one\n[end of block 0]\n".to_vec());
    let file = Part::File { name: "a.txt".into(), media_type: Some("text/plain".into()), source };
    let schema = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
    Prompt {
        system: Some("Be brief.".into()),
        messages: vec![
            Message::text(Role::System, "/w/AGENTS.md says:\n\nUse tabs."),
            Message::new(Role::User, vec![Part::text("What is it?"), picture, file]),
            Message::new(Role::Assistant, vec![Part::text("I look."), call]),
            Message::new(Role::Tool, vec![result]),
        ],
        tools: vec![ToolSpec { name: "read".into(), about: "Reads a file.".into(), schema }],
        ..Prompt::default()
    }
}

/// Compares a request with a file of `tests/golden`.
fn golden(name: &str, text: &str) {
    insta::with_settings!({
        snapshot_path => "../golden",
        prepend_module_to_snapshot => false,
        omit_expression => true,
    }, { insta::assert_snapshot!(format!("request_{name}"), text) });
}

#[tokio::test]
async fn a_whole_request_to_each_kind_of_provider_is_as_recorded() {
    for (kind, _) in FORMATS {
        let server = Raw::answering("400 No", "", "{}");
        let connection = Connection::new(kind, &server.address());
        let (line, body) = sent(&server, &connection, "here/some-model", whole_prompt()).await;
        let body = serde_json::to_string_pretty(&body).expect("JSON");
        golden(kind, &format!("{line}\n\n{body}"));
    }
}

#[tokio::test]
async fn each_effort_is_sent_in_the_way_of_the_format_and_of_the_model() {
    for (name, kind, model) in [
        ("openai", "openai", "gpt-5.5"),
        ("openai_responses", "openai", "gpt-5.6"),
        ("anthropic", "anthropic", "claude-sonnet-5-5"),
        ("anthropic_budget", "anthropic", "claude-haiku-4-5"),
        ("gemini", "gemini", "gemini-3.5-flash"),
        ("gemini_budget", "gemini", "gemini-2.5-pro"),
        ("ollama", "ollama", "gpt-oss:20b"),
    ] {
        let server = Raw::answering("400 No", "", "{}");
        let mut requests = String::new();
        for effort in ["default", "low", "medium", "high"] {
            // Built-in facts are found by the name of the endpoint.
            let format = if name == "openai_responses" { "openai-responses" } else { kind };
            let text = format!(
                "[endpoint.{kind}]\nkind = \"{format}\"\nbase_url = \"{}\"\nkey_env = \"HERE_KEY\"\n[model]\neffort = \"{effort}\"\n",
                server.address()
            );
            let mut connection = Connection::new(kind, &server.address());
            connection.settings = Settings::parse(&text).expect("valid settings");
            let (_, body) = sent(&server, &connection, &format!("{kind}/{model}"), said("hi")).await;
            let body = serde_json::to_string_pretty(&body).expect("JSON");
            requests.push_str(&format!("model.effort = \"{effort}\"\n{body}\n\n"));
        }
        golden(&format!("effort_{name}"), &format!("{model}\n\n{requests}"));
    }
}

/// The library adds `prompt_cache_options` for these models: other servers refuse it, and OpenAI then caches nothing that is not
/// marked.
#[tokio::test]
async fn no_cache_option_is_sent_that_nobody_has_set() {
    for (kind, _) in &FORMATS[..2] {
        for model in ["gpt-5.6", "gpt-5.5", "gpt-6"] {
            let server = Raw::answering("400 No", "", "{}");
            let connection = Connection::new(kind, &server.address());
            let (_, body) = sent(&server, &connection, &format!("here/{model}"), said("hi")).await;
            assert!(!body.to_string().contains("prompt_cache"), "{kind} {model}: {body}");
        }
    }
}

#[tokio::test]
async fn a_key_is_sent_to_every_kind_of_provider_that_has_one() {
    for (kind, _) in FORMATS {
        let server = Raw::answering("400 No", "", "{}");
        drop(sent(&server, &Connection::new(kind, &server.address()), "here/m", said("hi")).await);
        let request = server.requests().pop().expect("a request").to_lowercase();
        let header = match kind {
            "anthropic" => format!("x-api-key: {KEY}\r\n"),
            "gemini" => format!("x-goog-api-key: {KEY}\r\n"),
            _ => format!("authorization: bearer {KEY}\r\n"),
        };
        assert!(request.contains(&header), "{kind}: {request}");
        assert_eq!(request.matches(KEY).count(), 1, "{kind}: {request}");
    }
}

#[tokio::test]
async fn a_model_that_does_not_reason_is_asked_for_no_reasoning() {
    let server = Raw::answering("400 No", "", "{}");
    let mut connection = Connection::new("openai-responses", &server.address());
    let (_, unknown) = sent(&server, &connection, "here/m", said("hi")).await;
    assert!(unknown.get("reasoning").is_some() && unknown.get("include").is_some(), "{unknown}");
    let text = format!(
        "[endpoint.openai]\nbase_url = \"{}\"\nkind = \"openai-responses\"\nkey_env = \"HERE_KEY\"\n",
        server.address()
    );
    connection.settings = Settings::parse(&text).expect("valid settings");
    let (_, plain) = sent(&server, &connection, "openai/gpt-4.1", said("hi")).await;
    assert!(plain.get("reasoning").is_none() && plain.get("include").is_none(), "{plain}");
}

#[tokio::test]
async fn no_effort_is_sent_to_a_model_that_is_not_known_to_take_one() {
    for (kind, _) in FORMATS {
        let server = Raw::answering("400 No", "", "{}");
        let mut connection = Connection::new(kind, &server.address());
        let (_, plain) = sent(&server, &connection, "here/m", said("hi")).await;
        let [all, one] = [
            connection.with("[model]\neffort = \"high\"\n"),
            connection.with("[models.\"here/m\"]\neffort = \"high\"\n"),
        ];
        for (settings, is_sent) in [(all, false), (one, true)] {
            connection.settings = settings;
            let (_, body) = sent(&server, &connection, "here/m", said("hi")).await;
            assert_eq!(body != plain, is_sent, "{kind}: {body}");
        }
    }
}

#[tokio::test]
async fn a_model_that_takes_no_pictures_is_sent_a_text_for_each() {
    for (kind, _) in FORMATS {
        let server = Raw::answering("400 No", "", "{}");
        let mut connection = Connection::new(kind, &server.address());
        let texts = [connection.with("[models.\"here/m\"]\nimages = false\n"), connection.settings.clone()];
        let [without, with] = texts;
        for (settings, expected) in [(without, false), (with, true)] {
            connection.settings = settings;
            let (_, body) = sent(&server, &connection, "here/m", whole_prompt()).await;
            let body = body.to_string();
            assert_eq!(body.contains("AQID"), expected, "{kind}: {body}");
            assert_eq!(
                body.contains("[File: 3 bytes of image/png, which cannot be sent to you]"),
                !expected,
                "{kind}"
            );
        }
    }
}

#[tokio::test]
async fn the_most_tokens_of_an_answer_are_sent_where_the_format_needs_them() {
    for (kind, _) in FORMATS {
        let server = Raw::answering("400 No", "", "{}");
        let mut connection = Connection::new(kind, &server.address());
        connection.settings = connection.with("[models.\"here/m\"]\noutput_tokens = 123\n");
        let (_, body) = sent(&server, &connection, "here/m", said("hi")).await;
        assert_eq!(body.get("max_tokens"), (kind == "anthropic").then(|| json!(123)).as_ref(), "{kind}");
        assert_eq!(body.to_string().contains("123"), kind == "anthropic", "{kind}");
    }
}

#[tokio::test]
async fn the_name_of_a_model_is_sent_as_it_is() {
    let names = [
        "qwen-max",
        "mistral-medium",
        "o3-mini-high",
        "groq::llama",
        "a::b::c-low",
        "::a",
        "deepseek-r1-zero",
        "a-none",
        "a-minimal",
        "a-xhigh",
        "-high",
        "high",
        "a-",
        "org/a-high:free",
    ];
    for (kind, place) in FORMATS {
        let server = Raw::answering("400 No", "", "{}");
        for connection in
            [Connection::new(kind, &server.address()), Connection::keyless(kind, &server.address())]
        {
            let (_, mut plain) = sent(&server, &connection, "here/m", said("hi")).await;
            for name in names {
                let (line, mut body) = sent(&server, &connection, &format!("here/{name}"), said("hi")).await;
                assert!(line.starts_with(&place.replace("MODEL", name)), "{kind}, {name}: {line}");
                if kind != "gemini" {
                    assert_eq!(body["model"].take(), name, "{kind}");
                    plain["model"].take();
                }
                assert_eq!(body, plain, "{kind}: {name} changes more than the name");
            }
        }
    }
}
