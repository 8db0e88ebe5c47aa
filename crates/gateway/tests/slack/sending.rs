//! Posts and edits: their arguments, what each failure means, and how a lost answer is found.

use std::time::Duration;

use retake_fakes::{Fault, Refusal};
use retake_gateway::{
    Adapter as _, Button, Failure, Found, Outgoing, Probe, Refused, Resend, SentFile, Style, Styled,
    StyledText,
};
use serde_json::{Value, json};

use super::{CHANNEL, DIRECT, marker, place, post, start};

/// Case 18.
#[tokio::test]
async fn three_chunks_have_ids_in_order() {
    let (fake, adapter) = start().await;
    let mut ids = Vec::new();
    for text in ["one", "two", "three"] {
        let sent = adapter.send(&place(CHANNEL, None), &post(text), &marker(text)).await.unwrap();
        assert_eq!(sent.sent_ms, Some(fake.control().now_ms()));
        ids.extend(sent.ids);
    }
    assert_eq!(ids, fake.posts(CHANNEL));
}

#[tokio::test]
async fn post_has_marks_a_key_and_no_preview() {
    let (fake, adapter) = start().await;
    let text = StyledText {
        text: "<!channel> hi".into(),
        styles: vec![Styled { range: 11..13, style: Style::Bold }],
    };
    let post = Outgoing { text, ..Outgoing::default() };
    adapter.send(&place(CHANNEL, Some("5.000100")), &post, &marker("k7")).await.unwrap();
    let expected = json!({
        "channel": CHANNEL, "thread_ts": "5.000100", "text": "&lt;!channel&gt; *hi*", "blocks": [],
        "metadata": {"event_type": "retake_post", "event_payload": {"key": "k7"}},
        "unfurl_links": "false", "unfurl_media": "false",
    });
    assert_eq!(fake.control().called("chat.postMessage"), [expected]);
}

#[tokio::test]
async fn buttons_come_with_the_text_in_sections() {
    let (fake, adapter) = start().await;
    let button = |label: &str, data: &str| Button { label: label.into(), data: data.into() };
    let rows = vec![vec![button("Yes", "y-1"), button("No", "n-1")], vec![button("Later", "l-1")]];
    let long = "word ".repeat(700);
    let with_buttons = Outgoing { buttons: rows, ..post(&long) };
    let sent = adapter.send(&place(DIRECT, None), &with_buttons, &marker("k1")).await.unwrap();
    let blocks = fake.message(DIRECT, &sent.ids[0]).unwrap()["blocks"].clone();
    let kinds: Vec<&Value> = blocks.as_array().unwrap().iter().map(|block| &block["type"]).collect();
    assert_eq!(kinds, ["section", "section", "actions", "actions"]);
    let text: String =
        (0..2).map(|number| blocks[number]["text"]["text"].as_str().unwrap().to_owned()).collect();
    assert_eq!(text, long);
    assert_eq!(blocks[2]["elements"][1]["value"], "n-1");
    // An edit without buttons takes them away.
    adapter.edit(&place(DIRECT, None), &sent.ids[0], &post("done"), &marker("k2")).await.unwrap();
    let edited = fake.message(DIRECT, &sent.ids[0]).unwrap();
    assert_eq!((&edited["text"], &edited["blocks"]), (&json!("done"), &json!([])));
}

