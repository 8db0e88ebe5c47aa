//! Previews with a virtual clock. Must never wait.

mod random;

use std::time::Duration;

use retake_wire::chat::Audience;

use super::{Action, Finish, Input, Preview};
use crate::capabilities::{LengthUnit, Streaming};

fn preview(how: Streaming) -> Preview {
    Preview::new(Some(how), Audience::Private, 4000, LengthUnit::Utf16)
}

/// A text of so many characters in one paragraph.
fn text(length: usize) -> String {
    "a".repeat(length)
}

fn wait(seconds: u64) -> Input<'static> {
    Input::Wait(Duration::from_secs(seconds))
}

/// A preview by edit whose first post, of 100 characters, was sent at 1,500.
fn posted() -> Preview {
    let mut it = preview(Streaming::Edit);
    assert_eq!(it.step(Input::Text("a"), 0), Action::Nothing(Some(1500)));
    assert_eq!(it.step(Input::Text(&text(100)), 1500), Action::Post(100));
    assert_eq!(it.step(Input::Done, 1500), Action::Nothing(Some(3500)));
    it
}

#[test]
fn first_post_is_sent_one_and_a_half_seconds_after_the_first_text() {
    let mut it = preview(Streaming::Edit);
    assert_eq!(it.step(Input::Text(" \n"), 0), Action::Nothing(None), "white space is no text");
    assert_eq!(it.step(Input::Text("a"), 1000), Action::Nothing(Some(2500)));
    assert_eq!(it.step(Input::Text("ab"), 2499), Action::Nothing(Some(2500)));
    assert_eq!(it.step(Input::Text("abc "), 2500), Action::Post(3));
    assert_eq!(it.step(Input::Text("abc d"), 9000), Action::Nothing(None), "a call is being made");
}

#[test]
fn edits_need_time_and_enough_new_text() {
    let mut it = posted();
    assert_eq!(it.step(Input::Text(&text(299)), 9000), Action::Nothing(None), "199 characters more");
    assert_eq!(it.step(Input::Text(&text(300)), 3499), Action::Nothing(Some(3500)));
    assert_eq!(it.step(Input::Text(&text(300)), 3500), Action::Edit(300));
    it.step(Input::Done, 3600);
    let paragraph = format!("{}\n\nb", text(300));
    assert_eq!(it.step(Input::Text(&paragraph), 5600), Action::Edit(303));
}

#[test]
fn edits_are_rarer_in_shared_places() {
    let mut it = Preview::new(Some(Streaming::Edit), Audience::Shared, 4000, LengthUnit::Utf16);
    it.step(Input::Text("a"), 0);
    assert_eq!(it.step(Input::Text("a"), 1500), Action::Post(1));
    assert_eq!(it.step(Input::Done, 1500), Action::Nothing(Some(6500)));
    assert_eq!(it.step(Input::Text(&text(900)), 6499), Action::Nothing(Some(6500)));
}

#[test]
fn each_wait_halves_the_rate() {
    let mut it = posted();
    let mut now = 100_000;
    for (number, every) in [(1, 4000), (2, 8000), (3, 16_000)] {
        assert_eq!(it.step(Input::Text(&text(1000 * number)), now), Action::Edit(1000 * number));
        it.step(wait(30), now);
        assert_eq!(
            it.step(Input::Text(&text(1000 * number)), now + 29_999),
            Action::Nothing(Some(now + 30_000))
        );
        now += 30_000;
        assert_eq!(it.step(Input::Text(&text(1000 * number)), now), Action::Edit(1000 * number));
        assert_eq!(it.step(Input::Done, now), Action::Nothing(Some(now + every)));
        now += 100_000;
    }
}

#[test]
fn gateways_case_28_final_text_waits_for_the_hold_and_is_shown() {
    let mut it = posted();
    assert_eq!(it.step(Input::Text(&text(500)), 9000), Action::Edit(500));
    assert_eq!(it.step(Input::Complete(&text(600)), 9100), Action::Nothing(None), "a call is being made");
    assert_eq!(it.step(wait(40), 9200), Action::Nothing(Some(49_200)));
    assert_eq!(it.step(Input::Text(&text(600)), 49_199), Action::Nothing(Some(49_200)));
    assert_eq!(it.step(Input::Text(&text(600)), 49_200), Action::Finish(Finish::Edit));
    assert_eq!(it.step(Input::Text(&text(600)), 99_000), Action::Nothing(None));
    assert_eq!(it.step(Input::Complete(&text(600)), 99_000), Action::Nothing(None));
}

#[test]
fn answer_that_is_complete_at_once_has_no_preview() {
    let mut it = preview(Streaming::Edit);
    it.step(Input::Text("a"), 0);
    assert_eq!(it.step(Input::Complete("a b"), 100), Action::Finish(Finish::Send));
    let mut it = Preview::new(None, Audience::Private, 4000, LengthUnit::Utf16);
    assert_eq!(it.step(Input::Text("a"), 5000), Action::Nothing(None));
    assert_eq!(it.step(Input::Complete("a b"), 6000), Action::Finish(Finish::Send));
}

