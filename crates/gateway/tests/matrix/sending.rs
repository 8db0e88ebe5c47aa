//! What we send is there once, complete, in its thread, and notifies nobody.

use std::time::Duration;

use retake_gateway::matrix::{Matrix, MatrixConfig, login};
use retake_gateway::{Adapter as _, Failure, Found, Outgoing, Sent, Style, Styled, StyledText};
use serde_json::{Value, json};

use super::failing::Loses;
use super::people::{PASSWORD, Person, Two, marker, place, text};
use retake_fakes::synapse::Synapse;

fn bodies(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["content"]["body"].as_str().expect("a text")).collect()
}

/// Case 20.
#[tokio::test]
async fn lost_answer_is_found_by_sending_again_with_the_same_marker() {
    let two = Two::new().await;
    let loses = Loses::answers_of(Synapse::shared());
    let config = MatrixConfig { homeserver: loses.address(), ..two.bot.config() };
    let (post, marker) = (text("an answer"), marker());
    let sent = Matrix::new(config).unwrap().send(&two.place(), &post, &marker).await;
    assert_eq!(sent, Err(Failure::Unknown));
    // A new adapter, as after a crash.
    let Sent { ids, .. } = two.bot.adapter().send(&two.place(), &post, &marker).await.unwrap();
    let there = two.person.history(&two.room, "m.room.message").await;
    assert_eq!(bodies(&there), ["an answer"]);
    assert_eq!(there[0]["event_id"], json!(ids[0]));
}

/// Case 21.
#[tokio::test]
async fn same_marker_is_one_message_after_a_login_with_the_stored_device_and_two_without_it() {
    let two = Two::new().await;
    let (post, marker, password) = (text("an answer"), marker(), PASSWORD.to_owned().into());
    let first = two.adapter.send(&two.place(), &post, &marker).await.unwrap();
    let send_as = async |device: Option<&str>| {
        let login = login(&Synapse::shared().address(), &two.bot.id, &password, device).await.unwrap();
        assert_eq!(login.user, two.bot.id);
        let config = MatrixConfig { token: login.token, device: Some(login.device), ..two.bot.config() };
        Matrix::new(config).unwrap().send(&two.place(), &post, &marker).await.unwrap()
    };
    assert_eq!(send_as(Some(&two.bot.device)).await, first);
    assert_eq!(two.person.history(&two.room, "m.room.message").await.len(), 1);
    assert_ne!(send_as(None).await, first);
    assert_eq!(two.person.history(&two.room, "m.room.message").await.len(), 2);
}

#[tokio::test]
async fn token_of_another_device_is_noticed() {
    let bot = Person::new("bot").await;
    let other = MatrixConfig { device: Some("OTHER".into()), ..bot.config() };
    assert_eq!(Matrix::new(other).unwrap().identify().await, Err(Failure::BadToken));
    let identity = bot.adapter().identify().await.unwrap();
    assert_eq!(identity.id, bot.id);
    assert!(!identity.name.contains(['@', ':']), "{}", identity.name);
    let wrong = "wrong".to_owned().into();
    let refused = login(&Synapse::shared().address(), &bot.id, &wrong, None).await;
    assert!(matches!(refused, Err(Failure::BadToken)), "{refused:?}");
}

/// Case 27.
#[tokio::test]
async fn rate_limit_is_reported_with_its_wait_and_the_post_is_sent_after_it() {
    let server = Synapse::start("rc_message: {per_second: 1, burst_count: 1}");
    let (person, bot) = (Person::on(&server, "anna").await, Person::on(&server, "bot").await);
    let room = person.room(&[&bot]).await;
    bot.join(&room).await;
    let (adapter, place, marker) = (bot.adapter(), place(&room, None), marker());
    let mut limited = None;
    for number in 0..10 {
        match adapter.send(&place, &text(&number.to_string()), &super::people::marker()).await {
            Ok(_) => {}
            other => {
                limited = Some(other);
                break;
            }
        }
    }
    let Some(Err(Failure::Wait { wait, bucket: None })) = limited else { panic!("{limited:?}") };
    assert!(wait > Duration::ZERO && wait <= Duration::from_secs(5), "{wait:?}");
    tokio::time::sleep(wait).await;
    adapter.send(&place, &text("the last"), &marker).await.unwrap();
    let there = person.history(&room, "m.room.message").await;
    assert_eq!(bodies(&there).last(), Some(&"the last"));
}

/// Case 32.
#[tokio::test]
async fn longest_texts_with_formatting_fit_into_an_event_and_so_do_their_edits() {
    let two = Two::new().await;
    let limit = two.adapter.capabilities().longest;
    for piece in ["&", "\"", "\n", "\u{7}", "x", "語", "😀", "\\<b>"] {
        let long = piece.repeat(limit / piece.len());
        let bold = |(at, c): (usize, char)| Styled { range: at..at + c.len_utf8(), style: Style::Bold };
        for step in [2, long.len()] {
            let styles = long.char_indices().step_by(step).map(bold).collect();
            let post = Outgoing { text: StyledText { text: long.clone(), styles }, ..Outgoing::default() };
            let sent = two.adapter.send(&two.place(), &post, &marker()).await.unwrap();
            let edit = two.adapter.edit(&two.place(), &sent.ids[0], &post, &marker()).await.unwrap();
            let shown = long.replace('\u{7}', "\u{fffd}");
            let sent = two.person.event(&two.room, &sent.ids[0]).await;
            assert_eq!(sent["content"]["body"], json!(shown));
            let edit = two.person.event(&two.room, &edit.ids[0]).await;
            assert_eq!(edit["content"]["m.new_content"]["body"], json!(shown));
            assert!(edit.to_string().len() < 65_536, "{piece:?}: {}", edit.to_string().len());
        }
    }
    // As long as a content may be: the server needs no more than we leave to it.
    let longest = two.adapter.send(&two.place(), &text(&"x".repeat(59_850)), &marker()).await;
    assert!(longest.is_ok(), "{longest:?}");
}

