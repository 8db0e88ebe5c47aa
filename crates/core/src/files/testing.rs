//! A folder in memory for the tests of plans, with versions without a call, versions of deltas, and adoptions; and plans in
//! words. Must never be part of the program.

use std::collections::HashMap;

use super::plan::tests::{Tree, letters, path, record};
use super::stack::tests::delta;
use super::{
    BadHunks, Choice, Chosen, ContentHash, CurrentPath, DeltaId, DesiredState, FilePath, FilePlan, Grade,
    Layer, MergeBytes, NoSuchHunks, PathPlan, PlanInput, Record, Stack, WantedPath,
};

/// A folder with the input of a plan.
#[derive(Default)]
pub(crate) struct World {
    pub(super) tree: Tree,
    pub(super) theirs: HashMap<FilePath, Option<Record>>,
    pub(super) left: Vec<(FilePath, Option<Record>, DeltaId)>,
    /// No plan can reach a file with this name.
    pub(super) sealed: Option<&'static str>,
}

impl World {
    /// With these versions: the letters of `record`.
    pub(crate) fn of(now: &[(&str, char)]) -> Self {
        let mut world = Self::default();
        world.tree.0.extend(now.iter().filter_map(|(name, what)| Some((path(name), record(*what)?))));
        world
    }
}

impl MergeBytes for World {
    fn merge(
        &mut self,
        base: ContentHash,
        ours: ContentHash,
        theirs: ContentHash,
    ) -> Option<(ContentHash, u64)> {
        self.tree.merge(base, ours, theirs)
    }

    fn over(&mut self, _: ContentHash, _: ContentHash, _: Option<ContentHash>) -> Option<(ContentHash, u64)> {
        None
    }

    fn beside(&mut self, _: ContentHash, _: ContentHash, _: ContentHash) -> Option<(ContentHash, u64)> {
        None
    }

    /// The first hunk is the earlier content with a `+`.
    fn part(
        &mut self,
        before: ContentHash,
        _: ContentHash,
        hunks: &[u32],
    ) -> Result<(ContentHash, u64), NoSuchHunks> {
        let mut hash = before.0;
        hash[1] = b'+';
        if hunks == [1] { Ok((ContentHash(hash), 32)) } else { Err(NoSuchHunks::NoText) }
    }
}

impl PlanInput for World {
    fn bytes(&mut self) -> &mut dyn MergeBytes {
        self
    }

    fn now(&mut self, path: &FilePath) -> CurrentPath {
        self.tree.now(path)
    }

    fn children(&mut self, folder: &FilePath) -> Vec<Option<FilePath>> {
        let sealed = self.sealed;
        let reach =
            |child: Option<FilePath>| child.filter(|child| Some(child.to_string().as_str()) != sealed);
        self.tree.children(folder).into_iter().map(reach).collect()
    }

    fn theirs(&mut self, path: &FilePath) -> Option<Option<Record>> {
        self.theirs.get(path).cloned()
    }

    fn left_by(&mut self, path: &FilePath, record: Option<&Record>) -> Option<DeltaId> {
        let mut left = self.left.iter().rev();
        left.find(|(at, left, _)| at == path && left.as_ref() == record).map(|(_, _, no)| *no)
    }

    fn is_adopted(&mut self, path: &FilePath, delta: DeltaId) -> bool {
        self.tree.is_adopted(path, delta)
    }

    fn is_git_s(&mut self, path: &FilePath) -> bool {
        self.tree.is_git_s(path)
    }
}

/// Layers, each as its delta with the version before and after.
pub(crate) fn layers(told: &[(u64, &str)], grade: Grade) -> Vec<Layer> {
    let layer = |(no, versions): &(u64, &str)| {
        let mut versions = versions.chars().map(record);
        let (before, after) = (versions.next().unwrap(), versions.next().unwrap());
        Layer { delta: delta(*no), grade, before, after }
    };
    told.iter().map(layer).collect()
}

/// A path with its current and its wanted layers.
pub(crate) fn wanted_path(name: &str, have: &[(u64, &str)], want: &[(u64, &str)]) -> WantedPath {
    let stack = Stack::new(layers(have, Grade::Seen));
    WantedPath { path: path(name), stack, want: DesiredState::Layers(layers(want, Grade::Seen)) }
}

/// The plan of the wanted paths with choices.
pub(crate) fn planned(
    wanted_paths: Vec<WantedPath>,
    chosen: &[(&str, Choice)],
    world: &mut World,
) -> Result<FilePlan, BadHunks> {
    let paths = chosen.iter().map(|(name, choice)| (path(name), choice.clone())).collect();
    FilePlan::new(wanted_paths, &Chosen { paths, others: None }, world)
}

/// A path of a plan in words: its verdict, its new version, the layers that are left, the choices, and whose changes are in the
/// way.
pub(crate) fn told(plan: &PathPlan) -> String {
    let change = &plan.step.change;
    let (before, after) = (letters(change.before.as_ref()), letters(change.after.as_ref()));
    let left: Vec<String> =
        plan.step.stack_after.layers().iter().map(|layer| layer.delta.no.to_string()).collect();
    let choices: Vec<String> = plan.choices.iter().map(|choice| format!("{choice:?}")).collect();
    let against =
        plan.against.map_or(String::new(), |against| format!(", {against:?}").replace(" of log 1", ""));
    let renamed = plan.renamed.as_ref().map_or(String::new(), |name| format!(", with {name}"));
    format!(
        "{} {:?} {before} -> {after} [{}] {}{against}{renamed}",
        plan.path,
        plan.verdict,
        left.join(" "),
        choices.join("/")
    )
}

/// All paths of a plan in words.
pub(crate) fn all_told(plan: &FilePlan) -> Vec<String> {
    plan.paths.iter().map(told).collect()
}
