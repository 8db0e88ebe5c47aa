//! Placeholders in the input line for pastes that are too big to draw and for unsafe characters. Must never lose or change a
//! byte: [`Folds::expand`] returns exactly the folded text.
//!
//! The line editor draws its buffer unchanged and counts in bytes, so a placeholder has two forms of the same length in bytes.
//! The *label* is the visible form, `[pasted 10.0 MB, 120,000 lines]`. The *token* is the form in the buffer: one private-use
//! character and combining marks, together a single grapheme. That is why the cursor steps over a placeholder and Backspace
//! deletes it whole. No typed text is ever mistaken for one.

use std::collections::HashMap;
use std::sync::Arc;

use super::safe;

/// A text with more bytes is folded.
pub const BYTES: usize = 4096;

/// A text with more lines is folded.
pub const LINES: usize = 40;

/// A text with more bytes can't be edited: a larger returned text stays folded.
pub const EDITABLE: usize = 32 * 1024;

/// The first character of a token: three or four bytes, so that any label length can be matched.
const BASE_ODD: char = '\u{f8f0}';
const BASE_EVEN: char = '\u{10fff0}';

/// The first of 64 two-byte combining marks, the digits of a token.
const DIGIT: u32 = 0x300;
const DIGITS: usize = 64;

/// The texts behind the placeholders of one composer.
#[derive(Debug, Default)]
pub struct Folds {
    folds: Vec<Fold>,
    by_token: HashMap<String, usize>,
}

#[derive(Debug, Clone)]
struct Fold {
    token: String,
    label: String,
    body: Arc<str>,
}

/// A piece of a buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Plain text.
    Text(&'a str),
    /// A placeholder: its label, as long in bytes as its token.
    Label(&'a str),
}

impl Folds {
    /// The text for the buffer: large texts are folded; in small ones, only unsafe characters.
    pub fn fold(&mut self, text: &str) -> String {
        self.fold_beyond(text, is_big)
    }

    /// A text that returns for editing: known pastes are folded again, the rest only if it is too big to edit.
    pub fn fold_edited(&mut self, text: &str) -> String {
        self.fold_beyond(text, |text| text.len() > EDITABLE)
    }

    /// The number of bytes stored behind placeholders.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.folds.iter().map(|fold| fold.body.len()).sum()
    }

    fn fold_beyond(&mut self, text: &str, is_beyond: fn(&str) -> bool) -> String {
        if !is_big(text) {
            return self.fold_characters(text);
        }
        // A returning message holds the paste that it was sent with: the words around it stay editable.
        let known = self.folds.iter().find(|fold| is_big(&fold.body) && text.contains(&*fold.body));
        if let Some(Fold { token, body, .. }) = known.cloned()
            && let Some((before, after)) = text.split_once(&*body)
        {
            return self.fold_beyond(before, is_beyond) + &token + &self.fold_beyond(after, is_beyond);
        }
        if is_beyond(text) { self.token(text, || pasted(text)) } else { self.fold_characters(text) }
    }

    /// The full text of the buffer.
    #[must_use]
    pub fn expand(&self, buffer: &str) -> String {
        let mut text = String::with_capacity(buffer.len());
        self.each(buffer, |found| match found {
            Ok(plain) => text.push_str(plain),
            Err(fold) => text.push_str(&fold.body),
        });
        text
    }

    /// The buffer cut into visible pieces. Each has the length of what it stands for.
    #[must_use]
    pub fn pieces<'a>(&'a self, buffer: &'a str) -> Vec<Piece<'a>> {
        let mut pieces = Vec::new();
        self.each(buffer, |found| {
            pieces.push(match found {
                Ok(plain) => Piece::Text(plain),
                Err(fold) => Piece::Label(&fold.label),
            });
        });
        pieces
    }

    /// Goes through a buffer: plain text is `Ok`, a token is `Err`.
    fn each<'a>(&'a self, buffer: &'a str, mut found: impl FnMut(Result<&'a str, &'a Fold>)) {
        let (mut plain, mut at) = (0, 0);
        while let Some(next) = buffer[at..].find([BASE_ODD, BASE_EVEN]) {
            at += next;
            let Some(fold) = self.token_at(&buffer[at..]) else {
                at += buffer[at..].chars().next().map_or(1, char::len_utf8);
                continue;
            };
            if plain < at {
                found(Ok(&buffer[plain..at]));
            }
            found(Err(fold));
            at += fold.token.len();
            plain = at;
        }
        if plain < buffer.len() {
            found(Ok(&buffer[plain..]));
        }
    }

    /// The fold whose token begins the text; the longest of several.
    fn token_at(&self, text: &str) -> Option<&Fold> {
        let marks = text.char_indices().skip(1).take_while(|(_, c)| is_digit(*c));
        let ends: Vec<usize> = marks.map(|(at, c)| at + c.len_utf8()).collect();
        ends.into_iter().rev().find_map(|end| self.by_token.get(&text[..end])).map(|&i| &self.folds[i])
    }

    fn fold_characters(&mut self, text: &str) -> String {
        let unsafe_to_draw = |c: char| safe::acts_on_terminal(c) || c == BASE_ODD || c == BASE_EVEN;
        if !text.contains(unsafe_to_draw) {
            return text.to_owned();
        }
        let mut folded = String::with_capacity(text.len());
        for c in text.chars() {
            if unsafe_to_draw(c) {
                let label = || format!("[control U+{:04X}]", u32::from(c));
                folded.push_str(&self.token(c.encode_utf8(&mut [0; 4]), label));
            } else {
                folded.push(c);
            }
        }
        folded
    }

    /// The token of a body; the same body has the same token.
    fn token(&mut self, body: &str, label: impl FnOnce() -> String) -> String {
        if let Some(fold) = self.folds.iter().find(|fold| *fold.body == *body) {
            return fold.token.clone();
        }
        let label = label();
        let token = encode(self.folds.len(), label.len());
        self.by_token.insert(token.clone(), self.folds.len());
        self.folds.push(Fold { token: token.clone(), label, body: body.into() });
        token
    }
}

