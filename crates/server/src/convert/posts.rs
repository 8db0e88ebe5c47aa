//! Posts in chats: core's values as those of the wire. Must never decide anything.

use retake_core::{ChatOrigin, ChatPlace, PostCounts, StayCause};
use retake_wire::chat as wire;
use retake_wire::reply::{EntryOrigin, PlacePosts, PostChanges, StepPosts};

/// The most places of a step that are listed.
const PLACES: usize = 20;

/// What a step does to posts.
pub(crate) fn step(places: Vec<retake_core::PlacePosts>) -> StepPosts {
    let mut all = retake_core::PlacePosts::default();
    places.iter().for_each(|place| all.add(place));
    StepPosts {
        all: changes(&all),
        place_count: places.len() as u64,
        places: places
            .into_iter()
            .take(PLACES)
            .map(|posts| PlacePosts { changes: changes(&posts), place: place(posts.place) })
            .collect(),
    }
}

fn changes(posts: &retake_core::PlacePosts) -> PostChanges {
    PostChanges {
        taken_back: post_counts(posts.taken_back.clone()),
        unsent: posts.unsent,
        kept: posts.kept,
        lost: posts.lost,
        to_send: posts.to_send,
    }
}

pub(crate) fn origin(origin: ChatOrigin) -> EntryOrigin {
    EntryOrigin { place: place(origin.place), message: origin.message, person: origin.person }
}

pub(crate) fn place(place: ChatPlace) -> wire::Place {
    wire::Place { account: place.account, chat: place.chat, thread: place.thread }
}

pub(crate) fn post_counts(counts: PostCounts) -> wire::PostCounts {
    let stays =
        counts.stays.iter().map(|(why, count)| wire::StayCount { why: stay_cause(*why), count: *count });
    wire::PostCounts {
        gone: counts.gone,
        emptied: counts.emptied,
        asked: counts.asked,
        trying: counts.trying,
        unknown: counts.unknown,
        stays: stays.collect(),
    }
}

pub(crate) fn stay_cause_in(why: wire::StayCause) -> StayCause {
    match why {
        wire::StayCause::TooOld => StayCause::TooOld,
        wire::StayCause::NotPermitted => StayCause::NotPermitted,
        wire::StayCause::NoWay => StayCause::NoWay,
        wire::StayCause::HasReplies => StayCause::HasReplies,
        wire::StayCause::ClosedThread => StayCause::ClosedThread,
        wire::StayCause::Kept => StayCause::Kept,
        wire::StayCause::GaveUp => StayCause::GaveUp,
    }
}

pub(crate) fn stay_cause(why: StayCause) -> wire::StayCause {
    match why {
        StayCause::TooOld => wire::StayCause::TooOld,
        StayCause::NotPermitted => wire::StayCause::NotPermitted,
        StayCause::NoWay => wire::StayCause::NoWay,
        StayCause::HasReplies => wire::StayCause::HasReplies,
        StayCause::ClosedThread => wire::StayCause::ClosedThread,
        StayCause::Kept => wire::StayCause::Kept,
        StayCause::GaveUp => wire::StayCause::GaveUp,
    }
}
