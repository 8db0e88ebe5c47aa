//! Remarks about MCP servers: typed codes with fields. Only types; `english` makes the sentences.

use serde::{Deserialize, Serialize};

/// A remark about an MCP server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum McpRemark {
    /// A tool is left out: its name is empty or longer than 128 characters.
    ToolName {
        /// The beginning of the tool's name.
        tool: String,
    },
    /// A tool is left out: an earlier tool has the same name.
    ToolTwice {
        /// The beginning of the tool's name.
        tool: String,
    },
    /// A tool is left out: its schema is not a JSON object.
    ToolWithoutSchema {
        /// The beginning of the tool's name.
        tool: String,
    },
    /// A tool is left out: its schema does not describe an object.
    ToolSchema {
        /// The beginning of the tool's name.
        tool: String,
    },
    /// A tool is left out: its schema is longer than 64 kB.
    ToolSchemaTooLong {
        /// The beginning of the tool's name.
        tool: String,
    },
    /// More tools are left out, for similar reasons.
    MoreToolsLeftOut {
        /// The number of these tools.
        tools: u64,
    },
    /// The server offers too many tools. Only the first 128 are used.
    TooManyTools {
        /// The number of tools that the server offers, at least.
        offered: u64,
    },
    /// The tools of the server changed and can't be listed.
    ToolsNotListed {
        /// Why they can't be listed.
        detail: String,
    },
    /// A code of a newer owner.
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}
