//! The layers with which turns come back to files, from the steps that core requests. Must never change anything.

use std::collections::HashMap;
use std::sync::Arc;

use retake_core::{
    ConversationId, DeltaId, FilePath, Layer, Moves, ReturningPaths, Stack, WantedPath, WorkspaceNo,
};
use retake_worktree::Objects;

use super::blocking;
use super::capture_state::Merging;
use crate::Engine;
use crate::error::Result;

/// Paths that get other layers, each with its current and its new ones, and whether each delta is wanted.
pub(super) struct ReturningLayers<'a> {
    pub(super) paths: Vec<(FilePath, Stack, Vec<Layer>)>,
    pub(super) is_wanted: &'a HashMap<DeltaId, bool>,
    /// Whether a step may be reversed; otherwise it is reported as layers.
    pub(super) reverses: bool,
}

impl Engine {
    /// The wanted version of each path. Files of a turn that a person had removed before it went do not come back with it.
    pub(super) async fn coming(
        &self,
        conversation: ConversationId,
        workspace: WorkspaceNo,
        ReturningLayers { paths, is_wanted, reverses }: ReturningLayers<'_>,
    ) -> Result<Vec<WantedPath>> {
        let mut returning = ReturningPaths::new(paths, is_wanted, reverses);
        let objects = self.files.objects().await? as Arc<dyn Objects>;
        let mut before = None;
        while !returning.is_known() {
            let Some(op) = self.store().last_moved(conversation, before).await? else { break };
            before = Some(op);
            let moved = self.store().moved(conversation, op).await?.into_iter();
            let steps = moved.filter(|moved| moved.workspace == workspace).flat_map(|moved| moved.moves);
            let moves: Moves = steps.map(|step| (step.change.path.clone(), step)).collect();
            let mut step;
            (returning, step) =
                with(returning, &objects, move |returning, merging| returning.earlier(moves, merging))
                    .await?;
            let further = step.further_mut();
            let names = further.keys().cloned().collect();
            further.extend(self.store().layers(conversation, workspace, names).await?);
            (returning, ()) =
                with(returning, &objects, move |returning, merging| returning.look_at(&step, merging))
                    .await?;
        }
        Ok(returning.wanted_paths())
    }
}

/// Runs work with the paths and with merges of stored versions.
async fn with<T: Send + 'static>(
    mut returning: ReturningPaths,
    objects: &Arc<dyn Objects>,
    does: impl FnOnce(&mut ReturningPaths, &mut Merging) -> T + Send + 'static,
) -> Result<(ReturningPaths, T)> {
    let mut merging = Merging::new(Arc::clone(objects));
    blocking(move || {
        let done = does(&mut returning, &mut merging);
        match merging.merges.take_error() {
            Some(error) => Err(error.into()),
            None => Ok((returning, done)),
        }
    })
    .await?
}
