//! The wanted layers of a path, and how far they can be merged with the current version.

use std::borrow::Cow;

use super::super::merge::{MergeBytes, merge};
use super::super::stack::{Clashed, ClashedBy, DeltaId, Rebuilt, Stack, Step};
use super::moved::{self, Moved};
use super::{Choice, DesiredState, Fork, Layer, PathMove, Record, Verdict, authorship, plain};

impl DesiredState {
    /// The wanted layers for a path with these ones; `None` if it keeps them.
    pub(in crate::files) fn goal(&self, stack: &Stack) -> Option<Stack> {
        match self {
            Self::Layers(layers) => Some(Stack::new(layers.clone())),
            Self::Back { reversed, without, staying } => {
                let last = reversed.last().map_or(stack, |made| &made.stack_before);
                // Including layers that only a step among them brings back.
                let all = std::iter::once(stack).chain(reversed.iter().map(|made| &made.stack_before));
                let own = |stack: &Stack| -> Vec<Layer> {
                    stack.layers().iter().filter(|layer| staying.contains(&layer.delta)).cloned().collect()
                };
                Some(all.fold(last.without(without), |goal, stack| goal.together(&own(stack))))
            }
            Self::PutBack(_) | Self::Version { .. } => None,
        }
    }
}

/// The wanted layers of a path.
pub(super) struct Goal {
    pub(super) stack: Stack,
    /// The moves to reverse, in this order.
    pub(super) reversed: Vec<PathMove>,
    /// Whether the layers stay, whatever the version becomes.
    pub(super) stays: bool,
    /// The deltas that were made after the reversed moves, and stay.
    since: Vec<DeltaId>,
    /// Changes that follow renames from it or into it.
    pub(super) moved: Moved,
    /// Its layers with the changes that follow a rename, if any.
    along: Option<Stack>,
}

impl Goal {
    pub(super) fn new(have: &Stack, want: DesiredState, moved: Moved, bytes: &mut dyn MergeBytes) -> Self {
        let wanted = want.goal(have);
        let (stack, reversed, stays, since) = match want {
            DesiredState::PutBack(layers) => (Stack::new(layers), Vec::new(), true, Vec::new()),
            DesiredState::Layers(layers) => (Stack::new(layers), Vec::new(), false, Vec::new()),
            DesiredState::Back { reversed, staying, .. } => {
                (wanted.unwrap_or_default(), reversed, false, staying)
            }
            DesiredState::Version { .. } => unreachable!("BUG: a version has a plan of its own"),
        };
        let goes_along = !moved.below.is_empty();
        let along = goes_along.then(|| moved.settled(have.exactly(stack.layers(), bytes), bytes));
        Self { stack, reversed, stays, since, moved, along }
    }

    /// The deltas that leave a path, and those that enter it, including those that only follow a rename.
    pub(super) fn difference(&self, stack: &Stack) -> (Vec<DeltaId>, Vec<DeltaId>) {
        let (mut out, mut into) = stack.difference(self.stack.layers());
        for below in &self.moved.below {
            moved::add(&mut out, &below.out);
            moved::add(&mut into, &below.into);
        }
        (out, into)
    }

    /// The layers if the current content is kept.
    pub(super) fn settled(&self, stack: &Stack, bytes: &mut dyn MergeBytes) -> Stack {
        let settled = stack.settled(self.stack.layers(), bytes);
        self.moved.settled(settled, bytes)
    }

    pub(super) fn merged(
        &self,
        stack: &Stack,
        disk: Option<&Record>,
        bytes: &mut dyn MergeBytes,
    ) -> Result<Rebuilt, Clashed> {
        match self.moved.decided() {
            Some(decided) => decided,
            None => self
                .merged_to(&self.stack, stack, disk, bytes)
                .or_else(|clashed| self.net(stack, disk, bytes).ok_or(clashed))
                .or_else(|clashed| self.layers_alone(stack, disk).ok_or(clashed))
                .or_else(|clashed| self.as_it_is(stack, disk).ok_or(clashed))
                .or_else(|clashed| self.below(stack, disk, bytes).ok_or(clashed)),
        }
    }

