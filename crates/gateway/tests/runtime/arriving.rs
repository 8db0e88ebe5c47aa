//! Arriving: redelivery, joined messages, cursors, messages that were missed, and two gateways.

use retake_gateway::{Failure, RuntimeError};
use retake_wire::Part;
use retake_wire::chat::*;

use super::kit::*;
use super::platform::{Fault, plain};

const HOUR: i64 = 3_600_000;

/// Case 1: the same update is delivered three times, twice while it is being stored.
#[tokio::test(start_paused = true)]
async fn gateways_case_1_an_event_that_is_delivered_three_times_is_stored_once() {
    let world = World::new(plain());
    for at in [0, 0, 5_000] {
        world.platform.feed(at, "k1", Inbound::Message(message("m1", "hello")));
    }
    let _gateway = world.start();
    world.until("the cursor", |it| it.ledger.book().cursor.as_deref() == Some("3")).await;
    assert_eq!(world.ledger.book().stored.len(), 1);
    // The others were recognised while the first one waited, and after it was stored.
    assert_eq!(world.ledger.book().arrivals, 1);
}

/// Case 2: a kill between the event and its cursor.
#[tokio::test(start_paused = true)]
async fn gateways_case_2_an_event_is_stored_before_its_cursor_and_recognised_after_a_kill() {
    let world = World::new(plain());
    world.platform.feed(0, "k1", Inbound::Message(message("m1", "hello")));
    world.ledger.book().is_away = true;
    let gateway = world.start();
    world.pass(30_000).await;
    assert!(world.log.lines().is_empty(), "nothing is stored, so no cursor is");
    world.ledger.book().is_away = false;
    world.until("stored", |it| !it.ledger.book().stored.is_empty()).await;
    gateway.kill().await;
    let gateway = world.start();
    world.until("the cursor", |it| it.ledger.book().cursor.as_deref() == Some("1")).await;
    assert!(world.log.position("stored k1") < world.log.position("cursor 1"));
    assert_eq!(world.ledger.book().stored.len(), 1);
    drop(gateway);
}

/// Case 2: a slow event holds the cursor back, also if a later one is stored before it.
#[tokio::test(start_paused = true)]
async fn gateways_case_2_no_cursor_passes_an_event_that_waits() {
    let world = World::new(plain());
    world.platform.inside().is_hasty = true;
    world.platform.inside().files.insert("m1".into(), b"\x89PNG\r\n\x1a\n".to_vec());
    world.platform.feed(0, "k1", Inbound::Message(photo("m1", "", None)));
    let other = InboundMessage { place: place("d"), ..message("m2", "hi") };
    world.platform.feed(100, "k2", Inbound::Message(other));
    let _gateway = world.start();
    world.until("the cursor", |it| it.ledger.book().cursor.is_some()).await;
    let lines = world.log.lines();
    assert_eq!(lines[..3], ["stored k2", "stored k1", "cursor 2"]);
}

/// Case 7: an album is one turn, with both captions, and a late photo is not lost.
#[tokio::test(start_paused = true)]
async fn gateways_case_7_an_album_is_stored_as_one_message_and_a_late_photo_after_it() {
    let world = World::new(plain());
    for (at, id, text) in [(0, "1", "first"), (1_400, "2", ""), (2_800, "3", "third"), (9_000, "4", "late")] {
        world.platform.inside().files.insert(id.into(), format!("GIF89a{id}").into_bytes());
        world.platform.feed(at, &format!("k{id}"), Inbound::Message(photo(id, text, Some("album"))));
    }
    let _gateway = world.start();
    world.until("the cursor", |it| it.ledger.book().cursor.as_deref() == Some("4")).await;
    let stored = world.ledger.book().stored.clone();
    assert_eq!(stored.iter().map(text_of).collect::<Vec<_>>(), ["first\nthird", "late"]);
    assert_eq!(stored[0].parts.len(), 3);
    let also: Vec<_> =
        stored[0].also.iter().map(|it| (it.transport_key.as_str(), it.message.as_str())).collect();
    assert_eq!(also, [("k2", "2"), ("k3", "3")]);
    let shares: Vec<_> = stored[0].also.iter().map(|it| (it.text_bytes, it.files, it.is_rest)).collect();
    assert_eq!(shares, [(0, 1, false), (5, 1, false)]);
    assert_eq!(stored[1].transport_key, "k4");
}

