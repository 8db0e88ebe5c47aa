//! A conversation in memory: its tree, its state, its head and its undo history; and how a message becomes an entry.
//!
//! A *decision* takes a conversation and a request and gives a [`Commit`], the rows to append, or a
//! [`Refusal`]. It changes nothing: the store appends the rows and then applies the commit.

use std::sync::Arc;

use crate::chat::{ChatArrival, ChatOrigin};
use crate::content::{Part, Role, Usage};
use crate::entry::{Entry, Flags, Meta, Totals, count_calls, opens_turn};
use crate::fold::Folds;
use crate::id::{ConversationId, EntryId, Head, OpNo, Pos, RequestId, Revision, Seq, Time};
use crate::kept::{Kept, KeptChange};
use crate::mark::{Mark, Marks};
use crate::op::{Change, LabelTarget, Operation, Reason};
use crate::path::Path;
use crate::principal::Principal;
use crate::records::Records;
use crate::refusal::Refusal;
use crate::state::State;
use crate::tree::Tree;
use crate::undo_history::{Step, UndoHistory};

/// The author, the time and the request of a change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangeOrigin {
    /// A person's or a program's name; may be empty.
    pub author: String,
    /// Who the request comes from.
    pub principal: Principal,
    /// The time.
    pub time: Time,
    /// The request.
    pub request: Option<RequestId>,
    /// A digest of the request in its author's wording. A name in it (`tN`, `@`, a label) may mean another entry when the
    /// request is repeated; the wording stays the same.
    pub wording: Option<crate::Digest>,
    /// The message of a chat that it comes from.
    pub chat: Option<Arc<ChatArrival>>,
}

/// The state that the author of a move saw.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SeenState {
    /// Exactly this head; after any newer change the request is refused.
    Exactly(Head),
    /// This head; later entries are rewound, too. A later operation makes the request stale.
    Since(Head),
    /// Any state.
    #[default]
    Anything,
}

impl SeenState {
    /// Refuses a request whose author saw another head than the current one.
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

/// A message to append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Say {
    /// The new entry's id.
    pub id: EntryId,
    /// Its role.
    pub role: Role,
    /// Its author.
    pub author: String,
    /// Its content.
    pub parts: Vec<Part>,
    /// Its flags; the decision sets `detached` and `erased`.
    pub flags: Flags,
    /// Its time.
    pub time: Time,
    /// The usage of a model's answer.
    pub usage: Option<Usage>,
    /// Its id on the platform it came from.
    pub platform_id: Option<String>,
    /// The message of a chat that it comes from.
    pub origin: Option<ChatOrigin>,
    /// The last entry that the author saw: it must be on the path.
    pub seen: Option<Pos>,
    /// For an answer: its turn, and the entry that it answers.
    pub answering: Option<AnswerPlace>,
}

/// The place of an answer, so that a late answer still knows its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerPlace {
    /// The entry that opened the turn; `None` if no turn was open.
    pub turn: Option<Pos>,
    /// The tip when the answer was requested.
    pub tip: Option<Pos>,
}

