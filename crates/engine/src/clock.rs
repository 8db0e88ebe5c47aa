//! Time, behind a trait. The only place in the workspace that reads a clock or sleeps.
//!
//! Code that needs the time gets a [`Clock`], so tests set the time and never wait.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use futures::FutureExt;
use futures::channel::oneshot;
use futures::future::BoxFuture;

/// The time, and waiting for it to pass.
pub trait Clock: Send + Sync {
    /// Milliseconds since 1970-01-01 UTC, by the wall clock. It may go back when someone sets the clock.
    fn now_ms(&self) -> i64;

    /// Completes after `duration`. Dropping the future ends the wait.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
}

/// The computer's clock. Its `sleep` needs a tokio runtime with time.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "the one place that reads the clock")]
    fn now_ms(&self) -> i64 {
        match SystemTime::now().duration_since(UNIX_EPOCH) {
            Ok(since) => millis(since),
            Err(before) => -millis(before.duration()),
        }
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        tokio::time::sleep(duration).boxed()
    }
}

/// A clock that tests move by hand. Clones share the same time.
///
/// With [`ManualClock::new`] a sleep lasts until [`ManualClock::advance`] reaches its end. With
/// [`ManualClock::skipping`] a sleep ends at once and moves the clock. Both record their sleeps.
#[derive(Clone, Debug)]
pub struct ManualClock {
    state: Arc<Mutex<Manual>>,
}

#[derive(Debug)]
struct Manual {
    now_ms: i64,
    skips: bool,
    slept: Vec<Duration>,
    waiting: Vec<(i64, oneshot::Sender<()>)>,
}

impl ManualClock {
    /// A clock that stays at `now_ms` until it is advanced.
    pub fn new(now_ms: i64) -> Self {
        Self::with(now_ms, false)
    }

    /// A clock on which every sleep ends at once and moves the time by its length.
    pub fn skipping(now_ms: i64) -> Self {
        Self::with(now_ms, true)
    }

    /// Advances the time, and ends the sleeps that are over.
    pub fn advance(&self, duration: Duration) {
        let mut state = self.lock();
        state.now_ms += millis(duration);
        let now = state.now_ms;
        let (due, waiting) = std::mem::take(&mut state.waiting).into_iter().partition(|(end, _)| *end <= now);
        state.waiting = waiting;
        drop(state);
        for (_, wake) in due {
            // A sleeper that was dropped meanwhile no longer listens.
            let _ = wake.send(());
        }
    }

    /// The sleeps so far, in order.
    pub fn slept(&self) -> Vec<Duration> {
        self.lock().slept.clone()
    }

    /// How many sleeps are waiting for the clock to be advanced.
    pub fn sleepers(&self) -> usize {
        self.lock().waiting.iter().filter(|(_, wake)| !wake.is_canceled()).count()
    }

    fn with(now_ms: i64, skips: bool) -> Self {
        let state = Manual { now_ms, skips, slept: Vec::new(), waiting: Vec::new() };
        Self { state: Arc::new(Mutex::new(state)) }
    }

    fn lock(&self) -> MutexGuard<'_, Manual> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for ManualClock {
    fn now_ms(&self) -> i64 {
        self.lock().now_ms
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let mut state = self.lock();
        state.slept.push(duration);
        if state.skips {
            state.now_ms += millis(duration);
        }
        if state.skips || duration.is_zero() {
            return futures::future::ready(()).boxed();
        }
        let (wake, woken) = oneshot::channel();
        let end = state.now_ms + millis(duration);
        state.waiting.push((end, wake));
        woken.map(|_| ()).boxed()
    }
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_clock_is_past_the_year_2020() {
        assert!(SystemClock.now_ms() > 1_577_836_800_000);
    }

    #[test]
    fn a_manual_sleep_ends_when_its_time_has_come() {
        let clock = ManualClock::new(1_000);
        let mut sleep = clock.sleep(Duration::from_millis(50));
        clock.advance(Duration::from_millis(49));
        assert!((&mut sleep).now_or_never().is_none());
        clock.advance(Duration::from_millis(1));
        assert!(sleep.now_or_never().is_some());
        assert_eq!(clock.now_ms(), 1_050);
        assert_eq!(clock.sleepers(), 0);
    }

    #[test]
    fn a_skipping_clock_never_waits() {
        let clock = ManualClock::skipping(0);
        assert!(clock.sleep(Duration::from_secs(9)).now_or_never().is_some());
        assert_eq!(clock.now_ms(), 9_000);
        assert_eq!(clock.slept(), [Duration::from_secs(9)]);
    }
}
