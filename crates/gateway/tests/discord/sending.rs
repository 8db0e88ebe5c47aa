//! Sending and editing: once, found again, and nobody is notified.

use std::time::Duration;

use retake_fakes::discord::{READ_MESSAGE_HISTORY, VIEW_CHANNEL};
use retake_fakes::{Fault, Refusal};
use retake_gateway::{
    Adapter as _, Button, Failure, Found, Marker, Outgoing, Refused, Resend, SentFile, Style, Styled,
};
use serde_json::{Value, json};

use super::world::{World, marker, place, post, sent, thread};

#[tokio::test]
async fn post_has_its_form_and_notifies_nobody() {
    let world = World::new().await;
    let adapter = world.adapter();
    let asked = world.fake.write(&world.channel, &world.anna, "question");
    let mut post = post(&format!("@everyone <@{}> *bold*", world.anna));
    let start = post.text.text.len() - 6;
    post.text.styles.push(Styled { range: start..start + 6, style: Style::Bold });
    post.reply_to = Some(asked.clone());
    post.is_silent = true;
    post.buttons = vec![vec![Button { label: "Take back".to_owned(), data: "b1".to_owned() }]];
    let sent = adapter.send(&world.place(), &post, &marker(&adapter, "k1", &post)).await.expect("sent");
    let message = world.fake.messages(&world.channel).pop().expect("a message");
    assert_eq!(message["id"].as_str(), sent.ids.first().map(String::as_str));
    assert_eq!(sent.sent_ms, Some(world.fake.control().now_ms()));
    assert_eq!(message["content"], format!("@everyone \\<@{}> **\\*bold\\***", world.anna));
    assert_eq!((&message["mention_everyone"], &message["mentions"]), (&json!(false), &json!([])));
    assert_eq!(message["message_reference"]["message_id"], asked);
    assert_eq!(message["flags"], json!(1 << 2 | 1 << 12));
    assert_eq!(message["components"][0]["components"][0]["custom_id"], "b1");
    let body = &world.fake.control().called("send")[0]["body"];
    assert_eq!(body["allowed_mentions"], json!({"parse": []}));
    assert_eq!((&body["nonce"], &body["enforce_nonce"]), (&json!("k1"), &json!(true)));
    // A message that is gone is no obstacle for the reply.
    post.reply_to = Some("123".to_owned());
    adapter.send(&world.place(), &post, &marker(&adapter, "k2", &post)).await.expect("sent");
    // Nor is a history that we may not read.
    world.fake.overwrite(&world.channel, &world.fake.me(), 0, READ_MESSAGE_HISTORY);
    post.reply_to = Some(asked);
    adapter.send(&world.place(), &post, &marker(&adapter, "k3", &post)).await.expect("sent");
    let message = world.fake.messages(&world.channel).pop().expect("a message");
    assert_eq!(message["message_reference"], Value::Null);
}

#[tokio::test]
async fn file_is_sent_with_its_caption() {
    let world = World::new().await;
    let adapter = world.adapter();
    let mut post = post("caption");
    let bytes = b"\x00\x01--x\r\n\r\n\xff".to_vec();
    post.file =
        Some(SentFile { name: "a.bin".to_owned(), media_type: "odd type".to_owned(), bytes: bytes.clone() });
    adapter.send(&world.place(), &post, &marker(&adapter, "k1", &post)).await.expect("sent");
    let message = world.fake.messages(&world.channel).pop().expect("a message");
    assert_eq!(
        (&message["content"], &message["attachments"][0]["filename"]),
        (&json!("caption"), &json!("a.bin"))
    );
    assert_eq!(message["attachments"][0]["size"], json!(bytes.len()));
    assert_eq!(message["attachments"][0]["content_type"], "application/octet-stream");
}

