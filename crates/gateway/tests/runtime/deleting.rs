//! Deleting: windows, probes, batches, refusals and holds.

use std::time::Duration;

use retake_gateway::{BulkDeletion, Capabilities, Deleted, DeletionWindow, Failure, Probe, Refused};
use retake_wire::chat::*;

use super::kit::*;
use super::ledger::State;
use super::platform::{Fault, plain};

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;
const GONE: State = State::Gone(Deletion::Gone);

fn like_telegram() -> Capabilities {
    let window = Duration::from_hours(48);
    let bulk = Some(BulkDeletion { least: 1, most: 100, oldest: window });
    Capabilities { deletes: DeletionWindow::Hard(window), bulk, ..plain() }
}

fn like_discord() -> Capabilities {
    let bulk = Some(BulkDeletion { least: 2, most: 100, oldest: Duration::from_hours(14 * 24) });
    Capabilities { bulk, ..plain() }
}

/// A world with posts of these ages that are to be deleted.
fn with_posts(capabilities: Capabilities, probe: Probe, ages: &[i64]) -> World {
    let world = World::new(capabilities);
    world.platform.inside().probe = probe;
    for (at, age) in ages.iter().enumerate() {
        let id = format!("x{at}");
        world.platform.put(&place("c"), &id, START_MS - age);
        world.ledger.add_sent(&format!("p{at}"), &place("c"), &[&id], START_MS - age);
    }
    world.ledger.unwant(|_| true);
    world
}

async fn settled(world: &World) -> Vec<State> {
    world.until("settled", |it| it.ledger.states().iter().all(|state| *state != State::Sent)).await;
    world.ledger.states()
}

fn calls(world: &World) -> (usize, usize) {
    (world.platform.calls("delete_many").len(), world.platform.calls("delete").len())
}

/// Case 67: the gateway has all the work already when an undo brings a part of the posts back.
#[tokio::test(start_paused = true)]
async fn gateways_case_67_post_that_is_wanted_again_is_not_deleted() {
    let batches = Capabilities {
        bulk: Some(BulkDeletion { least: 1, most: 2, oldest: Duration::from_hours(48) }),
        ..plain()
    };
    for (capabilities, probe) in [(plain(), Probe::Unknown), (batches, Probe::Yes { bulk: true })] {
        let world = with_posts(capabilities, probe, &[6_000, 5_000, 4_000, 3_000, 2_000, 1_000]);
        let _gateway = world.start();
        world.until("the first call", |it| it.ledger.states().contains(&GONE)).await;
        let kept = [1, 2];
        kept.into_iter().for_each(|at| world.ledger.book().posts[at].is_wanted = true);
        world
            .until("the others", |it| it.ledger.states().iter().filter(|it| **it == GONE).count() == 4)
            .await;
        world.pass(60_000).await;
        let there = ["x1", "x2"]
            .map(|id| world.platform.inside().messages.iter().any(|it| it.id == id && !it.is_deleted));
        assert_eq!(
            (there, kept.map(|at| world.ledger.states()[at].clone())),
            ([true; 2], [State::Sent, State::Sent])
        );
    }
}

/// Case 50: too old, so no call is made.
#[tokio::test(start_paused = true)]
async fn gateways_case_50_a_post_beyond_its_window_stays_without_a_call() {
    let world = with_posts(like_telegram(), Probe::Yes { bulk: true }, &[48 * HOUR]);
    let _gateway = world.start();
    assert_eq!(settled(&world).await, [State::Stays(StayCause::TooOld)]);
    assert_eq!(calls(&world), (0, 0));
    assert!(world.platform.calls("probe").is_empty());
}

/// Case 50: the deadline that the owner stored counts, and a policy of a server permits one attempt.
#[tokio::test(start_paused = true)]
async fn gateways_case_50_a_policy_of_a_server_permits_an_attempt() {
    let policy = Capabilities { deletes: DeletionWindow::Policy, ..plain() };
    let world = with_posts(policy, Probe::Unknown, &[400 * DAY, 400 * DAY]);
    world.platform.inside().stuck.insert("x0".into(), Refused::TooOld);
    let _gateway = world.start();
    assert_eq!(settled(&world).await, [State::Stays(StayCause::TooOld), GONE]);
    assert_eq!(calls(&world), (0, 2));
}

