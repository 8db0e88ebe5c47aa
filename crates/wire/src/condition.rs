//! Remarks of a plan or a receipt: typed codes with fields. Only shapes; `english` makes the sentences.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::action::MarkVerb;
use crate::files::{Against, FileName};
use crate::problem::Problem;

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
    /// Something that has no code of its own yet.
    Described {
        /// A sentence.
        text: String,
    },
}

/// How many messages have a mark.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct MarkCount {
    /// `normal`, `excluded`, `hidden` or `dropped`.
    pub mark: String,
    /// The number of messages.
    pub messages: u64,
}

/// A path that is not covered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct UncoveredPath {
    /// The path; what is not UTF-8 or acts on a terminal stands in it as an escape.
    pub path: String,
    /// Why it is not covered.
    pub why: String,
}

/// Why a path is left alone, or which uncertain change stays in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum PathCause {
    /// Somebody else changed the same.
    Clash {
        /// Who.
        by: Against,
        /// What.
        change: PathChange,
        /// It is not certain that this turn did it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        uncertain: bool,
    },
    /// A folder is in its place, and not all in it can be removed.
    FolderInTheWay,
    /// The folder that it belongs in is no folder any more.
    NoParent {
        /// The turn that changed that, where one did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Against>,
    },
    /// A folder stays, since something in it comes back.
    Needed,
    /// A folder stays, since something else is in it.
    NotEmpty {
        /// Who put it there; absent where that happened while the step ran.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Against>,
    },
    /// Somebody else has made it since.
    MadeSince {
        /// Who.
        by: Against,
    },
    /// The author of its change is not known.
    Uncertain {
        /// When it changed.
        when: Vec<UncertainWhen>,
    },
    /// It changes, and an uncertain change stays in it.
    KeepsUncertain {
        /// When that change happened.
        when: Vec<UncertainWhen>,
    },
    /// A call moved it with what git keeps there: the folder moves back as a whole.
    MovedWithGit,
    /// It is what git's HEAD has, which a command moved: only git goes back there.
    GitHead,
    /// It is not covered.
    NotCovered {
        /// Why.
        why: String,
    },
    /// A person chose to decide later: a later step asks again.
    Undecided,
    /// A person chose what is there: it counts as theirs.
    ChosenDisk,
    /// Somebody wrote there while the step ran.
    WrittenMeanwhile,
    /// Its folder is gone, is a link, or is on another device.
    Unreachable,
}

/// What was done to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PathChange {
    /// It was removed.
    Removed,
    /// It was made.
    Made,
    /// Its permissions.
    Permissions,
    /// It became another kind of thing, such as a folder in the place of a file.
    Kind,
    /// The same lines.
    SamePlace,
    /// Something else in the file.
    File,
    /// The folder that it is in.
    Folder,
}

/// When a path changed, so that the author is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UncertainWhen {
    /// An earlier version recorded no reason.
    Unrecorded,
    /// It was found late: the time is not known.
    Late,
    /// While a background job ran.
    Job,
    /// Around a call that was cut off.
    CutOff,
    /// While several calls ran.
    Several,
}

/// A path that a step left alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftPath {
    /// Which path.
    #[serde(flatten)]
    pub name: FileName,
    /// Why.
    pub cause: PathCause,
    /// Where the content is kept that could not be put in its place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<String>,
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
