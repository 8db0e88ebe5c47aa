//! Renderings of replies ([`crate::render`]) as lines of the screen, in the colours of the theme. Must never pass on an escape sequence:
//! it is shown as text.

use ratatui::text::{Line, Span};

use super::theme::Theme;
use crate::text::styled::Span as StyledSpan;
use crate::text::{Look, Text, safe};

/// The parameters of renderings here.
pub(crate) fn look(columns: u16, now_ms: i64) -> Look {
    Look { columns: columns.into(), now_ms, ids: false }
}

/// The same for text that is wrapped only when it is drawn.
pub(crate) fn whole(now_ms: i64) -> Look {
    look(u16::MAX, now_ms)
}

/// The lines of a rendering.
pub(crate) fn lines(text: &Text, theme: Theme) -> Vec<Line<'static>> {
    let span = |span: StyledSpan| {
        let text = safe::line(&span.text).into_owned();
        match span.style {
            Some(style) => Span::styled(text, theme.of(style)),
            None => Span::raw(text),
        }
    };
    text.lines().into_iter().map(|line| line.into_iter().map(span).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::style::Style;
    use crate::text::styled::text;

    #[test]
    fn styles_of_renderings_become_those_of_the_theme() {
        let theme = Theme::default();
        let lines = lines(&text!["a ", (Style::Good, "good"), " b\n\x1b[2Jc"], theme);
        assert_eq!(lines.len(), 2);
        assert_eq!(lines[0].spans[1], Span::styled("good", theme.of(Style::Good)));
        assert_eq!(lines[0].to_string(), "a good b");
        assert_eq!(lines[1].to_string(), "␛[2Jc", "an escape sequence is text");
    }
}
