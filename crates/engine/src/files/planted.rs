//! What git runs or is told by in its own folder: hooks, settings, attributes. Captures leave that folder alone, and a command that
//! changes it acts at the person's next `git commit` (trial 27): so it is looked at around each call, and what is not as it was is told,
//! with the command that puts it back. Must never write to a repository.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::blocking;
use super::workspace::Held;
use crate::error::Result;

/// So many files are looked at.
const MOST: usize = 512;

/// So many entries of a folder are.
const MOST_ENTRIES: usize = 128;

/// A larger file is known by its stamp alone.
const LARGEST: u64 = 64 << 10;

/// So many bytes of all of them are kept.
const MOST_KEPT: usize = 2 << 20;

/// Where a repository is says a file of so many bytes at most.
const LONGEST_LINK: u64 = 8 << 10;

/// What git runs or is told by, of a repository, as it was at a moment. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct Planted(Arc<BTreeMap<PathBuf, Was>>);

/// A file as it was.
#[derive(Clone, Debug)]
struct Was {
    stamp: [i64; 7],
    mode: u32,
    /// Nothing, where it is too large, or no regular file.
    bytes: Option<Arc<[u8]>>,
}

/// What is not as it was.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) path: PathBuf,
    before: Option<Was>,
    is_there: bool,
}

/// Looks at the repository of a workspace's folder.
pub(super) async fn look(held: Held) -> Result<(Held, Planted)> {
    blocking(move || {
        let mut held = held;
        let now = Planted::of(held.root.path(), &held.planted);
        held.planted = now.clone();
        (held, now)
    })
    .await
}

impl Planted {
    /// As it is now; what has the stamp that is known is not read again.
    fn of(root: &Path, known: &Self) -> Self {
        let (mut all, mut kept) = (BTreeMap::new(), 0);
        for path in files(root) {
            let Ok(meta) = path.symlink_metadata() else { continue };
            let stamp = stamp(&meta);
            let bytes = match known.0.get(&path).filter(|was| was.stamp == stamp) {
                Some(was) => was.bytes.clone(),
                None => bytes(&path, &meta),
            };
            kept += bytes.as_ref().map_or(0, |bytes| bytes.len());
            let bytes = bytes.filter(|_| kept <= MOST_KEPT);
            all.insert(path, Was { stamp, mode: meta.mode() & 0o777, bytes });
        }
        Self(Arc::new(all))
    }

    /// What is not as it was.
    pub(super) fn changed(&self, after: &Self) -> Vec<Change> {
        let paths = self.0.keys().chain(after.0.keys().filter(|path| !self.0.contains_key(*path)));
        let change = |path: &PathBuf| {
            let (before, now) = (self.0.get(path), after.0.get(path));
            let is_same = match (before, now) {
                (Some(before), Some(now)) => {
                    let same_bytes = before.bytes.is_some() && before.bytes == now.bytes;
                    before.stamp == now.stamp || before.mode == now.mode && same_bytes
                }
                _ => false,
            };
            let change = Change { path: path.clone(), before: before.cloned(), is_there: now.is_some() };
            (!is_same).then_some(change)
        };
        paths.filter_map(change).collect()
    }
}

impl Change {
    /// What it is to git, and how it is put back. What was there before is kept in this folder, under a name that begins so.
    pub(super) fn told(&self, spool: Option<&Path>, name: &str) -> String {
        let is_hook = self.path.parent().is_some_and(|folder| folder.ends_with("hooks"));
        let what = if is_hook { "git runs it" } else { "git does what it says" };
        let path = quoted(&self.path);
        let back = match &self.before {
            None => Some(format!("rm -- {path}")),
            Some(was) => self
                .keep(was, spool, name)
                .map(|kept| format!("install -m {:o} -- {} {path}", was.mode, quoted(&kept))),
        };
        let how = match (&self.before, self.is_there) {
            (None, _) => "new",
            (Some(_), true) => "changed",
            (Some(_), false) => "removed",
        };
        match back {
            Some(back) => format!("{how}; {what}; to put it back: {back}"),
            None => format!("{how}; {what}; what it was could not be kept"),
        }
    }

