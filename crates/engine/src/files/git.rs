//! What calls moved in git: seen around each call, told by plans, taken back by nobody but git (spec `rewind.md`, case 21).
//! Must never write to a repository.

use std::collections::HashSet;
use std::sync::Arc;

use retake_core::{FilePath, GitMove, Record, Wish, git_stays, head_before};
use retake_store::WorkspaceNo;
use retake_worktree::{GitState, Known, Objects, same_as_head};

use super::blocking;
use super::workspace::Held;
use crate::engine::Engine;
use crate::error::Result;

/// What git has to do with a plan.
#[derive(Debug, Default)]
pub(super) struct GitHalf {
    /// What stays there, a sentence each.
    pub(super) stays: Vec<String>,
    /// Files that are what a call has made HEAD have.
    pub(super) has: HashSet<FilePath>,
}

/// Looks at the repository that the workspace is in; nothing, when it can't be read.
pub(super) async fn look(held: Held) -> Result<(Held, Option<GitState>)> {
    blocking(move || {
        let mut held = held;
        let state = GitState::read(held.root.path(), held.git.as_ref());
        held.git.clone_from(&state);
        (held, state)
    })
    .await
}

impl Engine {
    /// What stays in git where these moves are taken back, and which of the wished paths with it.
    pub(super) async fn git_half(
        &self,
        held: Held,
        moves: Vec<(WorkspaceNo, GitMove)>,
        wishes: &[Wish],
    ) -> Result<(Held, GitHalf)> {
        let here = moves.into_iter().filter(|(no, _)| *no == held.no);
        let moves: Vec<GitMove> = here.map(|(_, moved)| moved).collect();
        if moves.is_empty() {
            return Ok((held, GitHalf::default()));
        }
        let (held, state) = look(held).await?;
        let Some(now) = state.map(|state| state.head().clone()) else {
            return Ok((held, GitHalf::default()));
        };
        let stays = git_stays(&moves, &now);
        let Some(before) = head_before(&moves, &now) else {
            return Ok((held, GitHalf { stays, has: HashSet::new() }));
        };
        let known = |wish: &Wish| match held.tree.known(&wish.path) {
            Known::Absent => Some((wish.path.clone(), None)),
            Known::Is(record) => Some((wish.path.clone(), Some(record))),
            Known::NotCovered(_) => None,
        };
        let files: Vec<(FilePath, Option<Record>)> = wishes.iter().filter_map(known).collect();
        let objects = self.files.objects().await? as Arc<dyn Objects>;
        blocking(move || {
            let same = same_as_head(held.root.path(), &before, &files, &*objects);
            let has =
                files.into_iter().zip(same).filter(|(_, same)| *same).map(|((path, _), _)| path).collect();
            (held, GitHalf { stays, has })
        })
        .await
    }
}
