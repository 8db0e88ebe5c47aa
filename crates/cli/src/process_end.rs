//! The end of a process that is not a child of this one, and whether a process is suspended.

use std::fs;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open};

/// A process that may end. Created before the process is asked to end, so that a later process with the same pid is not confused with it.
pub(crate) struct ProcessEnd(Option<OwnedFd>);

impl ProcessEnd {
    /// The process with this pid. One that does not exist has ended.
    pub(crate) fn of(pid: u32) -> Self {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        Self(pid.and_then(|pid| pidfd_open(pid, PidfdFlags::empty()).ok()))
    }

    /// Whether it has ended. Returns true if its end can't be observed.
    pub(crate) fn has_ended(&self) -> bool {
        let Some(process) = &self.0 else { return true };
        let now = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut [PollFd::new(process, PollFlags::IN)], Some(&now)) != Ok(0)
    }

    /// Waits at most this long for its end. Returns whether it has ended.
    pub(crate) async fn wait_for(&self, patience: Duration) -> bool {
        let Some(process) = &self.0 else { return true };
        // Without a free descriptor it can only be checked once.
        let Ok(process) = process.try_clone() else { return self.has_ended() };
        let patience = Timespec {
            tv_sec: i64::try_from(patience.as_secs()).unwrap_or(i64::MAX),
            tv_nsec: patience.subsec_nanos().into(),
        };
        let wait = move || {
            let waited = || poll(&mut [PollFd::new(&process, PollFlags::IN)], Some(&patience));
            while waited() == Err(Errno::INTR) {}
        };
        // The reason for the end of the wait does not matter.
        drop(tokio::task::spawn_blocking(wait).await);
        self.has_ended()
    }
}

/// Whether a process is suspended by a signal or a debugger.
pub(crate) fn is_stopped(pid: u32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['T', 't']))
}
