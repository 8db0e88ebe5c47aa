//! Tables fitted to a width: columns are narrowed and their cells wrapped; if even that is too wide, each row is a list. Must
//! never lose a cell.

use pulldown_cmark::Alignment;
use ratatui::text::Span;

use super::wrap::{Run, spans_columns};
use crate::ui::theme::{Paint, Theme};

/// The separator of two columns.
const BETWEEN: &str = " │ ";

/// The least width of a column.
const NARROWEST: usize = 4;

/// A table.
#[derive(Debug)]
pub(super) struct Table {
    alignments: Vec<Alignment>,
    rows: Vec<Vec<Run>>,
    row: Vec<Run>,
}

impl Table {
    /// A table with these alignments.
    pub(super) fn new(alignments: Vec<Alignment>) -> Self {
        Self { alignments, rows: Vec::new(), row: Vec::new() }
    }

    /// The next cell.
    pub(super) fn cell(&mut self, run: Run) {
        self.row.push(run);
    }

    /// A row ends; the first one is the head.
    pub(super) fn row(&mut self) {
        self.rows.push(std::mem::take(&mut self.row));
    }

    /// Its lines of at most so many columns.
    pub(super) fn lines(self, width: usize, theme: Theme) -> Vec<Vec<Span<'static>>> {
        match self.widths(width) {
            Some(widths) => self.grid(&widths, theme),
            None => self.list(width, theme),
        }
    }

    fn widths(&self, width: usize) -> Option<Vec<usize>> {
        let count = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let room = width.checked_sub(3 * count.saturating_sub(1))?;
        let mut wanted = vec![1; count];
        for row in &self.rows {
            for (at, cell) in row.iter().enumerate() {
                wanted[at] = wanted[at].max(cell.columns());
            }
        }
        let least: usize = wanted.iter().map(|width| (*width).min(NARROWEST)).sum();
        if least > room {
            return None;
        }
        // The widest columns are narrowed first.
        let mut sum: usize = wanted.iter().sum();
        while sum > room {
            let most = wanted.iter().copied().max()?;
            let next = wanted.iter().copied().filter(|width| *width < most).max().unwrap_or(1);
            let widest = wanted.iter().filter(|width| **width == most).count();
            let each = ((sum - room).div_ceil(widest)).min(most - next).max(1);
            for width in wanted.iter_mut().filter(|width| **width == most) {
                let less = each.min(sum - room);
                *width -= less;
                sum -= less;
            }
        }
        Some(wanted)
    }

    fn grid(&self, widths: &[usize], theme: Theme) -> Vec<Vec<Span<'static>>> {
        let dim = theme.style(Paint::Dim);
        let mut lines = Vec::new();
        for (number, row) in self.rows.iter().enumerate() {
            let empty = Run::default();
            let cells: Vec<_> = widths
                .iter()
                .enumerate()
                .map(|(at, width)| row.get(at).unwrap_or(&empty).clone().trimmed().wrap(*width))
                .collect();
            let high = cells.iter().map(Vec::len).max().unwrap_or(0);
            for level in 0..high {
                let mut line = Vec::new();
                for (at, (cell, width)) in cells.iter().zip(widths).enumerate() {
                    if at > 0 {
                        line.push(Span::styled(BETWEEN, dim));
                    }
                    let spans = cell.get(level).cloned().unwrap_or_default();
                    let spare = width - spans_columns(&spans);
                    let before = match self.alignments.get(at) {
                        Some(Alignment::Right) => spare,
                        Some(Alignment::Center) => spare / 2,
                        _ => 0,
                    };
                    line.push(Span::raw(" ".repeat(before)));
                    line.extend(spans.into_iter().map(|span| head(span, number, theme)));
                    line.push(Span::raw(" ".repeat(spare - before)));
                }
                lines.push(line);
            }
            if number == 0 {
                let rules: Vec<_> = widths.iter().map(|width| "─".repeat(*width)).collect();
                lines.push(vec![Span::styled(rules.join("─┼─"), dim)]);
            }
        }
        lines
    }

    fn list(&self, width: usize, theme: Theme) -> Vec<Vec<Span<'static>>> {
        let mut lines = Vec::new();
        let (titles, rows) = self.rows.split_at(self.rows.len().min(1));
        let rows = if rows.is_empty() { titles } else { rows };
        for (number, row) in rows.iter().enumerate() {
            if number > 0 {
                lines.push(Vec::new());
            }
            for (at, cell) in row.iter().enumerate() {
                let mut run = Run::default();
                if let Some(title) = titles.first().and_then(|titles| titles.get(at)) {
                    run.push(&format!("{}: ", title.text()), theme.style(Paint::Bold));
                }
                run.append(cell);
                lines.extend(run.wrap(width));
            }
        }
        lines
    }
}

fn head(span: Span<'static>, row: usize, theme: Theme) -> Span<'static> {
    if row == 0 { span.patch_style(theme.style(Paint::Bold)) } else { span }
}
