//! A workspace's tree as captures see it: opened with the index of the last capture, captured, and moved on when the
//! capture has been kept.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use retake_core::{ContentHash, FilePath, Record};

use super::below;
use super::coverage::Uncovered;
use super::extras::{self, Look};
use super::fetch;
use super::findings::Findings;
use super::index::{Identity, Index, Known, Mark, Place, What, child};
use super::index_file;
use super::manifest;
use super::read;
use super::rules::{Limits, Parsed, Rules, is_git};
use super::settle::Settling;
use super::start;
use super::sweep::{self, Context, Found};
use crate::error::{Result, WorktreeError};
use crate::failpoint::failpoint;
use crate::objects::{Objects, hash};
use crate::root::Root;

/// What to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sweep {
    /// Everything.
    Whole,
    /// These folders, `None` being the root, and what is new in them; not the folders in them that are known. Every
    /// folder in which something came, went or changed has to be named, also one that is gone with all in it.
    Folders(Vec<Option<FilePath>>),
}

/// Whether very much that is new may be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// Not without [`WorktreeError::TooMuch`] having been answered.
    Ask,
    /// Yes.
    Granted,
}

/// How far a capture is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// So many folders have been looked at.
    Looked(u64),
    /// So many files have been read.
    Read {
        /// Up to now.
        done: u64,
        /// Of how many.
        of: u64,
    },
}

/// What a capture cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Folders that were listed.
    pub folders: u64,
    /// Names in them.
    pub names: u64,
    /// Files read because they looked changed.
    pub read: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Files read because their stamps could not tell.
    pub doubted: u64,
}

/// What one capture saw. The tree moves on by [`Tree::accept`].
#[derive(Clone, Debug)]
#[must_use = "keep its findings and its mark, then `accept` it; dropped, the next capture finds the same again"]
pub struct Capture {
    /// What changed.
    pub findings: Findings,
    /// All that is there and not covered, folders as one; of a [`note`](Tree::note) nothing.
    pub uncovered: Vec<Uncovered>,
    /// What it cost.
    pub stats: Stats,
    next: Arc<Index>,
    /// The index has the mark of the one before, and more recent stamps: it takes its place when it is accepted.
    refreshed: bool,
}

impl Capture {
    pub(crate) fn new(findings: Findings, uncovered: Vec<Uncovered>, stats: Stats, next: Arc<Index>) -> Self {
        Self { findings, uncovered, stats, next, refreshed: false }
    }

    /// What the tree is opened with next time, if this capture is the last one kept. The same as before when nothing was
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
}

/// Young files beyond these are trusted although a program may have them mapped; very many are young after a checkout,
/// and reading them all again for a minute would cost more than it finds.
const WARM_FILES: usize = 512;
const WARM_BYTES: u64 = 16 << 20;

