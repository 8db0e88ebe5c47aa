//! The search of the list: when it begins, and with which words. Must never search for words that are still being
//! typed.

use crate::ui::msg::Ticket;

/// How long typing must rest before a search begins, in milliseconds.
const REST_MS: i64 = 150;

/// The search in all messages.
#[derive(Debug, Default)]
pub(super) struct SearchState {
    /// The words of the last search.
    pub(super) words: String,
    pub(super) on_its_way: Option<Ticket>,
    /// The list shows that hits may follow.
    pub(super) promises: bool,
    /// When something was last typed.
    pub(super) typed_ms: i64,
}

impl SearchState {
    /// Whether to search for these words now: they are new, typing rests, and no other search is on its way.
    pub(super) fn is_due(&self, words: &str, now_ms: i64) -> bool {
        words != self.words && self.on_its_way.is_none() && now_ms - self.typed_ms >= REST_MS
    }
}

/// The words as a prefix search. Text that looks like a search language is unchanged.
pub(super) fn begins_with(words: &str) -> String {
    let plain = words.chars().all(|c| c.is_alphanumeric() || c.is_whitespace());
    if plain { format!("{words}*") } else { words.to_owned() }
}
