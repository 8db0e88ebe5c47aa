//! Whether a call may run: the mode of a conversation, and rules for tools, paths, commands and addresses. Pure; asking a
//! person is the engine's.

use crate::effect::Intent;

/// How much a conversation's agent may do unasked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Reading is free, everything else is asked about.
    #[default]
    Ask,
    /// Edits of files in the workspace are free, too.
    AllowEdits,
    /// Everything is free but what a rule denies.
    AllowAll,
    /// Reading only: everything else is refused.
    Plan,
}

/// What a rule says of what it fits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ruling {
    /// It may run.
    Allow,
    /// A person is asked.
    Ask,
    /// It may not.
    Deny,
}

/// A rule: for a tool, and there for a path, a command or an address.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    /// What it says.
    pub ruling: Ruling,
    /// The tool's name; a `*` stands for any letters.
    pub tool: String,
    /// A glob of paths, the first words of a command, or the host of an address; anything, without.
    pub what: Option<String>,
}

/// What is settled of a conversation's permissions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permission {
    /// The mode.
    pub mode: Mode,
    /// Rules, the latest last.
    pub rules: Vec<Rule>,
}

/// Whether a call may run, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// What holds.
    pub ruling: Ruling,
    /// Why, for people and for the model.
    pub why: String,
}

impl Permission {
    /// Whether a call of this tool with this intent may run. Plan refuses whatever may write, whatever rules say; a rule that
    /// denies wins over all others.
    pub fn settle(&self, _tool: &str, _intent: &Intent) -> Settled {
        Settled { ruling: Ruling::Ask, why: "nothing else is settled".to_owned() }
    }
}
