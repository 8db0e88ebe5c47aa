//! The naive model: a conversation as plain lists that are copied. It must never know of spans, runs, positions or
//! linked lines, and never be fast.

use std::collections::BTreeMap;
use std::rc::Rc;

use retake_core::{
    AnswerPlace, ConversationId, EntryId, Fact, Flags, FoldId, Head, LabelTarget, Mark, OpNo, Pos, Role,
    Step, Totals,
};

/// An entry. Conversations name it by its index in their own list.
#[derive(Clone, Debug)]
pub(super) struct Said {
    pub(super) id: EntryId,
    /// Its position in the store: only for requests to the store, never for decisions.
    pub(super) pos: Pos,
    pub(super) parent: Option<usize>,
    pub(super) role: Role,
    pub(super) flags: Flags,
    pub(super) word: String,
    pub(super) calls: Vec<String>,
    /// The entry with the call that this result answers.
    pub(super) answers: Option<usize>,
    pub(super) opens: bool,
    pub(super) turn: Option<usize>,
    /// All entries up to here, inclusive, with any marks.
    pub(super) totals: Totals,
    pub(super) platform: Option<String>,
    pub(super) facts: Vec<Fact>,
}

impl Said {
    /// For an opener: its number among the openers of its path.
    pub(super) fn number(&self) -> u64 {
        self.totals.turns
    }
}

/// A fold: the list of what it covers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Folded {
    pub(super) id: FoldId,
    pub(super) covers: Vec<EntryId>,
    pub(super) summary: String,
}

/// A whole state.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Picture {
    pub(super) tip: Option<usize>,
    /// By index; entries beyond its end are normal.
    pub(super) marks: Vec<Mark>,
    pub(super) folds: Vec<Folded>,
    pub(super) labels: BTreeMap<Option<usize>, String>,
}

/// What a step changed, before and after.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Tip { before: Option<usize>, after: Option<usize> },
    Marks(Vec<(usize, Mark, Mark)>),
    FoldIn(Folded),
    FoldOut(Folded),
}

/// A step, which undo reverts as one.
#[derive(Clone, Debug)]
pub(super) struct Done {
    pub(super) name: &'static str,
    pub(super) step: Step,
    pub(super) kind: Kind,
    /// What could have been redone before it.
    pub(super) undone_before: Vec<Undone>,
}

/// An undone step, and the tip then.
#[derive(Clone, Debug)]
pub(super) struct Undone {
    pub(super) done: Rc<Done>,
    pub(super) tip: Option<usize>,
}

/// An item of the prompt.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Item {
    Entry(usize),
    Summary(FoldId),
}

/// A conversation.
#[derive(Clone, Debug)]
pub(super) struct Talk {
    pub(super) id: ConversationId,
    pub(super) depth: u32,
    /// The number of entries copied from the parent.
    pub(super) base: usize,
    pub(super) said: Vec<Said>,
    pub(super) now: Picture,
    pub(super) done: Vec<Rc<Done>>,
    pub(super) undone: Vec<Undone>,
    pub(super) ops: u64,
    pub(super) revision: u64,
    pub(super) rewinds: u64,
    /// Every earlier head, with a copy of its state.
    pub(super) heads: Vec<(Head, Rc<Picture>)>,
    /// Runs that were started and can be answered at any later time.
    pub(super) asked: Vec<AnswerPlace>,
}

impl Talk {
    pub(super) fn new(id: ConversationId) -> Self {
        let mut talk = Self {
            id,
            depth: 0,
            base: 0,
            said: Vec::new(),
            now: Picture::default(),
            done: Vec::new(),
            undone: Vec::new(),
            ops: 0,
            revision: 1,
            rewinds: 0,
            heads: Vec::new(),
            asked: Vec::new(),
        };
        talk.remember();
        talk
    }

    /// A fork: a copy of everything visible up to `tip`.
    pub(super) fn forked(&self, id: ConversationId, tip: Option<usize>) -> Self {
        let kept: Vec<usize> =
            self.path_to(tip).into_iter().filter(|index| self.mark(*index).is_visible()).collect();
        let new = |old: usize| kept.iter().position(|index| *index == old);
        let copies = kept.iter().enumerate().map(|(at, old)| {
            let said = self.said[*old].clone();
            let (answers, turn) = (said.answers.and_then(new), said.turn.and_then(new));
            Said { parent: at.checked_sub(1), answers, turn, ..said }
        });
        let mut child = Self { said: copies.collect(), ..Self::new(id) };
        let known = |fold: &&Folded| fold.covers.iter().all(|id| child.find(*id).is_some());
        let folds = self.now.folds.iter().filter(known).cloned().collect();
        let labels =
            self.now.labels.iter().filter_map(|(target, name)| Some((Some(new((*target)?)?), name.clone())));
        child.now = Picture {
            tip: kept.len().checked_sub(1),
            marks: kept.iter().map(|old| self.mark(*old)).collect(),
            folds,
            labels: labels.collect(),
        };
        child.depth = self.depth + 1;
        child.base = kept.len();
        child.heads.clear();
        child.remember();
        child
    }

    pub(super) fn head(&self) -> Head {
        Head::new(self.ops, (self.said.len() - self.base) as u64)
    }

    /// Stores a copy of the present state under its head.
    pub(super) fn remember(&mut self) {
        self.heads.push((self.head(), Rc::new(self.now.clone())));
    }

    /// The same conversation in an earlier state.
    pub(super) fn at(&self, then: &Picture) -> Self {
        Self { now: then.clone(), ..self.clone() }
    }