impl Tree {
    /// Opens a workspace. `data_dir` is the folder for this workspace's index; it is there already, nobody else writes to
    /// it, and no capture covers it. `mark` is that of the last capture that was kept; without its index every file is
    /// read again, and the first capture finds no changes.
    ///
    /// # Errors
    /// The root is not there or not to be one; the data folder can't be used.
    pub fn open(
        root: &Path,
        data_dir: &Path,
        rules: Rules,
        objects: Arc<dyn Objects>,
        mark: Option<Mark>,
    ) -> Result<Self> {
        let identity = Identity::of(&Root::open(root)?);
        refuse(root, data_dir, &rules)?;
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
        };
        tree.doubt_what_is_missing();
        Ok(tree)
    }

    /// A file whose bytes the object store has not got is read again, and put.
    fn doubt_what_is_missing(&mut self) {
        let missing = |what: &What| match what.known() {
            Some(What::File(file)) => !self.objects.contains(&file.hash),
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
        if any {
            self.index = Arc::new(index);
        }
    }

    /// Whether the index of the last capture is at hand. If not, [`rebase`](Self::rebase) makes it from a manifest;
    /// otherwise the next capture is a first one.
    pub fn is_known(&self) -> bool {
        !self.index.folders.is_empty()
    }

    /// Takes a manifest for what the last capture saw. Every file is read again by the next one, which then finds what
    /// changed since. `mark` is that of the capture whose manifest it is.
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

    /// Looks at the tree. All bytes that it found are in the object store, synced, when it returns, and the index is on
    /// the disk beside the one before (where something was found). The tree itself is as it was until the capture is accepted.
    ///
    /// # Errors
    /// The root is gone or another folder; there is too much that is new; the object store or the data folder fails.
    /// Nothing changed then. A path that can't be read is no error.
    pub fn capture(
        &self,
        sweep: &Sweep,
        permission: Permission,
        progress: &(dyn Fn(Progress) + Sync),
    ) -> Result<Capture> {
        let root = self.open_root()?;
        self.pass(failpoint!("capture.opened"))?;
        let mut rules = self.rules.clone();
        rules.always.extend(self.index.always.iter().cloned());
        let context = Context {
            root: &root,
            own: &self.own,
            rules: &rules,
            index: &self.index,
            objects: &*self.objects,
            parsed: &self.parsed,
            warm_since: self.index.warm_since(WARM_FILES, WARM_BYTES),
            looked: &|folders| progress(Progress::Looked(folders)),
            not_enough: AtomicBool::new(false),
        };
        let (mut found, counts) = self.sweep(&context, sweep)?;
        self.pass(failpoint!("capture.swept"))?;
        let volume = fetch::volume(&found);
        let too_much = volume.files > rules.ask_files || volume.bytes > rules.ask_bytes;
        if too_much && permission == Permission::Ask {
            return Err(WorktreeError::TooMuch { files: volume.files, bytes: volume.bytes });
        }
        let of = volume.files + volume.doubted;
        fetch::fetch(&context, &mut found, &|done| progress(Progress::Read { done, of }))?;
        self.pass(failpoint!("capture.fetched"))?;
        let mut settling = Settling::all(&self.index, found);
        let extras = extras::look_at_all(&context, &mut settling, &read::into(&*self.objects))?;
        let (findings, folders, changed) = settling.finish();
        // Someone may have put another folder there meanwhile: then what was seen is not the workspace.
        self.open_root()?;
        self.pass(failpoint!("capture.looked"))?;
        let mut next = Index {
            identity: Identity::of(&root),
            mark: self.index.mark,
            limits: context.limits(),
            always: rules.always.clone(),
            folders,
            extras,
        };
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
        // Under the same mark the index before stays as it is, until this one is accepted.
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
        Ok(Capture { findings, uncovered, stats, next: Arc::new(next), refreshed })
    }

    fn pass(&self, passed: io::Result<()>) -> Result<()> {
        passed.map_err(WorktreeError::io("capture", &self.path))
    }

    fn sweep(&self, context: &Context<'_>, sweep: &Sweep) -> Result<(Vec<Found>, sweep::Counts)> {
        if let Sweep::Folders(named) = sweep
            && self.index.limits == context.limits()
            && self.index.always == context.rules.always
        {
            let jobs = start::folders(&self.index, named, &self.parsed, &*self.objects);
            let found = sweep::sweep(context, jobs)?;
            if !context.not_enough.load(Ordering::Relaxed) {
                return Ok(found);
            }
        }
        sweep::sweep(context, start::whole(&self.index))
    }

    /// The capture has been kept: the next one is compared with it.
    ///
    /// # Errors
    /// The data folder can't be tidied; the tree has moved on all the same.
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
        self.pass(failpoint!("capture.accepted"))?;
        Ok(capture.findings)
    }

    /// One path as it is now, read to its last byte; `None` is not there.
    ///
    /// # Errors
    /// What is there has no record: too large, unreadable, a device.
    pub fn record(&self, path: &FilePath) -> Result<Option<Record>> {
        self.record_with(path, &|bytes| Ok(hash(bytes)))
    }

    /// As [`record`](Self::record), and its bytes are put into the object store (which is not synced).
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
            Look::Absent => Ok(None),
            Look::Folder(record, _) => Ok(Some(record)),
            Look::Is(What::Uncovered(why) | What::Unknown(why, _)) => {
                Err(WorktreeError::NotCovered { path: path.clone(), why })
            }
            Look::Is(what) => Ok(what.record()),
        }
    }

    /// What the last capture knew of a path.
    pub fn known(&self, path: &FilePath) -> Known {
        self.index.known(path)
    }

    /// All that the last capture saw.
    pub fn records(&self) -> BTreeMap<FilePath, Record> {
        self.index.records()
    }

    /// Files of the last capture that have other names too, in or outside the workspace: replacing one breaks it off.
    pub fn hard_links(&self) -> Vec<FilePath> {
        let mut found = Vec::new();
        for (place, folder) in &self.index.folders {
            for entry in &folder.entries {
                if matches!(&entry.what, What::File(file) if file.signature.links > 1) {
                    found.extend(child(place.as_ref(), &entry.name));
                }
            }
        }
        found.sort();
        found
    }

    /// The objects that the index needs: what the next capture compares with. A collection must leave them.
    pub fn objects_in_use(&self) -> std::collections::BTreeSet<ContentHash> {
        self.index.claims()
    }

    /// Puts a manifest of what the last capture saw into the object store (which is not synced), and names it.
    ///
    /// # Errors
    /// The object store fails.
    pub fn manifest(&self) -> Result<ContentHash> {
        manifest::write(&self.index, &*self.objects)
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

/// Folders that are never roots (spec `rewind.md`, *Capture*).
fn refuse(root: &Path, data_dir: &Path, rules: &Rules) -> Result<()> {
    let refused = |why| Err(WorktreeError::RootRefused { path: root.to_owned(), why });
    let real = |path: &Path| fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let root_is = fs::canonicalize(root).map_err(WorktreeError::io("open", root))?;
    let is_own = |own: &Path| root_is.starts_with(real(own));
    if root_is.parent().is_none() {
        refused("it is the whole system")
    } else if rules.home.as_ref().is_some_and(|home| real(home).starts_with(&root_is)) {
        refused("it is the home folder, or holds it")
    } else if root_is.iter().any(|name| is_git(name.as_encoded_bytes())) || is_bare(&root_is) {
        refused("it belongs to git")
    } else if is_own(data_dir) || rules.own.as_deref().is_some_and(is_own) {
        refused("Retake keeps its own data there")
    } else {
        Ok(())
    }
}

fn is_bare(root: &Path) -> bool {
    root.join("HEAD").is_file() && root.join("objects").is_dir() && root.join("refs").is_dir()
}

/// What an index has as not covered.
fn uncovered(index: &Index) -> Vec<Uncovered> {
    let mut list = Vec::new();
    let mut add = |place: &Place, name: &[u8], what: &What| {
        if let What::Uncovered(why) | What::Unknown(why, _) = what {
            // Of a path that is too long the folder is named.
            let path = child(place.as_ref(), name).or_else(|| place.clone());
            list.extend(path.map(|path| Uncovered { path, why: *why }));
        }
    };
    for (place, folder) in &index.folders {
        for entry in &folder.entries {
            add(place, &entry.name, &entry.what);
        }
    }
    for (path, what) in &index.extras {
        if let Some(what) = what {
            add(&path.parent(), path.name(), what);
        }
    }
    list.retain(|one| index.covers(&one.path.parent()) || index.extras.contains_key(&one.path));
    list.sort_by(|a, b| a.path.cmp(&b.path));
    list.dedup();
    list
}
