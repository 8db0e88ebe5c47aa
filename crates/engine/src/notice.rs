//! The notices of a run for its person, as codes with values. Clients make the sentences.

use std::path::PathBuf;
use std::time::Duration;

use retake_core::mcp::Note;
use retake_core::{GitFile, Words, joined_text};

use crate::error::EngineError;
use crate::model::{Effort, Model, ModelErrorKind};

/// A notice of a run.
#[derive(Clone, Debug)]
pub enum Notice {
    /// The model is called again.
    Retry {
        /// After this time.
        wait: Duration,
        /// The kind of failure.
        kind: ModelErrorKind,
        /// A short detail, such as `HTTP 429`.
        detail: Option<String>,
    },
    /// The model is called without the effort of the settings, because it is not known to take one.
    EffortNotSent {
        /// The model's name.
        model: String,
        /// The effort.
        effort: Effort,
    },
    /// The answer reached the model's limit and is truncated.
    AnswerCut,
    /// The model refused to continue.
    ModelRefused,
    /// Earlier messages are summarised, because they nearly fill the model's context.
    Compacts,
    /// A summary is made again, because messages that it covers were hidden or shown.
    FoldsAgain,
    /// The prompt is larger than the model's context.
    TooLongForModel {
        /// The model's name.
        model: String,
        /// About how many tokens the prompt has.
        tokens: u64,
        /// The tokens of the context.
        limit: u64,
    },
    /// There is no summary.
    NotCompacted(EngineError),
    /// The answer so far is not saved: a crash would lose it.
    AnswerNotSaved(EngineError),
    /// The call runs this once; the permanent rule could not be stored.
    RuleNotKept(EngineError),
    /// The settings became wrong: until they are corrected, none of their rules allows anything.
    SettingsWrong(EngineError),
    /// Another task failed, and the run continues.
    Failed(EngineError),
    /// The folder cannot be captured: no call can change anything there, because its changes could not be reverted.
    NothingCanChange(EngineError),
    /// A further folder cannot be captured: changes there cannot be reverted.
    FolderNotCaptured(PathBuf, EngineError),
    /// A memory does not answer.
    NothingRecalled(EngineError),
    /// This many processes of a call still run; a rewind keeps what they change from now on.
    ProcessesRun(usize),
    /// Hooks or settings of git, by path, that a call changed and that a rewind leaves as they are; and the number of
    /// further ones.
    GitFilesChanged(Vec<(String, GitFile)>, usize),
    /// The same for files that a rewind reverts.
    CoveredGitFilesChanged(Vec<(String, GitFile)>, usize),
    /// The turn waits for these MCP servers to start.
    ServersAwaited(Vec<String>),
    /// These servers took longer than the turn waits: it continues without their tools.
    ServersLate(Vec<String>, Duration),
    /// A remark about an MCP server.
    Server(String, Note),
    /// An MCP server cannot be used: the field `what` contains the kind of failure.
    ServerFailed(String, EngineError),
    /// The folder declares an MCP server that nobody has approved yet.
    ServerNeedsApproval(String),
    /// A file that declares MCP servers has an error.
    ServerFile(EngineError),
    /// Waiting messages were not sent, because the entry that they answer is gone. A message without text is empty.
    NotSent(Vec<String>),
    /// The result for a file that a message mentions with `@`.
    Mention(String, Mentioned),
}

impl Notice {
    /// The notice about an effort that the model is not sent.
    pub(crate) fn of_effort(model: &dyn Model) -> Option<Self> {
        let info = model.info();
        let effort = info.effort.filter(|_| info.sent_effort().is_none())?;
        Some(Self::EffortNotSent { model: model.name().to_owned(), effort })
    }

    /// The notice about processes that still run after their call.
    pub(crate) fn of_processes(living: usize) -> Option<Self> {
        (living > 0).then_some(Self::ProcessesRun(living))
    }

    /// The notice about messages that were not sent and whose clients are gone.
    pub(crate) fn of_unsent(words: &[Words]) -> Option<Self> {
        let texts = || words.iter().map(|words| joined_text(&words.parts)).collect();
        (!words.is_empty()).then(|| Self::NotSent(texts()))
    }
}

/// The result for a mentioned file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mentioned {
    /// There is no such file: the name is plain text.
    NoFile,
    /// It is attached, and its name suggests a secret.
    Secret,
    /// Not attached: piped text attaches nothing.
    Piped,
    /// Not attached: it is a link to this file with secrets.
    LeadsToSecret(PathBuf),
    /// Not attached: it is a link out of the folder, to this file.
    LeadsOut(PathBuf),
    /// Not attached: the limit of this many files is reached.
    TooMany(usize),
    /// Not attached: the message would be too large.
    MessageTooLarge,
    /// Not attached: a file of this kind with this size; the last number is the limit.
    TooLarge(FileKind, u64, u64),
    /// Not attached: it is neither text, nor a picture, nor a PDF.
    OtherKind,
    /// Not attached: the person has no permission to read it.
    NotAllowed,
    /// Not attached: it is a link to nothing.
    LeadsNowhere,
    /// Not attached: it cannot be read, with the reason.
    Unreadable(String),
}

/// The kind of an attached file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Text.
    Text,
    /// A picture.
    Picture,
    /// A PDF.
    Pdf,
}
