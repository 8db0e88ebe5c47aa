//! Splits and folds text into words. Stored text and queries must be split in the same way, or nothing is found.

use std::collections::VecDeque;
use std::ops::Range;
use std::str::CharIndices;

use unicode_normalization::char::{compose, decompose_compatible, is_combining_mark};

/// A word of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The folded word. Splitting it again returns it unchanged.
    pub text: String,
    /// Its byte range in the text, diacritics included. One character may be several words (`½`) with the same range.
    pub range: Range<usize>,
}

/// The words of a text in order. Reads no further than the requested word.
pub fn words(text: &str) -> impl Iterator<Item = Word> {
    Words { folds: Folds::new(text), word: None, alone: false }
}

/// The folded text: other characters unchanged, white space as one space.
pub(super) fn folded(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for (fold, range) in Folds::new(text) {
        match fold {
            Fold::Letter(c) | Fold::Mark(c) => plain.push(c),
            Fold::Nothing => {}
            Fold::Break if text[range.clone()].trim().is_empty() => {
                if !plain.ends_with(' ') {
                    plain.push(' ');
                }
            }
            Fold::Break => plain.push_str(&text[range]),
        }
    }
    plain.trim().to_owned()
}

/// The result of folding a character; a character may have several.
#[derive(Clone, Copy)]
enum Fold {
    /// A letter or a digit: begins or continues a word.
    Letter(char),
    /// A mark that distinguishes words (a vowel sign): continues a word.
    Mark(char),
    /// A diacritic or a joiner: belongs to the word and is ignored.
    Nothing,
    /// Not part of a word.
    Break,
}

/// The folded characters of a text, with their bytes.
struct Folds<'a> {
    chars: CharIndices<'a>,
    range: Range<usize>,
    queue: VecDeque<Fold>,
}

impl<'a> Folds<'a> {
    fn new(text: &'a str) -> Self {
        Self { chars: text.char_indices(), range: 0..0, queue: VecDeque::new() }
    }
}

impl Iterator for Folds<'_> {
    type Item = (Fold, Range<usize>);

    fn next(&mut self) -> Option<Self::Item> {
        if let Some(fold) = self.queue.pop_front() {
            return Some((fold, self.range.clone()));
        }
        let (at, c) = self.chars.next()?;
        self.range = at..at + c.len_utf8();
        let first = if c.is_ascii_alphanumeric() {
            Fold::Letter(c.to_ascii_lowercase())
        } else if c.is_ascii() || !(is_ignored(c) || is_word(c)) {
            Fold::Break
        } else if is_symbol(c) {
            // It is a word only as a whole: the parts of `≠` mean nothing.
            Fold::Letter(c)
        } else {
            decompose_compatible(c, |part| fold(part, &mut self.queue));
            self.queue.pop_front().unwrap_or(Fold::Nothing)
        };
        Some((first, self.range.clone()))
    }
}

/// Folds a character after decomposition.
fn fold(part: char, into: &mut VecDeque<Fold>) {
    if is_ignored(part) {
        into.push_back(Fold::Nothing);
    } else if !is_word(part) {
        into.push_back(Fold::Break);
    } else if is_combining_mark(part) {
        into.push_back(Fold::Mark(part));
    } else {
        // Lower, upper and lower again: so that ß and ẞ become ss, and a final sigma a sigma.
        let up = part.to_lowercase().flat_map(char::to_uppercase);
        into.extend(up.flat_map(char::to_lowercase).map(Fold::Letter));
    }
}

/// Whether a character can be part of a word. Radicals, which are symbols, are included for text from PDF files.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c) || matches!(c, '\u{2E80}'..='\u{2FDF}') || is_symbol(c)
}

/// Emoji, arrows, mathematical signs, currency signs and similar. ASCII symbols are punctuation in most texts, and box drawing,
/// bars and spinners are too frequent to search for, so both are left out.
fn is_symbol(c: char) -> bool {
    let within = matches!(
        c,
        '¢'..='¥'
            | '©'
            | '®'
            | '°'
            | '±'
            | '×'
            | '÷'
            | '\u{20A0}'..='\u{20CF}'
            | '\u{2100}'..='\u{214F}'
            | '\u{2190}'..='\u{24FF}'
            | '\u{25A0}'..='\u{27FF}'
            | '\u{2900}'..='\u{2BFF}'
            | '\u{4DC0}'..='\u{4DFF}'
            | '\u{FFFD}'
            | '\u{1D000}'..='\u{1D24F}'
            | '\u{1F000}'..='\u{1FAFF}'
    );
    within && !c.is_alphanumeric() && !is_ignored(c)
}

