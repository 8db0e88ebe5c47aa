//! Why a tool call did not run: only a code with its fields.

use serde::{Deserialize, Serialize};

use crate::agent::Rule;
use crate::notice::NoticeCause;

/// Why a tool call did not run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum CallRefusal {
    /// There is no tool of this name.
    UnknownTool {
        /// The name in the call.
        tool: String,
        /// The names of the tools that exist; bounded by the tools of the run.
        tools: Vec<String>,
    },
    /// The tool can't use the arguments of the call.
    Arguments {
        /// What is wrong with the arguments.
        detail: String,
    },
    /// The mode is `plan`, which only allows reading.
    PlanMode,
    /// A rule denies the call.
    Rule {
        /// The rule.
        rule: Rule,
    },
    /// A file contains secrets, and the tool may not read it.
    Secrets {
        /// The path of the file.
        path: String,
        /// The tool that would read the file.
        tool: String,
    },
    /// A person denied the call.
    Person {
        /// The person's message to the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        words: Option<String>,
    },
    /// The call needs an approval, and no client can answer.
    Unattended {
        /// What would allow the call the next time, as stated by a client.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        allows: Option<String>,
    },
    /// The call needs an approval, and the last client that could answer has left.
    LastClientLeft,
    /// The same call ran several times in a row, always with the same result.
    Repeated {
        /// How many times.
        times: u32,
    },
    /// The person stopped the run before the call began.
    Stopped,
    /// The owner ended before the call began.
    OwnerEnded,
    /// Something that must come before the call failed, such as the capture of the folder.
    Failed {
        /// What failed.
        cause: NoticeCause,
    },
    /// A code of a newer owner.
    #[default]
    #[serde(other)]
    #[cfg_attr(feature = "schema", schemars(skip))]
    Unknown,
}
