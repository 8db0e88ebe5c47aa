//! The words about posts.

use retake_wire::chat::{Place, PostCounts, StayCause, StayCount};
use retake_wire::reply::{PlacePosts, PostChanges, StepPosts};

use super::{Step, brief, posts, stays};
use crate::text::Look;

const LOOK: Look = Look { columns: 100, now_ms: 0, ids: false };

fn one(changes: PostChanges) -> StepPosts {
    let place = Place { account: "work".to_owned(), chat: "!a\u{1b}:hs".to_owned(), thread: None };
    let places = vec![PlacePosts { place, changes: changes.clone() }];
    StepPosts { all: changes, place_count: 1, places }
}

fn told(changes: PostChanges) -> [String; 2] {
    [Step::Planned, Step::Done].map(|step| posts(&LOOK, &one(changes.clone()), step).to_string())
}

#[test]
fn posts_to_be_deleted_are_named_with_their_place() {
    let taken_back = PostCounts { trying: 3, ..PostCounts::default() };
    let changes = PostChanges { taken_back, unsent: 1, ..PostChanges::default() };
    assert!(!stays(&changes));
    assert_eq!(
        told(changes),
        [
            "posts in work in !a␛:hs: 3 to be deleted, 1 not to be sent any more\n",
            "posts in work in !a␛:hs: 3 being deleted, 1 never sent\n"
        ]
    );
}

#[test]
fn posts_that_stay_are_a_warning_with_the_reason() {
    let why = |why, count| StayCount { why, count };
    let taken_back = PostCounts {
        gone: 2,
        emptied: 1,
        unknown: 1,
        stays: vec![why(StayCause::TooOld, 1), why(StayCause::NoWay, 2)],
        ..PostCounts::default()
    };
    let changes = PostChanges { taken_back, ..PostChanges::default() };
    assert!(stays(&changes));
    let rest = "1 may stay: sent, but the platform's answer was lost, 1 stays: too old, 2 stay: the platform has no way to delete them";
    let joined = told(changes).map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    assert_eq!(
        joined,
        [
            format!("! posts in work in !a␛:hs: {rest}"),
            format!("! posts in work in !a␛:hs: 2 gone, 1 emptied; the empty message stays, {rest}")
        ]
    );
}

#[test]
fn posts_that_an_undo_does_not_bring_back_are_a_warning() {
    let changes = PostChanges { kept: 2, lost: 3, to_send: 1, ..PostChanges::default() };
    let expected =
        "! posts in work in !a␛:hs: 2 still in the chat, 3 gone and not posted again, 1 to be sent\n";
    assert_eq!(told(changes), [expected, expected]);
}

#[test]
fn one_line_has_the_sum_of_all_places() {
    assert_eq!(brief(&StepPosts::default(), Step::Planned), None);
    let changes = PostChanges { unsent: 4, ..PostChanges::default() };
    let two = StepPosts { place_count: 2, ..one(changes) };
    let line = brief(&two, Step::Planned);
    assert_eq!(line.as_deref(), Some("posts in chats: 4 not to be sent any more in 2 places"));
}
