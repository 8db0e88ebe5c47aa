//! Distinguishes letters that are keys from letters of typed words, when a person mistakes a pane for the composer. Must never
//! let an Enter after words agree to anything before a notice was shown.

/// The least time without another key before and after a letter that agrees to a plan.
const ALONE_MS: i64 = 400;

/// Two letters closer together are words. A letter that is a key and an Enter after it are two keys.
const CLOSE_MS: i64 = ALONE_MS;

/// How long a letter continues words that were typed before it.
const GOES_ON_MS: i64 = 2_000;

/// The letters that were typed last.
#[derive(Debug, Default)]
pub(crate) struct LetterKeys {
    last: Option<(char, i64)>,
    /// Words were typed since the last Enter.
    has_words: bool,
    /// The last letters were different keys in a row.
    is_row: bool,
    /// When a letter was typed that agrees unless another key follows it.
    yes_ms: Option<i64>,
}

/// The meaning of a letter that is a key here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LetterMeaning {
    /// A key of its own.
    Key,
    /// A key right behind another one: held down, or pressed quickly.
    Again,
    /// A part of words.
    Word,
}

impl LetterKeys {
    /// A letter that is a key, at a time in Unix milliseconds. Keys in a row are keys, however quickly they are pressed: only
    /// letters that are no key here make them words.
    pub(crate) fn key(&mut self, letter: char, now_ms: i64) -> LetterMeaning {
        self.yes_ms = None;
        let Some((before, at_ms)) = self.last.replace((letter, now_ms)) else { return LetterMeaning::Key };
        let passed = now_ms - at_ms;
        self.is_row = passed < CLOSE_MS && (self.is_row || before != letter);
        match self.has_words {
            true if passed < GOES_ON_MS => LetterMeaning::Word,
            false if passed < CLOSE_MS => LetterMeaning::Again,
            _ => LetterMeaning::Key,
        }
    }

    /// A letter that agrees once it is certain that no word begins with it. Right behind another letter it agrees to nothing.
    pub(crate) fn yes(&mut self, letter: char, now_ms: i64) -> LetterMeaning {
        let before = self.last.map(|(before, _)| before);
        let meaning = match self.key(letter, now_ms) {
            LetterMeaning::Again if before != Some(letter) => LetterMeaning::Word,
            meaning => meaning,
        };
        self.yes_ms = (meaning != LetterMeaning::Word).then_some(now_ms);
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

    /// An Enter. Returns whether it may belong to words: then it does nothing, and the next one agrees.
    pub(crate) fn enter(&mut self, now_ms: i64) -> bool {
        let is_close = self.last.is_some_and(|(_, at_ms)| now_ms - at_ms < CLOSE_MS);
        let is_row = std::mem::take(&mut self.is_row) && is_close;
        (self.last, self.yes_ms) = (None, None);
        std::mem::take(&mut self.has_words) || is_row
    }
}

#[cfg(test)]
mod tests {
    use super::{LetterKeys, LetterMeaning};

    #[test]
    fn keys_in_a_row_are_keys_until_another_letter_makes_them_words() {
        let mut letters = LetterKeys::default();
        assert_eq!(letters.key('n', 0), LetterMeaning::Key);
        assert_eq!(
            [('n', 30), ('c', 180), ('n', 330)].map(|(key, ms)| letters.key(key, ms)),
            [LetterMeaning::Again; 3]
        );
        assert!(letters.stray("o", 400) && letters.has_words());
        assert_eq!(letters.key('p', 1_500), LetterMeaning::Word, "slowly typed");
        assert!(letters.enter(1_600) && !letters.enter(1_700), "once");
        for (enter_ms, is_words) in [(300, true), (800, false)] {
            let mut letters = LetterKeys::default();
            let _ = ['c', 's'].map(|key| letters.key(key, 100));
            assert_eq!(letters.enter(enter_ms), is_words, "Enter after {enter_ms} ms");
        }
    }

    #[test]
    fn a_yes_right_behind_another_key_agrees_to_nothing() {
        let mut letters = LetterKeys::default();
        assert_eq!(letters.key('n', 0), LetterMeaning::Key);
        assert_eq!(letters.yes('y', 150), LetterMeaning::Word);
        assert!(!letters.agrees(9_000));
        assert_eq!(letters.yes('y', 10_000), LetterMeaning::Key);
        assert!(letters.agrees(10_400));
    }

    #[test]
    fn a_yes_stands_alone() {
        let mut letters = LetterKeys::default();
        assert_eq!(letters.yes('y', 0), LetterMeaning::Key);
        assert!(letters.waits() && !letters.agrees(200));
        assert!(letters.agrees(400) && !letters.waits() && !letters.agrees(900), "once");
        assert_eq!(letters.yes('y', 5_000), LetterMeaning::Key);
        assert!(letters.stray("e", 5_100) && !letters.agrees(9_000), "“yes”");
        assert_eq!(letters.yes('y', 5_200), LetterMeaning::Word);
        assert!(!letters.agrees(9_000));
        let mut letters = LetterKeys::default();
        assert_eq!(letters.yes('y', 0), LetterMeaning::Key);
        letters.other();
        assert!(!letters.agrees(9_000), "another key followed");
        assert_eq!(letters.yes('y', 20_000), LetterMeaning::Key);
        assert!(!letters.enter(20_100) && !letters.agrees(30_000), "“y”, Enter: the Enter agrees");
    }

    #[test]
    fn a_letter_alone_is_a_key_and_so_is_an_enter_right_behind_it() {
        let mut letters = LetterKeys::default();
        assert_eq!([0, 400, 800].map(|ms| letters.key('s', ms)), [LetterMeaning::Key; 3]);
        assert!(!letters.enter(810), "“s”, Enter");
        assert!(!letters.stray("o", 5_000) && letters.enter(5_900), "“o” is no key");
        assert_eq!(letters.key('s', 10_000), LetterMeaning::Key);
        assert!(letters.stray("t", 10_100), "the letter before it was the first of the words");
    }
}
