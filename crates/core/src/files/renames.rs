//! The two names of a rename in a plan: a choice for one counts for both, and other authors' changes of the new name go back to
//! the old one. Must never follow a rename that is in doubt.

use std::collections::{BTreeMap, BTreeSet};

use super::authorship;
use super::choice::Choice;
use super::file_path::FilePath;
use super::merge::{Clash, MergeBytes, merge};
use super::plan::{Chosen, PathPlan, PlanInput, Verdict, WantedPath};
use super::record::{ContentHash, Record};
use super::stack::{DeltaId, Layer, Stack};

/// Shorter files are equal by coincidence, such as empty ones, `{}`, or one line that every file of a kind has.
const TELLING: u64 = 32;

type Paths = BTreeMap<FilePath, PathPlan>;

/// The content of a file, if it is long enough to be recognised.
pub(super) fn telling(record: Option<&Record>) -> Option<ContentHash> {
    match record {
        Some(Record::File { hash, len, .. }) if *len >= TELLING => Some(*hash),
        _ => None,
    }
}

/// The content of a file that a layer has removed from its name: nothing is there after it, or a link or a folder. Another file
/// could be the same one, rewritten.
fn taken(layer: &Layer) -> Option<ContentHash> {
    let is_gone = !matches!(layer.after, Some(Record::File { .. }));
    telling(layer.before.as_ref()).filter(|_| is_gone)
}

/// Whether layers leave or enter: only changes in the same direction are one rename.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum LayerDirection {
    Out,
    Into,
}

/// The layers of a path in one direction, lowest first.
type MovedLayers<'a> = (&'a FilePath, LayerDirection, Vec<Layer>);

/// The names between which content moves.
#[derive(Default)]
struct Names<'a> {
    coming: Vec<&'a FilePath>,
    going: Vec<&'a FilePath>,
}

/// Applies choices to both names of a rename: a file that is kept as it is under one name is not removed from, or put at, the
/// other one. The same holds for these further pairs of names, an old and a new one each. Also returns the names that got a
/// choice this way, each with its origin.
pub(super) fn choose_both(
    wanted_paths: &[WantedPath],
    further: &[(FilePath, FilePath)],
    chosen: &Chosen,
    look: &mut dyn PlanInput,
) -> (Chosen, Vec<(FilePath, FilePath)>) {
    let (mut all, mut carried) = (chosen.clone(), Vec::new());
    if chosen.paths.is_empty() {
        return (all, carried);
    }
    let turnovers = turnovers(wanted_paths);
    let further = further.iter().map(|(old, new)| Names { coming: vec![old], going: vec![new] });
    let renames: Vec<Names<'_>> = names(&turnovers).into_values().chain(further).collect();
    // A choice may be passed on from name to name.
    for _ in 0..renames.len() {
        let before = carried.len();
        for Names { coming, going } in &renames {
            let old = kept(coming, false, &all, look).map(|choice| (choice, going));
            // With several old names, it is not known which one was renamed.
            let new = kept(going, true, &all, look).filter(|_| coming.len() == 1);
            for ((from, choice), others) in old.into_iter().chain(new.map(|choice| (choice, coming))) {
                for other in others {
                    if !all.paths.contains_key(*other) {
                        all.paths.insert((*other).clone(), choice.clone());
                        carried.push(((*other).clone(), from.clone()));
                    }
                }
            }
        }
        if carried.len() == before {
            break;
        }
    }
    (all, carried)
}

/// The names of each rename by one call that a plan reverts or repeats: the name that the content goes to, and the name that it
/// comes from.
pub(super) fn pairs(wanted_paths: &[WantedPath]) -> Vec<(FilePath, FilePath)> {
    let turnovers = turnovers(wanted_paths);
    let mut made: BTreeMap<_, Vec<&FilePath>> = BTreeMap::new();
    for (path, way, layers) in &turnovers {
        for layer in layers.iter().filter(|layer| layer.before != layer.after) {
            let Some(bytes) = telling(layer.after.as_ref()) else { continue };
            made.entry((*way, layer.delta, bytes)).or_default().push(path);
        }
    }
    let mut pairs = Vec::new();
    for (old, way, layers) in &turnovers {
        for layer in layers {
            let Some(bytes) = taken(layer) else { continue };
            for new in made.get(&(*way, layer.delta, bytes)).into_iter().flatten() {
                let (old, new) = ((*old).clone(), (*new).clone());
                pairs.push(if *way == LayerDirection::Out { (old, new) } else { (new, old) });
            }
        }
    }
    pairs
}

