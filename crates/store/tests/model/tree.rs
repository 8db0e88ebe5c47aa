//! The tree against the naive model: branches and alternatives.

use std::collections::BTreeSet;

use retake_core::{EntryId, Role};
use retake_store::Store;

use super::naive::Talk;
use crate::kit::word;

/// Every leaf is listed, and every entry is in exactly one branch.
pub(super) async fn branches(store: &Store, talk: &Talk) {
    let branches = store.branches(talk.id).await.expect("branches");
    let path = talk.path();
    let mut listed = BTreeSet::new();
    let (mut own, mut joins) = (Vec::new(), Vec::new());
    for branch in &branches {
        let leaf = talk.find(branch.last.meta.id).expect("a known entry");
        let whole = talk.path_to(Some(leaf));
        listed.insert(leaf);
        assert_eq!(branch.messages, whole.len() as u64);
        assert_eq!(branch.current, path.contains(&leaf));
        let alike = whole.iter().zip(&path).take_while(|(here, there)| here == there);
        let alike: Vec<usize> = alike.map(|(index, _)| *index).collect();
        let shared = talk.visible_of(&alike).last().filter(|_| !branch.current).map(|at| talk.said[*at].id);
        assert_eq!(branch.shared.as_ref().map(|line| line.meta.id), shared);
        if branch.own == 0 {
            assert_eq!(Some(leaf), talk.now.tip, "only the tip is listed without entries of its own");
            joins.push((branch.last.meta.id, branch.onto));
            continue;
        }
        joins.extend(branch.from.as_ref().map(|from| (from.meta.id, branch.onto)));
        assert_eq!(branch.from.is_some(), branch.onto.is_some());
        let begins = whole.len() - usize::try_from(branch.own).expect("a count");
        let from = branch.from.as_ref().map(|line| line.meta.id);
        assert_eq!(from, begins.checked_sub(1).map(|at| talk.said[whole[at]].id));
        assert_eq!(branch.first.as_ref().map(|line| line.meta.id), Some(talk.said[whole[begins]].id));
        assert_eq!(branch.called.as_ref().map(|line| line.meta.id), called(talk, leaf));
        own.extend(whole[begins..].iter().map(|index| (*index, branch.last.meta.id)));
    }
    for (from, onto) in joins {
        let of = own.iter().find(|(index, _)| talk.said[*index].id == from);
        assert_eq!(of.map(|(_, leaf)| *leaf), onto, "it leaves the branch that it leaves");
    }
    let expected: BTreeSet<usize> = talk.leaves().into_iter().chain(talk.now.tip).collect();
    assert_eq!(listed, expected);
    let mut own: Vec<usize> = own.into_iter().map(|(index, _)| index).collect();
    own.sort_unstable();
    assert_eq!(own, Vec::from_iter(0..talk.said.len()), "every entry is one branch's own");
}

/// The name of a branch: the first message of a person that neither another branch nor the current conversation
/// shows.
fn called(talk: &Talk, leaf: usize) -> Option<EntryId> {
    let others = talk.leaves().into_iter().chain(talk.now.tip).filter(|other| *other != leaf);
    let elsewhere: BTreeSet<usize> = others.flat_map(|other| talk.path_to(Some(other))).collect();
    let alone = talk.path_to(Some(leaf)).into_iter().filter(|index| !elsewhere.contains(index));
    let alone: Vec<usize> = alone.collect();
    let visible = talk.visible_of(&alone);
    let said = visible
        .into_iter()
        .find(|index| talk.said[*index].role == Role::User && !talk.said[*index].flags.synthetic);
    said.or(alone.first().copied()).map(|index| talk.said[index].id)
}

/// The alternatives of every possible target.
pub(super) async fn alternatives(store: &Store, talk: &Talk) {
    for said in &talk.said {
        let got = store.alternatives(talk.id, said.id).await;
        match (talk.aim(said.id), got) {
            (Ok(index), Ok(got)) => {
                let path = talk.path();
                let expected = talk.alternatives(index).into_iter();
                let expected = expected.map(|index| (talk.said[index].id, path.contains(&index)));
                let got = got.into_iter().map(|other| (other.line.meta.id, other.current));
                assert_eq!(got.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
            }
            (Err(expected), Err(error)) => assert_eq!(expected, word(&error)),
            (expected, got) => panic!("expected {expected:?}, got {got:?}"),
        }
    }
}
