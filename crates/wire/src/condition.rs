//! Remarks of a plan or a receipt: typed codes with fields. Only types; `english` makes the sentences.

use serde::{Deserialize, Serialize};

use crate::files::FileName;
use crate::mark::{Mark, MarkVerb};
use crate::notice::NoticeCause;
use crate::problem::Problem;
use crate::problem_code::ProblemCode;

mod cause;
mod folder;

pub use cause::{
    LeftPath, ModelCause, PathCause, PathChange, ReadOnlyCause, UnavailableCause, UncertainWhen,
    UncoveredCause, UncoveredPath,
};
pub use folder::FolderRemark;

/// A remark of a plan or a receipt: something that stays as it is, that cannot be reverted, or that the step did in addition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Condition {
    /// The messages that the step takes back or brings back changed no file.
    NoFileChanges,
    /// Only the conversation changes. Files are not touched.
    ConversationOnly,
    /// The step changes no covered file.
    NoCoveredFileChanges,
    /// All files already have the state that the step wants.
    FilesUnchanged,
    /// Only files in the covered folders change. Changes by commands in other places stay, and so do git's own files.
    CoveredFoldersOnly {
        /// The number of covered folders.
        folders: u64,
    },
    /// Calls changed paths that are not covered. These paths stay as they are.
    NotCovered {
        /// The first of these paths.
        paths: Vec<UncoveredPath>,
        /// The number of further paths.
        more: u64,
        /// Whether `more` is only a minimum.
        at_least: bool,
    },
    /// It is not known what further, earlier calls changed.
    UnseenCalls {
        /// The number of these calls.
        calls: u64,
    },
    /// It is not known what a call changed.
    UnseenCall {
        /// The call, on one line.
        call: String,
        /// The code of the failure. Absent if an earlier version recorded the failure.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        problem: Option<ProblemCode>,
        /// What failed, like the message of a problem.
        why: String,
    },
    /// It is not known what a call did: it was interrupted before it had a result.
    CutOffCall {
        /// The call, on one line.
        call: String,
    },
    /// Further calls were interrupted before they had a result.
    CutOffCalls {
        /// The number of these calls.
        calls: u64,
    },
    /// A background job that the step brought back has ended, and does not run again.
    JobEnded {
        /// The command of the job.
        job: String,
    },
    /// Erased content cannot be brought back.
    EraseIsFinal,
    /// Nothing stored here contains the text to erase. Drafts are searched when the erasure runs.
    NothingToErase,
    /// The content that the request names is already erased.
    AlreadyErased,
    /// Messages would be erased.
    ErasesMessages {
        /// The number of messages.
        messages: u64,
        /// The id of another conversation in the same tree of forks. Absent for the conversation of the request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        conversation: Option<String>,
    },
    /// Messages in further forks would be erased.
    ErasesInForks {
        /// The number of messages.
        messages: u64,
    },
    /// Operations would lose a title, a label or a name.
    ErasesSteps {
        /// The number of operations.
        steps: u64,
    },
    /// The stored versions of these paths would be erased, so that the paths cannot be reverted. The files in the folder stay.
    ErasesPaths {
        /// The number of paths.
        paths: u64,
        /// The first of these paths. Bytes that are not UTF-8 and terminal control characters are escaped.
        named: Vec<String>,
    },
    /// Stored versions of files would be erased.
    ErasesVersions {
        /// The number of versions.
        versions: u64,
    },
    /// Stored versions of files were erased.
    ErasedVersions {
        /// The number of versions.
        versions: u64,
    },
    /// Stored versions of files are kept, because other commands, captures or conversations need the same bytes.
    KeepsSharedVersions {
        /// The number of versions.
        versions: u64,
    },
    /// Stored versions of files are kept, because a file has the same content now.
    KeepsCurrentVersions {
        /// The number of versions.
        versions: u64,
    },
    /// Versions that were stored next to erased ones could not be kept, because they were already damaged.
    LostVersions {
        /// The number of versions.
        versions: u64,
    },
    /// Other conversations could not be searched for the text to erase.
    OthersNotSearched {
        /// Why they could not be searched.
        problem: Box<Problem>,
    },
    /// Other conversations contain the text to erase.
    OthersContain {
        /// The number of these conversations, including forks.
        count: u64,
        /// The ids of the first of these conversations, one for each tree of forks. An erasure there applies to the whole tree.
        conversations: Vec<String>,
        /// Whether there are further trees of forks.
        more: bool,
    },
    /// Files are adopted: later steps treat them as the person's own edits.
    Adopted {
        /// The number of files.
        files: u64,
    },
    /// Files are no longer adopted and belong to their turns again.
    Returned {
        /// The number of files.
        files: u64,
    },
    /// Remembered facts count no longer, or count again.
    MemoryChanges {
        /// The number of facts that the step takes back.
        gone: u64,
        /// The number of facts that it brings back.
        came: u64,
    },
    /// Marks stay as they are now, although the step restores an earlier head.
    MarksStay {
        /// The head that the step restores.
        head: String,
        /// The current marks.
        marks: Vec<MarkCount>,
        /// The actions that set the marks of that head again.
        verbs: Vec<MarkVerb>,
    },
    /// The conversation is a fork, and turns of an ancestor changed files. These files stay as they are.
    OfParent {
        /// The id of the ancestor.
        parent: String,
        /// The number of files.
        files: u64,
        /// The first of these files.
        named: Vec<String>,
        /// The number of the turn in the ancestor to rewind: this reverts the files. Absent if no rewind reverts them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        turn: Option<u64>,
    },
    /// Something in a folder of the conversation stays, in addition to its files.
    InFolder {
        /// The further folder. Absent for the conversation's own folder.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        folder: Option<String>,
        /// What stays.
        remark: FolderRemark,
    },
    /// A further folder cannot be opened: changes in it stay.
    FolderGone {
        /// The folder.
        folder: String,
        /// Whether the folder does not exist.
        missing: bool,
        /// Why the folder cannot be opened. Absent if it does not exist.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<NoticeCause>,
        /// Deprecated, the next version leaves it out: `cause` as an English sentence.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
        why: Option<String>,
    },
    /// A code that only a newer owner knows.
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

/// The number of messages with a mark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MarkCount {
    /// The mark.
    pub mark: Mark,
    /// The number of messages.
    pub messages: u64,
}

/// Why one of several steps was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum StepRefusal {
    /// A path is in conflict and waits for a choice.
    Conflict {
        /// The path.
        #[serde(flatten)]
        name: FileName,
        /// Why it is in conflict.
        cause: PathCause,
    },
    /// The request is repeated. When it was first sent, the files of this step were in conflict.
    ConflictBefore,
    /// The step itself was refused.
    Refused {
        /// Why it was refused.
        problem: Box<Problem>,
    },
    /// A code that only a newer owner knows.
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}
