//! The layers of a delta that returns to a path, and those of deltas that stay above it (spec `rewind.md`, *After*, case 58).
//! What a person had removed of it before it went does not return. Changes of later deltas to it are applied again.

use super::merge::{MergeBytes, merge};
use super::plan::PathMove;
use super::stack::{DeltaId, Layer, Stack, what_is_left_in_all};

/// Finds these layers from the steps on the path, last step first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct OriginalLayersFinder {
    delta: DeltaId,
    layers: Vec<Layer>,
    /// The layers with which a later step had restored it.
    came: Option<Vec<Layer>>,
}

impl OriginalLayersFinder {
    /// For a delta with these original layers on the path.
    pub(super) fn new(delta: DeltaId, made: Vec<Layer>) -> Self {
        Self { delta, layers: made, came: None }
    }

    /// The delta of these layers.
    pub(super) fn delta(&self) -> DeltaId {
        self.delta
    }

    /// The layers, as far as they are known.
    pub(super) fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// Reads a step that was made before those that it has read; `is_merge` is whether nobody made a choice for this path.
    /// Returns whether earlier ones do not matter.
    pub(super) fn look_at(&mut self, step: &PathMove, is_merge: bool, bytes: &mut dyn MergeBytes) -> bool {
        let (had, has) = (step.stack_before.of(self.delta), step.stack_after.of(self.delta));
        if had.is_empty() {
            self.came = Some(has).filter(|has| !has.is_empty()).or(self.came.take());
            return false;
        }
        // A step that was undone removed nothing.
        if !has.is_empty() || self.came.take().is_some_and(|came| came == had) {
            return false;
        }
        let nothing = |layers: &[Layer]| layers.iter().all(|layer| layer.before == layer.after);
        // A step on files had put the path back to before it.
        if nothing(&had) && !nothing(&self.layers) {
            self.layers = had;
            return true;
        }
        let less = if is_merge { self.less(step, bytes) } else { None };
        match less {
            Some(less) => {
                self.layers = less;
                true
            }
            None => had == self.layers,
        }
    }

    /// What was left of the delta when this step removed it; `None` if it was still complete.
    fn less(&self, step: &PathMove, bytes: &mut dyn MergeBytes) -> Option<Vec<Layer>> {
        let (change, before, after) = (&step.change, &step.stack_before, &step.stack_after);
        let again = after.rebuild(change.after.as_ref(), before.layers(), bytes);
        if again.is_ok_and(|again| again.record == change.before) {
            return None;
        }
        let taken = &before.layers()[before.kept(after.layers())..];
        let left = what_is_left_in_all(taken, change.before.as_ref(), bytes);
        let as_it_went = |layer: &Layer| match left.iter().find(|(of, _)| *of == layer) {
            // Without changes by others, if these can be separated.
            Some((_, left)) => {
                let (below, above) = (left.before.as_ref(), left.after.as_ref());
                let alone = merge(below, layer.before.as_ref(), above, bytes);
                alone.map_or(left.clone(), |alone| Layer { after: alone.record, ..layer.clone() })
            }
            None => layer.clone(),
        };
        Some(before.of(self.delta).iter().map(as_it_went).collect())
    }
}

/// Finds the layers of a delta above others that return: those that it had when it was last above them. It may have lost its
/// changes to them while they were away.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct UpperLayersFinder {
    delta: DeltaId,
    below: Vec<DeltaId>,
    /// Its layers above the others, if there was such a time.
    upon: Option<Vec<Layer>>,
    /// Its layers right after that.
    since: Option<Vec<Layer>>,
    /// Whether a later step had restored it.
    came: bool,
}

impl UpperLayersFinder {
    /// For a delta that stays or returns, above these that return.
    pub(super) fn new(delta: DeltaId, below: Vec<DeltaId>) -> Self {
        Self { delta, below, upon: None, since: None, came: false }
    }

    /// The delta of these layers.
    pub(super) fn delta(&self) -> DeltaId {
        self.delta
    }

    /// Its layers above the others. None if it never was above them, or if a person has made a choice about it since.
    pub(super) fn layers(&self) -> Option<&[Layer]> {
        self.upon.as_deref()
    }

    /// Its layers above the others, if it returns with these and they are what was left of those.
    pub(super) fn instead_of(&self, coming: &[Layer]) -> Option<&[Layer]> {
        self.layers().filter(|_| self.since.as_deref() == Some(coming))
    }

    /// Reads a step that was made before those that it has read; `is_merge` is whether nobody made a choice for this path.
    /// Returns whether earlier ones do not matter.
    pub(super) fn look_at(&mut self, step: &PathMove, is_merge: bool) -> bool {
        let is_in = |stack: &Stack, delta: &DeltaId| stack.layers().iter().any(|layer| layer.delta == *delta);
        let (had, has) = (step.stack_before.of(self.delta), step.stack_after.of(self.delta));
        for (stack, layers) in [(&step.stack_after, &has), (&step.stack_before, &had)] {
            if !layers.is_empty() && self.below.iter().all(|delta| is_in(stack, delta)) {
                self.upon = Some(layers.clone());
                return true;
            }
            self.since = Some(layers.clone()).filter(|layers| !layers.is_empty()).or(self.since.take());
            if !has.is_empty() && had != has && !is_merge {
                return true;
            }
        }
        self.came |= had.is_empty() && !has.is_empty();
        let went = |delta: &DeltaId| is_in(&step.stack_before, delta) && !is_in(&step.stack_after, delta);
        // It was made while they were away.
        had.is_empty() && !self.came && self.below.iter().any(went)
    }
}

impl PathMove {
    /// Whether the step did what its layers mean and nobody made another choice, as far as the path alone shows.
    pub(super) fn is_merge(&self, bytes: &mut dyn MergeBytes) -> bool {
        let (before, after) = (self.change.before.as_ref(), self.change.after.as_ref());
        let merged = self.stack_before.rebuild(before, self.stack_after.layers(), bytes);
        merged.is_ok_and(|merged| merged.record.as_ref() == after && merged.stack == self.stack_after)
    }

    /// Whether this depends on other paths: a file that was created or removed, now or before, may have been renamed.
    pub(super) fn is_told_by_others(&self) -> bool {
        let is_away = |stack: &Stack| stack.layers().iter().any(|layer| layer.after.is_none());
        self.change.before.is_none() || self.change.after.is_none() || is_away(&self.stack_before)
    }

    /// Whether a path with these layers is as the step left it, and is to have exactly the deltas from before the step.
    pub(super) fn led_from(&self, wanted: &[Layer], stack: &Stack) -> bool {
        let (out, into) = self.stack_before.difference(wanted);
        self.stack_after == *stack && out.is_empty() && into.is_empty()
    }

    /// Whether the step left a part of this delta in the path.
    pub(super) fn parted(&self, delta: DeltaId) -> bool {
        let (had, has) = (self.stack_before.of(delta), self.stack_after.of(delta));
        !had.is_empty() && !has.is_empty() && had != has
    }
}

#[cfg(test)]
mod tests;
