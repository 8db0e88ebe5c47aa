//! The naive model of a conversation: plain lists of entries and operations, with copies of everything at each point in time.
//! It must never know of hashes, captures on disk, counters or rows, and never be fast.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::rc::Rc;

use retake_core::{ConversationId, EntryId, Head, Role};

use super::truth::{Event, Reg, Val};
use super::view::{Item, View, Who};

/// The content of a path.
#[derive(Clone, PartialEq, Eq)]
pub(super) enum Thing {
    File { bytes: Vec<u8>, mode: u32 },
    Link(String),
    Folder { mode: u32 },
}

impl fmt::Debug for Thing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File { bytes, mode } => write!(f, "File({:?} {mode:o})", String::from_utf8_lossy(bytes)),
            Self::Link(target) => write!(f, "Link({target})"),
            Self::Folder { mode } => write!(f, "Folder({mode:o})"),
        }
    }
}

/// Everything below a folder.
pub(super) type Tree = BTreeMap<String, Thing>;

/// The changes of a call, as captured.
#[derive(Clone, Debug)]
pub(super) struct Delta {
    /// Its entry.
    pub(super) entry: usize,
    /// Whether nobody else can have made them.
    pub(super) sure: bool,
    pub(super) events: Vec<Event>,
    /// The paths that it changed, with their content before.
    pub(super) before: BTreeMap<String, Option<Thing>>,
    /// The number of operations before it.
    pub(super) ops: usize,
}

impl Delta {
    /// The texts that it added or removed somewhere.
    pub(super) fn texts(&self) -> impl Iterator<Item = usize> {
        let vals = self.events.iter().flat_map(|event| [&event.from, &event.to]);
        vals.filter_map(|val| match val {
            Val::Text(text) => Some(*text),
            _ => None,
        })
    }

    /// Whether a text is nowhere after it.
    pub(super) fn leaves(&self, text: usize) -> bool {
        !self.events.iter().any(|event| event.to == Val::Text(text))
    }
}

/// What the files keep against the path (spec `rewind.md`, *Adoption*).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Kept {
    /// Entries whose changes stay in the files for good.
    pub(super) adopted: BTreeSet<usize>,
    /// Entries on the path whose changes are not.
    pub(super) out: BTreeSet<usize>,
    /// Single registers of entries that belong to the person.
    pub(super) single: BTreeSet<(usize, Reg)>,
    /// The same by path, according to plans: known only if nothing else keeps it.
    pub(super) paths: BTreeSet<(usize, String)>,
}

impl Kept {
    /// Reverts the changes of an operation; what others have kept since stays.
    fn without(&self, (before, after): &(Self, Self)) -> Self {
        fn back<T: Ord + Clone>(now: &BTreeSet<T>, before: &BTreeSet<T>, after: &BTreeSet<T>) -> BTreeSet<T> {
            let (came, went) = (&(after - before), &(before - after));
            &(now - came) | went
        }
        Self {
            adopted: back(&self.adopted, &before.adopted, &after.adopted),
            out: back(&self.out, &before.out, &after.out),
            single: back(&self.single, &before.single, &after.single),
            paths: back(&self.paths, &before.paths, &after.paths),
        }
    }
}

/// An entry. Conversations name it by its index.
#[derive(Clone, Debug)]
pub(super) struct Said {
    pub(super) id: EntryId,
    pub(super) parent: Option<usize>,
    pub(super) role: Role,
}

/// What a step changed in the conversation.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Tip {
        before: Option<usize>,
        after: Option<usize>,
    },
    /// These were dropped.
    Dropped(BTreeSet<usize>),
    /// These are there again.
    Shown(BTreeSet<usize>),
    /// Only files.
    Files,
}

/// An operation.
#[derive(Clone, Debug)]
pub(super) struct Op {
    /// Its number: 1, 2, 3 …
    pub(super) no: usize,
    pub(super) kind: Kind,
    /// Its file changes; `None` if it was about the conversation only.
    pub(super) files: Option<Files>,
    pub(super) kept: (Kept, Kept),
    /// The number of entries then.
    pub(super) at: usize,
    /// The number of operations made together with it, and the number before these.
    pub(super) all: usize,
    pub(super) head: usize,
}

/// The file changes of a step: everything before and after it.
#[derive(Clone, Debug)]
pub(super) struct Files {
    pub(super) trees: (Tree, Tree),
    pub(super) views: (View, View),
    /// The number of deltas then.
    pub(super) deltas: usize,
}

/// A step, which undo reverts as one.
#[derive(Clone, Debug)]
pub(super) enum Done {
    /// The turn of this opener.
    Turn(usize),
    Op(Rc<Op>),
}

