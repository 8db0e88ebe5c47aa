//! A workspace's tree in captures: opened with the index of the last capture, captured, and advanced when the capture was
//! stored.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use retake_core::{ContentHash, FilePath, Record, Uncovered};

use super::asked::{CaptureScope, Permission, Progress, Stats};
use super::below;
use super::coverage::uncovered;
use super::extras::{self, PathState};
use super::fetch;
use super::findings::Findings;
use super::index::{Identity, Index, KnownPath, Mark, NameState, Place};
use super::index_file;
use super::manifest;
use super::read;
use super::refuse::{refuse, refuse_known};
use super::rules::{Limits, Parsed, Rules};
use super::settle::Comparison;
use super::start;
use super::sweep::{self, ChangedFolder, Context};
use super::watch::Watching;
use crate::error::{Result, WorktreeError};
use crate::failpoint::failpoint;
use crate::objects::{Objects, hash};
use crate::root::Root;

/// What a capture has read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReadScope {
    Everywhere,
    /// In the folders that the watch named.
    Watched,
    /// The folders that the caller named.
    Named,
    /// Only paths that were written.
    Nowhere,
}

/// The result of one capture. [`Tree::accept`] advances the tree to it.
#[derive(Clone, Debug)]
#[must_use = "keep its findings and its mark, then `accept` it; dropped, the next capture finds the same again"]
pub struct Capture {
    /// The changes.
    pub findings: Findings,
    /// All existing paths that are not covered, a folder as one; empty for a [`note`](Tree::note).
    pub uncovered: Vec<Uncovered>,
    /// Its cost.
    pub stats: Stats,
    pub(super) next: Arc<Index>,
    /// Whether the index has the mark of the one before, and newer stamps: it replaces that one when it is accepted.
    refreshed: bool,
    looked: ReadScope,
    /// The file clock before it began.
    began: i64,
}

impl Capture {
    /// A capture of written paths only.
    pub(crate) fn noted(findings: Findings, next: Arc<Index>) -> Self {
        Self {
            findings,
            uncovered: Vec::new(),
            stats: Stats::default(),
            next,
            refreshed: false,
            looked: ReadScope::Nowhere,
            began: 0,
        }
    }

    /// The mark for opening the tree next time, if this capture is the last one stored. The same as before if nothing was
    /// found.
    pub fn mark(&self) -> Mark {
        self.next.mark
    }
}

/// A workspace's tree.
pub struct Tree {
    path: PathBuf,
    pub(crate) data_dir: PathBuf,
    own: Vec<(u64, u64)>,
    pub(crate) rules: Rules,
    pub(crate) objects: Arc<dyn Objects>,
    parsed: Parsed,
    pub(crate) index: Arc<Index>,
    watching: Mutex<Watching>,
    /// When the last capture began, if it did not read everything.
    since: Option<i64>,
    /// Folders below the root that contain a repository, since the tree was opened.
    pub(crate) git: Mutex<BTreeSet<FilePath>>,
}

/// Young files beyond these limits are trusted although a program may have them mapped: reading very many again would be too
/// expensive.
const WARM_FILES: usize = 512;
const WARM_BYTES: u64 = 16 << 20;

