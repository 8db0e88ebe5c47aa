//! The records of a conversation's files, in memory: deltas, layers, and the file changes of steps; and from these, what a step
//! wants of each path. The store keeps the same in rows, and the engine queries it the same way.

use std::collections::{BTreeMap, HashMap};

use retake_core::{
    DeltaId, DesiredState, FileChange, FilePath, Grade, Layer, LogNo, Moves, PathMove, Record,
    ReturningPaths, Stack, WantedPath,
};

use super::bytes::Versions;
use super::naive::{Act, Done, Kept, Outcome, Talk};

/// The changes of a call in one capture.
struct SeenState {
    id: DeltaId,
    entry: usize,
    layers: BTreeMap<FilePath, Layer>,
}

/// The log.
pub(super) struct Log {
    no: LogNo,
    deltas: Vec<SeenState>,
    stacks: BTreeMap<FilePath, Stack>,
    /// The file changes of operations, by their number.
    steps: BTreeMap<usize, Moves>,
}

impl Log {
    pub(super) fn new(no: u32) -> Self {
        Self { no: LogNo(no.into()), deltas: Vec::new(), stacks: BTreeMap::new(), steps: BTreeMap::new() }
    }

    /// A call made these changes.
    pub(super) fn saw(&mut self, entry: usize, grade: Grade, changes: &[FileChange]) {
        let id = DeltaId { log: self.no, no: self.deltas.len() as u64 + 1 };
        let mut layers = BTreeMap::new();
        for FileChange { path, before, after } in changes.iter().cloned() {
            let layer = Layer { delta: id, grade, before, after };
            self.stacks.entry(path.clone()).or_default().push(layer.clone());
            layers.insert(path, layer);
        }
        self.deltas.push(SeenState { id, entry, layers });
    }

    /// An operation made these moves.
    pub(super) fn did(&mut self, op: usize, moves: Moves) {
        for step in moves.values() {
            let path = &step.change.path;
            assert_eq!(self.stack(path), step.stack_before, "the layers of {path}");
            self.stacks.insert(path.clone(), step.stack_after.clone());
        }
        self.steps.insert(op, moves);
    }

    pub(super) fn stack(&self, path: &FilePath) -> Stack {
        self.stacks.get(path).cloned().unwrap_or_default()
    }

    pub(super) fn entry(&self, delta: DeltaId) -> Option<usize> {
        self.deltas.iter().find(|seen| seen.id == delta).map(|seen| seen.entry)
    }

    /// The last delta that left this record at a path.
    pub(super) fn left_by(&self, path: &FilePath, record: Option<&Record>) -> Option<DeltaId> {
        let left =
            |seen: &&SeenState| seen.layers.get(path).is_some_and(|layer| layer.after.as_ref() == record);
        self.deltas.iter().rev().find(left).map(|seen| seen.id)
    }

    /// The number of paths at which a delta is in the files.
    fn applied(&self, seen: &SeenState) -> usize {
        let is_in = |path: &&FilePath| self.stack(path).layers().iter().any(|layer| layer.delta == seen.id);
        seen.layers.keys().filter(is_in).count()
    }

    /// Whether all or none of the changes of entries are in the files; `None` for a part.
    pub(super) fn applied_of(&self) -> BTreeMap<usize, Option<bool>> {
        let mut applied: BTreeMap<usize, (bool, bool)> = BTreeMap::new();
        for seen in &self.deltas {
            let (all, none) = applied.entry(seen.entry).or_insert((true, true));
            *all &= self.applied(seen) == seen.layers.len();
            *none &= self.applied(seen) == 0;
        }
        let known = applied.into_iter().map(|(entry, (all, none))| (entry, (all || none).then_some(all)));
        known.collect()
    }

    /// Whether the action changes for any delta whether it is wanted.
    pub(super) fn flips(&self, talk: &Talk, outcome: &Outcome) -> bool {
        let kept = outcome.kept.last().expect("one at least");
        self.deltas.iter().any(|seen| talk.wants(seen.entry) != outcome.talk.wants_with(seen.entry, kept))
    }

    /// What an action wants of each path that it touches.
    pub(super) fn wanted_paths(
        &self,
        talk: &Talk,
        act: &Act,
        outcome: &Outcome,
        versions: &mut Versions,
    ) -> Vec<WantedPath> {
        let wanted_paths = match outcome.back {
            Some(_) => self.going_back(talk, act, outcome),
            None => self.settling(talk, act, outcome, versions),
        };
        self.with_moved(wanted_paths)
    }

