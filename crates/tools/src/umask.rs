//! The umask: our own files are private; files that are created for a client use the client's umask. All threads of a process
//! share one umask, so this runs on a thread that has stopped sharing it.

use std::io;
use std::panic::resume_unwind;
use std::thread;

use nix::sched::{CloneFlags, unshare};
use rustix::fs::Mode;
use rustix::process::umask;
use tokio::process::{Child, Command};
use tokio::sync::oneshot;

/// Makes new files of this process private to its user, and returns the earlier umask. Changes nothing if the system does not
/// permit a umask for a thread, as in some containers: files for clients would be private, too.
pub fn make_private() -> Option<u32> {
    let is_possible = thread::Builder::new().spawn(|| unshare(CloneFlags::CLONE_FS).is_ok());
    let is_possible = is_possible.ok()?.join().unwrap_or(false);
    is_possible.then(|| umask(Mode::RWXG | Mode::RWXO).as_raw_mode())
}

/// Gives this thread a permanent umask of its own. If the system refuses, it keeps that of the process.
pub(crate) fn take(theirs: Option<u32>) {
    if let Some(theirs) = theirs
        && unshare(CloneFlags::CLONE_FS).is_ok()
    {
        umask(Mode::from_raw_mode(theirs));
    }
}

/// Runs work with this umask; without one, with that of the process. Blocks.
pub(crate) fn with<T: Send>(theirs: Option<u32>, work: impl FnOnce() -> T + Send) -> io::Result<T> {
    if theirs.is_none() {
        return Ok(work());
    }
    thread::scope(|scope| {
        let working = thread::Builder::new().name("umask".into()).spawn_scoped(scope, || {
            take(theirs);
            work()
        })?;
        Ok(working.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}

/// Starts a command with this umask.
pub(crate) async fn spawn(mut command: Command, theirs: Option<u32>) -> io::Result<Child> {
    if theirs.is_none() {
        return command.spawn();
    }
    let runtime = tokio::runtime::Handle::current();
    let (done, started) = oneshot::channel();
    let start = move || {
        let _entered = runtime.enter();
        take(theirs);
        // The caller may have gone: the runtime then reaps the child.
        drop(done.send(command.spawn()));
    };
    thread::Builder::new().name("umask".into()).spawn(start)?;
    started.await.map_err(io::Error::other)?
}
