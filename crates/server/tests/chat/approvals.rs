//! Approvals in chats: an owner decides in their private chat, once, and it is shown as decided only when it is.

use retake_wire::chat::{ButtonLabel, ChatNotice, ChatRefusal, InboundMessage};
use retake_wire::reply::Entries;
use retake_wire::request::Decide;
use retake_wire::{Client as _, Decision, Part, Request};

use super::super::world::{Desk, get, log};
use super::platform::{Gateway, conversation, in_group, in_private, paired, pairs, says};

/// Waits for the notice that asks, while a run is at work.
async fn is_asked(gateway: &mut Gateway) -> ChatNotice {
    loop {
        let notices = gateway.works_once(1).await;
        if let Some(asked) = notices.into_iter().find(|it| matches!(it, ChatNotice::ApprovalNeeded { .. })) {
            return asked;
        }
    }
}

/// The output of the only call, once its answer is stored.
async fn output(desk: &Desk, of: &str) -> String {
    let Entries { entries, .. } = get!(desk, Entries, Request::Log(log(of)));
    let parts = entries.into_iter().flat_map(|entry| entry.parts);
    let outputs = parts.filter_map(|part| match part {
        Part::ToolResult { parts, .. } => Some(format!("{parts:?}")),
        _ => None,
    });
    outputs.collect()
}

fn decided(approved: bool, by: &str) -> ChatNotice {
    ChatNotice::ApprovalDecided { approved, by: by.to_owned() }
}

#[tokio::test]
async fn gateways_case_86_owner_approves_a_call_in_the_private_chat_once() {
    let (desk, mut gateway) = paired(true).await;
    gateway.says(says("1", "run `echo hi`")).await;
    let asked = is_asked(&mut gateway).await;
    let ChatNotice::ApprovalNeeded { tool, what } = asked else { panic!("{asked:?}") };
    assert_eq!((tool.as_str(), what.contains("echo hi")), ("shell", true), "{what}");
    let button = gateway.button(&ButtonLabel::Approve);
    assert_eq!(gateway.presses(&says("", ""), button.clone()).await, Some(decided(true, "Ann")));
    gateway.works(1).await;
    assert!(output(&desk, &conversation(&desk).await).await.contains("hi"));
    assert!(gateway.there.values().any(|shown| *shown == format!("{:?}", decided(true, "Ann"))));
    let again = gateway.presses(&says("", ""), button).await;
    assert_eq!(again, Some(ChatNotice::Refused(ChatRefusal::Stale)), "a second time");
}

#[tokio::test]
async fn denied_call_does_not_run() {
    let (desk, mut gateway) = paired(true).await;
    gateway.says(says("1", "run `echo hi > made`")).await;
    is_asked(&mut gateway).await;
    let told = gateway.presses(&says("", ""), gateway.button(&ButtonLabel::Deny)).await;
    assert_eq!(told, Some(decided(false, "Ann")));
    gateway.works(1).await;
    let output = output(&desk, &conversation(&desk).await).await;
    assert!(output.contains("denied"), "{output}");
}

#[tokio::test]
async fn approval_of_a_group_is_asked_in_the_private_chat_of_the_owner_and_only_there() {
    let (desk, mut gateway) = paired(true).await;
    gateway.says(says("1", "hello")).await;
    gateway.works(1).await;
    gateway.says(in_group("g0", "Ann", "hello all")).await;
    gateway.works(1).await;
    pairs(
        &desk,
        &gateway,
        InboundMessage { person: in_group("", "Ben", "").person, ..in_private("b0", "Ben") },
        false,
    )
    .await;
    gateway.says(in_group("g1", "Ben", "run `echo hi`")).await;
    is_asked(&mut gateway).await;
    let (post, button) = gateway.button(&ButtonLabel::Approve);
    assert_eq!(gateway.places[&post], says("", "").place, "not in the group");
    let told = gateway.presses(&in_group("", "Ben", ""), (post.clone(), button.clone())).await;
    assert_eq!(told, Some(ChatNotice::Refused(ChatRefusal::Stale)), "it does not stand there");
    let ben = InboundMessage { person: in_group("", "Ben", "").person, ..says("", "") };
    let told = gateway.presses(&ben, (post.clone(), button.clone())).await;
    assert_eq!(told, Some(ChatNotice::Refused(ChatRefusal::OwnersOnly)));
    assert_eq!(gateway.presses(&says("", ""), (post, button)).await, Some(decided(true, "Ann")));
    gateway.works(1).await;
}

#[tokio::test]
async fn approval_that_was_decided_in_a_terminal_is_over_in_the_chat() {
    let (desk, mut gateway) = paired(true).await;
    gateway.says(says("1", "run `echo hi`")).await;
    is_asked(&mut gateway).await;
    let button = gateway.button(&ButtonLabel::Approve);
    let of = conversation(&desk).await;
    let id = desk.waiting_approval(&of).await;
    desk.does(Request::Decide(Decide { conversation: of.clone(), id, decision: Decision::Once })).await;
    let told = gateway.presses(&says("", ""), button.clone()).await;
    let over = [Some(ChatNotice::ApprovalOver), Some(ChatNotice::Refused(ChatRefusal::Stale))];
    assert!(over.contains(&told), "{told:?}");
    gateway.works(1).await;
    assert!(gateway.there.values().any(|shown| *shown == format!("{:?}", ChatNotice::ApprovalOver)));
    assert!(gateway.buttons.values().all(Vec::is_empty), "{:?}", gateway.buttons);
    assert!(output(&desk, &of).await.contains("hi"));
}

#[tokio::test]
async fn member_without_an_owner_in_chats_gets_no_approval() {
    let (desk, mut gateway) = paired(false).await;
    gateway.says(says("1", "run `echo hi`")).await;
    let notices = gateway.works(1).await;
    assert!(!notices.iter().any(|it| matches!(it, ChatNotice::ApprovalNeeded { .. })), "{notices:?}");
    let output = output(&desk, &conversation(&desk).await).await;
    assert!(!output.contains("hi") || output.contains("permission"), "{output}");
}
