//! Named points in time of a folder: before a turn, an earlier head, a checkpoint. Also file names as a person types them. Must never
//! guess: an ambiguous name is refused.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use futures::future::BoxFuture;

use retake_core::{
    Action, BadFilePath, Capture, ConversationId, EntryId, FilePath, Head, Remedy, WorkspaceNo,
};
use retake_store::NeededFiles;

use crate::Engine;
use crate::error::{EngineError, Kind, Result};

/// A point in time of a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PointInTime {
    /// Before this entry was appended.
    Before(EntryId),
    /// The state at this head.
    Head(Head),
    /// A checkpoint: the captures with this name, one in each folder that has it.
    Checkpoint(Vec<(WorkspaceNo, Capture)>),
}

/// Paths in the folders of a conversation; each includes everything below it.
pub type PathsBelow = Vec<NamedPath>;

/// A path of one of the folders of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamedPath {
    /// The folder; none for the conversation's own.
    pub folder: Option<PathBuf>,
    /// The path in it; none for the folder itself.
    pub path: Option<FilePath>,
}

/// Those of these paths that are in this folder.
pub(super) fn named_below(below: &PathsBelow, folder: Option<&Path>) -> Vec<Option<FilePath>> {
    let here = below.iter().filter(|named| named.folder.as_deref() == folder);
    here.map(|named| named.path.clone()).collect()
}

/// Whether a path is one of these, or below one.
pub(super) fn is_below(path: &FilePath, below: &[Option<FilePath>]) -> bool {
    below.iter().any(|folder| folder.as_ref().is_none_or(|folder| path.is_within(folder)))
}

impl Engine {
    /// The files that the path wanted at a point in time, adopted changes included. None if the conversation never had that point.
    pub(super) async fn wanted_at(
        &self,
        of: ConversationId,
        point: &PointInTime,
    ) -> Result<Option<NeededFiles>> {
        match point {
            PointInTime::Before(entry) => Ok(Some(self.store().wanted_before(of, *entry).await?)),
            PointInTime::Head(head) => Ok(Some(self.store().wanted(of, Action::Restore(*head)).await?)),
            PointInTime::Checkpoint(_) => Ok(None),
        }
    }

    /// The point in time with this name: a head, a checkpoint (by name, or `#N` by its number) or before an entry. Without a name,
    /// before the last turn.
    pub fn as_of<'a>(
        &'a self,
        conversation: ConversationId,
        name: Option<&'a str>,
    ) -> BoxFuture<'a, Result<PointInTime>> {
        Box::pin(async move {
            let Some(name) = name else {
                let turns = self.store().summary(conversation).await?.counts.turns;
                let last = self.store().turn(conversation, turns).await?;
                let none = || {
                    EngineError::new(
                        Kind::Refused,
                        "no_turn",
                        "there is no turn yet that could be gone back to",
                    )
                };
                return last.map(PointInTime::Before).ok_or_else(none);
            };
            if let Ok(head) = name.parse() {
                return Ok(PointInTime::Head(head));
            }
            let held = self.workspace(conversation).await?;
            if let Some(number) = name.strip_prefix('#').and_then(|number| number.parse::<u64>().ok()) {
                let found = self.store().captures(held.no, Some(number.saturating_add(1)), 1).await?;
                let found = found.into_iter().find(|row| row.no == number && row.manifest.is_some());
                let found = found.map(|row| PointInTime::Checkpoint(vec![(held.no, row)]));
                return found.ok_or_else(|| no_checkpoint(name));
            }
            let found = self.store().checkpoint(held.no, name.to_owned()).await?;
            let own = held.no;
            drop(held);
            let entry = self.entry(conversation, name).await;
            match (found, entry) {
                (Some(row), Ok(_)) => {
                    let what = format!("“{name}” is a message and a checkpoint");
                    Err(EngineError::new(Kind::Usage, "ambiguous_point", what)
                        .with("name", name)
                        .with("checkpoint", row.no))
                }
                (Some(row), Err(_)) if row.manifest.is_some() => {
                    let mut rows = vec![(own, row)];
                    for folder in self.further_known(conversation).await? {
                        // A folder that is gone has no checkpoints to return to.
                        if let Ok((workspace, _)) = self.workspace_row_at(folder).await {
                            let found = self.store().checkpoint(workspace.no, name.to_owned()).await?;
                            rows.extend(found.map(|row| (workspace.no, row)));
                        }
                    }
                    Ok(PointInTime::Checkpoint(rows))
                }
                (Some(_), Err(_)) => Err(no_checkpoint(name)),
                (None, Ok(entry)) => Ok(PointInTime::Before(entry)),
                (None, Err(error)) => Err(self.unknown_point(own, name, error).await?),
            }
        })
    }

    /// Why a name is no point in time here. A checkpoint of another folder is reported as such.
    async fn unknown_point(
        &self,
        here: retake_core::WorkspaceNo,
        name: &str,
        error: EngineError,
    ) -> Result<EngineError> {
        for other in self.store().workspaces().await?.into_iter().filter(|row| row.no != here) {
            if self.store().checkpoint(other.no, name.to_owned()).await?.is_some() {
                let root = String::from_utf8_lossy(&other.root).into_owned();
                let what = format!("“{name}” is a checkpoint of another folder, {root}");
                return Ok(EngineError::new(Kind::NotFound, "foreign_checkpoint", what)
                    .with("checkpoint", name)
                    .with("folder", root));
            }
        }
        if error.code != "unknown_entry" {
            return Ok(error);
        }
        let what = format!("there is no checkpoint and no message “{name}”");
        let error = EngineError::new(Kind::NotFound, "unknown_point", what).with("name", name);
        Ok(error.remedies([Remedy::FilesLog, Remedy::Log]))
    }

    /// Converts typed names to paths: relative ones are in the conversation's own folder, absolute ones in any of its folders.
    /// Without a name, all of its folders.
    pub async fn paths(&self, conversation: ConversationId, names: Vec<Vec<u8>>) -> Result<PathsBelow> {
        let root = self.folder_of(conversation).await?.unwrap_or_default();
        let absolute = names.is_empty() || names.iter().any(|name| name.starts_with(b"/"));
        let further = if absolute { self.further_known(conversation).await? } else { Vec::new() };
        if names.is_empty() {
            let folders = std::iter::once(None).chain(further.into_iter().map(Some));
            return Ok(folders.map(|folder| NamedPath { folder, path: None }).collect());
        }
        names.into_iter().map(|name| path_in(&root, &further, &name)).collect()
    }
}

