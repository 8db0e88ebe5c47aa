//! Updates become events: once durable, they are confirmed, and never before.

use std::sync::Arc;

use retake_gateway::{Adapter as _, Failure, Refused, SetupStep};
use retake_wire::chat::{Addressed, Audience, Inbound, Person, Place};
use serde_json::{Value, json};

use super::{ANNA, GROUP, marker, place, post, start};
use crate::recorder::{Receiving, Recorder, Told, message, received};

/// The events of these updates.
async fn events(updates: &[(&str, Value)], count: usize) -> Vec<Inbound> {
    let (fake, adapter) = start().await;
    let inbox = Arc::new(Recorder::default());
    let _receiving = Receiving::start(&adapter, None, &inbox);
    for (kind, content) in updates {
        fake.update(kind, content.clone());
    }
    let (_, last) = fake.says(ANNA, ANNA, json!({"text": "last"}));
    inbox.until_told(&Told::Advanced(last.to_string())).await;
    let mut arrived: Vec<Inbound> = inbox.arrived().into_iter().map(|(_, event)| event).collect();
    assert_eq!(message(&arrived.pop().expect("BUG: the last event is missing")).text, "last");
    assert_eq!(arrived.len(), count, "{arrived:?}");
    arrived
}

fn in_group(fields: Value) -> (&'static str, Value) {
    let mut message = json!({
        "message_id": 70,
        "date": 1_790_000_000,
        "chat": {"id": GROUP, "type": "supergroup", "title": "Team"},
        "from": {"id": ANNA, "is_bot": false, "first_name": "Anna", "last_name": "Ek"},
        "text": "hello",
    });
    message
        .as_object_mut()
        .expect("BUG: not an object")
        .extend(fields.as_object().expect("BUG: not an object").clone());
    ("message", message)
}

/// Case 1.
#[tokio::test]
async fn update_delivered_three_times_has_one_key() {
    let (fake, adapter) = start().await;
    let inbox = Arc::new(Recorder::default());
    let _receiving = Receiving::start(&adapter, None, &inbox);
    let (id, update) = fake.says(ANNA, ANNA, json!({"text": "hi"}));
    for count in 1..=3 {
        let arrived = inbox.until(count).await;
        let (key, event) = &arrived[count - 1];
        assert_eq!((key.clone(), event), (update.to_string(), &arrived[0].1));
        let said = message(event);
        assert_eq!((said.message.clone(), said.text.as_str()), (id.to_string(), "hi"));
        assert_eq!((said.audience, said.addressed), (Audience::Private, Addressed::Mention));
        assert_eq!(said.person, Person { id: "41".into(), name: "P41".into(), is_bot: false });
        assert_eq!(said.sent_ms, fake.control().now_ms());
        fake.redeliver(update);
    }
}

/// Case 2, as far as an adapter knows.
#[tokio::test]
async fn only_durable_updates_are_confirmed() {
    let (fake, adapter) = start().await;
    let (_, first) = fake.says(ANNA, ANNA, json!({"text": "one"}));
    let (_, second) = fake.says(ANNA, ANNA, json!({"text": "two"}));
    let full = Recorder::with_most(1);
    assert_eq!(received(&*adapter, &full).await, Failure::Closed);
    assert_eq!(full.arrived().len(), 1);
    assert_eq!(fake.control().called("getUpdates").len(), 1);
    assert_eq!(fake.control().called("getUpdates")[0].get("offset"), None);

    let inbox = Arc::new(Recorder::default());
    let _receiving = Receiving::start(&adapter, Some(&first.to_string()), &inbox);
    let arrived = inbox.until(1).await;
    assert_eq!(message(&arrived[0].1).text, "two");
    inbox.until_told(&Told::Advanced(second.to_string())).await;
    fake.control().until_called("getUpdates", 3).await;
    let polls = fake.control().called("getUpdates");
    assert_eq!((&polls[1]["offset"], &polls[2]["offset"]), (&json!(first + 1), &json!(second + 1)));
    let kinds = json!(["message", "edited_message", "callback_query", "my_chat_member"]);
    assert_eq!((&polls[0]["allowed_updates"], &polls[0]["timeout"]), (&kinds, &json!(50)));
}

