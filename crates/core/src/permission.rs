//! Whether a call may run: the mode of a conversation, and rules for tools, paths, commands and addresses. Pure; the engine
//! requests approvals. A rule that denies helps but is no barrier: the sandbox limits what a command can reach.

mod command;
mod fit;
mod glob;
mod host;
mod offers;
mod text;

use std::path::{Path, PathBuf};

use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::call_refusal::CallRefusal;
use crate::effect::{EffectClass, Intent};
use fit::Piece;

pub use text::{BadRule, RuleDefect};

/// What a conversation's agent may do without an approval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "kebab-case")]
pub enum Mode {
    /// Reading in the workspace is allowed, everything else needs an approval.
    #[default]
    Ask,
    /// Edits of files in the workspace are allowed, too.
    AllowEdits,
    /// Everything is allowed, unless a rule denies or asks.
    AllowAll,
    /// Only reading is allowed; everything else is refused.
    Plan,
}

impl Mode {
    /// Every mode.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// The name used in every format.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The mode with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        name.parse().ok()
    }
}

/// The ruling of a rule for what it matches.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, EnumString, IntoStaticStr, VariantArray,
)]
#[strum(serialize_all = "snake_case")]
pub enum Ruling {
    /// It may run.
    Allow,
    /// It needs an approval.
    Ask,
    /// It must not run.
    Deny,
}

impl Ruling {
    /// Every ruling, the strictest last.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// The name used in every format.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// The ruling with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        name.parse().ok()
    }
}

/// A rule for a tool, and in it for a path, a command or an address. As a text: `allow shell(git push)`. Commands with
/// network access are only allowed by rules for `network`: `allow network(git push)`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Rule {
    /// Its ruling.
    pub ruling: Ruling,
    /// The tool's name; `*` matches any letters.
    pub tool: String,
    /// A glob of paths, the first words of a command, or the host of an address; without one, it matches everything.
    pub what: Option<String>,
}

/// The permissions of a conversation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Permission {
    /// The mode.
    pub mode: Mode,
    /// Rules in any order: of the matching ones, one that denies wins, then one that asks.
    pub rules: Vec<Rule>,
}

/// The ruling for one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CallRuling {
    /// It may run.
    Allow,
    /// It needs an approval, for this reason.
    Ask(AskCause),
    /// It must not run, for this reason.
    Deny(CallRefusal),
}

impl CallRuling {
    /// The ruling without the reason.
    pub fn ruling(&self) -> Ruling {
        match self {
            Self::Allow => Ruling::Allow,
            Self::Ask(_) => Ruling::Ask,
            Self::Deny(_) => Ruling::Deny,
        }
    }
}

/// Why a call needs an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AskCause {
    /// This rule asks.
    Rule(Rule),
    /// It may change something, and it is not known what.
    MayChange,
    /// Its effect is known only to its server.
    ServerKnows,
    /// It may change the files that it reads.
    MayChangeRead,
    /// It reads outside of the workspace.
    ReadsOutside,
    /// It writes a file.
    Writes,
    /// It writes outside of the workspace.
    WritesOutside,
    /// It runs a command.
    Command,
    /// It runs a command with network access, which no rule for commands allows.
    NetworkCommand,
    /// It accesses the network.
    Network,
    /// This file may hold secrets.
    Secrets(PathBuf),
    /// It hands over a plan: with an approval, plan mode is over.
    Plan,
    /// An equal call ran before; its effects outside of the files were not reverted.
    RanBefore,
}

impl Permission {
    /// Whether a call of this tool with this intent may run. Globs are relative to the first root. Each thing that it touches
    /// is checked, and the strictest ruling counts. Of matching rules, one that denies overrides one that asks, which
    /// overrides one that allows; any rule overrides the mode. Plan refuses everything that may write, whatever the rules
    /// are.
    pub fn settle(&self, tool: &str, intent: &Intent, roots: &[PathBuf]) -> CallRuling {
        let mut settled: Option<CallRuling> = None;
        for piece in fit::pieces(intent, roots) {
            let next = self.settle_piece(tool, intent.class, &piece, roots);
            if settled.as_ref().is_none_or(|settled| settled.ruling() < next.ruling()) {
                settled = Some(next);
            }
        }
        settled.expect("BUG: every intent has a piece")
    }

    /// Only the denials: a file from another person must not allow anything that nobody here has allowed.
    #[must_use]
    pub fn forbidding(&self) -> Self {
        let mode = if self.mode == Mode::Plan { Mode::Plan } else { Mode::Ask };
        let rules = self.rules.iter().filter(|rule| rule.ruling != Ruling::Allow).cloned().collect();
        Self { mode, rules }
    }

