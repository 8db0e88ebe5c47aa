//! Gives work back that cannot be done within its lease, and gives up what cannot be done at all. Must never give back what is being
//! sent.

use retake_wire::chat::{Place, PostFailure, PostKind, PostOutcome, PostWork, StayCause};

use super::delete::{Fate, Target};
use super::{Job, KEPT_MS, Worker, call_of};
use crate::rate::{Call, Why};
use crate::runtime::holds;

impl Worker<'_> {
    /// A post will be due again: those after it in its place must not be sent before it.
    pub(super) fn give_back_followers(&mut self, before: &PostWork, at_ms: i64) {
        let is_follower = |it: &PostWork| {
            it.place == before.place
                && (it.kind == PostKind::Answer) == (before.kind == PostKind::Answer)
                && it.post != before.post
        };
        self.give_back(|_, work| is_follower(work).then_some(at_ms));
    }

    /// Gives back posts that are not being sent.
    pub(super) fn give_back(&mut self, when: impl Fn(i64, &PostWork) -> Option<i64>) {
        let mut given = Vec::new();
        for (id, job) in &self.jobs {
            let Job::Post { work, taken_ms, .. } = job else { continue };
            let Some(at_ms) = when(*taken_ms, work).filter(|_| !self.started.contains(id)) else { continue };
            given.push((*id, work.post.clone(), at_ms));
        }
        given.sort_by_key(|(id, ..)| *id);
        let mut reports = Vec::new();
        for (id, post, at_ms) in given {
            self.rate.cancel(id);
            self.jobs.remove(&id);
            reports.push((post, PostOutcome::Later { at_ms }));
        }
        self.report(reports);
    }

    /// Gives back the work whose lease would end before it could be done.
    pub(super) fn give_back_old(&mut self, now: i64) {
        let holds = self.rate.holds(now);
        self.give_back(|taken_ms, work| {
            let held = holds::until(&holds, &work.place.chat, call_of(work)).unwrap_or(now);
            (now.max(held) >= taken_ms + KEPT_MS).then_some(held)
        });
        let mut reports = Vec::new();
        for place in self.deletions.places() {
            let held = holds::until(&holds, &place.chat, Call::Delete).unwrap_or(now);
            let running = self.being_deleted(&place);
            let before = now.max(held) - KEPT_MS + 1;
            reports.extend(self.deletions.give_back(&place, before, &running, held));
        }
        self.report(reports);
    }

    /// Gives back all that is not being done: the next gateway need not wait for the end of the lease.
    pub(super) fn give_back_all(&mut self) {
        let now = self.now();
        self.give_back(|_, _| Some(now));
        let mut reports = Vec::new();
        for place in self.deletions.places() {
            let running = self.being_deleted(&place);
            reports.extend(self.deletions.give_back(&place, now + 1, &running, now));
        }
        self.report(reports);
    }

    /// The posts of a place whose deletion has been requested.
    fn being_deleted(&self, place: &Place) -> Vec<Target> {
        let of_place = |id: &u64, job: &Job| match job {
            Job::Delete { place: it, targets } if it == place && self.started.contains(id) => targets.clone(),
            _ => Vec::new(),
        };
        self.jobs.iter().flat_map(|(id, job)| of_place(id, job)).collect()
    }

    /// When the first piece of work must be given back.
    pub(super) fn expiry(&self) -> Option<i64> {
        let posts = self.jobs.iter().filter_map(|(id, job)| match job {
            Job::Post { taken_ms, .. } if !self.started.contains(id) => Some(*taken_ms),
            _ => None,
        });
        let now = self.now();
        // Those that are being deleted are looked at when their call is over.
        let deleted = self.deletions.first_taken().filter(|taken| *taken + KEPT_MS > now);
        posts.chain(deleted).min().map(|taken| taken + KEPT_MS)
    }

    pub(super) fn give_up(&mut self, id: u64, why: Why) {
        match self.jobs.remove(&id) {
            Some(Job::Post { work, .. }) => {
                let failed = PostOutcome::Failed { why: PostFailure::NotPermitted };
                self.report(vec![(work.post, failed)]);
            }
            Some(Job::Delete { place, targets }) => {
                match why {
                    Why::NotPermitted => {
                        let reports = self.deletions.settle(&targets, Fate::Stays(StayCause::NotPermitted));
                        self.report(reports);
                    }
                    // Those that are too old are left out when they are planned again.
                    Why::TooOld => self.deletions.split(&place, targets),
                }
                self.deletions.free(&place);
                self.advance_deletions();
            }
            Some(Job::Probe { place }) => {
                self.deletions.free(&place);
                self.deletions.probed(&place.chat, None, self.now());
                self.advance_deletions();
            }
            Some(Job::Pairing { .. } | Job::Whisper { .. }) | None => {}
        }
    }

    pub(super) fn held(&self, chat: &str, call: Call, now: i64) -> Option<i64> {
        holds::until(&self.rate.holds(now), chat, call)
    }
}
