//! A post: one message that we made on a platform. Its state is a small machine: what is wanted, what the gateway reports, and time
//! go in; what to do next comes out. Must never say that a post is gone that may be there.

mod deletion;
mod erased;
mod imported;
mod preview;
#[cfg(test)]
mod tests;
mod work;

use std::fmt;
use std::str::FromStr;

use strum::{EnumString, IntoStaticStr};

pub use imported::PostStanding;
pub use work::{PostResult, PostTask, PostWork};

use super::{ChatNotice, ChatPlace};
use crate::id::{BadId, LogNo, OpNo, Seq, Time};

/// The number of a post in its conversation: 1, 2, 3 …
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PostNo(pub u64);

/// The name of a post: its conversation and its number there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct PostKey {
    /// The conversation.
    pub log: LogNo,
    /// The number.
    pub no: PostNo,
}

impl fmt::Display for PostKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.log.0, self.no.0)
    }
}

impl FromStr for PostKey {
    type Err = BadId;

    fn from_str(text: &str) -> Result<Self, BadId> {
        let numbers = text.split_once('.').and_then(|(log, no)| Some((log.parse().ok()?, no.parse().ok()?)));
        let (log, no) = numbers.ok_or_else(|| BadId { what: "post", text: text.to_owned() })?;
        Ok(Self { log: LogNo(log), no: PostNo(no) })
    }
}

/// How long work is leased to a gateway.
const LEASE_MS: i64 = 60_000;

/// How long a deletion or a send is tried.
const TRIED_MS: i64 = 24 * 60 * 60 * 1000;

/// What a post shows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PostKind {
    /// A part of the answer in this entry.
    Answer(Seq),
    /// Shows the answer to this entry while it is written. Where its text could not be replaced by the answer in this entry: waits until
    /// that was posted, and is deleted then.
    Preview(Seq),
    /// A notice, which belongs to no turn.
    Notice(ChatNotice),
}

impl PostKind {
    /// The entry that it shows or belongs to; `None` for a notice.
    pub fn entry(&self) -> Option<Seq> {
        match self {
            Self::Answer(entry) | Self::Preview(entry) => Some(*entry),
            Self::Notice(_) => None,
        }
    }
}

/// What became of a post.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum PostState {
    /// It is to be sent.
    #[default]
    Planned,
    /// Its request may have left.
    Sending,
    /// Its request left, and the answer was lost. If it has ids, that was the request for its deletion.
    Lost,
    /// It is in the chat.
    Sent,
    /// It is in the chat, and to be deleted.
    Deleting,
    /// It is not in the chat any more.
    Gone(Deletion),
    /// It stays in the chat, although it is not wanted.
    Stays(StayCause),
    /// It could not be sent.
    Failed(PostFailure),
    /// It was never sent, and is not wanted.
    Cancelled,
}

/// How a post was deleted. The stored names do not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum Deletion {
    /// It is gone, by us or before.
    Gone,
    /// An empty message remains.
    Emptied,
    /// The clients were asked to remove it.
    Asked,
}

/// Why a post stays. The stored names do not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum StayCause {
    /// It is too old.
    TooOld,
    /// We may not delete here.
    NotPermitted,
    /// The platform has no way.
    NoWay,
    /// Messages of other people depend on it.
    HasReplies,
    /// The thread is closed.
    ClosedThread,
    /// A person chose to keep it.
    Kept,
    /// It was tried for too long.
    GaveUp,
}

/// Why a post could not be sent. The stored names do not change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, EnumString, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum PostFailure {
    /// We may not post there.
    NotPermitted,
    /// The platform refused it.
    Refused,
    /// It was tried for too long.
    GaveUp,
}

/// The requests that sent a post.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SendAttempt {
    /// The digest of what the last one sent.
    pub digest: String,
    /// When the first one began.
    pub began: Time,
    /// How many may have worked, as their answers were lost. The one that is under way does not count.
    pub lost: u32,
    /// Whether the post may show what a preview showed.
    pub is_preview: bool,
}

