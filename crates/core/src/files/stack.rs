//! The layers of the agent's deltas in one path, in the order of application; and how to rebuild the path with another selection
//! of them.

use std::collections::VecDeque;
use std::fmt;

use super::change::Grade;
use super::merge::{Clash, MergeBytes, merge, merge_over};
use super::record::Record;
use crate::id::LogNo;

pub(super) use one::Step;
pub(super) use one::what_is_left_in_all;
use one::{FinalVersion, as_far_as, as_it_is_left, stepped, upon, upon_steps, what_is_left, without_written};

/// A delta of the store. One path can have layers of several logs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct DeltaId {
    /// The log of the conversation whose call made it.
    pub log: LogNo,
    /// Its number in that log: 1, 2, 3 …
    pub no: u64,
}

impl fmt::Debug for DeltaId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "delta {} of log {}", self.no, self.log.0)
    }
}

/// A delta's change of the path. If somebody else wrote between its changes, it has several layers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layer {
    /// Its delta.
    pub delta: DeltaId,
    /// Its grade.
    pub grade: Grade,
    /// The version before.
    pub before: Option<Record>,
    /// The version after.
    pub after: Option<Record>,
}

/// The current layers of a path, lowest first. Changes of other authors are not layers: they are the difference between one
/// layer's version after and the next one's version before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stack(Vec<Layer>);

/// Why a path cannot get another selection of layers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the layers do not go together with what is there")]
pub struct Clashed {
    /// The kind of clash.
    pub clash: Clash,
    /// The obstacle.
    pub by: ClashedBy,
}

/// The obstacle for layers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClashedBy {
    /// This version, where a layer had left another one.
    Found(Option<Record>),
    /// A later change of this delta, which stays.
    Stays(DeltaId),
    /// This returning layer, which was made on another version than the current one; with the delta right below it, if there is
    /// one.
    Comes(Box<Layer>, Option<DeltaId>),
}

/// A path with another selection of layers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rebuilt {
    /// Its version.
    pub record: Option<Record>,
    /// Its layers.
    pub stack: Stack,
    /// Whether changes of somebody else were merged with it.
    pub mixed: bool,
}

impl Stack {
    /// A stack of these layers.
    pub fn new(layers: Vec<Layer>) -> Self {
        Self(layers)
    }

    /// The layers, lowest first.
    pub fn layers(&self) -> &[Layer] {
        &self.0
    }

    /// Adds the next layer.
    pub fn push(&mut self, layer: Layer) {
        match self.0.last_mut() {
            // A delta's changes without anything in between are one layer.
            Some(last) if last.delta == layer.delta && last.after == layer.before => {
                last.after = layer.after;
                last.grade = last.grade.max(layer.grade);
            }
            _ => self.0.push(layer),
        }
    }

    /// The layers of one delta.
    pub(super) fn of(&self, delta: DeltaId) -> Vec<Layer> {
        self.0.iter().filter(|layer| layer.delta == delta).cloned().collect()
    }

    /// The number of lowest layers that stay when exactly `wanted` (in path order) must be in the path.
    pub(super) fn kept(&self, wanted: &[Layer]) -> usize {
        let same = |(have, want): &(&Layer, &Layer)| have.delta == want.delta;
        self.0.iter().zip(wanted).take_while(same).count()
    }

    /// The deltas that `wanted` removes from the path, highest first, and those that it adds, lowest first.
    pub fn difference(&self, wanted: &[Layer]) -> (Vec<DeltaId>, Vec<DeltaId>) {
        let names = |layers: &[Layer]| layers.iter().map(|layer| layer.delta).collect::<Vec<_>>();
        let (have, want) = (names(&self.0), names(wanted));
        let mut out: Vec<_> = have.iter().rev().copied().filter(|no| !want.contains(no)).collect();
        let mut into: Vec<_> = want.into_iter().filter(|no| !have.contains(no)).collect();
        out.dedup();
        into.dedup();
        (out, into)
    }

    /// The layers without those of these deltas.
    #[must_use]
    pub fn without(&self, deltas: &[DeltaId]) -> Self {
        Self(self.0.iter().filter(|layer| !deltas.contains(&layer.delta)).cloned().collect())
    }