/// The part of a conversation that is kept in memory: O(stretches + marks + folds).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// Its id.
    pub id: ConversationId,
    /// The tree of its entries.
    pub tree: Tree,
    /// Its current state.
    pub state: State,
    /// The head of that state.
    pub head: Head,
    /// The number of its commits.
    pub revision: Revision,
    /// The undo history at the head.
    pub history: Arc<UndoHistory>,
    /// Running totals at the tip.
    pub totals: Totals,
    /// An operation that this version does not know, if there is one: then nothing may be written.
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

    /// Whether an entry is the new message of the last operation, an edit: the first entry after it.
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

    /// Adds the next entry of the log. The new message of an edit is one step with it.
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

    /// An empty fork of this conversation: its base is the path to `tip` as it is seen here. Entries that are hidden or
    /// dropped here stay out of the fork for ever.
    #[must_use]
    pub fn forked(&self, id: ConversationId, tip: Option<Pos>, totals: Totals) -> Self {
        let pieces = self.state.marks.along(&self.tree.path(tip)).into_iter();
        let visible: Vec<_> = pieces.filter(|(_, mark)| mark.is_visible()).collect();
        let base = Path::from_spans(visible.iter().map(|(span, _)| *span));
        let marks = Marks::from_ranges(visible.into_iter().filter(|(_, mark)| *mark != Mark::Normal));
        // A fold over entries that stay out can never be in force here; any other fold can.
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

    /// Refuses every write if the log contains an operation of a newer version.
    pub fn writable(&self) -> Result<(), Refusal> {
        match &self.unknown {
            Some((op, kind)) => Err(Refusal::ReadOnly { op: *op, kind: kind.clone() }),
            None => Ok(()),
        }
    }

    /// Compares the head with the one that a move's author saw.
    pub fn expect(&self, seen: SeenState) -> Result<(), Refusal> {
        seen.fits(self.head)
    }

    /// Refuses an entry that cannot be a target: unknown, off the path, hidden or dropped.
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

    /// Refuses an entry that is visible on no branch: unknown, hidden or dropped.
    pub fn in_sight(&self, pos: Pos) -> Result<(), Refusal> {
        match self.state.marks.get(pos) {
            _ if !self.tree.knows(pos) => Err(Refusal::UnknownEntry),
            mark if mark.is_visible() => Ok(()),
            mark => Err(Refusal::NotVisible(mark)),
        }
    }

    /// The branch to an entry, as a checkout at this head would show it: its path with the current marks and folds. Only for
    /// reading; entries after this head are on no branch of it.
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

    /// The operation that took an entry off the path, and the head before it. Searches backwards; for error texts.
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

    /// Decides a message: the entry that it becomes.
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
        let entry = Entry {
            meta,
            author: say.author,
            parts,
            usage: say.usage,
            platform_id: say.platform_id,
            origin: say.origin,
        };
        Ok(Commit { entries: vec![entry], ops: Vec::new() })
    }

    /// The entry that a message's author saw may be hidden meanwhile, but not rewound.
    fn visible_or_marked<R: Records>(&self, records: &R, seen: Pos) -> Result<(), R::Error> {
        if self.is_on_path(seen) {
            return Ok(());
        }
        self.visible_on_path(records, seen)
    }

    /// Whether an answer still has its place: the entry that it answers is on the path.
    fn reaches(&self, answering: AnswerPlace) -> bool {
        answering.turn.is_none_or(|turn| self.is_on_path(turn))
            && answering.tip.is_none_or(|tip| self.is_on_path(tip))
    }

    /// The turn of an entry that is appended after `after`. A fork does not know a turn whose opener was hidden.
    pub fn turn_of<R: Records>(&self, records: &R, after: Option<Pos>) -> Result<Option<Pos>, R::Error> {
        let turn = after.map(|after| records.meta(after)).transpose()?.and_then(|meta| meta.turn);
        Ok(turn.filter(|turn| self.tree.knows(*turn)))
    }

    /// Running totals up to an entry, independent of marks.
    pub fn totals_at<R: Records>(&self, records: &R, pos: Option<Pos>) -> Result<Totals, R::Error> {
        match pos {
            None => Ok(Totals::default()),
            Some(pos) if Some(pos) == self.state.tip => Ok(self.totals),
            Some(pos) => Ok(records.meta(pos)?.totals),
        }
    }

    /// The entry with the call of these results: searched backwards through the turn.
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

    /// An operation of this conversation, with its number in the log.
    pub(crate) fn operation(&self, by: &ChangeOrigin, reason: Reason, change: Change) -> Operation {
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
            principal: by.principal.clone(),
            time: by.time,
            request: by.request.clone(),
        }
    }

    /// The commit of one operation.
    pub(crate) fn one(op: Operation) -> Commit {
        Commit { entries: Vec::new(), ops: vec![op] }
    }

    /// The tip at an earlier head, including the entries up to then.
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

    /// Checks that a head existed.
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
