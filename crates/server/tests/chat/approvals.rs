//! Approvals in chats: an owner decides in their private chat, once, and it is shown as decided only when it is.

use std::time::Duration;

use futures::StreamExt as _;
use retake_wire::chat::{Bind, ButtonLabel, ChatNotice, ChatRefusal, InboundMessage, Place};
use retake_wire::reply::Entries;
use retake_wire::request::Decide;
use retake_wire::{Decision, Event, Follow, Part, Request, RunEvent};

use super::super::world::{Desk, get, log};
use super::platform::{Gateway, in_group, paired, pairs, says};

/// A desk where the chat of a message belongs to a conversation in a folder.
async fn in_a_folder(gateway: &mut Gateway, desk: &Desk, message: InboundMessage) -> String {
    let place = message.place.clone();
    gateway.says(message).await;
    gateway.works(1).await;
    let folder = desk.folder("work");
    let of = desk.create(None, Some(&folder)).await;
    get!(desk, Places, Request::Bind(Bind { place, conversation: Some(of.clone()) }));
    of
}

/// Waits for the notice that asks, while a run is at work.
async fn is_asked(gateway: &mut Gateway) -> ChatNotice {
    for _ in 0..30 {
        let notices = gateway.works_once(1).await;
        if let Some(asked) = notices.into_iter().find(|it| matches!(it, ChatNotice::ApprovalNeeded { .. })) {
            return asked;
        }
    }
    panic!("nobody is asked: {:?}", gateway.there)
}

/// The output of the only call, once its answer is stored.
async fn output(desk: &Desk, of: &str) -> String {
    let Entries { entries, .. } = get!(desk, Entries, Request::Log(log(of)));
    let parts = entries.into_iter().flat_map(|entry| entry.parts);
    let outputs = parts.filter_map(|part| match part {
        Part::ToolResult { content, .. } => Some(content),
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
    let of = in_a_folder(&mut gateway, &desk, says("9", "hello")).await;
    gateway.says(says("1", "run `echo hi > made`")).await;
    let asked = is_asked(&mut gateway).await;
    let ChatNotice::ApprovalNeeded { tool, what } = asked else { panic!("{asked:?}") };
    assert_eq!((tool.as_str(), what.contains("echo hi > made")), ("shell", true), "{what}");
    let button = gateway.button(&ButtonLabel::Approve);
    assert_eq!(gateway.presses(&says("", ""), button.clone()).await, Some(decided(true, "Ann")));
    gateway.works(1).await;
    assert_eq!(output(&desk, &of).await, "[exit code 0]");
    assert!(gateway.there.values().any(|shown| *shown == format!("{:?}", decided(true, "Ann"))));
    let again = gateway.presses(&says("", ""), button).await;
    assert_eq!(again, Some(ChatNotice::Refused(ChatRefusal::Stale)), "a second time");
}

#[tokio::test]
async fn denied_call_does_not_run() {
    let (desk, mut gateway) = paired(true).await;
    let of = in_a_folder(&mut gateway, &desk, says("9", "hello")).await;
    gateway.says(says("1", "run `echo hi > made`")).await;
    is_asked(&mut gateway).await;
    let told = gateway.presses(&says("", ""), gateway.button(&ButtonLabel::Deny)).await;
    assert_eq!(told, Some(decided(false, "Ann")));
    gateway.works(1).await;
    let output = output(&desk, &of).await;
    assert_eq!(output, "not run: the person said no");
}

#[tokio::test]
async fn approval_of_a_member_is_asked_in_the_private_chat_of_the_owner_and_only_there() {
    let (desk, mut gateway) = paired(true).await;
    gateway.says(says("1", "hello")).await;
    gateway.works(1).await;
    let bens = |id: &str, text: &str| {
        let place = Place { chat: "2".to_owned(), ..says("", "").place };
        InboundMessage { person: in_group("", "Ben", "").person, place, ..says(id, text) }
    };
    pairs(&desk, &gateway, bens("b0", "hi"), false).await;
    in_a_folder(&mut gateway, &desk, bens("b2", "hello")).await;
    gateway.says(bens("b1", "run `echo hi > made`")).await;
    is_asked(&mut gateway).await;
    let (post, button) = gateway.button(&ButtonLabel::Approve);
    assert_eq!(gateway.places[&post], says("", "").place, "not in the chat of the member");
    let told = gateway.presses(&bens("", ""), (post.clone(), button.clone())).await;
    assert_eq!(told, Some(ChatNotice::Refused(ChatRefusal::Stale)), "it does not stand there");
    let forged = InboundMessage { person: in_group("", "Ben", "").person, ..says("", "") };
    let told = gateway.presses(&forged, (post.clone(), button.clone())).await;
    assert_eq!(told, Some(ChatNotice::Refused(ChatRefusal::OwnersOnly)));
    assert_eq!(gateway.presses(&says("", ""), (post, button)).await, Some(decided(true, "Ann")));
    gateway.works(1).await;
}

#[tokio::test]
async fn approval_that_was_decided_in_a_terminal_is_over_in_the_chat() {
    let (desk, mut gateway) = paired(true).await;
    let of = in_a_folder(&mut gateway, &desk, says("9", "hello")).await;
    gateway.says(says("1", "run `echo hi > made`")).await;
    is_asked(&mut gateway).await;
    let button = gateway.button(&ButtonLabel::Approve);
    let id = waits(&desk, &of).await;
    desk.does(Request::Decide(Decide { conversation: of.clone(), id, decision: Decision::Once })).await;
    let told = gateway.presses(&says("", ""), button.clone()).await;
    let over = [Some(ChatNotice::ApprovalOver), Some(ChatNotice::Refused(ChatRefusal::Stale))];
    assert!(over.contains(&told), "{told:?}");
    gateway.works(1).await;
    assert!(gateway.there.values().any(|shown| *shown == format!("{:?}", ChatNotice::ApprovalOver)));
    assert!(gateway.buttons.values().all(Vec::is_empty), "{:?}", gateway.buttons);
    assert_eq!(output(&desk, &of).await, "[exit code 0]");
}

#[tokio::test]
async fn nobody_is_asked_in_a_chat_where_no_owner_writes_and_a_terminal_can_answer() {
    let (desk, mut gateway) = paired(false).await;
    let of = in_a_folder(&mut gateway, &desk, says("9", "hello")).await;
    gateway.says(says("1", "run `echo hi > made`")).await;
    let id = waits(&desk, &of).await;
    let notices = gateway.works_once(1).await;
    assert!(notices.is_empty() && gateway.buttons.is_empty(), "{notices:?}");
    let decision = Decision::Deny { words: None };
    desk.does(Request::Decide(Decide { conversation: of.clone(), id, decision })).await;
    gateway.works(1).await;
    assert_eq!(output(&desk, &of).await, "not run: the person said no");
}

/// The id of the approval that waits, as a terminal sees it.
async fn waits(desk: &Desk, of: &str) -> String {
    let follow = Follow { conversation: Some(of.to_owned()), since: None };
    let mut events = desk.client.follow(follow).await.expect("followed");
    let found = async {
        loop {
            match events.next().await.expect("an event").event {
                Event::Now(now) if !now.asks.is_empty() => return now.asks[0].id.clone(),
                Event::Run { said: RunEvent::Asks(asks) } => return asks.id.clone(),
                _ => {}
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(20), found).await.expect("an approval waits")
}
