//! Notices of a run, apart from its answer: typed codes with fields. Only types; `english` makes the sentences.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::git_file::{GitFileChange, GitFileRole};
use crate::hint::{Hint, Remedy};
use crate::mcp_remark::McpRemark;
use crate::problem_code::ProblemCode;

/// Something that a person should know of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum RunNotice {
    /// The model is asked again.
    Retry {
        /// After so many milliseconds.
        in_ms: u64,
        /// How the last request failed.
        failure: ModelFailure,
        /// A short detail, such as `HTTP 429`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
    },
    /// The answer reached the model's limit and is cut.
    AnswerCut,
    /// The model refused to go on.
    ModelRefused,
    /// The answer so far is not saved: after a crash it would be lost.
    AnswerNotSaved {
        /// Why.
        cause: NoticeCause,
    },
    /// A call runs this once; the rule that was to last is not kept.
    RuleNotKept {
        /// Why.
        cause: NoticeCause,
    },
    /// The settings became wrong: until they are corrected, no rule of them allows anything.
    SettingsWrong {
        /// What is wrong.
        cause: NoticeCause,
    },
    /// Something beside the run failed, and the run goes on.
    Failed {
        /// What.
        cause: NoticeCause,
    },
    /// The folder cannot be captured: nothing can be changed there, as it could not be taken back.
    NothingCanChange {
        /// Why.
        cause: NoticeCause,
    },
    /// A further folder cannot be captured: what is written there cannot be taken back.
    FolderNotCaptured {
        /// The folder.
        folder: String,
        /// Why.
        cause: NoticeCause,
    },
    /// Processes of a call still run; what they change from now on is kept.
    ProcessesRun {
        /// How many.
        processes: u64,
    },
    /// A command of a person changed hooks or settings of git, which a rewind leaves as they are. Of a call of the agent, its result says so.
    GitFilesChanged {
        /// The first of them; at most 4.
        files: Vec<ChangedGitFile>,
        /// How many more there are.
        more: u64,
    },
    /// A command of a person changed files that git runs or reads as settings, and that a rewind takes back.
    CoveredGitFilesChanged {
        /// The first of them; at most 4.
        files: Vec<ChangedGitFile>,
        /// How many more there are.
        more: u64,
    },
    /// The turn waits for MCP servers to start.
    ServersAwaited {
        /// Their names; bounded by the files that name them.
        servers: Vec<String>,
    },
    /// MCP servers took longer than the turn waits: it goes on without their tools.
    ServersLate {
        /// Their names; bounded by the files that name them.
        servers: Vec<String>,
        /// How long the turn waited, in milliseconds.
        waited_ms: u64,
    },
    /// A remark about an MCP server.
    Server {
        /// Its name.
        server: String,
        /// The remark.
        remark: McpRemark,
    },
    /// An MCP server cannot be used.
    ServerFailed {
        /// Its name.
        server: String,
        /// Why: the field `what` has the kind of failure.
        cause: NoticeCause,
    },
    /// The folder names an MCP server that nobody has approved yet.
    ServerNeedsApproval {
        /// Its name.
        server: String,
    },
    /// Something is wrong with a file that names MCP servers.
    ServerFile {
        /// What, with `what`, `path`, `line` and `key` in its fields.
        cause: NoticeCause,
    },
    /// Messages that waited were not sent, because what they answer is gone.
    NotSent {
        /// Their texts, empty for one without words; bounded by the messages that may wait.
        messages: Vec<String>,
    },
    /// What became of the file that a message names with `@`.
    Mention {
        /// The name.
        name: String,
        /// What became of it.
        outcome: MentionOutcome,
    },
    /// The owner does not answer. Only clients report this: the owner never sends it.
    #[cfg_attr(feature = "schema", schemars(skip))]
    OwnerSilent {
        /// Its process.
        pid: u32,
    },
    /// The owner ended during the run, and another one continues. Only clients report this: the owner never sends it.
    #[cfg_attr(feature = "schema", schemars(skip))]
    OwnerReplaced,
    /// A code of a newer owner.
    #[default]
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

impl RunNotice {
    /// Whether only its owner knows what it is.
    pub(crate) fn is_unknown(&self) -> bool {
        *self == Self::Unknown
    }
}

/// Why something failed that a notice or a condition is about. It is no `Problem`, as problems hold notices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NoticeCause {
    /// What programs decide by: that of a problem.
    pub code: ProblemCode,
    /// What failed, on what, and why. An English sentence without a full stop.
    pub message: String,
    /// The named values of the code, as a problem has them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, Value>,
    /// What to do next: English text, and between it the remedies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<Hint>,
    /// The causes, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<String>,
}

/// A file of git's own that a call changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangedGitFile {
    /// The path; what is not UTF-8 or acts on a terminal stands in it as an escape.
    pub path: String,
    /// How it changed.
    pub change: GitFileChange,
    /// What git does with it.
    pub role: GitFileRole,
    /// What puts it back. Absent where what it was could not be kept, and where an earlier version recorded the command alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<Remedy>,
    /// Deprecated, the next version leaves it out: `remedy` as a shell command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub command: Option<String>,
}

/// How a request to a model failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum ModelFailure {
    /// No key is configured, or it cannot be read.
    NoKey,
    /// The provider does not take the key, or it may not use the model.
    Refused,
    /// The account has no credit or quota left.
    OutOfCredit,
    /// Too many requests.
    RateLimited,
    /// The provider has trouble of its own.
    Overloaded,
    /// The prompt does not fit into the model's context.
    ContextTooLong,
    /// The provider does not answer such a prompt.
    SafetyRefusal,
    /// The model, or the address, does not exist.
    UnknownModel,
    /// The provider finds the request wrong.
    Rejected,
    /// There is no connection.
    Unreachable,
    /// The connection ended before the answer did.
    Cut,
    /// Nothing arrived for too long.
    TimedOut,
    /// The answer reached its limit in the middle of a tool call.
    OutputLimit,
    /// The model wrote a tool call that cannot be read.
    BadCall,
    /// The reply is not what the protocol says.
    BadReply,
    /// The settings do not describe a model.
    BadSettings,
    /// A code of a newer owner.
    #[default]
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

/// What became of a file that a message names with `@`. Of these outcomes, only `secret` attaches the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum MentionOutcome {
    /// There is no such file: the name is only words.
    NoFile,
    /// It is attached, and looks like a secret.
    Secret,
    /// What comes through a pipe attaches nothing.
    Piped,
    /// It is a link to a file with secrets.
    LeadsToSecret {
        /// That file.
        path: String,
    },
    /// It is a link out of the folder.
    LeadsOut {
        /// The file that it leads to.
        path: String,
    },
    /// As many files are attached as may be.
    TooMany {
        /// So many.
        most: u64,
    },
    /// The message would be too large with it.
    MessageTooLarge,
    /// The text is too long: the agent can read it with a tool.
    TextTooLarge {
        /// Its size in bytes.
        bytes: u64,
        /// The most bytes.
        most: u64,
    },
    /// The picture is too large.
    PictureTooLarge {
        /// Its size in bytes.
        bytes: u64,
        /// The most bytes.
        most: u64,
    },
    /// The PDF is too large.
    PdfTooLarge {
        /// Its size in bytes.
        bytes: u64,
        /// The most bytes.
        most: u64,
    },
    /// It is neither text, nor a picture, nor a PDF.
    OtherKind,
    /// The person may not read it.
    NotAllowed,
    /// It is a link to nothing.
    LeadsNowhere,
    /// It cannot be read.
    Unreadable {
        /// What the system says.
        detail: String,
    },
    /// A code of a newer owner.
    #[default]
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}
