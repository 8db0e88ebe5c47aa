//! What a step does to posts, before it is made and afterwards. Must never say that a post goes that may stay.

use std::collections::BTreeMap;

use super::{ChatPlace, Post, PostCounts, PostKind, PostState};
use crate::id::{OpNo, Time};

/// What a step does to the posts in one place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PlacePosts {
    /// The place.
    pub place: ChatPlace,
    /// The posts in the chat that the step takes back. Before the step, `trying` counts those that will be deleted.
    pub taken_back: PostCounts,
    /// Parts of answers that were not sent, and never will be.
    pub unsent: u32,
    /// Posts that come back with the step and are still in the chat.
    pub kept: u32,
    /// Posts that come back with the step, but are not in the chat any more.
    pub lost: u32,
    /// Parts of answers that come back with the step and are sent now.
    pub to_send: u32,
}

impl PlacePosts {
    fn takes(&mut self, post: &Post) {
        match post.state {
            PostState::Cancelled => self.unsent += 1,
            _ => self.taken_back.add(post),
        }
    }

    fn brings(&mut self, post: &Post) {
        match post.state {
            PostState::Sent | PostState::Stays(_) => self.kept += 1,
            PostState::Gone(_) => self.lost += 1,
            // A request for its deletion may have worked.
            PostState::Deleting => self.taken_back.unknown += 1,
            PostState::Lost if post.may_be_gone() => self.taken_back.unknown += 1,
            PostState::Planned | PostState::Sending | PostState::Lost => self.to_send += 1,
            PostState::Failed(_) | PostState::Cancelled => {}
        }
    }

    /// Adds the numbers of another place.
    pub fn add(&mut self, other: &Self) {
        self.taken_back.add_all(&other.taken_back);
        self.unsent += other.unsent;
        self.kept += other.kept;
        self.lost += other.lost;
        self.to_send += other.to_send;
    }

    /// Whether people notice nothing of the step here.
    fn is_empty(&self) -> bool {
        *self == Self { place: self.place.clone(), ..Self::default() }
    }
}

/// What a step does to posts, place by place: `gone` are those of entries that it takes from the timeline, `came` those of entries that
/// it brings there. After the step, whose first operation is `made`, this gives what became of them.
pub fn step_posts(gone: Vec<Post>, came: Vec<Post>, made: Option<OpNo>, now: Time) -> Vec<PlacePosts> {
    let mut places: BTreeMap<ChatPlace, PlacePosts> = BTreeMap::new();
    // What was not in the chat any more before the step, is none of its business.
    let is_of_step = |post: &Post| match post.state {
        // A preview that was not sent is no part of an answer.
        PostState::Planned | PostState::Failed(_) | PostState::Cancelled => {
            !matches!(post.kind, PostKind::Preview(_))
        }
        PostState::Gone(_) => made.is_some_and(|made| post.op.is_some_and(|op| op >= made)),
        _ => true,
    };
    for post in gone.into_iter().filter(is_of_step) {
        // Posts that were looked at already are as they will be.
        let post = post.wanted(false, OpNo::default(), now);
        places.entry(post.place.clone()).or_default().takes(&post);
    }
    // A preview never comes back.
    let came = came.into_iter().filter(|post| matches!(post.kind, PostKind::Answer(_)));
    let came: Vec<Post> = came.map(|post| post.wanted(true, OpNo::default(), now)).collect();
    for posts in came.chunk_by(|one, next| one.kind == next.kind) {
        for post in posts.iter().filter(|post| !is_replaced(post, posts)) {
            places.entry(post.place.clone()).or_default().brings(post);
        }
    }
    let named = places.into_iter().map(|(place, posts)| PlacePosts { place, ..posts });
    named.filter(|posts| !posts.is_empty()).collect()
}

/// Whether a part that is gone was posted again.
fn is_replaced(post: &Post, all: &[Post]) -> bool {
    let is_later = |it: &Post| it.place == post.place && it.part.0 == post.part.0 && it.no > post.no;
    matches!(post.state, PostState::Gone(_)) && all.iter().any(is_later)
}

/// How many parts of an answer are gone and were not posted again.
pub fn missing_parts(parts: &[Post]) -> u32 {
    let is_gone = |post: &&Post| matches!(post.state, PostState::Gone(_)) && !is_replaced(post, parts);
    u32::try_from(parts.iter().filter(is_gone).count()).unwrap_or(u32::MAX)
}