/// Case 2: an update that is stored is not confirmed before those that came earlier, and nothing is handed over twice meanwhile.
#[tokio::test]
async fn gateways_case_02_update_is_not_confirmed_before_an_earlier_one_is_durable() {
    let (fake, adapter) = start().await;
    let (_, first) = fake.says(ANNA, ANNA, json!({"text": "one"}));
    let inbox = Recorder::that_holds();
    let _receiving = Receiving::start(&adapter, None, &inbox);
    inbox.until(1).await;
    let (_, second) = fake.says(ANNA, ANNA, json!({"text": "two"}));
    inbox.until(2).await;
    inbox.store(1);
    let polls = fake.control().called("getUpdates").len();
    fake.control().until_called("getUpdates", polls + 2).await;
    assert!(fake.control().called("getUpdates").iter().all(|poll| poll.get("offset").is_none()));
    inbox.store(0);
    inbox.until_told(&Told::Advanced(second.to_string())).await;
    let polls = fake.control().called("getUpdates").len();
    fake.control().until_called("getUpdates", polls + 1).await;
    assert_eq!(fake.control().called("getUpdates").last().expect("BUG: a poll")["offset"], json!(second + 1));
    let keys: Vec<String> = inbox.arrived().into_iter().map(|(key, _)| key).collect();
    assert_eq!(keys, [first.to_string(), second.to_string()]);
}

/// Case 13.
#[tokio::test]
async fn second_poller_ends_the_first_one() {
    let (fake, adapter) = start().await;
    let (first, second) = (Arc::new(Recorder::default()), Arc::new(Recorder::default()));
    let receiving = Receiving::start(&adapter, None, &first);
    fake.control().until_called("getUpdates", 1).await;
    let _second = Receiving::start(&adapter, None, &second);
    assert_eq!(receiving.ended().await, Failure::Occupied);
    fake.says(ANNA, ANNA, json!({"text": "hi"}));
    second.until(1).await;
    assert_eq!(first.arrived(), []);
}

/// Case 11.
#[tokio::test]
async fn own_messages_are_left_out_and_bots_are_named() {
    let updates = [
        in_group(
            json!({"from": {"id": retake_fakes::telegram::BOT, "is_bot": true, "first_name": "Retake"}}),
        ),
        in_group(json!({"from": {"id": 9, "is_bot": true, "username": "weather_bot"}})),
        in_group(json!({"sender_chat": {"id": GROUP, "type": "supergroup", "title": "Team"}})),
    ];
    let people: Vec<Person> =
        events(&updates, 2).await.iter().map(|event| message(event).person.clone()).collect();
    let bot = Person { id: "9".into(), name: "weather_bot".into(), is_bot: true };
    let anonymous = Person { id: GROUP.to_string(), name: "Team".into(), is_bot: true };
    assert_eq!(people, [bot, anonymous]);
}

/// Case 14.
#[tokio::test]
async fn group_that_becomes_a_supergroup_is_reported_and_not_written_to() {
    let (fake, adapter) = start().await;
    fake.add_chat(json!({"id": -5, "type": "group"}));
    let sent = adapter.send(&place(-5), &post("before"), &marker()).await.unwrap();
    fake.migrate(-5, -1_005);
    let refused = adapter.delete(&place(-5), &sent.ids[0]).await;
    assert_eq!(refused, Err(Failure::Refused(Refused::NotPermitted)));
    // The post can be sent as soon as its place has the new id.
    assert_eq!(adapter.send(&place(-5), &post("after"), &marker()).await, Err(Failure::Unreachable));
    assert_eq!(fake.posts(-5).len(), 1);
    let migrated = [in_group(json!({"chat": {"id": -5, "type": "group"}, "migrate_to_chat_id": -1_005}))];
    let expected = Inbound::Migrated { account: "tg".into(), from: "-5".into(), to: "-1005".into() };
    assert_eq!(events(&migrated, 1).await, [expected]);
}

