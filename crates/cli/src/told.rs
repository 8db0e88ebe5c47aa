//! What the process tells a command that follows its own run: that it has to end, when the run is stopped first. Must never take longer than
//! whoever ends it would wait.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

/// Whether a command follows a run of its own. A signal knows of no value of ours, so the process does.
static IS_THERE: AtomicBool = AtomicBool::new(false);

/// Tells it to stop its run.
static TOLD: Notify = Notify::const_new();

/// It has asked the owner to.
static LEFT: Notify = Notify::const_new();

/// So long it may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// Lets the command that follows a run, if there is one, stop that because the process is to end, and waits for it. The command does not
/// go on then: whoever calls this ends the process.
pub(crate) async fn leave() {
    if IS_THERE.load(Ordering::SeqCst) {
        TOLD.notify_one();
        // An owner that hangs stops nothing.
        drop(tokio::time::timeout(PATIENCE, LEFT.notified()).await);
    }
}

/// A command follows its own run as long as this lives.
pub(crate) struct There(());

impl There {
    pub(crate) fn new() -> Self {
        IS_THERE.store(true, Ordering::SeqCst);
        Self(())
    }

    /// Waits until it is told to stop its run.
    pub(crate) async fn told(&self) {
        TOLD.notified().await;
    }

    /// It has done so: the process ends now.
    pub(crate) async fn left<T>(&self) -> T {
        LEFT.notify_one();
        std::future::pending().await
    }
}

impl Drop for There {
    fn drop(&mut self) {
        IS_THERE.store(false, Ordering::SeqCst);
    }
}
