//! Spans and paths: the conversation as stretches of consecutive entries. Derived, never stored.
//!
//! Everything here costs O(spans), never O(entries).

use crate::id::Pos;

/// Consecutive entries of one log, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    /// The log, as in [`Pos::depth`].
    pub depth: u32,
    /// First entry, from 1.
    pub from: u64,
    /// Last entry, not before `from`.
    pub to: u64,
}

impl Span {
    /// The span of these entries.
    pub const fn new(depth: u32, from: u64, to: u64) -> Self {
        Self { depth, from, to }
    }

    /// The span of one entry.
    pub const fn one(pos: Pos) -> Self {
        Self::new(pos.depth, pos.seq, pos.seq)
    }

    /// Its first position.
    pub const fn first(self) -> Pos {
        Pos::new(self.depth, self.from)
    }

    /// Its last position.
    pub const fn last(self) -> Pos {
        Pos::new(self.depth, self.to)
    }

    /// How many entries it has; at least 1.
    #[expect(clippy::len_without_is_empty, reason = "a span is never empty")]
    pub const fn len(self) -> u64 {
        self.to - self.from + 1
    }

    /// Whether `pos` lies in it.
    pub fn contains(self, pos: Pos) -> bool {
        self.depth == pos.depth && (self.from..=self.to).contains(&pos.seq)
    }

    /// The common part of both.
    pub fn intersect(self, other: Self) -> Option<Self> {
        let (from, to) = (self.from.max(other.from), self.to.min(other.to));
        (self.depth == other.depth && from <= to).then_some(Self::new(self.depth, from, to))
    }
}

/// Entries in path order, as spans. Positions strictly grow; touching spans are merged.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Path {
    spans: Vec<Span>,
}

impl Path {
    /// The path of these spans, which must be in path order and disjoint.
    pub fn from_spans(spans: impl IntoIterator<Item = Span>) -> Self {
        let mut path = Self::default();
        for span in spans {
            path.push(span);
        }
        path
    }

    /// Appends a span after the last one; touching spans are merged.
    pub fn push(&mut self, span: Span) {
        match self.spans.last_mut() {
            Some(last) if last.depth == span.depth && last.to + 1 == span.from => last.to = span.to,
            Some(last) => {
                assert!(last.last() < span.first(), "BUG: a path's positions only grow");
                self.spans.push(span);
            }
            None => self.spans.push(span),
        }
    }

    /// Its spans, in order.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }

    /// Whether it has no entry.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// How many entries it has.
    pub fn len(&self) -> u64 {
        self.spans.iter().map(|span| span.len()).sum()
    }

    /// Its last position.
    pub fn last(&self) -> Option<Pos> {
        self.spans.last().map(|span| span.last())
    }

    /// Its first position.
    pub fn first(&self) -> Option<Pos> {
        self.spans.first().map(|span| span.first())
    }

    /// Index of the first span that does not end before `pos`.
    fn seek(&self, pos: Pos) -> usize {
        self.spans.partition_point(|span| span.last() < pos)
    }

    /// Whether `pos` is on it.
    pub fn contains(&self, pos: Pos) -> bool {
        self.spans.get(self.seek(pos)).is_some_and(|span| span.contains(pos))
    }

    /// The last position before `pos`, which need not be on the path; `None` before the first.
    pub fn before(&self, pos: Pos) -> Option<Pos> {
        let at = self.seek(pos);
        match self.spans.get(at) {
            Some(span) if span.first() < pos => Some(Pos::new(pos.depth, pos.seq - 1)),
            _ => at.checked_sub(1).map(|previous| self.spans[previous].last()),
        }
    }

    /// The part up to and including `pos`; with `None`, nothing.
    #[must_use]
    pub fn up_to(&self, pos: Option<Pos>) -> Self {
        self.clip(None, pos)
    }

    /// The part after `pos`; with `None`, everything.
    #[must_use]
    pub fn behind(&self, pos: Option<Pos>) -> Self {
        self.clip(pos, self.last())
    }

    /// The part from `first` to `last`, both included, by position.
    pub(crate) fn part(&self, first: Pos, last: Pos) -> Self {
        self.clip(self.before(first), Some(last))
    }

    /// The part after `after` and up to `to`, both by position.
    fn clip(&self, after: Option<Pos>, to: Option<Pos>) -> Self {
        let Some(to) = to else { return Self::default() };
        let start = after.map_or(0, |after| self.seek(after));
        let mut part = Self::default();
        for span in &self.spans[start..] {
            if span.first() > to {
                break;
            }
            let mut span = *span;
            if span.depth == to.depth {
                span.to = span.to.min(to.seq);
            }
            match after {
                Some(after) if span.last() <= after => continue,
                Some(after) if span.depth == after.depth => {
                    span.from = span.from.max(after.seq + 1);
                }
                _ => {}
            }
            part.push(span);
        }
        part
    }

    /// The part in `span`, by position: a span of the path's own log may cover gaps of it.
    #[must_use]
    pub fn within(&self, span: Span) -> Self {
        let mut part = Self::default();
        for own in &self.spans[self.seek(span.first())..] {
            match own.intersect(span) {
                Some(common) => part.push(common),
                None => break,
            }
        }
        part
    }