    /// Changes below a staying layer can be made without touching later changes by other authors above it: they are made below
    /// both.
    fn below(&self, stack: &Stack, disk: Option<&Record>, bytes: &mut dyn MergeBytes) -> Option<Rebuilt> {
        if !self.moved.below.is_empty() {
            return None;
        }
        let [last, ..] = &self.reversed[..] else {
            let (out, into) = stack.difference(self.stack.layers());
            let changes = |layer: &&Layer| out.contains(&layer.delta) || into.contains(&layer.delta);
            let all = stack.together(self.stack.layers());
            let stays_above = all.layers().iter().skip_while(|layer| !changes(layer)).any(|it| !changes(&it));
            return stays_above.then(|| stack.from_below(self.stack.layers(), disk, bytes)).flatten();
        };
        let is_chain = self.reversed.windows(2).all(|pair| pair[0].stack_before == pair[1].stack_after);
        let found = &self.reversed.last()?.stack_before;
        let back = |made: &PathMove| (made.change.after.clone(), made.change.before.clone());
        let steps: Vec<Step> = self.reversed.iter().map(back).collect();
        let rebuilt = stack.stepped_below((&last.stack_after, found), &steps, disk, bytes)?;
        (is_chain && rebuilt.stack.difference(self.stack.layers()) == (vec![], vec![])).then_some(rebuilt)
    }

    /// The net effect of several steps that are reversed together, if each left exactly its layers' version. Steps that cancel
    /// each other do not clash, though one of them alone could.
    fn net(&self, stack: &Stack, disk: Option<&Record>, bytes: &mut dyn MergeBytes) -> Option<Rebuilt> {
        let last = self.reversed.first().filter(|last| last.stack_after == *stack)?;
        if !self.reversed.iter().all(PathMove::is_of_layers_alone) {
            return None;
        }
        // Changes by others between the leaving layers are no layer and would be lost.
        let found = &self.reversed.last()?.stack_before;
        let go = &found.layers()[found.kept(self.stack.layers())..];
        if go.windows(2).any(|pair| pair[0].after != pair[1].before) {
            return None;
        }
        let exact = self.exact(stack, bytes)?;
        let merged = merge(last.change.after.as_ref(), disk, exact.record.as_ref(), bytes).ok()?;
        let mixed = exact.mixed || merged.mixed || merged.record != exact.record;
        Some(Rebuilt { record: merged.record, stack: exact.stack, mixed })
    }

    /// If the reversed steps left the content as they found it, later changes are no obstacle: the steps changed only its
    /// authors.
    fn layers_alone(&self, stack: &Stack, disk: Option<&Record>) -> Option<Rebuilt> {
        let made = |delta: &DeltaId| {
            self.reversed.iter().any(|made| made.stack_after.layers().iter().any(|it| it.delta == *delta))
        };
        let is_same = self.reversed.iter().all(|made| made.change.before == made.change.after);
        let is_plain = self.moved.below.is_empty();
        // Anything else is in the content.
        let is_all = self.reversed.last()?.stack_before.difference(self.stack.layers()).0.is_empty();
        let (out, _) = stack.difference(self.stack.layers());
        (is_plain && is_same && is_all && out.iter().all(made)).then(|| Rebuilt {
            record: disk.cloned(),
            stack: self.stack.clone(),
            mixed: false,
        })
    }

    /// A reversed step may have skipped this path. If the layers are the wanted ones, there is nothing to do: changes by other
    /// authors are no obstacle. A step that changed the content is reversed as always.
    fn as_it_is(&self, stack: &Stack, disk: Option<&Record>) -> Option<Rebuilt> {
        let last = self.reversed.first()?;
        let is_plain = self.moved.below.is_empty() && self.reversed.iter().all(PathMove::is_of_layers_alone);
        (is_plain && *stack == self.stack && last.stack_after != *stack).then(|| Rebuilt {
            record: disk.cloned(),
            stack: stack.clone(),
            mixed: false,
        })
    }

