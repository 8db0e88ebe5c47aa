//! What an erasure removes from rows about files: changes of the erased calls, rows that contain the text, and the steps over
//! either. The rows stay. The objects that they named are recorded in the same transaction, so that those without another name
//! can be erased from the object store, even after a crash. Must never name an object that stays.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use retake_core::{
    Capture, ChangeKind, ContentHash, DeltaId, DeltaLine, FactsChanged, FileChange, FilePath, GitMove, Layer,
    Moved, PathMove, Record, Stack, Time, WorkspaceNo,
};

use super::{Context, ErasureTargets, Key, Loaded};
use crate::error::{Result, StoreError};
use crate::files::{Claimant, DeltaLayers, ErasureSum};
use crate::rows::{Claims, ERASED_OBJECTS, LogNo, Rows};

/// The captures that are read at once.
const PAGE: usize = 256;

/// Rows with their new content.
#[derive(Default)]
pub(super) struct FileErasure {
    deltas: Vec<(LogNo, DeltaLine, DeltaLayers)>,
    stacks: Vec<(LogNo, WorkspaceNo, FilePath, Stack)>,
    moved: Vec<(LogNo, retake_core::OpNo, Moved)>,
    captures: Vec<(WorkspaceNo, Capture)>,
    git: Vec<(LogNo, u64, WorkspaceNo)>,
    paths: BTreeSet<FilePath>,
    objects: BTreeSet<ContentHash>,
}

impl FileErasure {
    pub(super) fn is_empty(&self) -> bool {
        self.deltas.is_empty()
            && self.moved.is_empty()
            && self.captures.is_empty()
            && self.git.is_empty()
            && self.objects.is_empty()
    }

    /// The totals, and what stays of the overwritten rows.
    pub(super) fn summary(self, family: &[Loaded]) -> ErasureSum {
        let id = |log: LogNo| family.iter().find(|member| member.row.log == log).map(|member| member.row.id);
        let (mut rows, mut claims) = (BTreeSet::new(), Claims::default());
        for (log, line, layers) in &self.deltas {
            let Some(by) = id(*log).map(|id| (id, line.id)) else { continue };
            rows.insert((line.workspace, Claimant::Call(by.0, by.1)));
            claims.delta(line.workspace, by, Time(0), layers);
        }
        for (log, op, moved) in &self.moved {
            let Some(by) = id(*log).map(|id| (id, *op)) else { continue };
            rows.insert((moved.workspace, Claimant::Op(by.0, by.1)));
            claims.moved(by, Time(0), moved);
        }
        for (workspace, row) in &self.captures {
            rows.extend([Claimant::Capture(row.no), Claimant::Checkpoint(row.no)].map(|by| (*workspace, by)));
            claims.capture(*workspace, row);
        }
        // A call that changed several workspaces has a row for each.
        let calls: BTreeSet<(LogNo, u64)> =
            self.deltas.iter().map(|(log, line, _)| (*log, line.seq)).collect();
        let steps: BTreeSet<_> = self.moved.iter().map(|(log, op, _)| (*log, *op)).collect();
        ErasureSum {
            messages: Vec::new(),
            entries: Vec::new(),
            operations: 0,
            facts: FactsChanged::default(),
            calls: calls.len() as u64,
            steps: steps.len() as u64,
            captures: self.captures.len() as u64,
            paths: self.paths,
            objects: self.objects,
            rows,
            stays: claims.found.into_iter().map(|claim| claim.object).collect(),
        }
    }

    fn takes<'a>(&mut self, records: impl IntoIterator<Item = &'a Option<Record>>) {
        self.objects.extend(records.into_iter().flatten().filter_map(Record::hash));
    }
}

impl ErasureTargets<'_> {
    fn has(&self, bytes: &[u8]) -> bool {
        self.matching.is_some_and(|text| bytes.windows(text.len()).any(|window| window == text.as_bytes()))
    }

    fn names(&self, moved: &GitMove) -> bool {
        let places = moved.head.iter().flat_map(|(before, after)| [before, after]);
        let branches = places.filter_map(|place| place.branch.as_ref());
        let mut names = branches.chain(moved.refs.iter().map(|moved| &moved.name));
        names.any(|name| self.has(name.as_bytes()))
    }

    fn holds(&self, record: Option<&Record>) -> bool {
        match record {
            Some(Record::File { hash, .. }) => self.objects.contains(hash),
            Some(Record::Link { target }) => self.has(target),
            Some(Record::Folder { .. }) | None => false,
        }
    }

    fn changes(&self, change: &FileChange) -> bool {
        self.has(change.path.as_bytes())
            || self.holds(change.before.as_ref())
            || self.holds(change.after.as_ref())
    }

    fn layers(&self, path: &FilePath, layers: &[Layer]) -> bool {
        let holds = |layer: &Layer| self.holds(layer.before.as_ref()) || self.holds(layer.after.as_ref());
        self.has(path.as_bytes()) || layers.iter().any(holds)
    }
}

