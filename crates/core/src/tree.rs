//! The tree of a log's entries, stored as its stretches: which entry follows which.
//!
//! A *stretch* starts at an entry whose `after` is not the entry before it. Stretches are enough to find the path of any tip, so
//! memory and time are O(stretches), never O(entries).

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::id::Pos;
use crate::path::{Path, Span};

/// The beginning of a stretch in the conversation's own log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LogSegment {
    /// `seq` of its first entry.
    pub start: u64,
    /// The tip when that entry was appended; `None` at the root.
    pub after: Option<Pos>,
    /// Whether it is a late result that moved nothing: such a stretch has a single entry.
    pub detached: bool,
}

/// The tree of a conversation: its base, if it is a fork, and the stretches of its own log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tree {
    depth: u32,
    base: Arc<Path>,
    stretches: Arc<Vec<LogSegment>>,
    last: u64,
}

/// A leaf of the tree: an entry that no other follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Leaf {
    /// The leaf.
    pub pos: Pos,
    /// The branch point: the last entry that it shares with an older branch.
    pub fork: Option<Pos>,
    /// The leaf of the branch to which that entry belongs.
    pub onto: Option<Pos>,
}

impl Tree {
    /// The empty tree of a conversation at `depth` whose path begins with `base`.
    pub fn new(depth: u32, base: Path) -> Self {
        Self { depth, base: Arc::new(base), stretches: Arc::default(), last: 0 }
    }

    /// The tree with these stretches, in order, of a log whose last entry is `last`.
    pub fn from_stretches(depth: u32, base: Path, stretches: Vec<LogSegment>, last: u64) -> Self {
        Self { depth, base: Arc::new(base), stretches: Arc::new(stretches), last }
    }

    /// Depth of the conversation's own log.
    pub fn depth(&self) -> u32 {
        self.depth
    }

    /// The base of a fork; empty for a root conversation.
    pub fn base(&self) -> &Path {
        &self.base
    }

    /// The stretches of the own log.
    pub fn stretches(&self) -> &[LogSegment] {
        &self.stretches
    }

    /// `seq` of the last entry of the own log; 0 when there is none.
    pub fn last(&self) -> u64 {
        self.last
    }

    /// Whether an entry that is appended now, after `after`, starts a stretch.
    pub fn starts_stretch(&self, after: Option<Pos>, detached: bool) -> bool {
        let follows = self.last > 0 && after == Some(Pos::new(self.depth, self.last));
        let behind_detached = self.stretches.last().is_some_and(|stretch| stretch.detached);
        !follows || detached || behind_detached
    }

    /// Records the next entry of the own log.
    pub fn push(&mut self, after: Option<Pos>, detached: bool) -> Pos {
        if self.starts_stretch(after, detached) {
            Arc::make_mut(&mut self.stretches).push(LogSegment { start: self.last + 1, after, detached });
        }
        self.last += 1;
        Pos::new(self.depth, self.last)
    }

    /// Whether this conversation can know an entry at this position.
    pub fn knows(&self, pos: Pos) -> bool {
        if pos.depth == self.depth { (1..=self.last).contains(&pos.seq) } else { self.base.contains(pos) }
    }

    /// Index of the stretch with `seq` of the own log.
    fn stretch_of(&self, seq: u64) -> usize {
        self.stretches.partition_point(|stretch| stretch.start <= seq) - 1
    }

    /// The last entry of stretch `index`.
    fn stretch_end(&self, index: usize) -> u64 {
        self.stretches.get(index + 1).map_or(self.last, |next| next.start - 1)
    }

    /// The entry before `pos`: its `after`, as far as this conversation sees it.
    pub fn after(&self, pos: Pos) -> Option<Pos> {
        if pos.depth < self.depth {
            return self.base.before(pos);
        }
        let stretch = self.stretches[self.stretch_of(pos.seq)];
        if stretch.start == pos.seq { stretch.after } else { Some(Pos::new(self.depth, pos.seq - 1)) }
    }

    /// The path from the root to `tip`. O(spans).
    pub fn path(&self, tip: Option<Pos>) -> Path {
        let mut backwards = Vec::new();
        let mut at = tip;
        while let Some(pos) = at {
            if pos.depth < self.depth {
                break;
            }
            let stretch = self.stretches[self.stretch_of(pos.seq)];
            backwards.push(Span::new(self.depth, stretch.start, pos.seq));
            at = stretch.after;
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
            let stretch = self.stretches[self.stretch_of(tip.seq)];
            if Span::new(self.depth, stretch.start, tip.seq).contains(pos) {
                return true;
            }
            at = stretch.after;
        }
        false
    }

