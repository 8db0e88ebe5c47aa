//! A later layer that stays has removed or renamed a path, and a layer below it leaves or returns. If the content was renamed,
//! the change follows it to the new name, whatever is in the old place; otherwise it waits for a choice. Must never leave such a
//! change in place silently.

use std::collections::BTreeMap;

use super::super::merge::{Clash, MergeBytes, merge};
use super::super::record::ContentHash;
use super::super::renames::telling;
use super::super::stack::{Clashed, ClashedBy, DeltaId, Rebuilt, Stack};
use super::{CurrentPath, DesiredState, FilePath, Layer, PathPlan, PlanInput, Record, Verdict, WantedPath};

impl WantedPath {
    /// The staying deltas that removed the path's file, even if they put a link or a folder there, with the removed content. If
    /// they created another path with this content, the plan needs that one, too: changes follow into it.
    pub fn moved_away(&self) -> Vec<(DeltaId, ContentHash)> {
        let DesiredState::Layers(wanted) = &self.want else { return Vec::new() };
        let stays = |layer: &&Layer| wanted.iter().any(|want| want.delta == layer.delta);
        let is_away = |layer: &&Layer| !matches!(layer.after, Some(Record::File { .. }));
        let removed = self.stack.layers().iter().filter(stays).filter(is_away);
        removed.filter_map(|layer| Some((layer.delta, layer.before.as_ref()?.hash()?))).collect()
    }
}

/// The effect of renames on a path.
#[derive(Clone, Debug, Default)]
pub(super) struct Moved {
    /// If it was removed or renamed: the path with its layers, or why it waits for a choice.
    gone: Option<Result<Rebuilt, Clashed>>,
    /// The changes that follow a rename into it, in the order of the deltas that created it.
    pub(super) below: Vec<FollowingChange>,
}

/// A change that follows a rename into a path, below later changes there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FollowingChange {
    /// The path where it was made.
    pub(super) from: FilePath,
    /// The deltas that it removes, and those that it adds.
    pub(super) out: Vec<DeltaId>,
    pub(super) into: Vec<DeltaId>,
    /// The delta that created the path, with its content, and the content with the change.
    by: DeltaId,
    was: Record,
    becomes: Record,
}

/// A removal of the path by a staying layer, with the change below it.
struct Removal {
    by: DeltaId,
    was: Option<Record>,
    becomes: Result<Option<Record>, Clashed>,
}

/// A change in a path below staying layers that have removed it.
struct ChangeBelowRemovals {
    taken: Vec<Removal>,
    /// The path then, with later content there.
    there: Rebuilt,
    out: Vec<DeltaId>,
    into: Vec<DeltaId>,
}

/// Follows renames from path to path. It ends because each further rename belongs to a later delta: a change that follows into a
/// path changes nothing below the layer that created it.
pub(super) fn follow(wanted_paths: &[WantedPath], look: &mut dyn PlanInput) -> BTreeMap<FilePath, Moved> {
    let mut all: BTreeMap<FilePath, Moved> = BTreeMap::new();
    let mut open: Vec<&WantedPath> = wanted_paths.iter().collect();
    while let Some(wanted_path) = open.pop() {
        let below = all.get(&wanted_path.path).map(|moved| moved.below.clone()).unwrap_or_default();
        let Some(changed) = changed(wanted_paths, wanted_path, &below, look) else { continue };
        let (mut doubt, mut is_decided) = (None, changed.there.record.is_some());
        for taken in &changed.taken {
            let in_doubt = || Some(Clashed { clash: Clash::Removed, by: ClashedBy::Stays(taken.by) });
            match target(wanted_paths, wanted_path, (taken, &changed), look) {
                // If nothing is there, layers go from below a removal as they are.
                Target::None => {}
                Target::Doubt => doubt = doubt.or_else(in_doubt),
                Target::One(target, below) => {
                    is_decided = true;
                    let there = &mut all.entry(target.path.clone()).or_default().below;
                    match there.binary_search_by_key(&below.by, |other| other.by) {
                        Ok(at) if there[at].from != below.from => doubt = doubt.or_else(in_doubt),
                        Ok(at) if there[at] == below => {}
                        found => {
                            match found {
                                Ok(at) => there[at] = below,
                                Err(at) => there.insert(at, below),
                            }
                            open.push(target);
                        }
                    }
                }
            }
        }
        let gone = match doubt {
            Some(doubt) => Err(doubt),
            None if is_decided => Ok(changed.there),
            None => continue,
        };
        all.entry(wanted_path.path.clone()).or_default().gone = Some(gone);
    }
    all
}

/// The destination of content that a layer removed.
enum Target<'a> {
    /// None: there is nothing to decide.
    None,
    /// Unknown, or the change does not follow.
    Doubt,
    /// This path, into which the change follows.
    One(&'a WantedPath, FollowingChange),
}