/// Case 51: 250 posts are three calls, also if one of them is not there any more.
#[tokio::test(start_paused = true)]
async fn gateways_case_51_many_posts_are_deleted_by_few_calls() {
    let ages: Vec<i64> = (0..250).map(|at| at * 1_000).collect();
    let world = with_posts(like_telegram(), Probe::Yes { bulk: true }, &ages);
    world.platform.inside().messages[140].is_deleted = true;
    let _gateway = world.start();
    assert!(settled(&world).await.iter().all(|state| *state == GONE));
    assert_eq!(calls(&world), (3, 0));
    assert_eq!(world.platform.calls("probe").len(), 1);
    assert!(world.platform.texts("c").is_empty());
}

/// Case 52: a batch is refused because of one post.
#[tokio::test(start_paused = true)]
async fn gateways_case_52_a_refused_batch_is_deleted_singly() {
    let world = with_posts(like_telegram(), Probe::Yes { bulk: true }, &[1, 2, 3, 4]);
    world.platform.inside().stuck.insert("x2".into(), Refused::TooOld);
    let _gateway = world.start();
    let expected = [GONE, GONE, State::Stays(StayCause::TooOld), GONE];
    assert_eq!(settled(&world).await, expected);
    assert_eq!(calls(&world), (1, 4));
}

/// Case 53: recent posts together, old ones singly; all singly without the permission.
#[tokio::test(start_paused = true)]
async fn gateways_case_53_old_posts_and_posts_without_permission_are_deleted_singly() {
    let ages = [15 * DAY, 1_000, 2_000, 15 * DAY, 3_000];
    for (bulk, expected) in [(true, (1, 2)), (false, (0, 5))] {
        let world = with_posts(like_discord(), Probe::Yes { bulk }, &ages);
        let _gateway = world.start();
        assert!(settled(&world).await.iter().all(|state| *state == GONE));
        assert_eq!(calls(&world), expected);
    }
}

/// Case 57: the probe says no, so there is not a single attempt.
#[tokio::test(start_paused = true)]
async fn gateways_case_57_nothing_is_tried_where_the_probe_says_no() {
    let world = with_posts(plain(), Probe::NotPermitted, &[1, 2]);
    let _gateway = world.start();
    assert_eq!(settled(&world).await, [const { State::Stays(StayCause::NotPermitted) }; 2]);
    assert_eq!(calls(&world), (0, 0));
    // It may change: after ten minutes the platform is asked again.
    world.platform.inside().probe = Probe::Yes { bulk: false };
    world.ledger.add_sent("q", &place("c"), &["x0"], START_MS);
    world.ledger.unwant(|post| post.id == "q");
    world.until("settled", |it| it.ledger.post("q").state != State::Sent).await;
    assert_eq!(
        world.ledger.post("q").state,
        State::Stays(StayCause::NotPermitted),
        "the answer still counts"
    );
    world.pass(11 * 60_000).await;
    world.ledger.add_sent("r", &place("c"), &["x0"], START_MS);
    world.ledger.unwant(|post| post.id == "r");
    world.until("gone", |it| it.ledger.post("r").state == GONE).await;
    assert_eq!(world.platform.calls("probe").len(), 2);
}

/// Case 60: a platform without a way.
#[tokio::test(start_paused = true)]
async fn gateways_case_60_a_platform_without_a_way_gets_no_call() {
    let never = Capabilities { deletes: DeletionWindow::Never, ..plain() };
    let world = with_posts(never, Probe::Unknown, &[1, 2, 3, 4]);
    let _gateway = world.start();
    assert_eq!(settled(&world).await, [const { State::Stays(StayCause::NoWay) }; 4]);
    assert_eq!(calls(&world), (0, 0));
    assert!(world.platform.calls("probe").is_empty());
}

/// Cases 58 and 61: an emptied message and a request to clients are not called gone.
#[tokio::test(start_paused = true)]
async fn gateways_case_61_what_remains_is_reported() {
    let rows = [(Deleted::Asked, Deletion::Asked), (Deleted::Emptied, Deletion::Emptied)];
    for (deleted, expected) in rows {
        let world = with_posts(plain(), Probe::Unknown, &[1, 2]);
        world.platform.inside().deleted = deleted;
        let _gateway = world.start();
        assert_eq!(settled(&world).await, [State::Gone(expected), State::Gone(expected)]);
    }
}

/// Case 62: not found is gone.
#[tokio::test(start_paused = true)]
async fn gateways_case_62_a_post_that_is_not_there_is_gone() {
    let world = with_posts(plain(), Probe::Unknown, &[1]);
    world.platform.inside().messages[0].is_deleted = true;
    let _gateway = world.start();
    assert_eq!(settled(&world).await, [GONE]);
}

