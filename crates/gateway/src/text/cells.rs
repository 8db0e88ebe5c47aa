//! The smallest parts of a text that a cut never divides, and what is known of the places between them. Must never hold a part that
//! is too long for a post alone, unless it is one character.

use unicode_segmentation::UnicodeSegmentation;

use super::walk::in_order;
use crate::adapter::{Style, StyledText};

/// Strictly inside a link or code of a line.
const IN_WHOLE: u8 = 1;
/// Strictly inside bold, italic or struck text.
const IN_STYLE: u8 = 2;
/// Strictly inside a block of code.
const IN_BLOCK: u8 = 4;
/// Where a link or code of a line begins or ends.
const EDGE: u8 = 8;
/// The part after this place belongs to a block of code.
const OF_BLOCK: u8 = 16;

/// The largest rendering of a byte.
const LARGEST_BYTE: usize = 16;

/// What a place is inside of: the first that holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Zone {
    /// A link, or code of a line.
    Whole,
    /// A block of code.
    Block,
    /// Bold, italic or struck text.
    Style,
    /// Nothing that a cut has to be continued after.
    Free,
}

/// What may end at a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Break {
    Paragraph,
    Line,
    Sentence,
    Word,
    /// A link, or code of a line, begins or ends here.
    Edge,
    Nothing,
}

/// The parts of a text, by number. A place has the number of the part after it.
pub(super) struct Cells<'a> {
    text: &'a str,
    starts: Vec<usize>,
    flags: Vec<u8>,
}

impl<'a> Cells<'a> {
    /// Graphemes; characters of those graphemes that are too long for a post.
    pub(super) fn new(text: &'a StyledText, limit: usize, measure: &dyn Fn(&StyledText) -> usize) -> Self {
        let mut starts = Vec::new();
        for (at, grapheme) in text.text.grapheme_indices(true) {
            let may_be_long = grapheme.len() > 1 && grapheme.len().saturating_mul(LARGEST_BYTE) > limit;
            let is_too_long = || {
                let alone = StyledText { text: grapheme.to_owned(), styles: Vec::new() };
                measure(&alone) > limit
            };
            if may_be_long && is_too_long() {
                starts.extend(grapheme.char_indices().map(|(inside, _)| at + inside));
            } else {
                starts.push(at);
            }
        }
        starts.push(text.text.len());
        let mut cells = Self { text: &text.text, flags: vec![0; starts.len()], starts };
        for styled in in_order(text) {
            let whole = matches!(styled.style, Style::Link(_) | Style::Code);
            let flag = match styled.style {
                Style::Link(_) | Style::Code => IN_WHOLE,
                Style::Bold | Style::Italic | Style::Strike => IN_STYLE,
                Style::Block(_) => IN_BLOCK,
                Style::Quote => continue,
            };
            let begin = cells.number(styled.range.start);
            let end = cells.number(styled.range.end);
            let is_on_place = cells.at(begin) == styled.range.start;
            if whole {
                cells.flags[begin] |= EDGE;
                cells.flags[end] |= EDGE;
            }
            if flag == IN_BLOCK {
                cells.flags[begin..end].iter_mut().for_each(|it| *it |= OF_BLOCK);
            }
            let inside = begin + usize::from(is_on_place);
            cells.flags[inside.min(end)..end].iter_mut().for_each(|it| *it |= flag);
        }
        cells
    }

    /// The number of parts; also the place at the end.
    pub(super) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// The byte at which a place is.
    pub(super) fn at(&self, place: usize) -> usize {
        self.starts[place]
    }

    /// The first place that is not before this byte.
    pub(super) fn number(&self, byte: usize) -> usize {
        self.starts.partition_point(|it| *it < byte)
    }

    fn part(&self, number: usize) -> &'a str {
        match self.starts.get(number + 1) {
            Some(end) => &self.text[self.starts[number]..*end],
            None => "",
        }
    }

    fn is_line_break(&self, number: usize) -> bool {
        self.part(number).contains('\n')
    }

    fn is_space(&self, number: usize) -> bool {
        let part = self.part(number);
        !part.is_empty() && part.chars().all(char::is_whitespace)
    }

    /// Whether a part is left out beside a cut: white space; within a block of code only line breaks.
    pub(super) fn is_left_out(&self, number: usize) -> bool {
        let is_of_block = self.flags[number] & OF_BLOCK != 0;
        if is_of_block { self.is_line_break(number) && self.is_space(number) } else { self.is_space(number) }
    }

    pub(super) fn zone(&self, place: usize) -> Zone {
        match self.flags[place] {
            flags if flags & IN_WHOLE != 0 => Zone::Whole,
            flags if flags & IN_BLOCK != 0 => Zone::Block,
            flags if flags & IN_STYLE != 0 => Zone::Style,
            _ => Zone::Free,
        }
    }

    /// What ends at a place that is not the beginning.
    pub(super) fn break_at(&self, place: usize) -> Break {
        let before = self.part(place - 1).chars().next_back();
        if self.is_line_break(place) {
            return if self.is_line_break(place + 1) { Break::Paragraph } else { Break::Line };
        }
        // Chinese and Japanese have no space after a sentence.
        if before.is_some_and(|c| "\u{3002}\u{ff01}\u{ff1f}".contains(c)) {
            return Break::Sentence;
        }
        if self.is_space(place) {
            return if self.ends_sentence(place) { Break::Sentence } else { Break::Word };
        }
        if self.is_space(place - 1) {
            return Break::Word;
        }
        if self.flags[place] & EDGE != 0 { Break::Edge } else { Break::Nothing }
    }

    /// Whether a sentence ends before this place: its mark may be followed by brackets and quotation marks.
    fn ends_sentence(&self, place: usize) -> bool {
        let before = self.text[..self.at(place)].chars().rev();
        before.take(4).find(|c| !")]\"'”’»*_".contains(*c)).is_some_and(|c| ".!?…".contains(c))
    }
}
