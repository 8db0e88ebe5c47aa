//! The state of a repository in a few lines: branch, upstream, last commit, changed paths. It runs nothing: no hooks, no filters
//! and no monitor of a repository, and it reads no settings but the repository's own. A file is compared byte by byte where its
//! times are no proof, so that one with a filter may count as changed. Must never take longer than it may.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs;
use std::io::Read as _;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use gix::bstr::{BStr, ByteSlice as _};
use gix::index::entry::{Flags, Mode, Stat};
use gix::index::fs::Metadata;
use gix::objs::Kind;

use super::{Opening, guard, open, short, text, with_objects};

/// Commits are counted up to this number.
pub const MOST_COMMITS: usize = 999;

/// The largest commit that is read.
const LARGEST_COMMIT: u64 = 1 << 20;

/// The bytes of a file that are read at once.
const PIECE: usize = 64 << 10;

/// The deepest folder that is searched for new files.
const DEPTH: usize = 64;

/// The state of a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GitStatus {
    /// The branch; `None` if HEAD is a commit.
    pub branch: Option<String>,
    /// The last commit: its short id and its subject. `None` before the first one.
    pub commit: Option<(String, String)>,
    /// The upstream of the branch.
    pub upstream: Option<Upstream>,
    /// The changed paths; `None` if there was no time to find them.
    pub changed: Option<ChangedPaths>,
}

/// The upstream of a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    /// Its name, such as `origin/main`.
    pub name: String,
    /// The number of commits that it lacks, up to [`MOST_COMMITS`].
    pub ahead: usize,
    /// The number of commits that the branch lacks, up to [`MOST_COMMITS`].
    pub behind: usize,
}

/// The changed paths of a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ChangedPaths {
    /// The first ones, in the short format of `git status`: two letters, a space, and the path.
    pub first: Vec<String>,
    /// The number of all.
    pub count: usize,
}

/// Why there is no state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoGitStatus {
    /// The folder is in no repository.
    NoRepository,
    /// It cannot be read, or not in time.
    Unread,
}

/// Whether an absolute path is ignored; the second argument says whether it is a folder. Folders come before their content.
pub type Ignores = Box<dyn Fn(&Path, bool) -> bool + Send>;

impl GitStatus {
    /// The state of a folder's repository, with at most `most` paths. It takes at most three times the `patience`.
    pub fn read(
        folder: &Path,
        most: usize,
        patience: Duration,
        ignores: Ignores,
    ) -> Result<Self, NoGitStatus> {
        let owned = folder.to_owned();
        let head = guard::in_time(&guard::SLOW, patience, move || match open(&owned) {
            Err(Opening::None) => Err(NoGitStatus::NoRepository),
            Err(Opening::Failed) => Err(NoGitStatus::Unread),
            Ok(_) => head(&owned).ok_or(NoGitStatus::Unread),
        });
        let status = head.unwrap_or(Err(NoGitStatus::Unread))?;
        let owned = folder.to_owned();
        let upstream = in_time(patience, move |is_late| upstream(&owned, &is_late));
        let owned = folder.to_owned();
        let changed = in_time(patience, move |is_late| {
            let repository = with_objects(&owned)?;
            let place = worktree(&repository, &owned)?;
            let found = Found { first: Vec::new(), count: 0, most };
            Search { repository: &repository, place, ignores, is_late, found }.changed()
        });
        Ok(Self { upstream, changed, ..status })
    }
}

/// What a reader finds within the time limit; after that, it sees that it is late.
fn in_time<T: Send + 'static>(
    patience: Duration,
    read: impl FnOnce(Arc<AtomicBool>) -> Option<T> + Send + 'static,
) -> Option<T> {
    let is_late = Arc::new(AtomicBool::new(false));
    let of_reader = Arc::clone(&is_late);
    let read = guard::in_time(&guard::SLOW, patience, move || read(of_reader));
    is_late.store(true, Ordering::Relaxed);
    read.flatten()
}

/// The worktree of a folder's repository. A repository can name any other folder as its worktree: that is not followed.
fn worktree(repository: &gix::Repository, folder: &Path) -> Option<PathBuf> {
    let place = fs::canonicalize(repository.workdir()?).ok()?;
    let own = fs::canonicalize(folder).ok()?;
    (own.starts_with(&place) && fs::symlink_metadata(place.join(".git")).is_ok()).then_some(place)
}

/// The branch and its last commit.
fn head(folder: &Path) -> Option<GitStatus> {
    let repository = with_objects(folder)?;
    worktree(&repository, folder)?;
    let head = repository.head().ok()?;
    let branch = head.referent_name().map(|name| short(name.as_bstr()));
    let id = head.id().map(gix::Id::detach);
    let commit = id.and_then(|id| {
        let is_small = repository.find_header(id).ok()?.size() <= LARGEST_COMMIT;
        let commit = is_small.then(|| repository.find_commit(id).ok()).flatten()?;
        let subject = commit.message().map(|message| text(message.summary().as_ref())).unwrap_or_default();
        Some((id.to_hex_with_len(8).to_string(), subject))
    });
    Some(GitStatus { branch, commit, upstream: None, changed: None })
}

