//! Messages that were joined to one prompt: an album, or a text that a client cut. Each of them is edited and recalled by itself.

use retake_wire::Part;
use retake_wire::chat::{
    Arrival, Arrive, ButtonLabel, ChatNotice, ChatVerb, Inbound, InboundMessage, JoinedMessage,
};
use retake_wire::{Client, Request};

use super::super::world::Desk;
use super::edits::prompts;
use super::platform::{Gateway, conversation, in_group, paired, says};
use super::settings::sets;

/// A message of two, which were written one after the other; the third one was cut from the second.
async fn three_in_one(gateway: &Gateway, whole: &InboundMessage) {
    let joined = |number: u32, text: &str, is_rest| JoinedMessage {
        transport_key: format!("j{number}"),
        message: format!("{number}"),
        text_bytes: u32::try_from(text.len()).expect("short"),
        files: 0,
        is_rest,
    };
    let also = vec![joined(2, "two", false), joined(3, "three", true)];
    let event = Inbound::Message(InboundMessage { text: "one\ntwothree".to_owned(), ..whole.clone() });
    let arrive = Arrive { also, ..gateway.arrive("j1", event, None) };
    gateway.client.call(Request::Arrive(arrive)).await.expect("arrived");
}

async fn one_turn() -> (Desk, Gateway, String) {
    let (desk, mut gateway) = paired(false).await;
    three_in_one(&gateway, &says("1", "")).await;
    gateway.works(1).await;
    let of = conversation(&desk).await;
    (desk, gateway, of)
}

#[tokio::test]
async fn gateways_case_83_and_84_edit_of_one_of_several_joined_messages_changes_its_part_only() {
    let (desk, mut gateway, of) = one_turn().await;
    for (number, text) in [("1", "one"), ("2", "two"), ("3", "three")] {
        let key = format!("same{number}");
        let same = gateway.arrives(&key, Inbound::Edited(says(number, text)), None).await;
        assert_eq!(same.outcome, Arrival::Ignored, "{number}");
    }
    let edits =
        [("2", "due", "one\nduethree"), ("3", " e tre", "one\ndue e tre"), ("1", "uno", "uno\ndue e tre")];
    for (number, text, whole) in edits {
        let edited = gateway.arrives(&format!("e{number}"), Inbound::Edited(says(number, text)), None).await;
        gateway.works(1).await;
        assert_eq!((edited.outcome, prompts(&desk, &of).await), (Arrival::Done, vec![whole.to_owned()]));
    }
    // The wording that an undo brings back has its own parts.
    gateway.commands(says("4", "/undo"), ChatVerb::Undo, None).await;
    gateway.works(1).await;
    gateway.arrives("e4", Inbound::Edited(says("2", "zwei")), None).await;
    gateway.works(1).await;
    assert_eq!((gateway.answers(), prompts(&desk, &of).await), (1, vec!["one\nzwei e tre".to_owned()]));
}

#[tokio::test]
async fn gateways_case_84_edit_of_one_of_several_older_messages_is_asked_about_and_changes_its_part_only() {
    let (desk, mut gateway) = paired(true).await;
    three_in_one(&gateway, &in_group("1", "Ann", "")).await;
    gateway.works(1).await;
    let of = conversation(&desk).await;
    gateway.says(in_group("8", "Ann", "later")).await;
    gateway.works(1).await;
    gateway.arrives("e1", Inbound::Edited(in_group("2", "Ann", "due")), None).await;
    assert!(matches!(gateway.works(1).await[..], [ChatNotice::ConfirmEdit { turns: 2, .. }]));
    gateway.presses(&in_group("", "Ann", ""), gateway.button(&ButtonLabel::Confirm)).await;
    gateway.works(1).await;
    assert_eq!(prompts(&desk, &of).await, ["Ann: one\nduethree"]);
    // Said as a new message, it is that message alone.
    gateway.says(in_group("9", "Ann", "later")).await;
    gateway.works(1).await;
    gateway.arrives("e2", Inbound::Edited(in_group("1", "Ann", "uno")), None).await;
    gateway.works(1).await;
    gateway.presses(&in_group("", "Ann", ""), gateway.button(&ButtonLabel::SayNew)).await;
    gateway.works(1).await;
    assert_eq!(prompts(&desk, &of).await, ["Ann: one\nduethree", "Ann: later", "Ann: uno"]);
}

#[tokio::test]
async fn gateways_case_85_recall_of_one_of_several_joined_messages_is_not_that_of_the_whole() {
    let (desk, mut gateway, of) = one_turn().await;
    let deletes =
        |number: &str| Inbound::Recalled { place: says("", "").place, message: number.to_owned(), by: None };
    let nothing = gateway.arrives("r1", deletes("1"), None).await;
    assert_eq!((nothing.outcome, gateway.works(1).await.len()), (Arrival::Ignored, 0), "settings say: ask");
    sets(&desk, "recalls = \"always\"");
    for (number, rest) in [("1", "twothree"), ("3", "two")] {
        gateway.arrives(&format!("r2{number}"), deletes(number), None).await;
        gateway.works(1).await;
        assert_eq!(prompts(&desk, &of).await, [rest]);
    }
    // The last one is the whole turn.
    gateway.arrives("r3", deletes("2"), None).await;
    gateway.works(1).await;
    assert_eq!((gateway.answers(), prompts(&desk, &of).await.len()), (0, 0));
}

/// A gateway that does not say which part is whose, or content that was changed on its way: the author decides.
#[tokio::test]
async fn edit_of_a_joined_message_whose_part_is_not_known_can_be_said_as_a_new_one() {
    let (desk, mut gateway) = paired(false).await;
    let joined = JoinedMessage {
        transport_key: "j2".to_owned(),
        message: "2".to_owned(),
        text_bytes: 99,
        files: 0,
        is_rest: false,
    };
    let event = Inbound::Message(says("1", "one\ntwo"));
    let arrive = Arrive { also: vec![joined], ..gateway.arrive("j1", event, None) };
    gateway.client.call(Request::Arrive(arrive)).await.expect("arrived");
    gateway.works(1).await;
    gateway.arrives("e1", Inbound::Edited(says("2", "due")), None).await;
    gateway.works(1).await;
    let of = conversation(&desk).await;
    assert_eq!(prompts(&desk, &of).await, ["one\ntwo"]);
    gateway.presses(&says("", ""), gateway.button(&ButtonLabel::SayNew)).await;
    gateway.works(1).await;
    let (_, entries) = desk.timeline(&of).await;
    assert_eq!(entries[2].parts, [Part::Text { text: "due".to_owned() }]);
}
