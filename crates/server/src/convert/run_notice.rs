//! Notices of a run, converted to `wire`'s types.

use std::time::Duration;

use retake_core::GitFile;
use retake_core::mcp::{LeftOut, Note};
use retake_engine::model::ModelErrorKind;
use retake_engine::{EngineError, FileKind, Mentioned, NotRun, Notice};
use retake_wire::{
    CallRefusal, ChangedGitFile, McpRemark, MentionOutcome, ModelFailure, NoticeCause, RunNotice,
};

use super::cause::effort;
use super::note::{git_change, git_role, put_back};
use super::shown_problem;
use crate::agent::rule;

/// The notice on the wire.
pub(crate) fn run_notice(of: Notice) -> RunNotice {
    match of {
        Notice::Retry { wait, kind, detail } => {
            RunNotice::Retry { in_ms: ms(wait), failure: failure(kind), detail }
        }
        Notice::EffortNotSent { model, effort: sent } => {
            RunNotice::EffortNotSent { model, effort: effort(sent) }
        }
        Notice::AnswerCut => RunNotice::AnswerCut,
        Notice::Compacts => RunNotice::Compacts,
        Notice::FoldsAgain => RunNotice::FoldsAgain,
        Notice::TooLongForModel { model, tokens, limit } => {
            RunNotice::TooLongForModel { model, tokens, limit }
        }
        Notice::NotCompacted(error) => RunNotice::NotCompacted { cause: cause(error) },
        Notice::ModelRefused => RunNotice::ModelRefused,
        Notice::AnswerNotSaved(error) => RunNotice::AnswerNotSaved { cause: cause(error) },
        Notice::RuleNotKept(error) => RunNotice::RuleNotKept { cause: cause(error) },
        Notice::SettingsWrong(error) => RunNotice::SettingsWrong { cause: cause(error) },
        Notice::Failed(error) => RunNotice::Failed { cause: cause(error) },
        Notice::NothingCanChange(error) => RunNotice::NothingCanChange { cause: cause(error) },
        Notice::FolderNotCaptured(folder, error) => {
            RunNotice::FolderNotCaptured { folder: folder.display().to_string(), cause: cause(error) }
        }
        Notice::NothingRecalled(error) => RunNotice::NothingRecalled { cause: cause(error) },
        Notice::ProcessesRun(processes) => RunNotice::ProcessesRun { processes: processes as u64 },
        Notice::GitFilesChanged(files, more) => {
            RunNotice::GitFilesChanged { files: listed(files), more: more as u64 }
        }
        Notice::CoveredGitFilesChanged(files, more) => {
            RunNotice::CoveredGitFilesChanged { files: listed(files), more: more as u64 }
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

/// Why a call did not run.
pub(crate) fn not_run(of: NotRun) -> CallRefusal {
    use retake_core::CallRefusal as R;
    match of {
        NotRun::Refused(R::UnknownTool(tool, tools)) => CallRefusal::UnknownTool { tool, tools },
        NotRun::Refused(R::Arguments(detail)) => CallRefusal::Arguments { detail },
        NotRun::Refused(R::PlanMode) => CallRefusal::PlanMode,
        NotRun::Refused(R::Rule(of)) => CallRefusal::Rule { rule: rule(of) },
        NotRun::Refused(R::Secrets(path, tool)) => {
            CallRefusal::Secrets { path: path.display().to_string(), tool }
        }
        NotRun::Refused(R::Person(words)) => CallRefusal::Person { words },
        NotRun::Refused(R::Unattended(allows)) => CallRefusal::Unattended { allows },
        NotRun::Refused(R::LastClientLeft) => CallRefusal::LastClientLeft,
        NotRun::Refused(R::Repeated(times)) => CallRefusal::Repeated { times },
        NotRun::Refused(R::Stopped) => CallRefusal::Stopped,
        NotRun::Refused(R::OwnerEnded) => CallRefusal::OwnerEnded,
        NotRun::Failed(error) => CallRefusal::Failed { cause: cause(error) },
    }
}

/// Why something failed.
pub(crate) fn cause(error: EngineError) -> NoticeCause {
    shown_problem(error).into()
}

fn listed(files: Vec<(String, GitFile)>) -> Vec<ChangedGitFile> {
    let one = |(path, GitFile { change, role, back, command })| ChangedGitFile {
        path,
        change: git_change(change),
        role: git_role(role),
        remedy: back.map(put_back),
        command,
    };
    files.into_iter().map(one).collect()
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

fn failure(kind: ModelErrorKind) -> ModelFailure {
    match kind {
        ModelErrorKind::NoKey => ModelFailure::NoKey,
        ModelErrorKind::Refused => ModelFailure::Refused,
        ModelErrorKind::OutOfCredit => ModelFailure::OutOfCredit,
        ModelErrorKind::RateLimited { .. } => ModelFailure::RateLimited,
        ModelErrorKind::Overloaded => ModelFailure::Overloaded,
        ModelErrorKind::ContextTooLong => ModelFailure::ContextTooLong,
        ModelErrorKind::SafetyRefusal => ModelFailure::SafetyRefusal,
        ModelErrorKind::UnknownModel => ModelFailure::UnknownModel,
        ModelErrorKind::Rejected => ModelFailure::Rejected,
        ModelErrorKind::Unreachable => ModelFailure::Unreachable,
        ModelErrorKind::Cut => ModelFailure::Cut,
        ModelErrorKind::TimedOut => ModelFailure::TimedOut,
        ModelErrorKind::OutputLimit => ModelFailure::OutputLimit,
        ModelErrorKind::BadCall => ModelFailure::BadCall,
        ModelErrorKind::BadReply => ModelFailure::BadReply,
        ModelErrorKind::BadSettings => ModelFailure::BadSettings,
    }
}

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use retake_engine::Kind;
    use retake_engine::model::ModelError;
    use retake_wire::english;

    use super::*;

    #[test]
    fn problem_holds_what_happened_beside_it_as_codes_and_as_words() {
        let notices = vec![Notice::NotSent(vec!["and this".to_owned()])];
        let error =
            EngineError { notices, ..EngineError::new(Kind::Refused, "stale_head", "it has changed") };
        let problem = shown_problem(error);
        assert_eq!(*problem.notices, [RunNotice::NotSent { messages: vec!["and this".to_owned()] }]);
        let words =
            "it has changed; words that waited were not said, as what they answer is gone: “and this”";
        assert_eq!(problem.message, words);
    }

    #[test]
    #[should_panic(expected = "the list of fields of usage lacks nowhere_listed")]
    fn field_that_the_list_of_codes_lacks_is_a_defect() {
        drop(shown_problem(EngineError::usage("no").with("nowhere_listed", "x")));
    }

    #[test]
    fn failure_of_a_model_has_one_name_and_one_phrase_in_problems_and_notices() {
        let limited = ModelErrorKind::RateLimited { retry_after: None };
        let kinds = [
            ModelErrorKind::NoKey,
            ModelErrorKind::Refused,
            ModelErrorKind::OutOfCredit,
            limited,
            ModelErrorKind::Overloaded,
            ModelErrorKind::ContextTooLong,
            ModelErrorKind::SafetyRefusal,
            ModelErrorKind::UnknownModel,
            ModelErrorKind::Rejected,
            ModelErrorKind::Unreachable,
            ModelErrorKind::Cut,
            ModelErrorKind::TimedOut,
            ModelErrorKind::OutputLimit,
            ModelErrorKind::BadCall,
            ModelErrorKind::BadReply,
            ModelErrorKind::BadSettings,
        ];
        for kind in kinds {
            let json = serde_json::to_value(failure(kind)).expect("written");
            assert_eq!(json["code"], kind.name());
            assert_eq!(english::model_failure(failure(kind)), ModelError::new(kind, "x").brief());
        }
    }
}
