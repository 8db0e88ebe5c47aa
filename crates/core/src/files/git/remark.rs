//! Remarks about what stays in git. Data only: a client makes the sentences.

use super::GitPlace;

/// What stays in git when moves are reverted. Each command is for a shell in the workspace's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GitRemark {
    /// A repository that a command created.
    Repository,
    /// HEAD, which a command moved.
    Head {
        /// Its place.
        at: GitPlace,
        /// The command that moves it back.
        command: String,
    },
    /// A branch that a command created.
    BranchMade {
        /// Its name.
        branch: String,
        /// Whether some of its commits may have no other name.
        is_only_name: bool,
        /// Whether HEAD is on it and must be moved first.
        is_head: bool,
        /// The command that removes it; `None` if it could lose something.
        command: Option<String>,
    },
    /// A branch that a command removed.
    BranchRemoved {
        /// Its name.
        branch: String,
        /// The command that brings it back.
        command: String,
    },
    /// A branch that a command moved.
    BranchMoved {
        /// Its name.
        branch: String,
        /// The command that moves it back.
        command: String,
    },
    /// The stash, which a command changed.
    Stash,
    /// Changes that a command staged.
    Staged,
    /// A worktree that a command created.
    WorktreeMade {
        /// Its folder.
        folder: String,
        /// Whether some commits may have no other name than its HEAD.
        is_only_name: bool,
        /// The command that removes it with its uncommitted changes. None if it is the only name, or if a shell cannot get
        /// its path.
        command: Option<String>,
    },
    /// A worktree that a command moved.
    WorktreeMoved {
        /// Its folder before.
        from: String,
        /// Its folder now.
        folder: String,
        /// The command that moves it back. None if a shell cannot get its path.
        command: Option<String>,
    },
    /// The HEAD of a worktree, which a command moved.
    WorktreeHead {
        /// Its folder.
        folder: String,
        /// The command that moves it back. None if a shell cannot get its path.
        command: Option<String>,
    },
    /// A worktree that a command removed.
    WorktreeRemoved {
        /// Its folder.
        folder: String,
        /// The command that brings it back with its commits. None if its HEAD is not known, or if a shell cannot get its
        /// path.
        command: Option<String>,
    },
}
