//! Decides how an answer is shown while the model writes it: by a draft, by appending, or by edits of a post. Must never lose the
//! final text, and never call during a hold.

#[cfg(test)]
mod tests;

use std::time::Duration;

use retake_wire::chat::Audience;

use crate::capabilities::{Capabilities, LengthUnit, Streaming};
use crate::text::beginning;

/// The first preview is shown so long after the first text.
const FIRST_MS: i64 = 1500;

/// The least time between two previews in a private and in a shared place.
const EVERY_MS: [i64; 2] = [2000, 5000];

/// A preview that was dropped is tried again after this time.
const RETRY_MS: i64 = 1000;

/// A preview is shown again when so many characters were added, or a paragraph.
const ADDED: usize = 200;

/// A platform forgets a draft after 30 s [D, Telegram `sendMessageDraft`]. It is sent again before.
const DRAFT_MS: i64 = 25_000;

/// After so many halvings the rate stays.
const SLOWEST: u32 = 6;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Input<'a> {
    /// The model wrote more, or the time of the last action has come: the whole text so far.
    Text(&'a str),
    /// The answer is complete: the whole text.
    Complete(&'a str),
    /// The run was stopped: the whole text until then.
    Stopped(&'a str),
    /// The call of the last action took effect.
    Done,
    /// The call of the last action was not made: it would have waited.
    Dropped,
    /// The platform wants us to wait (429).
    Wait(Duration),
    /// The answer of the platform was lost. Of a first post, the caller looks for it first, and says `Done` or `Dropped` if it finds
    /// out.
    Lost,
    /// The platform refused, and will again; or the post is gone.
    Refused,
}

/// What to do now. Ends of texts are bytes of the text of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Nothing, until something happens or until this time (Unix milliseconds).
    Nothing(Option<i64>),
    /// Send the text up to here as the first post.
    Post(usize),
    /// Edit the post: the text up to here.
    Edit(usize),
    /// Show the text up to here as a draft.
    Draft(usize),
    /// Append this part to the message. The first one begins it.
    Append(usize, usize),
    /// Show the final text. This is the last action.
    Finish(Finish),
}

/// How the final text is shown, or what becomes of the preview if there is none. The caller records this as work, which is repeated
/// until it is settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finish {
    /// The preview becomes the first post by an edit; the further posts are sent.
    Edit,
    /// Append from this byte on, and end the message.
    Append(usize),
    /// All posts are sent. There is no post of the preview.
    Send,
    /// All posts are sent, then the post of the preview is deleted.
    SendAndDelete,
    /// There is no text: the post of the preview is deleted.
    Delete,
    /// There is no text, and no post.
    Nothing,
}

/// A preview of one answer.
#[derive(Debug)]
pub struct Preview {
    how: Option<Streaming>,
    every_ms: i64,
    most: usize,
    unit: LengthUnit,
    /// The text that is shown.
    shown: String,
    /// The text of the call that is being made: `None` if none is.
    calling: Option<String>,
    /// Whether there is a post or a message of ours.
    has_post: bool,
    /// Whether the post can be changed no more.
    is_stuck: bool,
    first_text_ms: Option<i64>,
    last_ms: Option<i64>,
    retry_ms: i64,
    hold_ms: i64,
    halvings: u32,
    end: Option<End>,
}

/// How the answer ended, while a call is being made.
#[derive(Clone, Debug)]
enum End {
    Waits(String),
    Over,
}

impl Preview {
    /// A preview in a place. `how` is the first of the capabilities that the settings permit; with `None`, only the final text is
    /// sent. A preview shows at most `most` of the text: what fits into one post.
    pub fn new(how: Option<Streaming>, audience: Audience, most: usize, unit: LengthUnit) -> Self {
        let every_ms = match audience {
            Audience::Private => EVERY_MS[0],
            Audience::Shared => EVERY_MS[1],
        };
        Self {
            how,
            every_ms,
            most,
            unit,
            shown: String::new(),
            calling: None,
            has_post: false,
            is_stuck: false,
            first_text_ms: None,
            last_ms: None,
            retry_ms: i64::MIN,
            hold_ms: i64::MIN,
            halvings: 0,
            end: None,
        }
    }

