//! The folders of a conversation: its own and further ones. It decides which of them captures cover, and how several are held at
//! once. Must never lock two in another order than that of their numbers, or two tasks could wait for each other.

use std::collections::BTreeSet;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use retake_core::{Action, ConversationId, FilePath, Remedy, WorkspaceInfo, WorkspaceNo};
use retake_store::WantedFiles;
use retake_worktree::{Root, RootLock, WorktreeError};

use super::at_work::FilesGuard;
use super::note::Note;
use super::options::FileOptions;
use super::workspace::{HeldWorkspace, lock};
use super::{Files, blocking};
use crate::Engine;
use crate::error::{EngineError, Kind, OTHER_FOLDER, Result};

/// The further folders of a conversation.
#[derive(Clone, Debug, Default)]
pub(crate) struct FurtherFolders {
    /// Those that captures cover, without links on the way: changes there can be reverted.
    pub(crate) kept: Vec<PathBuf>,
    /// The others, with the reason.
    pub(crate) others: Vec<(PathBuf, EngineError)>,
}

/// Workspaces of a conversation, held at once, in the order of their numbers.
pub(super) struct HeldWorkspaces {
    /// The conversation's own.
    pub(super) own: WorkspaceNo,
    pub(super) all: Vec<HeldWorkspace>,
}

impl HeldWorkspaces {
    /// The conversation's own.
    pub(super) fn own(&self) -> &HeldWorkspace {
        self.all.iter().find(|held| held.no == self.own).expect("BUG: its own is among them")
    }
}

impl Engine {
    /// The further folders of a conversation in this folder, by the current settings. One inside another of its folders is
    /// covered with that one and not reported.
    pub(crate) async fn further(&self, own: &Path) -> Result<FurtherFolders> {
        let listed = self.parts().agent.as_ref().map(|agent| agent.roots.clone()).unwrap_or_default();
        if listed.is_empty() {
            return Ok(FurtherFolders::default());
        }
        let config = match self.files.config() {
            Ok(config) => config.clone(),
            Err(error) => {
                let others = listed.into_iter().map(|folder| (folder, error.clone())).collect();
                return Ok(FurtherFolders { kept: Vec::new(), others });
            }
        };
        let own = own.to_owned();
        blocking(move || {
            let own = std::fs::canonicalize(&own).unwrap_or(own);
            let (mut further, mut found) = (FurtherFolders::default(), Vec::new());
            for folder in listed {
                match std::fs::canonicalize(&folder).and_then(|real| std::fs::read_dir(&real).map(|_| real)) {
                    Ok(real) => found.push((real, folder)),
                    Err(error) => {
                        let why = cannot_look(&folder, &error);
                        further.others.push((folder, why));
                    }
                }
            }
            // A folder comes before the folders that it contains.
            found.sort();
            for (real, folder) in found {
                let mut all = std::iter::once(&own).chain(&further.kept);
                if all.any(|kept| real.starts_with(kept)) {
                    continue;
                }
                if own.starts_with(&real) {
                    let why = "it contains the conversation's own folder, which would be captured twice";
                    let why = EngineError::new(Kind::Refused, "no_workspace", why)
                        .with("what", "holds_own_folder")
                        .with("path", &*folder);
                    further.others.push((folder, why));
                } else if let Err(error) = retake_worktree::refuse(&real, &config.data_dir, &config.rules) {
                    further.others.push((folder, error.into()));
                } else {
                    further.kept.push(real);
                }
            }
            further
        })
        .await
    }

    /// Why the conversation's folder is never captured: no call may change anything there.
    pub(crate) async fn never_captured(&self, conversation: ConversationId) -> Result<Option<EngineError>> {
        match self.folder_of(conversation).await? {
            Some(folder) => self.refuses_folder(folder).await.map(|refused| refused.map(EngineError::from)),
            None => Ok(None),
        }
    }

    /// Why a folder can't be a workspace, so that an agent may change nothing there. `None` if it can be one, or is not there.
    ///
    /// # Errors
    /// The check did not end.
    pub async fn never_a_workspace(&self, folder: PathBuf) -> Result<Option<EngineError>> {
        if self.parts().agent.is_none() {
            return Ok(None);
        }
        let refused = self.refuses_folder(folder).await?;
        Ok(refused.filter(|why| matches!(why, WorktreeError::RootRefused { .. })).map(EngineError::from))
    }

