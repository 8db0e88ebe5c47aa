//! Remarks of a plan or a receipt: typed codes with fields. Only shapes; `english` makes the sentences.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::action::MarkVerb;
use crate::files::FileName;
use crate::problem::Problem;

mod cause;

pub use cause::{LeftPath, PathCause, PathChange, UncertainWhen, UncoveredPath};

/// Something that stays as it is, that cannot be reverted, or that a step did in addition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Condition {
    /// These messages changed no file.
    NoFileChanges,
    /// Only the conversation goes back; files are not touched.
    ConversationOnly,
    /// No covered file changes.
    NoCoveredFileChanges,
    /// All files are already as the step would make them.
    FilesUnchanged,
    /// Only files of the covered folders change: not what commands did elsewhere, nor what git keeps for itself.
    CoveredFoldersOnly {
        /// The number of folders.
        folders: u64,
    },
    /// Paths that calls changed and that are not covered; they stay as they are.
    NotCovered {
        /// The first of them.
        paths: Vec<UncoveredPath>,
        /// The number of further ones.
        more: u64,
        /// There may be more than that.
        at_least: bool,
    },
    /// It is not known what earlier calls changed.
    UnseenCalls {
        /// Their number.
        calls: u64,
    },
    /// It is not known what a call changed.
    UnseenCall {
        /// The call, in a line.
        call: String,
        /// Why.
        why: String,
    },
    /// It is not known what a call did: it was cut off before there was a result.
    CutOffCall {
        /// The call, in a line.
        call: String,
    },
    /// Further calls were cut off.
    CutOffCalls {
        /// Their number.
        calls: u64,
    },
    /// A background job that was ended does not run again.
    JobEnded {
        /// Its command.
        job: String,
    },
    /// Erased content cannot be brought back.
    EraseIsFinal,
    /// Nothing that is stored here contains the text to erase. Drafts are searched when the erasure runs.
    NothingToErase,
    /// The named content is erased already.
    AlreadyErased,
    /// Messages would be erased.
    ErasesMessages {
        /// Their number.
        messages: u64,
        /// The other conversation of the same tree of forks; without it, the conversation itself.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        conversation: Option<String>,
    },
    /// Messages in further forks would be erased.
    ErasesInForks {
        /// Their number.
        messages: u64,
    },
    /// Steps with a title, a label or a name would be erased.
    ErasesSteps {
        /// Their number.
        steps: u64,
    },
    /// What is kept of these paths would be erased, so that they cannot be reverted. The files in the folder stay.
    ErasesPaths {
        /// The number of paths.
        paths: u64,
        /// The first of them; what is not UTF-8 or acts on a terminal stands in them as an escape.
        named: Vec<String>,
    },
    /// Versions of files would be erased.
    ErasesVersions {
        /// Their number.
        versions: u64,
    },
    /// Versions of files were erased.
    ErasedVersions {
        /// Their number.
        versions: u64,
    },
    /// Versions of files are kept: other commands, captures or conversations need the same bytes.
    KeepsSharedVersions {
        /// Their number.
        versions: u64,
    },
    /// Versions of files are kept: a file has the same content now.
    KeepsCurrentVersions {
        /// Their number.
        versions: u64,
    },
    /// Versions that lay beside erased ones were damaged before, and could not be kept.
    LostVersions {
        /// Their number.
        versions: u64,
    },
    /// Other conversations could not be searched for the text to erase.
    OthersNotSearched {
        /// Why.
        problem: Box<Problem>,
    },
    /// Other conversations contain the text to erase.
    OthersContain {
        /// How many, forks included.
        count: u64,
        /// The first of them, one of each tree of forks: an erasure there reaches the whole tree.
        conversations: Vec<String>,
        /// There are more trees than those.
        more: bool,
    },
    /// Files become the person's own: later steps treat them as the person's edits.
    Adopted {
        /// Their number.
        files: u64,
    },
    /// Files belong to their turns again.
    Returned {
        /// Their number.
        files: u64,
    },
    /// Marks stay as they are now, though the step restores an earlier head.
    MarksStay {
        /// That head.
        head: String,
        /// The marks now.
        marks: Vec<MarkCount>,
        /// The actions that set the marks of that head.
        verbs: Vec<MarkVerb>,
    },
    /// Files stay as turns of the conversation left them from which this one was forked.
    OfParent {
        /// That conversation.
        parent: String,
        /// The number of files.
        files: u64,
        /// The first of them.
        named: Vec<String>,
        /// The number of the turn there whose rewind reverts the files; absent if no rewind does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<u64>,
    },
    /// Something in a further folder of the conversation.
    InFolder {
        /// The folder.
        folder: String,
        /// What: a condition with its code. Generators of clients know no union that contains itself, so its shape is open.
        #[schemars(with = "serde_json::Value")]
        condition: Box<Self>,
    },
    /// A further folder cannot be opened: what was changed in it stays.
    FolderGone {
        /// The folder.
        folder: String,
        /// It does not exist.
        missing: bool,
    },
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
        /// The shell command that removes it, with what is not committed in it; absent where its commits have no other name.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<String>,
    },
    /// A worktree stays where a command moved it.
    GitWorktreeMoved {
        /// Its folder before.
        from: String,
        /// Its folder now.
        folder: String,
        /// The shell command that moves it back.
        command: String,
    },
    /// The HEAD of a worktree stays where a command put it.
    GitWorktreeHead {
        /// Its folder.
        folder: String,
        /// The shell command that goes back.
        command: String,
    },
    /// A worktree that a command removed stays away.
    GitWorktreeRemoved {
        /// Its folder.
        folder: String,
        /// The shell command that brings it back, with what was committed; absent where its HEAD is not known.
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
        /// The shell command that removes it.
        command: String,
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
        /// The shell command that puts it back; absent where what it was could not be kept.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<String>,
    },
}

/// How a file that git runs or reads changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GitFileChange {
    /// It is new.
    New,
    /// It has other content or another mode.
    Changed,
    /// It is gone.
    Removed,
}

/// What git does with a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum GitFileRole {
    /// Git runs it.
    Hook,
    /// Git obeys it: settings, attributes and the like.
    Settings,
    /// Git runs its `exec` lines when the rebase continues.
    Rebase,
}

/// How many messages have a mark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MarkCount {
    /// `normal`, `excluded`, `hidden` or `dropped`.
    pub mark: String,
    /// The number of messages.
    pub messages: u64,
}

/// Why one of several steps was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum StepRefusal {
    /// A path waits for a choice.
    Conflict {
        /// Which path.
        #[serde(flatten)]
        name: FileName,
        /// Why.
        cause: PathCause,
    },
    /// Its files were in conflict when the same request came first.
    ConflictBefore,
    /// The step itself was refused.
    Refused {
        /// Why.
        problem: Box<Problem>,
    },
}
