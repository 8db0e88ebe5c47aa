//! Text that is no Markdown: output of tools. Must never pass on control sequences: colours are removed, and an
//! overwritten line shows only its last text.

use ratatui::text::Line;

use super::wrap::Run;
use crate::text::safe;
use crate::ui::theme::{Paint, Theme};

/// The output of a tool, in one colour.
pub(crate) fn plain(text: &str, width: u16, theme: Theme, paint: Paint) -> Vec<Line<'static>> {
    said(&stripped(text), width, theme, paint)
}

/// A person's text, in one colour: nothing is removed, and control characters become visible.
pub(crate) fn said(text: &str, width: u16, theme: Theme, paint: Paint) -> Vec<Line<'static>> {
    let text = safe::block(text);
    let run = Run::of(text.trim_end_matches('\n'), theme.style(paint));
    run.wrap(width.into()).into_iter().map(Line::from).collect()
}

/// The text without escape sequences and without text that a carriage return overwrote; other control characters become visible.
pub(crate) fn stripped(text: &str) -> String {
    let plain = without_sequences(text);
    let plain = if plain.contains('\r') { without_overwritten(&plain) } else { plain };
    safe::block(&plain).into_owned()
}

fn without_overwritten(text: &str) -> String {
    let line = |line: &str| {
        let line = line.trim_end_matches('\r');
        line.rsplit('\r').next().unwrap_or_default().to_owned()
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

fn without_sequences(text: &str) -> String {
    if !text.contains(['\x1b', '\u{9b}', '\u{9d}']) {
        return text.to_owned();
    }
    let mut plain = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let kind = match letter {
            '\x1b' => letters.next(),
            '\u{9b}' => Some('['),
            '\u{9d}' => Some(']'),
            letter => {
                plain.push(letter);
                continue;
            }
        };
        match kind {
            // Up to the final letter.
            Some('[') => {
                while letters.next_if(|next| matches!(next, ' '..='?')).is_some() {}
                letters.next_if(|next| matches!(next, '@'..='~'));
            }
            // A title or a link: up to a bell or the end of the string.
            Some(']' | 'P' | '_' | '^') => {
                while let Some(next) = letters.next_if(|next| *next != '\n') {
                    if next == '\x07' || next == '\u{9c}' {
                        break;
                    }
                    if next == '\x1b' {
                        letters.next_if(|next| *next == '\\');
                        break;
                    }
                }
            }
            Some('(' | ')') => {
                letters.next_if(|next| *next != '\n');
            }
            Some('\n') => plain.push('\n'),
            _ => {}
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_in_prompts_are_shown_as_in_answers() {
        let text = "a\x1b[31mb\x07";
        let shown = |lines: Vec<Line<'_>>| lines[0].to_string();
        let theme = Theme::default();
        assert_eq!(shown(said(text, 40, theme, Paint::Plain)), "a␛[31mb␇");
        assert_eq!(
            shown(said(text, 40, theme, Paint::Plain)),
            shown(super::super::markdown(text, 40, theme))
        );
    }

    #[test]
    fn control_sequences_are_left_out() {
        for (text, shown) in [
            ("\x1b[1;31merror\x1b[0m: bad", "error: bad"),
            ("\x1b]0;title\x07x", "x"),
            ("\x1b]8;;http://e.org\x1b\\link\x1b]8;;\x1b\\", "link"),
            ("10%\r50%\r100%\ndone\r\n", "100%\ndone\n"),
            ("a\x08b\u{202e}c", "a␈b\\u{202e}c"),
            ("\x1b", ""),
            ("\x1b[", ""),
            ("\x1b[31", ""),
            ("\x1b]0;open\nnext", "\nnext"),
            ("\u{9b}2Jx", "x"),
        ] {
            assert_eq!(stripped(text), shown, "{text:?}");
        }
    }
}
