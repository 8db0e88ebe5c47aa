//! What a step does to posts, before it is made and afterwards. Must never say that a post goes that may stay.

use std::collections::BTreeMap;

use super::{ChatPlace, Post, PostCounts, PostState};
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
            PostState::Sent | PostState::Deleting | PostState::Stays(_) => self.kept += 1,
            PostState::Gone(_) => self.lost += 1,
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
/// it brings there. After the step this gives what became of them.
pub fn step_posts(gone: Vec<Post>, came: Vec<Post>, now: Time) -> Vec<PlacePosts> {
    let mut places: BTreeMap<ChatPlace, PlacePosts> = BTreeMap::new();
    for (posts, is_wanted) in [(gone, false), (came, true)] {
        for post in posts {
            // Posts that were looked at before the step already are as they will be.
            let post = post.wanted(is_wanted, OpNo::default(), now);
            let at = places.entry(post.place.clone()).or_default();
            if is_wanted { at.brings(&post) } else { at.takes(&post) }
        }
    }
    let named = places.into_iter().map(|(place, posts)| PlacePosts { place, ..posts });
    named.filter(|posts| !posts.is_empty()).collect()
}
