//! Files: captures and attributes what calls change in a workspace, plans a step's file changes together with the
//! conversation, and carries them out in the same step (spec `rewind.md`).
//!
//! The store decides, `worktree` acts, and this module keeps their order: after a crash the next start finishes the step.

mod adoption;
mod ancestors;
mod apply;
mod as_of;
mod at_work;
mod attribution;
mod authors;
mod call_capture;
mod call_info;
mod capture_state;
mod carry_out;
mod compare;
mod conversation_folders;
mod diff;
mod doctor;
mod effects;
mod erase;
mod exec;
mod git;
mod git_hooks;
mod hard_links;
mod jobs;
mod known_folders;
mod moved_content;
mod moved_lines;
mod nested_repositories;
mod note;
mod options;
mod origin;
mod plan;
mod planned;
mod progress;
mod recover;
mod restore;
mod retention;
mod returning;
mod secrets;
mod status;
mod stop_run;
mod uncaptured;
mod workspace;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

use retake_core::WorkspaceNo;
use retake_worktree::{PackObjects, Rules};
use tokio::sync::OnceCell;
use tokio::task::JoinError;

pub use apply::{AppliedFiles, FolderDone};
pub use as_of::{NamedPath, PathsBelow, PointInTime};
use at_work::{ExclusiveGuard, FilesLock};
pub(crate) use call_capture::CapturedCall;
pub(crate) use call_info::name_of;
pub use call_info::{CallInfo, RequestedCall, Unfinished};
pub(crate) use conversation_folders::FurtherFolders;
pub use conversation_folders::{headed_in, named_in, shown_in};
pub use diff::ShownDiff;
pub use effects::{EffectShown, Effects, NoArguments};
pub use erase::{ErasePlan, ErasedRows, ObjectsErased};
pub use exec::{Exec, PERSON_COMMAND};
pub use git_hooks::put_back;
pub use known_folders::{FolderShown, PathShown};
pub use note::{FolderRemark, NotOpened, Note};
pub use options::FileOptions;
pub use origin::{DeltaOrigin, PlannedDeltas};
pub use planned::{FolderPlan, PlannedFiles, Running};
pub(crate) use progress::Work;
pub use progress::WorkInProgress;
pub use restore::Restore;
pub use retake_core::Scope;
pub use retention::{Prune, Pruned, Released};
pub use status::{ByCalls, FilesStatus, FolderStatus, Job};
pub use uncaptured::{CaptureFailure, Uncaptured, UnseenReason};
pub(crate) use workspace::Workspace;

use crate::error::{EngineError, Kind, Result};
use crate::settings::Retention;

/// Where files are stored, and the rules for them.
#[derive(Clone, Debug)]
pub struct FilesConfig {
    /// The data directory: objects and indexes are kept below it.
    pub data_dir: PathBuf,
    /// The rules for what captures cover.
    pub rules: Rules,
    /// How long and how much is stored.
    pub keep: Retention,
}

/// The open workspaces, and the objects of all of them.
pub(crate) struct Files {
    config: Option<FilesConfig>,
    objects: OnceCell<Arc<PackObjects>>,
    open: Mutex<HashMap<WorkspaceNo, Arc<tokio::sync::Mutex<Workspace>>>>,
    /// Joined by every holder of a workspace: it may name objects that are in no row yet.
    at_work: FilesLock,
    /// Captures since the last collection.
    captures: AtomicU64,
    /// The work in progress.
    work: Work,
}

impl Files {
    pub(crate) fn new(config: Option<FilesConfig>) -> Self {
        let (open, at_work, captures) = (Mutex::default(), FilesLock::default(), AtomicU64::new(0));
        let work = Work::default();
        Self { config, objects: OnceCell::new(), open, at_work, captures, work }
    }

    /// The person's home folder, if known.
    pub(crate) fn home(&self) -> Option<PathBuf> {
        self.config.as_ref().and_then(|config| config.rules.home.clone())
    }

    /// The work in progress.
    pub(crate) fn doing(&self) -> Option<WorkInProgress> {
        self.work.now()
    }

    /// How long captures without a name are kept.
    pub(crate) fn kept_for(&self) -> std::time::Duration {
        self.config.as_ref().map_or(Retention::default().retention, |config| config.keep.retention)
    }

    fn config(&self) -> Result<&FilesConfig> {
        self.config.as_ref().ok_or_else(|| {
            EngineError::new(
                Kind::Usage,
                "no_files",
                "this engine was started without a place to keep files in",
            )
        })
    }

    /// The object store, opened at its first use.
    async fn objects(&self) -> Result<Arc<PackObjects>> {
        let dir = self.config()?.data_dir.join("objects");
        let open = || async {
            let opened = blocking(move || PackObjects::open(dir)).await??;
            Ok::<_, EngineError>(Arc::new(opened))
        };
        self.objects.get_or_try_init(open).await.cloned()
    }

    /// The object store; none if nothing was ever stored.
    async fn objects_if_any(&self) -> Result<Option<Arc<PackObjects>>> {
        match &self.config {
            Some(config) if self.objects.initialized() || config.data_dir.join("objects").is_dir() => {
                self.objects().await.map(Some)
            }
            _ => Ok(None),
        }
    }

    /// Waits for all captures, plans and applies to end, and prevents new ones while the guard lives.
    async fn quiet(&self) -> ExclusiveGuard {
        self.at_work.alone().await
    }

    /// The folder of a workspace's index.
    fn index_dir(&self, no: WorkspaceNo) -> Result<PathBuf> {
        Ok(self.config()?.data_dir.join("workspaces").join(no.0.to_string()))
    }

    /// Whether no call is open and no workspace is held.
    fn is_idle(&self) -> bool {
        let open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.values().all(|workspace| workspace.try_lock().is_ok_and(|held| held.calls.is_idle()))
    }

    /// Closes a workspace. It is opened again from its index.
    fn close(&self, no: WorkspaceNo) {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).remove(&no);
    }

    fn opened(&self, no: WorkspaceNo) -> Option<Arc<tokio::sync::Mutex<Workspace>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).get(&no).cloned()
    }

    /// Registers an opened workspace. If two tasks opened it at once, the first one stays.
    fn keep(&self, workspace: Workspace) -> Arc<tokio::sync::Mutex<Workspace>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let no = workspace.no;
        Arc::clone(open.entry(no).or_insert_with(|| Arc::new(tokio::sync::Mutex::new(workspace))))
    }
}

/// Runs blocking disk work on another thread.
pub(crate) async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    let span = tracing::Span::current();
    retake_tools::blocking(move || span.in_scope(work)).await.map_err(aborted)
}

fn aborted(error: JoinError) -> EngineError {
    EngineError::new(Kind::Storage, "aborted", format!("the work on files broke off: {error}"))
        .with("what", "files")
        .with("detail", error.to_string())
}
