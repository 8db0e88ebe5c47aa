//! Reasons for a state or a refusal: typed codes with fields. Only types; `english` makes the sentences.

use serde::{Deserialize, Serialize};

use crate::files::{Against, FileName};
use crate::git_file::{GitFileChange, GitFileRole};
use crate::hint::Remedy;

/// A path that is not covered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UncoveredPath {
    /// The path; what is not UTF-8 or acts on a terminal stands in it as an escape.
    pub path: String,
    /// Why it is not covered.
    pub cause: UncoveredCause,
}

/// Why a path is not covered.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum UncoveredCause {
    /// It is a folder that an ignore file excludes.
    Ignored,
    /// It is a `node_modules` folder.
    NodeModules,
    /// It is a cache, by its `CACHEDIR.TAG`.
    CacheFolder,
    /// It is a Python environment, by its `pyvenv.cfg`.
    VirtualEnvironment,
    /// It is a bare git repository.
    Repository,
    /// It is Retake's own data.
    DataFolder,
    /// It is on another file system.
    OtherFileSystem,
    /// The file is over the limit for files.
    TooLarge,
    /// An ignore file excludes it, and it is over the limit for ignored files.
    IgnoredAndLarge,
    /// Its path is too long, or lies in too many folders.
    TooDeep,
    /// It is neither a file, nor a folder, nor a link.
    Special,
    /// It changed each time that it was read.
    Unstable,
    /// It cannot be read.
    Unreadable,
    /// The version that it would get is not kept any more.
    NotKept,
    /// It is a file that git runs or obeys, in a folder of git's own.
    GitFile {
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
    /// An earlier version recorded why in words.
    Recorded {
        /// The words.
        detail: String,
    },
    /// A code of a newer owner.
    #[default]
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

/// Why a path is left alone, or which uncertain change stays in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
        cause: UncoveredCause,
    },
    /// A person chose to decide later: a later step asks again.
    Undecided,
    /// A person chose what is there: it counts as theirs.
    ChosenDisk,
    /// Somebody wrote there while the step ran.
    WrittenMeanwhile,
    /// Its folder is gone, is a link, or is on another device.
    Unreachable,
    /// A code of a newer owner.
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

/// What was done to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PathChange {
    /// It was removed.
    Removed,
    /// It was made.
    Made,
    /// Its permissions.
    Permissions,
    /// It became another kind of thing, such as a folder instead of a file.
    Kind,
    /// The same lines.
    SamePlace,
    /// Something else in the file.
    File,
    /// The folder that it is in.
    Folder,
}

/// When a path changed, so that the author is not known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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

/// Why nothing can be written in a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum ReadOnlyCause {
    /// A newer version wrote an operation that this one does not know.
    NewerOperation {
        /// The number of the operation.
        operation: u64,
        /// Its kind.
        kind: String,
    },
    /// Its rows in the store cannot be read.
    Damaged {
        /// What the store says.
        detail: String,
    },
    /// A code of a newer owner.
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

/// Why a model cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum UnavailableCause {
    /// The environment variable with the key of its provider is not set.
    KeyNotSet {
        /// The variable.
        variable: String,
    },
    /// The file with the key of its provider cannot be read.
    KeyFileUnreadable {
        /// The file.
        path: String,
        /// What the system says.
        detail: String,
    },
    /// Other users can read the file with the key of its provider.
    KeyFileOpen {
        /// The file.
        path: String,
        /// Its permission bits.
        mode: u32,
    },
    /// The file with the key of its provider belongs to another user.
    KeyFileForeign {
        /// The file.
        path: String,
    },
    /// The file does not hold one key on one line.
    KeyFileInvalid {
        /// The file.
        path: String,
    },
    /// Its provider is on this computer, and the setting `local.find` is false.
    NotSearched,
    /// Its provider can be used, but no model of it is known: a request has to name one.
    NotNamed {
        /// Where its key is.
        key: ModelCause,
    },
    /// The server runs, but has no model.
    NoModels {
        /// The name of the server.
        server: String,
    },
    /// Nothing answers at the address.
    NoAnswer {
        /// The address.
        address: String,
        /// Something may answer later than the setting `local.find_within_ms` allows.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        late: bool,
    },
    /// What answers at the address is no model server.
    NoModelServer {
        /// The address.
        address: String,
    },
    /// The server refuses to list its models.
    Status {
        /// The address.
        address: String,
        /// The HTTP status.
        status: u16,
    },
    /// A code of a newer owner.
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

/// Why a model is used when none is named.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum ModelCause {
    /// A request names it.
    Requested,
    /// The setting `model.default` names it.
    Settings,
    /// Its provider needs no key.
    NoKeyNeeded,
    /// The key of its provider is in the environment.
    KeyVariable {
        /// The variable.
        variable: String,
    },
    /// The key of its provider is in a file.
    KeyFile {
        /// The file.
        path: String,
    },
    /// Its server runs on this computer.
    LocalServer {
        /// The name of the server.
        server: String,
    },
    /// There is no key and no server: the demo answers.
    Demo,
    /// A code of a newer owner.
    #[default]
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}