/// Diacritics, soft hyphens, joiners, selectors of glyphs and skin colour, tags of flags. Other marks are vowels in many scripts
/// and are kept.
fn is_ignored(c: char) -> bool {
    matches!(
        c,
        '\u{AD}'
            | '\u{300}'..='\u{36F}'
            | '\u{180B}'..='\u{180F}'
            | '\u{200C}'..='\u{200D}'
            | '\u{2060}'
            | '\u{20D0}'..='\u{20FF}'
            | '\u{FE00}'..='\u{FE0F}'
            | '\u{1F3FB}'..='\u{1F3FF}'
            | '\u{E0020}'..='\u{E007F}'
            | '\u{E0100}'..='\u{E01EF}'
    )
}

/// Whether a letter is a word of its own: in scripts without spaces between words.
fn stands_alone(c: char) -> bool {
    is_symbol(c) || is_east_asian(c) || is_southeast_asian(c) && !c.is_numeric()
}

/// Thai, Lao, Burmese, Khmer, and the scripts of Tai languages. A letter includes its marks, so no word of these languages begins
/// or ends within one.
fn is_southeast_asian(c: char) -> bool {
    matches!(
        c,
        '\u{E00}'..='\u{EFF}'
            | '\u{1000}'..='\u{109F}'
            | '\u{1780}'..='\u{17FF}'
            | '\u{1950}'..='\u{19FF}'
            | '\u{1A20}'..='\u{1AAF}'
            | '\u{A9E0}'..='\u{A9FF}'
            | '\u{AA60}'..='\u{AADF}'
    )
}

/// Whether the letter after this mark is written below the one before it and belongs to it: Burmese, Khmer, Tai Tham.
fn stacks(mark: char) -> bool {
    matches!(mark, '\u{1039}' | '\u{17D2}' | '\u{1A60}')
}

/// Ideographs, kana, bopomofo, hangul.
fn is_east_asian(c: char) -> bool {
    matches!(
        c,
        '\u{1100}'..='\u{11FF}'
            | '\u{2E80}'..='\u{31FF}'
            | '\u{3400}'..='\u{4DBF}'
            | '\u{4E00}'..='\u{9FFF}'
            | '\u{A960}'..='\u{A97F}'
            | '\u{AC00}'..='\u{D7FF}'
            | '\u{F900}'..='\u{FAFF}'
            | '\u{1AFF0}'..='\u{1B16F}'
            | '\u{20000}'..='\u{3FFFF}'
    )
}

/// The iterator behind [`words`].
struct Words<'a> {
    folds: Folds<'a>,
    /// The word that may continue.
    word: Option<Word>,
    /// Whether it is a character that is a word of its own.
    alone: bool,
}

impl Words<'_> {
    /// Begins a word; returns the one before it.
    fn begin(&mut self, c: char, range: Range<usize>) -> Option<Word> {
        self.alone = stands_alone(c);
        let text = c.to_string();
        self.word.replace(Word { text, range })
    }

    /// Adds a mark, or another part of a decomposed character, to the word.
    fn join(&mut self, c: char, end: usize) {
        if let Some(word) = &mut self.word {
            word.range.end = end;
            match word.text.chars().next_back() {
                Some(last) if self.alone && compose(last, c).is_some() => {
                    word.text.pop();
                    word.text.extend(compose(last, c));
                }
                _ => word.text.push(c),
            }
        }
    }

    /// Whether a letter is part of the syllable before it.
    fn is_part(&self, c: char) -> bool {
        let last = self.word.as_ref().and_then(|word| word.text.chars().next_back());
        self.alone && last.is_some_and(|last| stacks(last) || compose(last, c).is_some())
    }
}