/// The upstream of the branch.
fn upstream(folder: &Path, is_late: &AtomicBool) -> Option<Upstream> {
    let repository = with_objects(folder)?;
    worktree(&repository, folder)?;
    let head = repository.head().ok()?;
    let (name, id) = (head.referent_name()?, head.id()?.detach());
    let name = repository.branch_remote_tracking_ref_name(name, gix::remote::Direction::Fetch)?.ok()?;
    let other = repository.try_find_reference(name.as_ref()).ok()??.try_id()?.detach();
    let count = |from, hidden| {
        let walk = repository.rev_walk([from]).with_hidden([hidden]).all().ok()?;
        let mut commits = walk.take(MOST_COMMITS).take_while(Result::is_ok);
        commits.try_fold(0, |count, _| (!is_late.load(Ordering::Relaxed)).then_some(count + 1))
    };
    let name = text(name.as_bstr());
    let name = name.strip_prefix("refs/remotes/").map(str::to_owned).unwrap_or(name);
    Some(Upstream { name, ahead: count(id, other)?, behind: count(other, id)? })
}

/// A mode without the permission to execute.
fn kind(mode: Mode) -> Mode {
    if mode == Mode::FILE_EXECUTABLE { Mode::FILE } else { mode }
}

/// What is found.
struct Found {
    first: Vec<String>,
    count: usize,
    most: usize,
}

impl Found {
    fn push(&mut self, letters: [char; 2], path: &BStr) {
        self.count += 1;
        if self.first.len() < self.most {
            self.first.push(format!("{}{} {}", letters[0], letters[1], text(path)));
        }
    }
}

/// The search for changed paths.
struct Search<'a> {
    repository: &'a gix::Repository,
    /// The worktree.
    place: PathBuf,
    ignores: Ignores,
    is_late: Arc<AtomicBool>,
    found: Found,
}

