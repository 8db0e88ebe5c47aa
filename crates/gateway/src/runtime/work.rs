//! Takes work from the owner, and does it in the order and at the times that the rates permit. Must never keep work longer than its
//! lease, and never do work of a place out of order.

mod asides;
mod delete;
mod finish;
mod leases;
mod previews;
mod send;

use std::collections::{HashMap, HashSet};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt as _};
use retake_wire::chat::{self, Person, Place, PostAction, PostKind, PostOutcome, PostWork};
use tokio::sync::{mpsc, watch};

use super::aside::Aside;
use super::owner::{NotDone, WAIT_MS};
use super::{Context, RuntimeError, guarded, holds, sleep_until};
use crate::adapter::{Marker, Outgoing, Probe};
use crate::failure::Failure;
use crate::rate::{Call, Next, Outcome, Purpose, Rate, Work};

use self::delete::{Deleting, Deletions, Reports, Target};

/// Work is leased for a minute. What has not begun after this time is given back.
const KEPT_MS: i64 = 40_000;

/// Within this time after work was taken, the owner gives work on the same post only after a report.
const LEASE_MS: i64 = 55_000;

/// With less work than this, more is taken.
const FEW: usize = 20;

/// The most work that is taken at once, where one call may do several pieces of it.
const MANY: u32 = 100;

/// The pause after the owner gave nothing new.
const PAUSE: Duration = Duration::from_millis(250);

/// What became of an attempt. What the owner must know was reported, except for a wait.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Did {
    /// There is nothing more to do.
    Final,
    /// It will be due again at this time.
    NotFinal(i64),
    /// It is not wanted any more. Nothing was sent.
    Unwanted,
    /// The formatting was refused.
    AsPlainText,
    /// The platform does not permit it.
    NotPermitted,
    /// The platform wants us to wait.
    Wait { wait: Duration, bucket: Option<String> },
}

enum Job {
    Post { work: PostWork, is_plain: bool, taken_ms: i64 },
    Delete { place: Place, targets: Vec<Target> },
    Probe { place: Place },
    Pairing { place: Place, post: Outgoing, marker: Marker, tries: u32 },
    Whisper { place: Place, person: Person, text: String, answer_to: String },
}

enum Finished {
    Post {
        id: u64,
        did: Did,
    },
    Delete {
        id: u64,
        result: delete::Result,
    },
    /// A probe before deletions.
    Probe {
        id: u64,
        found: Result<Probe, Failure>,
    },
    /// A probe after a refusal, and the work that waits for it.
    Asked {
        place: Place,
        call: Call,
        found: Result<Probe, Failure>,
        then: Option<Box<PostWork>>,
    },
    Preview {
        work: Box<PostWork>,
        did: Did,
    },
    Aside {
        id: u64,
        result: Result<(), Failure>,
    },
    /// Posts that the owner knows about, and whether nothing more is to be done for them.
    Reported(Vec<(String, bool)>),
    Taken(Vec<PostWork>),
    Nothing,
}

/// A post that is worked on.
struct InWork {
    taken_ms: i64,
    next: Option<Box<PostWork>>,
}

type Running<'a> = FuturesUnordered<BoxFuture<'a, Result<Finished, RuntimeError>>>;

/// Does the work of an account.
pub(super) struct Worker<'a> {
    context: &'a Context,
    asides: mpsc::UnboundedReceiver<Aside>,
    rate: Rate,
    jobs: HashMap<u64, Job>,
    started: HashSet<u64>,
    next_id: u64,
    running: Running<'a>,
    /// The posts that are worked on or reported, each with the work that is due after that.
    posts: HashMap<String, InWork>,
    deletions: Deletions,
    /// When the platform last refused or was asked about a kind of call in a chat.
    refused: HashMap<(String, Call), i64>,
    /// The holds that the owner knows.
    stored_holds: HashMap<String, i64>,
    is_taking: bool,
    had_nothing_new: bool,
}

