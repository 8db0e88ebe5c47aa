//! What a run says while it goes on, and what it asks.

use std::sync::Arc;

use retake_core::{AskCause, EffectClass, EntryId, Receipt, Rule, ToolOutcome};

use super::Ended;
use crate::files::AppliedFiles;
use crate::notice::Notice;

/// What a run says while it goes on.
#[derive(Clone, Debug)]
pub enum RunEvent {
    /// Another run goes on; this one waits behind it.
    Queued,
    /// The prompt is stored; the model is called. Of a run that went back first, what became of that.
    Started(Option<Receipt>, String, Option<Arc<AppliedFiles>>),
    /// More of the answer.
    Text(String),
    /// More of the reasoning.
    Reasoning(String),
    /// Something to know.
    Notice(Notice),
    /// An answer that asks for tools is stored; its calls follow.
    Answered(EntryId),
    /// Somebody is to say whether a call may run; `Engine::decide` says it.
    Asks(Asks),
    /// A tool asks a person something; `Engine::respond` answers.
    Question(Question),
    /// What was asked under this id is asked no more: somebody has answered.
    Settled(String),
    /// A call begins, or is refused unasked: its end follows.
    Calling(CallShown),
    /// What a call prints, of the call with this id.
    Printed(String, String),
    /// A call is over, and its result is stored.
    Called(Called),
    /// What was said meanwhile has become part of this run.
    Joined(Receipt),
    /// The last event.
    Ended(Ended),
}

/// A call, as people see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallShown {
    /// Its id.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// What it does, in a line.
    pub line: String,
    /// What it does to the world at most.
    pub class: EffectClass,
    /// More, such as a diff.
    pub detail: Option<String>,
}

/// A call that waits for an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asks {
    /// What a decision names.
    pub id: String,
    /// The call.
    pub call: CallShown,
    /// Why it is asked about.
    pub cause: AskCause,
    /// The same was done before and taken back from the conversation, but not from the world: when it was done.
    pub again: Option<retake_core::Time>,
    /// Rules that would allow it, and more like it, from narrow to wide.
    pub offers: Vec<Rule>,
}

/// A question of a tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// What an answer names.
    pub id: String,
    /// The question.
    pub question: String,
    /// Answers to choose from; any words, when there are none.
    pub choices: Vec<String>,
}

/// A call that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Called {
    /// Its id.
    pub call: String,
    /// Whether it worked.
    pub outcome: ToolOutcome,
    /// What people are shown of it: a diff, the end of its output, why it was refused.
    pub shown: String,
    /// How many files it was seen to change.
    pub changed: usize,
    /// Its result.
    pub entry: EntryId,
}

/// The answer to a call that waits for an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Run it.
    Once,
    /// Run it, and what this rule fits, as long as this conversation goes on.
    InConversation(Rule),
    /// Run it, and what this rule fits, for good.
    Always(Rule),
    /// Do not run it; the model gets these words as the reason.
    Deny(Option<String>),
    /// No client can answer: it does not run, and the result tells the model what would allow it.
    Unattended(String),
}
