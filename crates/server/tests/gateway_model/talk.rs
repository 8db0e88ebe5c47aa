//! What a conversation in a chat is, said naively: lists that are copied. Written from the specification; must never ask the owner.

use std::collections::BTreeSet;
use std::fmt;

/// A wording of a message, as it stands in the text: `#12.0.3.2`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Wording {
    pub(super) message: usize,
    pub(super) version: usize,
    pub(super) place: usize,
    /// The paragraphs of its answer.
    pub(super) parts: usize,
}

impl fmt::Display for Wording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}.{}.{}.{}", self.message, self.version, self.place, self.parts)
    }
}

impl Wording {
    /// All wordings in a text.
    pub(super) fn all(text: &str) -> Vec<Self> {
        let wording = |word: &str| {
            let mut numbers = word.strip_prefix('#')?.split('.').map(|number| number.parse().ok());
            let mut next = || numbers.next().flatten();
            Some(Self { message: next()?, version: next()?, place: next()?, parts: next()? })
        };
        text.split_whitespace().filter_map(wording).collect()
    }
}

#[derive(Clone, Debug)]
struct Turn {
    wording: Wording,
    by: usize,
}

#[derive(Clone, Debug)]
enum Change {
    /// The path before.
    Path(Vec<usize>),
    Dropped(usize),
}

#[derive(Clone, Debug)]
struct Done {
    by: usize,
    change: Change,
}

/// A conversation: its turns, those on the path, and what was done.
#[derive(Clone, Debug, Default)]
pub(super) struct Talk {
    turns: Vec<Turn>,
    path: Vec<usize>,
    dropped: BTreeSet<usize>,
    done: Vec<Done>,
    /// Undone steps, each with the path before the undo.
    undone: Vec<(Done, Vec<usize>)>,
    /// Steps that were done.
    pub(super) steps: usize,
    /// What people wanted, for a failure.
    pub(super) wanted: Vec<String>,
}

impl Talk {
    /// Whether a step since these turns were visible takes back so much that it is asked about first: more than one turn, or one of
    /// somebody else where others read it.
    pub(super) fn is_asked(&self, before: &[usize], by: usize, is_shared: bool) -> bool {
        let now = self.visible();
        let gone: Vec<usize> = before.iter().copied().filter(|turn| !now.contains(turn)).collect();
        gone.len() > 1 || is_shared && gone.iter().any(|turn| self.turns[*turn].by != by)
    }

    /// The turns that people see.
    pub(super) fn visible(&self) -> Vec<usize> {
        self.path.iter().copied().filter(|turn| !self.dropped.contains(turn)).collect()
    }

    /// The wordings that people see.
    pub(super) fn wordings(&self) -> Vec<Wording> {
        self.visible().into_iter().map(|turn| self.turns[turn].wording).collect()
    }

    fn does(&mut self, by: usize, change: Change) {
        self.undone.clear();
        self.done.push(Done { by, change });
    }

    pub(super) fn say(&mut self, by: usize, wording: Wording) {
        self.does(by, Change::Path(self.path.clone()));
        self.turns.push(Turn { wording, by });
        self.path.push(self.turns.len() - 1);
    }

    /// The last message gets another wording. Any other one, and that of another person, stays. Returns whether it was done.
    pub(super) fn edit(&mut self, by: usize, wording: Wording) -> bool {
        let Some(last) = self.visible().pop() else { return false };
        let turn = &self.turns[last];
        if turn.wording.message != wording.message || turn.by != by || turn.wording == wording {
            return false;
        }
        self.steps += 1;
        self.does(by, Change::Path(self.path.clone()));
        let at = self.path.iter().position(|turn| *turn == last).expect("it is on the path");
        self.path.truncate(at);
        self.turns.push(Turn { wording, by });
        self.path.push(self.turns.len() - 1);
        true
    }

    /// Takes back the last turns, so many or from a message on. `may_all`: those of others, too.
    pub(super) fn rewind(&mut self, by: usize, may_all: bool, (count, to): (usize, Option<usize>)) {
        let visible = self.visible();
        let at = match to {
            Some(message) => visible.iter().position(|turn| self.turns[*turn].wording.message == message),
            None => visible.len().checked_sub(count),
        };
        let Some(at) = at.filter(|at| *at < visible.len()) else { return };
        if !may_all && visible[at..].iter().any(|turn| self.turns[*turn].by != by) {
            return;
        }
        self.steps += 1;
        self.does(by, Change::Path(self.path.clone()));
        let at = self.path.iter().position(|turn| *turn == visible[at]).expect("it is on the path");
        self.path.truncate(at);
    }

    /// Takes a turn out of the middle.
    pub(super) fn drop_turn(&mut self, by: usize, may_all: bool, message: usize) {
        let turn = self.visible().into_iter().find(|turn| self.turns[*turn].wording.message == message);
        let Some(turn) = turn.filter(|turn| may_all || self.turns[*turn].by == by) else { return };
        self.steps += 1;
        self.dropped.insert(turn);
        self.does(by, Change::Dropped(turn));
    }

    /// Undoes the last steps; a turn is one. A member undoes only what was their own.
    pub(super) fn undo(&mut self, by: usize, may_all: bool, count: usize) {
        if !may_all && self.done.iter().rev().take(count).any(|done| done.by != by) {
            return;
        }
        self.steps += 1;
        for _ in 0..count {
            let Some(done) = self.done.pop() else { return };
            let before = self.path.clone();
            match &done.change {
                Change::Path(path) => self.path.clone_from(path),
                Change::Dropped(turn) => drop(self.dropped.remove(turn)),
            }
            self.undone.push((done, before));
        }
    }

    /// Does the last undone steps again, in the same way.
    pub(super) fn redo(&mut self, by: usize, may_all: bool, count: usize) {
        if !may_all && self.undone.iter().rev().take(count).any(|(done, _)| done.by != by) {
            return;
        }
        self.steps += 1;
        for _ in 0..count {
            let Some((done, path)) = self.undone.pop() else { return };
            match done.change {
                Change::Path(_) => self.path = path,
                Change::Dropped(turn) => drop(self.dropped.insert(turn)),
            }
            self.done.push(done);
        }
    }
}
