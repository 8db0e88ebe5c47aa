//! Protects what git runs later for the person: hooks and settings of the roots' repositories. Commands see them read-only and
//! cannot create missing ones. Everything else in a repository stays writable.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::fs::{DirEntry, File};
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, FlockOperation, Mode, OFlags, ResolveFlags};
use rustix::io::Errno;

use super::{CreatedMountPoint, Mounts, cannot_be_made, check_reach, is_out_of_reach, unreached};
use crate::regular;
use crate::sandbox::Confinement;

/// Files and folders of a repository that name programs, or lead to such files.
const HELD: [&str; 6] = ["config", "config.worktree", "hooks", "info/attributes", "commondir", "gitdir"];

/// The most repositories of submodules that are protected one by one, and the most of worktrees.
const MOST: usize = 100;

/// The longest file that points to a repository.
const LONGEST: u64 = 8 << 10;

/// The largest settings file of git.
const LARGEST: u64 = 1 << 20;

/// The most folders that are searched for submodules.
const FOLDERS: usize = 20_000;

impl Mounts {
    /// Protects the repositories of the roots, and the others of the call, if commands may write at all.
    pub(super) fn keep_git(&mut self, confined: &Confinement) -> Result<(), String> {
        let open = &confined.write;
        let is_open = |path: &Path| open.iter().any(|open| path.starts_with(open));
        // Upwards, as git searches.
        let above =
            confined.roots.iter().flat_map(|root| root.ancestors().take_while(|folder| is_open(folder)));
        let links: Vec<PathBuf> = above.map(|folder| folder.join(".git")).collect();
        let (mut kept, mut repositories) = (HashSet::new(), Vec::new());
        for link in links.iter().chain(&confined.held).filter(|link| is_open(link)) {
            check_reach(link)?;
            let Ok(found) = link.symlink_metadata() else { continue };
            self.stay(link, open)?;
            if found.is_file() && kept.insert(link.clone()) {
                self.hold(link)?;
                repositories.extend(elsewhere(link));
            }
            repositories.extend(link.canonicalize().ok());
        }
        for folder in repositories.iter().filter(|folder| is_open(folder) && is_folder(folder)) {
            self.pin(folder, open)?;
            self.keep_repository(folder, &mut kept)?;
        }
        Ok(())
    }