    pub(super) fn find(&self, id: EntryId) -> Option<usize> {
        self.said.iter().position(|said| said.id == id)
    }

    pub(super) fn find_pos(&self, pos: Pos) -> Option<usize> {
        self.said.iter().position(|said| said.pos == pos)
    }

    pub(super) fn next_pos(&self) -> Pos {
        Pos::new(self.depth, (self.said.len() - self.base) as u64 + 1)
    }

    pub(super) fn mark(&self, index: usize) -> Mark {
        self.now.marks.get(index).copied().unwrap_or_default()
    }

    pub(super) fn set_mark(&mut self, index: usize, mark: Mark) {
        if self.now.marks.len() <= index {
            self.now.marks.resize(index + 1, Mark::Normal);
        }
        self.now.marks[index] = mark;
    }

    pub(super) fn path_to(&self, tip: Option<usize>) -> Vec<usize> {
        let mut path: Vec<usize> = std::iter::successors(tip, |index| self.said[*index].parent).collect();
        path.reverse();
        path
    }

    pub(super) fn path(&self) -> Vec<usize> {
        self.path_to(self.now.tip)
    }

    pub(super) fn is_on_path(&self, index: usize) -> bool {
        self.path().contains(&index)
    }

    pub(super) fn visible_of(&self, path: &[usize]) -> Vec<usize> {
        path.iter().copied().filter(|index| self.mark(*index).is_visible()).collect()
    }

    /// The timeline.
    pub(super) fn timeline(&self) -> Vec<usize> {
        self.visible_of(&self.path())
    }

    pub(super) fn normal(&self) -> Vec<usize> {
        self.path().into_iter().filter(|index| self.mark(*index) == Mark::Normal).collect()
    }

    /// The place of these in the normal list, in this order without gaps.
    pub(super) fn together(&self, covers: &[EntryId]) -> Option<usize> {
        let normal: Vec<EntryId> = self.normal().into_iter().map(|index| self.said[index].id).collect();
        normal.windows(covers.len().max(1)).position(|window| window == covers)
    }

    /// The folds in force, by place: of overlapping ones the latest counts.
    pub(super) fn in_force(&self) -> Vec<&Folded> {
        let mut latest_first: Vec<&Folded> = self.now.folds.iter().collect();
        latest_first.sort_by_key(|fold| std::cmp::Reverse(fold.id));
        let mut chosen: Vec<(usize, &Folded)> = Vec::new();
        for fold in latest_first {
            let taken = |id: &EntryId| chosen.iter().any(|(_, other)| other.covers.contains(id));
            if let Some(place) = self.together(&fold.covers)
                && !fold.covers.iter().any(taken)
            {
                chosen.push((place, fold));
            }
        }
        chosen.sort_by_key(|(place, _)| *place);
        chosen.into_iter().map(|(_, fold)| fold).collect()
    }

    pub(super) fn fold_of(&self, index: usize) -> Option<FoldId> {
        let id = self.said[index].id;
        self.in_force().into_iter().find(|fold| fold.covers.contains(&id)).map(|fold| fold.id)
    }

    /// The prompt.
    pub(super) fn prompt(&self) -> Vec<Item> {
        let mut prompt = Vec::new();
        for index in self.normal() {
            let item = self.fold_of(index).map_or(Item::Entry(index), Item::Summary);
            if !prompt.contains(&item) {
                prompt.push(item);
            }
        }
        prompt
    }

    pub(super) fn totals(&self, entries: &[usize]) -> Totals {
        entries.iter().fold(Totals::default(), |sum, index| {
            let said = &self.said[*index];
            let (calls, turns) = (said.calls.len() as u64, u64::from(said.opens));
            sum.plus(Totals { messages: 1, calls, turns })
        })
    }

    pub(super) fn children(&self, parent: Option<usize>) -> Vec<usize> {
        (0..self.said.len()).filter(|index| self.said[*index].parent == parent).collect()
    }

    pub(super) fn leaves(&self) -> Vec<usize> {
        (0..self.said.len()).filter(|index| self.children(Some(*index)).is_empty()).collect()
    }

    /// The last entry among this and all that follow it.
    pub(super) fn latest_leaf(&self, index: usize) -> usize {
        let mut latest = index;
        for later in index..self.said.len() {
            if self.path_to(Some(later)).contains(&index) {
                latest = later;
            }
        }
        latest
    }

    /// The alternatives of this visible answer.
    pub(super) fn alternatives(&self, index: usize) -> Vec<usize> {
        let mut siblings = self.children(self.said[index].parent);
        siblings.retain(|sibling| {
            let said = &self.said[*sibling];
            said.role == Role::Assistant && !said.flags.detached && self.mark(*sibling).is_visible()
        });
        if siblings.contains(&index) { siblings } else { Vec::new() }
    }

    /// What a run started now would answer.
    pub(super) fn answering(&self) -> AnswerPlace {
        let pos = |index: usize| self.said[index].pos;
        let turn = self.now.tip.and_then(|tip| self.said[tip].turn);
        AnswerPlace { turn: turn.map(pos), tip: self.now.tip.map(pos) }
    }

    /// The labels in the store's form.
    pub(super) fn labels(&self) -> BTreeMap<LabelTarget, String> {
        let target = |index: Option<usize>| {
            index.map_or(LabelTarget::Title, |index| LabelTarget::Entry(self.said[index].pos))
        };
        self.now.labels.iter().map(|(index, name)| (target(*index), name.clone())).collect()
    }

    pub(super) fn next_op(&self) -> OpNo {
        OpNo(self.ops + 1)
    }
}