    /// The ways of a platform in a place, best first.
    pub fn ways(capabilities: &Capabilities, audience: Audience) -> &'static [Streaming] {
        match audience {
            Audience::Private => capabilities.streaming[0],
            Audience::Shared => capabilities.streaming[1],
        }
    }

    /// Whether there is a post of the preview that somebody can see.
    pub fn has_post(&self) -> bool {
        self.has_post
    }

    /// What to do now that this happened.
    pub fn step(&mut self, input: Input<'_>, now: i64) -> Action {
        if matches!(self.end, Some(End::Over)) {
            return Action::Nothing(None);
        }
        match input {
            Input::Text(text) if self.end.is_none() => return self.look(text, now),
            Input::Text(_) => {}
            Input::Complete(text) | Input::Stopped(text) => self.end = Some(End::Waits(text.to_owned())),
            Input::Done => self.done(now),
            Input::Dropped => {
                self.calling = None;
                self.retry_ms = now.saturating_add(RETRY_MS);
            }
            Input::Wait(wait) => {
                self.calling = None;
                self.halvings = (self.halvings + 1).min(SLOWEST);
                let wait = i64::try_from(wait.as_millis()).unwrap_or(i64::MAX);
                self.hold_ms = self.hold_ms.max(now.saturating_add(wait));
            }
            Input::Lost => self.lost(now),
            Input::Refused => {
                self.calling = None;
                self.is_stuck = true;
            }
        }
        match &self.end {
            Some(_) => self.finish(now),
            None => Action::Nothing(self.calling.is_none().then(|| self.free_at())),
        }
    }

    /// When the next call may be made.
    fn free_at(&self) -> i64 {
        let first = self.first_text_ms.map(|at| at.saturating_add(FIRST_MS));
        let next = self.last_ms.map(|at| at.saturating_add(self.every_ms << self.halvings)).or(first);
        next.unwrap_or(i64::MIN).max(self.retry_ms).max(self.hold_ms)
    }

    fn look(&mut self, text: &str, now: i64) -> Action {
        let Some(how) = self.how.filter(|_| !self.is_stuck) else {
            return Action::Nothing(None);
        };
        if text.trim().is_empty() || self.calling.is_some() {
            return Action::Nothing(None);
        }
        self.first_text_ms.get_or_insert(now);
        let visible = beginning(text, self.most, self.unit).trim_end();
        let free_at = self.free_at();
        let due = if self.is_worth_showing(visible) { free_at } else { self.draft_ends(how) };
        if due > now {
            return Action::Nothing((due < i64::MAX).then_some(due.max(free_at)));
        }
        if how == Streaming::Append && !visible.starts_with(&self.shown) {
            self.is_stuck = true;
            return Action::Nothing(None);
        }
        self.calling = Some(visible.to_owned());
        match how {
            Streaming::Draft => Action::Draft(visible.len()),
            Streaming::Append => Action::Append(self.shown.len(), visible.len()),
            Streaming::Edit if self.has_post => Action::Edit(visible.len()),
            Streaming::Edit => Action::Post(visible.len()),
        }
    }

    /// Whether enough was added. A text that is no continuation is worth showing, too.
    fn is_worth_showing(&self, visible: &str) -> bool {
        if self.last_ms.is_none() || self.shown.is_empty() {
            return true;
        }
        match visible.strip_prefix(self.shown.as_str()) {
            Some(added) => added.contains("\n\n") || added.chars().nth(ADDED - 1).is_some(),
            None => true,
        }
    }

    /// When a draft has to be sent again, if nothing is added.
    fn draft_ends(&self, how: Streaming) -> i64 {
        match self.last_ms {
            Some(last) if how == Streaming::Draft => last.saturating_add(DRAFT_MS).max(self.free_at()),
            _ => i64::MAX,
        }
    }

    fn done(&mut self, now: i64) {
        if let Some(text) = self.calling.take() {
            self.shown = text;
            self.last_ms = Some(now);
            self.has_post = self.how != Some(Streaming::Draft);
        }
    }

    /// An edit and a draft can be repeated. A message to which we append may have the text or not; a first post may be there.
    fn lost(&mut self, now: i64) {
        let can_repeat = match self.how {
            Some(Streaming::Draft) => true,
            Some(Streaming::Edit) => self.has_post,
            Some(Streaming::Append) | None => false,
        };
        self.calling = None;
        self.last_ms = Some(now);
        self.is_stuck |= !can_repeat;
    }

    fn finish(&mut self, now: i64) -> Action {
        if self.calling.is_some() {
            return Action::Nothing(None);
        }
        if now < self.hold_ms {
            return Action::Nothing(Some(self.hold_ms));
        }
        let Some(End::Waits(text)) = self.end.replace(End::Over) else {
            return Action::Nothing(None);
        };
        let is_empty = text.trim().is_empty();
        let finish = match (self.has_post, self.how) {
            (false, _) if is_empty => Finish::Nothing,
            (false, _) => Finish::Send,
            (true, _) if is_empty => Finish::Delete,
            (true, Some(Streaming::Edit)) if !self.is_stuck => Finish::Edit,
            (true, Some(Streaming::Append)) if !self.is_stuck && text.starts_with(&self.shown) => {
                Finish::Append(self.shown.len())
            }
            (true, _) => Finish::SendAndDelete,
        };
        Action::Finish(finish)
    }
}
