//! The tools for files: read, write, edit, patch, list, glob, grep. Where a name leads is found out by looking, never by
//! its letters; nothing is written outside of the roots, in git's own folder, or over what the agent has not read.

mod change;
mod disk;
mod edit;
mod glob;
mod grep;
mod list;
mod nearest;
mod patch;
mod place;
mod read;
mod text;
mod walk;
mod work;
mod write;

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::set::Tool;

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

/// The arguments of a call.
fn arguments<T: DeserializeOwned>(value: &Value) -> Result<T, String> {
    T::deserialize(value).map_err(|error| format!("the arguments do not fit: {error}"))
}