/// A row of the ledger.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Post {
    /// Its number.
    pub no: PostNo,
    /// Its place.
    pub place: ChatPlace,
    /// What it shows.
    pub kind: PostKind,
    /// Its part of the message, from 0, and the number of parts; 0 until the gateway has split it.
    pub part: (u32, u32),
    /// The message that it replies to.
    pub reply_to: Option<String>,
    /// Its state.
    pub state: PostState,
    /// The operation that took it back; for a notice, the operation that it tells of.
    pub op: Option<OpNo>,
    /// Its platform ids.
    pub ids: Vec<String>,
    /// The requests that sent it.
    pub attempt: Option<SendAttempt>,
    /// When it was sent, by the platform's clock; until when it can be deleted; whether there is a way.
    pub sent: Option<(Time, Option<Time>, bool)>,
    /// Attempts of the current task that failed.
    pub attempts: u32,
    /// When there is something to do.
    pub due: Option<Time>,
    /// Since when the current task is tried.
    pub since: Option<Time>,
    /// Whether its entry is not wanted any more; the notice has been edited; the request for its deletion may have left.
    pub is_done: bool,
    /// What may still be done with it.
    pub standing: PostStanding,
}

impl Post {
    /// A post that is to be sent now.
    pub fn planned(place: ChatPlace, kind: PostKind, reply_to: Option<String>, now: Time) -> Self {
        Self {
            no: PostNo(0),
            place,
            kind,
            part: (0, 0),
            reply_to,
            state: PostState::Planned,
            op: None,
            ids: Vec::new(),
            attempt: None,
            sent: None,
            attempts: 0,
            due: Some(now),
            since: Some(now),
            is_done: false,
            standing: PostStanding::Own,
        }
    }

    /// Whether people may see it in the chat.
    pub fn may_be_there(&self) -> bool {
        matches!(
            self.state,
            PostState::Sending
                | PostState::Lost
                | PostState::Sent
                | PostState::Deleting
                | PostState::Stays(_)
                | PostState::Gone(Deletion::Emptied | Deletion::Asked)
        )
    }

    /// What is to be done when it is due.
    pub fn task(&self) -> Option<PostTask> {
        match self.state {
            _ if self.is_imported() => None,
            PostState::Planned => Some(PostTask::Send),
            // If it is wanted again, it is not deleted once more: it may be there.
            PostState::Lost if self.may_be_gone() => self.op.map(|_| PostTask::Delete),
            PostState::Sending | PostState::Lost => Some(PostTask::Resend),
            PostState::Sent if self.due.is_some() => Some(PostTask::Edit),
            PostState::Deleting => Some(PostTask::Delete),
            _ => None,
        }
    }

    /// The same while a gateway works on it: it is due again when the lease ends. Nobody reported of a deletion that left before.
    pub fn leased(mut self, now: Time) -> Self {
        self.answered(false, now);
        self.due = self.task().map(|_| lease_end(now));
        self
    }