fn target<'a>(
    wanted_paths: &'a [WantedPath],
    from: &WantedPath,
    (taken, changed): (&Removal, &ChangeBelowRemovals),
    look: &mut dyn PlanInput,
) -> Target<'a> {
    let mut found = made_with(wanted_paths, from, taken.by, taken.was.as_ref());
    let (one, is_only) = (found.next(), found.next().is_none());
    match (one, &taken.was, &taken.becomes) {
        // An adopted removal counts as one by hand: only a change without a result goes with it.
        (None, _, Ok(None)) => Target::None,
        (None, ..) if look.is_adopted(&from.path, taken.by) => Target::Doubt,
        (None, ..) => Target::None,
        (Some(one), Some(was), Ok(Some(becomes)))
            if is_only
                && matches!(becomes, Record::File { .. })
                && matches!(look.now(&one.path), CurrentPath::Covered(_)) =>
        {
            let (out, into) = (changed.out.clone(), changed.into.clone());
            let (was, becomes) = (was.clone(), becomes.clone());
            Target::One(
                one,
                FollowingChange { from: from.path.clone(), out, into, by: taken.by, was, becomes },
            )
        }
        (Some(_), ..) => Target::Doubt,
    }
}

/// The other paths that a delta created with this content.
fn made_with<'a>(
    wanted_paths: &'a [WantedPath],
    from: &WantedPath,
    by: DeltaId,
    was: Option<&Record>,
) -> impl Iterator<Item = &'a WantedPath> {
    let (from, bytes) = (from.path.clone(), telling(was));
    wanted_paths.iter().filter(move |wanted_path| {
        let mut layers = wanted_path.stack.layers().iter();
        wanted_path.path != from
            && bytes.is_some()
            && matches!(wanted_path.want, DesiredState::Layers(_) | DesiredState::Back { .. })
            && layers.any(|layer| made_by(layer, by) && telling(layer.after.as_ref()) == bytes)
    })
}

fn made_by(layer: &Layer, by: DeltaId) -> bool {
    layer.delta == by && layer.before.is_none()
}

/// Whether a layer has removed the path: nothing is there after it, or a link or a folder, if the layer also created the file
/// under another name. Without that name the file is not there any more, and something else is in its place.
fn takes_away(wanted_paths: &[WantedPath], wanted_path: &WantedPath, layer: &Layer) -> bool {
    match layer.after {
        None => true,
        Some(Record::File { .. }) => false,
        Some(_) => made_with(wanted_paths, wanted_path, layer.delta, layer.before.as_ref()).next().is_some(),
    }
}

/// The change in a path below staying layers that have removed it; `None` if there is none.
fn changed(
    wanted_paths: &[WantedPath],
    wanted_path: &WantedPath,
    below: &[FollowingChange],
    look: &mut dyn PlanInput,
) -> Option<ChangeBelowRemovals> {
    let DesiredState::Layers(wanted) = &wanted_path.want else { return None };
    let have = wanted_path.stack.layers();
    let (mut out, mut into) = wanted_path.stack.difference(wanted);
    let unsure = |layer: &Layer| layer.grade.is_ambiguous() && out.contains(&layer.delta);
    if (out.is_empty() && into.is_empty() && below.is_empty()) || have.iter().any(unsure) {
        return None;
    }
    let CurrentPath::Covered(now) = look.now(&wanted_path.path) else { return None };
    let (mut taken, mut layers, mut start) = (Vec::new(), Vec::new(), (0, 0));
    let mut found_by_removal: Option<Option<Record>> = None;
    // Each time when the path was removed, and finally its current state.
    for end in removals(have, wanted, |layer| takes_away(wanted_paths, wanted_path, layer))
        .into_iter()
        .map(Some)
        .chain([None])
    {
        let (from, to) = end.unwrap_or((have.len(), wanted.len()));
        let found = end.map_or_else(|| now.clone(), |(from, _)| have[from].before.clone());
        let part = Stack::new(have[start.0..from].to_vec());
        let part = part.rebuild(found.as_ref(), &wanted[start.1..to], look.bytes());
        let part = part.and_then(|part| under(below, part, look.bytes()));
        let (mut above, next) = match (&part, end) {
            // A clash below a removal loses nothing: the leaving change is removed from each staying layer as far as possible.
            (Err(_), Some((from, to))) => {
                let part = Stack::new(have[start.0..=from].to_vec());
                let part =
                    settled(below, part.below_removal(&wanted[start.1..=to], look.bytes()), look.bytes());
                let mut layers = part.layers().to_vec();
                let found = layers.pop().and_then(|removal| removal.before);
                (layers, found)
            }
            (Ok(part), _) => (part.stack.layers().to_vec(), part.record.clone()),
            (Err(_), None) => return None,
        };
        if let (Some(found), Some(removal)) = (found_by_removal.take(), above.first_mut()) {
            removal.before = found;
        }
        layers.extend(above);
        let Some((from, to)) = end else {
            for below in below {
                add(&mut out, &below.out);
                add(&mut into, &below.into);
            }
            let there = Rebuilt { stack: Stack::new(layers), ..part.ok()? };
            return (!taken.is_empty()).then_some(ChangeBelowRemovals { taken, there, out, into });
        };
        let part = part.map(|part| part.record);
        if part.as_ref().ok() != Some(&found) {
            taken.push(Removal { by: wanted[to].delta, was: found, becomes: part.clone() });
        }
        (found_by_removal, start) = (Some(next), (from, to));
    }
    None
}

