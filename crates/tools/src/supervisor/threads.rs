//! The threads of the inner supervisor, with only the capabilities that they need. A thread that keeps the command confined must
//! never stop while the call goes on: the call ends with it.

use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::panic::AssertUnwindSafe;
use std::sync::mpsc;
use std::thread::JoinHandle;

use rustix::fs::OFlags;

use super::UNCONFINED;
use crate::sandbox::keep_mounting;

/// Drops capabilities of the calling thread.
pub(super) type Drops = fn() -> rustix::io::Result<()>;

/// Starts a thread, and returns once it has dropped its capabilities. If it cannot, it does no work, and this is an error.
pub(super) fn start(
    name: &str,
    drops: Drops,
    work: impl FnOnce() + Send + 'static,
) -> std::io::Result<JoinHandle<()>> {
    let (tell, told) = mpsc::channel();
    let run = move || {
        let dropped = drops();
        let may_work = dropped.is_ok();
        // The other thread waits for it.
        let _ = tell.send(dropped);
        if may_work {
            work();
        }
    };
    let thread = std::thread::Builder::new().name(name.to_owned()).spawn(run)?;
    told.recv().map_err(std::io::Error::other)??;
    Ok(thread)
}

/// Starts a thread that keeps the command confined, step by step. If a step fails, the call ends. Only for calls in namespaces:
/// all their processes end with this one, which is the first.
pub(super) fn guard(
    name: &str,
    mut step: impl FnMut() -> Result<(), String> + Send + 'static,
) -> std::io::Result<()> {
    // Opened again, because the supervisor closes its standard error when the command has begun, and a reader that hangs must
    // not delay the end. A socket cannot be opened again; then the call ends without a word.
    let flags = OFlags::NONBLOCK.bits().cast_signed();
    let report = File::options().append(true).custom_flags(flags).open("/proc/self/fd/2").ok();
    let steps = move || {
        loop {
            if let Err(why) = step() {
                break why;
            }
        }
    };
    start(name, keep_mounting, move || {
        let why = std::panic::catch_unwind(AssertUnwindSafe(steps));
        end_call(report, &why.unwrap_or_else(|_| "a thread has failed".to_owned()));
    })
    .map(drop)
}

/// Ends the call with all its processes, and reports why on the standard error of the command.
#[expect(
    clippy::disallowed_methods,
    clippy::exit,
    reason = "the main thread waits for the processes of the call, which must not go on"
)]
fn end_call(report: Option<File>, why: &str) -> ! {
    if let Some(mut report) = report {
        let line = format!("retake: the command was ended because its sandbox failed: {why}\n");
        // All of it or a part, but never a wait.
        let _ = report.write(line.as_bytes());
    }
    std::process::exit(UNCONFINED.into())
}
