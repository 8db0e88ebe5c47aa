//! The request for a capture, and the progress that it reports.

use retake_core::FilePath;

/// What to look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sweep {
    /// Everything.
    Whole,
    /// These folders, `None` being the root, and what is new in them; not the folders in them that are known. Every
    /// folder in which something came, went or changed has to be named, also one that is gone with all in it.
    Folders(Vec<Option<FilePath>>),
    /// Those folders that the watch names; everything where there is none, or it does not know.
    Watched,
}

/// Whether very much that is new may be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Permission {
    /// Not without [`TooMuch`](crate::WorktreeError::TooMuch) having been answered.
    Ask,
    /// Yes.
    Granted,
}

/// How far a capture is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// So many folders have been looked at.
    Looked(u64),
    /// So many files have been read.
    Read {
        /// Up to now.
        done: u64,
        /// Of how many.
        of: u64,
    },
}

/// What a capture cost.
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
    /// Files read because their stamps could not tell.
    pub doubted: u64,
}
