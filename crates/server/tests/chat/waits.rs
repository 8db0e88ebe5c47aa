//! Messages of chats that wait for a run: steps of others leave them, edits and deletions find them, and the next owner answers them.

use std::time::Duration;

use retake_wire::chat::{Arrival, ButtonLabel, ChatNotice, ChatStep, ChatVerb, Inbound, InboundMessage};
use retake_wire::{Part, Role};

use super::super::world::Desk;
use super::platform::{Gateway, conversation, in_group, in_private, pairs, says};
use super::settings::sets;

/// A desk whose runs go on until they are stopped: Ann's `one` is at work in a group, and Ben is a member.
async fn at_work() -> (Desk, Gateway, String) {
    let desk = Desk::new().await;
    sets(&desk, "");
    let gateway = Gateway::new(&desk, "one").await;
    pairs(&desk, &gateway, says("0", "hello"), true).await;
    pairs(&desk, &gateway, in_private("b0", "Ben"), false).await;
    gateway.says(in_group("g1", "Ann", "one")).await;
    let of = conversation(&desk).await;
    (desk, gateway, of)
}

/// What people have said, as far as it is an entry.
async fn said(desk: &Desk, of: &str) -> Vec<String> {
    let (_, entries) = desk.timeline(of).await;
    let text = |part: &Part| match part {
        Part::Text { text } => Some(text.clone()),
        _ => None,
    };
    let own = entries.iter().filter(|entry| entry.role == Role::User);
    own.map(|entry| entry.parts.iter().find_map(text).unwrap_or_default()).collect()
}

/// Does all work until this is what people have said. Returns the notices.
async fn becomes(gateway: &mut Gateway, desk: &Desk, of: &str, expected: &[&str]) -> Vec<ChatNotice> {
    let mut notices = Vec::new();
    let reached = async {
        while said(desk, of).await != expected {
            let work = gateway.takes(50).await;
            notices.extend(gateway.does(work, 1).await);
        }
    };
    let reached = tokio::time::timeout(Duration::from_secs(20), reached).await;
    assert!(reached.is_ok(), "{:?} instead of {expected:?}; {notices:?}", said(desk, of).await);
    let work = gateway.takes(50).await;
    notices.extend(gateway.does(work, 1).await);
    notices
}

fn failures(notices: &[ChatNotice]) -> Vec<&ChatNotice> {
    notices.iter().filter(|notice| !matches!(notice, ChatNotice::Step { .. } | ChatNotice::Stopped)).collect()
}

#[tokio::test]
async fn message_that_waits_is_answered_after_a_step_of_somebody_else() {
    let (desk, mut gateway, of) = at_work().await;
    gateway.says(in_group("g2", "Ben", "mine")).await;
    gateway.says(in_group("g3", "Ben", "too")).await;
    gateway.commands(in_group("g4", "Ann", "/rewind 1"), ChatVerb::Rewind, Some(1)).await;
    let notices = becomes(&mut gateway, &desk, &of, &["Ben: mine", "Ben: too"]).await;
    let is_step = |it: &&ChatNotice| matches!(it, ChatNotice::Step { step: ChatStep::Rewind, .. });
    assert_eq!((notices.iter().filter(is_step).count(), failures(&notices)), (1, Vec::new()), "{notices:?}");
    // The same for an undo, and for an edit of the turn at work.
    gateway.says(in_group("g5", "Ann", "three")).await;
    gateway.commands(in_group("g6", "Ann", "/undo"), ChatVerb::Undo, None).await;
    let work = gateway.takes(5000).await;
    gateway.does(work, 1).await;
    gateway.presses(&in_group("", "Ann", ""), gateway.button(&ButtonLabel::Confirm)).await;
    becomes(&mut gateway, &desk, &of, &["Ben: mine", "Ann: three"]).await;
    sets(&desk, "edits = \"always\"");
    gateway.says(in_group("g7", "Ben", "four")).await;
    gateway.arrives("e1", Inbound::Edited(in_group("g5", "Ann", "drei")), None).await;
    let notices = becomes(&mut gateway, &desk, &of, &["Ben: mine", "Ann: drei", "Ben: four"]).await;
    assert_eq!(failures(&notices), Vec::<&ChatNotice>::new());
}

