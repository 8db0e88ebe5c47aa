//! Files that git runs or reads as settings: hooks, settings, attributes, lines of a rebase. Captures skip git's own folder, and
//! a command that changes it acts at the person's next `git commit` (trial 27). So they are compared before and after each call,
//! and changes are reported with the command that reverts them. Must never write to a repository.

mod back;
mod place;

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::fs::Metadata;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use retake_core::{GitFile, GitFileChange, GitFileRole, PutBack};
use retake_tools::is_closed;
use retake_worktree::NamedBySettings;

pub use self::back::put_back;
use self::place::{GitFileUse, read};
use super::blocking;
use super::note::FolderRemark;
use super::workspace::HeldWorkspace;
use crate::Engine;
use crate::error::Result;

/// The most files that are compared.
const MOST: usize = 512;

/// The most repositories below the workspace that are protected.
const MOST_HELD: usize = 100;

/// A larger file is compared by its stamp alone.
const LARGEST: u64 = 64 << 10;

/// The most bytes that are kept of all of them.
const MOST_KEPT: usize = 2 << 20;

/// The identity of a file or folder, whatever its name is.
pub(super) type Id = (u64, u64);

/// Hooks and settings of a workspace's repositories at one moment. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct HooksAndSettings(Arc<State>);

#[derive(Debug, Default)]
struct State {
    files: BTreeMap<PathBuf, EarlierFile>,
    /// The repositories below the workspace.
    nested: BTreeMap<PathBuf, Id>,
    /// Settings files that other settings include.
    named: Vec<PathBuf>,
}

/// A file's earlier state.
#[derive(Clone, Debug)]
struct EarlierFile {
    what: GitFileUse,
    stamp: [i64; 7],
    mode: u32,
    /// Its bytes; none if it is too large, or no regular file.
    bytes: Option<Arc<[u8]>>,
}

/// A file that changed.
#[derive(Debug)]
pub(super) struct Change {
    pub(super) path: PathBuf,
    what: GitFileUse,
    before: Option<EarlierFile>,
    is_there: bool,
}

/// The state before a call. If processes of earlier calls still run, it is the state at the end of the last call: their changes
/// are reported with this one.
pub(super) async fn before_call(held: HeldWorkspace) -> Result<(HeldWorkspace, HooksAndSettings)> {
    let (mut held, now) = look(held).await?;
    if !held.lingers {
        held.hooks.reported = now;
    }
    let before = held.hooks.reported.clone();
    Ok((held, before))
}

/// Reads the repositories of a workspace's folder.
pub(super) async fn look(held: HeldWorkspace) -> Result<(HeldWorkspace, HooksAndSettings)> {
    blocking(move || {
        let mut held = held;
        let root = held.root.path();
        let below = held.tree.repositories();
        let nested = below.iter().map(|path| root.join(OsStr::from_bytes(path.as_bytes())));
        let nested = nested.flat_map(|folder| place::kept_in(&folder)).collect();
        let now = HooksAndSettings::of(root, nested, &held.hooks.seen);
        held.hooks.seen = now.clone();
        (held, now)
    })
    .await
}

impl Engine {
    /// The changes since the end of the last call whose processes went on.
    pub(super) async fn planted_since(
        &self,
        held: HeldWorkspace,
        own: bool,
    ) -> Result<(HeldWorkspace, Vec<FolderRemark>)> {
        if !held.lingers {
            return Ok((held, Vec::new()));
        }
        let (held, now) = look(held).await?;
        let changes = held.hooks.reported.changed(&now);
        let note = |(change, back): (Change, Option<PutBack>)| FolderRemark::GitFile {
            path: shown(&held, own, &change),
            file: change.file(back),
        };
        let told = self.put_back_each(&format!("later-{}", held.no.0), changes);
        let notes = told.into_iter().map(note).collect();
        Ok((held, notes))
    }

    /// Changes of hooks and settings of git, each with the command that reverts it.
    pub(super) fn planted(
        &self,
        id: &str,
        changes: impl Iterator<Item = (String, Change)>,
    ) -> Vec<(String, GitFile)> {
        let (paths, changes): (Vec<String>, Vec<Change>) = changes.unzip();
        let files = self.put_back_each(id, changes).into_iter().map(|(change, back)| change.file(back));
        paths.into_iter().zip(files).collect()
    }

