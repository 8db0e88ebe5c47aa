//! Events over Socket Mode, and what was said while no socket was open.

use std::sync::Arc;
use std::time::Duration;

use retake_fakes::slack::Slack as Fake;
use retake_fakes::{Fault, Refusal};
use retake_gateway::{Adapter as _, Failure, Refused, SetupStep, Slack};
use retake_wire::chat::{Addressed, Audience, Inbound, Person};
use serde_json::{Value, json};

use super::{CHANNEL, DIRECT, adapter, marker, place, post, start};
use crate::recorder::{Receiving, Recorder, message, received};

/// Receives, and waits until the socket is open.
async fn connect(fake: &Fake, adapter: &Arc<Slack>, inbox: &Arc<Recorder>) -> Receiving {
    let before = fake.control().called("hello").len();
    let receiving = Receiving::start(adapter, None, inbox);
    fake.control().until_called("hello", before + 1).await;
    receiving
}

/// The events that these make.
async fn events(deliver: impl FnOnce(&Fake), count: usize) -> Vec<(String, Inbound)> {
    let (fake, adapter) = start().await;
    let inbox = Arc::new(Recorder::default());
    let _receiving = connect(&fake, &adapter, &inbox).await;
    deliver(&fake);
    let delivered = fake.says(DIRECT, "U9", json!({"text": "last"})).1 + 1;
    // All are acknowledged, also those that are no events for us.
    fake.control().until_called("acknowledge", delivered).await;
    let mut arrived = inbox.arrived();
    assert_eq!(message(&arrived.pop().expect("BUG: the last event is missing").1).text, "last");
    assert_eq!(arrived.len(), count, "{arrived:?}");
    arrived
}

/// Case 1.
#[tokio::test]
async fn envelope_delivered_three_times_has_one_key() {
    let deliver = |fake: &Fake| {
        let (_, position) = fake.says(DIRECT, "U2", json!({"text": "hi"}));
        fake.redeliver(position);
        fake.redeliver(position);
    };
    let arrived = events(deliver, 3).await;
    assert!(arrived.iter().all(|one| *one == arrived[0]));
    let said = message(&arrived[0].1);
    assert_eq!(said.person, Person { id: "U2".into(), name: "Name of U2".into(), is_bot: false });
    assert_eq!((said.audience, said.addressed), (Audience::Private, Addressed::Mention));
    assert_eq!((&said.place, said.text.as_str()), (&place(DIRECT, None), "hi"));
}

/// Case 4.
#[tokio::test]
async fn mention_and_message_of_one_text_have_one_key() {
    let deliver = |fake: &Fake| {
        let (ts, _) = fake.says(CHANNEL, "U2", json!({"text": "<@UBOT> rewind 2"}));
        let mention = json!({
            "type": "app_mention", "user": "U2", "text": "<@UBOT> rewind 2", "ts": ts, "channel": CHANNEL, "event_ts": ts,
        });
        fake.event(mention);
    };
    let arrived = events(deliver, 2).await;
    assert_eq!(arrived[0], arrived[1]);
    let said = message(&arrived[0].1);
    assert_eq!((said.text.as_str(), said.addressed), ("rewind 2", Addressed::Mention));
    assert_eq!(said.place, place(CHANNEL, Some(&said.message)));
}

/// Case 2, as far as an adapter knows.
#[tokio::test]
async fn envelope_is_acknowledged_only_after_it_is_durable() {
    let (fake, adapter) = start().await;
    let inbox = Recorder::with_most(1);
    let receiving = connect(&fake, &adapter, &inbox).await;
    fake.says(DIRECT, "U2", json!({"text": "one"}));
    fake.says(DIRECT, "U2", json!({"text": "two"}));
    assert_eq!(receiving.ended().await, Failure::Closed);
    assert_eq!(inbox.arrived().len(), 1);
    fake.control().until_called("acknowledge", 1).await;
    assert_eq!(fake.control().called("acknowledge"), [json!({"envelope_id": "e0"})]);
}

