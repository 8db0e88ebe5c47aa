//! Faults while files are restored: at the n-th point the step fails, the program dies, or a person saves a file.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use retake_worktree::failpoint;

use super::disk;
use super::naive::Thing;
use super::steps::Fault;

/// The next fault.
#[derive(Clone, Debug, Default)]
pub(super) struct Faults(Arc<Mutex<Next>>);

#[derive(Debug, Default)]
struct Next {
    fault: Option<Fault>,
    passed: u8,
    struck: bool,
    root: PathBuf,
    saved: Option<(String, Thing)>,
}

impl Faults {
    /// Arms a fault.
    pub(super) fn expect(&self, fault: Fault, root: &Path) {
        *self.next() = Next { fault: Some(fault), root: root.to_owned(), ..Next::default() };
    }

    /// Disarms it; returns whether it happened.
    pub(super) fn over(&self) -> bool {
        let mut next = self.next();
        next.fault = None;
        next.struck
    }

    /// The file that a person saved meanwhile.
    pub(super) fn saved(&self) -> Option<(String, Thing)> {
        self.next().saved.take()
    }

    fn next(&self) -> std::sync::MutexGuard<'_, Next> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A runtime whose threads all pass these failpoints.
    pub(super) fn runtime(&self) -> tokio::runtime::Runtime {
        let faults = self.clone();
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().on_thread_start(move || {
            let faults = faults.clone();
            // For the lifetime of the thread.
            Box::leak(Box::new(failpoint::watch(move |name| faults.pass(name))));
        });
        builder.build().expect("a runtime")
    }

    fn pass(&self, name: &str) -> io::Result<()> {
        if !name.starts_with("apply.") {
            return Ok(());
        }
        let mut next = self.next();
        next.passed = next.passed.saturating_add(1);
        let strikes = match next.fault {
            Some(Fault::Fails(at) | Fault::Dies(at) | Fault::Saves(at, _)) => {
                !next.struck && at == next.passed
            }
            Some(Fault::Never | Fault::Twins) | None => false,
        };
        next.struck |= strikes;
        match next.fault {
            Some(Fault::Dies(_)) if next.struck => {
                drop(next);
                std::panic::resume_unwind(Box::new("the program dies"))
            }
            Some(Fault::Fails(_)) if strikes => Err(io::Error::other("it fails")),
            Some(Fault::Saves(_, name)) if strikes => {
                next.saved = disk::save(&next.root, name);
                next.struck = next.saved.is_some();
                // It must not happen again.
                next.fault = None;
                Ok(())
            }
            _ => Ok(()),
        }
    }
}
