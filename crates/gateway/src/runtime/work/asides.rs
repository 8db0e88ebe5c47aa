//! Typing indicators, pairing codes, whispers and memberships. Must never fail: a lost one is not repeated for long.

use std::time::Duration;

use retake_wire::chat::Place;

use super::{Finished, Job, Worker};
use crate::adapter::{Outgoing, Probe};
use crate::failure::Failure;
use crate::rate::{Call, Outcome, Purpose};
use crate::runtime::aside::Aside;
use crate::runtime::{compose, guarded};
use crate::sentences::Sentence;

/// How long a pairing code is valid: the owner's time.
const VALID: Duration = Duration::from_mins(10);

/// The most attempts to say a pairing code.
const TRIES: u32 = 3;

impl Worker<'_> {
    pub(super) fn aside(&mut self, aside: Aside) {
        match aside {
            Aside::Typing(place) => self.typing(place),
            Aside::Pairing { place, code, key } => {
                let text = Sentence::Pairing(code, VALID).styled();
                let post = Outgoing { text, ..Outgoing::default() };
                let digest = self.context.adapter.digest(&post);
                let marker = compose::marker(&key, "pairing", &digest);
                let job = Job::Pairing { place: place.clone(), post, marker, tries: 0 };
                self.add(job, place, Call::Send, Purpose::Waiting);
            }
            Aside::Whisper { place, person, text, answer_to } => {
                let job = Job::Whisper { place: place.clone(), person, text, answer_to };
                self.add(job, place, Call::Other, Purpose::Waiting);
            }
            Aside::Membership { place, is_member } => self.membership(&place, is_member),
        }
    }

    /// An indicator that cannot be shown now is not shown.
    fn typing(&mut self, place: Place) {
        if !self.rate.preview(&place, Call::Other, self.now()) {
            return;
        }
        let context = self.context;
        self.running.push(Box::pin(async move {
            if guarded(context.adapter.typing(&place)).await.is_err() {
                tracing::debug!("an indicator was not shown");
            }
            Ok(Finished::Nothing)
        }));
    }

    fn membership(&mut self, place: &Place, is_member: bool) {
        let found = if is_member { Probe::Yes { bulk: false } } else { Probe::NotPermitted };
        for call in [Call::Send, Call::Edit, Call::Delete] {
            self.rate.probed(place, call, found);
            let key = (place.chat.clone(), call);
            if is_member {
                self.refused.remove(&key);
            } else {
                self.refused.insert(key, self.now());
            }
        }
        self.deletions.forget_probe(&place.chat);
    }

    pub(super) fn aside_finished(&mut self, id: u64, result: Result<(), Failure>, now: i64) {
        self.started.remove(&id);
        let tries = match self.jobs.get_mut(&id) {
            Some(Job::Pairing { tries, .. }) => {
                *tries += 1;
                *tries
            }
            _ => TRIES,
        };
        let outcome = match result {
            Ok(()) => Outcome::Over,
            Err(Failure::Wait { wait, bucket }) => Outcome::Wait { wait, bucket },
            Err(Failure::Unreachable) => Outcome::Again(self.context.next_try(tries)),
            Err(failure) => {
                tracing::debug!(%failure, "a text for one person was not shown");
                Outcome::Again(now)
            }
        };
        let is_tried_again = match &outcome {
            Outcome::Wait { .. } => tries < TRIES,
            Outcome::Again(at) => tries < TRIES && *at > now,
            Outcome::Over | Outcome::NotPermitted => false,
        };
        if is_tried_again {
            self.rate.settle(id, outcome, now);
        } else {
            self.drop_job(id, outcome, now);
        }
        self.report(Vec::new());
    }
}
