//! What git runs later, on the person's word: hooks and settings of the roots' repositories. Commands get them read only; what is not
//! there can't be made. Everything else in a repository stays as writable as it was.

use std::fs::{DirBuilder, File};
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;

use super::Mounts;
use crate::regular;
use crate::sandbox::repository_of;

/// Files and folders of a repository that name programs, or lead to those that do.
const HELD: [&str; 6] = ["config", "config.worktree", "hooks", "info/attributes", "commondir", "gitdir"];

/// So many repositories of submodules are held each by itself, and so many of worktrees.
const MOST: usize = 100;

/// Settings of git are smaller.
const LARGEST: u64 = 1 << 20;

/// Among so many folders submodules are looked for.
const FOLDERS: usize = 20_000;

impl Mounts {
    /// Holds the repositories of these folders.
    pub(super) fn keep_git(&mut self, roots: &[PathBuf]) -> Result<(), String> {
        for root in roots {
            let link = root.join(".git");
            let Ok(found) = link.symlink_metadata() else { continue };
            let real = link.canonicalize().unwrap_or_default();
            if found.is_symlink() && is_folder(&real) && real.starts_with(root) {
                self.pin(&real, std::slice::from_ref(root))?;
                self.keep_repository(&real)?;
            } else if found.is_dir() {
                self.pin(&link, &[])?;
                self.keep_repository(&link)?;
            } else if found.is_file() {
                self.hold(&link)?;
                let parts = repository_of(root);
                for folder in parts.iter().filter_map(|folder| folder.canonicalize().ok()) {
                    self.pin(&folder, &[])?;
                    self.keep_repository(&folder)?;
                }
            }
        }
        Ok(())
    }

    fn keep_repository(&mut self, folder: &Path) -> Result<(), String> {
        let (mut within, mut folders) = (Vec::new(), FOLDERS);
        // Where they are too many to be told apart, nothing of them changes.
        // Links are not followed: what they lead to is none of this repository's.
        if is_folder(&folder.join("modules")) && !modules(&folder.join("modules"), &mut within, &mut folders)
        {
            self.hold(&folder.join("modules"))?;
            within.clear();
        }
        if is_folder(&folder.join("worktrees")) {
            let all = std::fs::read_dir(folder.join("worktrees")).into_iter().flatten().flatten();
            let all = all.map(|entry| entry.path()).filter(|path| is_folder(path));
            let worktrees: Vec<PathBuf> = all.take(MOST + 1).collect();
            match worktrees.len() > MOST {
                true => self.hold(&folder.join("worktrees"))?,
                false => within.extend(worktrees),
            }
        }
        let around = [folder.to_owned()];
        for folder in std::iter::once(folder).chain(within.iter().map(PathBuf::as_path)) {
            if folder != around[0] {
                self.pin(folder, &around)?;
            }
            self.make_missing(folder);
            for path in HELD.map(|name| folder.join(name)) {
                let is_there = path.symlink_metadata().is_ok_and(|meta| meta.is_file() || meta.is_dir());
                if is_there {
                    self.share(&path);
                    self.hold(&path)?;
                }
            }
        }
        Ok(())
    }

    /// Makes what git would read and is not there, so that it can be mounted on. It is empty, and goes with the call.
    fn make_missing(&mut self, folder: &Path) {
        let Some(config) = regular::text(&folder.join("config"), LARGEST) else { return };
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

fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_dir())
}

fn shared(path: &Path) -> Option<File> {
    let file = File::open(path).ok()?;
    rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared).ok()?;
    Some(file)
}

/// The repositories of submodules, which lie in folders of their names; at most one more than are held, and of so many folders. Whether
/// there is nothing more.
fn modules(folder: &Path, found: &mut Vec<PathBuf>, folders: &mut usize) -> bool {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        if *folders == 0 || found.len() == MOST {
            return false;
        }
        *folders -= 1;
        let path = entry.path();
        // One whose HEAD was moved away could get it back later.
        let is_one =
            ["HEAD", "config", "hooks"].iter().any(|name| path.join(name).symlink_metadata().is_ok());
        let below = if is_one { path.join("modules") } else { path.clone() };
        found.extend(is_one.then_some(path));
        if !modules(&below, found, folders) {
            return false;
        }
    }
    true
}
