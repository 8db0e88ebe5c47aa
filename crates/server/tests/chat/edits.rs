//! Edits of messages in a chat.

use retake_wire::Part;
use retake_wire::chat::{
    Arrival, ButtonLabel, ChatNotice, ChatRefusal, ChatStep, ChatVerb, Inbound, InboundMessage,
};

use super::super::world::Desk;
use super::platform::{Gateway, conversation, in_group, in_private, paired, pairs, says, texts};
use super::settings::sets;

#[tokio::test]
async fn gateways_case_83_and_84_edit_of_the_last_prompt_replaces_its_answer_and_its_posts() {
    let (desk, mut gateway) = paired(false).await;
    gateway.says(says("1", "one")).await;
    gateway.works(1).await;
    let same = gateway.arrives("e1", Inbound::Edited(says("1", "one")), None).await;
    assert_eq!(same.outcome, Arrival::Ignored, "a link preview or a reaction");
    assert_eq!(gateway.answers(), 1);
    let edited = gateway.arrives("e2", Inbound::Edited(says("1", "uno")), None).await;
    assert_eq!(edited.outcome, Arrival::Done);
    gateway.works(1).await;
    assert_eq!((gateway.answers(), texts(&desk, &conversation(&desk).await).await), (1, 2));
}

/// Two turns of Ann in her private chat.
async fn two_turns() -> (Desk, Gateway, String) {
    let (desk, mut gateway) = paired(false).await;
    for (id, text) in [("1", "one"), ("2", "two")] {
        gateway.says(says(id, text)).await;
        gateway.works(1).await;
    }
    let of = conversation(&desk).await;
    (desk, gateway, of)
}

/// The first words of each entry of a conversation that a person wrote.
pub(super) async fn prompts(desk: &Desk, of: &str) -> Vec<String> {
    let (_, entries) = desk.timeline(of).await;
    let text = |part: &Part| match part {
        Part::Text { text } => Some(text.clone()),
        _ => None,
    };
    entries.iter().step_by(2).map(|entry| entry.parts.iter().find_map(text).unwrap_or_default()).collect()
}

fn asks_about_edit(turns: u32, posts: u32) -> ChatNotice {
    ChatNotice::ConfirmEdit { turns, files: 0, posts, others: Vec::new() }
}

#[tokio::test]
async fn gateways_case_84_edit_of_an_older_message_is_asked_about_with_what_it_takes_back() {
    let (desk, mut gateway, of) = two_turns().await;
    gateway.arrives("e1", Inbound::Edited(says("1", "uno")), None).await;
    assert_eq!(gateway.works(1).await, [asks_about_edit(2, 2)]);
    assert_eq!((gateway.answers(), prompts(&desk, &of).await), (2, vec!["one".into(), "two".into()]));
    // What the platform delivers again, also under another name, is not asked about again.
    gateway.arrives("e1", Inbound::Edited(says("1", "uno")), None).await;
    let same = gateway.arrives("e2", Inbound::Edited(says("1", "uno")), None).await;
    assert_eq!((same.outcome, gateway.works(1).await.len()), (Arrival::Ignored, 0));
    let told = gateway.presses(&says("", ""), gateway.button(&ButtonLabel::Confirm)).await;
    assert!(matches!(told, Some(ChatNotice::Step { step: ChatStep::Edit, .. })), "{told:?}");
    gateway.works(1).await;
    assert_eq!((gateway.answers(), prompts(&desk, &of).await), (1, vec!["uno".to_owned()]));
    assert!(gateway.buttons.values().all(Vec::is_empty), "{:?}", gateway.buttons);
    // The message is the last one now, and its next edit replaces it at once.
    gateway.arrives("e3", Inbound::Edited(says("1", "eins")), None).await;
    gateway.works(1).await;
    assert_eq!((gateway.answers(), prompts(&desk, &of).await), (1, vec!["eins".to_owned()]));
}