/// Case 22: the answer was lost. Within three minutes the same request gives the id; later the post is found. One message in both.
#[tokio::test]
async fn gateways_case_22_lost_answer_is_found_by_its_marker() {
    let world = World::new().await;
    let adapter = world.adapter();
    let [Resend::Again(again), Resend::Find, Resend::Send] = adapter.capabilities().resend else {
        panic!("{:?}", adapter.capabilities().resend)
    };
    for (text, passed) in [("early", *again), ("late", Duration::from_mins(10))] {
        let post = post(text);
        let marker = marker(&adapter, text, &post);
        let since = world.fake.control().now_ms();
        world.fake.control().script("send", [Fault::AnswerLost]);
        assert_eq!(adapter.send(&world.place(), &post, &marker).await, Err(Failure::Unknown));
        world.fake.control().pass(passed);
        // The restarted program has an adapter of its own.
        let adapter = world.adapter();
        let found = if passed <= *again {
            adapter.send(&world.place(), &post, &marker).await.expect("recognised")
        } else {
            let Ok(Found::Found(found)) = adapter.find(&world.place(), &marker, since).await else {
                panic!("it is not found")
            };
            found
        };
        let own = world.fake.messages(&world.channel).pop().expect("a message");
        assert_eq!(own["id"].as_str(), found.ids.first().map(String::as_str));
        assert_eq!(found.sent_ms, Some(since));
    }
    assert_eq!(world.own(&world.channel), ["early", "late"]);
}

#[tokio::test]
async fn request_that_was_lost_leaves_nothing_to_find() {
    let world = World::new().await;
    let adapter = world.adapter();
    let since = world.fake.control().now_ms();
    // The same words by somebody else, and our own other ones.
    world.fake.write(&world.channel, &world.anna, "answer");
    sent(&adapter, &world.place(), "another").await;
    let post = post("answer");
    let marker = marker(&adapter, "k1", &post);
    world.fake.control().script("send", [Fault::RequestLost]);
    assert_eq!(adapter.send(&world.place(), &post, &marker).await, Err(Failure::Unknown));
    assert_eq!(adapter.find(&world.place(), &marker, since).await, Ok(Found::Absent));
    // Without the permission to read the history, an empty one says nothing.
    world.fake.overwrite(&world.channel, &world.fake.me(), 0, READ_MESSAGE_HISTORY);
    assert_eq!(adapter.find(&world.place(), &marker, since).await, Ok(Found::CannotTell));
}

#[tokio::test]
async fn formatted_post_is_found_behind_many_messages_and_older_ones_are_not_taken_for_it() {
    let world = World::new().await;
    let adapter = world.adapter();
    let mut post = post("Done: *x*\n\n  code ");
    post.text.styles.push(Styled { range: 0..4, style: Style::Bold });
    let older = adapter.send(&world.place(), &post, &marker(&adapter, "k1", &post)).await.expect("sent");
    world.fake.control().pass(Duration::from_mins(5));
    let since = world.fake.control().now_ms();
    for number in 0..130 {
        world.fake.write(&world.channel, &world.anna, &number.to_string());
    }
    let sent = adapter.send(&world.place(), &post, &marker(&adapter, "k2", &post)).await.expect("sent");
    assert_ne!(sent.ids, older.ids);
    let found = adapter.find(&world.place(), &marker(&adapter, "k2", &post), since).await;
    assert_eq!(found, Ok(Found::Found(sent)));
}

/// Case 27: a wait of 40 s is reported with its bucket, and another chat is not delayed.
#[tokio::test]
async fn gateways_case_27_wait_holds_for_one_channel() {
    let world = World::new().await;
    let (adapter, other) = (world.adapter(), world.fake.add_channel(&world.guild));
    let (post, wait) = (post("final"), Duration::from_secs(40));
    let marker = marker(&adapter, "k1", &post);
    world.fake.control().script("send", [Fault::Refuse(Refusal::Wait(wait))]);
    let bucket = Some(format!("fake-send:{}", world.channel));
    assert_eq!(adapter.send(&world.place(), &post, &marker).await, Err(Failure::Wait { wait, bucket }));
    // One call: the adapter does not try again by itself.
    assert_eq!(world.fake.control().called("send").len(), 1);
    sent(&adapter, &place(&other), "elsewhere").await;
    world.fake.control().pass(wait);
    adapter.send(&world.place(), &post, &marker).await.expect("sent");
    assert_eq!(world.own(&world.channel), ["final"]);
}

