//! The captures of folders. Must never hold the content of a file.

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
    /// Whether there are earlier ones.
    pub more: bool,
}

/// A capture: what changed in a folder since the one before it, without the changes of calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Capture {
    /// Its number in the folder: 1, 2, 3 …
    pub number: u64,
    /// When, Unix milliseconds.
    pub time_ms: i64,
    /// The name that somebody gave it.
    pub name: Option<String>,
    /// How many paths changed.
    pub changed: u64,
    /// The first of them, at most 20; what is not UTF-8 or acts on a terminal stands in them as an escape.
    pub paths: Vec<String>,
}

/// Folders that conversations work in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Workspaces {
    /// They, oldest first.
    pub workspaces: Vec<Workspace>,
    /// Whether there are more.
    #[serde(default)]
    pub more: bool,
}

/// A folder that conversations work in.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Workspace {
    /// Its number.
    pub number: u64,
    /// Its path; what is not UTF-8 is replaced in it.
    pub folder: String,
    /// When it was first seen, Unix milliseconds.
    pub created_ms: i64,
}

/// What differs in a folder now.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilesStatus {
    /// The conversation's own folder.
    pub folder: String,
    /// Its further ones, bounded by the settings; what is in one of them is named by its absolute path.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub further: Vec<String>,
    /// Further ones that are gone or cannot be opened; bounded by the settings.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone_folders: Vec<GoneFolder>,
    /// Deprecated, the next version leaves it out: `gone_folders` as English sentences; bounded by them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub gone: Vec<String>,
    /// What calls of this conversation have changed, and is in the files now: all of it, bounded by the files that differ.
    pub calls: Vec<Changed>,
    /// What else has changed since the conversation began, as far as it was seen: all of it, bounded by the files that differ.
    pub others: Vec<Changed>,
    /// How many calls are in the files though the conversation went back to before them.
    pub ahead: u64,
    /// How many calls of the conversation are not in all the files that they changed.
    pub behind: u64,
    /// What is not covered, by reason; bounded by the reasons there are.
    pub uncovered: Vec<Uncovered>,
    /// Calls of which processes still run: all of them, bounded by what runs.
    pub running: Vec<Job>,
}

/// A folder that is gone or cannot be opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GoneFolder {
    /// Its path; what is not UTF-8 is replaced in it.
    pub folder: String,
    /// Why.
    pub problem: Problem,
}

/// How a path differs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// It is new.
    Made,
    /// It is another one.
    Changed,
    /// It is gone.
    Removed,
}

/// A path that differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Changed {
    /// Which.
    #[serde(flatten)]
    pub name: FileName,
    /// How.
    pub state: State,
    /// How sure it is that calls did it; absent where none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub grade: Option<Grade>,
    /// The results of these calls, by entry.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<String>,
    /// Somebody else has changed it since.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub touched: bool,
}

/// What is not covered for one reason.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Uncovered {
    /// Why.
    #[serde(default)]
    pub cause: UncoveredCause,
    /// Deprecated, the next version leaves it out: `cause` as an English sentence.
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub why: String,
    /// How many folders and files; what is in a folder is not counted.
    pub count: u64,
    /// The first of them, at most 5; what is not UTF-8 or acts on a terminal stands in them as an escape.
    pub paths: Vec<String>,
}

/// A call of which processes still run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Job {
    /// The call, by entry.
    pub call: String,
    /// The command, or what else it was asked to do.
    pub what: String,
    /// How many processes.
    pub processes: u64,
}

/// How files differ between two points in time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Differences {
    /// The paths, in their order.
    pub files: Vec<Difference>,
}

/// How a path differs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// Which.
    #[serde(flatten)]
    pub name: FileName,
    /// How.
    pub state: State,
    /// As a unified diff; what is no text, or too large, is named in it. Absent, when the diffs before it are too long already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
}

/// What is kept of a folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WorkspaceShown {
    /// Which.
    pub workspace: Workspace,
    /// Why it can't be worked in now, where it can't.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<Problem>,
    /// Deprecated, the next version leaves it out: `problem` as an English sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub away: Option<String>,
    /// Conversations that work in it, by id: all of them, bounded by the conversations there are.
    pub conversations: Vec<String>,
    /// How many captures are kept.
    pub captures: u64,
    /// The names of those that have one, newest first: all of them, bounded by the names that people gave.
    pub checkpoints: Vec<String>,
    /// How many calls can go back with the files that they changed.
    pub calls: u64,
    /// How many versions of files are kept for it, some of them for other folders too.
    pub versions: u64,
    /// Their bytes, before compression.
    pub bytes: u64,
    /// A step back or forth is not finished there.
    pub unsettled: bool,
    /// Larger files are not covered, in bytes.
    pub max_file: u64,
    /// Larger files that an ignore file excludes are not covered, in bytes.
    pub max_ignored: u64,
    /// How many paths are not covered, folders as one.
    pub not_covered: u64,
    /// The first of them, at most 100.
    pub examples: Vec<NotCovered>,
}

/// A path that is not covered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NotCovered {
    /// It; what is not UTF-8 or acts on a terminal stands in it as an escape.
    pub path: String,
    /// Why.
    #[serde(default)]
    pub cause: UncoveredCause,
    /// Deprecated, the next version leaves it out: `cause` as an English sentence.
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub why: String,
}

/// What was taken out of what is kept of files; before it is done, what would be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pruned {
    /// How much was asked for.
    pub how: PruneHow,
    /// Captures without a name.
    pub captures: u64,
    /// Versions of files.
    pub versions: u64,
    /// Bytes on the disk; about, as long as it is not done.
    pub freed: u64,
    /// Bytes that stay on the disk; about, as long as it is not done.
    pub size: u64,
    /// Bytes that there may be.
    pub quota: u64,
    /// What does not fit into the quota: with `to_quota` these calls' files can't go back any more, at least not all; else
    /// they stay.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub let_go: Vec<LetGo>,
    /// Versions that are needed and damaged: `doctor` says more.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub damaged: u64,
}

/// Calls of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LetGo {
    /// The conversation.
    pub conversation: String,
    /// Their results, first first.
    pub calls: Vec<String>,
}

pub(super) fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A file was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Written {
    /// Where.
    pub path: String,
    /// How large.
    pub bytes: u64,
}