    /// The path with exactly `wanted` in it. Unwanted layers are reverted in reverse order of application. Then the wanted ones
    /// above are applied again, each merged with changes of other authors. If the path is absent and the layer that removed it
    /// stays, there is nothing to decide: it stays absent, and the layers are as if that was chosen.
    pub fn rebuild(
        &self,
        disk: Option<&Record>,
        wanted: &[Layer],
        bytes: &mut dyn MergeBytes,
    ) -> Result<Rebuilt, Clashed> {
        let is_gone = disk.is_none() && wanted.last().is_some_and(|last| last.after.is_none());
        let stays_gone = || {
            let last = |layers: &[Layer]| layers.last().map(|layer| layer.delta);
            is_gone && last(&self.0) == last(wanted)
        };
        match self.merged(disk, wanted, bytes) {
            Err(_) if stays_gone() => {
                Ok(Rebuilt { record: None, stack: self.below_removal(wanted, bytes), mixed: false })
            }
            // A missing file contains no changes of other authors.
            Ok(rebuilt) => Ok(Rebuilt { mixed: rebuilt.mixed && !is_gone, ..rebuilt }),
            clashed => clashed,
        }
    }

    fn merged(
        &self,
        disk: Option<&Record>,
        wanted: &[Layer],
        bytes: &mut dyn MergeBytes,
    ) -> Result<Rebuilt, Clashed> {
        let kept = self.kept(wanted);
        let mut now = disk.cloned();
        let mut mixed = false;
        let mut rest = &self.0[kept..];
        let mut left = Vec::new();
        while let Some(last) = rest.last() {
            // A chain without changes of other authors is reverted in one step.
            let mut first = rest.len() - 1;
            while first > 0 && rest[first - 1].after == rest[first].before {
                first -= 1;
            }
            let merged = merge(last.after.as_ref(), now.as_ref(), rest[first].before.as_ref(), bytes)
                .map_err(|clash| Clashed { clash, by: ClashedBy::Found(now.clone()) })?;
            mixed |= merged.mixed;
            left.extend(what_is_left(&rest[first..], now.as_ref(), bytes));
            now = merged.record;
            rest = &rest[..first];
        }
        let mut stack = self.0[..kept].to_vec();
        for layer in &wanted[kept..] {
            let left = as_it_is_left(layer, &left, bytes);
            let merged = merge(left.before.as_ref(), now.as_ref(), left.after.as_ref(), bytes)
                .map_err(|clash| Clashed { clash, by: self.clashed_by(layer, now.as_ref(), &stack) })?;
            mixed |= merged.mixed;
            stack.push(Layer { before: now, after: merged.record.clone(), ..layer.clone() });
            now = merged.record;
        }
        Ok(Rebuilt { record: now, stack: Self(stack), mixed })
    }

    /// The obstacle for a layer that is applied to the current version, with these below it.
    fn clashed_by(&self, layer: &Layer, now: Option<&Record>, below: &[Layer]) -> ClashedBy {
        if self.0.iter().any(|have| have.delta == layer.delta) {
            return ClashedBy::Stays(layer.delta);
        }
        match below.last() {
            Some(below) if below.after.as_ref() != now => ClashedBy::Found(now.cloned()),
            below => ClashedBy::Comes(Box::new(layer.clone()), below.map(|below| below.delta)),
        }
    }

    /// The exact version that the deltas left when `wanted` were in it, whatever others wrote.
    pub fn checkpoint(&self, wanted: &[Layer]) -> Option<Record> {
        let kept = self.kept(wanted);
        match (wanted[kept..].last(), self.0.get(kept)) {
            (Some(put), _) => put.after.clone(),
            (None, Some(taken)) => taken.before.clone(),
            (None, None) => self.0.last().and_then(|layer| layer.after.clone()),
        }
    }

    /// The layers after a restore of the path to its version with only those in `left`, which is now `record`. The other layers
    /// stay without effect: a rewind past them, even to before they were made, keeps the restored version.
    #[must_use]
    pub fn put_back(&self, left: Self, record: Option<&Record>) -> Self {
        let (out, into) = self.difference(&left.0);
        if !into.is_empty() {
            return self.clone();
        }
        let mut stack = left;
        for delta in out.into_iter().rev() {
            let grades = self.0.iter().filter(|layer| layer.delta == delta).map(|layer| layer.grade);
            let grade = grades.max().unwrap_or(Grade::Written);
            stack.0.push(Layer { delta, grade, before: record.cloned(), after: record.cloned() });
        }
        stack
    }

    /// The layers if a part of these deltas' change was there already: `alike` is the version with that part. Text that one of
    /// them wrote and a later one wrote over no longer counts: it was never there together with that part.
    #[must_use]
    pub(super) fn upon_alike(
        &self,
        deltas: &[DeltaId],
        (version, alike): (Option<&Record>, Option<&Record>),
        bytes: &mut dyn MergeBytes,
    ) -> Self {
        let mut layers = self.0.clone();
        for layer in layers.iter_mut().filter(|layer| deltas.contains(&layer.delta)) {
            let mut with = |found: &Option<Record>| {
                let over = merge_over(version, alike, found.as_ref(), bytes);
                over.unwrap_or_else(|_| alike.cloned())
            };
            (layer.before, layer.after) = (with(&layer.before), with(&layer.after));
        }
        Self(layers)
    }