/// If a file cannot be restored under one name of a rename, it is not removed from the other one: otherwise it would be gone
/// under both.
pub(super) fn wait(paths: &mut Paths, pairs: &[(FilePath, FilePath)]) {
    for (old, new) in pairs {
        let waits = |path: &&PathPlan| {
            let left =
                matches!(path.verdict, Verdict::Conflict(_) | Verdict::NotCovered(_) | Verdict::Foreign);
            left && path.choice.is_none()
        };
        let Some(waiting) = paths.get(old).filter(waits) else { continue };
        let against = waiting.against;
        let clash = match waiting.verdict {
            Verdict::Conflict(clash) => clash,
            _ => Clash::Removed,
        };
        let goes = |path: &&mut PathPlan| path.verdict == Verdict::Delete && path.choice.is_none();
        let Some(goes) = paths.get_mut(new).filter(goes) else { continue };
        waits_for(goes, clash, against, old);
    }
    for (old, new) in pairs {
        // The layer that removed it from its old name is in doubt and stays, and the one that put it at the new name goes.
        let Some((left, against)) = paths.get(old).map(|path| (left_gone(path), path.against)) else {
            continue;
        };
        let goes = |path: &&mut PathPlan| {
            let after = path.step.stack_after.layers();
            let is_taken =
                |delta| path.out.contains(delta) && after.iter().all(|layer| layer.delta != *delta);
            let is_open = path.choice != Some(Choice::Checkpoint);
            is_open && matches!(path.verdict, Verdict::Delete | Verdict::Revert) && left.iter().any(is_taken)
        };
        let Some(goes) = paths.get_mut(new).filter(goes) else { continue };
        waits_for(goes, Clash::Removed, against, old);
    }
}

/// The deltas that should leave a path and stay, so that their removed content is not there, whatever is there now.
fn left_gone(path: &PathPlan) -> Vec<DeltaId> {
    // A conflict waits for a choice anyway.
    if matches!(path.verdict, Verdict::Conflict(_)) {
        return Vec::new();
    }
    let stays = |layer: &Layer| path.step.stack_after.layers().iter().any(|after| after.delta == layer.delta);
    let is_there = |layer: &Layer| taken(layer) == telling(path.step.change.after.as_ref());
    let is_gone = |layer: &&Layer| taken(layer).is_some() && !is_there(layer) && stays(layer);
    let left = path.step.stack_before.layers().iter().filter(|layer| path.out.contains(&layer.delta));
    left.filter(is_gone).map(|layer| layer.delta).collect()
}

/// Leaves a path as it is until there is a choice, because of another path.
fn waits_for(
    path: &mut PathPlan,
    clash: Clash,
    against: Option<authorship::BlockingAuthor>,
    other: &FilePath,
) {
    path.verdict = Verdict::Conflict(clash);
    path.step.change.after.clone_from(&path.step.change.before);
    path.step.stack_after.clone_from(&path.step.stack_before);
    path.choices.sort_by_key(|choice| *choice != Choice::Skip);
    (path.against, path.renamed) = (against, Some(other.clone()));
}

