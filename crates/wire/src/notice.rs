//! Notices of a run, which are reported beside its answer: typed codes with fields. Only types; `english` makes the sentences.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::git_file::{GitFileChange, GitFileRole};
use crate::hint::{Hint, Remedy};
use crate::mcp_remark::McpRemark;
use crate::model_facts::Effort;
use crate::problem_code::ProblemCode;

/// A notice of a run for the person.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum RunNotice {
    /// The model is called again.
    Retry {
        /// The time until the next call, in milliseconds.
        in_ms: u64,
        /// Why the last call failed.
        failure: ModelFailure,
        /// A short detail, such as `HTTP 429`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        detail: Option<String>,
    },
    /// The model is called without the effort of the settings, because it is not known to take one.
    EffortNotSent {
        /// The model's name.
        model: String,
        /// The effort.
        effort: Effort,
    },
    /// The answer reached the model's limit and was cut off.
    AnswerCut,
    /// Earlier messages are summarised, because they nearly fill the model's context. The turn goes on then.
    Compacts,
    /// A summary is made again, because messages that it covers were hidden or shown. The turn goes on then.
    FoldsAgain,
    /// The prompt is larger than the model's context, so the provider may refuse it.
    TooLongForModel {
        /// The model's name.
        model: String,
        /// About how many tokens the prompt has.
        tokens: u64,
        /// The tokens of the model's context.
        limit: u64,
    },
    /// There is no summary of earlier messages. The turn goes on without it.
    NotCompacted {
        /// Why.
        cause: NoticeCause,
    },
    /// The model refused to continue.
    ModelRefused,
    /// The answer so far is not saved: a crash would lose it.
    AnswerNotSaved {
        /// Why it could not be saved.
        cause: NoticeCause,
    },
    /// A call is allowed this time only: the permanent rule could not be stored.
    RuleNotKept {
        /// Why the rule could not be stored.
        cause: NoticeCause,
    },
    /// The settings have become invalid. Until they are corrected, none of their rules allows anything.
    SettingsWrong {
        /// What is wrong.
        cause: NoticeCause,
    },
    /// Another task failed, and the run continues.
    Failed {
        /// What failed.
        cause: NoticeCause,
    },
    /// The folder cannot be captured. Nothing can be changed there, because changes could not be reverted.
    NothingCanChange {
        /// Why the folder cannot be captured.
        cause: NoticeCause,
    },
    /// A further folder cannot be captured: changes there cannot be reverted.
    FolderNotCaptured {
        /// The folder.
        folder: String,
        /// Why the folder cannot be captured.
        cause: NoticeCause,
    },
    /// A memory does not answer.
    NothingRecalled {
        /// Why.
        cause: NoticeCause,
    },
    /// Processes of a call are still running. A rewind keeps what they change from now on.
    ProcessesRun {
        /// The number of processes.
        processes: u64,
    },
    /// A command that the person ran changed hooks or settings of git, which a rewind leaves as they are. For a call of the
    /// agent, the result of the call reports this instead.
    GitFilesChanged {
        /// The first of these files, at most 4.
        files: Vec<ChangedGitFile>,
        /// The number of further files.
        more: u64,
    },
    /// A command that the person ran changed files that git runs or reads as settings. A rewind reverts these changes.
    CoveredGitFilesChanged {
        /// The first of these files, at most 4.
        files: Vec<ChangedGitFile>,
        /// The number of further files.
        more: u64,
    },
    /// The turn is waiting for MCP servers to start.
    ServersAwaited {
        /// The names of the servers, bounded by the files that declare them.
        servers: Vec<String>,
    },
    /// MCP servers took longer to start than the turn waits. The turn continues without their tools.
    ServersLate {
        /// The names of the servers, bounded by the files that declare them.
        servers: Vec<String>,
        /// How long the turn waited, in milliseconds.
        waited_ms: u64,
    },
    /// A remark about an MCP server.
    Server {
        /// The name of the server.
        server: String,
        /// The remark.
        remark: McpRemark,
    },
    /// An MCP server cannot be used.
    ServerFailed {
        /// The name of the server.
        server: String,
        /// Why it cannot be used. The field `what` contains the kind of failure.
        cause: NoticeCause,
    },
    /// The folder declares an MCP server that nobody has approved yet.
    ServerNeedsApproval {
        /// The name of the server.
        server: String,
    },
    /// A file that declares MCP servers has an error.
    ServerFile {
        /// The error, with `what`, `path`, `line` and `key` in its fields.
        cause: NoticeCause,
    },
    /// Waiting messages were not sent, because the message that they answer is gone.
    NotSent {
        /// The texts of the messages, bounded by the messages that may wait. A message without text is an empty string.
        messages: Vec<String>,
    },
    /// The outcome for a file that a message mentions with `@`.
    Mention {
        /// The name in the message.
        name: String,
        /// What happened to the file.
        outcome: MentionOutcome,
    },
    /// The owner does not answer. Only clients report this: the owner never sends it.
    #[cfg_attr(feature = "schema", schemars(skip))]
    OwnerSilent {
        /// The process id of the owner.
        pid: u32,
    },
    /// The owner ended during the run, and a new owner continues. Only clients report this: the owner never sends it.
    #[cfg_attr(feature = "schema", schemars(skip))]
    OwnerReplaced,
    /// A code that only a newer owner knows.
    #[default]
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