    /// The layers for a path that gets a version which may be one of theirs, before or after.
    #[must_use]
    pub fn at_version(&self, record: Option<&Record>) -> Self {
        let left = |layer: &Layer| layer.after.as_ref() == record;
        let found = |layer: &Layer| layer.before.as_ref() == record;
        if self.0.last().is_some_and(left) {
            return self.clone();
        }
        match self.0.iter().rposition(found) {
            Some(kept) => self.put_back(Self(self.0[..kept].to_vec()), record),
            None => self.clone(),
        }
    }

    /// The layers if only a part of the change to `wanted` is applied (case 37). The rest still belongs to its delta: each layer
    /// then contains what is left of it, and an empty one is removed. Parts that cannot be separated stay with the higher layer.
    pub fn partly(
        &self,
        disk: Option<&Record>,
        wanted: &[Layer],
        part: &Record,
        bytes: &mut dyn MergeBytes,
    ) -> Result<Self, Clash> {
        let kept = self.0.iter().zip(wanted).take_while(|(have, want)| have == want).count();
        let base = self.rebuild(disk, &self.0[..kept], bytes).map_err(|clashed| clashed.clash)?.record;
        let Self(mut layers) = self.together(wanted);
        let mut above = layers.split_off(kept);
        let mut after = Some(part.clone());
        for (at, layer) in above.iter_mut().enumerate().rev() {
            let merged = merge(layer.after.as_ref(), after.as_ref(), layer.before.as_ref(), bytes);
            let before = merged.ok().filter(|_| at > 0).map_or_else(|| base.clone(), |merged| merged.record);
            *layer = Layer { before: before.clone(), after, ..layer.clone() };
            after = before;
        }
        layers.extend(above.into_iter().filter(|layer| layer.before != layer.after));
        Ok(Self(layers))
    }

    /// The layers, and those of `wanted` that are missing, in path order.
    #[must_use]
    pub fn together(&self, wanted: &[Layer]) -> Self {
        let have = |delta| self.0.iter().any(|layer| layer.delta == delta);
        let mut layers = self.0.clone();
        layers.extend(wanted.iter().filter(|want| !have(want.delta)).cloned());
        layers.sort_by_key(|layer| layer.delta);
        Self(layers)
    }

    /// The path as exactly `wanted` make it, whatever others wrote since. Text that a staying layer wrote over a leaving or
    /// returning one stays; `None` if the leaving part cannot be separated from it.
    pub fn exact(&self, wanted: &[Layer], bytes: &mut dyn MergeBytes) -> Option<Rebuilt> {
        let kept = self.kept(wanted);
        let (stack, whole) = self.between(wanted, FinalVersion::Exactly, bytes);
        let record = match wanted.get(kept..) {
            Some([.., last]) => stack.left_by(last.delta),
            _ => self.checkpoint(wanted),
        };
        (whole || record.is_none()).then_some(Rebuilt { record, stack, mixed: false })
    }

    /// Whether this is the version that these layers left; without layers, the one that the first layer of `other` found.
    pub(super) fn is_just(&self, record: Option<&Record>, other: &Self) -> bool {
        match (self.0.last(), other.0.first()) {
            (Some(last), _) => last.after.as_ref() == record,
            (None, Some(first)) => first.before.as_ref() == record,
            (None, None) => false,
        }
    }

    fn left_by(&self, delta: DeltaId) -> Option<Record> {
        self.0.iter().rfind(|layer| layer.delta == delta).and_then(|layer| layer.after.clone())
    }

    /// The layers if the path gets the version of `wanted`, whatever others wrote. A dropped change does not return with a layer
    /// that was made on it (case 36), and a returning one is below what stays. Changes of other authors between them stay there,
    /// too.
    #[must_use]
    pub fn exactly(&self, wanted: &[Layer], bytes: &mut dyn MergeBytes) -> Self {
        self.between(wanted, FinalVersion::Exactly, bytes).0
    }

    /// The same if a staying layer has removed the file: the layers below it keep only their own changes and those of other
    /// authors.
    pub(super) fn below_removal(&self, wanted: &[Layer], bytes: &mut dyn MergeBytes) -> Self {
        self.between(wanted, FinalVersion::Nothing, bytes).0
    }