/// Case 23.
#[tokio::test]
async fn lost_answer_is_found_by_its_marker() {
    let (fake, adapter) = start().await;
    assert_eq!(adapter.capabilities().resend, [Resend::Find, Resend::Send]);
    let (root, _) = fake.says(CHANNEL, "U2", json!({"text": "root"}));
    for place in [place(CHANNEL, Some(&root)), place(CHANNEL, None), place(DIRECT, None)] {
        fake.control().script("chat.postMessage", [Fault::None, Fault::AnswerLost, Fault::RequestLost]);
        let since_ms = fake.control().now_ms();
        adapter.send(&place, &post("first"), &marker("k1")).await.unwrap();
        assert_eq!(adapter.send(&place, &post("second"), &marker("k2")).await, Err(Failure::Unknown));
        assert_eq!(adapter.send(&place, &post("third"), &marker("k3")).await, Err(Failure::Unknown));
        let there = fake.posts(&place.chat);
        let Ok(Found::Found(found)) = adapter.find(&place, &marker("k2"), since_ms).await else {
            panic!("it was sent to {place:?}");
        };
        assert_eq!((found.ids.as_slice(), found.sent_ms), (&there[there.len() - 1..], Some(since_ms)));
        assert_eq!(adapter.find(&place, &marker("k3"), since_ms).await, Ok(Found::Absent));
    }
}

/// Case 23: a marker that somebody else wrote is none, and an unread rest is no proof.
#[tokio::test]
async fn only_our_own_markers_count() {
    let (fake, adapter) = start().await;
    let forged = json!({
        "text": "x", "metadata": {"event_type": "retake_post", "event_payload": {"key": "k1"}},
    });
    fake.says(DIRECT, "U2", forged);
    let direct = place(DIRECT, None);
    assert_eq!(adapter.find(&direct, &marker("k1"), fake.control().now_ms()).await, Ok(Found::Absent));
    for _ in 0..2001 {
        fake.says(DIRECT, "U2", json!({"text": "x"}));
    }
    assert_eq!(adapter.find(&direct, &marker("k1"), fake.control().now_ms()).await, Ok(Found::CannotTell));
    assert_eq!(fake.control().called("conversations.history").len(), 11);
}

#[tokio::test]
async fn file_has_the_ids_of_its_message_and_of_itself() {
    let (fake, adapter) = start().await;
    let file = SentFile { name: "a.md".into(), media_type: "text/markdown".into(), bytes: b"# Hi".to_vec() };
    let with_file = Outgoing { file: Some(file), ..post("see") };
    let sent = adapter.send(&place(CHANNEL, None), &with_file, &marker("k1")).await.unwrap();
    assert_eq!(sent.ids, [fake.posts(CHANNEL)[0].clone(), "F000".to_owned()]);
    assert_eq!(fake.message(CHANNEL, &sent.ids[0]).unwrap()["text"], "see");
    assert_eq!(fake.control().called("upload"), [json!({"file": "F000", "length": 4})]);
    // The answer of the last call is lost: the file says where it is.
    fake.control().script("files.completeUploadExternal", [Fault::AnswerLost]);
    let again = adapter.send(&place(CHANNEL, None), &with_file, &marker("k2")).await.unwrap();
    assert_eq!(again.ids, [fake.posts(CHANNEL)[1].clone(), "F001".to_owned()]);
    // Before that call, nothing is shared.
    fake.control().script("files.getUploadURLExternal", [Fault::AnswerLost]);
    let lost = adapter.send(&place(CHANNEL, None), &with_file, &marker("k3")).await;
    assert_eq!((lost, fake.posts(CHANNEL).len()), (Err(Failure::Unreachable), 2));
    let found = adapter.find(&place(CHANNEL, None), &marker("k3"), fake.control().now_ms()).await;
    assert_eq!(found, Ok(Found::CannotTell));
}

/// Case 35: Slack would truncate a text that is too long.
#[tokio::test]
async fn text_that_would_be_truncated_is_refused_without_a_call() {
    let (fake, adapter) = start().await;
    let direct = place(DIRECT, None);
    let too_long = Err(Failure::Refused(Refused::TooLong));
    assert_eq!(adapter.send(&direct, &post(&"&".repeat(8001)), &marker("k1")).await, too_long);
    assert_eq!(adapter.edit(&direct, "5.1", &post(&"x".repeat(40_001)), &marker("k1")).await, too_long);
    assert_eq!(fake.control().calls().len(), 0);
    adapter.send(&direct, &post(&"&".repeat(8000)), &marker("k1")).await.unwrap();
}

