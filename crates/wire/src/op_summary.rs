//! Summaries of operations: typed codes with fields. Only types; `english` makes the sentences.

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

/// The kind of change of an operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum OperationKind {
    /// It moved the tip to another entry.
    Move,
    /// It set or removed marks.
    Mark,
    /// It replaced messages by a summary, in the prompt.
    Fold,
    /// It removed such a summary.
    Unfold,
    /// It set or removed a label or the title.
    Label,
    /// It changed files only.
    Files,
    /// It erased content.
    Erase,
    /// A kind that only a newer program knows.
    #[serde(other)]
    Unknown,
}

/// The reason for an operation, as a verb.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum OperationReason {
    /// A rewind to before an entry.
    Rewind,
    /// A step back in the undo history.
    Undo,
    /// A step forward in the undo history.
    Redo,
    /// A return to an earlier head.
    Restore,
    /// A move to another branch of the tree.
    Checkout,
    /// A move to another alternative.
    Choose,
    /// A move to before an answer, for another one.
    Retry,
    /// A move to before an entry, for another wording.
    Edit,
    /// The return after something that failed or was stopped without a result.
    Compensate,
    /// Entries were hidden.
    Hide,
    /// Hidden or dropped entries were shown again.
    Show,
    /// Entries were excluded.
    Exclude,
    /// Excluded entries were included again.
    Include,
    /// A turn was taken out of the middle.
    Drop,
    /// Files were restored, while the conversation stayed.
    Files,
    /// A fold that a person requested.
    Fold,
    /// A fold that the owner made by itself.
    AutoFold,
    /// A removed fold.
    Unfold,
    /// A label set or removed.
    Label,
    /// The title set or removed.
    Title,
    /// Content erased.
    Erase,
    /// A reason that only a newer program knows.
    #[serde(other)]
    Unknown,
}

impl OperationReason {
    /// The verb.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// The effect of an operation.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum OpSummary {
    /// It undid a step.
    TookBack {
        /// The step.
        step: UndoneStep,
    },
    /// It redid a step.
    BroughtBack {
        /// The step.
        step: UndoneStep,
    },
    /// It took back a step that achieved nothing, because a run failed before it had an answer.
    TookBackFailed {
        /// The step.
        step: UndoneStep,
    },
    /// It restored an earlier head.
    Restored {
        /// The head.
        head: String,
    },
    /// It set or removed marks of messages.
    Marked {
        /// The number of messages.
        messages: u64,
        /// The first of these messages.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first: Option<MessageName>,
    },
    /// It replaced messages by a summary, or removed such a summary.
    Folded {
        /// The number of messages that the summary covers.
        messages: u64,
    },
    /// It set a label.
    Labelled {
        /// The label.
        label: String,
    },
    /// It removed a label.
    LabelRemoved {
        /// The label.
        label: String,
    },
    /// It restored files.
    FilesPutBack,
    /// It changed files.
    Files,
    /// It erased content.
    Erased {
        /// The number of messages that lost content.
        messages: u64,
    },
    /// It replaced a prompt, or requested another answer.
    Replaced {
        /// The replaced prompt, or the message that gets another answer. Absent if it no longer exists.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<MessageName>,
    },
    /// It chose another alternative.
    Chose {
        /// The message that it moved to. Absent if it no longer exists.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<MessageName>,
    },
    /// It moved to a message, or a rewind moved to before a message. Without a message, it moved to the beginning.
    Moved {
        /// The message. Absent for the beginning.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<MessageName>,
    },
    /// Its kind is one that this owner does not know.
    UnknownKind {
        /// The kind of the operation.
        kind: String,
    },
    /// A code that only a newer owner knows.
    #[default]
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

impl OpSummary {
    /// Whether the summary has a code that only a newer owner knows.
    pub(crate) fn is_unknown(&self) -> bool {
        *self == Self::Unknown
    }
}

/// A step that `undo` took back, or that `redo` brought back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum UndoneStep {
    /// A turn.
    Turn {
        /// The message that opened the turn. Absent if it no longer exists.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<MessageName>,
    },
    /// An operation.
    Operation {
        /// The number of the operation.
        number: u64,
    },
    /// A code that only a newer owner knows.
    #[default]
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

/// A step that a plan takes back or brings back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum PlannedStep {
    /// A turn.
    Turn {
        /// The message that opened the turn. Absent if it no longer exists.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<MessageName>,
    },
    /// An operation.
    Operation {
        /// The verb of the operation.
        reason: OperationReason,
        /// The effect of the operation.
        summary: OpSummary,
    },
    /// A code that only a newer owner knows.
    #[default]
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

/// A message, identified by its turn and its first words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MessageName {
    /// The number of its turn. 0 for a message before the first turn.
    pub turn: u64,
    /// Whether the message opens the turn. Otherwise it is an answer in the turn.
    pub opens_turn: bool,
    /// The first words of the message, at most 40 characters. Empty if they are hidden.
    pub words: String,
}
