//! The request for what takes how much of the model's context. Only types.

use serde::{Deserialize, Serialize};

use crate::content::Part;

/// Asks how much of the model's context the next prompt takes, and whether a message fits that is not sent yet.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContextQuery {
    /// The conversation.
    pub conversation: String,
    /// The model that would answer, as `provider/model`. Default: the default model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The content of a message that is not sent yet. Files that it mentions with `@` count.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
}

impl ContextQuery {
    /// Whether a client asks about this message before it sends it. A short one without files fits, or the run says that it does not.
    pub fn is_worth_asking(parts: &[Part]) -> bool {
        const SHORT: usize = 8 << 10;
        parts.iter().any(|part| match part {
            Part::Text { text } => text.len() > SHORT || text.contains('@'),
            Part::Image { .. } | Part::File { .. } => true,
            _ => false,
        })
    }
}
