//! The request for a capture, and the progress that it reports.

use retake_core::FilePath;

/// The folders to capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CaptureScope {
    /// All of them.
    Whole,
    /// These folders, `None` being the root, and new folders in them, but not known ones. Every folder in which
    /// something was created, removed or changed must be named, even a removed one.
    Folders(Vec<Option<FilePath>>),
    /// The folders that the watch names; all of them without a watch, or if it does not know.
    Watched,
}

/// Whether a very large amount of new content may be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// Not before [`TooMuch`](crate::WorktreeError::TooMuch) was returned and confirmed.
    Ask,
    /// Yes.
    Granted,
}

/// The progress of a capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// The number of folders so far.
    Looked(u64),
    /// The number of files read.
    Read {
        /// Files so far.
        done: u64,
        /// All files to read.
        of: u64,
    },
}

/// The cost of a capture.
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
    /// Files read because their stamps are not conclusive.
    pub doubted: u64,
}