    /// The entry right after `after` on the path of `tip`; `None` if `after` is not on it or is its end. O(spans between them).
    pub fn next_towards(&self, after: Option<Pos>, tip: Option<Pos>) -> Option<Pos> {
        let mut at = tip;
        while let Some(pos) = at {
            if after.is_some_and(|after| pos <= after) {
                return None;
            }
            if pos.depth < self.depth {
                return self
                    .base
                    .behind(after)
                    .first()
                    .filter(|_| after.is_none_or(|it| self.base.contains(it)));
            }
            let stretch = self.stretches[self.stretch_of(pos.seq)];
            match after {
                Some(after) if after.depth == self.depth && after.seq >= stretch.start => {
                    return Some(Pos::new(self.depth, after.seq + 1));
                }
                _ if stretch.after == after => return Some(Pos::new(self.depth, stretch.start)),
                _ => at = stretch.after,
            }
        }
        None
    }

    /// The last entry up to `seq` that moved the tip, if there is one after `from` (exclusive).
    pub fn last_attached(&self, from: u64, seq: u64) -> Option<Pos> {
        let mut seq = seq;
        while seq > from {
            let stretch = self.stretches[self.stretch_of(seq)];
            if !stretch.detached {
                return Some(Pos::new(self.depth, seq));
            }
            seq = stretch.start - 1;
        }
        None
    }

    /// The entry that follows `after` without starting a stretch: the next one of the base or of its stretch.
    fn continuation(&self, after: Option<Pos>) -> Option<Pos> {
        match after {
            None => self.base.first(),
            Some(pos) if pos.depth < self.depth => {
                self.base.behind(after).first().filter(|_| self.base.contains(pos))
            }
            Some(pos) => {
                let next = pos.seq + 1;
                let goes_on = next <= self.last && self.stretches[self.stretch_of(next)].start != next;
                goes_on.then_some(Pos::new(self.depth, next))
            }
        }
    }

    /// Entries right after `after`, oldest first: its continuation and the siblings of that.
    pub fn children(&self, after: Option<Pos>) -> Vec<Pos> {
        let others = self.stretches.iter().filter(|stretch| stretch.after == after);
        let others = others.map(|stretch| Pos::new(self.depth, stretch.start));
        self.continuation(after).into_iter().chain(others).collect()
    }

    /// Groups of sibling entries, oldest first. O(stretches log stretches).
    pub fn siblings(&self) -> Vec<Vec<Pos>> {
        let mut groups: BTreeMap<Option<Pos>, Vec<Pos>> = BTreeMap::new();
        for stretch in self.stretches.iter() {
            let group = groups
                .entry(stretch.after)
                .or_insert_with(|| Vec::from_iter(self.continuation(stretch.after)));
            group.push(Pos::new(self.depth, stretch.start));
        }
        groups.into_values().filter(|group| group.len() > 1).collect()
    }

    /// The newest leaf among `pos` and all entries after it. O(stretches).
    pub fn latest_leaf(&self, pos: Pos) -> Pos {
        let mut leaf = pos;
        let mut inside = vec![false; self.stretches.len()];
        if pos.depth < self.depth {
            leaf = self.base.last().filter(|_| self.base.contains(pos)).unwrap_or(pos);
        } else {
            leaf.seq = self.stretch_end(self.stretch_of(pos.seq));
        }
        for (index, stretch) in self.stretches.iter().enumerate() {
            inside[index] = stretch.after.is_some_and(|after| {
                after.depth < self.depth && after >= pos
                    || after.depth == self.depth
                        && (self.covers(pos, after) || inside[self.stretch_of(after.seq)])
            });
            if inside[index] {
                leaf = leaf.max(Pos::new(self.depth, self.stretch_end(index)));
            }
        }
        leaf
    }

    /// Whether `after` is in the stretch of `pos`, not before it.
    fn covers(&self, pos: Pos, after: Pos) -> bool {
        pos.depth == self.depth
            && after.seq >= pos.seq
            && self.stretch_of(pos.seq) == self.stretch_of(after.seq)
    }

    /// Every leaf, oldest first: the branches. Each entry is on the path of at least one, and belongs to exactly one. O(stretches
    /// log stretches).
    pub fn leaves(&self) -> Vec<Leaf> {
        let first_child = self.first_children();
        let ends = self.ends(&first_child);
        let base = self.base.last().map(|end| self.end_behind(end, &first_child, &ends));
        let mut leaves = Vec::new();
        if let Some(pos) = self.base.last().filter(|end| base == Some(*end)) {
            leaves.push(Leaf { pos, fork: None, onto: None });
        }
        for index in 0..self.stretches.len() {
            let pos = Pos::new(self.depth, self.stretch_end(index));
            if !first_child.contains_key(&Some(pos)) {
                let fork = self.branch_point(index, &first_child);
                let onto = fork.and_then(|fork| match fork.depth == self.depth {
                    true => Some(ends[self.stretch_of(fork.seq)]),
                    false => base,
                });
                leaves.push(Leaf { pos, fork, onto });
            }
        }
        leaves
    }