impl<'a> Worker<'a> {
    pub(super) fn new(
        context: &'a Context,
        stored: &[chat::Hold],
        asides: mpsc::UnboundedReceiver<Aside>,
    ) -> Self {
        let mut rate = Rate::new(context.adapter.capabilities());
        let mut stored_holds = HashMap::new();
        for hold in stored {
            rate.restore(&holds::read(&hold.bucket, hold.until_ms));
            stored_holds.insert(hold.bucket.clone(), hold.until_ms);
        }
        Self {
            context,
            asides,
            rate,
            jobs: HashMap::new(),
            started: HashSet::new(),
            next_id: 0,
            running: FuturesUnordered::new(),
            posts: HashMap::new(),
            deletions: Deletions::default(),
            refused: HashMap::new(),
            stored_holds,
            is_taking: false,
            had_nothing_new: false,
        }
    }

    /// Works until the gateway must end, or until it is stopped, its last calls are over, and what it has not begun is given back.
    pub(super) async fn run(mut self, mut stopped: watch::Receiver<bool>) -> Result<(), RuntimeError> {
        loop {
            let is_stopped = *stopped.borrow();
            if is_stopped {
                self.end_take();
                self.give_back_all();
                if self.running.is_empty() {
                    return Ok(());
                }
            }
            let wake = if is_stopped { None } else { self.begin_what_may_begin() };
            let clock = &*self.context.clock;
            tokio::select! {
                _ = stopped.changed(), if !is_stopped => {}
                Some(finished) = self.running.next() => self.finished(finished?),
                Some(aside) = self.asides.recv() => self.aside(aside),
                () = sleep_until(clock, wake) => {}
            }
        }
    }

    /// Ends a request for work that waits: what it would get now, nobody would do. A later request ends it.
    fn end_take(&mut self) {
        if !std::mem::take(&mut self.is_taking) {
            return;
        }
        let context = self.context;
        self.running.push(Box::pin(async move {
            match context.owner.take(1, 0).await {
                Ok(work) => Ok(Finished::Taken(work)),
                Err(NotDone::End(error)) => Err(error),
                Err(NotDone::Refused(_)) => Ok(Finished::Nothing),
            }
        }));
    }

    /// Begins all calls that may begin now. Returns when to look again.
    fn begin_what_may_begin(&mut self) -> Option<i64> {
        let now = self.now();
        self.give_back_old(now);
        self.take();
        loop {
            match self.rate.next(now) {
                Next::Run(work) => self.start(work.id),
                Next::GiveUp(work, why) => self.give_up(work.id, why),
                Next::Probe(place, call) => self.ask(place, call, None),
                Next::At(at) => return Some(self.expiry().map_or(at, |it| it.min(at))),
                Next::Idle => return self.expiry(),
            }
        }
    }

    fn take(&mut self) {
        if self.is_taking || self.posts.len() >= FEW {
            return;
        }
        self.is_taking = true;
        let context = self.context;
        let most = if context.adapter.capabilities().bulk.is_some() { MANY } else { FEW as u32 };
        let pause = if self.had_nothing_new { PAUSE } else { Duration::ZERO };
        self.running.push(Box::pin(async move {
            tokio::time::sleep(pause).await;
            if *context.stopping.borrow() {
                return Ok(Finished::Nothing);
            }
            match context.owner.take(most, WAIT_MS).await {
                Ok(work) => Ok(Finished::Taken(work)),
                Err(NotDone::End(error)) => Err(error),
                Err(NotDone::Refused(code)) => {
                    // The owner may have forgotten us.
                    tracing::warn!(code = code.as_str(), "the owner gave no work");
                    tokio::time::sleep(Duration::from_secs(1)).await;
                    context.owner.connect().await.map_err(super::ended)?;
                    Ok(Finished::Taken(Vec::new()))
                }
            }
        }));
    }

    fn taken(&mut self, all: Vec<PostWork>) {
        self.is_taking = false;
        self.had_nothing_new = true;
        let now = self.now();
        let mut reports = Vec::new();
        for work in all {
            if let Some(in_work) = self.posts.get_mut(&work.post) {
                // The owner knows the end of this work before we do, or the lease is over. Then nothing can be done now.
                let is_after = now.saturating_sub(in_work.taken_ms) < LEASE_MS;
                in_work.next = is_after.then(|| Box::new(work));
                continue;
            }
            self.had_nothing_new = false;
            reports.extend(self.accept(work, now));
        }
        self.report(reports);
        self.advance_deletions();
    }

