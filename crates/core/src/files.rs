//! Files of a workspace as data: names, records, changes, layers of deltas, and how a path is rebuilt. Must never touch a
//! disk.

mod authorship;
mod change;
mod choice;
mod coming;
mod explain;
mod file_path;
mod folders;
mod git;
mod hunks;
mod merge;
mod plan;
mod record;
mod renames;
mod returning;
mod shown;
mod stack;
#[cfg(test)]
pub(crate) mod testing;
mod why_not;

pub use authorship::{BlockingAuthor, ChoiceOutcome};
pub use change::{FileChange, Grade, Uncertain, without_full_folders};
pub use choice::Choice;
pub use explain::{FileTotals, PathChange, PathList, PathReason};
pub use file_path::{BadFilePath, FilePath, PathDefect};
pub use git::{
    GitBack, GitFile, GitFileChange, GitFileRole, GitMove, GitPlace, GitRef, GitRemark, GitWorktree,
    GitWorktreeMove, PutBack,
};
pub use hunks::{BadHunks, HunkDefect};
pub use merge::{Clash, MergeBytes, Merged, NoSuchHunks, merge};
pub use plan::{
    Chosen, CurrentPath, DesiredState, FilePlan, Moves, PathMove, PathPlan, PlanInput, Verdict, WantedPath,
};
pub use record::{ContentHash, Record};
pub use returning::{EarlierStep, ReturningPaths};
pub use shown::{DiffHunks, LeftPath, LeftReason};
pub use stack::{Clashed, ClashedBy, DeltaId, Layer, Rebuilt, Stack};
pub use why_not::{Uncovered, UncoveredReason};
