//! A conversation in memory: its tree, its state, its head and its undo history; and how a say becomes an entry.
//!
//! A *decision* takes a conversation and a request and gives a [`Commit`], the rows to append, or a
//! [`Refusal`]. It changes nothing: the store appends the rows and then applies the commit.

use std::sync::Arc;

use crate::content::{Part, Role, Usage};
use crate::entry::{Entry, Flags, Meta, Totals, count_calls, opens_turn};
use crate::fold::Folds;
use crate::id::{ConversationId, EntryId, Head, OpNo, Pos, RequestId, Revision, Seq, Time};
use crate::kept::{Kept, KeptChange};
use crate::mark::{Mark, Marks};
use crate::op::{Change, LabelTarget, Operation, Reason};
use crate::path::Path;
use crate::records::Records;
use crate::refusal::Refusal;
use crate::state::State;
use crate::tree::Tree;
use crate::undo_history::{Step, UndoHistory};

/// Who asks, when, and by which request.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct By {
    /// A person's or a program's name; may be empty.
    pub author: String,
    /// When.
    pub time: Time,
    /// The request.
    pub request: Option<RequestId>,
    /// A digest of the request as its author worded it. A name in it (`tN`, `@`, a label) may mean another entry
    /// when the request is repeated; its wording is the same.
    pub wording: Option<crate::Digest>,
}

/// What a Move's author saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Seen {
    /// Exactly this head; anything newer refuses the request.
    Exactly(Head),
    /// This head, and take back also what was said since. An operation made since refuses the request all the same.
    Since(Head),
    /// Whatever is there.
    #[default]
    Anything,
}

impl Seen {
    /// Refuses who saw something else than the head now.
    pub fn fits(self, now: Head) -> Result<(), Refusal> {
        let (seen, fits) = match self {
            Self::Exactly(seen) => (seen, seen == now),
            Self::Since(seen) => (seen, seen.op == now.op && seen.seq <= now.seq),
            Self::Anything => return Ok(()),
        };
        if fits { Ok(()) } else { Err(Refusal::Stale { seen, now }) }
    }
}

/// The rows that one request appends. They are stored together or not at all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Commit {
    /// New entries, in order.
    pub entries: Vec<Entry>,
    /// New operations, in order; they come before the entries.
    pub ops: Vec<Operation>,
}

impl Commit {
    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty() && self.ops.is_empty()
    }
}

/// Something to be said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Say {
    /// The new entry's id.
    pub id: EntryId,
    /// Who speaks.
    pub role: Role,
    /// The speaker's name.
    pub author: String,
    /// What.
    pub parts: Vec<Part>,
    /// How it came about; `detached` and `erased` are the decision's, not the author's.
    pub flags: Flags,
    /// When.
    pub time: Time,
    /// What a model's answer used.
    pub usage: Option<Usage>,
    /// Its id on the platform it came from.
    pub platform_id: Option<String>,
    /// The last entry that the author saw: it must be on the path.
    pub seen: Option<Pos>,
    /// For an answer: the turn it belongs to and what it answers.
    pub answering: Option<Answering>,
}

/// What an answer answers: a late one still knows its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answering {
    /// The entry that opened the turn; `None` where no turn was open.
    pub turn: Option<Pos>,
    /// The tip when the answer was asked for.
    pub tip: Option<Pos>,
}

/// A conversation, as far as it is kept in memory: O(runs + marks + folds).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// Its id.
    pub id: ConversationId,
    /// The tree of its entries.
    pub tree: Tree,
    /// What it is now.
    pub state: State,
    /// The name of that state.
    pub head: Head,
    /// How many commits it has seen.
    pub revision: Revision,
    /// The undo history at the head.
    pub history: Arc<UndoHistory>,
    /// Running totals at the tip.
    pub totals: Totals,
    /// The operation that this version does not know, if there is one: then nothing may be written.
    pub unknown: Option<(OpNo, String)>,
}

