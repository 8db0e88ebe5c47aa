//! Folders of a plan that contain a git repository: they stay. If a call moved one, it stays completely, and the remark names the
//! command that moves it back: the repository may be the person's. Must never write to a repository.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use retake_core::{BlockingAuthor, FilePath, FilePlan, GitRemark, PathPlan, Record, Verdict, shell_word};
use retake_worktree::Nested;

use super::blocking;
use super::conversation_folders::{named_in, shown_in};
use super::note::FolderRemark;
use super::workspace::HeldWorkspace;
use crate::error::Result;

/// A folder with its repository, and where it was before a call moved it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Moved {
    from: FilePath,
    to: FilePath,
}

/// The folders of a plan that contain a repository and that calls have moved.
pub(super) async fn moved(held: HeldWorkspace, plan: &FilePlan) -> Result<(HeldWorkspace, Vec<Moved>)> {
    let came = |to: FilePath| match source_folder(plan, &to) {
        Some((from, true)) => Some(Moved { from, to }),
        _ => None,
    };
    let mut all: Vec<Moved> = of_git(plan).filter_map(came).collect();
    if all.is_empty() {
        return Ok((held, all));
    }
    let (held, mut all) = blocking(move || {
        all.retain(|moved| kept_in(held.root.path(), &moved.to).is_some());
        (held, all)
    })
    .await?;
    // A folder that moved within another one comes back with it.
    let along = |inner: &Moved, outer: &Moved| {
        inner != outer && inner.to.is_within(&outer.to) && inner.from.is_within(&outer.from)
    };
    let outer = all.clone();
    all.retain(|inner| !outer.iter().any(|outer| along(inner, outer)));
    Ok((held, all))
}

/// The paths that moved with one of these folders: they are git's, and no step separates them from it.
pub(super) fn with_them(plan: &FilePlan, moved: &[Moved]) -> HashSet<FilePath> {
    let goes = |path: &&FilePath| moved.iter().any(|of| path.is_within(&of.from) || path.is_within(&of.to));
    plan.paths.iter().map(|path| &path.path).filter(goes).cloned().collect()
}

/// Marks the paths that stay with one of these folders as kept by git.
pub(super) fn blame(plan: &mut FilePlan, moved: &[Moved]) {
    let with_them = with_them(plan, moved);
    let stays = |path: &&mut PathPlan| path.verdict == Verdict::GitHas && with_them.contains(&path.path);
    plan.paths.iter_mut().filter(stays).for_each(|path| path.against = Some(BlockingAuthor::Git));
}

/// The folders that stay because they contain a repository, with the command that moves one back or removes it. Worktrees with
/// these names have a remark already.
pub(super) async fn stays(
    held: HeldWorkspace,
    plan: &FilePlan,
    own: bool,
    (moved, told): (Vec<Moved>, HashSet<String>),
) -> Result<(HeldWorkspace, Vec<FolderRemark>)> {
    let is_left = |of: &Moved| {
        let mut paths = plan.paths.iter();
        paths.any(|path| path.path == of.from && path.verdict == Verdict::GitHas)
    };
    let moved: Vec<Moved> = moved.into_iter().filter(is_left).collect();
    let folders: Vec<_> =
        of_git(plan).map(|to| (source_folder(plan, &to).map(|(from, _)| from), to)).collect();
    if moved.is_empty() && folders.is_empty() {
        return Ok((held, Vec::new()));
    }
    blocking(move || {
        let root = held.root.path();
        let of = |path: &FilePath| kept_in(root, path);
        let is_told =
            |path: &FilePath| of(path) == Some(Nested::Worktree) && told.contains(&path.to_string());
        let name = |path: &FilePath| shown_in((!own).then_some(root), path);
        let back = |Moved { from, to }: &Moved| {
            let (from, folder) = (name(from), name(to));
            let command = shell(&folder).zip(shell(&from)).map(|(to, from)| format!("mv {to} {from}"));
            FolderRemark::RepositoryMoved { from, folder, command }
        };
        let back = moved.iter().filter(|of| !is_told(&of.to)).map(back);
        let left = folders.iter().filter(|(_, to)| !is_told(to));
        let left = left.filter_map(|(from, to)| Some(left_alone(of(to)?, name(to), from.as_ref().map(name))));
        let stays = back.chain(left).collect();
        (held, stays)
    })
    .await
}

