//! What is known about a model, as codes. Only types; `english` makes the words.

use serde::{Deserialize, Serialize};

/// How much a model reasons before it answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Effort {
    /// Little: the answer is quick and cheap.
    Low,
    /// Between both.
    Medium,
    /// Much: the answer is slow and costs more.
    High,
    /// Sent by a newer program.
    #[default]
    #[serde(other)]
    Unknown,
}

/// Where the facts about a model come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum FactsFrom {
    /// They are built in.
    BuiltIn,
    /// They are in the settings.
    Settings,
    /// The settings override some of those that are built in.
    Both,
    /// Sent by a newer program.
    #[default]
    #[serde(other)]
    Unknown,
}