impl Conversation {
    /// A new, empty conversation.
    pub fn new(id: ConversationId) -> Self {
        Self {
            id,
            tree: Tree::new(0, Path::default()),
            state: State::default(),
            head: Head::default(),
            revision: Revision(1),
            history: Arc::default(),
            totals: Totals::default(),
            unknown: None,
        }
    }

    /// The path from the root to the tip. O(spans).
    pub fn path(&self) -> Path {
        self.tree.path(self.state.tip)
    }

    /// Whether an entry is on the path now.
    pub fn is_on_path(&self, pos: Pos) -> bool {
        self.tree.is_on_path(pos, self.state.tip)
    }

    /// The conversation after a commit.
    pub fn after<R: Records>(&self, records: &R, commit: &Commit) -> Result<Self, R::Error> {
        let mut next = self.clone();
        for op in &commit.ops {
            next.state.follow(op);
            next.head.op = op.no;
            next.history = Arc::new(op.history_after.clone());
            next.revision = op.revision;
        }
        if next.state.tip != self.state.tip {
            next.totals = self.totals_at(records, next.state.tip)?;
        }
        for entry in &commit.entries {
            let rewords = entry.meta.opens_turn() && next.is_reworded_by(records, commit, entry.meta.pos)?;
            next.push(&entry.meta, rewords);
        }
        Ok(next)
    }

    /// Whether an entry is the new wording of the last operation, an edit: the first entry after it.
    fn is_reworded_by<R: Records>(&self, records: &R, commit: &Commit, pos: Pos) -> Result<bool, R::Error> {
        let last = self.head.op;
        if self.history.done != Some(Step::Op(last)) {
            return Ok(false);
        }
        match commit.ops.last() {
            Some(op) => Ok(op.is_reworded_by(pos)),
            None => Ok(records.op(last)?.is_reworded_by(pos)),
        }
    }

    /// The next entry of the log. Where it rewords a message it is one step with the edit.
    fn push(&mut self, meta: &Meta, rewords: bool) {
        let pos = self.tree.push(meta.after, meta.flags.detached);
        self.head.seq = Seq(pos.seq);
        self.revision = meta.revision;
        if !meta.flags.detached {
            self.state.tip = Some(pos);
            self.totals = meta.totals;
            let opened = meta.opens_turn() && !rewords;
            self.history =
                Arc::new(if opened { self.history.did(Step::Turn(pos)) } else { self.history.said() });
        }
    }

    /// A fork of this conversation, empty of its own: its path begins with the one to `tip`, as it is seen here.
    /// What is hidden or dropped here stays out of it for good.
    #[must_use]
    pub fn forked(&self, id: ConversationId, tip: Option<Pos>, totals: Totals) -> Self {
        let pieces = self.state.marks.along(&self.tree.path(tip)).into_iter();
        let visible: Vec<_> = pieces.filter(|(_, mark)| mark.is_visible()).collect();
        let base = Path::from_spans(visible.iter().map(|(span, _)| *span));
        let marks = Marks::from_ranges(visible.into_iter().filter(|(_, mark)| *mark != Mark::Normal));
        // A fold over what stays out can never be in force here; any other one may be again.
        let stays = |covers: &Path| covers.without(base.spans().iter().copied()).is_empty();
        let folds = self.state.folds.all().iter().filter(|fold| stays(&fold.covers)).cloned().collect();
        let mut labels = (*self.state.labels).clone();
        labels.retain(|target, _| matches!(target, LabelTarget::Entry(pos) if base.contains(*pos)));
        let state = State {
            tip: base.last(),
            marks: Arc::new(marks),
            folds: Arc::new(Folds::new(folds)),
            labels: Arc::new(labels),
            kept: Arc::new(Kept { last: None, ..(*self.state.kept).clone() }),
        };
        Self { state, totals, tree: Tree::new(self.tree.depth() + 1, base), ..Self::new(id) }
    }

    /// Refuses every write when the log holds an operation of a newer version.
    pub fn writable(&self) -> Result<(), Refusal> {
        match &self.unknown {
            Some((op, kind)) => Err(Refusal::ReadOnly { op: *op, kind: kind.clone() }),
            None => Ok(()),
        }
    }