    /// The same after its entry came onto the path or left it, by this operation.
    pub fn wanted(mut self, is_wanted: bool, op: OpNo, now: Time) -> Self {
        if self.is_imported() {
            return self;
        }
        let is_preview = matches!(self.kind, PostKind::Preview(_));
        if is_preview && is_wanted {
            // Only the answer comes back.
            return self;
        }
        let is_wanted = is_wanted && self.standing == PostStanding::Own;
        match (self.state, is_wanted) {
            (PostState::Planned | PostState::Failed(_), false) => {
                (self.state, self.op, self.due) = (PostState::Cancelled, Some(op), None);
                self.is_done = false;
            }
            (PostState::Cancelled, true) if !self.is_done => {
                (self.state, self.op) = (PostState::Planned, None);
                // A further part waits for the one before.
                if self.part.0 == 0 {
                    self.starts(now);
                }
            }
            // Whether it is there is not known; deleting it makes that certain.
            (PostState::Lost, false) if self.may_be_gone() => {
                self.op = Some(op);
                self.starts(now);
            }
            (PostState::Lost, true) if self.may_be_gone() => {
                (self.op, self.due) = (None, None);
                self.doubt_ends(now);
            }
            (PostState::Sending | PostState::Lost, _) => {
                self.is_done = !is_wanted;
                self.op = (!is_wanted).then_some(op);
                // Nobody looks for the post of a preview while the answer is written.
                if is_preview && self.state == PostState::Lost {
                    self.starts(now);
                }
            }
            (PostState::Sent, false) => self.unwanted(op, now),
            // The request for its deletion may have left: only the platform knows. It is wanted if that did nothing.
            (PostState::Deleting, _) if self.is_done => self.op = (!is_wanted).then_some(op),
            // A preview that goes by itself is of the step now.
            (PostState::Deleting, false) if is_preview && self.op == Some(OpNo::default()) => {
                self.op = Some(op);
            }
            // Not deleted yet: it simply stays. One that was kept for its age or a permission is wanted again, too.
            (PostState::Deleting | PostState::Stays(_), true) => {
                (self.state, self.op, self.due) = (PostState::Sent, None, None);
                self.shows_answer(now);
            }
            _ => {}
        }
        self
    }

    /// The same when people have decided that it is not sent: no undo brings it back.
    pub fn declined(self) -> Self {
        Self { state: PostState::Cancelled, due: None, is_done: true, ..self }
    }

    /// The same when it is to be deleted, whatever it shows.
    pub fn removed(mut self, now: Time) -> Self {
        match self.state {
            _ if self.is_imported() => {}
            PostState::Sent => self.unwanted(self.op.unwrap_or_default(), now),
            PostState::Planned => (self.state, self.due) = (PostState::Cancelled, None),
            _ => {}
        }
        self
    }

    /// It is in the chat and not wanted.
    fn unwanted(&mut self, op: OpNo, now: Time) {
        self.op = Some(op);
        let (deadline, deletable) =
            self.sent.map_or((None, true), |(_, deadline, deletable)| (deadline, deletable));
        match (deletable, deadline) {
            (false, _) => self.stays(StayCause::NoWay),
            (true, Some(deadline)) if deadline < now => self.stays(StayCause::TooOld),
            (true, _) => {
                (self.state, self.is_done) = (PostState::Deleting, false);
                self.starts(now);
            }
        }
    }

    fn stays(&mut self, why: StayCause) {
        (self.state, self.due) = (PostState::Stays(why), None);
    }

    /// A new task begins now.
    fn starts(&mut self, now: Time) {
        (self.attempts, self.due, self.since) = (0, Some(now), Some(now));
    }

