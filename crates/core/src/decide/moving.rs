//! Moves of the tip: rewind, checkout, restore, alternatives, and the compensation of a move.

use crate::content::Role;
use crate::conversation::{ChangeOrigin, Commit, Conversation, SeenState};
use crate::id::{Head, OpNo, Pos};
use crate::kept::KeptChange;
use crate::op::{Change, Operation, Reason};
use crate::records::Records;
use crate::refusal::Refusal;
use crate::undo_history::{Step, UndoHistory};

impl Conversation {
    /// A move of the tip; an empty commit if it is there already.
    pub(crate) fn move_tip(&self, by: &ChangeOrigin, reason: Reason, after: Option<Pos>) -> Commit {
        if after == self.state.tip {
            return Commit::default();
        }
        Self::one(self.operation(by, reason, Change::Move { before: self.state.tip, after }))
    }

    /// The same, with its change of `kept`; an empty commit if neither changes.
    fn move_keeping(
        &self,
        by: &ChangeOrigin,
        reason: Reason,
        after: Option<Pos>,
        kept: KeptChange,
    ) -> Commit {
        if kept.is_empty() {
            return self.move_tip(by, reason, after);
        }
        let mut op = self.operation(by, reason, Change::Move { before: self.state.tip, after });
        op.kept = self.kept_change(kept);
        Self::one(op)
    }

    /// Moves to just before `target`, which is on the path; for a result, to before its call.
    pub fn rewind<R: Records>(
        &self,
        records: &R,
        by: &ChangeOrigin,
        seen: SeenState,
        target: Pos,
    ) -> Result<Commit, R::Error> {
        self.back_before(records, by, seen, target, Reason::Rewind)
    }

    /// Moves to just before a prompt or an answer, so that another wording can be appended: a sibling.
    pub fn edit<R: Records>(
        &self,
        records: &R,
        by: &ChangeOrigin,
        seen: SeenState,
        target: Pos,
    ) -> Result<Commit, R::Error> {
        self.back_before(records, by, seen, target, Reason::Edit)
    }

    fn back_before<R: Records>(
        &self,
        records: &R,
        by: &ChangeOrigin,
        seen: SeenState,
        target: Pos,
        reason: Reason,
    ) -> Result<Commit, R::Error> {
        self.writable()?;
        self.visible_on_path(records, target)?;
        self.expect(seen)?;
        let opens = records.meta(target)?.opens_turn();
        let before = self.tree.after(target);
        // No call of an earlier turn has its result here.
        let before = if opens { before } else { self.back_to(records, before)? };
        Ok(self.move_tip(by, reason, before))
    }

    /// Moves to the prompt for another answer: the last message of a person at or before `target`. Any entry of an answer names
    /// it, and so does the prompt itself.
    pub fn retry<R: Records>(
        &self,
        records: &R,
        by: &ChangeOrigin,
        seen: SeenState,
        target: Pos,
    ) -> Result<Commit, R::Error> {
        self.writable()?;
        self.visible_on_path(records, target)?;
        self.expect(seen)?;
        let mut prompt = Some(target);
        loop {
            prompt = self.said_by_a_person(records, prompt)?;
            let whole = self.back_to(records, prompt)?;
            if whole == prompt {
                break;
            }
            prompt = whole;
        }
        let prompt = prompt.ok_or(Refusal::NotAnAnswer)?;
        Ok(self.move_tip(by, Reason::Retry, Some(prompt)))
    }

    /// Moves to any entry of the tree: another branch. The results of a call are included.
    pub fn checkout<R: Records>(
        &self,
        records: &R,
        by: &ChangeOrigin,
        seen: SeenState,
        tip: Option<Pos>,
    ) -> Result<Commit, R::Error> {
        self.writable()?;
        self.expect(seen)?;
        if tip.is_some_and(|tip| !self.tree.knows(tip)) {
            return Err(Refusal::UnknownEntry.into());
        }
        let tip = tip.map(|tip| self.end_at(records, tip)).transpose()?;
        Ok(self.move_keeping(by, Reason::Checkout, tip, self.returning(tip)))
    }