    /// Each change with what reverts it. The earlier content is kept in a file with this prefix.
    fn put_back_each(&self, id: &str, changes: Vec<Change>) -> Vec<(Change, Option<PutBack>)> {
        let spool = self.parts().agent.as_ref().map(|agent| agent.spool.as_path());
        let back = |at, change: &Change| change.back(spool, &format!("{id}-git-{at}"));
        let commands: Vec<_> = changes.iter().enumerate().map(|(at, it)| back(at, it)).collect();
        changes.into_iter().zip(commands).collect()
    }
}

/// The path of a change as it is shown.
pub(super) fn shown(held: &HeldWorkspace, own: bool, change: &Change) -> String {
    let below = change.path.strip_prefix(held.root.path()).ok().filter(|_| own);
    below.unwrap_or(&change.path).to_string_lossy().into_owned()
}

impl HooksAndSettings {
    /// The current state, with these repositories below. A file with a known stamp is not read again.
    fn of(root: &Path, nested: Vec<PathBuf>, known: &Self) -> Self {
        let id = |path: PathBuf| path.symlink_metadata().ok().map(|meta| (path, (meta.dev(), meta.ino())));
        let mut nested: BTreeMap<PathBuf, Id> = nested.into_iter().filter_map(id).collect();
        // A command may have made a folder unreadable by its mode, and can open it again.
        let is_hidden = |path: &Path| path.symlink_metadata().is_err_and(|error| is_closed(&error));
        let closed = known.0.nested.iter().filter(|(path, _)| is_hidden(path));
        nested.extend(closed.map(|(path, id)| (path.clone(), *id)));
        let home = std::env::var_os("HOME").map(PathBuf::from);
        let mut todo = place::of(root, nested.keys());
        let (mut files, mut named, mut kept) = (BTreeMap::new(), Vec::new(), 0);
        todo.extend(
            known
                .0
                .files
                .iter()
                .filter(|(path, _)| is_hidden(path))
                .map(|(path, was)| (path.clone(), was.what)),
        );
        while let Some((path, what)) = todo.pop_front() {
            if files.len() == MOST {
                break;
            }
            let meta = match path.symlink_metadata() {
                Ok(meta) => meta,
                // It counts as unchanged until its folder can be read again.
                Err(error) if is_closed(&error) => {
                    let was = known.0.files.get(&path).cloned();
                    files.extend(was.map(|was| (path, was)));
                    continue;
                }
                Err(_) => continue,
            };
            if meta.is_symlink() {
                todo.extend(place::real(&path).map(|real| (real, what)));
            }
            // An empty file or folder has no effect; a running call may have created it.
            let is_blank = meta.is_dir() || meta.is_file() && meta.len() == 0;
            if is_blank || files.contains_key(&path) {
                continue;
            }
            let stamp = stamp(&meta);
            let bytes = match known.0.files.get(&path).filter(|was| was.stamp == stamp) {
                Some(was) => was.bytes.clone(),
                None => bytes(&path, &meta),
            };
            if let (GitFileUse::Settings, Some(text)) = (what, &bytes) {
                let worktree = place::worktree(&path).unwrap_or(root);
                let by = NamedBySettings::of(&path, text, worktree, home.as_deref());
                named.extend(by.settings.iter().filter_map(|path| place::real(path)));
                todo.extend(place::named(by));
            }
            kept += bytes.as_ref().map_or(0, |bytes| bytes.len());
            let bytes = bytes.filter(|_| kept <= MOST_KEPT);
            files.insert(path, EarlierFile { what, stamp, mode: meta.mode() & 0o777, bytes });
        }
        Self(Arc::new(State { files, nested, named }))
    }

    /// The changed files. Files of new repositories do not count: their creator decides what they do.
    pub(super) fn changed(&self, after: &Self) -> Vec<Change> {
        let (was, is) = (&self.0.files, &after.0.files);
        let came: Vec<&PathBuf> =
            after.0.nested.keys().filter(|git| !self.0.nested.contains_key(*git)).collect();
        let is_new =
            |path: &&PathBuf| !was.contains_key(*path) && !came.iter().any(|git| path.starts_with(git));
        let paths = was.keys().chain(is.keys().filter(is_new));
        let change = |path: &PathBuf| {
            let (before, now) = (was.get(path), is.get(path));
            let what = now.or(before)?.what;
            let is_same = match (before, now) {
                (before, now) if what == GitFileUse::Rebase => !now.is_some_and(|now| now.runs_more(before)),
                (Some(before), Some(now)) => {
                    let same_bytes = before.bytes.is_some() && before.bytes == now.bytes;
                    before.stamp == now.stamp || before.mode == now.mode && same_bytes
                }
                _ => false,
            };
            let (before, is_there) = (before.cloned(), now.is_some());
            (!is_same).then(|| Change { path: path.clone(), what, before, is_there })
        };
        paths.filter_map(change).collect()
    }

