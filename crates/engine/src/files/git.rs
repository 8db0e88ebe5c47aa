//! What calls changed in git: observed around each call, shown in plans, and reverted only by git itself (spec `rewind.md`,
//! case 21). Must never write to a repository.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use retake_core::{FilePath, GitBack, GitMove, GitWorktree, Record, WantedPath};
use retake_store::GitTaken;
use retake_worktree::{GitState, KnownPath, Objects, reached, same_as_commit};

use super::blocking;
use super::note::{FolderRemark, Note};
use super::workspace::HeldWorkspace;
use crate::Engine;
use crate::error::Result;

/// The part of a plan that concerns git.
#[derive(Debug, Default)]
pub(super) struct GitHalf {
    /// What stays in git.
    pub(super) stays: Vec<FolderRemark>,
    /// Files that a call's checkout created, and that git brings back.
    pub(super) has: HashSet<FilePath>,
    /// The worktrees that `stays` names, relative to the folder.
    pub(super) worktrees: HashSet<String>,
}

/// Reads the repository of the workspace; none if it cannot be read.
pub(super) async fn look(held: HeldWorkspace) -> Result<(HeldWorkspace, Option<GitState>)> {
    blocking(move || {
        let mut held = held;
        let state = GitState::read(held.root.path(), held.git.as_ref());
        held.git.clone_from(&state);
        (held, state)
    })
    .await
}

impl Engine {
    /// What stays in git when these moves are reverted, and which of the wanted paths stay with it. An earlier reverted move
    /// is not reported again, and git still has its files.
    pub(super) async fn git_half(
        &self,
        held: HeldWorkspace,
        taken: Vec<GitTaken>,
        wanted_paths: &[WantedPath],
    ) -> Result<(HeldWorkspace, GitHalf)> {
        let here: Vec<GitTaken> = taken.into_iter().filter(|taken| taken.workspace == held.no).collect();
        if here.is_empty() {
            return Ok((held, GitHalf::default()));
        }
        let (held, state) = look(held).await?;
        let Some(state) = state else {
            return Ok((held, GitHalf::default()));
        };
        let known = |wanted_path: &WantedPath| match held.tree.known(&wanted_path.path) {
            KnownPath::Absent => Some((wanted_path.path.clone(), None)),
            KnownPath::Is(record) => Some((wanted_path.path.clone(), Some(record))),
            KnownPath::NotCovered(_) => None,
        };
        let files: Vec<(FilePath, Option<Record>)> = wanted_paths.iter().filter_map(known).collect();
        let objects = self.files.objects().await? as Arc<dyn Objects>;
        blocking(move || {
            let folder = held.root.path();
            let (now, refs) = (state.head(), state.refs());
            let there = state.worktrees().iter();
            let there = there.map(|(name, tree)| (name.clone(), seen_from(folder, tree.clone()))).collect();
            let moves = |which: &dyn Fn(&&GitTaken) -> bool| -> Vec<GitMove> {
                here.iter().filter(which).map(|taken| seen_from_all(folder, taken.moved.clone())).collect()
            };
            let had = |back: &GitBack<'_>| reached(folder, &back.tips(), back.asked());
            let back = GitBack::new(&moves(&|taken| !taken.earlier), now, refs, &there);
            let (stays, worktrees) = (
                back.stays(&had(&back)).into_iter().map(FolderRemark::Git).collect(),
                back.worktrees_made().map(str::to_owned).collect(),
            );
            let all = GitBack::new(&moves(&|_| true), now, refs, &there);
            let Some((base, before)) = all.files(&had(&all)) else {
                return (held, GitHalf { stays, has: HashSet::new(), worktrees });
            };
            let same = same_as_commit(folder, (&base, &before), &files, &*objects);
            let has =
                files.into_iter().zip(same).filter(|(_, same)| *same).map(|((path, _), _)| path).collect();
            (held, GitHalf { stays, has, worktrees })
        })
        .await
    }
}

/// What stays, by folder; two folders of one repository are reported once.
pub(super) fn by_folder(mut all: Vec<(Option<PathBuf>, FolderRemark)>) -> Vec<Note> {
    all.sort_by(|(one, _), (other, _)| one.cmp(other));
    let mut said: Vec<FolderRemark> = Vec::new();
    let mut notes = Vec::new();
    for (folder, remark) in all {
        if folder.is_none() || !said.contains(&remark) {
            said.push(remark.clone());
            notes.push(Note::InFolder { folder, remark });
        }
    }
    notes
}

/// A worktree by its name relative to a folder; absolute if it is outside.
fn seen_from(folder: &Path, mut tree: GitWorktree) -> GitWorktree {
    let real = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let below = Path::new(&tree.path).strip_prefix(real).ok().filter(|below| *below != Path::new(""));
    if let Some(below) = below.and_then(Path::to_str) {
        tree.path = below.to_owned();
    }
    tree
}

/// The same for all worktrees of a move.
fn seen_from_all(folder: &Path, mut moved: GitMove) -> GitMove {
    for tree in &mut moved.worktrees {
        tree.before = tree.before.take().map(|tree| seen_from(folder, tree));
        tree.after = tree.after.take().map(|tree| seen_from(folder, tree));
    }
    moved
}
