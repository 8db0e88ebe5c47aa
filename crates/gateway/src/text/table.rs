//! Tables as text in columns, for a block of fixed width. Must never drop a cell, and never widen a column for a long one.

use unicode_width::UnicodeWidthStr;

/// Longer cells do not widen their column.
const WIDEST: usize = 30;

/// Tables with more columns are not padded.
const MOST_COLUMNS: usize = 20;

/// A table while it is read.
#[derive(Debug, Default)]
pub(super) struct Table {
    rows: Vec<Vec<String>>,
    row: Vec<String>,
    /// Where the last cell ended in the source.
    cell_end: usize,
}

impl Table {
    pub(super) fn cell(&mut self, end: usize) {
        self.row.push(String::new());
        self.cell_end = end;
    }

    pub(super) fn say(&mut self, text: &str) {
        if let Some(cell) = self.row.last_mut() {
            // A control character would break the columns, and a line break the row.
            cell.extend(text.chars().map(|c| if c.is_control() { ' ' } else { c }));
        }
    }

    /// The length of what the cell has.
    pub(super) fn said(&self) -> usize {
        self.row.last().map_or(0, String::len)
    }

    /// What the cell has from there.
    pub(super) fn since(&self, from: usize) -> &str {
        self.row.last().and_then(|cell| cell.get(from..)).unwrap_or_default()
    }

    /// Ends a row. `source` is the source of the row from a place to its end.
    pub(super) fn end_row<'a>(&mut self, source: impl Fn(usize) -> &'a str) {
        let rest = source(self.cell_end).trim().trim_matches('|').trim();
        let mut row = std::mem::take(&mut self.row);
        if !rest.is_empty() && !row.is_empty() {
            row.push(rest.to_owned());
        }
        while row.last().is_some_and(|cell| cell.trim().is_empty()) {
            row.pop();
        }
        self.rows.push(row);
    }

    /// The table as lines: the head, a line, the rows.
    pub(super) fn drawn(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or_default();
        let widths: Vec<usize> = (0..columns).map(|column| self.width(column, columns)).collect();
        let mut out = String::new();
        for (number, row) in self.rows.iter().enumerate() {
            let mut line = String::new();
            for (column, cell) in row.iter().enumerate() {
                if column > 0 {
                    line.push_str(" | ");
                }
                line.push_str(cell);
                let missing = widths[column].saturating_sub(cell.width());
                line.extend(std::iter::repeat_n(' ', missing));
            }
            out.push_str(line.trim_end());
            out.push('\n');
            if number == 0 {
                let lines: Vec<String> = widths.iter().map(|width| "-".repeat((*width).max(1))).collect();
                out.push_str(&lines.join("-+-"));
                out.push('\n');
            }
        }
        out
    }

    fn width(&self, column: usize, columns: usize) -> usize {
        if columns > MOST_COLUMNS {
            return 0;
        }
        let cells = self.rows.iter().filter_map(|row| row.get(column));
        cells.map(|cell| cell.width()).filter(|width| *width <= WIDEST).max().unwrap_or_default()
    }
}