    /// The paths that the sandbox can protect from a call: repositories that it did not create, and included settings.
    pub(super) fn held(&self, made: &HashSet<Id>) -> Vec<PathBuf> {
        let theirs = self.0.nested.iter().filter(|(_, id)| !made.contains(*id)).map(|(path, _)| path);
        theirs.take(MOST_HELD).chain(&self.0.named).cloned().collect()
    }

    /// The repositories below the workspace that were nowhere before.
    pub(super) fn came(&self, before: &Self) -> Vec<Id> {
        let known: HashSet<Id> = before.0.nested.values().copied().collect();
        self.0.nested.values().filter(|id| !known.contains(*id)).copied().collect()
    }
}

impl EarlierFile {
    /// Whether a rebase in progress would run a line that it would not have run before.
    fn runs_more(&self, before: Option<&Self>) -> bool {
        fn lines(was: &EarlierFile) -> HashSet<&[u8]> {
            let lines = was.bytes.as_deref().unwrap_or_default().split(|byte| *byte == b'\n');
            let lines = lines.map(<[u8]>::trim_ascii);
            let runs = |line: &&[u8]| {
                let word = line.split(u8::is_ascii_whitespace).next();
                word == Some(b"exec") || word == Some(b"x")
            };
            lines.filter(runs).collect()
        }
        let before = before.map(lines).unwrap_or_default();
        self.bytes.is_none() || !lines(self).is_subset(&before)
    }
}

impl Change {
    fn kind(&self) -> GitFileChange {
        match (&self.before, self.is_there) {
            (None, _) => GitFileChange::New,
            (Some(_), true) => GitFileChange::Changed,
            (Some(_), false) => GitFileChange::Removed,
        }
    }

    fn role(&self) -> GitFileRole {
        match self.what {
            GitFileUse::Hook => GitFileRole::Hook,
            GitFileUse::Settings | GitFileUse::Plain => GitFileRole::Settings,
            GitFileUse::Rebase => GitFileRole::Rebase,
        }
    }

    /// What reverts the change. The earlier content is kept in this folder, in a file with this prefix.
    fn back(&self, spool: Option<&Path>, name: &str) -> Option<PutBack> {
        match (&self.before, self.what) {
            (None, GitFileUse::Rebase) => Some(back::back(self.path.parent().unwrap_or(&self.path), None)),
            (None, _) => Some(back::back(&self.path, None)),
            (Some(was), _) => was.bytes.as_ref().zip(spool).and_then(|(bytes, spool)| {
                let kept = back::keep(bytes, spool, name)?;
                Some(back::back(&self.path, Some((&kept, was.mode))))
            }),
        }
    }

    pub(super) fn file(&self, back: Option<PutBack>) -> GitFile {
        let command = back.as_ref().map(back::command);
        GitFile { change: self.kind(), role: self.role(), back, command }
    }
}

fn stamp(meta: &Metadata) -> [i64; 7] {
    let (device, inode, size) =
        (meta.dev().cast_signed(), meta.ino().cast_signed(), meta.size().cast_signed());
    [device, inode, size, meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec()]
}