    /// The leaf of the branch to which an entry belongs. O(stretches log stretches).
    pub fn branch_of(&self, pos: Pos) -> Pos {
        let first_child = self.first_children();
        let ends = self.ends(&first_child);
        match pos.depth == self.depth {
            true => ends[self.stretch_of(pos.seq)],
            false => self.base.last().map_or(pos, |end| self.end_behind(end, &first_child, &ends)),
        }
    }

    /// The first stretch after each entry that has one.
    fn first_children(&self) -> BTreeMap<Option<Pos>, usize> {
        let mut first = BTreeMap::new();
        for (index, stretch) in self.stretches.iter().enumerate() {
            first.entry(stretch.after).or_insert(index);
        }
        first
    }

    /// For each stretch its leaf: follows the first stretch after its end.
    fn ends(&self, first_child: &BTreeMap<Option<Pos>, usize>) -> Vec<Pos> {
        let mut ends: Vec<Pos> =
            (0..self.stretches.len()).map(|index| Pos::new(self.depth, self.stretch_end(index))).collect();
        // Later entries come after earlier ones.
        for index in (0..ends.len()).rev() {
            ends[index] = self.end_behind(ends[index], first_child, &ends);
        }
        ends
    }

    /// The leaf after the end of a stretch, or of the base.
    fn end_behind(&self, end: Pos, first_child: &BTreeMap<Option<Pos>, usize>, ends: &[Pos]) -> Pos {
        first_child.get(&Some(end)).map_or(end, |child| ends[*child])
    }

