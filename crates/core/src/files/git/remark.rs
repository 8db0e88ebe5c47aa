//! What stays in git. Only data: a client makes the sentences.

use super::GitPlace;

/// What stays in git when moves are taken back. Each command is for a shell in the workspace's folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum GitRemark {
    /// The repository, which a command made.
    Repository,
    /// HEAD is where a command put it.
    Head {
        /// Where it is.
        at: GitPlace,
        /// Goes back.
        command: String,
    },
    /// A branch that a command made.
    BranchMade {
        /// Its name.
        branch: String,
        /// Commits of it may have no other name.
        is_only_name: bool,
        /// HEAD is on it, and goes back first.
        is_head: bool,
        /// Removes it; nothing, where that may lose something.
        command: Option<String>,
    },
    /// A branch that a command removed.
    BranchRemoved {
        /// Its name.
        branch: String,
        /// Brings it back.
        command: String,
    },
    /// A branch is where a command put it.
    BranchMoved {
        /// Its name.
        branch: String,
        /// Goes back.
        command: String,
    },
    /// The stash is as a command left it.
    Stash,
    /// What a command staged.
    Staged,
    /// A worktree that a command made.
    WorktreeMade {
        /// Its folder.
        folder: String,
        /// Commits may have no other name than its HEAD.
        is_only_name: bool,
        /// Removes it, with what is not committed in it. None if it is the only name, or if a shell cannot be given its path.
        command: Option<String>,
    },
    /// A worktree that a command moved.
    WorktreeMoved {
        /// Its folder before.
        from: String,
        /// Its folder now.
        folder: String,
        /// Moves it back. None if a shell cannot be given its path.
        command: Option<String>,
    },
    /// The HEAD of a worktree is where a command put it.
    WorktreeHead {
        /// Its folder.
        folder: String,
        /// Goes back. None if a shell cannot be given its path.
        command: Option<String>,
    },
    /// A worktree that a command removed.
    WorktreeRemoved {
        /// Its folder.
        folder: String,
        /// Brings it back, with what was committed. None if its HEAD is not known, or if a shell cannot be given its path.
        command: Option<String>,
    },
}