/// The content of a file, if it is to be kept.
fn bytes(path: &Path, meta: &Metadata) -> Option<Arc<[u8]>> {
    if !meta.is_file() || meta.len() > LARGEST {
        return None;
    }
    read(path, LARGEST).map(Arc::from)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;
    use crate::files::note;

    fn put(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        fs::write(path, text).expect("written");
    }

    /// The paths that are reported for a change of the folder, and the text for each.
    fn told(root: &Path, spool: &Path, change: impl FnOnce()) -> Vec<(String, String)> {
        let nested = || vec![root.join("nested/.git"), root.join("new/.git")];
        let before = HooksAndSettings::of(root, nested(), &HooksAndSettings::default());
        change();
        let after = HooksAndSettings::of(root, nested(), &before);
        let changes = before.changed(&after).into_iter().enumerate();
        let told = changes.map(|(at, change)| {
            let back = change.back(Some(spool), &format!("call-git-{at}"));
            (change.path.display().to_string(), note::told(&change.file(back)))
        });
        told.collect()
    }

    /// Runs the reported command.
    fn runs(line: &str) {
        let words = format!("printf '%s\\0' {line}");
        let words = std::process::Command::new("sh").args(["-c", &words]).output().expect("it runs").stdout;
        let words: Vec<&str> = std::str::from_utf8(&words).expect("UTF-8").split_terminator('\0').collect();
        let done = match words[..] {
            ["retake", "files", "put-back", "--remove", path] => put_back(Path::new(path), None),
            ["retake", "files", "put-back", path, "--from", kept, "--mode", mode] => put_back(
                Path::new(path),
                Some((Path::new(kept), u32::from_str_radix(mode, 8).expect("a mode"))),
            ),
            _ => panic!("{line}"),
        };
        done.unwrap_or_else(|error| panic!("{line}: {error}"));
    }

    #[test]
    fn trial_27_changed_git_files_are_named_with_a_command_that_reverts_them() {
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
    fn trial_27_a_worktrees_repository_is_looked_at_and_nothing_is_waited_for() {
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

    #[test]
    fn trial_27_repositories_around_and_what_settings_name_are_looked_at() {
        let dir = tempfile::tempdir().expect("a folder");
        let top = dir.path().canonicalize().expect("there");
        let (root, spool, apart) = (top.join("above/work"), top.join("output"), top.join("apart"));
        put(&top.join("above/.git/HEAD"), "ref: x");
        put(&root.join(".git"), "gitdir: ../../apart\n");
        put(&root.join("nested/.git/HEAD"), "ref: x");
        let settings =
            "[include]\npath = ../more\n[core]\nhooksPath = .githooks\nattributesFile = its\n# \u{ff}\n";
        put(&apart.join("config"), settings);
        put(&top.join("more"), "[a]\n");
        fs::create_dir(root.join(".githooks")).expect("made");
        let hooks = [
            "above/.git/hooks/a",
            "apart/hooks/b",
            "above/work/.githooks/c",
            "above/work/nested/.git/hooks/d",
        ];
        let told = self::told(&root, &spool, || {
            hooks.iter().for_each(|hook| put(&top.join(hook), "evil"));
            put(&top.join("more"), "[b]\n");
            put(&root.join("its"), "* filter=evil\n");
            // These are empty, or were written by the repository's creator.
            put(&apart.join("info/attributes"), "");
            put(&apart.join("rebase-merge/git-rebase-todo"), "pick 1 exec\n");
            put(&root.join("new/.git/config"), "[core]\n");
        });
        let of = |told: &[(String, String)]| -> Vec<String> {
            let mut paths: Vec<String> = told.iter().map(|(path, how)| format!("{path}: {how}")).collect();
            paths.sort();
            paths
        };
        let named = of(&told);
        let mut expected =
            hooks.map(|hook| format!("{}: new; git runs it", top.join(hook).display())).to_vec();
        expected.push(format!("{}: new; git does what it says", root.join("its").display()));
        expected.push(format!("{}: changed; git does what it says", top.join("more").display()));
        expected.sort();
        assert_eq!(named.len(), expected.len(), "{named:?}");
        for (named, expected) in named.iter().zip(&expected) {
            assert!(named.starts_with(expected), "{named}: {expected}");
        }
        let todo = apart.join("rebase-merge/git-rebase-todo");
        let told = self::told(&root, &spool, || put(&todo, "pick 1\n exec evil\n"));
        assert!(told.len() == 1 && told[0].1.contains("`exec` lines when the rebase goes on"), "{told:?}");
        let told = self::told(&root, &spool, || put(&todo, "exec evil\n"));
        assert_eq!(told, [], "a rebase that goes on");
        // In new repositories, later changes by the next call are reported.
        let told = self::told(&root, &spool, || put(&root.join("new/.git/hooks/e"), "evil"));
        assert_eq!(told.len(), 1, "{told:?}");
        let nested = vec![root.join("nested/.git"), root.join("new/.git")];
        let now = HooksAndSettings::of(&root, nested, &HooksAndSettings::default());
        let made = now.0.nested.get(&root.join("new/.git")).copied().into_iter().collect();
        assert_eq!(now.held(&made), [root.join("nested/.git"), top.join("more")]);
    }
}