    /// The result of reversing each step after the other, with these layers at the end.
    fn merged_to(
        &self,
        goal: &Stack,
        stack: &Stack,
        disk: Option<&Record>,
        bytes: &mut dyn MergeBytes,
    ) -> Result<Rebuilt, Clashed> {
        let (mut now, mut stack, mut mixed) = (disk.cloned(), Cow::Borrowed(stack), false);
        let mut own = Cow::Borrowed(goal);
        for made in &self.reversed {
            // Later changes on top of it go first.
            let there = stack.rebuild(now.as_ref(), made.stack_after.layers(), bytes)?;
            let (base, theirs) = (made.change.after.as_ref(), made.change.before.as_ref());
            let merged = merge(base, there.record.as_ref(), theirs, bytes)
                .map_err(|clash| Clashed { clash, by: ClashedBy::Found(there.record.clone()) })?;
            mixed |= there.mixed || merged.mixed;
            stack = Cow::Borrowed(&made.stack_before);
            if let Some(alike) = alike(base, there.record.as_ref(), theirs, merged.record.as_ref(), bytes) {
                // An equal change of somebody else is theirs: a returning delta does only the rest.
                let (_, came) = made.stack_after.difference(made.stack_before.layers());
                let versions = (base, alike.as_ref());
                own = Cow::Owned(own.upon_alike(&came, versions, bytes));
                stack = Cow::Owned(stack.upon_alike(&came, versions, bytes));
            }
            now = merged.record;
        }
        let rebuilt = match self.upon_along(&own, &stack, now.as_ref(), bytes) {
            Some(rebuilt) => rebuilt,
            None => {
                let rebuilt = stack.rebuild(now.as_ref(), own.layers(), bytes)?;
                self.moved.along(rebuilt, bytes)?
            }
        };
        Ok(Rebuilt { mixed: rebuilt.mixed || mixed, ..rebuilt })
    }

    /// The path with the changes that follow a rename into it, and then the returning changes above them, which may build on
    /// them. `None` if they cannot be merged, or if there are none.
    fn upon_along(
        &self,
        goal: &Stack,
        stack: &Stack,
        disk: Option<&Record>,
        bytes: &mut dyn MergeBytes,
    ) -> Option<Rebuilt> {
        if self.moved.below.is_empty() {
            return None;
        }
        let (_, came) = stack.difference(goal.layers());
        let staying = goal.without(&came);
        let there = stack.rebuild(disk, staying.layers(), bytes).ok()?;
        let there = self.moved.along(there, bytes).ok()?;
        let coming = goal.without(&staying.layers().iter().map(|layer| layer.delta).collect::<Vec<_>>());
        let wanted = there.stack.together(coming.layers());
        let rebuilt = there.stack.rebuild(there.record.as_ref(), wanted.layers(), bytes).ok()?;
        Some(Rebuilt { mixed: rebuilt.mixed || there.mixed, ..rebuilt })
    }

    /// The exact version of the path, whatever others wrote since; `None` if the leaving changes cannot be separated from the
    /// staying ones.
    pub(super) fn exact(&self, stack: &Stack, bytes: &mut dyn MergeBytes) -> Option<Rebuilt> {
        if let Some(along) = &self.along {
            let record = along.layers().last().and_then(|last| last.after.clone());
            return Some(Rebuilt { record, stack: along.clone(), mixed: false });
        }
        let as_it_is = |record| Some(Rebuilt { record, stack: self.stack.clone(), mixed: false });
        match self.reversed.last() {
            Some(made) if made.stack_before == self.stack.without(&self.since) => {
                as_it_is(made.change.before.clone())
            }
            Some(made) => made.stack_before.exact(self.stack.layers(), bytes),
            None if self.stays => as_it_is(stack.checkpoint(self.stack.layers())),
            None => stack.exact(self.stack.layers(), bytes),
        }
    }

