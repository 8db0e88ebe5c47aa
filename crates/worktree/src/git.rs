//! Reads git's own files, and must never write them. It finds the place of HEAD, branches, stash and index, so that a call's
//! moves can be reported (spec `rewind.md`, *Plan*). It also finds which files HEAD has. It reads no configuration except the
//! repository's own, and runs nothing.

mod guard;
mod settings;
mod status;

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use gix::bstr::{BStr, ByteSlice as _};
use gix::objs::tree::EntryKind;
use retake_core::{ContentHash, FilePath, GitMove, GitPlace, GitRef, GitWorktree, GitWorktreeMove, Record};

pub use settings::NamedBySettings;
pub use status::{ChangedPaths, GitStatus, Ignores, MOST_COMMITS, NoGitStatus, Upstream};

use crate::objects::Objects;

/// The state of a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitState {
    head: GitPlace,
    refs: BTreeMap<String, String>,
    index: Option<Index>,
    worktrees: BTreeMap<String, GitWorktree>,
}

/// The index: the staged content.
#[derive(Clone, Debug)]
struct Index {
    /// The checksum in the file: an equal one is the same file.
    sum: Option<[u8; 20]>,
    /// A hash of the staged content, independent of times.
    staged: ContentHash,
}

impl PartialEq for Index {
    fn eq(&self, other: &Self) -> bool {
        self.staged == other.staged
    }
}

impl Eq for Index {}

impl GitState {
    /// The state of a folder's repository; an empty state without one. `None` if it cannot be read. `known` is an earlier
    /// state, which saves reading the same index again.
    pub fn read(folder: &Path, known: Option<&Self>) -> Option<Self> {
        let (folder, known) = (folder.to_owned(), known.and_then(|known| known.index.clone()));
        let read = move || match open(&folder) {
            Ok(repository) => state(&repository, known.as_ref()),
            Err(Opening::None) => Some(Self::default()),
            Err(Opening::Failed) => None,
        };
        guard::in_time(&guard::STUCK, guard::PATIENCE, read).flatten()
    }

    /// The place of HEAD.
    pub fn head(&self) -> &GitPlace {
        &self.head
    }

    /// Branches and the stash by their full names, each with its commit.
    pub fn refs(&self) -> &BTreeMap<String, String> {
        &self.refs
    }

    /// The linked worktrees of the repository by their names, wherever they are, without the folder's own.
    pub fn worktrees(&self) -> &BTreeMap<String, GitWorktree> {
        &self.worktrees
    }

    /// The moves between this and a later state.
    pub fn moved_to(&self, later: &Self) -> Option<GitMove> {
        let head = (self.head != later.head).then(|| (self.head.clone(), later.head.clone()));
        let mut names: Vec<&String> = self.refs.keys().chain(later.refs.keys()).collect();
        names.sort_unstable();
        names.dedup();
        let refs = names.into_iter().filter(|name| self.refs.get(*name) != later.refs.get(*name));
        let refs = refs.map(|name| GitRef {
            name: name.clone(),
            before: self.refs.get(name).cloned(),
            after: later.refs.get(name).cloned(),
        });
        let mut trees: Vec<&String> = self.worktrees.keys().chain(later.worktrees.keys()).collect();
        trees.sort_unstable();
        trees.dedup();
        let trees = trees.into_iter().filter_map(|name| {
            let (before, after) = (self.worktrees.get(name), later.worktrees.get(name));
            let is_same = before.zip(after).is_some_and(|(before, after)| before.is_as(after));
            let moved =
                || GitWorktreeMove { name: name.clone(), before: before.cloned(), after: after.cloned() };
            (!is_same).then(moved)
        });
        let (refs, index) = (refs.collect(), self.index != later.index);
        let moved = GitMove { head, refs, index, worktrees: trees.collect() };
        (moved != GitMove::default()).then_some(moved)
    }
}

