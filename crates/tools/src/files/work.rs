//! Blocking work: it runs on a thread of its own, and gets a signal when it must stop. It must never wait for
//! anything itself.

use std::io::{self, Read};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::place::PathBase;
use super::walk::HiddenPaths;
use crate::call::Call;

/// A stop signal for work.
#[derive(Clone, Debug, Default)]
pub(super) struct Stop(Arc<AtomicBool>);

impl Stop {
    pub(super) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Stops the work when nobody waits for it any more.
struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.set();
    }
}

/// Runs it, and stops it when the call must stop.
pub(super) async fn blocking<T: Send + 'static>(
    call: &Call,
    work: impl FnOnce(&Stop) -> T + Send + 'static,
) -> T {
    let stop = Stop::default();
    let guard = StopOnDrop(stop.clone());
    let mut working = pin!(crate::blocking(move || work(&stop)));
    let done = tokio::select! {
        done = &mut working => done,
        () = call.host.stopped() => {
            guard.0.set();
            working.await
        }
    };
    done.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
}

/// Reads files, without those that are hidden from calls of these tools.
pub(super) async fn look<T: Send + 'static>(
    call: &Call,
    tools: &'static [&'static str],
    look: impl FnOnce(&PathBase, &HiddenPaths, &Stop) -> T + Send + 'static,
) -> T {
    let (ground, veil) = (PathBase::new(&call.folder().await, &call.roots), HiddenPaths::of(call, tools));
    blocking(call, move |stop| look(&ground, &veil, stop)).await
}

/// A reader that fails when the work must stop.
pub(super) struct Stoppable<R> {
    pub(super) inner: R,
    pub(super) stop: Stop,
}

impl<R: Read> Read for Stoppable<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_set() {
            return Err(io::Error::other("it was stopped"));
        }
        self.inner.read(into)
    }
}
