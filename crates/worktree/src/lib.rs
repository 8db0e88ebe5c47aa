//! The user's files: captured, stored in an object store, and restored by plans. The only crate that may write to a
//! workspace, and only below the given root; it must follow no link, start no process, and use no network.

mod apply;
mod attributes;
mod capture;
mod error;
pub mod failpoint;
mod git;
mod merge;
mod objects;
mod root;

pub use apply::{
    Direction, Failed, Interrupted, Note, NoteKind, Obstacle, Outcome, Prepared, Refusal, Report,
    SettledApply, StagedApply, StagingName, discard, link_notes, recover,
};
pub use attributes::Changes;
pub use capture::{
    Capture, CaptureScope, CoverageChange, Findings, FoundFiles, KnownPath, Manifest, Mark, Permission,
    Progress, Rules, Stats, Tree, WriteSource, refuse, refuse_known,
};
pub use error::{Result, WorktreeError};
pub use git::{
    ChangedPaths, GitState, GitStatus, Ignores, MOST_COMMITS, NamedBySettings, Nested, NoGitStatus, Upstream,
    reached, same_as_commit, tracked,
};
pub use merge::{
    Diff, Hunk, Hunks, Line, LineCounts, MAX_SHOWN, MAX_TEXT, Remark, Side, StoredMerges, diff, merge_texts,
    merge_texts_over, unified,
};
pub use objects::{
    Checked, Collected, Erased, Guard, MemoryObjects, Objects, PackObjects, PackSizes, Survey, hash,
};
pub use root::{Root, RootId, RootLock, Stamp};
