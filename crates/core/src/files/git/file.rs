//! Files that git runs or reads as settings, and how they changed.

/// A change of a file that git runs or reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GitFile {
    /// How it changed.
    pub change: GitFileChange,
    /// What git does with it.
    pub role: GitFileRole,
    /// What reverts it; `None` if its earlier content could not be stored, or if an earlier version recorded the command alone.
    pub back: Option<PutBack>,
    /// The shell command that reverts it, for the model.
    pub command: Option<String>,
}

/// What reverts a file that git runs or reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct PutBack {
    /// The file, or the folder that is removed with its content.
    pub path: String,
    /// The file with the earlier content, and the earlier permission bits. None if the file is new.
    pub kept: Option<(String, u32)>,
}

/// How a file that git runs or reads changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GitFileChange {
    /// It is new.
    New,
    /// It has other content or another mode.
    Changed,
    /// It is gone.
    Removed,
}

/// The role of a file in git.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GitFileRole {
    /// Git runs it.
    Hook,
    /// Git reads it: settings, attributes and similar.
    Settings,
    /// Git runs its `exec` lines when the rebase continues.
    Rebase,
}