    fn keep(&self, was: &Was, spool: Option<&Path>, name: &str) -> Option<PathBuf> {
        let (bytes, spool) = (was.bytes.as_ref()?, spool?);
        let kept = spool.join(format!("{name}.txt"));
        write(&kept, bytes).ok().map(|()| kept)
    }
}

/// A file that nobody else reads.
fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    if let Some(folder) = path.parent() {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    }
    let mut options = File::options();
    options.write(true).create(true).truncate(true).mode(0o600);
    options.open(path)?.write_all(bytes)
}

fn quoted(path: &Path) -> String {
    format!("'{}'", path.to_string_lossy().replace('\'', "'\\''"))
}

fn stamp(meta: &Metadata) -> [i64; 7] {
    let (device, inode, size) =
        (meta.dev().cast_signed(), meta.ino().cast_signed(), meta.size().cast_signed());
    [device, inode, size, meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec()]
}

/// What is in a file that is kept.
fn bytes(path: &Path, meta: &Metadata) -> Option<Arc<[u8]>> {
    if !meta.is_file() || meta.len() > LARGEST {
        return None;
    }
    read(path, LARGEST).map(Arc::from)
}

/// A regular file of at most so many bytes; a pipe is not waited for.
fn read(path: &Path, most: u64) -> Option<Vec<u8>> {
    let flags = rustix::fs::OFlags::NONBLOCK | rustix::fs::OFlags::NOFOLLOW;
    let file = File::options().read(true).custom_flags(flags.bits().cast_signed()).open(path).ok()?;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes).ok()?;
    (bytes.len() as u64 <= most).then_some(bytes)
}

/// What git runs or is told by of the repository whose worktree this folder is, its submodules and other worktrees.
fn files(root: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    for git in folders(root) {
        of_repository(&git, 0, &mut all);
        let worktrees = entries(&git.join("worktrees")).into_iter();
        all.extend(worktrees.map(|worktree| worktree.join("config.worktree")));
    }
    all.sort();
    all.dedup();
    all.truncate(MOST);
    all
}

/// Git's folders for a worktree: its own, and the one that it shares with others.
fn folders(root: &Path) -> Vec<PathBuf> {
    let git = root.join(".git");
    let Ok(meta) = git.symlink_metadata() else { return Vec::new() };
    if meta.is_dir() {
        return vec![git];
    }
    let line = |path: &Path| {
        let text = String::from_utf8(read(path, LONGEST_LINK)?).ok()?;
        Some(text.trim_end().to_owned())
    };
    let Some(own) = line(&git).and_then(|text| text.strip_prefix("gitdir: ").map(|to| root.join(to))) else {
        return vec![git];
    };
    let shared = line(&own.join("commondir")).map(|to| own.join(to));
    // Where it is told to be is one of them.
    [Some(git), Some(own), shared].into_iter().flatten().collect()
}

fn of_repository(git: &Path, depth: usize, all: &mut Vec<PathBuf>) {
    if all.len() >= MOST {
        return;
    }
    if git.is_file() {
        return all.push(git.to_owned());
    }
    all.extend(["config", "config.worktree", "info/attributes"].map(|name| git.join(name)));
    let is_sample = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "sample");
    all.extend(entries(&git.join("hooks")).into_iter().filter(|path| !is_sample(path)));
    of_modules(&git.join("modules"), depth, all);
}

