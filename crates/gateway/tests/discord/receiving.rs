//! What arrives: each event once, in order, and only what people wrote.

use std::sync::Arc;

use retake_gateway::{Adapter as _, SetupStep};
use retake_wire::chat::{Addressed, Audience, Inbound};
use serde_json::json;

use super::world::{Receiving, TestInbox, World, place, post, sent, thread};

fn inbox() -> Arc<TestInbox> {
    Arc::default()
}

/// Case 1: the same message three times is one arrival.
#[tokio::test]
async fn gateways_case_01_redelivered_message_has_the_same_key() {
    let (world, inbox) = (World::new().await, inbox());
    let _receiving = Receiving::start(&world, &world.adapter(), &inbox).await;
    let id = world.fake.write(&world.channel, &world.anna, "hello");
    world.fake.redeliver("MESSAGE_CREATE");
    world.fake.redeliver("MESSAGE_CREATE");
    inbox.until_delivered(3).await;
    assert_eq!((inbox.texts(), inbox.keys()), (vec!["hello".to_owned()], vec![format!("create:{id}")]));
}

/// Case 11: our own echo does not arrive, and programs are marked.
#[tokio::test]
async fn gateways_case_11_own_echo_does_not_arrive_and_bots_are_marked() {
    let (world, inbox, adapter) = (World::new().await, inbox(), World::new().await);
    drop(adapter);
    let adapter = world.adapter();
    let _receiving = Receiving::start(&world, &adapter, &inbox).await;
    let bot = world.fake.add_bot("other");
    let own = sent(&adapter, &world.place(), "echo").await;
    adapter
        .edit(&world.place(), &own, &post("echo 2"), &super::world::marker(&adapter, "e", &post("echo 2")))
        .await
        .expect("edited");
    world.fake.write(&world.channel, &bot, "from a bot");
    world.fake.write_with(
        &world.channel,
        &world.ben,
        &json!({"content": "from a webhook", "webhook_id": world.ben}),
    );
    world.fake.write_with(&world.channel, &world.ben, &json!({"content": "joined", "type": 7}));
    world.fake.write(&world.channel, &world.anna, "from Anna");
    inbox.until(3).await;
    let messages = inbox.messages();
    let seen: Vec<_> =
        messages.iter().map(|message| (message.text.as_str(), message.person.is_bot)).collect();
    assert_eq!(seen, [("from a bot", true), ("from a webhook", true), ("from Anna", false)]);
}

#[tokio::test]
async fn thread_and_direct_messages_have_their_own_places() {
    let (world, inbox) = (World::new().await, inbox());
    let old = world.fake.add_thread(&world.channel, &world.anna);
    let direct = world.fake.add_direct(&world.anna);
    let _receiving = Receiving::start(&world, &world.adapter(), &inbox).await;
    let new = world.fake.add_thread(&world.channel, &world.anna);
    // Archived threads are not in a guild's list, so this one must be asked for.
    let hidden = world.fake.add_thread(&world.channel, &world.anna);
    world.fake.remove_channel(&new);
    for channel in [&old, &hidden, &direct, &world.channel] {
        world.fake.write(channel, &world.anna, "x");
    }
    inbox.until(4).await;
    let places: Vec<_> =
        inbox.messages().into_iter().map(|message| (message.place, message.audience)).collect();
    let expected = [
        (thread(&world.channel, &old), Audience::Shared),
        (thread(&world.channel, &hidden), Audience::Shared),
        (place(&direct), Audience::Private),
        (place(&world.channel), Audience::Shared),
    ];
    assert_eq!(places, expected);
}

#[tokio::test]
async fn archived_thread_is_asked_for_when_a_message_comes_from_it() {
    let (world, inbox) = (World::new().await, inbox());
    let hidden = world.fake.add_thread(&world.channel, &world.anna);
    world.fake.set_thread(&hidden, true, false);
    let _receiving = Receiving::start(&world, &world.adapter(), &inbox).await;
    world.fake.write(&hidden, &world.anna, "x");
    inbox.until(1).await;
    assert_eq!(inbox.messages()[0].place, thread(&world.channel, &hidden));
    assert_eq!(world.fake.control().called("channel").len(), 1);
}

/// Case 82: mentions and replies address the bot; without the permission to read, other texts do not arrive, and setup says so.
#[tokio::test]
async fn gateways_case_82_bot_is_addressed_by_mention_and_reply_and_says_what_it_cannot_read() {
    let (world, inbox) = (World::new().await, inbox());
    let adapter = world.adapter();
    assert_eq!(adapter.identify().await.expect("identified").missing, []);
    let receiving = Receiving::start(&world, &adapter, &inbox).await;
    let me = world.fake.me();
    let own = sent(&adapter, &world.place(), "ours").await;
    let referenced = world.fake.messages(&world.channel).pop();
    world.fake.write(&world.channel, &world.anna, "nobody");
    let mention = json!({"content": format!("<@{me}> hello"), "mentions": [{"id": me}]});
    world.fake.write_with(&world.channel, &world.anna, &mention);
    let reply = json!({"content": "yes", "type": 19, "message_reference": {"message_id": own}, "referenced_message": referenced});
    world.fake.write_with(&world.channel, &world.anna, &reply);
    inbox.until(3).await;
    let seen: Vec<_> =
        inbox.messages().into_iter().map(|message| (message.text, message.addressed)).collect();
    let expected = [("nobody", Addressed::No), ("hello", Addressed::Mention), ("yes", Addressed::Reply)];
    assert_eq!(seen, expected.map(|(text, addressed)| (text.to_owned(), addressed)));
    assert_eq!(inbox.messages()[2].reply_to.as_deref(), Some(own.as_str()));
    drop(receiving);

    world.fake.set_reads_content(false);
    world.fake.lose_sessions();
    let (adapter, blind) = (world.adapter(), super::world::TestInbox::default());
    assert_eq!(adapter.identify().await.expect("identified").missing, [SetupStep::ReadMessages]);
    let blind = Arc::new(blind);
    let _receiving = Receiving::start(&world, &adapter, &blind).await;
    world.fake.write(&world.channel, &world.anna, "nobody");
    world.fake.write_with(&world.channel, &world.anna, &mention);
    blind.until(1).await;
    assert_eq!(blind.texts(), ["hello"]);
}

