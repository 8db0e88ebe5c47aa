//! Folders that must never be workspaces. It only checks and returns the reason.

use std::fs;
use std::path::Path;

use super::rules::{Rules, is_git};
use crate::error::{Result, WorktreeError};

/// Refuses folders that are never roots (spec `rewind.md`, *Capture*); `data_dir` is the place of its index.
///
/// # Errors
/// [`WorktreeError::RootRefused`], or it cannot be found.
pub fn refuse(root: &Path, data_dir: &Path, rules: &Rules) -> Result<()> {
    refuse_known(root, data_dir, rules)?;
    if is_bare(root) { refused(root, "it belongs to git") } else { Ok(()) }
}

/// The same for a folder that has been a workspace already: a command may have made it look like a git folder.
///
/// # Errors
/// As those of [`refuse`].
pub fn refuse_known(root: &Path, data_dir: &Path, rules: &Rules) -> Result<()> {
    let refused = |why| refused(root, why);
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let root_is = fs::canonicalize(root).map_err(WorktreeError::io("open", root))?;
    let is_own = |own: &Path| root_is.starts_with(real(own));
    if root_is.parent().is_none() {
        refused("it is the whole system")
    } else if rules.home.as_ref().is_some_and(|home| real(home).starts_with(&root_is)) {
        refused("it is the home folder, or holds it")
    } else if root_is.iter().any(|name| is_git(name.as_encoded_bytes())) {
        refused("it belongs to git")
    } else if is_own(data_dir) || rules.own.as_deref().is_some_and(is_own) {
        refused("Retake keeps its own data there")
    } else {
        Ok(())
    }
}

fn refused(root: &Path, why: &'static str) -> Result<()> {
    Err(WorktreeError::RootRefused { path: root.to_owned(), why })
}

fn is_bare(root: &Path) -> bool {
    root.join("HEAD").is_file() && root.join("objects").is_dir() && root.join("refs").is_dir()
}
