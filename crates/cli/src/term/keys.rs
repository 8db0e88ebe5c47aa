//! Keys that wait while nobody reads them: whether there are any, whether more follow one at once, and forgetting them. Must never read
//! one that is not to be forgotten, so that none is lost.

use std::io::{self, IsTerminal, stdin};
use std::time::Duration;

use crossterm::event;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{QueueSelector, tcflush};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;

/// Waits until a key can be read. Where standard input is no terminal, none ever can. While [`super::echo::hide`] holds, a key
/// is there as soon as it is pressed; else when its line ends. To be called within a runtime that has its drivers enabled.
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

/// What comes within this time behind a key came with it: no person types so fast, and no line is sent so slowly.
const BURST: Duration = Duration::from_millis(25);

/// Whether other keys follow the one that was read at once: a text was pasted into a terminal that does not say so.
///
/// # Errors
///
/// If the terminal can't be read.
pub fn follow() -> io::Result<bool> {
    event::poll(BURST)
}

/// Forgets the keys that follow at once.
///
/// # Errors
///
/// If the terminal can't be read.
pub fn pass_over() -> io::Result<()> {
    while follow()? {
        event::read()?;
    }
    Ok(())
}

/// Forgets the keys that were pressed until now: they were not meant for what is asked next.
pub fn forget() {
    // Where there is no terminal, nothing waits.
    let _ = tcflush(stdin(), QueueSelector::IFlush);
    // What was taken out of the terminal already, and not yet read.
    while event::poll(Duration::ZERO).is_ok_and(|waits| waits) && event::read().is_ok() {}
}
