//! The relations between a plan's paths: a folder is removed only when it is empty, and a restored file needs its folder.

use std::collections::BTreeMap;

use super::authorship::{self, BlockingAuthor};
use super::change::{FileChange, Grade};
use super::choice::Choice;
use super::file_path::FilePath;
use super::merge::Clash;
use super::plan::{CurrentPath, PathMove, PathPlan, PlanInput, Verdict};
use super::record::Record;
use super::stack::Stack;

/// The permission bits of a missing folder that is created for a restored file.
const FOLDER_MODE: u16 = 0o755;

type Paths = BTreeMap<FilePath, PathPlan>;

/// Folders with files of other authors stay, and restored files get their folders.
pub(super) fn fit_folders(paths: &mut Paths, look: &mut dyn PlanInput) {
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

/// The current content of a folder at any depth; `None` if no plan can reach all of it.
pub(super) fn below(folder: &FilePath, look: &mut dyn PlanInput) -> Option<Vec<FilePath>> {
    let mut found = Vec::new();
    for child in look.children(folder) {
        let child = child?;
        match look.now(&child) {
            CurrentPath::NotCovered(_) => return None,
            CurrentPath::Covered(None) => continue,
            CurrentPath::Covered(Some(Record::Folder { .. })) => found.extend(below(&child, look)?),
            CurrentPath::Covered(Some(_)) => {}
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

/// Removes impossible choices: a folder with content that no plan can reach does not make way.
fn sealed(paths: &mut Paths, name: &FilePath, look: &mut dyn PlanInput) {
    if !is_in_place(&paths[name]) || below(name, look).is_some() {
        return;
    }
    let Some(plan) = paths.get_mut(name) else { return };
    plan.verdict = Verdict::Conflict(Clash::Sealed);
    plan.choices.retain(|choice| *choice != Choice::Checkpoint);
}

/// The version of a path after the step.
fn then(paths: &Paths, path: &FilePath, look: &mut dyn PlanInput) -> CurrentPath {
    match paths.get(path) {
        Some(plan) if !matches!(plan.verdict, Verdict::NotCovered(_)) => {
            CurrentPath::Covered(plan.step.change.after.clone())
        }
        _ => look.now(path),
    }
}

/// A folder is removed, or makes way for something else, only when nothing is left in it.
fn empty_or_stays(paths: &mut Paths, name: &FilePath, look: &mut dyn PlanInput) {
    let change = &paths[name].step.change;
    let is_folder = |record: &Option<Record>| matches!(record, Some(Record::Folder { .. }));
    if !is_folder(&change.before) || is_folder(&change.after) {
        return;
    }
    let children = look.children(name);
    let stays = children.iter().find(|child| match child {
        Some(child) => then(paths, child, look) != CurrentPath::Covered(None),
        None => true,
    });
    let Some(stays) = stays else { return };
    // The verdict of a staying folder in it says why.
    let of_child = |child: &FilePath| {
        let plan = paths.get(child).filter(|plan| plan.verdict == Verdict::NotEmpty);
        plan.and_then(|plan| plan.against).unwrap_or_else(|| authorship::who_put(child, look))
    };
    let against = stays.as_ref().map_or(BlockingAuthor::Git, of_child);
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

/// A restored file needs its folder: a missing one is created, something else in its place is a conflict.
fn has_a_folder(paths: &mut Paths, name: &FilePath, look: &mut dyn PlanInput) {
    let change = &paths[name].step.change;
    if change.after.is_none() || change.after == change.before {
        return;
    }
    let mut missing = Vec::new();
    let mut above = name.parent();
    while let Some(folder) = above {
        match then(paths, &folder, look) {
            CurrentPath::Covered(Some(Record::Folder { .. })) => break,
            CurrentPath::Covered(None) => missing.push(folder.clone()),
            CurrentPath::Covered(Some(_)) | CurrentPath::NotCovered(_) => {
                let against = authorship::who_put(&folder, look);
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

/// Plans a folder here for its returning content, whatever was planned; a conflict stays one.
fn needed(plan: &mut PathPlan) {
    if matches!(plan.verdict, Verdict::Conflict(_)) {
        return;
    }
    let change = &mut plan.step.change;
    (change.after, plan.verdict) = match &change.before {
        // It should have been removed and is needed after all.
        Some(Record::Folder { .. }) => {
            plan.against = None;
            (change.before.clone(), Verdict::NotEmpty)
        }
        Some(_) => (Some(Record::Folder { mode: FOLDER_MODE }), Verdict::Revert),
        None => (Some(Record::Folder { mode: FOLDER_MODE }), Verdict::Recreate),
    };
}

/// A folder that is created for its returning content.
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

#[cfg(test)]
mod tests;