    /// The same after what a gateway reported. A report that does not fit the state changes nothing.
    pub fn settled(mut self, result: PostResult, now: Time) -> Self {
        match (self.state, result) {
            _ if self.is_imported() => {}
            (PostState::Deleting, result) => self.deletion(result, now),
            (PostState::Lost, result) if self.may_be_gone() => self.deletion(result, now),
            (
                PostState::Planned | PostState::Sending | PostState::Lost,
                PostResult::Sending { parts, digest, is_preview },
            ) => {
                let before =
                    self.attempt.take().unwrap_or(SendAttempt { began: now, ..SendAttempt::default() });
                let lost = before.lost + u32::from(self.state == PostState::Sending);
                self.has_parts(parts, is_preview);
                let is_preview = is_preview || (before.is_preview && lost > 0);
                (self.state, self.attempt) =
                    (PostState::Sending, Some(SendAttempt { digest, lost, is_preview, ..before }));
                self = self.leased(now);
            }
            (PostState::Sent, PostResult::Sending { parts, digest, is_preview }) => {
                self.edit_begins(parts, digest, is_preview);
            }
            (PostState::Sending | PostState::Lost, PostResult::Sent { ids, at, deadline, deletable }) => {
                (self.state, self.ids, self.due) = (PostState::Sent, ids, None);
                self.sent = Some((at, deadline, deletable));
                if self.is_done && self.kind.entry().is_some() {
                    self.is_done = false;
                    self.unwanted(self.op.unwrap_or_default(), now);
                } else {
                    self.shows_answer(now);
                }
            }
            (PostState::Sending | PostState::Lost, PostResult::Lost) => {
                let is_counted = self.state == PostState::Lost;
                if let Some(attempt) = self.attempt.as_mut().filter(|_| !is_counted) {
                    attempt.lost += 1;
                }
                self.state = PostState::Lost;
                match self.standing == PostStanding::Erased {
                    true => self.due = None,
                    false if self.is_shown_live() => self.rests(now),
                    false => self.tries_again(Time(now.0.saturating_add(self.delay())), now),
                }
            }
            // It may be there, and nobody will know.
            (PostState::Sending | PostState::Lost, PostResult::Failed(PostFailure::GaveUp))
                if self.lost() > 0 =>
            {
                (self.state, self.due) = (PostState::Lost, None);
            }
            (PostState::Planned | PostState::Sending | PostState::Lost, PostResult::Failed(why)) => {
                (self.state, self.due) = (PostState::Failed(why), None);
                // What was refused may have been what a preview showed.
                if why != PostFailure::NotPermitted {
                    self.is_replaced();
                }
            }
            (PostState::Sent, PostResult::Edited { ids, is_preview }) => {
                self.ids.extend(ids);
                self.edited(is_preview, now);
            }
            (PostState::Sent, PostResult::Failed(_)) => self.keeps_words(now),
            // A lost one was looked for, and is certainly not there.
            (
                PostState::Sending | PostState::Lost | PostState::Sent | PostState::Stays(_),
                PostResult::Deleted(how),
            ) => {
                (self.state, self.due) = (PostState::Gone(how), None);
                self.is_replaced();
            }
            // The request did not leave, and its entry was taken back meanwhile.
            (PostState::Sending, PostResult::Later(_)) if self.is_done && self.lost() == 0 => {
                (self.state, self.due, self.is_done) = (PostState::Cancelled, None, false);
            }
            (state, PostResult::Later(at)) if self.due.is_some() && state != PostState::Cancelled => {
                // The request did not leave. An earlier one may have worked.
                if state == PostState::Sending {
                    self.state = if self.lost() == 0 { PostState::Planned } else { PostState::Lost };
                }
                self.tries_again(at, now);
            }
            _ => {}
        }
        self.forgets_preview();
        self
    }

    fn lost(&self) -> u32 {
        self.attempt.as_ref().map_or(0, |attempt| attempt.lost)
    }

    fn delay(&self) -> i64 {
        1000_i64 << self.attempts.min(10)
    }

    /// The task is due again then, unless it was tried for too long.
    fn tries_again(&mut self, at: Time, now: Time) {
        self.attempts += 1;
        let since = self.since.unwrap_or(now);
        let is_over = at.0.saturating_sub(since.0) > TRIED_MS;
        let deadline = self.sent.and_then(|(_, deadline, _)| deadline);
        let is_late = deadline.is_some_and(|deadline| deadline < at);
        match self.state {
            PostState::Deleting if is_late => self.stays(StayCause::TooOld),
            PostState::Deleting if is_over => self.stays(StayCause::GaveUp),
            PostState::Planned if is_over => {
                (self.state, self.due) = (PostState::Failed(PostFailure::GaveUp), None);
            }
            PostState::Sent if is_over => self.keeps_words(now),
            PostState::Lost if is_over || (self.may_be_gone() && is_late) => self.due = None,
            _ => self.due = Some(at),
        }
    }
}

fn lease_end(now: Time) -> Time {
    Time(now.0.saturating_add(LEASE_MS))
}
