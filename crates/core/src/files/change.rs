//! What changed between two captures.

use super::file_path::FilePath;
use super::record::Record;

/// A path, before and after. Both sides were covered; `None` is: known to be absent.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FileChange {
    /// Which path.
    pub path: FilePath,
    /// What was there.
    pub before: Option<Record>,
    /// What is there.
    pub after: Option<Record>,
}

impl FileChange {
    /// The change that takes this one back.
    #[must_use]
    pub fn inverse(&self) -> Self {
        Self { path: self.path.clone(), before: self.after.clone(), after: self.before.clone() }
    }
}

/// How sure it is that a change is the agent's (design, section 2).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Grade {
    /// One of our own edit tools did it, known exactly.
    Written,
    /// It happened during one call: presumed the agent's.
    Seen,
    /// Several calls were open, or a background job still ran: kept unless chosen.
    Ambiguous,
}