    /// Moves to the tip of an earlier head. A call that was running then may have results since: they are included. Marks and
    /// folds stay as they are: a move never shows hidden entries.
    pub fn restore<R: Records>(
        &self,
        records: &R,
        by: &ChangeOrigin,
        seen: SeenState,
        head: Head,
    ) -> Result<Commit, R::Error> {
        self.writable()?;
        self.expect(seen)?;
        let head = self.head_of(records, head)?;
        let tip = self.tip_at(records, head)?.map(|tip| self.end_at(records, tip)).transpose()?;
        Ok(self.move_keeping(by, Reason::Restore(head), tip, self.kept_at(records, head)?))
    }

    /// The last entry of a person on the branch that ends with `tip`.
    fn said_by_a_person<R: Records>(&self, records: &R, tip: Option<Pos>) -> Result<Option<Pos>, R::Error> {
        let mut walk = self.walk_back(records, tip);
        while let Some(meta) = walk.step()? {
            if meta.role == Role::User {
                return Ok(Some(meta.pos));
            }
        }
        Ok(None)
    }

    /// The alternatives of a visible answer, itself included, oldest first: siblings that a model wrote. Empty for a person's
    /// message: the old wording of an edited prompt is history, not an alternative.
    pub fn alternatives<R: Records>(&self, records: &R, pos: Pos) -> Result<Vec<Pos>, R::Error> {
        self.visible_on_path(records, pos)?;
        let mut alternatives = Vec::new();
        for sibling in self.tree.children(self.tree.after(pos)) {
            let meta = records.meta(sibling)?;
            if meta.role == Role::Assistant && !meta.flags.detached && self.mark(sibling).is_visible() {
                alternatives.push(sibling);
            }
        }
        Ok(if alternatives.contains(&pos) { alternatives } else { Vec::new() })
    }

    /// The answer with the alternatives of an entry: the entry itself if it has some, else the first such answer of its turn on
    /// the path. So a prompt names the answers to it, and so does each later entry of an answer.
    pub fn answer_named<R: Records>(&self, records: &R, pos: Pos) -> Result<Pos, R::Error> {
        if self.alternatives(records, pos)?.len() > 1 {
            return Ok(pos);
        }
        let turn = self.turn_part(records, records.meta(pos)?.totals.turns)?;
        let siblings = self.tree.siblings().into_iter();
        let mut answers: Vec<Pos> =
            siblings.filter_map(|group| group.into_iter().find(|pos| turn.contains(*pos))).collect();
        answers.sort_unstable();
        for answer in answers.into_iter().filter(|answer| self.mark(*answer).is_visible()) {
            if self.alternatives(records, answer)?.len() > 1 {
                return Ok(answer);
            }
        }
        Ok(pos)
    }

    /// Moves to the latest leaf of alternative `number` (from 1) of a visible answer.
    pub fn choose<R: Records>(
        &self,
        records: &R,
        by: &ChangeOrigin,
        seen: SeenState,
        pos: Pos,
        number: usize,
    ) -> Result<Commit, R::Error> {
        self.writable()?;
        let alternatives = self.alternatives(records, pos)?;
        self.expect(seen)?;
        if alternatives.is_empty() {
            return Err(Refusal::NotAnAnswer.into());
        }
        let count = alternatives.len();
        let chosen = number.checked_sub(1).and_then(|index| alternatives.get(index));
        let chosen = *chosen.ok_or(Refusal::NoSuchAlternative { wanted: number, count })?;
        if self.is_on_path(chosen) {
            return Ok(Commit::default());
        }
        let tip = Some(self.tree.latest_leaf(chosen));
        Ok(self.move_keeping(by, Reason::Choose, tip, self.returning(tip)))
    }

