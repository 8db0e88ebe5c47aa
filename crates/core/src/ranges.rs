//! A value for each entry, stored as ranges: used for marks and adoptions. O(ranges), never O(entries).

use crate::id::Pos;
use crate::path::{Path, Span};

/// One range whose value an operation changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RangeChange<T> {
    /// The entries.
    pub span: Span,
    /// The value of each of them before.
    pub before: T,
    /// The value of each of them after.
    pub after: T,
}

impl<T: Copy> RangeChange<T> {
    /// The change that reverts this one.
    #[must_use]
    pub fn inverse(self) -> Self {
        Self { span: self.span, before: self.after, after: self.before }
    }
}

/// The values of all entries: disjoint ranges in order of position, none with the default, equal neighbours merged.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ranges<T> {
    ranges: Vec<(Span, T)>,
}

impl<T> Default for Ranges<T> {
    fn default() -> Self {
        Self { ranges: Vec::new() }
    }
}

impl<T: Copy + Default + PartialEq> Ranges<T> {
    /// The ranges with another value than the default, in order of position.
    pub fn ranges(&self) -> &[(Span, T)] {
        &self.ranges
    }

    /// The values of these ranges, in any order; later ones win.
    pub fn from_ranges(ranges: impl IntoIterator<Item = (Span, T)>) -> Self {
        let mut all = Self::default();
        for (span, value) in ranges {
            all.set(span, value);
        }
        all
    }

    /// Index of the first range that does not end before `pos`.
    fn seek(&self, pos: Pos) -> usize {
        self.ranges.partition_point(|(span, _)| span.last() < pos)
    }

    /// The value of one entry.
    pub fn get(&self, pos: Pos) -> T {
        match self.ranges.get(self.seek(pos)) {
            Some((span, value)) if span.contains(pos) => *value,
            _ => T::default(),
        }
    }

    /// Cuts `span` into pieces with one value each, in order.
    pub fn pieces(&self, span: Span) -> Vec<(Span, T)> {
        let mut pieces = Vec::new();
        let mut from = span.from;
        for (range, value) in &self.ranges[self.seek(span.first())..] {
            let Some(common) = range.intersect(Span::new(span.depth, from, span.to)) else {
                break;
            };
            if common.from > from {
                pieces.push((Span::new(span.depth, from, common.from - 1), T::default()));
            }
            pieces.push((common, *value));
            from = common.to + 1;
            if from > span.to {
                return pieces;
            }
        }
        pieces.push((Span::new(span.depth, from, span.to), T::default()));
        pieces
    }

    /// The path in pieces with one value each, in order. O(spans + ranges).
    pub fn along(&self, path: &Path) -> Vec<(Span, T)> {
        path.spans().iter().flat_map(|span| self.pieces(*span)).collect()
    }

    /// The changes when every entry of `targets` gets `value`; none for those that have it.
    pub fn changes(&self, targets: &Path, value: T) -> Vec<RangeChange<T>> {
        self.along(targets)
            .into_iter()
            .filter(|(_, before)| *before != value)
            .map(|(span, before)| RangeChange { span, before, after: value })
            .collect()
    }

    /// Applies the changes.
    pub fn apply(&mut self, changes: &[RangeChange<T>]) {
        for change in changes {
            self.set(change.span, change.after);
        }
    }

    /// Sets the value of every entry of `span`.
    fn set(&mut self, span: Span, value: T) {
        let start = self.seek(span.first());
        let end = start + self.ranges[start..].partition_point(|(range, _)| range.first() <= span.last());
        let mut replacement = Vec::with_capacity(3);
        for (range, old) in &self.ranges[start..end] {
            if range.depth == span.depth && range.from < span.from {
                replacement.push((Span::new(range.depth, range.from, span.from - 1), *old));
            }
        }
        if value != T::default() {
            replacement.push((span, value));
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
            let (Some((a, value_a)), Some((b, value_b))) = (self.ranges.get(at), self.ranges.get(at + 1))
            else {
                return;
            };
            if a.depth == b.depth && a.to + 1 == b.from && value_a == value_b {
                self.ranges[at] = (Span::new(a.depth, a.from, b.to), *value_a);
                self.ranges.remove(at + 1);
            } else {
                at += 1;
            }
        }
    }
}