    /// The default if the author of one of the leaving deltas is not certain: it stays, and the others go. What an operation
    /// restored itself is certain, and so is what no staying call may have made.
    pub(super) fn doubt(
        &self,
        stack: &Stack,
        (out, certain): (&[DeltaId], &[DeltaId]),
        disk: Option<&Record>,
        bytes: &mut dyn MergeBytes,
    ) -> Option<UncertainOutcome> {
        let sure = |layer: &Layer| {
            let mut reversed = self.reversed.iter().flat_map(|made| made.stack_after.layers());
            reversed.any(|made| made.delta == layer.delta)
        };
        let is_ambiguous = |layer: &Layer| layer.grade.is_ambiguous() && !certain.contains(&layer.delta);
        let is_doubtful = |layer: &&Layer| is_ambiguous(layer) && out.contains(&layer.delta);
        // Including layers that only come back in between.
        let is_in = |stack: &Stack, layer: &Layer| stack.layers().iter().any(|it| it.delta == layer.delta);
        let found = self.reversed.last().map_or(&[][..], |made| made.stack_before.layers());
        let back: Vec<&Layer> =
            found.iter().filter(|layer| !is_in(stack, layer) && !is_in(&self.stack, layer)).collect();
        let mut doubtful = stack.layers().iter().filter(is_doubtful).filter(|layer| !sure(layer));
        if doubtful.next().is_none() && !back.iter().any(|layer| is_ambiguous(layer)) {
            return None;
        }
        let staying = stack.layers().iter().chain(back).filter(|layer| is_ambiguous(layer));
        let known = self.stack.together(&staying.cloned().collect::<Vec<_>>());
        let (gone, came) = stack.difference(known.layers());
        if gone.is_empty() && came.is_empty() {
            return Some(UncertainOutcome::Keeps);
        }
        // An operation's move is reversed as it was made, below what stays.
        let rebuilt = self.merged_to(&known, stack, disk, bytes);
        // An uncertain change and later changes by others on it may not be separable: the certain one goes from below both.
        Some(UncertainOutcome::Takes(rebuilt.or_else(|clashed| match came.is_empty() {
            true => stack.from_below(known.layers(), disk, bytes).ok_or(clashed),
            false => Err(clashed),
        })))
    }
}

/// The base with the equal changes of both sides, if there are any.
fn alike(
    base: Option<&Record>,
    ours: Option<&Record>,
    theirs: Option<&Record>,
    merged: Option<&Record>,
    bytes: &mut dyn MergeBytes,
) -> Option<Option<Record>> {
    if base == ours || base == theirs {
        return None;
    }
    // Without what only they changed.
    let alike = merge(merged, theirs, ours, bytes).ok()?.record;
    (alike.as_ref() != base).then_some(alike)
}

/// The outcome for a path with a layer whose author is not certain.
pub(super) enum UncertainOutcome {
    /// No other layer leaves: it stays as it is.
    Keeps,
    /// The certain layers leave, or cannot leave without the uncertain one.
    Takes(Result<Rebuilt, Clashed>),
}

impl Fork {
    /// The verdict of a path that gets this record and these layers without a clash.
    pub(super) fn verdict(
        &self,
        record: Option<&Record>,
        choice: Option<&Choice>,
        after: &Stack,
        out: &[DeltaId],
    ) -> Verdict {
        match plain(self.disk.as_ref(), record) {
            // The certain layers are out of it already, and the uncertain one stays.
            Verdict::Unchanged if choice.is_none() && !authorship::uncertain(after, out).is_empty() => {
                Verdict::Kept
            }
            verdict => verdict,
        }
    }
}
