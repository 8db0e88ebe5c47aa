//! Folds: summaries that replace entries in the prompt. A component of the state that no operation ever has to maintain.
//!
//! A fold names the exact Normal entries that its summary was made from. Whether it is *in force* is derived: those
//! entries must be in the current Normal list, in this order and without gaps. Of overlapping ones only the latest is in force.

use crate::id::{EntryId, OpNo, Pos};
use crate::mark::{Mark, Marks};
use crate::path::Path;
use crate::prompt::Message;

/// A fold's name: the operation that created it, in the log at `depth` of the lineage. Later folds are greater.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FoldId {
    /// The log, as in [`crate::Pos::depth`].
    pub depth: u32,
    /// The operation.
    pub op: OpNo,
}

/// A summary in place of entries. Its text is content and stays with its operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fold {
    /// Its name.
    pub id: FoldId,
    /// The entries that the summary replaces, Normal when it was created.
    pub covers: Path,
}

/// All folds of a state, oldest first, in force or not.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folds {
    folds: Vec<Fold>,
}

impl Folds {
    /// These folds.
    pub fn new(mut folds: Vec<Fold>) -> Self {
        folds.sort_by_key(|fold| fold.id);
        Self { folds }
    }

    /// All of them, oldest first.
    pub fn all(&self) -> &[Fold] {
        &self.folds
    }

    /// The fold with this name.
    pub fn get(&self, id: FoldId) -> Option<&Fold> {
        self.folds.binary_search_by_key(&id, |fold| fold.id).ok().map(|at| &self.folds[at])
    }

    /// Adds a fold; replaces one with the same name.
    pub fn add(&mut self, fold: Fold) {
        match self.folds.binary_search_by_key(&fold.id, |fold| fold.id) {
            Ok(at) => self.folds[at] = fold,
            Err(at) => self.folds.insert(at, fold),
        }
    }

    /// Removes the fold with this name.
    pub fn remove(&mut self, id: FoldId) {
        self.folds.retain(|fold| fold.id != id);
    }

    /// The folds in force, in path order: of overlapping ones the latest counts.
    pub fn in_force(&self, normal: &Normal) -> Vec<&Fold> {
        let mut chosen: Vec<(std::ops::Range<u64>, &Fold)> = Vec::new();
        for fold in self.folds.iter().rev() {
            let Some(range) = normal.locate(&fold.covers) else {
                continue;
            };
            let overlaps =
                |(other, _): &(std::ops::Range<u64>, _)| other.start < range.end && range.start < other.end;
            if !chosen.iter().any(overlaps) {
                chosen.push((range, fold));
            }
        }
        chosen.sort_by_key(|(range, _)| range.start);
        chosen.into_iter().map(|(_, fold)| fold).collect()
    }
}

impl Folds {
    /// The folds that only marks put out of force: all covered entries are on the path, so no rewind did. The latest ones, and none where
    /// another one counts. With the first and the last of the covered entries that still count; one that has none is left out.
    pub fn lifted_by_marks(&self, path: &Path, normal: &Normal) -> Vec<(FoldId, Pos, Pos)> {
        let in_force = self.in_force(normal);
        let mut taken: Vec<(Pos, Pos)> =
            in_force.iter().filter_map(|fold| Some((fold.covers.first()?, fold.covers.last()?))).collect();
        let marked = path.without(normal.path().spans().iter().copied());
        let mut left = Vec::new();
        for fold in self.folds.iter().rev() {
            let (Some(first), Some(last)) = (fold.covers.first(), fold.covers.last()) else { continue };
            let is_on_path = fold.covers.without(path.spans().iter().copied()).spans().is_empty();
            if !is_on_path || taken.iter().any(|(from, to)| *from <= last && first <= *to) {
                continue;
            }
            taken.push((first, last));
            let rest = fold.covers.without(marked.spans().iter().copied());
            left.extend(rest.first().zip(rest.last()).map(|(first, last)| (fold.id, first, last)));
        }
        left.sort_by_key(|(_, first, _)| *first);
        left
    }
}

/// Which part of the prompt a summary is wanted for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FoldableRange {
    /// The first entry; without it, the first turn or summary.
    pub from: Option<EntryId>,
    /// The last entry; without it, the last one.
    pub to: Option<EntryId>,
    /// Without a last entry: how many bytes of the newest messages stay. The last message stays in any case, unless this is 0.
    pub keep_bytes: usize,
}

/// What a summary can replace now: whole entries and earlier summaries, no call without its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Foldable {
    /// The first entry.
    pub from: EntryId,
    /// The last entry.
    pub to: EntryId,
    /// All of them.
    pub covers: Path,
    /// The bytes of their messages in the prompt.
    pub bytes: usize,
    /// The prompt up to the last of them.
    pub messages: Vec<Message>,
}

/// The current Normal list: the path without marked entries. With running counts, so that a list of entries is found in
/// it in O(its spans · log).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Normal {
    path: Path,
    /// For each span, the number of entries before it.
    offsets: Vec<u64>,
}

