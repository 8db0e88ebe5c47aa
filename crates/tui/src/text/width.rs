//! Text measured in terminal columns. Must never cut a grapheme. Accepts only text that is safe already (`term::safe`): the width
//! of a control character can't be measured.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// The spaces for a tab in measured lines.
const TAB: &str = "    ";

/// The size of the terminal, in columns and rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Characters per line, at least 1.
    pub columns: usize,
    /// Visible lines, at least 1.
    pub rows: usize,
}

/// The size of the terminal; 80 by 24 if there is none.
#[must_use]
pub fn terminal() -> Size {
    match crossterm::terminal::size() {
        Ok((columns, rows)) if columns > 0 && rows > 0 => Size { columns: columns.into(), rows: rows.into() },
        _ => Size { columns: 80, rows: 24 },
    }
}

/// The width of a text of one line, in columns.
#[must_use]
pub fn columns(text: &str) -> usize {
    text.width()
}

/// Removes the last letter. Returns whether there was one.
pub(crate) fn pop_letter(text: &mut String) -> bool {
    let last = text.grapheme_indices(true).next_back().map(|(at, _)| at);
    text.truncate(last.unwrap_or(0));
    last.is_some()
}

/// The text if it fits, else its beginning and an ellipsis: at most `max` columns.
#[must_use]
pub fn truncate(text: &str, max: usize) -> Cow<'_, str> {
    // A text is never wider than its byte length, so most need no measuring.
    if text.len() <= max || columns(text) <= max {
        return Cow::Borrowed(text);
    }
    if max == 0 {
        return Cow::Borrowed("");
    }
    let mut cut = fitting(text, max - 1).to_owned();
    cut.push('…');
    Cow::Owned(cut)
}

/// The end of a text after an ellipsis, if the text does not fit into `room` columns; the ellipsis takes one more.
#[must_use]
pub fn end(text: &str, room: usize) -> String {
    let mut used = 0;
    let from = text.grapheme_indices(true).rev().find_map(|(at, grapheme)| {
        used += columns(grapheme);
        (used > room).then_some(at + grapheme.len())
    });
    from.map_or_else(|| text.to_owned(), |from| format!("…{}", &text[from..]))
}

/// The text, cut or padded with spaces to exactly `width` columns.
#[must_use]
pub fn fit(text: &str, width: usize) -> String {
    let mut text = truncate(text, width).into_owned();
    text.extend(std::iter::repeat_n(' ', width - columns(&text)));
    text
}

/// Breaks a text into lines of at most `max` columns, at spaces where possible. Tabs become spaces. A grapheme wider than `max`
/// has a line of its own.
#[must_use]
pub fn wrap(text: &str, max: usize) -> Vec<String> {
    text.split('\n').flat_map(|line| wrap_line(&line.replace('\t', TAB), max.max(1))).collect()
}

fn wrap_line(line: &str, max: usize) -> Vec<String> {
    let mut rest = line;
    let mut lines = Vec::new();
    while columns(rest) > max {
        let mut head = fitting(rest, max);
        if head.is_empty() {
            head = rest.graphemes(true).next().unwrap_or(rest);
        }
        let broken = if rest[head.len()..].starts_with(' ') { head } else { at_space(head).unwrap_or(head) };
        lines.push(broken.trim_end_matches(' ').to_owned());
        let after = &rest[broken.len()..];
        rest = after.strip_prefix(' ').unwrap_or(after);
    }
    if !rest.is_empty() || lines.is_empty() {
        lines.push(rest.to_owned());
    }
    lines
}

/// The part before the last space, if it holds a word.
fn at_space(head: &str) -> Option<&str> {
    let (before, _) = head.rsplit_once(' ')?;
    (!before.trim_start_matches(' ').is_empty()).then_some(before)
}

/// The longest beginning of whole graphemes that fits.
fn fitting(text: &str, max: usize) -> &str {
    let mut used = 0;
    for (at, grapheme) in text.grapheme_indices(true) {
        used += grapheme.width();
        if used > max {
            return &text[..at];
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn truncation_keeps_graphemes_whole() {
        for (text, max, cut) in [
            ("short", 10, "short"),
            ("exactly", 7, "exactly"),
            ("too long", 5, "too …"),
            ("漢字漢字", 5, "漢字…"),
            ("漢字漢字", 4, "漢…"),
            ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
            ("👩‍👩‍👧👩‍👩‍👧", 3, "👩‍👩‍👧…"),
            ("any", 1, "…"),
            ("any", 0, ""),
        ] {
            assert_eq!(truncate(text, max), cut, "{text:?} to {max}");
        }
    }

    #[test]
    fn fitting_fills_with_spaces() {
        assert_eq!(fit("漢", 4), "漢  ");
        assert_eq!(fit("abcdef", 4), "abc…");
    }

    #[test]
    fn wrapping_prefers_spaces() {
        assert_eq!(wrap("the quick brown fox", 10), ["the quick", "brown fox"]);
        assert_eq!(wrap("unbreakable", 4), ["unbr", "eaka", "ble"]);
        assert_eq!(wrap("漢字漢", 3), ["漢", "字", "漢"]);
        assert_eq!(wrap("a\n\nb", 5), ["a", "", "b"]);
        assert_eq!(wrap("漢", 1), ["漢"]);
        assert_eq!(wrap("    indented code line", 12), ["    indented", "code line"]);
    }

    proptest! {
        #[test]
        fn lines_fit_and_no_word_is_lost(text in "[ -~漢é👍\n]{0,80}", max in 2usize..20) {
            let lines = wrap(&text, max);
            for line in &lines {
                prop_assert!(columns(line) <= max, "{line:?}");
            }
            let letters = |s: &str| s.chars().filter(|c| !c.is_whitespace()).collect::<String>();
            prop_assert_eq!(letters(&lines.concat()), letters(&text));
        }

        #[test]
        fn a_truncated_text_fits(text in "\\PC{0,40}", max in 0usize..20) {
            prop_assert!(columns(&truncate(&text, max)) <= max);
        }
    }
}
