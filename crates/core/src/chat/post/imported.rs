//! Posts of an imported conversation: history of another store. Must never be sent, edited or deleted by a gateway of this one.

use super::{ChatNotice, Post, PostKind, PostState};

/// What may still be done with a post.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PostStanding {
    /// Whatever its entry and its place need.
    #[default]
    Own,
    /// Its entry was erased: it is never wanted again.
    Erased,
    /// It came with an import, and is history of another store: nothing.
    Imported,
}

impl Post {
    /// Whether it came with an import.
    pub fn is_imported(&self) -> bool {
        self.standing == PostStanding::Imported
    }

    /// The same as history. What was to be sent is not sent here; how it ends with what was under way, nobody here learns. Of a notice, its
    /// kind is kept.
    #[must_use]
    pub fn imported(self) -> Self {
        let state = match self.state {
            PostState::Planned => PostState::Cancelled,
            PostState::Sending | PostState::Deleting => PostState::Lost,
            other => other,
        };
        let kind = match self.kind {
            PostKind::Notice(notice) => {
                PostKind::Notice(ChatNotice { kind: notice.kind, ..ChatNotice::default() })
            }
            of_turn @ (PostKind::Answer(_) | PostKind::Preview(_)) => of_turn,
        };
        let Self { no, place, part, reply_to, ids, sent, .. } = self;
        Self {
            no,
            part,
            state,
            ids,
            sent,
            due: None,
            since: None,
            standing: PostStanding::Imported,
            ..Self::planned(place, kind, reply_to, crate::id::Time(0))
        }
    }
}