#[tokio::test]
async fn bot_in_no_guild_says_that_it_must_be_invited() {
    let world = World::new().await;
    let adapter = world.adapter();
    let identity = adapter.identify().await.expect("identified");
    assert_eq!(
        (identity.id, identity.name.as_str(), identity.missing),
        (world.fake.me(), "retake", Vec::new())
    );
    world.fake.leave(&world.guild);
    assert_eq!(adapter.identify().await.expect("identified").missing, [SetupStep::Invite]);
}

/// Cases 83 and 84: an update of embeds is nothing, an edit is one event with the new wording.
#[tokio::test]
async fn gateways_case_83_and_84_only_a_changed_wording_is_an_edit() {
    let (world, inbox) = (World::new().await, inbox());
    let _receiving = Receiving::start(&world, &world.adapter(), &inbox).await;
    let id = world.fake.write(&world.channel, &world.anna, "one");
    let embeds = json!({"embeds": [{"title": "a link"}]});
    world.fake.change(&world.channel, &id, &embeds, false);
    // An edit that changes nothing that we read.
    world.fake.change(&world.channel, &id, &json!({"flags": 4}), true);
    world.fake.control().pass(std::time::Duration::from_secs(1));
    world.fake.change(&world.channel, &id, &json!({"content": "two"}), true);
    world.fake.change(&world.channel, &id, &embeds, false);
    world.fake.redeliver("MESSAGE_UPDATE");
    world.fake.write(&world.channel, &world.anna, "end");
    inbox.until(3).await;
    let events = inbox.events();
    assert_eq!(inbox.deliveries(), 3);
    let Inbound::Edited(edited) = &events[1] else { panic!("an edit: {:?}", events[1]) };
    assert_eq!((edited.text.as_str(), edited.message.as_str()), ("two", id.as_str()));
}

/// Case 85: a deleted message is a recall, also one of ours, and each of a bulk.
#[tokio::test]
async fn gateways_case_85_deleted_messages_are_recalled() {
    let (world, inbox) = (World::new().await, inbox());
    let adapter = world.adapter();
    let _receiving = Receiving::start(&world, &adapter, &inbox).await;
    let theirs = world.fake.write(&world.channel, &world.anna, "one");
    let own = sent(&adapter, &world.place(), "ours").await;
    world.fake.remove(&world.channel, &[&own]);
    world.fake.remove(&world.channel, &[&theirs, "123"]);
    inbox.until(4).await;
    let recalled = |event: &Inbound| match event {
        Inbound::Recalled { place, message, by: None } => Some((place.clone(), message.clone())),
        _ => None,
    };
    let recalled: Vec<_> = inbox.events().iter().filter_map(recalled).collect();
    let expected = [own.as_str(), theirs.as_str(), "123"].map(|id| (world.place(), id.to_owned()));
    assert_eq!(recalled, expected);
    // Somebody else deleted it: nothing remains to be done.
    let deleted = adapter.delete(&world.place(), &own).await;
    assert_eq!(deleted, Ok(retake_gateway::Deleted::AlreadyGone));
}

#[tokio::test]
async fn bound_places_hear_when_the_bot_or_their_channel_goes_and_comes() {
    let (world, inbox) = (World::new().await, inbox());
    let (other, inner) =
        (world.fake.add_channel(&world.guild), world.fake.add_thread(&world.channel, &world.anna));
    for bound in [world.place(), place(&other), thread(&world.channel, &inner)] {
        inbox.bind(bound, None);
    }
    let _receiving = Receiving::start(&world, &world.adapter(), &inbox).await;
    world.fake.remove_channel(&other);
    inbox.until(1).await;
    world.fake.leave(&world.guild);
    inbox.until(3).await;
    world.fake.join(&world.guild);
    inbox.until(5).await;
    let seen = |event: Inbound| match event {
        Inbound::Membership { place, is_member } => (place, is_member),
        other => panic!("{other:?}"),
    };
    let seen: Vec<_> = inbox.events().into_iter().map(seen).collect();
    let both = |is_member| [(world.place(), is_member), (thread(&world.channel, &inner), is_member)];
    let expected: Vec<_> =
        [(place(&other), false)].into_iter().chain(both(false)).chain(both(true)).collect();
    assert_eq!(seen, expected);
}
