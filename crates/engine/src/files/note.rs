//! Remarks of a plan and its receipt: what is adopted and what stays. Data only: a client makes the sentences.

use std::path::PathBuf;

use retake_core::{
    ConversationId, Field, GitFile, GitFileChange, GitFileRole, GitRemark, Head, Mark, Reason,
};

use crate::error::EngineError;

/// A remark. Returned once: a repeated request does not get it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// Files are adopted: later steps treat them as the person's edits.
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
    /// Files stay as turns of the parent conversation left them.
    OfParent {
        /// That conversation.
        parent: ConversationId,
        /// The number of files.
        files: usize,
        /// The first of these files.
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
    /// A further folder cannot be opened: its changes stay.
    FolderGone {
        /// The folder.
        folder: PathBuf,
        /// The reason. None if the folder does not exist.
        why: Option<NotOpened>,
    },
}

/// Why a folder cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotOpened {
    /// The code of the failure.
    pub code: &'static str,
    /// What failed, and on what.
    pub message: String,
    /// What the system reported, or else the message.
    pub why: String,
    /// The values of the code, by name.
    pub fields: Vec<(&'static str, Field)>,
}

impl From<EngineError> for NotOpened {
    fn from(error: EngineError) -> Self {
        Self { code: error.code, why: error.why(), message: error.message, fields: error.fields }
    }
}

/// Something that stays in a folder. Paths are in the form for people, and each command is for a shell in the folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FolderRemark {
    /// A change in git.
    Git(GitRemark),
    /// A folder with a repository that a command moved.
    RepositoryMoved {
        /// Where it was.
        from: String,
        /// Where it is.
        folder: String,
        /// The command that moves it back; none if a shell cannot get its name.
        command: Option<String>,
    },
    /// A folder with a repository that may hold the content of another one.
    RepositoryUncertain {
        /// That other folder.
        from: String,
        /// The folder.
        folder: String,
    },
    /// A submodule of git.
    Submodule {
        /// The folder.
        folder: String,
        /// The command that removes it; none if a shell cannot get its name.
        command: Option<String>,
    },
    /// A folder with a git repository.
    Repository {
        /// The folder.
        folder: String,
    },
    /// A file with several hard links.
    HardLink {
        /// The name that changes.
        path: String,
        /// Whether all its names change and become separate files; else the others stay as they are.
        all_change: bool,
    },
    /// A file keeps lines that the step reverts in another one: a later turn that stays created this file and removed the
    /// other.
    LinesStay {
        /// The file.
        path: String,
        /// The other one.
        from: String,
    },
    /// A file that git runs or reads, and that has changed since the last call.
    GitFile {
        /// The file.
        path: String,
        /// How it changed, and what reverts it.
        file: GitFile,
    },
}

/// The sentence for the model: the change, and the file's role in git. A person reads the same words:
/// `wire/src/english/folder.rs`.
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

/// The same, with the command that reverts it.
pub(super) fn told(file: &GitFile) -> String {
    match &file.command {
        Some(back) => format!("{}; to put it back: {back}", said(file)),
        None => format!("{}; what it was could not be kept", said(file)),
    }
}
