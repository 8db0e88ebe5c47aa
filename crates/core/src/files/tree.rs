//! What a plan's paths have to do with each other: renames carry a merge along, a folder goes only when it is empty, and
//! what is put back has a folder to be in.

use std::collections::BTreeMap;

use super::change::{FileChange, Grade};
use super::file_path::FilePath;
use super::merge::{Clash, merge};
use super::plan::{Choice, Look, Now, PathMove, PathPlan, Verdict};
use super::record::{ContentHash, Record};
use super::stack::{Layer, Stack};
use super::whose::{self, Against};

/// The permission bits of a folder that is missing on the way to what is put back.
const FOLDER_MODE: u16 = 0o755;

/// Files of fewer bytes are equal by chance, such as empty ones, `{}`, or one line that every file of a kind has.
const TELLING: u64 = 32;

type Paths = BTreeMap<FilePath, PathPlan>;

/// The agent renamed `a` to `b`, and somebody has written to `b` since: going back, what they wrote goes to `a`. A rename
/// is told by equal bytes. Where it is in doubt, it stays a conflict.
pub(super) fn follow_renames(paths: &mut Paths, look: &mut dyn Look) {
    let mut moved: Vec<(FilePath, FilePath, Record)> = Vec::new();
    for clash in paths.values() {
        if !matches!(clash.verdict, Verdict::Conflict(Clash::Bytes | Clash::Made)) {
            continue;
        }
        let to = made_from(clash).and_then(|(at, hash)| Some((at, source(paths, hash)?)));
        let Some((at, target)) = to else { continue };
        if let Some(record) = carried(clash, at, target, look) {
            moved.push((clash.path.clone(), target.path.clone(), record));
        }
    }
    for (from, to, record) in &moved {
        // Of several that could go there none does: the others would be lost.
        if moved.iter().filter(|(_, other, _)| other == to).count() > 1 {
            continue;
        }
        let Some(target) = paths.get_mut(to) else { continue };
        target.step.change.after = Some(record.clone());
        target.verdict = Verdict::Merge;
        target.renamed = Some(from.clone());
        let Some(clash) = paths.get_mut(from) else { continue };
        clash.step.change.after = None;
        clash.step.stack_after = clash.step.stack_before.without(&clash.out);
        clash.verdict = Verdict::Delete;
        clash.choices.sort_by_key(|choice| *choice != Choice::Merge);
        clash.renamed = Some(to.clone());
    }
}

/// The layer by which the agent had made a path that it is to vanish from, by its place, and the bytes that it made. Nothing
/// that stays, or of which nobody is sure, lies upon it; and there are enough bytes to know them again.
fn made_from(clash: &PathPlan) -> Option<(usize, ContentHash)> {
    let layers = clash.step.stack_before.layers();
    let goes = |layer: &Layer| clash.out.contains(&layer.delta);
    let at = layers.iter().position(goes)?;
    let is_sure = layers[at..].iter().all(|layer| goes(layer) && layer.grade != Grade::Ambiguous);
    match (&layers[at].before, &layers[at].after) {
        (None, Some(Record::File { hash, len, .. })) if is_sure && *len >= TELLING => Some((at, *hash)),
        _ => None,
    }
}

/// What goes along: what is left at the path without the layers above the one that made it, done to what comes back.
/// Nothing, where these do not go together.
fn carried(clash: &PathPlan, made: usize, target: &PathPlan, look: &mut dyn Look) -> Option<Record> {
    let (step, layers) = (&clash.step, clash.step.stack_before.layers());
    let left = step.stack_before.rebuild(step.change.before.as_ref(), &layers[..=made], look).ok()?;
    let made = layers[made].after.as_ref();
    let merged = merge(made, left.record.as_ref(), target.step.change.after.as_ref(), look).ok()?;
    merged.record.filter(|record| matches!(record, Record::File { .. }))
}

/// The one path that gets exactly these bytes back.
fn source(paths: &Paths, hash: ContentHash) -> Option<&PathPlan> {
    let again = |path: &&PathPlan| {
        path.verdict == Verdict::Recreate
            && path.step.change.after.as_ref().and_then(Record::hash) == Some(hash)
    };
    let mut found = paths.values().filter(again);
    found.next().filter(|_| found.next().is_none())
}

/// Folders that others use stay, and what is put back gets its folders.
pub(super) fn fit_folders(paths: &mut Paths, look: &mut dyn Look) {
    let names: Vec<FilePath> = paths.keys().cloned().collect();
    for name in names.iter().rev() {
        empty_or_stays(paths, name, look);
    }
    for name in &names {
        has_a_folder(paths, name, look);
    }
    for name in &names {
        sealed(paths, name, look);
    }
}

/// What is in a folder now, at any depth; `None`, where no plan can reach all of it.
pub(super) fn below(folder: &FilePath, look: &mut dyn Look) -> Option<Vec<FilePath>> {
    let mut found = Vec::new();
    for child in look.children(folder) {
        let child = child?;
        match look.now(&child) {
            Now::NotCovered(_) => return None,
            Now::Covered(None) => continue,
            Now::Covered(Some(Record::Folder { .. })) => found.extend(below(&child, look)?),
            Now::Covered(Some(_)) => {}
        }
        found.push(child);
    }
    Some(found)
}

