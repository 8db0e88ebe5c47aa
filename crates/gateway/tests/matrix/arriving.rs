//! What people write reaches the inbox, once, with its place, its author and whom it addresses.

use retake_gateway::{Adapter as _, Sent};
use retake_wire::chat::{Addressed, Audience, Inbound};
use serde_json::json;

use super::people::{Collects, Person, Two, marker, message, place, receive, text, until, within};

/// Case 1.
#[tokio::test]
async fn same_sync_twice_has_the_same_transport_keys() {
    let two = Two::new().await;
    let since = two.now().await;
    let said = two.person.say(&two.room, "hello").await;
    two.person.redact(&two.room, &said).await;
    let said = two.person.say(&two.room, "hello again").await;
    let edit = json!({
        "msgtype": "m.text", "body": "* bye", "m.new_content": { "msgtype": "m.text", "body": "bye" },
        "m.relates_to": { "rel_type": "m.replace", "event_id": said },
    });
    two.person.send(&two.room, &edit).await;
    let first = two.next(&since, 3).await;
    assert_eq!(first.len(), 3, "{first:?}");
    assert_eq!(two.next(&since, 3).await, first);
    let mut keys: Vec<_> = first.into_iter().map(|(key, _)| key).collect();
    keys.dedup();
    assert_eq!(keys.len(), 3, "each event has a key of its own");
}

/// Case 12.
#[tokio::test]
async fn gap_of_a_limited_sync_is_filled_and_nothing_comes_twice() {
    let two = Two::new().await;
    two.person.say(&two.room, "before").await;
    let since = two.now().await;
    let mut ids = Vec::new();
    // More than come with a poll and a page.
    for number in 0..170 {
        ids.push(two.person.say(&two.room, &number.to_string()).await);
    }
    let keys = |events: Vec<(String, Inbound)>| events.into_iter().map(|(key, _)| key).collect::<Vec<_>>();
    assert_eq!(keys(two.next(&since, 170).await), ids);
    // A server may not stop at the time that we name. Then the last message that the inbox knows ends the gap.
    let places = vec![(two.place(), Some(ids[9].clone()))];
    let collects = Collects { wanted: 160, places, ..Collects::default() };
    within(two.adapter.receive(Some(since), &collects)).await;
    assert_eq!(keys(collects.events.into_inner().unwrap()), ids[10..]);
}

#[tokio::test]
async fn place_without_a_cursor_starts_at_its_newest_message() {
    let two = Two::new().await;
    two.person.say(&two.room, "old").await;
    let (events, since) = receive(&two.adapter, None, 0).await;
    assert_eq!(events, []);
    two.person.say(&two.room, "new").await;
    assert_eq!(two.messages(&since, 1).await[0].text, "new");
}

#[tokio::test]
async fn message_has_its_author_its_place_and_its_time() {
    let two = Two::new().await;
    let name = "A\u{202e}nna <b>*&\"'\\ 😀";
    let id = two.person.id.as_str();
    two.person.put(&["profile", id, "displayname"], &json!({ "displayname": name })).await;
    let since = two.now().await;
    let said = two.person.say(&two.room, "hello\nthere").await;
    let message = two.messages(&since, 1).await.remove(0);
    assert_eq!((message.person.id.as_str(), message.person.name.as_str()), (id, name));
    assert!(!message.person.is_bot);
    assert_eq!((message.message.as_str(), message.text.as_str()), (said.as_str(), "hello\nthere"));
    assert_eq!((message.place, message.audience), (two.place(), Audience::Private));
    let sent = two.person.event(&two.room, &said).await["origin_server_ts"].as_i64();
    assert_eq!(Some(message.sent_ms), sent);
}

