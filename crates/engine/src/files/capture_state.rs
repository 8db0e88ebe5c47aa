//! What a plan looks at: the tree as the capture just made saw it, and what lies in a folder.

use std::collections::HashSet;
use std::sync::Arc;

use retake_core::{
    Choice, ContentHash, DeltaId, FilePath, FilePlan, Look, MergeBytes, NoSuchHunks, Now, Record, Verdict,
    WhyNot,
};
use retake_worktree::{Known, Objects, StoredMerges, WorktreeError};

use super::Workspace;
use super::authors::KnownVersions;

/// A workspace, to be planned on.
pub(super) struct Looking<'a> {
    workspace: &'a Workspace,
    merging: Merging,
    told: &'a KnownVersions,
    git_s: &'a HashSet<FilePath>,
    /// The path that is looked at.
    at: Option<FilePath>,
    /// Paths that could not be merged, as a version that it takes is not kept.
    gone: HashSet<FilePath>,
}

impl<'a> Looking<'a> {
    pub(super) fn new(
        workspace: &'a Workspace,
        objects: Arc<dyn Objects>,
        told: &'a KnownVersions,
        git_s: &'a HashSet<FilePath>,
    ) -> Self {
        Self { workspace, merging: Merging::new(objects), told, git_s, at: None, gone: HashSet::new() }
    }

    /// What takes a version that is not kept any more is left alone, and says so.
    pub(super) fn skip_collected(&self, plan: &mut FilePlan) {
        for path in &mut plan.paths {
            let change = &path.step.change;
            let written = change.after.as_ref().filter(|_| change.after != change.before);
            let missing =
                written.and_then(Record::hash).is_some_and(|hash| !self.merging.objects.contains(&hash));
            let unmerged = matches!(path.verdict, Verdict::Conflict(_)) && self.gone.contains(&path.path);
            if missing || unmerged {
                path.verdict = Verdict::NotCovered(WhyNot::NotKept);
                path.choices = vec![Choice::Skip, Choice::Disk];
                path.step.change.after = path.step.change.before.clone();
                path.step.stack_after = path.step.stack_before.clone();
            }
        }
    }

    /// What went wrong with an object: what was planned with it is not to be trusted.
    pub(super) fn take_error(&mut self) -> Option<WorktreeError> {
        self.merging.merges.take_error()
    }

    /// Notes the path that is looked at where a version of it is not kept any more.
    fn noting(&mut self, merged: Option<(ContentHash, u64)>) -> Option<(ContentHash, u64)> {
        if std::mem::take(&mut self.merging.missing) {
            self.gone.extend(self.at.clone());
        }
        merged
    }
}

/// Merges versions that may not be kept any more: then there is no merge, and no error.
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

impl MergeBytes for Looking<'_> {
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

impl Look for Looking<'_> {
    fn bytes(&mut self) -> &mut dyn MergeBytes {
        self
    }

    fn now(&mut self, path: &FilePath) -> Now {
        self.at = Some(path.clone());
        match self.workspace.tree.known(path) {
            Known::Absent => Now::Covered(None),
            Known::Is(record) => Now::Covered(Some(record)),
            Known::NotCovered(why) => Now::NotCovered(why),
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

    fn is_git_s(&mut self, path: &FilePath) -> bool {
        self.git_s.contains(path)
    }
}
