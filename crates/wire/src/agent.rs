//! The agent at work: tool calls as people see them, and their approval.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ask_cause::AskCause;
use crate::call_refusal::CallRefusal;
#[cfg(feature = "schema")]
use crate::shape;

/// What a call does to the world at most.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum EffectClass {
    /// Nothing that stays.
    None,
    /// It changes files of the workspace: a rewind brings them back.
    Workspace,
    /// It can be taken back by another call.
    Compensable,
    /// It reaches outside: nothing takes it back.
    External,
}

/// A call, as people see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallShown {
    /// Its id.
    pub call: String,
    /// The tool.
    pub tool: String,
    /// What it does, in a line.
    pub line: String,
    /// What it does to the world at most.
    pub class: EffectClass,
    /// More, such as a diff.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// What a rule says of what it fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Ruling {
    /// It may run.
    Allow,
    /// A person is asked.
    Ask,
    /// It may not.
    Deny,
}

/// A rule of what may run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// What it says.
    pub ruling: Ruling,
    /// The tool's name; a `*` stands for any letters.
    #[cfg_attr(feature = "schema", schemars(regex(pattern = shape::TOOL)))]
    pub tool: String,
    /// A glob of paths, the first words of a command, or the host of an address. Default: anything.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub what: Option<String>,
}

impl Rule {
    /// The rule without what it says, as people write it: `shell(git push)`.
    pub fn short(&self) -> String {
        match &self.what {
            Some(what) => format!("{}({what})", self.tool),
            None => self.tool.clone(),
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ruling = match self.ruling {
            Ruling::Allow => "allow",
            Ruling::Ask => "ask",
            Ruling::Deny => "deny",
        };
        write!(f, "{ruling} {}", self.short())
    }
}

/// How much an agent may do unasked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Reading in the workspace; everything else is asked about.
    #[default]
    Ask,
    /// Edits of files in the workspace, too.
    AllowEdits,
    /// Everything but what a rule denies or asks about.
    AllowAll,
    /// Reading, and nothing else.
    Plan,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Self; 4] = [Self::Ask, Self::AllowEdits, Self::AllowAll, Self::Plan];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::AllowEdits => "allow-edits",
            Self::AllowAll => "allow-all",
            Self::Plan => "plan",
        }
    }
}

/// What becomes of words that are said while a run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Steer {
    /// They wait until it is over.
    Queue,
    /// They join it before the model is called the next time.
    Join,
    /// They stop it.
    Interrupt,
    /// As the settings say.
    Usual,
}

/// Permissions of one run in addition to those of its conversation. They are not stored.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Permit {
    /// In another mode.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<Mode>,
    /// With further rules that allow, as people write them: `shell(git push)`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(inner(regex(pattern = shape::SHORT_RULE))))]
    pub allow: Vec<String>,
}

impl Permit {
    /// Whether it says nothing.
    pub fn is_default(&self) -> bool {
        self.mode.is_none() && self.allow.is_empty()
    }
}

/// The answer to an approval request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "decision", rename_all = "snake_case")]
pub enum Decision {
    /// Run it.
    Once,
    /// Run it, and what this rule fits, as long as this conversation goes on.
    InConversation {
        /// The rule.
        rule: Rule,
    },
    /// Run it, and what this rule fits, for good.
    Always {
        /// The rule.
        rule: Rule,
    },
    /// Don't.
    Deny {
        /// A message to the model.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        words: Option<String>,
    },
    /// Nobody is there to be asked: it does not run.
    Unattended {
        /// What would allow it the next time. The model gets this text.
        allows: String,
    },
}

/// A call that waits for an approval.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Asks {
    /// What a decision names.
    pub id: String,
    /// The call.
    pub call: CallShown,
    /// Why it is asked about.
    #[serde(default)]
    pub cause: AskCause,
    /// Deprecated, the next version leaves it out: `cause` as an English sentence.
    #[cfg_attr(feature = "schema", schemars(extend("deprecated" = true)))]
    pub why: String,
    /// When the same was done before: taken back from the conversation since, but not from the world. Unix milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again_ms: Option<i64>,
    /// Rules that would allow it, and more like it, from narrow to wide.
    pub offers: Vec<Rule>,
}

/// A question of a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Question {
    /// What an answer names.
    pub id: String,
    /// The question.
    pub question: String,
    /// Answers to choose from; any words, when there are none.
    pub choices: Vec<String>,
}

/// A call that is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CallEnded {
    /// Its id.
    pub call: String,
    /// Whether it failed.
    pub failed: bool,
    /// What people are shown of it: a diff, the end of its output. Deprecated where `not_run` is there: that as an English sentence,
    /// which the next version leaves empty.
    pub shown: String,
    /// Why it did not run, if so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_run: Option<Box<CallRefusal>>,
    /// How many files it was seen to change.
    pub changed: usize,
    /// Its result.
    pub entry: String,
}