/// Case 7: items of a stored album that arrive again, alone or with a new one, are recognised, and the new one is stored.
#[tokio::test(start_paused = true)]
async fn gateways_case_7_a_part_of_an_album_that_arrives_again_is_recognised() {
    let world = World::new(plain());
    for id in ["1", "2"] {
        world.platform.feed(0, &format!("k{id}"), Inbound::Message(photo(id, "text", Some("album"))));
    }
    for id in ["2", "3"] {
        world.platform.feed(60_000, &format!("k{id}"), Inbound::Message(photo(id, "text", Some("album"))));
    }
    let _gateway = world.start();
    world.until("the cursor", |it| it.ledger.book().cursor.as_deref() == Some("4")).await;
    let stored = world.ledger.book().stored.clone();
    assert_eq!(stored.iter().map(|it| it.transport_key.as_str()).collect::<Vec<_>>(), ["k1", "k3"]);
}

/// Section 3.5: an album without an end is cut after ten seconds.
#[tokio::test(start_paused = true)]
async fn no_message_waits_longer_than_ten_seconds() {
    let world = World::new(plain());
    for id in 0..15 {
        let photo = photo(&id.to_string(), "text", Some("album"));
        world.platform.feed(id * 1_000, &format!("k{id}"), Inbound::Message(photo));
    }
    let _gateway = world.start();
    world.until("one", |it| !it.ledger.book().stored.is_empty()).await;
    assert!((10_000..10_100).contains(&world.age()), "{}", world.age());
    world.until("the cursor", |it| it.ledger.book().cursor.as_deref() == Some("15")).await;
    let sizes: Vec<usize> = world.ledger.book().stored.iter().map(|it| it.also.len() + 1).collect();
    assert_eq!(sizes.iter().sum::<usize>(), 15);
    assert_eq!(sizes.len(), 2);
}

/// Case 8: a photo waits two seconds for a text of the same person.
#[tokio::test(start_paused = true)]
async fn gateways_case_8_a_photo_and_the_text_after_it_are_one_message() {
    let world = World::new(plain());
    world.platform.feed(0, "k1", Inbound::Message(photo("1", "", None)));
    let ben = InboundMessage { person: person("ben"), ..message("2", "not mine") };
    // It waits for the photo before it: a place keeps its order.
    world.platform.feed(500, "k2", Inbound::Message(ben));
    world.platform.feed(1_000, "k3", Inbound::Message(message("3", "what is this?")));
    world.platform.feed(10_000, "k4", Inbound::Message(photo("4", "", None)));
    let _gateway = world.start();
    world.until("the text", |it| it.ledger.book().stored.len() == 2).await;
    assert!((1_000..1_200).contains(&world.age()), "the text completes it: {}", world.age());
    world.until("the photo alone", |it| it.ledger.book().stored.len() == 3).await;
    assert!((12_000..12_200).contains(&world.age()), "{}", world.age());
    let stored = world.ledger.book().stored.clone();
    assert_eq!(stored.iter().map(text_of).collect::<Vec<_>>(), ["what is this?", "not mine", ""]);
    assert_eq!(stored[0].also.len(), 1);
}

/// Section 3.6: a text that the client cut is joined again.
#[tokio::test(start_paused = true)]
async fn a_text_that_the_client_cut_is_one_message() {
    let world = World::new(plain());
    let long = "ä".repeat(4_096);
    world.platform.feed(0, "k1", Inbound::Message(message("1", &long)));
    world.platform.feed(900, "k2", Inbound::Message(message("2", "end")));
    world.platform.feed(950, "k3", Inbound::Message(message("3", "next")));
    let _gateway = world.start();
    world.until("the cursor", |it| it.ledger.book().cursor.as_deref() == Some("3")).await;
    let stored = world.ledger.book().stored.clone();
    assert_eq!(stored.iter().map(text_of).collect::<Vec<_>>(), [format!("{long}end"), "next".into()]);
    let shares: Vec<_> = stored[0].also.iter().map(|it| (it.text_bytes, it.files, it.is_rest)).collect();
    assert_eq!(shares, [(3, 0, true)]);
}