    fn keep_repository(&mut self, folder: &Path, kept: &mut HashSet<PathBuf>) -> Result<(), String> {
        let (mut within, mut folders) = (vec![folder.to_owned()], FOLDERS);
        // If there are too many to handle one by one, all of them are read-only. Links are not followed: their targets are not
        // part of this repository.
        if is_folder(&folder.join("modules")) && !modules(&folder.join("modules"), &mut within, &mut folders)?
        {
            self.hold(&folder.join("modules"))?;
            within.truncate(1);
        }
        if is_folder(&folder.join("worktrees")) {
            let all = entries(&folder.join("worktrees"))?
                .filter(|path| path.as_ref().map_or(true, |path| is_folder(path)));
            let worktrees = all.take(MOST + 1).collect::<Result<Vec<PathBuf>, String>>()?;
            match worktrees.len() > MOST {
                true => self.hold(&folder.join("worktrees"))?,
                false => within.extend(worktrees),
            }
        }
        let around = [folder.to_owned()];
        for folder in within {
            if !kept.insert(folder.clone()) {
                continue;
            }
            check_reach(&folder.join("hooks"))?;
            if folder != around[0] {
                self.pin(&folder, &around)?;
            }
            self.make_missing(&folder, &around[0])?;
            if is_folder(&folder.join("info")) {
                self.pin(&folder.join("info"), &around)?;
            }
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

    /// Creates missing files that git would read, as mount points. They are empty, and removed after the call.
    fn make_missing(&mut self, folder: &Path, around: &Path) -> Result<(), String> {
        let lacks = |name: &str| folder.join(name).symlink_metadata().is_err();
        // Git reads it only if the settings enable it.
        if [folder, around].iter().any(|folder| has_more(&folder.join("config"))) && lacks("config.worktree")
        {
            self.make(folder.join("config.worktree"), false, 0o666)?;
        }
        // A worktree shares the rest with others.
        if lacks("config") || !lacks("commondir") {
            return Ok(());
        }
        for (name, is_folder) in [("hooks", true), ("info", true), ("info/attributes", false)] {
            if lacks(name) {
                self.make(folder.join(name), is_folder, if is_folder { 0o777 } else { 0o666 })?;
            }
        }
        Ok(())
    }

    /// Creates a mount point. An error if it fails where the command could succeed later.
    pub(super) fn make(&mut self, path: PathBuf, is_folder: bool, mode: u32) -> Result<(), String> {
        let (Some(above), Some(name)) = (path.parent(), path.file_name()) else { return Ok(()) };
        let folder = match without_links(above) {
            Err(error) if cannot_be_made(&path, error) => return Ok(()),
            found => found.map_err(unreached(&path))?,
        };
        let made = match is_folder {
            true => rustix::fs::mkdirat(&folder, name, Mode::from_raw_mode(mode)),
            false => {
                let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
                rustix::fs::openat(&folder, name, flags, Mode::from_raw_mode(mode)).map(drop)
            }
        };
        if let Err(error) = made {
            return if cannot_be_made(&path, error) { Ok(()) } else { Err(unreached(&path)(error)) };
        }
        if let Some(held) = shared(folder.as_fd(), name) {
            self.made.push(CreatedMountPoint { held, folder, path });
        }
        Ok(())
    }

    /// Prevents the call that has created it from removing it.
    pub(super) fn share(&mut self, path: &Path) {
        let is_empty = std::fs::read_dir(path).map_or_else(
            |_| path.metadata().is_ok_and(|meta| meta.len() == 0),
            |mut entries| entries.next().is_none(),
        );
        if is_empty {
            self.shared.extend(shared(CWD, path));
        }
    }
}

/// The repository of a worktree, according to two files. A command may have written them: their targets are only protected.
fn elsewhere(link: &Path) -> Vec<PathBuf> {
    let named = |file: &Path, mark: &[u8]| {
        let text = regular::bytes(file, LONGEST)?;
        let name = text.strip_prefix(mark)?.trim_ascii_end();
        file.parent()?.join(OsStr::from_bytes(name)).canonicalize().ok()
    };
    let own = named(link, b"gitdir: ");
    let common = own.as_ref().and_then(|own| named(&own.join("commondir"), b""));
    common.into_iter().chain(own).collect()
}

/// Whether settings enable further settings for each worktree.
fn has_more(config: &Path) -> bool {
    const NAME: &[u8] = b"worktreeconfig";
    let says = |text: Vec<u8>| text.to_ascii_lowercase().windows(NAME.len()).any(|word| word == NAME);
    config.symlink_metadata().is_ok() && regular::bytes(config, LARGEST).is_none_or(says)
}

fn is_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_dir())
}

/// A folder by a path without links: another call may put one there, and files must not be created at its target.
fn without_links(folder: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    rustix::fs::openat2(CWD, folder, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)
}

fn shared(folder: BorrowedFd<'_>, path: impl rustix::path::Arg) -> Option<File> {
    // A pipe in its place is not waited for.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::openat(folder, path, flags, Mode::empty()).ok()?);
    rustix::fs::flock(&file, FlockOperation::NonBlockingLockShared).ok()?;
    Some(file)
}

/// The paths in a folder; none if the command cannot look into it either. An error if it could do that later.
/// Read one by one: a command may have filled it.
fn entries(folder: &Path) -> Result<impl Iterator<Item = Result<PathBuf, String>> + use<>, String> {
    let within = folder.join("HEAD");
    check_reach(&within)?;
    let errno = |error: std::io::Error| Errno::from_io_error(&error).unwrap_or(Errno::IO);
    let all = match std::fs::read_dir(folder).map_err(errno) {
        Err(error) if is_out_of_reach(&within, error) => None,
        all => Some(all.map_err(unreached(&within))?),
    };
    let path =
        move |entry: std::io::Result<DirEntry>| Ok(entry.map_err(errno).map_err(unreached(&within))?.path());
    Ok(all.into_iter().flatten().map(path))
}

/// The repositories of submodules, in folders with their names; at most one more than the limit, in a limited number of folders.
/// Returns whether the search is complete.
fn modules(folder: &Path, found: &mut Vec<PathBuf>, folders: &mut usize) -> Result<bool, String> {
    for path in entries(folder)? {
        let path = path?;
        if !is_folder(&path) {
            continue;
        }
        if *folders == 0 || found.len() > MOST {
            return Ok(false);
        }
        *folders -= 1;
        // One whose HEAD was moved away could get it back later.
        let is_one =
            ["HEAD", "config", "hooks"].iter().any(|name| path.join(name).symlink_metadata().is_ok());
        let below = if is_one { path.join("modules") } else { path.clone() };
        found.extend(is_one.then_some(path));
        if !modules(&below, found, folders)? {
            return Ok(false);
        }
    }
    Ok(true)
}
