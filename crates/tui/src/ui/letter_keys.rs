//! Distinguishes letters that are keys from letters of typed words, when a person mistakes a pane for the composer. Must never
//! let an Enter after words agree to anything before a notice was shown.

/// The least time without another key before and after a letter that answers a request.
pub(crate) const ALONE_MS: i64 = 250;

/// Two letters closer together are words. A letter that is a key and an Enter after it are two keys.
const CLOSE_MS: i64 = 400;

/// How long a letter continues words that were typed before it.
const GOES_ON_MS: i64 = 2_000;

/// The letters that were typed last.
#[derive(Debug, Default)]
pub(crate) struct LetterKeys {
    last: Option<(char, i64)>,
    /// Words were typed since the last Enter.
    has_words: bool,
    /// When a letter was typed that agrees unless another key follows it.
    yes_ms: Option<i64>,
}

/// The meaning of a letter that is a key here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LetterMeaning {
    /// A key of its own.
    Key,
    /// The same key again: held down, or pressed twice.
    Again,
    /// A part of words.
    Word {
        /// Whether the letter before it has acted, and is part of the words, too.
        before: bool,
    },
}

impl LetterKeys {
    /// A letter that is a key, at a time in Unix milliseconds.
    pub(crate) fn key(&mut self, letter: char, now_ms: i64) -> LetterMeaning {
        self.yes_ms = None;
        let Some((before, at_ms)) = self.last.replace((letter, now_ms)) else { return LetterMeaning::Key };
        let passed = now_ms - at_ms;
        match self.has_words {
            true if passed < GOES_ON_MS => LetterMeaning::Word { before: false },
            false if passed < CLOSE_MS && before == letter => LetterMeaning::Again,
            false if passed < CLOSE_MS => {
                self.has_words = true;
                LetterMeaning::Word { before: true }
            }
            _ => LetterMeaning::Key,
        }
    }

    /// A letter that agrees once it is certain that no word begins with it.
    pub(crate) fn yes(&mut self, letter: char, now_ms: i64) -> LetterMeaning {
        let meaning = self.key(letter, now_ms);
        self.yes_ms = (!matches!(meaning, LetterMeaning::Word { .. })).then_some(now_ms);
        meaning
    }

    /// Whether such a letter stood alone: it agrees now.
    pub(crate) fn agrees(&mut self, now_ms: i64) -> bool {
        self.yes_ms.take_if(|at_ms| now_ms - *at_ms >= ALONE_MS).is_some()
    }

    /// Whether such a letter waits.
    pub(crate) fn waits(&self) -> bool {
        self.yes_ms.is_some()
    }

    /// A key other than a letter: the letter before it agrees to nothing.
    pub(crate) fn other(&mut self) {
        self.yes_ms = None;
    }

    /// Letters that are no key here, or pasted text. Returns whether a letter directly before them has acted, and is part of the
    /// words.
    pub(crate) fn stray(&mut self, text: &str, now_ms: i64) -> bool {
        self.yes_ms = None;
        let is_close = self.last.is_some_and(|(_, at_ms)| now_ms - at_ms < CLOSE_MS);
        let had_words = std::mem::replace(&mut self.has_words, true);
        self.last = Some((text.chars().next_back().unwrap_or_default(), now_ms));
        is_close && !had_words
    }

    /// Whether words were typed without a notice since.
    pub(crate) fn has_words(&self) -> bool {
        self.has_words
    }

    /// An Enter. Returns whether it belongs to words: then it does nothing, and the next one agrees.
    pub(crate) fn enter(&mut self) -> bool {
        (self.last, self.yes_ms) = (None, None);
        std::mem::take(&mut self.has_words)
    }
}

#[cfg(test)]
mod tests {
    use super::{LetterKeys, LetterMeaning};

    #[test]
    fn letters_in_a_row_are_words_and_one_that_is_held_down_is_a_key() {
        let mut letters = LetterKeys::default();
        assert_eq!(
            [0, 30, 60].map(|ms| letters.key('n', ms)),
            [LetterMeaning::Key, LetterMeaning::Again, LetterMeaning::Again]
        );
        assert_eq!(letters.key('p', 300), LetterMeaning::Word { before: true });
        assert_eq!(letters.key('p', 1_500), LetterMeaning::Word { before: false }, "slowly typed");
        assert!(letters.enter() && !letters.enter(), "once");
    }

    #[test]
    fn a_yes_stands_alone() {
        let mut letters = LetterKeys::default();
        assert_eq!(letters.yes('y', 0), LetterMeaning::Key);
        assert!(letters.waits() && !letters.agrees(200));
        assert!(letters.agrees(250) && !letters.waits() && !letters.agrees(900), "once");
        assert_eq!(letters.yes('y', 5_000), LetterMeaning::Key);
        assert!(letters.stray("e", 5_100) && !letters.agrees(9_000), "“yes”");
        assert_eq!(letters.yes('y', 5_200), LetterMeaning::Word { before: false });
        assert!(!letters.agrees(9_000));
        let mut letters = LetterKeys::default();
        assert_eq!(letters.yes('y', 0), LetterMeaning::Key);
        letters.other();
        assert!(!letters.agrees(9_000), "another key followed");
        assert_eq!(letters.yes('y', 20_000), LetterMeaning::Key);
        assert!(!letters.enter() && !letters.agrees(30_000), "“y”, Enter: the Enter agrees");
    }

    #[test]
    fn a_letter_alone_is_a_key_and_so_is_an_enter_right_behind_it() {
        let mut letters = LetterKeys::default();
        assert_eq!([0, 400, 800].map(|ms| letters.key('s', ms)), [LetterMeaning::Key; 3]);
        assert!(!letters.enter(), "“s”, Enter");
        assert!(!letters.stray("o", 5_000) && letters.enter(), "“o” is no key");
        assert_eq!(letters.key('s', 10_000), LetterMeaning::Key);
        assert!(letters.stray("t", 10_100), "the letter before it was the first of the words");
    }
}
