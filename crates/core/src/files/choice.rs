//! The choices that a person has for a path. Pure.

/// A choice for a path.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Choice {
    /// The version on disk is kept, and counts as somebody else's from now on.
    Disk,
    /// The last version that somebody else wrote.
    Yours,
    /// Exactly the checkpoint's version, whatever others wrote since.
    Checkpoint,
    /// Later changes by other authors are merged with it.
    Merge,
    /// It is left as it is, and the next step asks again.
    Skip,
    /// Only these hunks (from 1) of the change; the others are left as they are, and the next step asks again.
    Hunks(Vec<u32>),
}

impl Choice {
    /// Its name in requests and errors.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Disk => "disk",
            Self::Yours => "yours",
            Self::Checkpoint => "checkpoint",
            Self::Merge => "merge",
            Self::Skip => "skip",
            Self::Hunks(_) => "hunks",
        }
    }
}
