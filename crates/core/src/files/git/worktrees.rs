//! What calls did to linked worktrees of a repository, anywhere on the disk: told like branches, with git's command. Must name a
//! worktree before the branch that is checked out in it, as git refuses to remove such a branch.

use std::collections::{BTreeMap, HashSet};

use super::{GitBack, GitMove, GitWorktree, GitWorktreeMove, quoted, short};

/// What these moves did to linked worktrees in the end, where nobody has gone on since.
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
    /// The folder of the linked worktree in which a branch is checked out, once what stays of worktrees has been taken back.
    pub(super) fn checked_out(&self, branch: &str) -> Option<&str> {
        self.there.iter().find_map(|(name, tree)| {
            let moved = self.worktrees.iter().find(|moved| moved.name == *name);
            let back = moved.map_or(Some(tree), |moved| moved.before.as_ref())?;
            (back.head.branch.as_deref() == Some(branch)).then_some(back.path.as_str())
        })
    }

    /// The folders of the worktrees that were made.
    pub fn worktrees_made(&self) -> impl Iterator<Item = &str> {
        let made = self.worktrees.iter().filter(|moved| moved.before.is_none());
        made.filter_map(|moved| moved.after.as_ref()).map(|tree| tree.path.as_str())
    }

    /// The commits that only a worktree that was made may lead to.
    pub(super) fn asked_in_worktrees(&self) -> impl Iterator<Item = String> {
        let made = self.worktrees.iter().filter(|moved| moved.before.is_none());
        let detached =
            made.filter_map(|moved| moved.after.as_ref()).filter(|tree| tree.head.branch.is_none());
        detached.filter_map(|tree| tree.head.commit.clone())
    }

    /// What stays of worktrees that were made or moved: a sentence each.
    pub(super) fn worktrees_stay(&self, had: &HashSet<String>) -> Vec<String> {
        let mut told = Vec::new();
        for GitWorktreeMove { name, before, after } in &self.worktrees {
            let Some(after) = after else { continue };
            let force = match self.there.get(name).is_some_and(|tree| tree.locked) {
                true => "--force --force",
                false => "--force",
            };
            let path = &after.path;
            let Some(before) = before else {
                let is_only_name = after.head.branch.is_none()
                    && after.head.commit.as_ref().is_some_and(|commit| !had.contains(commit));
                told.push(if is_only_name { with_commits(path) } else { made(path, force) });
                continue;
            };
            if before.path != *path {
                told.push(format!(
                    "the worktree {} stays at {path}, where a command moved it: `git worktree move {} {}` goes back",
                    before.path,
                    quoted(path),
                    quoted(&before.path),
                ));
            }
            if let Some(to) = place(before).filter(|_| before.head != after.head) {
                told.push(format!(
                    "the worktree {path} stays where a command put its HEAD: `git -C {} switch {to}` goes back",
                    quoted(&before.path),
                ));
            }
        }
        told
    }

    /// What stays away of worktrees that were removed: a sentence each, after the branches that they may need.
    pub(super) fn worktrees_gone(&self) -> impl Iterator<Item = String> {
        let gone = self.worktrees.iter().filter(|moved| moved.after.is_none());
        gone.filter_map(|moved| moved.before.as_ref()).map(|before| {
            let (path, name) = (&before.path, quoted(&before.path));
            let how = match (&before.head.branch, &before.head.commit) {
                (Some(branch), _) => format!(": `git worktree add {name} {}` brings it back", quoted(branch)),
                (None, Some(commit)) => {
                    format!(": `git worktree add --detach {name} {}` brings it back", short(commit))
                }
                (None, None) => return format!("the worktree {path} stays away, which a command removed"),
            };
            format!("the worktree {path} stays away, which a command removed{how}, with what was committed")
        })
    }
}

/// A worktree that a command made, with the command that removes it.
fn made(path: &str, force: &str) -> String {
    // A name that is no text can't be typed.
    let name = if path.contains(char::REPLACEMENT_CHARACTER) { "PATH".to_owned() } else { quoted(path) };
    format!(
        "the folder {path} stays, it is a worktree of git: `git worktree remove {force} {name}` removes it, with what is \
         not committed in it"
    )
}

/// A worktree whose HEAD may be the only name of its commits.
fn with_commits(path: &str) -> String {
    format!(
        "the folder {path} stays, it is a worktree of git with commits that no branch has: remove it yourself when nobody \
         needs them"
    )
}

/// Where HEAD was in a worktree, as `git switch` takes it.
fn place(tree: &GitWorktree) -> Option<String> {
    match (&tree.head.branch, &tree.head.commit) {
        (Some(branch), _) => Some(quoted(branch)),
        (None, Some(commit)) => Some(format!("--detach {}", short(commit))),
        (None, None) => None,
    }
}

#[cfg(test)]
mod tests;
