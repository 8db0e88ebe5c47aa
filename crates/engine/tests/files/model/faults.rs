//! What goes wrong while files are put back: at the n-th point the step fails, or the program dies.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use retake_engine::worktree::failpoint;

use super::steps::Fault;

/// What is to go wrong next.
#[derive(Clone, Debug, Default)]
pub(super) struct Faults(Arc<Mutex<Next>>);

#[derive(Debug, Default)]
struct Next {
    fault: Option<Fault>,
    passed: u8,
    struck: bool,
}

impl Faults {
    /// From here on.
    pub(super) fn expect(&self, fault: Fault) {
        *self.next() = Next { fault: Some(fault), passed: 0, struck: false };
    }

    /// Nothing goes wrong any more; whether something did.
    pub(super) fn over(&self) -> bool {
        std::mem::take(&mut *self.next()).struck
    }

    fn next(&self) -> std::sync::MutexGuard<'_, Next> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A runtime whose threads all pass the points under this.
    pub(super) fn runtime(&self) -> tokio::runtime::Runtime {
        let faults = self.clone();
        let mut builder = tokio::runtime::Builder::new_current_thread();
        builder.enable_all().on_thread_start(move || {
            let faults = faults.clone();
            // For as long as the thread lives.
            std::mem::forget(failpoint::watch(move |name| faults.pass(name)));
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
            Some(Fault::Fails(at) | Fault::Dies(at)) => !next.struck && at == next.passed,
            Some(Fault::Never) | None => false,
        };
        next.struck |= strikes;
        match next.fault {
            Some(Fault::Dies(_)) if next.struck => {
                drop(next);
                std::panic::resume_unwind(Box::new("the program dies"))
            }
            Some(Fault::Fails(_)) if strikes => Err(io::Error::other("it fails")),
            _ => Ok(()),
        }
    }
}
