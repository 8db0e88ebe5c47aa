//! Splits a change into hunks for people, each of which can be applied alone (case 37). Every line of a result comes from
//! one of the two texts.

use std::ops::Range;

use super::lines::{Change, Place, Texts, indexes};

/// The number of unchanged lines around a change; changes with up to twice as many lines between them are one hunk.
const CONTEXT: usize = 3;

/// The changes between two texts.
pub struct Hunks<'a> {
    texts: Texts<'a, 2>,
    hunks: Vec<Hunk>,
}

/// Neighbouring changes with the lines around them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hunk {
    /// Its number, from 1.
    pub number: usize,
    /// Its lines in the text before, counted from 0.
    pub before: Range<usize>,
    /// Its lines in the text after, counted from 0.
    pub after: Range<usize>,
    changes: Vec<Change>,
}

/// A line of a hunk, with its line end if it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// In both texts.
    Same(&'a [u8]),
    /// In the text before only.
    Removed(&'a [u8]),
    /// In the text after only.
    Added(&'a [u8]),
}

impl<'a> Hunks<'a> {
    /// The hunks from one text to another. `None` if one of them is no text, or if they are too large, or differ in too many
    /// lines, to compare (see [`merge_texts`](super::merge_texts)).
    pub fn between(before: &'a [u8], after: &'a [u8]) -> Option<Self> {
        let texts = Texts::new([before, after])?;
        let mut hunks: Vec<Hunk> = Vec::new();
        for change in texts.changes(0, 1, Place::Readable)? {
            let start = indexes(&change.before).start;
            match hunks.last_mut() {
                Some(last) if last.changed_until() + 2 * CONTEXT >= start => last.changes.push(change),
                _ => hunks.push(Hunk {
                    number: hunks.len() + 1,
                    before: 0..0,
                    after: 0..0,
                    changes: vec![change],
                }),
            }
        }
        let lines = texts.text(0).len();
        hunks.iter_mut().for_each(|hunk| hunk.measure(lines));
        Some(Self { texts, hunks })
    }

    /// The hunks, in order.
    pub fn list(&self) -> &[Hunk] {
        &self.hunks
    }

    /// The lines of one of the hunks, in the order of a unified diff.
    pub fn lines(&self, hunk: &Hunk) -> Vec<Line<'a>> {
        let (before, after) = (self.texts.text(0), self.texts.text(1));
        let mut lines = Vec::new();
        let mut at = hunk.before.start;
        for change in &hunk.changes {
            let (removed, added) = (indexes(&change.before), indexes(&change.after));
            lines.extend((at..removed.start).map(|line| Line::Same(before.lines(line..line + 1))));
            at = removed.end;
            lines.extend(removed.map(|line| Line::Removed(before.lines(line..line + 1))));
            lines.extend(added.map(|line| Line::Added(after.lines(line..line + 1))));
        }
        lines.extend((at..hunk.before.end).map(|line| Line::Same(before.lines(line..line + 1))));
        lines
    }

    /// The text before with only the hunks with these numbers applied. `None` if a number does not exist.
    pub fn only(&self, numbers: &[usize]) -> Option<Vec<u8>> {
        if !numbers.iter().all(|number| (1..=self.hunks.len()).contains(number)) {
            return None;
        }
        let (before, after) = (self.texts.text(0), self.texts.text(1));
        let mut text = Vec::new();
        let mut done = 0;
        for hunk in self.hunks.iter().filter(|hunk| numbers.contains(&hunk.number)) {
            text.extend_from_slice(before.lines(done..hunk.before.start));
            text.extend_from_slice(after.lines(hunk.after.clone()));
            done = hunk.before.end;
        }
        text.extend_from_slice(before.lines(done..before.len()));
        Some(text)
    }

    /// The number of lines that these hunks add and remove.
    pub(super) fn counts(hunks: &[Hunk]) -> (usize, usize) {
        let changes = || hunks.iter().flat_map(|hunk| &hunk.changes);
        (changes().map(|change| change.after.len()).sum(), changes().map(|change| change.before.len()).sum())
    }
}

impl Hunk {
    /// The end of its last change in the text before.
    fn changed_until(&self) -> usize {
        self.changes.last().map_or(0, |change| indexes(&change.before).end)
    }

    /// Sets its lines, with the unchanged ones around; the text before has this many lines.
    fn measure(&mut self, lines: usize) {
        let (first, last) = (&self.changes[0], &self.changes[self.changes.len() - 1]);
        let above = indexes(&first.before).start.min(CONTEXT);
        let below = (lines - indexes(&last.before).end).min(CONTEXT);
        self.before = indexes(&first.before).start - above..indexes(&last.before).end + below;
        self.after = indexes(&first.after).start - above..indexes(&last.after).end + below;
    }
}