/// All rows that contain a part of the erased content.
pub(super) fn reach(
    rows: &dyn Rows,
    family: &[Loaded],
    keys: &BTreeSet<Key>,
    what: &ErasureTargets<'_>,
) -> Result<FileErasure> {
    let mut found = FileErasure { objects: what.objects.iter().copied().collect(), ..FileErasure::default() };
    let mut workspaces = BTreeSet::new();
    for member in family {
        let results = results(rows, member, keys)?;
        let gone = deltas(rows, member, &results, what, &mut found)?;
        workspaces.extend(rows.deltas(member.row.log)?.into_iter().map(|line| line.workspace));
        for (seq, workspace, moved) in rows.git_moves(member.row.log)? {
            if moved != GitMove::default() && (results.contains(&seq) || what.names(&moved)) {
                found.git.push((member.row.log, seq, workspace));
            }
        }
        for (op, mut moved) in rows.all_moved(member.row.log)? {
            workspaces.insert(moved.workspace);
            let all = moved.moves.len();
            moved.moves.retain(|made| {
                let went = what.changes(&made.change) || went(&gone, moved.workspace, made);
                if went {
                    found.paths.insert(made.change.path.clone());
                    found.takes([&made.change.before, &made.change.after]);
                    let layers = made.stack_before.layers().iter().chain(made.stack_after.layers());
                    layers.for_each(|layer| found.takes([&layer.before, &layer.after]));
                }
                !went
            });
            if moved.moves.len() < all {
                found.moved.push((member.row.log, op, moved));
            }
        }
    }
    let left: HashSet<_> = noted(rows)?.into_iter().collect();
    if what.matching.is_some() || !left.is_empty() {
        let folders: HashSet<_> = family.iter().filter_map(|member| member.row.folder.as_ref()).collect();
        let here = |root: &[u8]| folders.iter().any(|folder| folder.as_bytes() == root);
        workspaces.extend(rows.workspaces()?.into_iter().filter(|row| here(&row.root)).map(|row| row.no));
        workspaces
            .into_iter()
            .try_for_each(|workspace| captures(rows, workspace, what, &left, &mut found))?;
    }
    Ok(found)
}

/// The entries of the log that lose their deltas: the erased ones, the results of erased calls, and the calls of erased results.
fn results(rows: &dyn Rows, member: &Loaded, keys: &BTreeSet<Key>) -> Result<BTreeSet<u64>> {
    let log = member.row.log;
    let mut seqs: BTreeSet<u64> = keys.iter().filter(|key| key.log == log).map(|key| key.seq).collect();
    for pos in keys.iter().filter_map(|key| member.pos(*key)) {
        seqs.extend(rows.results_for(log, pos, pos)?.into_iter().map(|(seq, _)| seq));
    }
    for key in keys.iter().filter(|key| key.log == log) {
        let calls = rows.results_in(log, key.seq, key.seq)?.into_iter();
        let calls = calls.filter_map(|(_, call)| member.key(call).ok()).filter(|call| call.log == log);
        seqs.extend(calls.map(|call| call.seq));
    }
    Ok(seqs)
}

type RemovedLayers = HashSet<(WorkspaceNo, FilePath, DeltaId)>;

/// The deltas of a log without their erased parts, and the removal of their layers.
fn deltas(
    rows: &dyn Rows,
    member: &Loaded,
    results: &BTreeSet<u64>,
    what: &ErasureTargets<'_>,
    found: &mut FileErasure,
) -> Result<RemovedLayers> {
    let log = member.row.log;
    let (mut gone, mut stacks) = (RemovedLayers::new(), BTreeMap::new());
    for line in rows.deltas(log)? {
        let whole = results.contains(&line.seq);
        if !whole && what.matching.is_none() && what.objects.is_empty() {
            continue;
        }
        let layers = rows.delta(line.id)?;
        let (out, stays): (DeltaLayers, DeltaLayers) =
            layers.into_iter().partition(|(path, layers)| whole || what.layers(path, layers));
        if out.is_empty() {
            continue;
        }
        let mut applied = line.applied;
        for (path, layers) in out {
            layers.iter().for_each(|layer| found.takes([&layer.before, &layer.after]));
            let stack = match stacks.remove(&(line.workspace, path.clone())) {
                Some(stack) => stack,
                None => rows.layers(log, line.workspace, &path)?,
            };
            let (own, others): (Vec<Layer>, Vec<Layer>) =
                stack.layers().iter().cloned().partition(|layer| layer.delta == line.id);
            applied -= u64::from(!own.is_empty());
            own.iter().for_each(|layer| found.takes([&layer.before, &layer.after]));
            stacks.insert((line.workspace, path.clone()), Stack::new(others));
            found.paths.insert(path.clone());
            gone.insert((line.workspace, path, line.id));
        }
        found.deltas.push((log, DeltaLine { paths: stays.len() as u64, applied, ..line }, stays));
    }
    found.stacks.extend(stacks.into_iter().map(|((workspace, path), stack)| (log, workspace, path, stack)));
    Ok(gone)
}

