//! Posts whose answers were lost: what each platform's way of recognising them leads to.

use std::time::Duration;

use retake_gateway::{Capabilities, Failure, Resend};
use retake_wire::chat::*;

use super::kit::*;
use super::ledger::{State, markdown};
use super::platform::{Fault, plain};

fn with(resend: &'static [Resend]) -> World {
    World::new(Capabilities { resend, ..plain() })
}

const LIKE_MATRIX: &[Resend] = &[Resend::Again(Duration::from_hours(23)), Resend::Find, Resend::Send];
const LIKE_DISCORD: &[Resend] = &[Resend::Again(Duration::from_mins(3)), Resend::Find, Resend::Send];
const LIKE_SLACK: &[Resend] = &[Resend::Find, Resend::Send];
const LIKE_MATTERMOST: &[Resend] = &[Resend::Again(Duration::from_secs(30)), Resend::Find, Resend::Send];
const LIKE_TELEGRAM: &[Resend] = &[Resend::Send];

/// A world in which a gateway was killed after the platform accepted a post.
async fn killed_after_the_effect(resend: &'static [Resend]) -> World {
    let world = with(resend);
    world.platform.fault("send", Fault::Hangs);
    world.ledger.plan("p", &place("c"), markdown("one **two**"));
    let gateway = world.start();
    world.until("sending", |it| it.platform.texts("c").len() == 1).await;
    gateway.kill().await;
    assert_eq!(world.ledger.states(), [State::Sending]);
    world
}

async fn assert_sent_once(world: &World) {
    world.until("sent", |it| it.ledger.states() == [State::Sent]).await;
    assert_eq!(world.platform.texts("c"), ["one two"]);
    assert_eq!(world.ledger.post("p").ids, ["p1"]);
}

/// Case 19: killed after *sending* was stored, before the request left.
#[tokio::test(start_paused = true)]
async fn gateways_case_19_a_post_whose_request_did_not_leave_is_sent_once() {
    for resend in [LIKE_MATRIX, LIKE_DISCORD, LIKE_SLACK, LIKE_MATTERMOST, LIKE_TELEGRAM] {
        let world = with(resend);
        world.ledger.plan("p", &place("c"), markdown("one **two**"));
        // Without faults, the request leaves one step after the report.
        let mut run = Box::pin(world.run("g"));
        for _ in 0..10_000 {
            assert!(futures::poll!(&mut run).is_pending());
            if world.ledger.states() == [State::Sending] {
                break;
            }
            tokio::task::yield_now().await;
        }
        drop(run);
        assert_eq!((world.ledger.states(), world.platform.texts("c").len()), (vec![State::Sending], 0));
        let _gateway = world.start();
        assert_sent_once(&world).await;
    }
}

/// Cases 20 and 21: the same request again has the same id.
#[tokio::test(start_paused = true)]
async fn gateways_case_20_a_repeated_request_is_recognised_by_the_platform() {
    let world = killed_after_the_effect(LIKE_MATRIX).await;
    let _gateway = world.start();
    assert_sent_once(&world).await;
    let sends = world.platform.calls("send");
    assert_eq!(sends.len(), 2);
    assert_eq!(sends[0].ids, sends[1].ids, "the same marker");
    assert!(world.platform.calls("find").is_empty());
}

/// Case 22: within three minutes the nonce gives the id, later the history.
#[tokio::test(start_paused = true)]
async fn gateways_case_22_a_post_is_recognised_for_three_minutes_and_found_later() {
    let soon = killed_after_the_effect(LIKE_DISCORD).await;
    let _gateway = soon.start();
    assert_sent_once(&soon).await;
    assert_eq!((soon.platform.calls("send").len(), soon.platform.calls("find").len()), (2, 0));

    let late = killed_after_the_effect(LIKE_DISCORD).await;
    late.pass(10 * 60_000).await;
    let _gateway = late.start();
    assert_sent_once(&late).await;
    assert_eq!((late.platform.calls("send").len(), late.platform.calls("find").len()), (1, 1));
}

/// Case 23: found by its marker.
#[tokio::test(start_paused = true)]
async fn gateways_case_23_a_lost_answer_is_found_by_its_marker() {
    let world = with(LIKE_SLACK);
    world.platform.fault("send", Fault::LostAfter);
    // The history cannot be read at first.
    world.platform.fault("find", Fault::Fails(Failure::Unreachable));
    world.ledger.plan("p", &place("c"), markdown("one **two**"));
    let _gateway = world.start();
    assert_sent_once(&world).await;
    assert_eq!((world.platform.calls("send").len(), world.platform.calls("find").len()), (1, 2));
}

