//! Posts and edits: their arguments, and what each failure means.

use std::time::Duration;

use retake_fakes::{Fault, Refusal};
use retake_gateway::{
    Adapter as _, Button, Failure, Found, Outgoing, Refused, SentFile, Style, Styled, StyledText,
};
use retake_wire::chat::Place;
use serde_json::json;

use super::{ANNA, GROUP, adapter, marker, place, post, start};

/// Case 18.
#[tokio::test]
async fn three_chunks_have_ids_in_order() {
    let (fake, adapter) = start().await;
    let mut ids = Vec::new();
    for text in ["one", "two", "three"] {
        let sent = adapter.send(&place(GROUP), &post(text), &marker()).await.unwrap();
        assert_eq!(sent.sent_ms, Some(fake.control().now_ms()));
        ids.extend(sent.ids);
    }
    let there: Vec<String> = fake.posts(GROUP).iter().map(ToString::to_string).collect();
    assert_eq!(ids, there);
}

#[tokio::test]
async fn post_has_entities_a_keyboard_and_no_preview() {
    let (fake, adapter) = start().await;
    let text = StyledText {
        text: "💡 see https".into(),
        styles: vec![
            Styled { range: 5..8, style: Style::Bold },
            Styled { range: 9..14, style: Style::Link("https://a.example/".into()) },
        ],
    };
    let button = |label: &str, data: &str| Button { label: label.into(), data: data.into() };
    let post = Outgoing {
        text,
        reply_to: Some("4711".into()),
        buttons: vec![vec![button("Yes", "y-1"), button("No", "n-1")]],
        is_silent: true,
        file: None,
    };
    let topic = Place { thread: Some("8".into()), ..place(GROUP) };
    adapter.send(&topic, &post, &marker()).await.unwrap();
    let expected = json!({
        "chat_id": GROUP,
        "text": "💡 see https",
        "entities": [
            {"type": "bold", "offset": 3, "length": 3},
            {"type": "text_link", "offset": 7, "length": 5, "url": "https://a.example/"},
        ],
        "link_preview_options": {"is_disabled": true},
        "disable_notification": true,
        "message_thread_id": 8,
        "reply_parameters": {"message_id": 4711, "allow_sending_without_reply": true},
        "reply_markup": {"inline_keyboard": [[
            {"text": "Yes", "callback_data": "y-1"}, {"text": "No", "callback_data": "n-1"},
        ]]},
    });
    assert_eq!(fake.control().called("sendMessage"), [expected]);
}

#[tokio::test]
async fn file_is_sent_with_its_caption() {
    let (fake, adapter) = start().await;
    let file =
        SentFile { name: "answer.md".into(), media_type: "text/markdown".into(), bytes: b"# Hi".to_vec() };
    let with_file = |text: &str| Outgoing { file: Some(file.clone()), ..post(text) };
    let sent = adapter.send(&place(ANNA), &with_file("7"), &marker()).await.unwrap();
    let called = fake.control().called("sendDocument").remove(0);
    let expected = json!({"file_name": "answer.md", "mime_type": "text/markdown", "file_size": 4});
    assert_eq!((&called["document"], &called["caption"]), (&expected, &json!("7")));
    let too_long = adapter.send(&place(ANNA), &with_file(&"x".repeat(1025)), &marker()).await;
    assert_eq!(too_long, Err(Failure::Refused(Refused::TooLong)));
    adapter.edit(&place(ANNA), &sent.ids[0], &with_file("8"), &marker()).await.unwrap();
    assert_eq!(fake.message(ANNA, sent.ids[0].parse().unwrap()).unwrap()["caption"], "8");
}

/// Case 25.
#[tokio::test]
async fn lost_answer_is_unknown_and_cannot_be_found() {
    let (fake, adapter) = start().await;
    fake.control().script("sendMessage", [Fault::AnswerLost, Fault::RequestLost]);
    let (chat, sent) = (place(GROUP), post("hi"));
    assert_eq!(adapter.send(&chat, &sent, &marker()).await, Err(Failure::Unknown));
    assert_eq!(fake.posts(GROUP).len(), 1);
    assert_eq!(adapter.send(&chat, &sent, &marker()).await, Err(Failure::Unknown));
    assert_eq!(fake.posts(GROUP).len(), 1);
    assert_eq!(adapter.find(&chat, &marker(), 0).await, Ok(Found::CannotTell));
    adapter.send(&chat, &sent, &marker()).await.unwrap();
    assert_eq!((fake.posts(GROUP).len(), fake.control().called("sendMessage").len()), (2, 3));
}

