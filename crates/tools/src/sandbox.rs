//! The sandbox of commands: what they may write, what they can't read, whether they reach the net.
//!
//! Files are confined by Landlock, the net by Landlock and by a seccomp filter that refuses to make sockets: Landlock alone
//! knows TCP only. Both hold for a thread and for whatever it starts, for good: a thread of its own is confined, starts the
//! command, and ends. Nothing here ever confines Retake itself. What the kernel can't hold back: changes of modes, owners and times
//! of files that stay readable.

mod reading;
mod rules;

use std::io;
use std::path::PathBuf;

use tokio::process::{Child, Command};
use tokio::sync::oneshot;

/// What commands may do. Below the roots of a conversation they may write, and in the system's temporary folders; they may
/// read everything that is not hidden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sandbox {
    /// Folders below which they may write, beside.
    pub write: Vec<PathBuf>,
    /// The folders for temporary files, below which they may write, too: [`Sandbox::temporary`].
    pub temporary: Vec<PathBuf>,
    /// Folders of which they can't read the files, such as Retake's own data; their names stay visible.
    pub hide: Vec<PathBuf>,
}

/// Whether a command reaches the net.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Net {
    /// As everybody does.
    Open,
    /// No socket can be made, to this machine neither.
    Closed,
}

/// What of a sandbox holds here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sandboxed {
    /// All of it.
    Full,
    /// Files are confined; the net can't be closed.
    FilesOnly,
    /// Files and net are held, but a folder that is to be hidden is below one that commands may write, and why.
    Exposed(String),
    /// It is not to be relied on, and why.
    None(String),
}

impl Sandbox {
    /// The system's folders for temporary files.
    pub fn temporary() -> Vec<PathBuf> {
        let known = ["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from);
        known.into_iter().chain([std::env::temp_dir()]).collect()
    }

    /// What of it holds on this machine, for commands that work in these folders.
    pub fn available(&self, roots: &[PathBuf]) -> Sandboxed {
        if let Err(why) = rules::files() {
            return Sandboxed::None(why);
        }
        let confinement = self.confinement(roots, &[], Net::Closed);
        let hidden = confinement
            .hide
            .iter()
            .find(|hidden| confinement.write.iter().any(|open| hidden.starts_with(open)));
        let exposed = hidden.map(|hidden| {
            format!("{} is to be hidden, and below a folder that commands may write", hidden.display())
        });
        match (rules::has_filter(), exposed) {
            (true, None) => Sandboxed::Full,
            (true, Some(why)) => Sandboxed::Exposed(why),
            (false, None) => Sandboxed::FilesOnly,
            (false, Some(why)) => Sandboxed::None(why),
        }
    }

    /// The sandbox for commands that only read: they write nothing but these files, and reach nothing. It does not need a sandbox
    /// for others: nothing is hidden then.
    pub(crate) fn reading(own: Option<&Self>, files: &[PathBuf]) -> Confinement {
        let hide = own.map(|own| own.hide.clone()).unwrap_or_default();
        let none = Self { write: Vec::new(), temporary: Vec::new(), hide };
        Confinement { reads_only: true, ..none.confinement(&[], files, Net::Closed) }
    }

    /// The sandbox for commands that work in these folders, and write these files beside.
    pub(crate) fn confinement(&self, roots: &[PathBuf], files: &[PathBuf], net: Net) -> Confinement {
        let repositories = roots.iter().flat_map(|root| rules::repository_of(root));
        let write = roots.iter().chain(&self.write).chain(&self.temporary).cloned().chain(repositories);
        let real = |path: PathBuf| path.canonicalize().unwrap_or(path);
        Confinement {
            write: write.map(real).collect(),
            files: files.to_vec(),
            hide: self.hide.iter().cloned().map(real).collect(),
            net,
            reads_only: false,
        }
    }
}

/// Whether this machine confines files at all.
pub(crate) fn is_there() -> bool {
    rules::files().is_ok()
}

/// Whether this machine can hold a command to reading.
pub(crate) fn holds_reading() -> bool {
    rules::files().is_ok() && rules::has_filter() && rules::has_reading_filter()
}

/// A sandbox for one command.
pub(crate) struct Confinement {
    write: Vec<PathBuf>,
    files: Vec<PathBuf>,
    hide: Vec<PathBuf>,
    net: Net,
    /// Nothing is written but `files`, and nothing is reached.
    reads_only: bool,
}

impl Confinement {
    /// Starts a command inside, with this umask; without files confined nothing is started.
    pub(crate) async fn spawn(self, mut command: Command, umask: Option<u32>) -> io::Result<Child> {
        let runtime = tokio::runtime::Handle::current();
        let (done, started) = oneshot::channel();
        let within = move || {
            let _entered = runtime.enter();
            // Before the confinement, which may forbid it.
            crate::umask::take(umask);
            let child = self.close().map_err(io::Error::other).and_then(|()| command.spawn());
            // Who waits for it may have gone: the child is then reaped by the runtime.
            drop(done.send(child));
        };
        std::thread::Builder::new().name("confined".into()).spawn(within)?;
        started.await.map_err(io::Error::other)?
    }
}
