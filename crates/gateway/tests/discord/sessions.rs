//! The session with the gateway: it is resumed, and when it is lost, what was missed is read once.

use std::sync::Arc;
use std::time::Duration;

use retake_gateway::Failure;
use retake_wire::chat::Inbound;
use serde_json::json;

use super::world::{Receiving, TestInbox, World, place};

/// Case 9, in one program: the session is lost, and 30 messages and a new place wait.
#[tokio::test]
async fn gateways_case_09_messages_of_a_lost_session_are_read_once_and_in_order() {
    let (world, inbox) = (World::new().await, Arc::<TestInbox>::default());
    let adapter = world.adapter();
    let receiving = Receiving::start(&world, &adapter, &inbox).await;
    let first = world.fake.write(&world.channel, &world.anna, "first");
    inbox.until(1).await;
    receiving.kill().await;
    inbox.bind(world.place(), Some(&first));
    let new = world.fake.add_channel(&world.guild);
    inbox.bind(place(&new), None);
    world.fake.lose_sessions();
    let written: Vec<String> = (0..30).map(|number| format!("message {number}")).collect();
    for text in &written {
        world.fake.write(&world.channel, &world.anna, text);
        world.fake.write(&new, &world.anna, "not for us");
    }
    let lost = Receiving::resume(&adapter, &inbox, inbox.cursor()).failure().await;
    let Failure::Wait { wait, .. } = lost else { panic!("{lost:?}") };
    assert!((Duration::from_secs(1)..Duration::from_secs(5)).contains(&wait), "{wait:?}");
    let again = Receiving::resume(&adapter, &inbox, inbox.cursor());
    inbox.until(31).await;
    world.fake.write(&world.channel, &world.anna, "live");
    inbox.until(32).await;
    let expected: Vec<String> =
        ["first".to_owned()].into_iter().chain(written).chain(["live".to_owned()]).collect();
    assert_eq!((inbox.texts(), inbox.deliveries()), (expected, 32));
    drop(again);
}

/// Case 9, after a restart: more than one page, and the same checks as for live messages.
#[tokio::test]
async fn gateways_case_09_restarted_program_reads_all_pages_it_missed() {
    let (world, inbox) = (World::new().await, Arc::<TestInbox>::default());
    let last = world.fake.write(&world.channel, &world.anna, "seen before");
    inbox.bind(world.place(), Some(&last));
    for number in 0..230 {
        world.fake.write(&world.channel, &world.anna, &number.to_string());
    }
    world.fake.write_with(&world.channel, &world.anna, &json!({"content": "joined", "type": 7}));
    let me = world.fake.me();
    world.fake.write(&world.channel, &me, "our own");
    let _receiving = Receiving::resume(&world.adapter(), &inbox, None);
    inbox.until(230).await;
    world.fake.write(&world.channel, &world.anna, "live");
    inbox.until(231).await;
    let expected: Vec<String> =
        (0..230).map(|number| number.to_string()).chain(["live".to_owned()]).collect();
    assert_eq!((inbox.texts(), inbox.deliveries()), (expected, 231));
    assert_eq!(world.fake.control().called("history").len(), 3);
}

#[tokio::test]
async fn restarted_program_resumes_the_session_of_the_cursor() {
    let (world, inbox) = (World::new().await, Arc::<TestInbox>::default());
    let receiving = Receiving::start(&world, &world.adapter(), &inbox).await;
    let id = world.fake.write(&world.channel, &world.anna, "one");
    inbox.until(1).await;
    receiving.kill().await;
    world.fake.write(&world.channel, &world.anna, "two");
    world.fake.change(&world.channel, &id, &json!({"content": "ONE"}), true);
    world.fake.remove(&world.channel, &[&id]);
    let _receiving = Receiving::resume(&world.adapter(), &inbox, inbox.cursor());
    inbox.until(4).await;
    assert_eq!(inbox.deliveries(), 4);
    let [_, Inbound::Message(_), Inbound::Edited(_), Inbound::Recalled { .. }] = &inbox.events()[..] else {
        panic!("{:?}", inbox.events())
    };
    assert_eq!(world.fake.control().called("identify").len(), 1);
    assert_eq!(world.fake.control().called("history").len(), 0);
}

/// Case 13: the platform lets two programs receive for one account. Each event has the same key for both, so it is stored once, and
/// the second one goes on when the first is gone.
#[tokio::test]
async fn gateways_case_13_two_programs_store_each_event_once() {
    let (world, inbox) = (World::new().await, Arc::<TestInbox>::default());
    let first = Receiving::start(&world, &world.adapter(), &inbox).await;
    let _second = Receiving::resume(&world.adapter(), &inbox, None);
    world.fake.control().until_called("identify", 2).await;
    world.fake.write(&world.channel, &world.anna, "one");
    inbox.until_delivered(2).await;
    assert_eq!(inbox.texts(), ["one"]);
    first.kill().await;
    world.fake.write(&world.channel, &world.anna, "two");
    inbox.until(2).await;
    assert_eq!(inbox.texts(), ["one", "two"]);
}

