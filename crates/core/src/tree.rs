//! The tree that the entries of a log form, kept as its runs: which entry follows which.
//!
//! A *run* starts where an entry's `after` is not the entry before it. Runs are all that is needed to find the
//! path of any tip, so memory and time are O(runs), never O(entries).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::id::Pos;
use crate::path::{Path, Span};

/// The beginning of a run in the conversation's own log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// `seq` of its first entry.
    pub start: u64,
    /// The tip when that entry was said; `None` at the root.
    pub after: Option<Pos>,
    /// A late result that moved nothing: always a run of its own, one entry long.
    pub detached: bool,
}

/// The tree of a conversation: for a fork, the part of the parent's path that it begins with, and the runs of
/// its own log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    depth: u32,
    base: Arc<Path>,
    runs: Arc<Vec<Run>>,
    last: u64,
}

/// A leaf of the tree: an entry after which nothing was said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Leaf {
    /// The leaf.
    pub pos: Pos,
    /// Where its branch leaves what came before: the last entry it shares with an older branch.
    pub fork: Option<Pos>,
}

impl Tree {
    /// The empty tree of a conversation at `depth` whose path begins with `base`.
    pub fn new(depth: u32, base: Path) -> Self {
        Self { depth, base: Arc::new(base), runs: Arc::default(), last: 0 }
    }

    /// The tree with these runs, in order, of a log whose last entry is `last`.
    pub fn from_runs(depth: u32, base: Path, runs: Vec<Run>, last: u64) -> Self {
        Self { depth, base: Arc::new(base), runs: Arc::new(runs), last }
    }

    /// Depth of the conversation's own log.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// The path that a fork begins with; empty for a root conversation.
    pub fn base(&self) -> &Path {
        &self.base
    }

    /// The runs of the own log.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// `seq` of the last entry of the own log; 0 when there is none.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// Whether an entry said now, after `after`, starts a run.
    pub fn starts_run(&self, after: Option<Pos>, detached: bool) -> bool {
        let follows = self.last > 0 && after == Some(Pos::new(self.depth, self.last));
        let behind_detached = self.runs.last().is_some_and(|run| run.detached);
        !follows || detached || behind_detached
    }

    /// Records the next entry of the own log.
    pub fn push(&mut self, after: Option<Pos>, detached: bool) -> Pos {
        if self.starts_run(after, detached) {
            Arc::make_mut(&mut self.runs).push(Run { start: self.last + 1, after, detached });
        }
        self.last += 1;
        Pos::new(self.depth, self.last)
    }

    /// Whether the position names an entry that this conversation can know.
    pub fn knows(&self, pos: Pos) -> bool {
        if pos.depth == self.depth { (1..=self.last).contains(&pos.seq) } else { self.base.contains(pos) }
    }

    /// Index of the run that holds `seq` of the own log.
    fn run_of(&self, seq: u64) -> usize {
        self.runs.partition_point(|run| run.start <= seq) - 1
    }

    /// The last entry of run `index`.
    fn run_end(&self, index: usize) -> u64 {
        self.runs.get(index + 1).map_or(self.last, |next| next.start - 1)
    }

    /// What was said just before `pos`: its `after`, as far as this conversation sees it.
    pub fn after(&self, pos: Pos) -> Option<Pos> {
        if pos.depth < self.depth {
            return self.base.before(pos);
        }
        let run = self.runs[self.run_of(pos.seq)];
        if run.start == pos.seq { run.after } else { Some(Pos::new(self.depth, pos.seq - 1)) }
    }

    /// The path from the root to `tip`. O(spans).
    pub fn path(&self, tip: Option<Pos>) -> Path {
        let mut backwards = Vec::new();
        let mut at = tip;
        while let Some(pos) = at {
            if pos.depth < self.depth {
                break;
            }
            let run = self.runs[self.run_of(pos.seq)];
            backwards.push(Span::new(self.depth, run.start, pos.seq));
            at = run.after;
        }
        let mut path = self.base.up_to(at);
        for span in backwards.into_iter().rev() {
            path.push(span);
        }
        path
    }

    /// Whether `pos` is on the path of `tip`. O(spans between them).
    pub fn is_on_path(&self, pos: Pos, tip: Option<Pos>) -> bool {
        let mut at = tip;
        while let Some(tip) = at {
            if tip < pos {
                return false;
            }
            if tip.depth < self.depth {
                return self.base.contains(pos);
            }
            let run = self.runs[self.run_of(tip.seq)];
            if Span::new(self.depth, run.start, tip.seq).contains(pos) {
                return true;
            }
            at = run.after;
        }
        false
    }

    /// The last entry said up to `seq` that moved the tip, if there is one behind `from` (exclusive).
    pub fn last_attached(&self, from: u64, seq: u64) -> Option<Pos> {
        let mut seq = seq;
        while seq > from {
            let run = self.runs[self.run_of(seq)];
            if !run.detached {
                return Some(Pos::new(self.depth, seq));
            }
            seq = run.start - 1;
        }
        None
    }

    /// The entry that follows `after` without starting a run: the next one of the base or of its run.
    fn continuation(&self, after: Option<Pos>) -> Option<Pos> {
        match after {
            None => self.base.first(),
            Some(pos) if pos.depth < self.depth => {
                self.base.behind(after).first().filter(|_| self.base.contains(pos))
            }
            Some(pos) => {
                let next = pos.seq + 1;
                let goes_on = next <= self.last && self.runs[self.run_of(next)].start != next;
                goes_on.then_some(Pos::new(self.depth, next))
            }
        }
    }