/// Case 15.
#[tokio::test]
async fn only_topics_are_threads() {
    let topic = json!({"message_id": 8, "from": {"id": ANNA}, "forum_topic_created": {"name": "x"}});
    let updates = [
        in_group(
            json!({"message_thread_id": 8, "reply_to_message": {"message_id": 8, "from": {"id": ANNA}}}),
        ),
        in_group(json!({"message_thread_id": 8, "is_topic_message": true, "reply_to_message": topic})),
        in_group(json!({
            "message_thread_id": 8, "is_topic_message": true, "reply_to_message": {"message_id": 9, "from": {"id": 2}},
        })),
    ];
    let events = events(&updates, 3).await;
    let found: Vec<_> = events
        .iter()
        .map(|event| (message(event).place.thread.as_deref(), message(event).reply_to.as_deref()))
        .collect();
    assert_eq!(found, [(None, Some("8")), (Some("8"), None), (Some("8"), Some("9"))]);
}

/// Case 82.
#[tokio::test]
async fn group_messages_say_how_they_address_the_bot() {
    let reply = json!({"message_id": 3, "from": {"id": retake_fakes::telegram::BOT}});
    let updates = [
        in_group(json!({"text": "hello"})),
        in_group(json!({"text": "yes", "reply_to_message": reply})),
        in_group(json!({
            "text": "@retake_bot hi", "entities": [{"type": "mention", "offset": 0, "length": 11}],
        })),
        in_group(json!({
            "text": "/undo@retake_bot 2", "entities": [{"type": "bot_command", "offset": 0, "length": 16}],
        })),
        in_group(json!({
            "text": "/undo@another_bot", "entities": [{"type": "bot_command", "offset": 0, "length": 17}],
        })),
    ];
    let events = events(&updates, 5).await;
    let found: Vec<_> =
        events.iter().map(|event| (message(event).text.as_str(), message(event).addressed)).collect();
    let expected = [
        ("hello", Addressed::No),
        ("yes", Addressed::Reply),
        ("hi", Addressed::Mention),
        ("/undo 2", Addressed::Command),
        ("/undo@another_bot", Addressed::No),
    ];
    assert_eq!(found, expected);
}

/// Case 83: Telegram sends an edit for a reaction or a link preview. It has the text that is known already, so nothing changed.
#[tokio::test]
async fn edit_has_the_id_and_the_whole_text() {
    let (_, content) = in_group(json!({"edit_date": 1_790_000_009, "text": "hello"}));
    let events = events(&[in_group(json!({})), ("edited_message", content)], 2).await;
    assert!(matches!(events[1], Inbound::Edited(_)));
    assert_eq!(message(&events[0]), message(&events[1]));
}

#[tokio::test]
async fn albums_forwards_and_files_are_described() {
    let updates = [
        in_group(json!({
            "text": null, "caption": "two", "media_group_id": "77",
            "photo": [{"file_id": "small", "file_size": 1}, {"file_id": "large", "file_size": 9}],
        })),
        in_group(json!({"forward_origin": {"type": "hidden_user"}})),
        in_group(json!({
            "text": null, "voice": {"file_id": "v", "mime_type": "audio/ogg", "file_size": 5, "duration": 2},
        })),
        in_group(json!({
            "text": null,
            "animation": {"file_id": "a"},
            "document": {"file_id": "a", "file_name": "../x.gif", "mime_type": "image/gif"},
        })),
        // A service message says nothing.
        in_group(json!({"text": null, "new_chat_title": "Other"})),
    ];
    let events = events(&updates, 4).await;
    let found: Vec<_> = events.iter().map(message).collect();
    assert_eq!((found[0].album.as_deref(), found[0].text.as_str()), (Some("77"), "two"));
    assert_eq!((found[0].attached[0].handle.as_str(), found[0].attached[0].size), ("large", Some(9)));
    assert!(found[1].is_forward && !found[0].is_forward);
    assert!(found[2].attached[0].is_voice && found[2].text.is_empty());
    assert_eq!((found[3].attached.len(), found[3].attached[0].name.as_deref()), (1, Some("../x.gif")));
}

