//! An open workspace: its root, its tree, and the calls that may change it.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::ops::{Deref, DerefMut};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use retake_core::{ContentHash, ConversationId, FilePath, Uncovered, WorkspaceInfo, WorkspaceNo};
use retake_store::{CallsSeen, NewCapture};
use retake_tools::{is_closed, processes};
use retake_worktree::{
    Capture, CaptureScope, Findings, FoundFiles, GitState, Mark, Objects as _, Permission, Root, RootId,
    RootLock, Tree,
};
use tokio::sync::OwnedMutexGuard;

use super::at_work::FilesGuard;
use super::attribution::{Attributed, Calls};
use super::git_hooks::{HooksAndSettings, Id};
use super::progress::{Work, WorkInProgress};
use super::{Files, blocking};
use crate::Engine;
use crate::error::{EngineError, Kind, Result};

/// The most set-uid and set-gid programs that are protected.
const MOST_PROGRAMS: usize = 1000;

/// An open workspace.
pub(crate) struct Workspace {
    /// Its number.
    pub(crate) no: WorkspaceNo,
    /// Its folder.
    pub(super) root: Root,
    /// The tree of the last capture.
    pub(super) tree: Tree,
    /// The calls that may change it.
    pub(super) calls: Calls,
    /// The last known state of its repository.
    pub(super) git: Option<GitState>,
    /// Hooks and settings of git there.
    pub(super) hooks: Hooks,
    /// Whether processes of a call still ran when the last call ended.
    pub(super) lingers: bool,
    /// Repositories that calls have created below it since it was opened.
    pub(super) made: HashSet<Id>,
    /// Files whose names suggest secrets, by the last capture.
    pub(super) picked: FoundFiles,
    programs: Programs,
    /// All files that were hidden for their names since the owner began: a command could have a folder left out of captures.
    pub(super) kept_back: BTreeSet<FilePath>,
    /// The mark of the last capture in the store.
    pub(super) mark_kept: Option<ContentHash>,
    /// Whether a call has ended in this process: then more calls are likely, and a watch is worth its cost.
    pub(super) called: bool,
    /// A step began in it and its end was not observed: the next holder finishes it first.
    pub(super) unsettled: bool,
    /// Receives the progress of work.
    work: Work,
}

impl Workspace {
    /// Set-uid and set-gid programs in it.
    pub(super) fn programs(&mut self) -> Vec<PathBuf> {
        let Programs { picked, seen } = &mut self.programs;
        seen.extend(self.tree.as_owner(picked).iter().cloned());
        let at = |path: &FilePath| self.root.path().join(OsStr::from_bytes(path.as_bytes()));
        let is_one = |path: &FilePath| {
            match at(path).symlink_metadata() {
                Ok(meta) => meta.is_file() && meta.mode() & (SETUID | SETGID) != 0,
                // A command may have made its folder unreadable.
                Err(error) => is_closed(&error),
            }
        };
        seen.retain(is_one);
        seen.iter().take(MOST_PROGRAMS).map(at).collect()
    }
}

/// Hooks and settings of git in a workspace.
#[derive(Default)]
pub(super) struct Hooks {
    /// Their last known state.
    pub(super) seen: HooksAndSettings,
    /// Their state at the end of the last call, or at the beginning of the next one.
    pub(super) reported: HooksAndSettings,
}

/// Set-uid and set-gid programs.
#[derive(Default)]
struct Programs {
    /// Those in the last capture.
    picked: FoundFiles,
    /// All since the owner began: a command could have a folder left out of captures.
    seen: BTreeSet<FilePath>,
}

/// The mode bits with which a program runs as its owner, or as its group.
const SETUID: u32 = 0o4000;
const SETGID: u32 = 0o2000;

/// Exclusive access to a workspace, which also keeps its objects from collection. Several are held under one guard, in the
/// order of their numbers (`HeldWorkspaces`).
pub(crate) struct HeldWorkspace {
    workspace: OwnedMutexGuard<Workspace>,
    _at_work: Arc<FilesGuard>,
}

impl Deref for HeldWorkspace {
    type Target = Workspace;

    fn deref(&self) -> &Workspace {
        &self.workspace
    }
}

impl DerefMut for HeldWorkspace {
    fn deref_mut(&mut self) -> &mut Workspace {
        &mut self.workspace
    }
}