impl Tree {
    /// Opens a workspace. `data_dir` is the existing folder for this workspace's index; nobody else writes to it, and no
    /// capture covers it. `mark` is that of the last stored capture; without its index every file is read again, and the first
    /// capture finds no changes.
    ///
    /// # Errors
    /// The root does not exist or is refused; the data folder cannot be used.
    pub fn open(
        root: &Path,
        data_dir: &Path,
        rules: Rules,
        objects: Arc<dyn Objects>,
        mark: Option<Mark>,
    ) -> Result<Self> {
        let identity = Identity::of(&Root::open(root)?);
        match mark {
            Some(_) => refuse_known(root, data_dir, &rules)?,
            None => refuse(root, data_dir, &rules)?,
        }
        let mut own = Vec::new();
        for folder in [Some(data_dir), rules.own.as_deref()].into_iter().flatten() {
            let meta = fs::metadata(folder).map_err(WorktreeError::io("open the data folder", folder))?;
            own.push((meta.dev(), meta.ino()));
        }
        let limits = Limits { file: rules.max_file, ignored: rules.max_ignored };
        let loaded = mark.and_then(|mark| index_file::load(data_dir, mark));
        let kept = loaded.is_some();
        let index = loaded.unwrap_or_else(|| Index {
            identity,
            mark: Mark(hash(format!("{identity:?} {}", below::stamp()).as_bytes())),
            limits,
            always: Default::default(),
            folders: Default::default(),
            extras: BTreeMap::new(),
            gone: BTreeMap::new(),
        });
        index_file::remove_others(data_dir, mark.filter(|_| kept))?;
        let mut tree = Self {
            path: root.to_owned(),
            data_dir: data_dir.to_owned(),
            own,
            rules,
            objects,
            parsed: Parsed::default(),
            index: Arc::new(index),
            watching: Mutex::default(),
            since: None,
            git: Mutex::default(),
        };
        tree.doubt_what_is_missing();
        Ok(tree)
    }

    /// A file whose bytes are missing in the object store is read and stored again.
    fn doubt_what_is_missing(&mut self) {
        let missing = |what: &NameState| match what.known() {
            Some(NameState::File(file)) => !self.objects.contains(&file.hash),
            _ => false,
        };
        let mut index = (*self.index).clone();
        let mut any = false;
        for folder in index.folders.values_mut() {
            if folder.entries.iter().any(|entry| missing(&entry.what)) {
                any = true;
                for entry in &mut Arc::make_mut(folder).entries {
                    if missing(&entry.what) {
                        entry.what.lose();
                    }
                }
            }
        }
        for what in index.extras.values_mut().flatten() {
            if missing(what) {
                any = true;
                what.lose();
            }
        }
        // A version that cannot be created again needs no attributes.
        let known = index.gone.len();
        index.gone.retain(|(_, hash, _), _| hash.is_none_or(|hash| self.objects.contains(&hash)));
        if any || index.gone.len() < known {
            self.index = Arc::new(index);
        }
    }

    /// Whether the index of the last capture is available. If not, [`rebase`](Self::rebase) makes it from a manifest;
    /// otherwise the next capture is a first one.
    pub fn is_known(&self) -> bool {
        !self.index.folders.is_empty()
    }

    /// Uses a manifest as the state of the last capture. The next capture reads every file again and finds the changes since.
    /// `mark` is that of the manifest's capture.
    ///
    /// # Errors
    /// The manifest is not in the object store, or damaged.
    pub fn rebase(&mut self, manifest: ContentHash, mark: Mark) -> Result<()> {
        let whole = manifest::read(&*self.objects, manifest)?;
        let mut index = (*self.index).clone();
        index.mark = mark;
        index.folders = whole.folders;
        index.extras = whole.extras.into_iter().map(|(path, what)| (path, Some(what))).collect();
        index.always.extend(index.extras.keys().cloned());
        self.index = Arc::new(index);
        self.doubt_what_is_missing();
        Ok(())
    }

    pub(crate) fn open_root(&self) -> Result<Root> {
        let root = Root::open(&self.path)?;
        if Identity::of(&root).is(&self.index.identity) {
            Ok(root)
        } else {
            Err(WorktreeError::RootOther(self.path.clone()))
        }
    }

