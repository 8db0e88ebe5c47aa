//! What the agent's deltas have done to one path, in the order of application; and how the path becomes another
//! selection of them.

use std::collections::VecDeque;
use std::fmt;

use super::change::Grade;
use super::merge::{Clash, MergeBytes, merge, merge_over};
use super::record::Record;
use crate::id::LogNo;

pub(super) use one::Step;
pub(super) use one::what_is_left_in_all;
use one::{Becomes, as_far_as, as_it_is_left, stepped, upon, upon_steps, what_is_left, without_written};

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

/// What one delta did to the path. A delta between whose changes somebody else wrote has several layers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Layer {
    /// Whose it is.
    pub delta: DeltaId,
    /// How sure that is.
    pub grade: Grade,
    /// What was there.
    pub before: Option<Record>,
    /// What it left.
    pub after: Option<Record>,
}

/// The layers that are in a path now, lowest first. What others wrote is not among them: it is the difference between
/// what a layer left and what the next one found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Stack(Vec<Layer>);

/// Why a path can't get another selection of layers.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the layers do not go together with what is there")]
pub struct Clashed {
    /// What doesn't go together.
    pub clash: Clash,
    /// What stands in the way.
    pub by: ClashedBy,
}

/// What stands in the way of layers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClashedBy {
    /// This version, which was found where a layer had left another one.
    Found(Option<Record>),
    /// What this delta did above, and what is to stay.
    Stays(DeltaId),
    /// This layer is to come, and was made on something else than is there; the delta right below it, if there is one.
    Comes(Box<Layer>, Option<DeltaId>),
}

