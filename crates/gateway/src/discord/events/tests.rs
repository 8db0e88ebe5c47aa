//! Objects of the platform, also odd ones, and what becomes of them.

use proptest::prelude::*;
use retake_wire::chat::{Addressed, Audience, Inbound, InboundMessage, Place};
use serde_json::{Value, json};

use super::{Where, edited, message, pressed, wording};

const ME: &str = "900";

fn place() -> Place {
    Place { account: "a".into(), chat: "10".into(), thread: None }
}

fn read(audience: Audience, value: &Value) -> Option<InboundMessage> {
    message(value, Where { place: place(), audience }, ME)
}

/// A message with further fields.
fn written(more: &Value) -> Value {
    let mut value = json!({
        "id": "175928847299117063", "channel_id": "10", "type": 0, "content": "hello",
        "author": {"id": "5", "username": "anna", "global_name": "Anna"}, "attachments": [], "mentions": [],
    });
    for (name, more) in more.as_object().expect("BUG: an object") {
        value[name] = more.clone();
    }
    value
}

fn shared(more: &Value) -> InboundMessage {
    read(Audience::Shared, &written(more)).expect("a message")
}

#[test]
fn text_author_and_time_are_read() {
    let message = shared(&json!({"member": {"nick": "Anni"}}));
    assert_eq!((message.text.as_str(), message.sent_ms), ("hello", 1_462_015_105_796));
    assert_eq!((message.person.id.as_str(), message.person.name.as_str()), ("5", "Anni"));
    assert_eq!(shared(&json!({})).person.name, "Anna");
}

/// Case 11: what we or programs wrote is no message of a person.
#[test]
fn gateways_case_11_own_messages_are_left_out_and_programs_are_marked() {
    let own = written(&json!({"author": {"id": ME, "username": "bot", "bot": true}}));
    assert_eq!(read(Audience::Shared, &own), None);
    assert!(shared(&json!({"author": {"id": "6", "username": "b", "bot": true}})).person.is_bot);
    assert!(shared(&json!({"webhook_id": "7", "author": {"id": "7", "username": "w"}})).person.is_bot);
    assert!(!shared(&json!({})).person.is_bot);
    for kind in [1, 6, 7, 18, 21, 24] {
        assert_eq!(read(Audience::Shared, &written(&json!({"type": kind}))), None, "type {kind}");
    }
}

/// Case 82: how a message addresses the bot.
#[test]
fn gateways_case_82_mentions_and_replies_address_the_bot() {
    let mention = shared(&json!({"content": "<@900> <@!900>, look at <@900>"}));
    assert_eq!((mention.addressed, mention.text.as_str()), (Addressed::Mention, "look at <@900>"));
    let other = shared(&json!({"content": "<@901> look"}));
    assert_eq!((other.addressed, other.text.as_str()), (Addressed::No, "<@901> look"));
    let ours = json!({"type": 19, "message_reference": {"message_id": "77"},
        "referenced_message": {"author": {"id": ME}}, "mentions": [{"id": ME}]});
    let reply = shared(&ours);
    assert_eq!((reply.addressed, reply.reply_to.as_deref()), (Addressed::Reply, Some("77")));
    let theirs = json!({"type": 19, "message_reference": {"message_id": "77"},
        "referenced_message": {"author": {"id": "6"}}});
    assert_eq!(shared(&theirs).addressed, Addressed::No);
    assert_eq!(shared(&json!({"mentions": [{"id": ME}]})).addressed, Addressed::Mention);
    let private = read(Audience::Private, &written(&json!({}))).expect("a message");
    assert_eq!(private.addressed, Addressed::Mention);
}

#[test]
fn forward_holds_the_text_of_its_snapshot_and_addresses_nobody() {
    let forward = shared(&json!({
        "content": "", "message_reference": {"type": 1, "message_id": "66"},
        "message_snapshots": [{"message": {"content": "<@900> !rewind"}}],
    }));
    assert_eq!((forward.text.as_str(), forward.is_forward), ("<@900> !rewind", true));
    assert_eq!((forward.addressed, forward.reply_to), (Addressed::No, None));
}

/// Case 87: a file has its size and type, and a voice message says so.
#[test]
fn gateways_case_87_files_are_named_with_size_and_type() {
    let file = json!([{"id": "3", "filename": "../a.png", "size": 26_214_400, "content_type": "image/png", "url": "u"}, 7]);
    let message = shared(&json!({"content": "", "attachments": file, "flags": 1 << 13}));
    let [file] = message.attached.as_slice() else { panic!("one file") };
    assert_eq!((file.handle.as_str(), file.size), ("10 175928847299117063 3 u", Some(26_214_400)));
    assert_eq!((file.name.as_deref(), file.media_type.as_deref()), (Some("../a.png"), Some("image/png")));
    assert!(file.is_voice);
}

/// Case 83: an update of embeds is no edit.
#[test]
fn gateways_case_83_wording_decides_what_an_edit_is() {
    assert_eq!(edited(&written(&json!({"edited_timestamp": null, "embeds": [{}]}))), None);
    assert_eq!(edited(&json!({"edited_timestamp": "t", "embeds": [{}]})), None);
    assert_eq!(edited(&written(&json!({"edited_timestamp": "t"}))), Some("t"));
    let file = |url: &str| json!({"attachments": [{"id": "3", "url": url}]});
    let one = shared(&file("https://cdn.example/a?ex=1"));
    assert_eq!(wording(&one), wording(&shared(&file("https://cdn.example/a?ex=2"))));
    assert_ne!(wording(&one), wording(&shared(&json!({}))));
    assert_ne!(wording(&shared(&json!({"content": "a"}))), wording(&shared(&json!({}))));
}

/// Case 79: the person who pressed is not the author of the post.
#[test]
fn gateways_case_79_press_names_the_person_who_pressed() {
    let interaction = json!({
        "id": "50", "type": 3, "token": "tok", "data": {"custom_id": "b1"},
        "member": {"user": {"id": "6", "username": "ben"}}, "message": {"id": "60", "author": {"id": ME}},
    });
    let Some(Inbound::Pressed { post, person, button, answer_to, .. }) = pressed(&interaction, place())
    else {
        panic!("a press")
    };
    assert_eq!(
        (post.as_str(), person.id.as_str(), button.as_str(), answer_to.as_str()),
        ("60", "6", "b1", "50 tok")
    );
    let mut command = interaction;
    command["type"] = json!(2);
    assert_eq!(pressed(&command, place()), None);
}

fn odd() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        "[0-9]{0,21}".prop_map(Value::from),
        "\\PC{0,9}".prop_map(Value::from),
    ];
    leaf.prop_recursive(2, 12, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::hash_map("id|url|user|author|content|type", inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn no_odd_field_panics(
        odd in odd(),
        field in "id|type|content|author|member|mentions|attachments|message_reference|message_snapshots|flags|token|data|message|user",
    ) {
        let value = written(&json!({ field: odd }));
        for audience in [Audience::Private, Audience::Shared] {
            drop(read(audience, &value));
        }
        drop((pressed(&value, place()), edited(&value).map(str::len)));
    }
}
