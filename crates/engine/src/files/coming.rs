//! With which layers turns come back into files that they went from, as it was recorded when they went. Must never change anything.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use retake_core::{Coming, ConversationId, DeltaId, FilePath, Layer, PathMove, Stack, Want, Wish};
use retake_store::WorkspaceNo;
use retake_worktree::Objects;

use super::blocking;
use super::look::Merging;
use crate::engine::Engine;
use crate::error::Result;

/// A path that is to have other layers: those that it has, those that enter it, and whether each of its deltas is wanted.
pub(super) struct Settling<'a> {
    pub(super) stacks: Vec<(FilePath, Stack)>,
    pub(super) entering: Vec<Vec<Layer>>,
    pub(super) is_wanted: &'a HashMap<DeltaId, bool>,
    /// Whether a step may be reversed; otherwise all is told as layers.
    pub(super) reverses: bool,
}

/// A path, while earlier steps are asked.
struct Open {
    path: FilePath,
    stack: Stack,
    staying: Vec<Layer>,
    coming: Vec<(Coming, bool)>,
    /// Whether a step over it was seen, or none may be reversed.
    met: bool,
    /// The step that is to be reversed: it took out just what comes back.
    reversed: Option<PathMove>,
}

impl Engine {
    /// What is wanted of each path. What a person had removed of a turn before it went does not come back with it. Steps are read from
    /// the last one on, for as long as there is a path of which that isn't known.
    pub(super) async fn coming(
        &self,
        conversation: ConversationId,
        workspace: WorkspaceNo,
        settling: Settling<'_>,
    ) -> Result<Vec<Wish>> {
        let Settling { stacks, entering, is_wanted, reverses } = settling;
        let opened = |((path, stack), entering)| Open {
            met: !reverses,
            ..Open::new(path, stack, entering, is_wanted)
        };
        let mut open: Vec<Open> = stacks.into_iter().zip(entering).map(opened).collect();
        let objects = self.files.objects().await? as Arc<dyn Objects>;
        let mut before = None;
        while open.iter().any(|path| !path.is_known()) {
            let Some(op) = self.store().last_moved(conversation, before).await? else { break };
            before = Some(op);
            let moved = self.store().moved(conversation, op).await?.into_iter();
            let steps = moved.filter(|moved| moved.workspace == workspace).flat_map(|moved| moved.moves);
            let (steps, objects) =
                (steps.map(|step| (step.change.path.clone(), step)).collect(), Arc::clone(&objects));
            open = blocking(move || looked_at(open, &steps, objects)).await??;
        }
        Ok(open.into_iter().map(Open::wish).collect())
    }
}

impl Open {
    fn new(path: FilePath, stack: Stack, entering: Vec<Layer>, is_wanted: &HashMap<DeltaId, bool>) -> Self {
        let is_there = |layer: &Layer| stack.layers().iter().any(|have| have.delta == layer.delta);
        let stays = |layer: &&Layer| is_wanted.get(&layer.delta).copied().unwrap_or(true);
        let staying = stack.layers().iter().filter(stays).cloned().collect();
        let mut deltas: Vec<(DeltaId, Vec<Layer>)> = Vec::new();
        for layer in entering.into_iter().filter(|layer| !is_there(layer)) {
            match deltas.last_mut() {
                Some((delta, made)) if *delta == layer.delta => made.push(layer),
                _ => deltas.push((layer.delta, vec![layer])),
            }
        }
        let coming = deltas.into_iter().map(|(delta, made)| (Coming::new(delta, made), false)).collect();
        Self { path, stack, staying, coming, met: false, reversed: None }
    }

    fn is_known(&self) -> bool {
        self.reversed.is_some() || self.coming.iter().all(|(_, is_known)| *is_known)
    }

    /// The layers that it is to have, in the order of their deltas.
    fn wanted(&self) -> Vec<Layer> {
        let coming = self.coming.iter().flat_map(|(coming, _)| coming.layers().iter().cloned());
        let mut layers: Vec<Layer> = self.staying.iter().cloned().chain(coming).collect();
        layers.sort_by_key(|layer| layer.delta);
        layers
    }

    fn look_at(&mut self, step: &PathMove, merging: &mut Merging) {
        if !self.met && step.led_from(&self.wanted(), &self.stack) && step.is_merge(merging) {
            self.reversed = Some(step.clone());
            return;
        }
        self.met = true;
        for (coming, is_known) in &mut self.coming {
            *is_known = *is_known || coming.look_at(step, merging);
        }
    }

    fn wish(self) -> Wish {
        let wanted = self.wanted();
        let want = match self.reversed {
            Some(step) => Want::Back { reversed: vec![step], without: Vec::new(), staying: Vec::new() },
            None => Want::Layers(wanted),
        };
        Wish { path: self.path, stack: self.stack, want }
    }
}

fn looked_at(
    mut open: Vec<Open>,
    steps: &BTreeMap<FilePath, PathMove>,
    objects: Arc<dyn Objects>,
) -> Result<Vec<Open>> {
    let mut merging = Merging::new(objects);
    for path in open.iter_mut().filter(|path| !path.is_known()) {
        if let Some(step) = steps.get(&path.path) {
            path.look_at(step, &mut merging);
        }
    }
    match merging.merges.take_error() {
        Some(error) => Err(error.into()),
        None => Ok(open),
    }
}
