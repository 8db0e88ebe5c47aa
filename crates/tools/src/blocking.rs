//! Runs blocking work beside the async runtime.

use std::any::Any;

use tokio::task::{JoinError, spawn_blocking};

/// Work with an untyped result.
type UntypedWork = Box<dyn FnOnce() -> Box<dyn Any + Send> + Send>;

/// Runs blocking work on a thread of its own. It runs to its end, even if nobody waits for it any more.
///
/// The runtime compiles its task code once for each type of closure. There are more than a hundred, so they are passed to it as
/// one type.
pub async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, JoinError> {
    let done = untyped(Box::new(move || Box::new(work()))).await?;
    Ok(*done.downcast().expect("BUG: the result has the type that the work returned"))
}

async fn untyped(work: UntypedWork) -> Result<Box<dyn Any + Send>, JoinError> {
    spawn_blocking(work).await
}