#[tokio::test]
async fn post_is_found_by_its_marker_in_the_room_and_in_a_thread() {
    let two = Two::new().await;
    let root = two.person.say(&two.room, "root").await;
    for place in [two.place(), place(&two.room, Some(&root))] {
        let marker = marker();
        // Somebody else may copy a marker, but not before it is there.
        let copied = json!({ "msgtype": "m.text", "body": "x", "retake.marker": marker.key });
        two.person.send(&two.room, &copied).await;
        assert_eq!(two.adapter.find(&place, &marker, 0).await, Ok(Found::Absent));
        let Sent { ids, .. } = two.adapter.send(&place, &text("a post"), &marker).await.unwrap();
        let sent = two.person.event(&two.room, &ids[0]).await["origin_server_ts"].as_i64();
        for number in 0..3 {
            two.adapter.send(&place, &text(&number.to_string()), &super::people::marker()).await.unwrap();
        }
        let since = sent.unwrap() - 1_000;
        let found = Found::Found(Sent { ids: ids.clone(), sent_ms: sent });
        assert_eq!(two.adapter.find(&place, &marker, since).await, Ok(found));
        let edited = super::people::marker();
        let edit = two.adapter.edit(&place, &ids[0], &text("edited"), &edited).await.unwrap();
        let Ok(Found::Found(found)) = two.adapter.find(&place, &edited, since).await else {
            panic!("not found")
        };
        assert_eq!(found.ids, edit.ids);
    }
}

#[tokio::test]
async fn post_is_found_behind_more_than_a_page_of_others() {
    let two = Two::new().await;
    let marker = marker();
    let first = two.adapter.send(&two.place(), &text("a post"), &marker).await.unwrap();
    for number in 0..105 {
        two.bot.say(&two.room, &number.to_string()).await;
    }
    let found = two.adapter.find(&two.place(), &marker, 0).await;
    assert!(matches!(&found, Ok(Found::Found(sent)) if sent.ids == first.ids), "{found:?}");
    let later = i64::MAX;
    assert_eq!(
        two.adapter.find(&two.place(), &marker, later).await,
        Ok(Found::Absent),
        "it need not look that far"
    );
}

#[tokio::test]
async fn post_is_in_its_thread_replies_to_its_message_and_mentions_nobody() {
    let two = Two::new().await;
    let root = two.person.say(&two.room, "root").await;
    let asked = two.person.say(&two.room, "asked").await;
    let reply = Outgoing { reply_to: Some(asked.clone()), ..text("@room hello") };
    let silent = Outgoing { is_silent: true, ..text("quiet") };
    let send = async |place: &_, post: &_| {
        let Sent { ids, .. } = two.adapter.send(place, post, &marker()).await.unwrap();
        two.person.event(&two.room, &ids[0]).await["content"].clone()
    };
    let threaded = send(&place(&two.room, Some(&root)), &reply).await;
    assert_eq!(threaded["m.relates_to"]["event_id"], json!(root));
    assert_eq!(threaded["m.relates_to"]["m.in_reply_to"]["event_id"], json!(asked));
    assert_eq!((&threaded["body"], &threaded["m.mentions"]), (&json!("@room hello"), &json!({})));
    let plain = send(&two.place(), &silent).await;
    assert_eq!((&plain["m.relates_to"], &plain["msgtype"]), (&Value::Null, &json!("m.notice")));
    // The server's own notion of the thread.
    let path = format!("/_matrix/client/v1/rooms/{}/relations/{root}/m.thread", two.room);
    let address = format!("{}{}", Synapse::shared().address(), path.replace('$', "%24").replace('!', "%21"));
    let request = super::people::client().get(address).bearer_auth(&two.person.token);
    let thread: Value = request.send().await.unwrap().json().await.unwrap();
    assert_eq!(thread["chunk"].as_array().map(Vec::len), Some(1), "{thread}");
}

#[tokio::test]
async fn edit_replaces_the_text_for_the_server_and_one_of_a_deleted_post_is_not_made() {
    let two = Two::new().await;
    let Sent { ids, .. } = two.adapter.send(&two.place(), &text("first"), &marker()).await.unwrap();
    let edit = two.adapter.edit(&two.place(), &ids[0], &text("second"), &marker()).await.unwrap();
    let shown = two.person.event(&two.room, &ids[0]).await;
    assert_eq!(shown["unsigned"]["m.relations"]["m.replace"]["event_id"], json!(edit.ids[0]), "{shown}");
    two.adapter.delete(&two.place(), &ids[0]).await.unwrap();
    let late = two.adapter.edit(&two.place(), &ids[0], &text("third"), &marker()).await;
    assert_eq!(late, Err(Failure::NotFound));
    let unknown = two.adapter.edit(&two.place(), "$unknown", &text("third"), &marker()).await;
    assert_eq!(unknown, Err(Failure::NotFound));
    assert_eq!(two.person.history(&two.room, "m.room.message").await.len(), 2);
}

#[tokio::test]
async fn typing_is_shown() {
    let two = Two::new().await;
    two.adapter.typing(&two.place()).await.unwrap();
    let sync = two.person.get(&["sync"]).await;
    let shown = sync["rooms"]["join"][&two.room]["ephemeral"]["events"].as_array().unwrap().clone();
    let typing = shown.iter().find(|event| event["type"] == "m.typing").expect("typing");
    assert_eq!(typing["content"]["user_ids"], json!([two.bot.id]));
}
