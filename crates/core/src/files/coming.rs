//! With which layers a delta comes back into a path that it went from: what a person had removed of it before it went does not
//! come back with it (spec `rewind.md`, *After*, case 58).

use super::merge::{MergeBytes, merge};
use super::plan::PathMove;
use super::stack::{DeltaId, Layer, Stack, what_is_left};

/// Finds that out from what was done to the path, last step first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coming {
    delta: DeltaId,
    layers: Vec<Layer>,
    /// The layers with which a later step had put it in.
    came: Option<Vec<Layer>>,
}

impl Coming {
    /// Of a delta that did this to the path.
    pub fn new(delta: DeltaId, made: Vec<Layer>) -> Self {
        Self { delta, layers: made, came: None }
    }

    /// The layers, as far as it is known.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// Looks at a step that was done before those that it has seen. Says whether no earlier one matters.
    pub fn look_at(&mut self, step: &PathMove, bytes: &mut dyn MergeBytes) -> bool {
        let (had, has) = (self.of(&step.stack_before), self.of(&step.stack_after));
        if had.is_empty() {
            self.came = Some(has).filter(|has| !has.is_empty()).or(self.came.take());
            return false;
        }
        // A step that was undone took nothing out.
        if !has.is_empty() || self.came.take().is_some_and(|came| came == had) {
            return false;
        }
        let nothing = |layers: &[Layer]| layers.iter().all(|layer| layer.before == layer.after);
        // A step on files had put the path back to before it.
        if nothing(&had) && !nothing(&self.layers) {
            self.layers = had;
            return true;
        }
        match self.less(step, bytes) {
            Some(less) => {
                self.layers = less;
                true
            }
            None => had == self.layers,
        }
    }

    fn of(&self, stack: &Stack) -> Vec<Layer> {
        stack.layers().iter().filter(|layer| layer.delta == self.delta).cloned().collect()
    }

    /// What was left of the delta when this step took it out; nothing, where all of it was, or where that can't be told as
    /// somebody chose what the path is to be.
    fn less(&self, step: &PathMove, bytes: &mut dyn MergeBytes) -> Option<Vec<Layer>> {
        let (change, before, after) = (&step.change, &step.stack_before, &step.stack_after);
        if !step.is_merge(bytes) {
            return None;
        }
        let again = after.rebuild(change.after.as_ref(), before.layers(), bytes);
        if again.is_ok_and(|again| again.record == change.before) {
            return None;
        }
        let taken = &before.layers()[before.kept(after.layers())..];
        let left = what_is_left(taken, change.before.as_ref(), bytes);
        let as_it_went = |layer: &Layer| match left.iter().find(|(of, _)| *of == layer) {
            // Without what others wrote, where that can be told from it.
            Some((_, left)) => {
                let (below, above) = (left.before.as_ref(), left.after.as_ref());
                let alone = merge(below, layer.before.as_ref(), above, bytes);
                alone.map_or(left.clone(), |alone| Layer { after: alone.record, ..layer.clone() })
            }
            None => layer.clone(),
        };
        Some(self.of(before).iter().map(as_it_went).collect())
    }
}

impl PathMove {
    /// Whether the step did what layers come to, and nobody chose anything else.
    pub fn is_merge(&self, bytes: &mut dyn MergeBytes) -> bool {
        let (before, after) = (self.change.before.as_ref(), self.change.after.as_ref());
        let merged = self.stack_before.rebuild(before, self.stack_after.layers(), bytes);
        merged.is_ok_and(|merged| merged.record.as_ref() == after && merged.stack == self.stack_after)
    }

    /// Whether a path with these layers is as the step left it, and is to have just the deltas that it had before.
    pub fn led_from(&self, wanted: &[Layer], stack: &Stack) -> bool {
        let (out, into) = self.stack_before.difference(wanted);
        self.stack_after == *stack && out.is_empty() && into.is_empty()
    }
}

#[cfg(test)]
mod tests;
