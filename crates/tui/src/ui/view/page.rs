//! Lines with a margin of two columns: the sign of the speaker or of a call's outcome, and the bar of the selected message. Must
//! never make a line wider than the view.

use ratatui::text::{Line, Span};

use crate::text::Text;
use crate::ui::doc;
use crate::ui::keymap::Keymap;
use crate::ui::theme::{Paint, Theme};

/// The columns of the margin.
pub(super) const MARGIN: u16 = 2;

/// The parameters of a drawing.
#[derive(Clone, Copy, Debug)]
pub(super) struct DrawParameters<'a> {
    /// Colours.
    pub(super) theme: Theme,
    /// The keymap.
    pub(super) keys: &'a Keymap,
    /// The width of the view, with the margin.
    pub(super) width: u16,
    /// The current time, in Unix milliseconds.
    pub(super) now_ms: i64,
}

impl DrawParameters<'_> {
    /// Columns beside the margin.
    pub(super) fn room(&self) -> u16 {
        self.width.saturating_sub(MARGIN).max(1)
    }

    /// Columns for prose.
    pub(super) fn prose(&self) -> u16 {
        self.room().min(doc::PROSE)
    }

    /// A piece of a line.
    pub(super) fn span(&self, text: impl Into<String>, paint: Paint) -> Span<'static> {
        Span::styled(text.into(), self.theme.style(paint))
    }
}

/// Lines below one another.
#[derive(Debug)]
pub(super) struct Page<'a> {
    /// The parameters.
    pub(super) ink: DrawParameters<'a>,
    /// The lines.
    pub(super) lines: Vec<Line<'static>>,
}

impl<'a> Page<'a> {
    /// An empty page.
    pub(super) fn new(ink: DrawParameters<'a>) -> Self {
        Self { ink, lines: Vec::new() }
    }

    /// An empty line.
    pub(super) fn gap(&mut self) {
        self.lines.push(Line::default());
    }

    /// Lines beside the margin; the sign is before the first one.
    pub(super) fn signed(&mut self, sign: Span<'static>, lines: impl IntoIterator<Item = Line<'static>>) {
        let mut sign = Some(sign);
        for mut line in lines {
            let before = sign.take().unwrap_or_else(|| Span::raw(" "));
            line.spans.splice(0..0, [before, Span::raw(" ")]);
            self.lines.push(line);
        }
    }

    /// Lines beside a bar.
    pub(super) fn barred(&mut self, bar: &Span<'static>, lines: impl IntoIterator<Item = Line<'static>>) {
        for line in lines {
            self.signed(bar.clone(), [line]);
        }
    }

    /// Lines beside the margin.
    pub(super) fn push(&mut self, lines: impl IntoIterator<Item = Line<'static>>) {
        self.signed(Span::raw(" "), lines);
    }

    /// A text in one colour, wrapped.
    pub(super) fn text(&mut self, text: &str, paint: Paint) {
        let lines = doc::plain(text, self.ink.room(), self.ink.theme, paint);
        self.push(lines);
    }

    /// A text on one line, cut if it is too long.
    pub(super) fn cut(&mut self, text: &str, paint: Paint) {
        let span = doc::cut(text, self.ink.theme.style(paint), self.ink.room().into());
        self.push([Line::from(span)]);
    }

    /// An existing rendering.
    pub(super) fn rendered(&mut self, text: &Text) {
        let lines = crate::ui::words::lines(text, self.ink.theme);
        self.push(doc::rewrap(lines, self.ink.room().into()));
    }
}