    /// Captures the tree. When it returns, all new bytes are in the object store, synced, and the index is on disk beside the
    /// one before (if something was found). The tree itself is unchanged until the capture is accepted.
    ///
    /// # Errors
    /// The root is gone or replaced; there is too much new content; the object store or the data folder fails. Nothing changed
    /// then. An unreadable path is no error.
    pub fn capture(
        &self,
        sweep: &CaptureScope,
        permission: Permission,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Capture> {
        let root = self.open_root()?;
        self.pass(failpoint!("capture.opened"))?;
        let mut rules = self.rules.clone();
        rules.always.extend(self.index.always.iter().cloned());
        // Before the sweep: later events belong to the next capture.
        let watched = self.watching().named().map(|hint| ((ReadScope::Watched, hint.folders), hint.links));
        let began = below::stamp();
        let (named, links) = match (sweep, watched) {
            (CaptureScope::Whole, _) | (CaptureScope::Watched, None) => (None, None),
            (CaptureScope::Watched, Some((named, links))) => (Some(named), Some(links)),
            (CaptureScope::Folders(named), _) => (Some((ReadScope::Named, named.clone())), None),
        };
        let context = Context {
            root: &root,
            own: &self.own,
            rules: &rules,
            index: &self.index,
            objects: &*self.objects,
            parsed: &self.parsed,
            warm_since: self.index.warm_since(WARM_FILES, WARM_BYTES),
            looked: &|folders| progress(Progress::Looked(folders)),
            links,
            not_enough: AtomicBool::new(false),
            git: &self.git,
        };
        let (looked, (mut found, counts)) = self.sweep(&context, named)?;
        self.pass(failpoint!("capture.swept"))?;
        let volume = fetch::volume(&found);
        let too_much = volume.files > rules.ask_files || volume.bytes > rules.ask_bytes;
        if too_much && permission == Permission::Ask {
            return Err(WorktreeError::TooMuch { files: volume.files, bytes: volume.bytes });
        }
        let of = volume.files + volume.doubted;
        fetch::fetch(&context, &mut found, &|done| progress(Progress::Read { done, of }))?;
        self.pass(failpoint!("capture.fetched"))?;
        let mut settling = Comparison::all(&self.index, self.since, found);
        let extras = extras::look_at_all(&context, &mut settling, &read::into(&*self.objects))?;
        let (findings, folders, changed) = settling.finish();
        // Somebody may have put another folder there meanwhile: then the result is not of the workspace.
        self.open_root()?;
        self.pass(failpoint!("capture.looked"))?;
        let mut next = Index {
            identity: Identity::of(&root),
            mark: self.index.mark,
            limits: context.limits(),
            always: rules.always.clone(),
            folders,
            extras,
            gone: self.index.gone.clone(),
        };
        next.remember_all(&self.index, &findings);
        let changed = changed
            || !findings.is_empty()
            || next.identity != self.index.identity
            || next.limits != self.index.limits
            || next.always != self.index.always
            || next.extras != self.index.extras;
        let is_first = !self.is_known();
        if is_first {
            next.mark.0 = hash(format!("{:?} {}", self.index.mark, below::stamp()).as_bytes());
        } else if !findings.is_empty() {
            next.mark.0 = hash(&[self.index.mark.0.0.as_slice(), &findings.encode()].concat());
        }
        if changed {
            self.objects.sync()?;
            self.pass(failpoint!("capture.synced"))?;
        }
        // Under the same mark the earlier index stays, until this capture is accepted.
        let refreshed = changed && next.mark == self.index.mark;
        if changed && !refreshed {
            index_file::save(&self.data_dir, &next)?;
            self.pass(failpoint!("capture.saved"))?;
        }
        let stats = Stats {
            folders: counts.folders,
            names: counts.names,
            read: volume.files,
            bytes: volume.bytes,
            doubted: volume.doubted,
        };
        let uncovered = uncovered(&next);
        Ok(Capture { findings, uncovered, stats, next: Arc::new(next), refreshed, looked, began })
    }

    fn pass(&self, passed: io::Result<()>) -> Result<()> {
        passed.map_err(WorktreeError::io("capture", &self.path))
    }

    fn watching(&self) -> MutexGuard<'_, Watching> {
        self.watching.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sweep(
        &self,
        context: &Context<'_>,
        named: Option<(ReadScope, Vec<Place>)>,
    ) -> Result<(ReadScope, (Vec<ChangedFolder>, sweep::Counts))> {
        if let Some((looked, named)) = named
            && self.index.limits == context.limits()
            && self.index.always == context.rules.always
        {
            let jobs = start::folders(&self.index, &named, &self.parsed, &*self.objects);
            let found = sweep::sweep(context, jobs)?;
            if !context.not_enough.load(Ordering::Relaxed) {
                return Ok((looked, found));
            }
        }
        Ok((ReadScope::Everywhere, sweep::sweep(context, start::whole(&self.index))?))
    }

    /// Watches the folders from now on, so that captures can read only those in which something happened. This pays off for
    /// many captures of a large tree. If the system does not permit it, every capture reads the whole tree.
    ///
    /// # Errors
    /// The root is gone or replaced.
    pub fn watch(&self) -> Result<()> {
        let root = self.open_root()?;
        self.watching().begin(&root, &self.index);
        Ok(())
    }

    /// Accepts a stored capture: the next one is compared with it.
    ///
    /// # Errors
    /// The data folder cannot be tidied; the tree has advanced anyway.
    pub fn accept(&mut self, capture: Capture) -> Result<Findings> {
        self.pass(failpoint!("capture.kept"))?;
        let moved = self.index.mark != capture.next.mark;
        self.index = capture.next;
        if capture.refreshed {
            index_file::save(&self.data_dir, &self.index)?;
        }
        if moved {
            index_file::remove_others(&self.data_dir, Some(self.index.mark))?;
        }
        if capture.looked != ReadScope::Nowhere {
            self.since = (capture.looked != ReadScope::Everywhere).then_some(capture.began);
        }
        let mut watching = self.watching();
        match watching.is_on().then(|| self.open_root()) {
            Some(Ok(root)) => {
                let answered = matches!(capture.looked, ReadScope::Everywhere | ReadScope::Watched);
                watching.kept(&root, &self.index, answered);
            }
            Some(Err(_)) => *watching = Watching::Never,
            None => {}
        }
        drop(watching);
        self.pass(failpoint!("capture.accepted"))?;
        Ok(capture.findings)
    }

    /// The current record of one path, read completely; `None` if it does not exist.
    ///
    /// # Errors
    /// It has no record: too large, unreadable, a device.
    pub fn record(&self, path: &FilePath) -> Result<Option<Record>> {
        self.record_with(path, &|bytes| Ok(hash(bytes)))
    }

    /// As [`record`](Self::record), and stores its bytes in the object store (which is not synced).
    ///
    /// # Errors
    /// As for `record`.
    pub fn keep(&self, path: &FilePath) -> Result<Option<Record>> {
        self.record_with(path, &read::into(&*self.objects))
    }

    fn record_with(
        &self,
        path: &FilePath,
        keep: &dyn Fn(&[u8]) -> Result<ContentHash>,
    ) -> Result<Option<Record>> {
        let root = self.open_root()?;
        match extras::look(&root, path, self.rules.max_file, None, keep)? {
            PathState::Absent => Ok(None),
            PathState::Folder(seen) => Ok(Some(seen.record())),
            PathState::Is(NameState::Uncovered(why) | NameState::Unknown(why, _)) => {
                Err(WorktreeError::NotCovered { path: path.clone(), why })
            }
            PathState::Is(what) => Ok(what.record()),
        }
    }

    /// The state of a path at the last capture.
    pub fn known(&self, path: &FilePath) -> KnownPath {
        self.index.known(path)
    }

    /// All records of the last capture.
    pub fn records(&self) -> BTreeMap<FilePath, Record> {
        self.index.records()
    }

    /// Files of the last capture with several hard links, in or outside of the workspace: replacing one separates it.
    pub fn hard_links(&self) -> Vec<FilePath> {
        self.index.hard_links()
    }

    /// The objects that the index needs for the next comparison. A collection must keep them.
    pub fn objects_in_use(&self) -> std::collections::BTreeSet<ContentHash> {
        self.index.claims()
    }

    /// The same for a workspace that is not open: for the index of that mark in its data folder. Empty without such an index:
    /// then nothing is compared with it.
    pub fn objects_kept(data_dir: &Path, mark: Mark) -> std::collections::BTreeSet<ContentHash> {
        index_file::load(data_dir, mark).map(|index| index.claims()).unwrap_or_default()
    }
}

impl std::fmt::Debug for Tree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tree")
            .field("path", &self.path)
            .field("mark", &self.index.mark)
            .finish_non_exhaustive()
    }
}
