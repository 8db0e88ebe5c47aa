//! The parts that a call touches, and whether a rule matches one of them. A rule that allows matches a part only if that is certain;
//! one that asks or denies also if it is possible. Must never read a file.

use std::path::{Component, Path, PathBuf};

use super::command::{self, Part};
use super::host::Host;
use super::{Rule, Ruling, glob};
use crate::effect::{CallTarget, Intent};
use crate::shell_line::StartFolder;

/// The name in place of a tool in rules for commands with network access.
pub(super) const NETWORK: &str = "network";

/// One part of what a call touches.
#[derive(Debug)]
pub(super) enum Piece {
    /// A call that touches nothing.
    Nothing,
    /// Only its server knows.
    Unknown,
    /// A file or a folder.
    Path {
        /// The path, without `.` and `..`.
        path: PathBuf,
        /// Whether its name contains `..`, which may lead to another place.
        back: bool,
        /// Whether it is written.
        write: bool,
        /// Whether it is below a root.
        inside: bool,
    },
    /// A command of a command line.
    Command {
        /// The command.
        part: Part,
        /// Whether it can reach the network.
        network: bool,
    },
    /// An address.
    Host(Host),
}

impl Piece {
    /// Whether it does more than read, whatever the class of the call is.
    pub(super) fn may_write(&self) -> bool {
        matches!(self, Self::Path { write: true, .. })
    }

    /// Whether it is a path in the workspace.
    pub(super) fn is_inside(&self) -> bool {
        matches!(self, Self::Path { inside: true, .. })
    }
}

/// The parts that a call touches; at least one.
pub(super) fn pieces(intent: &Intent, roots: &[PathBuf]) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for touch in &intent.touches {
        match touch {
            CallTarget::Read(path) => pieces.push(path_piece(path, false, roots)),
            CallTarget::Write(path) => pieces.push(path_piece(path, true, roots)),
            CallTarget::Command(line) => {
                let network = intent.touches.contains(&CallTarget::Network);
                let begins = match intent.touches.contains(&CallTarget::Elsewhere) {
                    true => StartFolder::Elsewhere,
                    false => StartFolder::AtRoot,
                };
                let parts = command::parts(line, begins).into_iter();
                pieces.extend(parts.map(|part| Piece::Command { part, network }));
            }
            // These describe the commands.
            CallTarget::Network | CallTarget::Elsewhere => {}
            CallTarget::Url(url) => pieces.push(Piece::Host(Host::of(url))),
            CallTarget::Other => pieces.push(Piece::Unknown),
        }
    }
    if pieces.is_empty() {
        // A call with an empty command line is an ordinary call.
        pieces.push(if intent.touches.is_empty() { Piece::Nothing } else { Piece::Unknown });
    }
    pieces
}

/// A touched path.
pub(super) fn path_piece(path: &Path, write: bool, roots: &[PathBuf]) -> Piece {
    let mut straight = PathBuf::new();
    let mut back = false;
    for component in path.components() {
        match component {
            Component::ParentDir => {
                back = true;
                straight.pop();
            }
            Component::CurDir => {}
            other => straight.push(other),
        }
    }
    let inside = !back && roots.iter().any(|root| straight.starts_with(root));
    Piece::Path { path: straight, back, write, inside }
}

/// Whether a rule matches.
pub(super) fn fits(rule: &Rule, tool: &str, piece: &Piece, root: &Path) -> bool {
    let allows = rule.ruling == Ruling::Allow;
    // No rule for a tool allows the network; one that denies the tool or the network denies both together.
    let is_for = match piece {
        Piece::Command { network: true, .. } => {
            glob::word(&rule.tool, NETWORK) || !allows && glob::word(&rule.tool, tool)
        }
        _ => glob::word(&rule.tool, tool),
    };
    if !is_for {
        return false;
    }
    let Some(what) = &rule.what else {
        return true;
    };
    match piece {
        Piece::Nothing | Piece::Unknown => false,
        Piece::Command { part, .. } if allows => part.begins(what),
        Piece::Command { part, .. } => part.is_caught(what),
        Piece::Host(host) if allows => host.plain && host.is(what),
        Piece::Host(host) => host.is(what),
        Piece::Path { back: true, .. } if allows => false,
        Piece::Path { path, .. } if allows => path_fits(what, path, root),
        // A named folder includes everything below it.
        Piece::Path { path, .. } => path.ancestors().any(|path| path_fits(what, path, root)),
    }
}

/// Whether a path matches a glob, which is relative to the root unless it begins with `/`.
fn path_fits(what: &str, path: &Path, root: &Path) -> bool {
    let below = if what.starts_with('/') { path.strip_prefix("/") } else { path.strip_prefix(root) };
    let Ok(below) = below else {
        return false;
    };
    let names: Vec<_> = below.components().map(|name| name.as_os_str().to_string_lossy()).collect();
    let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
    glob::path(what, &names)
}
