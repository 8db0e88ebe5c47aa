//! Summaries of operations: typed codes with fields. Only types; `english` makes the sentences.

use serde::{Deserialize, Serialize};

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
        /// The verb of the operation, such as `rewind` or `undo`.
        reason: String,
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
