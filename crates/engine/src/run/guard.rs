//! Files with secrets: a call that reads one is refused or needs an approval, unless a person's rule names the file. So does a
//! call that writes the hooks of a folder. Must never allow more than rules and mode.

use std::path::{Path, PathBuf};

use retake_core::{AskCause, CallRefusal, CallRuling, CallTarget, Intent, Mode, Permission, Rule, Ruling};
use retake_tools::{Guard, Guarded};

use crate::settings::HOOKS_FILE;

/// The guard for the files of a call.
#[derive(Clone, Copy)]
pub(super) struct Guards<'a> {
    pub(super) guarded: &'a Guarded,
    pub(super) permission: &'a Permission,
    pub(super) roots: &'a [PathBuf],
}

impl Guards<'_> {
    /// The guard when a tool reads this file; `None` for an ordinary file.
    pub(super) fn of(self, tool: &str, path: &Path) -> Option<Guard> {
        self.unless_free(tool, path, self.guarded.guard(path)?)
    }

    fn unless_free(self, tool: &str, path: &Path, guard: Guard) -> Option<Guard> {
        // In the mode allow-all a person gets no approval request.
        let is_free = guard == Guard::Asked && self.permission.mode == Mode::AllowAll;
        (!is_free && !self.permission.allows_by_name(tool, path, self.roots)).then_some(guard)
    }

    /// The guarded files that a call touches, the strictest first. A file that certainly contains secrets must not be edited
    /// either: an edit shows lines of it. The hooks of a folder run programs after an approval, so a change of them needs one, too.
    fn touched<'i>(self, tool: &str, intent: &'i Intent) -> Vec<(Guard, &'i Path, AskCause)> {
        let guard = |touch: &'i CallTarget| match touch {
            CallTarget::Read(path) => {
                Some((self.of(tool, path)?, path.as_path(), AskCause::Secrets(path.clone())))
            }
            CallTarget::Write(path) => {
                let refused = self.of(tool, path).filter(|guard| *guard == Guard::Refused);
                let asked =
                    || self.unless_free(tool, path, Guard::Asked).filter(|_| path.ends_with(HOOKS_FILE));
                Some((refused.or_else(asked)?, path.as_path(), AskCause::Writes))
            }
            _ => None,
        };
        let mut touched: Vec<_> = intent.touches.iter().filter_map(guard).collect();
        touched.sort_by(|(a, ..), (b, ..)| b.cmp(a));
        touched
    }

    /// Applies the guard to a call's ruling by rules and mode.
    pub(super) fn settle(self, tool: &str, intent: &Intent, settled: CallRuling) -> CallRuling {
        let touched = self.touched(tool, intent);
        let Some((guard, path, cause)) = touched.into_iter().next() else { return settled };
        let next = match guard {
            Guard::Refused => CallRuling::Deny(CallRefusal::Secrets(path.to_owned(), tool.to_owned())),
            Guard::Asked => CallRuling::Ask(cause),
        };
        if settled.ruling() >= next.ruling() { settled } else { next }
    }

    /// The suggested rules for a call: those that would allow it if no guarded file is involved; else one that names the file.
    pub(super) fn offers(self, tool: &str, intent: &Intent) -> Vec<Rule> {
        let Some((_, path, _)) = self.touched(tool, intent).into_iter().next() else {
            return self.permission.offers(tool, intent, self.roots);
        };
        let below = self.roots.first().and_then(|root| path.strip_prefix(root).ok()).unwrap_or(path);
        let what = below.to_str().filter(|what| !what.contains(['*', '?']));
        let rule = what.map(|what| Rule {
            ruling: Ruling::Allow,
            tool: tool.to_owned(),
            what: Some(what.to_owned()),
        });
        rule.into_iter().filter(|rule| self.would_allow(rule, tool, intent)).collect()
    }

    fn would_allow(self, rule: &Rule, tool: &str, intent: &Intent) -> bool {
        let mut permission = self.permission.clone();
        permission.rules.push(rule.clone());
        let with = Guards { permission: &permission, ..self };
        with.settle(tool, intent, permission.settle(tool, intent, self.roots)) == CallRuling::Allow
    }
}
