//! Files by their names or bits, wherever they are in a tree, and repositories.

use std::sync::{Arc, PoisonError, Weak};

use retake_core::FilePath;

use super::index::{Entry, Index, What, child};
use super::tree::Tree;
use crate::attributes::AS_OWNER;

/// What was picked out of a tree, and of which state of it: it is looked for again when there is another one.
#[derive(Debug, Default)]
pub struct Picked {
    of: Weak<Index>,
    files: Vec<FilePath>,
}

impl Tree {
    /// What the last capture saw, covered or not, but for folders and links, whose names are picked out, in no order. In folders
    /// that are not covered there may be others. `picked` is what the same rule picked out before.
    pub fn named<'p>(&self, picks: impl Fn(&[u8]) -> bool, picked: &'p mut Picked) -> &'p [FilePath] {
        let may_be = |entry: &Entry| !matches!(entry.what, What::Folder | What::Link(_));
        self.pick(|entry| may_be(entry) && picks(&entry.name), picked)
    }

    /// Files that run as their owner or group (setuid, setgid), as the last capture saw them. `picked` is what this picked out before.
    pub fn as_owner<'p>(&self, picked: &'p mut Picked) -> &'p [FilePath] {
        let bits = |entry: &Entry| match entry.what.known() {
            Some(What::File(file)) => {
                file.attributes.as_ref().map_or(0, |attributes| u32::from(attributes.special))
            }
            _ => 0,
        };
        self.pick(|entry| bits(entry) & AS_OWNER != 0, picked)
    }

    fn pick<'p>(&self, picks: impl Fn(&Entry) -> bool, picked: &'p mut Picked) -> &'p [FilePath] {
        let now = Arc::downgrade(&self.index);
        if !Weak::ptr_eq(&picked.of, &now) {
            let mut files = Vec::new();
            for (place, folder) in &self.index.folders {
                let found = folder.entries.iter().filter(|entry| picks(entry));
                files.extend(found.filter_map(|entry| child(place.as_ref(), &entry.name)));
            }
            *picked = Picked { of: now, files };
        }
        &picked.files
    }

    /// Folders below the root in which git keeps something, or that are repositories themselves, as far as captures list folders. They
    /// may be gone, or such no longer.
    pub fn repositories(&self) -> Vec<FilePath> {
        self.git.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}
