//! Messages that their authors delete. The settings of the account say whether their turns are taken back.

use retake_wire::chat::{
    Arrival, ButtonLabel, ChatNotice, ChatStep, Inbound, InboundMessage, Person, PostCounts,
};

use super::super::world::Desk;
use super::platform::{Gateway, conversation, in_group, in_private, paired, pairs, says, texts};
use super::settings::sets;

/// The news that this message was deleted, by its author where nobody is named.
fn deletes(message: &InboundMessage, by: Option<&str>) -> Inbound {
    let by = by.map(|id| Person { id: id.to_owned(), name: id.to_owned(), is_bot: false });
    Inbound::Recalled { place: message.place.clone(), message: message.message.clone(), by }
}

async fn two_turns(table: &str) -> (Desk, Gateway, String) {
    let (desk, mut gateway) = paired(false).await;
    sets(&desk, table);
    for (id, text) in [("1", "one"), ("2", "two")] {
        gateway.says(says(id, text)).await;
        gateway.works(1).await;
    }
    let of = conversation(&desk).await;
    (desk, gateway, of)
}

fn done(step: ChatStep, by: &str, gone: u32) -> ChatNotice {
    let posts = PostCounts { gone, ..PostCounts::default() };
    ChatNotice::Step { step, count: 1, by: Some(by.to_owned()), posts, files: 0, stopped: None, lost: 0 }
}

#[tokio::test]
async fn gateways_case_85_recall_is_asked_about_and_takes_back_its_turn() {
    let (desk, mut gateway, of) = two_turns("").await;
    gateway.arrives("r1", deletes(&says("2", ""), None), None).await;
    let asks = ChatNotice::ConfirmRecall { by: None, turns: 1, files: 0, posts: 1, others: Vec::new() };
    assert_eq!(gateway.works(1).await, [asks]);
    assert_eq!((gateway.answers(), texts(&desk, &of).await), (2, 4), "nothing is done yet");
    assert!(gateway.arrives("r1", deletes(&says("2", ""), None), None).await.again);
    gateway.presses(&says("", ""), gateway.button(&ButtonLabel::Confirm)).await;
    let notices = gateway.works(1).await;
    assert_eq!(notices.last(), Some(&done(ChatStep::Rewind, "Ann", 1)), "{notices:?}");
    assert_eq!((gateway.answers(), texts(&desk, &of).await), (1, 2));
}

#[tokio::test]
async fn gateways_case_85_settings_say_what_a_recall_does() {
    let (desk, mut gateway, of) = two_turns("recalls = \"off\"").await;
    let nothing = gateway.arrives("r1", deletes(&says("2", ""), None), None).await;
    assert_eq!((nothing.outcome, gateway.works(1).await.len()), (Arrival::Ignored, 0));
    sets(&desk, "recalls = \"always\"");
    gateway.arrives("r2", deletes(&says("2", ""), Some("ann")), None).await;
    assert_eq!(gateway.works(1).await.last(), Some(&done(ChatStep::Rewind, "Ann", 1)));
    assert_eq!((gateway.answers(), texts(&desk, &of).await), (1, 2));
    // Neither a message that is no turn, nor one that somebody else deletes.
    for (key, message, by) in [("r3", "2", None), ("r4", "9", None), ("r5", "1", Some("moderator"))] {
        let nothing = gateway.arrives(key, deletes(&says(message, ""), by), None).await;
        assert_eq!(nothing.outcome, Arrival::Ignored, "{key}");
    }
    assert_eq!((gateway.works(1).await.len(), texts(&desk, &of).await), (0, 2));
}

#[tokio::test]
async fn gateways_case_85_recall_before_turns_of_others_drops_only_its_own_turn() {
    let (desk, mut gateway) = paired(true).await;
    gateway.says(in_group("g0", "Ann", "hello all")).await;
    gateway.works(1).await;
    pairs(&desk, &gateway, in_private("b0", "Ben"), false).await;
    for (id, who) in [("g1", "Ben"), ("g2", "Ann")] {
        gateway.says(in_group(id, who, "hi")).await;
        gateway.works(1).await;
    }
    let of = conversation(&desk).await;
    gateway.arrives("r1", deletes(&in_group("g1", "Ben", ""), None), None).await;
    let by = Some("Ben".to_owned());
    let asks = ChatNotice::ConfirmRecall { by, turns: 1, files: 0, posts: 1, others: Vec::new() };
    assert_eq!(gateway.works(1).await, std::slice::from_ref(&asks));
    sets(&desk, "recalls = \"always\"");
    // The platform does not say who it was, and it may have been a moderator.
    gateway.arrives("r2", deletes(&in_group("g1", "Ben", ""), None), None).await;
    assert_eq!((gateway.works(1).await, texts(&desk, &of).await), (vec![asks], 6));
    gateway.arrives("r3", deletes(&in_group("g1", "Ben", ""), Some("ben")), None).await;
    assert_eq!(gateway.works(1).await.last(), Some(&done(ChatStep::Drop, "Ben", 1)));
    let there = gateway.there.values().filter(|shown| shown.starts_with("0:")).count();
    assert_eq!((there, texts(&desk, &of).await), (2, 4));
    // Who may not talk any more recalls nothing.
    sets(&desk, "recalls = \"always\"\npolicy = \"list\"\nlist = [\"ben\"]");
    gateway.arrives("r4", deletes(&in_group("g2", "Ann", ""), Some("ann")), None).await;
    assert_eq!(texts(&desk, &of).await, 4);
}
