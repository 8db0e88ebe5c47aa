//! The folders that conversations work in: what is stored of each, what captures cover there, and how a folder is forgotten.
//! Forgetting must never change the folder itself or a message.

use std::collections::{BTreeSet, HashMap};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use futures::future::BoxFuture;

use retake_core::{
    Capture, Choice, Chosen, ConversationId, FilePlan, ListRequest, PathPlan, Remedy, Time, UncoveredReason,
    WorkspaceInfo, WorkspaceNo,
};
use retake_store::Claimant;
use retake_worktree::{CaptureScope, KnownPath, Permission};

use super::blocking;
use super::conversation_folders::shown_in;
use super::workspace::{HeldWorkspace, accept, is_alive, see};
use crate::Engine;
use crate::error::{EngineError, Kind, Result};

/// The most captures that are counted at once.
const PAGE: usize = 256;

/// A folder, as it is shown.
#[derive(Clone, Debug)]
pub struct FolderShown {
    /// Its row.
    pub row: WorkspaceInfo,
    /// Why it cannot be used, if so.
    pub away: Option<EngineError>,
    /// Conversations that work in it, or whose calls have changed something there.
    pub conversations: Vec<ConversationId>,
    /// The number of stored captures.
    pub captures: u64,
    /// Those with a name, newest first.
    pub checkpoints: Vec<Capture>,
    /// The number of calls with stored changes.
    pub calls: u64,
    /// The number of file versions that are named here; others may name them too.
    pub versions: u64,
    /// Their bytes, before compression.
    pub bytes: u64,
    /// Whether a step on its files is not settled.
    pub unsettled: bool,
    /// Larger files are not covered; in bytes.
    pub max_file: u64,
    /// Larger ignored files are not covered; in bytes.
    pub max_ignored: u64,
    /// Files in the folder that captures do not cover; empty while the folder is gone.
    pub uncovered: Vec<PathShown>,
}

/// A path that is not covered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathShown {
    /// The path.
    pub path: String,
    /// The reason.
    pub why: UncoveredReason,
}

impl Engine {
    /// The workspace with this number or folder. If several have this path, the one that exists, or the last one.
    pub async fn folder(&self, name: &str) -> Result<WorkspaceNo> {
        let rows = self.store().workspaces().await?;
        let number = name.parse::<u64>().ok().map(WorkspaceNo);
        if let Some(row) = rows.iter().find(|row| Some(row.no) == number) {
            return Ok(row.no);
        }
        let path = PathBuf::from(name);
        // A missing folder's path can only be normalised as text.
        let real = std::fs::canonicalize(&path).unwrap_or_else(|_| plain(&path));
        let here =
            |row: &&WorkspaceInfo| [name.as_bytes(), real.as_os_str().as_bytes()].contains(&&*row.root);
        let found = rows.iter().filter(here).max_by_key(|row| (is_there(row), row.no));
        found.map(|row| row.no).ok_or_else(|| {
            EngineError::new(Kind::NotFound, "unknown_workspace", format!("there is no workspace {name}"))
                .with("workspace", name)
                .remedies([Remedy::WorkspaceList])
        })
    }