#[tokio::test]
async fn new_wording_of_an_older_message_can_be_a_new_message_or_nothing() {
    let (desk, mut gateway, of) = two_turns().await;
    gateway.arrives("e1", Inbound::Edited(says("1", "uno")), None).await;
    gateway.works(1).await;
    let told = gateway.presses(&says("", ""), gateway.button(&ButtonLabel::SayNew)).await;
    assert_eq!(told, Some(ChatNotice::SaidAnew));
    gateway.works(1).await;
    assert_eq!(
        (gateway.answers(), prompts(&desk, &of).await),
        (3, ["one", "two", "uno"].map(str::to_owned).to_vec())
    );
    gateway.arrives("e2", Inbound::Edited(says("2", "due")), None).await;
    gateway.works(1).await;
    let confirm = gateway.button(&ButtonLabel::Confirm);
    gateway.presses(&says("", ""), gateway.button(&ButtonLabel::Cancel)).await;
    gateway.works(1).await;
    let told = gateway.presses(&says("", ""), confirm).await;
    assert_eq!(told, Some(ChatNotice::Refused(ChatRefusal::Stale)));
    assert_eq!((gateway.answers(), prompts(&desk, &of).await.len()), (3, 3));
}

/// Pressed twice before the question has ended, as after a restart in between, it is said once.
#[tokio::test]
async fn new_wording_is_said_once_however_often_its_button_is_pressed() {
    let (desk, mut gateway, of) = two_turns().await;
    gateway.arrives("e1", Inbound::Edited(says("1", "uno")), None).await;
    gateway.works(1).await;
    let button = gateway.button(&ButtonLabel::SayNew);
    let ann = says("", "");
    let presses = (0..4).map(|_| gateway.presses(&ann, button.clone()));
    futures::future::join_all(presses.collect::<Vec<_>>()).await;
    gateway.works(1).await;
    assert_eq!(prompts(&desk, &of).await, ["one", "two", "uno"]);
}

/// A restart keeps the new wording, and no client sees it as the draft of somebody. Where there are no buttons, words answer.
#[tokio::test]
async fn question_about_an_edit_survives_a_restart_and_is_answered_in_words() {
    let (desk, mut gateway, of) = two_turns().await;
    gateway.arrives("e1", Inbound::Edited(says("1", "uno")), None).await;
    gateway.works(1).await;
    let desk = desk.gives_way().await;
    let mut next = Gateway::new(&desk, "two").await;
    next.takes_over("one").await;
    (next.there, next.buttons, next.places) = (gateway.there, gateway.buttons, gateway.places);
    next.next = gateway.next;
    next.commands(says("3", "/confirm"), ChatVerb::Confirm, None).await;
    next.works(1).await;
    assert_eq!((next.answers(), prompts(&desk, &of).await), (1, vec!["uno".to_owned()]));
}

/// The conversation has changed since: what the edit takes back now is asked about.
#[tokio::test]
async fn question_about_an_edit_is_asked_again_when_the_conversation_has_changed() {
    let (desk, mut gateway, of) = two_turns().await;
    gateway.arrives("e1", Inbound::Edited(says("1", "uno")), None).await;
    gateway.works(1).await;
    gateway.says(says("3", "three")).await;
    gateway.works(1).await;
    let told = gateway.presses(&says("", ""), gateway.button(&ButtonLabel::Confirm)).await;
    assert_eq!((told, prompts(&desk, &of).await.len()), (Some(asks_about_edit(3, 3)), 3));
    gateway.works(1).await;
    gateway.presses(&says("", ""), gateway.button(&ButtonLabel::Confirm)).await;
    gateway.works(1).await;
    assert_eq!((gateway.answers(), prompts(&desk, &of).await), (1, vec!["uno".to_owned()]));
}

#[tokio::test]
async fn edit_of_a_message_that_was_taken_back_can_be_said_as_a_new_one() {
    let (desk, mut gateway, of) = two_turns().await;
    gateway.commands(says("3", "/rewind 1"), ChatVerb::Rewind, Some(1)).await;
    gateway.works(1).await;
    gateway.arrives("e1", Inbound::Edited(says("2", "due")), None).await;
    assert_eq!(gateway.works(1).await, [ChatNotice::Refused(ChatRefusal::EditOfOlder)]);
    gateway.presses(&says("", ""), gateway.button(&ButtonLabel::SayNew)).await;
    gateway.works(1).await;
    assert_eq!(prompts(&desk, &of).await, ["one", "due"]);
}