#[tokio::test]
async fn our_own_messages_edits_and_redactions_are_left_out() {
    let two = Two::new().await;
    let since = two.now().await;
    let sent = two.adapter.send(&two.place(), &text("ours"), &marker()).await.unwrap();
    two.adapter.edit(&two.place(), &sent.ids[0], &text("ours, too"), &marker()).await.unwrap();
    two.adapter.delete(&two.place(), &sent.ids[0]).await.unwrap();
    two.adapter.send(&two.place(), &text("ours, still there"), &marker()).await.unwrap();
    two.person.say(&two.room, "theirs").await;
    let messages = two.messages(&since, 1).await;
    assert_eq!(messages.iter().map(|message| message.text.as_str()).collect::<Vec<_>>(), ["theirs"]);
}

#[tokio::test]
async fn invited_person_does_not_make_a_room_shared() {
    let two = Two::new().await;
    let third = Person::new("ben").await;
    let since = two.now().await;
    two.person.post(&["rooms", &two.room, "invite"], &json!({ "user_id": third.id })).await;
    two.person.say(&two.room, "hello").await;
    assert_eq!(two.messages(&since, 1).await[0].audience, Audience::Private);
}

#[tokio::test]
async fn membership_changes_the_audience_while_we_listen() {
    let two = Two::new().await;
    let third = Person::new("ben").await;
    two.person.post(&["rooms", &two.room, "invite"], &json!({ "user_id": third.id })).await;
    let collects = Collects { wanted: 2, ..Collects::default() };
    let since = two.now().await;
    let people = async {
        two.person.say(&two.room, "1").await;
        until(|| !collects.events.lock().unwrap().is_empty()).await;
        third.join(&two.room).await;
        two.person.say(&two.room, "2").await;
    };
    within(async { tokio::join!(two.adapter.receive(Some(since), &collects), people) }).await;
    let events = collects.events.into_inner().unwrap();
    let audiences: Vec<_> = events.into_iter().map(|(_, inbound)| message(inbound).audience).collect();
    assert_eq!(audiences, [Audience::Private, Audience::Shared]);
}

#[tokio::test]
async fn message_in_a_shared_room_says_whom_it_addresses() {
    let two = Two::new().await;
    let third = Person::new("ben").await;
    two.person.post(&["rooms", &two.room, "invite"], &json!({ "user_id": third.id })).await;
    third.join(&two.room).await;
    let id = two.bot.id.as_str();
    two.bot.put(&["profile", id, "displayname"], &json!({ "displayname": "Retake Bot" })).await;
    let Sent { ids, .. } = two.adapter.send(&two.place(), &text("a post"), &marker()).await.unwrap();
    let theirs = two.person.say(&two.room, "an older message").await;
    let since = two.now().await;
    let say = |body: &str, more: serde_json::Value| {
        let mut content = json!({ "msgtype": "m.text", "body": body });
        content.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        content
    };
    let reply = |id: &str| json!({ "m.relates_to": { "m.in_reply_to": { "event_id": id } } });
    let cases = [
        (say("to nobody", json!({})), "to nobody", Addressed::No),
        (
            say("Retake Bot: do it", json!({ "m.mentions": { "user_ids": [id] } })),
            "do it",
            Addressed::Mention,
        ),
        (say(&format!("{id} do it"), json!({})), "do it", Addressed::Mention),
        (say("ask retake bot", json!({})), "ask retake bot", Addressed::Mention),
        (say("ask retake bot", json!({ "m.mentions": {} })), "ask retake bot", Addressed::No),
        (say("> <@x:y> a post\n\nyes", reply(&ids[0])), "yes", Addressed::Reply),
        (say("no", reply(&theirs)), "no", Addressed::No),
        (say("what", reply("$unknown")), "what", Addressed::No),
    ];
    for (content, ..) in &cases {
        two.person.send(&two.room, content).await;
    }
    let messages = two.messages(&since, cases.len()).await;
    for ((content, text, addressed), message) in cases.iter().zip(messages) {
        assert_eq!((message.text.as_str(), message.addressed), (*text, *addressed), "{content}");
        let replies = content["m.relates_to"]["m.in_reply_to"]["event_id"].as_str();
        assert_eq!(message.reply_to.as_deref(), replies);
    }
}