impl RunNotice {
    /// Whether the notice is about a moment of the run, and is over when the model answers.
    pub fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::Retry { .. } | Self::ServersAwaited { .. } | Self::OwnerSilent { .. } | Self::OwnerReplaced
        )
    }

    /// Whether the notice has a code that only a newer owner knows.
    pub(crate) fn is_unknown(&self) -> bool {
        *self == Self::Unknown
    }
}

/// The cause of a notice or a condition. It is not a `Problem`, because problems contain notices.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NoticeCause {
    /// The code of the failure, for programs to decide by. The same codes as in a problem.
    pub code: ProblemCode,
    /// Deprecated, the next version leaves it out: what failed, on what, and why, as an English sentence without a full stop. It
    /// follows from the code and the fields.
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub message: String,
    /// The named values of the code, as in a problem.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, Value>,
    /// Deprecated, the next version leaves it out: what to do next, as English text with remedies in it. It follows from the code,
    /// the fields and the remedies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub hint: Option<Hint>,
    /// The remedies, in the order in which a hint names them. Each client has its own command for each remedy.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub remedies: Vec<Remedy>,
    /// The underlying causes, outermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<String>,
}

/// A file that git runs or reads as settings, and that a call changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChangedGitFile {
    /// The path of the file. Bytes that are not UTF-8 are replaced.
    pub path: String,
    /// How it changed.
    pub change: GitFileChange,
    /// What git does with it.
    pub role: GitFileRole,
    /// The remedy that restores the file. Absent if its earlier content could not be kept, or if an earlier version recorded only
    /// the command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy: Option<Remedy>,
    /// Deprecated, the next version leaves it out: `remedy` as a shell command.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub command: Option<String>,
}

/// Why a request to a model failed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum ModelFailure {
    /// No key is configured, or it cannot be read.
    NoKey,
    /// The provider refuses the key, or the key may not use the model.
    Refused,
    /// The account has no credit or quota left.
    OutOfCredit,
    /// There were too many requests.
    RateLimited,
    /// The provider has a problem of its own.
    Overloaded,
    /// The prompt is longer than the model's context.
    ContextTooLong,
    /// The provider refuses to answer the prompt.
    SafetyRefusal,
    /// The model, or the address, does not exist.
    UnknownModel,
    /// The provider rejects the request as invalid.
    Rejected,
    /// There is no connection.
    Unreachable,
    /// The connection ended before the answer was complete.
    Cut,
    /// No data arrived for too long.
    TimedOut,
    /// The answer reached its limit in the middle of a tool call.
    OutputLimit,
    /// The model wrote an invalid tool call.
    BadCall,
    /// The reply violates the protocol.
    BadReply,
    /// The settings for the model are wrong.
    BadSettings,
    /// A code that only a newer owner knows.
    #[default]
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

/// The outcome for a file that a message mentions with `@`. Of these outcomes, only `secret` attaches the file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum MentionOutcome {
    /// There is no file with this name: the name is plain text.
    NoFile,
    /// The file is attached, and it looks like a secret.
    Secret,
    /// The message came through a pipe. Piped text attaches no files.
    Piped,
    /// It is a link to a file that contains secrets.
    LeadsToSecret {
        /// The file that the link leads to.
        path: String,
    },
    /// It is a link out of the folder.
    LeadsOut {
        /// The file that the link leads to.
        path: String,
    },
    /// The limit of attached files is reached.
    TooMany {
        /// The largest number of attached files.
        most: u64,
    },
    /// The message would be too large with the file.
    MessageTooLarge,
    /// The text is too long. The agent can read the file with a tool.
    TextTooLarge {
        /// The size of the file in bytes.
        bytes: u64,
        /// The limit in bytes.
        most: u64,
    },
    /// The picture is too large.
    PictureTooLarge {
        /// The size of the file in bytes.
        bytes: u64,
        /// The limit in bytes.
        most: u64,
    },
    /// The PDF is too large.
    PdfTooLarge {
        /// The size of the file in bytes.
        bytes: u64,
        /// The limit in bytes.
        most: u64,
    },
    /// The file is neither text, nor a picture, nor a PDF.
    OtherKind,
    /// The person has no permission to read the file.
    NotAllowed,
    /// It is a link to a file that does not exist.
    LeadsNowhere,
    /// The file cannot be read.
    Unreadable {
        /// The error message of the system.
        detail: String,
    },
    /// A code that only a newer owner knows.
    #[default]
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}
