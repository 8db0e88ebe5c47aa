//! Care for the whole store: a check of everything, and a backup.

use std::path::PathBuf;

/// What a check may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Care {
    /// Only look.
    Look,
    /// Mend what can be mended without losing anything.
    Mend,
}

/// What a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Checked {
    /// Conversations looked at.
    pub conversations: u64,
    /// Entries in them.
    pub entries: u64,
    /// What is wrong, a sentence each.
    pub problems: Vec<String>,
    /// What the database says of it, for those who know its inside.
    pub details: Vec<String>,
    /// What was mended, a sentence each.
    pub mended: Vec<String>,
}

/// A copy of the whole store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Copied {
    /// The file.
    pub path: PathBuf,
    /// Its size.
    pub bytes: u64,
}
