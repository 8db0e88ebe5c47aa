//! The agent at work: tool calls in the form for people, approvals, and permissions.

use std::fmt;

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;

use crate::ask_cause::AskCause;
use crate::call_refusal::CallRefusal;
#[cfg(feature = "schema")]
use crate::shape;

/// The class of a tool call's effect: the most that the call can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EffectClass {
    /// The call has no permanent effect.
    None,
    /// The call changes files of the workspace. A rewind reverts the changes.
    Workspace,
    /// Another call can revert the effect.
    Compensable,
    /// The call has effects outside of the workspace that nothing can revert.
    External,
}

/// A tool call in the form for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallShown {
    /// The id of the call.
    pub call: String,
    /// The name of the tool.
    pub tool: String,
    /// A description of the call, in one line.
    pub line: String,
    /// The class of the call's effect.
    pub class: EffectClass,
    /// Further details, such as a diff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// The ruling of a permission rule or of the mode on calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Ruling {
    /// The call may run.
    Allow,
    /// The call needs an approval.
    Ask,
    /// The call must not run.
    Deny,
}

/// A permission rule for tool calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The ruling on the calls that this rule matches.
    pub ruling: Ruling,
    /// The name of the tool. `*` stands for any letters.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::TOOL)))]
    pub tool: String,
    /// A glob of paths, the first words of a command, or the host of an address. Default: the rule matches every call of the
    /// tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
}

impl Rule {
    /// The rule without its ruling, as people write it: `shell(git push)`.
    pub fn short(&self) -> String {
        match &self.what {
            Some(what) => format!("{}({what})", self.tool),
            None => self.tool.clone(),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ruling: &str = self.ruling.into();
        write!(f, "{ruling} {}", self.short())
    }
}

/// The mode of permissions: what an agent may do without an approval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Reading in the workspace is allowed. Everything else needs an approval.
    #[default]
    Ask,
    /// Like `ask`, and edits of files in the workspace are allowed, too.
    AllowEdits,
    /// Everything is allowed, unless a rule denies it or requires an approval.
    AllowAll,
    /// Only reading is allowed. Everything that may write is refused, whatever the rules are.
    Plan,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Self; 4] = [Self::Ask, Self::AllowEdits, Self::AllowAll, Self::Plan];

    /// The name of the mode.
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// What happens to a message that arrives during a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Steer {
    /// The message waits until the run is over.
    Queue,
    /// The message joins the run before the model is called the next time.
    Join,
    /// The message stops the run.
    Interrupt,
    /// The settings decide.
    Usual,
}

/// Permissions of one run in addition to those of its conversation. They are not stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Permit {
    /// Another mode for this run. Default: the mode of the conversation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// Further rules that allow calls, as people write them: `shell(git push)`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(inner(regex(pattern = shape::SHORT_RULE))))]
    pub allow: Vec<String>,
}

impl Permit {
    /// Whether it contains no permissions.
    pub fn is_default(&self) -> bool {
        self.mode.is_none() && self.allow.is_empty()
    }
}

/// The answer to an approval request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum Decision {
    /// Run the call this time only.
    Once,
    /// Run the call, and allow everything that this rule matches in this conversation.
    InConversation {
        /// The rule.
        rule: Rule,
    },
    /// Run the call, and allow everything that this rule matches permanently.
    Always {
        /// The rule.
        rule: Rule,
    },
    /// Do not run the call.
    Deny {
        /// A message to the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        words: Option<String>,
    },
    /// No person can answer. The call does not run.
    Unattended {
        /// What would allow the call the next time. The model gets this text.
        allows: String,
    },
}

/// A call that waits for an approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PendingApproval {
    /// The id of the approval request. A decision names it.
    pub id: String,
    /// The call.
    pub call: CallShown,
    /// Why the call needs an approval.
    #[serde(default)]
    pub cause: AskCause,
    /// Deprecated, the next version leaves it out: `cause` as an English sentence.
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub why: String,
    /// When an equal call ran before, in Unix milliseconds. That call was reverted in the conversation, but its effects outside
    /// were not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again_ms: Option<i64>,
    /// Suggested rules that would allow this call and similar ones, from narrow to wide.
    pub offers: Vec<Rule>,
}

/// A question that a tool asks a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Question {
    /// The id of the question. An answer names it.
    pub id: String,
    /// The question.
    pub question: String,
    /// Answers to choose from. If there are none, any text is an answer.
    pub choices: Vec<String>,
}

/// A tool call that has ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallEnded {
    /// The id of the call.
    pub call: String,
    /// Whether the call failed.
    pub failed: bool,
    /// The text for people, such as a diff or the end of the output. Deprecated if `not_run` is present: then it is `not_run` as
    /// an English sentence, which the next version leaves empty.
    pub shown: String,
    /// Why the call did not run. Absent if it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_run: Option<Box<CallRefusal>>,
    /// The number of files that the call was seen to change.
    pub changed: usize,
    /// The entry with the result of the call.
    pub entry: String,
}
