//! A later layer that stays has removed a path, or moved it away, and a layer below that one goes or comes. Where the content
//! was moved, the change goes along to its new name; else it waits for a choice. Must never leave such a change where it is
//! without a word.

use std::collections::BTreeMap;

use super::super::merge::{Clash, merge};
use super::super::renames::telling;
use super::super::stack::{Clashed, ClashedBy, DeltaId, Rebuilt, Stack};
use super::{FilePath, Layer, Look, Now, PathPlan, Record, Verdict, Want, Wish};

/// What becomes of a path because of what was moved.
#[derive(Clone, Debug, Default)]
pub(super) struct Moved {
    /// It was removed or moved away: the path with its layers, or why it waits for a choice.
    gone: Option<Result<Rebuilt, Clashed>>,
    /// A change that goes along into it.
    pub(super) below: Option<Below>,
}

/// A change that goes along into a path, below what was written there since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Below {
    /// The path where it was made.
    pub(super) from: FilePath,
    /// The deltas that it takes out, and those that it puts in.
    pub(super) out: Vec<DeltaId>,
    pub(super) into: Vec<DeltaId>,
    /// The delta that made the path, with which bytes, and what they become.
    by: DeltaId,
    was: Record,
    becomes: Record,
}

/// What a layer that stays has taken away from a path.
struct Taken {
    by: DeltaId,
    was: Option<Record>,
    becomes: Result<Option<Record>, Clashed>,
    stack: Stack,
    /// What has been made there since, without what goes of it.
    above: Rebuilt,
    out: Vec<DeltaId>,
    into: Vec<DeltaId>,
}

/// Follows what was moved, from path to path. It ends: each further move is of a later delta.
pub(super) fn follow(wishes: &[Wish], look: &mut dyn Look) -> BTreeMap<FilePath, Moved> {
    let mut all: BTreeMap<FilePath, Moved> = BTreeMap::new();
    let mut open: Vec<&Wish> = wishes.iter().collect();
    while let Some(wish) = open.pop() {
        let below = all.get(&wish.path).and_then(|moved| moved.below.clone());
        let Some(taken) = taken(wish, below.as_ref(), look) else { continue };
        let doubt = || Err(Clashed { clash: Clash::Removed, by: ClashedBy::Stays(taken.by) });
        let (record, mixed) = (taken.above.record.clone(), taken.above.mixed);
        let gone = match target(wishes, wish, &taken, look) {
            // Nothing is there: layers go from below a removal as they are.
            Target::None if record.is_none() => continue,
            Target::None => Ok(Rebuilt { record, stack: taken.stack, mixed }),
            Target::Doubt => doubt(),
            Target::One(target, below) => {
                let there = &mut all.entry(target.path.clone()).or_default().below;
                match there {
                    Some(other) if other.from != below.from => doubt(),
                    Some(other) if *other == below => continue,
                    _ => {
                        *there = Some(below);
                        open.push(target);
                        Ok(Rebuilt { record, stack: taken.stack, mixed })
                    }
                }
            }
        };
        all.entry(wish.path.clone()).or_default().gone = Some(gone);
    }
    all
}

/// Where content went that a layer took away.
enum Target<'a> {
    /// Nowhere: nothing has to be decided.
    None,
    /// Nobody knows, or the change does not go along.
    Doubt,
    /// This path, which the change goes along into.
    One(&'a Wish, Below),
}

fn target<'a>(wishes: &'a [Wish], from: &Wish, taken: &Taken, look: &mut dyn Look) -> Target<'a> {
    let made = |wish: &&Wish| {
        let mut layers = wish.stack.layers().iter();
        let bytes = telling(taken.was.as_ref());
        wish.path != from.path
            && bytes.is_some()
            && matches!(wish.want, Want::Layers(_))
            && layers.any(|layer| made_by(layer, taken.by) && telling(layer.after.as_ref()) == bytes)
    };
    let mut found = wishes.iter().filter(made);
    let (one, is_only) = (found.next(), found.next().is_none());
    match (one, &taken.was, &taken.becomes) {
        // A removal that is the person's own is one by hand: only what comes to nothing anyway goes with it.
        (None, _, Ok(None)) => Target::None,
        (None, ..) if look.is_adopted(taken.by) => Target::Doubt,
        (None, ..) => Target::None,
        (Some(one), Some(was), Ok(Some(becomes)))
            if is_only
                && matches!(becomes, Record::File { .. })
                && matches!(look.now(&one.path), Now::Covered(_)) =>
        {
            let (out, into) = (taken.out.clone(), taken.into.clone());
            let (was, becomes) = (was.clone(), becomes.clone());
            Target::One(one, Below { from: from.path.clone(), out, into, by: taken.by, was, becomes })
        }
        (Some(_), ..) => Target::Doubt,
    }
}

