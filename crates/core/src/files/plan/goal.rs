//! What a path is to become, as layers, and how far that goes together with what is there.

use super::super::merge::merge;
use super::super::stack::{Clashed, ClashedBy, DeltaNo, Rebuilt, Stack};
use super::{Grade, Look, Outcome, PathMove, Record, Verdict, Want};

/// What a path is to become, as layers.
pub(super) struct Goal {
    pub(super) stack: Stack,
    /// What is reversed on the way, in this order.
    pub(super) reversed: Vec<PathMove>,
    /// The layers stay, whatever the path becomes.
    pub(super) stays: bool,
}

impl Goal {
    pub(super) fn new(stack: &Stack, want: Want) -> Self {
        match want {
            Want::Layers(layers) => Self { stack: Stack::new(layers), reversed: Vec::new(), stays: false },
            Want::PutBack(layers) => Self { stack: Stack::new(layers), reversed: Vec::new(), stays: true },
            Want::Version { .. } => unreachable!("BUG: a version has a plan of its own"),
            Want::Back { reversed, without } => {
                let last = reversed.last().map_or(stack, |made| &made.stack_before);
                Self { stack: last.without(&without), reversed, stays: false }
            }
        }
    }

    pub(super) fn merged(
        &self,
        stack: &Stack,
        disk: Option<&Record>,
        look: &mut dyn Look,
    ) -> Result<Rebuilt, Clashed> {
        let (mut now, mut stack, mut mixed) = (disk.cloned(), stack, false);
        for made in &self.reversed {
            // What was done upon it since goes first.
            let there = stack.rebuild(now.as_ref(), made.stack_after.layers(), look)?;
            let (base, theirs) = (made.change.after.as_ref(), made.change.before.as_ref());
            let merged = merge(base, there.record.as_ref(), theirs, look)
                .map_err(|clash| Clashed { clash, by: ClashedBy::Found(there.record.clone()) })?;
            mixed |= there.mixed || merged.mixed;
            (now, stack) = (merged.record, &made.stack_before);
        }
        let rebuilt = stack.rebuild(now.as_ref(), self.stack.layers(), look)?;
        Ok(Rebuilt { mixed: rebuilt.mixed || mixed, ..rebuilt })
    }

    pub(super) fn checkpoint(&self, stack: &Stack) -> Option<Record> {
        match self.reversed.last() {
            Some(made) if made.stack_before == self.stack => made.change.before.clone(),
            Some(made) => made.stack_before.checkpoint(self.stack.layers()),
            None => stack.checkpoint(self.stack.layers()),
        }
    }

    /// The layers of that.
    pub(super) fn exactly(&self, stack: &Stack, look: &mut dyn Look) -> Stack {
        match self.reversed.is_empty() && !self.stays {
            true => stack.exactly(self.stack.layers(), look),
            false => self.stack.clone(),
        }
    }

    /// Whether one of these deltas is to leave that nobody is sure of. What an operation had put there itself is sure.
    pub(super) fn is_doubtful(&self, stack: &Stack, out: &[DeltaNo]) -> bool {
        let reversed = self.reversed.iter().flat_map(|made| made.stack_after.layers());
        let sure: Vec<DeltaNo> = reversed.map(|layer| layer.delta).collect();
        stack.layers().iter().any(|layer| {
            layer.grade == Grade::Ambiguous && out.contains(&layer.delta) && !sure.contains(&layer.delta)
        })
    }

    /// What is done unless somebody chooses: ambiguous layers stay, the others go.
    pub(super) fn without_ambiguous(
        &self,
        stack: &Stack,
        disk: Option<&Record>,
        look: &mut dyn Look,
    ) -> Outcome {
        let mut layers = self.stack.layers().to_vec();
        let staying = stack.layers().iter().filter(|layer| layer.grade == Grade::Ambiguous);
        let known: Vec<_> = layers.iter().map(|layer| layer.delta).collect();
        layers.extend(staying.filter(|layer| !known.contains(&layer.delta)).cloned());
        layers.sort_by_key(|layer| layer.delta);
        let unchanged =
            layers.iter().map(|layer| layer.delta).eq(stack.layers().iter().map(|layer| layer.delta));
        let kept = (Some(Verdict::Kept), disk.cloned(), stack.clone());
        if unchanged {
            return kept;
        }
        match stack.rebuild(disk, &layers, look) {
            Ok(merged) => (merged.mixed.then_some(Verdict::Merge), merged.record, merged.stack),
            Err(_) => kept,
        }
    }
}
