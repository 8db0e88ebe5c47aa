//! Rooms: invitations, rooms that we cannot read, and rooms that we leave.

use std::collections::HashSet;

use retake_gateway::matrix::{Invites, Matrix, MatrixConfig};
use retake_gateway::{Adapter as _, SetupStep};
use retake_wire::chat::Inbound;
use serde_json::json;

use super::people::{Collects, Person, Two, message, place, receive, until, within};

#[tokio::test]
async fn invitation_is_accepted_and_history_is_no_message() {
    let (person, bot) = (Person::new("anna").await, Person::new("bot").await);
    let adapter = bot.adapter();
    assert_eq!(adapter.identify().await.unwrap().missing, [SetupStep::Invite]);
    let (_, since) = receive(&adapter, None, 0).await;
    let room = person.room(&[&bot]).await;
    person.say(&room, "before").await;
    let (events, since) = receive(&adapter, Some(since), 1).await;
    let entered = Inbound::Membership { place: place(&room, None), is_member: true };
    assert_eq!(events.into_iter().map(|(_, inbound)| inbound).collect::<Vec<_>>(), [entered]);
    person.say(&room, "after").await;
    let (events, _) = receive(&adapter, Some(since), 1).await;
    assert_eq!(message(events[0].1.clone()).text, "after");
    assert_eq!(adapter.identify().await.unwrap().missing, []);
}

#[tokio::test]
async fn invitation_that_came_while_we_were_away_is_accepted() {
    let (person, bot) = (Person::new("anna").await, Person::new("bot").await);
    let room = person.room(&[&bot]).await;
    let adapter = Matrix::new(bot.config()).unwrap();
    let (_, since) = receive(&adapter, None, 0).await;
    // The invitation was before this time, so no poll since then has it.
    let (events, _) = receive(&adapter, Some(since), 1).await;
    assert_eq!(events[0].1, Inbound::Membership { place: place(&room, None), is_member: true });
}

#[tokio::test]
async fn only_the_wanted_invitations_are_accepted() {
    let (anna, ben, bot) = (Person::new("anna").await, Person::new("ben").await, Person::new("bot").await);
    let (annas, bens) = (anna.room(&[&bot]).await, ben.room(&[&bot]).await);
    let ignoring = Matrix::new(MatrixConfig { invites: Invites::Ignore, ..bot.config() });
    let (_, since) = receive(&ignoring.unwrap(), None, 0).await;
    let invites = Invites::From(vec![ben.id.clone()]);
    let listed = Matrix::new(MatrixConfig { invites, ..bot.config() }).unwrap();
    let collects = Collects { wanted: 2, ..Collects::default() };
    // When this message arrives, all invitations were worked on.
    let people = async {
        until(|| !collects.events.lock().unwrap().is_empty()).await;
        ben.say(&bens, "hello").await;
    };
    within(async { tokio::join!(listed.receive(Some(since), &collects), people) }).await;
    let (_, entered) = collects.events.into_inner().unwrap().remove(0);
    assert_eq!(entered, Inbound::Membership { place: place(&bens, None), is_member: true });
    let rooms = bot.get(&["joined_rooms"]).await;
    assert_eq!(rooms["joined_rooms"], json!([bens]), "not {annas}");
}

#[tokio::test]
async fn encrypted_room_is_told_once_that_we_cannot_read_it() {
    let (person, bot) = (Person::new("anna").await, Person::new("bot").await);
    let encryption = json!({ "type": "m.room.encryption", "state_key": "", "content": { "algorithm": "m.megolm.v1.aes-sha2" } });
    let room = person.room_with(&[&bot], json!({ "initial_state": [encryption] })).await;
    let adapter = bot.adapter();
    let (_, before) = receive(&adapter, None, 0).await;
    receive(&adapter, Some(before.clone()), 1).await;
    receive(&adapter, Some(before), 1).await;
    let said = person.history(&room, "m.room.message").await;
    let said: Vec<_> = said.iter().map(|event| event["content"]["body"].as_str().unwrap()).collect();
    assert_eq!(said, ["I cannot read here."]);
}

#[tokio::test]
async fn room_that_becomes_encrypted_is_told_so() {
    let two = Two::new().await;
    let since = two.now().await;
    let algorithm = json!({ "algorithm": "m.megolm.v1.aes-sha2" });
    two.person.put(&["rooms", &two.room, "state", "m.room.encryption", ""], &algorithm).await;
    two.person.say(&two.room, "still plain").await;
    assert_eq!(two.messages(&since, 1).await[0].text, "still plain");
    let said = two.person.history(&two.room, "m.room.message").await;
    assert_eq!(said.last().unwrap()["content"]["body"], "I cannot read here.");
}

#[tokio::test]
async fn removal_from_a_room_is_an_event() {
    let two = Two::new().await;
    let since = two.now().await;
    two.person.post(&["rooms", &two.room, "kick"], &json!({ "user_id": two.bot.id })).await;
    let collects = Collects { wanted: 1, ..Collects::default() };
    within(two.adapter.receive(Some(since.clone()), &collects)).await;
    let events = collects.events.into_inner().unwrap();
    assert_eq!(events[0].1, Inbound::Membership { place: two.place(), is_member: false });
    assert_eq!(two.next(&since, 1).await, events, "with the same key again");
}

#[tokio::test]
async fn room_that_is_replaced_moves_if_both_rooms_say_so() {
    let two = Two::new().await;
    let since = two.now().await;
    let body = json!({ "new_version": "11" });
    let answer = two.person.post(&["rooms", &two.room, "upgrade"], &body).await;
    let new = answer["replacement_room"].as_str().unwrap();
    two.person.post(&["rooms", new, "invite"], &json!({ "user_id": two.bot.id })).await;
    // Anybody can say that a room replaces another.
    let predecessor =
        json!({ "creation_content": { "predecessor": { "room_id": two.room, "event_id": "$x" } } });
    let false_one = two.person.room_with(&[&two.bot], predecessor).await;
    let (keys, events): (HashSet<_>, Vec<_>) = two.next(&since, 3).await.into_iter().unzip();
    assert_eq!(keys.len(), 3, "each has a key of its own");
    let moved = Inbound::Migrated { account: "m".into(), from: two.room.clone(), to: new.to_owned() };
    let entered = |room: &str| Inbound::Membership { place: place(room, None), is_member: true };
    for event in [moved, entered(new), entered(&false_one)] {
        assert!(events.contains(&event), "{event:?} is not in {events:?}");
    }
    assert_eq!(events.len(), 3, "{events:?}");
}
