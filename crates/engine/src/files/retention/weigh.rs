//! Decides which versions of files are needed, and what must go to make room for the rest. Old captures go first, then
//! younger ones, then changes of calls, always the oldest first. It only decides and must never remove anything.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use retake_core::{ContentHash, Time};
use retake_store::{Claim, Claimant};
use retake_worktree::{PackObjects, Result, Survey};

use super::super::erase::is_kept;

/// The versions to remove, and those needed without them.
pub(super) struct RetentionCut {
    /// Captures before this time go.
    pub(super) captures: Time,
    /// Changes of calls and operations before this time go; `None` if all stay.
    pub(super) calls: Option<Time>,
    /// The objects that are needed.
    pub(super) live: HashSet<ContentHash>,
    /// The resulting survey of the pack.
    pub(super) survey: Survey,
}

impl RetentionCut {
    /// The estimated size of the rest, in bytes.
    pub(super) fn size(&self) -> u64 {
        self.survey.size.saturating_sub(self.survey.unneeded)
    }
}

/// The input for the decision.
pub(super) struct RetentionInput {
    pub(super) pack: Arc<PackObjects>,
    pub(super) claims: Vec<Claim>,
    /// Objects that are always needed.
    pub(super) always: HashSet<ContentHash>,
    /// Captures before this time are old.
    pub(super) old: Time,
    /// Changes of calls and operations before this time are already removed.
    pub(super) since: Option<Time>,
    /// The quota in bytes.
    pub(super) quota: u64,
}

impl RetentionInput {
    /// The cut that needs no agreement, and the larger cut for the quota, if one is needed.
    pub(super) fn cuts(&self) -> Result<(RetentionCut, Option<RetentionCut>)> {
        let first = self.at(self.old, None)?;
        if self.fits(&first) {
            return Ok((first, None));
        }
        let captures = self.times(|claim| matches!(claim.by, Claimant::Capture(_)) && claim.time >= self.old);
        let unasked = self.least(first, &captures, |time| (time, None))?;
        if self.fits(&unasked) {
            return Ok((unasked, None));
        }
        let calls = self.times(|claim| {
            let asked = matches!(claim.by, Claimant::Call(..) | Claimant::Op(..));
            asked && is_kept(claim.by, claim.time, self.since)
        });
        let all = unasked.captures;
        let asked = self.least(self.at(all, None)?, &calls, |time| (all, Some(time)))?;
        Ok((unasked, asked.calls.is_some().then_some(asked)))
    }

    fn fits(&self, cut: &RetentionCut) -> bool {
        cut.size() <= self.quota
    }

    /// The times just after each of these claims.
    fn times(&self, of: impl Fn(&Claim) -> bool) -> Vec<Time> {
        let times = self.claims.iter().filter(|claim| of(claim)).map(|claim| Time(claim.time.0 + 1));
        times.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The earliest cut that meets the quota; the last one if none does.
    fn least(
        &self,
        first: RetentionCut,
        times: &[Time],
        at: impl Fn(Time) -> (Time, Option<Time>),
    ) -> Result<RetentionCut> {
        let mut best = first;
        let (mut from, mut to) = (0, times.len());
        while from < to {
            let middle = usize::midpoint(from, to);
            let (captures, calls) = at(times[middle]);
            let cut = self.at(captures, calls)?;
            if self.fits(&cut) {
                to = middle;
                best = cut;
            } else {
                from = middle + 1;
                best = if self.fits(&best) { best } else { cut };
            }
        }
        Ok(best)
    }

    /// The needed objects without captures and calls before these times.
    fn at(&self, captures: Time, calls: Option<Time>) -> Result<RetentionCut> {
        let since = calls.max(self.since);
        let needed = |claim: &&Claim| match claim.by {
            Claimant::Capture(_) => claim.time >= captures,
            by => is_kept(by, claim.time, since),
        };
        let mut live = self.always.clone();
        live.extend(self.claims.iter().filter(needed).map(|claim| claim.object));
        let survey = self.pack.survey(&|object| live.contains(object))?;
        Ok(RetentionCut { captures, calls, live, survey })
    }
}
