//! What a step leaves in a folder apart from the files that it changes: in git, and under other names.

use serde::{Deserialize, Serialize};

use crate::git_file::{GitFileChange, GitFileRole};
use crate::hint::Remedy;

/// Something that stays in a folder. Paths are as people read them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum FolderRemark {
    /// A git repository that a command made stays.
    GitRepositoryMade,
    /// Git's HEAD stays where a command put it.
    GitHead {
        /// The branch that it is on; absent when it is detached.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch: Option<String>,
        /// The commit, in short; absent where there is none yet.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commit: Option<String>,
        /// The shell command that goes back.
        command: String,
    },
    /// A branch that a command made stays.
    GitBranchMade {
        /// Its name.
        branch: String,
        /// Commits of it may have no other name: then no command removes it.
        only_name: bool,
        /// HEAD is on it, and goes back first.
        head: bool,
        /// The shell command that removes it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<String>,
    },
    /// A branch that a command removed stays away.
    GitBranchRemoved {
        /// Its name.
        branch: String,
        /// The shell command that brings it back.
        command: String,
    },
    /// A branch stays where a command put it.
    GitBranchMoved {
        /// Its name.
        branch: String,
        /// The shell command that goes back.
        command: String,
    },
    /// The stash stays as a command left it.
    GitStash,
    /// What a command staged in git stays staged.
    GitStaged,
    /// A worktree of git that a command made stays.
    GitWorktreeMade {
        /// Its folder.
        folder: String,
        /// Its commits may have no other name.
        only_name: bool,
        /// The shell command that removes it, with what is not committed in it. Absent if its commits may have no other name, or if its
        /// path cannot be typed as it is shown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<String>,
    },
    /// A worktree stays where a command moved it.
    GitWorktreeMoved {
        /// Its folder before.
        from: String,
        /// Its folder now.
        folder: String,
        /// The shell command that moves it back. Absent if a path cannot be typed as it is shown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<String>,
    },
    /// The HEAD of a worktree stays where a command put it.
    GitWorktreeHead {
        /// Its folder.
        folder: String,
        /// The shell command that goes back. Absent if its path cannot be typed as it is shown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<String>,
    },
    /// A worktree that a command removed stays away.
    GitWorktreeRemoved {
        /// Its folder.
        folder: String,
        /// The shell command that brings it back, with what was committed. Absent if its HEAD is not known, or if its path cannot be
        /// typed as it is shown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<String>,
    },
    /// A folder stays where a command moved it, with what git keeps in it.
    RepositoryMoved {
        /// Where it was.
        from: String,
        /// Where it is.
        folder: String,
        /// The shell command that moves it back; absent where a shell cannot be given its name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<String>,
    },
    /// A folder stays, with what git keeps in it: it may be what was in another one.
    RepositoryUncertain {
        /// That other folder.
        from: String,
        /// The folder.
        folder: String,
    },
    /// A folder stays: it is a submodule of git.
    Submodule {
        /// The folder.
        folder: String,
        /// The shell command that removes it. Absent if its path cannot be typed as it is shown.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<String>,
    },
    /// A folder stays: it contains a git repository.
    Repository {
        /// The folder.
        folder: String,
    },
    /// A file has several names.
    HardLink {
        /// The name that changes.
        path: String,
        /// All its names change, and become separate files; else the others stay as they are.
        all_change: bool,
    },
    /// A file keeps lines that the step removes from another one: a later turn, which stays, made it and removed the other.
    LinesStay {
        /// The file.
        path: String,
        /// The other one.
        from: String,
    },
    /// A file that git runs or reads has changed since the last call, and stays.
    GitFile {
        /// The file.
        path: String,
        /// How it changed.
        change: GitFileChange,
        /// What git does with it.
        role: GitFileRole,
        /// What puts it back. Absent where what it was could not be kept, and where an earlier version recorded the command alone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        remedy: Option<Remedy>,
        /// Deprecated, the next version leaves it out: `remedy` as a shell command.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
        command: Option<String>,
    },
    /// A code of a newer owner.
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}
