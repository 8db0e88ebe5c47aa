//! Rows in columns. Must never be wider than the terminal: the last column is cut.

use crate::text::Look;
use crate::text::style::Style;
use crate::text::{Text, width};

/// A cell of a row; safe already.
#[derive(Debug, Default)]
pub struct Cell {
    text: String,
    style: Option<Style>,
    right: bool,
}

/// A cell.
pub fn cell(text: impl Into<String>) -> Cell {
    Cell { text: text.into(), ..Cell::default() }
}

impl Cell {
    /// In a style.
    pub fn style(self, style: Style) -> Self {
        Self { style: Some(style), ..self }
    }

    /// Aligned to the right.
    pub fn right(self) -> Self {
        Self { right: true, ..self }
    }

    fn draw(&self, filled: String) -> Text {
        match self.style {
            Some(style) => Text::styled(style, filled),
            None => filled.into(),
        }
    }
}

/// The rows, one per line; a column that is empty in all of them is left out.
pub fn table(look: &Look, rows: &[Vec<Cell>]) -> Text {
    lines(look, rows).into_iter().collect()
}

/// The same, row by row.
pub(super) fn lines(look: &Look, rows: &[Vec<Cell>]) -> Vec<Text> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| {
            rows.iter()
                .filter_map(|row| row.get(column))
                .map(|cell| width::columns(&cell.text))
                .max()
                .unwrap_or(0)
        })
        .collect();
    rows.iter().map(|row| line(look, row, &widths)).collect()
}

fn line(look: &Look, row: &[Cell], widths: &[usize]) -> Text {
    let mut text = Text::new();
    let mut used = 0;
    let last = row.iter().rposition(|cell| !cell.text.is_empty());
    for (column, cell) in row.iter().enumerate() {
        if widths[column] == 0 {
            continue;
        }
        if last.is_none_or(|last| column > last) {
            break;
        }
        if used > 0 {
            text.push("  ");
            used += 2;
        }
        let filled = if Some(column) == last {
            let room = look.columns.saturating_sub(used).max(8);
            let cut = width::truncate(&cell.text, room);
            if cell.right { aligned(&cut, widths[column].min(room)) } else { cut.into_owned() }
        } else if cell.right {
            aligned(&cell.text, widths[column])
        } else {
            width::fit(&cell.text, widths[column])
        };
        used += width::columns(&filled);
        text.push(cell.draw(filled));
    }
    text.push("\n");
    text
}

fn aligned(text: &str, columns: usize) -> String {
    " ".repeat(columns.saturating_sub(width::columns(text))) + text
}
