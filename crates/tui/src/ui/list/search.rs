//! The search of the list: when it begins, and for which words. Must never search for words that are still being typed.

use crate::ui::msg::Ticket;

/// A search begins once nothing was typed for so long, milliseconds.
const REST_MS: i64 = 150;

/// The search in everything that was said.
#[derive(Debug, Default)]
pub(super) struct SearchState {
    /// The words of the last search.
    pub(super) words: String,
    pub(super) on_its_way: Option<Ticket>,
    /// The list shows that hits may follow.
    pub(super) promises: bool,
    /// When something was typed last.
    pub(super) typed_ms: i64,
}

impl SearchState {
    /// Whether these words can be searched for now: they are new, rest, and no other search is on its way.
    pub(super) fn is_due(&self, words: &str, now_ms: i64) -> bool {
        words != self.words && self.on_its_way.is_none() && now_ms - self.typed_ms >= REST_MS
    }
}

/// The words as a search that finds what is not typed to its end. What looks like a search language is left as it is.
pub(super) fn begins_with(words: &str) -> String {
    let plain = words.chars().all(|c| c.is_alphanumeric() || c.is_whitespace());
    if plain { format!("{words}*") } else { words.to_owned() }
}
