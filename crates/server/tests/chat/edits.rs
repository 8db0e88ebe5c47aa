//! Edits of messages in a chat.

use retake_wire::Part;
use retake_wire::chat::{Arrival, ChatNotice, ChatRefusal, ChatVerb, Inbound, InboundMessage};

use super::platform::{conversation, paired, says, texts};

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

#[tokio::test]
async fn edit_of_an_older_message_changes_nothing_and_the_chat_is_told_why() {
    let (desk, mut gateway) = paired(false).await;
    gateway.says(says("1", "one")).await;
    gateway.works(1).await;
    gateway.says(says("2", "two")).await;
    gateway.works(1).await;
    gateway.arrives("e1", Inbound::Edited(says("1", "uno")), None).await;
    let notices = gateway.works(1).await;
    assert_eq!(notices, [ChatNotice::Refused(ChatRefusal::EditOfOlder)]);
    assert_eq!((gateway.answers(), texts(&desk, &conversation(&desk).await).await), (2, 4));
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
