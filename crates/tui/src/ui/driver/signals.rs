//! Signals of the process that the UI must react to: quit (unsent text is kept first), suspend, and resume. Each takes a few seconds
//! at most. A signal handler has no access to values of the UI, so these are statics.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio::sync::Notify;

/// Whether the UI runs.
static IS_RUNNING: AtomicBool = AtomicBool::new(false);

static QUIT: Notify = Notify::const_new();
static HAS_QUIT: Notify = Notify::const_new();
static SUSPEND: Notify = Notify::const_new();
static RESUMED: Notify = Notify::const_new();

/// Longest time to quit. It is longer than the UI waits for the owner.
const PATIENCE: Duration = Duration::from_secs(5);

/// Asks the UI, if it runs, to quit, and waits until it has, for 5 seconds at most. The UI does not return: the caller ends the
/// process.
pub async fn quit() {
    if IS_RUNNING.load(Ordering::SeqCst) {
        QUIT.notify_one();
        // A UI that hangs is ended like in a crash.
        drop(tokio::time::timeout(PATIENCE, HAS_QUIT.notified()).await);
    }
}

/// Asks the UI to suspend the process. The UI gives the terminal back first, and then calls
/// [`World::suspend`](super::World::suspend). Returns `false` if the UI does not have the terminal: the caller suspends the
/// process.
#[must_use]
pub fn suspend() -> bool {
    let has = super::screen::has_terminal();
    if has {
        SUSPEND.notify_one();
    }
    has
}

/// Tells the UI that the process was resumed. After a stop without a warning, the shell has changed the terminal, and the UI takes it
/// again.
pub fn resume() {
    if super::screen::has_terminal() {
        RESUMED.notify_one();
    }
}

/// Waits for [`quit`].
pub(super) async fn quit_requested() {
    QUIT.notified().await;
}

/// Waits for [`suspend`].
pub(super) async fn suspend_requested() {
    SUSPEND.notified().await;
}

/// Waits for [`resume`].
pub(super) async fn resumed() {
    RESUMED.notified().await;
}

/// The UI runs as long as this value lives.
pub(super) struct RunningGuard(());

impl RunningGuard {
    pub(super) fn new() -> Self {
        IS_RUNNING.store(true, Ordering::SeqCst);
        Self(())
    }
}

impl Drop for RunningGuard {
    fn drop(&mut self) {
        IS_RUNNING.store(false, Ordering::SeqCst);
    }
}

/// Reports that the UI has quit because of [`quit`], and waits for the end of the process.
pub(super) async fn has_quit() {
    HAS_QUIT.notify_one();
    std::future::pending::<()>().await;
}
