//! Approvals: when a call needs one, and what a decision does.

use retake_core::{Mode, Part, Rule, Ruling};
use retake_engine::{Decision, Outcome, PermissionChange, Permit, RunEvent, RunRequest, Start};
use serde_json::json;

use super::{Desk, calls, words};
use futures::StreamExt;

fn write(text: &str) -> Vec<super::ModelOutput> {
    calls(&[("write", json!({"path": "a.txt", "content": text}))])
}

#[tokio::test]
async fn a_person_is_asked_and_a_no_is_reported_to_the_model() {
    let desk = Desk::new(Mode::Ask).await;
    desk.script.then(write("x\n"));
    desk.script.then(words("then not"));
    let events = desk.say("write").await;
    let deny = &mut |_: &_| Some(Decision::Deny(Some("use b.txt".into())));
    let (ended, told) = desk.follow(events, deny).await;
    assert_eq!(ended.outcome, Outcome::Succeeded);
    assert!(told[0].starts_with("may it write a.txt"), "{told:?}");
    assert!(told[1].contains("the person said no: use b.txt"), "{told:?}");
    assert_eq!(desk.read("a.txt"), None);
    assert_eq!(desk.shows().await, ["write", "calls write", "failed", "then not"]);
}

#[tokio::test]
async fn a_yes_is_for_once_or_for_what_a_rule_fits() {
    let desk = Desk::new(Mode::Ask).await;
    let mut asked = 0;
    for (text, decision) in [("1\n", Decision::Once), ("2\n", Decision::Once)] {
        desk.script.then(write(text));
        desk.script.then(words("done"));
        let events = desk.say("write").await;
        let (_, told) = desk
            .follow(events, &mut |_| {
                asked += 1;
                Some(decision.clone())
            })
            .await;
        assert_eq!(desk.read("a.txt").as_deref(), Some(text), "{told:?}");
    }
    assert_eq!(asked, 2);
    desk.script.then(write("3\n"));
    desk.script.then(words("done"));
    let events = desk.say("write").await;
    let rule = Rule { ruling: Ruling::Allow, tool: "write".into(), what: None };
    desk.follow(events, &mut |asks| {
        assert!(!asks.offers.is_empty(), "rules are offered");
        Some(Decision::InConversation(rule.clone()))
    })
    .await;
    let (_, told) = desk.turn("write", vec![write("4\n"), words("done")]).await;
    assert!(!told[0].starts_with("may it"), "{told:?}");
    assert_eq!(desk.read("a.txt").as_deref(), Some("4\n"));
}

#[tokio::test]
async fn plan_writes_nothing_and_reading_is_free() {
    let desk = Desk::new(Mode::Plan).await;
    desk.write("a.txt", "one\n");
    let answers = vec![calls(&[("read", json!({"path": "a.txt"}))]), write("two\n"), words("a plan")];
    let (ended, told) = desk.turn("plan", answers).await;
    assert_eq!(ended.outcome, Outcome::Succeeded);
    assert_eq!(desk.read("a.txt").as_deref(), Some("one\n"));
    assert!(told.iter().any(|line| line.contains("failed: not run")), "{told:?}");
}

#[tokio::test]
async fn call_without_a_listener_is_denied() {
    let desk = Desk::new(Mode::Ask).await;
    desk.script.then(write("x\n"));
    desk.script.then(words("then not"));
    drop(desk.say("write").await);
    while desk.engine.is_running(desk.id) {
        tokio::task::yield_now().await;
    }
    assert_eq!(desk.read("a.txt"), None);
    assert_eq!(desk.shows().await.last().map(String::as_str), Some("then not"));
    let told = format!("{:?}", desk.script.asked().messages.last());
    assert!(told.contains("not run: it needs an approval, and no client is there to answer; "), "{told}");
}