/// Case 2: others are received and acknowledged while an event is not durable.
#[tokio::test]
async fn gateways_case_02_envelope_that_waits_is_acknowledged_last() {
    let (fake, adapter) = start().await;
    let inbox = Recorder::that_holds();
    let _receiving = connect(&fake, &adapter, &inbox).await;
    fake.says(DIRECT, "U2", json!({"text": "one"}));
    fake.says(DIRECT, "U2", json!({"text": "two"}));
    inbox.until(2).await;
    assert_eq!(fake.control().called("acknowledge"), Vec::<Value>::new());
    inbox.store(1);
    fake.control().until_called("acknowledge", 1).await;
    inbox.store(0);
    fake.control().until_called("acknowledge", 2).await;
    let acknowledged = [json!({"envelope_id": "e1"}), json!({"envelope_id": "e0"})];
    assert_eq!(fake.control().called("acknowledge"), acknowledged);
}

#[tokio::test]
async fn gap_is_read_from_the_history_of_bound_places() {
    let (fake, adapter) = start().await;
    let says = |channel: &str, fields: Value| fake.says(channel, "U2", fields).0;
    let direct = says(DIRECT, json!({"text": "known"}));
    let root = says(CHANNEL, json!({"text": "root"}));
    let unheard = says(CHANNEL, json!({"text": "unheard"}));
    for text in ["one", "two"] {
        says(DIRECT, json!({"text": text}));
        says(CHANNEL, json!({"text": text, "thread_ts": root}));
        says(CHANNEL, json!({"text": "unheard, too", "thread_ts": unheard}));
    }
    adapter.send(&place(DIRECT, None), &post("our own"), &marker("k1")).await.unwrap();
    let places = vec![
        (place(DIRECT, None), Some(direct.clone())),
        (place(CHANNEL, Some(&root)), Some(root.clone())),
        (place(CHANNEL, Some(&unheard)), None),
        (place("C404", None), Some(root.clone())),
    ];
    let inbox = Recorder::with_places(places);
    // The first call has to wait. What comes over the socket meanwhile waits until the older messages are stored.
    let wait = Fault::Refuse(Refusal::Wait(Duration::from_secs(1)));
    fake.control().script("conversations.history", [wait]);
    let _receiving = connect(&fake, &adapter, &inbox).await;
    fake.says(DIRECT, "U2", json!({"text": "live"}));
    fake.control().until_called("acknowledge", 1).await;
    let text = |event: &Inbound| (message(event).place.chat.clone(), message(event).text.clone());
    let texts: Vec<(String, String)> = inbox.arrived().iter().map(|(_, event)| text(event)).collect();
    let all = [(DIRECT, "one"), (DIRECT, "two"), (DIRECT, "live"), (CHANNEL, "one"), (CHANNEL, "two")];
    let mut expected: Vec<_> = all.map(|(chat, text)| (chat.to_owned(), text.to_owned())).to_vec();
    // The history may hold the live message already. Then it comes twice, with one key.
    let mut found = texts.clone();
    found.dedup();
    found.sort();
    found.dedup();
    expected.sort();
    assert_eq!(found, expected);
    assert_eq!((texts[0].1.as_str(), texts[1].1.as_str()), ("one", "two"));
}

#[tokio::test]
async fn requested_reconnect_reads_the_gap_and_goes_on() {
    let (fake, adapter) = start().await;
    let (known, _) = fake.says(DIRECT, "U2", json!({"text": "known"}));
    let inbox = Recorder::with_places(vec![(place(DIRECT, None), Some(known))]);
    let receiving = connect(&fake, &adapter, &inbox).await;
    fake.disconnect("refresh_requested");
    fake.control().until_called("conversations.history", 2).await;
    fake.control().until_called("hello", 2).await;
    fake.says(DIRECT, "U2", json!({"text": "after"}));
    let arrived = inbox.until(1).await;
    assert_eq!(message(&arrived[0].1).text, "after");
    fake.cut();
    assert_eq!(receiving.ended().await, Failure::Unreachable);
}

#[tokio::test]
async fn socket_mode_that_is_switched_off_is_a_refusal() {
    let (fake, sender) = start().await;
    let inbox = Arc::new(Recorder::default());
    let receiving = connect(&fake, &sender, &inbox).await;
    fake.disconnect("link_disabled");
    assert_eq!(receiving.ended().await, Failure::Refused(Refused::NotPermitted));
    let other = adapter(&fake.base(), retake_fakes::slack::BOT_TOKEN, "xoxb-no-app-token");
    assert_eq!(received(&*other, &inbox).await, Failure::BadToken);
}

