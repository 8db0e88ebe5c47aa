//! Posts of an imported conversation: history of another store. Must never be sent, edited or deleted by a gateway of this one.

use super::{ChatNotice, Post, PostKind, PostStanding, PostState};

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
            answer @ PostKind::Answer(_) => answer,
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
