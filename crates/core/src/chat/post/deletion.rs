//! The deletion of a post, of which a request may have left. Must never say that a post is there that may be gone.

use super::{Post, PostResult, PostState, PostTask, lease_end};
use crate::id::Time;

impl Post {
    /// Whether a request for its deletion left, and the answer was lost.
    pub fn may_be_gone(&self) -> bool {
        self.state == PostState::Lost && !self.ids.is_empty()
    }

    /// What a gateway reports of its deletion.
    pub(super) fn deletion(&mut self, result: PostResult, now: Time) {
        match result {
            PostResult::Deleted(how) => (self.state, self.due) = (PostState::Gone(how), None),
            PostResult::Deleting { untouched } => {
                self.answered(untouched, now);
                if self.task() == Some(PostTask::Delete) {
                    self.is_done = self.state == PostState::Deleting;
                    self.due = Some(lease_end(now));
                }
            }
            PostResult::Stays(why) => {
                self.answered(true, now);
                match self.state {
                    PostState::Deleting => self.stays(why),
                    PostState::Lost => self.due = None,
                    _ => {}
                }
            }
            PostResult::Lost | PostResult::Later(_) => {
                self.answered(result != PostResult::Lost, now);
                if self.task() == Some(PostTask::Delete) {
                    let at = match result {
                        PostResult::Later(at) => at,
                        _ => Time(now.0.saturating_add(self.delay())),
                    };
                    self.tries_again(at, now);
                }
            }
            _ => {}
        }
    }

    /// Whether the platform said of the request for its deletion that it did nothing. If nobody knows, it may be gone from then on.
    pub(super) fn answered(&mut self, untouched: bool, now: Time) {
        if self.state != PostState::Deleting || !self.is_done {
            return;
        }
        self.is_done = false;
        match (untouched, self.op) {
            (true, Some(_)) => {}
            (true, None) => {
                (self.state, self.due) = (PostState::Sent, None);
                self.shows_answer(now);
            }
            (false, Some(_)) => self.state = PostState::Lost,
            (false, None) => {
                (self.state, self.due) = (PostState::Lost, None);
                self.doubt_ends(now);
            }
        }
    }
}
