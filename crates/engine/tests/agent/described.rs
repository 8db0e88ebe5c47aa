//! The whole request of an agent with all our tools: what a model reads before the conversation, and how much that is.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt;
use retake_core::{Part, SeenState};
use retake_engine::mcp::McpFiles;
use retake_engine::secret::Environment;
use retake_engine::settings::Settings;
use retake_engine::{Engine, FileOptions, OpenRequest, Permit, RunEvent, RunRequest, Start};
use serde_json::Value;

use crate::raw::Raw;

/// The most tokens of instructions, tools and schemas.
const MOST_TOKENS: usize = 6_000;

/// The first request of a conversation with these settings.
async fn request(dir: &Path, settings: &str) -> Value {
    let server = Raw::answering("400 No", "", "{}");
    let base = server.address();
    let settings = format!(
        "{settings}\n[model]\ndefault = \"here/m\"\n[endpoint.here]\nkind = \"openai\"\nbase_url = \"{base}\"\n"
    );
    let (home, work) = (dir.join("home"), dir.join("work"));
    std::fs::create_dir_all(&home).expect("a folder");
    std::fs::create_dir_all(&work).expect("a folder");
    let open = OpenRequest {
        data_dir: home.join("data"),
        wait_for_owner: Duration::ZERO,
        mcp: McpFiles::below(&home),
        approved_hooks: home.join("hooks-allowed.json"),
        settings: Settings::parse(&settings).expect("valid settings"),
        config_file: home.join("config.toml"),
        environment: Environment::fixed([]),
        user: "ann".into(),
        home: Some(home),
    };
    let (engine, notices) = Engine::open(open).await.expect("opened");
    assert!(notices.is_empty(), "{notices:?}");
    let folder = work.to_str().expect("UTF-8").to_owned();
    let id = engine.create(None, Some(folder), engine.by(None)).await.expect("created").conversation;
    let asked = RunRequest {
        start: Start::Say(vec![Part::text("hi")], None),
        model: None,
        steer: None,
        permit: Permit::default(),
        files: FileOptions::default(),
        seen: SeenState::Anything,
        by: engine.by(None),
    };
    let events = engine.run(id, asked).await.expect("started");
    let ended = events.any(|event| async move { matches!(event, RunEvent::Ended(_)) });
    assert!(tokio::time::timeout(Duration::from_secs(60), ended).await.expect("in time"));
    let engine = Arc::try_unwrap(engine).map_err(|_| ());
    drop(engine);
    let request = server.requests().into_iter().next().expect("a request");
    serde_json::from_str(request.split_once("\r\n\r\n").expect("a body").1).expect("JSON")
}

#[tokio::test]
async fn instructions_tools_and_schemas_have_at_most_6000_tokens() {
    let tokens = tiktoken_rs::o200k_base().expect("a table of tokens");
    for settings in ["", "[permissions]\nsandbox = false\n"] {
        let dir = tempfile::tempdir().expect("a folder");
        let body = request(dir.path(), settings).await.to_string();
        let count = tokens.encode_ordinary(&body).len();
        assert!(count <= MOST_TOKENS, "{count} tokens: {body}");
    }
}

#[tokio::test]
async fn whole_request_of_an_agent_is_as_recorded() {
    let dir = tempfile::tempdir().expect("a folder");
    let place = dir.path().canonicalize().expect("a path");
    let body = request(&place, "[permissions]\nsandbox = false\n").await;
    let mut text = String::new();
    for message in body["messages"].as_array().expect("messages") {
        text.push_str(&format!(
            "{}: {}\n\n",
            message["role"],
            message["content"].as_str().unwrap_or_default()
        ));
    }
    let tools = body["tools"].as_array().expect("tools");
    tools.iter().for_each(|tool| text.push_str(&format!("{}\n", tool["function"])));
    insta::with_settings!({
        snapshot_path => "../golden",
        prepend_module_to_snapshot => false,
        omit_expression => true,
        filters => vec![
            (place.to_str().expect("UTF-8"), "DIR"),
            (r"System: \w+ on \w+", "System: SYSTEM"),
            (r"began on \d{4}-\d\d-\d\d", "began on DAY"),
        ],
    }, { insta::assert_snapshot!("request_agent", text) });
}
