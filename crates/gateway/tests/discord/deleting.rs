//! Deleting: singly and together, in threads, with and without permissions; and who may press.

use std::sync::Arc;
use std::time::Duration;

use retake_fakes::Fault;
use retake_fakes::Refusal;
use retake_fakes::discord::{MANAGE_MESSAGES, VIEW_CHANNEL, Whisper};
use retake_gateway::{Adapter as _, Deleted, Discord, Failure, OwnPost, Probe, Refused, batches};
use retake_wire::chat::{Inbound, Person, Place};

use super::world::{Receiving, TestInbox, World, marker, place, post, sent, thread};

/// Two posts of 15 days ago and three of now.
async fn posts(world: &World, adapter: &Discord, place: &Place) -> Vec<OwnPost> {
    let mut posts = Vec::new();
    for text in ["old 1", "old 2", "new 1", "new 2", "new 3"] {
        let post = post(text);
        let key = format!("{}x{}", place.chat, text.replace(' ', ""));
        let sent =
            adapter.send(place, &post, &marker(adapter, &key[key.len() - 20..], &post)).await.expect("sent");
        posts.push(OwnPost { id: sent.ids[0].clone(), sent_ms: sent.sent_ms.expect("a time") });
        if text == "old 2" {
            world.fake.control().pass(Duration::from_hours(15 * 24));
        }
    }
    posts
}

/// Deletes the posts as the outbox does. Returns the sizes of the calls.
async fn delete(world: &World, adapter: &Discord, place: &Place, posts: &[OwnPost]) -> Vec<usize> {
    let probe = adapter.probe(place).await.expect("probed");
    let calls = batches(adapter.capabilities(), probe, posts, world.fake.control().now_ms());
    for call in &calls {
        match call.as_slice() {
            [id] => assert_eq!(adapter.delete(place, id).await, Ok(Deleted::Gone)),
            ids => assert_eq!(adapter.delete_many(place, ids).await, Ok(())),
        }
    }
    calls.iter().map(Vec::len).collect()
}

/// Case 53: one bulk and two single deletions with the permission, else five single ones. None is refused.
#[tokio::test]
async fn gateways_case_53_recent_posts_are_deleted_together_where_that_is_permitted() {
    let world = World::new().await;
    let adapter = world.adapter();
    let direct = world.fake.add_direct(&world.anna);
    for place in [world.place(), place(&direct)] {
        let posts = posts(&world, &adapter, &place).await;
        assert_eq!(delete(&world, &adapter, &place, &posts).await, [1; 5]);
    }
    world.fake.grant(&world.guild, &world.fake.me(), MANAGE_MESSAGES);
    let posts = posts(&world, &adapter, &world.place()).await;
    assert_eq!(delete(&world, &adapter, &world.place(), &posts).await, [3, 1, 1]);
    assert_eq!((world.own(&world.channel), world.own(&direct)), (Vec::new(), Vec::new()));
}

#[tokio::test]
async fn batch_that_the_platform_refuses_is_told_from_a_single_refusal() {
    let world = World::new().await;
    let adapter = world.adapter();
    let mine = posts(&world, &adapter, &world.place()).await;
    let ids: Vec<String> = mine.iter().map(|post| post.id.clone()).collect();
    let batch = Err(Failure::Refused(Refused::Batch));
    // Never called for these.
    assert_eq!(adapter.delete_many(&world.place(), &ids[..1]).await, batch);
    assert_eq!(
        adapter.delete_many(&world.place(), &[ids[2].clone(), ids[3].clone(), ids[3].clone()]).await,
        batch
    );
    assert_eq!(world.fake.control().called("delete_many").len(), 0);
    let refused = Err(Failure::Refused(Refused::NotPermitted));
    assert_eq!(adapter.delete_many(&world.place(), &ids[3..]).await, refused);
    world.fake.grant(&world.guild, &world.fake.me(), MANAGE_MESSAGES);
    // The platform refuses all because of an old one.
    assert_eq!(adapter.delete_many(&world.place(), &ids).await, batch);
    // Ids that are not there any more do not matter.
    assert_eq!(adapter.delete(&world.place(), &ids[4]).await, Ok(Deleted::Gone));
    assert_eq!(adapter.delete_many(&world.place(), &ids[3..]).await, Ok(()));
    assert_eq!(world.own(&world.channel), ["old 1", "old 2", "new 1"]);
}