/// Which of these commits the tips contain. None if this cannot be read.
pub fn reached(folder: &Path, tips: &[String], commits: Vec<String>) -> HashSet<String> {
    if commits.is_empty() {
        return HashSet::new();
    }
    let (folder, tips) = (folder.to_owned(), tips.to_vec());
    guard::in_time(&guard::STUCK, guard::PATIENCE, move || reached_from(&folder, &tips, commits))
        .unwrap_or_default()
}

fn reached_from(folder: &Path, tips: &[String], commits: Vec<String>) -> HashSet<String> {
    let Some(repository) = with_objects(folder) else { return HashSet::new() };
    let id = |commit: &String| gix::ObjectId::from_hex(commit.as_bytes()).ok();
    let tips: Vec<gix::ObjectId> = tips.iter().filter_map(id).collect();
    let is_reached = |commit: &String| {
        let Some(asked) = id(commit) else { return false };
        let walk = repository.rev_walk([asked]).with_hidden(tips.iter().copied()).all();
        tips.contains(&asked) || walk.is_ok_and(|mut walk| walk.next().is_none())
    };
    commits.into_iter().filter(is_reached).collect()
}

/// Which of these files below a folder git tracks unchanged: their staged bytes are equal. False if this cannot be read.
pub fn tracked(folder: &Path, files: &[FilePath]) -> Vec<bool> {
    let (owned, paths) = (folder.to_owned(), files.to_vec());
    let look = move || {
        let repository = open(&owned).ok()?;
        let (below, index) = (below_worktree(&repository, &owned)?, repository.open_index().ok()?);
        let is_tracked = |file: &FilePath| {
            let path = below.join(OsStr::from_bytes(file.as_bytes()));
            let entry = index.entry_by_path(path.as_os_str().as_bytes().as_bstr());
            // A file that cannot be read cannot be tracked unchanged.
            let bytes = || guard::bytes(&owned.join(OsStr::from_bytes(file.as_bytes())), LARGEST_TRACKED);
            let blob = |bytes: Vec<u8>| {
                gix::objs::compute_hash(repository.object_hash(), gix::objs::Kind::Blob, &bytes).ok()
            };
            entry.is_some_and(|entry| bytes().and_then(blob) == Some(entry.id))
        };
        Some(paths.iter().map(is_tracked).collect())
    };
    guard::in_time(&guard::STUCK, guard::PATIENCE, look).flatten().unwrap_or_else(|| vec![false; files.len()])
}

/// The largest file that is compared with git.
const LARGEST_TRACKED: u64 = 1 << 20;

/// A commit's entry at a path.
type Entry = Option<(EntryKind, gix::ObjectId)>;

/// Which of these files below a folder equal those of the commit `now` and differ from those of `before`. None if this cannot
/// be read.
pub fn same_as_commit(
    folder: &Path,
    (now, before): (&str, &GitPlace),
    files: &[(FilePath, Option<Record>)],
    objects: &dyn Objects,
) -> Vec<bool> {
    let none = || vec![false; files.len()];
    let (folder, commits) = (folder.to_owned(), (now.to_owned(), before.commit.clone()));
    let paths: Vec<FilePath> = files.iter().map(|(path, _)| path.clone()).collect();
    if paths.is_empty() {
        return none();
    }
    let read = guard::in_time(&guard::STUCK, guard::PATIENCE, move || entries(&folder, &commits, &paths));
    let Some((kind, entries)) = read.flatten() else { return none() };
    let same = |(record, (now, then)): (&Option<Record>, (Entry, Entry))| {
        let Some(record) = record else { return now.is_none() && then.is_some() };
        match (now, record) {
            (Some((EntryKind::Tree, _)), Record::Folder { .. }) => then.is_none(),
            (Some(now), record) => Some(now) != then && blob(kind, record, objects) == Some(now),
            (None, _) => false,
        }
    };
    files.iter().map(|(_, record)| record).zip(entries).map(same).collect()
}

