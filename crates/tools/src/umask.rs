//! Permission bits that new files do not get. The owner's own files are private; a file that it makes for a client gets what the client's
//! umask leaves. All threads of a process share one umask, so this works on a thread that has stopped sharing it.

use std::io;
use std::panic::resume_unwind;
use std::thread;

use nix::sched::{CloneFlags, unshare};
use rustix::fs::Mode;
use rustix::process::umask;
use tokio::process::{Child, Command};
use tokio::sync::oneshot;

/// Makes new files of this process readable by its user only, and returns the umask that it had before. Changes nothing where the system
/// does not let a thread have a umask of its own, as in some containers: files made for clients would be private, too.
pub fn make_private() -> Option<u32> {
    let is_possible = thread::Builder::new().spawn(|| unshare(CloneFlags::CLONE_FS).is_ok());
    let is_possible = is_possible.ok()?.join().unwrap_or(false);
    is_possible.then(|| umask(Mode::RWXG | Mode::RWXO).as_raw_mode())
}

/// Gives this thread a umask of its own, for good. Where the system refuses, that of the process stays.
pub(crate) fn take(theirs: Option<u32>) {
    if let Some(theirs) = theirs
        && unshare(CloneFlags::CLONE_FS).is_ok()
    {
        umask(Mode::from_raw_mode(theirs));
    }
}

/// Does some work with this umask; with that of the process, where there is none. Blocks.
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
