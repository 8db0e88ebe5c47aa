//! Deletions, and who may delete.

use reqwest::Method;
use retake_gateway::matrix::{Matrix, MatrixConfig};
use retake_gateway::{Adapter as _, Deleted, Failure, Probe, Refused, Sent};
use serde_json::{Value, json};

use super::failing::Loses;
use super::people::{Person, Two, marker, text};
use retake_fakes::synapse::Synapse;

/// Case 56.
#[tokio::test]
async fn edited_post_is_gone_for_everybody_when_it_and_all_its_edits_are_redacted() {
    let two = Two::new().await;
    let reader = Person::new("ben").await;
    two.person.post(&["rooms", &two.room, "invite"], &json!({ "user_id": reader.id })).await;
    reader.join(&two.room).await;
    let said = two.person.say(&two.room, "question").await;
    let Sent { mut ids, .. } = two.adapter.send(&two.place(), &text("wording 0"), &marker()).await.unwrap();
    let original = ids[0].clone();
    for number in 1..=5 {
        let new = text(&format!("wording {number}"));
        ids.extend(two.adapter.edit(&two.place(), &original, &new, &marker()).await.unwrap().ids);
    }
    assert_eq!(ids.len(), 6);
    assert!(readable(&two.person, &two.room, &ids, &said).await.contains("wording 3"));
    two.adapter.delete(&two.place(), &original).await.unwrap();
    assert!(
        readable(&two.person, &two.room, &ids, &said).await.contains("wording 3"),
        "a redaction leaves edits readable"
    );
    for id in &ids[1..] {
        assert_eq!(two.adapter.delete(&two.place(), id).await, Ok(Deleted::Emptied));
    }
    // Synapse answers the same first sync of the same person from a cache for two minutes [T].
    let left = readable(&reader, &two.room, &ids, &said).await;
    let at = left.find("wording").map(|at| &left[left.floor_char_boundary(at.saturating_sub(500))..][..600]);
    assert!(left.contains("question") && at.is_none(), "{at:?}");
    assert_eq!(two.person.history(&two.room, "m.room.redaction").await.len(), 6);
}

/// All that a person can read of these events.
async fn readable(person: &Person, room: &str, ids: &[String], before: &str) -> String {
    let mut texts = String::new();
    for id in ids {
        for path in [&["rooms", room, "event", id][..], &["rooms", room, "context", id]] {
            let (status, json) = person.call(Method::GET, path, None).await;
            assert_eq!(status, 200);
            texts += &json.to_string();
        }
        let address = format!(
            "{}/_matrix/client/v1/rooms/{}/relations/{}",
            Synapse::shared().address(),
            room.replace('!', "%21"),
            id.replace('$', "%24")
        );
        let request = super::people::client().get(address).bearer_auth(&person.token);
        texts += &request.send().await.expect("an answer").text().await.expect("a text");
    }
    let paths = [&["sync"][..], &["rooms", room, "messages"], &["rooms", room, "context", before]];
    for path in paths {
        texts += &person.get(path).await.to_string();
    }
    texts
}

/// Case 57.
#[tokio::test]
async fn room_where_redactions_need_a_higher_level_says_so_before_any_attempt() {
    let two = Two::new().await;
    assert_eq!(two.adapter.probe(&two.place()).await, Ok(Probe::Yes { bulk: false }));
    let Sent { ids, .. } = two.adapter.send(&two.place(), &text("a post"), &marker()).await.unwrap();
    let mut levels = two.person.get(&["rooms", &two.room, "state", "m.room.power_levels", ""]).await;
    levels["events"]["m.room.redaction"] = json!(60);
    two.person.put(&["rooms", &two.room, "state", "m.room.power_levels", ""], &levels).await;
    assert_eq!(two.adapter.probe(&two.place()).await, Ok(Probe::NotPermitted));
    let refused = two.adapter.delete(&two.place(), &ids[0]).await;
    assert_eq!(refused, Err(Failure::Refused(Refused::NotPermitted)), "the server agrees");
    levels["users"][&two.bot.id] = json!(60);
    two.person.put(&["rooms", &two.room, "state", "m.room.power_levels", ""], &levels).await;
    assert_eq!(two.adapter.probe(&two.place()).await, Ok(Probe::Yes { bulk: false }));
    assert_eq!(two.adapter.delete(&two.place(), &ids[0]).await, Ok(Deleted::Emptied));
}

