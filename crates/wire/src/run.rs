//! Model runs: how a run begins, its events, how it ends.

use serde::{Deserialize, Serialize};

use crate::agent::{Asks, CallEnded, CallShown, Permit, Question, Steer};
use crate::content::Part;
use crate::files::FileOptions;
use crate::notice::RunNotice;
use crate::problem::Problem;
use crate::reply::{Entry, Receipt};
#[cfg(feature = "schema")]
use crate::shape;

/// A model call, streamed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Run {
    /// The conversation. If it is empty, the run begins a new one with its message, and creates it only if the run is not refused. The
    /// id is in the receipt of [`RunEvent::Started`].
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub conversation: String,
    /// The folder that a new conversation works in, absolute. It has to be there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::ABSOLUTE)))]
    pub folder: Option<String>,
    /// How it begins.
    #[serde(flatten)]
    pub start: RunStart,
    /// The options for files, of a retry or an edit: they go back with what is taken back.
    #[serde(default, skip_serializing_if = "FileOptions::is_default")]
    pub files: FileOptions,
    /// The model (`provider/model`). Default: the configured one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The head that the author saw, for a retry or an edit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::HEAD)))]
    pub head: Option<String>,
    /// Its additional permissions.
    #[serde(default, skip_serializing_if = "Permit::is_default")]
    pub permit: Permit,
    /// The request's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::REQUEST_ID)))]
    pub request_id: Option<String>,
}

/// How a run begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "start", rename_all = "snake_case")]
pub enum RunStart {
    /// A person says something.
    Say {
        /// What.
        parts: Vec<Part>,
        /// The last entry that the author saw.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seen: Option<String>,
        /// What becomes of it where another run goes on. Default: it is refused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        steer: Option<Steer>,
        /// They came through a pipe, and may be anybody's: an `@path` in them attaches no file.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        piped: bool,
    },
    /// Another answer.
    Retry {
        /// Any entry of the answer, or its prompt.
        entry: String,
    },
    /// Another wording of a prompt, then its answer.
    Edit {
        /// The prompt.
        entry: String,
        /// The new wording.
        parts: Vec<Part>,
        /// What becomes of the images and files of the old one.
        #[serde(default)]
        attached: Attached,
    },
    /// An answer to what is there.
    Answer,
    /// A command, run as a tool call in the conversation's folder; no model is called. What it prints comes as text, and
    /// what it changes in the folder is kept with its result.
    Exec {
        /// The program and its arguments.
        #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
        command: Vec<String>,
        /// What a person says first, to open a turn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        say: Option<String>,
    },
}

/// What becomes of the images and files of a message when it is edited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Attached {
    /// Only what the new wording holds itself goes on.
    #[default]
    Replaced,
    /// They go with the new wording.
    Kept,
}

/// What a run says while it goes on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RunEvent {
    /// Another run goes on; this one waits behind it.
    Queued,
    /// The prompt is stored; the model is called.
    Started {
        /// The prompt's receipt; absent for an answer to what was there. Of an edit or a retry, for the one who asked: with the step
        /// back, and what that did to files.
        receipt: Option<Box<Receipt>>,
        /// The model.
        model: String,
    },
    /// A piece of the answer.
    Text {
        /// To be appended.
        text: String,
    },
    /// A piece of the model's reasoning.
    Reasoning {
        /// To be appended.
        text: String,
    },
    /// Something to know, such as a retry.
    Notice {
        /// What.
        #[serde(default, skip_serializing_if = "RunNotice::is_unknown")]
        notice: RunNotice,
        /// Deprecated, the next version leaves it out: `notice` as an English sentence.
        #[serde(default)]
        #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
        text: String,
    },
    /// An answer that asks for tools is stored; its calls follow.
    Answered {
        /// The answer.
        entry: String,
    },
    /// Somebody is to say whether a call may run.
    Asks(Box<Asks>),
    /// A tool asks a person something.
    Question(Question),
    /// What was asked under this id is asked no more: somebody has answered.
    Settled {
        /// The id.
        id: String,
    },
    /// A call begins, or is refused unasked: its end follows.
    Calling(CallShown),
    /// A piece of what a call prints.
    Printed {
        /// The call.
        call: String,
        /// To be appended.
        text: String,
    },
    /// A call is over, and its result is stored.
    Called(CallEnded),
    /// What was said meanwhile has become part of this run.
    Joined {
        /// Its receipt.
        receipt: Box<Receipt>,
    },
    /// The run has ended. The last event.
    Ended(Box<Ended>),
}

/// How a run ended, and what it left.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ended {
    /// How.
    pub outcome: Outcome,
    /// What stored the answer, or rolled the turn back.
    pub receipt: Option<Receipt>,
    /// The answer.
    pub entry: Option<Entry>,
    /// For a failure: what happened and what to do.
    pub problem: Option<Problem>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The answer is stored whole.
    Succeeded,
    /// It was stopped or cut after some output, which is stored, marked interrupted.
    Interrupted,
    /// It was stopped before any output: the turn is rolled back, its text is in the receipt's composer.
    RolledBack,
    /// The model failed before any output. A prompt stays; a retry's step back is taken back.
    Failed,
    /// The message has become part of another run; subscribers of that run get its events.
    Joined,
}
