//! Undo and redo: a step back or forward in the undo history, each an operation of its own.

use crate::content::Part;
use crate::conversation::{ChangeOrigin, Commit, Conversation, SeenState};
use crate::entry::Meta;
use crate::fold::FoldId;
use crate::id::{OpNo, Pos};
use crate::kept::KeptChange;
use crate::op::{Change, Operation, Reason};
use crate::path::Span;
use crate::records::Records;
use crate::refusal::Refusal;
use crate::undo_history::{Step, UndoHistory};

/// One step back or forward, if there is one.
type StepOne<R> =
    fn(&Conversation, &Pending<'_, R>, &ChangeOrigin) -> Result<Option<Operation>, <R as Records>::Error>;

/// The rows, with the operations that the same commit will add.
struct Pending<'a, R> {
    records: &'a R,
    ops: &'a [Operation],
}

impl<R: Records> Records for Pending<'_, R> {
    type Error = R::Error;

    fn meta(&self, pos: Pos) -> Result<Meta, R::Error> {
        self.records.meta(pos)
    }

    fn metas(&self, span: Span) -> Result<Vec<Meta>, R::Error> {
        self.records.metas(span)
    }

    fn parts(&self, pos: Pos) -> Result<Vec<Part>, R::Error> {
        self.records.parts(pos)
    }

    fn op(&self, no: OpNo) -> Result<Operation, R::Error> {
        let first = self.ops.first().map_or(no.next(), |op| op.no);
        let pending = no.0.checked_sub(first.0).and_then(|at| self.ops.get(usize::try_from(at).ok()?));
        pending.map_or_else(|| self.records.op(no), |op| Ok(op.clone()))
    }

    fn summary(&self, fold: FoldId) -> Result<Option<String>, R::Error> {
        self.records.summary(fold)
    }

    fn last_opener(&self, span: Span) -> Result<Option<Pos>, R::Error> {
        self.records.last_opener(span)
    }

    fn atoms(&self, span: Span) -> Result<Vec<(Pos, Pos)>, R::Error> {
        self.records.atoms(span)
    }
}

impl Conversation {
    /// Undoes the last `count` steps, at least one, limited to the beginning.
    pub fn undo<R: Records>(
        &self,
        records: &R,
        by: &ChangeOrigin,
        seen: SeenState,
        count: usize,
    ) -> Result<Commit, R::Error> {
        let one: StepOne<R> = |now, records, by| now.undo_one(records, by);
        self.repeat(records, by, seen, count, one)?.ok_or_else(|| Refusal::NothingToUndo.into())
    }

    /// Redoes the last `count` undone steps, at least one, limited to the last.
    pub fn redo<R: Records>(
        &self,
        records: &R,
        by: &ChangeOrigin,
        seen: SeenState,
        count: usize,
    ) -> Result<Commit, R::Error> {
        let one: StepOne<R> = |now, records, by| now.redo_one(records, by);
        self.repeat(records, by, seen, count, one)?.ok_or_else(|| Refusal::NothingToRedo.into())
    }

    /// Up to `count` steps in one commit; `None` if not even one is possible.
    fn repeat<R: Records>(
        &self,
        records: &R,
        by: &ChangeOrigin,
        seen: SeenState,
        count: usize,
        one: StepOne<R>,
    ) -> Result<Option<Commit>, R::Error> {
        self.writable()?;
        self.expect(seen)?;
        let mut commit = Commit::default();
        let mut now = self.clone();
        let mut by = by.clone();
        while commit.ops.len() < count.max(1)
            && let Some(op) = one(&now, &Pending { records, ops: &commit.ops }, &by)?
        {
            let op = Operation { revision: self.revision.next(), ..op };
            now = now.after(records, &Self::one(op.clone()))?;
            commit.ops.push(op);
            by.request = None;
        }
        Ok((!commit.is_empty()).then_some(commit))
    }

    fn undo_one<R: Records>(&self, records: &R, by: &ChangeOrigin) -> Result<Option<Operation>, R::Error> {
        let Some(step) = self.next_undo(records)? else { return Ok(None) };
        let tip = self.state.tip;
        let change = match step {
            Step::Turn(opener) => {
                let change = Change::Move { before: tip, after: self.tree.after(opener) };
                Some((change, KeptChange::default()))
            }
            Step::Op(no) => records.op(no)?.inverse(tip),
        };
        let Some((change, kept)) = change else {
            return Ok(None);
        };
        let mut op = self.operation(by, Reason::Undo(step), change);
        op.kept = self.kept_change(kept);
        let done = self.history_before(records, step)?.done;
        // Passed-over steps stay void: a redo puts this step on top of them again.
        op.history_after = UndoHistory { done, undone: Some(op.no), void: self.history.void.clone() };
        Ok(Some(op))
    }

    /// The next step to undo: the last one that was not compensated.
    pub fn next_undo<R: Records>(&self, records: &R) -> Result<Option<Step>, R::Error> {
        let mut next = self.history.done;
        while let Some(step) = next
            && self.history.void.contains(&step)
        {
            next = self.history_before(records, step)?.done;
        }
        Ok(next)
    }

    fn redo_one<R: Records>(&self, records: &R, by: &ChangeOrigin) -> Result<Option<Operation>, R::Error> {
        let Some(undone) = self.history.undone else {
            return Ok(None);
        };
        let undone = records.op(undone)?;
        let (Reason::Undo(step), Some((change, kept))) = (undone.reason, undone.inverse(self.state.tip))
        else {
            return Ok(None);
        };
        let mut op = self.operation(by, Reason::Redo(step), change);
        op.kept = self.kept_change(kept);
        let void = self.history.void.clone();
        op.history_after = UndoHistory { done: Some(step), undone: undone.history_before.undone, void };
        Ok(Some(op))
    }

    /// The undo history just before a step was made.
    pub(crate) fn history_before<R: Records>(
        &self,
        records: &R,
        step: Step,
    ) -> Result<UndoHistory, R::Error> {
        match step {
            Step::Op(no) => Ok(records.op(no)?.history_before),
            Step::Turn(opener) => self.history_at(records, opener.seq - 1),
        }
    }

    /// The undo history when the own log's last entry was `seq` and the next entry was about to be appended.
    pub fn history_at<R: Records>(&self, records: &R, seq: u64) -> Result<UndoHistory, R::Error> {
        let last = self.last_op_at(records, seq)?;
        let (history, from) = match &last {
            Some(op) => (op.history_after.clone(), op.at.0),
            None => (UndoHistory::default(), 0),
        };
        if self.tree.last_attached(from, seq).is_none() {
            return Ok(history);
        }
        let opener = records.last_opener(Span::new(self.tree.depth(), from + 1, seq))?;
        Ok(match opener {
            Some(pos) if !last.is_some_and(|op| op.is_reworded_by(pos)) => {
                history.did(Step::Turn(Pos::new(self.tree.depth(), pos.seq)))
            }
            _ => history.said(),
        })
    }

    /// The last operation made while the own log's last entry was `seq` or an earlier one. O(log operations).
    pub fn last_op_at<R: Records>(&self, records: &R, seq: u64) -> Result<Option<Operation>, R::Error> {
        let (mut low, mut high) = (0, self.head.op.0);
        let mut found = None;
        while low < high {
            let middle = (low + high).div_ceil(2);
            let op = records.op(OpNo(middle))?;
            if op.at.0 <= seq {
                (low, found) = (middle, Some(op));
            } else {
                high = middle - 1;
            }
        }
        Ok(found)
    }
}
