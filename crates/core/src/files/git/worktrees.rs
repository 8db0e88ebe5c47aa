//! What calls did to linked worktrees of a repository, anywhere on disk: reported like branches, with git's command. Must name a
//! worktree before the branch that is checked out in it, because git refuses to remove such a branch.

use std::collections::{BTreeMap, HashSet};

use super::{GitBack, GitMove, GitRemark, GitWorktree, GitWorktreeMove, short};
use crate::shell_word::shell_word;

/// The total moves of linked worktrees, unless somebody has moved these since.
pub(super) fn moved(moves: &[GitMove], there: &BTreeMap<String, GitWorktree>) -> Vec<GitWorktreeMove> {
    let mut moved: Vec<GitWorktreeMove> = Vec::new();
    for next in moves.iter().flat_map(|one| &one.worktrees) {
        match moved.iter_mut().find(|known| known.name == next.name) {
            Some(known) => known.after.clone_from(&next.after),
            None => moved.push(next.clone()),
        }
    }
    moved.retain(|moved| {
        is_same(there.get(&moved.name), moved.after.as_ref())
            && !is_same(moved.before.as_ref(), moved.after.as_ref())
    });
    moved
}

fn is_same(one: Option<&GitWorktree>, other: Option<&GitWorktree>) -> bool {
    match (one, other) {
        (Some(one), Some(other)) => one.is_as(other),
        (one, other) => one.is_none() && other.is_none(),
    }
}

impl GitBack<'_> {
    /// The folder of the linked worktree in which a branch is checked out, after the worktrees were reverted.
    pub(super) fn checked_out(&self, branch: &str) -> Option<&str> {
        self.there.iter().find_map(|(name, tree)| {
            let moved = self.worktrees.iter().find(|moved| moved.name == *name);
            let back = moved.map_or(Some(tree), |moved| moved.before.as_ref())?;
            (back.head.branch.as_deref() == Some(branch)).then_some(back.path.as_str())
        })
    }

    /// The folders of the created worktrees.
    pub fn worktrees_made(&self) -> impl Iterator<Item = &str> {
        let made = self.worktrees.iter().filter(|moved| moved.before.is_none());
        made.filter_map(|moved| moved.after.as_ref()).map(|tree| tree.path.as_str())
    }

    /// The commits that only a created worktree may have a name for.
    pub(super) fn asked_in_worktrees(&self) -> impl Iterator<Item = String> {
        let made = self.worktrees.iter().filter(|moved| moved.before.is_none());
        let detached =
            made.filter_map(|moved| moved.after.as_ref()).filter(|tree| tree.head.branch.is_none());
        detached.filter_map(|tree| tree.head.commit.clone())
    }

    /// The remarks about created or moved worktrees.
    pub(super) fn worktrees_stay(&self, had: &HashSet<String>) -> Vec<GitRemark> {
        let mut told = Vec::new();
        for GitWorktreeMove { name, before, after } in &self.worktrees {
            let Some(after) = after else { continue };
            let folder = after.path.clone();
            let Some(before) = before else {
                let is_only_name = after.head.branch.is_none()
                    && after.head.commit.as_ref().is_some_and(|commit| !had.contains(commit));
                let is_locked = self.there.get(name).is_some_and(|tree| tree.locked);
                let command = typed(&folder).filter(|_| !is_only_name).map(|it| removes(&it, is_locked));
                told.push(GitRemark::WorktreeMade { folder, is_only_name, command });
                continue;
            };
            if before.path != folder {
                let names = typed(&folder).zip(typed(&before.path));
                let command = names.map(|(folder, from)| format!("git worktree move {folder} {from}"));
                let (from, folder) = (before.path.clone(), folder.clone());
                told.push(GitRemark::WorktreeMoved { from, folder, command });
            }
            if let Some(to) = place(before).filter(|_| before.head != after.head) {
                let command = typed(&before.path).map(|folder| format!("git -C {folder} switch {to}"));
                told.push(GitRemark::WorktreeHead { folder, command });
            }
        }
        told
    }

    /// The remarks about removed worktrees, after the branches that they may need.
    pub(super) fn worktrees_gone(&self) -> impl Iterator<Item = GitRemark> {
        let gone = self.worktrees.iter().filter(|moved| moved.after.is_none());
        gone.filter_map(|moved| moved.before.as_ref()).map(|before| {
            let folder = before.path.clone();
            let command = typed(&folder).and_then(|name| match (&before.head.branch, &before.head.commit) {
                (Some(branch), _) => Some(format!("git worktree add {name} {}", shell_word(branch))),
                (None, Some(commit)) => Some(format!("git worktree add --detach {name} {}", short(commit))),
                (None, None) => None,
            });
            GitRemark::WorktreeRemoved { folder, command }
        })
    }
}

/// The command that removes a worktree with its uncommitted changes.
fn removes(name: &str, is_locked: bool) -> String {
    let force = if is_locked { "--force --force" } else { "--force" };
    format!("git worktree remove {force} {name}")
}

/// A path quoted for a shell. None if it is not UTF-8: it is not known completely here, so no command can name it.
fn typed(path: &str) -> Option<String> {
    (!path.contains(char::REPLACEMENT_CHARACTER)).then(|| shell_word(path))
}

/// The place of a worktree's HEAD, in the form for `git switch`.
fn place(tree: &GitWorktree) -> Option<String> {
    match (&tree.head.branch, &tree.head.commit) {
        (Some(branch), _) => Some(shell_word(branch)),
        (None, Some(commit)) => Some(format!("--detach {}", short(commit))),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests;
