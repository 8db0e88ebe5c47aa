//! The places for groups of calls: below a group that this user may write to, whose controllers are already enabled. Both
//! versions of control groups; if each controller has its own hierarchy (version 1), one place for each.

use std::path::{Path, PathBuf};

use rustix::fs::Access;

use super::{Bounds, JOIN};
use retake_core::NoSandbox;

/// The files that count processes killed for lack of memory, in each version.
pub(super) const EVENTS: [&str; 2] = ["memory.events", "memory.oom_control"];

/// The limits of the groups in a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limits {
    /// Version 2: all controllers together.
    All,
    /// Version 2, without the controller for tasks.
    MemoryOnly,
    /// Version 1: the controller for memory.
    OldMemory,
    /// Version 1: the controller for tasks.
    OldTasks,
}

/// A folder of the control group file system in which a call's group can be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) folder: PathBuf,
    pub(crate) limits: Limits,
}

/// A file of a group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Setting {
    pub(super) name: &'static str,
    /// Whether it is optional, because some kernels lack the file.
    pub(super) is_extra: bool,
}

const fn needed(name: &'static str) -> Setting {
    Setting { name, is_extra: false }
}

const fn extra(name: &'static str) -> Setting {
    Setting { name, is_extra: true }
}

impl Place {
    /// The settings and their values, in this order.
    pub(super) fn values(&self, bounds: Bounds) -> Vec<(Setting, String)> {
        let (memory, tasks) = (bounds.memory.to_string(), bounds.tasks.to_string());
        let for_memory = || {
            vec![
                (needed("memory.max"), memory.clone()),
                (extra("memory.swap.max"), "0".to_owned()),
                // All processes of a call are killed together, not only some.
                (extra("memory.oom.group"), "1".to_owned()),
            ]
        };
        match self.limits {
            Limits::All => [for_memory(), vec![(needed("pids.max"), tasks)]].concat(),
            Limits::MemoryOnly => for_memory(),
            Limits::OldMemory => vec![
                (needed("memory.limit_in_bytes"), memory.clone()),
                (extra("memory.memsw.limit_in_bytes"), memory),
            ],
            Limits::OldTasks => vec![(needed("pids.max"), tasks)],
        }
    }

    /// The places where this process may create groups with a memory limit, or why there are none.
    pub(crate) fn find() -> Result<Vec<Self>, NoSandbox> {
        let read = |path: &str| {
            std::fs::read_to_string(path).map_err(|error| NoSandbox::Failed(format!("{path}: {error}")))
        };
        found(&read("/proc/self/cgroup")?, &read("/proc/self/mountinfo")?, &may_write)
    }
}

fn may_write(path: &Path) -> bool {
    rustix::fs::access(path, Access::WRITE_OK).is_ok()
}

/// A control group file system.
struct Mount<'a> {
    /// The group of the hierarchy that is mounted.
    root: &'a str,
    at: PathBuf,
    /// The controllers of a version 1 hierarchy; `None` for version 2.
    controllers: Option<Vec<&'a str>>,
}

fn found(groups: &str, mounts: &str, may_write: &dyn Fn(&Path) -> bool) -> Result<Vec<Place>, NoSandbox> {
    let mounts: Vec<Mount<'_>> = mounts.lines().filter_map(mount).collect();
    if let Some(place) = in_version_2(groups, &mounts, may_write) {
        return Ok(vec![place]);
    }
    let old = |controller: &str, limits: Limits| {
        let folder = own_folder(groups, &mounts, Some(controller))?;
        may_write(&folder).then_some(Place { folder, limits })
    };
    match old("memory", Limits::OldMemory) {
        Some(memory) => Ok([memory].into_iter().chain(old("pids", Limits::OldTasks)).collect()),
        None if mounts.is_empty() => Err(NoSandbox::NoControlGroups),
        None => Err(NoSandbox::NotPermitted),
    }
}

