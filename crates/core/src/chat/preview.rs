//! When an answer that is being written is shown again: often enough to be read along, and not so often that a platform objects. Must
//! never ask for a call while one is being made.

use super::PostResult;
use crate::id::Time;

/// The first preview is shown so long after the first text.
const FIRST_MS: i64 = 1500;

/// The least time between two previews in a private and in a shared place.
const EVERY_MS: [i64; 2] = [2000, 5000];

/// One that could not be planned is tried again after this time.
const RETRY_MS: i64 = 1000;

/// A preview is shown again when so many characters were added, or a paragraph.
const ADDED: usize = 200;

/// A gateway that asks for more time than this was told so by its platform.
const TOLD_MS: i64 = 1500;

/// After so many halvings the rate stays.
const SLOWEST: u32 = 6;

/// How an answer is shown while it is written, by edits of one post.
#[derive(Clone, Debug, Default)]
pub struct Preview {
    text: String,
    every_ms: i64,
    /// Whether the first post says only that an answer is being written: where a platform cannot recognise a post that was sent twice,
    /// no text is there twice.
    begins_empty: bool,
    /// How much of the text is shown, in bytes.
    shown: usize,
    is_posted: bool,
    /// When the first text came; when it was shown last.
    since: Option<Time>,
    last: Option<Time>,
    not_before: Option<Time>,
    halvings: u32,
    /// Whether a call is wanted or being made; and how much of the text it shows, once a gateway has taken it.
    is_called: bool,
    called: usize,
    /// Whether the post shows all that it can.
    is_full: bool,
    is_over: bool,
}

impl Preview {
    /// Where it is shown: in a place that several people read, or with a first post without text.
    pub fn begins(&mut self, is_shared: bool, begins_empty: bool) {
        (self.every_ms, self.begins_empty) = (EVERY_MS[usize::from(is_shared)], begins_empty);
    }

    /// The model wrote more.
    pub fn wrote(&mut self, text: &str, now: Time) {
        if self.is_over || self.is_full {
            return;
        }
        self.text.push_str(text);
        if !self.text.trim().is_empty() {
            self.since.get_or_insert(now);
        }
    }

    /// When it is to be shown next, as far as is known now.
    pub fn due(&self) -> Option<Time> {
        let since = self.since.filter(|_| !self.is_over && !self.is_called && !self.is_full)?;
        if self.is_posted && !self.is_worth_showing() {
            return None;
        }
        let free = match self.last {
            Some(last) => Time(last.0.saturating_add(self.every_ms << self.halvings)),
            None => Time(since.0.saturating_add(FIRST_MS)),
        };
        Some(self.not_before.map_or(free, |at| at.max(free)))
    }

    /// Whether enough was added.
    fn is_worth_showing(&self) -> bool {
        let added = &self.text[self.shown..];
        (self.shown == 0 && !added.trim().is_empty())
            || added.contains("\n\n")
            || added.chars().nth(ADDED - 1).is_some()
    }

    /// A call is requested.
    pub fn called(&mut self) {
        self.is_called = true;
    }

    /// It cannot be shown now.
    pub fn not_now(&mut self, now: Time) {
        self.not_before = Some(Time(now.0.saturating_add(RETRY_MS)));
    }

    /// It is not shown any more.
    pub fn stop(&mut self) {
        self.is_over = true;
        self.text = String::new();
    }

    /// The text for a gateway that makes the call now. `None` if no call is wanted.
    pub fn text(&mut self) -> Option<&str> {
        if !self.is_called || self.is_over {
            return None;
        }
        let begins = self.begins_empty && !self.is_posted;
        self.called = if begins { 0 } else { self.text.len() };
        Some(&self.text[..self.called])
    }