/// Case 58.
#[tokio::test]
async fn post_that_is_redacted_again_after_a_lost_answer_is_one_stub() {
    let two = Two::new().await;
    let Sent { ids, .. } = two.adapter.send(&two.place(), &text("a post"), &marker()).await.unwrap();
    let loses = Loses::answers_of(Synapse::shared());
    let config = MatrixConfig { homeserver: loses.address(), ..two.bot.config() };
    let lost = Matrix::new(config).unwrap().delete(&two.place(), &ids[0]).await;
    assert_eq!(lost, Err(Failure::Unknown));
    assert_eq!(two.bot.adapter().delete(&two.place(), &ids[0]).await, Ok(Deleted::Emptied));
    let redactions = || two.person.history(&two.room, "m.room.redaction");
    assert_eq!(redactions().await.len(), 1, "the server knows the request again");
    // The same after that was forgotten.
    two.person.redact(&two.room, &ids[0]).await;
    assert_eq!(two.adapter.delete(&two.place(), &ids[0]).await, Ok(Deleted::Emptied));
    let stubs = two.person.history(&two.room, "m.room.message").await;
    assert_eq!(stubs.iter().map(|event| &event["content"]).collect::<Vec<_>>(), [&json!({})]);
}

#[tokio::test]
async fn message_that_is_not_there_is_already_gone() {
    let two = Two::new().await;
    let unknown = format!("${}", "a".repeat(43));
    assert_eq!(two.adapter.delete(&two.place(), &unknown).await, Ok(Deleted::AlreadyGone));
    let other = Refused::Other;
    for id in ["", "..", "no-event"] {
        assert_eq!(two.adapter.delete(&two.place(), id).await, Err(Failure::Refused(other)), "{id}");
    }
}

#[tokio::test]
async fn bot_that_was_removed_may_not_delete_or_send() {
    let two = Two::new().await;
    let Sent { ids, .. } = two.adapter.send(&two.place(), &text("a post"), &marker()).await.unwrap();
    two.person.post(&["rooms", &two.room, "kick"], &json!({ "user_id": two.bot.id })).await;
    let refused = Failure::Refused(Refused::NotPermitted);
    assert_eq!(two.adapter.probe(&two.place()).await, Ok(Probe::NotPermitted));
    assert_eq!(two.adapter.delete(&two.place(), &ids[0]).await, Err(refused.clone()));
    assert_eq!(two.adapter.send(&two.place(), &text("x"), &marker()).await, Err(refused));
    let stranger = Person::new("stranger").await;
    assert_eq!(stranger.adapter().probe(&two.place()).await, Ok(Probe::NotPermitted));
}

#[tokio::test]
async fn moderator_has_the_level_to_redact_and_is_in_the_room() {
    for version in ["11", "12"] {
        let (anna, bot) = (Person::new("anna").await, Person::new("bot").await);
        let (ben, mod_) = (Person::new("ben").await, Person::new("mod").await);
        let rest = json!({ "room_version": version });
        let room = anna.room_with(&[&bot, &ben, &mod_], rest).await;
        for person in [&bot, &ben, &mod_] {
            person.join(&room).await;
        }
        let mut levels: Value = anna.get(&["rooms", &room, "state", "m.room.power_levels", ""]).await;
        levels["users"][&mod_.id] = json!(50);
        anna.put(&["rooms", &room, "state", "m.room.power_levels", ""], &levels).await;
        let (adapter, place) = (bot.adapter(), super::people::place(&room, None));
        for (person, expected) in [(&anna, true), (&mod_, true), (&ben, false), (&bot, false)] {
            assert_eq!(adapter.moderates(&place, &person.id).await, Ok(expected), "{} {version}", person.id);
        }
        mod_.post(&["rooms", &room, "leave"], &json!({})).await;
        assert_eq!(adapter.moderates(&place, &mod_.id).await, Ok(false));
    }
}

#[tokio::test]
async fn moderator_can_delete_messages_of_people() {
    let two = Two::new().await;
    let said = two.person.say(&two.room, "a prompt").await;
    let refused = two.adapter.delete(&two.place(), &said).await;
    assert_eq!(refused, Err(Failure::Refused(Refused::NotPermitted)));
    let mut levels = two.person.get(&["rooms", &two.room, "state", "m.room.power_levels", ""]).await;
    levels["users"][&two.bot.id] = json!(50);
    two.person.put(&["rooms", &two.room, "state", "m.room.power_levels", ""], &levels).await;
    assert_eq!(two.adapter.delete(&two.place(), &said).await, Ok(Deleted::Emptied));
}
