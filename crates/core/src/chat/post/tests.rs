//! The states of posts.

use super::*;
use crate::chat::post_counts;

const NOW: Time = Time(1_000_000);

fn planned() -> Post {
    let place = ChatPlace { account: "chat".to_owned(), chat: "1".to_owned(), thread: None };
    Post::planned(place, PostKind::Answer(Seq(2)), None, NOW)
}

fn sending(post: Post) -> Post {
    post.settled(PostResult::Sending { parts: 1, digest: "d".to_owned(), is_preview: false }, NOW)
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
        assert!(post.attempt.as_ref().is_none_or(|attempt| attempt.digest.is_empty()), "row {at}");
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
    let post = unwanted(sent(sending(planned()), None, true));
    let back = |post: &Post| post.clone().wanted(true, OpNo(8), NOW);
    assert_eq!(back(&post).state, PostState::Sent);
    let deleting = |untouched| PostResult::Deleting { untouched };
    let left = back(&post.clone().settled(deleting(false), NOW));
    assert_eq!((left.state, left.op), (PostState::Deleting, None));
    let after = |result| left.clone().settled(result, NOW);
    assert_eq!(after(PostResult::Deleted(Deletion::Gone)).state, PostState::Gone(Deletion::Gone));
    // The platform says that it did nothing.
    for result in [PostResult::Stays(StayCause::NotPermitted), PostResult::Later(NOW), deleting(true)] {
        assert_eq!(after(result.clone()).state, PostState::Sent, "{result:?}");
    }
    // Nobody knows: a post of a turn on the path is not deleted once more.
    for result in [PostResult::Lost, deleting(false)] {
        let lost = after(result);
        assert!(lost.may_be_gone());
        assert_eq!((lost.task(), lost.due), (None, None));
    }
    // Its gateway has ended: the next one does nothing.
    let taken = left.clone().leased(NOW);
    assert_eq!((taken.may_be_gone(), taken.task(), taken.due), (true, None, None));
    // A redo takes it back again.
    let redone = left.wanted(false, OpNo(9), NOW).settled(PostResult::Later(NOW), NOW);
    assert_eq!((redone.state, redone.op), (PostState::Deleting, Some(OpNo(9))));
}

/// Once the answer to a deletion was lost, a later refusal does not say that the post is there.
#[test]
fn post_of_which_a_deletion_was_lost_is_in_doubt_until_it_is_gone() {
    let post = unwanted(sent(sending(planned()), None, true));
    let sends = |post: Post| post.settled(PostResult::Deleting { untouched: false }, NOW);
    for lost in [sends(post.clone()).settled(PostResult::Lost, NOW), sends(sends(post))] {
        assert!(lost.may_be_gone());
        assert_eq!((lost.task(), post_counts([&lost].into_iter()).trying), (Some(PostTask::Delete), 1));
        let refused = sends(lost.clone()).settled(PostResult::Stays(StayCause::NotPermitted), NOW);
        assert_eq!((post_counts([&refused].into_iter()).unknown, refused.due), (1, None));
        let later = sends(lost.clone()).settled(PostResult::Later(Time(NOW.0 + 9)), NOW);
        assert_eq!((later.due, later.task()), (Some(Time(NOW.0 + 9)), Some(PostTask::Delete)));
        for post in [lost, refused, later] {
            let back = post.wanted(true, OpNo(8), NOW);
            assert_eq!((back.may_be_gone(), back.task(), back.due), (true, None, None));
            // A later step makes it certain.
            let again = back.wanted(false, OpNo(9), NOW);
            assert_eq!((again.task(), again.due), (Some(PostTask::Delete), Some(NOW)));
            let gone = again.settled(PostResult::Deleted(Deletion::Gone), NOW);
            assert_eq!((gone.state, gone.op), (PostState::Gone(Deletion::Gone), Some(OpNo(9))));
        }
    }
}

/// A request whose answer was lost is counted, also if the gateway ended: where a post cannot be recognised, it is sent once more only.
#[test]
fn requests_that_may_have_worked_are_counted() {
    let lost = |post: &Post| post.attempt.as_ref().map(|attempt| attempt.lost);
    let first = sending(planned());
    assert_eq!(lost(&first), Some(0));
    // It left, and nobody reported. Then its answer was lost. Then it did not leave.
    let second = sending(first);
    assert_eq!(lost(&second), Some(1));
    let third = second.settled(PostResult::Lost, NOW);
    assert_eq!((third.state, lost(&third)), (PostState::Lost, Some(2)));
    let fourth = sending(third).settled(PostResult::Later(Time(NOW.0 + 1)), NOW);
    assert_eq!(
        (fourth.state, lost(&fourth), fourth.task()),
        (PostState::Lost, Some(2), Some(PostTask::Resend))
    );
    // None may have worked.
    let other = sending(planned()).settled(PostResult::Later(Time(NOW.0 + 1)), NOW);
    assert_eq!((other.state, other.task()), (PostState::Planned, Some(PostTask::Send)));
}

/// An edit that the platform refuses is over: the post keeps its words, and is not tried for ever.
#[test]
fn refused_edit_of_a_notice_is_over() {
    let notice = Post::planned(ChatPlace::default(), PostKind::Notice(ChatNotice::default()), None, NOW);
    let shown = Post { due: Some(NOW), ..sent(sending(notice), None, true) };
    assert_eq!(shown.task(), Some(PostTask::Edit));
    let refused = shown.clone().settled(PostResult::Failed(PostFailure::Refused), NOW);
    assert_eq!((refused.state, refused.task(), refused.is_done), (PostState::Sent, None, true));
    let given_up = shown.settled(PostResult::Later(Time(NOW.0 + TRIED_MS + 1)), NOW);
    assert_eq!((given_up.state, given_up.task()), (PostState::Sent, None));
}
