//! Why a call needs approval. Only a code with its fields.

use serde::{Deserialize, Serialize};

use crate::agent::Rule;

/// Why a call needs an approval.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum AskCause {
    /// A rule wants it.
    Rule {
        /// The rule.
        rule: Rule,
    },
    /// It may change something, and nobody can say what.
    MayChange,
    /// Only its server knows what it does.
    ServerKnows,
    /// It may change what it reads.
    MayChangeRead,
    /// It reads outside of the workspace.
    ReadsOutside,
    /// It writes a file.
    Writes,
    /// It writes outside of the workspace.
    WritesOutside,
    /// It runs a command.
    Command,
    /// It runs a command that can reach the network, which no rule for commands allows.
    NetworkCommand,
    /// It reaches into the network.
    Network,
    /// A file that it reads may hold secrets.
    Secrets {
        /// The file.
        path: String,
        /// The tool that reads it.
        tool: String,
    },
    /// The same call ran before, and its effects outside of the files were not taken back.
    RanBefore,
    /// A code of a newer owner.
    #[default]
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}
