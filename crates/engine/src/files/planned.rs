//! The plan of an action: its effect on the conversation and on files. Values only.

use std::path::PathBuf;

use retake_core::{EntryId, FilePlan, Planned, Unanswered, WorkspaceNo};

use super::effects::Effects;
use super::note::Note;
use super::uncaptured::Uncaptured;

/// The file half of a plan in one of the folders of a conversation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FolderPlan {
    /// The workspace.
    pub workspace: WorkspaceNo,
    /// The folder; none for the conversation's own.
    pub folder: Option<PathBuf>,
    /// The folder, also for the conversation's own.
    pub root: PathBuf,
    /// The plan for its files.
    pub plan: FilePlan,
}

/// Both halves of a plan.
#[derive(Clone, Debug)]
pub struct PlannedFiles {
    /// The plan for the conversation; none for files alone.
    pub conversation: Option<Planned>,
    /// The plans for files, the conversation's own folder first. Empty without a workspace, and without a file half.
    pub files: Vec<FolderPlan>,
    /// The digest of this plan of files.
    pub digest: [u8; 16],
    /// What is adopted, and what stays.
    pub notes: Vec<Note>,
    /// Calls that are reverted and whose processes still run: they must be ended first.
    pub running: Vec<Running>,
    /// Effects that cannot be reverted.
    pub effects: Effects,
    /// Changes of the reverted calls that captures do not cover, oldest first: they stay.
    pub unseen: Uncaptured,
    /// A run is at work: it must be ended first.
    pub at_work: bool,
    /// The number of messages that wait for its end: stopping the run returns them.
    pub waiting: usize,
    /// Interrupted calls that are taken back and are not among the effects: what they did is not known.
    pub cut_off: Vec<Unanswered>,
}

/// A call whose processes still run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Running {
    /// The entry with its request.
    pub entry: EntryId,
    /// The number of its processes.
    pub processes: usize,
}
