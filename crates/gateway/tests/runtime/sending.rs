//! Sending: order, holds, refusals, and posts that are not wanted any more.

use std::time::Duration;

use retake_gateway::{Capabilities, Failure, Probe, Refused, RuntimeError};
use retake_wire::chat::*;

use super::kit::*;
use super::ledger::{State, markdown};
use super::platform::{Fault, plain};

fn three_chunks() -> PostContent {
    markdown(&["one ", "two ", "three "].map(|word| word.repeat(15)).join("\n\n"))
}

fn wait(seconds: u64) -> Fault {
    Fault::Fails(Failure::Wait { wait: Duration::from_secs(seconds), bucket: None })
}

/// Case 18: three chunks, in order, each with its id.
#[tokio::test(start_paused = true)]
async fn gateways_case_18_the_parts_of_an_answer_are_sent_in_order() {
    let world = World::new(plain());
    world.ledger.plan("p", &place("c"), three_chunks());
    let _gateway = world.start();
    world.until("sent", |it| it.ledger.states() == [State::Sent, State::Sent, State::Sent]).await;
    let texts = world.platform.texts("c");
    assert!(texts[0].starts_with("one") && texts[1].starts_with("two") && texts[2].starts_with("three"));
    let ids: Vec<_> = ["p", "p/1", "p/2"].map(|id| world.ledger.post(id).ids.concat()).into();
    assert_eq!(ids, ["p1", "p2", "p3"]);
    assert!(texts.iter().all(|text| text.chars().count() <= 95));
}

/// Case 27: nothing is sent to the chat during a hold, and another chat is not delayed.
#[tokio::test(start_paused = true)]
async fn gateways_case_27_a_hold_delays_its_chat_only_and_for_all_of_its_time() {
    let world = World::new(plain());
    world.platform.fault("send", wait(40));
    world.ledger.plan("p", &place("c"), three_chunks());
    let _gateway = world.start();
    world.until("the hold", |it| !it.ledger.book().holds.is_empty()).await;
    world.ledger.plan("q", &place("d"), markdown("other"));
    world.until("the other chat", |it| it.platform.texts("d") == ["other"]).await;
    assert!(world.age() < 5_000, "{}", world.age());
    world.until("all", |it| it.platform.texts("c").len() == 3).await;
    let times: Vec<i64> =
        world.platform.calls("send").iter().filter(|it| it.chat == "c").map(|it| it.at_ms).collect();
    assert!(times[1] >= times[0] + 40_500, "{times:?}");
    assert!(world.platform.texts("c")[0].starts_with("one"), "the order is kept");
}

/// Case 29: a hold survives a restart, also one of a bucket that the platform names.
#[tokio::test(start_paused = true)]
async fn gateways_case_29_a_hold_is_in_force_after_a_restart() {
    for bucket in [None, Some("b1".to_owned()), Some("global".to_owned())] {
        let world = World::new(plain());
        let long = Failure::Wait { wait: Duration::from_secs(3_600), bucket: bucket.clone() };
        world.platform.fault("send", Fault::Fails(long));
        world.ledger.plan("p", &place("c"), markdown("one"));
        let gateway = world.start();
        world.until("the hold", |it| !it.ledger.book().holds.is_empty()).await;
        gateway.kill().await;
        // The owner forgot the time of the post.
        world.pass(61_000).await;
        world.ledger.book().posts[0].due_ms = 0;
        let _gateway = world.start();
        world.until("sent", |it| it.ledger.states() == [State::Sent]).await;
        assert!(world.age() >= 3_600_000, "{bucket:?} {}", world.age());
    }
}

/// Case 30: a chunk that is refused for good does not stop the others.
#[tokio::test(start_paused = true)]
async fn gateways_case_30_a_refused_part_is_reported_and_the_others_are_sent() {
    let world = World::new(plain());
    world.ledger.plan("p", &place("c"), three_chunks());
    let gateway = world.start();
    world.until("the first", |it| it.platform.texts("c").len() == 1).await;
    world.platform.fault("send", Fault::Fails(Failure::Refused(Refused::Other)));
    world.until("the rest", |it| it.ledger.post("p/2").state == State::Sent).await;
    assert_eq!(world.ledger.states(), [State::Sent, State::Failed(PostFailure::Refused), State::Sent]);
    drop(gateway);
}