fn is_digit(c: char) -> bool {
    (DIGIT..DIGIT + DIGITS as u32).contains(&u32::from(c))
}

fn is_big(text: &str) -> bool {
    text.len() > BYTES || text.bytes().filter(|b| *b == b'\n').count() >= LINES
}

/// A token of `length` bytes for `number`.
fn encode(mut number: usize, length: usize) -> String {
    let base = if length % 2 == 1 { BASE_ODD } else { BASE_EVEN };
    let mut token = String::from(base);
    while token.len() < length {
        let digit = u32::try_from(number % DIGITS).expect("BUG: a digit is less than 64");
        token.push(char::from_u32(DIGIT + digit).expect("BUG: U+0300 to U+033F are characters"));
        number /= DIGITS;
    }
    assert!(number == 0 && token.len() == length, "BUG: a label is long enough for any number of folds");
    token
}

/// The label of a big paste.
fn pasted(text: &str) -> String {
    let lines = text.lines().count();
    let unit = if lines == 1 { "line" } else { "lines" };
    format!("[pasted {}, {} {unit}]", size(text.len()), thousands(lines))
}

fn size(bytes: usize) -> String {
    const KB: f64 = 1e3;
    const MB: f64 = 1e6;
    // Rounding for display; no paste is near the precision of a float.
    let exact = bytes as f64;
    if exact < KB {
        format!("{bytes} B")
    } else if exact < MB {
        format!("{:.1} kB", exact / KB)
    } else {
        format!("{:.1} MB", exact / MB)
    }
}

fn thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use unicode_segmentation::UnicodeSegmentation;

    use super::*;

    fn shown(folds: &Folds, buffer: &str) -> String {
        let text = |piece| match piece {
            Piece::Text(text) | Piece::Label(text) => text,
        };
        folds.pieces(buffer).into_iter().map(text).collect()
    }

    #[test]
    fn a_big_paste_is_one_grapheme_with_a_label() {
        let mut folds = Folds::default();
        let body = "0123456789\n".repeat(120_000);
        let token = folds.fold(&body);
        assert_eq!(shown(&folds, &token), "[pasted 1.3 MB, 120,000 lines]");
        assert_eq!(token.len(), shown(&folds, &token).len());
        assert_eq!(token.graphemes(true).count(), 1);
        assert_eq!(folds.expand(&format!("see {token} there")), format!("see {body} there"));
    }

    #[test]
    fn long_pastes_and_control_characters_are_folded() {
        let mut folds = Folds::default();
        for (text, label) in [
            ("short\ntext".to_owned(), "short\ntext"),
            ("x".repeat(4096), &*"x".repeat(4096)),
            ("x".repeat(4097), "[pasted 4.1 kB, 1 line]"),
            ("x\n".repeat(39), &*"x\n".repeat(39)),
            ("x\n".repeat(40), "[pasted 80 B, 40 lines]"),
            ("a\x1b[2Jb".to_owned(), "a[control U+001B][2Jb"),
            ("\u{f8f0}\u{300}".to_owned(), "[control U+F8F0]\u{300}"),
        ] {
            let buffer = folds.fold(&text);
            assert_eq!(shown(&folds, &buffer), label);
        }
    }

    #[test]
    fn a_known_paste_is_folded_again_within_its_prompt() {
        let mut folds = Folds::default();
        let body = "line\n".repeat(1000);
        let token = folds.fold(&body);
        let sent = folds.expand(&format!("explain {token} please"));
        let again = folds.fold(&sent);
        assert_eq!(shown(&folds, &again), "explain [pasted 5.0 kB, 1,000 lines] please");
    }

    #[test]
    fn returned_text_is_not_interpreted() {
        let mut folds = Folds::default();
        let long = "a line\n".repeat(100);
        assert_eq!(folds.fold_edited(&long), long);
        let huge = "a line\n".repeat(10_000);
        let buffer = folds.fold_edited(&huge);
        assert_eq!(shown(&folds, &buffer), "[pasted 70.0 kB, 10,000 lines]");
        let paste = folds.fold(&"pasted\n".repeat(50));
        let again = folds.fold_edited(&(long.clone() + &folds.expand(&paste)));
        assert_eq!(shown(&folds, &again), long + "[pasted 350 B, 50 lines]");
    }

    #[test]
    fn a_mark_typed_after_a_placeholder_loses_nothing() {
        let mut folds = Folds::default();
        let body = "x".repeat(5000);
        let buffer = folds.fold(&body) + "\u{301}";
        assert_eq!(folds.expand(&buffer), body + "\u{301}");
    }

    proptest! {
        #[test]
        fn nothing_is_lost(texts in proptest::collection::vec(any::<String>(), 0..5), big in 0usize..3) {
            let mut folds = Folds::default();
            let body = "é\n".repeat(41 * big);
            let text = texts.join(&body);
            let buffer = folds.fold(&text);
            prop_assert_eq!(folds.expand(&buffer), text);
            let drawn = shown(&folds, &buffer);
            prop_assert_eq!(drawn.len(), buffer.len());
            prop_assert!(!drawn.contains(safe::acts_on_terminal));
        }
    }
}