#[tokio::test]
async fn edits_that_are_not_valid_or_of_a_recalled_message_are_left_out() {
    let two = Two::new().await;
    let root = two.person.say(&two.room, "root").await;
    let thread = json!({ "rel_type": "m.thread", "event_id": root, "is_falling_back": true, "m.in_reply_to": { "event_id": root } });
    let said = json!({ "msgtype": "m.text", "body": "first", "m.relates_to": thread });
    let said = two.person.send(&two.room, &said).await;
    let since = two.now().await;
    let edit = |of: &str| {
        json!({
            "msgtype": "m.text", "body": "* second", "m.new_content": { "msgtype": "m.text", "body": "second" },
            "m.relates_to": { "rel_type": "m.replace", "event_id": of },
        })
    };
    let edited = two.person.send(&two.room, &edit(&said)).await;
    // Nobody can edit an edit, or a message of ours.
    two.person.send(&two.room, &edit(&edited)).await;
    let ours = two.adapter.send(&two.place(), &text("ours"), &marker()).await.unwrap();
    two.person.send(&two.room, &edit(&ours.ids[0])).await;
    two.person.redact(&two.room, &said).await;
    let mut events = two.next(&since, 1).await.into_iter().map(|(_, inbound)| inbound);
    let Some(Inbound::Recalled { place: recalled_at, message, by }) = events.next_back() else {
        panic!("no recall")
    };
    // The edit came after the redaction of its original here: nothing can be said of it any more.
    assert_eq!(events.next(), None);
    assert_eq!((&message, by.unwrap().id), (&said, two.person.id.clone()));
    assert_eq!(recalled_at.chat, two.room);
}

#[tokio::test]
async fn edit_and_recall_reach_us_while_we_listen() {
    let two = Two::new().await;
    let root = two.person.say(&two.room, "root").await;
    let thread = json!({ "rel_type": "m.thread", "event_id": root, "is_falling_back": true, "m.in_reply_to": { "event_id": root } });
    let said = json!({ "msgtype": "m.text", "body": "first", "m.relates_to": thread });
    let said = two.person.send(&two.room, &said).await;
    let since = two.now().await;
    let edit = json!({
        "msgtype": "m.text", "body": "* second", "m.new_content": { "msgtype": "m.text", "body": "second" },
        "m.relates_to": { "rel_type": "m.replace", "event_id": said },
    });
    two.person.send(&two.room, &edit).await;
    let collects = Collects { wanted: 2, ..Collects::default() };
    let people = async {
        until(|| !collects.events.lock().unwrap().is_empty()).await;
        two.person.redact(&two.room, &said).await;
    };
    within(async { tokio::join!(two.adapter.receive(Some(since), &collects), people) }).await;
    let events = collects.events.into_inner().unwrap();
    let at = place(&two.room, Some(&root));
    let (Inbound::Edited(edited), Inbound::Recalled { place, message, by }) = (&events[0].1, &events[1].1)
    else {
        panic!("{events:?}")
    };
    assert_eq!(
        (&edited.place, edited.message.as_str(), edited.text.as_str()),
        (&at, said.as_str(), "second")
    );
    assert_eq!((place, message.as_str()), (&at, said.as_str()));
    assert_eq!(by.as_ref().map(|by| by.id.as_str()), Some(two.person.id.as_str()));
}

#[tokio::test]
async fn somebody_else_deletes_a_post_of_ours() {
    let two = Two::new().await;
    let Sent { ids, .. } = two.adapter.send(&two.place(), &text("ours"), &marker()).await.unwrap();
    let since = two.now().await;
    two.person.redact(&two.room, &ids[0]).await;
    let events = two.next(&since, 1).await;
    assert!(matches!(&events[0].1, Inbound::Recalled { message, .. } if *message == ids[0]), "{events:?}");
}