    /// Begins a piece of work. Says what became of it, if that is certain already.
    fn accept(&mut self, work: PostWork, now: i64) -> Option<(String, PostOutcome)> {
        self.posts.insert(work.post.clone(), InWork { taken_ms: now, next: None });
        match work.action {
            PostAction::Delete { ids, sent_ms, deadline_ms } => {
                let (place, attempts) = (work.place, work.attempts);
                let deleting = Deleting { place, ids, sent_ms, deadline_ms, attempts, taken_ms: now };
                let capabilities = self.context.adapter.capabilities();
                let outcome = self.deletions.add(work.post.clone(), deleting, capabilities, now);
                outcome.map(|outcome| (work.post, outcome))
            }
            PostAction::Send { lost: None, .. } | PostAction::Edit { .. }
                if work.kind == PostKind::Preview =>
            {
                self.preview(work, now)
            }
            PostAction::Send { .. } | PostAction::Edit { .. } => {
                self.add_post(work, now);
                None
            }
        }
    }

    /// The work on a post is over, and the owner knows it.
    fn over(&mut self, post: &str, is_final: bool) {
        let Some(next) = self.posts.remove(post).and_then(|it| it.next) else { return };
        // A post that is there is not sent again, whatever the owner knew when it gave the work.
        if !(is_final && matches!(next.action, PostAction::Send { .. })) {
            let report = self.accept(*next, self.now());
            self.report(report.into_iter().collect());
            self.advance_deletions();
        }
    }

    /// The post may be there: it is not sent without looking for it.
    fn forget_next_send(&mut self, post: &str) {
        if let Some(in_work) = self.posts.get_mut(post) {
            in_work.next.take_if(|next| matches!(next.action, PostAction::Send { lost: None, .. }));
        }
    }

    fn add_post(&mut self, work: PostWork, now: i64) {
        let call = call_of(&work);
        if let Some(until) = self.held(&work.place.chat, call, now).filter(|until| *until > now + KEPT_MS) {
            self.report(vec![(work.post, PostOutcome::Later { at_ms: until })]);
            return;
        }
        let asked = self.refused.get(&(work.place.chat.clone(), call));
        if asked.is_some_and(|at| now.saturating_sub(*at) >= delete::PROBED_MS) {
            // It may be permitted again by now.
            self.ask(work.place.clone(), call, Some(Box::new(work)));
            return;
        }
        let purpose = match work.kind {
            PostKind::Answer => Purpose::Answer,
            PostKind::Preview => Purpose::Progress,
            PostKind::Notice | PostKind::Approval => Purpose::Waiting,
        };
        let place = work.place.clone();
        self.add(Job::Post { work, is_plain: false, taken_ms: now }, place, call, purpose);
    }

    fn add(&mut self, job: Job, place: Place, call: Call, purpose: Purpose) {
        let id = self.next_id;
        self.next_id += 1;
        self.jobs.insert(id, job);
        self.rate.add(Work { id, place, call, purpose });
    }

