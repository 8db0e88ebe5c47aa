//! Edits of messages in a chat.

use retake_wire::chat::{Arrival, ChatNotice, ChatRefusal, Inbound};

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