/// A command is joined with nothing, and waits for what the person sent before.
#[tokio::test(start_paused = true)]
async fn a_command_is_stored_after_the_photo_before_it() {
    let world = World::new(plain());
    world.platform.feed(0, "k1", Inbound::Message(photo("1", "", None)));
    world.platform.feed(500, "k2", Inbound::Message(message("2", "/stop")));
    let _gateway = world.start();
    world.until("the cursor", |it| it.ledger.book().cursor.as_deref() == Some("2")).await;
    let stored = world.ledger.book().stored.clone();
    let commands: Vec<_> = stored.iter().map(|it| it.command.map(|command| command.verb)).collect();
    assert_eq!(commands, [None, Some(ChatVerb::Stop)]);
    assert!(world.age() < 1_000, "{}", world.age());
}

/// A command of another person does not wait for a photo: the photo is complete without a text.
#[tokio::test(start_paused = true)]
async fn a_command_of_another_person_is_stored_at_once_and_after_what_came_before() {
    let world = World::new(plain());
    world.platform.feed(0, "k1", Inbound::Message(photo("1", "", None)));
    let hello = InboundMessage { person: person("ben"), ..message("2", "hello") };
    world.platform.feed(100, "k2", Inbound::Message(hello));
    let stop = InboundMessage { person: person("ben"), ..message("3", "/stop") };
    world.platform.feed(200, "k3", Inbound::Message(stop));
    let _gateway = world.start();
    world.until("all", |it| it.ledger.book().stored.len() == 3).await;
    assert!(world.age() < 1_000, "{}", world.age());
    assert_eq!(world.log.lines()[..3], ["stored k1", "stored k2", "stored k3"]);
}

/// Case 14: a message in the new chat finds the binding that has moved.
#[tokio::test(start_paused = true)]
async fn gateways_case_14_what_waits_is_stored_before_its_chat_moves_and_the_rest_after_it() {
    let world = World::new(plain());
    world.platform.feed(0, "k1", Inbound::Message(photo("1", "", None)));
    let moved = Inbound::Migrated { account: "a".into(), from: "c".into(), to: "d".into() };
    world.platform.feed(100, "k2", moved);
    let first = InboundMessage { place: place("d"), ..message("3", "in the new one") };
    world.platform.feed(100, "k3", Inbound::Message(first));
    let _gateway = world.start();
    world.until("all", |it| it.ledger.book().stored.len() == 3).await;
    assert!(world.age() < 1_000, "{}", world.age());
    assert_eq!(world.log.lines()[..3], ["stored k1", "stored k2", "stored k3"]);
}

fn missed(world: &World, at: usize, chat: &str, age_ms: i64) {
    let id = format!("{chat}-{at}");
    let sent_ms = START_MS - age_ms;
    let missed = InboundMessage { place: place(chat), sent_ms, ..message(&id, "missed") };
    world.platform.feed(0, &id, Inbound::Message(missed));
}

/// Case 10: messages of two days. Those of the last day are answered, at most 100 of a place; the rest is late.
#[tokio::test(start_paused = true)]
async fn gateways_case_10_missed_messages_are_late_beyond_the_limits() {
    let world = World::new(plain());
    for at in 0..300_usize {
        missed(&world, at, "c", (300 - i64::try_from(at).expect("small")) * 48 * HOUR / 300);
    }
    let _gateway = world.start();
    world.until("the cursor", |it| it.ledger.book().cursor.as_deref() == Some("300")).await;
    let late: Vec<bool> = world.ledger.book().stored.iter().map(|it| it.is_late).collect();
    assert_eq!(late.iter().filter(|late| !**late).count(), 100);
    assert!(late[..150].iter().all(|late| *late), "older than a day");
    assert!(late[150..250].iter().all(|late| !*late), "the first hundred of the last day");
}

/// Case 10: missed messages cause at most 20 runs, and a new message is never late.
#[tokio::test(start_paused = true)]
async fn gateways_case_10_missed_messages_of_more_than_twenty_places_are_late() {
    let world = World::new(plain());
    for at in 0..25 {
        missed(&world, at, &format!("c{at}"), HOUR);
        missed(&world, at + 100, &format!("c{at}"), HOUR);
    }
    let new = InboundMessage { place: place("c24"), sent_ms: START_MS + 100, ..message("new", "new") };
    world.platform.feed(100, "new", Inbound::Message(new));
    let _gateway = world.start();
    world.until("the cursor", |it| it.ledger.book().cursor.as_deref() == Some("51")).await;
    let late = world.ledger.book().stored.iter().filter(|it| it.is_late).count();
    assert_eq!(late, 10);
    assert!(world.ledger.book().stored.iter().any(|it| it.transport_key == "new" && !it.is_late));
}

