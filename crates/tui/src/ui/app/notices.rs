//! The notice in the status line: what was done, or why not. It disappears by itself. Must never stay in a place where it is no
//! longer true.

use super::super::msg::TabId;
use super::super::theme::Paint;
use crate::text::safe;

/// The least time that a notice is shown; longer texts stay longer.
pub(super) const SHORT_MS: i64 = 4_000;

/// Extra time for each byte of its text.
const READ_MS: i64 = 60;

/// A tab, and the number of the pane in front of it.
pub(super) type Place = (TabId, Option<u64>);

/// What a notice says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Something was done.
    Done,
    /// Something was not done.
    Refused,
    /// What a key does next: the next key removes the notice.
    Hint,
    /// The run is being stopped: its end removes the notice.
    Stopping,
}

/// The current notice.
#[derive(Debug, Default)]
pub(super) struct Notices {
    current: Option<Notice>,
}

#[derive(Clone, Debug)]
struct Notice {
    text: String,
    kind: Kind,
    until_ms: i64,
    /// The place where it was first shown, once known: in another place it is not true.
    place: Option<Place>,
}

impl Notices {
    /// Shows a notice instead of the one before.
    pub(super) fn show(&mut self, kind: Kind, text: String, now_ms: i64) {
        let long = i64::try_from(text.len()).unwrap_or(0) * READ_MS;
        let until_ms = now_ms + SHORT_MS.max(long);
        self.current = Some(Notice { text, kind, until_ms, place: None });
    }

    /// Its text on one line, and its paint.
    pub(super) fn shown(&self) -> Option<(String, Paint)> {
        let notice = self.current.as_ref()?;
        let paint = if notice.kind == Kind::Refused { Paint::Warn } else { Paint::Good };
        Some((safe::line(&notice.text).into_owned(), paint))
    }

    /// Removes the notice if it is of this kind.
    pub(super) fn remove(&mut self, kind: Kind) {
        self.current.take_if(|notice| notice.kind == kind);
    }

    /// Removes the notice if it was shown in another place, before a pane opened or closed.
    pub(super) fn stay_at(&mut self, here: Place) {
        self.current.take_if(|notice| *notice.place.get_or_insert(here) != here);
    }

    /// Removes the notice when its time is over.
    pub(super) fn tick(&mut self, now_ms: i64) {
        self.current.take_if(|notice| notice.until_ms <= now_ms);
    }
}
