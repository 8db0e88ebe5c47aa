//! What a run reports to its person beside the answer: facts with their values. Clients make the sentences.

use std::path::PathBuf;
use std::time::Duration;

use retake_core::mcp::Note;
use retake_core::{GitFile, Words, joined_text};

use crate::error::EngineError;
use crate::model::ModelErrorKind;

/// Something that a person should know of a run.
#[derive(Clone, Debug)]
pub enum Notice {
    /// The model is asked again.
    Retry {
        /// After this time.
        wait: Duration,
        /// How it failed.
        kind: ModelErrorKind,
        /// A short detail, such as `HTTP 429`.
        detail: Option<String>,
    },
    /// The answer reached the model's limit and is cut.
    AnswerCut,
    /// The model refused to go on.
    ModelRefused,
    /// The answer so far is not saved: after a crash it would be lost.
    AnswerNotSaved(EngineError),
    /// The call runs this once; the rule that was to last is not kept.
    RuleNotKept(EngineError),
    /// The settings became wrong: until they are corrected, no rule of them allows anything.
    SettingsWrong(EngineError),
    /// Something beside the run failed, and the run goes on.
    Failed(EngineError),
    /// The folder cannot be captured: no call can change anything there, as it could not be taken back.
    NothingCanChange(EngineError),
    /// A further folder cannot be captured: what is written there cannot be taken back.
    FolderNotCaptured(PathBuf, EngineError),
    /// So many processes of a call still run; what they change from now on is kept.
    ProcessesRun(usize),
    /// Hooks or settings of git, by path, that a call changed and that a rewind leaves as they are; and how many more.
    GitFilesChanged(Vec<(String, GitFile)>, usize),
    /// The same of files that a rewind takes back.
    CoveredGitFilesChanged(Vec<(String, GitFile)>, usize),
    /// The turn waits for these MCP servers to start.
    ServersAwaited(Vec<String>),
    /// These took longer than the turn waits: it goes on without their tools.
    ServersLate(Vec<String>, Duration),
    /// A remark about an MCP server.
    Server(String, Note),
    /// An MCP server cannot be used: the field `what` has the kind of failure.
    ServerFailed(String, EngineError),
    /// The folder names an MCP server that nobody has approved yet.
    ServerNeedsApproval(String),
    /// Something is wrong with a file that names MCP servers.
    ServerFile(EngineError),
    /// Messages that waited were not sent, because what they answer is gone. Empty for one without words.
    NotSent(Vec<String>),
    /// What became of the file that a message names with `@`.
    Mention(String, Mentioned),
}

impl Notice {
    /// Of the processes of a call that outlive it.
    pub(crate) fn of_processes(living: usize) -> Option<Self> {
        (living > 0).then_some(Self::ProcessesRun(living))
    }

    /// Of messages that were not sent, and whose authors are gone.
    pub(crate) fn of_unsent(words: &[Words]) -> Option<Self> {
        let texts = || words.iter().map(|words| joined_text(&words.parts)).collect();
        (!words.is_empty()).then(|| Self::NotSent(texts()))
    }
}

/// What became of a file that a message names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mentioned {
    /// There is no such file: the name is only words.
    NoFile,
    /// It is attached, and looks like a secret.
    Secret,
    /// Not attached: what comes through a pipe attaches nothing.
    Piped,
    /// Not attached: it is a link to this file with secrets.
    LeadsToSecret(PathBuf),
    /// Not attached: it is a link out of the folder, to this file.
    LeadsOut(PathBuf),
    /// Not attached: so many files are attached already, which are the most.
    TooMany(usize),
    /// Not attached: the message would be too large.
    MessageTooLarge,
    /// Not attached: of this kind it has so many bytes, and so many are the most.
    TooLarge(FileKind, u64, u64),
    /// Not attached: it is neither text, nor a picture, nor a PDF.
    OtherKind,
    /// Not attached: the person may not read it.
    NotAllowed,
    /// Not attached: it is a link to nothing.
    LeadsNowhere,
    /// Not attached: it cannot be read, and why.
    Unreadable(String),
}

/// What kind of file is attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// Text.
    Text,
    /// A picture.
    Picture,
    /// A PDF.
    Pdf,
}
