//! Summaries of operations: typed codes with fields. Only types; `english` makes the sentences.

use serde::{Deserialize, Serialize};

/// What an operation did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum OpSummary {
    /// It took a step back.
    TookBack {
        /// Which.
        step: UndoneStep,
    },
    /// It brought a step back.
    BroughtBack {
        /// Which.
        step: UndoneStep,
    },
    /// It took back a step that came to nothing: a run failed before it had an answer.
    TookBackFailed {
        /// Which.
        step: UndoneStep,
    },
    /// It went back to what an earlier head left.
    Restored {
        /// The head.
        head: String,
    },
    /// It marked messages.
    Marked {
        /// How many.
        messages: u64,
        /// The first of them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        first: Option<MessageName>,
    },
    /// It put a summary in the place of messages, or took it away.
    Folded {
        /// How many messages the summary covers.
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
    /// It put files back as they were.
    FilesPutBack,
    /// It changed files.
    Files,
    /// It erased content.
    Erased {
        /// Of how many messages.
        messages: u64,
    },
    /// It put other words, or another answer, in the place of a message.
    Replaced {
        /// Which. Absent where it is gone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<MessageName>,
    },
    /// It chose another alternative.
    Chose {
        /// Which. Absent where it is gone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<MessageName>,
    },
    /// It moved to a message. Without one, to the beginning.
    Moved {
        /// The message.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<MessageName>,
    },
    /// It is of a kind that this owner does not know.
    UnknownKind {
        /// The kind.
        kind: String,
    },
    /// A code of a newer owner.
    #[default]
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

impl OpSummary {
    /// Whether only its owner knows what it is.
    pub(crate) fn is_unknown(&self) -> bool {
        *self == Self::Unknown
    }
}

/// A step that `undo` took back or `redo` brought back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum UndoneStep {
    /// A turn.
    Turn {
        /// The message that opened it. Absent where it is gone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<MessageName>,
    },
    /// An operation.
    Operation {
        /// Its number.
        number: u64,
    },
    /// A code of a newer owner.
    #[default]
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

/// What a step of a plan takes back or brings back.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum PlannedStep {
    /// A turn.
    Turn {
        /// The message that opened it. Absent where it is gone.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<MessageName>,
    },
    /// An operation.
    Operation {
        /// The verb: `rewind`, `undo` …
        reason: String,
        /// What it did.
        summary: OpSummary,
    },
    /// A code of a newer owner.
    #[default]
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}

/// A message, by its turn and its first words.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MessageName {
    /// The number of its turn; 0 for what stands before the first turn.
    pub turn: u64,
    /// It opens the turn. Else it is an answer in it.
    pub opens_turn: bool,
    /// Its first words, at most 40 characters. Empty where they are hidden.
    pub words: String,
}