/// Case 54: an archived thread is opened for the deletion and archived again; a locked one stays as it is.
#[tokio::test]
async fn gateways_case_54_archived_thread_is_opened_for_a_deletion_and_a_locked_one_is_not() {
    let world = World::new().await;
    let adapter = world.adapter();
    world.fake.grant(&world.guild, &world.fake.me(), MANAGE_MESSAGES | retake_fakes::discord::MANAGE_THREADS);
    let inner = world.fake.add_thread(&world.channel, &world.anna);
    let place = thread(&world.channel, &inner);
    let mut ids = Vec::new();
    for number in 0..5 {
        ids.push(sent(&adapter, &place, &number.to_string()).await);
    }
    // As the documents say: a deletion needs no open thread.
    world.fake.set_thread(&inner, true, false);
    assert_eq!(adapter.delete(&place, &ids[0]).await, Ok(Deleted::Gone));
    assert_eq!(world.fake.control().called("change_channel").len(), 0);
    // As the error code says: it does.
    world.fake.set_archived_refuse(true);
    assert_eq!(adapter.delete(&place, &ids[1]).await, Ok(Deleted::Gone));
    assert!(world.fake.is_archived(&inner));
    assert_eq!(world.fake.control().called("change_channel").len(), 2);
    // A batch, too, and if archiving again fails, the posts are gone all the same.
    world.fake.control().script("change_channel", [Fault::None, Fault::Refuse(Refusal::Forbidden)]);
    assert_eq!(adapter.delete_many(&place, &ids[2..4]).await, Ok(()));
    assert!(!world.fake.is_archived(&inner));
    world.fake.set_thread(&inner, true, true);
    assert_eq!(adapter.delete(&place, &ids[4]).await, Err(Failure::Refused(Refused::ClosedThread)));
    assert!(world.fake.is_archived(&inner));
    assert_eq!(world.own(&inner), ["4"]);
    // A locked thread that is open.
    world.fake.set_thread(&inner, false, true);
    assert_eq!(adapter.delete(&place, &ids[4]).await, Ok(Deleted::Gone));
}

/// Case 62: what is not there is gone, and a refusal says that it is one.
#[tokio::test]
async fn gateways_case_62_missing_post_is_gone_and_a_refusal_is_none() {
    let world = World::new().await;
    let adapter = world.adapter();
    let id = sent(&adapter, &world.place(), "x").await;
    world.fake.control().script("delete", [Fault::AnswerLost]);
    assert_eq!(adapter.delete(&world.place(), &id).await, Err(Failure::Unknown));
    assert_eq!(adapter.delete(&world.place(), &id).await, Ok(Deleted::AlreadyGone));
    let theirs = world.fake.write(&world.channel, &world.anna, "hers");
    let refused = Failure::Refused(Refused::NotPermitted);
    assert_eq!(adapter.delete(&world.place(), &theirs).await, Err(refused.clone()));
    let id = sent(&adapter, &world.place(), "y").await;
    world.fake.overwrite(&world.channel, &world.fake.me(), 0, VIEW_CHANNEL);
    assert_eq!(adapter.delete(&world.place(), &id).await, Err(refused));
    assert_eq!(adapter.probe(&world.place()).await, Ok(Probe::NotPermitted));
    // With the channel, its posts are gone.
    world.fake.remove_channel(&world.channel);
    assert_eq!(adapter.delete(&world.place(), &id).await, Ok(Deleted::AlreadyGone));
    assert_eq!(adapter.probe(&world.place()).await, Ok(Probe::NotPermitted));
}