/// A conversation.
#[derive(Clone, Debug)]
pub(super) struct Talk {
    pub(super) id: ConversationId,
    pub(super) said: Vec<Said>,
    pub(super) tip: Option<usize>,
    pub(super) dropped: BTreeSet<usize>,
    pub(super) done: Vec<Done>,
    /// Undone steps, each with its operation.
    pub(super) undone: Vec<(Done, Rc<Op>)>,
    pub(super) deltas: Vec<Delta>,
    /// Its view of the folder.
    pub(super) view: View,
    pub(super) kept: Kept,
    /// The number of operations.
    pub(super) ops: usize,
    /// The open call.
    pub(super) open: Option<usize>,
    /// The state at each of its heads: the tip, and what was kept.
    pub(super) heads: Vec<(Head, Option<usize>, Kept)>,
}

/// An action with its target.
#[derive(Clone, Debug)]
pub(super) enum Act {
    Rewind(usize),
    Retry(usize),
    Checkout(Option<usize>),
    Choose(usize, usize),
    /// A restore of one of its heads, by its index.
    Restore(usize),
    Drop(usize, usize),
    Show(Vec<usize>),
    Undo(usize),
    Redo(usize),
}

/// The effect of an action on the conversation.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) talk: Talk,
    /// Its changes; an undo or a redo of several steps has them in order.
    pub(super) kinds: Vec<Kind>,
    /// What it reverts; `None` if the files must become those of the path.
    pub(super) back: Option<Back>,
    /// What is kept after each of its changes: undo and redo restore what was recorded.
    pub(super) kept: Vec<Kept>,
}

/// What undos and redos revert, in order: the entries that go, and the reversed step.
pub(super) type Back = Vec<(BTreeSet<usize>, Option<Rc<Op>>)>;

impl Outcome {
    /// Whether the conversation stays unchanged, and nothing is done at all.
    pub(super) fn is_nothing(&self, act: &Act) -> bool {
        match (self.kinds.as_slice(), act) {
            (_, Act::Undo(_) | Act::Redo(_)) => false,
            ([Kind::Tip { before, after }], _) => {
                before == after && self.kept.last() == Some(&self.talk.kept)
            }
            ([Kind::Dropped(entries) | Kind::Shown(entries)], _) => entries.is_empty(),
            _ => false,
        }
    }
}

impl Talk {
    pub(super) fn new(id: ConversationId) -> Self {
        Self {
            id,
            said: Vec::new(),
            tip: None,
            dropped: BTreeSet::new(),
            done: Vec::new(),
            undone: Vec::new(),
            deltas: Vec::new(),
            view: View::default(),
            kept: Kept::default(),
            ops: 0,
            open: None,
            heads: Vec::new(),
        }
    }

    pub(super) fn path_to(&self, tip: Option<usize>) -> Vec<usize> {
        let mut path: Vec<usize> = std::iter::successors(tip, |at| self.said[*at].parent).collect();
        path.reverse();
        path
    }

    /// The timeline.
    pub(super) fn timeline(&self) -> Vec<usize> {
        let path = self.path_to(self.tip);
        path.into_iter().filter(|entry| !self.dropped.contains(entry)).collect()
    }

    /// Appends an entry.
    pub(super) fn say(&mut self, id: EntryId, role: Role) -> usize {
        self.said.push(Said { id, parent: self.tip, role });
        let entry = self.said.len() - 1;
        self.tip = Some(entry);
        self.undone.clear();
        if role == Role::User {
            self.done.push(Done::Turn(entry));
        }
        entry
    }

    /// The visible turns: first and last entry.
    pub(super) fn turns(&self) -> Vec<(usize, usize)> {
        let mut turns: Vec<(usize, usize)> = Vec::new();
        for entry in self.timeline() {
            match turns.last_mut() {
                Some((_, last)) if self.said[entry].role != Role::User => *last = entry,
                _ => turns.push((entry, entry)),
            }
        }
        turns
    }

    /// The alternatives of this answer.
    pub(super) fn alternatives(&self, entry: usize) -> Vec<usize> {
        let parent = self.said[entry].parent;
        let one = |other: &usize| {
            let said = &self.said[*other];
            said.parent == parent && said.role == Role::Assistant && !self.dropped.contains(other)
        };
        let all: Vec<usize> = (0..self.said.len()).filter(one).collect();
        if all.contains(&entry) { all } else { Vec::new() }
    }

    /// The call of a result. A call followed by another entry has lost its result.
    fn call_of(&self, result: usize) -> Option<usize> {
        let call = self.said[result].parent.filter(|_| self.said[result].role == Role::Tool)?;
        (self.said[call].role == Role::Assistant).then_some(call)
    }

    /// The result of a call.
    fn result_of(&self, call: usize) -> Option<usize> {
        (0..self.said.len()).find(|at| self.call_of(*at) == Some(call))
    }

