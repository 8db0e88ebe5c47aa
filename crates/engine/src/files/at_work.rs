//! A lock for stored objects: shared by many tasks, or exclusive for one. A task that waits for exclusive access must never block
//! the others. An apply in one folder may take a minute, and calls in other folders continue meanwhile.

use std::sync::Arc;

use tokio::sync::{Notify, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock};

/// The lock.
#[derive(Default)]
pub(super) struct FilesLock {
    lock: Arc<RwLock<()>>,
    left: Arc<Notify>,
}

/// While this lives, no collection or erasure runs. Its holder may name objects that are in no row yet.
pub(super) struct FilesGuard {
    _guard: OwnedRwLockReadGuard<()>,
    _left: NotifyOnDrop,
}

/// Exclusive access: while this lives, nobody captures, plans or applies.
pub(super) struct ExclusiveGuard {
    _guard: OwnedRwLockWriteGuard<()>,
    _left: NotifyOnDrop,
}

/// Wakes the tasks that wait for exclusive access. Declared below the guard, so it is dropped after it.
struct NotifyOnDrop(Arc<Notify>);

impl Drop for NotifyOnDrop {
    fn drop(&mut self) {
        self.0.notify_waiters();
    }
}

impl FilesLock {
    /// Takes shared access. Waits only for exclusive access.
    pub(super) async fn join(&self) -> Arc<FilesGuard> {
        // Created first: a cancelled caller may already hold its place, and gives it back.
        let left = NotifyOnDrop(Arc::clone(&self.left));
        let guard = Arc::clone(&self.lock).read_owned().await;
        Arc::new(FilesGuard { _guard: guard, _left: left })
    }

    /// Waits for exclusive access without a place in the queue: shared access that comes meanwhile goes first.
    pub(super) async fn alone(&self) -> ExclusiveGuard {
        loop {
            let left = self.left.notified();
            tokio::pin!(left);
            // Registered before the check, so no wake-up in between is missed.
            left.as_mut().enable();
            if let Some(alone) = self.try_alone() {
                return alone;
            }
            left.await;
        }
    }

    /// Exclusive access; none while another task works.
    pub(super) fn try_alone(&self) -> Option<ExclusiveGuard> {
        let guard = Arc::clone(&self.lock).try_write_owned().ok()?;
        Some(ExclusiveGuard { _guard: guard, _left: NotifyOnDrop(Arc::clone(&self.left)) })
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use futures::FutureExt as _;

    use tokio::task::JoinHandle;

    use super::*;

    /// A task that already waits for exclusive access.
    async fn waiting(at_work: &Arc<FilesLock>) -> JoinHandle<()> {
        let at_work = Arc::clone(at_work);
        let waits = tokio::spawn(async move { drop(at_work.alone().await) });
        tokio::task::yield_now().await;
        waits
    }

    async fn in_time(waits: JoinHandle<()>) {
        let woken = tokio::time::timeout(Duration::from_secs(20), waits).await;
        woken.expect("it was woken").expect("it did not panic");
    }

    #[tokio::test]
    async fn waiting_to_be_alone_keeps_nobody_from_work() {
        let at_work = FilesLock::default();
        let long = at_work.join().await;
        let alone = at_work.alone();
        tokio::pin!(alone);
        assert!(alone.as_mut().now_or_never().is_none(), "somebody works");
        let other = at_work.join().now_or_never().expect("nobody waits behind one that waits");
        drop(long);
        assert!(alone.as_mut().now_or_never().is_none(), "the other one works still");
        drop(other);
        let alone = alone.now_or_never().expect("nobody works");
        assert!(at_work.join().now_or_never().is_none(), "one is alone");
        drop(alone);
        assert!(at_work.join().now_or_never().is_some());
    }

    #[tokio::test]
    async fn caller_that_gives_up_wakes_one_that_waits_to_be_alone() {
        let at_work = Arc::new(FilesLock::default());
        let first = at_work.alone().await;
        let mut worker = Box::pin(at_work.join());
        assert!(worker.as_mut().now_or_never().is_none(), "one is alone");
        let waits = waiting(&at_work).await;
        // The place goes to the waiting task, which returns it before it checks again.
        drop(first);
        tokio::task::yield_now().await;
        assert!(!waits.is_finished(), "the worker has the place");
        drop(worker);
        in_time(waits).await;
    }

    #[tokio::test]
    async fn one_that_waits_to_be_alone_is_woken_by_each_end() {
        let at_work = Arc::new(FilesLock::default());
        let first = at_work.alone().await;
        let waits = waiting(&at_work).await;
        drop(first);
        in_time(waits).await;
        let works = [at_work.join().await, at_work.join().await];
        let waits = waiting(&at_work).await;
        for work in works {
            assert!(!waits.is_finished(), "one works still");
            drop(work);
            tokio::task::yield_now().await;
        }
        in_time(waits).await;
    }
}
