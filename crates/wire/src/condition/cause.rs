//! Reasons for a state or a refusal: typed codes with fields. Only types; `english` makes the sentences.

use serde::{Deserialize, Serialize};

use crate::files::{BlockingAuthor, FileName};
use crate::git_file::{GitFileChange, GitFileRole};
use crate::hint::Remedy;

/// A path that captures do not cover.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct UncoveredPath {
    /// The path. Bytes that are not UTF-8 and terminal control characters are escaped. With the cause `git_file`, bytes that are
    /// not UTF-8 are only replaced.
    pub path: String,
    /// Why it is not covered.
    pub cause: UncoveredCause,
}

/// Why captures do not cover a path.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum UncoveredCause {
    /// It is a folder that an ignore file excludes.
    Ignored,
    /// It is a `node_modules` folder.
    NodeModules,
    /// It is a cache folder: it has a `CACHEDIR.TAG`.
    CacheFolder,
    /// It is a Python environment: it has a `pyvenv.cfg`.
    VirtualEnvironment,
    /// It is a bare git repository.
    Repository,
    /// It is the folder with Retake's own data.
    DataFolder,
    /// It is on another file system.
    OtherFileSystem,
    /// The file is larger than the limit for files.
    TooLarge,
    /// An ignore file excludes it, and it is larger than the limit for ignored files.
    IgnoredAndLarge,
    /// Its path is too long, or is nested in too many folders.
    TooDeep,
    /// It is neither a file, nor a folder, nor a link, for example a socket.
    Special,
    /// It changed during each attempt to read it.
    Unstable,
    /// It cannot be read.
    Unreadable,
    /// The version that the step would restore is no longer stored.
    NotKept,
    /// It is one of git's own files, which git runs or reads as settings.
    GitFile {
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
    /// An earlier version recorded the reason as text.
    Recorded {
        /// The recorded text.
        detail: String,
    },
    /// A code that only a newer owner knows.
    #[default]
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

/// Why a step leaves a path as it is, or which uncertain change stays in it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum PathCause {
    /// Another change of the path conflicts with the step.
    Clash {
        /// The author of the other change.
        by: BlockingAuthor,
        /// What the other change did.
        change: PathChange,
        /// Whether it is uncertain that the named turn made the other change.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        uncertain: bool,
    },
    /// A folder is in the place of the path, and not everything in the folder can be removed.
    FolderInTheWay,
    /// Something other than a folder, or a path that is not covered, is in the place of the folder that should contain the path.
    NoParent {
        /// The turn that changed the folder, if a turn did.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<BlockingAuthor>,
    },
    /// It is a folder that stays, because something in it is restored.
    Needed,
    /// It is a folder that stays, because it contains something else.
    NotEmpty {
        /// The author of the content. Absent if the content was created while the step ran.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<BlockingAuthor>,
    },
    /// Somebody else has created it since.
    MadeSince {
        /// The author.
        by: BlockingAuthor,
    },
    /// It is not known who made the change.
    Uncertain {
        /// When the path changed.
        when: Vec<UncertainWhen>,
    },
    /// The path changes, but a change by an unknown author stays in it.
    KeepsUncertain {
        /// When that change was made.
        when: Vec<UncertainWhen>,
    },
    /// A call moved it together with a git repository. The folder of the repository has to be moved back as a whole.
    MovedWithGit,
    /// A command moved git's HEAD, and the path has the version of HEAD. Only git can restore the earlier version.
    GitHead,
    /// Captures do not cover the path.
    NotCovered {
        /// Why it is not covered.
        cause: UncoveredCause,
    },
    /// A person chose to decide later. A later step asks again.
    Undecided,
    /// A person chose to keep the version on disk. It now counts as the person's own.
    ChosenDisk,
    /// Somebody wrote to the path while the step ran.
    WrittenMeanwhile,
    /// The folder of the path is gone, is a link, or is on another device.
    Unreachable,
    /// A code that only a newer owner knows.
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

/// What a conflicting change did to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum PathChange {
    /// The path was removed.
    Removed,
    /// The path was created.
    Made,
    /// Its permissions were changed.
    Permissions,
    /// It became another kind of entry, such as a folder instead of a file.
    Kind,
    /// The same lines were changed.
    SamePlace,
    /// The file was changed.
    File,
    /// The folder that contains it was changed.
    Folder,
}

