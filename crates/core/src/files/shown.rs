//! The parts of an apply and of a diff that people see: paths that were left alone, and the hunks of a diff.

use super::FilePath;

/// A path that was left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftPath {
    /// The path.
    pub path: FilePath,
    /// The reason.
    pub why: LeftReason,
    /// Paths below the root with somebody's bytes that could not return to this path, because something newer was
    /// there.
    pub kept: Vec<FilePath>,
}

/// Why a path was left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftReason {
    /// Somebody wrote there.
    Foreign,
    /// The folder should be removed, and contains somebody's files.
    NotEmpty,
    /// Its folder is gone, is a link, or has moved.
    Unreachable,
}

/// The hunks of a diff to show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DiffHunks {
    /// All of them.
    #[default]
    All,
    /// All of them; if there are several, each with its number.
    Numbered,
    /// Only those with these numbers, each with its number.
    Only(Vec<usize>),
}

impl LeftPath {
    /// A path that was left alone, without bytes in another place.
    pub fn new(path: &FilePath, why: LeftReason) -> Self {
        Self { path: path.clone(), why, kept: Vec::new() }
    }
}
