//! Calls that are repaired: permissions, the ledger and people see the repaired form, and the log has both.

use std::collections::VecDeque;

use retake_core::{Action, Mode, Part, Rule, Ruling, preview};
use retake_engine::{Decision, ExportFormat, PendingApproval, PermissionChange};
use serde_json::{Value, json};

use super::{Desk, calls, words};

/// Calls as other agents write them, and the right ones.
fn pairs() -> Vec<[(&'static str, Value); 2]> {
    vec![
        [
            ("Write", json!({"contents": "x\n", "file_path": "a.txt"})),
            ("write", json!({"path": "a.txt", "content": "x\n"})),
        ],
        [
            ("Edit", json!({"file_path": "b.txt", "old_string": "one", "new_string": "two"})),
            ("edit", json!({"path": "b.txt", "edits": [{"old": "one", "new": "two"}]})),
        ],
        [("Bash", json!({"cmd": "rm b.txt"})), ("shell", json!({"command": "rm b.txt"}))],
        [("MAIL", json!({"to": "ann"})), ("mail", json!({"to": "ann"}))],
    ]
}

/// The approval request for a call, which is then denied.
async fn asked(desk: &Desk, call: &(&str, Value)) -> PendingApproval {
    desk.script.then(calls(std::slice::from_ref(call)));
    desk.script.then(words("then not"));
    let events = desk.say("work").await;
    let mut asked = VecDeque::new();
    desk.follow(events, &mut |asks| {
        asked.push_back(asks.clone());
        Some(Decision::Deny(None))
    })
    .await;
    let mut asks = asked.pop_front().expect("an approval is requested");
    // The only difference: their own ids.
    asks.id.clear();
    asks.call.call.clear();
    asks
}

#[tokio::test]
async fn a_repaired_call_needs_the_same_approval_as_the_right_one() {
    let desk = Desk::new(Mode::Ask).await;
    desk.write("b.txt", "one\n");
    for [sent, right] in pairs() {
        assert_eq!(asked(&desk, &sent).await, asked(&desk, &right).await, "{sent:?}");
    }
    assert_eq!(desk.read("b.txt").as_deref(), Some("one\n"));
}

#[tokio::test]
async fn a_rule_about_a_tool_holds_for_its_repaired_calls() {
    let desk = Desk::new(Mode::AllowAll).await;
    desk.write("b.txt", "one\n");
    for [sent, right] in pairs() {
        let rule = Rule { ruling: Ruling::Deny, tool: right.0.into(), what: None };
        let change = PermissionChange { add: vec![rule], ..PermissionChange::default() };
        desk.engine.set_permission(desk.id, change).await.expect("set");
        let (_, told) = desk.turn("work", vec![calls(&[sent]), words("then not")]).await;
        assert!(told[1].contains("forbids it"), "{told:?}");
    }
    assert_eq!((desk.read("a.txt"), desk.read("b.txt").as_deref()), (None, Some("one\n")));
}

#[tokio::test]
async fn the_log_and_each_export_have_a_call_as_it_was_sent_and_as_it_ran() {
    let desk = Desk::new(Mode::AllowAll).await;
    let sent = ("Write", json!({"contents": "x\n", "file_path": "a.txt"}));
    desk.turn("work", vec![calls(&[sent]), words("done")]).await;
    assert_eq!(desk.read("a.txt").as_deref(), Some("x\n"));
    for format in [ExportFormat::Jsonl, ExportFormat::Full, ExportFormat::Markdown, ExportFormat::Text] {
        let text = desk.engine.export(desk.id, format, None).await.expect("exported").text;
        let plain = text.replace('\\', "");
        let (sent, ran) = (plain.find(r#""file_path":"a.txt""#), plain.find(r#""path":"a.txt""#));
        assert!(sent.is_some() && sent < ran, "{format:?}: {text}");
    }
    // The model sees its own call, and what was repaired in it.
    let prompt = desk.script.asked();
    let parts: Vec<&Part> = prompt.messages.iter().flat_map(|message| &message.parts).collect();
    let names = parts.iter().filter_map(|part| match part {
        Part::ToolCall { name, .. } => Some(name.as_str()),
        _ => None,
    });
    assert_eq!(names.collect::<Vec<_>>(), ["Write"]);
    assert!(!parts.iter().any(|part| matches!(part, Part::Repaired { .. })));
    let said = parts.iter().find_map(|part| match part {
        Part::ToolResult { content, .. } => Some(content.as_str()),
        _ => None,
    });
    let line = "(the call was repaired: the tool `Write` is `write`; `contents` is `content`; `file_path` is `path`)";
    assert!(said.is_some_and(|said| said.ends_with(line)), "{said:?}");
}

#[tokio::test]
async fn the_ledger_knows_a_repaired_call_as_the_right_one() {
    let desk = Desk::new(Mode::AllowAll).await;
    let [sent, right] = pairs().remove(3);
    desk.turn("write", vec![calls(&[sent]), words("done")]).await;
    let turn = desk.engine.entry(desk.id, "t1").await.expect("a turn");
    let plan =
        desk.engine.plan_both(desk.id, Action::Rewind(turn), Default::default()).await.expect("planned");
    let call = &plan.effects.calls[0];
    assert_eq!((call.tool.as_str(), call.arguments.as_deref()), ("mail", Ok(r#"{"to":"ann"}"#)));
    desk.rewind("t1").await;
    assert!(asked(&desk, &right).await.again.is_some());
}

#[tokio::test]
async fn undo_reverts_an_inexact_edit_exactly() {
    let desk = Desk::new(Mode::AllowAll).await;
    let before = "def f():\r\n    \u{201c}a\u{201d} \r\n    b\t\r\n";
    desk.write("a.py", before);
    let read = calls(&[("Read", json!({"file_path": "a.py", "offset": 0}))]);
    let edit = json!({"file_path": "a.py", "old_string": "\"a\"\nb\n", "new_string": "c\nb\n"});
    desk.turn("work", vec![read, calls(&[("Edit", edit)]), words("done")]).await;
    assert_eq!(desk.read("a.py").as_deref(), Some("def f():\r\n    c\r\n    b\t\r\n"));
    desk.apply(Action::Undo(1)).await;
    assert_eq!(desk.read("a.py").as_deref(), Some(before));
}

#[tokio::test]
async fn the_preview_of_a_failed_repaired_call_says_why_it_failed() {
    let desk = Desk::new(Mode::AllowAll).await;
    let read = calls(&[("Read", json!({"file_path": "quokka.txt"}))]);
    let fails = calls(&[("Bash", json!({"cmd": "echo a; exit 3"}))]);
    let silent = calls(&[("Bash", json!({"cmd": "exit 4"}))]);
    desk.turn("work", vec![read, fails, silent, words("done")]).await;
    let prompt = desk.script.asked();
    let results = prompt.messages.iter().flat_map(|message| &message.parts);
    let results: Vec<_> = results.filter(|part| matches!(part, Part::ToolResult { .. })).cloned().collect();
    let previews: Vec<_> = results.iter().map(|part| preview(std::slice::from_ref(part))).collect();
    assert!(previews[0].starts_with("failed: cannot read") && previews[0].contains("quokka"), "{previews:?}");
    assert_eq!(previews[1], "failed: it ended with exit code 3", "{results:?}");
    assert_eq!(previews[2], "failed: it ended with exit code 4", "{results:?}");
}
