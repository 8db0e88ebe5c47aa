//! Compaction through the program: the verb, the command in a conversation, and what a real model server gets.

use serde_json::{Value, json};

use super::harness::error;
use super::model::{Model, words};

/// The texts of a request, each with its role.
fn texts(messages: &[Value]) -> Vec<String> {
    let text = |message: &Value| match &message["content"] {
        Value::String(text) => text.clone(),
        parts => parts.to_string(),
    };
    let told = messages.iter().filter(|message| message["role"] != "system");
    told.map(|message| format!("{}: {}", message["role"].as_str().unwrap_or_default(), text(message)))
        .collect()
}

#[test]
fn summary_replaces_messages_for_the_model_and_an_undo_takes_it_back() {
    let model = Model::start();
    let world = model.world(&[]);
    let long = "and so on ".repeat(40);
    model.turn(&world, &format!("one {long}"), vec![words(&format!("1 {long}"))]);
    let before = world.texts();
    model.then(vec![words("One was counted.")]);
    let done = world.does(&["compact", "keep", "the", "number"]);
    let said =
        "summarised: the model gets the summary in place of these messages; `retake undo` takes it back\n";
    assert_eq!(done, said);
    let asked = texts(&model.asked_last());
    assert!(asked.last().is_some_and(|text| text.ends_with("The person adds: keep the number")), "{asked:?}");
    assert_eq!(world.texts(), before, "people see the same");
    model.turn(&world, "two", vec![words("2")]);
    let asked = texts(&model.asked_last());
    assert!(
        asked.iter().any(|text| text.contains("[Summary of earlier messages]\nOne was counted.")),
        "{asked:?}"
    );
    assert!(!asked.iter().any(|text| text.contains("and so on")), "{asked:?}");
    world.does(&["undo", "2", "--yes"]);
    model.turn(&world, "three", vec![words("3")]);
    let asked = texts(&model.asked_last());
    assert!(asked.iter().any(|text| text.contains("1 and so on")), "{asked:?}");
    // In a conversation by lines.
    model.then(vec![words("All of it.")]);
    let pty = world.converse();
    pty.until("the prompt", |screen| screen.trim_end().ends_with("\n>"));
    pty.reads_keys();
    pty.send("/compact\r");
    pty.until("it was summarised", |screen| screen.contains("summarised"));
    let folds = world.json(&["log"]);
    assert!(folds["entries"].as_array().expect("entries").iter().all(|entry| entry["fold"] != json!(null)));
}

#[test]
fn compact_says_why_nothing_was_summarised() {
    let model = Model::start();
    let world = model.world(&[]);
    model.turn(&world, "one", vec![words("1")]);
    model.then(vec![words(&"much longer than what was said ".repeat(20))]);
    let refused = world.run(&["compact"]);
    assert_eq!(refused.status.code(), Some(4), "{refused:?}");
    assert!(
        error(&refused).contains("the summary is not shorter than the messages that it replaces"),
        "{refused:?}"
    );
    let unknown = world.run(&["compact", "--to", "t9"]);
    assert_eq!(unknown.status.code(), Some(3), "{unknown:?}");
}