#[test]
fn gateways_case_36_preview_that_cannot_be_edited_is_deleted_after_the_new_posts() {
    let mut it = posted();
    assert_eq!(it.step(Input::Text(&text(500)), 9000), Action::Edit(500));
    it.step(Input::Refused, 9000);
    assert_eq!(it.step(Input::Text(&text(900)), 99_000), Action::Nothing(None));
    assert_eq!(it.step(Input::Complete(&text(900)), 99_000), Action::Finish(Finish::SendAndDelete));
}

#[test]
fn gateways_case_37_run_that_is_stopped_leaves_no_empty_preview() {
    assert_eq!(preview(Streaming::Edit).step(Input::Stopped(""), 0), Action::Finish(Finish::Nothing));
    assert_eq!(posted().step(Input::Stopped(" "), 0), Action::Finish(Finish::Delete));
    assert_eq!(posted().step(Input::Stopped("a"), 0), Action::Finish(Finish::Edit));
}

#[test]
fn first_post_whose_answer_was_lost_is_not_sent_again_as_a_preview() {
    let mut it = preview(Streaming::Edit);
    it.step(Input::Text("a"), 0);
    assert_eq!(it.step(Input::Text("a"), 1500), Action::Post(1));
    it.step(Input::Lost, 2000);
    assert_eq!(it.step(Input::Text(&text(999)), 99_000), Action::Nothing(None));
    assert_eq!(it.step(Input::Complete("b"), 99_000), Action::Finish(Finish::Send));
    // An edit can be repeated.
    let mut it = posted();
    assert_eq!(it.step(Input::Text(&text(500)), 9000), Action::Edit(500));
    it.step(Input::Lost, 9000);
    assert_eq!(it.step(Input::Text(&text(500)), 11_000), Action::Edit(500));
}

#[test]
fn preview_that_was_dropped_is_tried_again_when_there_is_time() {
    let mut it = preview(Streaming::Edit);
    it.step(Input::Text("a"), 0);
    assert_eq!(it.step(Input::Text("a"), 1500), Action::Post(1));
    assert_eq!(it.step(Input::Dropped, 1500), Action::Nothing(Some(2500)));
    assert_eq!(it.step(Input::Text("ab"), 2499), Action::Nothing(Some(2500)));
    assert_eq!(it.step(Input::Text("ab"), 2500), Action::Post(2));
}

#[test]
fn preview_stays_within_one_post() {
    let mut it = Preview::new(Some(Streaming::Edit), Audience::Private, 250, LengthUnit::Utf16);
    it.step(Input::Text("a"), 0);
    assert_eq!(it.step(Input::Text(&"😀".repeat(200)), 1500), Action::Post(500));
    it.step(Input::Done, 1500);
    assert_eq!(it.step(Input::Text(&"😀".repeat(900)), 9000), Action::Nothing(None));
}

#[test]
fn draft_is_shown_again_before_it_ends_and_is_followed_by_a_post() {
    let mut it = preview(Streaming::Draft);
    it.step(Input::Text("a"), 0);
    assert_eq!(it.step(Input::Text("a"), 1500), Action::Draft(1));
    it.step(Input::Done, 1500);
    assert_eq!(it.step(Input::Text("ab"), 2000), Action::Nothing(Some(26_500)));
    assert_eq!(it.step(Input::Text("ab"), 26_500), Action::Draft(2));
    it.step(Input::Done, 26_500);
    assert!(!it.has_post());
    assert_eq!(it.step(Input::Complete("ab"), 27_000), Action::Finish(Finish::Send));
}

#[test]
fn appending_never_repeats_a_part() {
    let mut it = preview(Streaming::Append);
    it.step(Input::Text("a"), 0);
    assert_eq!(it.step(Input::Text("ab "), 1500), Action::Append(0, 2));
    it.step(Input::Done, 1500);
    let more = format!("ab {}", text(250));
    assert_eq!(it.step(Input::Text(&more), 3500), Action::Append(2, 253));
    it.step(Input::Done, 3500);
    assert_eq!(it.step(Input::Complete(&format!("{more} end")), 3600), Action::Finish(Finish::Append(253)));
}

#[test]
fn message_with_another_beginning_than_the_answer_is_replaced() {
    let mut it = preview(Streaming::Append);
    it.step(Input::Text("a"), 0);
    it.step(Input::Text("ab"), 1500);
    it.step(Input::Done, 1500);
    assert_eq!(it.step(Input::Text("other"), 9000), Action::Nothing(None));
    assert_eq!(it.step(Input::Complete("other"), 9000), Action::Finish(Finish::SendAndDelete));
    // A post can be edited to any text.
    let mut it = posted();
    assert_eq!(it.step(Input::Text("other"), 9000), Action::Edit(5));
}
