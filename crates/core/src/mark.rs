//! Marks: ranges of entries that are excluded, hidden or dropped. A component of the state.

use crate::id::Pos;
use crate::path::{Path, Span};

/// What people and models see of an entry. Unmarked is `Normal`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Mark {
    /// Everybody sees it.
    #[default]
    Normal,
    /// People see it, the model does not.
    Excluded,
    /// As if deleted; `show` brings it back.
    Hidden,
    /// A middle turn taken out together with its files.
    Dropped,
}

impl Mark {
    /// Every mark, in a fixed order.
    pub const ALL: [Self; 4] = [Self::Normal, Self::Excluded, Self::Hidden, Self::Dropped];

    /// The lower-case name used in every format.
    pub fn name(self) -> &'static str {
        match self {
            Self::Normal => "normal",
            Self::Excluded => "excluded",
            Self::Hidden => "hidden",
            Self::Dropped => "dropped",
        }
    }

    /// Whether people see entries with this mark (timeline, scheduling, search, export).
    pub fn is_visible(self) -> bool {
        matches!(self, Self::Normal | Self::Excluded)
    }
}

/// One range whose mark an operation changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkChange {
    /// The entries.
    pub span: Span,
    /// The mark of each of them before.
    pub before: Mark,
    /// The mark of each of them after.
    pub after: Mark,
}

impl MarkChange {
    /// The change that takes this one back.
    #[must_use]
    pub fn inverse(self) -> Self {
        Self { span: self.span, before: self.after, after: self.before }
    }
}

/// All marks of a state: disjoint ranges in order of position, none `Normal`, equal neighbours merged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    ranges: Vec<(Span, Mark)>,
}

impl Marks {
    /// The marked ranges, in order of position.
    pub fn ranges(&self) -> &[(Span, Mark)] {
        &self.ranges
    }

    /// The marks of these ranges, in any order; later ones win.
    pub fn from_ranges(ranges: impl IntoIterator<Item = (Span, Mark)>) -> Self {
        let mut marks = Self::default();
        for (span, mark) in ranges {
            marks.set(span, mark);
        }
        marks
    }

    /// Index of the first range that does not end before `pos`.
    fn seek(&self, pos: Pos) -> usize {
        self.ranges.partition_point(|(span, _)| span.last() < pos)
    }

    /// The mark of one entry.
    pub fn get(&self, pos: Pos) -> Mark {
        match self.ranges.get(self.seek(pos)) {
            Some((span, mark)) if span.contains(pos) => *mark,
            _ => Mark::Normal,
        }
    }

    /// Cuts `span` into pieces with one mark each, in order.
    pub fn pieces(&self, span: Span) -> Vec<(Span, Mark)> {
        let mut pieces = Vec::new();
        let mut from = span.from;
        for (range, mark) in &self.ranges[self.seek(span.first())..] {
            let Some(common) = range.intersect(Span::new(span.depth, from, span.to)) else {
                break;
            };
            if common.from > from {
                pieces.push((Span::new(span.depth, from, common.from - 1), Mark::Normal));
            }
            pieces.push((common, *mark));
            from = common.to + 1;
            if from > span.to {
                return pieces;
            }
        }
        pieces.push((Span::new(span.depth, from, span.to), Mark::Normal));
        pieces
    }

    /// The path in pieces with one mark each, in order. O(spans + marks).
    pub fn along(&self, path: &Path) -> Vec<(Span, Mark)> {
        path.spans().iter().flat_map(|span| self.pieces(*span)).collect()
    }

    /// What changes when every entry of `targets` gets `mark`; nothing for those that have it.
    pub fn changes(&self, targets: &Path, mark: Mark) -> Vec<MarkChange> {
        self.along(targets)
            .into_iter()
            .filter(|(_, before)| *before != mark)
            .map(|(span, before)| MarkChange { span, before, after: mark })
            .collect()
    }

    /// Whether the entries of each change have the mark that it expects.
    pub fn admits(&self, changes: &[MarkChange]) -> bool {
        changes.iter().all(|change| self.pieces(change.span).iter().all(|(_, mark)| *mark == change.before))
    }

    /// Carries the changes out.
    pub fn apply(&mut self, changes: &[MarkChange]) {
        for change in changes {
            self.set(change.span, change.after);
        }
    }

    /// Gives every entry of `span` this mark.
    fn set(&mut self, span: Span, mark: Mark) {
        let start = self.seek(span.first());
        let end = start + self.ranges[start..].partition_point(|(range, _)| range.first() <= span.last());
        let mut replacement = Vec::with_capacity(3);
        for (range, old) in &self.ranges[start..end] {
            if range.depth == span.depth && range.from < span.from {
                replacement.push((Span::new(range.depth, range.from, span.from - 1), *old));
            }
        }
        if mark != Mark::Normal {
            replacement.push((span, mark));
        }
        for (range, old) in &self.ranges[start..end] {
            if range.depth == span.depth && range.to > span.to {
                replacement.push((Span::new(range.depth, span.to + 1, range.to), *old));
            }
        }
        self.ranges.splice(start..end, replacement);
        self.merge(start.saturating_sub(1));
    }

    /// Merges equal neighbours around index `from`.
    fn merge(&mut self, from: usize) {
        let mut at = from;
        for _ in 0..4 {
            let (Some((a, mark_a)), Some((b, mark_b))) = (self.ranges.get(at), self.ranges.get(at + 1))
            else {
                return;
            };
            if a.depth == b.depth && a.to + 1 == b.from && mark_a == mark_b {
                self.ranges[at] = (Span::new(a.depth, a.from, b.to), *mark_a);
                self.ranges.remove(at + 1);
            } else {
                at += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn mark() -> impl Strategy<Value = Mark> {
        prop_oneof![Just(Mark::Normal), Just(Mark::Excluded), Just(Mark::Hidden), Just(Mark::Dropped)]
    }

    proptest! {
        /// Against an array with a mark per entry.
        #[test]
        fn agrees_with_an_array(sets in prop::collection::vec((0u32..2, 1u64..30, 0u64..8, mark()), 0..40)) {
            let mut marks = Marks::default();
            let mut model = vec![vec![Mark::Normal; 41]; 2];
            for (depth, from, more, mark) in sets {
                let span = Span::new(depth, from, from + more);
                let changes = marks.changes(&Path::from_spans([span]), mark);
                let before = marks.clone();
                prop_assert!(marks.admits(&changes));
                marks.apply(&changes);
                for seq in from..=from + more {
                    model[depth as usize][seq as usize] = mark;
                }
                let mut back = marks.clone();
                let inverse: Vec<_> = changes.iter().map(|change| change.inverse()).collect();
                prop_assert!(back.admits(&inverse));
                back.apply(&inverse);
                prop_assert_eq!(&back, &before);
            }
            for depth in 0..2u32 {
                for seq in 1..41 {
                    prop_assert_eq!(marks.get(Pos::new(depth, seq)), model[depth as usize][seq as usize]);
                }
                let pieces = marks.pieces(Span::new(depth, 1, 40));
                prop_assert_eq!(pieces.iter().map(|(span, _)| span.len()).sum::<u64>(), 40);
            }
            for pair in marks.ranges().windows(2) {
                let ((a, x), (b, y)) = (pair[0], pair[1]);
                prop_assert!(a.last() < b.first());
                prop_assert!(a.depth != b.depth || a.to + 1 < b.from || x != y, "not merged: {:?}", marks);
            }
        }
    }
}