/// A path as another selection of layers makes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rebuilt {
    /// What is to be there.
    pub record: Option<Record>,
    /// The layers that are in it then.
    pub stack: Stack,
    /// Whether something that others wrote was merged with it.
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

    /// Puts the next layer on it.
    pub fn push(&mut self, layer: Layer) {
        match self.0.last_mut() {
            // What one delta did in several steps, with nothing in between, is one layer.
            Some(last) if last.delta == layer.delta && last.after == layer.before => {
                last.after = layer.after;
                last.grade = last.grade.max(layer.grade);
            }
            _ => self.0.push(layer),
        }
    }

    /// Those of one delta.
    pub(super) fn of(&self, delta: DeltaId) -> Vec<Layer> {
        self.0.iter().filter(|layer| layer.delta == delta).cloned().collect()
    }

    /// How many of the lowest layers stay when exactly `wanted` (in path order) are to be in the path.
    pub(super) fn kept(&self, wanted: &[Layer]) -> usize {
        let same = |(have, want): &(&Layer, &Layer)| have.delta == want.delta;
        self.0.iter().zip(wanted).take_while(same).count()
    }

    /// The deltas that `wanted` takes out of the path, highest first, and those that it puts in, lowest first.
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

    /// The path with exactly `wanted` in it. What is not wanted is taken back in reverse order of application. Then what is
    /// wanted above it is put forward again, each merged over what others wrote. Where nothing is there and the one that
    /// removed it stays, nothing has to be decided: nothing is there after it, and the layers are as where that is chosen.
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
            // What is gone holds nothing that others wrote.
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
            // A chain without anybody else's change in it goes back in one step.
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

    /// What stands in the way of a layer that is put forward over what is there, with these below it.
    fn clashed_by(&self, layer: &Layer, now: Option<&Record>, below: &[Layer]) -> ClashedBy {
        if self.0.iter().any(|have| have.delta == layer.delta) {
            return ClashedBy::Stays(layer.delta);
        }
        match below.last() {
            Some(below) if below.after.as_ref() != now => ClashedBy::Found(now.cloned()),
            below => ClashedBy::Comes(Box::new(layer.clone()), below.map(|below| below.delta)),
        }
    }

    /// The path exactly as the deltas left it when `wanted` were the ones in it, whatever others wrote.
    pub fn checkpoint(&self, wanted: &[Layer]) -> Option<Record> {
        let kept = self.kept(wanted);
        match (wanted[kept..].last(), self.0.get(kept)) {
            (Some(put), _) => put.after.clone(),
            (None, Some(taken)) => taken.before.clone(),
            (None, None) => self.0.last().and_then(|layer| layer.after.clone()),
        }
    }

    /// The layers when somebody asks for what the path was with only those in `left`, which comes to be `record`. The
    /// others stay, and do nothing any more: going back past them, and to where they were made, leaves what was put back.
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

    /// The layers when a part of what these deltas did to a version was there already: this version holds it. What one of them
    /// wrote and a later one wrote over does not count any more: it was never there beside that.
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

    /// The layers when the path becomes a version that may be one of those that they left or found.
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

    /// The layers when only a part of what leads to `wanted` is done (case 37). What is not done of it is still its delta's: each
    /// layer then holds what is left of it, and one with nothing left goes. What can't be told apart stays with the
    /// layer that is higher.
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

    /// The layers, and those of `wanted` that are not among them, in path order.
    #[must_use]
    pub fn together(&self, wanted: &[Layer]) -> Self {
        let have = |delta| self.0.iter().any(|layer| layer.delta == delta);
        let mut layers = self.0.clone();
        layers.extend(wanted.iter().filter(|want| !have(want.delta)).cloned());
        layers.sort_by_key(|layer| layer.delta);
        Self(layers)
    }

    /// The path as exactly `wanted` make it, whatever others wrote since. What a layer that stays wrote over what comes or goes
    /// stays; nothing, where what goes can't be told from that.
    pub fn exact(&self, wanted: &[Layer], bytes: &mut dyn MergeBytes) -> Option<Rebuilt> {
        let kept = self.kept(wanted);
        let (stack, whole) = self.between(wanted, Becomes::Exactly, bytes);
        let record = match wanted.get(kept..) {
            Some([.., last]) => stack.left_by(last.delta),
            _ => self.checkpoint(wanted),
        };
        (whole || record.is_none()).then_some(Rebuilt { record, stack, mixed: false })
    }

    /// Whether this is what these layers left; without layers, what the first one of another time found.
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

    /// The layers when the path becomes what they left when `wanted` were the ones in it, whatever others wrote. What was
    /// dropped does not come back with a layer that was made on it (case 36), and what comes in lies below what stays. What
    /// others wrote between them stays there, too.
    #[must_use]
    pub fn exactly(&self, wanted: &[Layer], bytes: &mut dyn MergeBytes) -> Self {
        self.between(wanted, Becomes::Exactly, bytes).0
    }

    /// The same, where a layer that stays has removed the file: those below it keep nothing else than what others and they wrote.
    pub(super) fn below_removal(&self, wanted: &[Layer], bytes: &mut dyn MergeBytes) -> Self {
        self.between(wanted, Becomes::Nothing, bytes).0
    }

    /// The same, and whether all that was dropped is out of the layers that stay. Of a file that is gone they keep nothing else
    /// than what others and they themselves wrote.
    fn between(&self, wanted: &[Layer], file: Becomes, bytes: &mut dyn MergeBytes) -> (Self, bool) {
        let stays = |layer: &Layer| self.0.iter().any(|have| have.delta == layer.delta);
        let (settled, whole) = self.freed(wanted, file, bytes);
        let Self(mut layers) = settled.together(wanted);
        for at in 1..layers.len() {
            let (below, above) = layers.split_at_mut(at);
            if stays(&above[0]) {
                let came = below.iter().filter(|layer| !stays(layer));
                let steps = came.map(|layer| (layer.before.as_ref(), layer.after.as_ref()));
                let before = as_far_as(above[0].before.as_ref(), steps, Becomes::Exactly, bytes).0;
                let (found, left) = (above[0].before.as_ref(), above[0].after.as_ref());
                if let Ok(after) = merge_over(found, left, before.as_ref(), bytes) {
                    above[0].after = after;
                }
                above[0].before = before;
            }
        }
        (Self(layers), whole)
    }

    /// The layers when what is on the disk is kept although only `wanted` should be in it: what was to be taken back counts
    /// as somebody else's from now on. Each layer above it loses what the dropped ones did, so that it does not come back
    /// when that layer goes or comes (case 36), and nothing that others wrote.
    #[must_use]
    pub fn settled(&self, wanted: &[Layer], bytes: &mut dyn MergeBytes) -> Self {
        self.freed(wanted, Becomes::AsItIs, bytes).0
    }

    /// The layers without those that are not wanted, and whether all that those did is out of them. What a layer that stays wrote
    /// over is that layer's, and stays in those above it.
    fn freed(&self, wanted: &[Layer], file: Becomes, bytes: &mut dyn MergeBytes) -> (Self, bool) {
        let mut stack: Vec<Layer> = Vec::new();
        // What is to be taken out of the next layer, the last first: from one version to another each.
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

    /// The path with exactly `wanted`, where what goes and what comes does so from below what stays, as if it were somebody else's.
    /// Nothing, where a part of it does not go together with what is there, or with what lies above it.
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

    /// The path when these steps, which left it with the layers `left`, are done from below the layers that were made since.
    /// `found` are those that it then has below them. Nothing, where one of them does not go together with what is there.
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
