//! Remarks of a plan or a receipt: typed codes with fields. Only types; `english` makes the sentences.

use serde::{Deserialize, Serialize};

use crate::files::FileName;
use crate::mark_verb::MarkVerb;
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

/// Something that stays as it is, that cannot be reverted, or that a step did in addition.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
        /// The code of what failed. Absent where an earlier version recorded it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        problem: Option<ProblemCode>,
        /// What failed, as the message of a problem.
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
    /// Something stays in a folder of the conversation, beside its files.
    InFolder {
        /// The further folder; absent for the conversation's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        folder: Option<String>,
        /// What.
        remark: FolderRemark,
    },
    /// A further folder cannot be opened: what was changed in it stays.
    FolderGone {
        /// The folder.
        folder: String,
        /// It does not exist.
        missing: bool,
        /// What failed. Absent if it does not exist.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cause: Option<NoticeCause>,
        /// Deprecated, the next version leaves it out: `cause` as an English sentence.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
        why: Option<String>,
    },
    /// A code of a newer owner.
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

/// How many messages have a mark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MarkCount {
    /// `normal`, `excluded`, `hidden` or `dropped`.
    pub mark: String,
    /// The number of messages.
    pub messages: u64,
}

/// Why one of several steps was refused.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// A code of a newer owner.
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}