/// Case 35: an edit that is too long is refused without a call. Then the old post is edited, and a new one has an id of its own.
#[tokio::test]
async fn gateways_case_35_edit_that_is_too_long_becomes_two_posts() {
    let world = World::new().await;
    let adapter = world.adapter();
    let id = sent(&adapter, &world.place(), "preview").await;
    let long = "word ".repeat(500);
    let whole = post(&long);
    let edited = adapter.edit(&world.place(), &id, &whole, &marker(&adapter, "k1", &whole)).await;
    assert_eq!(edited, Err(Failure::Refused(Refused::TooLong)));
    assert_eq!(world.fake.control().called("edit"), Vec::<Value>::new());
    let (first, rest) = long.split_at(1_500);
    let edited = adapter.edit(&world.place(), &id, &post(first), &marker(&adapter, "k2", &post(first))).await;
    assert_eq!(edited.map(|edited| edited.ids), Ok(Vec::new()));
    let more = sent(&adapter, &world.place(), rest).await;
    assert_ne!(more, id);
    assert_eq!(world.own(&world.channel), [first.trim(), rest.trim()]);
    // The same edit again, after a lost answer, is no error.
    world.fake.control().script("edit", [Fault::AnswerLost]);
    let again =
        async || adapter.edit(&world.place(), &id, &post("x"), &marker(&adapter, "k3", &post("x"))).await;
    assert_eq!(again().await, Err(Failure::Unknown));
    assert!(again().await.is_ok());
    assert_eq!(world.own(&world.channel), ["x", rest.trim()]);
}

/// Case 31: an answer with all kinds of text is split by the adapter's own length, and each piece is accepted.
#[tokio::test]
async fn gateways_case_31_pieces_of_a_long_answer_are_accepted_as_they_are() {
    let world = World::new().await;
    let adapter = world.adapter();
    let markdown = format!(
        "# Title\n\n{}\n\n```rust\n{}\n```\n\n> {}\n",
        "snake_case *bold* [x](https://a.example) 😀 ".repeat(90),
        "let x = 1; // * _ `\n".repeat(150),
        "_".repeat(1_500),
    );
    let whole = retake_gateway::text::parse(&markdown);
    let limit = adapter.capabilities().longest;
    let pieces = retake_gateway::text::split(&whole, limit, &|text| adapter.length(text));
    assert!(pieces.len() > 3, "{}", pieces.len());
    let mut words = String::new();
    for (number, text) in pieces.into_iter().enumerate() {
        assert!(adapter.length(&text) <= limit);
        words += &text.text;
        let post = Outgoing { text, ..Outgoing::default() };
        adapter
            .send(&world.place(), &post, &marker(&adapter, &format!("k{number}"), &post))
            .await
            .expect("sent");
    }
    // Only white space is lost between the pieces.
    let bare = |text: &str| text.split_whitespace().collect::<String>();
    assert_eq!(bare(&words), bare(&whole.text));
}

#[tokio::test]
async fn edit_of_a_missing_message_and_send_to_a_missing_channel_say_different_things() {
    let world = World::new().await;
    let adapter = world.adapter();
    let post = post("x");
    let marker = marker(&adapter, "k1", &post);
    assert_eq!(adapter.edit(&world.place(), "123", &post, &marker).await, Err(Failure::NotFound));
    let refused = Failure::Refused(Refused::NotPermitted);
    assert_eq!(adapter.send(&place("123"), &post, &marker).await, Err(refused.clone()));
    world.fake.overwrite(&world.channel, &world.fake.me(), 0, VIEW_CHANNEL);
    assert_eq!(adapter.send(&world.place(), &post, &marker).await, Err(refused));
    let odd = Marker { key: "k".to_owned(), digest: String::new() };
    assert_eq!(adapter.send(&place("../x"), &post, &odd).await, Err(Failure::Refused(Refused::Other)));
}

#[tokio::test]
async fn thread_gets_its_own_posts_and_a_locked_one_refuses_them() {
    let world = World::new().await;
    let (adapter, inner) = (world.adapter(), world.fake.add_thread(&world.channel, &world.anna));
    let place = thread(&world.channel, &inner);
    sent(&adapter, &place, "in the thread").await;
    assert_eq!(
        (world.own(&inner), world.own(&world.channel)),
        (vec!["in the thread".to_owned()], Vec::new())
    );
    // Sending opens an archived thread.
    world.fake.set_thread(&inner, true, false);
    sent(&adapter, &place, "again").await;
    assert!(!world.fake.is_archived(&inner));
    world.fake.set_thread(&inner, true, true);
    let post = post("refused");
    let refused = adapter.send(&place, &post, &marker(&adapter, "k9", &post)).await;
    assert_eq!(refused, Err(Failure::Refused(Refused::ClosedThread)));
    adapter.typing(&place).await.expect("typing");
}