    /// What became of a call.
    pub fn settled(&mut self, result: &PostResult, now: Time) {
        match result {
            PostResult::Sending { parts, .. } => self.is_full |= *parts > 1,
            PostResult::Sent { .. } | PostResult::Edited { .. } => {
                (self.is_called, self.is_posted) = (false, true);
                (self.shown, self.last) = (self.called, Some(now));
            }
            // The gateway gets it again then.
            PostResult::Later(at) if at.0.saturating_sub(now.0) > TOLD_MS => {
                self.halvings = (self.halvings + 1).min(SLOWEST);
            }
            PostResult::Later(_) | PostResult::Deleting { .. } => {}
            PostResult::Lost | PostResult::Failed(_) | PostResult::Deleted(_) | PostResult::Stays(_) => {
                self.stop();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::PostFailure;

    fn preview(is_shared: bool, begins_empty: bool) -> Preview {
        let mut it = Preview::default();
        it.begins(is_shared, begins_empty);
        it
    }

    fn sent() -> PostResult {
        PostResult::Sent { ids: vec!["1".into()], at: Time(0), deadline: None, deletable: true }
    }

    fn edited() -> PostResult {
        PostResult::Edited { ids: Vec::new(), is_preview: true }
    }

    fn sending(parts: u32) -> PostResult {
        PostResult::Sending { parts, digest: String::new(), is_preview: true }
    }

    /// Whoever shows it, a gateway makes the call at once.
    fn shows(it: &mut Preview, now: i64) -> String {
        assert!(it.due().is_some_and(|due| due <= Time(now)), "due at {:?}, not at {now}", it.due());
        it.called();
        let text = it.text().map(str::to_owned).expect("a text");
        let result = if it.is_posted { edited() } else { sent() };
        it.settled(&sending(1), Time(now));
        it.settled(&result, Time(now));
        text
    }

    /// A preview whose post, with 100 characters, was sent at 1,500.
    fn posted(is_shared: bool) -> Preview {
        let mut it = preview(is_shared, false);
        it.wrote(&"a".repeat(100), Time(0));
        assert_eq!(shows(&mut it, 1500).len(), 100);
        it
    }

    #[test]
    fn first_post_is_sent_one_and_a_half_seconds_after_the_first_text() {
        let mut it = preview(false, false);
        it.wrote(" \n", Time(0));
        assert_eq!(it.due(), None, "white space is no text");
        it.wrote("a", Time(1000));
        assert_eq!(it.due(), Some(Time(2500)));
        it.called();
        it.wrote("b", Time(2600));
        assert_eq!(it.due(), None, "a call is being made");
        assert_eq!(it.text(), Some(" \nab"));
    }

    #[test]
    fn edits_need_time_and_enough_new_text() {
        for (is_shared, next) in [(false, 3500), (true, 6500)] {
            let mut it = posted(is_shared);
            it.wrote(&"b".repeat(199), Time(1600));
            assert_eq!(it.due(), None, "199 characters more");
            it.wrote("b", Time(1700));
            assert_eq!(it.due(), Some(Time(next)));
            assert_eq!(shows(&mut it, next).len(), 300);
            it.wrote("c\n\n", Time(next));
            assert!(it.due().is_some(), "a paragraph more");
        }
    }

    #[test]
    fn only_a_wait_that_the_platform_wants_halves_the_rate() {
        let mut it = posted(false);
        it.wrote(&"b".repeat(200), Time(1600));
        it.called();
        it.settled(&PostResult::Later(Time(4500)), Time(3500));
        assert_eq!(it.due(), None, "the gateway gets it again");
        it.settled(&PostResult::Later(Time(43_500)), Time(3500));
        assert_eq!(it.text().map(str::len), Some(300));
        it.settled(&edited(), Time(43_500));
        it.wrote(&"c".repeat(200), Time(43_600));
        assert_eq!(it.due(), Some(Time(47_500)), "twice the time of before");
    }

    #[test]
    fn first_post_is_empty_where_a_platform_may_get_it_twice() {
        let mut it = preview(false, true);
        it.wrote("a", Time(0));
        assert_eq!(shows(&mut it, 1500), "");
        assert_eq!(it.due(), Some(Time(3500)), "one character is worth showing now");
        assert_eq!(shows(&mut it, 3500), "a");
        assert_eq!(it.due(), None);
    }

    #[test]
    fn post_that_is_full_or_stuck_is_not_edited_any_more() {
        let mut full = posted(false);
        full.wrote(&"b".repeat(5000), Time(1600));
        full.called();
        full.settled(&sending(2), Time(3500));
        full.settled(&edited(), Time(3500));
        full.wrote(&"c".repeat(5000), Time(3600));
        assert_eq!((full.due(), full.text()), (None, None));
        for result in [PostResult::Lost, PostResult::Failed(PostFailure::Refused)] {
            let mut it = posted(false);
            it.wrote(&"b".repeat(500), Time(1600));
            it.called();
            it.settled(&result, Time(3500));
            it.wrote(&"c".repeat(500), Time(3600));
            assert_eq!((it.due(), it.text()), (None, None), "{result:?}");
        }
    }
}
