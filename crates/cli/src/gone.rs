//! The end of a process that is not a child of this one, and whether it is stopped.

use std::fs;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// A process that may end. Taken before it is asked to, so that no other one of its number is waited for.
pub(crate) struct Gone(Option<OwnedFd>);

impl Gone {
    /// The process with this number. One that is not there has ended.
    pub(crate) fn of(pid: u32) -> Self {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        Self(pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()))
    }

    /// Whether it has ended. A process whose end can't be seen has.
    pub(crate) fn is_over(&self) -> bool {
        let Some(process) = &self.0 else { return true };
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&now)) != Ok(0)
    }

    /// Waits until it has ended, for so long. Whether it has.
    pub(crate) async fn within(&self, patience: Duration) -> bool {
        let Some(process) = &self.0 else { return true };
        // Without a descriptor to spare it can only be looked.
        let Ok(process) = process.try_clone() else { return self.is_over() };
        let patience = Timespec {
            tv_sec: i64::try_from(patience.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: patience.subsec_nanos().into(),
        };
        let wait = move || {
            let waited = || poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&patience));
            while waited() == Err(Errno::INTR) {}
        };
        // Whatever it was that ended the waiting.
        drop(tokio::task::spawn_blocking(wait).await);
        self.is_over()
    }
}

/// Whether a process is stopped by a signal or a debugger.
pub(crate) fn is_stopped(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['T', 't']))
}
