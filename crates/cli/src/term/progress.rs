//! That work goes on, said on standard error: only on a terminal, and only when it takes longer than about a second. Must never be
//! seen in a pipe, and must leave no trace when the work is done.

use std::io::IsTerminal;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::safe;

/// Work that takes less is not worth a word.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often the spinner turns.
const TICK: Duration = Duration::from_millis(120);

/// A spinner or a bar, drawn while it lives. Nothing else may be printed to the terminal meanwhile, except within
/// [`Progress::suspend`].
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    /// Tells the thread that waits for [`PATIENCE`] that there is nothing to draw any more.
    waiting: Option<(Sender<()>, JoinHandle<()>)>,
}

impl Progress {
    /// Work of unknown length, for example `"waiting for the model"`.
    #[must_use]
    pub fn spinner(message: &str) -> Self {
        Self::start(ProgressBar::no_length(), "{spinner} {wide_msg} {elapsed}", message)
    }

    /// Work on a number of things.
    #[must_use]
    pub fn count(message: &str, total: u64) -> Self {
        Self::start(ProgressBar::new(total), "{spinner} {msg} {wide_bar} {human_pos}/{human_len}", message)
    }

    /// Work on a number of bytes.
    #[must_use]
    pub fn bytes(message: &str, total: u64) -> Self {
        let template = "{spinner} {msg} {wide_bar} {decimal_bytes}/{decimal_total_bytes}";
        Self::start(ProgressBar::new(total), template, message)
    }

    fn start(bar: ProgressBar, template: &str, message: &str) -> Self {
        bar.set_draw_target(ProgressDrawTarget::hidden());
        bar.set_style(ProgressStyle::with_template(template).expect("BUG: the templates here are valid"));
        bar.set_message(safe::line(message).into_owned());
        let waiting = is_drawn().then(|| show_later(bar.clone()));
        Self { bar, waiting }
    }

    /// Whether anybody sees it.
    pub fn is_drawn(&self) -> bool {
        self.waiting.is_some()
    }

    /// Says what is being done now.
    pub fn message(&self, message: &str) {
        self.bar.set_message(safe::line(message).into_owned());
    }

    /// Says how much there is in all, where that turns out only on the way.
    pub fn total(&self, total: u64) {
        self.bar.set_length(total);
    }

    /// Says how much is done by now.
    pub fn set(&self, done: u64) {
        self.bar.set_position(done);
    }

    /// Takes the drawing away while something is printed.
    pub fn suspend<R>(&self, print: impl FnOnce() -> R) -> R {
        self.bar.suspend(print)
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.waiting.take() {
            drop(stop);
            // The thread only waits and draws; if it panicked there is nothing left to clear up.
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
    }
}

fn is_drawn() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Draws the bar once its time has come, unless it is dropped before.
fn show_later(bar: ProgressBar) -> (Sender<()>, JoinHandle<()>) {
    let (stop, stopped) = mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        if stopped.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.enable_steady_tick(TICK);
        }
    });
    (stop, thread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_and_messages_are_kept_and_safe() {
        let progress = Progress::count("reading\x1b[2J", 10);
        progress.set(4);
        assert_eq!((progress.bar.position(), progress.bar.length()), (4, Some(10)));
        assert_eq!(progress.bar.message(), "reading␛[2J");
    }
}
