//! What stays in a folder when a step changes its files: in git, and under other names of a file.

use serde::{Deserialize, Serialize};

use crate::git_file::{GitFileChange, GitFileRole};
use crate::hint::Remedy;

/// Something in a folder that a step leaves as it is. Paths are in a form for display.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum FolderRemark {
    /// A command created a git repository, which stays.
    GitRepositoryMade,
    /// A command moved git's HEAD, which stays where it is.
    GitHead {
        /// The current branch. Absent if HEAD is detached.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch: Option<String>,
        /// The current commit, abbreviated. Absent if there is no commit yet.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commit: Option<String>,
        /// The shell command that moves HEAD back.
        command: String,
    },
    /// A command created a branch, which stays.
    GitBranchMade {
        /// The name of the branch.
        branch: String,
        /// Whether the branch may be the only name for some of its commits. Then there is no command to remove it.
        only_name: bool,
        /// Whether HEAD is on the branch and must be moved first.
        head: bool,
        /// The shell command that removes the branch.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<String>,
    },
    /// A command removed a branch, which is not restored.
    GitBranchRemoved {
        /// The name of the branch.
        branch: String,
        /// The shell command that restores the branch.
        command: String,
    },
    /// A command moved a branch, which stays where it is.
    GitBranchMoved {
        /// The name of the branch.
        branch: String,
        /// The shell command that moves the branch back.
        command: String,
    },
    /// A command changed the stash, which stays as it is.
    GitStash,
    /// A command staged changes in git, which stay staged.
    GitStaged,
    /// A command created a git worktree, which stays.
    GitWorktreeMade {
        /// The folder of the worktree.
        folder: String,
        /// Whether its HEAD may be the only name for some commits.
        only_name: bool,
        /// The shell command that removes the worktree with its uncommitted changes. Absent if its HEAD may be the only name for
        /// some commits, or if its path cannot be typed as shown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<String>,
    },
    /// A command moved a git worktree, which stays where it is.
    GitWorktreeMoved {
        /// The folder of the worktree before the move.
        from: String,
        /// The current folder of the worktree.
        folder: String,
        /// The shell command that moves the worktree back. Absent if a path cannot be typed as shown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<String>,
    },
    /// A command moved the HEAD of a git worktree, which stays where it is.
    GitWorktreeHead {
        /// The folder of the worktree.
        folder: String,
        /// The shell command that moves the HEAD back. Absent if the path cannot be typed as shown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<String>,
    },
    /// A command removed a git worktree, which is not restored.
    GitWorktreeRemoved {
        /// The folder of the worktree.
        folder: String,
        /// The shell command that restores the worktree with its commits. Absent if its HEAD is not known, or if its path cannot
        /// be typed as shown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<String>,
    },
    /// A command moved a folder with a git repository, which stays where it is.
    RepositoryMoved {
        /// The folder before the move.
        from: String,
        /// The current folder.
        folder: String,
        /// The shell command that moves the folder back. Absent if a path cannot be typed as shown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<String>,
    },
    /// A folder stays because it contains a git repository. Its content may come from another folder.
    RepositoryUncertain {
        /// The other folder, where the content may come from.
        from: String,
        /// The folder that stays.
        folder: String,
    },
    /// A folder stays because it is a git submodule.
    Submodule {
        /// The folder.
        folder: String,
        /// The shell command that removes the submodule. Absent if its path cannot be typed as shown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<String>,
    },
    /// A folder stays because it contains a git repository.
    Repository {
        /// The folder.
        folder: String,
    },
    /// A file that the step changes has several hard links.
    HardLink {
        /// The path that changes.
        path: String,
        /// Whether all its links change and become separate files. Otherwise the other links stay as they are.
        all_change: bool,
    },
    /// A file keeps lines that the step removes from another file. A later turn, which stays, created the file and removed the
    /// other one.
    LinesStay {
        /// The file with the lines.
        path: String,
        /// The other file.
        from: String,
    },
    /// A file that git runs or reads has changed since the last call. It stays as it is.
    GitFile {
        /// The path of the file.
        path: String,
        /// How it changed.
        change: GitFileChange,
        /// What git does with it.
        role: GitFileRole,
        /// The remedy that restores the file. Absent if its earlier content could not be kept, or if an earlier version recorded
        /// only the command.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remedy: Option<Remedy>,
        /// Deprecated, the next version leaves it out: `remedy` as a shell command.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
        command: Option<String>,
    },
    /// A code that only a newer owner knows.
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}
