//! Finds files by their names or mode bits anywhere in a tree, and repositories.

use std::sync::{Arc, PoisonError, Weak};

use retake_core::FilePath;

use super::index::{Entry, Index, NameState, child};
use super::workspace_tree::Tree;
use crate::attributes::AS_OWNER;

/// Files that were found in a tree, with the state of the tree: they are searched again after a change.
#[derive(Debug, Default)]
pub struct FoundFiles {
    of: Weak<Index>,
    files: Vec<FilePath>,
}

impl Tree {
    /// Files of the last capture, covered or not, whose names match, without folders and links, in no order. Uncovered folders
    /// may contain others. `picked` is the earlier result of the same rule.
    pub fn named<'p>(&self, picks: impl Fn(&[u8]) -> bool, picked: &'p mut FoundFiles) -> &'p [FilePath] {
        let may_be = |entry: &Entry| !matches!(entry.what, NameState::Folder | NameState::Link(_));
        self.pick(|entry| may_be(entry) && picks(&entry.name), picked)
    }

    /// The set-uid and set-gid files of the last capture. `picked` is the earlier result.
    pub fn as_owner<'p>(&self, picked: &'p mut FoundFiles) -> &'p [FilePath] {
        let bits = |entry: &Entry| match entry.what.known() {
            Some(NameState::File(file)) => {
                file.attributes.as_ref().map_or(0, |attributes| u32::from(attributes.special))
            }
            _ => 0,
        };
        self.pick(|entry| bits(entry) & AS_OWNER != 0, picked)
    }

    fn pick<'p>(&self, picks: impl Fn(&Entry) -> bool, picked: &'p mut FoundFiles) -> &'p [FilePath] {
        let now = Arc::downgrade(&self.index);
        if !Weak::ptr_eq(&picked.of, &now) {
            let mut files = Vec::new();
            for (place, folder) in &self.index.folders {
                let found = folder.entries.iter().filter(|entry| picks(entry));
                files.extend(found.filter_map(|entry| child(place.as_ref(), &entry.name)));
            }
            *picked = FoundFiles { of: now, files };
        }
        &picked.files
    }

    /// Folders below the root that contain a repository or are bare ones, as far as captures list folders. They may have changed
    /// since.
    pub fn repositories(&self) -> Vec<FilePath> {
        self.git.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}
