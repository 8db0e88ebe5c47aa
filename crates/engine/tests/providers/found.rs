//! The choice of a model, and servers that exist, do not exist, or are something else.

use std::sync::Arc;
use std::time::Duration;

use retake_core::{Field, Remedy};
use retake_engine::EngineError;
use retake_engine::clock::SystemClock;
use retake_engine::ids::SeededRandom;
use retake_engine::model::{ChosenBy, ModelError, ModelErrorKind, Models, OfferedModel, Unavailable};
use retake_engine::secret::{Environment, KeyError, KeySource};
use retake_engine::settings::{Settings, Time};

use super::Connection;
use crate::poster::Poster;
use crate::raw::{Raw, Step};

/// A port on which nothing listens, and that no parallel test gets.
const CLOSED: u16 = 1;

/// Models with these ports for Ollama and llama.cpp, further settings, and one key.
fn models(ollama: u16, llamacpp: u16, more: &str, variable: &str) -> Models {
    let text = format!(
        "{more}\n[local]\nfind_within_ms = 3000\nollama_port = {ollama}\nllamacpp_port = {llamacpp}\nlmstudio_port = {CLOSED}\n"
    );
    let settings = Settings::parse(&text).expect("valid settings");
    let environment = Environment::fixed([(variable, "sk-test")]);
    Models::new(settings, environment, Arc::new(SystemClock), Arc::new(SeededRandom::new(1)))
}

async fn chosen(models: &Models, asked: Option<&str>) -> (String, ChosenBy) {
    let choice = models.choose(asked).await.expect("a model");
    (choice.model.name().to_owned(), choice.why)
}

