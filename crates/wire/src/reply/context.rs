//! The reply with what takes how much of the model's context. Only types.

use serde::{Deserialize, Serialize};

use crate::notice::RunNotice;

/// How much of the model's context the next prompt takes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Context {
    /// The model that would answer. Absent if no model can be used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The size of its context in tokens. Absent if it is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u64>,
    /// From how many tokens on earlier messages are summarised. Absent if that never happens by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summarised_at: Option<u64>,
    /// The tokens of the prompt.
    pub used: u64,
    /// How the tokens are known.
    pub basis: ContextBasis,
    /// The tokens by what they are for. They are shares of `used` by the size of the texts.
    pub parts: ContextParts,
    /// Why the message of the request may be refused. Absent if it fits, if there is none, or if the size of the context is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warning: Option<RunNotice>,
}

/// How the tokens of a prompt are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ContextBasis {
    /// The provider counted them at the last answer, and nothing has changed since.
    Counted,
    /// They are estimated from the size of the texts, and from what the provider counted before.
    #[default]
    #[serde(other)]
    Estimated,
}

/// The tokens of a prompt by what they are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextParts {
    /// The system prompt and the descriptions of tools.
    pub system: u64,
    /// Instruction files, notes of the program, and recalled facts.
    pub notes: u64,
    /// Summaries of earlier messages.
    pub summaries: u64,
    /// Messages of people and models, with the calls of tools.
    pub messages: u64,
    /// Results of tools.
    pub results: u64,
}