/// Case 27.
#[tokio::test]
async fn wait_is_what_the_platform_said() {
    let (fake, adapter) = start().await;
    let wait = Duration::from_secs(40);
    fake.control().script("sendMessage", [Fault::Refuse(Refusal::Wait(wait))]);
    let refused = adapter.send(&place(GROUP), &post("hi"), &marker()).await;
    assert_eq!(refused, Err(Failure::Wait { wait, bucket: None }));
    assert_eq!(fake.posts(GROUP).len(), 0);
    adapter.send(&place(ANNA), &post("hi"), &marker()).await.unwrap();
}

/// Cases 34 and 62.
#[tokio::test]
async fn refusals_are_classified() {
    let (fake, adapter) = start().await;
    let refused = |why| Failure::Refused(why);
    let rows = [
        (400, "Bad Request: can't parse entities: unsupported start tag", refused(Refused::BadFormat)),
        (400, "Bad Request: ENTITY_BOUNDS_INVALID", refused(Refused::BadFormat)),
        (400, "Bad Request: message is too long", refused(Refused::TooLong)),
        (400, "Bad Request: TOPIC_CLOSED", refused(Refused::ClosedThread)),
        (
            400,
            "Bad Request: not enough rights to send text messages to the chat",
            refused(Refused::NotPermitted),
        ),
        (400, "Bad Request: chat not found", refused(Refused::NotPermitted)),
        (400, "Bad Request: anything else", refused(Refused::Other)),
        (403, "Forbidden: bot was blocked by the user", refused(Refused::NotPermitted)),
        (404, "Not Found: method not found", refused(Refused::Other)),
        (404, "Not Found", Failure::BadToken),
        (401, "Unauthorized", Failure::BadToken),
        (500, "Internal Server Error", Failure::Unknown),
    ];
    for (code, description, failure) in rows {
        fake.refuse("sendMessage", code, description);
        let sent = adapter.send(&place(GROUP), &post("hi"), &marker()).await;
        assert_eq!(sent, Err(failure), "{code} {description}");
    }
    fake.control().script("sendMessage", [Fault::Refuse(Refusal::Status(502))]);
    assert_eq!(adapter.send(&place(GROUP), &post("hi"), &marker()).await, Err(Failure::Unknown));
    fake.close_topic(GROUP, 8);
    let topic = Place { thread: Some("8".into()), ..place(GROUP) };
    let closed = adapter.send(&topic, &post("hi"), &marker()).await;
    assert_eq!(closed, Err(Failure::Refused(Refused::ClosedThread)));
}

#[tokio::test]
async fn request_that_never_left_is_unreachable() {
    let (fake, _) = start().await;
    let base = fake.base();
    fake.end().await;
    let adapter = adapter(&base, retake_fakes::telegram::TOKEN);
    let sent = adapter.send(&place(GROUP), &post("hi"), &marker()).await;
    assert_eq!(sent, Err(Failure::Unreachable));
}

/// Cases 26 and 35: an edit with the same text succeeds, and one that is too long is refused without a call.
#[tokio::test]
async fn edit_replaces_the_text_and_its_keyboard() {
    let (fake, adapter) = start().await;
    let button = Button { label: "Stop".into(), data: "stop".into() };
    let first = Outgoing { buttons: vec![vec![button]], ..post("…") };
    let sent = adapter.send(&place(GROUP), &first, &marker()).await.unwrap();
    let id = &sent.ids[0];
    for _ in 0..2 {
        let edited = adapter.edit(&place(GROUP), id, &post("done"), &marker()).await.unwrap();
        assert_eq!(edited.ids, Vec::<String>::new());
        let message = fake.message(GROUP, id.parse().unwrap()).unwrap();
        assert_eq!((&message["text"], message.get("reply_markup")), (&json!("done"), None));
    }
    let too_long = adapter.edit(&place(GROUP), id, &post(&"é".repeat(4097)), &marker()).await;
    assert_eq!(too_long, Err(Failure::Refused(Refused::TooLong)));
    assert_eq!(fake.control().called("editMessageText").len(), 2);
    fake.forget(GROUP, id.parse().unwrap());
    let gone = adapter.edit(&place(GROUP), id, &post("again"), &marker()).await;
    assert_eq!(gone, Err(Failure::NotFound));
}

#[tokio::test]
async fn typing_is_shown_in_its_topic() {
    let (fake, adapter) = start().await;
    adapter.typing(&Place { thread: Some("8".into()), ..place(GROUP) }).await.unwrap();
    let expected = json!({"chat_id": GROUP, "action": "typing", "message_thread_id": 8});
    assert_eq!(fake.control().called("sendChatAction"), [expected]);
}