fn made_by(layer: &Layer, by: DeltaId) -> bool {
    layer.delta == by && layer.before.is_none()
}

/// What a layer that stays has taken away from a path, if that changes.
fn taken(wish: &Wish, below: Option<&Below>, look: &mut dyn Look) -> Option<Taken> {
    let Want::Layers(wanted) = &wish.want else { return None };
    let have = wish.stack.layers();
    let (mut out, mut into) = wish.stack.difference(wanted);
    let unsure = |layer: &Layer| layer.grade.is_ambiguous() && out.contains(&layer.delta);
    if (out.is_empty() && into.is_empty() && below.is_none()) || have.iter().any(unsure) {
        return None;
    }
    let same = have.iter().zip(wanted).take_while(|(have, want)| have.delta == want.delta).count();
    let made = below.and_then(|below| have.iter().position(|layer| made_by(layer, below.by)));
    let changed = made.map_or(same, |made| same.min(made));
    let removes = |layer: &Layer| layer.after.is_none();
    let find = |by: DeltaId| have.iter().position(|layer| layer.delta == by && removes(layer));
    let (to, from) =
        wanted.iter().enumerate().skip(changed).find_map(|(to, layer)| {
            removes(layer).then(|| find(layer.delta)).flatten().map(|from| (to, from))
        })?;
    let Now::Covered(now) = look.now(&wish.path) else { return None };
    let was = have[from].before.clone();
    let lower = Stack::new(have[..from].to_vec()).rebuild(was.as_ref(), &wanted[..to], look);
    let lower = lower.and_then(|lower| match below {
        Some(below) => below.under(lower, look),
        None => Ok(lower),
    });
    let above = Stack::new(have[from..].to_vec()).rebuild(now.as_ref(), &wanted[to..], look).ok()?;
    if lower.as_ref().is_ok_and(|lower| lower.record == was) {
        return None;
    }
    let mut layers = lower.as_ref().map_or_else(|_| Vec::new(), |lower| lower.stack.layers().to_vec());
    let becomes = lower.map(|lower| lower.record);
    for (at, layer) in above.stack.layers().iter().enumerate() {
        let before = if at == 0 { becomes.clone().ok().flatten() } else { layer.before.clone() };
        layers.push(Layer { before, ..layer.clone() });
    }
    out.extend(below.iter().flat_map(|below| &below.out));
    into.extend(below.iter().flat_map(|below| &below.into));
    Some(Taken { by: wanted[to].delta, was, becomes, stack: Stack::new(layers), above, out, into })
}

impl Below {
    /// What a path is with the change below it.
    fn under(&self, there: Rebuilt, look: &mut dyn Look) -> Result<Rebuilt, Clashed> {
        let mut layers = there.stack.layers().to_vec();
        let Some(made) = layers.iter().position(|layer| made_by(layer, self.by)) else { return Ok(there) };
        let mut change = |version: &Option<Record>, by: ClashedBy| {
            let merged = merge(Some(&self.was), version.as_ref(), Some(&self.becomes), look);
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

    /// The layers with the change below them, as far as it goes together with them.
    fn settled(&self, stack: Stack, look: &mut dyn Look) -> Stack {
        let record = stack.layers().last().and_then(|last| last.after.clone());
        match self.under(Rebuilt { record, stack: stack.clone(), mixed: false }, look) {
            Ok(under) => under.stack,
            Err(_) => stack,
        }
    }
}

impl Moved {
    /// What is decided of a path from which something was removed.
    pub(super) fn decided(&self) -> Option<Result<Rebuilt, Clashed>> {
        self.gone.clone()
    }

    /// A path with what goes along into it.
    pub(super) fn along(&self, there: Rebuilt, look: &mut dyn Look) -> Result<Rebuilt, Clashed> {
        match &self.below {
            Some(below) => below.under(there, look),
            None => Ok(there),
        }
    }

    /// The layers of a path with what goes along into it, whatever is there.
    pub(super) fn settled(&self, stack: Stack, look: &mut dyn Look) -> Stack {
        match &self.below {
            Some(below) => below.settled(stack, look),
            None => stack,
        }
    }
}

/// The names of each move: the old one, and the new one.
pub(super) fn names(moved: &BTreeMap<FilePath, Moved>) -> Vec<(FilePath, FilePath)> {
    let below =
        moved.iter().filter_map(|(path, moved)| Some((moved.below.as_ref()?.from.clone(), path.clone())));
    below.collect()
}

/// What is left alone where it was moved to keeps its layer where that was made: a later step asks again.
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
