//! What happens to the other hard links of files that a step replaces, for plan and receipt. Must never change
//! anything.

use std::collections::HashSet;

use retake_core::{FileChange, FilePath, FilePlan};
use retake_worktree::{Note as LinkNote, NoteKind, link_notes};

use super::blocking;
use super::note::FolderRemark;
use super::workspace::HeldWorkspace;
use crate::error::Result;

/// What happens to the other hard links of files.
pub(super) async fn of_links(
    held: HeldWorkspace,
    plan: &FilePlan,
) -> Result<(HeldWorkspace, Vec<FolderRemark>)> {
    let linked: HashSet<FilePath> = held.tree.hard_links().into_iter().collect();
    let changes: Vec<FileChange> = plan.changes().cloned().collect();
    if !changes.iter().any(|change| linked.contains(&change.path)) {
        return Ok((held, Vec::new()));
    }
    blocking(move || {
        let notes = link_notes(&held.root, held.tree.to_apply(changes))?;
        let note = |note: LinkNote| FolderRemark::HardLink {
            path: note.path.to_string(),
            all_change: note.kind == NoteKind::LinkParts,
        };
        Ok((held, notes.into_iter().map(note).collect()))
    })
    .await?
}
