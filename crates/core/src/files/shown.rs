//! What people see of an apply and of a diff: paths that were left alone, and which hunks a diff shows.

use super::FilePath;

/// A path that was left alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftPath {
    /// Which path.
    pub path: FilePath,
    /// Why.
    pub why: WhyLeft,
    /// Where somebody's bytes are that could not return to their path, as something newer was there: below the root.
    pub kept: Vec<FilePath>,
}

/// Why a path was left alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhyLeft {
    /// Somebody wrote there.
    Foreign,
    /// The folder was to go, and somebody's files are in it.
    NotEmpty,
    /// Its folder is gone, is a link, or is elsewhere.
    Unreachable,
}

/// What of a diff is shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DiffHunks {
    /// All of it.
    #[default]
    All,
    /// All of it; where there are several hunks, each says its number.
    Numbered,
    /// The hunks of these numbers, each with its number.
    Only(Vec<usize>),
}

impl LeftPath {
    /// A path that was left alone, without bytes that are kept elsewhere.
    pub fn new(path: &FilePath, why: WhyLeft) -> Self {
        Self { path: path.clone(), why, kept: Vec::new() }
    }
}