fn ollama() -> Raw {
    Raw::answering("200 OK", "", r#"{"models":[{"name":"nomic-embed-text"},{"name":"llama3:8b"}]}"#)
}

#[tokio::test]
async fn without_key_and_server_it_is_the_demo() {
    let (name, why) = chosen(&models(CLOSED, CLOSED, "", "OTHER"), None).await;
    assert_eq!((name.as_str(), why), ("demo", ChosenBy::Demo));
}

#[tokio::test]
async fn requested_model_beats_settings_key_and_server_in_this_order() {
    let server = ollama();
    let with = |more, variable| models(server.port(), CLOSED, more, variable);
    let default = "[model]\ndefault = \"openai/x\"";
    assert_eq!(chosen(&with(default, "ANTHROPIC_API_KEY"), Some("gemini/y")).await.0, "gemini/y");
    assert_eq!(chosen(&with(default, "ANTHROPIC_API_KEY"), None).await.0, "openai/x");
    let (name, why) = chosen(&with("", "ANTHROPIC_API_KEY"), None).await;
    let key = ChosenBy::Key(KeySource::Env("ANTHROPIC_API_KEY".to_owned()));
    assert!(name.starts_with("anthropic/claude-") && why == key, "{name} {why:?}");
    assert_eq!(chosen(&with("[model.usual]\nopenai = \"z\"", "OPENAI_API_KEY"), None).await.0, "openai/z");
    let (name, why) = chosen(&with("", "OTHER"), None).await;
    assert_eq!((name.as_str(), why), ("ollama/llama3:8b", ChosenBy::LocalServer("Ollama".to_owned())));
}

#[tokio::test]
async fn a_server_in_openais_format_is_found() {
    let poster = Poster::start("fixtures:\n  - match: { model: qwen }\n    response: { content: hi }\n");
    let (name, why) = chosen(&models(CLOSED, poster.port(), "", "OTHER"), None).await;
    assert_eq!((name.as_str(), why), ("llamacpp/qwen", ChosenBy::LocalServer("llama.cpp".to_owned())));
}

#[tokio::test]
async fn another_server_on_the_port_is_not_taken_for_one() {
    let others = ["<html>", "{}", r#"{"models":[{"id":1}]}"#, r#"{"models":[]}"#]
        .map(|b| Raw::answering("200 OK", "", b));
    for server in others.iter().chain([&Raw::answering("404 No", "", r#"{"models":[{"name":"x"}]}"#)]) {
        assert_eq!(chosen(&models(server.port(), server.port(), "", "OTHER"), None).await.0, "demo");
    }
}

#[tokio::test]
async fn looking_takes_no_longer_than_the_settings_say() {
    let silent = Raw::start(vec![vec![Step::Hang]]);
    let text = format!(
        "[local]\nfind_within_ms = 200\nollama_port = {}\nllamacpp_port = {CLOSED}\nlmstudio_port = {CLOSED}",
        silent.port()
    );
    let settings = Settings::parse(&text).expect("valid settings");
    let models =
        Models::new(settings, Environment::fixed([]), Arc::new(SystemClock), Arc::new(SeededRandom::new(1)));
    let choice = tokio::time::timeout(Duration::from_secs(5), models.choose(None)).await;
    assert_eq!(choice.expect("in time").expect("a model").model.name(), "demo");
}

#[tokio::test]
async fn the_list_says_what_is_there_and_what_is_missing() {
    let server = ollama();
    let more = "[models.\"openai/mine\"]\ncontext_tokens = 9";
    let offers = models(server.port(), CLOSED, more, "OPENAI_API_KEY").list().await;
    let names = |available| {
        offers
            .iter()
            .filter(move |offer: &&OfferedModel| offer.unavailable.is_none() == available)
            .map(|offer| offer.name.as_str())
    };
    let there: Vec<&str> = names(true).collect();
    assert_eq!(
        there,
        ["ollama/nomic-embed-text", "ollama/llama3:8b", "openai/mine", "openai/gpt-5.6", "demo"]
    );
    let missing: Vec<&str> = names(false).collect();
    assert_eq!(
        missing,
        ["anthropic/claude-sonnet-5", "gemini/gemini-3.5-flash", "llamacpp/MODEL", "lmstudio/MODEL"]
    );
    let anthropic = offers.iter().find(|offer| offer.name.starts_with("anthropic")).expect("listed");
    assert!(
        matches!(&anthropic.unavailable, Some(Unavailable::Key(key)) if matches!(&**key, KeyError::NotSet(name) if name == "ANTHROPIC_API_KEY"))
    );
}

#[tokio::test]
async fn a_server_that_is_not_looked_for_has_no_model_to_use() {
    let text = "[local]\nfind = false\n[models.\"ollama/mine\"]\ncontext_tokens = 9\n\
                [endpoint.far]\nbase_url = \"https://llm.example/v1\"";
    let settings = Settings::parse(text).expect("valid settings");
    let models =
        Models::new(settings, Environment::fixed([]), Arc::new(SystemClock), Arc::new(SeededRandom::new(1)));
    let offers = models.list().await;
    let offer = |name: &str| offers.iter().find(|offer| offer.name == name).expect(name);
    // The settings name this one; whether it exists is known only after a request.
    assert!(offer("ollama/mine").unavailable.is_none());
    for name in ["llamacpp/MODEL", "lmstudio/MODEL"] {
        assert!(matches!(offer(name).unavailable, Some(Unavailable::NotSearched)), "{name}");
    }
    assert!(matches!(offer("far/MODEL").unavailable, Some(Unavailable::NotNamed(KeySource::None))));
}

#[tokio::test]
async fn an_unreachable_port_is_reported_with_its_address_after_the_tries() {
    let connection = Connection::new("openai", &format!("http://127.0.0.1:{CLOSED}/v1")).tries(2);
    let (_, notices, error) = connection.ask("m", "hi").await;
    let error = error.expect("an error");
    assert_eq!((error.kind(), notices.len()), (ModelErrorKind::Unreachable, 1));
    let expected =
        format!("cannot get an answer from here/m at http://127.0.0.1:{CLOSED}/v1: it cannot be reached");
    assert_eq!(error.to_string(), expected);
}

#[tokio::test]
async fn a_server_without_tls_is_reported_and_not_trusted() {
    let server = ollama();
    let mut connection = Connection::new("openai", &format!("https://127.0.0.1:{}/v1", server.port()));
    connection.settings.network.connect_timeout_s = Time(Duration::from_millis(500));
    let error = connection.error("m", "hi").await;
    assert_eq!(error.kind(), ModelErrorKind::Unreachable);
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn a_missing_key_is_reported_before_anything_is_sent() {
    let server = ollama();
    let more = format!("[endpoint.mine]\nbase_url = \"{}\"\nkey_env = \"MINE_KEY\"", server.address());
    let model = models(CLOSED, CLOSED, &more, "OTHER").open("mine/m").expect("a model");
    let (_, _, error) = super::ask(&*model, vec![]).await;
    let error = error.expect("an error");
    assert_eq!(error.kind(), ModelErrorKind::NoKey);
    assert_eq!(value(&error, "variable"), Some("MINE_KEY".into()));
    assert!(server.requests().is_empty());
}

/// A value of which clients make the hint.
fn value(error: &ModelError, name: &str) -> Option<Field> {
    let fields = EngineError::model(error).fields;
    fields.into_iter().find(|(it, _)| *it == name).map(|(_, value)| value)
}

#[tokio::test]
async fn names_that_mean_nothing_are_refused_with_the_nearest() {
    let models = models(CLOSED, CLOSED, "", "OTHER");
    let refused = |name| models.open(name).map(|model| model.name().to_owned()).expect_err("refused");
    assert_eq!(value(&refused("antropic/x"), "nearest"), Some("anthropic".into()));
    assert_eq!(value(&refused("gemma/x"), "nearest"), Some("gemini".into()));
    assert_eq!(value(&refused("qqq"), "nearest"), None);
    assert_eq!(value(&refused("ollama"), "provider"), Some("ollama".into()));
    assert_eq!(EngineError::model(&refused("qqq")).remedies, [Remedy::Models]);
    assert_eq!(refused("ollama/").kind(), ModelErrorKind::UnknownModel);
}