    /// The last entry among this and all that follow it.
    fn latest_leaf(&self, entry: usize) -> usize {
        let below = |later: &usize| self.path_to(Some(*later)).contains(&entry);
        (entry..self.said.len()).rfind(below).unwrap_or(entry)
    }

    /// The conversation after an action; `None` if it is refused.
    pub(super) fn act(&self, act: &Act) -> Option<Outcome> {
        let moved = |after| Some(Kind::Tip { before: self.tip, after });
        let kind = match act {
            // A call and its result are one.
            Act::Rewind(entry) => moved(self.said[self.call_of(*entry).unwrap_or(*entry)].parent),
            Act::Retry(entry) => {
                let before = self.path_to(Some(*entry)).into_iter().rev();
                moved(Some(before.into_iter().find(|entry| self.said[*entry].role == Role::User)?))
            }
            Act::Checkout(tip) => moved(tip.map(|tip| self.result_of(tip).unwrap_or(tip))),
            Act::Restore(head) => moved(self.heads[*head].1.map(|tip| self.result_of(tip).unwrap_or(tip))),
            Act::Choose(entry, number) => {
                let chosen = *self.alternatives(*entry).get(number.checked_sub(1)?)?;
                let there = self.path_to(self.tip).contains(&chosen);
                moved(if there { self.tip } else { Some(self.latest_leaf(chosen)) })
            }
            Act::Drop(from, to) => {
                let within = self.timeline().into_iter().filter(|entry| (from..=to).contains(&entry));
                Some(Kind::Dropped(within.collect()))
            }
            // A dropped entry on another branch is no possible target.
            Act::Show(entries) => {
                let path = self.path_to(self.tip);
                let there = entries.iter().all(|entry| path.contains(entry));
                there.then(|| Kind::Shown(entries.iter().copied().collect()))
            }
            Act::Undo(count) => return self.undo(*count),
            Act::Redo(count) => return self.redo(*count),
        };
        kind.map(|kind| {
            let kept = vec![self.returned(act, &kind)];
            Outcome { talk: self.with(&kind), kinds: vec![kind], back: None, kept }
        })
    }

    /// What is kept after an action has moved the tip: turns that a checkout or a choice of alternative brings belong to
    /// themselves again.
    fn returned(&self, act: &Act, kind: &Kind) -> Kept {
        if let Act::Restore(head) = act {
            return self.heads[*head].2.clone();
        }
        let (mut kept, after) = (self.kept.clone(), self.with(kind));
        if matches!(act, Act::Checkout(_) | Act::Choose(..)) {
            let before = self.path_to(self.tip);
            let brought: BTreeSet<usize> =
                after.path_to(after.tip).into_iter().filter(|entry| !before.contains(entry)).collect();
            kept.adopted.retain(|entry| !brought.contains(entry));
            kept.out.retain(|entry| !brought.contains(entry));
            kept.single.retain(|(entry, _)| !brought.contains(entry));
            kept.paths.retain(|(entry, _)| !brought.contains(entry));
        }
        kept
    }

    fn undo(&self, count: usize) -> Option<Outcome> {
        let (mut talk, mut kinds, mut back) = (self.clone(), Vec::new(), Back::new());
        let mut kept = Vec::new();
        for done in self.done.iter().rev().take(count.max(1)) {
            let (kind, op, since) = match done {
                Done::Turn(opener) => {
                    (Kind::Tip { before: talk.tip, after: talk.said[*opener].parent }, None, *opener)
                }
                Done::Op(op) => (talk.inverse(&op.kind), Some(Rc::clone(op)), op.at),
            };
            let next = talk.with(&kind);
            // Its answers go with it.
            let stays = next.timeline();
            let goes = |entry: &usize| *entry >= since && !stays.contains(entry);
            let last = kept.last().unwrap_or(&self.kept);
            kept.push(op.as_ref().map_or_else(|| last.clone(), |op| last.without(&op.kept)));
            // What an earlier step has left undecided since needs a choice again.
            let left = |entry: &usize| {
                let is_own = |item: &Item| matches!(item.who, Who::Own(of, _) if of == *entry);
                !self.wants(*entry)
                    && self.view.piles.values().flatten().any(is_own)
                    && kept.last().is_some_and(|kept| !next.wants_with(*entry, kept))
            };
            let left: Vec<usize> = self.writers().into_iter().filter(left).collect();
            back.push((talk.timeline().into_iter().chain(left).filter(goes).collect(), op));
            talk = next;
            kinds.push(kind);
        }
        (!kinds.is_empty()).then_some(Outcome { talk, kinds, back: Some(back), kept })
    }

