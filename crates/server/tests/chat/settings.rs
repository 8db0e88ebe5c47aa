//! The settings of a chat account: who may talk, and the folder of new chats. They count at once, and no gateway can change them.

use retake_wire::Request;
use retake_wire::chat::{Arrival, ButtonLabel, ChatNotice, ChatVerb, InboundMessage, Place};
use retake_wire::reply::Conversations;
use retake_wire::request::List;

use super::super::world::{Desk, get};
use super::platform::{conversation, in_group, in_private, paired, pairs, says};

/// Writes the table of the account into the settings file.
pub(super) fn sets(desk: &Desk, table: &str) {
    let file = desk.file("config.toml");
    let text = std::fs::read_to_string(&file).expect("read");
    let kept = text.split("\n[chat.chat]\n").next().expect("a text");
    // Tests of other things do not wait for further edits.
    let wait = if table.contains("edit_wait_s") { "" } else { "edit_wait_s = 0\n" };
    std::fs::write(&file, format!("{kept}\n[chat.chat]\n{wait}{table}\n")).expect("written");
}

fn private_of(id: &str, who: &str) -> InboundMessage {
    let place = Place { chat: format!("of-{who}"), ..says("", "").place };
    InboundMessage { place, ..in_private(id, who) }
}

#[tokio::test]
async fn gateways_case_80_policy_of_the_account_says_who_may_talk_and_who_gets_a_code() {
    let (desk, mut gateway) = paired(true).await;
    // Listed people need no code, and get no more than a paired member has.
    sets(&desk, "list = [\"ben\"]");
    assert!(matches!(gateway.says(private_of("1", "Ben")).await.outcome, Arrival::Said { .. }));
    assert!(matches!(
        gateway.says(private_of("2", "Eve")).await.outcome,
        Arrival::Stranger { code: Some(_) }
    ));
    assert_eq!(gateway.says(in_group("3", "Ben", "hi")).await.outcome, Arrival::Ignored, "no owner");
    // Nothing at all for those who are not listed, also for those who were paired.
    sets(&desk, "policy = \"list\"\nlist = [\"ben\"]");
    assert_eq!(gateway.says(private_of("4", "Tim")).await.outcome, Arrival::Ignored);
    assert_eq!(gateway.says(says("5", "hi")).await.outcome, Arrival::Ignored);
    assert!(matches!(gateway.says(private_of("6", "Ben")).await.outcome, Arrival::Said { .. }));
    // Everybody, and only when the list says so.
    sets(&desk, "policy = \"open\"\nlist = [\"*\"]");
    assert!(matches!(gateway.says(private_of("7", "Tim")).await.outcome, Arrival::Said { .. }));
    assert_eq!(gateway.says(in_group("8", "Tim", "hi")).await.outcome, Arrival::Ignored, "no owner");
    sets(&desk, "list = [\"*\"]");
    assert!(!matches!(gateway.says(private_of("9", "Tim")).await.outcome, Arrival::Said { .. }));
    gateway.works(1).await;
}

/// A button of a person who may not talk any more does nothing.
#[tokio::test]
async fn gateways_case_80_press_of_a_person_who_is_not_listed_any_more_is_ignored() {
    let (desk, mut gateway) = paired(true).await;
    for id in ["1", "2"] {
        gateway.says(says(id, "hi")).await;
        gateway.works(1).await;
    }
    gateway.commands(says("3", "/rewind 2"), ChatVerb::Rewind, Some(2)).await;
    gateway.works(1).await;
    let button = gateway.button(&ButtonLabel::Confirm);
    sets(&desk, "policy = \"list\"\nlist = [\"ben\"]");
    assert_eq!(gateway.presses(&says("", ""), button.clone()).await, None);
    sets(&desk, "");
    assert!(matches!(gateway.presses(&says("", ""), button).await, Some(ChatNotice::Step { .. })));
}

#[tokio::test]
async fn new_chats_of_an_account_begin_in_its_folder() {
    let (desk, mut gateway) = paired(true).await;
    let folder = desk.file("");
    sets(&desk, &format!("folder = {folder:?}"));
    gateway.says(says("1", "hi")).await;
    gateway.works(1).await;
    let folder_of = async || {
        let all: Conversations = get!(desk, Conversations, Request::List(List::default()));
        let of = conversation(&desk).await;
        all.conversations.into_iter().find(|it| it.id == of).and_then(|it| it.folder)
    };
    assert!(folder_of().await.is_some());
    sets(&desk, "folder = \"/nowhere/at/all\"");
    let ben = private_of("2", "Ben");
    pairs(&desk, &gateway, ben.clone(), false).await;
    gateway.says(InboundMessage { message: "3".to_owned(), ..ben }).await;
    gateway.works(1).await;
    assert_eq!(folder_of().await, None, "there is no such folder");
}
