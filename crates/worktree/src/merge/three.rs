//! Merges three texts to one, cleanly or not at all: it must never guess, and never leave conflict markers.

use std::ops::Range;

use super::lines::{Change, Place, Texts, indexes};

/// The three texts, by their number.
const BASE: usize = 0;
const OURS: usize = 1;
const THEIRS: usize = 2;

/// The text with the changes of both `ours` and `theirs` to `base`. It is `None` in three cases. Both changed the same place
/// differently (case 17). One of them is no text (a zero byte) or too large. A side's changes are spread over more than 100,000
/// lines. Too large is more than [`MAX_TEXT`](super::MAX_TEXT) bytes or a million lines.
///
/// As in git, changes that touch without a line between them are in the same place, and are merged only if both sides are equal
/// there. If one side changed nothing, the result is the other, whatever the bytes are.
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

/// The text with all of `ours`, and the changes of `theirs` to lines of `base` that `ours` did not change. It merges as far as
/// possible, line by line. `None` if one of them is no text, or as for [`merge_texts`].
///
/// Changes that only touch are in two places here. If both changed some lines of a change, its other lines are removed. The lines
/// of `theirs` replace them only if their number is equal, because otherwise it is not known which belongs to which.
pub fn merge_texts_over(base: &[u8], ours: &[u8], theirs: &[u8]) -> Option<Vec<u8>> {
    let texts = Texts::new([base, ours, theirs])?;
    let (ours_changes, theirs_changes) =
        (texts.changes(BASE, OURS, Place::Lowest)?, texts.changes(BASE, THEIRS, Place::Lowest)?);
    let (ours, theirs) = (texts.text(OURS), texts.text(THEIRS));
    let mut merged = Vec::with_capacity(ours.len());
    let mut done = 0;
    let mut rest = &ours_changes[..];
    let mut pieces: Vec<(Range<usize>, &[u8])> = Vec::new();
    for change in &theirs_changes {
        let (lines, by) = (indexes(&change.before), indexes(&change.after));
        // A change that ends above this one also ends above all that follow.
        while let Some((_, below)) =
            rest.split_first().filter(|(first, _)| indexes(&first.before).end < lines.start)
        {
            rest = below;
        }
        let near = rest.iter().map(|ours| indexes(&ours.before)).take_while(|ours| ours.start <= lines.end);
        let near: Vec<Range<usize>> = near.collect();
        if !near.iter().any(|ours| overlap(ours, &lines)) {
            pieces.push((lines, theirs.lines(by)));
            continue;
        }
        let only_added = near.iter().filter(|ours| overlap(ours, &lines)).all(Range::is_empty);
        let as_many = lines.len() == by.len();
        for (at, line) in lines.enumerate().filter(|(_, line)| !near.iter().any(|ours| ours.contains(line))) {
            let with = match at {
                _ if as_many => by.start + at..by.start + at + 1,
                0 if only_added => by.clone(),
                _ => 0..0,
            };
            pieces.push((line..line + 1, theirs.lines(with)));
        }
    }
    let of_ours =
        ours_changes.iter().map(|change| (indexes(&change.before), ours.lines(indexes(&change.after))));
    pieces.extend(of_ours);
    // Added lines come before those that replace the existing ones.
    pieces.sort_by_key(|(lines, _)| (lines.start, lines.end));
    for (lines, with) in pieces {
        merged.extend_from_slice(texts.text(BASE).lines(done..lines.start));
        merged.extend_from_slice(with);
        done = lines.end;
    }
    merged.extend_from_slice(texts.text(BASE).lines(done..texts.text(BASE).len()));
    Some(merged)
}

/// The text of `theirs` without the lines that it only added to `base` in a place that `ours` changed too: those that
/// [`merge_texts_over`] leaves out. `None` if one of them is no text, or as for [`merge_texts`].
pub(super) fn text_beside(base: &[u8], ours: &[u8], theirs: &[u8]) -> Option<Vec<u8>> {
    let texts = Texts::new([base, ours, theirs])?;
    let (ours, changes) =
        (texts.changes(BASE, OURS, Place::Lowest)?, texts.changes(BASE, THEIRS, Place::Lowest)?);
    let (mut text, mut done) = (Vec::with_capacity(theirs.len()), 0);
    let mut rest = &ours[..];
    for change in &changes {
        let lines = indexes(&change.before);
        while let Some((_, below)) =
            rest.split_first().filter(|(first, _)| indexes(&first.before).end < lines.start)
        {
            rest = below;
        }
        let mut near = rest.iter().map(|ours| indexes(&ours.before)).take_while(|it| it.start <= lines.end);
        if lines.is_empty() && near.any(|ours| overlap(&ours, &lines)) {
            continue;
        }
        text.extend_from_slice(texts.text(BASE).lines(done..lines.start));
        text.extend_from_slice(texts.text(THEIRS).lines(indexes(&change.after)));
        done = lines.end;
    }
    text.extend_from_slice(texts.text(BASE).lines(done..texts.text(BASE).len()));
    Some(text)
}

/// Whether two changes of the same text exclude each other: they share a line, one adds lines within the other, or both add lines
/// in one place.
fn overlap(one: &Range<usize>, other: &Range<usize>) -> bool {
    let within =
        |point: &Range<usize>, range: &Range<usize>| range.start < point.start && point.start < range.end;
    match (one.is_empty(), other.is_empty()) {
        (true, true) => one == other,
        (true, false) => within(one, other),
        (false, true) => within(other, one),
        (false, false) => one.start < other.end && other.start < one.end,
    }
}

/// The changes of one side, from some line on.
struct Side<'a> {
    rest: &'a [Change],
    /// The number of lines that it has more than the base so far.
    offset: isize,
}

impl Side<'_> {
    /// Takes the changes that begin in a place of the base, or right after it, and extends the place by them. Returns whether
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

/// Changed lines of the base, with everything that touches them.
struct Changed {
    base: Range<usize>,
    /// The lines of each side there; `None` if it changed nothing.
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
