//! Files: what calls do to a workspace is captured and attributed, planned with the conversation, and put back as one
//! step with it (design, section 2; spec `rewind.md`).
//!
//! The store decides, `worktree` acts, and this keeps the order of the two: whatever a crash leaves is finished at the next
//! start.

mod again;
mod apply;
mod attribute;
mod exec;
mod git;
mod jobs;
mod look;
mod plan;
mod processes;
mod recover;
mod workspace;

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};

use retake_store::WorkspaceNo;
use retake_worktree::{PackObjects, Rules};
use tokio::sync::OnceCell;

pub use apply::FilesApplied;
pub use exec::Exec;
pub use plan::{FilesPlanned, FilesWish, Running, Scope};
pub(crate) use workspace::Workspace;

use crate::error::{EngineError, Kind, Result};

/// Where and how files are kept.
#[derive(Clone, Debug)]
pub struct FilesConfig {
    /// The data directory: objects and indexes are kept below it.
    pub data_dir: PathBuf,
    /// What captures cover.
    pub rules: Rules,
}

/// The workspaces that are open, and the objects of all of them.
pub(crate) struct Files {
    config: Option<FilesConfig>,
    objects: OnceCell<Arc<PackObjects>>,
    open: Mutex<HashMap<WorkspaceNo, Arc<tokio::sync::Mutex<Workspace>>>>,
}

impl Files {
    pub(crate) fn new(config: Option<FilesConfig>) -> Self {
        Self { config, objects: OnceCell::new(), open: Mutex::default() }
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

    /// The object store, opened when it is first needed.
    async fn objects(&self) -> Result<Arc<PackObjects>> {
        let dir = self.config()?.data_dir.join("objects");
        let open = || async {
            let opened = blocking(move || PackObjects::open(dir)).await??;
            Ok::<_, EngineError>(Arc::new(opened))
        };
        self.objects.get_or_try_init(open).await.cloned()
    }

    fn opened(&self, no: WorkspaceNo) -> Option<Arc<tokio::sync::Mutex<Workspace>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner).get(&no).cloned()
    }

    /// Keeps an opened workspace; where two were opened at once, the first one stays.
    fn keep(&self, workspace: Workspace) -> Arc<tokio::sync::Mutex<Workspace>> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let no = workspace.no;
        Arc::clone(open.entry(no).or_insert_with(|| Arc::new(tokio::sync::Mutex::new(workspace))))
    }
}

/// Does what waits for the disk, beside everything else.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T> {
    let done = tokio::task::spawn_blocking(work).await;
    done.map_err(|error| {
        EngineError::new(Kind::Storage, "aborted", format!("the work on files broke off: {error}"))
    })
}
