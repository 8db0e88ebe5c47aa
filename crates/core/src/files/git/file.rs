//! Files that git runs or reads as settings, and how they changed. Git covers none of them itself.

/// A change of a file that git runs or reads.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct GitFile {
    /// How it changed.
    pub change: GitFileChange,
    /// What git does with it.
    pub role: GitFileRole,
    /// The shell command that puts it back. Absent where what it was could not be kept.
    pub command: Option<String>,
}

impl GitFile {
    /// What happened to it, and what it is to git, for the model. A person reads the same words: `wire/src/english/folder.rs`.
    pub fn said(&self) -> String {
        let how = match self.change {
            GitFileChange::New => "new",
            GitFileChange::Changed => "changed",
            GitFileChange::Removed => "removed",
        };
        let what = match self.role {
            GitFileRole::Hook => "git runs it",
            GitFileRole::Settings => "git does what it says",
            GitFileRole::Rebase => "git runs its `exec` lines when the rebase goes on",
        };
        format!("{how}; {what}")
    }

    /// The same, with what puts it back.
    pub fn told(&self) -> String {
        match &self.command {
            Some(back) => format!("{}; to put it back: {back}", self.said()),
            None => format!("{}; what it was could not be kept", self.said()),
        }
    }
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

/// What git does with a file of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GitFileRole {
    /// Git runs it.
    Hook,
    /// Git obeys it: settings, attributes and the like.
    Settings,
    /// Git runs its `exec` lines when the rebase continues.
    Rebase,
}
