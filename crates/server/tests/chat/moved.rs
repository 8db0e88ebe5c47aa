//! A chat continues under another id: a group that becomes a supergroup, or a room that is replaced.

use retake_wire::Request;
use retake_wire::chat::{
    ChatVerb, Inbound, InboundMessage, Place, PostAction, PostOutcome, PostStatus, PostWork, PostsOf,
    StayCause,
};

use super::super::world::get;
use super::platform::{conversation, paired, says, texts};

fn moved() -> Inbound {
    Inbound::Migrated { account: "chat".into(), from: "1".into(), to: "-100".into() }
}

fn in_new(id: &str, text: &str) -> InboundMessage {
    let said = says(id, text);
    InboundMessage { place: Place { chat: "-100".into(), ..said.place.clone() }, ..said }
}

fn chats(work: &[PostWork]) -> Vec<&str> {
    work.iter().map(|it| it.place.chat.as_str()).collect()
}

/// What was not sent is sent to the new chat, also if its request was under way. The conversation stays the same.
#[tokio::test]
async fn gateways_case_14_posts_that_are_not_sent_go_to_the_new_chat() {
    let (desk, mut gateway) = paired(false).await;
    gateway.says(says("1", "one")).await;
    let before = gateway.takes(5000).await;
    assert_eq!(chats(&before), ["1"]);
    let post = &before[0].post;
    gateway.settles(post, PostOutcome::Sending { parts: 1, digest: "d".to_owned(), is_preview: false }).await;
    gateway.arrives("m", moved(), None).await;
    // The platform sent nothing, because the chat has another id.
    gateway.settles(post, PostOutcome::Later { at_ms: 0 }).await;
    let again = gateway.takes(5000).await;
    assert_eq!((chats(&again), &again[0].post), (vec!["-100"], post));
    gateway.settles(post, PostOutcome::Later { at_ms: 0 }).await;
    gateway.works(1).await;
    gateway.says(in_new("2", "two")).await;
    gateway.works(1).await;
    // The turn came from the old chat, and its new answer goes to the new one.
    let retry = InboundMessage { reply_to: None, ..in_new("3", "/rewind 1") };
    gateway.commands(retry, ChatVerb::Rewind, Some(1)).await;
    gateway.works(1).await;
    gateway.commands(in_new("4", "/retry"), ChatVerb::Retry, None).await;
    gateway.works(1).await;
    let chats: Vec<&str> = gateway.places.values().map(|place| place.chat.as_str()).collect();
    assert!(chats.len() >= 3 && chats.iter().all(|chat| *chat == "-100"), "{chats:?}");
    assert_eq!(texts(&desk, &conversation(&desk).await).await, 2);
}

/// An old post has its old id in the old chat. If the platform refuses its deletion, that is reported.
#[tokio::test]
async fn gateways_case_14_post_of_the_old_chat_is_deleted_there_or_reported() {
    let (desk, mut gateway) = paired(false).await;
    gateway.says(says("1", "one")).await;
    gateway.works(1).await;
    gateway.arrives("m", moved(), None).await;
    gateway.commands(in_new("2", "/rewind 1"), ChatVerb::Rewind, Some(1)).await;
    let work = gateway.takes(5000).await;
    let old = work.iter().find(|it| matches!(it.action, PostAction::Delete { .. })).expect("a deletion");
    assert_eq!(old.place.chat, "1");
    gateway.settles(&old.post, PostOutcome::Stays { why: StayCause::NotPermitted }).await;
    gateway.works(1).await;
    let of = conversation(&desk).await;
    let posts = get!(desk, Posts, Request::Posts(PostsOf { conversation: of, ..PostsOf::default() })).posts;
    let answer = posts.iter().find(|post| post.entry.is_some()).expect("it");
    assert_eq!(answer.state, PostStatus::Stays { why: StayCause::NotPermitted });
}
