//! Content as JSON: the parts of a message, and the usage of model calls.

use serde::{Deserialize, Serialize};

/// The role of a message's author.
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
    /// An instruction that is neither a person's nor a model's.
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
    /// A picture, either as `data` or as `url`.
    Image {
        /// The MIME type.
        media_type: String,
        /// The bytes of the picture in base64.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(regex(pattern = crate::shape::BASE64)))]
        data: Option<String>,
        /// The address of the picture.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        url: Option<String>,
    },
    /// A file, either as `data` or as `url`.
    File {
        /// The path or name of the file.
        name: String,
        /// The MIME type, if known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        media_type: Option<String>,
        /// The bytes of the file in base64.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "schema", schemars(regex(pattern = crate::shape::BASE64)))]
        data: Option<String>,
        /// The address of the file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        url: Option<String>,
    },
    /// A tool call by a model, in the form in which it runs.
    ToolCall {
        /// The id of the call.
        id: String,
        /// The name of the tool.
        name: String,
        /// The arguments as JSON text.
        arguments: String,
        /// The call as the model sent it and sees it, if it was repaired.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sent: Option<SentCall>,
    },
    /// The result of a tool call.
    ToolResult {
        /// The id of the call.
        call: String,
        /// The result.
        content: String,
        /// Whether the tool failed.
        #[serde(default)]
        failed: bool,
    },
    /// A model's reasoning.
    Reasoning {
        /// The reasoning, as far as the provider shows it.
        text: String,
        /// The provider's signature of the reasoning.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<String>,
    },
    /// Remembered facts that the message recalls. The words are those of now, and are not stored with the message.
    Recalled {
        /// The facts.
        facts: Vec<RecalledFact>,
    },
    /// Content that was erased.
    Erased,
}

impl Part {
    /// The media type of a file that holds the text of a command. The owner adds it when the command is sent.
    pub const COMMAND_PROMPT: &str = "text/vnd.retake.command";

    /// Whether it is the text of a command. A message that returns to the composer is sent again as a command, without this part.
    #[must_use]
    pub fn is_command_prompt(&self) -> bool {
        matches!(self, Self::File { media_type: Some(media_type), .. } if media_type == Self::COMMAND_PROMPT)
    }
}

/// A fact that a message recalls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct RecalledFact {
    /// The id of the fact.
    pub id: String,
    /// The words. Absent if the fact no longer counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Whether the words were erased.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub erased: bool,
}

/// A repaired call as the model sent it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct SentCall {
    /// The name of the tool.
    pub name: String,
    /// The arguments as JSON text.
    pub arguments: String,
}

impl Part {
    /// A text part.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}

/// The usage and cost of a model call. An absent number is unknown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Usage {
    /// The number of tokens in the prompt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub input_tokens: Option<u64>,
    /// The number of prompt tokens that were read from the provider's cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cached_input_tokens: Option<u64>,
    /// The number of tokens in the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_tokens: Option<u64>,
    /// The cost in US dollars, if prices are set or the model is free.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_usd: Option<f64>,
}