    /// Compensates a turn or a move without a result: the undo history does not contain it.
    pub fn compensate<R: Records>(
        &self,
        records: &R,
        by: &ChangeOrigin,
        step: Step,
    ) -> Result<Commit, R::Error> {
        self.writable()?;
        let tip = self.state.tip;
        let back = match step {
            Step::Turn(opener) => {
                (tip == Some(opener)).then(|| (self.tree.after(opener), KeptChange::default()))
            }
            Step::Op(no) => match records.op(no)? {
                op @ Operation { change: Change::Move { before, after }, .. }
                    if op.reason.traits().is_step =>
                {
                    // For an edit, the new message is included.
                    let words = Pos::new(self.tree.depth(), op.at.0 + 1);
                    let reworded =
                        op.is_reworded_by(words) && tip == Some(words) && self.tree.after(words) == after;
                    (tip == after || reworded).then(|| (before, op.kept.inverse()))
                }
                op => return self.compensate_last(records, by, op),
            },
        };
        let (back, kept) = back.ok_or(Refusal::Overtaken)?;
        if !self.moved_last(records, step)? {
            return Err(Refusal::Overtaken.into());
        }
        let mut op = self.operation(by, Reason::Compensate(step), Change::Move { before: tip, after: back });
        op.kept = self.kept_change(kept);
        op.history_after = if self.next_undo(records)? == Some(step) {
            let before = self.history_before(records, step)?;
            UndoHistory { void: self.history.void.clone(), ..before }
        } else {
            let mut history = (*self.history).clone();
            history.void.push(step);
            history
        };
        Ok(Self::one(op))
    }

    /// Compensates an operation that moved no tip, or an undo or a redo, which are no steps. Only possible while nothing was done
    /// since; reverts everything of the same commit.
    fn compensate_last<R: Records>(
        &self,
        records: &R,
        by: &ChangeOrigin,
        op: Operation,
    ) -> Result<Commit, R::Error> {
        if self.head.op != op.no || self.head.seq != op.at {
            return Err(Refusal::Overtaken.into());
        }
        let (mut commit, mut now, revision) = (Commit::default(), self.clone(), op.revision);
        let (mut by, mut next) = (by.clone(), Some(op));
        while let Some(op) = next.filter(|op| op.revision == revision) {
            let (back, kept) = op.inverse(now.state.tip).ok_or(Refusal::Overtaken)?;
            let mut back = now.operation(&by, Reason::Compensate(Step::Op(op.no)), back);
            back.kept = now.kept_change(kept);
            back.history_after = UndoHistory { void: self.history.void.clone(), ..op.history_before };
            back.revision = self.revision.next();
            now = now.after(records, &Self::one(back.clone()))?;
            commit.ops.push(back);
            by.request = None;
            next = op.no.0.checked_sub(1).filter(|no| *no > 0).map(|no| records.op(OpNo(no))).transpose()?;
        }
        Ok(commit)
    }

    /// A restore of files alone, for this reason.
    pub fn files(&self, by: &ChangeOrigin, seen: SeenState, reason: Reason) -> Result<Commit, Refusal> {
        self.writable()?;
        self.expect(seen)?;
        Ok(Self::one(self.operation(by, reason, Change::Files)))
    }

    /// Whether a step is done and nothing after it moved the tip: an equal tip alone may come from another step.
    fn moved_last<R: Records>(&self, records: &R, step: Step) -> Result<bool, R::Error> {
        let mut next = self.history.done;
        while let Some(done) = next {
            let void = self.history.void.contains(&done);
            if done == step {
                return Ok(!void);
            }
            if !void && self.is_move(records, done)? {
                return Ok(false);
            }
            next = self.history_before(records, done)?.done;
        }
        Ok(false)
    }

    fn is_move<R: Records>(&self, records: &R, step: Step) -> Result<bool, R::Error> {
        match step {
            Step::Turn(_) => Ok(true),
            Step::Op(no) => Ok(matches!(records.op(no)?.change, Change::Move { .. })),
        }
    }
}