    async fn refuses_folder(&self, folder: PathBuf) -> Result<Option<WorktreeError>> {
        let Ok(config) = self.files.config().cloned() else { return Ok(None) };
        blocking(move || retake_worktree::refuse_known(&folder, &config.data_dir, &config.rules).err()).await
    }

    /// The further folders of a conversation: the current ones, and those where it has changed something.
    pub(super) async fn further_known(&self, conversation: ConversationId) -> Result<Vec<PathBuf>> {
        let own = self.folder_of(conversation).await?.unwrap_or_default();
        let mut folders: BTreeSet<PathBuf> = self.further(&own).await?.kept.into_iter().collect();
        let deltas = self.store().deltas(conversation).await?;
        let nos: BTreeSet<WorkspaceNo> = deltas.iter().map(|(line, _)| line.workspace).collect();
        if nos.len() > 1 {
            let rows = self.store().workspaces().await?.into_iter().filter(|row| nos.contains(&row.no));
            folders.extend(rows.map(|row| PathBuf::from(std::ffi::OsString::from_vec(row.root))));
        }
        folders.remove(&own);
        Ok(folders.into_iter().collect())
    }

    /// The conversation's folder and these further ones.
    pub(super) async fn workspaces(
        &self,
        conversation: ConversationId,
        further: &[PathBuf],
    ) -> Result<HeldWorkspaces> {
        let own = self.own_workspace(conversation).await?;
        let mut rows = Vec::new();
        for folder in further {
            rows.push(self.workspace_row_at(folder.clone()).await?);
        }
        self.hold_all(own, rows).await
    }

    /// The conversation's folder, and the workspaces with these numbers. One whose folder is gone is skipped with a note. If the
    /// path holds another folder, the step is refused: files and messages go together or not at all.
    pub(super) async fn workspaces_with(
        &self,
        conversation: ConversationId,
        nos: &BTreeSet<WorkspaceNo>,
    ) -> Result<(HeldWorkspaces, Vec<Note>)> {
        let own = self.own_workspace(conversation).await?;
        let (mut found, mut gone) = (Vec::new(), Vec::new());
        if nos.iter().any(|no| *no != own.0.no) {
            for row in self.store().workspaces().await? {
                if nos.contains(&row.no) && row.no != own.0.no {
                    match self.root_of(&row).await {
                        Ok(root) => found.push((row, root)),
                        Err(error) if error.code == OTHER_FOLDER => {
                            return Err(error.remedies([Remedy::WithoutFiles]));
                        }
                        Err(error) => gone.push(Note::FolderGone {
                            folder: PathBuf::from(std::ffi::OsString::from_vec(row.root)),
                            why: (error.kind != Kind::NotFound).then(|| error.into()),
                        }),
                    }
                }
            }
        }
        Ok((self.hold_all(own, found).await?, gone))
    }

    /// The conversation's folder and those where an action, or the wanted files, would change something.
    pub(super) async fn concerned(
        &self,
        conversation: ConversationId,
        action: &Action,
        options: &FileOptions,
    ) -> Result<(HeldWorkspaces, Vec<Note>)> {
        let mut nos = BTreeSet::new();
        if let Some(restore) = &options.restore {
            for folder in restore.paths.iter().filter_map(|named| named.folder.clone()) {
                nos.insert(self.workspace_row_at(folder).await?.0.no);
            }
            return self.workspaces_with(conversation, &nos).await;
        }
        match self.store().wanted(conversation, action.clone()).await?.files {
            WantedFiles::Path(lines) => {
                let unsettled =
                    lines.iter().filter(
                        |(line, wanted)| {
                            if *wanted { line.applied < line.paths } else { line.applied > 0 }
                        },
                    );
                nos.extend(unsettled.map(|(line, _)| line.workspace));
            }
            WantedFiles::Back { reversed, without, .. } => {
                for op in reversed {
                    let moved = self.store().moved(conversation, op).await?;
                    nos.extend(moved.into_iter().map(|moved| moved.workspace));
                }
                nos.extend(without.iter().map(|line| line.workspace));
            }
        }
        // Their processes may still change files.
        let calls = self.store().open_calls().await?.into_iter();
        nos.extend(calls.filter(|call| call.conversation == conversation).map(|call| call.workspace));
        self.workspaces_with(conversation, &nos).await
    }

