//! What a step has to do with files at all: whether it changes any, and if not, why. Pure.

use crate::entry::Totals;
use crate::files::{FilePlan, Verdict};
use crate::kept::Scope;

/// What a step has to do with files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilesExtent {
    scope: Scope,
    folders: usize,
    paths: usize,
    /// A path changes, or is left alone.
    any: bool,
    /// Calls leave the conversation or return to it.
    calls: bool,
}

/// A remark about the files of a step as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FilesRemark {
    /// No call leaves or returns, so no file changes.
    NoFileChanges,
    /// The step is of the conversation alone.
    ConversationOnly,
    /// No covered file changes; what captures do not cover may have been changed all the same.
    NoCoveredFileChanges,
    /// The files are as wanted already.
    Unchanged,
    /// Files in so many covered folders change, and nothing elsewhere.
    CoveredFoldersOnly(usize),
}

impl FilesExtent {
    /// Of the plans of one step, and of the messages that it takes back and brings back. Where files alone are meant, there are no
    /// messages, and calls may be concerned.
    pub fn new<'a>(
        scope: Scope,
        plans: impl Iterator<Item = &'a FilePlan>,
        messages: Option<[Totals; 2]>,
    ) -> Self {
        let calls = messages.is_none_or(|totals| totals.iter().any(|totals| totals.calls > 0));
        let mut all = Self { scope, folders: 0, paths: 0, any: false, calls };
        for plan in plans {
            all.folders += 1;
            all.paths += plan.paths.len();
            all.any |= plan.paths.iter().any(|path| path.verdict != Verdict::Unchanged || path.is_chosen());
        }
        all
    }

    /// Of several steps together.
    #[must_use]
    pub fn and(self, next: Self) -> Self {
        Self {
            scope: next.scope,
            folders: self.folders.max(next.folders),
            paths: self.paths + next.paths,
            any: self.any || next.any,
            calls: self.calls || next.calls,
        }
    }

    /// That no file changes, and why; nothing, where one does.
    pub fn unchanged(self) -> Option<FilesRemark> {
        match self {
            Self { paths: 0, calls: false, .. } => Some(FilesRemark::NoFileChanges),
            Self { scope: Scope::Conversation, .. } => Some(FilesRemark::ConversationOnly),
            Self { paths: 0, .. } => Some(FilesRemark::NoCoveredFileChanges),
            Self { any: false, .. } => Some(FilesRemark::Unchanged),
            _ => None,
        }
    }

    /// What a plan says before the step.
    pub fn before(self) -> FilesRemark {
        self.unchanged().unwrap_or(FilesRemark::CoveredFoldersOnly(self.folders))
    }

    /// What the receipt of a repeated request says, for which nothing of files is recorded.
    pub fn repeated(messages: [Totals; 2]) -> Option<FilesRemark> {
        messages.iter().all(|totals| totals.calls == 0).then_some(FilesRemark::NoFileChanges)
    }
}

#[cfg(test)]
mod tests;
