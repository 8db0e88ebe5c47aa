//! Where git keeps its hooks and settings. They are those of the repository whose worktree a folder is, of those that this one
//! is in, of those below it, of their submodules and other worktrees.

use std::collections::VecDeque;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use retake_worktree::NamedBySettings;

/// So many entries of a folder are looked at, and so many files are found first.
const MOST_ENTRIES: usize = 128;
const MOST: usize = 4 * super::MOST;

/// Where a repository is says a file of so many bytes at most.
const LONGEST_LINK: u64 = 8 << 10;

/// Here nothing is a file that stays.
const DEVICES: [&str; 3] = ["/dev", "/proc", "/sys"];

/// What a file is to git.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum What {
    Hook,
    /// Settings, which name others.
    Settings,
    /// What says other things.
    Plain,
    /// What a rebase goes on with.
    Rebase,
}

type Files = VecDeque<(PathBuf, What)>;

/// The files of a folder's repositories, those below it included; some are not there.
pub(super) fn of<'a>(root: &Path, nested: impl Iterator<Item = &'a PathBuf>) -> Files {
    let mut all = Files::new();
    // Upwards, as git looks: where a `.git` is none any more, a folder may be a repository itself.
    let links = root.ancestors().flat_map(kept_in).chain(nested.cloned());
    for git in links.flat_map(|link| folders(&link)) {
        of_repository(&git, 0, &mut all);
        for worktree in entries(&git.join("worktrees")) {
            all.push_back((worktree.join("config.worktree"), What::Settings));
            all.push_back((worktree.join("commondir"), What::Plain));
            all.push_back((worktree.join(REBASE_TODO), What::Rebase));
        }
    }
    all
}

const REBASE_TODO: &str = "rebase-merge/git-rebase-todo";

/// What git keeps in a folder: its `.git`, and the folder where it is a repository itself.
pub(super) fn kept_in(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    let is_bare = ["objects", "refs"].iter().all(|name| folder.join(name).is_dir())
        && folder.join("HEAD").symlink_metadata().is_ok();
    let bare = is_bare.then(|| folder.to_owned());
    bare.into_iter().chain([folder.join(".git")])
}

/// What settings name, as far as it is there.
pub(super) fn named(by: NamedBySettings) -> impl Iterator<Item = (PathBuf, What)> {
    let NamedBySettings { settings, hooks, attributes } = by;
    let all = |paths: Vec<PathBuf>, what| {
        paths.into_iter().filter_map(|path| real(&path)).map(move |path| (path, what))
    };
    let hooks = hooks.into_iter().filter_map(|folder| real(&folder)).flat_map(|folder| hooks_in(&folder));
    hooks.chain(all(settings, What::Settings)).chain(all(attributes, What::Plain))
}

/// Where a path leads to, but for devices.
pub(super) fn real(path: &Path) -> Option<PathBuf> {
    let real = path.canonicalize().ok()?;
    let is_device = DEVICES.iter().any(|folder| real.starts_with(folder)) && !real.starts_with("/dev/shm");
    (!is_device).then_some(real)
}

/// The folder that a repository is in, from a file of it.
pub(super) fn worktree(file: &Path) -> Option<&Path> {
    file.ancestors().find(|above| above.ends_with(".git"))?.parent()
}

/// Git's folders for a worktree: its own, and the one that it shares with others. What says where they are is one of them.
fn folders(link: &Path) -> Vec<PathBuf> {
    if link.symlink_metadata().is_err() {
        return Vec::new();
    }
    let line = |file: &Path, mark: &[u8]| {
        let text = read(file, LONGEST_LINK)?;
        let name = text.strip_prefix(mark)?.trim_ascii_end();
        let named = file.parent()?.join(OsStr::from_bytes(name));
        // By one name, however it is led to.
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
    // Also where it is a link that can lead elsewhere.
    all.push_back((git.to_owned(), What::Plain));
    if !git.is_dir() {
        return;
    }
    let named = [
        ("config", What::Settings),
        ("config.worktree", What::Settings),
        ("info/attributes", What::Plain),
        ("commondir", What::Plain),
        (REBASE_TODO, What::Rebase),
    ];
    all.extend(named.map(|(name, what)| (git.join(name), what)));
    all.extend(hooks_in(&git.join("hooks")));
    of_modules(&git.join("modules"), depth, all);
}

fn hooks_in(folder: &Path) -> impl Iterator<Item = (PathBuf, What)> + use<> {
    let is_sample = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "sample");
    let all = real(folder).map(|_| entries(folder)).unwrap_or_default();
    all.into_iter().filter(move |path| !is_sample(path)).map(|path| (path, What::Hook))
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

/// What is in a folder, by its names: as many as are looked at.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.take(MOST_ENTRIES).map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// A regular file of at most so many bytes; a pipe is not waited for.
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
