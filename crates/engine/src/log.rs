//! The log of failures that no caller gets. Must never log an error's message, which may quote a text, a path or an
//! argument: only its code, and the causes that [`EngineError::for_log`] marks as safe.

use crate::error::{EngineError, Kind};

/// A result that no caller waits for.
pub(crate) trait LogFailure<T> {
    /// The value. An error is logged with its meaning.
    fn or_log(self, meaning: &'static str) -> Option<T>;
}

impl<T, E: Into<EngineError>> LogFailure<T> for Result<T, E> {
    fn or_log(self, meaning: &'static str) -> Option<T> {
        self.map_err(|error| failed(&error.into(), meaning)).ok()
    }
}

/// Logs an error with its meaning. A refusal is not logged as an error.
pub(crate) fn failed(error: &EngineError, meaning: &'static str) {
    let EngineError { code, kind, .. } = error;
    let cause = error.for_log();
    match kind {
        Kind::Storage => tracing::error!(code, cause, meaning),
        Kind::Model => tracing::warn!(code, cause, meaning),
        Kind::Usage | Kind::NotFound | Kind::Refused | Kind::Stale => tracing::debug!(code, cause, meaning),
    }
}
