//! Files in plans and receipts: the options for them, the planned changes, the applied changes. Only types.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Deserialize, Serialize};

use crate::condition::{Condition, LeftPath, PathCause};
#[cfg(feature = "schema")]
use crate::shape;

/// What a step takes along.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Messages and files.
    #[default]
    Both,
    /// The conversation alone; files stay.
    Conversation,
    /// Files alone; the conversation stays.
    Files,
}

/// What can be chosen for a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Choice {
    /// What is on the disk is kept, and counts as somebody else's from now on.
    Disk,
    /// The last version that somebody else wrote.
    Yours,
    /// Exactly as it was there, whatever others wrote since.
    Checkpoint,
    /// What others wrote since is merged with it.
    Merge,
    /// It is left as it is, and asked about again the next time.
    Skip,
    /// Only these hunks, by their numbers in the plan's diff, from 1. The others are left as they are, and asked about again
    /// the next time. Not for several steps at once. A path that has not got them is refused.
    Hunks(#[cfg_attr(feature = "schema", schemars(length(min = 1)))] Vec<u32>),
}

/// A path: below the conversation's own folder relative to it, in a further one absolute.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FileName {
    /// It; where it is not UTF-8, with escapes for what is not.
    #[serde(default)]
    pub path: String,
    /// Its bytes in base64, where it is not UTF-8. They are what counts then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::BASE64)))]
    pub path_base64: Option<String>,
}

impl FileName {
    /// The path that these bytes are.
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
    /// Which path.
    #[serde(flatten)]
    pub name: FileName,
    /// What.
    pub choice: Choice,
}

/// The options for files.
#[derive(Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct FileOptions {
    /// What is taken along.
    #[serde(default)]
    pub scope: Scope,
    /// What is chosen for paths.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choose: Vec<Choose>,
    /// All other files become exactly what they were there, whatever others wrote since.
    #[serde(default)]
    pub exact: bool,
    /// The digest of the file plan that was seen: another one is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::DIGEST)))]
    pub seen: Option<String>,
    /// A run at work, and processes that calls taken back have left running, are ended first; else they are a refusal.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stop: bool,
}

/// Digests of requests that an earlier version stored were made of this form, with the type's name of that time.
impl std::fmt::Debug for FileOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { scope, choose, exact, seen, stop } = self;
        let mut fields = f.debug_struct("FilesWish");
        fields.field("scope", scope).field("choose", choose).field("exact", exact);
        fields.field("seen", seen).field("stop", stop).finish()
    }
}

impl FileOptions {
    /// Whether all options have their defaults.
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// What would be done to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// It gets an earlier (or a later) version.
    Revert,
    /// It goes.
    Delete,
    /// It comes back.
    Recreate,
    /// It gets another version that holds what others wrote since.
    Merge,
    /// It gets some hunks of another version, as was chosen.
    Part,
    /// It is left alone until somebody chooses; as long as one is, nothing is done.
    Conflict,
    /// It is so already.
    Unchanged,
    /// It is left alone: nobody knows whose the change is.
    Ambiguous,
    /// It is left alone: a call moved git's HEAD, and this is what HEAD has; or a call moved the folder in which git keeps something.
    GitHas,
    /// A folder that others have put something into stays.
    NotEmpty,
    /// It is left alone: somebody else has made it since.
    Foreign,
    /// It is left alone, as it is not covered.
    NotCovered,
}

/// How sure it is that a change is the agent's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// One of our own edit tools did it.
    Written,
    /// It happened during one call.
    Seen,
    /// Nobody knows whose it is: several calls ran at the same time, a call was cut off, or a background job still ran.
    Ambiguous,
}

/// AuthorKind work keeps a path from what is wanted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Against {
    /// It.
    pub whose: AuthorKind,
    /// The number of its turn, where a call of this conversation did it and that is on the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// The result of that call, by entry.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
}

/// AuthorKind something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AuthorKind {
    /// A call of this conversation did it later, and stays.
    Later,
    /// A call of this conversation did it, and it is there.
    There,
    /// A call of this conversation did it, and it isn't there any more.
    Missing,
    /// No call did it: a person, or another program.
    Hand,
    /// Git keeps something there.
    Git,
    /// What is not covered: nobody knows who made it.
    Uncovered,
    /// Nothing that this conversation knows of, such as another conversation.
    Others,
}

