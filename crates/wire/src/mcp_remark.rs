//! Remarks about MCP servers: typed codes with fields. Only types; `english` makes the sentences.

use serde::{Deserialize, Serialize};

/// Something that should be known of a server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum McpRemark {
    /// A tool of it is left out: its name is empty or longer than 128 characters.
    ToolName {
        /// The beginning of its name.
        tool: String,
    },
    /// A tool of it is left out: there is one of that name before it.
    ToolTwice {
        /// The beginning of its name.
        tool: String,
    },
    /// A tool of it is left out: its schema is no object.
    ToolWithoutSchema {
        /// The beginning of its name.
        tool: String,
    },
    /// A tool of it is left out: its schema describes no object.
    ToolSchema {
        /// The beginning of its name.
        tool: String,
    },
    /// A tool of it is left out: its schema has more than 64 kB.
    ToolSchemaTooLong {
        /// The beginning of its name.
        tool: String,
    },
    /// More of its tools are left out, for such reasons.
    MoreToolsLeftOut {
        /// Their number.
        tools: u64,
    },
    /// It offers more tools than are used: the first 128.
    TooManyTools {
        /// It offers at least so many.
        offered: u64,
    },
    /// Its tools changed, and cannot be listed.
    ToolsNotListed {
        /// Why.
        detail: String,
    },
    /// A code of a newer owner.
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}
