//! The errors of work on files: the attempt and its target; the cause is the source.

use std::io;
use std::path::PathBuf;

use retake_core::{ContentHash, FilePath, UncoveredReason};

/// The result of this crate's functions.
pub type Result<T, E = WorktreeError> = std::result::Result<T, E>;

/// Why work on files failed.
#[derive(Debug, thiserror::Error)]
pub enum WorktreeError {
    /// The system refused.
    #[error("can't {attempt} {}", path.display())]
    Io {
        /// The attempted action, as in "can't … PATH".
        attempt: &'static str,
        /// The path.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// The object store lacks the object of a record.
    #[error("the object {0} is not in the object store")]
    Missing(ContentHash),
    /// An object's bytes do not match its name. They are never returned.
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
    /// A sync failed earlier; since then nothing is accepted.
    #[error("an earlier write to the object store {} did not reach the disk; check the disk and start again", .0.display())]
    NotDurable(PathBuf),
    /// The root of a workspace is gone. Its open steps stay open.
    #[error("the workspace's folder {} is not there", .0.display())]
    RootMissing(PathBuf),
    /// Another folder is in the root's place. Open steps stay open.
    #[error("the folder {} is not the one that the workspace was", .0.display())]
    RootOther(PathBuf),
    /// Somebody else works on the root.
    #[error("the workspace {} is locked by another process", .0.display())]
    RootBusy(PathBuf),
    /// Changes that contradict each other.
    #[error("the changes contradict each other at {path}: {why}")]
    BadPlan {
        /// The path.
        path: FilePath,
        /// The contradiction.
        why: &'static str,
    },
    /// The name of a staging folder may only contain letters, digits and `-`.
    #[error("“{0}” can't be part of a staging folder's name")]
    BadStagingName(String),
    /// A folder that must not be a workspace.
    #[error("{} can't be a workspace: {why}", path.display())]
    RootRefused {
        /// The folder.
        path: PathBuf,
        /// The reason.
        why: &'static str,
    },
    /// There is so much new content that it is only read after a confirmation. Nothing was changed.
    #[error("{files} files with {bytes} bytes are new at once; capture them only if that is meant")]
    TooMuch {
        /// Files whose bytes are new.
        files: u64,
        /// Their bytes.
        bytes: u64,
    },
    /// A path without a record.
    #[error("{path} is not covered: {}", .why.name())]
    NotCovered {
        /// The path.
        path: FilePath,
        /// The reason.
        why: UncoveredReason,
    },
    /// An object for a manifest or for findings is invalid.
    #[error("the object {0} is not a list of files of a known version")]
    NoManifest(ContentHash),
}

impl WorktreeError {
    /// The cause in a form for logs: the attempted action, and the code of the system. Never a
    /// path.
    pub fn for_log(&self) -> Option<String> {
        let Self::Io { attempt, source, .. } = self else { return None };
        let code = source.raw_os_error().map_or_else(|| source.kind().to_string(), |_| source.to_string());
        Some(format!("{attempt}: {code}"))
    }

    /// A system error.
    pub(crate) fn io(attempt: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { attempt, path, source }
    }
}
