//! A text laid out in columns: soft-wrapped at words, measured in graphemes, with labels for placeholders. Must never place
//! anything beyond the width, including the cursor.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::text::fold::{Folds, Piece};
use crate::text::width;

/// Columns of a tab.
const TAB: u16 = 4;

/// How a piece of the text is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum GlyphDisplay {
    /// The text itself.
    Text,
    /// Spaces.
    Space,
    /// Another text in its place.
    Label(String),
}

/// A grapheme, or a placeholder.
#[derive(Clone, Debug)]
pub(super) struct Glyph {
    /// Its offset in the text.
    pub(super) at: usize,
    /// Its length in bytes.
    pub(super) len: usize,
    /// Its first column.
    pub(super) column: u16,
    /// Its width in columns.
    pub(super) width: u16,
    /// How it is shown.
    pub(super) sign: GlyphDisplay,
}

/// A row of the screen.
#[derive(Clone, Debug)]
pub(super) struct Row {
    /// Its start in the text.
    pub(super) start: usize,
    /// Its end.
    pub(super) end: usize,
    /// Its content.
    pub(super) glyphs: Vec<Glyph>,
    /// The line continues in the next row.
    goes_on: bool,
}

/// A text laid out.
#[derive(Debug, Default)]
pub(super) struct Layout {
    rows: Vec<Row>,
}

impl Layout {
    /// Lays out a text; the last column is for the cursor.
    pub(super) fn new(text: &str, folds: &Folds, columns: u16) -> Self {
        let mut making =
            LayoutBuilder { rows: Vec::new(), glyphs: Vec::new(), start: 0, most: columns.max(2) - 1 };
        let mut at = 0;
        for piece in folds.pieces(text) {
            match piece {
                Piece::Text(text) => {
                    for grapheme in text.graphemes(true) {
                        making.put(at, grapheme);
                        at += grapheme.len();
                    }
                }
                Piece::Label(label) => {
                    let shown = width::truncate(label, making.most.into()).into_owned();
                    let width = u16::try_from(shown.width()).unwrap_or(making.most);
                    making.push(Glyph {
                        at,
                        len: label.len(),
                        column: 0,
                        width,
                        sign: GlyphDisplay::Label(shown),
                    });
                    at += label.len();
                }
            }
        }
        making.end_line(at, at);
        Self { rows: making.rows }
    }

    /// Its rows, at least one.
    pub(super) fn rows(&self) -> &[Row] {
        &self.rows
    }

    /// The row and the column of a byte.
    pub(super) fn find(&self, at: usize) -> (usize, u16) {
        let row = self.rows.partition_point(|row| row.start <= at).saturating_sub(1);
        let Some(found) = self.rows.get(row) else { return (0, 0) };
        let glyph = found.glyphs.iter().find(|glyph| glyph.at + glyph.len > at);
        (row, glyph.map_or_else(|| found.width(), |glyph| glyph.column))
    }

    /// The byte at a position, or the nearest one.
    pub(super) fn at(&self, row: usize, column: u16) -> usize {
        let Some(row) = self.rows.get(row.min(self.rows.len().saturating_sub(1))) else { return 0 };
        match row.glyphs.iter().find(|glyph| glyph.column + glyph.width > column) {
            Some(glyph) => glyph.at,
            // The end of a row that continues is the start of the next one.
            None if row.goes_on => row.glyphs.last().map_or(row.end, |glyph| glyph.at),
            None => row.end,
        }
    }
}

impl Row {
    fn width(&self) -> u16 {
        self.glyphs.last().map_or(0, |glyph| glyph.column + glyph.width)
    }
}

/// A layout under construction.
struct LayoutBuilder {
    rows: Vec<Row>,
    /// The current row.
    glyphs: Vec<Glyph>,
    /// Its start.
    start: usize,
    /// Columns for text.
    most: u16,
}

impl LayoutBuilder {
    fn put(&mut self, at: usize, grapheme: &str) {
        let len = grapheme.len();
        match grapheme {
            "\n" => self.end_line(at, at + len),
            "\t" => {
                self.push(Glyph { at, len, column: 0, width: TAB.min(self.most), sign: GlyphDisplay::Space });
            }
            " " => self.push(Glyph { at, len, column: 0, width: 1, sign: GlyphDisplay::Space }),
            _ => {
                let width = u16::try_from(grapheme.width()).unwrap_or(u16::MAX);
                // A grapheme wider than a row can't be shown in it.
                let (width, sign) = if width > self.most {
                    (1, GlyphDisplay::Label("…".to_owned()))
                } else {
                    (width, GlyphDisplay::Text)
                };
                self.push(Glyph { at, len, column: 0, width, sign });
            }
        }
    }

    fn push(&mut self, mut glyph: Glyph) {
        // A space may take the cursor's column: then a line that fits is not broken before it.
        let most =
            if glyph.sign == GlyphDisplay::Space && glyph.width == 1 { self.most + 1 } else { self.most };
        while self.used() + glyph.width > most && !self.glyphs.is_empty() {
            self.wrap(glyph.sign == GlyphDisplay::Space);
        }
        glyph.column = self.used();
        self.glyphs.push(glyph);
    }

    fn used(&self) -> u16 {
        self.glyphs.last().map_or(0, |glyph| glyph.column + glyph.width)
    }

    /// Starts another row with the current word, unless that fills the row.
    fn wrap(&mut self, is_space: bool) {
        let space = self.glyphs.iter().rposition(|glyph| glyph.sign == GlyphDisplay::Space);
        let cut = if is_space { self.glyphs.len() } else { space.map_or(self.glyphs.len(), |at| at + 1) };
        let mut rest = self.glyphs.split_off(cut);
        let end = self.glyphs.last().map_or(self.start, |glyph| glyph.at + glyph.len);
        let first = rest.first().map_or(0, |glyph| glyph.column);
        for glyph in &mut rest {
            glyph.column -= first;
        }
        let glyphs = std::mem::replace(&mut self.glyphs, rest);
        self.rows.push(Row { start: self.start, end, glyphs, goes_on: true });
        self.start = end;
    }

    fn end_line(&mut self, end: usize, next: usize) {
        if self.used() > self.most {
            self.wrap(true);
        }
        let glyphs = std::mem::take(&mut self.glyphs);
        self.rows.push(Row { start: self.start, end, glyphs, goes_on: false });
        self.start = next;
    }
}
