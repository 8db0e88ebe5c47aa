//! Albums and messages in parts, with the adapter of each platform and the whole gateway. The numbers are those of the cases in
//! `docs/spec/gateways.md`.

use std::sync::Arc;

use retake_gateway::Adapter;
use retake_wire::chat::{Arrive, Inbound};
use serde_json::{Value, json};

use crate::runtime::kit::{Gateway, World, text_of};
use crate::runtime::platform::plain;
use crate::{discord, matrix, slack, telegram};

/// An owner, and a gateway with this adapter.
fn gateway(adapter: Arc<dyn Adapter>) -> (World, Gateway) {
    let world = World::new(plain());
    let gateway = world.start_with(adapter);
    (world, gateway)
}

/// The messages that the owner stored, once the one with the text `last` is there, without it.
async fn stored(world: &World) -> Vec<Arrive> {
    let is_last = |it: &Arrive| text_of(it) == "last";
    world.until("the last message", |it| it.ledger.book().stored.iter().any(is_last)).await;
    let stored = world.ledger.book().stored.clone();
    stored.into_iter().filter(|it| matches!(it.event, Inbound::Message(_)) && !is_last(it)).collect()
}

/// The text, and how many messages were joined.
fn shape(stored: &[Arrive]) -> Vec<(String, usize)> {
    stored.iter().map(|it| (text_of(it), it.also.len() + 1)).collect()
}

fn one(text: &str, messages: usize) -> Vec<(String, usize)> {
    vec![(text.to_owned(), messages)]
}

fn telegram_photo(caption: &str, album: &str) -> Value {
    let photo = json!([{"file_id": format!("f-{caption}"), "file_size": 9}]);
    json!({"text": null, "caption": caption, "media_group_id": album, "photo": photo})
}

#[tokio::test]
async fn gateways_case_07_album_in_one_answer_of_telegram_is_one_message() {
    let (fake, adapter) = telegram::start().await;
    for caption in ["first", "", "third"] {
        fake.says(telegram::ANNA, telegram::ANNA, telegram_photo(caption, "77"));
    }
    fake.says(telegram::GROUP, telegram::BEN, json!({"text": "last"}));
    let (world, _gateway) = gateway(adapter);
    world.until("the album", |it| it.ledger.book().stored.len() == 2).await;
    let stored = stored(&world).await;
    assert_eq!(shape(&stored), one("first\nthird", 3));
    let Inbound::Message(album) = &stored[0].event else { panic!("{:?}", stored[0].event) };
    assert_eq!(album.attached.len(), 3);
}

#[tokio::test]
async fn gateways_case_07_album_in_two_answers_of_telegram_is_one_message_and_confirmed_when_it_is_stored() {
    let (fake, adapter) = telegram::start().await;
    let (world, _gateway) = gateway(adapter);
    fake.control().until_called("getUpdates", 1).await;
    fake.says(telegram::ANNA, telegram::ANNA, telegram_photo("first", "77"));
    // The first photo came with the first answer.
    fake.control().until_called("getUpdates", 2).await;
    let (_, second) = fake.says(telegram::ANNA, telegram::ANNA, telegram_photo("second", "77"));
    world.until("the album", |it| !it.ledger.book().stored.is_empty()).await;
    let offsets = || fake.control().called("getUpdates").into_iter().map(|poll| poll["offset"].clone());
    world.until("the confirmation", |_| offsets().any(|it| it == second + 1)).await;
    // No poll confirmed the first photo without the second one.
    assert!(offsets().all(|it| it.is_null() || it == second + 1), "{:?}", offsets().collect::<Vec<_>>());
    fake.says(telegram::ANNA, telegram::ANNA, json!({"text": "last"}));
    assert_eq!(shape(&stored(&world).await), one("first\nsecond", 2));
    assert_eq!(world.ledger.book().arrivals, 2, "nothing was handed over twice");
}

#[tokio::test]
async fn gateways_case_08_photo_and_text_after_it_are_one_message_of_telegram() {
    let (fake, adapter) = telegram::start().await;
    let (world, _gateway) = gateway(adapter);
    fake.control().until_called("getUpdates", 1).await;
    fake.says(telegram::ANNA, telegram::ANNA, telegram_photo("", "78"));
    fake.control().until_called("getUpdates", 2).await;
    fake.says(telegram::ANNA, telegram::ANNA, json!({"text": "what is this?"}));
    world.until("the message", |it| !it.ledger.book().stored.is_empty()).await;
    fake.says(telegram::ANNA, telegram::ANNA, json!({"text": "last"}));
    assert_eq!(shape(&stored(&world).await), one("what is this?", 2));
}

#[tokio::test]
async fn gateways_case_08_photo_and_text_after_it_are_one_message_of_discord() {
    let there = discord::world::World::new().await;
    let (world, _gateway) = gateway(there.adapter());
    there.fake.control().until_called("identify", 1).await;
    world.until("a session", |it| it.ledger.book().cursor.is_some()).await;
    let direct = there.fake.add_direct(&there.anna);
    let file =
        json!({"id": "5", "filename": "a.png", "size": 3, "url": format!("{}/a.png", there.fake.files())});
    there.fake.write_with(&direct, &there.anna, &json!({"content": "", "attachments": [file]}));
    there.fake.write(&direct, &there.anna, "what is this?");
    there.fake.write(&direct, &there.anna, "last");
    assert_eq!(shape(&stored(&world).await), one("what is this?", 2));
}

#[tokio::test]
async fn gateways_case_08_photo_and_text_after_it_are_one_message_of_slack_and_acknowledged_when_stored() {
    let (fake, adapter) = slack::start().await;
    let (world, _gateway) = gateway(adapter);
    fake.control().until_called("hello", 1).await;
    let file = json!({"id": "F1", "url_private": format!("{}/files/F1/a.png", fake.base()), "size": 3});
    fake.says(slack::DIRECT, "U2", json!({"text": "", "subtype": "file_share", "files": [file]}));
    fake.says(slack::DIRECT, "U2", json!({"text": "what is this?"}));
    fake.says(slack::DIRECT, "U2", json!({"text": "last"}));
    assert_eq!(shape(&stored(&world).await), one("what is this?", 2));
    fake.control().until_called("acknowledge", 3).await;
    assert_eq!(world.ledger.book().arrivals, 2);
}

#[tokio::test]
async fn gateways_case_08_photo_and_text_after_it_are_one_message_of_matrix() {
    let two = matrix::people::Two::new().await;
    let (world, _gateway) = gateway(Arc::new(two.bot.adapter()));
    world.until("the first poll", |it| it.ledger.book().cursor.is_some()).await;
    let photo = json!({ "msgtype": "m.image", "body": "a.png", "url": "mxc://chat.test/none" });
    two.person.send(&two.room, &photo).await;
    two.person.say(&two.room, "what is this?").await;
    two.person.say(&two.room, "last").await;
    assert_eq!(shape(&stored(&world).await), one("what is this?", 2));
}