/// Whether a step went over an erased layer.
fn went(gone: &RemovedLayers, workspace: WorkspaceNo, made: &PathMove) -> bool {
    let mut layers = made.stack_before.layers().iter().chain(made.stack_after.layers());
    layers.any(|layer| gone.contains(&(workspace, made.change.path.clone(), layer.delta)))
}

/// Captures without the text, and without what an earlier erasure left because a file had it. Such a change only records that
/// the content is gone.
fn captures(
    rows: &dyn Rows,
    workspace: WorkspaceNo,
    what: &ErasureTargets<'_>,
    left: &HashSet<ContentHash>,
    found: &mut FileErasure,
) -> Result<()> {
    let mut before = None;
    loop {
        let page = rows.captures(workspace, before, PAGE)?;
        let Some(last) = page.last() else { return Ok(()) };
        before = Some(last.no);
        for mut row in page {
            let all = row.changes.len();
            row.changes.retain(|change| {
                let mut hashes =
                    [&change.before, &change.after].into_iter().flatten().filter_map(Record::hash);
                let goes = what.changes(change) || hashes.any(|hash| left.contains(&hash));
                if goes {
                    found.paths.insert(change.path.clone());
                    found.takes([&change.before, &change.after]);
                }
                !goes
            });
            let named = row.name.take_if(|name| what.has(name.as_bytes())).is_some();
            if named || row.changes.len() < all {
                found.captures.push((workspace, row));
            }
        }
    }
}

impl Context {
    /// Overwrites the rows, and records which objects to erase.
    pub(super) fn erase_files(&mut self, family: &[Loaded], what: FileErasure) -> Result<()> {
        if what.is_empty() {
            return Ok(());
        }
        let of_family = |intent: &crate::IntentRow| {
            intent.op.is_some_and(|(id, _)| family.iter().any(|member| member.row.id == id))
        };
        if self.rows.intents()?.iter().any(of_family) {
            return Err(StoreError::Unsettled);
        }
        for member in family {
            self.drop_staged_lists(member.row.log)?;
            self.finish_lists(member.row.log, None)?;
        }
        let home = |log: LogNo| family.iter().map(|member| &member.row).find(|row| row.log == log);
        for (log, line, layers) in &what.deltas {
            home(*log).map_or(Ok(()), |home| self.rows.rewrite_delta(home, line, layers))?;
        }
        for (log, workspace, path, stack) in &what.stacks {
            home(*log).map_or(Ok(()), |home| self.set_layers(home, *workspace, path, stack))?;
        }
        for (log, op, moved) in &what.moved {
            home(*log).map_or(Ok(()), |home| self.rows.rewrite_moved(home, *op, moved))?;
        }
        for (log, seq, workspace) in &what.git {
            let none = GitMove::default();
            home(*log).map_or(Ok(()), |home| self.rows.insert_git_move(home, *seq, *workspace, &none))?;
        }
        for (workspace, row) in &what.captures {
            self.rows.rewrite_capture(*workspace, row)?;
        }
        let of_calls = what.deltas.iter().map(|(log, ..)| log).chain(what.stacks.iter().map(|(log, ..)| log));
        let of_ops = what.moved.iter().map(|(log, ..)| log).chain(what.git.iter().map(|(log, ..)| log));
        for log in of_calls.chain(of_ops) {
            if let Some(home) = home(*log) {
                self.touched(home.id, ChangeKind::Files);
            }
        }
        self.note_erased(&what.objects)
    }

    /// Adds to the objects to erase from the object store.
    fn note_erased(&mut self, objects: &BTreeSet<ContentHash>) -> Result<()> {
        let mut all: BTreeSet<ContentHash> = noted(&*self.rows)?.into_iter().collect();
        all.extend(objects);
        let bytes: Vec<u8> = all.iter().flat_map(|hash| hash.0).collect();
        self.rows.set_note(ERASED_OBJECTS, (!bytes.is_empty()).then_some(&bytes))
    }
}

/// The objects to erase from the object store.
pub(in crate::store) fn noted(rows: &dyn Rows) -> Result<Vec<ContentHash>> {
    let bytes = rows.note(ERASED_OBJECTS)?.unwrap_or_default();
    let (names, rest) = bytes.as_chunks::<32>();
    if !rest.is_empty() {
        let why = "it holds half a name".to_owned();
        return Err(StoreError::Damaged { row: "the note of erased objects".into(), why });
    }
    Ok(names.iter().copied().map(ContentHash).collect())
}