impl Search<'_> {
    /// `None` if it is stopped, or something cannot be read.
    fn changed(mut self) -> Option<ChangedPaths> {
        let index = self.repository.index_or_empty().ok()?;
        let trusts_modes = self.repository.config_snapshot().boolean("core.fileMode").unwrap_or(true);
        let committed = self.committed()?;
        let mut committed: HashMap<&BStr, _> = match &committed {
            Some(tree) => {
                tree.entries().iter().map(|entry| (entry.path(tree), (entry.id, entry.mode))).collect()
            }
            None => HashMap::new(),
        };
        let mut tracked: Vec<&BStr> = Vec::with_capacity(index.entries().len());
        let mut lines: Vec<([char; 2], &BStr)> = Vec::new();
        let mut parent = (Path::new(""), true);
        for entry in index.entries() {
            self.in_time()?;
            // The files below such a folder are not in the index.
            if entry.mode.is_sparse() {
                return None;
            }
            let path = entry.path(&index);
            let folder = Path::new(OsStr::from_bytes(path)).parent().unwrap_or(Path::new(""));
            if folder != parent.0 {
                parent = (folder, self.is_real(folder));
            }
            let (now, before) = ((entry.id, entry.mode), committed.remove(path));
            // An unresolved conflict has two or three entries.
            if tracked.last() == Some(&path) {
                continue;
            }
            tracked.push(path);
            if entry.stage_raw() != 0 {
                lines.push((['U', 'U'], path));
                continue;
            }
            let staged = match before {
                _ if entry.flags.contains(Flags::INTENT_TO_ADD) => ' ',
                None => 'A',
                Some((_, mode)) if kind(mode) != kind(entry.mode) => 'T',
                Some(before) if before != now => 'M',
                Some(_) => ' ',
            };
            let is_elsewhere = entry.flags.intersects(Flags::SKIP_WORKTREE | Flags::ASSUME_VALID)
                || entry.mode.is_submodule();
            let changed = match is_elsewhere {
                true => ' ',
                false if !parent.1 => 'D',
                false => self.in_worktree(path, entry, &index, trusts_modes),
            };
            if (staged, changed) != (' ', ' ') {
                lines.push(([staged, changed], path));
            }
        }
        lines.extend(committed.into_keys().map(|path| (['D', ' '], path)));
        lines.sort_unstable_by_key(|(_, path)| *path);
        lines.into_iter().for_each(|(letters, path)| self.found.push(letters, path));
        self.new_below(&mut Vec::new(), &tracked, DEPTH)?;
        Some(ChangedPaths { first: self.found.first, count: self.found.count })
    }

    fn in_time(&self) -> Option<()> {
        (!self.is_late.load(Ordering::Relaxed)).then_some(())
    }

    /// The files of the last commit; `None` within before the first one.
    fn committed(&self) -> Option<Option<gix::index::File>> {
        match self.repository.head().ok()?.id() {
            Some(id) => {
                let tree = self.repository.find_commit(id).ok()?.tree_id().ok()?;
                Some(Some(self.repository.index_from_tree(&tree).ok()?))
            }
            None => Some(None),
        }
    }

    /// The letter for a tracked file in the worktree.
    fn in_worktree(
        &self,
        path: &BStr,
        entry: &gix::index::Entry,
        index: &gix::index::State,
        trusts_modes: bool,
    ) -> char {
        let path = Path::new(OsStr::from_bytes(path));
        let is_below = path.components().all(|part| matches!(part, Component::Normal(_)));
        let file = self.place.join(path);
        let found = fs::symlink_metadata(&file).ok().filter(|_| is_below);
        let (Some(found), Ok(stat)) = (found, Metadata::from_path_no_follow(&file)) else { return 'D' };
        let mode = match found.file_type() {
            kind if kind.is_symlink() => Mode::SYMLINK,
            kind if kind.is_file() && found.permissions().mode() & 0o100 != 0 => Mode::FILE_EXECUTABLE,
            kind if kind.is_file() => Mode::FILE,
            _ => return 'D',
        };
        let is_same_mode = mode == entry.mode || !trusts_modes && kind(mode) == kind(entry.mode);
        let is_same = is_same_mode && {
            let (options, now) = (gix::index::entry::stat::Options::default(), Stat::from_fs(&stat).ok());
            let is_proof = !entry.stat.is_racy(index.timestamp(), options);
            let is_unchanged = is_proof && now.is_some_and(|now| entry.stat.matches(&now, options));
            is_unchanged || self.id(&file, mode) == Some(entry.id)
        };
        match is_same {
            true => ' ',
            false if kind(mode) != kind(entry.mode) => 'T',
            false => 'M',
        }
    }

    /// Whether a folder of the worktree and all above it are folders: a link in their place may lead anywhere.
    fn is_real(&self, folder: &Path) -> bool {
        let mut folders = folder.ancestors().filter(|folder| !folder.as_os_str().is_empty());
        folders.all(|folder| fs::symlink_metadata(self.place.join(folder)).is_ok_and(|found| found.is_dir()))
    }

    /// The id of a file's bytes.
    fn id(&self, file: &Path, mode: Mode) -> Option<gix::ObjectId> {
        let kind = self.repository.object_hash();
        if mode == Mode::SYMLINK {
            let target = fs::read_link(file).ok()?;
            return gix::objs::compute_hash(kind, Kind::Blob, target.as_os_str().as_bytes()).ok();
        }
        let mut file = guard::regular(file)?;
        let mut hasher = gix::hash::hasher(kind);
        hasher.update(&gix::objs::encode::loose_header(Kind::Blob, file.metadata().ok()?.len()));
        let mut piece = vec![0; PIECE];
        loop {
            self.in_time()?;
            match file.read(&mut piece).ok()? {
                0 => return hasher.try_finalize().ok(),
                read => hasher.update(&piece[..read]),
            }
        }
    }

    /// Reports the new files of a folder, and new folders as a whole. `below` is its path with a slash at the end, or empty.
    fn new_below(&mut self, below: &mut Vec<u8>, tracked: &[&BStr], depth: usize) -> Option<()> {
        for (name, is_folder) in self.entries(below)? {
            self.in_time()?;
            let length = below.len();
            below.extend_from_slice(&name);
            let is_ignored = (self.ignores)(&self.place.join(OsStr::from_bytes(below)), is_folder);
            match is_folder {
                _ if is_ignored => {}
                false if tracked.binary_search(&below.as_bstr()).is_err() => {
                    self.found.push(['?', '?'], below.as_bstr());
                }
                false => {}
                true => {
                    below.push(b'/');
                    let at = tracked.partition_point(|path| **path < *below.as_bstr());
                    let is_tracked = tracked.get(at).is_some_and(|path| path.starts_with(below));
                    // A submodule, or a folder in the place of a tracked file, which git reports as deleted only.
                    let is_known = tracked.binary_search(&below[..below.len() - 1].as_bstr()).is_ok();
                    if is_tracked && depth > 0 {
                        self.new_below(below, tracked, depth - 1)?;
                    } else if !is_tracked && !is_known && self.has_files(below, depth)? {
                        self.found.push(['?', '?'], below.as_bstr());
                    }
                }
            }
            below.truncate(length);
        }
        Some(())
    }

    /// Whether a new folder has a file that is not ignored.
    fn has_files(&self, below: &[u8], depth: usize) -> Option<bool> {
        for (name, is_folder) in self.entries(below)? {
            self.in_time()?;
            let path = [below, &name].concat();
            let is_ignored = (self.ignores)(&self.place.join(OsStr::from_bytes(&path)), is_folder);
            let is_one = !is_ignored
                && (!is_folder || depth > 0 && self.has_files(&[&path[..], b"/"].concat(), depth - 1)?);
            if is_one {
                return Some(true);
            }
        }
        Some(false)
    }

    /// The names in a folder, sorted, without git's own; a folder that cannot be read has none.
    fn entries(&self, below: &[u8]) -> Option<Vec<(Vec<u8>, bool)>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(self.place.join(OsStr::from_bytes(below))).into_iter().flatten().flatten() {
            self.in_time()?;
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            let name = entry.file_name();
            if name != ".git" {
                names.push((name.as_bytes().to_vec(), is_folder));
            }
        }
        names.sort_unstable();
        Some(names)
    }
}