    /// Entries that were said right after `after`, oldest first: a turn's continuation and its siblings.
    pub fn children(&self, after: Option<Pos>) -> Vec<Pos> {
        let others = self.runs.iter().filter(|run| run.after == after);
        let others = others.map(|run| Pos::new(self.depth, run.start));
        self.continuation(after).into_iter().chain(others).collect()
    }

    /// Entries with siblings, each with them, oldest first. O(runs log runs).
    pub fn siblings(&self) -> Vec<Vec<Pos>> {
        let mut groups: BTreeMap<Option<Pos>, Vec<Pos>> = BTreeMap::new();
        for run in self.runs.iter() {
            let group =
                groups.entry(run.after).or_insert_with(|| Vec::from_iter(self.continuation(run.after)));
            group.push(Pos::new(self.depth, run.start));
        }
        groups.into_values().filter(|group| group.len() > 1).collect()
    }

    /// The leaf said last among `pos` and all that was said after it. O(runs).
    pub fn latest_leaf(&self, pos: Pos) -> Pos {
        let mut leaf = pos;
        let mut inside = vec![false; self.runs.len()];
        if pos.depth < self.depth {
            leaf = self.base.last().filter(|_| self.base.contains(pos)).unwrap_or(pos);
        } else {
            leaf.seq = self.run_end(self.run_of(pos.seq));
        }
        for (index, run) in self.runs.iter().enumerate() {
            inside[index] = run.after.is_some_and(|after| {
                after.depth < self.depth && after >= pos
                    || after.depth == self.depth
                        && (self.covers(pos, after) || inside[self.run_of(after.seq)])
            });
            if inside[index] {
                leaf = leaf.max(Pos::new(self.depth, self.run_end(index)));
            }
        }
        leaf
    }

    /// Whether `after` is in the run of `pos`, not before it.
    fn covers(&self, pos: Pos, after: Pos) -> bool {
        pos.depth == self.depth && after.seq >= pos.seq && self.run_of(pos.seq) == self.run_of(after.seq)
    }

    /// Every leaf, oldest first: the branches. Each entry is on the path of at least one. O(runs log runs).
    pub fn leaves(&self) -> Vec<Leaf> {
        let mut continued: Vec<Pos> = self.runs.iter().filter_map(|run| run.after).collect();
        continued.sort_unstable();
        let is_leaf = |pos: &Pos| continued.binary_search(pos).is_err();
        let mut first_child = BTreeMap::new();
        for (index, run) in self.runs.iter().enumerate() {
            first_child.entry(run.after).or_insert(index);
        }
        let mut leaves = Vec::new();
        if let Some(pos) = self.base.last().filter(is_leaf) {
            leaves.push(Leaf { pos, fork: None });
        }
        for index in 0..self.runs.len() {
            let pos = Pos::new(self.depth, self.run_end(index));
            if is_leaf(&pos) {
                leaves.push(Leaf { pos, fork: self.branch_point(index, &first_child) });
            }
        }
        leaves
    }

    /// Where the branch that ends in run `index` leaves an older one: follows runs that merely continue.
    fn branch_point(&self, mut index: usize, first_child: &BTreeMap<Option<Pos>, usize>) -> Option<Pos> {
        loop {
            let after = self.runs[index].after?;
            if after.depth < self.depth {
                let continues = Some(after) == self.base.last() && first_child[&Some(after)] == index;
                return (!continues).then_some(after);
            }
            let parent = self.run_of(after.seq);
            let continues = self.run_end(parent) == after.seq && first_child[&Some(after)] == index;
            if !continues {
                return Some(after);
            }
            index = parent;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p(seq: u64) -> Pos {
        Pos::new(0, seq)
    }

    /// 1-2-3-4, 5 after 2, 6 after 5, 7 detached after 4, 8 after 6.
    fn tree() -> Tree {
        let mut tree = Tree::new(0, Path::default());
        for (after, detached) in
            [(0, false), (1, false), (2, false), (3, false), (2, false), (5, false), (4, true), (6, false)]
        {
            tree.push((after > 0).then(|| p(after)), detached);
        }
        tree
    }

    #[test]
    fn paths_follow_runs() {
        let tree = tree();
        let seqs = |tip| tree.path(Some(p(tip))).positions().map(|pos| pos.seq).collect::<Vec<_>>();
        assert_eq!(seqs(4), [1, 2, 3, 4]);
        assert_eq!(seqs(8), [1, 2, 5, 6, 8]);
        assert_eq!(seqs(7), [1, 2, 3, 4, 7]);
        assert!(tree.is_on_path(p(2), Some(p(8))) && !tree.is_on_path(p(3), Some(p(8))));
    }

    #[test]
    fn leaves_children_and_latest_leaf() {
        let tree = tree();
        let leaves: Vec<_> =
            tree.leaves().iter().map(|leaf| (leaf.pos.seq, leaf.fork.map(|f| f.seq))).collect();
        assert_eq!(leaves, [(7, None), (8, Some(2))]);
        assert_eq!(tree.children(Some(p(2))), [p(3), p(5)]);
        assert_eq!(tree.latest_leaf(p(3)), p(7));
        assert_eq!(tree.latest_leaf(p(5)), p(8));
        assert_eq!(tree.latest_leaf(p(1)), p(8));
    }

    #[test]
    fn a_detached_entry_is_no_tip() {
        assert_eq!(tree().last_attached(0, 7), Some(p(6)));
        assert_eq!(tree().last_attached(6, 7), None);
    }
}