/// A file is not silently created again under one name of a rename if somebody has removed it under the other one. The same holds
/// if it is missing because the turn that created it is off the path.
pub(super) fn removed(paths: &mut Paths, pairs: &[(FilePath, FilePath)], look: &mut dyn PlanInput) {
    for (comes, goes) in pairs {
        let is_removed = |path: &&PathPlan| {
            let (step, was) = (&path.step, &path.step.stack_before);
            let is_left = path.verdict == Verdict::Unchanged && path.choice.is_none();
            let is_nothing = |layer: &Layer| layer.before.is_none() && layer.after.is_none();
            let mut came = step.stack_after.layers().iter().filter(|layer| path.into.contains(&layer.delta));
            let took_nothing = came.next_back().is_some_and(is_nothing);
            is_left && step.change.after.is_none() && (took_nothing || !was.is_just(None, &step.stack_after))
        };
        if paths.get(goes).filter(is_removed).is_none() {
            continue;
        }
        let against = authorship::who_left(goes, None, look);
        let is_made = |path: &&mut PathPlan| path.verdict == Verdict::Recreate && path.choice.is_none();
        let Some(made) = paths.get_mut(comes).filter(is_made) else { continue };
        made.verdict = Verdict::Conflict(Clash::Removed);
        made.step.change.after.clone_from(&made.step.change.before);
        made.step.stack_after.clone_from(&made.step.stack_before);
        made.choices.sort_by_key(|choice| *choice != Choice::Skip);
        (made.against, made.renamed) = (Some(against), Some(goes.clone()));
        let Some(gone) = paths.get_mut(goes) else { continue };
        gone.step.stack_after.clone_from(&gone.step.stack_before);
    }
}

/// The choice for all of these names that keeps the others, too: the content is at the one that is not kept.
fn kept<'a>(
    names: &[&'a FilePath],
    is_there: bool,
    chosen: &Chosen,
    look: &mut dyn PlanInput,
) -> Option<(&'a FilePath, Choice)> {
    let kept = names.iter().map(|name| Some((*name, stays(chosen.paths.get(*name)?, name, is_there, look)?)));
    kept.collect::<Option<Vec<_>>>()?.into_iter().next()
}

/// The choice that keeps the other name of a rename as well, when this one is chosen for one of them.
fn stays(choice: &Choice, name: &FilePath, is_there: bool, look: &mut dyn PlanInput) -> Option<Choice> {
    match choice {
        Choice::Disk | Choice::Skip => Some(choice.clone()),
        // The content is under one of the names then.
        Choice::Yours => {
            look.theirs(name).filter(|theirs| theirs.is_some() == is_there).map(|_| Choice::Disk)
        }
        Choice::Checkpoint | Choice::Merge | Choice::Hunks(_) => None,
    }
}

/// The layers that leave each path, and those that enter it.
fn turnovers(wanted_paths: &[WantedPath]) -> Vec<MovedLayers<'_>> {
    let mut all = Vec::new();
    for wanted_path in wanted_paths {
        let Some(goal) = wanted_path.want.goal(&wanted_path.stack) else { continue };
        let (out, into) = wanted_path.stack.difference(goal.layers());
        let of = |stack: &Stack, deltas: &[DeltaId]| {
            let layers = stack.layers().iter().filter(|layer| deltas.contains(&layer.delta));
            layers.cloned().collect::<Vec<_>>()
        };
        all.push((&wanted_path.path, LayerDirection::Out, of(&wanted_path.stack, &out)));
        all.push((&wanted_path.path, LayerDirection::Into, of(&goal, &into)));
    }
    all
}

/// The names of each rename. After several renames, the names in between are left out.
fn names<'a>(turnovers: &[MovedLayers<'a>]) -> BTreeMap<(LayerDirection, ContentHash), Names<'a>> {
    let removed = |layers: &[Layer]| layers.last().and_then(taken);
    let gone: BTreeSet<_> =
        turnovers.iter().filter_map(|(_, way, layers)| Some((*way, removed(layers)?))).collect();
    let brought = |way: LayerDirection, layers: &[Layer]| {
        let lost = removed(layers);
        let mut hashes = layers.iter().rev().filter_map(|layer| {
            let hash = telling(layer.after.as_ref())?;
            (layer.before.as_ref().and_then(Record::hash) != Some(hash)).then_some(hash)
        });
        hashes.find(|hash| Some(*hash) != lost && gone.contains(&(way, *hash)))
    };
    let (mut between, mut ends) = (BTreeMap::new(), Vec::new());
    for (path, way, layers) in turnovers {
        match (removed(layers), brought(*way, layers)) {
            (Some(lost), Some(got)) => {
                between.insert((*way, lost), (*way, got));
            }
            (Some(lost), None) if layers.first().is_some_and(|first| first.before.is_some()) => {
                ends.push((*path, (*way, lost), *way == LayerDirection::Into));
            }
            (None, Some(got)) => ends.push((*path, (*way, got), *way == LayerDirection::Out)),
            (Some(_) | None, None) => {}
        }
    }
    let mut names: BTreeMap<_, Names<'_>> = BTreeMap::new();
    for (path, mut key, goes) in ends {
        for _ in 0..between.len() {
            key = between.get(&key).copied().unwrap_or(key);
        }
        let names = names.entry(key).or_default();
        if goes { names.going.push(path) } else { names.coming.push(path) }
    }
    names.retain(|_, names| !names.coming.is_empty() && !names.going.is_empty());
    names
}