#[tokio::test]
async fn permissions_of_the_channel_decide_on_bulk_deletion_and_moderators() {
    let world = World::new().await;
    let adapter = world.adapter();
    let moderates =
        async |place: Place, person: &str| adapter.moderates(&place, person).await.expect("an answer");
    assert_eq!(adapter.probe(&world.place()).await, Ok(Probe::Yes { bulk: false }));
    world.fake.grant(&world.guild, &world.fake.me(), MANAGE_MESSAGES);
    world.fake.grant(&world.guild, &world.ben, MANAGE_MESSAGES);
    assert_eq!(adapter.probe(&world.place()).await, Ok(Probe::Yes { bulk: true }));
    assert!(!moderates(world.place(), &world.anna).await);
    assert!(moderates(world.place(), &world.ben).await);
    let stranger = world.fake.add_user("stranger");
    assert!(!moderates(world.place(), &stranger).await);
    // A thread has the overwrites of its channel.
    let inner = world.fake.add_thread(&world.channel, &world.anna);
    world.fake.overwrite(&world.channel, &world.ben, 0, MANAGE_MESSAGES);
    assert!(!moderates(thread(&world.channel, &inner), &world.ben).await);
    let direct = world.fake.add_direct(&world.anna);
    assert_eq!(adapter.probe(&place(&direct)).await, Ok(Probe::Yes { bulk: false }));
    assert!(!moderates(place(&direct), &world.anna).await);
}

/// Case 79: the event names who pressed, and only that person sees the answer.
#[tokio::test]
async fn gateways_case_79_press_is_taken_over_and_answered_to_the_person_only() {
    let world = World::new().await;
    let (adapter, inbox) = (world.adapter(), Arc::<TestInbox>::default());
    let id = sent(&adapter, &world.place(), "with a button").await;
    let _receiving = Receiving::start(&world, &adapter, &inbox).await;
    let token = world.fake.press(&world.channel, &id, &world.ben, "b1");
    world.fake.control().until_called("callback", 1).await;
    let Some(Inbound::Pressed { place: pressed_in, post, person, button, answer_to }) = inbox.events().pop()
    else {
        panic!("a press: {:?}", inbox.events())
    };
    assert_eq!((pressed_in, post, button.as_str()), (world.place(), id.clone(), "b1"));
    assert_eq!((person.id.as_str(), person.name.as_str()), (world.ben.as_str(), "ben"));
    assert!(answer_to.ends_with(&token));
    // Also by a restarted program.
    let adapter = world.adapter();
    let whisper =
        async |text: &str, to: Option<&str>| adapter.whisper(&world.place(), &person, text, to).await;
    assert_eq!(whisper("not yours", Some(&answer_to)).await, Ok(()));
    assert_eq!(world.fake.whispers(), [Whisper { user: world.ben.clone(), text: "not yours".to_owned() }]);
    assert_eq!(world.own(&world.channel), ["with a button"]);
    world.fake.control().pass(Duration::from_mins(16));
    assert_eq!(whisper("late", Some(&answer_to)).await, Err(Failure::NotFound));
    assert_eq!(whisper("no press", None).await, Err(Failure::Refused(Refused::Other)));
    // The platform did not hear that the press was taken over: then the text is the first answer.
    world.fake.control().script("callback", [Fault::RequestLost]);
    world.fake.press(&world.channel, &id, &world.ben, "b2");
    inbox.until(2).await;
    world.fake.control().until_called("callback", 3).await;
    let Some(Inbound::Pressed { answer_to, .. }) = inbox.events().pop() else { panic!("a press") };
    assert_eq!(whisper("first", Some(&answer_to)).await, Ok(()));
    assert_eq!(world.fake.whispers().len(), 2);
}

#[tokio::test]
async fn press_in_direct_messages_names_its_person() {
    let world = World::new().await;
    let (adapter, inbox) = (world.adapter(), Arc::<TestInbox>::default());
    let direct = world.fake.add_direct(&world.anna);
    let id = sent(&adapter, &place(&direct), "with a button").await;
    let _receiving = Receiving::start(&world, &adapter, &inbox).await;
    world.fake.press(&direct, &id, &world.anna, "b1");
    inbox.until(1).await;
    let Some(Inbound::Pressed { place: pressed_in, person, .. }) = inbox.events().pop() else {
        panic!("a press")
    };
    let anna = Person { id: world.anna.clone(), name: "anna".to_owned(), is_bot: false };
    assert_eq!((pressed_in, person), (place(&direct), anna));
}
