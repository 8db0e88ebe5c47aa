//! Styled text: the result of a rendering, for any client. The full-screen program makes lines of it; the line client prints it,
//! with colours only on a terminal. Must never hold an escape sequence: a style is data until the text is printed.

use std::borrow::Cow;
use std::fmt::{Display, Write as _};
use std::ops::Add;

use super::style::{Palette, Style};

/// Styled text. It may have several lines; each piece is safe already.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Text {
    spans: Vec<Span>,
}

/// A piece of text in one style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The text; it may have several lines.
    pub text: String,
    /// Its style; none for plain text.
    pub style: Option<Style>,
}

impl Text {
    /// No text.
    pub fn new() -> Self {
        Self::default()
    }

    /// Text in one style.
    pub fn styled(style: Style, text: impl Display) -> Self {
        Self::of(text.to_string(), Some(style))
    }

    /// Text in a style, or plain text.
    pub(crate) fn of(text: String, style: Option<Style>) -> Self {
        if text.is_empty() { Self::new() } else { Self { spans: vec![Span { text, style }] } }
    }

    /// Appends text.
    pub fn push(&mut self, text: impl Into<Self>) {
        for span in text.into().spans {
            match self.spans.last_mut() {
                Some(last) if last.style.is_none() && span.style.is_none() => last.text.push_str(&span.text),
                _ => self.spans.push(span),
            }
        }
    }

    /// Whether there is no text.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// Whether a character occurs in it.
    pub fn contains(&self, c: char) -> bool {
        self.spans.iter().any(|span| span.text.contains(c))
    }

    /// The same without white space at its end.
    #[must_use]
    pub fn trim_end(mut self) -> Self {
        while let Some(last) = self.spans.last_mut() {
            last.text.truncate(last.text.trim_end().len());
            if !last.text.is_empty() {
                break;
            }
            self.spans.pop();
        }
        self
    }

    /// The texts with a separator between them.
    pub fn join(texts: impl IntoIterator<Item = Self>, separator: &str) -> Self {
        let mut joined = Self::new();
        for (at, text) in texts.into_iter().enumerate() {
            if at > 0 {
                joined.push(separator);
            }
            joined.push(text);
        }
        joined
    }

    /// Its lines, each as spans without line breaks. A final line break begins no further line.
    pub fn lines(&self) -> Vec<Vec<Span>> {
        let mut lines = vec![Vec::new()];
        for span in &self.spans {
            for (at, piece) in span.text.split('\n').enumerate() {
                if at > 0 {
                    lines.push(Vec::new());
                }
                if !piece.is_empty()
                    && let Some(line) = lines.last_mut()
                {
                    line.push(Span { text: piece.to_owned(), style: span.style });
                }
            }
        }
        if lines.len() > 1 && lines.last().is_some_and(Vec::is_empty) {
            lines.pop();
        }
        lines
    }

    /// The text to print on a stream. Without colours, stars surround a match.
    pub fn print(&self, palette: Palette) -> String {
        let mut printed = String::new();
        for span in &self.spans {
            let star = if span.style == Some(Style::Match) && !palette.is_coloured() { "*" } else { "" };
            let done = match span.style {
                Some(style) => write!(printed, "{star}{}{star}", palette.paint(style, &span.text)),
                None => write!(printed, "{}", span.text),
            };
            done.expect("BUG: a string takes all text");
        }
        printed
    }
}

/// The text without its styles.
impl Display for Text {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.print(Palette::PLAIN))
    }
}

impl From<String> for Text {
    fn from(text: String) -> Self {
        Self::of(text, None)
    }
}

impl From<&str> for Text {
    fn from(text: &str) -> Self {
        text.to_owned().into()
    }
}

impl From<&String> for Text {
    fn from(text: &String) -> Self {
        text.as_str().into()
    }
}

impl From<Cow<'_, str>> for Text {
    fn from(text: Cow<'_, str>) -> Self {
        text.into_owned().into()
    }
}

impl<T: Display> From<(Style, T)> for Text {
    fn from((style, text): (Style, T)) -> Self {
        Self::styled(style, text)
    }
}

impl<T: Into<Self>> From<Option<T>> for Text {
    fn from(text: Option<T>) -> Self {
        text.map_or_else(Self::new, Into::into)
    }
}

impl<T: Into<Self>> Add<T> for Text {
    type Output = Self;

    fn add(mut self, text: T) -> Self {
        self.push(text);
        self
    }
}

impl<T: Into<Self>> FromIterator<T> for Text {
    fn from_iter<I: IntoIterator<Item = T>>(texts: I) -> Self {
        let mut all = Self::new();
        texts.into_iter().for_each(|text| all.push(text));
        all
    }
}

/// A text made of pieces: plain ones, and pairs of a style and its text.
macro_rules! text {
    ($($piece:expr),+ $(,)?) => {{
        let mut text = $crate::text::Text::new();
        $(text.push($piece);)+
        text
    }};
}
pub(crate) use text;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_are_printed_as_colours_on_a_terminal_only() {
        let text = text!["a ", (Style::Good, "good"), " b ", (Style::Match, "found"), "\n"];
        assert_eq!(text.print(Palette::COLOURED), "a \x1b[32mgood\x1b[0m b \x1b[36mfound\x1b[0m\n");
        assert_eq!(text.print(Palette::PLAIN), "a good b *found*\n");
    }

    #[test]
    fn lines_keep_the_styles_of_their_spans() {
        let span = |text: &str, style| Span { text: text.to_owned(), style };
        let text = text!["a\n\n", (Style::Dim, "b\nc"), "d\n"];
        let lines = [
            vec![span("a", None)],
            vec![],
            vec![span("b", Some(Style::Dim))],
            vec![span("c", Some(Style::Dim)), span("d", None)],
        ];
        assert_eq!(text.lines(), lines);
        assert_eq!(Text::new().lines(), [vec![]]);
    }

    #[test]
    fn white_space_at_the_end_is_cut_over_several_spans() {
        let text = text!["a", (Style::Dim, " b \n"), "\n"];
        assert_eq!(text.trim_end(), text!["a", (Style::Dim, " b")]);
    }
}
