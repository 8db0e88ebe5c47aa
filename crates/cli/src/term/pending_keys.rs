//! Keys pressed while nothing is read: whether there are any, whether more follow in a burst, and discarding them. Must never
//! read a key that is not discarded, so that none is lost.

use std::io::{self, IsTerminal, stdin};
use std::time::Duration;

use crossterm::event;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{QueueSelector, tcflush};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Waits until a key can be read. If standard input is not a terminal, none ever can. While [`super::echo::hide`] is active, a key
/// is available as soon as it is pressed; else when its line ends. Must be called within a runtime with its drivers enabled.
pub async fn waiting() {
    if !stdin().is_terminal() {
        return std::future::pending().await;
    }
    #[expect(
        deprecated,
        reason = "what replaces it is unsafe; standard input is open as long as the process"
    )]
    let Ok(input) = AsyncFd::with_interest(stdin(), Interest::READABLE) else {
        return std::future::pending().await;
    };
    loop {
        let Ok(mut ready) = input.readable().await else {
            return std::future::pending().await;
        };
        // The terminal may have been read since.
        if is_there() {
            return;
        }
        ready.clear_ready();
    }
}

fn is_there() -> bool {
    let input = stdin();
    let mut fds = [PollFd::new(&input, PollFlags::IN)];
    poll(&mut fds, Some(&Timespec::default())).is_ok_and(|count| count > 0)
        && fds[0].revents().contains(PollFlags::IN)
}

/// Keys within this time after another one are a paste: no person types so fast, and no terminal sends a paste so slowly.
const PASTE: Duration = Duration::from_millis(25);

/// Whether other keys follow in a burst: a paste in a terminal without bracketed paste.
///
/// # Errors
///
/// If the terminal can't be read.
pub fn more_follow() -> io::Result<bool> {
    event::poll(PASTE)
}

/// Discards the keys that follow in a burst.
///
/// # Errors
///
/// If the terminal can't be read.
pub fn discard_paste() -> io::Result<()> {
    while more_follow()? {
        event::read()?;
    }
    Ok(())
}

/// Discards the keys pressed so far: they were not meant for the next question.
pub fn discard_all() {
    // Without a terminal there are no keys.
    let _ = tcflush(stdin(), QueueSelector::IFlush);
    // Keys that were taken from the terminal already, and not read yet.
    while event::poll(Duration::ZERO).is_ok_and(|waits| waits) && event::read().is_ok() {}
}
