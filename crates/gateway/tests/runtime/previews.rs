//! Previews: made at once or not at all, as plain text, in one post.

use std::time::Duration;

use retake_gateway::{Failure, Refused};
use retake_wire::chat::*;

use super::kit::*;
use super::ledger::{State, markdown};
use super::platform::{Fault, plain};

fn preview(text: &str) -> PostContent {
    PostContent::Preview { text: text.into() }
}

fn wait(seconds: u64) -> Fault {
    Fault::Fails(Failure::Wait { wait: Duration::from_secs(seconds), bucket: None })
}

#[tokio::test(start_paused = true)]
async fn a_preview_is_the_beginning_of_the_text_in_one_post() {
    let world = World::new(plain());
    world.ledger.plan("p", &place("c"), preview("**one**"));
    let _gateway = world.start();
    world.until("sent", |it| it.ledger.states() == [State::Sent]).await;
    assert_eq!(world.platform.texts("c"), ["**one**"], "plain text");
    assert_eq!(world.ledger.post("p").told_parts, 1);
    world.ledger.book().posts[0].edit = Some(preview(&"one ".repeat(60)));
    world.ledger.wake();
    world.until("edited", |it| it.ledger.post("p").edit.is_none()).await;
    let texts = world.platform.texts("c");
    assert!(
        texts.len() == 1 && texts[0].starts_with("one one") && texts[0].chars().count() <= 95,
        "{texts:?}"
    );
    assert!(world.ledger.post("p").told_parts > 1, "there is more than the post shows");
    world.ledger.plan("q", &place("d"), preview(""));
    world.until("sent", |it| it.ledger.post("q").state == State::Sent).await;
    assert_eq!(world.platform.texts("d"), ["…"]);
}

#[tokio::test(start_paused = true)]
async fn gateways_case_28_no_preview_is_made_during_a_hold() {
    let world = World::new(plain());
    world.ledger.plan("p", &place("c"), preview("one"));
    let _gateway = world.start();
    world.until("sent", |it| it.ledger.states() == [State::Sent]).await;
    world.platform.fault("edit", wait(40));
    let edit = |text: &str| {
        world.ledger.book().posts[0].edit = Some(preview(text));
        world.ledger.wake();
    };
    edit("one two");
    world.until("the hold", |it| !it.ledger.book().holds.is_empty()).await;
    let held = world.age();
    // The owner asks too early.
    world.ledger.book().posts[0].due_ms = 0;
    edit("one two three");
    world.pass(30_000).await;
    assert_eq!(world.platform.calls("edit").len(), 1, "the hold is in force");
    world.ledger.book().posts[0].edit = Some(markdown("one two three four"));
    world.ledger.wake();
    world.until("the answer", |it| it.platform.texts("c") == ["one two three four"]).await;
    assert!(world.age() >= held + 40_000, "{} {held}", world.age());
}

#[tokio::test(start_paused = true)]
async fn a_preview_that_is_not_wanted_any_more_or_refused_changes_nothing() {
    let world = World::new(plain());
    world.ledger.plan("p", &place("c"), preview("one"));
    let _gateway = world.start();
    world.until("sent", |it| it.ledger.states() == [State::Sent]).await;
    world.platform.fault("edit", Fault::Fails(Failure::Refused(Refused::Other)));
    world.ledger.book().posts[0].edit = Some(preview("one two"));
    world.ledger.wake();
    world.until("refused", |it| it.ledger.post("p").edit.is_none()).await;
    assert!(world.log.lines().contains(&"edit failed Refused".to_owned()), "{:?}", world.log.lines());
    assert_eq!(world.platform.texts("c"), ["one"]);
    // Taken back after it was leased: the gateway asks before the call.
    {
        let mut book = world.ledger.book();
        book.posts[0].edit = Some(preview("one two three"));
        book.unwant_when_leased = true;
    }
    world.ledger.wake();
    world.until("gone", |it| it.platform.texts("c").is_empty()).await;
    assert_eq!(world.platform.calls("edit").len(), 1);
}
