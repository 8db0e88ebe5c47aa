//! Posts of erased entries. Must never keep a digest of what was erased.

use super::{Post, PostStanding, PostState};
use crate::id::{OpNo, Time};

impl Post {
    /// The same after its entry was erased by this operation: it is taken back, and no undo brings it back.
    #[must_use]
    pub fn erased(self, op: OpNo, now: Time) -> Self {
        let mut post = self.wanted(false, op, now);
        if !post.is_imported() {
            post.standing = PostStanding::Erased;
        }
        if let Some(attempt) = &mut post.attempt {
            attempt.digest.clear();
        }
        // Without the text and the digest, nobody can look for it on the platform. If its id comes, it is deleted.
        if matches!(post.state, PostState::Sending | PostState::Lost) && !post.may_be_gone() {
            post.due = None;
        }
        post
    }
}
