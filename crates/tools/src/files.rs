//! The tools for files: read, write, edit, patch, list, glob, grep. The target of a name is always resolved on disk,
//! never from its letters. Must never write outside of the roots, in git's own folder, or over a file that the agent has
//! not read.

mod change;
mod disk;
mod edit;
mod glob;
mod grep;
mod ignores;
mod list;
mod matching;
mod nearest;
mod patch;
mod place;
mod read;
pub(crate) mod text;
mod walk;
mod work;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;

pub(crate) use change::{seen, unknown, whole_hunks};
pub(crate) use glob::matcher;
pub use ignores::IgnoreRules;
pub(crate) use place::{PathBase, Place};

use retake_core::Fact;

use crate::set::Tool;

/// The fact that the agent knows the version of a file with this content, which lets it edit the file. `None` if it is not clear where
/// the path leads.
pub fn read_fact(path: &Path, roots: &[PathBuf], content: &[u8]) -> Option<Fact> {
    let place = PathBase::new(path.parent()?, roots).place(path.to_str()?).ok()?;
    Some(change::seen(&place, content))
}

/// The tools for files.
pub fn file_tools() -> Vec<Arc<dyn Tool>> {
    vec![
        Arc::new(read::ReadFile),
        Arc::new(write::WriteFile),
        Arc::new(edit::EditFile),
        Arc::new(patch::PatchFiles),
        Arc::new(list::ListFolder),
        Arc::new(glob::GlobFiles),
        Arc::new(grep::GrepFiles),
    ]
}

/// The content of a file; none if it is not there, or is nothing that can be edited.
pub(crate) fn content(place: &Place) -> Option<Vec<u8>> {
    disk::whole(place).ok().flatten().map(|version| version.bytes)
}
