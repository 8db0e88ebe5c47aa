//! The post of a preview: it shows an answer while the answer is written, and becomes its first post. Must never leave a post behind
//! that shows less than the answer.

use super::{Post, PostKind, PostStanding, PostState, SendAttempt};
use crate::id::{OpNo, Seq, Time};

/// A preview that nobody has asked to be changed for so long is looked at: who showed the answer may be gone.
const REST_MS: i64 = 60_000;

impl Post {
    /// Whether it shows an answer that is being written.
    pub fn is_shown_live(&self) -> bool {
        matches!(self.kind, PostKind::Preview(_)) && !self.is_done
    }

    /// The same when its answer is in this entry: the text of the answer takes the place of the preview's.
    #[must_use]
    pub fn completed(mut self, entry: Seq, now: Time) -> Self {
        self.kind = PostKind::Answer(entry);
        // Lost requests of the preview are not those of the answer. One is remembered: the post may be there.
        if let Some(attempt) = &mut self.attempt {
            attempt.lost = attempt.lost.min(u32::from(self.state == PostState::Lost));
        }
        // Of a request that is under way, the gateway tells soon.
        if self.state != PostState::Sending {
            self.starts(now);
        }
        self
    }

    /// The same when there will be no answer for it.
    #[must_use]
    pub fn ended(self, now: Time) -> Self {
        if !self.is_shown_live() {
            return self;
        }
        self.wanted(false, OpNo::default(), now)
    }

    /// Nothing is to be done with a preview, unless nobody shows it any more.
    pub(super) fn rests(&mut self, now: Time) {
        self.due = Some(Time(now.0.saturating_add(REST_MS)));
    }

    /// The same preview, when it is to be changed at this time.
    #[must_use]
    pub fn due_at(self, due: Time) -> Self {
        Self { due: Some(due), ..self }
    }

    /// The number of the parts of its message. A preview does not know how many the answer will have.
    pub(super) fn has_parts(&mut self, parts: u32, is_preview: bool) {
        if !is_preview {
            self.part.1 = parts.max(self.part.0 + 1);
        }
    }

    /// It is in the chat, and may show what a preview showed.
    pub(super) fn shows_answer(&mut self, now: Time) {
        match self.kind {
            PostKind::Preview(_) => self.rests(now),
            PostKind::Answer(_) if self.shows_preview() => self.starts(now),
            PostKind::Answer(_) | PostKind::Notice(_) => {}
        }
    }

    fn shows_preview(&self) -> bool {
        self.attempt.as_ref().is_some_and(|attempt| attempt.is_preview)
    }

    /// The request for its edit leaves.
    pub(super) fn edit_begins(&mut self, parts: u32, digest: String, is_preview: bool) {
        let is_of_kind = matches!(self.kind, PostKind::Preview(_)) == is_preview;
        if is_of_kind && let Some(attempt) = self.attempt.take() {
            self.has_parts(parts, is_preview);
            let digest = if is_preview { String::new() } else { digest };
            self.attempt = Some(SendAttempt { digest, ..attempt });
        }
    }

    /// Its text was replaced: by that of a preview, or by its last words.
    pub(super) fn edited(&mut self, is_preview: bool, now: Time) {
        match (&self.kind, is_preview) {
            (PostKind::Preview(_), _) => self.rests(now),
            // The text of the answer is still to come.
            (PostKind::Answer(_), true) => {}
            (PostKind::Answer(_), false) => {
                self.due = None;
                if let Some(attempt) = &mut self.attempt {
                    attempt.is_preview = false;
                }
            }
            (PostKind::Notice(_), _) => (self.due, self.is_done) = (None, true),
        }
    }

    /// The platform refused an edit.
    pub(super) fn keeps_words(&mut self, now: Time) {
        match self.kind {
            PostKind::Preview(_) => self.rests(now),
            PostKind::Answer(_) => {
                self.due = None;
                self.is_replaced();
            }
            PostKind::Notice(_) => (self.due, self.is_done) = (None, true),
        }
    }

    /// A post that does not show its answer is no post of the answer: that is sent as a new one.
    pub(super) fn is_replaced(&mut self) {
        let is_wanted = !self.is_done && self.op.is_none() && self.standing == PostStanding::Own;
        if let PostKind::Answer(entry) = self.kind
            && self.part.0 == 0
            && self.shows_preview()
            && is_wanted
        {
            self.kind = PostKind::Preview(entry);
        }
    }

    /// It is wanted, and a request for its deletion may have worked. If it shows less than its answer, the edit finds out.
    pub(super) fn doubt_ends(&mut self, now: Time) {
        if matches!(self.kind, PostKind::Answer(_)) && self.shows_preview() {
            self.state = PostState::Sent;
            self.starts(now);
        }
    }

    /// The digest of a preview is needed only to find its post. The answer may be erased, and the digest must not stay.
    pub(super) fn forgets_preview(&mut self) {
        let is_looked_for = matches!(self.state, PostState::Sending | PostState::Lost) && self.due.is_some();
        if matches!(self.kind, PostKind::Preview(_))
            && !is_looked_for
            && let Some(attempt) = &mut self.attempt
        {
            attempt.digest.clear();
        }
    }
}
