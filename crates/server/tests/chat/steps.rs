//! Steps that a chat requests, and the notices that tell of them.

use retake_wire::Action;
use retake_wire::chat::{ChatNotice, ChatRefusal, ChatStep, ChatVerb, InboundMessage};

use super::super::world::apply;
use super::platform::{conversation, paired, says, texts};

#[tokio::test]
async fn drop_in_reply_to_a_message_that_was_taken_back_drops_nothing() {
    let (desk, mut gateway) = paired(false).await;
    gateway.says(says("1", "one")).await;
    gateway.works(1).await;
    gateway.commands(says("2", "/rewind 1"), ChatVerb::Rewind, Some(1)).await;
    gateway.works(1).await;
    gateway.says(says("3", "two")).await;
    gateway.works(1).await;
    let drop = InboundMessage { reply_to: Some("1".to_owned()), ..says("4", "/drop") };
    gateway.commands(drop, ChatVerb::Drop, None).await;
    let nothing = ChatNotice::Refused(ChatRefusal::Nothing { verb: ChatVerb::Drop });
    assert_eq!(gateway.works(1).await, [nothing]);
    assert_eq!((gateway.answers(), texts(&desk, &conversation(&desk).await).await), (1, 2));
}

/// A notice tells of the steps that were made, also if fewer were there than requested.
#[tokio::test]
async fn notice_of_an_undo_counts_the_steps_that_were_made() {
    let (_desk, mut gateway) = paired(false).await;
    gateway.says(says("1", "one")).await;
    gateway.works(1).await;
    let counts = |notices: Vec<ChatNotice>| -> Vec<(ChatStep, u32)> {
        let steps = notices.into_iter().map(|notice| match notice {
            ChatNotice::Step { step, count, .. } => (step, count),
            other => panic!("{other:?}"),
        });
        steps.collect()
    };
    gateway.commands(says("2", "/undo 7"), ChatVerb::Undo, Some(7)).await;
    let notices = gateway.works(1).await;
    assert_eq!(counts(notices), [(ChatStep::Undo, 1), (ChatStep::Undo, 1)], "first and last words");
    gateway.commands(says("3", "/redo 7"), ChatVerb::Redo, Some(7)).await;
    assert_eq!(counts(gateway.works(1).await), [(ChatStep::Redo, 1)]);
}

#[tokio::test]
async fn gateways_case_43_rewind_in_a_terminal_deletes_the_posts_and_tells_the_chat() {
    let (desk, mut gateway) = paired(false).await;
    gateway.says(says("1", "one")).await;
    gateway.works(1).await;
    let id = conversation(&desk).await;
    desk.does(apply(&id, Action::Rewind { entry: "t1".to_owned() })).await;
    let notices = gateway.works(1).await;
    let Some(ChatNotice::Step { step: ChatStep::Rewind, posts, .. }) = notices.last() else {
        panic!("{notices:?}")
    };
    assert_eq!((posts.gone, posts.sum(), gateway.answers()), (1, 1, 0));
}
