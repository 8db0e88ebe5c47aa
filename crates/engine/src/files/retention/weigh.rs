//! Which versions of files are needed, and what has to go so that the rest has room. Old captures go first, then younger
//! ones, then what calls did, always the oldest first. It only weighs; nothing goes here.

use std::collections::{BTreeSet, HashSet};
use std::sync::Arc;

use retake_core::{ContentHash, Time};
use retake_store::{Claim, Claimant};
use retake_worktree::{PackObjects, Result, Survey};

use super::super::erase::is_kept;

/// What is to go, and what is needed without it.
pub(super) struct Cut {
    /// Captures before this.
    pub(super) captures: Time,
    /// What calls and operations did before this; nothing, where all of it stays.
    pub(super) calls: Option<Time>,
    /// What is needed.
    pub(super) live: HashSet<ContentHash>,
    /// What that means.
    pub(super) survey: Survey,
}

impl Cut {
    /// What stays, in bytes, about.
    pub(super) fn size(&self) -> u64 {
        self.survey.size.saturating_sub(self.survey.unneeded)
    }
}

/// All that decides on what is needed.
pub(super) struct Weighing {
    pub(super) pack: Arc<PackObjects>,
    pub(super) claims: Vec<Claim>,
    /// What is needed in any case.
    pub(super) always: HashSet<ContentHash>,
    /// Captures before this are old.
    pub(super) old: Time,
    /// Calls and operations before this are let go already.
    pub(super) since: Option<Time>,
    /// So many bytes there may be.
    pub(super) quota: u64,
}

impl Weighing {
    /// What goes unasked; and what would have to go so that the quota is kept, where that is more.
    pub(super) fn cuts(&self) -> Result<(Cut, Option<Cut>)> {
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

    fn fits(&self, cut: &Cut) -> bool {
        cut.size() <= self.quota
    }

    /// Just behind each of these claims.
    fn times(&self, of: impl Fn(&Claim) -> bool) -> Vec<Time> {
        let times = self.claims.iter().filter(|claim| of(claim)).map(|claim| Time(claim.time.0 + 1));
        times.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The earliest cut that fits; the last one, where none does.
    fn least(&self, first: Cut, times: &[Time], at: impl Fn(Time) -> (Time, Option<Time>)) -> Result<Cut> {
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

    /// What is needed when captures and calls before these times are not.
    fn at(&self, captures: Time, calls: Option<Time>) -> Result<Cut> {
        let since = calls.max(self.since);
        let needed = |claim: &&Claim| match claim.by {
            Claimant::Capture(_) => claim.time >= captures,
            by => is_kept(by, claim.time, since),
        };
        let mut live = self.always.clone();
        live.extend(self.claims.iter().filter(needed).map(|claim| claim.object));
        let survey = self.pack.survey(&|object| live.contains(object))?;
        Ok(Cut { captures, calls, live, survey })
    }
}
