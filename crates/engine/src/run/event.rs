//! The events of a run, and its approval requests and questions.

use std::sync::Arc;

use retake_core::{AskCause, CallRefusal, EffectClass, EntryId, Receipt, Rule, ToolOutcome};

use super::Ended;
use crate::error::EngineError;
use crate::files::AppliedFiles;
use crate::notice::Notice;

/// An event of a run.
#[derive(Clone, Debug)]
pub enum RunEvent {
    /// Another run is at work; this one waits.
    Queued,
    /// The prompt is stored and the model is called. For a retry or an edit, with the result of its move.
    Started(Option<Receipt>, String, Option<Arc<AppliedFiles>>),
    /// More of the answer.
    Text(String),
    /// More of the reasoning.
    Reasoning(String),
    /// Something to know.
    Notice(Notice),
    /// An answer with tool calls is stored; the calls follow.
    Answered(EntryId),
    /// A call needs an approval; `Engine::decide` answers it.
    Asks(PendingApproval),
    /// A tool has a question for a person; `Engine::respond` answers it.
    Question(Question),
    /// The request or question with this id is closed: somebody has answered it.
    Settled(String),
    /// A call begins, or was refused without an approval request: its end follows.
    Calling(CallShown),
    /// Output of the call with this id.
    Printed(String, String),
    /// A call has ended, and its result is stored.
    Called(CallEnded),
    /// A message has become part of this run.
    Joined(Receipt),
    /// The last event.
    Ended(Ended),
}

/// A call in the form for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallShown {
    /// Its id.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// Its description, in a line.
    pub line: String,
    /// The most that it does to the world.
    pub class: EffectClass,
    /// Further details, such as a diff.
    pub detail: Option<String>,
}

/// A call that waits for an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PendingApproval {
    /// The id for the decision.
    pub id: String,
    /// The call.
    pub call: CallShown,
    /// Why it needs an approval.
    pub cause: AskCause,
    /// When an equal call ran before whose effect stayed after a rewind.
    pub again: Option<retake_core::Time>,
    /// Suggested rules that would allow it, from narrow to wide.
    pub offers: Vec<Rule>,
}

/// A question of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The id for the answer.
    pub id: String,
    /// The question.
    pub question: String,
    /// Answers to choose from; if empty, any text is an answer.
    pub choices: Vec<String>,
}

/// A call that has ended.
#[derive(Clone, Debug)]
pub struct CallEnded {
    /// Its id.
    pub call: String,
    /// Its outcome.
    pub outcome: ToolOutcome,
    /// The text for people: a diff, the end of its output, or why it did not run.
    pub shown: String,
    /// Why it did not run.
    pub not_run: Option<NotRun>,
    /// The number of files that it changed.
    pub changed: usize,
    /// Its result.
    pub entry: EntryId,
}

/// Why a call did not run. Its text is for the model.
#[derive(Clone, Debug, thiserror::Error)]
pub enum NotRun {
    /// It was refused.
    #[error("{0}")]
    Refused(CallRefusal),
    /// Something that must come before it failed.
    #[error("{0}")]
    Failed(EngineError),
}

/// A decision on a call that waits for an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Run it once.
    Once,
    /// Run it, and allow what this rule matches in this conversation.
    InConversation(Rule),
    /// Run it, and allow what this rule matches permanently.
    Always(Rule),
    /// Do not run it; the model gets this text as the reason.
    Deny(Option<String>),
    /// No client can answer: it does not run, and the result tells the model which permission it needs.
    Unattended(String),
    /// The last client that could answer has left: it does not run.
    LastClientLeft,
}
