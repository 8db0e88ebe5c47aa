//! The state: the conversation as it is now. Independent components, each changed by its own operations.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::fold::Folds;
use crate::id::Pos;
use crate::kept::Kept;
use crate::mark::Marks;
use crate::op::{Change, LabelTarget, Operation};

/// Tip, marks, folds, labels, and what is kept in the files. Cheap to clone.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// The last entry of the path; `None` is the root: an empty conversation.
    pub tip: Option<Pos>,
    /// Excluded, hidden and dropped ranges.
    pub marks: Arc<Marks>,
    /// The folds, in force or not.
    pub folds: Arc<Folds>,
    /// Labels of entries, and the title.
    pub labels: Arc<BTreeMap<LabelTarget, String>>,
    /// What is kept in the files against the path.
    pub kept: Arc<Kept>,
}

impl State {
    /// Applies an operation: its change, its change of `kept`, and its tip.
    pub fn follow(&mut self, op: &Operation) {
        self.apply(&op.change);
        self.tip = op.tip;
        if op.kept.is_recorded() {
            Arc::make_mut(&mut self.kept).apply(&op.kept, op.no);
        }
    }

    /// Applies a change. Total: a change that does not fit (there is none in a valid log) changes what it can.
    pub fn apply(&mut self, change: &Change) {
        match change {
            Change::Move { after, .. } => self.tip = *after,
            Change::Mark(changes) => Arc::make_mut(&mut self.marks).apply(changes),
            Change::Fold(fold) => Arc::make_mut(&mut self.folds).add(fold.clone()),
            Change::Unfold(fold) => Arc::make_mut(&mut self.folds).remove(fold.id),
            Change::Label { target, after, .. } => {
                let labels = Arc::make_mut(&mut self.labels);
                match after {
                    Some(name) => labels.insert(*target, name.clone()),
                    None => labels.remove(target),
                };
            }
            Change::Files | Change::Erase(_) | Change::Unknown { .. } => {}
        }
    }

    /// The title, if a person gave one.
    pub fn title(&self) -> Option<&str> {
        self.named(LabelTarget::Title)
    }

    /// The entry with this label: an equal label comes before one that only looks the same.
    pub fn labelled(&self, name: &str) -> Option<Pos> {
        let looks = crate::name::looks(name);
        let among = |same: &dyn Fn(&str) -> bool| {
            self.labels.iter().find_map(|(target, label)| match target {
                LabelTarget::Entry(pos) if !label.is_empty() && same(label) => Some(*pos),
                _ => None,
            })
        };
        among(&|label| label == name).or_else(|| among(&|label| crate::name::looks(label) == looks))
    }

    /// Another entry whose label looks the same.
    pub fn looks_like(&self, pos: Pos, label: &str) -> Option<Pos> {
        let looks = crate::name::looks(label);
        self.labels.iter().find_map(|(target, other)| match target {
            LabelTarget::Entry(at) if *at != pos && crate::name::looks(other) == looks => Some(*at),
            _ => None,
        })
    }

    /// The label of an entry.
    pub fn label(&self, pos: Pos) -> Option<&str> {
        self.named(LabelTarget::Entry(pos))
    }

    /// An erased name is empty, and counts as none.
    fn named(&self, target: LabelTarget) -> Option<&str> {
        self.labels.get(&target).map(String::as_str).filter(|name| !name.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(labels: &[(u64, &str)]) -> State {
        let labels = labels.iter().map(|(seq, name)| {
            let target = if *seq == 0 { LabelTarget::Title } else { LabelTarget::Entry(Pos::new(0, *seq)) };
            (target, (*name).to_owned())
        });
        State { labels: Arc::new(labels.collect()), ..State::default() }
    }

    #[test]
    fn a_label_is_found_as_it_is_written_before_one_that_only_looks_the_same() {
        let state = named(&[(0, "title"), (1, "ｍeal"), (2, "meal"), (3, ""), (4, "tea\u{200d}")]);
        for (name, seq) in
            [("meal", Some(2)), ("ｍeal", Some(1)), ("tea", Some(4)), ("title", None), ("", None)]
        {
            assert_eq!(state.labelled(name), seq.map(|seq| Pos::new(0, seq)), "{name}");
        }
        let alike = |seq, name| state.looks_like(Pos::new(0, seq), name).map(|pos| pos.seq);
        assert_eq!(alike(1, "ｍeal"), Some(2));
        assert_eq!((alike(4, "tea\u{200d}"), alike(1, "tea"), alike(1, "title")), (None, Some(4), None));
        assert_eq!(state.title(), Some("title"));
        let label = |seq| state.label(Pos::new(0, seq));
        assert_eq!([label(2), label(3), label(9)], [Some("meal"), None, None], "what was erased is no name");
        assert_eq!(named(&[(0, "")]).title(), None);
    }
}
