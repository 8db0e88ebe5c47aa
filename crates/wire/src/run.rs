//! Model runs: how a run begins, its events, and how it ends.

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use crate::agent::{CallEnded, CallShown, PendingApproval, Permit, Question, Steer};
use crate::content::Part;
use crate::files::FileOptions;
use crate::notice::RunNotice;
use crate::problem::Problem;
use crate::reply::{Entry, Receipt};
#[cfg(feature = "schema")]
use crate::shape;

/// A request for a run. The reply is a stream of its events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Run {
    /// The conversation. If it is empty, the run begins a new conversation with its message. That conversation is only created if
    /// the run is not refused. Its id is in the receipt of [`RunEvent::Started`].
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub conversation: String,
    /// The folder that a new conversation works in, as an absolute path. The folder must exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::ABSOLUTE)))]
    pub folder: Option<String>,
    /// How the run begins.
    #[serde(flatten)]
    pub start: RunStart,
    /// The options for files, for a retry or an edit. By default, the file changes of the entries that leave the path are
    /// reverted, too.
    #[serde(default, skip_serializing_if = "FileOptions::is_default")]
    pub files: FileOptions,
    /// The model, as `provider/model`. Default: the configured model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The head that the author saw, for a retry or an edit. The request is refused if the head has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::HEAD)))]
    pub head: Option<String>,
    /// Additional permissions of the run.
    #[serde(default, skip_serializing_if = "Permit::is_default")]
    pub permit: Permit,
    /// The id of the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::REQUEST_ID)))]
    pub request_id: Option<String>,
}

/// How a run begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, IntoStaticStr)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "start", rename_all = "snake_case")]
#[strum(serialize_all = "snake_case")]
pub enum RunStart {
    /// With a message of a person.
    Say {
        /// The content of the message.
        parts: Vec<Part>,
        /// The last entry that the author saw. It must still be on the path.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seen: Option<String>,
        /// What happens to the message if another run is at work. Default: the message is refused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        steer: Option<Steer>,
        /// Whether the message came through a pipe and is therefore untrusted. An `@path` in it attaches no file.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        piped: bool,
    },
    /// With a command: a prompt that a file holds. The message of the person is `/name arguments`. The model also gets the text of the
    /// file, with the arguments in it. The text is stored with the message.
    Command {
        /// The name of a command or a skill.
        name: String,
        /// The arguments, as one text.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        arguments: String,
        /// The images and files of the message.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        attached: Vec<Part>,
        /// The prompt that the message replaces, as with `edit`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        entry: Option<String>,
        /// The last entry that the author saw. It must still be on the path.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        seen: Option<String>,
        /// What happens to the message if another run is at work. Default: the message is refused.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        steer: Option<Steer>,
    },
    /// With another answer to a prompt.
    Retry {
        /// Any entry of the old answer, or its prompt.
        entry: String,
    },
    /// With another wording of a prompt. The model answers the new one.
    Edit {
        /// The prompt.
        entry: String,
        /// The new content of the prompt.
        parts: Vec<Part>,
        /// What happens to the images and files of the old prompt.
        #[serde(default)]
        attached: Attached,
    },
    /// With an answer to the current path, without a new message.
    Answer,
    /// With a summary by the model, which replaces earlier messages in the prompt. They stay visible, and an undo brings them back
    /// to the model. Nothing else happens.
    Compact {
        /// What the summary must keep or leave out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        instructions: Option<String>,
        /// The first message that it replaces. Default: the first turn, or the first summary.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<String>,
        /// The last message that it replaces. Default: the last one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        to: Option<String>,
        /// The last message of another branch, without `from` and `to`. The summary is that of what this branch lacks. It becomes a
        /// message at the end of the path, and replaces nothing.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        branch: Option<String>,
    },
    /// With a command. It runs as a tool call in the conversation's folder, and no model is called. Its output comes as text
    /// events. Its changes in the folder are stored with its result.
    Exec {
        /// The program and its arguments.
        #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
        command: Vec<String>,
        /// A message of a person before the command, which opens a turn.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        say: Option<String>,
    },
}

/// What happens to the images and files of a message when it is edited.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Attached {
    /// They are removed. The message has only the images and files of its new content.
    #[default]
    Replaced,
    /// They stay attached to the message.
    Kept,
}

/// An event of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum RunEvent {
    /// Another run is at work. This run waits for it to end.
    Queued,
    /// The prompt is stored, and the model is called. For a command of a person: it runs.
    Started {
        /// The receipt of the prompt. Absent for an answer to the current path. For an edit or a retry, the receipt that the
        /// requester gets includes the move and its file changes.
        receipt: Option<Box<Receipt>>,
        /// The name of the model, or `exec` for a command of a person.
        model: String,
    },
    /// A piece of the answer.
    Text {
        /// The text to append.
        text: String,
    },
    /// A piece of the model's reasoning.
    Reasoning {
        /// The text to append.
        text: String,
    },
    /// A notice about the run, such as a retry of a model call.
    Notice {
        /// The notice.
        #[serde(default, skip_serializing_if = "RunNotice::is_unknown")]
        notice: RunNotice,
        /// Deprecated, the next version leaves it out: `notice` as an English sentence.
        #[serde(default)]
        #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
        text: String,
    },
    /// An answer with tool calls is stored. The calls follow.
    Answered {
        /// The entry of the answer.
        entry: String,
    },
    /// A call needs an approval.
    Asks(Box<PendingApproval>),
    /// A tool asks a person a question.
    Question(Question),
    /// An approval request or a question is closed, because somebody has answered it.
    Settled {
        /// The id of the request or question.
        id: String,
    },
    /// A call begins, or was refused without an approval request. Its end follows.
    Calling(CallShown),
    /// A piece of a call's output.
    Printed {
        /// The id of the call.
        call: String,
        /// The text to append.
        text: String,
    },
    /// A call has ended, and its result is stored.
    Called(CallEnded),
    /// A message that arrived during this run has become part of it.
    Joined {
        /// The receipt of the message.
        receipt: Box<Receipt>,
    },
    /// The run has ended. This is the last event.
    Ended(Box<Ended>),
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ended {
    /// The outcome of the run.
    pub outcome: Outcome,
    /// The receipt of the stored answer, or of the rollback of the turn.
    pub receipt: Option<Receipt>,
    /// The answer.
    pub entry: Option<Entry>,
    /// After a failure: what happened, and what to do.
    pub problem: Option<Problem>,
}

/// The outcome of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The whole answer is stored.
    Succeeded,
    /// The run was stopped or cut off after some output. That output is stored and marked as interrupted.
    Interrupted,
    /// The run was stopped before any output. The turn is rolled back, and its text is in the receipt's `composer`.
    RolledBack,
    /// The model failed before any output. The prompt stays, and the move of a retry is reverted.
    Failed,
    /// The message has become part of another run. Subscribers of that run get its events.
    Joined,
}
