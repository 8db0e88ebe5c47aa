//! A text with a cursor. Must never put the cursor inside a grapheme, and must never lose an edit that can be undone.
//!
//! `ratatui-textarea` moves by `char`: its cursor can stand inside emoji and inside placeholders. Hence this one.

use std::ops::Range;

use unicode_segmentation::{GraphemeCursor, UnicodeSegmentation};

/// A text with a cursor.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    text: String,
    /// A byte offset at a grapheme boundary.
    cursor: usize,
    done: Vec<Step>,
    undone: Vec<Step>,
    /// The kind of the last edit: the next one of the same kind joins it.
    last: Option<Kind>,
    /// The last text that was cut.
    cut: String,
}

/// An edit that can be undone.
#[derive(Debug)]
struct Step {
    at: usize,
    removed: String,
    inserted: String,
    /// The cursor before it.
    cursor: usize,
}

/// Consecutive edits of a kind become one step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Word,
    Space,
    Back,
    Forward,
}

/// How far a motion goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CursorMotion {
    /// One grapheme back.
    Left,
    /// One grapheme forward.
    Right,
    /// To the start of the word.
    WordLeft,
    /// To the end of the word.
    WordRight,
    /// To the start of the text between spaces.
    BlankLeft,
    /// To the start of the line.
    LineStart,
    /// To the end of the line.
    LineEnd,
    /// To the start.
    Start,
    /// To the end.
    End,
}

impl Buffer {
    /// The text.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// The cursor's byte offset.
    pub(super) fn cursor(&self) -> usize {
        self.cursor
    }

    /// Replaces the text, with nothing to undo; the cursor at its end.
    pub(super) fn begin(&mut self, text: String) {
        let cut = std::mem::take(&mut self.cut);
        *self = Self { cursor: text.len(), text, cut, ..Self::default() };
    }

    /// Replaces the text as one step that can be undone; the cursor at its end.
    pub(super) fn replace_all(&mut self, text: &str) {
        self.last = None;
        if self.text != text {
            self.edit(0..self.text.len(), text);
        }
    }

    /// Replaces a range as one step; the cursor goes after it.
    pub(super) fn replace(&mut self, range: Range<usize>, text: &str) {
        self.last = None;
        self.edit(range, text);
    }

    /// Inserts typed text at the cursor.
    pub(super) fn insert(&mut self, text: &str) {
        let kind = match text {
            "\n" => None,
            _ if text.chars().all(char::is_whitespace) => Some(Kind::Space),
            _ => Some(Kind::Word),
        };
        // A word and the spaces after it are one step.
        let joins = kind.is_some()
            && (self.last == kind || (self.last, kind) == (Some(Kind::Word), Some(Kind::Space)));
        self.join(joins, self.cursor..self.cursor, text);
        self.last = kind;
    }

    /// Deletes the text from the cursor to there.
    pub(super) fn delete(&mut self, reach: CursorMotion) {
        let there = self.there(reach);
        let (range, kind) = match reach {
            CursorMotion::Left => (there..self.cursor, Some(Kind::Back)),
            CursorMotion::Right => (self.cursor..there, Some(Kind::Forward)),
            _ => (self.cursor.min(there)..self.cursor.max(there), None),
        };
        if range.is_empty() {
            return;
        }
        if kind.is_none() {
            self.cut = self.text[range.clone()].to_owned();
        }
        self.join(kind.is_some() && self.last == kind, range, "");
        self.last = kind;
    }

    /// Inserts the last text that was cut.
    pub(super) fn yank(&mut self) {
        let cut = self.cut.clone();
        if !cut.is_empty() {
            self.replace(self.cursor..self.cursor, &cut);
        }
    }

    /// Moves the cursor. Returns whether it moved.
    pub(super) fn go(&mut self, reach: CursorMotion) -> bool {
        self.move_to(self.there(reach))
    }

    /// Moves the cursor to the grapheme boundary at or before this byte. Returns whether it moved.
    pub(super) fn move_to(&mut self, at: usize) -> bool {
        self.last = None;
        let before = self.cursor;
        self.cursor = self.edge(at);
        before != self.cursor
    }

    /// Undoes a step. Returns whether there was one.
    pub(super) fn undo(&mut self) -> bool {
        let Some(step) = self.done.pop() else { return false };
        self.text.replace_range(step.at..step.at + step.inserted.len(), &step.removed);
        self.cursor = step.cursor;
        self.last = None;
        self.undone.push(step);
        true
    }

