//! Rules as texts: `allow shell(git push)`, `deny write(/etc/**)`, `ask fetch(example.org)`. A printed rule is parsed back to the
//! same rule.

use std::fmt;
use std::str::FromStr;

use strum::IntoStaticStr;
use thiserror::Error;

use super::fit::NETWORK;
use super::{Rule, Ruling, command};

/// A text that is not a rule.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{text:?} is not a valid rule: {}", why.text())]
pub struct BadRule {
    text: String,
    why: RuleDefect,
}

/// What is wrong with the text of a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum RuleDefect {
    /// It holds a line break or another control character.
    ControlCharacter,
    /// A bracket opens, and does not close at the end.
    OpenBracket,
    /// It names no tool.
    NoTool,
    /// The name of the tool has other characters than letters, digits, `_`, `-` and `*`.
    ToolName,
    /// There is nothing between the brackets.
    EmptyBrackets,
    /// It does not begin with `allow`, `ask` or `deny`.
    NoRuling,
}

impl RuleDefect {
    /// Its name for programs.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// A sentence for people, without its first letter in upper case and without a full stop.
    pub fn text(self) -> &'static str {
        match self {
            Self::ControlCharacter => "it holds a line break or another control character",
            Self::OpenBracket => "the bracket that opens does not close at its end",
            Self::NoTool => "it names no tool",
            Self::ToolName => "the name of a tool has letters, digits, _, - and * for any of them",
            Self::EmptyBrackets => "there is nothing between the brackets; leave them out to mean everything",
            Self::NoRuling => "it begins with allow, ask or deny",
        }
    }
}

impl BadRule {
    /// The text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The error, without the text.
    pub fn why(&self) -> RuleDefect {
        self.why
    }
}

impl Rule {
    /// Parses a rule without its first word, such as `shell(git push)`.
    pub fn read(ruling: Ruling, text: &str) -> Result<Self, BadRule> {
        let bad = |why| BadRule { text: text.to_owned(), why };
        let trimmed = text.trim();
        if trimmed.contains(|c: char| c.is_control()) {
            return Err(bad(RuleDefect::ControlCharacter));
        }
        let (tool, what) = match trimmed.split_once('(') {
            None => (trimmed, None),
            Some((tool, rest)) => {
                let what = rest.strip_suffix(')').ok_or_else(|| bad(RuleDefect::OpenBracket))?;
                (tool, Some(what.trim()))
            }
        };
        if tool.is_empty() {
            return Err(bad(RuleDefect::NoTool));
        }
        if !tool.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '*')) {
            return Err(bad(RuleDefect::ToolName));
        }
        if what.is_some_and(str::is_empty) {
            return Err(bad(RuleDefect::EmptyBrackets));
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
        let why = RuleDefect::NoRuling;
        let ruling = ruling.ok_or_else(|| BadRule { text: text.to_owned(), why })?;
        Self::read(ruling, rest).map_err(|bad| BadRule { text: text.to_owned(), ..bad })
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.ruling.name(), self.short())
    }
}
