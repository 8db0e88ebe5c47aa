//! What becomes of the other names of files that a step replaces: plan and receipt say it. Must never change anything.

use std::collections::HashSet;

use retake_core::{FileChange, FilePath, FilePlan};
use retake_worktree::{NoteKind, link_notes};

use super::blocking;
use super::workspace::Held;
use crate::error::Result;

/// What becomes of the other names of files, a sentence each.
pub(super) async fn of_links(held: Held, plan: &FilePlan) -> Result<(Held, Vec<String>)> {
    let linked: HashSet<FilePath> = held.tree.hard_links().into_iter().collect();
    let changes: Vec<FileChange> = plan.changes().cloned().collect();
    if !changes.iter().any(|change| linked.contains(&change.path)) {
        return Ok((held, Vec::new()));
    }
    blocking(move || {
        let notes = link_notes(&held.root, held.tree.to_apply(changes))?;
        let said = notes.into_iter().map(|note| {
            let what = match note.kind {
                NoteKind::LinkBreaks => "its other names stay as they are",
                NoteKind::LinkParts => "its names become separate files",
            };
            format!("{} is a hard link: {what}", note.path)
        });
        Ok((held, said.collect()))
    })
    .await?
}
