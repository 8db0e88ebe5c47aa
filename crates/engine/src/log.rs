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

/// Logs an error with its meaning. Only a failure of the store is an error of the owner itself.
pub(crate) fn failed(error: &EngineError, meaning: &'static str) {
    let EngineError { code, kind, .. } = error;
    let cause = error.for_log();
    match kind {
        // A rewind has ended the run, as it should; the end is stored.
        Kind::Stale if *code == "fenced" => tracing::debug!(code, cause, meaning),
        Kind::Storage => tracing::error!(code, cause, meaning),
        Kind::Model | Kind::Usage | Kind::NotFound | Kind::Refused | Kind::Stale => {
            tracing::warn!(code, cause, meaning);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::{Arc, Mutex};

    use super::LogFailure as _;
    use crate::error::{EngineError, Kind};

    #[derive(Clone, Default)]
    struct Log(Arc<Mutex<Vec<u8>>>);

    impl Write for Log {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn failure_that_no_caller_gets_is_in_the_log_of_the_usual_level_without_its_message() {
        let log = Log::default();
        let writer = log.clone();
        let subscriber =
            tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
        tracing::subscriber::with_default(subscriber, || {
            for kind in [Kind::Usage, Kind::NotFound, Kind::Refused, Kind::Stale, Kind::Model, Kind::Storage]
            {
                let failed: Result<(), _> = Err(EngineError::new(kind, "planted_code", "planted message"));
                assert_eq!(failed.or_log("this is not done"), None);
            }
            let fenced: Result<(), _> = Err(EngineError::new(Kind::Stale, "fenced", "a rewind ended it"));
            assert_eq!(fenced.or_log("this was to be expected"), None);
        });
        let log = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
        let levels: Vec<_> = log.lines().filter_map(|line| line.split_whitespace().nth(1)).collect();
        assert_eq!(levels, ["WARN", "WARN", "WARN", "WARN", "WARN", "ERROR"], "{log}");
        assert_eq!(log.matches("code=\"planted_code\" meaning=\"this is not done\"").count(), 6, "{log}");
        assert!(!log.contains("planted message"), "{log}");
    }
}
