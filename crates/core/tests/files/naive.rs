//! The naive model of a conversation: plain lists of what was said and done, with copies of everything at each moment. It must
//! never know of hashes, captures on disk, counters or rows, and never be fast.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::rc::Rc;

use retake_core::{ConversationId, EntryId, Head, Role};

use super::truth::{Event, Reg, Val};
use super::view::{Item, View, Who};

/// What is at a path.
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

/// What a call did, as it was seen.
#[derive(Clone, Debug)]
pub(super) struct Delta {
    /// The entry that it belongs to.
    pub(super) entry: usize,
    /// Whether nobody else can have done it.
    pub(super) sure: bool,
    pub(super) events: Vec<Event>,
    /// The paths that it changed, as they were before.
    pub(super) before: BTreeMap<String, Option<Thing>>,
    /// How many operations there had been.
    pub(super) ops: usize,
}

impl Delta {
    /// The texts that it brought somewhere, or took away.
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

/// What was kept of files against the path (spec `rewind.md`, *Adoption*).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Kept {
    /// Entries whose changes are in the files for good.
    pub(super) adopted: BTreeSet<usize>,
    /// Entries on the path whose changes are not.
    pub(super) out: BTreeSet<usize>,
    /// Single things of entries that belong to the person.
    pub(super) single: BTreeSet<(usize, Reg)>,
    /// The same by path, as plans said it: known only where nothing else keeps it.
    pub(super) paths: BTreeSet<(usize, String)>,
}

impl Kept {
    /// What an operation changed of it is changed back; what others have kept since stays.
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

/// Something said. Conversations name it by its index.
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
    /// Files alone.
    Files,
}

/// An operation.
#[derive(Clone, Debug)]
pub(super) struct Op {
    /// Its number: 1, 2, 3 …
    pub(super) no: usize,
    pub(super) kind: Kind,
    /// What it did to files; nothing, when it was about the conversation alone.
    pub(super) files: Option<Files>,
    pub(super) kept: (Kept, Kept),
    /// How much had been said.
    pub(super) at: usize,
    /// How many operations were made at once with it, and how many there were before these.
    pub(super) all: usize,
    pub(super) head: usize,
}

/// What a step did to files: everything before and after it.
#[derive(Clone, Debug)]
pub(super) struct Files {
    pub(super) trees: (Tree, Tree),
    pub(super) views: (View, View),
    /// How many deltas there were.
    pub(super) deltas: usize,
}

/// Something done, which undo takes back as one.
#[derive(Clone, Debug)]
pub(super) enum Done {
    /// The turn that this entry opened.
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
    /// What was undone, each with the operation that did it.
    pub(super) undone: Vec<(Done, Rc<Op>)>,
    pub(super) deltas: Vec<Delta>,
    /// What it makes of the folder.
    pub(super) view: View,
    pub(super) kept: Kept,
    /// How many operations there were.
    pub(super) ops: usize,
    /// The call that is open.
    pub(super) open: Option<usize>,
    /// What it was at each of its heads: where the tip was, and what was kept.
    pub(super) heads: Vec<(Head, Option<usize>, Kept)>,
}

/// An action, with what it aims at.
#[derive(Clone, Debug)]
pub(super) enum Act {
    Rewind(usize),
    Retry(usize),
    Checkout(Option<usize>),
    Choose(usize, usize),
    /// To what one of its heads left, by its number.
    Restore(usize),
    Drop(usize, usize),
    Show(Vec<usize>),
    Undo(usize),
    Redo(usize),
}

/// What an action would do to the conversation.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) talk: Talk,
    /// What it changes; an undo or a redo of several things, one after the other.
    pub(super) kinds: Vec<Kind>,
    /// What it takes back; nothing, where the files are to be those of the path.
    pub(super) back: Option<Back>,
    /// What is kept after each of what it changes: undo and redo return to what was recorded.
    pub(super) kept: Vec<Kept>,
}

/// What undos and redos take back, one after the other: the entries that go, and the step that is reversed then.
pub(super) type Back = Vec<(BTreeSet<usize>, Option<Rc<Op>>)>;

impl Outcome {
    /// Whether the conversation stays as it is, and nothing is done at all.
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

    /// What people see.
    pub(super) fn timeline(&self) -> Vec<usize> {
        let path = self.path_to(self.tip);
        path.into_iter().filter(|entry| !self.dropped.contains(entry)).collect()
    }

    /// Something is said.
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

    /// The turns that are seen: first and last entry.
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

    /// The answers among which this one can be exchanged.
    pub(super) fn alternatives(&self, entry: usize) -> Vec<usize> {
        let parent = self.said[entry].parent;
        let one = |other: &usize| {
            let said = &self.said[*other];
            said.parent == parent && said.role == Role::Assistant && !self.dropped.contains(other)
        };
        let all: Vec<usize> = (0..self.said.len()).filter(one).collect();
        if all.contains(&entry) { all } else { Vec::new() }
    }

    /// The call that a result is of. One behind which somebody has said something has lost its result.
    fn call_of(&self, result: usize) -> Option<usize> {
        let call = self.said[result].parent.filter(|_| self.said[result].role == Role::Tool)?;
        (self.said[call].role == Role::Assistant).then_some(call)
    }

    /// The result of a call.
    fn result_of(&self, call: usize) -> Option<usize> {
        (0..self.said.len()).find(|at| self.call_of(*at) == Some(call))
    }

    /// What was said last among this and all that follows from it.
    fn latest_leaf(&self, entry: usize) -> usize {
        let below = |later: &usize| self.path_to(Some(*later)).contains(&entry);
        (entry..self.said.len()).rfind(below).unwrap_or(entry)
    }

    /// The conversation after an action; nothing, when it is refused.
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
            // What is dropped and on another branch can't be aimed at.
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

    /// What is kept once an action has moved the tip: turns that a checkout or a choice brings belong to themselves again.
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
            // What was said in answer goes with it.
            let stays = next.timeline();
            let goes = |entry: &usize| *entry >= since && !stays.contains(entry);
            let last = kept.last().unwrap_or(&self.kept);
            kept.push(op.as_ref().map_or_else(|| last.clone(), |op| last.without(&op.kept)));
            // What an earlier step has left undecided since is asked about again.
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
        // What was undone at once did one thing to files: a part of it can't be reversed.
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

    /// Keeps that something was done, undone or redone.
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

    /// The same, if this were kept.
    pub(super) fn wants_with(&self, entry: usize, kept: &Kept) -> bool {
        (self.is_on(entry) && !kept.out.contains(&entry)) || kept.adopted.contains(&entry)
    }

    /// What is kept so that these changes are wanted and no others, with this conversation.
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

    /// Whether all or nothing of what an entry did is in the files, whatever is wanted of it; nothing, where a part of it is.
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
