//! What git runs later, on the person's word: hooks and settings of the roots' repositories. Commands get them read only; what is not
//! there can't be made. Everything else in a repository stays as writable as it was.

use std::fs::{DirBuilder, File};
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;

use super::{Mounts, hold, pin};
use crate::sandbox::repository_of;

/// Files and folders of a repository that name programs, or lead to those that do.
const HELD: [&str; 6] = ["config", "config.worktree", "hooks", "info/attributes", "commondir", "gitdir"];

/// So many repositories of submodules and worktrees are held.
const MOST: usize = 500;

impl Mounts {
    /// Holds the repositories of these folders.
    pub(super) fn keep_git(&mut self, roots: &[PathBuf]) -> Result<(), String> {
        for root in roots {
            let link = root.join(".git");
            let Ok(found) = link.symlink_metadata() else { continue };
            if found.is_dir() {
                pin(&link, &[])?;
                self.keep_repository(&link)?;
            } else if found.is_file() {
                hold(&link)?;
                let parts = repository_of(root);
                for folder in parts.iter().filter_map(|folder| folder.canonicalize().ok()) {
                    pin(&folder, &[])?;
                    self.keep_repository(&folder)?;
                }
            }
        }
        Ok(())
    }

    fn keep_repository(&mut self, folder: &Path) -> Result<(), String> {
        let mut within = Vec::new();
        modules(&folder.join("modules"), &mut within);
        let worktrees = std::fs::read_dir(folder.join("worktrees")).into_iter().flatten().flatten();
        within.extend(worktrees.map(|entry| entry.path()));
        within.truncate(MOST);
        let around = [folder.to_owned()];
        for folder in std::iter::once(folder).chain(within.iter().map(PathBuf::as_path)) {
            if folder != around[0] {
                pin(folder, &around)?;
            }
            self.make_missing(folder);
            for path in HELD.map(|name| folder.join(name)) {
                let is_there = path.symlink_metadata().is_ok_and(|meta| meta.is_file() || meta.is_dir());
                if is_there {
                    self.share(&path);
                    hold(&path)?;
                }
            }
        }
        Ok(())
    }

    /// Makes what git would read and is not there, so that it can be mounted on. It is empty, and goes with the call.
    fn make_missing(&mut self, folder: &Path) {
        let Ok(config) = std::fs::read_to_string(folder.join("config")) else { return };
        let hooks = folder.join("hooks");
        if hooks.symlink_metadata().is_err() && DirBuilder::new().create(&hooks).is_ok() {
            self.lock(hooks);
        }
        let own = folder.join("config.worktree");
        // Git reads it only where the settings say so.
        let is_read = config.to_ascii_lowercase().contains("worktreeconfig");
        if is_read && own.symlink_metadata().is_err() && File::create_new(&own).is_ok() {
            self.lock(own);
        }
    }

    fn lock(&mut self, path: PathBuf) {
        self.made.extend(shared(&path).map(|file| (file, path)));
    }

    /// Keeps the call that has made it from removing it.
    fn share(&mut self, path: &Path) {
        let is_empty = std::fs::read_dir(path).map_or_else(
            |_| path.metadata().is_ok_and(|meta| meta.len() == 0),
            |mut entries| entries.next().is_none(),
        );
        if is_empty {
            self.shared.extend(shared(path));
        }
    }
}

fn shared(path: &Path) -> Option<File> {
    let file = File::open(path).ok()?;
    rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared).ok()?;
    Some(file)
}

/// The repositories of submodules, which lie in folders of their names.
fn modules(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if found.len() > MOST || !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        if path.join("HEAD").is_file() {
            modules(&path.join("modules"), found);
            found.push(path);
        } else {
            modules(&path, found);
        }
    }
}