/// Case 34: the formatting of one chunk is refused.
#[tokio::test(start_paused = true)]
async fn gateways_case_34_a_refused_formatting_is_sent_as_plain_text_from_the_source() {
    let world = World::new(plain());
    world.platform.inside().refuses_format = true;
    world.ledger.plan("p", &place("c"), markdown("**bold** and [a link](https://a.example/)"));
    let _gateway = world.start();
    world.until("sent", |it| it.ledger.states() == [State::Sent]).await;
    world.platform.inside().refuses_format = false;
    world.ledger.plan("q", &place("c"), markdown("**bold**"));
    world.until("sent", |it| it.ledger.post("q").state == State::Sent).await;
    assert_eq!(world.platform.texts("c"), ["bold and a link (https://a.example/)", "bold"]);
    assert!(world.platform.inside().messages[1].is_styled, "the next one is formatted");
    assert_eq!(world.platform.calls("send").len(), 3);
}

/// Case 39: the bot is removed in the middle of sending.
#[tokio::test(start_paused = true)]
async fn gateways_case_39_a_removed_bot_sends_nothing_until_a_probe_says_yes() {
    let world = World::new(plain());
    world.platform.inside().probe = Probe::NotPermitted;
    world.platform.fault("send", Fault::Fails(Failure::Refused(Refused::NotPermitted)));
    world.ledger.plan("p", &place("c"), markdown("one"));
    let _gateway = world.start();
    world.until("refused", |it| it.ledger.states() == [State::Failed(PostFailure::NotPermitted)]).await;
    world.ledger.plan("q", &place("c"), markdown("two"));
    world.until("refused", |it| it.ledger.post("q").state != State::Planned).await;
    assert_eq!(world.ledger.post("q").state, State::Failed(PostFailure::NotPermitted));
    assert_eq!((world.platform.calls("send").len(), world.platform.calls("probe").len()), (1, 1));
    // It is back.
    world.platform.feed(0, "k", Inbound::Membership { place: place("c"), is_member: true });
    world.until("the event", |it| it.ledger.book().cursor.is_some()).await;
    world.ledger.plan("r", &place("c"), markdown("three"));
    world.until("sent", |it| it.ledger.post("r").state == State::Sent).await;
}

/// Case 39: without an event, the platform is asked again after a while.
#[tokio::test(start_paused = true)]
async fn gateways_case_39_the_probe_asks_again_after_ten_minutes() {
    let world = World::new(plain());
    world.platform.inside().probe = Probe::NotPermitted;
    world.platform.fault("send", Fault::Fails(Failure::Refused(Refused::NotPermitted)));
    world.ledger.plan("p", &place("c"), markdown("one"));
    let _gateway = world.start();
    world.until("asked", |it| it.platform.calls("probe").len() == 1).await;
    world.platform.inside().probe = Probe::Yes { bulk: false };
    world.pass(11 * 60_000).await;
    world.ledger.plan("q", &place("c"), markdown("two"));
    world.until("sent", |it| it.ledger.post("q").state == State::Sent).await;
}

/// Case 40: a gateway that lost its lease while it was about to send does not send.
#[tokio::test(start_paused = true)]
async fn gateways_case_40_two_gateways_never_send_the_same_post() {
    let world = World::new(plain());
    world.ledger.plan("p", &place("c"), three_chunks());
    let first = world.start_as("first");
    world.until("the first part", |it| it.platform.texts("c").len() == 1).await;
    // The second one took over.
    world.ledger.book().holder = Some(("second".into(), 0));
    let second = world.start_as("second");
    world
        .until("the takeover", |it| {
            it.ledger.book().holder.as_ref().is_some_and(|(holder, until)| holder == "second" && *until > 0)
        })
        .await;
    assert!(matches!(first.end().await, Err(RuntimeError::Held { .. })));
    world.until("sent", |it| it.ledger.states() == [State::Sent, State::Sent, State::Sent]).await;
    assert_eq!(world.platform.texts("c").len(), 3);
    drop(second);
}

/// Case 45: planned posts of a turn that was taken back are never sent.
#[tokio::test(start_paused = true)]
async fn gateways_case_45_a_post_that_is_not_wanted_any_more_does_not_leave() {
    let world = World::new(plain());
    world.platform.fault("send", wait(20));
    world.ledger.plan("p", &place("c"), three_chunks());
    let gateway = world.start();
    world.until("the hold", |it| !it.ledger.book().holds.is_empty()).await;
    world.ledger.unwant(|_| true);
    world.pass(120_000).await;
    gateway.kill().await;
    let _gateway = world.start();
    world.pass(120_000).await;
    assert!(world.platform.texts("c").is_empty());
    assert!(world.ledger.states().iter().all(|state| *state == State::Cancelled));
}