/// Whether a folder is in the place of something else, and waits for a choice.
pub(super) fn is_in_place(plan: &PathPlan) -> bool {
    let is_folder = |record: &Option<Record>| matches!(record, Some(Record::Folder { .. }));
    plan.verdict == Verdict::Conflict(Clash::Kind)
        && is_folder(&plan.step.change.before)
        && !is_folder(&plan.whole)
}

/// What can't be done is not offered: a folder that holds what no plan can reach does not make way.
fn sealed(paths: &mut Paths, name: &FilePath, look: &mut dyn Look) {
    if !is_in_place(&paths[name]) || below(name, look).is_some() {
        return;
    }
    let Some(plan) = paths.get_mut(name) else { return };
    plan.verdict = Verdict::Conflict(Clash::Sealed);
    plan.choices.retain(|choice| *choice != Choice::Checkpoint);
}

/// What will be at a path.
fn then(paths: &Paths, path: &FilePath, look: &mut dyn Look) -> Now {
    match paths.get(path) {
        Some(plan) if !matches!(plan.verdict, Verdict::NotCovered(_)) => {
            Now::Covered(plan.step.change.after.clone())
        }
        _ => look.now(path),
    }
}

/// A folder goes, or makes way for something else, only when nothing is left in it.
fn empty_or_stays(paths: &mut Paths, name: &FilePath, look: &mut dyn Look) {
    let change = &paths[name].step.change;
    let is_folder = |record: &Option<Record>| matches!(record, Some(Record::Folder { .. }));
    if !is_folder(&change.before) || is_folder(&change.after) {
        return;
    }
    let children = look.children(name);
    let stays = children.iter().find(|child| match child {
        Some(child) => then(paths, child, look) != Now::Covered(None),
        None => true,
    });
    let Some(stays) = stays else { return };
    // A folder that stays in it says why it does.
    let of_child = |child: &FilePath| {
        let plan = paths.get(child).filter(|plan| plan.verdict == Verdict::NotEmpty);
        plan.and_then(|plan| plan.against).unwrap_or_else(|| whose::who_put(child, look))
    };
    let against = stays.as_ref().map_or(Against::Git, of_child);
    let Some(plan) = paths.get_mut(name) else { return };
    plan.against = Some(against);
    if plan.step.change.after.is_none() {
        plan.verdict = Verdict::NotEmpty;
    } else {
        plan.verdict = Verdict::Conflict(Clash::Kind);
        plan.choices.sort_by_key(|choice| *choice != Choice::Skip);
        plan.step.stack_after = plan.step.stack_before.clone();
    }
    plan.step.change.after = plan.step.change.before.clone();
}

/// What is put back needs a folder to be in: a missing one is made, something else in its place is a conflict.
fn has_a_folder(paths: &mut Paths, name: &FilePath, look: &mut dyn Look) {
    let change = &paths[name].step.change;
    if change.after.is_none() || change.after == change.before {
        return;
    }
    let mut missing = Vec::new();
    let mut above = name.parent();
    while let Some(folder) = above {
        match then(paths, &folder, look) {
            Now::Covered(Some(Record::Folder { .. })) => break,
            Now::Covered(None) => missing.push(folder.clone()),
            Now::Covered(Some(_)) | Now::NotCovered(_) => {
                let against = whose::who_put(&folder, look);
                let Some(plan) = paths.get_mut(name) else { return };
                plan.against = Some(against);
                plan.verdict = Verdict::Conflict(Clash::Parent);
                plan.choices = vec![Choice::Skip, Choice::Disk];
                plan.step.change.after = plan.step.change.before.clone();
                plan.step.stack_after = plan.step.stack_before.clone();
                return;
            }
        }
        above = folder.parent();
    }
    for folder in missing {
        needed(paths.entry(folder.clone()).or_insert_with(|| made(folder)));
    }
}

/// There has to be a folder here for what comes back into it, whatever was planned; a conflict stays one.
fn needed(plan: &mut PathPlan) {
    if matches!(plan.verdict, Verdict::Conflict(_)) {
        return;
    }
    let change = &mut plan.step.change;
    (change.after, plan.verdict) = match &change.before {
        // One that was to go is needed after all.
        Some(Record::Folder { .. }) => {
            plan.against = None;
            (change.before.clone(), Verdict::NotEmpty)
        }
        Some(_) => (Some(Record::Folder { mode: FOLDER_MODE }), Verdict::Revert),
        None => (Some(Record::Folder { mode: FOLDER_MODE }), Verdict::Recreate),
    };
}

/// A folder that is made for what comes back into it.
fn made(path: FilePath) -> PathPlan {
    let change = FileChange { path: path.clone(), before: None, after: None };
    let step = PathMove { change, stack_before: Stack::default(), stack_after: Stack::default() };
    PathPlan {
        path,
        verdict: Verdict::Recreate,
        grade: Grade::Written,
        out: Vec::new(),
        into: Vec::new(),
        step,
        choices: Vec::new(),
        whole: None,
        choice: None,
        hunks: Vec::new(),
        renamed: None,
        theirs: false,
        adopts: false,
        against: None,
        outcomes: Vec::new(),
    }
}
