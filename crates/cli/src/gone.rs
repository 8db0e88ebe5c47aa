//! Waits for the end of a process that is not a child of this one.

use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// How often it is looked.
const LOOK: Duration = Duration::from_millis(5);

/// A process that may end. Taken before it is asked to, so that no other one of its number is waited for.
pub(crate) struct Gone(Option<OwnedFd>);

impl Gone {
    /// The process with this number. One that is not there has ended.
    pub(crate) fn of(pid: u32) -> Self {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        Self(pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()))
    }

    /// Waits until it has ended, for so long. Whether it has.
    pub(crate) async fn within(self, patience: Duration) -> bool {
        let Some(process) = self.0 else { return true };
        let ended = async {
            while !has_ended(&process) {
                tokio::time::sleep(LOOK).await;
            }
        };
        tokio::time::timeout(patience, ended).await.is_ok()
    }
}

/// A process whose end can't be seen has ended.
fn has_ended(process: &OwnedFd) -> bool {
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&now)) != Ok(0)
}
