//! The outer supervisor: it has one thread, gets namespaces, starts the inner supervisor as the first process in them, and ends
//! as the command ends. It must end at once then, whatever still runs.

use std::ffi::OsString;
use std::fs::File;
use std::io::Read as _;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitCode};

use nix::sched::CloneFlags;
use rustix::io::FdFlags;
use rustix::pipe::PipeFlags;
use rustix::thread::{CapabilitySet, CapabilitySets};

use super::{Arguments, INSIDE, refuse, signal};
use crate::processes::{INNER, SUPERVISOR};

/// The encoded end of a command, as a kind and a number.
const EXITED: u8 = b'e';
const SIGNALLED: u8 = b's';

/// How a command ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ended {
    Exited(i32),
    Signalled(i32),
}

impl Ended {
    pub(super) fn to_bytes(self) -> [u8; 2] {
        // Both are smaller than 256.
        match self {
            Self::Exited(code) => [EXITED, code.to_le_bytes()[0]],
            Self::Signalled(signal) => [SIGNALLED, signal.to_le_bytes()[0]],
        }
    }

    fn of(bytes: [u8; 2]) -> Option<Self> {
        match bytes {
            [EXITED, code] => Some(Self::Exited(code.into())),
            [SIGNALLED, signal] => Some(Self::Signalled(signal.into())),
            _ => None,
        }
    }
}

/// Runs the outer supervisor.
pub(super) fn run(arguments: &[OsString]) -> ExitCode {
    let plan = match Arguments::of(arguments) {
        Ok((plan, _)) => plan,
        Err(why) => return refuse(&why),
    };
    if plan.namespaces
        && let Err(why) = unshare()
    {
        return refuse(&why);
    }
    let (mut child, report) = match start(&plan, arguments) {
        Ok(started) => started,
        Err(error) => return refuse(&error.to_string()),
    };
    // Nothing waits for this process to close the pipes of the command.
    super::inner::let_go();
    let mut bytes = [0; 2];
    let told = File::from(report).read_exact(&mut bytes).ok().and_then(|()| Ended::of(bytes));
    let ended = told.or_else(|| {
        // It was killed itself.
        let status = child.wait().ok()?;
        status.code().map(Ended::Exited).or(status.signal().map(Ended::Signalled))
    });
    match ended {
        Some(Ended::Exited(code)) => ExitCode::from(code.to_le_bytes()[0]),
        Some(Ended::Signalled(number)) => {
            signal::end_by(number);
            ExitCode::from(number.to_le_bytes()[0] | 0x80)
        }
        None => ExitCode::FAILURE,
    }
}

fn start(plan: &Arguments, arguments: &[OsString]) -> std::io::Result<(Child, OwnedFd)> {
    let (report, told) = rustix::pipe::pipe_with(PipeFlags::CLOEXEC)?;
    rustix::io::fcntl_setfd(&told, FdFlags::empty())?;
    let mut inner = Command::new("/proc/self/exe");
    inner.arg0("retake").arg(INSIDE).arg(told.as_raw_fd().to_string()).args(arguments);
    inner.env(SUPERVISOR, format!("{INNER}{}", plan.call));
    Ok((inner.spawn()?, report))
}

/// Moves this process into namespaces of its own; its children into a pid namespace. Root keeps its user namespace: the command
/// starts without the capabilities that it must not have.
fn unshare() -> Result<(), String> {
    let own = CloneFlags::CLONE_NEWNS | CloneFlags::CLONE_NEWPID | CloneFlags::CLONE_NEWIPC;
    let fail = |what: &str, error: &dyn std::fmt::Display| format!("{what}: {error}");
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    if user.is_root() {
        return nix::sched::unshare(own).map_err(|error| fail("no namespaces", &error));
    }
    nix::sched::unshare(own | CloneFlags::CLONE_NEWUSER)
        .map_err(|error| fail("no user namespace", &error))?;
    let write = |name: &str, text: String| {
        std::fs::write(format!("/proc/self/{name}"), text).map_err(|error| fail(name, &error))
    };
    write("setgroups", "deny".to_owned())?;
    write("uid_map", format!("{0} {0} 1", user.as_raw()))?;
    write("gid_map", format!("{0} {0} 1", group.as_raw()))?;
    hand_on_mounting().map_err(|error| fail("capabilities", &error))
}

/// A user other than root loses all capabilities at the start of a program, except ambient ones. These are for mounting, and
/// for reading folders of this user that a command has closed by their mode, to open them again in the next call.
fn hand_on_mounting() -> rustix::io::Result<()> {
    let own = rustix::thread::capabilities(None)?;
    let kept = [CapabilitySet::SYS_ADMIN, CapabilitySet::DAC_OVERRIDE];
    let inheritable = kept.iter().fold(own.inheritable, |all, one| all | *one);
    rustix::thread::set_capabilities(None, CapabilitySets { inheritable, ..own })?;
    kept.iter().try_for_each(|one| rustix::thread::configure_capability_in_ambient_set(*one, true))
}

#[cfg(test)]
mod tests {
    use super::Ended;

    #[test]
    fn the_reported_end_of_a_command_arrives_unchanged() {
        for ended in [Ended::Exited(0), Ended::Exited(255), Ended::Signalled(9), Ended::Signalled(64)] {
            assert_eq!(Ended::of(ended.to_bytes()), Some(ended));
        }
    }
}