/// Case 27.
#[tokio::test]
async fn wait_is_what_the_platform_said() {
    let (fake, adapter) = start().await;
    let wait = Duration::from_secs(40);
    fake.control().script("chat.postMessage", [Fault::Refuse(Refusal::Wait(wait))]);
    let refused = adapter.send(&place(CHANNEL, None), &post("hi"), &marker("k1")).await;
    assert_eq!(refused, Err(Failure::Wait { wait, bucket: None }));
    adapter.send(&place(DIRECT, None), &post("hi"), &marker("k1")).await.unwrap();
}

/// Cases 34 and 62.
#[tokio::test]
async fn refusals_are_classified() {
    let (fake, adapter) = start().await;
    let refused = |why| Failure::Refused(why);
    let rows = [
        ("invalid_blocks", refused(Refused::BadFormat)),
        ("msg_too_long", refused(Refused::TooLong)),
        ("restricted_action_thread_locked", refused(Refused::ClosedThread)),
        ("is_archived", refused(Refused::NotPermitted)),
        ("missing_scope", refused(Refused::NotPermitted)),
        ("some_new_code", refused(Refused::Other)),
        ("token_revoked", Failure::BadToken),
        ("internal_error", Failure::Unknown),
    ];
    for (code, failure) in rows {
        fake.refuse("chat.postMessage", code);
        let sent = adapter.send(&place(CHANNEL, None), &post("hi"), &marker("k1")).await;
        assert_eq!(sent, Err(failure), "{code}");
    }
    fake.control().script("chat.postMessage", [Fault::Refuse(Refusal::Status(503))]);
    let sent = adapter.send(&place(CHANNEL, None), &post("hi"), &marker("k1")).await;
    assert_eq!(sent, Err(Failure::Unknown));
    let elsewhere = adapter.send(&place("C404", None), &post("hi"), &marker("k1")).await;
    assert_eq!(elsewhere, Err(Failure::Refused(Refused::NotPermitted)));
}

/// Case 36: where the final text can't be edited in, the callers send it again.
#[tokio::test]
async fn edit_says_why_it_failed() {
    let (fake, adapter) = start().await;
    let direct = place(DIRECT, None);
    let gone = adapter.edit(&direct, "5.000100", &post("x"), &marker("k1")).await;
    assert_eq!(gone, Err(Failure::NotFound));
    let (theirs, _) = fake.says(DIRECT, "U2", json!({"text": "theirs"}));
    let refused = adapter.edit(&direct, &theirs, &post("x"), &marker("k1")).await;
    assert_eq!(refused, Err(Failure::Refused(Refused::NotPermitted)));
    fake.refuse("chat.update", "edit_window_closed");
    let late = adapter.edit(&direct, &theirs, &post("x"), &marker("k1")).await;
    assert_eq!(late, Err(Failure::Refused(Refused::TooOld)));
}

#[tokio::test]
async fn probe_knows_memberships() {
    let (fake, adapter) = start().await;
    assert_eq!(adapter.probe(&place(CHANNEL, None)).await, Ok(Probe::Yes { bulk: false }));
    assert_eq!(adapter.probe(&place(DIRECT, None)).await, Ok(Probe::Yes { bulk: false }));
    assert_eq!(adapter.probe(&place("C404", None)).await, Ok(Probe::Unknown));
    fake.set_channel(CHANNEL, "is_member", json!(false));
    assert_eq!(adapter.probe(&place(CHANNEL, None)).await, Ok(Probe::Unknown));
    fake.set_channel(CHANNEL, "is_archived", json!(true));
    assert_eq!(adapter.probe(&place(CHANNEL, None)).await, Ok(Probe::NotPermitted));
    assert_eq!(adapter.moderates(&place(CHANNEL, None), "U2").await, Ok(false));
}
