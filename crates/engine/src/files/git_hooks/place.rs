//! Where git keeps its hooks and settings: the repository of a folder, the repositories around and below it, and their
//! submodules and other worktrees.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use retake_worktree::NamedBySettings;

/// The most entries of a folder that are read, and the most files that are found.
const MOST_ENTRIES: usize = 128;
const MOST: usize = 4 * super::MOST;

/// The most bytes of a file that points to a repository.
const LONGEST_LINK: u64 = 8 << 10;

/// Paths below these are devices or temporary, not stored files.
const DEVICES: [&str; 3] = ["/dev", "/proc", "/sys"];

/// The role of a file in git.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum GitFileUse {
    Hook,
    /// Settings, which can include others.
    Settings,
    /// Any other file.
    Plain,
    /// The state of a rebase in progress.
    Rebase,
}

type Files = VecDeque<(PathBuf, GitFileUse)>;

/// The files of a folder's repositories, those below it included. Some of them may not exist.
pub(super) fn of<'a>(root: &Path, nested: impl Iterator<Item = &'a PathBuf>) -> Files {
    let mut all = Files::new();
    // Upwards, as git searches: if `.git` is gone, a folder may be a repository itself.
    let links = root.ancestors().flat_map(kept_in).chain(nested.cloned());
    for git in links.flat_map(|link| folders(&link)) {
        of_repository(&git, 0, &mut all);
        for worktree in entries(&git.join("worktrees")) {
            all.push_back((worktree.join("config.worktree"), GitFileUse::Settings));
            all.push_back((worktree.join("commondir"), GitFileUse::Plain));
            all.push_back((worktree.join(REBASE_TODO), GitFileUse::Rebase));
        }
    }
    all
}

const REBASE_TODO: &str = "rebase-merge/git-rebase-todo";

/// The git folders in a folder: its `.git`, and the folder itself if it is a bare repository.
pub(super) fn kept_in(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let is_bare = ["objects", "refs"].iter().all(|name| folder.join(name).is_dir())
        && folder.join("HEAD").symlink_metadata().is_ok();
    let bare = is_bare.then(|| folder.to_owned());
    bare.into_iter().chain([folder.join(".git")])
}

/// The existing files that settings include.
pub(super) fn named(by: NamedBySettings) -> impl Iterator<Item = (PathBuf, GitFileUse)> {
    let NamedBySettings { settings, hooks, attributes } = by;
    let all = |paths: Vec<PathBuf>, what| {
        paths.into_iter().filter_map(|path| real(&path)).map(move |path| (path, what))
    };
    let hooks = hooks.into_iter().filter_map(|folder| real(&folder)).flat_map(|folder| hooks_in(&folder));
    hooks.chain(all(settings, GitFileUse::Settings)).chain(all(attributes, GitFileUse::Plain))
}

/// The real path, unless it is a device.
pub(super) fn real(path: &Path) -> Option<PathBuf> {
    let real = path.canonicalize().ok()?;
    let is_device = DEVICES.iter().any(|folder| real.starts_with(folder)) && !real.starts_with("/dev/shm");
    (!is_device).then_some(real)
}

/// The worktree's folder, from a file of it.
pub(super) fn worktree(file: &Path) -> Option<&Path> {
    file.ancestors().find(|above| above.ends_with(".git"))?.parent()
}

/// Git's folders for a worktree: its own, and the shared one. The files that point to them are included.
fn folders(link: &Path) -> Vec<PathBuf> {
    if link.symlink_metadata().is_err() {
        return Vec::new();
    }
    let line = |file: &Path, mark: &[u8]| {
        let text = read(file, LONGEST_LINK)?;
        let name = text.strip_prefix(mark)?.trim_ascii_end();
        let named = file.parent()?.join(OsStr::from_bytes(name));
        // One name for each folder, whichever link leads to it.
        Some(named.canonicalize().unwrap_or(named))
    };
    let own = line(link, b"gitdir: ");
    let shared = own.as_ref().and_then(|own| line(&own.join("commondir"), b""));
    [Some(link.to_owned()), own, shared].into_iter().flatten().collect()
}

fn of_repository(git: &Path, depth: usize, all: &mut Files) {
    if all.len() >= MOST {
        return;
    }
    // Also if it is a link that can lead elsewhere.
    all.push_back((git.to_owned(), GitFileUse::Plain));
    if !git.is_dir() {
        return;
    }
    let named = [
        ("config", GitFileUse::Settings),
        ("config.worktree", GitFileUse::Settings),
        ("info/attributes", GitFileUse::Plain),
        ("commondir", GitFileUse::Plain),
        (REBASE_TODO, GitFileUse::Rebase),
    ];
    all.extend(named.map(|(name, what)| (git.join(name), what)));
    all.extend(hooks_in(&git.join("hooks")));
    of_modules(&git.join("modules"), depth, all);
}

fn hooks_in(folder: &Path) -> impl Iterator<Item = (PathBuf, GitFileUse)> + use<> {
    let is_sample = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "sample");
    let all = real(folder).map(|_| entries(folder)).unwrap_or_default();
    all.into_iter().filter(move |path| !is_sample(path)).map(|path| (path, GitFileUse::Hook))
}

/// The repositories of submodules, whose names may have slashes.
fn of_modules(folder: &Path, depth: usize, all: &mut Files) {
    const DEEPEST: usize = 6;
    if depth > DEEPEST {
        return;
    }
    for module in
        entries(folder).into_iter().filter(|path| path.symlink_metadata().is_ok_and(|meta| meta.is_dir()))
    {
        // One whose HEAD was moved away could get it back later.
        let is_one =
            ["HEAD", "config", "hooks"].iter().any(|name| module.join(name).symlink_metadata().is_ok());
        match is_one {
            true => of_repository(&module, depth + 1, all),
            false => of_modules(&module, depth + 1, all),
        }
    }
}

/// The entries of a folder, up to the limit.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.take(MOST_ENTRIES).map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// Reads a regular file up to this size; never waits for a pipe.
pub(super) fn read(path: &Path, most: u64) -> Option<Vec<u8>> {
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
    let file = File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= most).then_some(bytes)
}
