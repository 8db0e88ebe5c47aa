//! Gives every drawn cluster a width that all terminals agree on. Flags, families, skin tones, keycaps and emoji variants consist
//! of several characters, and terminals differ in their width. One cell too many leaves stray letters on the screen. So each of
//! them is drawn as something simpler in the same columns. Must never change the text itself: copied, sent and edited text is
//! unchanged.

use ratatui::buffer::Buffer;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Replaces drawn clusters of uncertain width.
pub(crate) fn settle(buffer: &mut Buffer) {
    let columns = usize::from(buffer.area.width);
    for at in 0..buffer.content.len() {
        let cell = &buffer.content[at];
        if cell.symbol().len() < 4 {
            // A single character that is no flag part, or a letter with an accent: its width is certain.
            continue;
        }
        let Some(shown) = certain(cell.symbol()) else { continue };
        let (style, left) = (cell.style(), columns - at % columns);
        let mut cells = buffer.content[at..at + left].iter_mut();
        for piece in shown {
            let wide = piece.width().max(1);
            let Some(cell) = cells.next() else { break };
            cell.set_symbol(&piece).set_style(style);
            // A cell covered by a wide letter has no letter of its own.
            cells.by_ref().take(wide - 1).for_each(|cell| _ = cell.set_symbol(" ").set_style(style));
        }
    }
}

/// The replacement for a cluster of uncertain width, one piece per letter; together they fill the columns of the cluster.
fn certain(cluster: &str) -> Option<Vec<String>> {
    let (columns, alone) = (cluster.width(), cluster.chars().map(|c| c.width().unwrap_or(0)).sum::<usize>());
    if columns == alone && !cluster.contains(is_uncertain) {
        return None;
    }
    let (mut pieces, mut used) = (Vec::<String>::new(), 0);
    for c in cluster.chars().filter_map(drawn) {
        let wide = c.width().unwrap_or(0);
        match pieces.last_mut() {
            Some(last) if wide == 0 => last.push(c),
            _ if wide == 0 || used + wide > columns => {}
            _ => {
                pieces.push(c.to_string());
                used += wide;
            }
        }
        if used >= columns && wide > 0 {
            // The first of several pictures stands for all.
            break;
        }
    }
    if pieces.is_empty() {
        pieces.push("?".repeat(columns.min(1)));
        used = columns.min(1);
    }
    pieces.extend((used..columns).map(|_| " ".to_owned()));
    Some(pieces)
}

/// Whether terminals differ in the effect of this character on the width of a cluster.
fn is_uncertain(c: char) -> bool {
    is_flag(c) || (drawn(c).is_none() && c != JOINER)
}

/// Joins pictures to one; between letters of scripts that use it, it has no width anywhere.
const JOINER: char = '\u{200d}';

fn is_flag(c: char) -> bool {
    ('\u{1f1e6}'..='\u{1f1ff}').contains(&c)
}

/// What is drawn for a character of a cluster: a letter for part of a flag, and `None` for a character that only changes others.
fn drawn(c: char) -> Option<char> {
    match c {
        '\u{1f1e6}'..='\u{1f1ff}' => char::from_u32(u32::from('A') + u32::from(c) - 0x1_f1e6),
        JOINER | '\u{fe0e}' | '\u{fe0f}' | '\u{20e3}' => None,
        '\u{1f3fb}'..='\u{1f3ff}' | '\u{e0020}'..='\u{e007f}' => None,
        c => Some(c),
    }
}

#[cfg(test)]
mod tests {
    use ratatui::layout::Rect;
    use ratatui::style::Style;
    use unicode_segmentation::UnicodeSegmentation as _;

    use super::*;

    /// Text, and how it is drawn.
    const TABLE: [(&str, &str); 22] = [
        ("🇩🇪", "DE"),
        ("🇩", "D"),
        ("👩‍👩‍👧", "👩"),
        ("👩🏽‍💻", "👩"),
        ("🏳️‍🌈", "🏳 "),
        ("🏴󠁧󠁢󠁳󠁣󠁴󠁿", "🏴"),
        ("👍🏽", "👍"),
        ("☝🏽", "☝ "),
        ("❤️", "❤ "),
        ("❤️‍🔥", "❤ "),
        ("⌚️", "⌚"),
        ("©️", "© "),
        ("1️⃣", "1 "),
        ("#️⃣", "# "),
        ("🏽", "?"),
        // Clusters with an agreed width are unchanged.
        ("👍", "👍"),
        ("漢", "漢"),
        ("e\u{301}", "e\u{301}"),
        ("한", "한"),
        ("\u{1112}\u{1161}\u{11ab}", "\u{1112}\u{1161}\u{11ab}"),
        ("क्ष", "क्ष"),
        ("→", "→"),
    ];

    /// The screen row with this text, and more text after it.
    fn row(text: &str) -> Buffer {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 12, 1));
        buffer.set_string(0, 0, format!("{text}|"), Style::new());
        settle(&mut buffer);
        buffer
    }

    /// The cells of a row that a terminal gets, without cells covered by wide letters.
    fn told(buffer: &Buffer) -> Vec<&str> {
        let mut covered = 0;
        let cells = buffer.content.iter().filter(|cell| {
            let is_told = covered == 0;
            covered = if is_told { cell.symbol().width().max(1) } else { covered } - 1;
            is_told
        });
        cells.map(ratatui::buffer::Cell::symbol).collect()
    }

    #[test]
    fn all_width_rules_agree_on_drawn_text() {
        for (text, drawn) in TABLE {
            let buffer = row(text);
            let symbols = told(&buffer);
            let line = symbols.concat();
            let as_one: usize = line.graphemes(true).map(|cluster| cluster.width()).sum();
            let one_by_one: usize = line.chars().map(|c| c.width().unwrap_or(0)).sum();
            assert_eq!([as_one, one_by_one], [12; 2], "{text}: {line:?}");
            assert!(!line.contains(is_uncertain), "{text}: {line:?}");
            let shown = line.split('|').next().expect("a piece");
            assert_eq!(shown.trim_end(), drawn.trim_end(), "{text}");
            assert_eq!(shown.width(), text.width(), "{text}: what follows stands where it was laid out");
        }
    }

    #[test]
    fn truncated_text_stays_on_the_screen() {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 3, 2));
        for y in 0..2 {
            buffer.set_string(0, y, "a🇩🇪", Style::new());
        }
        settle(&mut buffer);
        assert_eq!(told(&buffer).concat(), "aDEaDE");
    }
}