#[tokio::test]
async fn reconnects_resume_without_loss() {
    let (world, inbox) = (World::new().await, Arc::<TestInbox>::default());
    let _receiving = Receiving::start(&world, &world.adapter(), &inbox).await;
    world.fake.write(&world.channel, &world.anna, "one");
    inbox.until(1).await;
    world.fake.ask_reconnect();
    world.fake.write(&world.channel, &world.anna, "two");
    inbox.until(2).await;
    world.fake.control().until_called("resume", 1).await;
    world.fake.close_sockets(4_000);
    world.fake.write(&world.channel, &world.anna, "three");
    inbox.until(3).await;
    world.fake.control().until_called("resume", 2).await;
    assert_eq!(inbox.texts(), ["one", "two", "three"]);
    // The client closes with a code that keeps the session.
    assert_eq!(world.fake.control().called("close"), [json!({"code": 4_000})]);
    assert_eq!(world.fake.control().called("identify").len(), 1);
}

#[tokio::test]
async fn connection_without_answers_to_heartbeats_is_replaced() {
    let (world, inbox) = (World::new().await, Arc::<TestInbox>::default());
    world.fake.set_heartbeat_ms(50);
    let _receiving = Receiving::start(&world, &world.adapter(), &inbox).await;
    world.fake.set_mute(true);
    world.fake.control().until_called("resume", 1).await;
    world.fake.set_mute(false);
    world.fake.write(&world.channel, &world.anna, "one");
    inbox.until(1).await;
    let closes = world.fake.control().called("close");
    assert!(closes.iter().all(|close| *close == json!({"code": 4_000})) && !closes.is_empty(), "{closes:?}");
}

#[tokio::test]
async fn end_of_receiving_says_why() {
    let world = World::new().await;
    let inbox = Arc::<TestInbox>::default();
    let mut config = world.config();
    config.token = "wrong".to_owned().into();
    let wrong = Arc::new(retake_gateway::Discord::new(config).expect("an adapter"));
    assert_eq!(Receiving::resume(&wrong, &inbox, None).failure().await, Failure::BadToken);

    let adapter = world.adapter();
    let receiving = Receiving::start(&world, &adapter, &inbox).await;
    world.fake.close_sockets(4_004);
    assert_eq!(receiving.failure().await, Failure::BadToken);

    inbox.close();
    let receiving = Receiving::resume(&adapter, &inbox, None);
    world.fake.write(&world.channel, &world.anna, "one");
    assert_eq!(receiving.failure().await, Failure::Closed);

    world.fake.set_identifies_left(0);
    let limited = Receiving::resume(&world.adapter(), &inbox, None).failure().await;
    assert_eq!(limited, Failure::Wait { wait: Duration::from_secs(3_600), bucket: None });

    let mut config = world.config();
    config.rest = "http://127.0.0.1:1".to_owned();
    let away = Arc::new(retake_gateway::Discord::new(config).expect("an adapter"));
    assert_eq!(Receiving::resume(&away, &inbox, None).failure().await, Failure::Unreachable);
}

#[tokio::test]
async fn event_that_could_not_be_stored_comes_again() {
    let (world, inbox, closed) =
        (World::new().await, Arc::<TestInbox>::default(), Arc::<TestInbox>::default());
    let adapter = world.adapter();
    let receiving = Receiving::start(&world, &adapter, &closed).await;
    closed.close();
    let id = world.fake.write(&world.channel, &world.anna, "one");
    assert_eq!(receiving.failure().await, Failure::Closed);
    let _receiving = Receiving::resume(&adapter, &inbox, None);
    inbox.until(1).await;
    assert_eq!(inbox.keys(), [format!("create:{id}")]);
    assert_eq!(world.fake.control().called("identify").len(), 1);
}

#[tokio::test]
async fn place_that_cannot_be_read_any_more_is_no_obstacle_for_others() {
    let (world, inbox) = (World::new().await, Arc::<TestInbox>::default());
    let gone = world.fake.add_channel(&world.guild);
    let last = world.fake.write(&world.channel, &world.anna, "seen before");
    inbox.bind(place(&gone), Some(&last));
    inbox.bind(world.place(), Some(&last));
    world.fake.remove_channel(&gone);
    world.fake.write(&world.channel, &world.anna, "missed");
    let _receiving = Receiving::resume(&world.adapter(), &inbox, None);
    inbox.until(2).await;
    assert_eq!(inbox.events()[0], Inbound::Membership { place: place(&gone), is_member: false });
    assert_eq!(inbox.texts(), ["missed"]);
}

#[tokio::test]
async fn interrupted_reading_of_missed_messages_is_done_again() {
    use retake_fakes::{Fault, Refusal};
    let (world, inbox) = (World::new().await, Arc::<TestInbox>::default());
    let adapter = world.adapter();
    let last = world.fake.write(&world.channel, &world.anna, "seen before");
    inbox.bind(world.place(), Some(&last));
    world.fake.write(&world.channel, &world.anna, "missed");
    world.fake.control().script("history", [Fault::Refuse(Refusal::Wait(Duration::from_secs(2)))]);
    let failure = Receiving::resume(&adapter, &inbox, None).failure().await;
    assert!(matches!(failure, Failure::Wait { wait, .. } if wait == Duration::from_secs(2)), "{failure:?}");
    assert_eq!(inbox.cursor(), None);
    world.fake.write(&world.channel, &world.anna, "newer");
    let _receiving = Receiving::resume(&adapter, &inbox, None);
    inbox.until(2).await;
    assert_eq!(inbox.texts(), ["missed", "newer"]);
}