/// The places where staying layers have removed the path: in its current layers, and in the wanted ones.
fn removals(have: &[Layer], wanted: &[Layer], removes: impl Fn(&Layer) -> bool) -> Vec<(usize, usize)> {
    let mut removals: Vec<(usize, usize)> = Vec::new();
    for (to, layer) in wanted.iter().enumerate().filter(|(_, layer)| removes(layer)) {
        let next = removals.last().map_or(0, |(from, _)| from + 1);
        let found = have[next..].iter().position(|have| have.delta == layer.delta && removes(have));
        removals.extend(found.map(|at| (next + at, to)));
    }
    removals
}

impl FollowingChange {
    /// The path with the change below it.
    fn under(&self, there: Rebuilt, bytes: &mut dyn MergeBytes) -> Result<Rebuilt, Clashed> {
        let mut layers = there.stack.layers().to_vec();
        let Some(made) = layers.iter().position(|layer| made_by(layer, self.by)) else { return Ok(there) };
        let mut change = |version: &Option<Record>, by: ClashedBy| {
            let merged = merge(Some(&self.was), version.as_ref(), Some(&self.becomes), bytes);
            merged.map(|merged| merged.record).map_err(|clash| Clashed { clash, by })
        };
        let is_foreign = layers.last().is_none_or(|last| last.after != there.record);
        layers[made].after = Some(self.becomes.clone());
        for layer in &mut layers[made + 1..] {
            layer.before = change(&layer.before, ClashedBy::Stays(layer.delta))?;
            layer.after = change(&layer.after, ClashedBy::Stays(layer.delta))?;
        }
        let record = change(&there.record, ClashedBy::Found(there.record.clone()))?;
        Ok(Rebuilt { record, stack: Stack::new(layers), mixed: there.mixed || is_foreign })
    }

    /// The layers with the change below them, as far as they can be merged.
    fn settled(&self, stack: Stack, bytes: &mut dyn MergeBytes) -> Stack {
        let record = stack.layers().last().and_then(|last| last.after.clone());
        match self.under(Rebuilt { record, stack: stack.clone(), mixed: false }, bytes) {
            Ok(under) => under.stack,
            Err(_) => stack,
        }
    }
}

impl Moved {
    /// The decision about a path that was removed.
    pub(super) fn decided(&self) -> Option<Result<Rebuilt, Clashed>> {
        self.gone.clone()
    }

    /// The path with the changes that follow into it.
    pub(super) fn along(&self, there: Rebuilt, bytes: &mut dyn MergeBytes) -> Result<Rebuilt, Clashed> {
        under(&self.below, there, bytes)
    }

    /// The layers of a path with the changes that follow into it, whatever its content.
    pub(super) fn settled(&self, stack: Stack, bytes: &mut dyn MergeBytes) -> Stack {
        settled(&self.below, stack, bytes)
    }
}

fn settled(below: &[FollowingChange], stack: Stack, bytes: &mut dyn MergeBytes) -> Stack {
    below.iter().fold(stack, |stack, below| below.settled(stack, bytes))
}

/// A path with these changes in it.
fn under(below: &[FollowingChange], there: Rebuilt, bytes: &mut dyn MergeBytes) -> Result<Rebuilt, Clashed> {
    below.iter().try_fold(there, |there, below| below.under(there, bytes))
}

/// Adds missing deltas.
pub(super) fn add(deltas: &mut Vec<DeltaId>, further: &[DeltaId]) {
    for delta in further {
        if !deltas.contains(delta) {
            deltas.push(*delta);
        }
    }
}

/// The old and the new name of each rename.
pub(super) fn names(moved: &BTreeMap<FilePath, Moved>) -> Vec<(FilePath, FilePath)> {
    let names = |(path, moved): (&FilePath, &Moved)| {
        let names = moved.below.iter().map(|below| (below.from.clone(), path.clone()));
        names.collect::<Vec<_>>()
    };
    moved.iter().flat_map(names).collect()
}

/// If the new name is left alone, the change keeps its layer at the old one: a later step asks again.
pub(super) fn wait(paths: &mut BTreeMap<FilePath, PathPlan>, names: &[(FilePath, FilePath)]) {
    for (from, to) in names.iter().rev() {
        let waits = |path: &PathPlan| {
            matches!(path.verdict, Verdict::GitHas | Verdict::Kept | Verdict::NotCovered(_))
        };
        if paths.get(to).is_some_and(waits) {
            paths
                .entry(from.clone())
                .and_modify(|path| path.step.stack_after = path.step.stack_before.clone());
        }
    }
}
