//! Whether a step changes files, and if it does not, why. Pure.

use crate::entry::Totals;
use crate::files::{FilePlan, Verdict};
use crate::kept::Scope;

/// The extent to which a step concerns files.
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
    /// Only files in the covered folders can change. The number of these folders.
    CoveredFoldersOnly(usize),
}

impl FilesExtent {
    /// The extent of one step, from its file plans and the totals of the messages that leave and come. `None` for a step on files
    /// only: calls may be concerned then.
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

    /// The extent of this step and the next one together.
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

    /// The reason why no file changes. None if a file changes.
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

    /// What the receipt of a repeated request says. The extent of its step is not recorded, so nothing can be said if calls left
    /// or came, or if files were moved.
    pub fn repeated(messages: [Totals; 2], moved_files: bool) -> Option<FilesRemark> {
        let calls = messages.iter().any(|totals| totals.calls > 0);
        (!calls && !moved_files).then_some(FilesRemark::NoFileChanges)
    }
}

#[cfg(test)]
mod tests;