    /// The branch point of the branch that ends in stretch `index`: follows stretches that only continue.
    fn branch_point(&self, mut index: usize, first_child: &BTreeMap<Option<Pos>, usize>) -> Option<Pos> {
        loop {
            let after = self.stretches[index].after?;
            if after.depth < self.depth {
                let continues = Some(after) == self.base.last() && first_child[&Some(after)] == index;
                return (!continues).then_some(after);
            }
            let parent = self.stretch_of(after.seq);
            let continues = self.stretch_end(parent) == after.seq && first_child[&Some(after)] == index;
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
    fn next_entry_towards_a_tip_equals_that_of_the_path() {
        let own = tree();
        let mut fork = Tree::new(1, own.path(Some(p(6))));
        for after in [p(6), Pos::new(1, 1), p(5), Pos::new(1, 1)] {
            fork.push(Some(after), false);
        }
        for (tree, last) in [(own, p(8)), (fork, Pos::new(1, 4))] {
            let all: Vec<Option<Pos>> = [None].into_iter().chain((1..=8).map(|seq| Some(p(seq)))).collect();
            let all: Vec<_> =
                all.into_iter().chain((1..=last.seq).map(|seq| Some(Pos::new(last.depth, seq)))).collect();
            for tip in all.iter().copied().filter(|tip| tip.is_none_or(|tip| tree.knows(tip))) {
                let path = tree.path(tip);
                for after in &all {
                    let is_on = after.is_none_or(|after| path.contains(after));
                    let next = path.behind(*after).first().filter(|_| is_on);
                    assert_eq!(tree.next_towards(*after, tip), next, "behind {after:?} to {tip:?}");
                }
            }
        }
    }

    #[test]
    fn path_follows_the_stretches_of_the_tree() {
        let tree = tree();
        let seqs = |tip| tree.path(Some(p(tip))).positions().map(|pos| pos.seq).collect::<Vec<_>>();
        assert_eq!(seqs(4), [1, 2, 3, 4]);
        assert_eq!(seqs(8), [1, 2, 5, 6, 8]);
        assert_eq!(seqs(7), [1, 2, 3, 4, 7]);
        assert!(tree.is_on_path(p(2), Some(p(8))) && !tree.is_on_path(p(3), Some(p(8))));
    }

    #[test]
    fn tree_finds_leaves_children_and_the_latest_leaf() {
        let tree = tree();
        let leaves: Vec<_> =
            tree.leaves().iter().map(|leaf| (leaf.pos.seq, leaf.fork.map(|f| f.seq))).collect();
        assert_eq!(leaves, [(7, None), (8, Some(2))]);
        assert_eq!(tree.leaves()[1].onto, Some(p(7)), "2 is an own one of the branch that ends in 7");
        let own: Vec<u64> = (1..=8).map(|seq| tree.branch_of(p(seq)).seq).collect();
        assert_eq!(own, [7, 7, 7, 7, 8, 8, 7, 8]);
        assert_eq!(tree.children(Some(p(2))), [p(3), p(5)]);
        assert_eq!(tree.latest_leaf(p(3)), p(7));
        assert_eq!(tree.latest_leaf(p(5)), p(8));
        assert_eq!(tree.latest_leaf(p(1)), p(8));
    }

    #[test]
    fn detached_entry_is_never_the_tip() {
        assert_eq!(tree().last_attached(0, 7), Some(p(6)));
        assert_eq!(tree().last_attached(6, 7), None);
    }

    /// Every position of a tree with the entry before it, found without the tree's own rules.
    fn parents(tree: &Tree) -> BTreeMap<Pos, Option<Pos>> {
        let base: Vec<Pos> = tree.base().positions().collect();
        let before = |at: usize| at.checked_sub(1).map(|at| base[at]);
        let mut parents: BTreeMap<_, _> =
            base.iter().enumerate().map(|(at, pos)| (*pos, before(at))).collect();
        for seq in 1..=tree.last() {
            let at = tree.stretches().iter().rfind(|stretch| stretch.start <= seq).expect("it is in one");
            let previous = Pos::new(tree.depth(), seq.saturating_sub(1));
            let after = if at.start == seq { at.after } else { Some(previous) };
            parents.insert(Pos::new(tree.depth(), seq), after);
        }
        parents
    }

    #[test]
    fn branches_are_those_that_the_entries_make() {
        let mut odd = Tree::new(0, Path::default());
        for (after, detached) in [(0, false), (0, false), (2, false), (1, false), (0, true), (0, false)] {
            odd.push((after > 0).then(|| p(after)), detached);
        }
        let of_fork = |afters: &[(u32, u64)]| {
            let mut fork = Tree::new(1, tree().path(Some(p(6))));
            for (depth, seq) in afters {
                fork.push(Some(Pos::new(*depth, *seq)), false);
            }
            fork
        };
        let continued = of_fork(&[(0, 6), (1, 1), (0, 5), (1, 1), (0, 5), (0, 1)]);
        let left = of_fork(&[(0, 5), (1, 1), (0, 2), (1, 3), (1, 3), (1, 2)]);
        for tree in [tree(), odd, continued, left, of_fork(&[]), Tree::new(0, Path::default())] {
            let parents = parents(&tree);
            let children = |of: Option<Pos>| -> Vec<Pos> {
                parents.iter().filter(|(_, after)| **after == of).map(|(pos, _)| *pos).collect()
            };
            let first = |pos: Pos| children(Some(pos)).first().copied();
            let branch =
                |pos: Pos| std::iter::successors(Some(pos), |pos| first(*pos)).last().expect("itself");
            for (pos, after) in &parents {
                assert_eq!(tree.after(*pos), *after, "after {pos:?}");
                assert_eq!(tree.children(Some(*pos)), children(Some(*pos)), "children of {pos:?}");
                assert_eq!(tree.branch_of(*pos), branch(*pos), "branch of {pos:?}");
                let below = parents.keys().filter(|leaf| tree.is_on_path(*pos, Some(**leaf)));
                assert_eq!(Some(tree.latest_leaf(*pos)), below.max().copied(), "latest leaf of {pos:?}");
            }
            assert_eq!(tree.children(None), children(None));
            let all = parents.keys().copied().map(Some).chain([None]);
            let mut groups: Vec<_> = all.map(children).filter(|group| group.len() > 1).collect();
            groups.sort_unstable();
            let mut siblings = tree.siblings();
            siblings.sort_unstable();
            assert_eq!(siblings, groups);
            let leaf = |pos: Pos| {
                let mut at = pos;
                while let Some(after) = parents[&at] {
                    if first(after) != Some(at) {
                        return Leaf { pos, fork: Some(after), onto: Some(branch(after)) };
                    }
                    at = after;
                }
                Leaf { pos, fork: None, onto: None }
            };
            let ends = parents.keys().copied().filter(|pos| first(*pos).is_none());
            assert_eq!(tree.leaves(), ends.map(leaf).collect::<Vec<_>>());
        }
    }

    #[test]
    fn only_what_is_said_elsewhere_starts_a_stretch() {
        let mut tree = Tree::new(0, Path::default());
        assert!(tree.starts_stretch(None, false));
        tree.push(None, false);
        assert!(!tree.starts_stretch(Some(p(1)), false));
        assert!(tree.starts_stretch(None, false) && tree.starts_stretch(Some(p(1)), true));
        tree.push(Some(p(1)), false);
        tree.push(Some(p(2)), true);
        assert!(tree.starts_stretch(Some(p(3)), false), "what follows a detached entry is no part of it");
        let starts: Vec<u64> = tree.stretches().iter().map(|stretch| stretch.start).collect();
        assert_eq!(starts, [1, 3]);
        assert!(tree.knows(p(1)) && tree.knows(p(3)) && !tree.knows(p(4)) && !tree.knows(p(0)));
    }
}
