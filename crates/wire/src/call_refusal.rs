//! Why a call of a tool did not run. Only a code with its fields.

use serde::{Deserialize, Serialize};

use crate::agent::Rule;
use crate::notice::NoticeCause;

/// Why a call did not run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum CallRefusal {
    /// There is no such tool.
    UnknownTool {
        /// Its name.
        tool: String,
        /// The tools that there are; bounded by the tools of the run.
        tools: Vec<String>,
    },
    /// The tool cannot use its arguments.
    Arguments {
        /// What the tool says of them.
        detail: String,
    },
    /// Plan mode only reads.
    PlanMode,
    /// A rule forbids it.
    Rule {
        /// The rule.
        rule: Rule,
    },
    /// A file holds secrets and is kept back.
    Secrets {
        /// The file.
        path: String,
        /// The tool that would read it.
        tool: String,
    },
    /// The person said no.
    Person {
        /// What the person said to the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        words: Option<String>,
    },
    /// It needs an approval, and no client is there to answer.
    Unattended {
        /// What a client says would allow it the next time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        allows: Option<String>,
    },
    /// It needs an approval, and the last client that could answer has left.
    LastClientLeft,
    /// The person stopped the run before the call began.
    Stopped,
    /// The owner ended before the call began.
    OwnerEnded,
    /// What must come before it failed: a look at its folder, for example.
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