    /// The ruling for every call of a tool of this class; `None` if it depends on the call.
    pub fn always(&self, tool: &str, class: EffectClass) -> Option<Ruling> {
        let of = |rule: &&Rule| glob::word(&rule.tool, tool);
        let whole =
            self.rules.iter().filter(of).filter(|rule| rule.what.is_none()).map(|rule| rule.ruling).max();
        let strictest = self.rules.iter().filter(of).map(|rule| rule.ruling).max();
        match (self.mode, whole) {
            (Mode::Plan, _) if class != EffectClass::None => Some(Ruling::Deny),
            (_, Some(ruling)) if Some(ruling) == strictest => Some(ruling),
            (Mode::AllowAll, None) if strictest.is_none_or(|ruling| ruling == Ruling::Allow) => {
                Some(Ruling::Allow)
            }
            _ => None,
        }
    }

    /// The rules that allow something to tools whose names have this prefix.
    pub fn allowing<'a>(&'a self, beginning: &'a str) -> impl Iterator<Item = &'a Rule> {
        let fits = move |rule: &&Rule| {
            let fixed = rule.tool.find('*').map_or(rule.tool.as_str(), |at| &rule.tool[..at]);
            fixed.starts_with(beginning) || (fixed.len() < rule.tool.len() && beginning.starts_with(fixed))
        };
        self.rules.iter().filter(|rule| rule.ruling == Ruling::Allow).filter(fits)
    }

    /// The rules' ruling for a tool that reads this path, whatever the mode is; `None` if none matches.
    pub fn reading(&self, tool: &str, path: &Path, roots: &[PathBuf]) -> Option<Ruling> {
        let root = roots.first().map_or(Path::new("/"), PathBuf::as_path);
        let piece = fit::path_piece(path, false, roots);
        let fitting = self.rules.iter().filter(|rule| fit::fits(rule, tool, &piece, root));
        fitting.map(|rule| rule.ruling).max()
    }

    /// Whether a rule that names paths allows this path to a tool: no other rule allows a guarded file.
    pub fn allows_by_name(&self, tool: &str, path: &Path, roots: &[PathBuf]) -> bool {
        let root = roots.first().map_or(Path::new("/"), PathBuf::as_path);
        let piece = fit::path_piece(path, false, roots);
        let mut named = self.rules.iter().filter(|rule| rule.ruling == Ruling::Allow && rule.what.is_some());
        named.any(|rule| fit::fits(rule, tool, &piece, root))
    }

    fn settle_piece(&self, tool: &str, class: EffectClass, piece: &Piece, roots: &[PathBuf]) -> CallRuling {
        if self.mode == Mode::Plan && (class != EffectClass::None || piece.may_write()) {
            return CallRuling::Deny(CallRefusal::PlanMode);
        }
        let root = roots.first().map_or(Path::new("/"), PathBuf::as_path);
        let fitting = self.rules.iter().filter(|rule| fit::fits(rule, tool, piece, root));
        // Of equally strict ones, the first is named.
        if let Some(rule) = fitting.rev().max_by_key(|rule| rule.ruling) {
            return match rule.ruling {
                Ruling::Allow => CallRuling::Allow,
                Ruling::Ask => CallRuling::Ask(AskCause::Rule(rule.clone())),
                Ruling::Deny => CallRuling::Deny(CallRefusal::Rule(rule.clone())),
            };
        }
        self.by_mode(class, piece)
    }

    /// The ruling if no rule matches.
    fn by_mode(&self, class: EffectClass, piece: &Piece) -> CallRuling {
        let reads = class == EffectClass::None;
        let (free, cause) = match piece {
            Piece::Nothing => (reads, AskCause::MayChange),
            Piece::Unknown => (false, AskCause::ServerKnows),
            Piece::Path { write: false, inside: true, .. } => (reads, AskCause::MayChangeRead),
            Piece::Path { write: false, inside: false, .. } => (false, AskCause::ReadsOutside),
            Piece::Path { write: true, inside: true, .. } => (false, AskCause::Writes),
            Piece::Path { write: true, inside: false, .. } => (false, AskCause::WritesOutside),
            Piece::Command { network: true, .. } => (false, AskCause::NetworkCommand),
            Piece::Command { network: false, .. } => (reads, AskCause::Command),
            Piece::Host(_) => (false, AskCause::Network),
        };
        let edits = class <= EffectClass::Workspace && piece.is_inside();
        let is_allowed = match self.mode {
            Mode::AllowAll => true,
            Mode::AllowEdits => edits || free,
            Mode::Ask | Mode::Plan => free,
        };
        if is_allowed { CallRuling::Allow } else { CallRuling::Ask(cause) }
    }
}

#[cfg(test)]
mod tests;