    /// The same, and whether all dropped changes are out of the staying layers. Of a missing file they keep only their own
    /// changes and those of other authors.
    fn between(&self, wanted: &[Layer], file: FinalVersion, bytes: &mut dyn MergeBytes) -> (Self, bool) {
        let stays = |layer: &Layer| self.0.iter().any(|have| have.delta == layer.delta);
        let (settled, whole) = self.freed(wanted, file, bytes);
        let Self(mut layers) = settled.together(wanted);
        for at in 1..layers.len() {
            let (below, above) = layers.split_at_mut(at);
            if stays(&above[0]) {
                let came = below.iter().filter(|layer| !stays(layer));
                let steps = came.map(|layer| (layer.before.as_ref(), layer.after.as_ref()));
                let before = as_far_as(above[0].before.as_ref(), steps, FinalVersion::Exactly, bytes).0;
                let (found, left) = (above[0].before.as_ref(), above[0].after.as_ref());
                if let Ok(after) = merge_over(found, left, before.as_ref(), bytes) {
                    above[0].after = after;
                }
                above[0].before = before;
            }
        }
        (Self(layers), whole)
    }

    /// The layers if the version on disk is kept although only `wanted` should be in it: the changes that should be reverted
    /// count as somebody else's from now on. Each layer above loses the dropped changes, so that they do not return with it (case
    /// 36), and keeps changes of other authors.
    #[must_use]
    pub fn settled(&self, wanted: &[Layer], bytes: &mut dyn MergeBytes) -> Self {
        self.freed(wanted, FinalVersion::AsItIs, bytes).0
    }

    /// The layers without the unwanted ones, and whether their changes are out of the others completely. Text that a staying
    /// layer wrote over belongs to that layer, and stays in those above it.
    fn freed(&self, wanted: &[Layer], file: FinalVersion, bytes: &mut dyn MergeBytes) -> (Self, bool) {
        let mut stack: Vec<Layer> = Vec::new();
        // The changes to remove from the next layer, the last first, each from one version to another.
        let mut steps: VecDeque<Step> = VecDeque::new();
        let mut all_whole = true;
        for layer in &self.0 {
            if !wanted.iter().any(|want| want.delta == layer.delta) {
                steps.push_front((layer.after.clone(), layer.before.clone()));
                continue;
            }
            let taken = steps.iter().map(|(from, to)| (from.as_ref(), to.as_ref()));
            let (before, stopped) = as_far_as(layer.before.as_ref(), taken, file, bytes);
            let (mut freed, whole) = upon(layer, before, file, bytes);
            all_whole &= stopped.is_none() && whole;
            if let Some(found) = stopped.and_then(|made| without_written(&freed, made, bytes)) {
                freed.before = Some(found);
            }
            if whole {
                steps.clear();
                steps.push_front((layer.after.clone(), freed.after.clone()));
            }
            stack.push(freed);
        }
        (Self(stack), all_whole)
    }

    /// The path with exactly `wanted`, if the changes are made below the staying layers, as if they were somebody else's. `None`
    /// if a part cannot be merged with the current version, or with the layers above.
    pub fn from_below(
        &self,
        wanted: &[Layer],
        disk: Option<&Record>,
        bytes: &mut dyn MergeBytes,
    ) -> Option<Rebuilt> {
        let (out, into) = self.difference(wanted);
        let mut stack = Vec::new();
        let mut steps: VecDeque<Step> = VecDeque::new();
        let mut rest = self.0.iter();
        for layer in &self.together(wanted).0 {
            if into.contains(&layer.delta) {
                let found = rest.as_slice().first().map_or(disk, |next| next.before.as_ref());
                let before = stepped(found, &steps, bytes)?;
                let own = Step::from((layer.before.clone(), layer.after.clone()));
                let after = stepped(before.as_ref(), [&own], bytes)?;
                stack.push(Layer { before, after, ..layer.clone() });
                steps.push_back(own);
                continue;
            }
            rest.next();
            if out.contains(&layer.delta) {
                steps.push_front((layer.after.clone(), layer.before.clone()));
                continue;
            }
            stack.push(upon_steps(layer, &steps, bytes)?);
        }
        Some(Rebuilt { record: stepped(disk, &steps, bytes)?, stack: Self(stack), mixed: true })
    }

    /// The path when these steps, which left it with the layers `left`, are made below the layers since. `found` are the layers
    /// below them then. `None` if one of the steps cannot be merged with the current version.
    pub(super) fn stepped_below(
        &self,
        (left, found): (&Self, &Self),
        steps: &[Step],
        disk: Option<&Record>,
        bytes: &mut dyn MergeBytes,
    ) -> Option<Rebuilt> {
        let since = self.0.strip_prefix(left.layers())?;
        let mut stack = found.0.clone();
        for layer in since {
            stack.push(upon_steps(layer, steps, bytes)?);
        }
        Some(Rebuilt { record: stepped(disk, steps, bytes)?, stack: Self(stack), mixed: true })
    }
}

mod one;

#[cfg(test)]
pub(super) mod tests;