impl Normal {
    /// The Normal entries of `path`. O(spans + marks).
    pub fn of(path: &Path, marks: &Marks) -> Self {
        let pieces = marks.along(path).into_iter();
        let path = Path::from_spans(pieces.filter(|(_, mark)| *mark == Mark::Normal).map(|(span, _)| span));
        let offsets = path
            .spans()
            .iter()
            .scan(0, |sum, span| {
                let before = *sum;
                *sum += span.len();
                Some(before)
            })
            .collect();
        Self { path, offsets }
    }

    /// The entries, as a path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The place of `entries` in the list, if they are in it in this order and without gaps.
    fn locate(&self, entries: &Path) -> Option<std::ops::Range<u64>> {
        let (first, last) = (entries.first()?, entries.last()?);
        if self.path.part(first, last) != *entries {
            return None;
        }
        let at = self.path.spans().partition_point(|span| span.last() < first);
        let offset = self.offsets[at] + (first.seq - self.path.spans()[at].from);
        Some(offset..offset + entries.len())
    }

    /// Whether a fold over `entries` would be in force.
    pub fn holds(&self, entries: &Path) -> bool {
        self.locate(entries).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::path::Span;

    fn path(spans: &[(u64, u64)]) -> Path {
        Path::from_spans(spans.iter().map(|&(from, to)| Span::new(0, from, to)))
    }

    fn fold(op: u64, spans: &[(u64, u64)]) -> Fold {
        Fold { id: FoldId { depth: 0, op: OpNo(op) }, covers: path(spans) }
    }

    fn in_force(folds: &[Fold], on: &Path, marks: &Marks) -> Vec<u64> {
        let folds = Folds::new(folds.to_vec());
        folds.in_force(&Normal::of(on, marks)).iter().map(|fold| fold.id.op.0).collect()
    }

    #[test]
    fn fold_is_in_force_only_while_its_entries_stand_together() {
        let none = Marks::default();
        let hidden = Marks::from_ranges([(Span::new(0, 2, 2), Mark::Hidden)]);
        let folds = [fold(1, &[(1, 4)])];
        assert_eq!(in_force(&folds, &path(&[(1, 9)]), &none), [1]);
        assert_eq!(in_force(&folds, &path(&[(1, 3)]), &none), [0; 0]);
        assert_eq!(in_force(&folds, &path(&[(1, 2), (5, 9)]), &none), [0; 0]);
        assert_eq!(in_force(&folds, &path(&[(1, 9)]), &hidden), [0; 0]);
        let around = [fold(1, &[(1, 1), (3, 4)])];
        assert_eq!(in_force(&around, &path(&[(1, 9)]), &hidden), [1]);
        assert_eq!(in_force(&around, &path(&[(1, 9)]), &none), [0; 0]);
    }

    #[test]
    fn what_is_left_of_a_fold_is_known_if_only_marks_lift_it() {
        let hidden = |from, to| Marks::from_ranges([(Span::new(0, from, to), Mark::Hidden)]);
        let left = |folds: &[Fold], on: &[(u64, u64)], marks: &Marks| -> Vec<(u64, u64)> {
            let on = path(on);
            let left = Folds::new(folds.to_vec()).lifted_by_marks(&on, &Normal::of(&on, marks));
            left.into_iter().map(|(_, first, last)| (first.seq, last.seq)).collect()
        };
        let folds = [fold(1, &[(1, 4)]), fold(2, &[(6, 8)])];
        let all = [(1, 9)];
        assert_eq!(left(&folds, &all, &Marks::default()), []);
        assert_eq!(left(&folds, &all, &hidden(2, 2)), [(1, 4)]);
        assert_eq!(left(&folds, &all, &hidden(4, 6)), [(1, 3), (7, 8)]);
        assert_eq!(left(&folds, &all, &hidden(1, 4)), [], "nothing is left of it");
        assert_eq!(left(&folds, &[(1, 3)], &Marks::default()), [], "a rewind lifts it");
        // An entry that is shown again stands within it.
        assert_eq!(left(&[fold(1, &[(1, 1), (3, 4)])], &all, &Marks::default()), [(1, 4)]);
        // It was made again.
        let again = [fold(1, &[(1, 4)]), fold(3, &[(1, 1), (3, 4)])];
        assert_eq!(left(&again, &all, &hidden(2, 2)), []);
        assert_eq!(left(&again, &all, &Marks::default()), [], "the first one counts again");
    }

    #[test]
    fn latest_of_overlapping_folds_counts() {
        let none = Marks::default();
        let folds = [fold(1, &[(1, 2)]), fold(2, &[(1, 6)]), fold(3, &[(8, 9)])];
        assert_eq!(in_force(&folds, &path(&[(1, 9)]), &none), [2, 3]);
        assert_eq!(in_force(&folds, &path(&[(1, 4)]), &none), [1]);
    }
}