/// An address of a socket holds a secret, so it must be encrypted; a test server's need not.
#[tokio::test]
async fn socket_that_does_not_speak_its_protocol_is_unreachable() {
    let (fake, adapter) = start().await;
    let encrypted = fake.base().replacen("http", "wss", 1);
    let rows = [
        (encrypted.as_str(), Failure::Unreachable),
        (&fake.base(), Failure::Unreadable),
        ("wss://", Failure::Unreadable),
        ("wss://[", Failure::Unreadable),
    ];
    for (address, failure) in rows {
        fake.set_socket(address);
        assert_eq!(received(&*adapter, &Recorder::default()).await, failure, "{address}");
    }
}

/// Case 11.
#[tokio::test]
async fn own_messages_are_left_out_and_bots_are_named() {
    let deliver = |fake: &Fake| {
        fake.says(CHANNEL, "UBOT", json!({"text": "ours"}));
        fake.says(CHANNEL, "U7", json!({"text": "ours, too", "bot_id": "BBOT"}));
        fake.says(CHANNEL, "U8", json!({"text": "other", "bot_id": "B8", "username": "weather"}));
        fake.says(CHANNEL, "U8", json!({"text": "joined", "subtype": "channel_join"}));
    };
    let arrived = events(deliver, 1).await;
    let bot = Person { id: "U8".into(), name: "weather".into(), is_bot: true };
    assert_eq!(message(&arrived[0].1).person, bot);
}

/// Case 82.
#[tokio::test]
async fn messages_say_how_they_address_the_bot() {
    let deliver = |fake: &Fake| {
        let (ours, _) = fake.says(CHANNEL, "UBOT", json!({"text": "ours"}));
        fake.says(CHANNEL, "U2", json!({"text": "hello"}));
        fake.says(CHANNEL, "U2", json!({"text": "yes", "thread_ts": ours}));
        fake.says(CHANNEL, "U2", json!({"text": "<@UOTHER> undo"}));
        fake.says(CHANNEL, "U2", json!({"text": "ask <@UBOT>"}));
    };
    let arrived = events(deliver, 4).await;
    let found: Vec<_> =
        arrived.iter().map(|(_, event)| (message(event).text.as_str(), message(event).addressed)).collect();
    let expected = [
        ("hello", Addressed::No),
        ("yes", Addressed::Reply),
        ("@UOTHER undo", Addressed::No),
        ("ask @retake", Addressed::Mention),
    ];
    assert_eq!(found, expected);
}

/// Case 83.
#[tokio::test]
async fn only_another_text_is_an_edit() {
    let changed = |text: &str, at: &str| {
        json!({
            "type": "message", "subtype": "message_changed", "channel": DIRECT, "event_ts": at,
            "message": {"type": "message", "user": "U2", "ts": "5.000100", "text": text, "edited": {"user": "U2", "ts": at}},
            "previous_message": {"type": "message", "user": "U2", "ts": "5.000100", "text": "see https://a.example"},
        })
    };
    let deliver = |fake: &Fake| {
        // A link preview.
        fake.event(changed("see https://a.example", "6.1"));
        fake.event(changed("other", "6.2"));
        fake.event(changed("other", "6.2"));
    };
    let arrived = events(deliver, 2).await;
    assert_eq!(arrived[0], arrived[1]);
    assert!(matches!(arrived[0].1, Inbound::Edited(_)));
    let edited = message(&arrived[0].1);
    assert_eq!((edited.message.as_str(), edited.text.as_str(), edited.sent_ms), ("5.000100", "other", 5000));
}

#[tokio::test]
async fn deletions_and_tombstones_are_recalls() {
    let (fake, adapter) = start().await;
    let inbox = Arc::new(Recorder::default());
    let _receiving = connect(&fake, &adapter, &inbox).await;
    let deleted = json!({
        "type": "message", "subtype": "message_deleted", "channel": CHANNEL, "deleted_ts": "5.000100",
        "previous_message": {"user": "U2", "ts": "5.000100", "thread_ts": "4.000100"},
    });
    fake.event(deleted);
    let root = adapter.send(&place(CHANNEL, None), &post("root"), &marker("k1")).await.unwrap().ids.remove(0);
    fake.says(CHANNEL, "U2", json!({"text": "reply", "thread_ts": root}));
    adapter.delete(&place(CHANNEL, None), &root).await.unwrap();
    let arrived: Vec<Inbound> = inbox.until(3).await.into_iter().map(|(_, event)| event).collect();
    let recalled = |thread: &str, message: &str| Inbound::Recalled {
        place: place(CHANNEL, Some(thread)),
        message: message.to_owned(),
        by: None,
    };
    assert_eq!(arrived[0], recalled("4.000100", "5.000100"));
    assert_eq!(arrived[2], recalled(&root, &root));
}

