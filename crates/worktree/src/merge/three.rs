//! Three texts become one. Clean or not at all: it never guesses, and never leaves conflict markers.

use std::ops::Range;

use super::lines::{Change, Place, Texts, indexes};

/// The three texts, by their number.
const BASE: usize = 0;
const OURS: usize = 1;
const THEIRS: usize = 2;

/// The text that holds what `ours` and `theirs` each changed in `base`. `None` when both changed the same place
/// differently (case 17), when one of them is no text (a zero byte) or too large a one (more than
/// [`MAX_TEXT`](super::MAX_TEXT) bytes or a million lines), or when a side's changes are spread over more than 100,000
/// lines.
///
/// As in git, changes that touch without a line between them are the same place, and are taken only when both sides made
/// the same of it. When one side changed nothing the answer is the other, whatever the bytes.
pub fn merge_texts(base: &[u8], ours: &[u8], theirs: &[u8]) -> Option<Vec<u8>> {
    if ours == base || ours == theirs {
        return Some(theirs.to_vec());
    }
    if theirs == base {
        return Some(ours.to_vec());
    }
    let texts = Texts::new([base, ours, theirs])?;
    let changes = |side| texts.changes(BASE, side, Place::Lowest);
    let (ours_changes, theirs_changes) = (changes(OURS)?, changes(THEIRS)?);
    let mut sides = [&ours_changes, &theirs_changes].map(|changes| Side { rest: changes, offset: 0 });
    let mut merged = Vec::with_capacity(ours.len().max(theirs.len()));
    let mut done = 0;
    while let Some(place) = Changed::next(&mut sides) {
        merged.extend_from_slice(texts.text(BASE).lines(done..place.base.start));
        done = place.base.end;
        let [ours, theirs] = place.sides;
        let ours = ours.map(|lines| texts.text(OURS).lines(lines));
        let theirs = theirs.map(|lines| texts.text(THEIRS).lines(lines));
        match (ours, theirs) {
            (Some(ours), Some(theirs)) if ours != theirs => return None,
            (Some(lines), _) | (None, Some(lines)) => merged.extend_from_slice(lines),
            (None, None) => {}
        }
    }
    merged.extend_from_slice(texts.text(BASE).lines(done..texts.text(BASE).len()));
    Some(merged)
}

/// What one side changed, from some line on.
struct Side<'a> {
    rest: &'a [Change],
    /// How many lines it has more than the base so far.
    offset: isize,
}

impl Side<'_> {
    /// Takes the changes that begin in a place of the base, or right after it, and makes the place hold them. Says whether
    /// there were any.
    fn take(&mut self, place: &mut Range<usize>) -> bool {
        let before = self.rest.len();
        while let Some((change, rest)) = self.rest.split_first() {
            let (base, side) = (indexes(&change.before), indexes(&change.after));
            if base.start > place.end {
                break;
            }
            place.end = place.end.max(base.end);
            self.offset = side.end.cast_signed() - base.end.cast_signed();
            self.rest = rest;
        }
        self.rest.len() < before
    }
}

/// Lines of the base that are changed, with everything that touches them.
struct Changed {
    base: Range<usize>,
    /// The lines that each side has there; `None` when it changed nothing.
    sides: [Option<Range<usize>>; 2],
}

impl Changed {
    /// Takes the next of them.
    fn next(sides: &mut [Side<'_>; 2]) -> Option<Self> {
        let first = sides.iter().filter_map(|side| side.rest.first());
        let start = first.map(|change| indexes(&change.before).start).min()?;
        let mut base = start..start;
        let offsets = sides.each_ref().map(|side| side.offset);
        let mut changed = [false; 2];
        loop {
            let took = sides.each_mut().map(|side| side.take(&mut base));
            if took == [false; 2] {
                break;
            }
            changed = [changed[0] || took[0], changed[1] || took[1]];
        }
        let at = |line: usize, offset: isize| {
            line.checked_add_signed(offset).expect("BUG: a side has the lines that its changes leave")
        };
        let lines = [0, 1].map(|side| {
            changed[side].then(|| at(base.start, offsets[side])..at(base.end, sides[side].offset))
        });
        Some(Self { base, sides: lines })
    }
}
