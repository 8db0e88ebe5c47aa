//! The layers with which turns return to files, as recorded when they left. The caller reads steps, from the last one on, as long
//! as this is not known for a path. Must never change anything.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::coming::{OriginalLayersFinder, UpperLayersFinder};
use super::file_path::FilePath;
use super::merge::MergeBytes;
use super::plan::replay::Replay;
use super::plan::{DesiredState, Moves, PathMove, WantedPath};
use super::stack::{DeltaId, Layer, Stack};

/// Paths that get other layers, while earlier steps are searched for them.
pub struct ReturningPaths(Vec<Open>);

/// A path, while earlier steps are searched.
struct Open {
    path: FilePath,
    stack: Stack,
    staying: Vec<Layer>,
    coming: Vec<(OriginalLayersFinder, bool)>,
    above: Vec<(UpperLayersFinder, bool)>,
    /// The deltas that are in it in part, and return completely if that was the last step.
    parts: Vec<DeltaId>,
    /// Whether a step over it was seen, or none may be reversed.
    met: bool,
    /// The moves to reverse, here and in the paths that it was renamed with: they removed exactly what returns.
    reversed: Vec<(PathMove, Stack)>,
}

/// An earlier step, with the information whether it can be reversed.
pub struct EarlierStep {
    moves: Moves,
    replay: Option<Replay>,
    /// The layers of paths that are not read, with which others of the step were renamed.
    further: BTreeMap<FilePath, Stack>,
}

impl ReturningPaths {
    /// For these paths, each with its current layers and the entering ones, and whether each delta is wanted. `reverses` is
    /// whether a step may be reversed; otherwise it is reported as layers.
    pub fn new(
        paths: Vec<(FilePath, Stack, Vec<Layer>)>,
        is_wanted: &HashMap<DeltaId, bool>,
        reverses: bool,
    ) -> Self {
        let opened =
            |(path, stack, entering)| Open { met: !reverses, ..Open::new(path, stack, entering, is_wanted) };
        Self(paths.into_iter().map(opened).collect())
    }

    /// Whether no earlier step matters.
    pub fn is_known(&self) -> bool {
        self.0.iter().all(Open::is_known)
    }

    /// The step before those that were read.
    pub fn earlier(&self, moves: Moves, bytes: &mut dyn MergeBytes) -> EarlierStep {
        EarlierStep::new(moves, &self.0, bytes)
    }

    /// Reads it.
    pub fn look_at(&mut self, step: &EarlierStep, bytes: &mut dyn MergeBytes) {
        look_at(&mut self.0, step, bytes);
    }

    /// The wanted versions of the paths, and of those that they were renamed with.
    pub fn wanted_paths(self) -> Vec<WantedPath> {
        wanted_paths(self.0)
    }
}

impl Open {
    fn new(path: FilePath, stack: Stack, entering: Vec<Layer>, is_wanted: &HashMap<DeltaId, bool>) -> Self {
        let has = |delta: DeltaId| stack.layers().iter().any(|have| have.delta == delta);
        let stays = |layer: &&Layer| is_wanted.get(&layer.delta).copied().unwrap_or(true);
        let staying: Vec<Layer> = stack.layers().iter().filter(stays).cloned().collect();
        let mut deltas: Vec<(DeltaId, Vec<Layer>)> = Vec::new();
        for layer in entering {
            match deltas.last_mut() {
                Some((delta, made)) if *delta == layer.delta => made.push(layer),
                _ => deltas.push((layer.delta, vec![layer])),
            }
        }
        let of = |delta| staying.iter().filter(move |layer| layer.delta == delta);
        let (there, coming): (Vec<_>, Vec<_>) = deltas.into_iter().partition(|(delta, _)| has(*delta));
        let parts = there.into_iter().filter(|(delta, made)| !of(*delta).eq(made)).map(|(delta, _)| delta);
        let parts = parts.collect();
        let mut upper: Vec<DeltaId> = staying.iter().map(|layer| layer.delta).collect();
        upper.dedup();
        upper.extend(coming.iter().map(|(delta, _)| *delta));
        let above = upper.into_iter().filter_map(|delta| {
            let below: Vec<_> = coming.iter().map(|(no, _)| *no).filter(|no| *no < delta).collect();
            (!below.is_empty()).then(|| (UpperLayersFinder::new(delta, below), false))
        });
        let above = above.collect();
        let coming =
            coming.into_iter().map(|(delta, made)| (OriginalLayersFinder::new(delta, made), false)).collect();
        Self { path, stack, staying, coming, above, parts, met: false, reversed: Vec::new() }
    }

    fn is_known(&self) -> bool {
        let is_told = self.coming.iter().all(|(_, is_known)| *is_known)
            && self.above.iter().all(|(_, is_known)| *is_known)
            && (self.parts.is_empty() || self.met);
        is_told || !self.reversed.is_empty()
    }

    /// The wanted layers, in the order of their deltas.
    fn wanted(&self) -> Vec<Layer> {
        let above =
            |delta: DeltaId| self.above.iter().map(|(above, _)| above).find(|above| above.delta() == delta);
        let mut layers: Vec<Layer> = Vec::new();
        for of in self.staying.chunk_by(|one, other| one.delta == other.delta) {
            layers.extend_from_slice(above(of[0].delta).and_then(UpperLayersFinder::layers).unwrap_or(of));
        }
        for (coming, _) in &self.coming {
            let (delta, layers_of) = (coming.delta(), coming.layers());
            let upon = above(delta).and_then(|above| above.instead_of(layers_of));
            layers.extend_from_slice(upon.unwrap_or(layers_of));
        }
        layers.sort_by_key(|layer| layer.delta);
        layers
    }