#[tokio::test]
async fn membership_is_ours_only() {
    let joined = |kind: &str, user: &str| json!({"type": kind, "user": user, "channel": CHANNEL, "channel_type": "C", "event_ts": "5.1"});
    let deliver = |fake: &Fake| {
        fake.event(joined("member_joined_channel", "U2"));
        fake.event(joined("member_joined_channel", "UBOT"));
        fake.event(joined("member_left_channel", "UBOT"));
    };
    let arrived: Vec<Inbound> = events(deliver, 2).await.into_iter().map(|(_, event)| event).collect();
    let membership = |is_member| Inbound::Membership { place: place(CHANNEL, None), is_member };
    assert_eq!(arrived, [membership(true), membership(false)]);
}

#[tokio::test]
async fn files_and_forwards_are_described() {
    let files = json!([{
        "id": "F1", "name": "../a.m4a", "mimetype": "audio/mp4", "size": 5, "subtype": "slack_audio",
        "url_private": "https://files.slack.com/a", "url_private_download": "https://files.slack.com/download/a",
    }]);
    let deliver = |fake: &Fake| {
        fake.says(DIRECT, "U2", json!({"subtype": "file_share", "files": files}));
        fake.says(
            DIRECT,
            "U2",
            json!({"text": "look", "attachments": [{"is_share": true, "text": "their words"}]}),
        );
    };
    let arrived = events(deliver, 2).await;
    let file = &message(&arrived[0].1).attached[0];
    assert_eq!((file.handle.as_str(), file.size), ("https://files.slack.com/download/a", Some(5)));
    assert!(file.is_voice && message(&arrived[1].1).is_forward);
}

/// Case 79.
#[tokio::test]
async fn person_of_a_press_is_the_one_who_pressed() {
    let press = json!({
        "type": "block_actions", "trigger_id": "t1", "user": {"id": "U3", "name": "ben"},
        "container": {"type": "message", "message_ts": "6.000100", "channel_id": CHANNEL, "thread_ts": "5.000100"},
        "channel": {"id": CHANNEL}, "message": {"user": "UBOT", "ts": "6.000100", "thread_ts": "5.000100"},
        "actions": [{"type": "button", "action_id": "b0-0", "value": "yes-1", "action_ts": "7.1"}],
    });
    let deliver = |fake: &Fake| {
        fake.interactive(press);
        fake.interactive(json!({"type": "view_submission"}));
    };
    let ben = Person { id: "U3".into(), name: "ben".into(), is_bot: false };
    let expected = Inbound::Pressed {
        place: place(CHANNEL, Some("5.000100")),
        post: "6.000100".into(),
        person: ben.clone(),
        button: "yes-1".into(),
        answer_to: "t1".into(),
    };
    assert_eq!(events(deliver, 1).await[0].1, expected);

    let (fake, adapter) = start().await;
    let thread = place(CHANNEL, Some("5.000100"));
    adapter.whisper(&thread, &ben, "not <yours>", Some("t1")).await.unwrap();
    let expected =
        json!({"channel": CHANNEL, "thread_ts": "5.000100", "user": "U3", "text": "not &lt;yours&gt;"});
    assert_eq!(fake.control().called("chat.postEphemeral"), [expected]);
}

#[tokio::test]
async fn missing_scopes_are_steps() {
    let (fake, sender) = start().await;
    let identity = sender.identify().await.unwrap();
    assert_eq!((identity.id.as_str(), identity.name.as_str()), ("UBOT", "retake"));
    assert_eq!(identity.missing.len(), 8);
    assert!(identity.missing.contains(&SetupStep::Scope("im:history")));
    assert!(!identity.missing.contains(&SetupStep::Scope("chat:write")));
    let other = adapter(&fake.base(), retake_fakes::slack::BOT_TOKEN, "xoxb-no-app-token");
    assert!(other.identify().await.unwrap().missing.contains(&SetupStep::Events));
}
