//! Cuts a styled text into posts. Must never cut inside a grapheme that fits into a post, never exceed the limit, and never drop
//! anything but white space at a cut.

use std::ops::Range;

use super::cells::{Break, Cells, Zone};
use super::fitted::fitted;
use super::units::stay_below;
use super::walk::in_order;
use crate::adapter::{Styled, StyledText};

/// Cuts a text into posts of which none is longer than `longest`, less 5 %. `measure` is the length of a text as it will be sent.
///
/// - Cuts are made at the end of a paragraph, a line, a sentence or a word. The best one in the second half of a post is taken.
/// - A link, or code of a line, is only cut if it is longer than a post. A style that is cut is continued in the next post.
/// - White space is left out at the ends of the posts; in a block of code, only line breaks are. A post of white space is left out.
/// - A link whose address needs more than half of a post becomes text.
/// - A word without an end is cut between graphemes, a grapheme that is longer than a post between characters. If styles do not fit
///   beside a single grapheme, the post has none. A limit below the length of one character is exceeded.
pub fn split(text: &StyledText, longest: usize, measure: &dyn Fn(&StyledText) -> usize) -> Vec<StyledText> {
    let limit = stay_below(longest);
    let text = fitted(text, limit, measure);
    pieces(&text, limit, measure).into_iter().map(|(_, piece)| piece).collect()
}

/// The posts with their ranges in the text.
pub(super) fn pieces(
    text: &StyledText,
    limit: usize,
    measure: &dyn Fn(&StyledText) -> usize,
) -> Vec<(Range<usize>, StyledText)> {
    let cells = Cells::new(text, limit, measure);
    let mut cutter =
        Cutter { text: &text.text, styles: in_order(text), cells, limit, measure, window: Window::default() };
    let mut pieces = Vec::new();
    let (mut place, mut guess) = (0, limit);
    loop {
        place = cutter.after_space(place);
        if place >= cutter.cells.len() {
            return pieces;
        }
        let (end, piece) = cutter.piece(place, guess);
        guess = piece.text.len().max(1);
        let begin = cutter.cells.at(place);
        if !piece.text.trim().is_empty() {
            pieces.push((begin..begin + piece.text.len(), piece));
        }
        place = end;
    }
}

/// The styles that can be in a post: those that began before it, and the first that begins in it or after it.
#[derive(Default)]
struct Window {
    open: Vec<usize>,
    next: usize,
}

struct Cutter<'a> {
    text: &'a str,
    styles: Vec<&'a Styled>,
    cells: Cells<'a>,
    limit: usize,
    measure: &'a dyn Fn(&StyledText) -> usize,
    window: Window,
}

