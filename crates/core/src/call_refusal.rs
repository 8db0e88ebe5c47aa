//! Why a call of a tool does not run: a code with its values. Its text is for the model; clients make their own sentences.

use std::fmt;
use std::path::PathBuf;

use crate::permission::Rule;

/// Why a call does not run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallRefusal {
    /// There is no tool of this name; there are these.
    UnknownTool(String, Vec<String>),
    /// The tool cannot use its arguments, and says why.
    Arguments(String),
    /// Plan mode only reads.
    PlanMode,
    /// This rule forbids it.
    Rule(Rule),
    /// This file holds secrets, and this tool may not read it.
    Secrets(PathBuf, String),
    /// The person said no, with these words to the model.
    Person(Option<String>),
    /// It needs an approval, and no client is there to answer. A client said what would allow it.
    Unattended(Option<String>),
    /// The last client that could approve it has left.
    LastClientLeft,
    /// The same call ran this many times in a row, always with the same result.
    Repeated(u32),
    /// The person stopped the run before the call began.
    Stopped,
    /// The owner ended before the call began.
    OwnerEnded,
}

/// What the model does without the call.
const SKIP: &str = "skip it, and say at the end what it is needed for";

impl fmt::Display for CallRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unattended = "it needs an approval, and no client is there to answer";
        match self {
            Self::UnknownTool(name, tools) => {
                write!(f, "there is no tool “{name}”; there are: {}", tools.join(", "))
            }
            Self::Arguments(why) => f.write_str(why),
            Self::PlanMode => f.write_str(
                "plan mode only reads: work out a plan, and hand it over with `present_plan`; change nothing until the person approves it",
            ),
            Self::Rule(rule) => write!(f, "the rule `{rule}` forbids it"),
            Self::Secrets(path, tool) => {
                let path = path.display();
                write!(
                    f,
                    "{path} holds secrets and is kept back; a person can allow it with the rule `{tool}({path})` in permissions.allow, or by permissions.secrets"
                )
            }
            Self::Person(None) => f.write_str("the person said no"),
            Self::Person(Some(words)) => write!(f, "the person said no: {words}"),
            Self::Unattended(None) => write!(f, "{unattended}; {SKIP}"),
            Self::Unattended(Some(allows)) => write!(f, "{unattended}; {allows}"),
            Self::LastClientLeft => {
                write!(f, "{unattended}; the last client that could approve it has left; {SKIP}")
            }
            Self::Repeated(times) => write!(
                f,
                "this exact call was made {times} times in a row, and its result did not change; it won't change now. Read that \
                 result again and do something else: change the arguments, use another tool, or wait for a job with job_output. \
                 Otherwise tell the person what stops you"
            ),
            Self::Stopped => f.write_str("stopped by the person before it began"),
            Self::OwnerEnded => {
                f.write_str("stopped because the owner of the conversations ended before it began")
            }
        }
    }
}