    fn redo(&self, count: usize) -> Option<Outcome> {
        let (mut talk, mut kinds, mut back) = (self.clone(), Vec::new(), Back::new());
        let undone: Vec<_> = self.undone.iter().rev().take(count.max(1)).map(|(_, op)| op).collect();
        for undo in &undone {
            let kind = talk.inverse(&undo.kind);
            talk = talk.with(&kind);
            kinds.push(kind);
            back.push((BTreeSet::new(), Some(Rc::clone(undo))));
        }
        // Operations undone together are one change of files: a part of it can't be reversed.
        let whole =
            undone.iter().all(|undo| undo.all == undone.iter().filter(|it| it.head == undo.head).count());
        let mut now = self.kept.clone();
        let kept = undone.iter().map(|undo| {
            now = now.without(&undo.kept);
            now.clone()
        });
        let kept = kept.collect();
        (!kinds.is_empty()).then(|| Outcome { talk, kinds, back: whole.then_some(back), kept })
    }

    fn inverse(&self, kind: &Kind) -> Kind {
        match kind {
            Kind::Tip { before, .. } => Kind::Tip { before: self.tip, after: *before },
            Kind::Dropped(entries) => Kind::Shown(entries.clone()),
            Kind::Shown(entries) => Kind::Dropped(entries.clone()),
            Kind::Files => Kind::Files,
        }
    }

    pub(super) fn with(&self, kind: &Kind) -> Self {
        let mut talk = self.clone();
        match kind {
            Kind::Tip { after, .. } => talk.tip = *after,
            Kind::Dropped(entries) => talk.dropped.extend(entries),
            Kind::Shown(entries) => talk.dropped.retain(|entry| !entries.contains(entry)),
            Kind::Files => {}
        }
        talk
    }

    /// Records that something was done, undone or redone.
    pub(super) fn did(&mut self, act: &Act, ops: Vec<Op>) {
        for op in ops.into_iter().map(Rc::new) {
            match act {
                Act::Undo(_) => {
                    let done = self.done.pop().expect("something was undone");
                    self.undone.push((done, op));
                }
                Act::Redo(_) => {
                    let (done, _) = self.undone.pop().expect("something was redone");
                    self.done.push(done);
                }
                _ => {
                    self.done.push(Done::Op(op));
                    self.undone.clear();
                }
            }
            self.ops += 1;
        }
    }

    /// Whether an entry counts for the files by its place in the conversation.
    pub(super) fn is_on(&self, entry: usize) -> bool {
        self.timeline().contains(&entry)
    }

    /// Whether the changes of an entry are wanted in the files.
    pub(super) fn wants(&self, entry: usize) -> bool {
        self.wants_with(entry, &self.kept)
    }

    /// The same with this kept.
    pub(super) fn wants_with(&self, entry: usize, kept: &Kept) -> bool {
        (self.is_on(entry) && !kept.out.contains(&entry)) || kept.adopted.contains(&entry)
    }

    /// What must be kept so that exactly these changes are wanted, in this conversation.
    pub(super) fn steered(&self, mut kept: Kept, wanted: &BTreeSet<usize>) -> Kept {
        for entry in self.writers() {
            match (self.wants_with(entry, &kept), wanted.contains(&entry)) {
                (false, true) if self.is_on(entry) => drop(kept.out.remove(&entry)),
                (false, true) => drop(kept.adopted.insert(entry)),
                (true, false) => {
                    kept.adopted.remove(&entry);
                    if self.is_on(entry) {
                        kept.out.insert(entry);
                    }
                }
                _ => {}
            }
        }
        kept
    }

    /// Whether all or none of an entry's changes are in the files, wanted or not; `None` for a part.
    pub(super) fn is_in_files(&self, entry: usize, known: &BTreeMap<usize, Option<bool>>) -> Option<bool> {
        let events = self.deltas.iter().filter(|delta| delta.entry == entry).flat_map(|delta| &delta.events);
        let regs: BTreeSet<&Reg> = events.map(|event| &event.reg).collect();
        if regs.iter().any(|reg| self.view.unsure.contains(reg)) {
            return known.get(&entry).copied().flatten();
        }
        let is_own = |item: &Item| matches!(item.who, Who::Own(of, _) if of == entry);
        let is_in = |reg: &&Reg| {
            let pile = self.view.piles.get(*reg);
            pile.is_some_and(|pile| pile.iter().any(is_own))
                && !self.kept.single.contains(&(entry, (**reg).clone()))
        };
        let count = regs.iter().filter(|reg| is_in(reg)).count();
        (count == 0 || count == regs.len()).then_some(count > 0)
    }

    /// The entries that have changed files.
    pub(super) fn writers(&self) -> BTreeSet<usize> {
        self.deltas.iter().map(|delta| delta.entry).collect()
    }
}