impl Cutter<'_> {
    /// The place after the white space that is here.
    fn after_space(&self, place: usize) -> usize {
        (place..self.cells.len()).find(|it| !self.cells.is_left_out(*it)).unwrap_or(self.cells.len())
    }

    /// The place before the white space that is before this one.
    fn before_space(&self, from: usize, place: usize) -> usize {
        (from..place).rev().find(|it| !self.cells.is_left_out(*it)).map_or(from, |it| it + 1)
    }

    /// The next post from a place, and where the one after it begins.
    fn piece(&mut self, from: usize, guess: usize) -> (usize, StyledText) {
        self.move_to(self.cells.at(from));
        let mut is_styled = true;
        let mut most = self.longest_fit(from, guess, is_styled);
        if most == from {
            is_styled = false;
            most = self.longest_fit(from, guess, is_styled).max(from + 1);
        }
        let cut = if most == self.cells.len() { most } else { self.cut(from, most) };
        let end = self.before_space(from, cut);
        let piece = self.slice(from, end, is_styled);
        if (self.measure)(&piece) <= self.limit {
            return (cut, piece);
        }
        // The measure is not larger for more text. Only the longest fit was measured.
        (most, self.slice(from, most, is_styled))
    }

    fn fits(&self, from: usize, to: usize, is_styled: bool) -> bool {
        (self.measure)(&self.slice(from, to, is_styled)) <= self.limit
    }

    /// The last place up to which a post fits: `from`, if there is none. Tries twice the length until one does not fit, so that the
    /// work grows with what fits.
    fn longest_fit(&self, from: usize, guess: usize, is_styled: bool) -> usize {
        let (mut good, mut length) = (from, guess);
        let mut bad = loop {
            let byte = self.cells.at(from).saturating_add(length);
            let tried = self.cells.number(byte).clamp(good + 1, self.cells.len());
            if !self.fits(from, tried, is_styled) {
                break tried;
            }
            if tried == self.cells.len() {
                return tried;
            }
            good = tried;
            length = (self.cells.at(tried) - self.cells.at(from)) * 2;
        };
        while bad - good > 1 {
            let middle = good + (bad - good) / 2;
            if self.fits(from, middle, is_styled) {
                good = middle;
            } else {
                bad = middle;
            }
        }
        good
    }

    /// The best place for a cut up to `most`.
    fn cut(&self, from: usize, most: usize) -> usize {
        let half = from + (most - from).div_ceil(2);
        let best = |places: Range<usize>, worst: u8| {
            let ranked = places.rev().map(|place| (self.rank(place), place));
            // The first of equal ones is the last in the text.
            ranked.filter(|(rank, _)| *rank <= worst).min_by_key(|(rank, _)| *rank).map(|(_, place)| place)
        };
        let last = |mut places: std::iter::Rev<Range<usize>>| places.find(|it| self.rank(*it) <= WORST_WHOLE);
        best(half..most + 1, WORST_WHOLE)
            .or_else(|| last((from + 1..half).rev()))
            .or_else(|| best(half..most + 1, WORST_WORD))
            .unwrap_or(most)
    }

    /// How bad a cut is.
    fn rank(&self, place: usize) -> u8 {
        match (self.cells.zone(place), self.cells.break_at(place)) {
            (Zone::Free, Break::Paragraph) => 0,
            (Zone::Free, Break::Line) => 1,
            (Zone::Block, Break::Paragraph) => 2,
            (Zone::Block, Break::Line) => 3,
            (Zone::Free, Break::Sentence) => 4,
            (Zone::Style, Break::Paragraph | Break::Line | Break::Sentence) => 5,
            (Zone::Free, Break::Word) => 6,
            (Zone::Style, Break::Word) => 7,
            (Zone::Free | Zone::Style, Break::Edge) => 8,
            (Zone::Block, Break::Sentence | Break::Word) => WORST_WHOLE,
            (Zone::Whole, Break::Paragraph | Break::Line | Break::Sentence | Break::Word) => WORST_WORD,
            _ => u8::MAX,
        }
    }

    /// Sets the styles that can be in a post that begins at a byte.
    fn move_to(&mut self, byte: usize) {
        let Window { open, next } = &mut self.window;
        while let Some(style) = self.styles.get(*next).filter(|it| it.range.start < byte) {
            if style.range.end > byte {
                open.push(*next);
            }
            *next += 1;
        }
        open.retain(|it| self.styles[*it].range.end > byte);
    }

    fn slice(&self, from: usize, to: usize, is_styled: bool) -> StyledText {
        let (begin, end) = (self.cells.at(from), self.cells.at(to));
        let text = self.text[begin..end].to_owned();
        if !is_styled {
            return StyledText { text, styles: Vec::new() };
        }
        let open = self.window.open.iter().map(|it| self.styles[*it]);
        let later = self.styles[self.window.next..].iter().take_while(|it| it.range.start < end);
        let clipped = open.chain(later.copied()).filter(|it| it.range.end > begin).map(|it| {
            let range = it.range.start.max(begin) - begin..it.range.end.min(end) - begin;
            Styled { range, style: it.style.clone() }
        });
        StyledText { text, styles: clipped.collect() }
    }
}

/// The worst cut that divides no link, no code of a line, and no word.
const WORST_WHOLE: u8 = 9;

/// The worst cut that divides no word.
const WORST_WORD: u8 = 10;
