//! Remarks of a plan and its receipt about what becomes a person's own and what stays. Only data: a client makes the sentences.

use std::path::PathBuf;

use retake_core::{ConversationId, GitFile, GitFileChange, GitFileRole, GitRemark, Head, Mark, Reason};

/// A remark. Said once: a repeated request does not get it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// Files become the person's own: later steps treat them as the person's edits.
    Adopted {
        /// Their number.
        files: usize,
    },
    /// Files belong to their turns again.
    Returned {
        /// Their number.
        files: usize,
    },
    /// Marks stay as they are now, though the step restores an earlier head.
    MarksStay {
        /// That head.
        head: Head,
        /// The marks now, each with the number of its messages.
        marks: Vec<(Mark, u64)>,
        /// The actions that set the marks of that head.
        back: Vec<Reason>,
    },
    /// Files stay as turns of the conversation left them from which this one was forked.
    OfParent {
        /// That conversation.
        parent: ConversationId,
        /// The number of files.
        files: usize,
        /// The first of them.
        named: Vec<String>,
        /// The first of those turns, if a rewind in that conversation reverts the files.
        turn: Option<u64>,
    },
    /// Something stays in a folder of the conversation, beside its files.
    InFolder {
        /// The further folder; none for the conversation's own.
        folder: Option<PathBuf>,
        /// What.
        remark: FolderRemark,
    },
    /// A further folder cannot be opened: what was changed in it stays.
    FolderGone {
        /// The folder.
        folder: PathBuf,
        /// Why not. None if it does not exist.
        why: Option<String>,
    },
}

/// Something that stays in a folder. Paths are as people read them, and each command is for a shell in the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FolderRemark {
    /// Something stays in git.
    Git(GitRemark),
    /// A folder stays, with what git keeps in it: a command moved it.
    RepositoryMoved {
        /// Where it was.
        from: String,
        /// Where it is.
        folder: String,
        /// Moves it back; nothing, where a shell cannot be given its name.
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
        /// Removes it; nothing, where a shell cannot be given its name.
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
        /// Puts it back; nothing, where what it was could not be kept.
        command: Option<String>,
    },
}

/// What happened to it, and what it is to git, for the model. A person reads the same words: `wire/src/english/folder.rs`.
pub(super) fn said(file: &GitFile) -> String {
    let how = match file.change {
        GitFileChange::New => "new",
        GitFileChange::Changed => "changed",
        GitFileChange::Removed => "removed",
    };
    let what = match file.role {
        GitFileRole::Hook => "git runs it",
        GitFileRole::Settings => "git does what it says",
        GitFileRole::Rebase => "git runs its `exec` lines when the rebase goes on",
    };
    format!("{how}; {what}")
}

/// The same, with what puts it back.
pub(super) fn told(file: &GitFile) -> String {
    match &file.command {
        Some(back) => format!("{}; to put it back: {back}", said(file)),
        None => format!("{}; what it was could not be kept", said(file)),
    }
}
