//! Text of servers, shortened and made safe. Must never cut within a character.

/// The beginning of a text up to this many bytes, and whether it is complete.
pub(crate) fn cut(text: &str, bytes: usize) -> (&str, bool) {
    if text.len() <= bytes {
        return (text, true);
    }
    (&text[..text.floor_char_boundary(bytes)], false)
}

/// A text on one line, without terminal control characters.
pub(crate) fn line(text: &str, bytes: usize) -> String {
    let flat: String =
        text.chars().map(|c| if is_blank(c) { ' ' } else { c }).filter(|c| !acts(*c)).collect();
    bounded(flat.trim(), bytes)
}

/// A text of several lines, without terminal control characters.
pub(crate) fn lines(text: &str, bytes: usize) -> String {
    let kept: String = text.chars().filter(|c| matches!(c, '\n' | '\t') || !acts(*c)).collect();
    bounded(kept.trim(), bytes)
}

/// A text on one line with visible control characters, not shortened.
pub(crate) fn visible(text: &str) -> String {
    let shown = |c: char| match retake_core::name::is_seen(c) {
        true => c.to_string(),
        false => c.escape_default().to_string(),
    };
    text.chars().map(shown).collect()
}

fn bounded(text: &str, bytes: usize) -> String {
    match cut(text, bytes) {
        (text, true) => text.to_owned(),
        (text, false) => format!("{}…", text.trim_end()),
    }
}

fn is_blank(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\t' | '\u{2028}' | '\u{2029}')
}

/// Control characters, and those that change direction or are invisible.
fn acts(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
        || matches!(c, '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::{cut, line, lines};

    #[test]
    fn terminal_control_sequences_are_removed() {
        assert_eq!(line(" a\x1b[2J\nb\u{202e}c\0\td ", 99), "a[2J bc d");
        assert_eq!(lines("a\r\nb\x07\n\tc\n", 99), "a\nb\n\tc");
    }

    #[test]
    fn a_text_is_cut_between_characters() {
        assert_eq!(cut("äö", 3), ("ä", false));
        assert_eq!(line("äöü", 4), "äö…");
        assert_eq!(line("äö", 4), "äö");
    }
}