#[tokio::test]
async fn person_who_may_not_take_back_later_turns_can_say_an_edit_as_a_new_message() {
    let (desk, mut gateway) = paired(true).await;
    gateway.says(in_group("g0", "Ann", "hello all")).await;
    gateway.works(1).await;
    pairs(&desk, &gateway, in_private("b0", "Ben"), false).await;
    gateway.says(in_group("g1", "Ben", "mine")).await;
    gateway.works(1).await;
    gateway.says(in_group("g2", "Ann", "after")).await;
    gateway.works(1).await;
    let of = conversation(&desk).await;
    gateway.arrives("e1", Inbound::Edited(in_group("g1", "Ben", "ours")), None).await;
    let names = vec!["Ann".to_owned()];
    assert_eq!(gateway.works(1).await, [ChatNotice::Refused(ChatRefusal::TurnsOf { names })]);
    let labels: Vec<_> = gateway.buttons.values().flatten().map(|button| button.label.clone()).collect();
    assert_eq!(labels, [ButtonLabel::SayNew, ButtonLabel::Cancel]);
    let ann = gateway.presses(&in_group("", "Ann", ""), gateway.button(&ButtonLabel::SayNew)).await;
    assert_eq!(ann, Some(ChatNotice::Refused(ChatRefusal::NotYourButton)));
    gateway.presses(&in_group("", "Ben", ""), gateway.button(&ButtonLabel::SayNew)).await;
    gateway.works(1).await;
    let said = ["Ann: hello all", "Ben: mine", "Ann: after", "Ben: ours"];
    assert_eq!(prompts(&desk, &of).await, said);
    // The last turn is Ben's own. In a group there is a question, unless the settings say otherwise.
    gateway.arrives("e2", Inbound::Edited(in_group("g1", "Ben", "yours")), None).await;
    assert_eq!(gateway.works(1).await, [asks_about_edit(1, 1)]);
    sets(&desk, "edits = \"always\"");
    gateway.arrives("e3", Inbound::Edited(in_group("g1", "Ben", "theirs")), None).await;
    gateway.works(1).await;
    assert_eq!(prompts(&desk, &of).await[3], "Ben: theirs");
}

/// Does all work until the messages of people are these.
async fn becomes(gateway: &mut Gateway, desk: &Desk, of: &str, expected: &[&str]) {
    let reached = async {
        while prompts(desk, of).await != expected {
            gateway.works(1).await;
        }
        gateway.works(1).await;
    };
    let reached = tokio::time::timeout(std::time::Duration::from_secs(60), reached).await;
    assert!(reached.is_ok(), "{:?} instead of {expected:?}", prompts(desk, of).await);
}

#[tokio::test]
async fn gateways_case_83_edits_that_follow_each_other_are_one() {
    let (desk, mut gateway, of) = two_turns().await;
    sets(&desk, "edit_wait_s = 1");
    for (key, text) in [("e1", "d"), ("e2", "du"), ("e3", "due")] {
        assert_eq!(gateway.arrives(key, Inbound::Edited(says("2", text)), None).await.outcome, Arrival::Done);
    }
    assert!(gateway.arrives("e1", Inbound::Edited(says("2", "d")), None).await.again);
    assert_eq!(prompts(&desk, &of).await, ["one", "two"], "it waits");
    becomes(&mut gateway, &desk, &of, &["one", "due"]).await;
    // One step: an undo brings the first wording back.
    gateway.commands(says("3", "/undo"), ChatVerb::Undo, None).await;
    gateway.works(1).await;
    assert_eq!(prompts(&desk, &of).await, ["one", "two"]);
}

/// An edit that was acknowledged is carried out by the next owner.
#[tokio::test]
async fn gateways_case_83_edit_that_waits_when_the_owner_ends_is_not_lost() {
    let (desk, gateway, of) = two_turns().await;
    sets(&desk, "edit_wait_s = 10");
    gateway.arrives("e1", Inbound::Edited(says("2", "due")), None).await;
    let desk = desk.gives_way().await;
    assert_eq!(prompts(&desk, &of).await, ["one", "two"]);
    let mut next = Gateway::new(&desk, "two").await;
    next.takes_over("one").await;
    (next.there, next.buttons, next.places) = (gateway.there, gateway.buttons, gateway.places);
    next.next = gateway.next;
    assert!(next.arrives("e1", Inbound::Edited(says("2", "due")), None).await.again);
    becomes(&mut next, &desk, &of, &["one", "due"]).await;
    assert_eq!(next.answers(), 2);
}

