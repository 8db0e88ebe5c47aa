//! When a call to a platform may be made: the rates and holds of one account, and the order of its work. Must never permit a call
//! during a hold, and never read a clock.

mod limits;
mod order;
mod refusals;
#[cfg(test)]
mod tests;

use std::collections::HashSet;
use std::time::Duration;

use retake_wire::chat::Place;

pub use self::limits::{Bucket, Hold, Pace, WHOLE_ACCOUNT};
pub use self::order::Purpose;

use self::limits::Limits;
use self::refusals::Refusals;
use crate::adapter::Probe;
use crate::capabilities::Capabilities;

/// A kind of call. Platforms permit and limit each kind for itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Call {
    /// Sends a post.
    Send,
    /// Edits a post.
    Edit,
    /// Deletes a post, or several at once.
    Delete,
    /// Any other one: the typing indicator, a notice to one person.
    Other,
}

/// A call to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Work {
    /// Its number, unique in the account.
    pub id: u64,
    /// Where.
    pub place: Place,
    /// Which kind of call.
    pub call: Call,
    /// What it is for.
    pub purpose: Purpose,
}

/// What to do now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Make this call, then [`Rate::settle`] it.
    Run(Work),
    /// Do not make this call any more.
    GiveUp(Work, Why),
    /// Ask the platform whether calls of this kind are permitted in this place, then tell [`Rate::probed`]: `Probe::Unknown` if that
    /// failed.
    Probe(Place, Call),
    /// Ask again at this time (Unix milliseconds), or when something changed.
    At(i64),
    /// Ask again when something changed.
    Idle,
}

/// Why a call is not made any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// Its deadline is over.
    TooOld,
    /// The platform does not permit calls of this kind there.
    NotPermitted,
}

/// What became of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It took effect, or will never: there is nothing to do for it any more.
    Over,
    /// It failed, and may be tried again from this time on (Unix milliseconds).
    Again(i64),
    /// The platform said when to try again (429).
    Wait {
        /// How long.
        wait: Duration,
        /// The bucket, as in [`crate::Failure::Wait`].
        bucket: Option<String>,
    },
    /// The platform does not permit it (403). It is tried once more, after a probe that does not say no.
    NotPermitted,
}

/// The rates, holds and work of one account. Times are Unix milliseconds.
#[derive(Debug)]
pub struct Rate {
    limits: Limits,
    refusals: Refusals,
    queue: Vec<Queued>,
}

/// A call that is not over.
#[derive(Debug)]
struct Queued {
    work: Work,
    is_running: bool,
    not_before: i64,
}

impl Rate {
    /// The rates of a platform, without holds and work.
    pub fn new(capabilities: &Capabilities) -> Self {
        let [place, account] = capabilities.spacing.map(|every| Pace { every, burst: 1 });
        Self::with_paces(place, account)
    }

    /// The rates in each chat and of the account, without holds and work.
    pub fn with_paces(chat: Pace, account: Pace) -> Self {
        Self { limits: Limits::new(chat, account), refusals: Refusals::default(), queue: Vec::new() }
    }

    /// Sets the rate of a bucket that the platform names.
    pub fn set_pace(&mut self, bucket: &str, pace: Pace) {
        self.limits.set_pace(bucket, pace);
    }

    /// The holds that are in force, to be stored.
    pub fn holds(&self, now: i64) -> Vec<Hold> {
        self.limits.holds(now)
    }

    /// Sets a hold that was stored. It never shortens one.
    pub fn restore(&mut self, hold: &Hold) {
        self.limits.restore(hold);
    }

    /// Adds a call. Calls of one place and purpose are made in the order in which they are added, except deletions.
    pub fn add(&mut self, work: Work) {
        self.queue.push(Queued { work, is_running: false, not_before: i64::MIN });
    }

    /// Removes a call that is not being made. Returns whether it was there.
    pub fn cancel(&mut self, id: u64) -> bool {
        let before = self.queue.len();
        self.queue.retain(|it| it.work.id != id || it.is_running);
        self.queue.len() < before
    }