    /// The files must become those of the path.
    fn settling(
        &self,
        talk: &Talk,
        act: &Act,
        outcome: &Outcome,
        versions: &mut Versions,
    ) -> Vec<WantedPath> {
        let kept = outcome.kept.last().expect("one at least");
        let is_wanted = |seen: &SeenState| outcome.talk.wants_with(seen.entry, kept);
        let mut paths: BTreeMap<&FilePath, Vec<Layer>> = BTreeMap::new();
        for seen in &self.deltas {
            let flips = talk.wants(seen.entry) != is_wanted(seen);
            let is_left = match is_wanted(seen) {
                true => self.applied(seen) < seen.layers.len() || flips,
                false => self.applied(seen) > 0,
            };
            // A shown turn brings its own files, and settles nothing else.
            if !is_left || matches!(act, Act::Show(_)) && !flips {
                continue;
            }
            for (path, layer) in &seen.layers {
                if !kept.paths.contains(&(seen.entry, path.to_string())) {
                    let entering = paths.entry(path).or_default();
                    entering.extend(is_wanted(seen).then(|| layer.clone()));
                }
            }
        }
        let wanted: HashMap<DeltaId, bool> =
            self.deltas.iter().map(|seen| (seen.id, is_wanted(seen))).collect();
        let paths = paths.into_iter().map(|(path, entering)| (path.clone(), self.stack(path), entering));
        let mut returning = ReturningPaths::new(paths.collect(), &wanted, true);
        for moves in self.steps.values().rev() {
            if returning.is_known() {
                break;
            }
            let mut step = returning.earlier(moves.clone(), versions);
            step.further_mut().iter_mut().for_each(|(path, stack)| *stack = self.stack(path));
            returning.look_at(&step, versions);
        }
        returning.wanted_paths()
    }

    /// The changes of operations are reversed, and those of later entries go with them, except those that stay.
    fn going_back(&self, talk: &Talk, act: &Act, outcome: &Outcome) -> Vec<WantedPath> {
        let mut states = vec![talk.clone()];
        for (kind, kept) in outcome.kinds.iter().zip(&outcome.kept) {
            let last = states.last().expect("one at least").with(kind);
            states.push(Talk { kept: Kept::clone(kept), ..last });
        }
        let last = states.last().expect("one at least");
        let undone = match act {
            Act::Undo(count) => (*count).max(1),
            _ => 0,
        };
        let since = talk.done.iter().rev().take(undone).map(|done| match done {
            Done::Turn(opener) => *opener,
            Done::Op(op) => op.at,
        });
        let since = since.min().unwrap_or(usize::MAX);
        let goes = |seen: &&SeenState| {
            let was_there = self.applied(seen) > 0 || states.iter().any(|state| state.wants(seen.entry));
            seen.entry >= since && !last.wants(seen.entry) && was_there
        };
        let (without, staying): (Vec<_>, Vec<_>) = self.deltas.iter().partition(goes);
        let stay = |seen: &&SeenState| seen.entry >= since && last.wants(seen.entry);
        let staying: Vec<DeltaId> = staying.into_iter().filter(stay).map(|seen| seen.id).collect();
        let mut paths: BTreeMap<FilePath, Vec<PathMove>> = BTreeMap::new();
        let ops = outcome.back.iter().flatten().filter_map(|(_, op)| op.as_ref());
        for moves in ops.filter_map(|op| self.steps.get(&op.no)) {
            for step in moves.values() {
                paths.entry(step.change.path.clone()).or_default().push(step.clone());
            }
        }
        without.iter().flat_map(|seen| seen.layers.keys()).for_each(|path| {
            paths.entry(path.clone()).or_default();
        });
        let without: Vec<DeltaId> = without.into_iter().map(|seen| seen.id).collect();
        let wanted_path = |(path, reversed): (FilePath, Vec<PathMove>)| {
            let stack = self.stack(&path);
            let want = match reversed.is_empty() {
                true => DesiredState::Layers(stack.without(&without).layers().to_vec()),
                false => DesiredState::Back { reversed, without: without.clone(), staying: staying.clone() },
            };
            WantedPath { path, stack, want }
        };
        paths.into_iter().map(wanted_path).collect()
    }

    /// The same with the paths to which later calls that stay have moved content of these: they keep their layers.
    fn with_moved(&self, mut wanted_paths: Vec<WantedPath>) -> Vec<WantedPath> {
        let mut at = 0;
        while let Some(wanted_path) = wanted_paths.get(at) {
            for (delta, hash) in wanted_path.moved_away() {
                let is_made = |layer: &&Layer| layer.delta == delta && layer.before.is_none();
                for (path, stack) in &self.stacks {
                    let made = stack.layers().iter().find(is_made).and_then(|layer| layer.after.as_ref());
                    let is_new = wanted_paths.iter().all(|known| known.path != *path);
                    if is_new && made.and_then(Record::hash) == Some(hash) {
                        let want = DesiredState::Layers(stack.layers().to_vec());
                        wanted_paths.push(WantedPath { path: path.clone(), stack: stack.clone(), want });
                    }
                }
            }
            at += 1;
        }
        wanted_paths
    }
}
