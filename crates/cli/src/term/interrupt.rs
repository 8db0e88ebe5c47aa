//! Ctrl-C during work: a request to stop, never the end of the process. Must never lose data.

use futures::FutureExt;
use rustix::process::Signal as Number;
use tokio::signal::unix::{Signal, SignalKind, signal};

use super::echo;

/// Presses of Ctrl-C in order. Once this exists, Ctrl-C no longer ends the process, even if pressed twice: it only wakes
/// [`Interrupts::next`]. Several presses without a wait count as one.
#[derive(Debug)]
pub struct Interrupts {
    signal: Signal,
    resumed: Signal,
}

impl Interrupts {
    /// Listens from now on. Must be called within a runtime with its drivers enabled.
    ///
    /// # Errors
    ///
    /// If the operating system refuses the handler.
    pub fn new() -> std::io::Result<Self> {
        Ok(Self { signal: signal(SignalKind::interrupt())?, resumed: signal(kind(Number::CONT))? })
    }

    /// Waits for the next press. Dropping the future loses none. Meanwhile the terminal stays silent, also after Ctrl-Z and `fg`.
    pub async fn next(&mut self) {
        loop {
            tokio::select! {
                Some(()) = self.signal.recv() => return,
                Some(()) = self.resumed.recv() => echo::hide_again(),
                // No press can arrive any more; that is not a press.
                else => std::future::pending().await,
            }
        }
    }

    /// Forgets earlier presses: one meant for the work before must not stop the new work.
    pub fn forget(&mut self) {
        while self.signal.recv().now_or_never().flatten().is_some() {}
    }
}

/// The runtime's kind of a signal.
pub(crate) fn kind(of: Number) -> SignalKind {
    SignalKind::from_raw(of.as_raw())
}

/// A request from outside to end the process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExitRequest {
    /// `SIGTERM`.
    Terminate,
    /// The terminal was closed: `SIGHUP`.
    HangUp,
}

/// Waits for a request to end the process. Listens from the call on, even if the future is awaited later. The caller then calls
/// [`super::restore`] and exits.
///
/// # Errors
///
/// If the operating system refuses the handlers.
pub fn terminated() -> std::io::Result<impl Future<Output = ExitRequest> + Send> {
    let mut term = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    Ok(async move {
        tokio::select! {
            _ = term.recv() => ExitRequest::Terminate,
            _ = hangup.recv() => ExitRequest::HangUp,
        }
    })
}
