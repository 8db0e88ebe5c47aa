//! Stops the run that a command follows when a signal ends the process. Must never take longer than the sender of the signal would wait.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

/// Whether a command follows a run. A signal handler can't access values of the command, so this is a static.
static FOLLOWS_RUN: AtomicBool = AtomicBool::new(false);

/// Asks the command to stop its run.
static STOP_REQUESTED: Notify = Notify::const_new();

/// The command has asked the owner to stop the run.
static STOPPED: Notify = Notify::const_new();

/// The longest wait for the command.
const PATIENCE: Duration = Duration::from_secs(5);

/// Asks the command that follows a run, if there is one, to stop that run, and waits for it. The command does not continue, so the
/// caller must end the process.
pub(crate) async fn stop_followed_run() {
    if FOLLOWS_RUN.load(Ordering::SeqCst) {
        STOP_REQUESTED.notify_one();
        // An owner that does not answer must not keep this process alive.
        drop(tokio::time::timeout(PATIENCE, STOPPED.notified()).await);
    }
}

/// A command follows a run as long as this value lives.
pub(crate) struct FollowedRun(());

impl FollowedRun {
    pub(crate) fn new() -> Self {
        FOLLOWS_RUN.store(true, Ordering::SeqCst);
        Self(())
    }

    /// Waits for the request to stop the run.
    pub(crate) async fn stop_requested(&self) {
        STOP_REQUESTED.notified().await;
    }

    /// Reports that the run is being stopped, and never returns: the process ends now.
    pub(crate) async fn stopped<T>(&self) -> T {
        STOPPED.notify_one();
        std::future::pending().await
    }
}

impl Drop for FollowedRun {
    fn drop(&mut self) {
        FOLLOWS_RUN.store(false, Ordering::SeqCst);
    }
}
