//! Replies for composers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::content::Part;

/// What somebody is about to say.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Draft {
    /// Whose it is.
    pub author: String,
    /// The text, and what is attached; empty, when there is none.
    pub parts: Vec<Part>,
}

/// Earlier prompts.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct HistoryPage {
    /// Newest first, each once. One that was said several times may come again on an earlier page.
    pub prompts: Vec<String>,
    /// Where earlier ones begin, where there may be some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub earlier: Option<String>,
}