/// The entries of a commit and an earlier one at each of these paths below a folder.
fn entries(
    folder: &Path,
    (now, before): &(String, Option<String>),
    paths: &[FilePath],
) -> Option<(gix::hash::Kind, Vec<(Entry, Entry)>)> {
    let repository = with_objects(folder)?;
    let below = below_worktree(&repository, folder)?;
    let tree_of = |commit: &str| {
        let id = gix::ObjectId::from_hex(commit.as_bytes()).ok()?;
        repository.find_commit(id).ok()?.tree().ok()
    };
    let (tree, earlier) = (tree_of(now)?, before.as_deref().and_then(tree_of));
    let of = |path: &FilePath| {
        let path = below.join(OsStr::from_bytes(path.as_bytes()));
        let entry = |tree: &gix::Tree<'_>| {
            let entry = tree.lookup_entry_by_path(&path).ok().flatten()?;
            Some((entry.mode().kind(), entry.object_id()))
        };
        (entry(&tree), earlier.as_ref().and_then(entry))
    };
    Some((repository.object_hash(), paths.iter().map(of).collect()))
}

/// Git's object id of a file.
fn blob(hash: gix::hash::Kind, record: &Record, objects: &dyn Objects) -> Entry {
    let (bytes, kind) = match record {
        Record::File { hash, mode, .. } if mode & 0o100 == 0 => (objects.get(hash).ok()?, EntryKind::Blob),
        Record::File { hash, .. } => (objects.get(hash).ok()?, EntryKind::BlobExecutable),
        Record::Link { target } => (target.to_vec(), EntryKind::Link),
        Record::Folder { .. } => return None,
    };
    let id = gix::objs::compute_hash(hash, gix::objs::Kind::Blob, &bytes).ok()?;
    Some((kind, id))
}

/// The kind of repository in a folder itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Nested {
    /// A repository with its commits.
    Repository,
    /// A worktree of a repository elsewhere.
    Worktree,
    /// A submodule, whose commits are in another repository.
    Submodule,
}

impl Nested {
    /// The kind in this folder; `None` if it has no repository or it cannot be read.
    pub fn of(folder: &Path) -> Option<Self> {
        let own = folder.join(".git");
        let kind = std::fs::symlink_metadata(&own).ok()?.file_type();
        if !kind.is_file() {
            return kind.is_dir().then_some(Self::Repository);
        }
        let text = guard::bytes(&own, LONGEST_LINK)?;
        let parts: Vec<&[u8]> = text.trim_end().split(|byte| *byte == b'/').collect();
        let within = |name: &[u8]| parts.contains(&name);
        match (within(b"worktrees"), within(b"modules")) {
            (true, _) => Some(Self::Worktree),
            (false, true) => Some(Self::Submodule),
            (false, false) => Some(Self::Repository),
        }
    }
}

/// The most bytes of a file that points to a repository.
const LONGEST_LINK: u64 = 8 << 10;

/// Why there is no repository.
enum Opening {
    None,
    Failed,
}

/// The repository of a folder, if its objects can be read.
fn with_objects(folder: &Path) -> Option<gix::Repository> {
    let repository = open(folder).ok()?;
    guard::has_sound_objects(repository.objects.store_ref().path()).then_some(repository)
}

fn open(folder: &Path) -> Result<gix::Repository, Opening> {
    use gix::discover::upwards::Error;
    if !guard::is_sound(folder) {
        return Err(Opening::Failed);
    }
    let (found, _) =
        gix::discover::upwards(folder).map_err(|error| match error.downcast_any_ref::<Error>() {
            Some(Error::NoTrustedGitRepository { .. }) | None => Opening::Failed,
            Some(_) => Opening::None,
        })?;
    let (git_dir, worktree) = found.into_repository_and_work_tree_directories();
    let place = worktree.unwrap_or(git_dir);
    gix::open_opts(place, gix::open::Options::isolated()).map_err(|_| Opening::Failed)
}

/// A folder's path below its worktree.
fn below_worktree(repository: &gix::Repository, folder: &Path) -> Option<PathBuf> {
    let real = |path: &Path| std::fs::canonicalize(path).ok();
    Some(real(folder)?.strip_prefix(real(repository.workdir()?)?).ok()?.to_owned())
}