/// What a person does next follows the edit; an edit back to the first wording changes nothing.
#[tokio::test]
async fn gateways_case_83_edit_does_not_wait_when_something_follows_it() {
    let (desk, mut gateway, of) = two_turns().await;
    sets(&desk, "edit_wait_s = 10");
    gateway.arrives("e1", Inbound::Edited(says("2", "due")), None).await;
    gateway.says(says("3", "three")).await;
    gateway.works(1).await;
    assert_eq!(prompts(&desk, &of).await, ["one", "due", "three"]);
    for (key, text) in [("e2", "tre"), ("e3", "three")] {
        gateway.arrives(key, Inbound::Edited(says("3", text)), None).await;
    }
    gateway.commands(says("4", "/status"), ChatVerb::Status, None).await;
    gateway.works(1).await;
    assert_eq!(prompts(&desk, &of).await, ["one", "due", "three"]);
    gateway.commands(says("5", "/undo"), ChatVerb::Undo, None).await;
    gateway.works(1).await;
    assert_eq!(prompts(&desk, &of).await, ["one", "due"], "the last step was the message");
}

#[tokio::test]
async fn settings_say_what_an_edit_of_the_last_message_does() {
    let (desk, mut gateway, of) = two_turns().await;
    sets(&desk, "edits = \"off\"");
    let edited = gateway.arrives("e1", Inbound::Edited(says("2", "due")), None).await;
    assert_eq!((edited.outcome, gateway.works(1).await.len()), (Arrival::Ignored, 0));
    sets(&desk, "edits = \"ask\"");
    gateway.arrives("e2", Inbound::Edited(says("2", "due")), None).await;
    assert_eq!(gateway.works(1).await, [asks_about_edit(1, 1)]);
    gateway.presses(&says("", ""), gateway.button(&ButtonLabel::Confirm)).await;
    gateway.works(1).await;
    assert_eq!(prompts(&desk, &of).await, ["one", "due"]);
}

/// After an undo of an edit, the older wording is on the path, and the message is still the last one.
#[tokio::test]
async fn message_is_edited_again_after_an_undo_of_its_edit() {
    let (desk, mut gateway) = paired(false).await;
    gateway.says(says("1", "one")).await;
    gateway.works(1).await;
    gateway.arrives("e1", Inbound::Edited(says("1", "uno")), None).await;
    gateway.works(1).await;
    gateway.commands(says("2", "/undo"), ChatVerb::Undo, None).await;
    gateway.works(1).await;
    gateway.arrives("e2", Inbound::Edited(says("1", "eins")), None).await;
    let notices = gateway.works(1).await;
    assert!(!notices.contains(&ChatNotice::Refused(ChatRefusal::EditOfOlder)), "{notices:?}");
    let of = conversation(&desk).await;
    let (_, entries) = desk.timeline(&of).await;
    assert_eq!(entries[0].parts, [Part::Text { text: "eins".to_owned() }]);
    assert_eq!((gateway.answers(), entries.len()), (1, 2));
}

/// A command in a reply to a message means the wording on the path.
#[tokio::test]
async fn drop_in_reply_to_a_message_means_the_wording_that_an_undo_brought_back() {
    let (desk, mut gateway) = paired(false).await;
    gateway.says(says("1", "one")).await;
    gateway.works(1).await;
    gateway.arrives("e1", Inbound::Edited(says("1", "uno")), None).await;
    gateway.works(1).await;
    gateway.commands(says("2", "/undo"), ChatVerb::Undo, None).await;
    gateway.works(1).await;
    gateway.says(says("3", "three")).await;
    gateway.works(1).await;
    let drop = InboundMessage { reply_to: Some("1".to_owned()), ..says("4", "/drop") };
    gateway.commands(drop, ChatVerb::Drop, None).await;
    gateway.works(1).await;
    let (_, entries) = desk.timeline(&conversation(&desk).await).await;
    assert_eq!(entries[0].parts, [Part::Text { text: "three".to_owned() }], "{entries:?}");
}
