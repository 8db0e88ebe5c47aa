//! Rules as texts: `allow shell(git push)`, `deny write(/etc/**)`, `ask fetch(example.org)`. A printed rule is parsed back to the
//! same rule.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use super::fit::NETWORK;
use super::{Rule, Ruling, command};

/// A text that is not a rule.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text:?} is no rule: {why}")]
pub struct BadRule {
    text: String,
    why: &'static str,
}

impl BadRule {
    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The error, without the text.
    pub fn why(&self) -> &'static str {
        self.why
    }

    /// The form of a rule.
    pub const HINT: &'static str = "a rule is a tool, or a tool with a path, the first words of a command, or a host: edit, \
                                    write(src/**), shell(git push), fetch(*.example.org). The rule network(git push) lets the command reach the network";
}

impl Rule {
    /// Parses a rule without its first word, such as `shell(git push)`.
    pub fn read(ruling: Ruling, text: &str) -> Result<Self, BadRule> {
        let bad = |why| BadRule { text: text.to_owned(), why };
        let trimmed = text.trim();
        if trimmed.contains(|c: char| c.is_control()) {
            return Err(bad("it holds a line break or another control character"));
        }
        let (tool, what) = match trimmed.split_once('(') {
            None => (trimmed, None),
            Some((tool, rest)) => {
                let what = rest
                    .strip_suffix(')')
                    .ok_or_else(|| bad("the bracket that opens does not close at its end"))?;
                (tool, Some(what.trim()))
            }
        };
        if tool.is_empty() {
            return Err(bad("it names no tool"));
        }
        if !tool.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '*')) {
            return Err(bad("the name of a tool has letters, digits, _, - and * for any of them"));
        }
        if what.is_some_and(str::is_empty) {
            return Err(bad("there is nothing between the brackets; leave them out to mean everything"));
        }
        Ok(Self { ruling, tool: tool.to_owned(), what: what.map(str::to_owned) })
    }

    /// Whether it allows any command although it names a program: one that runs other programs or code, as `shell(bash -c)` or
    /// `shell(env)`.
    pub fn allows_anything(&self) -> bool {
        let is_of_commands = matches!(self.tool.as_str(), "shell" | NETWORK);
        let what = self.what.as_deref().filter(|_| is_of_commands && self.ruling == Ruling::Allow);
        what.is_some_and(command::allows_anything)
    }

    /// The text without its first word.
    pub fn short(&self) -> String {
        match &self.what {
            Some(what) => format!("{}({what})", self.tool),
            None => self.tool.clone(),
        }
    }
}

impl FromStr for Rule {
    type Err = BadRule;

    fn from_str(text: &str) -> Result<Self, BadRule> {
        let trimmed = text.trim();
        let (first, rest) = trimmed.split_once(char::is_whitespace).unwrap_or((trimmed, ""));
        let ruling = Ruling::from_name(first);
        let why = "it begins with allow, ask or deny";
        let ruling = ruling.ok_or_else(|| BadRule { text: text.to_owned(), why })?;
        Self::read(ruling, rest).map_err(|bad| BadRule { text: text.to_owned(), ..bad })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.ruling.name(), self.short())
    }
}
