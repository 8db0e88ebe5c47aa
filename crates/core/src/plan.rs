//! Plans: what an operation would do, computed without doing it. A pure read.

use crate::content::Role;
use crate::conversation::{Commit, Conversation};
use crate::entry::Totals;
use crate::fold::FoldId;
use crate::id::{Head, Pos};
use crate::op::{Change, Operation, Reason};
use crate::path::Path;
use crate::reading::{difference, marked};
use crate::records::Records;
use crate::undo_history::Step;

/// The effect of a commit on the conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// The head that it was made from: applying it expects exactly this one.
    pub head: Head,
    /// The entries that leave the timeline.
    pub gone: Path,
    /// Their totals.
    pub taken_back: Totals,
    /// The entries that come into the timeline.
    pub came: Path,
    /// Their totals.
    pub brought_back: Totals,
    /// Folds that are no longer in force.
    pub lifted: Vec<FoldId>,
    /// Folds that come into force: a new one, or one that comes back.
    pub in_force: Vec<FoldId>,
    /// The entry whose text returns to the composer: a person's message, if the tip moves to just before it.
    pub composer: Option<Pos>,
}

impl Conversation {
    /// The effect of `commit`, which was decided from this conversation.
    pub fn plan<R: Records>(&self, records: &R, commit: &Commit) -> Result<Plan, R::Error> {
        let after = self.after(records, commit)?;
        let change = match commit.ops.as_slice() {
            [Operation { change: Change::Mark(changes), .. }] => marked(self, &after, changes),
            _ => difference(self, &after),
        };
        Ok(Plan {
            head: self.head,
            taken_back: self.visible_totals(records, &change.gone)?,
            brought_back: after.visible_totals(records, &change.came)?,
            composer: self.composer(records, commit)?,
            gone: change.gone,
            came: change.came,
            lifted: change.lifted,
            in_force: change.in_force,
        })
    }

    /// The entry whose text a commit returns to the composer. It is the first one that the commit's rewind,
    /// edit, undo or redo takes off the path, if it is a person's and visible.
    pub fn composer<R: Records>(&self, records: &R, commit: &Commit) -> Result<Option<Pos>, R::Error> {
        let Some((op, earlier)) = commit.ops.split_last() else {
            return Ok(None);
        };
        let returns = matches!(
            op.reason,
            Reason::Rewind | Reason::Edit | Reason::Undo(_) | Reason::Redo(_) | Reason::Compensate(_)
        );
        let (true, Change::Move { before, after }) = (returns, &op.change) else {
            return Ok(None);
        };
        let after = match op.reason {
            // The new message of a compensated edit returns, although the old one is there again.
            Reason::Compensate(Step::Op(no)) => match records.op(no)? {
                edit if edit.reason == Reason::Edit => edit.tip,
                _ => *after,
            },
            _ => *after,
        };
        let came_from_there = after.is_none_or(|after| self.tree.is_on_path(after, *before));
        let taken_back = self.tree.path(*before).behind(after);
        let Some(first) = taken_back.first().filter(|_| came_from_there) else {
            return Ok(None);
        };
        // The last of several steps counts: earlier ones may have shown or hidden the text.
        let mut state = self.state.clone();
        earlier.iter().for_each(|op| state.follow(op));
        let meta = records.meta(first)?;
        let said = meta.role == Role::User && !meta.flags.synthetic;
        Ok((said && state.marks.get(first).is_visible()).then_some(first))
    }
}
