//! The sweep: every covered folder is listed, the state of every name is read, and both are merged with the index.
//! Folders wait in a queue for as many threads as there are cores; an unchanged folder allocates nothing. It opens
//! files only to read ignore files; other bytes are read when their amount is known.

use std::collections::BTreeSet;
use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;

use retake_core::{ContentHash, FilePath, Record, UncoveredReason};

use super::below::Signature;
use super::coverage::CoverageChange;
use super::index::{Folder, Index, NameState, Place};
use super::rules::{Chain, Limits, Parsed, Rules};
use super::visit::Visitor;
use crate::attributes::Attributes;
use crate::error::Result;
use crate::failpoint;
use crate::objects::Objects;
use crate::root::Root;

/// The input of a sweep.
pub(crate) struct Context<'a> {
    pub root: &'a Root,
    /// Device and inode of the folders with Retake's own data.
    pub own: &'a [(u64, u64)],
    pub rules: &'a Rules,
    pub index: &'a Index,
    pub objects: &'a dyn Objects,
    pub parsed: &'a Parsed,
    /// Warm files with at least this stamp are read again.
    pub warm_since: i64,
    pub looked: &'a (dyn Fn(u64) + Sync),
    /// If a watch names the folders: the inodes of files with several hard links whose links are all known.
    pub links: Option<Arc<BTreeSet<u64>>>,
    /// Set when the named folders alone are not enough. Ignore files changed in such a folder, or it was marked as not
    /// covered. Or another folder replaced a known one in it, or a file in it has a hard link that may be anywhere.
    pub not_enough: AtomicBool,
    /// Collects the folders that contain a repository.
    pub git: &'a Mutex<BTreeSet<FilePath>>,
}

impl Context<'_> {
    pub(crate) fn limits(&self) -> Limits {
        Limits { file: self.rules.max_file, ignored: self.rules.max_ignored }
    }

    /// Handles a regular file. A write through another hard link is only reported in the folder of that link. If the
    /// watch does not know the links, all of them are searched.
    pub(crate) fn met(&self, file: &Signature) {
        if let Some(links) = &self.links
            && file.links > 1
            && !links.contains(&file.inode)
        {
            self.not_enough.store(true, Ordering::Relaxed);
        }
    }
}

/// The ignore files in force at the last capture, and now. The same chain twice if nothing changed.
#[derive(Clone, Debug)]
pub(crate) struct InForce {
    pub old: Arc<Chain>,
    pub new: Arc<Chain>,
}

impl InForce {
    pub(crate) fn unchanged(chain: Arc<Chain>) -> Self {
        Self { old: Arc::clone(&chain), new: chain }
    }

    pub(crate) fn is_unchanged(&self) -> bool {
        Arc::ptr_eq(&self.old, &self.new)
    }
}

/// A folder's coverage under the earlier and the current rules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Coverage {
    Both,
    /// Covered until now: its changes count, then it leaves the index.
    Leaving(UncoveredReason),
    /// Covered from now on: its content was not created.
    Arriving,
}

/// A folder to capture.
#[derive(Debug)]
pub(crate) struct Job {
    pub place: Place,
    /// Its known state.
    pub old: Option<Arc<Folder>>,
    /// The record at its place.
    pub before: Option<Record>,
    pub in_force: InForce,
    pub coverage: Coverage,
    /// Whether its known state is older than the last capture.
    pub late: bool,
    /// The report about its own coverage.
    pub line: Option<CoverageChange>,
    /// Whether known folders in it are skipped.
    pub alone: bool,
}

/// The new state of a folder that changed.
#[derive(Debug)]
pub(crate) struct ChangedFolder {
    pub job: Job,
    pub outcome: Outcome,
}

#[derive(Debug)]
pub(crate) enum Outcome {
    Seen {
        mode: u16,
        inode: u64,
        ctime: i64,
        attributes: Option<Arc<Attributes>>,
        coverage: Coverage,
        line: Option<CoverageChange>,
        drafts: Vec<Draft>,
    },
    Uncovered(UncoveredReason),
    Unknown(UncoveredReason),
    Gone,
}

/// A name in a folder, as the sweep leaves it.
#[derive(Debug)]
pub(crate) enum Draft {
    /// The same as that entry of the old folder.
    Keep(usize),
    New {
        name: Box<[u8]>,
        side: Side,
        state: State,
    },
}

/// Whether the earlier and the current rules cover a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Both,
    Leaving(UncoveredReason),
    Arriving,
}

#[derive(Debug)]
pub(crate) enum State {
    Ready(NameState),
    /// Its bytes must be read.
    Read {
        signature: Signature,
        known: Option<ContentHash>,
        /// Whether it is read only because its stamp is not conclusive.
        doubt: bool,
    },
    Gone,
}

/// The counts of a sweep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    pub folders: u64,
    pub names: u64,
}

/// Runs the jobs, and those that they create.
pub(crate) fn sweep(context: &Context<'_>, jobs: Vec<Job>) -> Result<(Vec<ChangedFolder>, Counts)> {
    let queue = Queue::new(jobs);
    let looked = AtomicU64::new(0);
    let work = || -> Result<(Vec<ChangedFolder>, Counts)> {
        let mut visitor = Visitor::new(context);
        let mut found = Vec::new();
        while let Some(job) = queue.take() {
            let done = visitor.visit(job).inspect_err(|_| queue.abandon());
            queue.finish(&mut visitor.jobs);
            found.extend(done?);
            (context.looked)(looked.fetch_add(1, Ordering::Relaxed) + 1);
        }
        Ok((found, visitor.counts))
    };
    let mut found = Vec::new();
    let mut counts = Counts::default();
    for part in on_all_cores(work) {
        let (part, counted) = part?;
        found.extend(part);
        counts.folders += counted.folders;
        counts.names += counted.names;
    }
    found.sort_by(|a, b| a.job.place.cmp(&b.job.place));
    Ok((found, counts))
}

/// Runs the same work on every core, and returns the results.
pub(crate) fn on_all_cores<T: Send>(work: impl Fn() -> T + Sync) -> Vec<T> {
    if failpoint::watched() {
        return vec![work()];
    }
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    thread::scope(|scope| {
        let others: Vec<_> = (1..cores).map(|_| scope.spawn(&work)).collect();
        let mut done = vec![work()];
        for other in others {
            done.push(other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
        done
    })
}

/// Jobs for several threads; it ends when none is left and none can be added any more.
struct Queue {
    waiting: Mutex<Waiting>,
    changed: Condvar,
}

struct Waiting {
    jobs: Vec<Job>,
    running: usize,
}

impl Queue {
    fn new(jobs: Vec<Job>) -> Self {
        Self { waiting: Mutex::new(Waiting { jobs, running: 0 }), changed: Condvar::new() }
    }

    fn take(&self) -> Option<Job> {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(job) = waiting.jobs.pop() {
                waiting.running += 1;
                return Some(job);
            }
            if waiting.running == 0 {
                return None;
            }
            waiting = self.changed.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn finish(&self, jobs: &mut Vec<Job>) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.running -= 1;
        let wake = !jobs.is_empty() || waiting.running == 0;
        waiting.jobs.append(jobs);
        drop(waiting);
        if wake {
            self.changed.notify_all();
        }
    }

    /// Ends the sweep after an error.
    fn abandon(&self) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).jobs.clear();
    }
}