#[tokio::test]
async fn client_without_prompts_gets_a_result_that_names_the_missing_rule() {
    let desk = Desk::new(Mode::Ask).await;
    desk.script.then(write("x\n"));
    desk.script.then(words("then not"));
    let events = desk.say("write").await;
    let (_, told) =
        desk.follow(events, &mut |_| Some(Decision::Unattended("--allow write allows it".into()))).await;
    let why = "it needs an approval, and no client is there to answer; --allow write allows it";
    assert_eq!(told[1], format!("→ failed: not run: {why} [0]"));
}

impl Desk {
    /// The results for the model of a turn's calls, with approval requests or without.
    async fn answers(&self, of: &[(&str, serde_json::Value)]) -> Vec<String> {
        self.script.then(calls(of));
        self.script.then(words("so"));
        let events = self.say("look").await;
        self.follow(events, &mut |_| Some(Decision::Once)).await;
        let told = self.script.asked().messages.pop().map(|message| message.parts).unwrap_or_default();
        let text = |part| match part {
            Part::ToolResult { content, .. } => Some(content),
            _ => None,
        };
        told.into_iter().filter_map(text).collect()
    }

    async fn rules(&self, rules: &[&str]) {
        let add = rules.iter().map(|rule| rule.parse().expect("a rule")).collect();
        let change = retake_engine::PermissionChange { add, ..Default::default() };
        self.engine.set_permission(self.id, change).await.expect("set");
    }
}

#[tokio::test]
async fn files_denied_by_a_read_rule_are_left_out_of_search_results() {
    let desk = Desk::new(Mode::AllowAll).await;
    std::fs::create_dir_all(desk.path("own/deep")).expect("made");
    for name in [".env", "a.txt", "own/deep/b.txt"] {
        desk.write(name, "needle\n");
    }
    let all = [
        ("grep", json!({"pattern": "needle"})),
        ("glob", json!({"pattern": "*"})),
        ("list", json!({"depth": 9})),
    ];
    let free = desk.answers(&all).await;
    assert!(free.iter().all(|told| told.contains(".env") && told.contains("b.txt")), "{free:?}");
    desk.rules(&["deny *(**/.env)", "ask *(own/**)"]).await;
    let kept = desk.answers(&all).await;
    let is_kept = |told: &String| {
        !told.contains(".env")
            && !told.contains("b.txt")
            && told.contains("a.txt")
            && told.contains("[2 files or folders left out by a rule of the person.]")
    };
    assert!(kept.iter().all(is_kept), "{kept:?}");
    let asked = desk.answers(&[("grep", json!({"pattern": "needle", "path": "own"}))]).await;
    assert!(asked[0].contains("b.txt"), "a person has agreed to the whole: {asked:?}");
}

#[tokio::test]
async fn files_that_must_not_be_read_are_not_searched() {
    let desk = Desk::new(Mode::AllowAll).await;
    desk.write("key", "needle\n");
    desk.rules(&["deny read(key)"]).await;
    let searched = desk.answers(&[("grep", json!({"pattern": "n", "path": "key"}))]).await;
    assert_eq!(searched, ["[No line matches.]\n[1 file or folder left out by a rule of the person.]\n"]);
    let listed = desk.answers(&[("list", json!({}))]).await;
    assert_eq!(listed, ["key  7 B\n"], "its name is another matter");
}

