//! How the files of a folder differ between two moments. Must never report a path as created or removed if one of the moments
//! did not cover it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use futures::future::BoxFuture;

use retake_core::{
    Capture, ConversationId, DesiredState, EntryId, FileChange, FilePath, Record, Time, WorkspaceNo,
    without_full_folders,
};
use retake_worktree::{KnownPath, Manifest};

use super::as_of::{PathsBelow, PointInTime, is_below, named_below};
use super::blocking;
use super::restore::{not_covered, uncovered};
use super::workspace::HeldWorkspace;
use crate::Engine;
use crate::error::{EngineError, Kind, Result};

/// The most captures in one reading.
const PAGE: usize = 256;

/// The files at a point.
struct View {
    records: BTreeMap<FilePath, Record>,
    /// The files that a checkpoint covered.
    manifest: Option<Manifest>,
}

impl View {
    fn covers(&self, path: &FilePath) -> bool {
        self.manifest.as_ref().is_none_or(|then| uncovered(then, path).is_none())
    }
}

/// The differences, folder by folder; the conversation's own folder has no name.
type Differences = Vec<(Option<PathBuf>, Vec<FileChange>)>;

impl Engine {
    /// The differences below these paths between a point in time and another one, or now, folder by folder. From a turn on, these are
    /// changes of this conversation's calls, and other changes as far as captures saw them.
    pub fn differences(
        &self,
        conversation: ConversationId,
        paths: PathsBelow,
        from: PointInTime,
        to: Option<PointInTime>,
    ) -> BoxFuture<'_, Result<Differences>> {
        Box::pin(async move {
            let mut folders: Vec<Option<PathBuf>> = paths.iter().map(|named| named.folder.clone()).collect();
            folders.sort();
            folders.dedup();
            let mut differ = Vec::new();
            for folder in folders {
                let (row, root) = match &folder {
                    None => self.own_workspace(conversation).await?,
                    Some(folder) => self.workspace_row_at(folder.clone()).await?,
                };
                let held = self.hold(row, root, self.files.at_work().await).await?;
                let below = named_below(&paths, folder.as_deref());
                let changes = self.differences_in(held, conversation, &below, &from, to.as_ref()).await?;
                differ.push((folder, changes));
            }
            Ok(differ)
        })
    }

    /// The same in one folder.
    async fn differences_in(
        &self,
        held: HeldWorkspace,
        conversation: ConversationId,
        paths: &[Option<FilePath>],
        from: &PointInTime,
        to: Option<&PointInTime>,
    ) -> Result<Vec<FileChange>> {
        let (held, _) = self.capture(held, None).await?;
        let (held, now) = blocking(move || {
            let now = held.tree.records();
            (held, now)
        })
        .await?;
        let before = self.view(&held, conversation, &now, Some(from)).await?;
        let after = self.view(&held, conversation, &now, to).await?;
        for path in paths.iter().flatten() {
            check(&held, path, &[&before, &after])?;
        }
        let names: BTreeSet<&FilePath> = before.records.keys().chain(after.records.keys()).collect();
        let wanted = names.into_iter().filter(|path| is_below(path, paths));
        let covered = wanted.filter(|path| before.covers(path) && after.covers(path));
        // A change of a path that was not covered is not reported now either.
        let covered = covered.filter(|path| !matches!(held.tree.known(path), KnownPath::NotCovered(_)));
        let change = |path: &FilePath| FileChange {
            path: path.clone(),
            before: before.records.get(path).cloned(),
            after: after.records.get(path).cloned(),
        };
        let changes = covered.map(change).filter(|change| change.before != change.after);
        Ok(without_full_folders(changes.collect(), |change| change))
    }

    async fn view(
        &self,
        held: &HeldWorkspace,
        conversation: ConversationId,
        now: &BTreeMap<FilePath, Record>,
        point: Option<&PointInTime>,
    ) -> Result<View> {
        let mut records = match point {
            Some(PointInTime::Checkpoint(rows)) => {
                let manifest = self.manifest(held, rows).await?;
                return Ok(View { records: manifest.records.clone(), manifest: Some(manifest) });
            }
            _ => now.clone(),
        };
        for (path, record) in self.past(held, conversation, now, point).await? {
            match record {
                Some(record) => records.insert(path, record),
                None => records.remove(&path),
            };
        }
        Ok(View { records, manifest: None })
    }

    /// The paths at a point of the conversation that differ from the current ones.
    async fn past(
        &self,
        held: &HeldWorkspace,
        conversation: ConversationId,
        now: &BTreeMap<FilePath, Record>,
        point: Option<&PointInTime>,
    ) -> Result<BTreeMap<FilePath, Option<Record>>> {
        let mut past = BTreeMap::new();
        let Some(point) = point else { return Ok(past) };
        let Some(wanted) = self.wanted_at(conversation, point).await? else {
            return Ok(past);
        };
        for wanted_path in self.wanted_paths(held, conversation, None, &wanted).await? {
            if let DesiredState::Layers(layers) = &wanted_path.want
                && wanted_path.stack.layers() != layers.as_slice()
            {
                past.insert(wanted_path.path, wanted_path.stack.checkpoint(layers));
            }
        }
        let PointInTime::Before(entry) = point else {
            return Ok(past);
        };
        let Some(said) = self.said_at(conversation, *entry).await? else {
            return Ok(past);
        };
        for capture in self.captures_since(held.no, |time| time > said).await? {
            for change in capture.changes {
                let was = past.entry(change.path.clone()).or_insert_with(|| now.get(&change.path).cloned());
                if *was == change.after {
                    *was = change.before;
                }
            }
        }
        Ok(past)
    }

    async fn said_at(&self, conversation: ConversationId, entry: EntryId) -> Result<Option<Time>> {
        let shown = self.store().shown(conversation, entry).await?;
        Ok(shown.and_then(|shown| shown.entry.ok()).map(|entry| entry.meta.time))
    }

    /// Captures of a workspace since a time, newest first.
    pub(super) async fn captures_since(
        &self,
        workspace: WorkspaceNo,
        is_recent: impl Fn(Time) -> bool,
    ) -> Result<Vec<Capture>> {
        let mut found: Vec<Capture> = Vec::new();
        loop {
            let before = found.last().map(|last| last.no);
            let page = self.store().captures(workspace, before, PAGE).await?;
            let (read, kept) = (page.len(), found.len());
            found.extend(page.into_iter().take_while(|capture| is_recent(capture.time)));
            if read < PAGE || found.len() < kept + read {
                return Ok(found);
            }
        }
    }
}

/// Refuses a path that exists at neither point, or that is not covered.
fn check(held: &HeldWorkspace, path: &FilePath, views: &[&View]) -> Result<()> {
    if let KnownPath::NotCovered(why) = held.tree.known(path) {
        return Err(not_covered(format!("{path} is not covered"), path, why));
    }
    let is_there = |view: &&View| view.records.keys().any(|there| there.is_within(path));
    if views.iter().any(is_there) {
        return Ok(());
    }
    let what = format!("there is no “{path}” in this folder, and there was none then");
    Err(EngineError::new(Kind::NotFound, "unknown_path", what).with("path", path.to_string()))
}