    /// The path without these spans (sorted, disjoint). O(spans of both).
    #[must_use]
    pub fn without(&self, holes: impl IntoIterator<Item = Span>) -> Self {
        let mut rest = Self::default();
        let mut holes = holes.into_iter().peekable();
        for span in &self.spans {
            let mut from = span.from;
            while let Some(hole) = holes.peek().copied() {
                if hole.last() < Pos::new(span.depth, from) {
                    holes.next();
                    continue;
                }
                let Some(common) = hole.intersect(Span::new(span.depth, from, span.to)) else {
                    break;
                };
                if common.from > from {
                    rest.push(Span::new(span.depth, from, common.from - 1));
                }
                from = common.to + 1;
                if from > span.to {
                    break;
                }
            }
            if from <= span.to {
                rest.push(Span::new(span.depth, from, span.to));
            }
        }
        rest
    }

    /// The last entry of the common beginning of both.
    pub fn common_prefix(&self, other: &Self) -> Option<Pos> {
        let mut common = None;
        for (mine, theirs) in self.spans.iter().zip(&other.spans) {
            if mine.first() != theirs.first() {
                break;
            }
            common = Some(mine.last().min(theirs.last()));
            if mine != theirs {
                break;
            }
        }
        common
    }

    /// Every position, first to last. For tests, and for readers that fetch each entry anyway.
    pub fn positions(&self) -> impl DoubleEndedIterator<Item = Pos> + '_ {
        self.spans.iter().flat_map(|span| (span.from..=span.to).map(|seq| Pos::new(span.depth, seq)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(spans: &[(u32, u64, u64)]) -> Path {
        Path::from_spans(spans.iter().map(|&(depth, from, to)| Span::new(depth, from, to)))
    }

    #[test]
    fn touching_spans_merge_and_ends_are_found() {
        let p = path(&[(0, 1, 3), (0, 4, 5), (0, 8, 9), (1, 1, 2)]);
        assert_eq!(p.spans().len(), 3);
        assert_eq!(p.len(), 9);
        assert_eq!(p.before(Pos::new(0, 8)), Some(Pos::new(0, 5)));
        assert_eq!(p.before(Pos::new(1, 1)), Some(Pos::new(0, 9)));
        assert_eq!(p.before(Pos::new(0, 1)), None);
        assert_eq!(p.before(Pos::new(0, 7)), Some(Pos::new(0, 5)));
        assert_eq!(path(&[(1, 1, 9)]).before(Pos::new(0, 7)), None);
        assert!(p.contains(Pos::new(0, 5)) && !p.contains(Pos::new(0, 6)) && !p.contains(Pos::new(2, 1)));
    }

    #[test]
    fn paths_are_cut_at_positions_and_spans() {
        let p = path(&[(0, 1, 5), (0, 8, 9), (1, 1, 2)]);
        assert_eq!(p.up_to(Some(Pos::new(0, 8))), path(&[(0, 1, 5), (0, 8, 8)]));
        assert_eq!(p.behind(Some(Pos::new(0, 8))), path(&[(0, 9, 9), (1, 1, 2)]));
        assert_eq!(p.behind(None), p);
        assert_eq!(p.up_to(None), Path::default());
        assert_eq!(p.within(Span::new(0, 3, 8)), path(&[(0, 3, 5), (0, 8, 8)]));
        let holes = [Span::new(0, 2, 2), Span::new(0, 4, 8), Span::new(1, 2, 2)];
        assert_eq!(p.without(holes), path(&[(0, 1, 1), (0, 3, 3), (0, 9, 9), (1, 1, 1)]));
    }

    #[test]
    fn common_prefix_ends_where_paths_part() {
        let p = path(&[(0, 1, 5), (0, 8, 9)]);
        assert_eq!(p.common_prefix(&path(&[(0, 1, 3)])), Some(Pos::new(0, 3)));
        assert_eq!(p.common_prefix(&path(&[(0, 1, 5), (0, 10, 12)])), Some(Pos::new(0, 5)));
        assert_eq!(p.common_prefix(&path(&[(0, 2, 5)])), None);
        assert_eq!(p.common_prefix(&p.clone()), Some(Pos::new(0, 9)));
    }

    #[test]
    fn an_empty_path_has_no_ends() {
        let none = Path::default();
        assert!(none.is_empty() && !path(&[(0, 1, 1)]).is_empty());
        assert_eq!((none.first(), none.last(), none.len()), (None, None, 0));
        assert_eq!(path(&[(0, 1, 5)]).before(Pos::new(0, 3)), Some(Pos::new(0, 2)), "in the midst of a span");
        assert_eq!(path(&[(0, 1, 5), (0, 8, 9)]).before(Pos::new(0, 9)), Some(Pos::new(0, 8)));
        assert_eq!(path(&[(0, 1, 5)]).without([Span::new(0, 1, 3)]), path(&[(0, 4, 5)]));
        let touching = [Span::new(0, 1, 4), Span::new(0, 5, 5)];
        assert_eq!(path(&[(0, 1, 5)]).without(touching), none);
    }
}