impl Engine {
    /// The workspace of a conversation's folder.
    pub(super) async fn workspace(&self, conversation: ConversationId) -> Result<HeldWorkspace> {
        let (row, root) = self.own_workspace(conversation).await?;
        self.hold(row, root, self.files.at_work().await).await
    }

    /// The same, without holding it.
    pub(super) async fn own_workspace(&self, conversation: ConversationId) -> Result<(WorkspaceInfo, Root)> {
        let folder = self.folder_of(conversation).await?;
        let folder = folder.ok_or_else(|| {
            EngineError::new(Kind::Refused, "no_folder", "this conversation works in no folder")
                .with("what", "conversation")
        })?;
        self.workspace_row_at(folder).await
    }

    /// The workspace of the folder at a path.
    pub(super) async fn workspace_row_at(&self, path: PathBuf) -> Result<(WorkspaceInfo, Root)> {
        let root = {
            let path = path.clone();
            blocking(move || Root::open(&path)).await??
        };
        let RootId { dev, ino } = root.id();
        let row =
            self.store().workspace(path.as_os_str().as_bytes().to_vec(), (dev, ino), self.now()).await?;
        Ok((row, root))
    }

    /// The workspace of a row, if its folder exists and is the same one. It is not repaired: an interrupted step stays as it
    /// is.
    pub(super) async fn workspace_of(&self, row: WorkspaceInfo) -> Result<HeldWorkspace> {
        let root = self.root_of(&row).await?;
        self.hold_as_it_is(row, root, self.files.at_work().await).await
    }

    /// The root of a row, if its folder exists and is the same one.
    pub(super) async fn root_of(&self, row: &WorkspaceInfo) -> Result<Root> {
        let path = PathBuf::from(std::ffi::OsString::from_vec(row.root.clone()));
        let (dev, ino) = row.identity;
        Ok(blocking(move || Root::open_known(&path, RootId { dev, ino })).await??)
    }

    /// Holds a workspace. An interrupted step in it is finished first, so that no work is done on top of it.
    pub(super) async fn hold(
        &self,
        row: WorkspaceInfo,
        root: Root,
        at_work: Arc<FilesGuard>,
    ) -> Result<HeldWorkspace> {
        let held = self.hold_as_it_is(row, root, at_work).await?;
        if held.unsettled { self.settle_left(held).await } else { Ok(held) }
    }

    async fn hold_as_it_is(
        &self,
        row: WorkspaceInfo,
        root: Root,
        at_work: Arc<FilesGuard>,
    ) -> Result<HeldWorkspace> {
        let opened = match self.files.opened(row.no) {
            Some(opened) => opened,
            None => {
                let mut jobs = self.store().open_calls().await?;
                jobs.retain(|call| call.workspace == row.no);
                let cut_off = self.cut_off(&jobs).await?;
                let left = self.store().intents().await?.iter().any(|intent| intent.workspace == row.no);
                let opened = self.files.open_tree(row, root, Calls::after_restart(jobs, cut_off)).await?;
                self.files.keep(Workspace { unsettled: left, ..opened })
            }
        };
        Ok(HeldWorkspace { workspace: opened.lock_owned().await, _at_work: at_work })
    }

    /// Captures, and attributes the changes: to open calls, to jobs of earlier calls, or to no call. A capture with a name
    /// is stored even without changes.
    pub(super) async fn capture(
        &self,
        held: HeldWorkspace,
        name: Option<String>,
    ) -> Result<(HeldWorkspace, Findings)> {
        self.capture_where(held, CaptureScope::Whole, name).await
    }

    /// The same with a given sweep. Between calls only the places that the watch names may be captured; at the end of a
    /// turn, before an apply and on request it is the whole folder.
    pub(super) async fn capture_where(
        &self,
        held: HeldWorkspace,
        sweep: CaptureScope,
        name: Option<String>,
    ) -> Result<(HeldWorkspace, Findings)> {
        let (held, findings, _) = self.capture_all(held, sweep, name).await?;
        Ok((held, findings))
    }

    /// The same; also returns the uncovered paths.
    pub(super) async fn capture_all(
        &self,
        held: HeldWorkspace,
        sweep: CaptureScope,
        name: Option<String>,
    ) -> Result<(HeldWorkspace, Findings, Vec<Uncovered>)> {
        let over = held.calls.ended(is_alive);
        let (mut held, mut capture) = see(held, sweep, Permission::Ask).await?;
        let uncovered = std::mem::take(&mut capture.uncovered);
        self.keep_capture(&mut held, &capture, name, over).await?;
        let findings = accept(&mut held, capture)?;
        Ok((held, findings, uncovered))
    }

