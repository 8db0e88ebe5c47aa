//! Control groups of calls: limits on the memory and the number of tasks of all processes of a call together. Must use only
//! groups that this user may already use: it enables no controller, and changes no limit of another group.

mod place;

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

pub(crate) use place::Place;

use crate::supervisor::Supervisor;

/// The prefix of our groups' names. The pid of their creator follows, then the call.
const OWN: &str = "retake-";

/// The file of a group with which a process joins it.
pub(crate) const JOIN: &str = "cgroup.procs";

/// Groups of this process that belong to a call, or soon will.
static IN_USE: Mutex<Option<HashSet<PathBuf>>> = Mutex::new(None);

/// The limits for all processes of a call together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Bounds {
    /// Bytes of memory, swap included.
    pub(crate) memory: u64,
    /// Processes and threads.
    pub(crate) tasks: u64,
}

impl Bounds {
    /// The limits for this number of processes, which have threads, too.
    pub(crate) fn new(memory: u64, processes: usize) -> Self {
        Self { memory, tasks: 4 * processes as u64 }
    }
}

/// The group of a call; several if each controller has its own. It is removed after the last process of the call.
#[derive(Debug)]
pub(crate) struct Group {
    folders: Vec<PathBuf>,
}

impl Group {
    /// Creates one for a call of this supervisor; none if this machine does not permit any, and an error if it should have
    /// worked.
    pub(crate) async fn of(
        supervisor: &Supervisor,
        call: &str,
        bounds: Bounds,
    ) -> Option<Result<Self, String>> {
        let (supervisor, call) = (supervisor.clone(), call.to_owned());
        let make = move || {
            let places = supervisor.places().ok()?;
            Some(Self::make(&places, &call, bounds).map_err(|error| error.to_string()))
        };
        crate::blocking(make).await.ok()?
    }

    /// Creates one for a call. Groups of ended calls are removed.
    pub(crate) fn make(places: &[Place], call: &str, bounds: Bounds) -> io::Result<Self> {
        let mut group = Self { folders: Vec::new() };
        for place in places {
            sweep(&place.folder);
            let folder = place.folder.join(format!("{OWN}{}-{call}", std::process::id()));
            with_used(|used| used.insert(folder.clone()));
            group.folders.push(folder.clone());
            let fail = |path: &Path, error: io::Error| {
                io::Error::new(error.kind(), format!("{}: {error}", path.display()))
            };
            std::fs::create_dir(&folder).map_err(|error| fail(&folder, error))?;
            for (file, value) in place.values(bounds) {
                let path = folder.join(file.name);
                match std::fs::write(&path, value) {
                    // A kernel may not have this file.
                    Err(error) if file.is_extra && error.kind() == io::ErrorKind::NotFound => {}
                    written => written.map_err(|error| fail(&path, error))?,
                }
            }
        }
        Ok(group)
    }

    /// The files with which the first process of the call joins it.
    pub(crate) fn joins(&self) -> Vec<PathBuf> {
        self.folders.iter().map(|folder| folder.join(JOIN)).collect()
    }

    /// Whether processes are in it. Once this value is dropped, the group is removed after they have ended.
    pub(crate) fn is_joined(&self) -> bool {
        let has_some = |join: &PathBuf| std::fs::read(join).is_ok_and(|pids| !pids.is_empty());
        self.joins().iter().all(has_some)
    }

    /// Keeps it for processes that will join it later. A later process removes it.
    pub(crate) fn leave(mut self) {
        self.folders.clear();
    }

    /// Whether the system has killed a process of the call because memory ran out.
    pub(crate) fn was_out_of_memory(&self) -> bool {
        self.folders.iter().any(|folder| place::EVENTS.iter().any(|name| has_killed(&folder.join(name))))
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for folder in &self.folders {
            // A group with running processes is removed later.
            let _ = std::fs::remove_dir(folder);
            with_used(|used| used.remove(folder));
        }
    }
}

fn has_killed(events: &Path) -> bool {
    let text = std::fs::read_to_string(events).unwrap_or_default();
    let count = text.lines().find_map(|line| line.strip_prefix("oom_kill "));
    count.is_some_and(|count| count.trim() != "0")
}

fn with_used<T>(of: impl FnOnce(&mut HashSet<PathBuf>) -> T) -> T {
    of(IN_USE.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert_default())
}

/// Removes groups without processes: our own without a waiting call, and those of ended processes.
fn sweep(folder: &Path) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let maker = name.to_str().and_then(|name| name.strip_prefix(OWN)?.split('-').next());
        let Some(maker) = maker.and_then(|maker| maker.parse::<u32>().ok()) else { continue };
        let path = entry.path();
        let is_left = match maker == std::process::id() {
            true => with_used(|used| !used.contains(&path)),
            false => !Path::new("/proc").join(maker.to_string()).exists(),
        };
        if is_left {
            // Another owner may have removed it.
            if let Err(error) = std::fs::remove_dir(path) {
                tracing::debug!(cause = error.raw_os_error(), "a control group stays");
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(folder: &Path) -> Place {
        Place { folder: folder.to_owned(), limits: place::Limits::All }
    }

    const BOUNDS: Bounds = Bounds { memory: 7 << 20, tasks: 9 };

    #[test]
    fn a_control_group_reports_its_limits_and_is_removed() {
        let dir = tempfile::tempdir().expect("a folder");
        let group = Group::make(&[place(dir.path())], "call", BOUNDS).expect("made");
        let folder = dir.path().join(format!("retake-{}-call", std::process::id()));
        let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("written");
        assert_eq!((read("memory.max"), read("pids.max")), ((7 << 20).to_string(), "9".to_owned()));
        assert_eq!(group.joins(), [folder.join("cgroup.procs")]);
        assert!(!group.was_out_of_memory());
        std::fs::write(folder.join("memory.events"), "max 1\noom_kill 2\n").expect("written");
        assert!(group.was_out_of_memory());
    }

    #[test]
    fn control_groups_of_ended_calls_are_removed_and_others_are_kept() {
        let dir = tempfile::tempdir().expect("a folder");
        let make = |name: &str| std::fs::create_dir(dir.path().join(name)).expect("made");
        let own = std::process::id();
        // No process has the largest pid.
        for name in ["retake-4294967295-a", &format!("retake-{own}-old"), "retake-1-b", "other", "retake-x"] {
            make(name);
        }
        let used = dir.path().join(format!("retake-{own}-used"));
        std::fs::create_dir(&used).expect("made");
        with_used(|all| all.insert(used));
        sweep(dir.path());
        let entries = std::fs::read_dir(dir.path()).expect("there").flatten();
        let mut left: Vec<_> = entries.map(|entry| entry.file_name().into_string().expect("UTF-8")).collect();
        left.sort();
        let mut expected =
            ["other", "retake-1-b", &format!("retake-{own}-used"), "retake-x"].map(str::to_owned);
        expected.sort();
        assert_eq!(left, expected);
    }
}