/// Case 23: a post that is certainly not there is sent.
#[tokio::test(start_paused = true)]
async fn gateways_case_23_a_post_that_is_not_found_is_sent() {
    let world = with(LIKE_SLACK);
    world.platform.fault("send", Fault::Fails(Failure::Unknown));
    world.ledger.plan("p", &place("c"), markdown("one **two**"));
    let _gateway = world.start();
    assert_sent_once(&world).await;
    assert_eq!((world.platform.calls("send").len(), world.platform.calls("find").len()), (2, 1));
}

/// Case 24: within 30 s the same request, then the marker.
#[tokio::test(start_paused = true)]
async fn gateways_case_24_a_post_is_recognised_for_thirty_seconds_and_found_later() {
    let soon = with(LIKE_MATTERMOST);
    soon.platform.fault("send", Fault::LostAfter);
    soon.ledger.plan("p", &place("c"), markdown("one **two**"));
    let _gateway = soon.start();
    assert_sent_once(&soon).await;
    assert_eq!((soon.platform.calls("send").len(), soon.platform.calls("find").len()), (2, 0));

    let late = killed_after_the_effect(LIKE_MATTERMOST).await;
    let _gateway = late.start();
    // The lease of the killed one lasts a minute.
    assert_sent_once(&late).await;
    assert_eq!((late.platform.calls("send").len(), late.platform.calls("find").len()), (1, 1));
}

/// Case 25: sent once more, and never a third time.
#[tokio::test(start_paused = true)]
async fn gateways_case_25_a_post_that_cannot_be_recognised_is_sent_at_most_twice() {
    let world = killed_after_the_effect(LIKE_TELEGRAM).await;
    let _gateway = world.start();
    world.until("sent", |it| it.ledger.states() == [State::Sent]).await;
    assert_eq!(world.platform.texts("c").len(), 2);
    assert!(world.ledger.post("p").lost.is_some(), "the first one may still be there");

    let unlucky = with(LIKE_TELEGRAM);
    unlucky.platform.fault("send", Fault::LostAfter);
    unlucky.platform.fault("send", Fault::LostAfter);
    unlucky.ledger.plan("p", &place("c"), markdown("one"));
    let _gateway = unlucky.start();
    unlucky.until("given up", |it| it.ledger.states() == [State::Failed(PostFailure::GaveUp)]).await;
    assert_eq!(unlucky.platform.texts("c").len(), 2);
}

/// Case 46: a lost post that is not wanted any more is found, and deleted. It is not sent again.
#[tokio::test(start_paused = true)]
async fn gateways_case_46_a_lost_post_that_was_taken_back_is_found_and_deleted() {
    for resend in [LIKE_MATRIX, LIKE_DISCORD, LIKE_SLACK] {
        let world = killed_after_the_effect(resend).await;
        world.ledger.unwant(|_| true);
        let _gateway = world.start();
        world.until("gone", |it| it.ledger.states() == [State::Gone(Deletion::Gone)]).await;
        assert!(world.platform.texts("c").is_empty());
        assert_eq!(world.platform.calls("send").len(), 1);
    }
}

/// Case 46: a lost post that was taken back and never arrived is not sent.
#[tokio::test(start_paused = true)]
async fn gateways_case_46_a_lost_post_that_was_taken_back_and_is_not_there_is_settled() {
    let world = with(LIKE_SLACK);
    world.platform.fault("send", Fault::Fails(Failure::Unknown));
    world.platform.fault("find", Fault::Fails(Failure::Unreachable));
    world.ledger.plan("p", &place("c"), markdown("one"));
    let _gateway = world.start();
    world.until("looked for", |it| it.platform.calls("find").len() == 1).await;
    world.ledger.unwant(|_| true);
    world.until("gone", |it| it.ledger.states() == [State::Gone(Deletion::Gone)]).await;
    assert_eq!(world.platform.calls("send").len(), 1);
}

/// A later part of a place waits until it is known what became of the one before.
#[tokio::test(start_paused = true)]
async fn a_lost_part_is_found_before_the_next_one_is_sent() {
    let world = with(LIKE_SLACK);
    world.platform.fault("send", Fault::LostAfter);
    world.ledger.plan("p", &place("c"), markdown(&format!("{}\n\n{}", "a".repeat(90), "b".repeat(90))));
    let _gateway = world.start();
    world.until("sent", |it| it.ledger.states() == [State::Sent, State::Sent]).await;
    let texts = world.platform.texts("c");
    assert!(texts.len() == 2 && texts[0].starts_with('a') && texts[1].starts_with('b'), "{texts:?}");
}
