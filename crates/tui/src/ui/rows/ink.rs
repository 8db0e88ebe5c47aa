//! Draws a row, piece by piece into the remaining columns. Must never be wider than its row.

use std::ops::Range;

use ratatui::style::{Modifier, Style};
use ratatui::text::{Line, Span};
use unicode_segmentation::UnicodeSegmentation;

use crate::text::{safe, width};
use crate::ui::theme::{CURSOR, Paint, Theme};

/// Draws a row.
#[derive(Debug)]
pub(crate) struct RowSpans<'a> {
    theme: Theme,
    spans: Vec<Span<'static>>,
    /// Remaining columns.
    room: usize,
    /// The fields of the row, one per line.
    fields: &'a str,
    /// The indices of their matching graphemes, ascending.
    marks: &'a [u32],
    /// Number of pieces of a row that can't be picked.
    dim: usize,
    /// The look of the row if it is selected.
    selected: Option<Paint>,
}

impl<'a> RowSpans<'a> {
    /// For a row of so many columns, with its fields and their matching letters, and its look if it is selected.
    pub(crate) fn new(
        theme: Theme,
        columns: u16,
        (fields, marks): (&'a str, &'a [u32]),
        selected: Option<Paint>,
    ) -> Self {
        let mut ink =
            Self { theme, spans: Vec::new(), room: columns.into(), fields, marks, dim: 0, selected };
        ink.text(if ink.is_selected() { CURSOR } else { " " }, Paint::Accent);
        ink.text(" ", Paint::Accent);
        ink
    }

    /// Whether the row is selected.
    pub(crate) fn is_selected(&self) -> bool {
        self.selected.is_some()
    }

    /// Number of remaining columns.
    pub(crate) fn room(&self) -> usize {
        self.room
    }

    /// A piece of text, cut to the remaining columns.
    pub(crate) fn text(&mut self, text: &str, paint: Paint) {
        let text = safe::line(text);
        let cut = width::truncate(&text, self.room);
        self.push(cut.into_owned(), self.theme.style(paint));
    }

    /// A piece of text, cut or padded to exactly so many columns, as far as they remain.
    pub(crate) fn column(&mut self, text: &str, columns: usize, paint: Paint) {
        let text = width::fit(&safe::line(text), columns.min(self.room));
        self.push(text, self.theme.style(paint));
    }

    /// The same, aligned to the right.
    pub(crate) fn column_right(&mut self, text: &str, columns: usize, paint: Paint) {
        let columns = columns.min(self.room);
        let text = safe::line(text);
        let text = width::truncate(&text, columns);
        self.space(columns - width::columns(&text));
        self.push(text.into_owned(), self.theme.style(paint));
    }

    /// A field of the row, in at most so many columns, with the matching letters marked.
    pub(crate) fn field(&mut self, number: usize, columns: usize, paint: Paint) {
        let Some(range) = self.range(number) else { return };
        let fields = self.fields;
        let text = &fields[range.clone()];
        let first = u32::try_from(fields[..range.start].graphemes(true).count()).unwrap_or(u32::MAX);
        let cut = width::truncate(text, columns.min(self.room));
        let mut run = String::new();
        let mut marked = false;
        for (at, grapheme) in (first..).zip(cut.graphemes(true)) {
            let now = self.marks.binary_search(&at).is_ok();
            if now != marked {
                self.run(std::mem::take(&mut run), marked, paint);
                marked = now;
            }
            run.push_str(grapheme);
        }
        self.run(run, marked, paint);
    }

    /// The same, padded to exactly so many columns.
    pub(crate) fn field_column(&mut self, number: usize, columns: usize, paint: Paint) {
        let columns = columns.min(self.room);
        let before = self.room;
        self.field(number, columns, paint);
        self.space(columns.saturating_sub(before - self.room));
    }

    /// Spaces, as far as there is room.
    pub(crate) fn space(&mut self, columns: usize) {
        let columns = columns.min(self.room);
        self.push(" ".repeat(columns), Style::new());
    }

    /// Finished pieces, such as those of a rendering, cut to the remaining columns.
    pub(crate) fn spans(&mut self, spans: impl IntoIterator<Item = Span<'static>>) {
        for span in spans {
            let cut = width::truncate(&span.content, self.room).into_owned();
            self.push(cut, span.style);
        }
    }

    /// The row can't be picked, for this reason.
    pub(super) fn disabled(&mut self, why: &str) {
        self.dim = self.spans.len();
        if self.room > 8 {
            self.text("  ", Paint::Plain);
            self.text(why, Paint::Warn);
        }
    }

    /// The row.
    pub(crate) fn done(mut self) -> Line<'static> {
        let dim = self.theme.style(Paint::Dim);
        self.spans.iter_mut().take(self.dim).for_each(|span| span.style = dim);
        let Some(selected) = self.selected else { return Line::from(self.spans) };
        self.space(self.room);
        Line::from(self.spans).style(self.theme.style(selected))
    }

    fn run(&mut self, text: String, marked: bool, paint: Paint) {
        let style = self.theme.style(if marked { Paint::Match } else { paint });
        // The selected row may look like matching letters.
        self.push(text, if marked { style.add_modifier(Modifier::UNDERLINED) } else { style });
    }

    fn push(&mut self, text: String, style: Style) {
        if !text.is_empty() {
            self.room = self.room.saturating_sub(width::columns(&text));
            self.spans.push(Span::styled(text, style));
        }
    }

    /// The range of a field.
    fn range(&self, number: usize) -> Option<Range<usize>> {
        let mut start = 0;
        for (at, field) in self.fields.split('\n').enumerate() {
            let end = start + field.len();
            if at == number {
                return Some(start..end);
            }
            start = end + 1;
        }
        None
    }
}
