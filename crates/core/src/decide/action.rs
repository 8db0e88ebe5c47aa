//! Dispatches an action to the decision of its verb.

use crate::conversation::{Commit, Conversation};
use crate::decide::{FoldRequest, MarkRequest, Targets};
use crate::id::{EntryId, Pos};
use crate::kept::Undecided;
use crate::op::LabelTarget;
use crate::records::Records;
use crate::request::{Action, Apply};

impl Conversation {
    /// The commit of an action. `at` finds the position of an entry. The store handles an erasure beyond this conversation. For
    /// an action on one half, no earlier step has left anything undecided.
    pub fn decide<R: Records>(
        &self,
        records: &R,
        apply: &Apply,
        at: &dyn Fn(EntryId) -> Result<Pos, R::Error>,
    ) -> Result<Commit, R::Error> {
        let Apply { action, seen, by } = apply;
        match action {
            Action::Rewind(id) => self.rewind(records, by, *seen, at(*id)?),
            Action::Edit(id) => self.edit(records, by, *seen, at(*id)?),
            Action::Retry(id) => self.retry(records, by, *seen, at(*id)?),
            Action::Undo(count) => self.undo(records, by, *seen, *count),
            Action::Redo(count) => self.redo(records, by, *seen, *count),
            Action::Restore(head) => self.restore(records, by, *seen, *head),
            Action::Checkout(id) => self.checkout(records, by, *seen, id.map(at).transpose()?),
            Action::Choose(id, number) => self.choose(records, by, *seen, at(*id)?, *number),
            Action::Compensate(step) => self.compensate(records, by, *step),
            Action::Mark { verb, entries, range, seen } => {
                let positions = entries.iter().map(|id| at(*id)).collect::<Result<Vec<_>, _>>()?;
                let targets = match (range, positions.as_slice()) {
                    (true, [from, to]) => Targets::Range(*from, *to),
                    _ => Targets::Entries(positions),
                };
                self.mark_entries(records, by, &MarkRequest { verb: *verb, targets, seen: *seen })
            }
            Action::Fold { verb, from, to, summary, covers } => {
                let (from, to) = (at(*from)?, at(*to)?);
                let (summary, covers) = (summary.clone(), covers.clone());
                self.fold(records, by, &FoldRequest { verb: *verb, from, to, summary, covers })
            }
            Action::Half(scope, action) => {
                let whole = Apply { action: (**action).clone(), seen: *seen, by: by.clone() };
                let commit = self.decide(records, &whole, at)?;
                self.one_half(records, by, (*scope, &Undecided::default()), commit)
            }
            Action::Files(reason) => Ok(self.files(by, *seen, *reason)?),
            Action::Unfold(fold) => Ok(self.unfold(by, *fold)?),
            Action::Label(entry, name) => {
                let target = entry.map(at).transpose()?.map_or(LabelTarget::Title, LabelTarget::Entry);
                Ok(self.label(by, target, name.as_deref())?)
            }
            Action::Erase { entries, .. } => {
                let entries = entries.iter().map(|id| at(*id)).collect::<Result<Vec<_>, _>>()?;
                Ok(self.erase(by, entries)?)
            }
        }
    }
}
