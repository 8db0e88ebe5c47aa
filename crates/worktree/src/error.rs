//! What can go wrong with files: what was attempted, on what; the cause is the source.

use std::io;
use std::path::PathBuf;

use retake_core::{ContentHash, FilePath, WhyNot};

/// Short for a result of this crate.
pub type Result<T, E = WorktreeError> = std::result::Result<T, E>;

/// Why something with files didn't work.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorktreeError {
    /// The system refused.
    #[error("can't {attempt} {}", path.display())]
    Io {
        /// What was attempted, as in "can't … PATH".
        attempt: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// The object store does not have what a record names.
    #[error("the object {0} is not in the object store")]
    Missing(ContentHash),
    /// An object's bytes are not what its name says. They are never handed out.
    #[error("the object {0} is damaged in the object store")]
    Damaged(ContentHash),
    /// The object store is locked, by another process or by this one.
    #[error("the object store {} is in use; end the program that has it open", .0.display())]
    InUse(PathBuf),
    /// The object store was written by a newer program.
    #[error("{} has format {version}, which this version does not know; use the newer one that wrote it", path.display())]
    OtherFormat {
        /// The file.
        path: PathBuf,
        /// Its version.
        version: u32,
    },
    /// A sync failed earlier; from then on nothing is taken.
    #[error("an earlier write to the object store {} did not reach the disk; check the disk and start again", .0.display())]
    NotDurable(PathBuf),
    /// The root of a workspace is gone. What is open on it stays open.
    #[error("the workspace's folder {} is not there", .0.display())]
    RootMissing(PathBuf),
    /// Another folder stands where the root was. What is open on it stays open.
    #[error("the folder {} is not the one that the workspace was", .0.display())]
    RootOther(PathBuf),
    /// Somebody else is at work on the root.
    #[error("the workspace {} is locked by another process", .0.display())]
    RootBusy(PathBuf),
    /// Changes that no folder can have at once.
    #[error("the changes contradict each other at {path}: {why}")]
    BadPlan {
        /// Where.
        path: FilePath,
        /// How.
        why: &'static str,
    },
    /// The name of a staging folder is made of letters, digits and `-` only.
    #[error("“{0}” can't be part of a staging folder's name")]
    BadStagingName(String),
    /// A folder that is never a workspace.
    #[error("{} can't be a workspace: {why}", path.display())]
    RootRefused {
        /// Which folder.
        path: PathBuf,
        /// Why not.
        why: &'static str,
    },
    /// So much is new that it is not read without being asked for. Nothing was changed.
    #[error("{files} files with {bytes} bytes are new at once; capture them only if that is meant")]
    TooMuch {
        /// Files whose bytes are new.
        files: u64,
        /// How many bytes they have.
        bytes: u64,
    },
    /// A path that has no record now.
    #[error("{path} is not covered: {}", .why.name())]
    NotCovered {
        /// Which path.
        path: FilePath,
        /// Why not.
        why: WhyNot,
    },
    /// An object that should describe folders or changes says nothing sensible.
    #[error("the object {0} is no list of files of a version that is known")]
    NoManifest(ContentHash),
}

impl WorktreeError {
    /// The cause as a log may hold it: what was tried, and the code of the system. Never a path.
    pub fn for_log(&self) -> Option<String> {
        let Self::Io { attempt, source, .. } = self else { return None };
        let code = source.raw_os_error().map_or_else(|| source.kind().to_string(), |_| source.to_string());
        Some(format!("{attempt}: {code}"))
    }

    /// An error of the system.
    pub(crate) fn io(attempt: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { attempt, path, source }
    }
}
