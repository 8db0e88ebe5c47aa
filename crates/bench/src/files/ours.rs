//! Retake's captures and applies, step by step as the engine does them, without its database.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use retake_core::FileChange;
use retake_worktree::{
    CaptureScope, Findings, Mark, Objects as _, Outcome, PackObjects, Permission, Prepared, Root, Rules,
    StagedApply, StagingName, Tree, WriteSource,
};

use super::disk;
use super::keeps::SnapshotProgram;

/// A store of captures, and its folder.
pub(super) struct CaptureStore {
    work: PathBuf,
    home: PathBuf,
    opened: Option<Opened>,
    /// The mark of the last capture.
    mark: Option<Mark>,
    /// The changes of the last capture that found some.
    last: Vec<FileChange>,
    applies: u64,
}

struct Opened {
    objects: Arc<PackObjects>,
    tree: Tree,
}

impl CaptureStore {
    /// An empty store.
    pub(super) fn new(work: &Path, home: &Path) -> Self {
        Self { work: work.into(), home: home.into(), opened: None, mark: None, last: Vec::new(), applies: 0 }
    }

    fn index(&self) -> PathBuf {
        self.home.join("index")
    }

    fn open(&self) -> anyhow::Result<Opened> {
        let objects = Arc::new(PackObjects::open(self.home.join("pack"))?);
        let rules = Rules { own: Some(self.home.clone()), ..Rules::default() };
        let tree =
            Tree::open(&self.work, &self.index(), rules, Arc::<PackObjects>::clone(&objects), self.mark)?;
        Ok(Opened { objects, tree })
    }

    fn opened(&mut self) -> anyhow::Result<&mut Opened> {
        if self.opened.is_none() {
            self.opened = Some(self.open()?);
        }
        self.opened.as_mut().ok_or_else(|| anyhow::anyhow!("the store is not open"))
    }

    /// Captures, and returns the findings.
    pub(super) fn capture(&mut self) -> anyhow::Result<Findings> {
        self.capture_where(&CaptureScope::Whole)
    }

    /// The same, only at the places of `sweep`.
    pub(super) fn capture_where(&mut self, sweep: &CaptureScope) -> anyhow::Result<Findings> {
        let Opened { objects, tree } = self.opened()?;
        let _kept = objects.guard();
        let capture = tree.capture(sweep, Permission::Granted, &|_| ())?;
        let mark = capture.mark();
        let findings = tree.accept(capture)?;
        self.mark = Some(mark);
        Ok(findings)
    }

    /// Watches the tree from now on.
    pub(super) fn watch(&mut self) -> anyhow::Result<()> {
        Ok(self.opened()?.tree.watch()?)
    }

    /// Closes the store: the next use opens it from the disk.
    pub(super) fn close(&mut self) {
        self.opened = None;
    }

    /// Stores a manifest, and syncs it.
    pub(super) fn manifest(&mut self) -> anyhow::Result<()> {
        let Opened { objects, tree } = self.opened()?;
        tree.manifest()?;
        Ok(objects.sync()?)
    }

    /// Bytes of the pack, and of the index.
    pub(super) fn bytes(&mut self) -> anyhow::Result<(u64, u64)> {
        let folder = self.index();
        let pack = self.opened()?.objects.size()?;
        let index = fs::read_dir(folder)?.map(|entry| Ok(entry?.metadata()?.len()));
        Ok((pack, index.sum::<std::io::Result<u64>>()?))
    }
}

impl SnapshotProgram for CaptureStore {
    fn fresh(&mut self) -> anyhow::Result<()> {
        (self.opened, self.mark) = (None, None);
        if self.home.exists() {
            fs::remove_dir_all(&self.home)?;
        }
        Ok(fs::create_dir_all(self.index())?)
    }

    fn snapshot(&mut self) -> anyhow::Result<()> {
        let found = self.capture()?;
        if !found.changes.is_empty() {
            self.last = found.changes;
        }
        Ok(())
    }

    fn before_restore(&mut self) -> anyhow::Result<()> {
        // The new data is read from the pack on the disk, not from memory.
        self.close();
        self.opened().map(drop)
    }

    fn restore(&mut self) -> anyhow::Result<()> {
        self.applies += 1;
        let changes: Vec<FileChange> = self.last.iter().map(FileChange::inverse).collect();
        let lock = Root::open(&self.work)?.lock()?;
        let name = StagingName::new(&self.applies.to_string())?;
        let Opened { objects, tree } = self.opened()?;
        let staging = match StagedApply::prepare(&lock, &name, tree.to_apply(changes.clone()), &**objects)? {
            Prepared::Ready(staging) => staging,
            Prepared::Refused(refusals) => anyhow::bail!("the restore was refused: {refusals:?}"),
        };
        let settled = match staging.carry_out()? {
            Outcome::Applied(settled) => settled,
            Outcome::Interrupted(interrupted) => anyhow::bail!("interrupted: {:?}", interrupted.cause),
        };
        let report = settled.finish()?;
        anyhow::ensure!(report.done == changes.len(), "{} of {} were done", report.done, changes.len());
        let noted = tree.note(&changes, WriteSource::Apply)?;
        let mark = noted.mark();
        tree.accept(noted)?;
        self.mark = Some(mark);
        Ok(())
    }

    fn usage(&self) -> anyhow::Result<u64> {
        Ok(disk::usage(&self.home)?)
    }
}
