//! What tools do in a turn, and that a rewind reverts it.

use retake_core::{Mode, Role};
use retake_engine::Outcome;
use serde_json::json;

use super::{Desk, calls, words};

#[tokio::test]
async fn a_turn_goes_on_until_the_model_asks_for_nothing() {
    let desk = Desk::new(Mode::AllowAll).await;
    desk.write("a.txt", "one\ntwo\n");
    let answers = vec![
        calls(&[("read", json!({"path": "a.txt"}))]),
        calls(&[("edit", json!({"path": "a.txt", "edits": [{"old": "two", "new": "2"}]}))]),
        words("done"),
    ];
    let (ended, told) = desk.turn("make it a number", answers).await;
    assert_eq!(ended.outcome, Outcome::Succeeded, "{:?}", ended.error);
    assert_eq!(desk.read("a.txt").as_deref(), Some("one\n2\n"));
    assert_eq!(desk.shows().await, ["make it a number", "calls read", "ok", "calls edit", "ok", "done"]);
    assert_eq!(told[0], "read a.txt (none)");
    assert!(told[2].starts_with("edit a.txt") && told[2].ends_with("(workspace)"), "{told:?}");
    assert!(told[3].ends_with("[1]"), "one file was seen to change: {told:?}");
    let roles: Vec<Role> = desk.script.asked().messages.iter().map(|message| message.role).collect();
    assert_eq!(roles, [Role::User, Role::Assistant, Role::Tool, Role::Assistant, Role::Tool]);
}

#[tokio::test]
async fn a_rewind_takes_files_and_what_was_known_along() {
    let desk = Desk::new(Mode::AllowAll).await;
    desk.write("a.txt", "one\n");
    let read = calls(&[("read", json!({"path": "a.txt"}))]);
    desk.turn("look", vec![read, words("seen")]).await;
    let edit = calls(&[("edit", json!({"path": "a.txt", "edits": [{"old": "one", "new": "two"}]}))]);
    desk.turn("edit", vec![edit, words("done")]).await;
    assert_eq!(desk.read("a.txt").as_deref(), Some("two\n"));
    desk.rewind("t2").await;
    assert_eq!(desk.read("a.txt").as_deref(), Some("one\n"));
    assert_eq!(desk.shows().await, ["look", "calls read", "ok", "seen"]);
    // The version of turn 1 is known again, so it can be edited without another read.
    let edit = calls(&[("edit", json!({"path": "a.txt", "edits": [{"old": "one", "new": "three"}]}))]);
    let (ended, told) = desk.turn("again", vec![edit, words("done")]).await;
    assert_eq!(ended.outcome, Outcome::Succeeded, "{told:?}");
    assert_eq!(desk.read("a.txt").as_deref(), Some("three\n"));
    desk.rewind("t1").await;
    let edit = calls(&[("edit", json!({"path": "a.txt", "edits": [{"old": "one", "new": "four"}]}))]);
    let (_, told) = desk.turn("unread", vec![edit, words("refused")]).await;
    assert!(told[1].contains("failed") && told[1].contains("have not read it"), "{told:?}");
    assert_eq!(desk.read("a.txt").as_deref(), Some("one\n"));
}

#[tokio::test]
async fn invalid_call_is_reported_to_the_model_and_the_turn_continues() {
    let desk = Desk::new(Mode::AllowAll).await;
    let answers = vec![
        calls(&[("no_such", json!({})), ("read", json!([1])), ("read", json!({"path": 7}))]),
        words("sorry"),
    ];
    let (ended, told) = desk.turn("try", answers).await;
    assert_eq!(ended.outcome, Outcome::Succeeded);
    assert_eq!(
        desk.shows().await,
        ["try", "calls no_such, calls read, calls read", "failed", "failed", "failed", "sorry"]
    );
    assert!(told[1].contains("no tool “no_such”") && told[1].contains("grep"), "{told:?}");
    assert!(told[3].contains("not a JSON object"), "{told:?}");
}

#[tokio::test]
async fn a_write_and_an_edit_of_it_come_in_one_answer() {
    let desk = Desk::new(Mode::AllowAll).await;
    let both = calls(&[
        ("write", json!({"path": "n.txt", "content": "one\n"})),
        ("edit", json!({"path": "n.txt", "edits": [{"old": "one", "new": "two"}]})),
    ]);
    let (_, told) = desk.turn("both", vec![both, words("done")]).await;
    assert_eq!(desk.read("n.txt").as_deref(), Some("two\n"), "{told:?}");
    desk.rewind("t1").await;
    assert_eq!(desk.read("n.txt"), None);
}

#[tokio::test]
async fn a_turn_without_an_end_ends_at_its_limit() {
    let desk = Desk::new(Mode::AllowAll).await;
    for depth in 0..50 {
        desk.script.then(calls(&[("list", json!({ "depth": 1 + depth % 2 }))]));
    }
    let (ended, _) = desk.turn("for ever", vec![]).await;
    assert_eq!(ended.error.map(|error| error.code), Some("too_many_steps"));
    assert_eq!(desk.script.times(), 50);
}

#[tokio::test]
async fn an_erasure_reaches_what_calls_have_printed() {
    let desk = Desk::new(Mode::AllowAll).await;
    let answers = vec![calls(&[("list", json!({}))]), words("the word is hunter2")];
    desk.turn("look", answers).await;
    let page = desk.shows().await;
    assert_eq!(page.last().map(String::as_str), Some("the word is hunter2"));
    let all = desk.dir.path().join("data/output");
    let output = all.join(desk.id.to_string());
    std::fs::create_dir_all(&output).expect("made");
    // Files of earlier versions are found, too.
    std::fs::write(all.join("old.log"), "it is hunter2").expect("written");
    let call = desk.entry_with("calls list").await;
    for (name, text) in
        [("a.log", "it is hunter2"), ("b.log", "nothing"), (&format!("{call}-1.log"), "listed")]
    {
        std::fs::write(output.join(name), text).expect("written");
    }
    let left = || {
        let names = std::fs::read_dir(&output).expect("there").flatten().map(|entry| entry.file_name());
        let mut names: Vec<String> = names.map(|name| name.to_string_lossy().into_owned()).collect();
        names.sort();
        names.len()
    };
    desk.erase(Vec::new(), Some("hunter2")).await;
    assert_eq!((left(), output.join("a.log").exists()), (2, false), "what holds the text is gone");
    assert!(!all.join("old.log").exists(), "and so is what lies above");
    desk.erase(vec![desk.entry_with("ok").await], None).await;
    assert_eq!(
        (left(), output.join("b.log").exists()),
        (1, true),
        "what the erased call has printed is gone"
    );
}