#[tokio::test]
async fn membership_says_whether_the_bot_can_post() {
    let changed = |member: Value| {
        let mut member = member;
        member["user"] = json!({"id": retake_fakes::telegram::BOT});
        let chat = json!({"id": GROUP, "type": "supergroup"});
        ("my_chat_member", json!({"chat": chat, "from": {"id": ANNA}, "date": 1, "new_chat_member": member}))
    };
    let rows = [
        (json!({"status": "member"}), true),
        (json!({"status": "kicked"}), false),
        (json!({"status": "left"}), false),
        (json!({"status": "restricted", "is_member": true, "can_send_messages": false}), false),
        (json!({"status": "administrator", "can_post_messages": false}), false),
        (json!({"status": "administrator"}), true),
    ];
    let updates: Vec<_> = rows.iter().map(|(member, _)| changed(member.clone())).collect();
    let expected: Vec<_> = rows
        .iter()
        .map(|(_, is_member)| Inbound::Membership { place: place(GROUP), is_member: *is_member })
        .collect();
    assert_eq!(events(&updates, 6).await, expected);
}

/// Case 79.
#[tokio::test]
async fn person_of_a_press_is_the_one_who_pressed() {
    let (fake, adapter) = start().await;
    let press = json!({
        "id": "q1", "data": "yes-1", "from": {"id": 42, "is_bot": false, "first_name": "Ben"},
        "message": {"message_id": 5, "date": 0, "chat": {"id": GROUP}, "from": {"id": retake_fakes::telegram::BOT}},
    });
    let person = Person { id: "42".into(), name: "Ben".into(), is_bot: false };
    let expected = Inbound::Pressed {
        place: place(GROUP),
        post: "5".into(),
        person: person.clone(),
        button: "yes-1".into(),
        answer_to: "q1".into(),
    };
    assert_eq!(events(&[("callback_query", press)], 1).await, [expected]);

    fake.open_query("q1");
    let long = "é".repeat(300);
    adapter.whisper(&place(GROUP), &person, &long, Some("q1")).await.unwrap();
    let answer = fake.control().called("answerCallbackQuery").remove(0);
    let text = answer["text"].as_str().unwrap();
    assert_eq!((text.chars().count(), text.ends_with('…'), &answer["show_alert"]), (200, true, &json!(true)));
    let again = adapter.whisper(&place(GROUP), &person, "", Some("q1")).await;
    assert_eq!(again, Err(Failure::Refused(Refused::TooOld)));
    let without = adapter.whisper(&place(GROUP), &person, "hi", None).await;
    assert_eq!(without, Err(Failure::Refused(Refused::Other)));
}

#[tokio::test]
async fn privacy_mode_is_a_step_that_is_missing() {
    let (fake, adapter) = start().await;
    let identity = adapter.identify().await.unwrap();
    assert_eq!((identity.name.as_str(), identity.missing), ("retake_bot", vec![SetupStep::ReadMessages]));
    fake.set_reads_all(true);
    assert_eq!(adapter.identify().await.unwrap().missing, []);
}

#[tokio::test]
async fn administrators_moderate() {
    let (fake, adapter) = start().await;
    for (user, status) in [(1, "creator"), (2, "administrator"), (3, "member")] {
        fake.set_member(GROUP, user, json!({"status": status}));
    }
    let mut found = Vec::new();
    for user in ["1", "2", "3", "4"] {
        found.push(adapter.moderates(&place(GROUP), user).await.unwrap());
    }
    assert_eq!(found, [true, true, false, false]);
    let elsewhere = Place { chat: "-77".into(), ..place(GROUP) };
    assert!(!adapter.moderates(&elsewhere, "1").await.unwrap());
}
