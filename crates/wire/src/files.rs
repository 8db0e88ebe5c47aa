//! Files in plans and receipts: the options, the planned changes, the applied changes. Only types.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};

use crate::condition::{Condition, LeftPath, PathCause};
#[cfg(feature = "schema")]
use crate::shape;

/// What a step changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Messages and files.
    #[default]
    Both,
    /// Only the conversation. Files stay as they are.
    Conversation,
    /// Only files. The conversation stays as it is.
    Files,
}

/// A choice for a path: which version of it to keep or to restore.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// The version on disk is kept. From now on it counts as the person's own.
    Disk,
    /// The last version that somebody else wrote.
    Yours,
    /// Exactly the version that the step restores. Later changes by others are lost.
    Checkpoint,
    /// The version that the step restores, merged with the later changes by others.
    Merge,
    /// The path stays as it is, and the next step asks again.
    Skip,
    /// Only these hunks of the change, by their numbers in the plan's diff, from 1. The others stay as they are, and the next
    /// step asks again. It cannot be combined with several steps in one request. A hunk that the path does not have is refused.
    Hunks(#[cfg_attr(feature = "schema", schemars(length(min = 1)))] Vec<u32>),
}

/// A path. It is relative to the conversation's own folder, and absolute in a further folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FileName {
    /// The path. Bytes that are not UTF-8 are escaped.
    #[serde(default)]
    pub path: String,
    /// The bytes of the path in base64, if it is not UTF-8. If present, it is used instead of `path`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::BASE64)))]
    pub path_base64: Option<String>,
}

impl FileName {
    /// The name of a path with these bytes.
    pub fn from_bytes(path: &[u8]) -> Self {
        match std::str::from_utf8(path) {
            Ok(text) => Self { path: text.to_owned(), path_base64: None },
            Err(_) => Self { path: path.escape_ascii().to_string(), path_base64: Some(BASE64.encode(path)) },
        }
    }
}

/// A choice for a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Choose {
    /// The path.
    #[serde(flatten)]
    pub name: FileName,
    /// The choice.
    pub choice: Choice,
}

/// The options for files.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FileOptions {
    /// What the step changes.
    #[serde(default)]
    pub scope: Scope,
    /// The choices for single paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choose: Vec<Choose>,
    /// Whether all files without a choice are restored exactly. Later changes by others are lost.
    #[serde(default)]
    pub exact: bool,
    /// The digest of the file plan that the author saw. If the plan has changed, the request is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::DIGEST)))]
    pub seen: Option<String>,
    /// Whether to first stop an active run and the processes that reverted calls left running. Otherwise these cause a refusal.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stop: bool,
}

/// Earlier versions stored digests of requests that were made from this format, with the type's name at that time.
impl std::fmt::Debug for FileOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { scope, choose, exact, seen, stop } = self;
        let mut fields = f.debug_struct("FilesWish");
        fields.field("scope", scope).field("choose", choose).field("exact", exact);
        fields.field("seen", seen).field("stop", stop).finish()
    }
}

impl FileOptions {
    /// Whether all options have their default values.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// What a step would do to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It gets an earlier or a later version.
    Revert,
    /// It is removed.
    Delete,
    /// It is restored after it was removed.
    Recreate,
    /// It gets another version, merged with the later changes by others.
    Merge,
    /// It gets some hunks of another version, according to the choice.
    Part,
    /// It is in conflict and stays as it is until a person chooses. Nothing is done while a path is in conflict.
    Conflict,
    /// It already has the wanted version.
    Unchanged,
    /// It stays as it is: the author of the change is not known.
    Ambiguous,
    /// It stays as it is. Either a call moved git's HEAD, and HEAD has this version. Or a call moved a folder with a git
    /// repository.
    GitHas,
    /// A folder stays, because it contains something by others.
    NotEmpty,
    /// It stays as it is: somebody else has created it since.
    Foreign,
    /// It stays as it is: captures do not cover it.
    NotCovered,
}

/// How certain it is that the agent made a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// One of the agent's own edit tools made it.
    Written,
    /// It happened during one call.
    Seen,
    /// The author is not known: several calls ran at the same time, a call was interrupted, or a background job was running.
    Ambiguous,
}

/// The author of a change that prevents the wanted version of a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BlockingAuthor {
    /// The kind of author.
    pub whose: AuthorKind,
    /// The number of the turn, if a call of this conversation made the change and its turn is on the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// The entry id of the result of that call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
}

/// A kind of author.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AuthorKind {
    /// A later call of this conversation made the change, and the call stays.
    Later,
    /// A call of this conversation made the change, and the change is still there.
    There,
    /// A call of this conversation made the change, and the change is no longer there.
    Missing,
    /// No call made the change, but a person or another program.
    Hand,
    /// Git: its own folder or files are there.
    Git,
    /// An unknown author: captures do not cover the path.
    Uncovered,
    /// An author that this conversation does not know, such as another conversation.
    Others,
}