    /// Whether exactly what this step removed returns, and nothing was written over it.
    fn is_reversal_of(&self, step: &PathMove, is_merge: bool) -> bool {
        let is_part = || self.parts.iter().any(|delta| step.parted(*delta));
        !self.met && step.led_from(&self.wanted(), &self.stack) && (is_merge || is_part())
    }
}

impl EarlierStep {
    fn new(moves: Moves, open: &[Open], bytes: &mut dyn MergeBytes) -> Self {
        let needs_others = |path: &Open| {
            let step = moves.get(&path.path).filter(|_| !path.is_known());
            step.is_some_and(|step| step.is_told_by_others() || !step.is_merge(bytes))
        };
        let replay = open.iter().any(needs_others).then(|| Replay::new(&moves, bytes));
        let mut further = BTreeMap::new();
        if let Some(replay) = &replay {
            let known: BTreeSet<&FilePath> = open.iter().map(|path| &path.path).collect();
            let others = open.iter().flat_map(|path| replay.renamed_with(&path.path));
            further.extend(others.filter(|name| !known.contains(name)).map(|name| (name, Stack::default())));
        }
        Self { moves, replay, further }
    }

    fn is_merge(&self, step: &PathMove, bytes: &mut dyn MergeBytes) -> bool {
        match &self.replay {
            Some(replay) => replay.is_merge(step),
            None => step.is_merge(bytes),
        }
    }

    /// The paths that this one was renamed with.
    fn renamed_with(&self, path: &FilePath) -> BTreeSet<FilePath> {
        self.replay.as_ref().map(|replay| replay.renamed_with(path)).unwrap_or_default()
    }

    /// The paths that are not read, with which others of the step were renamed: the caller sets their current layers.
    pub fn further_mut(&mut self) -> &mut BTreeMap<FilePath, Stack> {
        &mut self.further
    }

    /// The move to reverse in a path that is not read itself, if it is as the step left it and gets only what returns.
    fn further(&self, path: &FilePath, coming: &BTreeSet<DeltaId>) -> Option<(PathMove, Stack)> {
        let (step, stack) = (self.moves.get(path)?, self.further.get(path)?);
        let (out, into) = step.stack_after.difference(step.stack_before.layers());
        let is_so = self.replay.as_ref().is_some_and(|replay| replay.is_merge(step))
            && step.stack_after == *stack
            && out.is_empty()
            && into.iter().all(|delta| coming.contains(delta));
        is_so.then(|| (step.clone(), stack.clone()))
    }
}

/// Reads a step for each path: if all names of a rename are as it left them, it is reversed in all of them.
fn look_at(open: &mut [Open], step: &EarlierStep, bytes: &mut dyn MergeBytes) {
    let mut reversals: BTreeMap<FilePath, bool> = BTreeMap::new();
    let coming = open.iter().flat_map(|path| path.coming.iter().map(|(coming, _)| coming.delta()));
    let coming: BTreeSet<DeltaId> = coming.chain(open.iter().flat_map(|path| path.parts.clone())).collect();
    for path in open.iter().filter(|path| !path.is_known()) {
        let Some(made) = step.moves.get(&path.path) else { continue };
        let is_merge = step.is_merge(made, bytes);
        reversals.insert(path.path.clone(), path.is_reversal_of(made, is_merge));
    }
    for path in open.iter_mut().filter(|path| !path.is_known()) {
        let Some(made) = step.moves.get(&path.path) else { continue };
        let names = step.renamed_with(&path.path);
        let with = names.iter().filter(|name| !reversals.contains_key(name));
        let with: Option<Vec<_>> = with.map(|name| step.further(name, &coming)).collect();
        let is_reversed = |name: &FilePath| reversals.get(name).copied().unwrap_or(true);
        if let Some(with) = with.filter(|_| is_reversed(&path.path) && names.iter().all(is_reversed)) {
            path.reversed = [(made.clone(), path.stack.clone())].into_iter().chain(with).collect();
            continue;
        }
        path.met = true;
        let is_merge = step.is_merge(made, bytes);
        for (coming, is_known) in &mut path.coming {
            *is_known = *is_known || coming.look_at(made, is_merge, bytes);
        }
        for (above, is_known) in &mut path.above {
            *is_known = *is_known || above.look_at(made, is_merge);
        }
    }
}

/// The wanted versions of the paths, and of those that they were renamed with.
fn wanted_paths(open: Vec<Open>) -> Vec<WantedPath> {
    let mut wanted_paths = BTreeMap::new();
    for path in open {
        if path.reversed.is_empty() {
            let want = DesiredState::Layers(path.wanted());
            wanted_paths.insert(path.path.clone(), WantedPath { path: path.path, stack: path.stack, want });
        }
        for (step, stack) in path.reversed {
            let name = step.change.path.clone();
            let want = DesiredState::Back { reversed: vec![step], without: Vec::new(), staying: Vec::new() };
            wanted_paths.insert(name.clone(), WantedPath { path: name, stack, want });
        }
    }
    wanted_paths.into_values().collect()
}
