//! The input of a plan: the tree of the latest capture, and the content of folders.

use std::collections::HashSet;
use std::sync::Arc;

use retake_core::{
    Choice, ContentHash, CurrentPath, DeltaId, FilePath, FilePlan, MergeBytes, NoSuchHunks, PlanInput,
    Record, UncoveredReason, Verdict,
};
use retake_worktree::{KnownPath, Objects, StoredMerges, WorktreeError};

use super::Workspace;
use super::authors::KnownVersions;

/// A workspace as the planner sees it.
pub(super) struct PlannedWorkspace<'a> {
    workspace: &'a Workspace,
    merging: Merging,
    told: &'a KnownVersions,
    git_s: &'a HashSet<FilePath>,
    /// The path that is being planned.
    at: Option<FilePath>,
    /// Paths that could not be merged because one of their versions was removed from the store.
    gone: HashSet<FilePath>,
}

impl<'a> PlannedWorkspace<'a> {
    pub(super) fn new(
        workspace: &'a Workspace,
        objects: Arc<dyn Objects>,
        told: &'a KnownVersions,
        git_s: &'a HashSet<FilePath>,
    ) -> Self {
        Self { workspace, merging: Merging::new(objects), told, git_s, at: None, gone: HashSet::new() }
    }

    /// Leaves a path alone whose version is no longer stored, and records the reason.
    pub(super) fn skip_collected(&self, plan: &mut FilePlan) {
        for path in &mut plan.paths {
            let change = &path.step.change;
            let written = change.after.as_ref().filter(|_| change.after != change.before);
            let missing =
                written.and_then(Record::hash).is_some_and(|hash| !self.merging.objects.contains(&hash));
            let unmerged = matches!(path.verdict, Verdict::Conflict(_)) && self.gone.contains(&path.path);
            if missing || unmerged {
                path.verdict = Verdict::NotCovered(UncoveredReason::NotKept);
                path.choices = vec![Choice::Skip, Choice::Disk];
                path.step.change.after = path.step.change.before.clone();
                path.step.stack_after = path.step.stack_before.clone();
            }
        }
    }

    /// The error of an object; a plan that used it cannot be trusted.
    pub(super) fn take_error(&mut self) -> Option<WorktreeError> {
        self.merging.merges.take_error()
    }

    /// Records the current path if one of its versions is no longer stored.
    fn noting(&mut self, merged: Option<(ContentHash, u64)>) -> Option<(ContentHash, u64)> {
        if std::mem::take(&mut self.merging.missing) {
            self.gone.extend(self.at.clone());
        }
        merged
    }
}

/// Merges versions that may no longer be stored: then there is no merge, and no error.
pub(super) struct Merging {
    objects: Arc<dyn Objects>,
    pub(super) merges: StoredMerges,
    /// Whether a version was missing.
    missing: bool,
}

impl Merging {
    pub(super) fn new(objects: Arc<dyn Objects>) -> Self {
        Self { merges: StoredMerges::new(Arc::clone(&objects)), objects, missing: false }
    }

    fn has(&mut self, versions: impl IntoIterator<Item = ContentHash>) -> bool {
        let has = versions.into_iter().all(|version| self.objects.contains(&version));
        self.missing |= !has;
        has
    }
}

impl MergeBytes for Merging {
    fn merge(
        &mut self,
        base: ContentHash,
        ours: ContentHash,
        theirs: ContentHash,
    ) -> Option<(ContentHash, u64)> {
        self.has([base, ours, theirs]).then(|| self.merges.merge(base, ours, theirs)).flatten()
    }

    fn over(
        &mut self,
        base: ContentHash,
        ours: ContentHash,
        theirs: Option<ContentHash>,
    ) -> Option<(ContentHash, u64)> {
        let is_kept = self.has([base, ours].into_iter().chain(theirs));
        is_kept.then(|| self.merges.over(base, ours, theirs)).flatten()
    }

    fn beside(
        &mut self,
        base: ContentHash,
        ours: ContentHash,
        theirs: ContentHash,
    ) -> Option<(ContentHash, u64)> {
        self.has([base, ours, theirs]).then(|| self.merges.beside(base, ours, theirs)).flatten()
    }

    fn part(
        &mut self,
        before: ContentHash,
        after: ContentHash,
        hunks: &[u32],
    ) -> Result<(ContentHash, u64), NoSuchHunks> {
        self.merges.part(before, after, hunks)
    }
}

impl MergeBytes for PlannedWorkspace<'_> {
    fn merge(
        &mut self,
        base: ContentHash,
        ours: ContentHash,
        theirs: ContentHash,
    ) -> Option<(ContentHash, u64)> {
        let merged = self.merging.merge(base, ours, theirs);
        self.noting(merged)
    }

    fn over(
        &mut self,
        base: ContentHash,
        ours: ContentHash,
        theirs: Option<ContentHash>,
    ) -> Option<(ContentHash, u64)> {
        let merged = self.merging.over(base, ours, theirs);
        self.noting(merged)
    }

    fn beside(
        &mut self,
        base: ContentHash,
        ours: ContentHash,
        theirs: ContentHash,
    ) -> Option<(ContentHash, u64)> {
        let beside = self.merging.beside(base, ours, theirs);
        self.noting(beside)
    }

    fn part(
        &mut self,
        before: ContentHash,
        after: ContentHash,
        hunks: &[u32],
    ) -> Result<(ContentHash, u64), NoSuchHunks> {
        self.merging.part(before, after, hunks)
    }
}

impl PlanInput for PlannedWorkspace<'_> {
    fn bytes(&mut self) -> &mut dyn MergeBytes {
        self
    }

    fn now(&mut self, path: &FilePath) -> CurrentPath {
        self.at = Some(path.clone());
        match self.workspace.tree.known(path) {
            KnownPath::Absent => CurrentPath::Covered(None),
            KnownPath::Is(record) => CurrentPath::Covered(Some(record)),
            KnownPath::NotCovered(why) => CurrentPath::NotCovered(why),
        }
    }

    fn children(&mut self, folder: &FilePath) -> Vec<Option<FilePath>> {
        match self.workspace.root.names(Some(folder)) {
            Ok(names) => names.iter().map(|name| folder.join(name).ok()).collect(),
            // The folder cannot be read: something may be in it.
            Err(_) => vec![None],
        }
    }

    fn theirs(&mut self, path: &FilePath) -> Option<Option<Record>> {
        self.told.theirs.get(path).cloned()
    }

    fn left_by(&mut self, path: &FilePath, record: Option<&Record>) -> Option<DeltaId> {
        let left = self.told.left.get(path)?;
        left.iter().find(|(left, _)| left.as_ref() == record).map(|(_, no)| *no)
    }

    fn is_adopted(&mut self, path: &FilePath, delta: DeltaId) -> bool {
        let single = self.told.adopted_alone.get(path);
        self.told.adopted.contains(&delta) || single.is_some_and(|deltas| deltas.contains(&delta))
    }

    fn is_certain(&mut self, delta: DeltaId) -> bool {
        self.told.certain.contains(&delta)
    }

    fn is_git_s(&mut self, path: &FilePath) -> bool {
        self.git_s.contains(path)
    }
}
