//! The sandbox of commands: what they may write, what they can't read, whether they reach the net, and whom on this machine.
//!
//! Files are confined by Landlock, the net by Landlock and by a seccomp filter that refuses to make sockets: Landlock alone
//! knows TCP only. Both hold for a thread and for whatever it starts, for good: a thread of its own is confined, starts the
//! command, and ends. Where a supervisor has namespaces for it, what is hidden is not there at all. Nothing here ever confines
//! Retake itself. What the kernel can't hold back: changes of modes, owners and times of files that stay readable.

mod filter;
mod mounted;
mod reading;
mod rules;
mod told;

use std::io;
use std::path::PathBuf;

use retake_core::NoSandbox;
use tokio::process::{Child, Command};
use tokio::sync::oneshot;

pub(crate) use rules::{drop_capabilities, keep_mounting};

use crate::cgroup::Place;
use crate::guarded::behind_links;
use crate::supervisor::Supervisor;

/// What commands may do. Below the roots of a conversation they may write, and in the system's temporary folders; they may
/// read everything that is not hidden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sandbox {
    /// Folders below which they may write, beside.
    pub write: Vec<PathBuf>,
    /// The folders for temporary files, below which they may write, too: [`Sandbox::temporary`].
    pub temporary: Vec<PathBuf>,
    /// Files and folders that they can't read, such as Retake's own data. Without namespaces, names in folders stay visible, and as
    /// they are there when a command starts.
    pub hide: Vec<PathBuf>,
    /// Folders that they can't make where they are not there, as what they said there would be obeyed: those of our settings.
    pub own_folders: Vec<PathBuf>,
    /// The same of files.
    pub own_files: Vec<PathBuf>,
    /// Unix sockets that commands with network may reach, or folders of them. They reach no other socket of another
    /// program. Needs namespaces.
    pub sockets: Vec<PathBuf>,
    /// What supervises them, and may have namespaces for them.
    pub supervisor: Option<Supervisor>,
}

/// So many bytes the paths have that are hidden from a command: they are handed over as arguments.
const MOST_HIDDEN: usize = 1 << 20;

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
    /// Files and net are held, but a folder that is to be hidden is below one that commands may write.
    Exposed(NoSandbox),
    /// It is not to be relied on, and why.
    None(NoSandbox),
}