    /// Compares the head with what a Move's author saw.
    pub fn expect(&self, seen: Seen) -> Result<(), Refusal> {
        seen.fits(self.head)
    }

    /// Refuses an entry that nothing can aim at: unknown, off the path, hidden or dropped.
    pub fn visible_on_path<R: Records>(&self, records: &R, pos: Pos) -> Result<(), R::Error> {
        if !self.tree.knows(pos) {
            return Err(Refusal::UnknownEntry.into());
        }
        if !self.is_on_path(pos) {
            let taken_back = self.taken_back_by(records, pos)?;
            return Err(Refusal::NotOnPath { entry: pos, taken_back }.into());
        }
        Ok(self.in_sight(pos)?)
    }

    /// Refuses an entry that nobody sees on any branch: unknown, hidden or dropped.
    pub fn in_sight(&self, pos: Pos) -> Result<(), Refusal> {
        match self.state.marks.get(pos) {
            _ if !self.tree.knows(pos) => Err(Refusal::UnknownEntry),
            mark if mark.is_visible() => Ok(()),
            mark => Err(Refusal::NotVisible(mark)),
        }
    }

    /// The branch that leads to an entry, as it would be read if it were checked out at this head: its path with today's marks
    /// and folds. Only for reading; what was not said yet at this head is on no branch of it.
    pub fn on_branch<R: Records>(&self, records: &R, tip: Pos) -> Result<Self, R::Error> {
        let is_later = tip.depth == self.tree.depth() && tip.seq > self.head.seq.0;
        if is_later || !self.tree.knows(tip) {
            return Err(Refusal::UnknownEntry.into());
        }
        let tip = self.end_at(records, tip)?;
        let totals = self.totals_at(records, Some(tip))?;
        let state = State { tip: Some(tip), ..self.state.clone() };
        Ok(Self { state, totals, ..self.clone() })
    }

    /// The operation that took an entry off the path, and the head before it. Walks back; for error texts.
    fn taken_back_by<R: Records>(&self, records: &R, pos: Pos) -> Result<Option<(OpNo, Head)>, R::Error> {
        for no in (1..=self.head.op.0).rev() {
            let op = records.op(OpNo(no))?;
            if let Change::Move { before, .. } = op.change
                && self.tree.is_on_path(pos, before)
            {
                return Ok(Some((op.no, Head { op: OpNo(no - 1), seq: op.at })));
            }
        }
        Ok(None)
    }

    /// Decides a say: the entry that it becomes.
    pub fn say<R: Records>(&self, records: &R, say: Say) -> Result<Commit, R::Error> {
        self.writable()?;
        if let Some(seen) = say.seen {
            self.visible_or_marked(records, seen)?;
        }
        let tip = self.state.tip;
        let late = say.answering.filter(|answering| !self.reaches(*answering));
        let after = late.map_or(tip, |late| late.tip);
        let flags = Flags { detached: late.is_some(), erased: false, ..say.flags };
        let pos = Pos::new(self.tree.depth(), self.tree.last() + 1);
        let parts: Vec<Part> = say.parts.into_iter().map(Part::cleaned).collect();
        let calls = count_calls(&parts);
        let opens = opens_turn(say.role, flags);
        let turn = match say.answering {
            _ if opens => Some(pos),
            Some(answering) => answering.turn,
            None => self.turn_of(records, after)?,
        };
        let before = self.totals_at(records, after)?;
        let totals = before.plus(Totals { messages: 1, calls: calls.into(), turns: opens.into() });
        let answers = self.call_answered(records, &parts, after)?;
        let revision = self.revision.next();
        let meta = Meta {
            id: say.id,
            pos,
            after,
            turn,
            role: say.role,
            flags,
            time: say.time,
            totals,
            revision,
            calls,
            answers,
        };
        let entry = Entry { meta, author: say.author, parts, usage: say.usage, platform_id: say.platform_id };
        Ok(Commit { entries: vec![entry], ops: Vec::new() })
    }

