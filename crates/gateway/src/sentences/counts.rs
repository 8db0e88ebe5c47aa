//! What is in the chat of the posts of a step. Must never count a post twice, and never leave one out.

use std::collections::BTreeMap;
use std::time::Duration;

/// What is in the chat of a post now.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fate {
    /// Nothing: a deletion was acknowledged, or it was not there any more.
    Gone,
    /// An empty message.
    Emptied,
    /// The clients were asked to delete it.
    Asked,
    /// The post, for good.
    Stays(Stays),
    /// The post, until an attempt succeeds.
    Tried,
    /// Perhaps the post: the answer of the platform was lost.
    Unknown,
}

/// Why a post stays.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stays {
    /// It is older than the platform permits, if it says how old.
    TooOld(Option<Duration>),
    /// We lack the permission in this chat.
    NotPermitted,
    /// The platform with this title has no way.
    NoWay(String),
    /// Messages of other people depend on it.
    Dependents,
    /// A person chose that.
    Chosen,
    /// The thread is closed.
    ClosedThread,
    /// All attempts failed.
    Failed,
}

/// How many posts have which fate.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts(BTreeMap<Fate, u32>);

impl Counts {
    /// Counts the posts of a plan: each has one fate.
    pub fn of(posts: impl IntoIterator<Item = Fate>) -> Self {
        let mut counts = Self::default();
        for fate in posts {
            counts.add(fate, 1);
        }
        counts
    }

    /// Adds so many posts with a fate.
    pub fn add(&mut self, fate: Fate, posts: u32) {
        if posts > 0 {
            let count = self.0.entry(fate).or_default();
            *count = count.saturating_add(posts);
        }
    }

    /// The number of all posts.
    pub fn total(&self) -> u32 {
        self.0.values().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// The fates that posts have, with their number, in the order of the sentence.
    pub fn iter(&self) -> impl Iterator<Item = (&Fate, u32)> {
        self.0.iter().map(|(fate, count)| (fate, *count))
    }
}