    /// Holds several workspaces under one guard: a waiting collection cannot come between them.
    async fn hold_all(
        &self,
        own: (WorkspaceInfo, Root),
        others: Vec<(WorkspaceInfo, Root)>,
    ) -> Result<HeldWorkspaces> {
        let no = own.0.no;
        let mut rows: Vec<_> = others.into_iter().chain([own]).collect();
        rows.sort_by_key(|(row, _)| row.no);
        rows.dedup_by_key(|(row, _)| row.no);
        let all =
            self.hold_each(rows.into_iter().map(Ok).collect()).await.into_iter().collect::<Result<_>>()?;
        Ok(HeldWorkspaces { own: no, all })
    }

    /// Holds each workspace that can be held, in the order of their numbers.
    pub(super) async fn hold_each(
        &self,
        rows: Vec<Result<(WorkspaceInfo, Root)>>,
    ) -> Vec<Result<HeldWorkspace>> {
        let at_work = self.files.at_work().await;
        let mut all = Vec::new();
        for row in rows {
            all.push(match row {
                Ok((row, root)) => self.hold(row, root, Arc::clone(&at_work)).await,
                Err(error) => Err(error),
            });
        }
        all
    }

    /// Captures all of them completely.
    pub(super) async fn capture_each(
        &self,
        held: HeldWorkspaces,
        name: Option<&str>,
    ) -> Result<HeldWorkspaces> {
        let mut all = Vec::new();
        for one in held.all {
            all.push(self.capture(one, name.map(str::to_owned)).await?.0);
        }
        Ok(HeldWorkspaces { all, ..held })
    }
}

impl Files {
    /// Prevents collections while this lives.
    pub(super) async fn at_work(&self) -> Arc<FilesGuard> {
        self.at_work.join().await
    }
}

/// Locks the roots of all of them against other processes.
pub(super) async fn lock_each(held: HeldWorkspaces) -> Result<(HeldWorkspaces, Vec<RootLock>)> {
    let (mut all, mut locks) = (Vec::new(), Vec::new());
    for one in held.all {
        let (one, locked) = lock(one).await?;
        all.push(one);
        locks.push(locked);
    }
    Ok((HeldWorkspaces { all, ..held }, locks))
}

/// Why a further folder cannot be captured.
fn cannot_look(folder: &Path, error: &std::io::Error) -> EngineError {
    let (kind, code) = match error.kind() {
        std::io::ErrorKind::NotFound => (Kind::NotFound, "folder_missing"),
        _ => (Kind::Storage, "file"),
    };
    EngineError::new(kind, code, error.to_string())
        .with("path", folder)
        .with("detail", error.to_string())
        .with("what", "root")
}

/// The bytes of a path's name: relative in the conversation's own folder, absolute in others.
pub fn named_in(folder: Option<&Path>, path: &FilePath) -> Vec<u8> {
    match folder {
        None => path.as_bytes().to_vec(),
        Some(folder) => [folder.as_os_str().as_bytes(), b"/", path.as_bytes()].concat(),
    }
}

/// The same, for people: invalid UTF-8 and terminal control characters are escaped.
pub fn shown_in(folder: Option<&Path>, path: &FilePath) -> String {
    match folder {
        None => path.to_string(),
        Some(_) => format!("/{}", headed_in(folder, path)),
    }
}

/// The same, as the header of a diff has it: absolute, without the leading slash.
pub fn headed_in(folder: Option<&Path>, path: &FilePath) -> FilePath {
    let bytes = named_in(folder, path);
    // A workspace's folder never has a name that no path can have.
    FilePath::new(bytes.strip_prefix(b"/").unwrap_or(&bytes)).unwrap_or_else(|_| path.clone())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use retake_core::FilePath;

    use super::{named_in, shown_in};

    #[test]
    fn a_path_of_another_folder_is_named_from_the_top() {
        let path = FilePath::new(b"a/\xff\x1b").unwrap();
        assert_eq!(named_in(None, &path), b"a/\xff\x1b");
        assert_eq!(named_in(Some(Path::new("/b c")), &path), b"/b c/a/\xff\x1b");
        assert_eq!(shown_in(None, &path), path.to_string());
        assert_eq!(shown_in(Some(Path::new("/b c")), &path), format!("/b c/{path}"));
    }
}