    /// Redoes a step. Returns whether there was one.
    pub(super) fn redo(&mut self) -> bool {
        let Some(step) = self.undone.pop() else { return false };
        self.text.replace_range(step.at..step.at + step.removed.len(), &step.inserted);
        self.cursor = self.edge(step.at + step.inserted.len());
        self.last = None;
        self.done.push(step);
        true
    }

    /// The line with the cursor, without its newline.
    fn line(&self) -> Range<usize> {
        let start = self.text[..self.cursor].rfind('\n').map_or(0, |at| at + 1);
        let end = self.text[self.cursor..].find('\n').map_or(self.text.len(), |at| self.cursor + at);
        start..end
    }

    fn there(&self, reach: CursorMotion) -> usize {
        let (before, after) = self.text.split_at(self.cursor);
        match reach {
            CursorMotion::Left => self.step(GraphemeCursor::prev_boundary).unwrap_or(0),
            CursorMotion::Right => self.step(GraphemeCursor::next_boundary).unwrap_or(self.text.len()),
            CursorMotion::WordLeft => {
                let word = before.split_word_bound_indices().rev().find(|(_, word)| is_word(word));
                word.map_or(0, |(at, _)| self.edge(at))
            }
            CursorMotion::WordRight => {
                let word = after.split_word_bound_indices().find(|(_, word)| is_word(word));
                word.map_or(self.text.len(), |(at, word)| self.edge_after(self.cursor + at + word.len()))
            }
            CursorMotion::BlankLeft => {
                let word = before.trim_end();
                self.edge(word.rfind(char::is_whitespace).map_or(0, |at| at + char_len(&word[at..])))
            }
            CursorMotion::LineStart => self.line().start,
            CursorMotion::LineEnd => self.line().end,
            CursorMotion::Start => 0,
            CursorMotion::End => self.text.len(),
        }
    }

    fn step<E: std::fmt::Debug>(
        &self,
        next: fn(&mut GraphemeCursor, &str, usize) -> Result<Option<usize>, E>,
    ) -> Option<usize> {
        let mut cursor = GraphemeCursor::new(self.cursor, self.text.len(), true);
        next(&mut cursor, &self.text, 0).expect("BUG: all of the text is given")
    }

    /// The grapheme boundary at or before a byte.
    fn edge(&self, at: usize) -> usize {
        let mut at = at.min(self.text.len());
        while !self.is_edge(at) {
            at -= 1;
        }
        at
    }

    /// The grapheme boundary at or after a byte.
    fn edge_after(&self, at: usize) -> usize {
        let mut at = at.min(self.text.len());
        while !self.is_edge(at) {
            at += 1;
        }
        at
    }

    fn is_edge(&self, at: usize) -> bool {
        self.text.is_char_boundary(at)
            && GraphemeCursor::new(at, self.text.len(), true)
                .is_boundary(&self.text, 0)
                .expect("BUG: all of the text is given")
    }

    /// An edit that joins the step before it if possible.
    fn join(&mut self, joins: bool, range: Range<usize>, text: &str) {
        let before = self.done.len();
        self.edit(range, text);
        if !joins || before == 0 {
            return;
        }
        let Some(step) = self.done.pop() else { return };
        let last = self.done.last_mut().expect("BUG: there was a step before this one");
        if step.removed.is_empty() && last.at + last.inserted.len() == step.at {
            last.inserted.push_str(&step.inserted);
        } else if step.inserted.is_empty()
            && last.inserted.is_empty()
            && step.at + step.removed.len() == last.at
        {
            last.removed.insert_str(0, &step.removed);
            last.at = step.at;
        } else if step.inserted.is_empty() && last.inserted.is_empty() && step.at == last.at {
            last.removed.push_str(&step.removed);
        } else {
            self.done.push(step);
        }
    }

    fn edit(&mut self, range: Range<usize>, text: &str) {
        let removed = self.text[range.clone()].to_owned();
        self.text.replace_range(range.clone(), text);
        self.done.push(Step { at: range.start, removed, inserted: text.to_owned(), cursor: self.cursor });
        self.undone.clear();
        // Inserted text may form a grapheme with its neighbours; the cursor goes after the whole.
        self.cursor = self.edge_after(range.start + text.len());
    }
}

fn is_word(text: &str) -> bool {
    text.chars().any(char::is_alphanumeric)
}

fn char_len(text: &str) -> usize {
    text.chars().next().map_or(0, char::len_utf8)
}