#[tokio::test]
async fn message_that_waits_is_answered_after_a_stop() {
    let (desk, mut gateway, of) = at_work().await;
    gateway.says(in_group("g2", "Ben", "mine")).await;
    gateway.commands(in_group("g3", "Ann", "/stop"), ChatVerb::Stop, None).await;
    let notices = becomes(&mut gateway, &desk, &of, &["Ben: mine"]).await;
    assert_eq!(failures(&notices), Vec::<&ChatNotice>::new());
}

#[tokio::test]
async fn message_that_waits_when_the_owner_ends_is_answered_by_the_next_one() {
    let (desk, gateway, of) = at_work().await;
    gateway.says(in_group("g2", "Ben", "mine")).await;
    // What a killed owner leaves behind.
    std::fs::create_dir_all(desk.file("left")).expect("made");
    for name in ["retake.db", "retake.db-wal"] {
        std::fs::copy(desk.file("data").join(name), desk.file("left").join(name)).expect("copied");
    }
    let desk = desk.other("left").await;
    let next = Gateway::at(&desk, retake_server::socket_of(&desk.file("left")), "two").await;
    next.takes_over("one").await;
    let reached = async {
        while !said(&desk, &of).await.contains(&"Ben: mine".to_owned()) {
            next.takes(50).await;
        }
    };
    let reached = tokio::time::timeout(Duration::from_secs(20), reached).await;
    assert!(reached.is_ok(), "{:?}", said(&desk, &of).await);
    drop(next);
}

#[tokio::test]
async fn gateways_case_84_edit_of_a_message_that_waits_changes_it_where_it_waits() {
    let (desk, mut gateway, of) = at_work().await;
    for (id, text) in [("g2", "mine"), ("g3", "other")] {
        gateway.says(in_group(id, "Ben", text)).await;
    }
    let same = gateway.arrives("e0", Inbound::Edited(in_group("g2", "Ben", "mine")), None).await;
    assert_eq!(same.outcome, Arrival::Ignored);
    let of_another = InboundMessage { person: in_group("", "Ann", "").person, ..in_group("g2", "Ben", "no") };
    assert_eq!(gateway.arrives("e1", Inbound::Edited(of_another), None).await.outcome, Arrival::Ignored);
    // Not even in a group is there a question: no answer is lost.
    let edited = gateway.arrives("e2", Inbound::Edited(in_group("g2", "Ben", "ours")), None).await;
    let again = gateway.arrives("e3", Inbound::Edited(in_group("g2", "Ben", "ours")), None).await;
    assert_eq!((edited.outcome, again.outcome), (Arrival::Done, Arrival::Ignored));
    gateway.commands(in_group("g4", "Ann", "/stop"), ChatVerb::Stop, None).await;
    let notices = becomes(&mut gateway, &desk, &of, &["Ben: ours", "Ben: other"]).await;
    assert_eq!(failures(&notices), Vec::<&ChatNotice>::new());
}

#[tokio::test]
async fn gateways_case_85_recall_of_a_message_that_waits_takes_it_out_of_the_queue() {
    let (desk, mut gateway, of) = at_work().await;
    for (id, text) in [("g2", "mine"), ("g3", "other"), ("g4", "last")] {
        gateway.says(in_group(id, "Ben", text)).await;
    }
    let place = in_group("", "Ben", "").place;
    let deletes = |message: &str, by: Option<&InboundMessage>| Inbound::Recalled {
        place: place.clone(),
        message: message.to_owned(),
        by: by.map(|by| by.person.clone()),
    };
    let moderator = gateway.arrives("r1", deletes("g3", Some(&in_group("", "Ann", ""))), None).await;
    assert_eq!(moderator.outcome, Arrival::Ignored, "it is not its author's");
    sets(&desk, "recalls = \"off\"");
    let off = gateway.arrives("r2", deletes("g3", None), None).await;
    assert_eq!(off.outcome, Arrival::Ignored);
    sets(&desk, "");
    for (key, message) in [("r3", "g3"), ("r4", "g4")] {
        assert_eq!(gateway.arrives(key, deletes(message, None), None).await.outcome, Arrival::Done);
    }
    assert_eq!(gateway.arrives("r5", deletes("g3", None), None).await.outcome, Arrival::Ignored);
    gateway.commands(in_group("g5", "Ann", "/stop"), ChatVerb::Stop, None).await;
    let notices = becomes(&mut gateway, &desk, &of, &["Ben: mine"]).await;
    assert_eq!(failures(&notices), Vec::<&ChatNotice>::new());
}