    /// What is known of a workspace. Captures its folder if it exists.
    pub fn show_folder(&self, no: WorkspaceNo) -> BoxFuture<'_, Result<FolderShown>> {
        Box::pin(async move {
            let row = self.workspace_row(no).await?;
            let mut shown = self.kept_of(row.clone()).await?;
            if shown.unsettled {
                return Ok(shown);
            }
            match self.workspace_of(row).await {
                Err(error) => shown.away = Some(error),
                Ok(held) => {
                    let over = held.calls.ended(is_alive);
                    let (mut held, capture) = see(held, CaptureScope::Whole, Permission::Ask).await?;
                    let uncovered = capture.uncovered.iter();
                    let path =
                        |one: &retake_core::Uncovered| PathShown { path: one.path.to_string(), why: one.why };
                    shown.uncovered = uncovered.map(path).collect();
                    self.keep_capture(&mut held, &capture, None, over).await?;
                    accept(&mut held, capture)?;
                }
            }
            Ok(shown)
        })
    }

    /// Forgets a workspace: its captures, the changes of calls and operations there, and its index.
    pub async fn forget_folder(&self, no: WorkspaceNo) -> Result<FolderShown> {
        let quiet = self.files.quiet().await;
        let row = self.workspace_row(no).await?;
        let shown = self.kept_of(row).await?;
        if shown.unsettled && shown.away.is_none() {
            let what = "a step in this folder is not finished";
            return Err(EngineError::new(Kind::Refused, "unsettled", what)
                .with("what", "step")
                .remedies([Remedy::DoctorMend]));
        }
        if !self.files.is_idle() {
            let what = "a command is running in a workspace";
            return Err(EngineError::new(Kind::Refused, "run_active", what).with("what", "command"));
        }
        self.store().forget_workspace(no).await?;
        self.files.close(no);
        let dir = self.files.index_dir(no)?;
        // The index is created again when it is needed: leftovers do no harm.
        if let Err(error) = blocking(move || std::fs::remove_dir_all(dir)).await?
            && error.kind() != std::io::ErrorKind::NotFound
        {
            let cause = tracing::field::debug(error.kind());
            tracing::warn!(cause, "the index of a forgotten folder stays");
        }
        drop(quiet);
        Ok(shown)
    }

    async fn workspace_row(&self, no: WorkspaceNo) -> Result<WorkspaceInfo> {
        let rows = self.store().workspaces().await?;
        rows.into_iter().find(|row| row.no == no).ok_or_else(|| {
            EngineError::new(Kind::NotFound, "unknown_workspace", format!("there is no workspace {}", no.0))
                .with("workspace", no.0.to_string())
                .remedies([Remedy::WorkspaceList])
        })
    }

    /// The stored rows of a workspace.
    async fn kept_of(&self, row: WorkspaceInfo) -> Result<FolderShown> {
        let mut conversations: BTreeSet<ConversationId> = BTreeSet::new();
        let (mut calls, mut versions) = (BTreeSet::new(), HashMap::new());
        for claim in self.store().claims().await?.into_iter().filter(|claim| claim.workspace == row.no) {
            versions.insert(claim.object, claim.len);
            match claim.by {
                Claimant::Call(id, no) => {
                    conversations.insert(id);
                    calls.insert((id, no));
                }
                Claimant::Op(id, _) => drop(conversations.insert(id)),
                Claimant::Capture(_) | Claimant::Checkpoint(_) => {}
            }
        }
        let folder = String::from_utf8(row.root.clone()).ok();
        if folder.is_some() {
            let list = ListRequest { folder, limit: usize::MAX, ..ListRequest::default() };
            conversations.extend(self.store().list(list).await?.into_iter().map(|summary| summary.id));
        }
        let (captures, checkpoints) = self.captures_of(row.no).await?;
        let unsettled = self.store().intents().await?.iter().any(|intent| intent.workspace == row.no);
        let away = if is_there(&row) { None } else { self.root_of(&row).await.err() };
        let rules = &self.files.config()?.rules;
        Ok(FolderShown {
            away,
            conversations: conversations.into_iter().collect(),
            captures,
            checkpoints,
            calls: calls.len() as u64,
            versions: versions.len() as u64,
            bytes: versions.values().sum(),
            unsettled,
            max_file: rules.max_file,
            max_ignored: rules.max_ignored,
            uncovered: Vec::new(),
            row,
        })
    }

    async fn captures_of(&self, no: WorkspaceNo) -> Result<(u64, Vec<Capture>)> {
        let (mut count, mut named, mut before) = (0, Vec::new(), None);
        loop {
            let page = self.store().captures(no, before, PAGE).await?;
            let Some(last) = page.last() else { return Ok((count, named)) };
            before = Some(last.no);
            count += page.len() as u64;
            named.extend(page.into_iter().filter(|row| row.name.is_some()));
        }
    }

    /// The time since which the changes of calls and operations are kept; `None` means since the beginning.
    pub async fn files_kept_since(&self) -> Result<Option<Time>> {
        Ok(self.store().kept_since().await?)
    }
}

/// Refuses a step if another file system is mounted over files that it would revert: they cannot be reached, and the others are
/// not reverted without them. With the choice to skip them, the step continues.
pub(super) fn refuse_mounted(
    held: &HeldWorkspace,
    plan: &FilePlan,
    folder: Option<&Path>,
    chosen: &Chosen,
) -> Result<()> {
    let is_mounted = |path: &&PathPlan| {
        let known = held.tree.known(&path.path);
        matches!(known, KnownPath::NotCovered(UncoveredReason::OtherFileSystem))
            && !chosen.paths.contains_key(&path.path)
    };
    let Some(path) = plan.paths.iter().find(is_mounted) else { return Ok(()) };
    let path = shown_in(folder, &path.path);
    let what = format!("another file system is mounted over {path}, which this step would take back");
    let error = EngineError::new(Kind::Refused, "other_file_system", what).with("path", path);
    Err(error.remedies([Remedy::ChooseFiles(vec![Choice::Skip]), Remedy::WithoutFiles]))
}

/// A path without `.` and `..`.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => drop(plain.pop()),
            part => plain.push(part),
        }
    }
    plain
}

/// Whether the folder of a workspace exists and is the same one.
fn is_there(row: &WorkspaceInfo) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let path = Path::new(std::ffi::OsStr::from_bytes(&row.root));
    std::fs::metadata(path).is_ok_and(|meta| (meta.dev(), meta.ino()) == row.identity)
}