    /// Makes a call.
    fn start(&mut self, id: u64) {
        let context = self.context;
        let Some(job) = self.jobs.get(&id) else {
            self.rate.settle(id, Outcome::Over, self.now());
            return;
        };
        self.started.insert(id);
        self.running.push(match job {
            Job::Post { work, is_plain, .. } => {
                let (work, is_plain) = (work.clone(), *is_plain);
                Box::pin(async move {
                    let did = send::attempt(context, &work, is_plain).await?;
                    Ok(Finished::Post { id, did })
                })
            }
            Job::Delete { place, targets } => {
                let (place, mut targets) = (place.clone(), targets.clone());
                targets.retain(|target| self.deletions.is_open(target));
                let attempts = self.deletions.attempts(&targets);
                let may_batch = self.deletions.may_batch(&place.chat);
                Box::pin(async move {
                    let result = match targets.len() {
                        // They were given back.
                        0 => delete::Result::Split { refused: false },
                        2.. if !may_batch => delete::Result::Split { refused: false },
                        _ => delete::call(context, &place, &targets, attempts).await?,
                    };
                    Ok(Finished::Delete { id, result })
                })
            }
            Job::Probe { place } => {
                let place = place.clone();
                Box::pin(async move {
                    Ok(Finished::Probe { id, found: guarded(context.adapter.probe(&place)).await })
                })
            }
            Job::Pairing { place, post, marker, .. } => {
                let (place, post, marker) = (place.clone(), post.clone(), marker.clone());
                Box::pin(async move {
                    let sent = guarded(context.adapter.send(&place, &post, &marker)).await;
                    Ok(Finished::Aside { id, result: sent.map(drop) })
                })
            }
            Job::Whisper { place, person, text, answer_to } => {
                let (place, person) = (place.clone(), person.clone());
                let (text, answer_to) = (text.clone(), answer_to.clone());
                Box::pin(async move {
                    let call = context.adapter.whisper(&place, &person, &text, Some(&answer_to));
                    Ok(Finished::Aside { id, result: guarded(call).await })
                })
            }
        });
    }

    /// Asks whether a kind of call is permitted in a place.
    fn ask(&mut self, place: Place, call: Call, then: Option<Box<PostWork>>) {
        let context = self.context;
        self.refused.insert((place.chat.clone(), call), self.now());
        self.running.push(Box::pin(async move {
            let found = guarded(context.adapter.probe(&place)).await;
            Ok(Finished::Asked { place, call, found, then })
        }));
    }

    fn finished(&mut self, finished: Finished) {
        let now = self.now();
        match finished {
            Finished::Taken(work) => self.taken(work),
            Finished::Reported(posts) => {
                for (post, is_final) in posts {
                    self.over(&post, is_final);
                }
            }
            Finished::Post { id, did } => self.post_finished(id, did, now),
            Finished::Delete { id, result } => self.delete_finished(id, result, now),
            Finished::Probe { id, found } => self.probe_finished(id, found, now),
            Finished::Asked { place, call, found, then } => {
                let found = found.unwrap_or(Probe::Unknown);
                self.rate.probed(&place, call, found);
                if call == Call::Delete {
                    self.deletions.probed(&place.chat, Some(found), now);
                    self.advance_deletions();
                }
                if let Some(work) = then {
                    self.add_post(*work, now);
                }
            }
            Finished::Preview { work, did } => self.preview_finished(&work, did, now),
            Finished::Aside { id, result } => self.aside_finished(id, result, now),
            Finished::Nothing => {}
        }
    }

    /// Tells the owner what became of posts, after the holds that have changed.
    fn report(&mut self, reports: Reports) {
        let mut changed = Vec::new();
        for hold in self.rate.holds(self.now()) {
            for name in holds::names(&hold) {
                if self.stored_holds.insert(name.clone(), hold.until_ms) != Some(hold.until_ms) {
                    changed.push((name, hold.until_ms));
                }
            }
        }
        if reports.is_empty() && changed.is_empty() {
            return;
        }
        let context = self.context;
        self.running.push(Box::pin(async move {
            for (name, until_ms) in changed {
                match context.owner.hold(name, until_ms).await {
                    Err(NotDone::End(error)) => return Err(error),
                    Err(NotDone::Refused(code)) => tracing::warn!(code = code.as_str(), "a hold was refused"),
                    Ok(()) => {}
                }
            }
            let mut posts = Vec::with_capacity(reports.len());
            for (post, outcome) in reports {
                let is_final = !matches!(outcome, PostOutcome::Later { .. });
                context.report(&post, outcome).await?;
                posts.push((post, is_final));
            }
            Ok(Finished::Reported(posts))
        }));
    }

    fn now(&self) -> i64 {
        self.context.clock.now_ms()
    }
}

fn call_of(work: &PostWork) -> Call {
    match work.action {
        PostAction::Send { .. } => Call::Send,
        PostAction::Edit { .. } => Call::Edit,
        PostAction::Delete { .. } => Call::Delete,
    }
}
