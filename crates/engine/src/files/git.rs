//! What calls moved in git: seen around each call, told by plans, taken back by nobody but git (spec `rewind.md`, case 21).
//! Must never write to a repository.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use retake_core::{
    Against, FilePath, FilePlan, GitBack, GitMove, GitWorktree, PathPlan, Record, Verdict, Wish,
};
use retake_store::GitTaken;
use retake_worktree::{GitState, Known, Nested, Objects, reached, same_as_commit};

use super::blocking;
use super::several::{named_in, shown_in};
use super::workspace::Held;
use crate::engine::Engine;
use crate::error::Result;

/// What git has to do with a plan.
#[derive(Debug, Default)]
pub(super) struct GitHalf {
    /// What stays there, a sentence each.
    pub(super) stays: Vec<String>,
    /// Files that are what a call has checked out, and that git brings back.
    pub(super) has: HashSet<FilePath>,
    /// The worktrees that `stays` tells of, by their names as seen from the folder.
    pub(super) worktrees: HashSet<String>,
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

/// What stays of folders in which git keeps something: a sentence each, with the command that removes it where git has one. Of the
/// worktrees with these names something is said already.
pub(super) async fn nested(
    held: Held,
    plan: &FilePlan,
    own: bool,
    told: HashSet<String>,
) -> Result<(Held, Vec<String>)> {
    let of_git = |path: &&PathPlan| path.verdict == Verdict::NotEmpty && path.against == Some(Against::Git);
    let folders: Vec<FilePath> = plan.paths.iter().filter(of_git).map(|path| path.path.clone()).collect();
    if folders.is_empty() {
        return Ok((held, Vec::new()));
    }
    blocking(move || {
        let root = held.root.path();
        let stays = |path: &FilePath| {
            let name = shown_in((!own).then_some(root), path);
            let folder = named_in(Some(root), path);
            let folder = Path::new(OsStr::from_bytes(&folder));
            // For a shell: what a person would have to quote is named by nothing but words.
            let command = |command: &str| match name.bytes().all(|b| b.is_ascii_alphanumeric() || b"/._-".contains(&b)) {
                true => format!("`{command} {name}` removes it"),
                false => format!("`{command}` removes it"),
            };
            Some(match Nested::of(folder)? {
                Nested::Worktree if told.contains(&path.to_string()) => return None,
                Nested::Worktree => format!(
                    "the folder {name} stays, it is a worktree of git: {}, with what is not committed in it",
                    command("git worktree remove --force")
                ),
                Nested::Submodule => {
                    format!("the folder {name} stays, it is a submodule of git: {}", command("git rm -f"))
                }
                Nested::Repository => format!(
                    "the folder {name} stays, it holds a git repository: remove it yourself when nobody needs its commits"
                ),
            })
        };
        let stays = folders.iter().filter_map(stays).collect();
        (held, stays)
    })
    .await
}

impl Engine {
    /// What stays in git where these moves are taken back, and which of the wished paths with it. What was taken back earlier
    /// is told no more, and git still has its files.
    pub(super) async fn git_half(
        &self,
        held: Held,
        taken: Vec<GitTaken>,
        wishes: &[Wish],
    ) -> Result<(Held, GitHalf)> {
        let here: Vec<GitTaken> = taken.into_iter().filter(|taken| taken.workspace == held.no).collect();
        if here.is_empty() {
            return Ok((held, GitHalf::default()));
        }
        let (held, state) = look(held).await?;
        let Some(state) = state else {
            return Ok((held, GitHalf::default()));
        };
        let known = |wish: &Wish| match held.tree.known(&wish.path) {
            Known::Absent => Some((wish.path.clone(), None)),
            Known::Is(record) => Some((wish.path.clone(), Some(record))),
            Known::NotCovered(_) => None,
        };
        let files: Vec<(FilePath, Option<Record>)> = wishes.iter().filter_map(known).collect();
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
            let (stays, worktrees) =
                (back.stays(&had(&back)), back.worktrees_made().map(str::to_owned).collect());
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

/// A worktree by its name as seen from a folder: relative, where it is in it.
fn seen_from(folder: &Path, mut tree: GitWorktree) -> GitWorktree {
    let real = std::fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let below = Path::new(&tree.path).strip_prefix(real).ok().filter(|below| *below != Path::new(""));
    if let Some(below) = below.and_then(Path::to_str) {
        tree.path = below.to_owned();
    }
    tree
}

/// All worktrees of what was moved likewise.
fn seen_from_all(folder: &Path, mut moved: GitMove) -> GitMove {
    for tree in &mut moved.worktrees {
        tree.before = tree.before.take().map(|tree| seen_from(folder, tree));
        tree.after = tree.after.take().map(|tree| seen_from(folder, tree));
    }
    moved
}