/// The agent renamed `a` to `b`, and somebody has changed `b` since: a rewind moves the change to `a`. A rename is recognised by
/// equal content. If it is in doubt, it stays a conflict.
pub(super) fn follow(paths: &mut Paths, bytes: &mut dyn MergeBytes) {
    let mut moved: Vec<(FilePath, FilePath, Record)> = Vec::new();
    for clash in paths.values() {
        if !matches!(clash.verdict, Verdict::Conflict(Clash::Bytes | Clash::Made)) {
            continue;
        }
        if let Some((to, record)) = carried(paths, clash, bytes) {
            moved.push((clash.path.clone(), to, record));
        }
    }
    for (from, to, record) in &moved {
        // If several could go there, none does: the others would be lost.
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

/// A rename that returns: its old name and its new one, each with the returning layer.
pub(super) struct ReturningRename {
    old: (FilePath, Layer),
    new: (FilePath, Layer),
}

/// The returning renames, if nothing else enters one of the names, and the content identifies one pair of names.
pub(super) fn again(wanted_paths: &[WantedPath]) -> Vec<ReturningRename> {
    let turnovers = turnovers(wanted_paths);
    let single = turnovers.iter().filter_map(|(path, way, layers)| match &layers[..] {
        [layer] if *way == LayerDirection::Into => Some((*path, layer)),
        _ => None,
    });
    let is_new = |layer: &Layer| layer.before.is_none() && telling(layer.after.as_ref()).is_some();
    let (made, others): (Vec<_>, Vec<_>) = single.partition(|(_, layer)| is_new(layer));
    let is_of = |old: &Layer, new: &Layer| {
        old.delta == new.delta && taken(old).is_some() && taken(old) == telling(new.after.as_ref())
    };
    let only = |(path, old): &(&FilePath, &Layer)| {
        let mut fits = made.iter().filter(|(_, new)| is_of(old, new));
        let (new_path, new) = fits.next().filter(|_| fits.next().is_none())?;
        let is_only = others.iter().filter(|(_, other)| is_of(other, new)).count() == 1;
        let name = |path: &FilePath, layer: &Layer| (path.clone(), layer.clone());
        is_only.then(|| ReturningRename { old: name(path, old), new: name(new_path, new) })
    };
    others.iter().filter_map(only).collect()
}

/// The agent had renamed a file, the rename was reverted, and somebody has changed the old name since. If the rename returns, the
/// change moves to the new name.
pub(super) fn follow_again(paths: &mut Paths, again: &[ReturningRename]) {
    for ReturningRename { old: (old, removal), new: (new, made) } in again {
        let is_alone = |path: &PathPlan| path.choice.is_none() && path.out.is_empty();
        let is_clash = |path: &&PathPlan| {
            matches!(path.verdict, Verdict::Conflict(Clash::Bytes | Clash::Made)) && is_alone(path)
        };
        let is_made = |path: &&PathPlan| {
            let is_so = path.step.change.after == made.after;
            path.verdict == Verdict::Recreate && is_so && is_alone(path)
        };
        let Some(written) = paths.get(old).filter(is_clash).and_then(|path| path.step.change.before.clone())
        else {
            continue;
        };
        let is_file = matches!(written, Record::File { .. });
        if !is_file || paths.get(new).filter(is_made).is_none() {
            continue;
        }
        if let Some(target) = paths.get_mut(new) {
            target.step.change.after = Some(written);
            (target.verdict, target.renamed) = (Verdict::Merge, Some(old.clone()));
        }
        if let Some(clash) = paths.get_mut(old) {
            clash.step.change.after = None;
            clash.step.stack_after = clash.step.stack_before.together(std::slice::from_ref(removal));
            (clash.verdict, clash.renamed) = (Verdict::Delete, Some(new.clone()));
            clash.choices.sort_by_key(|choice| *choice != Choice::Merge);
        }
    }
}

/// The path to which the rest at a clash moves, and its version there: the changes by other authors, applied to the returning
/// version. `None` if they cannot be merged. After several renames, it moves all the way.
fn carried(paths: &Paths, clash: &PathPlan, bytes: &mut dyn MergeBytes) -> Option<(FilePath, Record)> {
    let now = clash.step.change.before.clone();
    let (mut made, mut left) = as_made(clash, clash.step.stack_before.layers().len(), now, bytes)?;
    for _ in 0..paths.len() {
        let source = source(paths, telling(made.after.as_ref())?, made.delta)?;
        let target = source.step.change.after.as_ref();
        if target.is_some() {
            let merged = merge(made.after.as_ref(), left.as_ref(), target, bytes).ok()?;
            let record = merged.record.filter(|record| matches!(record, Record::File { .. }))?;
            return Some((source.path.clone(), record));
        }
        (made, left) = as_made(source, source.step.stack_before.layers().len() - 1, left, bytes)?;
    }
    None
}

/// For a path to be removed: the lowest layer with which the agent created it, and what is left of it without the layers above.
/// No staying layer and none of an uncertain author is above it, and the content is long enough to be recognised.
fn as_made(
    plan: &PathPlan,
    layers: usize,
    now: Option<Record>,
    bytes: &mut dyn MergeBytes,
) -> Option<(Layer, Option<Record>)> {
    let layers = &plan.step.stack_before.layers()[..layers];
    let goes = |layer: &Layer| plan.out.contains(&layer.delta);
    let at = layers.iter().position(goes)?;
    let is_sure = layers[at..].iter().all(|layer| goes(layer) && !layer.grade.is_ambiguous());
    if !is_sure || layers[at].before.is_some() {
        return None;
    }
    telling(layers[at].after.as_ref())?;
    let left = Stack::new(layers.to_vec()).rebuild(now.as_ref(), &layers[..=at], bytes).ok()?;
    Some((layers[at].clone(), left.record))
}

/// The one path from which a leaving layer removed this content: it returns. Otherwise it is a path in between, to which nothing
/// returns. It is no rename if a later delta than the one that created the new name removed the content. The content existed twice
/// for a while then, or somebody else had moved it.
fn source(paths: &Paths, hash: ContentHash, by: DeltaId) -> Option<&PathPlan> {
    let is_later = |path: &PathPlan| {
        let mut layers = path.step.stack_before.layers().iter();
        let goes = |layer: &&Layer| path.out.contains(&layer.delta) && taken(layer).is_some();
        layers.rfind(goes).is_some_and(|layer| layer.delta > by)
    };
    let lost = |path: &PathPlan| {
        let last = path.step.stack_before.layers().last();
        last.is_some_and(|last| path.out.contains(&last.delta) && taken(last) == Some(hash))
    };
    let is_file = |path: &PathPlan| matches!(path.step.change.before, Some(Record::File { .. }));
    // An exact restore takes no changes by others with it.
    let is_exact = |path: &PathPlan| path.choice == Some(Choice::Checkpoint);
    let comes_back = |path: &PathPlan| match path.verdict {
        _ if is_exact(path) || is_later(path) => false,
        Verdict::Recreate if path.step.change.after.as_ref().and_then(Record::hash) == Some(hash) => true,
        Verdict::Recreate | Verdict::Merge => path.step.change.before.is_none() && lost(path),
        Verdict::Revert => !is_file(path) && lost(path),
        _ => false,
    };
    let between = |path: &PathPlan| {
        path.verdict == Verdict::Unchanged && !path.is_chosen() && lost(path) && !is_later(path)
    };
    let mut found = paths.values().filter(|path| comes_back(path));
    let mut further = paths.values().filter(|path| between(path));
    match (found.next(), found.next()) {
        (Some(one), None) => Some(one),
        (None, _) => further.next().filter(|_| further.next().is_none()),
        (Some(_), Some(_)) => None,
    }
}

#[cfg(test)]
mod tests;
