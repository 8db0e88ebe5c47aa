//! How many posts of a step are in which state. Must never count a post twice.

use super::{Deletion, Post, PostState, StayCause};

/// How many posts of a step are in which state: what is in the chat now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PostCounts {
    /// Gone.
    pub gone: u32,
    /// An empty message remains.
    pub emptied: u32,
    /// The clients were asked.
    pub asked: u32,
    /// Still being deleted.
    pub trying: u32,
    /// Perhaps in the chat: sent, but the ids are not known; or the answer to the last deletion was lost.
    pub unknown: u32,
    /// Those that stay, by the cause.
    pub stays: Vec<(StayCause, u32)>,
}

impl PostCounts {
    /// All of them.
    pub fn sum(&self) -> u32 {
        let stays: u32 = self.stays.iter().map(|(_, count)| count).sum();
        self.gone + self.emptied + self.asked + self.trying + self.unknown + stays
    }

    /// Counts a post that a step took back, unless it was never sent.
    pub(super) fn add(&mut self, post: &Post) {
        match post.state {
            PostState::Gone(Deletion::Gone) => self.gone += 1,
            PostState::Gone(Deletion::Emptied) => self.emptied += 1,
            PostState::Gone(Deletion::Asked) => self.asked += 1,
            PostState::Deleting => self.trying += 1,
            PostState::Lost if post.may_be_gone() && post.due.is_some() => self.trying += 1,
            PostState::Sending | PostState::Lost => self.unknown += 1,
            PostState::Stays(why) => self.add_stays(why, 1),
            PostState::Planned | PostState::Sent | PostState::Failed(_) | PostState::Cancelled => {}
        }
    }

    fn add_stays(&mut self, why: StayCause, posts: u32) {
        match self.stays.binary_search_by_key(&why, |(other, _)| *other) {
            Ok(at) => self.stays[at].1 += posts,
            Err(at) => self.stays.insert(at, (why, posts)),
        }
    }

    /// Adds those of another place.
    pub(super) fn add_all(&mut self, other: &Self) {
        self.gone += other.gone;
        self.emptied += other.emptied;
        self.asked += other.asked;
        self.trying += other.trying;
        self.unknown += other.unknown;
        other.stays.iter().for_each(|(why, posts)| self.add_stays(*why, *posts));
    }

    /// Whether nothing is being tried any more.
    pub fn is_final(&self) -> bool {
        self.trying == 0 && self.unknown == 0
    }
}

/// The counts of the posts that a step took back. Posts that were never sent do not count.
pub fn post_counts<'a>(posts: impl Iterator<Item = &'a Post>) -> PostCounts {
    let mut counts = PostCounts::default();
    posts.for_each(|post| counts.add(post));
    counts
}