/// Case 45: the post was taken back after it was leased, and before its request left.
#[tokio::test(start_paused = true)]
async fn gateways_case_45_a_leased_post_is_not_sent_when_it_was_taken_back() {
    let slow = Capabilities { spacing: [Duration::from_secs(20), Duration::ZERO], ..plain() };
    let world = World::new(slow);
    world.ledger.plan("p", &place("c"), markdown("one"));
    let thread = Place { thread: Some("t".into()), ..place("c") };
    world.ledger.plan("q", &thread, markdown("two"));
    let _gateway = world.start();
    world.until("the first", |it| it.platform.texts("c").len() == 1).await;
    world.pass(1_000).await;
    // The other one is leased, and waits for its turn. The owner cancels nothing that is leased.
    world.ledger.book().posts[1].is_wanted = false;
    world.pass(120_000).await;
    assert_eq!(world.platform.texts("c"), ["one"]);
    assert_eq!(world.ledger.post("q").state, State::Cancelled);
}

/// Case 46: taken back while its request was under way.
#[tokio::test(start_paused = true)]
async fn gateways_case_46_a_post_that_is_being_sent_is_deleted_when_its_id_is_known() {
    let world = World::new(plain());
    world.platform.fault("send", Fault::Hangs);
    world.ledger.plan("p", &place("c"), markdown("one"));
    let gateway = world.start();
    world.until("sending", |it| it.ledger.states() == [State::Sending]).await;
    world.ledger.unwant(|_| true);
    assert_eq!(world.ledger.states(), [State::Sending], "it does not count as gone");
    gateway.kill().await;
    // This platform cannot recognise it, so nobody will know, and it is not sent again.
    let _gateway = world.start();
    let unknown = State::Failed(PostFailure::GaveUp);
    world.until("given up", |it| it.ledger.states() == [unknown.clone()]).await;
    assert_eq!(world.platform.calls("send").len(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_platform_that_is_away_is_tried_again_with_growing_delays() {
    let world = World::new(plain());
    for _ in 0..5 {
        world.platform.fault("send", Fault::Fails(Failure::Unreachable));
    }
    world.ledger.plan("p", &place("c"), three_chunks());
    let _gateway = world.start();
    world.until("sent", |it| it.platform.texts("c").len() == 3).await;
    let times: Vec<i64> = world.platform.calls("send").iter().map(|it| it.at_ms).take(6).collect();
    let waits: Vec<i64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(waits.windows(2).all(|pair| pair[1] > pair[0]), "{waits:?}");
    assert!(world.platform.texts("c")[0].starts_with("one"));
}

#[tokio::test(start_paused = true)]
async fn a_token_that_is_revoked_ends_the_gateway_and_loses_nothing() {
    let world = World::new(plain());
    world.platform.fault("send", Fault::Fails(Failure::BadToken));
    world.ledger.plan("p", &place("c"), markdown("one"));
    assert_eq!(world.start().end().await, Err(RuntimeError::BadToken));
    assert_eq!(world.ledger.states(), [State::Planned]);
    let _gateway = world.start();
    world.until("sent", |it| it.ledger.states() == [State::Sent]).await;
    assert_eq!(world.platform.texts("c"), ["one"]);
}

#[tokio::test(start_paused = true)]
async fn an_edit_replaces_the_text_and_reports_the_ids_of_edits_that_are_messages() {
    for edits_are_messages in [false, true] {
        const AGAIN: &[retake_gateway::Resend] =
            &[retake_gateway::Resend::Again(Duration::from_hours(23)), retake_gateway::Resend::Find];
        let world = World::new(Capabilities { edits_are_messages, resend: AGAIN, ..plain() });
        world.platform.put(&place("c"), "x", START_MS);
        world.ledger.add_sent("p", &place("c"), &["x"], START_MS);
        // The answer of the first attempt is lost. The second one is recognised.
        world.platform.fault("edit", Fault::LostAfter);
        world.ledger.book().posts[0].edit = Some(markdown("new"));
        let _gateway = world.start();
        world.until("edited", |it| it.ledger.post("p").edit.is_none()).await;
        assert_eq!(world.platform.calls("edit").len(), 2);
        assert_eq!(world.ledger.post("p").ids.len(), if edits_are_messages { 2 } else { 1 });
        assert_eq!(world.platform.texts("c").len(), if edits_are_messages { 2 } else { 1 });
        assert_eq!(world.platform.texts("c")[0], "new");
    }
}

#[tokio::test(start_paused = true)]
async fn an_edit_of_a_message_that_is_gone_says_so() {
    let world = World::new(plain());
    world.ledger.add_sent("p", &place("c"), &["x"], START_MS);
    world.ledger.book().posts[0].edit = Some(markdown("new"));
    let _gateway = world.start();
    world.until("gone", |it| it.ledger.states() == [State::Gone(Deletion::Gone)]).await;
}

#[tokio::test(start_paused = true)]
async fn a_notice_has_its_words_and_buttons_or_a_numbered_list() {
    let turn = |text: &str| ChatButton { label: ButtonLabel::Turn { text: text.into() }, data: "d".into() };
    let buttons = vec![vec![turn("first\nline")], vec![turn("second")]];
    let content = PostContent::Notice { notice: ChatNotice::Choose, buttons };
    let chosen = "Which turn should be the first one to go?";
    for has_buttons in [true, false] {
        let world = World::new(Capabilities { buttons: has_buttons, longest: 1000, ..plain() });
        world.ledger.plan("p", &place("c"), content.clone());
        let _gateway = world.start();
        world.until("sent", |it| it.ledger.states() == [State::Sent]).await;
        let answer = "Write /rewind with the number of the turn.";
        let list = if has_buttons { String::new() } else { format!("\n1. first line\n2. second\n{answer}") };
        assert_eq!(world.platform.texts("c"), [format!("{chosen}{list}")]);
        assert_eq!(world.platform.inside().messages[0].buttons, if has_buttons { 2 } else { 0 });
    }
}

/// The button stands below the last part. Where a platform has none, people write the command.
#[tokio::test(start_paused = true)]
async fn an_answer_has_a_button_that_takes_it_back() {
    for has_buttons in [true, false] {
        let world = World::new(Capabilities { buttons: has_buttons, longest: 60, ..plain() });
        let text = "word ".repeat(20);
        let button = ChatButton { label: ButtonLabel::TakeBack, data: "1-2-0-0".into() };
        let answer = PostContent::Markdown { text, is_interrupted: false, buttons: vec![vec![button]] };
        world.ledger.plan("p", &place("c"), answer);
        let _gateway = world.start();
        world.until("sent", |it| it.ledger.states() == [State::Sent, State::Sent]).await;
        let buttons: Vec<usize> = world.platform.inside().messages.iter().map(|it| it.buttons).collect();
        assert_eq!(buttons, [0, usize::from(has_buttons)]);
    }
}

#[tokio::test(start_paused = true)]
async fn questions_about_edits_and_deleted_messages_say_what_they_take_back() {
    let (turns, files, posts, others) = (2, 0, 3, vec!["Ben".to_owned()]);
    let by = Some("Ann".to_owned());
    let rows = [
        (
            ChatNotice::ConfirmEdit { turns, files, posts, others: others.clone() },
            "You edited your message. I can answer it again in its new wording. This takes back 2 turns and 3 posts, also of Ben. \
             Do it?",
        ),
        (
            ChatNotice::ConfirmRecall { by, turns, files, posts, others },
            "Ann deleted a message. This takes back 2 turns and 3 posts, also of Ben. Do it?",
        ),
    ];
    for (notice, expected) in rows {
        let world = World::new(Capabilities { longest: 1000, ..plain() });
        world.ledger.plan("p", &place("c"), PostContent::Notice { notice, buttons: Vec::new() });
        let _gateway = world.start();
        world.until("sent", |it| it.ledger.states() == [State::Sent]).await;
        assert_eq!(world.platform.texts("c"), [expected]);
    }
}

#[tokio::test(start_paused = true)]
async fn an_answer_that_was_interrupted_says_so() {
    let world = World::new(plain());
    let content = PostContent::Markdown { text: "half".into(), is_interrupted: true, buttons: Vec::new() };
    world.ledger.plan("p", &place("c"), content);
    let _gateway = world.start();
    world.until("sent", |it| it.ledger.states() == [State::Sent]).await;
    assert_eq!(world.platform.texts("c"), ["half\n\n(interrupted)"]);
}

/// Work that waits for the rate longer than its lease is given back, so that no old wording is sent.
#[tokio::test(start_paused = true)]
async fn an_edit_that_waits_is_asked_for_again_before_it_is_made() {
    let world = World::new(Capabilities { spacing: [Duration::from_secs(20), Duration::ZERO], ..plain() });
    for at in 0..6 {
        let thread = Place { thread: Some(format!("t{at}")), ..place("c") };
        world.platform.put(&thread, &format!("x{at}"), START_MS);
        world.ledger.add_sent(&format!("p{at}"), &thread, &[&format!("x{at}")], START_MS);
        world.ledger.book().posts[at].edit = Some(markdown("old"));
    }
    let _gateway = world.start();
    world.until("the first", |it| it.ledger.book().posts[0].edit.is_none()).await;
    world.ledger.book().posts[5].edit = Some(markdown("new"));
    world.until("all", |it| it.ledger.book().posts.iter().all(|post| post.edit.is_none())).await;
    assert_eq!(world.platform.texts("c"), ["old", "old", "old", "old", "old", "new"]);
    assert_eq!(world.platform.calls("edit").len(), 6);
}

/// Parts that were taken together keep their order when one of them is delayed.
#[tokio::test(start_paused = true)]
async fn no_part_passes_one_that_will_be_due_again() {
    let faults = [
        Fault::Fails(Failure::Unreachable),
        Fault::Fails(Failure::Unknown),
        Fault::Fails(Failure::Wait { wait: Duration::from_secs(5), bucket: Some("other".into()) }),
        wait(90),
    ];
    for fault in faults {
        let world = World::new(Capabilities { resend: &[retake_gateway::Resend::Find], ..plain() });
        world.ledger.book().gives_all = true;
        for (at, text) in ["one", "two", "three", "four"].iter().enumerate() {
            world.ledger.plan(&format!("p{at}"), &place("c"), markdown(text));
        }
        world.platform.fault("send", fault.clone());
        let _gateway = world.start();
        world.until("all", |it| it.platform.texts("c").len() == 4).await;
        assert_eq!(world.platform.texts("c"), ["one", "two", "three", "four"], "{fault:?}");
    }
}

/// A gateway that is stopped lets the calls end that have begun, and begins no others.
#[tokio::test(start_paused = true)]
async fn a_stopped_gateway_reports_its_last_calls_and_does_not_wait_for_ever() {
    for (slow, expected) in [(2_000, State::Sent), (60_000, State::Sending)] {
        let world = World::new(plain());
        world.platform.fault("send", Fault::Slow(slow));
        world.ledger.plan("p", &place("c"), markdown("one"));
        world.ledger.plan("q", &place("d"), markdown("two"));
        let (gateway, stop) = world.start_with_stop();
        world.until("sending", |it| it.platform.calls("send").len() == 2).await;
        world.ledger.plan("r", &place("e"), markdown("three"));
        stop.send(()).expect("it runs");
        assert_eq!(gateway.end().await, Ok(()));
        assert!(world.age() < 6_000, "{}", world.age());
        assert_eq!(world.ledger.post("p").state, expected);
        assert!(world.platform.texts("e").is_empty());
    }
}

/// A gateway that is stopped gives back what it has not begun: the next one need not wait for the end of a lease.
#[tokio::test(start_paused = true)]
async fn a_stopped_gateway_gives_back_what_it_has_not_begun() {
    let world = World::new(plain());
    world.ledger.book().gives_all = true;
    world.platform.fault("send", Fault::Slow(2_000));
    world.ledger.plan("p", &place("c"), markdown("one"));
    world.ledger.plan("q", &place("c"), markdown("two"));
    let (gateway, stop) = world.start_with_stop();
    world.until("sending", |it| it.platform.calls("send").len() == 1).await;
    stop.send(()).expect("it runs");
    assert_eq!(gateway.end().await, Ok(()));
    assert_eq!((world.ledger.post("p").state, world.ledger.post("q").state), (State::Sent, State::Planned));
    let _next = world.start();
    world.until("the next one sends", |it| it.platform.texts("c") == ["one", "two"]).await;
    assert!(world.age() < 20_000, "{}", world.age());
}
