//! Work that is completed once it has begun, even after its client disconnects. Must never be used for reads: without a caller
//! their results are useless.

use std::panic::resume_unwind;
use std::sync::Arc;

use tokio::sync::watch;
use tracing::Instrument as _;

use crate::Engine;

/// The number of such tasks at work.
#[derive(Debug, Default)]
pub(crate) struct Completions(watch::Sender<usize>);

/// One task at work.
struct TaskGuard(watch::Sender<usize>);

impl Completions {
    fn begin(&self) -> TaskGuard {
        self.0.send_modify(|count| *count += 1);
        TaskGuard(self.0.clone())
    }

    /// Waits until no task is at work.
    pub(crate) async fn over(&self) {
        // The sender lives as long as `self`.
        drop(self.0.subscribe().wait_for(|count| *count == 0).await);
    }
}

impl Drop for TaskGuard {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

impl Engine {
    /// Runs this work to its end, even if its caller is gone. Only the end of the process interrupts it, and [`Engine::finish`]
    /// waits for it.
    pub async fn run_to_completion<T: Send + 'static>(
        self: &Arc<Self>,
        work: impl Future<Output = T> + Send + 'static,
    ) -> T {
        let one = self.completions.begin();
        let work = async move {
            let _one = one;
            work.await
        };
        let task = tokio::spawn(work.in_current_span());
        match task.await.map_err(tokio::task::JoinError::try_into_panic) {
            Ok(done) => done,
            Err(Ok(panic)) => resume_unwind(panic),
            // The process ends.
            Err(Err(_)) => std::future::pending().await,
        }
    }
}