impl Sandbox {
    /// The system's folders for temporary files.
    pub fn temporary() -> Vec<PathBuf> {
        let known = ["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from);
        known.into_iter().chain([std::env::temp_dir()]).collect()
    }

    /// A sandbox of nothing but the folders of a conversation, by this program.
    pub fn bare() -> Self {
        Self {
            write: Vec::new(),
            temporary: Vec::new(),
            hide: Vec::new(),
            own_folders: Vec::new(),
            own_files: Vec::new(),
            sockets: Vec::new(),
            supervisor: Supervisor::own(),
        }
    }

    /// Whether commands get namespaces of their own; else why not.
    pub fn namespaces(&self) -> Result<(), NoSandbox> {
        match &self.supervisor {
            Some(supervisor) => supervisor.namespaces(),
            None => Err(NoSandbox::Unsupervised),
        }
    }

    /// Where groups can be made that bound the memory of commands; else why not.
    fn places(&self) -> Result<Vec<Place>, NoSandbox> {
        match &self.supervisor {
            Some(supervisor) => supervisor.places(),
            None => Err(NoSandbox::Unsupervised),
        }
    }

    /// What of it holds on this machine, for commands that work in these folders.
    pub fn available(&self, roots: &[PathBuf]) -> Sandboxed {
        if let Err(why) = rules::files() {
            return Sandboxed::None(why);
        }
        if self.namespaces().is_ok() {
            return if rules::has_filter() { Sandboxed::Full } else { Sandboxed::FilesOnly };
        }
        let confinement = self.confinement(roots, &[], Net::Closed);
        let own = confinement.own_folders.iter().chain(&confinement.own_files);
        let hidden = confinement
            .hide
            .iter()
            .chain(own)
            .find(|hidden| confinement.write.iter().any(|open| hidden.starts_with(open)));
        let exposed = hidden.map(|hidden| NoSandbox::Exposed(hidden.clone()));
        match (rules::has_filter(), exposed) {
            (true, None) => Sandboxed::Full,
            (true, Some(why)) => Sandboxed::Exposed(why),
            (false, None) => Sandboxed::FilesOnly,
            (false, Some(why)) => Sandboxed::None(why),
        }
    }

    /// The sandbox for commands that only read: they write nothing but these files, and reach nothing.
    pub(crate) fn reading(&self, roots: &[PathBuf], files: &[PathBuf]) -> Confinement {
        let all = self.confinement(roots, files, Net::Closed);
        Confinement { reads_only: true, write: Vec::new(), ..all }
    }

    /// The sandbox for commands that work in these folders, and write these files beside.
    pub(crate) fn confinement(&self, roots: &[PathBuf], files: &[PathBuf], net: Net) -> Confinement {
        let repositories = roots.iter().flat_map(|root| rules::repository_of(root));
        let write = roots.iter().chain(&self.write).chain(&self.temporary).cloned().chain(repositories);
        let real = |path: PathBuf| path.canonicalize().unwrap_or(path);
        let all = |paths: &[PathBuf]| paths.iter().cloned().map(real).collect();
        let (mut hide, mut absent) = (Vec::new(), Vec::new());
        for path in &self.hide {
            match path.canonicalize() {
                Ok(there) => hide.push(there),
                // A command may have closed a folder above it by its mode, and can open it again: only who mounts sees what is there.
                Err(error) if is_closed(&error) => hide.push(behind_links(path)),
                Err(_) => absent.push(behind_links(path)),
            }
        }
        let write: Vec<PathBuf> = write.map(real).collect();
        let to_come = |paths: &[PathBuf]| -> Vec<PathBuf> {
            let paths = paths.iter().map(|path| behind_links(path));
            let may_come = |path: &PathBuf| !path.exists() && write.iter().any(|open| path.starts_with(open));
            paths.filter(may_come).collect()
        };
        // Whoever could make it could wait there for the person's terminals.
        let multiplexer =
            Some(behind_links(&multiplexer())).filter(|it| write.iter().any(|open| it.starts_with(open)));
        Confinement {
            own_folders: to_come(&self.own_folders),
            multiplexer,
            own_files: to_come(&self.own_files),
            roots: all(roots),
            write,
            files: all(files),
            hide: wherever_mounted(hide),
            absent,
            held: Vec::new(),
            sockets: all(&self.sockets),
            net,
            reads_only: false,
            namespaces: self.namespaces().is_ok(),
        }
    }
}

/// Whether an error says that a path can't be looked up, which is not to say that nothing is there.
pub fn is_closed(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
}

/// The folder in which tmux has its sockets: a command that finds one there has all terminals of the person.
fn multiplexer() -> PathBuf {
    let temporary = std::env::var_os("TMUX_TMPDIR").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
    temporary.join(format!("tmux-{}", rustix::process::getuid().as_raw()))
}

/// These paths, and all others by which the same files are reached, each once.
fn wherever_mounted(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.extend(mounted::other_paths(&paths));
    paths.sort();
    paths.dedup();
    paths
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
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Confinement {
    /// The folders of its conversation, whose git settings stay as they are.
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) write: Vec<PathBuf>,
    pub(crate) files: Vec<PathBuf>,
    pub(crate) hide: Vec<PathBuf>,
    /// What is hidden as soon as it is there: only mounts can.
    pub(crate) absent: Vec<PathBuf>,
    /// Folders of our own that are not there, and are not made.
    pub(crate) own_folders: Vec<PathBuf>,
    /// The same of files.
    pub(crate) own_files: Vec<PathBuf>,
    /// Files that stay as they are, and further repositories whose hooks and settings do.
    pub(crate) held: Vec<PathBuf>,
    pub(crate) sockets: Vec<PathBuf>,
    /// Where the person's terminal multiplexer has its sockets, if the command could make that folder.
    pub(crate) multiplexer: Option<PathBuf>,
    pub(crate) net: Net,
    /// Nothing is written but `files`, and nothing is reached.
    pub(crate) reads_only: bool,
    /// Mounts hide what is hidden, and the command sees no terminal, process or socket of another program.
    pub(crate) namespaces: bool,
}

impl Confinement {
    /// One that lets nothing be written.
    pub(crate) fn of(net: Net) -> Self {
        Self {
            roots: Vec::new(),
            write: Vec::new(),
            files: Vec::new(),
            hide: Vec::new(),
            absent: Vec::new(),
            own_folders: Vec::new(),
            own_files: Vec::new(),
            held: Vec::new(),
            sockets: Vec::new(),
            multiplexer: None,
            net,
            reads_only: false,
            namespaces: false,
        }
    }

    /// Hides these as well, wherever their file systems are mounted. Only mounts can: without namespaces nothing changes. More than can
    /// be hidden is an error.
    pub(crate) fn hide_too(&mut self, paths: &[PathBuf]) -> io::Result<()> {
        if self.namespaces {
            self.hide.extend(wherever_mounted(paths.to_vec()));
            if self.hide.iter().map(|path| path.as_os_str().len()).sum::<usize>() > MOST_HIDDEN {
                let count = paths.len();
                return Err(io::Error::other(format!(
                    "{count} files of the folder have names of key files, which is more than can be hidden from it. The settings can \
                     take a name out (`permissions.secrets`, as `!*.pem`), and .gitignore a folder"
                )));
            }
        }
        Ok(())
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trial_23_more_key_files_than_can_be_hidden_are_an_error_that_says_what_to_do() {
        let paths = |count: usize| (0..count).map(|at| format!("/nowhere/{at:040}.key").into()).collect();
        let hidden = |count| {
            let mut confined = Confinement { namespaces: true, ..Confinement::of(Net::Closed) };
            let paths: Vec<PathBuf> = paths(count);
            confined.hide_too(&paths)
        };
        hidden(1000).expect("some are hidden");
        let why = hidden(40_000).expect_err("too many").to_string();
        assert!(why.contains("40000 files") && why.contains("permissions.secrets"), "{why}");
    }
}