fn state(repository: &gix::Repository, known: Option<&Index>) -> Option<GitState> {
    let head = repository.head().ok()?;
    let branch = head.referent_name().map(|name| short(name.as_bstr()));
    let place = GitPlace { branch, commit: head.id().map(|id| id.to_string()) };
    let platform = repository.references().ok()?;
    let mut refs = BTreeMap::new();
    for found in platform.local_branches().ok()? {
        // An unreadable one cannot be named by anybody.
        if let Ok(found) = found
            && let Some(id) = found.try_id()
        {
            refs.insert(text(found.name().as_bstr()), id.to_string());
        }
    }
    if let Ok(Some(stash)) = repository.try_find_reference("refs/stash")
        && let Some(id) = stash.try_id()
    {
        refs.insert("refs/stash".to_owned(), id.to_string());
    }
    let worktrees = worktrees(repository, &refs);
    Some(GitState { head: place, refs, index: index(repository, known), worktrees })
}

/// The linked worktrees of a repository, without its own. An unreadable one cannot be named by anybody.
fn worktrees(repository: &gix::Repository, refs: &BTreeMap<String, String>) -> BTreeMap<String, GitWorktree> {
    let own = std::fs::canonicalize(repository.git_dir()).ok();
    let one = |tree: gix::worktree::Proxy<'_>| {
        if std::fs::canonicalize(tree.git_dir()).ok() == own {
            return None;
        }
        let base = tree.base().ok()?;
        // If its folder is gone, git still has its name.
        let path = std::fs::canonicalize(&base).unwrap_or(base).to_string_lossy().into_owned();
        let name = tree.id().ok()?.to_str_lossy().into_owned();
        let head = head_of(tree.git_dir(), refs)?;
        Some((name, GitWorktree { path, head, locked: tree.is_locked() }))
    };
    repository.worktrees().into_iter().flatten().filter_map(one).collect()
}

/// The HEAD of a linked worktree, from its own file.
fn head_of(git_dir: &Path, refs: &BTreeMap<String, String>) -> Option<GitPlace> {
    let text = guard::bytes(&git_dir.join("HEAD"), LONGEST_LINK)?;
    let head = text.trim_end().as_bstr();
    Some(match head.strip_prefix(b"ref: ") {
        Some(name) => {
            let name = name.as_bstr();
            GitPlace { commit: refs.get(&self::text(name)).cloned(), branch: Some(short(name)) }
        }
        None => GitPlace { branch: None, commit: Some(self::text(head)) },
    })
}

/// The staged content; a repository whose index cannot be read has none, like a new one.
fn index(repository: &gix::Repository, known: Option<&Index>) -> Option<Index> {
    let sum = last_sum(&repository.index_path());
    if let Some(known) = known
        && sum.is_some()
        && known.sum == sum
    {
        return Some(known.clone());
    }
    let file = repository.open_index().ok()?;
    let mut staged = blake3::Hasher::new();
    for entry in file.entries() {
        staged.update(entry.path(&file));
        staged.update(&[0]);
        staged.update(entry.id.as_slice());
        staged.update(&entry.mode.bits().to_le_bytes());
        staged.update(&[entry.stage_raw() as u8]);
    }
    Some(Index { sum, staged: ContentHash(*staged.finalize().as_bytes()) })
}

/// The checksum at the end of an index; git can be configured to write zeros instead.
fn last_sum(path: &Path) -> Option<[u8; 20]> {
    let mut file = std::fs::File::open(path).ok()?;
    file.seek(SeekFrom::End(-20)).ok()?;
    let mut sum = [0; 20];
    file.read_exact(&mut sum).ok()?;
    (sum != [0; 20]).then_some(sum)
}

fn short(name: &BStr) -> String {
    let name = text(name);
    name.strip_prefix("refs/heads/").map(str::to_owned).unwrap_or(name)
}

fn text(name: &BStr) -> String {
    name.to_str_lossy().into_owned()
}