    /// What a say's author saw may have been hidden meanwhile, but not taken back.
    fn visible_or_marked<R: Records>(&self, records: &R, seen: Pos) -> Result<(), R::Error> {
        if self.is_on_path(seen) {
            return Ok(());
        }
        self.visible_on_path(records, seen)
    }

    /// Whether an answer still has its place: what it answers is on the path.
    fn reaches(&self, answering: Answering) -> bool {
        answering.turn.is_none_or(|turn| self.is_on_path(turn))
            && answering.tip.is_none_or(|tip| self.is_on_path(tip))
    }

    /// The turn that an entry said after `after` belongs to. A fork does not know one whose opener was hidden.
    pub fn turn_of<R: Records>(&self, records: &R, after: Option<Pos>) -> Result<Option<Pos>, R::Error> {
        let turn = after.map(|after| records.meta(after)).transpose()?.and_then(|meta| meta.turn);
        Ok(turn.filter(|turn| self.tree.knows(*turn)))
    }

    /// Running totals up to an entry, marks aside.
    pub fn totals_at<R: Records>(&self, records: &R, pos: Option<Pos>) -> Result<Totals, R::Error> {
        match pos {
            None => Ok(Totals::default()),
            Some(pos) if Some(pos) == self.state.tip => Ok(self.totals),
            Some(pos) => Ok(records.meta(pos)?.totals),
        }
    }

    /// The entry with the call that these results answer: sought back through the turn.
    fn call_answered<R: Records>(
        &self,
        records: &R,
        parts: &[Part],
        after: Option<Pos>,
    ) -> Result<Option<Pos>, R::Error> {
        let Some(call) = parts.iter().find_map(Part::answered_call) else {
            return Ok(None);
        };
        let mut walk = self.walk_back(records, after);
        while let Some(meta) = walk.step()? {
            if meta.calls > 0 && records.parts(meta.pos)?.iter().any(|part| part.call_id() == Some(call)) {
                return Ok(Some(meta.pos));
            }
            if meta.opens_turn() {
                break;
            }
        }
        Ok(None)
    }

    /// An operation of this conversation, with its place in the log.
    pub(crate) fn operation(&self, by: &By, reason: Reason, change: Change) -> Operation {
        let no = self.head.op.next();
        let history_after =
            if reason.traits().is_step { self.history.did(Step::Op(no)) } else { (*self.history).clone() };
        Operation {
            no,
            at: self.head.seq,
            revision: self.revision.next(),
            reason,
            tip: if let Change::Move { after, .. } = &change { *after } else { self.state.tip },
            change,
            kept: KeptChange::default(),
            summary: None,
            history_before: (*self.history).clone(),
            history_after,
            author: by.author.clone(),
            time: by.time,
            request: by.request.clone(),
        }
    }

    /// The commit of one operation.
    pub(crate) fn one(op: Operation) -> Commit {
        Commit { entries: Vec::new(), ops: vec![op] }
    }

    /// The tip at an earlier head: what it left, everything said up to then included.
    pub fn tip_at<R: Records>(&self, records: &R, head: Head) -> Result<Option<Pos>, R::Error> {
        let (from, tip) = match head.op {
            OpNo(0) => (0, self.tree.base().last()),
            no => {
                let op = records.op(no)?;
                (op.at.0, op.tip)
            }
        };
        Ok(self.tree.last_attached(from, head.seq.0).or(tip))
    }

    /// Checks that a head was one.
    pub fn head_of<R: Records>(&self, records: &R, head: Head) -> Result<Head, R::Error> {
        let unknown = || R::Error::from(Refusal::UnknownHead(head));
        if head.op > self.head.op {
            return Err(unknown());
        }
        let from = if head.op.0 == 0 { Seq(0) } else { records.op(head.op)?.at };
        let to = if head.op == self.head.op { self.head.seq } else { records.op(head.op.next())?.at };
        if (from..=to).contains(&head.seq) { Ok(head) } else { Err(unknown()) }
    }

    /// The mark of an entry.
    pub fn mark(&self, pos: Pos) -> Mark {
        self.state.marks.get(pos)
    }
}

#[cfg(test)]
mod tests;
