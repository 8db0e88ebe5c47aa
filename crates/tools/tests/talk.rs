//! The todo list, and questions to the person.

use std::sync::Arc;

use retake_core::{Fact, ToolOutcome};
use retake_tools::{ask_tool, todo_tool};
use serde_json::json;

use crate::stage::Stage;

#[tokio::test]
async fn each_update_writes_the_whole_todo_list() {
    let stage = Stage::new();
    let items = json!({ "items": [
        { "text": "read it", "state": "done" },
        { "text": "write it\u{1b}[2J", "state": "doing" },
        { "text": "ship it", "state": "pending" },
    ] });
    let output = stage.call(&todo_tool(), items.clone()).await;
    assert_eq!(output.content, "[x] read it\n[>] write it\\u{1b}[2J\n[ ] ship it");
    assert_eq!(output.facts[0].key, "todo");
    let kept: serde_json::Value = serde_json::from_str(&output.facts[0].value).unwrap();
    assert_eq!(kept, items["items"]);
    let none = stage.call(&todo_tool(), json!({ "items": [] })).await;
    assert_eq!((none.content.as_str(), none.facts), ("The list is empty.", vec![Fact::new("todo", "")]));
}

#[tokio::test]
async fn an_invalid_todo_list_is_refused_with_the_reason() {
    let stage = Stage::new();
    let many: Vec<_> = (0..101).map(|_| json!({ "text": "a", "state": "done" })).collect();
    for (given, why) in [
        (
            json!({ "items": [{ "text": "a", "state": "lost" }] }),
            "`items[0].state` must be one of `pending`, `doing`, `done`",
        ),
        (json!({ "items": [{ "text": " ", "state": "done" }] }), "an item has no text"),
        (json!({ "items": many }), "101 items are too many"),
    ] {
        let output = stage.call(&todo_tool(), given.clone()).await;
        assert!(output.outcome == ToolOutcome::Failed && output.content.contains(why), "{output:?}");
        assert!(todo_tool().intent(&given, stage.root(), &stage.roots).is_err());
    }
}

#[tokio::test]
async fn the_ask_tool_asks_the_person() {
    let mut stage = Stage::new();
    let question = json!({ "question": "Which?", "choices": ["a", "b"] });
    let nobody = stage.call(&ask_tool(), question.clone()).await;
    assert!(
        nobody.outcome == ToolOutcome::Failed && nobody.content.starts_with("No one is there"),
        "{nobody:?}"
    );
    Arc::get_mut(&mut stage.host).unwrap().answer = Some("b".to_owned());
    let output = stage.call(&ask_tool(), question.clone()).await;
    assert_eq!((output.outcome, output.content.as_str()), (ToolOutcome::Ok, "Which? a/b b"));
    let intent = ask_tool().intent(&question, stage.root(), &stage.roots).unwrap();
    assert_eq!(intent.line, "ask: Which?");
    assert!(ask_tool().intent(&json!({ "question": "" }), stage.root(), &stage.roots).is_err());
    stage.stop();
    let stopped = stage.call(&ask_tool(), question).await;
    assert_eq!(stopped.content, "[stopped by the test, without an answer]");
}