/// The remark about a folder that stays and that may hold the content of another one.
fn left_alone(of: Nested, folder: String, from: Option<String>) -> FolderRemark {
    // An escaped name cannot be typed.
    let command = |command: &str| Some(format!("{command} {}", shell(&folder)?));
    match (of, from) {
        (_, Some(from)) => FolderRemark::RepositoryUncertain { from, folder },
        (Nested::Worktree, None) => {
            let command = command("git worktree remove --force");
            FolderRemark::Git(GitRemark::WorktreeMade { folder, is_only_name: false, command })
        }
        (Nested::Submodule, None) => FolderRemark::Submodule { command: command("git rm -f"), folder },
        (Nested::Repository, None) => FolderRemark::Repository { folder },
    }
}

/// The kind of repository in a folder.
fn kept_in(root: &Path, folder: &FilePath) -> Option<Nested> {
    Nested::of(Path::new(OsStr::from_bytes(&named_in(Some(root), folder))))
}

/// A name quoted for a shell; none if its shown form contains an escape.
fn shell(name: &str) -> Option<String> {
    let dash = if name.starts_with('-') { "./" } else { "" };
    (!name.contains('\\')).then(|| shell_word(&format!("{dash}{name}")))
}

/// The folders that stay because they contain a repository.
fn of_git(plan: &FilePlan) -> impl Iterator<Item = FilePath> {
    let of_git =
        |path: &&PathPlan| path.verdict == Verdict::NotEmpty && path.against == Some(BlockingAuthor::Git);
    plan.paths.iter().filter(of_git).map(|path| path.path.clone())
}

/// The folder that a call removed when this one appeared, found by equal content. Also whether it is certain: most of its files
/// came here unchanged, and nothing is in its place.
fn source_folder(plan: &FilePlan, to: &FilePath) -> Option<(FilePath, bool)> {
    let made: BTreeMap<&[u8], &Record> = below(plan, to)
        .filter_map(|(name, path)| Some((name, path.step.stack_before.layers().first()?.after.as_ref()?)))
        .collect();
    let is_file = |record: &Record| !matches!(record, Record::Folder { .. });
    let came = |from: FilePath| {
        let left: Vec<(&[u8], &Record)> = below(plan, &from)
            .filter_map(|(name, path)| Some((name, removed(path).filter(|record| is_file(record))?)))
            .collect();
        let named = left.iter().filter(|(name, _)| made.contains_key(name)).count();
        let alike = left.iter().filter(|(name, record)| made.get(name) == Some(record)).count();
        let both_empty = left.is_empty() && !made.values().any(|record| is_file(record));
        let own = plan.paths.iter().find(|path| path.path == from);
        let is_gone = own.is_some_and(|own| own.step.change.before.is_none() && removed(own).is_some());
        let is_it = is_gone && alike * 2 > left.len();
        (named > 0 || both_empty).then_some((is_it, alike, named, from))
    };
    let gone = plan.paths.iter().filter_map(|path| Some((path, removed(path)?)));
    let folders: BTreeSet<FilePath> = gone
        .flat_map(|(path, record)| {
            let own = (!is_file(record)).then(|| path.path.clone());
            own.into_iter().chain(std::iter::successors(path.path.parent(), FilePath::parent))
        })
        .collect();
    let (is_it, .., from) = folders.into_iter().filter(|from| from != to).filter_map(came).max()?;
    Some((from, is_it))
}

/// The version that a call removed there.
fn removed(path: &PathPlan) -> Option<&Record> {
    let mut layers = path.step.stack_before.layers().iter().rev();
    layers.find(|layer| layer.after.is_none()).and_then(|layer| layer.before.as_ref())
}

/// The paths of a plan in a folder, relative to it.
fn below<'a>(plan: &'a FilePlan, folder: &FilePath) -> impl Iterator<Item = (&'a [u8], &'a PathPlan)> {
    let start = [folder.as_bytes(), b"/"].concat();
    plan.paths.iter().filter_map(move |path| Some((path.path.as_bytes().strip_prefix(&*start)?, path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remark_has_a_command_only_if_a_shell_can_be_given_the_name() {
        let command = |of, folder: &str| match left_alone(of, folder.to_owned(), None) {
            FolderRemark::Submodule { command, .. }
            | FolderRemark::Git(GitRemark::WorktreeMade { command, is_only_name: false, .. }) => command,
            other => panic!("another remark: {other:?}"),
        };
        for (of, start) in
            [(Nested::Submodule, "git rm -f"), (Nested::Worktree, "git worktree remove --force")]
        {
            assert_eq!(command(of, "it's"), Some(format!(r"{start} 'it'\''s'")));
            assert_eq!(command(of, r"s\xff"), None);
        }
    }
}
