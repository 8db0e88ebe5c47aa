//! The states of posts.

use super::*;
use crate::chat::post_counts;

const NOW: Time = Time(1_000_000);

fn planned() -> Post {
    let place = ChatPlace { account: "chat".to_owned(), chat: "1".to_owned(), thread: None };
    Post::planned(place, PostKind::Answer(Seq(2)), None, NOW)
}

fn sending(post: Post) -> Post {
    post.settled(PostResult::Sending { parts: 1, digest: "d".to_owned() }, NOW)
}

fn sent(post: Post, deadline: Option<i64>, deletable: bool) -> Post {
    let ids = vec!["7".to_owned()];
    post.settled(PostResult::Sent { ids, at: NOW, deadline: deadline.map(Time), deletable }, NOW)
}

fn unwanted(post: Post) -> Post {
    post.wanted(false, OpNo(3), NOW)
}

#[test]
fn post_that_is_taken_back_is_cancelled_deleted_or_stays_with_its_cause() {
    let there = || sent(sending(planned()), None, true);
    let rows = [
        (unwanted(planned()), PostState::Cancelled, false),
        (unwanted(there()), PostState::Deleting, true),
        (unwanted(sent(sending(planned()), None, false)), PostState::Stays(StayCause::NoWay), false),
        (
            unwanted(sent(sending(planned()), Some(NOW.0 - 1), true)),
            PostState::Stays(StayCause::TooOld),
            false,
        ),
        (sent(unwanted(sending(planned())), None, true), PostState::Deleting, true),
        (unwanted(there()).wanted(true, OpNo(4), NOW), PostState::Sent, false),
        (unwanted(planned()).wanted(true, OpNo(4), NOW), PostState::Planned, true),
        // A second part waits for the first.
        (unwanted(Post { part: (1, 2), ..planned() }).wanted(true, OpNo(4), NOW), PostState::Planned, false),
        (
            unwanted(there()).settled(PostResult::Deleted(Deletion::Emptied), NOW),
            PostState::Gone(Deletion::Emptied),
            false,
        ),
    ];
    for (at, (post, state, is_due)) in rows.into_iter().enumerate() {
        assert_eq!((post.state, post.due.is_some()), (state, is_due), "row {at}");
    }
}

#[test]
fn request_that_did_not_leave_is_cancelled_if_it_was_taken_back_meanwhile() {
    let refused = unwanted(sending(planned())).settled(PostResult::Later(Time(NOW.0 + 5)), NOW);
    assert_eq!((refused.state, refused.due), (PostState::Cancelled, None));
    let again = refused.wanted(true, OpNo(4), NOW);
    assert_eq!((again.state, again.is_done, again.due), (PostState::Planned, false, Some(NOW)));
    let other = sending(planned()).settled(PostResult::Later(Time(NOW.0 + 5)), NOW);
    assert_eq!((other.state, other.due), (PostState::Planned, Some(Time(NOW.0 + 5))));
}

#[test]
fn post_of_an_erased_entry_is_taken_back_without_its_digest_and_for_ever() {
    let erased = |post: Post| post.erased(OpNo(3), NOW);
    let lost = || sending(planned()).settled(PostResult::Lost, NOW);
    let rows = [
        (erased(planned()), PostState::Cancelled, false),
        (erased(sent(sending(planned()), None, true)), PostState::Deleting, true),
        (erased(unwanted(planned())), PostState::Cancelled, false),
        // Nobody can look for these any more. One whose id comes is deleted.
        (erased(sending(planned())), PostState::Sending, false),
        (erased(lost()), PostState::Lost, false),
        (erased(sending(planned())).settled(PostResult::Lost, NOW), PostState::Lost, false),
        (sent(erased(sending(planned())), None, true), PostState::Deleting, true),
    ];
    for (at, (post, state, is_due)) in rows.into_iter().enumerate() {
        assert_eq!((post.state, post.due.is_some()), (state, is_due), "row {at}");
        assert!(post.attempt.as_ref().is_none_or(|(digest, _)| digest.is_empty()), "row {at}");
        let again = post.clone().wanted(true, OpNo(4), NOW);
        assert_eq!(again.state, state, "row {at}: an undo does not bring it back");
    }
}

#[test]
fn post_that_is_gone_never_comes_back_by_itself() {
    let gone =
        unwanted(sent(sending(planned()), None, true)).settled(PostResult::Deleted(Deletion::Gone), NOW);
    for after in
        [gone.clone().wanted(true, OpNo(4), NOW), sending(gone.clone()), sent(gone.clone(), None, true)]
    {
        assert_eq!((after.state, after.due), (PostState::Gone(Deletion::Gone), None));
    }
}