/// A path of the conversation's own folder, or of a further one.
fn path_in(root: &Path, further: &[PathBuf], name: &[u8]) -> Result<NamedPath> {
    let own = path_below(root, name).map(|path| NamedPath { folder: None, path });
    let elsewhere = own.is_err() && name.starts_with(b"/");
    let mut others = further.iter().filter(|_| elsewhere).filter_map(|folder| {
        let path = path_below(folder, name).ok()?;
        Some(NamedPath { folder: Some(folder.clone()), path })
    });
    others.next().map_or(own, Ok)
}

fn no_checkpoint(name: &str) -> EngineError {
    let what = format!("“{name}” is not a checkpoint: only a named checkpoint keeps a complete state");
    EngineError::new(Kind::NotFound, "unknown_checkpoint", what)
        .with("checkpoint", name)
        .remedies([Remedy::FilesLog])
}

/// A path below the root, or the root itself.
fn path_below(root: &Path, name: &[u8]) -> Result<Option<FilePath>> {
    let typed = Path::new(OsStr::from_bytes(name));
    let real = std::fs::canonicalize(root);
    let inside = if typed.is_absolute() {
        let of_root = |root: &Path| typed.strip_prefix(root).ok().map(Path::to_owned);
        let found = of_root(root).or_else(|| real.ok().and_then(|real| of_root(&real)));
        found.ok_or_else(|| outside(typed, root))?
    } else {
        typed.to_owned()
    };
    let bytes = inside.as_os_str().as_bytes();
    if !name.is_empty() && bytes.split(|byte| *byte == b'/').all(|part| matches!(part, b"" | b".")) {
        return Ok(None);
    }
    FilePath::new(bytes).map(Some).map_err(|error| bad(&error))
}

fn bad(error: &BadFilePath) -> EngineError {
    EngineError::new(Kind::Usage, "bad_path", error.to_string())
        .with("path", error.path())
        .with("what", error.why().name())
}

fn outside(path: &Path, root: &Path) -> EngineError {
    let what = format!("{} is outside of {}", path.display(), root.display());
    EngineError::new(Kind::Usage, "bad_path", what)
        .with("path", path)
        .with("folder", root)
        .with("what", "outside")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_one_path_are_one_and_what_is_outside_is_refused() {
        let root = Path::new("/no/such/root");
        let below = |name: &str| path_below(root, name.as_bytes());
        for form in ["a/b", "./a/b", "/no/such/root/a/b", "a//b/"] {
            assert_eq!(below(form).unwrap().unwrap().as_bytes(), b"a/b", "{form}");
        }
        for form in [".", "./", "/no/such/root", "/no/such/root/"] {
            assert_eq!(below(form).unwrap(), None, "{form}");
        }
        for bad in ["", "..", "a/../b", "/etc/passwd", "/no/such/root2", "/no/such/root/../x", ".git/config"]
        {
            assert_eq!(below(bad).unwrap_err().code, "bad_path", "{bad}");
        }
    }
}