/// A command of yesterday is not carried out.
#[tokio::test(start_paused = true)]
async fn a_late_command_is_only_a_text() {
    let world = World::new(plain());
    let old = InboundMessage { sent_ms: START_MS - 25 * HOUR, ..message("1", "/rewind") };
    world.platform.feed(0, "k1", Inbound::Message(old));
    let _gateway = world.start();
    world.until("the cursor", |it| it.ledger.book().cursor.is_some()).await;
    let stored = world.ledger.book().stored[0].clone();
    assert!(stored.is_late && stored.command.is_none());
}

/// Case 13: the second gateway says who has the account, and goes on when the first one is gone.
#[tokio::test(start_paused = true)]
async fn gateways_case_13_a_second_gateway_names_the_first_and_continues_after_it() {
    let world = World::new(plain());
    world.platform.feed(0, "k1", Inbound::Message(message("1", "hello")));
    let first = world.start_as("first");
    world.until("stored", |it| !it.ledger.book().stored.is_empty()).await;
    let end = world.start_as("second").end().await;
    assert_eq!(end, Err(RuntimeError::Held { holder: "first".into() }));
    first.kill().await;
    world.pass(61_000).await;
    let _second = world.start_as("second");
    world.platform.feed(0, "k2", Inbound::Message(message("2", "again")));
    world.until("stored", |it| it.ledger.book().stored.len() == 2).await;
}

/// Case 13: a gateway that lost its account ends.
#[tokio::test(start_paused = true)]
async fn gateways_case_13_a_gateway_that_lost_its_lease_ends() {
    let world = World::new(plain());
    let first = world.start_as("first");
    world.until("the lease", |it| it.ledger.book().holder.is_some()).await;
    world.ledger.book().holder = Some(("second".into(), i64::MAX));
    assert_eq!(first.end().await, Err(RuntimeError::Held { holder: "second".into() }));
}

#[tokio::test(start_paused = true)]
async fn a_broken_connection_is_made_again_with_growing_delays_from_the_last_cursor() {
    let world = World::new(plain());
    for _ in 0..4 {
        world.platform.fault("receive", Fault::Fails(Failure::Unreachable));
    }
    world.platform.feed(0, "k1", Inbound::Message(message("1", "hello")));
    let _gateway = world.start();
    world.until("the cursor", |it| it.ledger.book().cursor.is_some()).await;
    let times: Vec<i64> = world.platform.calls("receive").iter().map(|call| call.at_ms).collect();
    let waits: Vec<i64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    for (at, wait) in waits.iter().enumerate() {
        let expected = 1_000 << at;
        assert!(*wait >= expected * 3 / 4 && *wait <= expected * 5 / 4 + 50, "{waits:?}");
    }
    assert_eq!(waits.len(), 4);
}

#[tokio::test(start_paused = true)]
async fn a_bad_token_and_another_program_at_the_account_end_the_gateway() {
    let world = World::new(plain());
    world.platform.fault("identify", Fault::Fails(Failure::BadToken));
    assert_eq!(world.start().end().await, Err(RuntimeError::BadToken));
    world.platform.fault("receive", Fault::Fails(Failure::BadToken));
    assert_eq!(world.start().end().await, Err(RuntimeError::BadToken));
    for _ in 0..10 {
        world.platform.fault("receive", Fault::Fails(Failure::Occupied));
    }
    let began = world.age();
    assert_eq!(world.start().end().await, Err(RuntimeError::Occupied));
    assert!(world.age() - began >= 9 * 60_000, "it tried for a while");
}

/// An event that the owner refuses because of its files is stored without them.
#[tokio::test(start_paused = true)]
async fn files_that_the_owner_refuses_do_not_stop_their_message() {
    let world = World::new(plain());
    world.ledger.book().refuses_parts.insert("k1".into());
    let two = InboundMessage { attached: vec![file("1"), file("2")], ..message("1", "look") };
    world.platform.feed(0, "k1", Inbound::Message(two));
    let _gateway = world.start();
    world.until("the cursor", |it| it.ledger.book().cursor.is_some()).await;
    let parts = world.ledger.book().stored[0].parts.clone();
    assert_eq!(parts, [Part::text("[The files of this message could not be stored.]")]);
}
