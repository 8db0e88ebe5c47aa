//! The rules that are suggested in an approval request. Must never suggest one that would not allow the call.

use std::path::{Path, PathBuf};

use super::fit::{self, Piece};
use super::{CallRuling, Permission, Rule, Ruling};
use crate::effect::{CallTarget, Intent};

impl Permission {
    /// Rules that would allow this call and similar ones without an approval, from narrow to wide. None if a rule asks, or if the
    /// call may run already: then no rule is missing.
    pub fn offers(&self, tool: &str, intent: &Intent, roots: &[PathBuf]) -> Vec<Rule> {
        if self.settle(tool, intent, roots) == CallRuling::Allow {
            return Vec::new();
        }
        let pieces = fit::pieces(intent, roots);
        let is_networked = intent.touches.contains(&CallTarget::Network);
        let tool_named = if is_networked { fit::NETWORK } else { tool };
        let mut whats: Vec<Option<String>> = Vec::new();
        whats.extend(commands(&pieces).map(Some));
        whats.extend(folder(&pieces, roots).map(Some));
        whats.extend(pieces.iter().filter_map(host).map(Some));
        whats.push(None);
        let mut offers: Vec<Rule> = Vec::new();
        for what in whats {
            let rule = Rule { ruling: Ruling::Allow, tool: tool_named.to_owned(), what };
            if !offers.contains(&rule) && self.with(&rule).settle(tool, intent, roots) == CallRuling::Allow {
                offers.push(rule);
            }
        }
        offers
    }

    /// The same with one more rule.
    pub(super) fn with(&self, rule: &Rule) -> Self {
        let mut with = self.clone();
        with.rules.push(rule.clone());
        with
    }
}

fn commands(pieces: &[Piece]) -> impl Iterator<Item = String> {
    pieces
        .iter()
        .filter_map(|piece| match piece {
            Piece::Command { part, .. } => Some(part.rules()),
            _ => None,
        })
        .flatten()
}

fn host(piece: &Piece) -> Option<String> {
    match piece {
        Piece::Host(host) if host.plain => Some(host.name().to_owned()),
        _ => None,
    }
}

/// The common folder of all paths, as a glob of everything below it.
fn folder(pieces: &[Piece], roots: &[PathBuf]) -> Option<String> {
    let mut folders = pieces.iter().filter_map(|piece| match piece {
        Piece::Path { path, .. } => Some(path.parent().unwrap_or(path)),
        _ => None,
    });
    let mut common = folders.next()?;
    for folder in folders {
        while !folder.starts_with(common) {
            common = common.parent()?;
        }
    }
    let below = roots.first().and_then(|root| common.strip_prefix(root).ok());
    // Its own `*` or `?` would match any letters: a glob cannot escape them.
    if below.unwrap_or(common).to_str()?.contains(['*', '?']) {
        return None;
    }
    match below {
        Some(below) if below == Path::new("") => Some("**".to_owned()),
        Some(below) => Some(format!("{}/**", below.to_str()?)),
        // The root of the disk is not a common folder.
        None if common == Path::new("/") => None,
        None => Some(format!("{}/**", common.to_str()?)),
    }
}