/// When a path changed, if that makes the author uncertain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum UncertainWhen {
    /// An earlier version recorded no reason.
    Unrecorded,
    /// The change was found late: its time is not known.
    Late,
    /// A background job was running.
    Job,
    /// It changed around an interrupted call.
    CutOff,
    /// Several calls were running.
    Several,
}

/// A path that a step left as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftPath {
    /// The path.
    #[serde(flatten)]
    pub name: FileName,
    /// Why it was left as it is.
    pub cause: PathCause,
    /// The paths where content is kept that could not be put in its place.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<String>,
}

/// Why a conversation is read-only.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum ReadOnlyCause {
    /// A newer version wrote an operation that this version does not know.
    NewerOperation {
        /// The number of the operation.
        operation: u64,
        /// The kind of the operation.
        kind: String,
    },
    /// The rows of the conversation in the store cannot be read.
    Damaged {
        /// The error message of the store.
        detail: String,
    },
    /// It is the conversation of a subagent. It is changed through the conversation that started it.
    Subagent {
        /// The conversation that started it.
        conversation: String,
        /// The answer there that asks for it.
        entry: String,
        /// The id of the call, as in the events of a run.
        call: String,
    },
    /// A code that only a newer owner knows.
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

/// Why a model cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum UnavailableCause {
    /// The environment variable for the key of the provider is not set.
    KeyNotSet {
        /// The name of the variable.
        variable: String,
    },
    /// The file with the key of the provider cannot be read.
    KeyFileUnreadable {
        /// The path of the file.
        path: String,
        /// The error message of the system.
        detail: String,
    },
    /// Other users can read the file with the key of the provider.
    KeyFileOpen {
        /// The path of the file.
        path: String,
        /// The permission bits of the file.
        mode: u32,
    },
    /// The file with the key of the provider belongs to another user.
    KeyFileForeign {
        /// The path of the file.
        path: String,
    },
    /// The file with the key of the provider does not contain exactly one key on one line.
    KeyFileInvalid {
        /// The path of the file.
        path: String,
    },
    /// The provider is on this computer, and the setting `local.find` is false.
    NotSearched,
    /// The provider can be used, but none of its models is known. A request has to name one.
    NotNamed {
        /// Where the key of the provider is.
        key: ModelCause,
    },
    /// The server runs, but has no model.
    NoModels {
        /// The name of the server.
        server: String,
    },
    /// No server answers at the address.
    NoAnswer {
        /// The address.
        address: String,
        /// Whether a server may answer later than the setting `local.find_within_ms` allows.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        late: bool,
    },
    /// The server at the address is not a model server.
    NoModelServer {
        /// The address.
        address: String,
    },
    /// The server at the address refuses to list its models.
    Status {
        /// The address.
        address: String,
        /// The HTTP status code of its answer.
        status: u16,
    },
    /// A code that only a newer owner knows.
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

/// The reason for the choice of a model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum ModelCause {
    /// The request names it.
    Requested,
    /// The setting `model.default` names it.
    Settings,
    /// The provider needs no key.
    NoKeyNeeded,
    /// The key of the provider is in the environment.
    KeyVariable {
        /// The name of the variable.
        variable: String,
    },
    /// The key of the provider is in a file.
    KeyFile {
        /// The path of the file.
        path: String,
    },
    /// The server of the model runs on this computer.
    LocalServer {
        /// The name of the server.
        server: String,
    },
    /// There is no key and no server, so the built-in demo model answers.
    Demo,
    /// A code that only a newer owner knows.
    #[default]
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}
