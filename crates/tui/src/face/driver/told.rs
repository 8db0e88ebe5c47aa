//! What the process tells the face because of a signal: that it has to end, when what was typed is kept first, as when a person leaves;
//! that it has to give the terminal back for a while; that it goes on. Must never take longer than a person would wait.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

/// Whether there is a face. A signal knows of no value of ours, so the process does.
static IS_THERE: AtomicBool = AtomicBool::new(false);

/// Tells it to leave.
static TOLD: Notify = Notify::const_new();

/// It has left, and the terminal is given back.
static LEFT: Notify = Notify::const_new();

/// So long it may take: longer than a face waits for the owner.
const PATIENCE: Duration = Duration::from_secs(5);

/// Lets the face, if there is one, leave because the process is to end, and waits for that, a few seconds at most. The face does not
/// return then: whoever calls this ends the process.
pub async fn leave() {
    if IS_THERE.load(Ordering::SeqCst) {
        TOLD.notify_one();
        // One that hangs is left as a crash leaves it.
        drop(tokio::time::timeout(PATIENCE, LEFT.notified()).await);
    }
}

/// Tells it that the process is to stop.
static STOPS: Notify = Notify::const_new();

/// Tells it that the process goes on, having been stopped unasked.
static GOES_ON: Notify = Notify::const_new();

/// The process is to stop until somebody wakes it. Where the face has the terminal, it gives it back first, and stops the process by
/// [`World::suspend`](super::World::suspend); otherwise this says `false`, and whoever calls it stops the process.
#[must_use]
pub fn stop() -> bool {
    let has = super::screen::has_terminal();
    if has {
        STOPS.notify_one();
    }
    has
}

/// The process goes on. Where it was stopped in a way that nobody could prepare for, the shell has done what it wanted with the
/// terminal, and the face takes it anew.
pub fn goes_on() {
    if super::screen::has_terminal() {
        GOES_ON.notify_one();
    }
}

/// Waits until the process is to stop.
pub(super) async fn stops() {
    STOPS.notified().await;
}

/// Waits until the process goes on.
pub(super) async fn went_on() {
    GOES_ON.notified().await;
}

/// There is a face as long as this lives.
pub(super) struct There(());

impl There {
    pub(super) fn new() -> Self {
        IS_THERE.store(true, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for There {
    fn drop(&mut self) {
        IS_THERE.store(false, Ordering::SeqCst);
    }
}

/// Waits until the face is told to leave.
pub(super) async fn told() {
    TOLD.notified().await;
}

/// The face has left as it was told to: the process ends now.
pub(super) async fn left() {
    LEFT.notify_one();
    std::future::pending::<()>().await;
}
