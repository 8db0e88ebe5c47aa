//! Blocking work beside the async runtime.

use std::any::Any;

use tokio::task::{JoinError, spawn_blocking};

/// Work whose result has no type yet.
type UntypedWork = Box<dyn FnOnce() -> Box<dyn Any + Send> + Send>;

/// Runs work that blocks on a thread of its own. It runs to its end, also when nobody waits for it any more.
///
/// The runtime compiles all that a task needs once for each type of closure. There are more than a hundred, so they are given to it as
/// one type.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, JoinError> {
    let untyped: UntypedWork = Box::new(move || Box::new(work()));
    let done = spawn_blocking(untyped).await?;
    Ok(*done.downcast().expect("BUG: the result has the type that the work returned"))
}
