//! The sandbox of commands: writable paths, hidden files, access to the network, and to other programs on this machine.
//!
//! Landlock confines files; Landlock and a seccomp filter against sockets confine the network, because Landlock alone covers only
//! TCP. Both apply permanently to a thread and everything that it starts: a thread of its own is confined, starts the command,
//! and ends. With namespaces of a supervisor, hidden files do not exist at all. Must never confine Retake itself. The kernel
//! cannot prevent changes of modes, owners and times of readable files.

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

/// The permissions of commands. They may write below the roots of a conversation, and in the system's temporary folders; they may
/// read everything that is not hidden.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sandbox {
    /// Additional writable folders.
    pub write: Vec<PathBuf>,
    /// The temporary folders, which are writable, too: [`Sandbox::temporary`].
    pub temporary: Vec<PathBuf>,
    /// Files and folders that they cannot read, such as Retake's own data. Without namespaces, names in folders stay visible, and
    /// only files that exist at the start are hidden.
    pub hide: Vec<PathBuf>,
    /// Missing folders that they cannot create, because we would trust their content: those of our settings.
    pub own_folders: Vec<PathBuf>,
    /// The same for files.
    pub own_files: Vec<PathBuf>,
    /// Unix sockets, or folders of them, that commands with network may reach. They reach no other socket of another program.
    /// Needs namespaces.
    pub sockets: Vec<PathBuf>,
    /// The supervisor, which may create namespaces for them.
    pub supervisor: Option<Supervisor>,
}

/// The most bytes of hidden paths for a command: they are passed as arguments.
const MOST_HIDDEN: usize = 1 << 20;

/// A command's access to the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Net {
    /// Unrestricted.
    Open,
    /// No socket can be created, not even for this machine.
    Closed,
}

/// The part of a sandbox that works here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sandboxed {
    /// All of it.
    Full,
    /// Files are confined; the network cannot be closed.
    FilesOnly,
    /// Files and network are confined, but a hidden folder is below one that commands may write.
    Exposed(NoSandbox),
    /// It cannot be relied on, for this reason.
    None(NoSandbox),
}

impl Sandbox {
    /// The system's folders for temporary files.
    pub fn temporary() -> Vec<PathBuf> {
        let known = ["/tmp", "/var/tmp", "/dev/shm"].map(PathBuf::from);
        known.into_iter().chain([std::env::temp_dir()]).collect()
    }

    /// A sandbox with only the folders of a conversation, supervised by this program.
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

    /// Whether commands get namespaces of their own, or why not.
    pub fn namespaces(&self) -> Result<(), NoSandbox> {
        match &self.supervisor {
            Some(supervisor) => supervisor.namespaces(),
            None => Err(NoSandbox::Unsupervised),
        }
    }

    /// The places for groups that limit the memory of commands, or why there are none.
    fn places(&self) -> Result<Vec<Place>, NoSandbox> {
        match &self.supervisor {
            Some(supervisor) => supervisor.places(),
            None => Err(NoSandbox::Unsupervised),
        }
    }

    /// The part of it that works on this machine, for commands in these folders.
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

    /// The sandbox for read-only commands: they write only these files, and reach nothing.
    pub(crate) fn reading(&self, roots: &[PathBuf], files: &[PathBuf]) -> Confinement {
        let all = self.confinement(roots, files, Net::Closed);
        Confinement { reads_only: true, write: Vec::new(), ..all }
    }

    /// The sandbox for commands in these folders, which also write these files.
    pub(crate) fn confinement(&self, roots: &[PathBuf], files: &[PathBuf], net: Net) -> Confinement {
        let repositories = roots.iter().flat_map(|root| rules::repository_of(root));
        let write = roots.iter().chain(&self.write).chain(&self.temporary).cloned().chain(repositories);
        let real = |path: PathBuf| path.canonicalize().unwrap_or(path);
        let all = |paths: &[PathBuf]| paths.iter().cloned().map(real).collect();
        let (mut hide, mut absent) = (Vec::new(), Vec::new());
        for path in &self.hide {
            match path.canonicalize() {
                Ok(there) => hide.push(there),
                // A command may have closed a parent folder by its mode, and can open it again: only the supervisor's mounts can
                // see behind it.
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
        // A command that could create it could wait there for the person's terminals.
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

/// Whether an error says that a path cannot be looked up, which does not mean that it is missing.
pub fn is_closed(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::PermissionDenied
}

/// The folder of tmux's sockets: a command that reaches one controls all terminals of the person.
fn multiplexer() -> PathBuf {
    let temporary = std::env::var_os("TMUX_TMPDIR").map_or_else(|| PathBuf::from("/tmp"), PathBuf::from);
    temporary.join(format!("tmux-{}", rustix::process::getuid().as_raw()))
}

/// These paths, and all others that lead to the same files, each once.
fn wherever_mounted(mut paths: Vec<PathBuf>) -> Vec<PathBuf> {
    paths.extend(mounted::other_paths(&paths));
    paths.sort();
    paths.dedup();
    paths
}

/// Whether this machine can confine files at all.
pub(crate) fn is_there() -> bool {
    rules::files().is_ok()
}

/// Whether this machine can confine a command to reading.
pub(crate) fn holds_reading() -> bool {
    rules::files().is_ok() && rules::has_filter() && rules::has_reading_filter()
}

/// A sandbox for one command.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Confinement {
    /// The folders of its conversation, whose git settings stay unchanged.
    pub(crate) roots: Vec<PathBuf>,
    pub(crate) write: Vec<PathBuf>,
    pub(crate) files: Vec<PathBuf>,
    pub(crate) hide: Vec<PathBuf>,
    /// Paths that are hidden once they exist: only mounts can do that.
    pub(crate) absent: Vec<PathBuf>,
    /// Missing folders of our own that must not be created.
    pub(crate) own_folders: Vec<PathBuf>,
    /// The same for files.
    pub(crate) own_files: Vec<PathBuf>,
    /// Files that must not change, and further repositories whose hooks and settings must not.
    pub(crate) held: Vec<PathBuf>,
    pub(crate) sockets: Vec<PathBuf>,
    /// The folder for the sockets of the person's terminal multiplexer, if the command could create it.
    pub(crate) multiplexer: Option<PathBuf>,
    pub(crate) net: Net,
    /// Whether only `files` may be written, and nothing may be reached.
    pub(crate) reads_only: bool,
    /// Whether mounts hide files, and the command sees no terminal, process or socket of another program.
    pub(crate) namespaces: bool,
}

impl Confinement {
    /// One without any writable path.
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

    /// Hides these as well, wherever their file systems are mounted. Only mounts can do that: without namespaces nothing changes.
    /// More than the limit is an error.
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

    /// Starts a command inside, with this umask; if files cannot be confined, nothing is started.
    pub(crate) async fn spawn(self, mut command: Command, umask: Option<u32>) -> io::Result<Child> {
        let runtime = tokio::runtime::Handle::current();
        let (done, started) = oneshot::channel();
        let within = move || {
            let _entered = runtime.enter();
            // Before the confinement, which may forbid it.
            crate::umask::take(umask);
            let child = self.close().map_err(io::Error::other).and_then(|()| command.spawn());
            // The caller may be gone: the runtime then reaps the child.
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
