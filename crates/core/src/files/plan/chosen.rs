//! A person's choices for the paths of a plan.

use std::collections::BTreeMap;

use super::{Choice, Verdict};
use crate::files::file_path::FilePath;
use crate::files::hunks::{BadHunks, HunkDefect};

impl Choice {
    /// Whether this choice adopts the version after it; `theirs` is whether a version of somebody else is known.
    pub(super) fn adopts(&self, theirs: bool) -> bool {
        match self {
            Self::Disk => true,
            Self::Yours => theirs,
            Self::Checkpoint | Self::Merge | Self::Skip | Self::Hunks(_) => false,
        }
    }
}

/// A person's choices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// For these paths.
    pub paths: BTreeMap<FilePath, Choice>,
    /// For all others.
    pub others: Option<Choice>,
}

impl Chosen {
    /// Checks that hunks are chosen only for planned paths.
    pub fn fits(&self, is_planned: impl Fn(&FilePath) -> bool) -> Result<(), BadHunks> {
        let mut hunks = self.paths.iter().filter(|(_, choice)| matches!(choice, Choice::Hunks(_)));
        match hunks.find(|(path, _)| !is_planned(path)) {
            Some((path, _)) => Err(BadHunks { path: path.clone(), why: HunkDefect::NotPlanned }),
            None => Ok(()),
        }
    }

    pub(super) fn of(&self, path: &FilePath) -> Option<&Choice> {
        self.paths.get(path).or(self.others.as_ref())
    }
}

/// The possible choices: the default first, then by usefulness.
pub(super) fn offered(verdict: &Verdict, merges: bool, theirs: bool) -> Vec<Choice> {
    let first = match verdict {
        Verdict::Merge => Choice::Merge,
        Verdict::Conflict(_) | Verdict::Kept | Verdict::GitHas | Verdict::Foreign => Choice::Skip,
        _ => Choice::Checkpoint,
    };
    let mut choices = vec![
        (Choice::Disk, true),
        (Choice::Checkpoint, true),
        (Choice::Merge, merges),
        (Choice::Yours, theirs),
        (Choice::Skip, true),
    ];
    choices.retain(|(choice, offered)| *offered || *choice == first);
    choices.sort_by_key(|(choice, _)| *choice != first);
    choices.into_iter().map(|(choice, _)| choice).collect()
}