/// What a file is after a choice.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AfterChoice {
    /// The choice.
    pub choice: Choice,
    /// The file then.
    pub becomes: Becomes,
    /// The number of the turn that names the change, if it is on the path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
    /// The entry of the call's result that names the change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<String>,
    /// Only one of several calls of that turn is meant.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub partly: bool,
    /// Deprecated, the next version leaves it out: the other fields as an English sentence.
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub words: String,
}

/// A file after a choice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Becomes {
    /// As it is now, which is as the call left it where one is named.
    Stays,
    /// It is gone.
    Gone,
    /// As the call left it.
    Left,
    /// As it was before the call.
    Before,
    /// As somebody else left it last.
    Yours,
    /// What all sides did, together.
    Merged,
    /// Another version.
    Other,
}

/// A path of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PathPlan {
    /// Which path.
    #[serde(flatten)]
    pub name: FileName,
    /// What would be done.
    pub verdict: Verdict,
    /// Why it is left alone, also where that was chosen. Of a path that changes: which uncertain change stays in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<PathCause>,
    /// Deprecated, the next version leaves it out: `cause` as an English sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub why: Option<String>,
    /// How sure it is that what is taken back is the agent's.
    pub grade: Grade,
    /// The results of the calls whose changes leave it or, where none do, come into it, by entry; the last call first.
    pub calls: Vec<String>,
    /// What can be chosen, the default first. Hunks are not among them: see there.
    pub choices: Vec<Choice>,
    /// Its hunks.
    #[serde(flatten)]
    pub hunks: PathHunks,
    /// The other path that its content goes with: it was renamed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub renamed: Option<String>,
    /// How it would differ from what is there, as a unified diff; of a conflict and of what is ambiguous, how it would if it were
    /// not left alone. Several hunks say their numbers. On request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diff: Option<String>,
    /// What somebody else wrote goes with it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub theirs: bool,
    /// It is a folder whose content is listed: counts leave it out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub full_folder: bool,
    /// An earlier step took back what had changed it and kept the file, as one of the conversation alone does; this one takes it
    /// along.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub kept: bool,
    /// AuthorKind work keeps it from what is wanted, where something does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<Against>,
    /// What it is after each choice; of what is in conflict, or was before something was chosen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outcomes: Vec<AfterChoice>,
}

/// The hunks of a path in a plan.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PathHunks {
    /// How many hunks it has that can be chosen one by one; with the diff, and for what is in conflict.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "hunks")]
    pub count: Option<u32>,
    /// Which of them were chosen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub part: Vec<u32>,
}

/// A call whose changes a plan is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallLine {
    /// Its result, by entry.
    pub entry: String,
    /// What ran, in a line; where that is not known, the name of the tool.
    pub line: String,
    /// When it began, Unix milliseconds, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began_ms: Option<i64>,
    /// When it ended, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_ms: Option<i64>,
    /// The turn that it belongs to, where what ran can't be read, as it is hidden.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<u64>,
}

/// Files that others have changed since, and that stay as they are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Others {
    /// How many.
    pub changed: u64,
    /// The first of them, at most 20; what is not UTF-8 stands in them as an escape.
    pub paths: Vec<String>,
}

/// How many paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileCounts {
    /// They get another version.
    pub reverted: u64,
    /// They go.
    pub deleted: u64,
    /// They come back.
    pub recreated: u64,
    /// They get another version that holds what others wrote.
    pub merged: u64,
}

/// What would become of files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilesPlan {
    /// Names this plan: send it along to have this one carried out, or a refusal.
    pub digest: String,
    /// What would be done.
    pub counts: FileCounts,
    /// How many paths wait for a choice.
    pub conflicts: u64,
    /// How many are left alone for another reason.
    pub left: u64,
    /// The paths, in their order.
    pub paths: Vec<PathPlan>,
    /// The calls that these name, first first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<CallLine>,
    /// What others have changed since the first of these calls began.
    #[serde(default)]
    pub others: Others,
}

/// What became of files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FilesDone {
    /// What was done.
    pub counts: FileCounts,
    /// Paths that were left alone, and why. A repeated request does not get them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_paths: Vec<LeftPath>,
    /// What else was done. A repeated request does not get it.
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
