//! Plans an earlier step on files again, from what it found: whether it did what its layers mean, or a person made
//! another choice.

use std::collections::{BTreeMap, BTreeSet};

use super::{
    Chosen, CurrentPath, DeltaId, DesiredState, FilePath, FilePlan, Layer, PathMove, PathPlan, PlanInput,
    Record, WantedPath,
};
use crate::files::merge::MergeBytes;
use crate::files::renames;

/// The moves of a step in a folder, by path.
pub type Moves = BTreeMap<FilePath, PathMove>;

/// A step, planned again without any choice.
pub(in crate::files) struct Replay {
    paths: BTreeMap<FilePath, PathPlan>,
    /// The other names of each renamed path.
    renamed: BTreeMap<FilePath, Vec<FilePath>>,
}

impl Replay {
    /// Plans a step again. This takes as long as the step's own plan.
    pub(in crate::files) fn new(step: &Moves, bytes: &mut dyn MergeBytes) -> Self {
        let wanted_path = |made: &PathMove| WantedPath {
            path: made.change.path.clone(),
            stack: made.stack_before.clone(),
            want: DesiredState::Layers(made.wanted()),
        };
        let wanted_paths: Vec<WantedPath> = step.values().map(wanted_path).collect();
        let pairs = renames::pairs(&wanted_paths);
        let plan = FilePlan::new(wanted_paths, &Chosen::default(), &mut Found::new(step, bytes));
        let paths = plan.map(|plan| plan.paths).unwrap_or_default();
        let mut renamed: BTreeMap<FilePath, Vec<FilePath>> = BTreeMap::new();
        let followed = paths.iter().filter_map(|path| Some((&path.path, path.renamed.as_ref()?)));
        for (one, other) in pairs.iter().map(|(old, new)| (old, new)).chain(followed) {
            renamed.entry(one.clone()).or_default().push(other.clone());
            renamed.entry(other.clone()).or_default().push(one.clone());
        }
        Self { paths: paths.into_iter().map(|path| (path.path.clone(), path)).collect(), renamed }
    }

    /// Whether the step had the same result at this path: nobody made another choice.
    pub(in crate::files) fn is_merge(&self, step: &PathMove) -> bool {
        self.paths.get(&step.change.path).is_some_and(|path| path.step == *step)
    }

    /// The paths with which this one was renamed: a change of one of them belongs together with the others.
    pub(in crate::files) fn renamed_with(&self, path: &FilePath) -> BTreeSet<FilePath> {
        let (mut names, mut open) = (BTreeSet::new(), vec![path.clone()]);
        while let Some(name) = open.pop() {
            for other in self.renamed.get(&name).into_iter().flatten() {
                if other != path && names.insert(other.clone()) {
                    open.push(other.clone());
                }
            }
        }
        names
    }
}

impl PathMove {
    /// The layers that the step wanted: those that stay as they were.
    fn wanted(&self) -> Vec<Layer> {
        let mut deltas: Vec<DeltaId> = self.stack_after.layers().iter().map(|layer| layer.delta).collect();
        deltas.dedup();
        let of = |delta| {
            let had = self.stack_before.of(delta);
            if had.is_empty() { self.stack_after.of(delta) } else { had }
        };
        deltas.into_iter().flat_map(of).collect()
    }
}

/// What a step found.
struct Found<'a> {
    step: &'a Moves,
    bytes: &'a mut dyn MergeBytes,
    /// The folders of its paths, and the paths in each.
    folders: BTreeMap<FilePath, Vec<FilePath>>,
}

impl<'a> Found<'a> {
    fn new(step: &'a Moves, bytes: &'a mut dyn MergeBytes) -> Self {
        let mut folders: BTreeMap<FilePath, Vec<FilePath>> = BTreeMap::new();
        for path in step.keys() {
            let mut parent = path.parent();
            if let Some(parent) = &parent {
                folders.entry(parent.clone()).or_default().push(path.clone());
            }
            while let Some(above) = parent {
                parent = above.parent();
                folders.entry(above).or_default();
            }
        }
        Self { step, bytes, folders }
    }
}

impl PlanInput for Found<'_> {
    fn bytes(&mut self) -> &mut dyn MergeBytes {
        self.bytes
    }

    /// Of a path that the step did not change, only this is known: whether it was a folder above one of its paths.
    fn now(&mut self, path: &FilePath) -> CurrentPath {
        let is_folder = || self.folders.contains_key(path).then_some(Record::Folder { mode: 0o755 });
        CurrentPath::Covered(self.step.get(path).map_or_else(is_folder, |made| made.change.before.clone()))
    }

    fn children(&mut self, folder: &FilePath) -> Vec<Option<FilePath>> {
        self.folders.get(folder).into_iter().flatten().cloned().map(Some).collect()
    }

    fn theirs(&mut self, _: &FilePath) -> Option<Option<Record>> {
        None
    }

    fn left_by(&mut self, _: &FilePath, _: Option<&Record>) -> Option<DeltaId> {
        None
    }

    fn is_adopted(&mut self, _: &FilePath, _: DeltaId) -> bool {
        false
    }

    fn is_git_s(&mut self, _: &FilePath) -> bool {
        false
    }
}

#[cfg(test)]
mod tests;
