//! What a step does to posts in chats: in a plan what it would do, in a receipt what is in the chats by now. Must never hold a text.

use serde::{Deserialize, Serialize};

use crate::chat::{Place, PostCounts};

/// What a step does to posts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StepPosts {
    /// In all places together.
    #[serde(flatten)]
    pub all: PostChanges,
    /// The number of places.
    pub place_count: u64,
    /// The first places, at most 20.
    pub places: Vec<PlacePosts>,
}

impl StepPosts {
    /// Whether it concerns no post.
    pub fn is_empty(&self) -> bool {
        self.place_count == 0
    }
}

/// What a step does to the posts in one place.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlacePosts {
    /// The place. Its names are untrusted.
    pub place: Place,
    /// What happens there.
    #[serde(flatten)]
    pub changes: PostChanges,
}

/// Numbers of posts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PostChanges {
    /// Posts that the step takes back. In a plan, `trying` counts those that would be deleted; in a receipt, those that are not
    /// deleted yet.
    pub taken_back: PostCounts,
    /// Parts of answers that were not sent yet, and never will be.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unsent: u32,
    /// Posts that come back with the step and are still in the chat.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub kept: u32,
    /// Posts that come back with the step, but are not in the chat any more. They are not posted again.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub lost: u32,
    /// Parts of answers that come back with the step and are sent.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub to_send: u32,
}

fn is_zero(count: &u32) -> bool {
    *count == 0
}
