//! What the log says of failures that no caller gets. Must never log a message of an error, as it may quote a text, a path
//! or an argument. It logs only its code, and the causes that [`EngineError::for_log`] knows to be safe.

use crate::error::{EngineError, Kind};

/// A result that no caller waits for.
pub(crate) trait LogFailure<T> {
    /// The value. A failure is logged, with what it means.
    fn or_log(self, meaning: &'static str) -> Option<T>;
}

impl<T, E: Into<EngineError>> LogFailure<T> for Result<T, E> {
    fn or_log(self, meaning: &'static str) -> Option<T> {
        self.map_err(|error| failed(&error.into(), meaning)).ok()
    }
}

/// Logs a failure, with what it means. A refusal is not an error.
pub(crate) fn failed(error: &EngineError, meaning: &'static str) {
    let EngineError { code, kind, .. } = error;
    let cause = error.for_log();
    match kind {
        Kind::Storage => tracing::error!(code, cause, meaning),
        Kind::Model => tracing::warn!(code, cause, meaning),
        Kind::Usage | Kind::NotFound | Kind::Refused | Kind::Stale => tracing::debug!(code, cause, meaning),
    }
}
