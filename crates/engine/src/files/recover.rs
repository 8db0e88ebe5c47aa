//! Finishes the apply that a crash interrupted: forward if it was decided, back if its direction was reversed, removed if
//! it was only prepared. If a root is missing or replaced, the step stays open, and the start continues.

use futures::future::BoxFuture;
use retake_core::{FileChange, Remedy, WorkspaceInfo};
use retake_store::IntentRow;
use retake_worktree::{CaptureScope, Direction, Permission, StagingName, discard, recover};
use tracing::{Instrument as _, info_span};

use super::conversation_folders::shown_in;
use super::workspace::{HeldWorkspace, lock};
use super::{blocking, workspace::see};
use crate::Engine;
use crate::error::{EngineError, Kind, Result};
use crate::log::{self, LogFailure as _};

impl Engine {
    /// Finishes open steps. Returns a sentence for each one that cannot be finished.
    pub fn settle_files(&self) -> BoxFuture<'_, Result<Vec<String>>> {
        let work = async move {
            let mut notices = self.settle_rewinds().await?;
            if let Err(error) = self.finish_erasing().await {
                log::failed(&error, "what was erased of files may still be kept");
                notices.push(format!(
                    "what was erased of files may still be kept, the next start tries again: {error}"
                ));
            }
            Ok(notices)
        };
        Box::pin(work.instrument(info_span!("recovery", operation = "settle_files")))
    }

    async fn settle_rewinds(&self) -> Result<Vec<String>> {
        let intents = self.store().intents().await?;
        if intents.is_empty() {
            return Ok(Vec::new());
        }
        let workspaces = self.store().workspaces().await?;
        let mut notices = Vec::new();
        for intent in intents {
            let row = workspaces.iter().find(|row| row.no == intent.workspace).cloned();
            let folder = row.as_ref().map(|row| String::from_utf8_lossy(&row.root).into_owned());
            let folder = folder.unwrap_or_default();
            match self.settle_one(intent, row).await {
                Ok(left) => notices.extend(left),
                Err(error) => {
                    log::failed(&error, "files of a workspace wait to be settled");
                    notices.push(format!("files of {folder} wait to be settled: {error}"));
                }
            }
        }
        Ok(notices)
    }

    async fn settle_one(&self, intent: IntentRow, row: Option<WorkspaceInfo>) -> Result<Option<String>> {
        let held = self.workspace_of(row.ok_or_else(unknown_workspace)?).await?;
        // The previous holder may just have finished it.
        match self.store().intents().await?.into_iter().find(|now| now.staging == intent.staging) {
            Some(intent) => Ok(self.settle_in(held, intent).await?.1),
            None => Ok(None),
        }
    }

    /// Steps that were interrupted; steps at work are awaited first.
    pub(super) async fn left_open(&self) -> Result<Vec<IntentRow>> {
        let found = self.store().intents().await?;
        if found.is_empty() {
            return Ok(found);
        }
        for row in self.store().workspaces().await? {
            if found.iter().any(|intent| intent.workspace == row.no) {
                // A workspace that cannot be held has no step at work.
                self.workspace_of(row).await.or_log("files of a workspace stay unsettled");
            }
        }
        let open = self.store().intents().await?;
        Ok(open.into_iter().filter(|now| found.iter().any(|intent| intent.staging == now.staging)).collect())
    }

    /// Finishes a step in a workspace that this owner began and did not complete.
    pub(super) async fn settle_left(&self, mut held: HeldWorkspace) -> Result<HeldWorkspace> {
        for intent in self.store().intents().await? {
            if intent.workspace == held.no {
                held = self.settle_in(held, intent).await?.0;
            }
        }
        held.unsettled = false;
        Ok(held)
    }

    /// Finishes an open step in a workspace; returns a sentence about files that somebody changed meanwhile.
    async fn settle_in(
        &self,
        held: HeldWorkspace,
        intent: IntentRow,
    ) -> Result<(HeldWorkspace, Option<String>)> {
        let (mut held, locked) = lock(held).await?;
        let name = intent.staging.strip_prefix(StagingName::PREFIX).unwrap_or(&intent.staging);
        let name = StagingName::new(name)?;
        let Some((conversation, op)) = intent.op else {
            blocking(move || discard(&locked, &name)).await??;
            self.store().settle(held.no).await?;
            held.unsettled = false;
            return Ok((held, None));
        };
        let moved = self.store().moved(conversation, op).await?;
        let moved = moved.into_iter().find(|moved| moved.workspace == held.no);
        let moved = moved.ok_or_else(unknown_workspace)?;
        let changes: Vec<FileChange> = moved.moves.into_iter().map(|made| made.change).collect();
        let changes: Vec<_> = changes.into_iter().filter(|change| change.before != change.after).collect();
        let direction = if intent.back { Direction::Back } else { Direction::Forward };
        let (objects, plan) = (self.files.objects().await?, held.tree.to_apply(changes.clone()));
        let report = blocking(move || recover(&locked, &name, plan, direction, &*objects)).await??;
        let done = match direction {
            Direction::Forward => changes,
            Direction::Back => changes.iter().map(super::apply::as_before).collect(),
        };
        held = self.looked_at(held).await?;
        self.settle(&mut held, &done, &report).await?;
        held.unsettled = false;
        let root = held.root.path();
        let left: Vec<String> = report.left.iter().map(|left| shown_in(Some(root), &left.path)).collect();
        let said = (!left.is_empty())
            .then(|| format!("left alone, as somebody has changed it: {}", left.join(", ")));
        Ok((held, said))
    }

    /// Captures a workspace whose index was lost first: without it there is nothing to compare with.
    async fn looked_at(&self, held: HeldWorkspace) -> Result<HeldWorkspace> {
        if held.tree.is_known() {
            return Ok(held);
        }
        let (mut held, capture) = see(held, CaptureScope::Whole, Permission::Granted).await?;
        super::workspace::accept(&mut held, capture)?;
        Ok(held)
    }
}

fn unknown_workspace() -> EngineError {
    EngineError::new(Kind::Storage, "damaged", "the workspace of the step is not known")
        .with("what", "unknown_workspace")
        .remedies([Remedy::Doctor])
}
