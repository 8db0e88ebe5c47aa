//! Work that is completed once it has begun, even when its caller is gone: a client that disconnects leaves nothing half done. Must never
//! be used for reads, as nobody would get their results.

use std::panic::resume_unwind;
use std::sync::Arc;

use tokio::sync::watch;
use tracing::Instrument as _;

use crate::Engine;

/// How much of it is under way.
#[derive(Debug, Default)]
pub(crate) struct Completions(watch::Sender<usize>);

/// One of these.
struct One(watch::Sender<usize>);

impl Completions {
    fn begin(&self) -> One {
        self.0.send_modify(|count| *count += 1);
        One(self.0.clone())
    }

    /// Waits until nothing is under way.
    pub(crate) async fn over(&self) {
        // The sender lives as long as this does.
        drop(self.0.subscribe().wait_for(|count| *count == 0).await);
    }
}

impl Drop for One {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

impl Engine {
    /// Does this to its end, also where nobody waits for it any more. Only the end of the process breaks it off, and [`Engine::finish`]
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
