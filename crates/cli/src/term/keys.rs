//! Keys that wait while nobody reads them: whether there are any, and forgetting them. Must never read one, so that none is lost.

use std::io::{IsTerminal, stdin};

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

/// Forgets the keys that were pressed until now: they were not meant for what is asked next.
pub fn forget() {
    // Where there is no terminal, nothing waits.
    let _ = tcflush(stdin(), QueueSelector::IFlush);
}
