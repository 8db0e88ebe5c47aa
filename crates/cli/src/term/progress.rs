//! Progress on standard error. A terminal shows a spinner or a bar when work takes longer than about a second, and removes
//! it at the end. Elsewhere (a pipe, a file, a dumb terminal) long work may print a line from time to time. Must never
//! write to standard output.

use std::io::{IsTerminal, Write as _};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::safe;

/// Shorter work shows no progress.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often the spinner turns.
const TICK: Duration = Duration::from_millis(120);

/// The intervals of lines.
#[derive(Clone, Copy, Debug)]
struct ProgressIntervals {
    first: Duration,
    then: Duration,
}

/// The intervals of lines: few enough for a log.
const LINES: ProgressIntervals =
    ProgressIntervals { first: Duration::from_secs(3), then: Duration::from_secs(5) };

/// A spinner or a bar, drawn while it lives. Nothing else may be printed to the terminal meanwhile.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
    /// The thread that waits until there is something to show; it ends when the sender is dropped.
    waiting: Option<Waiting>,
}

type Waiting = (Sender<()>, JoinHandle<()>);

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

    fn start(bar: ProgressBar, template: &str, message: &str) -> Self {
        bar.set_draw_target(ProgressDrawTarget::hidden());
        bar.set_style(ProgressStyle::with_template(template).expect("BUG: the templates here are valid"));
        bar.set_message(safe::line(message).into_owned());
        let waiting = is_drawn().then(|| show_later(bar.clone()));
        Self { bar, waiting }
    }

    /// Prints lines if nothing can be drawn: for work that a script may wait for.
    #[must_use]
    pub fn or_lines(mut self) -> Self {
        let print = |line: String| {
            // A closed output is no reason to end the work.
            let _ = std::io::stderr().write_all(line.as_bytes());
        };
        self.waiting.get_or_insert_with(|| say_later(self.bar.clone(), LINES, print));
        self
    }

    /// Whether it is drawn or printed anywhere.
    pub fn is_seen(&self) -> bool {
        self.waiting.is_some()
    }

    /// Sets the text.
    pub fn message(&self, message: &str) {
        self.bar.set_message(safe::line(message).into_owned());
    }

    /// Sets the total, if it is known only later.
    pub fn total(&self, total: u64) {
        self.bar.set_length(total);
    }

    /// Sets the number of finished things.
    pub fn set(&self, done: u64) {
        self.bar.set_position(done);
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some((stop, thread)) = self.waiting.take() {
            drop(stop);
            // The thread only waits and draws; if it panicked, there is nothing left to clean up.
            let _ = thread.join();
        }
        self.bar.finish_and_clear();
    }
}

fn is_drawn() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Draws the bar after a while, unless it is dropped before.
fn show_later(bar: ProgressBar) -> Waiting {
    let (stop, stopped) = mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        if stopped.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Timeout) {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.enable_steady_tick(TICK);
        }
    });
    (stop, thread)
}

/// Prints the text at these intervals, until it is dropped.
fn say_later(bar: ProgressBar, pace: ProgressIntervals, print: impl Fn(String) + Send + 'static) -> Waiting {
    let (stop, stopped) = mpsc::channel::<()>();
    let thread = std::thread::spawn(move || {
        let mut wait = pace.first;
        while stopped.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
            print(format!("{} ({} s)\n", bar.message(), bar.elapsed().as_secs()));
            wait = pace.then;
        }
    });
    (stop, thread)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trial_11_long_work_prints_lines_where_nothing_can_be_drawn() {
        let bar = ProgressBar::hidden().with_message("putting back 20,000 files");
        let (told, lines) = mpsc::channel();
        let print = move |line| drop(told.send(line));
        let pace = ProgressIntervals { first: Duration::from_millis(1), then: Duration::from_millis(1) };
        let (stop, thread) = say_later(bar.clone(), pace, print);
        let next = || lines.recv_timeout(Duration::from_secs(60)).expect("a line");
        assert_eq!(next(), "putting back 20,000 files (0 s)\n");
        bar.set_message("looking at files");
        while !next().starts_with("looking at files (") {}
        drop(stop);
        thread.join().expect("it ends");
    }

    #[test]
    fn work_that_is_done_soon_prints_nothing() {
        let (told, lines) = mpsc::channel();
        let print = move |line| drop(told.send(line));
        let (stop, thread) = say_later(ProgressBar::hidden(), LINES, print);
        drop(stop);
        thread.join().expect("it ends");
        assert!(lines.recv().is_err());
    }

    #[test]
    fn positions_and_messages_are_kept_and_safe() {
        let progress = Progress::count("reading\x1b[2J", 10);
        progress.set(4);
        assert_eq!((progress.bar.position(), progress.bar.length()), (4, Some(10)));
        assert_eq!(progress.bar.message(), "reading␛[2J");
    }
}
