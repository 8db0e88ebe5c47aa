//! From a typed action to core's decision: ids become positions, the rest is core's.

use retake_core::{
    Action, Apply, By, Commit, EntryId, FoldRequest, LabelTarget, MarkRequest, Pos, Projection, Scope, Seen,
    Targets,
};

use super::files::{has_changes, undecided_files};
use super::load::Loaded;
use crate::error::{Result, StoreError};
use crate::rows::Rows;

/// The position of an entry in a conversation.
pub(crate) fn locate<R: Rows>(rows: &R, loaded: &Loaded, id: EntryId) -> Result<Pos> {
    let key = rows.entry_by_id(loaded.row.root, id)?.ok_or(StoreError::UnknownEntry { id })?;
    match loaded.pos(key) {
        Some(pos) => Ok(pos),
        None => Err(StoreError::ForeignEntry { id, conversation: rows.log(key.log)?.id }),
    }
}

/// What an action becomes. `Erase` is not decided here: it reaches beyond the conversation.
pub(crate) fn decide<R: Rows>(rows: &R, loaded: &Loaded, apply: &Apply) -> Result<Commit> {
    let Apply { action, seen, by } = apply;
    let (conversation, records) = (&loaded.conversation, &loaded.records(rows));
    let at = |id: &EntryId| locate(rows, loaded, *id);
    match action {
        Action::Rewind(id) => conversation.rewind(records, by, *seen, at(id)?),
        Action::Edit(id) => conversation.edit(records, by, *seen, at(id)?),
        Action::Retry(id) => conversation.retry(records, by, *seen, at(id)?),
        Action::Undo(count) => conversation.undo(records, by, *seen, *count),
        Action::Redo(count) => conversation.redo(records, by, *seen, *count),
        Action::Restore(head) => conversation.restore(records, by, *seen, *head),
        Action::Checkout(id) => {
            let tip = id.as_ref().map(at).transpose()?;
            conversation.checkout(records, by, *seen, tip)
        }
        Action::Choose(id, number) => conversation.choose(records, by, *seen, at(id)?, *number),
        Action::Compensate(step) => conversation.compensate(records, by, *step),
        Action::Mark { verb, entries, range, seen } => {
            let positions = entries.iter().map(at).collect::<Result<Vec<_>>>()?;
            let targets = match (range, positions.as_slice()) {
                (true, [from, to]) => Targets::Range(*from, *to),
                _ => Targets::Entries(positions),
            };
            conversation.mark_entries(records, by, &MarkRequest { verb: *verb, targets, seen: *seen })
        }
        Action::Fold { verb, from, to, summary, covers } => {
            let (from, to) = (at(from)?, at(to)?);
            let (summary, covers) = (summary.clone(), covers.clone());
            conversation.fold(records, by, &FoldRequest { verb: *verb, from, to, summary, covers })
        }
        Action::Half(scope, action) => {
            let whole = Apply { action: (**action).clone(), seen: *seen, by: by.clone() };
            let commit = decide(rows, loaded, &whole)?;
            // Where no call has ever changed a file, there is nothing to keep.
            match *scope == Scope::Files || has_changes(rows, loaded)? {
                true => conversation.one_half(records, by, (*scope, &undecided_files(rows, loaded)?), commit),
                false => Ok(commit),
            }
        }
        Action::Files(reason) => Ok(conversation.files(by, *seen, *reason)?),
        Action::Unfold(fold) => Ok(conversation.unfold(by, *fold)?),
        Action::Label(entry, name) => {
            let target = entry.as_ref().map(at).transpose()?.map_or(LabelTarget::Title, LabelTarget::Entry);
            Ok(conversation.label(by, target, name.as_deref())?)
        }
        Action::Erase { entries, .. } => {
            let entries = entries.iter().map(at).collect::<Result<Vec<_>>>()?;
            Ok(conversation.erase(by, entries)?)
        }
    }
}

/// The plan of an action, made by nobody in particular.
pub(crate) fn undecided(action: Action) -> Apply {
    Apply { action, seen: Seen::Anything, by: By::default() }
}

/// Whether an entry is in a reading.
pub(crate) fn shows(loaded: &Loaded, projection: Projection, pos: Pos) -> bool {
    let conversation = &loaded.conversation;
    let visible = conversation.is_on_path(pos) && conversation.mark(pos).is_visible();
    visible && (projection != Projection::Prompt || conversation.mark(pos) == retake_core::Mark::Normal)
}
