//! Converts an action for core's decision: ids become positions, and core decides.

use retake_core::{Action, Apply, ChangeOrigin, Commit, EntryId, Pos, Projection, Scope, SeenState};

use super::files::{has_changes, undecided_files};
use super::load::Loaded;
use crate::error::{Result, StoreError};
use crate::rows::Rows;

/// The position of an entry in a conversation.
pub(crate) fn locate(rows: &dyn Rows, loaded: &Loaded, id: EntryId) -> Result<Pos> {
    let key = rows.entry_by_id(loaded.row.root, id)?.ok_or(StoreError::UnknownEntry { id })?;
    match loaded.pos(key) {
        Some(pos) => Ok(pos),
        None => Err(StoreError::ForeignEntry { id, conversation: rows.log(key.log)?.id }),
    }
}

/// The commit for an action. `Erase` is not decided here: it reaches beyond the conversation.
pub(crate) fn decide(rows: &dyn Rows, loaded: &Loaded, apply: &Apply) -> Result<Commit> {
    let Apply { action, seen, by } = apply;
    let (conversation, records) = (&loaded.conversation, &loaded.records(rows));
    let Action::Half(scope, action) = action else {
        return conversation.decide(records, apply, &|id| locate(rows, loaded, id));
    };
    let whole = Apply { action: (**action).clone(), seen: *seen, by: by.clone() };
    let commit = decide(rows, loaded, &whole)?;
    // Without a file change by any call, there is nothing to keep.
    match *scope == Scope::Files || has_changes(rows, loaded)? {
        true => conversation.one_half(records, by, (*scope, &undecided_files(rows, loaded)?), commit),
        false => Ok(commit),
    }
}

/// An action for a plan, without a real author.
pub(crate) fn undecided(action: Action) -> Apply {
    Apply { action, seen: SeenState::Anything, by: ChangeOrigin::default() }
}

/// Whether an entry is in a projection.
pub(crate) fn shows(loaded: &Loaded, projection: Projection, pos: Pos) -> bool {
    let conversation = &loaded.conversation;
    let visible = conversation.is_on_path(pos) && conversation.mark(pos).is_visible();
    visible && (projection != Projection::Prompt || conversation.mark(pos) == retake_core::Mark::Normal)
}
