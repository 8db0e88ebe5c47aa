//! Restores named files or folders as they were at a point. The person requested it, so the layers of calls stay: a later
//! rewind past the restore keeps the restored files.

use std::collections::BTreeMap;
use std::sync::Arc;

use retake_core::{
    Capture, ConversationId, DesiredState, FilePath, Record, Remedy, UncoveredReason, WantedPath, WorkspaceNo,
};
use retake_worktree::{KnownPath, Manifest, Objects, WorktreeError};

use super::as_of::{PathsBelow, PointInTime, is_below, named_below};
use super::blocking;
use super::workspace::HeldWorkspace;
use crate::Engine;
use crate::error::{EngineError, Kind, Result};

/// Files to restore.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restore {
    /// The files.
    pub paths: PathsBelow,
    /// The point in time.
    pub to: PointInTime,
}

impl Engine {
    /// The wanted versions of each path of a folder; `own` is whether it is the conversation's own.
    pub(super) async fn put_back(
        &self,
        held: HeldWorkspace,
        conversation: ConversationId,
        restore: &Restore,
        own: bool,
    ) -> Result<(HeldWorkspace, Vec<WantedPath>)> {
        let paths = named_below(&restore.paths, (!own).then(|| held.root.path()));
        if paths.is_empty() {
            return Ok((held, Vec::new()));
        }
        let (held, wanted_paths, then) = match &restore.to {
            PointInTime::Checkpoint(rows) => {
                let then = Arc::new(self.manifest(&held, rows).await?);
                let (held, wanted_paths) =
                    self.versions(held, conversation, &paths, Arc::clone(&then)).await?;
                (held, wanted_paths, Some(then))
            }
            point => {
                let wanted = self.wanted_at(conversation, point).await?;
                let wanted = wanted.expect("BUG: what is no checkpoint is in the conversation");
                let mut wanted_paths = self.wanted_paths(&held, conversation, None, &wanted).await?;
                wanted_paths.retain(|wanted_path| is_below(&wanted_path.path, &paths));
                let wanted_paths = wanted_paths.into_iter().map(|wanted_path| match wanted_path.want {
                    DesiredState::Layers(layers) => {
                        WantedPath { want: DesiredState::PutBack(layers), ..wanted_path }
                    }
                    _ => wanted_path,
                });
                (held, wanted_paths.collect(), None)
            }
        };
        for path in paths.iter().flatten() {
            check(&held, path, &wanted_paths, then.as_deref())?;
        }
        Ok((held, wanted_paths))
    }

    /// The manifest of a folder's checkpoint.
    pub(super) async fn manifest(
        &self,
        held: &HeldWorkspace,
        rows: &[(WorkspaceNo, Capture)],
    ) -> Result<Manifest> {
        let objects = self.files.objects().await?;
        let Some((_, capture)) = rows.iter().find(|(no, _)| *no == held.no) else {
            let name = rows.first().and_then(|(_, row)| row.name.clone()).unwrap_or_default();
            let what = format!("{} has no checkpoint “{name}”", held.root.path().display());
            return Err(EngineError::new(Kind::NotFound, "unknown_checkpoint", what)
                .with("checkpoint", name)
                .with("folder", held.root.path())
                .remedies([Remedy::FilesLog]));
        };
        let gone = || {
            let name = capture.name.clone().unwrap_or_default();
            let what = format!("what was there at the checkpoint “{name}” is no longer kept");
            EngineError::new(Kind::Refused, "not_kept", what).with("checkpoint", name)
        };
        let manifest = capture.manifest.ok_or_else(gone)?;
        match blocking(move || Manifest::read(&*objects as &dyn Objects, manifest)).await? {
            Err(WorktreeError::Missing(_)) => Err(gone()),
            read => Ok(read?),
        }
    }

    /// The paths that differ from a checkpoint, where its version is known.
    async fn versions(
        &self,
        held: HeldWorkspace,
        conversation: ConversationId,
        paths: &[Option<FilePath>],
        then: Arc<Manifest>,
    ) -> Result<(HeldWorkspace, Vec<WantedPath>)> {
        let below = paths.to_vec();
        let (held, changed) = blocking(move || {
            let changed = differing(&then, &held.tree.records(), &below);
            (held, changed)
        })
        .await?;
        let names = changed.keys().cloned().collect();
        let stacks = self.store().layers(conversation, held.no, names).await?;
        let wanted_path = |((path, stack), record)| {
            let named = paths.iter().flatten().any(|named| *named == path);
            WantedPath { path, stack, want: DesiredState::Version { record, named } }
        };
        let wanted_paths = stacks.into_iter().zip(changed.into_values()).map(wanted_path).collect();
        Ok((held, wanted_paths))
    }
}

/// The paths that differ, with their earlier versions. A path that was not covered then is not known to have been absent.
pub(super) fn differing(
    then: &Manifest,
    now: &BTreeMap<FilePath, Record>,
    paths: &[Option<FilePath>],
) -> BTreeMap<FilePath, Option<Record>> {
    let was = then.records.iter().filter(|(path, record)| now.get(path) != Some(record));
    let was = was.map(|(path, record)| (path.clone(), Some(record.clone())));
    let made = now.keys().filter(|path| !then.records.contains_key(path));
    let made = made.filter(|path| uncovered(then, path).is_none()).map(|path| (path.clone(), None));
    was.chain(made).filter(|(path, _)| is_below(path, paths)).collect()
}

/// Why a path was not covered: the reason of the path, or of a folder above it.
pub(super) fn uncovered(then: &Manifest, path: &FilePath) -> Option<UncoveredReason> {
    let mut at = Some(path.clone());
    while let Some(here) = at {
        if let Some(why) = then.uncovered.get(&here) {
            return Some(*why);
        }
        at = here.parent();
    }
    None
}

/// The error for a path that is not covered; the path and the reason are fields of its code.
pub(super) fn not_covered(what: String, path: &FilePath, why: UncoveredReason) -> EngineError {
    EngineError::new(Kind::Refused, "not_covered", what)
        .with("path", path.to_string())
        .with("uncovered", why.name())
}

/// Refuses a path of which nothing is known, or that cannot be restored.
fn check(
    held: &HeldWorkspace,
    path: &FilePath,
    wanted_paths: &[WantedPath],
    then: Option<&Manifest>,
) -> Result<()> {
    if let Some(why) = then.and_then(|then| uncovered(then, path)) {
        return Err(not_covered(format!("{path} was not covered then"), path, why).with("what", "then"));
    }
    match held.tree.known(path) {
        KnownPath::NotCovered(why) => Err(not_covered(format!("{path} is not covered"), path, why)),
        KnownPath::Is(_) => Ok(()),
        KnownPath::Absent => {
            let there_then = then.is_some_and(|then| then.records.contains_key(path));
            if there_then || wanted_paths.iter().any(|wanted_path| wanted_path.path.is_within(path)) {
                return Ok(());
            }
            let what = format!("there is no “{path}” in this folder, and there was none then");
            Err(EngineError::new(Kind::NotFound, "unknown_path", what).with("path", path.to_string()))
        }
    }
}