    /// What to do now. A call that it returns counts as made.
    pub fn next(&mut self, now: i64) -> Next {
        if let Some((at, why)) = self.hopeless(now) {
            return Next::GiveUp(self.queue.remove(at).work, why);
        }
        let mut look_again = None;
        let mut later = |at: i64| look_again = Some(look_again.map_or(at, |it: i64| it.min(at)));
        for (place, call) in self.refusals.unasked() {
            match self.limits.ready_at(&place.chat, call) {
                at if at <= now => {
                    self.limits.take(&place.chat, call, now);
                    self.refusals.asked(&place.chat, call);
                    return Next::Probe(place, call);
                }
                at => later(at),
            }
        }
        for at in self.in_order(now) {
            let it = &mut self.queue[at];
            let (chat, call) = (&it.work.place.chat, it.work.call);
            let ready = self.limits.ready_at(chat, call).max(it.not_before);
            if ready <= now {
                it.is_running = true;
                self.limits.take(chat, call, now);
                return Next::Run(it.work.clone());
            }
            later(ready);
        }
        let deadlines = self.queue.iter().filter(|it| !it.is_running);
        deadlines.filter_map(|it| it.work.purpose.deadline()).for_each(|at| later(at.saturating_add(1)));
        look_again.map_or(Next::Idle, Next::At)
    }

    /// Says what became of a call that [`Rate::next`] returned.
    pub fn settle(&mut self, id: u64, outcome: Outcome, now: i64) {
        let Some(at) = self.queue.iter().position(|it| it.work.id == id) else { return };
        let it = &mut self.queue[at];
        it.is_running = false;
        let call = it.work.call;
        match outcome {
            Outcome::Over => {
                self.refusals.permitted(&it.work.place.chat, call);
                self.queue.remove(at);
            }
            Outcome::Again(at) => it.not_before = at,
            Outcome::Wait { wait, bucket } => {
                self.limits.hold(&it.work.place.chat, call, wait, bucket.as_deref(), now);
            }
            Outcome::NotPermitted => self.refusals.refused(&it.work.place, call),
        }
    }

    /// Whether a preview may be sent or edited now; it counts as made then. If not, it is dropped, and never waits. It must not delay
    /// other work, so it may not be made while calls wait in its chat, or could be made elsewhere.
    pub fn preview(&mut self, place: &Place, call: Call, now: i64) -> bool {
        let is_free =
            self.limits.ready_at(&place.chat, call) <= now && !self.refusals.is_refused(&place.chat, call);
        let others = self.queue.iter().filter(|it| it.work.place.chat == place.chat);
        let waits_here = others.into_iter().any(|it| it.not_before <= now);
        let waits_elsewhere = || {
            self.in_order(now).into_iter().any(|at| {
                let it = &self.queue[at];
                it.not_before.max(self.limits.ready_at(&it.work.place.chat, it.work.call)) <= now
            })
        };
        let may = is_free && !waits_here && !waits_elsewhere();
        if may {
            self.limits.take(&place.chat, call, now);
        }
        may
    }

    /// Sets a hold because of a call that was not in the queue, such as a preview.
    pub fn hold(&mut self, place: &Place, call: Call, wait: Duration, bucket: Option<&str>, now: i64) {
        self.limits.hold(&place.chat, call, wait, bucket, now);
    }

    /// Says what a probe found, or that the bot was added to a chat (`Probe::Yes`) or removed from it.
    pub fn probed(&mut self, place: &Place, call: Call, found: Probe) {
        self.refusals.probed(&place.chat, call, found);
    }

    /// A waiting call that must not be made any more.
    fn hopeless(&self, now: i64) -> Option<(usize, Why)> {
        let waiting = self.queue.iter().enumerate().filter(|(_, it)| !it.is_running);
        let why = |it: &Queued| match it.work.purpose.deadline() {
            Some(deadline) if deadline < now => Some(Why::TooOld),
            _ => self.refusals.is_over(&it.work.place.chat, it.work.call).then_some(Why::NotPermitted),
        };
        waiting.into_iter().find_map(|(at, it)| why(it).map(|why| (at, why)))
    }

    /// The calls that do not wait for another one, the most urgent first.
    fn in_order(&self, now: i64) -> Vec<usize> {
        let works: Vec<&Work> = self.queue.iter().map(|it| &it.work).collect();
        let urgent = order::urgent(&works, self.limits.paces(), now);
        let mut seen = HashSet::new();
        let tried = self.queue.iter().filter(|it| it.is_running);
        let tried: HashSet<(&str, Call)> =
            tried.map(|it| (it.work.place.chat.as_str(), it.work.call)).collect();
        let mut found: Vec<usize> = Vec::new();
        for (at, it) in self.queue.iter().enumerate() {
            let chat = it.work.place.chat.as_str();
            let is_first = it.work.purpose.class().is_none_or(|class| seen.insert((&it.work.place, class)));
            let is_permitted =
                self.refusals.may_try(chat, it.work.call, tried.contains(&(chat, it.work.call)));
            if is_first && !it.is_running && is_permitted {
                found.push(at);
            }
        }
        found.sort_by_cached_key(|at| {
            order::rank(&self.queue[*at].work, urgent.contains(&self.queue[*at].work.id))
        });
        found
    }
}
