//! What follows from the end of a call. Must never let a later post of a place pass one that will be due again.

use retake_wire::chat::PostOutcome;

use super::delete::{self, Fate};
use super::{Did, Job, Worker, call_of};
use crate::adapter::Probe;
use crate::failure::Failure;
use crate::rate::{Call, Outcome};

impl Worker<'_> {
    pub(super) fn post_finished(&mut self, id: u64, did: Did, now: i64) {
        self.started.remove(&id);
        let Some(Job::Post { work, is_plain, .. }) = self.jobs.get_mut(&id) else { return };
        if did == Did::AsPlainText {
            *is_plain = true;
            self.rate.settle(id, Outcome::Again(now), now);
            return;
        }
        let work = work.clone();
        let (chat, call) = (work.place.chat.clone(), call_of(&work));
        let is_final = !matches!(did, Did::NotFinal(_));
        match did {
            Did::Final | Did::AsPlainText => self.drop_job(id, Outcome::Over, now),
            Did::Unwanted => self.drop_job(id, Outcome::Again(now), now),
            Did::NotFinal(at_ms) => {
                self.drop_job(id, Outcome::Again(now), now);
                self.give_back_followers(&work, at_ms);
            }
            Did::NotPermitted => {
                self.drop_job(id, Outcome::NotPermitted, now);
                self.refused.insert((chat, call), now);
            }
            Did::Wait { wait, bucket } => {
                self.drop_job(id, Outcome::Wait { wait, bucket }, now);
                let at_ms = self.held(&chat, call, now).unwrap_or(now);
                self.report(vec![(work.post.clone(), PostOutcome::Later { at_ms })]);
                self.give_back_followers(&work, at_ms);
                return;
            }
        }
        self.over(&work.post, is_final);
    }

    /// A call is over, and its job with it.
    pub(super) fn drop_job(&mut self, id: u64, outcome: Outcome, now: i64) {
        self.rate.settle(id, outcome, now);
        self.rate.cancel(id);
        self.jobs.remove(&id);
        self.started.remove(&id);
    }

    /// Begins the next deletion of each place.
    pub(super) fn advance_deletions(&mut self) {
        let capabilities = self.context.adapter.capabilities();
        for place in self.deletions.places() {
            loop {
                let (next, reports) = self.deletions.next(&place, capabilities, self.now());
                let had_reports = !reports.is_empty();
                self.report(reports);
                match next {
                    delete::Next::Probe(purpose) => {
                        self.add(Job::Probe { place: place.clone() }, place.clone(), Call::Other, purpose);
                    }
                    delete::Next::Call(targets, purpose) => {
                        let job = Job::Delete { place: place.clone(), targets };
                        self.add(job, place.clone(), Call::Delete, purpose);
                    }
                    delete::Next::Nothing if had_reports => continue,
                    delete::Next::Nothing => {}
                }
                break;
            }
        }
    }

    pub(super) fn delete_finished(&mut self, id: u64, result: delete::Result, now: i64) {
        self.started.remove(&id);
        let Some(Job::Delete { place, targets }) = self.jobs.get(&id) else { return };
        let (place, targets) = (place.clone(), targets.clone());
        let reports = match result {
            delete::Result::NotPermitted => {
                // It stays in the queue: there is one more attempt after a probe that does not say no.
                self.deletions.forget_probe(&place.chat);
                if let Some(Job::Delete { targets, .. }) = self.jobs.get_mut(&id) {
                    targets.iter_mut().for_each(|target| target.untouched = true);
                }
                self.rate.settle(id, Outcome::NotPermitted, now);
                return;
            }
            delete::Result::All(fate) => {
                let outcome = match fate {
                    Fate::Later(_) | Fate::Lost => Outcome::Again(now),
                    _ => Outcome::Over,
                };
                self.drop_job(id, outcome, now);
                self.deletions.settle(&targets, fate)
            }
            delete::Result::Split { refused } => {
                self.drop_job(id, Outcome::Again(now), now);
                let split = targets.into_iter().map(|it| delete::Target { untouched: refused, ..it });
                self.deletions.split(&place, split.collect());
                Vec::new()
            }
            delete::Result::Wanted(posts) => {
                self.drop_job(id, Outcome::Again(now), now);
                self.deletions.keep(&posts);
                posts.iter().for_each(|post| self.over(post, false));
                // No call was made for the others: the owner gives them again.
                self.deletions.settle(&targets, Fate::Later(now))
            }
            delete::Result::Wait(failure) => {
                let Failure::Wait { wait, bucket } = failure else { return };
                self.drop_job(id, Outcome::Wait { wait, bucket }, now);
                let until = self.held(&place.chat, Call::Delete, now).unwrap_or(now);
                self.deletions.settle(&targets, Fate::Later(until))
            }
        };
        self.report(reports);
        self.deletions.free(&place);
        self.advance_deletions();
    }

    pub(super) fn probe_finished(&mut self, id: u64, found: Result<Probe, Failure>, now: i64) {
        self.started.remove(&id);
        let Some(Job::Probe { place }) = self.jobs.get(&id) else { return };
        let place = place.clone();
        if let Err(Failure::Wait { wait, bucket }) = found {
            self.rate.settle(id, Outcome::Wait { wait, bucket }, now);
            self.report(Vec::new());
            return;
        }
        self.drop_job(id, Outcome::Over, now);
        if let Ok(found) = found {
            self.rate.probed(&place, Call::Delete, found);
        }
        self.deletions.probed(&place.chat, found.ok(), now);
        self.deletions.free(&place);
        self.advance_deletions();
    }
}
