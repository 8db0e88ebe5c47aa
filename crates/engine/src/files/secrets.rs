//! Files of a workspace whose names suggest secrets: commands and MCP servers must not read them. Also set-uid and set-gid
//! programs: they must not change those.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use retake_core::{FilePath, WorkspaceInfo};
use retake_tools::{Guard, Guarded, is_closed};
use retake_worktree::tracked;

use super::blocking;
use super::workspace::HeldWorkspace;
use crate::Engine;
use crate::error::Result;

impl Engine {
    /// The same for a folder in which lasting programs are about to start: it is captured first if there is no capture yet.
    pub(crate) async fn secret_files_first(&self, folder: &Path, guarded: &Guarded) -> Result<Vec<PathBuf>> {
        let roots = [folder.to_owned()];
        let rows = self.store().workspaces().await?;
        if self.files.config.is_some() && !rows.iter().any(|row| row.root == folder.as_os_str().as_bytes()) {
            let (row, root) = self.workspace_row_at(folder.to_owned()).await?;
            let held = self.hold(row, root, self.files.at_work().await).await?;
            self.capture(held, None).await?;
        }
        self.secret_files(&roots, guarded).await
    }

    /// The files in these folders that are hidden because of their names, by the last captures. A file that git tracks unchanged
    /// is not among them: the repository contains it anyway, and git itself must read and replace it.
    pub(crate) async fn secret_files(&self, roots: &[PathBuf], guarded: &Guarded) -> Result<Vec<PathBuf>> {
        let mut secret = Vec::new();
        // Only looked up: creating a row would be a commit.
        let rows = if roots.is_empty() { Vec::new() } else { self.store().workspaces().await? };
        for root in roots {
            let Some(mut held) = self.hold_known(&rows, root).await? else { continue };
            let held = &mut *held;
            let is_refused =
                |name: &[u8]| guarded.guard_name(OsStr::from_bytes(name)) == Some(Guard::Refused);
            held.kept_back.extend(held.tree.named(is_refused, &mut held.picked).iter().cloned());
            let named: Vec<FilePath> = held.kept_back.iter().cloned().collect();
            if named.is_empty() {
                continue;
            }
            let folder = root.clone();
            let look = move || {
                let at = |path: &FilePath| folder.join(OsStr::from_bytes(path.as_bytes()));
                // A command may have made its folder unreadable.
                let is_there = |path: &FilePath| match at(path).symlink_metadata() {
                    Ok(meta) => meta.is_file(),
                    Err(error) => is_closed(&error),
                };
                let (there, gone): (Vec<_>, Vec<_>) = named.into_iter().partition(is_there);
                let is_tracked = tracked(&folder, &there);
                let untracked = there.iter().zip(is_tracked).filter(|(_, is_tracked)| !is_tracked);
                (untracked.map(|(path, _)| at(path)).collect(), gone)
            };
            let (untracked, gone) = blocking::<(Vec<PathBuf>, Vec<FilePath>)>(look).await?;
            held.kept_back.retain(|path| !gone.contains(path));
            secret.extend(untracked);
        }
        Ok(secret)
    }

    /// The set-uid and set-gid programs in a folder, by the last capture; none without a capture.
    pub(crate) async fn programs_in(&self, folder: &Path) -> Result<Vec<PathBuf>> {
        let rows = self.store().workspaces().await?;
        let held = self.hold_known(&rows, folder).await?;
        Ok(held.map(|mut held| held.programs()).unwrap_or_default())
    }

    /// Holds the workspace of a folder, if there is one.
    async fn hold_known(&self, rows: &[WorkspaceInfo], folder: &Path) -> Result<Option<HeldWorkspace>> {
        let known = rows.iter().find(|row| row.root == folder.as_os_str().as_bytes());
        let Some(row) = known.cloned() else { return Ok(None) };
        let root = self.root_of(&row).await?;
        Ok(Some(self.hold(row, root, self.files.at_work().await).await?))
    }
}
