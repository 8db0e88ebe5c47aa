//! What a run reports beside its answer, as `wire` has it.

use std::time::Duration;

use retake_core::GitFile;
use retake_core::mcp::{LeftOut, Note};
use retake_engine::model::ModelErrorKind as Kind;
use retake_engine::{EngineError, FileKind, Mentioned, Notice};
use retake_wire::{ChangedGitFile, McpRemark, MentionOutcome, ModelFailure, NoticeCause, RunNotice};

use super::note::{git_change, git_role};
use super::shown_problem;

/// At most so many files of git's own are listed.
const MOST_LISTED: usize = 4;

/// The notice as it is on the wire.
pub(crate) fn run_notice(of: Notice) -> RunNotice {
    match of {
        Notice::Retry(wait, kind, detail) => {
            RunNotice::Retry { in_ms: ms(wait), failure: failure(kind), detail }
        }
        Notice::AnswerCut => RunNotice::AnswerCut,
        Notice::ModelRefused => RunNotice::ModelRefused,
        Notice::AnswerNotSaved(error) => RunNotice::AnswerNotSaved { cause: cause(error) },
        Notice::RuleNotKept(error) => RunNotice::RuleNotKept { cause: cause(error) },
        Notice::SettingsWrong(error) => RunNotice::SettingsWrong { cause: cause(error) },
        Notice::Failed(error) => RunNotice::Failed { cause: cause(error) },
        Notice::NothingCanChange(error) => RunNotice::NothingCanChange { cause: cause(error) },
        Notice::FolderNotCaptured(folder, error) => {
            RunNotice::FolderNotCaptured { folder: folder.display().to_string(), cause: cause(error) }
        }
        Notice::ProcessesRun(processes) => RunNotice::ProcessesRun { processes: processes as u64 },
        Notice::GitFilesChanged(files) => {
            let (files, more) = listed(files);
            RunNotice::GitFilesChanged { files, more }
        }
        Notice::CoveredGitFilesChanged(files) => {
            let (files, more) = listed(files);
            RunNotice::CoveredGitFilesChanged { files, more }
        }
        Notice::ServersAwaited(servers) => RunNotice::ServersAwaited { servers },
        Notice::ServersLate(servers, waited) => RunNotice::ServersLate { servers, waited_ms: ms(waited) },
        Notice::Server(server, note) => RunNotice::Server { server, remark: mcp_remark(note) },
        Notice::ServerFailed(server, error) => RunNotice::ServerFailed { server, cause: cause(error) },
        Notice::ServerNeedsApproval(server) => RunNotice::ServerNeedsApproval { server },
        Notice::ServerFile(error) => RunNotice::ServerFile { cause: cause(error) },
        Notice::NotSent(messages) => RunNotice::NotSent { messages },
        Notice::Mention(name, what) => RunNotice::Mention { name, outcome: mentioned(what) },
    }
}

/// A remark about an MCP server.
pub(crate) fn mcp_remark(of: Note) -> McpRemark {
    match of {
        Note::ToolLeftOut(tool, LeftOut::BadName) => McpRemark::ToolName { tool },
        Note::ToolLeftOut(tool, LeftOut::SameName) => McpRemark::ToolTwice { tool },
        Note::ToolLeftOut(tool, LeftOut::NoSchema) => McpRemark::ToolWithoutSchema { tool },
        Note::ToolLeftOut(tool, LeftOut::BadSchema) => McpRemark::ToolSchema { tool },
        Note::ToolLeftOut(tool, LeftOut::LongSchema) => McpRemark::ToolSchemaTooLong { tool },
        Note::MoreLeftOut(tools) => McpRemark::MoreToolsLeftOut { tools: tools as u64 },
        Note::TooMany(offered) => McpRemark::TooManyTools { offered: offered as u64 },
        Note::NotListed(detail) => McpRemark::ToolsNotListed { detail },
    }
}

/// Why something failed.
fn cause(error: EngineError) -> NoticeCause {
    shown_problem(error).into()
}

fn listed(files: Vec<(String, GitFile)>) -> (Vec<ChangedGitFile>, u64) {
    let more = files.len().saturating_sub(MOST_LISTED) as u64;
    let one = |(path, GitFile { change, role, command })| ChangedGitFile {
        path,
        change: git_change(change),
        role: git_role(role),
        command,
    };
    (files.into_iter().take(MOST_LISTED).map(one).collect(), more)
}

fn mentioned(what: Mentioned) -> MentionOutcome {
    let path = |path: std::path::PathBuf| path.display().to_string();
    match what {
        Mentioned::NoFile => MentionOutcome::NoFile,
        Mentioned::Secret => MentionOutcome::Secret,
        Mentioned::Piped => MentionOutcome::Piped,
        Mentioned::LeadsToSecret(to) => MentionOutcome::LeadsToSecret { path: path(to) },
        Mentioned::LeadsOut(to) => MentionOutcome::LeadsOut { path: path(to) },
        Mentioned::TooMany(most) => MentionOutcome::TooMany { most: most as u64 },
        Mentioned::MessageTooLarge => MentionOutcome::MessageTooLarge,
        Mentioned::TooLarge(FileKind::Text, bytes, most) => MentionOutcome::TextTooLarge { bytes, most },
        Mentioned::TooLarge(FileKind::Picture, bytes, most) => {
            MentionOutcome::PictureTooLarge { bytes, most }
        }
        Mentioned::TooLarge(FileKind::Pdf, bytes, most) => MentionOutcome::PdfTooLarge { bytes, most },
        Mentioned::OtherKind => MentionOutcome::OtherKind,
        Mentioned::NotAllowed => MentionOutcome::NotAllowed,
        Mentioned::LeadsNowhere => MentionOutcome::LeadsNowhere,
        Mentioned::Unreadable(detail) => MentionOutcome::Unreadable { detail },
    }
}

fn failure(kind: Kind) -> ModelFailure {
    match kind {
        Kind::NoKey => ModelFailure::NoKey,
        Kind::Refused => ModelFailure::Refused,
        Kind::OutOfCredit => ModelFailure::OutOfCredit,
        Kind::RateLimited { .. } => ModelFailure::RateLimited,
        Kind::Overloaded => ModelFailure::Overloaded,
        Kind::ContextTooLong => ModelFailure::ContextTooLong,
        Kind::SafetyRefusal => ModelFailure::SafetyRefusal,
        Kind::UnknownModel => ModelFailure::UnknownModel,
        Kind::Rejected => ModelFailure::Rejected,
        Kind::Unreachable => ModelFailure::Unreachable,
        Kind::Cut => ModelFailure::Cut,
        Kind::TimedOut => ModelFailure::TimedOut,
        Kind::OutputLimit => ModelFailure::OutputLimit,
        Kind::BadCall => ModelFailure::BadCall,
        Kind::BadReply => ModelFailure::BadReply,
        Kind::BadSettings => ModelFailure::BadSettings,
    }
}

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
