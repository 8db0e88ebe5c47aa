//! Why a call needs an approval: only a code with its fields.

use serde::{Deserialize, Serialize};

use crate::agent::Rule;

/// Why a call needs an approval.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum AskCause {
    /// A rule requires an approval.
    Rule {
        /// The rule.
        rule: Rule,
    },
    /// The call may change something, and it is not known what.
    MayChange,
    /// Only the MCP server of the tool knows what the call does.
    ServerKnows,
    /// The call may change the files that it reads.
    MayChangeRead,
    /// The call reads outside of the workspace.
    ReadsOutside,
    /// The call writes a file.
    Writes,
    /// The call writes outside of the workspace.
    WritesOutside,
    /// The call runs a command.
    Command,
    /// The call runs a command with network access, which no rule for commands allows.
    NetworkCommand,
    /// The call accesses the network.
    Network,
    /// The call reads a file that may contain secrets.
    Secrets {
        /// The path of the file.
        path: String,
        /// The tool that reads the file.
        tool: String,
    },
    /// The call hands over a plan. With an approval, plan mode is over.
    Plan,
    /// An equal call ran before, and its effects outside of the files were not reverted.
    RanBefore,
    /// A code of a newer owner.
    #[default]
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}