#[test]
fn lost_post_stays_unknown_until_the_platform_knows_it() {
    let lost = sending(planned()).settled(PostResult::Lost, NOW);
    assert_eq!((lost.state, lost.task()), (PostState::Lost, Some(PostTask::Resend)));
    let given_up = lost.clone().settled(PostResult::Failed(PostFailure::GaveUp), NOW);
    assert_eq!((given_up.state, given_up.due), (PostState::Lost, None));
    assert_eq!(post_counts([given_up].iter()).unknown, 1);
    let absent = unwanted(lost).settled(PostResult::Deleted(Deletion::Gone), NOW);
    assert_eq!(absent.state, PostState::Gone(Deletion::Gone));
}

#[test]
fn deletion_is_tried_until_its_deadline_or_for_a_day() {
    let deleting = |deadline| unwanted(sent(sending(planned()), deadline, true));
    let day = NOW.0 + TRIED_MS;
    let rows = [
        (deleting(None), NOW.0 + 5, PostState::Deleting),
        (deleting(None), day + 1, PostState::Stays(StayCause::GaveUp)),
        (deleting(Some(NOW.0 + 9)), NOW.0 + 8, PostState::Deleting),
        (deleting(Some(NOW.0 + 9)), NOW.0 + 10, PostState::Stays(StayCause::TooOld)),
    ];
    for (post, at, state) in rows {
        assert_eq!(post.settled(PostResult::Later(Time(at)), NOW).state, state, "{at}");
    }
    // Work that is only given back is no failure, however often.
    let back =
        (0..20).fold(deleting(None), |post, at| post.settled(PostResult::Later(Time(NOW.0 + at)), NOW));
    assert_eq!(back.state, PostState::Deleting);
}

#[test]
fn sum_of_the_counts_is_the_number_of_posts_that_are_or_were_in_the_chat() {
    let there = || sent(sending(planned()), None, true);
    let posts = [
        unwanted(planned()),
        unwanted(there()),
        unwanted(sending(planned())),
        unwanted(sent(sending(planned()), None, false)),
        unwanted(there()).settled(PostResult::Deleted(Deletion::Asked), NOW),
        unwanted(there()).settled(PostResult::Stays(StayCause::HasReplies), NOW),
    ];
    let counts = post_counts(posts.iter());
    assert_eq!((counts.sum(), counts.trying, counts.unknown, counts.asked), (5, 1, 1, 1));
    assert_eq!(counts.stays, [(StayCause::NoWay, 1), (StayCause::HasReplies, 1)]);
}

/// An undo keeps a post whose deletion has not begun. Once its request may have left, only the platform knows.
#[test]
fn undo_keeps_a_post_unless_the_request_for_its_deletion_may_have_left() {
    let sent = PostResult::Sent { ids: vec!["1".into()], at: Time(1), deadline: None, deletable: true };
    let sending = PostResult::Sending { parts: 1, digest: "d".into() };
    let post = Post::planned(ChatPlace::default(), PostKind::Answer(Seq(1)), None, Time(0));
    let post = post.settled(sending, Time(1)).settled(sent, Time(2)).wanted(false, OpNo(1), Time(3));
    assert_eq!(post.clone().wanted(true, OpNo(2), Time(4)).state, PostState::Sent);
    let deleting = |untouched| PostResult::Deleting { untouched };
    let left = post.settled(deleting(false), Time(4)).wanted(true, OpNo(2), Time(5));
    assert_eq!((left.state, left.op), (PostState::Deleting, None));
    let after = |result| left.clone().settled(result, Time(6)).state;
    assert_eq!(after(PostResult::Deleted(Deletion::Gone)), PostState::Gone(Deletion::Gone));
    // The platform says that it did nothing.
    assert_eq!(after(PostResult::Stays(StayCause::NotPermitted)), PostState::Sent);
    assert_eq!(after(PostResult::Later(Time(9))), PostState::Sent);
    assert_eq!(after(deleting(true)), PostState::Sent);
    // Nobody knows: a post of a turn on the path is not deleted once more. A later rewind makes it certain.
    assert_eq!(after(PostResult::Lost), PostState::Lost);
    assert_eq!(after(deleting(false)), PostState::Lost);
    let lost = left.clone().settled(PostResult::Lost, Time(6));
    assert_eq!((lost.task(), lost.due), (Some(PostTask::Resend), None));
    assert_eq!(lost.clone().wanted(true, OpNo(3), Time(7)).state, PostState::Lost);
    assert_eq!(lost.wanted(false, OpNo(3), Time(7)).task(), Some(PostTask::Delete));
    // A redo takes it back again.
    let redone = left.wanted(false, OpNo(3), Time(6)).settled(PostResult::Later(Time(9)), Time(7));
    assert_eq!((redone.state, redone.op), (PostState::Deleting, Some(OpNo(3))));
}
