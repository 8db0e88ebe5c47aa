//! With which layers turns come back into files that they went from, as it was recorded when they went. Must never change anything.

use std::collections::BTreeMap;
use std::sync::Arc;

use retake_core::{Coming, ConversationId, DeltaId, FilePath, Layer, PathMove, Stack};
use retake_store::WorkspaceNo;
use retake_worktree::Objects;

use super::blocking;
use super::look::Merging;
use crate::engine::Engine;
use crate::error::Result;

/// The layers that enter each path.
pub(super) type Entering = BTreeMap<FilePath, Vec<Layer>>;

/// Deltas of paths of which earlier steps have to be asked.
type Open = BTreeMap<FilePath, Vec<(Coming, bool)>>;

impl Engine {
    /// What a person had removed of a turn before it went does not come back with it. Steps are read from the last one on, for as
    /// long as there is a path of which that isn't known.
    pub(super) async fn coming(
        &self,
        conversation: ConversationId,
        workspace: WorkspaceNo,
        stacks: &[(FilePath, Stack)],
        mut entering: Entering,
    ) -> Result<Entering> {
        for (path, stack) in stacks {
            let is_there = |layer: &Layer| stack.layers().iter().any(|have| have.delta == layer.delta);
            entering.entry(path.clone()).and_modify(|layers| layers.retain(|layer| !is_there(layer)));
        }
        let mut open: Open = entering.into_iter().map(|(path, layers)| (path, opened(layers))).collect();
        let objects = self.files.objects().await? as Arc<dyn Objects>;
        let mut before = None;
        while open.values().flatten().any(|(_, is_known)| !is_known) {
            let Some(op) = self.store().last_moved(conversation, before).await? else { break };
            before = Some(op);
            let moved = self.store().moved(conversation, op).await?.into_iter();
            let steps = moved.filter(|moved| moved.workspace == workspace).flat_map(|moved| moved.moves);
            let (steps, objects): (Vec<PathMove>, _) = (steps.collect(), Arc::clone(&objects));
            open = blocking(move || looked_at(open, &steps, objects)).await??;
        }
        let layers =
            |all: Vec<(Coming, bool)>| all.into_iter().flat_map(|(one, _)| one.into_layers()).collect();
        Ok(open.into_iter().map(|(path, all)| (path, layers(all))).collect())
    }
}

/// The deltas of these layers, none of which is known yet.
fn opened(layers: Vec<Layer>) -> Vec<(Coming, bool)> {
    let mut deltas: Vec<(DeltaId, Vec<Layer>)> = Vec::new();
    for layer in layers {
        match deltas.last_mut() {
            Some((delta, made)) if *delta == layer.delta => made.push(layer),
            _ => deltas.push((layer.delta, vec![layer])),
        }
    }
    deltas.into_iter().map(|(delta, made)| (Coming::new(delta, made), false)).collect()
}

fn looked_at(mut open: Open, steps: &[PathMove], objects: Arc<dyn Objects>) -> Result<Open> {
    let mut merging = Merging::new(objects);
    for step in steps {
        for (coming, is_known) in open.get_mut(&step.change.path).into_iter().flatten() {
            *is_known = *is_known || coming.look_at(step, &mut merging);
        }
    }
    match merging.merges.take_error() {
        Some(error) => Err(error.into()),
        None => Ok(open),
    }
}