#[tokio::test]
async fn denied_call_is_shown_before_its_refusal() {
    let desk = Desk::new(Mode::AllowAll).await;
    desk.rules(&["deny write(*.txt)"]).await;
    let (_, told) = desk.turn("write", vec![write("x\n"), words("then not")]).await;
    assert!(told[0].starts_with("write a.txt") && told[0].ends_with("(workspace)"), "{told:?}");
    assert!(told[1].starts_with("→ failed: not run: the rule `deny write(*.txt)`"), "{told:?}");
    let unknown = vec![calls(&[("fly", json!({"to": "mars"}))]), words("then not")];
    let (_, told) = desk.turn("fly", unknown).await;
    assert!(told[0].starts_with(r#"fly {"to":"mars"}"#), "{told:?}");
}

#[tokio::test]
async fn a_stop_while_it_is_asked_ends_the_turn_and_an_answer_comes_too_late() {
    let desk = Desk::new(Mode::Ask).await;
    desk.script.then(write("x\n"));
    let mut events = desk.say("write").await;
    let id = loop {
        if let RunEvent::Asks(asks) = events.next().await.expect("goes on") {
            break asks.id;
        }
    };
    assert!(desk.engine.cancel(desk.id));
    let (ended, told) = desk.follow(events, &mut |_| None).await;
    assert_eq!(ended.outcome, Outcome::Interrupted);
    assert_eq!(told, ["→ failed: not run: stopped by the person before it began [0]"]);
    let late = desk.engine.decide(desk.id, &id, Decision::Once).expect_err("nobody asks");
    assert_eq!(late.code, "not_asked");
    assert_eq!(desk.read("a.txt"), None);
    assert_eq!(desk.shows().await, ["write", "calls write", "failed"]);
}

/// Rules and a mode that change during a run apply from its next call on, even against the run's own permissions.
#[tokio::test]
async fn changed_permission_applies_from_the_next_call() {
    let rule = |ruling| Rule { ruling, tool: "write".into(), what: None };
    let add = |ruling| PermissionChange { add: vec![rule(ruling)], ..PermissionChange::default() };
    let plan = PermissionChange { mode: Some(Mode::Plan), ..PermissionChange::default() };
    for (permitted, change, last) in [
        (None, add(Ruling::Allow), "ok"),
        (None, add(Ruling::Deny), "failed"),
        (None, plan.clone(), "failed"),
        (Some(Mode::Ask), plan, "failed"),
    ] {
        let desk = Desk::new(Mode::Ask).await;
        for answer in [write("1\n"), write("2\n"), words("done")] {
            desk.script.then(answer);
        }
        let permit = Permit { mode: permitted, rules: Vec::new() };
        let request = RunRequest { permit, ..desk.request(Start::Say(vec![Part::text("write")], None)) };
        let mut events = desk.engine.run(desk.id, request).await.expect("started");
        let asks = loop {
            if let RunEvent::Asks(asks) = events.next().await.expect("goes on") {
                break asks;
            }
        };
        desk.engine.set_permission(desk.id, change.clone()).await.expect("settled");
        desk.engine.decide(desk.id, &asks.id, Decision::Once).expect("asked");
        let (ended, told) = desk.follow(events, &mut |_| None).await;
        assert_eq!(ended.outcome, Outcome::Succeeded, "{change:?}: {told:?}");
        assert_eq!(desk.shows().await[2..], ["ok", "calls write", last, "done"], "{change:?}");
    }
}

#[tokio::test]
async fn nobody_is_asked_about_a_call_that_cannot_run_where_nothing_is_captured() {
    let mut desk = Desk::new(Mode::Ask).await;
    let git = desk.path(".git");
    std::fs::create_dir_all(&git).expect("made");
    std::fs::write(git.join("list.txt"), "tea\n").expect("written");
    let folder = git.to_str().expect("UTF-8").to_owned();
    desk.id =
        desk.engine.create(None, Some(folder), desk.engine.by(None)).await.expect("created").conversation;
    desk.script.then(write("x\n"));
    desk.script.then(calls(&[("shell", json!({"command": "rm list.txt"}))]));
    desk.script.then(calls(&[("read", json!({"path": "list.txt"}))]));
    desk.script.then(words("done"));
    let events = desk.say("go").await;
    let (ended, told) = desk.follow(events, &mut |asked| panic!("asked: {asked:?}")).await;
    assert_eq!(ended.outcome, Outcome::Succeeded);
    let told = told.join("\n");
    assert_eq!(told.matches("failed: not run: ").count(), 2, "{told}");
    assert!(told.ends_with("read list.txt (none)\n→ 1 line [0]"), "reading works: {told}");
    assert!(git.join("list.txt").exists() && !git.join("a.txt").exists());
}
