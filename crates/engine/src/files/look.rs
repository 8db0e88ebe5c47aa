//! What a plan looks at: the tree as the capture just made saw it, and what lies in a folder.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use retake_core::{ContentHash, FilePath, Look, MergeBytes, Now, Record};
use retake_worktree::{Known, Objects, StoredMerges, WorktreeError};

use super::Workspace;

/// A workspace, to be planned on.
pub(super) struct Looking<'a> {
    workspace: &'a Workspace,
    merges: StoredMerges,
    theirs: &'a HashMap<FilePath, Option<Record>>,
    git_s: &'a HashSet<FilePath>,
}

impl<'a> Looking<'a> {
    pub(super) fn new(
        workspace: &'a Workspace,
        objects: Arc<dyn Objects>,
        theirs: &'a HashMap<FilePath, Option<Record>>,
        git_s: &'a HashSet<FilePath>,
    ) -> Self {
        Self { workspace, merges: StoredMerges::new(objects), theirs, git_s }
    }

    /// What went wrong with an object: what was planned with it is not to be trusted.
    pub(super) fn take_error(&mut self) -> Option<WorktreeError> {
        self.merges.take_error()
    }
}

impl MergeBytes for Looking<'_> {
    fn merge(
        &mut self,
        base: ContentHash,
        ours: ContentHash,
        theirs: ContentHash,
    ) -> Option<(ContentHash, u64)> {
        self.merges.merge(base, ours, theirs)
    }
}

impl Look for Looking<'_> {
    fn now(&mut self, path: &FilePath) -> Now {
        match self.workspace.tree.known(path) {
            Known::Absent => Now::Covered(None),
            Known::Is(record) => Now::Covered(Some(record)),
            Known::NotCovered(why) => Now::NotCovered(why.to_string()),
        }
    }

    fn children(&mut self, folder: &FilePath) -> Vec<Option<FilePath>> {
        match self.workspace.root.names(Some(folder)) {
            Ok(names) => names.iter().map(|name| folder.join(name).ok()).collect(),
            // It can't be looked into: something may be there.
            Err(_) => vec![None],
        }
    }

    fn theirs(&mut self, path: &FilePath) -> Option<Option<Record>> {
        self.theirs.get(path).cloned()
    }

    fn is_git_s(&mut self, path: &FilePath) -> bool {
        self.git_s.contains(path)
    }
}
