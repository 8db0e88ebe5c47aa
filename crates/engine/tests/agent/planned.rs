//! Plan mode: what the model is told, and how the plan is handed over.

use futures::StreamExt;
use retake_core::{Mode, Part, Role, joined_text};
use retake_engine::{Decision, Outcome, PermissionChange, Permit, RunEvent, RunRequest, Start};
use serde_json::json;

use super::{Desk, ModelOutput, calls, words};

fn plan(text: &str) -> Vec<ModelOutput> {
    calls(&[("present_plan", json!({ "plan": text }))])
}

fn write() -> Vec<ModelOutput> {
    calls(&[("write", json!({ "path": "a.txt", "content": "x\n" }))])
}

impl Desk {
    /// The remarks of the program about plan mode in the last prompt.
    fn remarks(&self) -> Vec<String> {
        let asked = self.script.asked();
        let texts = asked.messages.iter().filter(|message| message.role == Role::System);
        let texts =
            texts.flat_map(|message| &message.parts).map(|part| joined_text(std::slice::from_ref(part)));
        texts
            .filter(|text| text.starts_with("Plan mode"))
            .map(|text| text[..14].trim_end().to_owned())
            .collect()
    }

    async fn mode(&self) -> Mode {
        self.engine.settled_rules(self.id).await.expect("permissions").mode
    }

    async fn set_mode(&self, mode: Mode) {
        let change = PermissionChange { mode: Some(mode), ..PermissionChange::default() };
        self.engine.set_permission(self.id, change).await.expect("set");
    }
}

#[tokio::test]
async fn approved_plan_ends_plan_mode_and_is_carried_out() {
    let desk = Desk::new(Mode::Ask).await;
    desk.set_mode(Mode::Plan).await;
    for answer in [write(), plan("1. Write a.txt"), write(), words("done")] {
        desk.script.then(answer);
    }
    let mut shown = Vec::new();
    let events = desk.say("make a file").await;
    let (ended, told) = desk
        .follow(events, &mut |asks| {
            shown.push((asks.call.detail.clone().unwrap_or_default(), asks.offers.len()));
            Some(Decision::Once)
        })
        .await;
    assert_eq!(ended.outcome, Outcome::Succeeded);
    assert_eq!(shown[0], ("1. Write a.txt".to_owned(), 0), "the whole plan, and no rule for all plans");
    assert!(told[1].contains("failed: not run: plan mode only reads"), "{told:?}");
    assert!(told.iter().any(|line| line.starts_with("may it hand over the plan? Plan")), "{told:?}");
    assert!(told.iter().any(|line| line.starts_with("may it write a.txt")), "the usual mode asks: {told:?}");
    assert_eq!((desk.read("a.txt").as_deref(), desk.mode().await), (Some("x\n"), Mode::Ask));
    assert_eq!(desk.remarks(), ["Plan mode is o"]);
    // The result of the plan has said that it is over: nothing else says so.
    desk.turn("go on", vec![words("yes")]).await;
    assert_eq!(desk.remarks().len(), 1, "{:?}", desk.remarks());
}

#[tokio::test]
async fn declined_plan_goes_back_with_the_words_and_plan_mode_goes_on() {
    let desk = Desk::new(Mode::Plan).await;
    for answer in [plan("too much"), write(), plan("less"), words("planned")] {
        desk.script.then(answer);
    }
    let events = desk.say("make a file").await;
    let deny = &mut |_: &_| Some(Decision::Deny(Some("smaller, please".into())));
    let (_, told) = desk.follow(events, deny).await;
    assert!(told[1].contains("the person said no: smaller, please"), "{told:?}");
    assert!(told[3].contains("plan mode only reads"), "{told:?}");
    assert_eq!(told.iter().filter(|line| line.starts_with("may it hand over")).count(), 2, "{told:?}");
    assert_eq!((desk.read("a.txt"), desk.mode().await), (None, Mode::Plan));
}

#[tokio::test]
async fn plan_mode_of_one_run_ends_with_its_plan_and_the_conversation_keeps_its_mode() {
    let desk = Desk::new(Mode::AllowAll).await;
    for answer in [plan("write it"), write(), words("done")] {
        desk.script.then(answer);
    }
    let permit = Permit { mode: Some(Mode::Plan), ..Permit::default() };
    let start = Start::Say(vec![Part::text("make a file")], None);
    let request = RunRequest { permit, ..desk.request(start) };
    let events = desk.engine.run(desk.id, request).await.expect("started");
    desk.follow(events, &mut |_| Some(Decision::Once)).await;
    assert_eq!((desk.read("a.txt").as_deref(), desk.mode().await), (Some("x\n"), Mode::AllowAll));
    assert_eq!(desk.remarks(), ["Plan mode is o"]);
}

#[tokio::test]
async fn model_is_told_of_plan_mode_once_and_of_its_end_and_a_rewind_takes_both_back() {
    let desk = Desk::new(Mode::Ask).await;
    desk.turn("one", vec![words("1")]).await;
    assert_eq!(desk.remarks().len(), 0);
    desk.set_mode(Mode::Plan).await;
    desk.turn("two", vec![words("2")]).await;
    desk.turn("three", vec![words("3")]).await;
    assert_eq!(desk.remarks().len(), 1);
    desk.set_mode(Mode::Ask).await;
    desk.turn("four", vec![words("4")]).await;
    assert_eq!(desk.remarks().len(), 2);
    desk.rewind("t2").await;
    desk.rewind("t1").await;
    desk.turn("one again", vec![words("1")]).await;
    assert_eq!(desk.remarks().len(), 0, "{:?}", desk.remarks());
}

#[tokio::test]
async fn plan_without_a_person_is_refused_and_plan_mode_goes_on() {
    let desk = Desk::new(Mode::Plan).await;
    desk.script.then(plan("write it"));
    desk.script.then(words("the plan"));
    drop(desk.say("make a file").await);
    while desk.engine.is_running(desk.id) {
        tokio::task::yield_now().await;
    }
    assert_eq!(desk.shows().await.last().map(String::as_str), Some("the plan"));
    assert_eq!(desk.mode().await, Mode::Plan);
}

#[tokio::test]
async fn stop_while_a_plan_waits_withdraws_it_and_plan_mode_goes_on() {
    let desk = Desk::new(Mode::Plan).await;
    desk.script.then(plan("write it"));
    let mut events = desk.say("make a file").await;
    let id = loop {
        if let Some(RunEvent::Asks(asks)) = events.next().await {
            break asks.id;
        }
    };
    assert!(desk.engine.cancel(desk.id), "it runs");
    while events.next().await.is_some() {}
    let late = desk.engine.decide(desk.id, &id, Decision::Once).expect_err("it is withdrawn");
    assert_eq!((late.code, desk.mode().await), ("not_asked", Mode::Plan));
}

#[tokio::test]
async fn outside_of_plan_mode_a_plan_needs_no_approval() {
    let desk = Desk::new(Mode::Ask).await;
    let (ended, told) = desk.turn("go", vec![plan("write it"), words("so")]).await;
    assert_eq!(ended.outcome, Outcome::Succeeded);
    assert!(!told.iter().any(|line| line.starts_with("may it")), "{told:?}");
}