impl Iterator for Words<'_> {
    type Item = Word;

    fn next(&mut self) -> Option<Word> {
        while let Some((fold, range)) = self.folds.next() {
            let done = match fold {
                Fold::Letter(c) if self.is_part(c) => {
                    self.join(c, range.end);
                    None
                }
                Fold::Letter(c) if self.word.is_none() || self.alone || stands_alone(c) => {
                    self.begin(c, range)
                }
                Fold::Letter(c) | Fold::Mark(c) => {
                    self.join(c, range.end);
                    None
                }
                Fold::Nothing => {
                    if let Some(word) = &mut self.word {
                        word.range.end = range.end;
                    }
                    None
                }
                Fold::Break => self.word.take(),
            };
            if done.is_some() {
                return done;
            }
        }
        self.word.take()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cut(text: &str) -> Vec<String> {
        words(text).map(|word| word.text).collect()
    }

    #[test]
    fn text_is_cut_and_folded() {
        let rows: &[(&str, &[&str])] = &[
            ("", &[]),
            ("  -- …!", &[]),
            ("Hello, World_2", &["hello", "world", "2"]),
            ("Café CAFE\u{301} naïve Ångström", &["cafe", "cafe", "naive", "angstrom"]),
            ("Straße STRASSE", &["strasse", "strasse"]),
            ("ΟΔΟΣ οδός", &["οδοσ", "οδοσ"]),
            ("İstanbul", &["istanbul"]),
            ("ＦＵＬＬ１２", &["full12"]),
            ("x² ﬁn ½", &["x2", "fin", "1", "2"]),
            ("retake™ 🙂 ok", &["retake", "™", "🙂", "ok"]),
            ("a→b ⇒c 3€ ≠", &["a", "→", "b", "⇒", "c", "3", "€", "≠"]),
            ("👍🏽 👩\u{200D}💻 ❤\u{FE0F} 🇩🇪", &["👍", "👩", "💻", "❤", "🇩", "🇪"]),
            ("├── a █▌ ⠙ “b” …", &["a", "b"]),
            ("don't a\0b", &["don", "t", "a", "b"]),
            ("中文 手机", &["中", "文", "手", "机"]),
            ("iPhone手机12", &["iphone", "手", "机", "12"]),
            ("𠮷野家", &["𠮷", "野", "家"]),
            ("ひらカナ々ー", &["ひ", "ら", "カ", "ナ", "々", "ー"]),
            ("が か\u{3099} ｶﾞ", &["が", "が", "ガ"]),
            ("한글 \u{1112}\u{1161}\u{11AB}\u{1100}", &["한", "글", "한", "ᄀ"]),
            ("ㅋㅋ", &["ᄏ", "ᄏ"]),
            ("⼈", &["人"]),
            ("हिन्दी ไม่ กิ", &["हिन्दी", "ไ", "ม่", "กิ"]),
            ("ที่นี่๑๒", &["ที่", "นี่", "๑๒"]),
            ("ភ្នំពេញ", &["ភ្នំ", "ពេ", "ញ"]),
            ("မန္တလေး", &["မ", "န္တ", "လေး"]),
            ("ວຽງຈັນ 2", &["ວ", "ຽ", "ງ", "ຈັ", "ນ", "2"]),
            ("co\u{AD}op 1\u{FE0F}\u{20E3} \u{FE0F}", &["coop", "1"]),
            ("\u{301}x \u{93F}y", &["x", "y"]),
        ];
        for (text, expected) in rows {
            assert_eq!(cut(text), *expected, "{text}");
        }
    }

    #[test]
    fn ranges_of_words_refer_to_the_original_text() {
        let text = "ΑΒ Cafe\u{301}! ﷺ 中か\u{3099}ﬁ ㅎㅏㄴ";
        let found: Vec<_> = words(text).map(|word| (&text[word.range.clone()], word.text)).collect();
        let rows = [
            ("ΑΒ", "αβ"),
            ("Cafe\u{301}", "cafe"),
            ("ﷺ", "صلى"),
            ("ﷺ", "الله"),
            ("ﷺ", "عليه"),
            ("ﷺ", "وسلم"),
            ("中", "中"),
            ("か\u{3099}", "が"),
            ("ﬁ", "fi"),
            ("ㅎㅏ", "하"),
            ("ㄴ", "ᄂ"),
        ];
        let expected: Vec<_> = rows.iter().map(|(from, to)| (*from, (*to).to_owned())).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn folding_a_folded_character_changes_nothing() {
        for c in '\0'..=char::MAX {
            for word in cut(&c.to_string()) {
                assert_eq!(cut(&word).join(" "), word, "U+{:X}", u32::from(c));
                let plain = |c: char| !c.is_ascii() || c.is_ascii_alphanumeric();
                assert!(word.chars().all(plain), "U+{:X}", u32::from(c));
            }
        }
    }

    proptest! {
        #[test]
        fn words_stay_as_they_are_and_ranges_grow(text in "\\PC{0,40}") {
            let mut last = 0..0;
            for word in words(&text) {
                prop_assert!(last.start <= word.range.start && last.end <= word.range.end);
                prop_assert!(!text[word.range.clone()].is_empty());
                prop_assert_eq!(cut(&word.text).join(" "), word.text);
                last = word.range;
            }
            let again = cut(&text).join(" ");
            prop_assert_eq!(cut(&again), cut(&text));
        }
    }
}