fn in_version_2(groups: &str, mounts: &[Mount<'_>], may_write: &dyn Fn(&Path) -> bool) -> Option<Place> {
    let own = own_folder(groups, mounts, None)?;
    let top = &mounts.iter().find(|mount| mount.controllers.is_none())?.at;
    for folder in own.ancestors().take_while(|folder| folder.starts_with(top)) {
        let on = std::fs::read_to_string(folder.join("cgroup.subtree_control")).unwrap_or_default();
        let is_on = |name: &str| on.split_whitespace().any(|controller| controller == name);
        // Moving a process needs write access to the common parent of both groups.
        if is_on("memory") && may_write(folder) && may_write(&folder.join(JOIN)) {
            let limits = if is_on("pids") { Limits::All } else { Limits::MemoryOnly };
            return Some(Place { folder: folder.to_owned(), limits });
        }
    }
    None
}

/// The folder of this process's group.
fn own_folder(groups: &str, mounts: &[Mount<'_>], controller: Option<&str>) -> Option<PathBuf> {
    let is_it = |mount: &&Mount<'_>| match (&mount.controllers, controller) {
        (Some(all), Some(controller)) => all.contains(&controller),
        (None, None) => true,
        _ => false,
    };
    let mount = mounts.iter().find(is_it)?;
    let path = groups.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':');
        let (_, controllers, path) = (fields.next()?, fields.next()?, fields.next()?);
        let is_it = match controller {
            Some(controller) => controllers.split(',').any(|it| it == controller),
            None => controllers.is_empty(),
        };
        is_it.then_some(path)
    })?;
    let below = Path::new(path).strip_prefix(mount.root).ok()?;
    // A group outside of the mounted part has no folder.
    (!path.contains("/..")).then(|| mount.at.join(below))
}

/// Parses a line about a mount, if it is about control groups.
fn mount(line: &str) -> Option<Mount<'_>> {
    let (first, last) = line.split_once(" - ")?;
    let mut last = last.split(' ');
    let (kind, _, options) = (last.next()?, last.next()?, last.next()?);
    let mut first = first.split(' ').skip(3);
    let (root, at) = (first.next()?, PathBuf::from(first.next()?));
    let controllers = match kind {
        "cgroup2" => None,
        "cgroup" => Some(options.split(',').collect()),
        _ => return None,
    };
    Some(Mount { root, at, controllers })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Creates a group's folder with these controllers enabled for its children.
    fn group(folder: &Path, on: &str) {
        std::fs::create_dir_all(folder).expect("made");
        std::fs::write(folder.join("cgroup.subtree_control"), on).expect("written");
    }

    fn version_2(at: &Path) -> String {
        format!("24 1 0:20 / {} rw,nosuid - cgroup2 cgroup2 rw\n", at.display())
    }

    #[test]
    fn trial_26_the_nearest_writable_group_with_the_controllers_is_used() {
        let dir = tempfile::tempdir().expect("a folder");
        let (top, user) = (dir.path().to_owned(), dir.path().join("user"));
        let slice = user.join("app");
        group(&top, "memory pids cpu");
        group(&user, "memory pids");
        group(&slice, "memory");
        group(&slice.join("terminal"), "");
        let mounts = version_2(&top);
        let find = |refused: &[&Path]| {
            let may = |path: &Path| !refused.iter().any(|it| path == *it || path == it.join(JOIN));
            found("0::/user/app/terminal\n", &mounts, &may)
        };
        let place = |folder: &Path, limits| Ok(vec![Place { folder: folder.to_owned(), limits }]);
        assert_eq!(find(&[]), place(&slice, Limits::MemoryOnly));
        assert_eq!(find(&[&slice]), place(&user, Limits::All));
        assert_eq!(find(&[&slice, &user]), place(&top, Limits::All));
        assert!(find(&[&slice, &user, &top]).is_err());
    }

    #[test]
    fn trial_26_controllers_with_separate_hierarchies_are_found() {
        let mounts = "30 24 0:26 / /cg/memory rw - cgroup cgroup rw,memory\n\
                      31 24 0:27 /docker/x /cg/pids rw - cgroup cgroup rw,pids\n\
                      32 24 0:28 / /cg/unified rw - cgroup2 cgroup2 rw\n";
        let groups = "4:memory:/a/b\n8:cpu,pids:/docker/x/y\n0::/\n";
        let places = found(groups, mounts, &|_| true).expect("places");
        let place = |folder: &str, limits| Place { folder: folder.into(), limits };
        assert_eq!(
            places,
            [place("/cg/memory/a/b", Limits::OldMemory), place("/cg/pids/y", Limits::OldTasks)]
        );
        let without = found(groups, mounts, &|path| !path.starts_with("/cg/memory"));
        assert!(without.is_err(), "{without:?}");
        assert_eq!(found(groups, "", &|_| true), Err(NoSandbox::NoControlGroups));
    }
}