    /// Stores the changes of a capture, and its name. `over` are the jobs that had ended before it.
    pub(super) async fn keep_capture(
        &self,
        held: &mut HeldWorkspace,
        capture: &Capture,
        name: Option<String>,
        over: Vec<String>,
    ) -> Result<()> {
        self.files.captures.fetch_add(1, Ordering::Relaxed);
        let mark = capture.mark().0;
        let Attributed { unowned, owned } = held.calls.attribute(&capture.findings);
        if name.is_some() || held.mark_kept != Some(mark) {
            let calls = CallsSeen { owned, over: over.clone() };
            // A capture with a name is stored with a manifest.
            let manifest = match name {
                Some(_) => Some(self.manifest_of(held, capture).await?),
                None => None,
            };
            let new = NewCapture { time: self.now(), name, changes: unowned, calls, mark, manifest };
            self.store().captured(held.no, new).await?;
        } else if !over.is_empty() {
            self.store().forget_calls(held.no, over.clone()).await?;
        }
        held.calls.forget(&over);
        Ok(())
    }

    /// The manifest of a capture, as an object.
    async fn manifest_of(&self, held: &HeldWorkspace, capture: &Capture) -> Result<ContentHash> {
        let objects = self.files.objects().await?;
        let manifest = held.tree.manifest_of(capture)?;
        blocking(move || objects.sync()).await??;
        Ok(manifest)
    }
}

/// Whether a call has running processes.
pub(super) fn is_alive(call: &str) -> bool {
    !processes::alive(call).is_empty()
}

/// Captures the tree.
pub(super) async fn see(
    held: HeldWorkspace,
    sweep: CaptureScope,
    permission: Permission,
) -> Result<(HeldWorkspace, Capture)> {
    let (held, seen) = blocking(move || {
        let watched = if held.called { held.tree.watch() } else { Ok(()) };
        let busy = held.work.begin(WorkInProgress::Looking { folders: 0 });
        let tell = |progress| busy.captures(progress);
        let seen = watched.and_then(|()| held.tree.capture(&sweep, permission, &tell));
        drop(busy);
        (held, seen)
    })
    .await?;
    Ok((held, seen?))
}

/// Accepts a capture after it was stored.
pub(super) fn accept(held: &mut HeldWorkspace, capture: Capture) -> Result<Findings> {
    held.mark_kept = Some(capture.mark().0);
    Ok(held.tree.accept(capture)?)
}

/// Locks the root against other processes.
pub(super) async fn lock(held: HeldWorkspace) -> Result<(HeldWorkspace, RootLock)> {
    let (held, locked) = blocking(move || {
        let locked = held.root.lock();
        (held, locked)
    })
    .await?;
    Ok((held, locked?))
}

impl Files {
    async fn open_tree(&self, row: WorkspaceInfo, root: Root, calls: Calls) -> Result<Workspace> {
        let config = self.config()?;
        let objects = self.objects().await?;
        let data = self.index_dir(row.no)?;
        let rules = config.rules.clone();
        let path = root.path().to_owned();
        let mark = row.mark.map(Mark);
        let tree = blocking(move || {
            private_folder(&data)?;
            Tree::open(&path, &data, rules, objects as Arc<dyn retake_worktree::Objects>, mark)
                .map_err(EngineError::from)
        })
        .await??;
        // A lost index is created again: then changes in between are not known.
        let mark_kept = row.mark.filter(|_| tree.is_known());
        Ok(Workspace {
            no: row.no,
            root,
            tree,
            calls,
            git: None,
            hooks: Hooks::default(),
            lingers: false,
            made: HashSet::new(),
            picked: FoundFiles::default(),
            programs: Programs::default(),
            kept_back: BTreeSet::new(),
            mark_kept,
            called: false,
            unsettled: false,
            work: self.work.clone(),
        })
    }
}

/// A folder that only its owner can read.
fn private_folder(path: &Path) -> Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|error| {
        let what = format!("can't make the folder {}", path.display());
        let failure = EngineError::new(Kind::Storage, "storage", what)
            .with("path", path)
            .with("attempt", "make the folder");
        EngineError { cause: Some(Arc::new(error)), ..failure }
    })
}
