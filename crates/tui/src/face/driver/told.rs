//! How the process tells the face that it has to end, because of a signal: what was typed is kept first, as when a person leaves. Must
//! never take longer than a person would wait.

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