/// The version of a file after a choice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AfterChoice {
    /// The choice.
    pub choice: Choice,
    /// The version of the file after the choice.
    pub becomes: ChoiceOutcome,
    /// The number of the turn that identifies the version, if the turn is on the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// The entry id of the result of the call that identifies the version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// Whether several calls of that turn changed the file, and only one of them is meant.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partly: bool,
    /// Deprecated, the next version leaves it out: the other fields as an English sentence.
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub words: String,
}

/// The version of a file after a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ChoiceOutcome {
    /// As it is now. If a call is named, that is how the call left it.
    Stays,
    /// The file does not exist.
    Gone,
    /// As the named call left it.
    Left,
    /// As it was before the named call.
    Before,
    /// As somebody else left it last.
    Yours,
    /// The merged changes of all sides.
    Merged,
    /// Another version.
    Other,
}

/// A path in a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PathPlan {
    /// The path.
    #[serde(flatten)]
    pub name: FileName,
    /// What the step would do to the path.
    pub verdict: Verdict,
    /// Why the path stays as it is, also after a choice. If the path changes: which uncertain change stays in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<PathCause>,
    /// Deprecated, the next version leaves it out: `cause` as an English sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub why: Option<String>,
    /// How certain it is that the agent made the changes to revert.
    pub grade: Grade,
    /// The entry ids of the results of the calls to revert in this path, last call first. If there are none, those of the calls
    /// to bring back.
    pub calls: Vec<String>,
    /// The possible choices, the default first. Hunks are not included: see `hunks`.
    pub choices: Vec<Choice>,
    /// The hunks of the path.
    #[serde(flatten)]
    pub hunks: PathHunks,
    /// The other path of a rename, which the content moves from or to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renamed: Option<String>,
    /// The unified diff from the version on disk to the planned version, on request. For a conflict or an ambiguous change: to
    /// the version that the path would get if it did not stay as it is. If there are several hunks, they are numbered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// Whether changes by somebody else are lost with the choice.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub theirs: bool,
    /// Whether it is a folder whose content is listed under the same heading. Counts do not include it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub full_folder: bool,
    /// Whether an earlier step reverted the calls but kept their changes in the file, like a step with only the conversation.
    /// This step includes these changes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kept: bool,
    /// The author of the change that prevents the wanted version, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<BlockingAuthor>,
    /// The version of the path after each choice. Only for a path that is in conflict, or that was before a choice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outcomes: Vec<AfterChoice>,
}

/// The hunks of a path in a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PathHunks {
    /// The number of hunks that can be chosen one by one. Present with a diff, and for a conflict.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "hunks")]
    pub count: Option<u32>,
    /// The numbers of the chosen hunks.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub part: Vec<u32>,
}

/// A call that changed paths of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallLine {
    /// The entry id of its result.
    pub entry: String,
    /// The call, on one line. If it is hidden or not known: `a call`.
    pub line: String,
    /// When the call began, in Unix milliseconds, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began_ms: Option<i64>,
    /// When the call ended, in Unix milliseconds, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_ms: Option<i64>,
    /// The number of the turn of the call. Only if the call is hidden or not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
}

/// Files that others have changed since, and that the step leaves as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilesOfOthers {
    /// The number of files.
    pub changed: u64,
    /// The first of these files, at most 20. Bytes that are not UTF-8 and terminal control characters are escaped.
    pub paths: Vec<String>,
}

/// Numbers of changed files.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileCounts {
    /// Files that get another version.
    pub reverted: u64,
    /// Files that are removed.
    pub deleted: u64,
    /// Files that are restored after they were removed.
    pub recreated: u64,
    /// Files that get another version, merged with the changes by others.
    pub merged: u64,
}

/// The plan for files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilesPlan {
    /// Identifies this plan. A request with this digest applies exactly this plan, or is refused.
    pub digest: String,
    /// The numbers of files that would change.
    pub counts: FileCounts,
    /// The number of paths that wait for a choice.
    pub conflicts: u64,
    /// The number of paths that stay as they are for another reason.
    pub left: u64,
    /// The paths, in order.
    pub paths: Vec<PathPlan>,
    /// The calls that the paths name, oldest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<CallLine>,
    /// The files that others have changed since the first of these calls began.
    #[serde(default)]
    pub others: FilesOfOthers,
}

/// The result for files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilesDone {
    /// The numbers of files that were changed.
    pub counts: FileCounts,
    /// The paths that stayed as they are, with the reasons. Empty for a repeated request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_paths: Vec<LeftPath>,
    /// Remarks about other effects of the step. Empty for a repeated request.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conditions: Vec<Condition>,
    /// Deprecated, the next version leaves it out: `left_paths` as English sentences; bounded by them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub left: Vec<String>,
    /// Deprecated, the next version leaves it out: `conditions` as English sentences; bounded by them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub notes: Vec<String>,
}