/// The repositories of submodules, whose names may have slashes.
fn of_modules(folder: &Path, depth: usize, all: &mut Vec<PathBuf>) {
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn put(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }

    /// The paths that a change of the folder tells, and what was said of each.
    fn told(root: &Path, spool: &Path, change: impl FnOnce()) -> Vec<(String, String)> {
        let before = Planted::of(root, &Planted::default());
        change();
        let after = Planted::of(root, &before);
        let changes = before.changed(&after).into_iter().enumerate();
        let told = changes.map(|(at, change)| {
            (change.path.display().to_string(), change.told(Some(spool), &format!("call-git-{at}")))
        });
        told.collect()
    }

    fn runs(line: &str) {
        assert!(
            std::process::Command::new("sh").args(["-c", line]).status().expect("it runs").success(),
            "{line}"
        );
    }

    #[test]
    fn trial_27_what_changed_is_named_and_its_command_puts_it_back() {
        let dir = tempfile::tempdir().expect("a folder");
        let (root, spool) = (dir.path().join("it's work"), dir.path().join("output"));
        let git = root.join(".git");
        let path = |name: &str| git.join(name);
        for (name, text) in
            [("HEAD", "ref: x"), ("config", "[core]\n"), ("hooks/old", "#!/bin/sh\n"), ("hooks/a.sample", "")]
        {
            put(&path(name), text);
        }
        put(&path("modules/a/b/HEAD"), "ref: x");
        put(&path("modules/a/b/config"), "[core]\n");
        put(&path("worktrees/w/HEAD"), "ref: x");
        fs::set_permissions(path("hooks/old"), fs::Permissions::from_mode(0o755)).expect("set");
        assert_eq!(told(&root, &spool, || ()), []);
        let same = || put(&path("config"), "[core]\n");
        assert_eq!(told(&root, &spool, same), [], "the same bytes are no change");
        let told = told(&root, &spool, || {
            put(&path("config"), "[core]\nfsmonitor = evil\n");
            fs::remove_file(path("hooks/old")).expect("removed");
            put(&path("hooks/pre-commit"), "evil");
            put(&path("hooks/b.sample"), "no hook");
            put(&path("info/attributes"), "* filter=evil\n");
            put(&path("modules/a/b/hooks/post-checkout"), "evil");
            put(&path("worktrees/w/config.worktree"), "evil");
        });
        let changed: Vec<&str> =
            told.iter().filter_map(|(path, _)| path.strip_prefix(&*format!("{}/", git.display()))).collect();
        let expected = [
            "config",
            "hooks/old",
            "hooks/pre-commit",
            "info/attributes",
            "modules/a/b/hooks/post-checkout",
            "worktrees/w/config.worktree",
        ];
        let mut sorted = changed.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, expected);
        for (path, told) in &told {
            let (_, line) = told.split_once("to put it back: ").unwrap_or_else(|| panic!("{path}: {told}"));
            runs(line);
        }
        assert_eq!(fs::read_to_string(path("config")).expect("there"), "[core]\n");
        assert_eq!(fs::read_to_string(path("hooks/old")).expect("there"), "#!/bin/sh\n");
        assert_eq!(path("hooks/old").metadata().expect("there").mode() & 0o777, 0o755);
        for gone in ["hooks/pre-commit", "info/attributes", "modules/a/b/hooks/post-checkout"] {
            assert!(!path(gone).exists(), "{gone}");
        }
    }

    #[test]
    fn trial_27_a_worktree_s_repository_is_looked_at_and_nothing_is_waited_for() {
        let dir = tempfile::tempdir().expect("a folder");
        let (root, spool) = (dir.path().join("work"), dir.path().join("output"));
        let own = dir.path().join("repo/.git/worktrees/w");
        put(&own.join("commondir"), "../..\n");
        put(&root.join(".git"), &format!("gitdir: {}\n", own.display()));
        let hook = dir.path().join("repo/.git/hooks/pre-push");
        let told = told(&root, &spool, || put(&hook, "evil"));
        assert_eq!(told.len(), 1, "{told:?}");
        assert!(
            told[0].0.ends_with("hooks/pre-push") && told[0].1.starts_with("new; git runs it"),
            "{told:?}"
        );
        fs::remove_file(root.join(".git")).expect("removed");
        fs::create_dir_all(root.join(".git/hooks")).expect("made");
        rustix::fs::mkfifoat(rustix::fs::CWD, root.join(".git/config"), rustix::fs::Mode::RWXU)
            .expect("a pipe");
        symlink("/dev/zero", root.join(".git/hooks/pre-commit")).expect("linked");
        put(&root.join(".git/hooks/huge"), &"x".repeat(1 << 20));
        let huge = || put(&root.join(".git/hooks/huge"), &"y".repeat(1 << 20));
        let told = self::told(&root, &spool, huge);
        assert!(told.len() == 1 && told[0].1.contains("could not be kept"), "{told:?}");
    }
}
