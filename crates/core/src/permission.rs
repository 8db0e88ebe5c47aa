//! Whether a call may run: the mode of a conversation, and rules for tools, paths, commands and addresses. Pure; asking a
//! person is the engine's. A rule that denies is a help, not a wall: what a command can reach is the sandbox's.

mod command;
mod fit;
mod glob;
mod host;
mod offers;
mod text;

use std::path::{Path, PathBuf};

use crate::effect::{EffectClass, Intent};
use fit::Piece;

pub use text::BadRule;

/// How much a conversation's agent may do unasked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Mode {
    /// Reading in the workspace is free, everything else is asked about.
    #[default]
    Ask,
    /// Edits of files in the workspace are free, too.
    AllowEdits,
    /// Everything is free but what a rule denies or asks about.
    AllowAll,
    /// Reading only: everything else is refused.
    Plan,
}

impl Mode {
    /// Every mode.
    pub const ALL: [Self; 4] = [Self::Ask, Self::AllowEdits, Self::AllowAll, Self::Plan];

    /// The name used in every format.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ask => "ask",
            Self::AllowEdits => "allow-edits",
            Self::AllowAll => "allow-all",
            Self::Plan => "plan",
        }
    }

    /// The mode of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.name() == name)
    }
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

impl Ruling {
    /// Every ruling, the strictest last.
    pub const ALL: [Self; 3] = [Self::Allow, Self::Ask, Self::Deny];

    /// The name used in every format.
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }

    /// The ruling of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|ruling| ruling.name() == name)
    }
}

/// A rule: for a tool, and there for a path, a command or an address. As a text: `allow shell(git push)`. Commands that reach
/// the network are allowed by rules for `network` only: `allow network(git push)`.
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
    /// Rules. Their order says nothing: of those that fit, one that denies wins, then one that asks.
    pub rules: Vec<Rule>,
}

/// Whether a call may run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settled {
    /// It may run.
    Allow,
    /// A person is asked, for this reason.
    Ask(AskCause),
    /// It may not. The model reads why.
    Deny(String),
}

impl Settled {
    /// Without the reason.
    pub fn ruling(&self) -> Ruling {
        match self {
            Self::Allow => Ruling::Allow,
            Self::Ask(_) => Ruling::Ask,
            Self::Deny(_) => Ruling::Deny,
        }
    }
}

/// Why a person is asked about a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AskCause {
    /// This rule wants it.
    Rule(Rule),
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
    /// This file may hold secrets.
    Secrets(PathBuf),
    /// The same call ran before; its effects outside of the files were not taken back.
    RanBefore,
}

/// What the model reads where only reading is free.
const PLAN: &str =
    "plan mode only reads: say what you would do, step by step, and leave it until the person agrees";

impl Permission {
    /// Whether a call of this tool with this intent may run. Globs are relative to the first root. Each thing that it touches
    /// is looked at, and the strictest answer holds. Of rules that fit, one that denies wins over one that asks, that over
    /// one that allows, and any over the mode. Plan refuses whatever may write, whatever rules say.
    pub fn settle(&self, tool: &str, intent: &Intent, roots: &[PathBuf]) -> Settled {
        let mut settled: Option<Settled> = None;
        for piece in fit::pieces(intent, roots) {
            let next = self.settle_piece(tool, intent.class, &piece, roots);
            if settled.as_ref().is_none_or(|settled| settled.ruling() < next.ruling()) {
                settled = Some(next);
            }
        }
        settled.expect("BUG: every intent has a piece")
    }

    /// What of this only forbids: from somebody else's file, nothing may be allowed that nobody here has allowed.
    #[must_use]
    pub fn forbidding(&self) -> Self {
        let mode = if self.mode == Mode::Plan { Mode::Plan } else { Mode::Ask };
        let rules = self.rules.iter().filter(|rule| rule.ruling != Ruling::Allow).cloned().collect();
        Self { mode, rules }
    }

    /// What holds of every call of a tool of this class, where that does not depend on the call.
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

    /// The rules that allow something to tools whose names begin so.
    pub fn allowing<'a>(&'a self, beginning: &'a str) -> impl Iterator<Item = &'a Rule> {
        let fits = move |rule: &&Rule| {
            let fixed = rule.tool.find('*').map_or(rule.tool.as_str(), |at| &rule.tool[..at]);
            fixed.starts_with(beginning) || (fixed.len() < rule.tool.len() && beginning.starts_with(fixed))
        };
        self.rules.iter().filter(|rule| rule.ruling == Ruling::Allow).filter(fits)
    }

    /// What rules say of a tool that reads this path, whatever the mode says; nothing, where none fits.
    pub fn reading(&self, tool: &str, path: &Path, roots: &[PathBuf]) -> Option<Ruling> {
        let root = roots.first().map_or(Path::new("/"), PathBuf::as_path);
        let piece = fit::path_piece(path, false, roots);
        let fitting = self.rules.iter().filter(|rule| fit::fits(rule, tool, &piece, root));
        fitting.map(|rule| rule.ruling).max()
    }

    /// Whether a rule allows this path to a tool, and names paths: what is guarded is allowed by no other one.
    pub fn allows_by_name(&self, tool: &str, path: &Path, roots: &[PathBuf]) -> bool {
        let root = roots.first().map_or(Path::new("/"), PathBuf::as_path);
        let piece = fit::path_piece(path, false, roots);
        let mut named = self.rules.iter().filter(|rule| rule.ruling == Ruling::Allow && rule.what.is_some());
        named.any(|rule| fit::fits(rule, tool, &piece, root))
    }

    fn settle_piece(&self, tool: &str, class: EffectClass, piece: &Piece, roots: &[PathBuf]) -> Settled {
        if self.mode == Mode::Plan && (class != EffectClass::None || piece.may_write()) {
            return Settled::Deny(PLAN.to_owned());
        }
        let root = roots.first().map_or(Path::new("/"), PathBuf::as_path);
        let fitting = self.rules.iter().filter(|rule| fit::fits(rule, tool, piece, root));
        // Of those that are equally strict the first one is named.
        if let Some(rule) = fitting.rev().max_by_key(|rule| rule.ruling) {
            return match rule.ruling {
                Ruling::Allow => Settled::Allow,
                Ruling::Ask => Settled::Ask(AskCause::Rule(rule.clone())),
                Ruling::Deny => Settled::Deny(format!("the rule `{rule}` forbids it")),
            };
        }
        self.by_mode(class, piece)
    }

    /// What holds where no rule fits.
    fn by_mode(&self, class: EffectClass, piece: &Piece) -> Settled {
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
        if is_allowed { Settled::Allow } else { Settled::Ask(cause) }
    }
}

#[cfg(test)]
mod tests;
