//! Renderings of replies ([`crate::render`]) as lines of the UI: they come with the few colours of [`crate::text::style`], which
//! become the theme's. Must never pass on any other escape sequence: what is no colour of ours is shown as text.

use ratatui::style::Style;
use ratatui::text::{Line, Span};

use super::theme::Theme;
use crate::text::style::{self, Palette};
use crate::text::{Look, safe};

/// How renderings are asked for, so that [`lines`] can read them.
pub(crate) fn look(columns: u16, now_ms: i64) -> Look {
    Look { palette: Palette::COLOURED, columns: columns.into(), now_ms, ids: false }
}

/// The same for what is wrapped where it is drawn, and nowhere before.
pub(crate) fn whole(now_ms: i64) -> Look {
    look(u16::MAX, now_ms)
}

/// The lines of a rendering.
pub(crate) fn lines(text: &str, theme: Theme) -> Vec<Line<'static>> {
    let text = text.strip_suffix('\n').unwrap_or(text);
    text.split('\n').map(|line| Line::from(spans(line, theme))).collect()
}

fn spans(line: &str, theme: Theme) -> Vec<Span<'static>> {
    let mut spans = Vec::new();
    let mut style = Style::new();
    let mut pieces = line.split("\x1b[");
    let mut push = |text: &str, style: Style| {
        if !text.is_empty() {
            spans.push(Span::styled(safe::line(text).into_owned(), style));
        }
    };
    push(pieces.next().unwrap_or_default(), style);
    for piece in pieces {
        let painted = piece.split_once('m').and_then(|(code, text)| {
            if code == "0" {
                Some((Style::new(), text))
            } else {
                Some((theme.of(style::Style::of_code(code)?), text))
            }
        });
        match painted {
            Some((next, text)) => {
                style = next;
                push(text, style);
            }
            None => push(&format!("\x1b[{piece}"), style),
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::style::Style as What;

    #[test]
    fn colours_of_renderings_become_the_themes() {
        let theme = Theme::default();
        let text = format!("a {} b\n\x1b[2Jc", Palette::COLOURED.paint(What::Good, "good"));
        let lines = lines(&text, theme);
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0].spans[1], Span::styled("good", theme.of(What::Good)));
        assert_eq!(lines[0].to_string(), "a good b");
        assert_eq!(lines[1].to_string(), "␛[2Jc", "what is no colour of ours is text");
    }
}
