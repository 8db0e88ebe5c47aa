//! The tree compared with the naive model: branches, siblings, ways along paths.

use std::collections::BTreeMap;

use retake_core::{Conversation, Pos};

use super::naive::Talk;

/// Every leaf is a branch, and every entry is in exactly one branch. Each entry has the children of the model.
pub(super) fn shape(talk: &Talk, now: &Conversation) {
    let (tree, pos) = (&now.tree, |index: usize| talk.said[index].pos);
    let leaves = tree.leaves();
    let found: Vec<Pos> = leaves.iter().map(|leaf| leaf.pos).collect();
    let mut expected: Vec<Pos> = talk.leaves().into_iter().map(pos).collect();
    expected.sort_unstable();
    assert_eq!(found, expected);
    let mut owners: BTreeMap<Pos, Pos> = BTreeMap::new();
    for leaf in &leaves {
        let whole = talk.path_to(talk.find_pos(leaf.pos)).into_iter().map(pos);
        for own in whole.skip_while(|pos| leaf.fork.is_some_and(|fork| *pos <= fork)) {
            assert_eq!(owners.insert(own, leaf.pos), None, "{own:?} is an own one of two branches");
        }
    }
    assert_eq!(owners.len(), talk.said.len(), "every entry is one branch's own");
    for leaf in &leaves {
        assert_eq!(leaf.fork.map(|fork| owners[&fork]), leaf.onto, "it leaves the branch that it leaves");
    }
    let mut groups = Vec::new();
    for parent in [None].into_iter().chain((0..talk.said.len()).map(Some)) {
        let children: Vec<Pos> = talk.children(parent).into_iter().map(pos).collect();
        assert_eq!(tree.children(parent.map(pos)), children, "behind {parent:?}");
        if children.len() > 1 {
            groups.push(children);
        }
    }
    let mut siblings = tree.siblings();
    siblings.sort_unstable();
    groups.sort_unstable();
    assert_eq!(siblings, groups);
    for (index, said) in talk.said.iter().enumerate() {
        assert!(tree.knows(said.pos));
        assert_eq!(tree.branch_of(said.pos), owners[&said.pos]);
        assert_eq!(tree.latest_leaf(said.pos), pos(talk.latest_leaf(index)));
        assert_eq!(tree.after(said.pos), said.parent.map(pos));
        assert_eq!(now.is_on_path(said.pos), talk.is_on_path(index));
    }
    assert!(!tree.knows(Pos::new(talk.depth, tree.last() + 1)) && !tree.knows(Pos::new(talk.depth, 0)));
}

/// The paths to two entries, and the way between them.
pub(super) fn ways(talk: &Talk, now: &Conversation, one: usize, other: usize) {
    let pos = |index: usize| talk.said[index].pos;
    let path = talk.path_to(Some(one));
    let whole: Vec<Pos> = path.iter().copied().map(pos).collect();
    let found = now.tree.path(Some(pos(one)));
    assert_eq!(found.positions().collect::<Vec<_>>(), whole);
    assert_eq!(found.len(), whole.len() as u64);
    let at = path.iter().position(|index| *index == other);
    assert_eq!(now.tree.is_on_path(pos(other), Some(pos(one))), at.is_some());
    let next = at.and_then(|at| whole.get(at + 1).copied());
    assert_eq!(now.tree.next_towards(Some(pos(other)), Some(pos(one))), next);
    assert_eq!(now.tree.next_towards(None, Some(pos(one))), whole.first().copied());
    let theirs = talk.path_to(Some(other));
    let common = path.iter().zip(&theirs).take_while(|(one, other)| one == other).last();
    let common = common.map(|(index, _)| pos(*index));
    assert_eq!(found.common_prefix(&now.tree.path(Some(pos(other)))), common);
}
