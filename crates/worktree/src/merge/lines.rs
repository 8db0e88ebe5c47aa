//! Texts as lines, and the changes between them. Texts are bytes: any encoding without a zero byte, any line ends, mixed
//! or missing; a line includes its end. Must never do more work than the limits allow.

use std::ops::Range;

use gix_imara_diff::{Algorithm, Hunk, IndentHeuristic, IndentLevel, Interner, NoSliderHeuristic, Token};

/// The largest text that is compared, in bytes.
pub const MAX_TEXT: usize = 16 << 20;

/// The most lines of a text.
const MAX_LINES: usize = 1 << 20;

/// The most lines between the first and the last difference. The cost of hostile texts grows with its power of 1.5:
/// noise of few different lines takes about two seconds here without optimisation, and minutes at [`MAX_LINES`].
const MAX_SPREAD: usize = 100_000;

/// Lines of a text that are replaced by others.
pub(super) type Change = Hunk;

/// The position of a change that could be in several places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// As far down as possible: for merges, as in git.
    Lowest,
    /// At the beginning of a block by its indentation: for people.
    Readable,
}

/// Texts split into lines; equal lines have equal tokens in all of them.
pub(super) struct Texts<'a, const N: usize> {
    lines: Interner<&'a [u8]>,
    texts: [Text<'a>; N],
}

/// A text split into lines.
pub(super) struct Text<'a> {
    bytes: &'a [u8],
    tokens: Vec<Token>,
    /// The end of each line.
    ends: Vec<usize>,
}

impl<'a, const N: usize> Texts<'a, N> {
    /// `None` if one of them is no text, or too large.
    pub(super) fn new(texts: [&'a [u8]; N]) -> Option<Self> {
        if !texts.iter().all(|bytes| is_text(bytes)) {
            return None;
        }
        let mut lines = Interner::new(0);
        let texts = texts.map(|bytes| Text::new(bytes, &mut lines));
        texts.iter().all(|text| text.len() <= MAX_LINES).then_some(Self { lines, texts })
    }

    /// One of them.
    pub(super) fn text(&self, number: usize) -> &Text<'a> {
        &self.texts[number]
    }

    /// The changes from one of them to another, in order; two of them never touch. `None` if they are spread over too
    /// many lines.
    pub(super) fn changes(&self, from: usize, to: usize, place: Place) -> Option<Vec<Change>> {
        let (before, after) = (&self.texts[from].tokens, &self.texts[to].tokens);
        if spread(before, after) > MAX_SPREAD {
            return None;
        }
        let mut diff = gix_imara_diff::Diff::default();
        diff.compute_with(Algorithm::Myers, before, after, self.lines.num_tokens());
        match place {
            Place::Lowest => diff.postprocess_with(before, after, NoSliderHeuristic),
            Place::Readable => {
                let indent = |token| IndentLevel::for_ascii_line(self.lines[token].iter().copied(), 8);
                diff.postprocess_with(before, after, IndentHeuristic::new(indent));
            }
        }
        Some(diff.hunks().collect())
    }
}

/// The number of lines between the first and the last difference, in the longer text; 0 if lines were only added, or
/// only removed.
fn spread(before: &[Token], after: &[Token]) -> usize {
    let above = before.iter().zip(after).take_while(|(before, after)| before == after).count();
    let (before, after) = (&before[above..], &after[above..]);
    let pairs = before.iter().rev().zip(after.iter().rev());
    let below = pairs.take_while(|(before, after)| before == after).count();
    // If one side is empty there is nothing to compare.
    let rest = [before.len() - below, after.len() - below];
    if rest.contains(&0) { 0 } else { rest[0].max(rest[1]) }
}

impl<'a> Text<'a> {
    fn new(bytes: &'a [u8], lines: &mut Interner<&'a [u8]>) -> Self {
        let (mut tokens, mut ends, mut end) = (Vec::new(), Vec::new(), 0);
        // One line beyond the limit is enough to detect that it is exceeded.
        for line in bytes.split_inclusive(|byte| *byte == b'\n').take(MAX_LINES + 1) {
            end += line.len();
            tokens.push(lines.intern(line));
            ends.push(end);
        }
        Self { bytes, tokens, ends }
    }

    /// The number of its lines.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The bytes of a range of its lines.
    pub(super) fn lines(&self, range: Range<usize>) -> &'a [u8] {
        let start = |line: usize| line.checked_sub(1).map_or(0, |line| self.ends[line]);
        &self.bytes[start(range.start)..start(range.end)]
    }
}

/// Whether these bytes are compared line by line: without a zero byte (git checks only the first 8,000 bytes), and not
/// too many.
pub(super) fn is_text(bytes: &[u8]) -> bool {
    bytes.len() <= MAX_TEXT && !bytes.contains(&0)
}

/// A range of lines as indexes.
pub(super) fn indexes(range: &Range<u32>) -> Range<usize> {
    range.start as usize..range.end as usize
}
