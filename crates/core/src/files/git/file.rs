//! Files that git runs or reads as settings, and how they changed.

/// A change of a file that git runs or reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GitFile {
    /// How it changed.
    pub change: GitFileChange,
    /// What git does with it.
    pub role: GitFileRole,
    /// The shell command that reverts it; `None` if its earlier content could not be stored.
    pub command: Option<String>,
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
