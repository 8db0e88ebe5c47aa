//! Replies about folders, their captures and their differences. A capture must never hold the content of a file.

use serde::{Deserialize, Serialize};

use crate::condition::UncoveredCause;
use crate::files::{FileName, Grade};
use crate::problem::Problem;
use crate::request::PruneHow;

/// A page of captures, newest first.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Captures {
    /// The captures.
    pub captures: Vec<Capture>,
    /// Whether earlier captures exist.
    pub more: bool,
}

/// A capture: what changed in a folder since the capture before it, without the changes of tool calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Capture {
    /// The number of the capture in its folder: 1, 2, 3 …
    pub number: u64,
    /// When the folder was captured, in Unix milliseconds.
    pub time_ms: i64,
    /// The name of the capture, if somebody gave it one.
    pub name: Option<String>,
    /// The number of paths that changed.
    pub changed: u64,
    /// The first of these paths, at most 20. Bytes that are not UTF-8 and terminal control characters are escaped.
    pub paths: Vec<String>,
}

/// A page of the folders that conversations work in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Workspaces {
    /// The folders of this page, oldest first.
    pub workspaces: Vec<Workspace>,
    /// Whether more folders follow.
    #[serde(default)]
    pub more: bool,
}

/// A folder that conversations work in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Workspace {
    /// The number of the folder.
    pub number: u64,
    /// The path of the folder. Bytes that are not UTF-8 are replaced.
    pub folder: String,
    /// When the folder was first seen, in Unix milliseconds.
    pub created_ms: i64,
}

/// The current differences in the folders of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilesStatus {
    /// The path of the conversation's own folder.
    pub folder: String,
    /// The paths of its further folders, bounded by the settings. Files in a further folder are named by their absolute paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<String>,
    /// Further folders that no longer exist or cannot be opened, bounded by the settings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone_folders: Vec<GoneFolder>,
    /// Deprecated, the next version leaves it out: `gone_folders` as English sentences; bounded by them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub gone: Vec<String>,
    /// Changes by tool calls of this conversation that are in the files now: all of them, bounded by the files that differ.
    pub calls: Vec<Changed>,
    /// Other changes since the conversation began that captures have seen: all of them, bounded by the files that differ.
    pub others: Vec<Changed>,
    /// The number of rewound calls with changes that are still in the files.
    pub ahead: u64,
    /// The number of calls on the path with changes that are not in all of their files.
    pub behind: u64,
    /// The paths that are not covered, grouped by cause: bounded by the causes that exist.
    pub uncovered: Vec<Uncovered>,
    /// Calls with processes that still run: all of them, bounded by what runs.
    pub running: Vec<Job>,
}

/// A folder that no longer exists or cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GoneFolder {
    /// The path of the folder. Bytes that are not UTF-8 are replaced.
    pub folder: String,
    /// Why the folder cannot be opened.
    pub problem: Problem,
}

/// How a path differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// The path is new.
    Made,
    /// The path has another version.
    Changed,
    /// The path no longer exists.
    Removed,
}

/// A path that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Changed {
    /// The path.
    #[serde(flatten)]
    pub name: FileName,
    /// How the path differs.
    pub state: State,
    /// How certain it is that tool calls made the change. Absent if no call changed the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grade: Option<Grade>,
    /// The entries with the results of these calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<String>,
    /// Whether somebody else has changed the path since.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub touched: bool,
}

/// The paths that are not covered for one cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Uncovered {
    /// Why these paths are not covered.
    #[serde(default)]
    pub cause: UncoveredCause,
    /// Deprecated, the next version leaves it out: `cause` as an English sentence.
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub why: String,
    /// The number of folders and files. The content of a folder is not counted.
    pub count: u64,
    /// The first of these paths, at most 5. Bytes that are not UTF-8 and terminal control characters are escaped.
    pub paths: Vec<String>,
}

/// A tool call with processes that still run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Job {
    /// The entry with the call.
    pub call: String,
    /// The command, or else the arguments of the call.
    pub what: String,
    /// The number of its processes.
    pub processes: u64,
}

/// How files differ between two points in time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Differences {
    /// The paths that differ, sorted within each folder. The conversation's own folder comes first.
    pub files: Vec<Difference>,
}

/// How a path differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// The path.
    #[serde(flatten)]
    pub name: FileName,
    /// How the path differs.
    pub state: State,
    /// The difference as a unified diff. A file that is not text or is too large is only named in it. Absent if the diffs before
    /// it already reach the size limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// What is stored of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkspaceShown {
    /// The folder.
    pub workspace: Workspace,
    /// Why no conversation can work in the folder now. Absent if it is usable.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
    /// Deprecated, the next version leaves it out: `problem` as an English sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub away: Option<String>,
    /// The ids of the conversations that work in it or changed files there: all of them, bounded by the conversations that exist.
    pub conversations: Vec<String>,
    /// The number of stored captures.
    pub captures: u64,
    /// The names of the captures that have one, newest first: all of them, bounded by the names that people gave.
    pub checkpoints: Vec<String>,
    /// The number of calls with stored file changes, which can be reverted.
    pub calls: u64,
    /// The number of stored file versions. Some of them can belong to other folders too.
    pub versions: u64,
    /// The size of these versions in bytes, before compression.
    pub bytes: u64,
    /// Whether a rewind or another step on the files of this folder is unfinished.
    pub unsettled: bool,
    /// The size limit of files in bytes. Larger files are not covered.
    pub max_file: u64,
    /// The size limit in bytes of files that an ignore file excludes. Larger ones are not covered.
    pub max_ignored: u64,
    /// The number of paths that are not covered. A folder counts as one.
    pub not_covered: u64,
    /// The first of these paths, at most 100.
    pub examples: Vec<NotCovered>,
}

/// A path that is not covered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NotCovered {
    /// The path. Bytes that are not UTF-8 and terminal control characters are escaped.
    pub path: String,
    /// Why the path is not covered.
    #[serde(default)]
    pub cause: UncoveredCause,
    /// Deprecated, the next version leaves it out: `cause` as an English sentence.
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub why: String,
}

/// What a collection removed from the stored file versions, or would remove.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pruned {
    /// What the request allowed the collection to remove.
    pub how: PruneHow,
    /// The number of captures without a name.
    pub captures: u64,
    /// The number of file versions.
    pub versions: u64,
    /// The space on the disk that becomes free, in bytes. An estimate until the collection has run.
    pub freed: u64,
    /// The space on the disk that stored versions still take, in bytes. An estimate until the collection has run.
    pub size: u64,
    /// The quota for stored versions, in bytes.
    pub quota: u64,
    /// Calls with stored changes that do not fit into the quota. With `to_quota`, their files can no longer be reverted, at least
    /// not all. Without it, their changes stay stored.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub let_go: Vec<LostCalls>,
    /// The number of versions that are needed but damaged. `doctor` reports more about them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub damaged: u64,
}

/// Calls of one conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LostCalls {
    /// The id of the conversation.
    pub conversation: String,
    /// The entries with the results of these calls, oldest first.
    pub calls: Vec<String>,
}

pub(super) fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Written {
    /// The path of the file.
    pub path: String,
    /// The size of the file in bytes.
    pub bytes: u64,
}
