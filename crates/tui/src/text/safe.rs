//! Makes untrusted text safe to show. Text of a model, a tool or another person may hold escape sequences and control characters;
//! here they become visible signs. Must never let one through, and must never change text without them.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a terminal may act on this character: C0 and C1 controls (escape, bell, backspace, carriage return …), delete, and the
/// bidirectional overrides and isolates, which reorder text. Newline and tab are safe.
#[must_use]
pub fn acts_on_terminal(c: char) -> bool {
    match c {
        '\n' | '\t' => false,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        _ => c.is_control(),
    }
}

/// Makes text safe for one line: newlines become `⏎`, tabs become spaces, control characters become visible.
#[must_use]
pub fn line(text: &str) -> Cow<'_, str> {
    let text = block(text);
    if !text.contains(['\n', '\t']) {
        return text;
    }
    let text = text.trim_end_matches('\n');
    Cow::Owned(text.replace('\n', "⏎").replace('\t', " "))
}

/// Makes a text of several lines safe: `\r\n` becomes a newline, control characters become visible.
#[must_use]
pub fn block(text: &str) -> Cow<'_, str> {
    if !text.contains(acts_on_terminal) {
        return Cow::Borrowed(text);
    }
    let mut stream = Stream::default();
    let mut shown = stream.push(text).into_owned();
    shown.push_str(stream.finish());
    Cow::Owned(shown)
}

/// The streaming form of [`block`]: text arrives in chunks, and a `\r\n` may be split between two of them. The joined results
/// equal the block of the joined chunks.
#[derive(Debug, Default)]
pub struct Stream {
    /// The last chunk ended with a carriage return, which waits for the next chunk.
    held: bool,
}

impl Stream {
    /// The text to print for the next chunk.
    pub fn push<'a>(&mut self, chunk: &'a str) -> Cow<'a, str> {
        if !self.held && !chunk.contains(acts_on_terminal) {
            return Cow::Borrowed(chunk);
        }
        let mut shown = String::with_capacity(chunk.len() + 8);
        for c in chunk.chars() {
            if std::mem::take(&mut self.held) && c != '\n' {
                shown.push_str(CARRIAGE_RETURN);
            }
            match c {
                '\r' => self.held = true,
                c if acts_on_terminal(c) => show(c, &mut shown),
                c => shown.push(c),
            }
        }
        Cow::Owned(shown)
    }

    /// The rest to print after the last chunk. The stream can be used again afterwards.
    #[must_use = "a carriage return at the very end is shown by printing this"]
    pub fn finish(&mut self) -> &'static str {
        if std::mem::take(&mut self.held) { CARRIAGE_RETURN } else { "" }
    }
}

const CARRIAGE_RETURN: &str = "␍";

/// Writes the visible sign of an unsafe character: a control picture if there is one, else its number.
fn show(c: char, out: &mut String) {
    let picture = match u32::from(c) {
        code @ 0..0x20 => char::from_u32(0x2400 + code),
        0x7f => Some('␡'),
        _ => None,
    };
    if let Some(picture) = picture {
        out.push(picture);
    } else {
        write!(out, "{}", c.escape_unicode()).expect("BUG: writing to a String does not fail");
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn controls_are_shown() {
        for (text, shown) in [
            ("\x1b[2Jgone", "␛[2Jgone"),
            ("\x1b]0;title\x07", "␛]0;title␇"),
            ("a\x08b\x7f", "a␈b␡"),
            ("\u{9b}31m", "\\u{9b}31m"),
            ("safe\u{202e}reversed", "safe\\u{202e}reversed"),
            ("\u{2066}x\u{2069}", "\\u{2066}x\\u{2069}"),
            ("visible\rover", "visible␍over"),
            ("end\r", "end␍"),
            ("a\r\nb\r\r\nc", "a\nb␍\nc"),
            ("tab\tand\nline", "tab\tand\nline"),
        ] {
            assert_eq!(block(text), shown);
        }
    }

    #[test]
    fn a_line_is_one_line() {
        assert_eq!(line("one\ntwo\tthree\r\n"), "one⏎two three");
        assert_eq!(line("\x1bc"), "␛c");
    }

    #[test]
    fn safe_text_is_borrowed() {
        assert!(matches!(block("héllo 漢字 👩‍👩‍👧\n\tok"), Cow::Borrowed(_)));
        assert!(matches!(line("héllo"), Cow::Borrowed(_)));
    }

    fn hostile() -> impl Strategy<Value = String> {
        let char = prop_oneof![
            any::<char>(),
            proptest::sample::select(vec!['\r', '\n', '\t', '\x1b', '\x07', '\u{9b}', '\u{202e}', 'a']),
        ];
        proptest::collection::vec(char, 0..40).prop_map(String::from_iter)
    }

    proptest! {
        #[test]
        fn no_control_character_gets_through(text in hostile()) {
            prop_assert!(!block(&text).contains(acts_on_terminal));
            let controls = block(&text).chars().filter(|c| c.is_control() && !"\n\t".contains(*c)).count();
            prop_assert_eq!(controls, 0);
            prop_assert!(!line(&text).contains(char::is_control));
        }

        #[test]
        fn shown_text_is_unchanged_when_shown_again(text in hostile()) {
            let once = block(&text);
            prop_assert_eq!(&block(&once), &once);
        }

        #[test]
        fn chunks_make_the_block(chunks in proptest::collection::vec(hostile(), 0..6)) {
            let mut stream = Stream::default();
            let mut shown: String = chunks.iter().map(|c| stream.push(c).into_owned()).collect();
            shown.push_str(stream.finish());
            let whole = chunks.concat();
            prop_assert_eq!(shown, block(&whole));
        }
    }
}
