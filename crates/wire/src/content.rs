//! Content as JSON: the parts of a message, and usage.

use serde::{Deserialize, Serialize};

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// A person.
    User,
    /// A model.
    Assistant,
    /// The result of a tool.
    Tool,
    /// An instruction.
    System,
}

/// One piece of a message's content.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Part {
    /// Text or Markdown.
    Text {
        /// The text.
        text: String,
    },
    /// A picture: `data` (base64) or `url`.
    Image {
        /// MIME type.
        media_type: String,
        /// Its bytes, base64.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(regex(pattern = crate::shape::BASE64)))]
        data: Option<String>,
        /// Where it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        url: Option<String>,
    },
    /// A file: `data` (base64) or `url`.
    File {
        /// Path or name.
        name: String,
        /// MIME type, where known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        media_type: Option<String>,
        /// Its bytes, base64.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(regex(pattern = crate::shape::BASE64)))]
        data: Option<String>,
        /// Where it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        url: Option<String>,
    },
    /// A model asks for a tool.
    ToolCall {
        /// Id of the call.
        id: String,
        /// The tool.
        name: String,
        /// JSON text of the arguments.
        arguments: String,
    },
    /// What a tool answered.
    ToolResult {
        /// Id of the call.
        call: String,
        /// The result.
        content: String,
        /// Whether the tool failed.
        #[serde(default)]
        failed: bool,
    },
    /// A model's reasoning.
    Reasoning {
        /// As far as it is shown.
        text: String,
        /// The provider's signature.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    /// Content that was erased.
    Erased,
}

impl Part {
    /// A text part.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}

/// What a model call used; an absent number is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// Tokens of the prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// Of these, read from the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input_tokens: Option<u64>,
    /// Tokens of the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// What it cost in US dollars, where prices are set.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}