/// Case 62: 403 for the second of ten.
#[tokio::test(start_paused = true)]
async fn gateways_case_62_after_a_refusal_there_is_one_more_attempt_and_no_storm() {
    for probe in [Probe::Unknown, Probe::Yes { bulk: false }] {
        let world = with_posts(plain(), probe, &[1; 10]);
        for at in 1..10 {
            world.platform.inside().stuck.insert(format!("x{at}"), Refused::NotPermitted);
        }
        let _gateway = world.start();
        let states = settled(&world).await;
        assert_eq!(states.iter().filter(|state| **state == GONE).count(), 1);
        assert_eq!(states.iter().filter(|state| **state == State::Stays(StayCause::NotPermitted)).count(), 9);
        assert_eq!(calls(&world), (0, 3));
        assert_eq!(world.platform.calls("probe").len(), 2);
    }
}

/// Case 63: a hold during deletions.
#[tokio::test(start_paused = true)]
async fn gateways_case_63_a_hold_during_deletions_is_kept_and_then_they_go_on() {
    for seconds in [20, 300] {
        let world = with_posts(plain(), Probe::Unknown, &[1, 2, 3]);
        let wait = Failure::Wait { wait: Duration::from_secs(seconds), bucket: None };
        world.platform.fault("delete", Fault::Fails(wait));
        let _gateway = world.start();
        world.until("the hold", |it| !it.ledger.book().holds.is_empty()).await;
        assert_eq!(world.ledger.states(), [State::Sent, State::Sent, State::Sent], "being tried");
        assert_eq!(settled(&world).await, [GONE, GONE, GONE]);
        let times: Vec<i64> = world.platform.calls("delete").iter().map(|it| it.at_ms).collect();
        let held = i64::try_from(seconds).expect("small") * 1_000;
        assert!(times[1] >= times[0] + held, "{times:?}");
        assert_eq!(times.len(), 4);
    }
}

/// Case 56: the message and each of its edits are deleted, and then it counts once.
#[tokio::test(start_paused = true)]
async fn gateways_case_56_a_post_is_gone_when_all_of_its_messages_are() {
    let world = World::new(Capabilities { edits_are_messages: true, ..plain() });
    let ids = ["x0", "x1", "x2"];
    ids.iter().for_each(|id| world.platform.put(&place("c"), id, START_MS));
    world.ledger.add_sent("p", &place("c"), &ids, START_MS);
    world.ledger.unwant(|_| true);
    world.platform.inside().stuck.insert("x1".into(), Refused::Other);
    let _gateway = world.start();
    assert_eq!(settled(&world).await, [State::Stays(StayCause::GaveUp)]);
    let deleted: Vec<String> = world.platform.calls("delete").iter().map(|it| it.ids.concat()).collect();
    assert_eq!(deleted, ids);
}

/// Case 54: a thread that is closed.
#[tokio::test(start_paused = true)]
async fn gateways_case_54_a_closed_thread_is_named() {
    let world = with_posts(plain(), Probe::Unknown, &[1]);
    world.platform.inside().stuck.insert("x0".into(), Refused::ClosedThread);
    let _gateway = world.start();
    assert_eq!(settled(&world).await, [State::Stays(StayCause::ClosedThread)]);
}

/// Case 55: what is deleted singly keeps the owner's order, replies before their parents.
#[tokio::test(start_paused = true)]
async fn gateways_case_55_single_deletions_keep_the_order_of_the_owner() {
    let policy = Capabilities { deletes: DeletionWindow::Policy, ..plain() };
    let world = with_posts(policy, Probe::Unknown, &[1, 9, 5]);
    world.platform.fault("delete", Fault::LostAfter);
    let _gateway = world.start();
    assert_eq!(settled(&world).await, [GONE, GONE, GONE]);
    let deleted: Vec<String> = world.platform.calls("delete").iter().map(|it| it.ids.concat()).collect();
    assert_eq!(deleted[..3], ["x0", "x1", "x2"]);
}

/// Case 67: a step was undone while its deletions wait for the rate.
#[tokio::test(start_paused = true)]
async fn gateways_case_67_a_deletion_that_waits_is_asked_for_again_before_it_is_made() {
    let slow = Capabilities { spacing: [Duration::from_secs(20), Duration::ZERO], ..plain() };
    let world = with_posts(slow, Probe::Unknown, &[1; 6]);
    let _gateway = world.start();
    world.until("the first", |it| it.ledger.post("p0").state == GONE).await;
    world.ledger.book().posts[5].is_wanted = true;
    world.until("the others", |it| (0..5).all(|at| it.ledger.states()[at] == GONE)).await;
    world.pass(180_000).await;
    assert_eq!(world.ledger.post("p5").state, State::Sent);
    assert_eq!(world.platform.texts("c"), ["sent"]);
}
