//! Rows about files. Part of the seam between the store's logic and its backends.

use retake_core::{ContentHash, DeltaNo, FilePath, GitMove, OpNo, Stack};

use super::{ConversationRow, LogNo};
use crate::error::Result;
use crate::files::{
    CaptureRow, DeltaLayers, DeltaLine, IntentRow, Moved, OpenCall, WorkspaceNo, WorkspaceRow,
};

/// Rows about files, within one transaction.
pub trait FileRows {
    /// Adds a workspace; its number comes back.
    fn insert_workspace(&mut self, row: &WorkspaceRow) -> Result<WorkspaceNo>;
    /// Says what the last capture of a workspace saw.
    fn set_mark(&mut self, workspace: WorkspaceNo, mark: ContentHash) -> Result<()>;
    /// Every workspace, in order of their numbers.
    fn workspaces(&self) -> Result<Vec<WorkspaceRow>>;
    /// Adds a capture, with its number.
    fn insert_capture(&mut self, workspace: WorkspaceNo, row: &CaptureRow) -> Result<()>;
    /// Captures before a number, newest first.
    fn captures(&self, workspace: WorkspaceNo, before: Option<u64>, limit: usize) -> Result<Vec<CaptureRow>>;

    /// Adds a call that may be changing a workspace.
    fn insert_call(&mut self, call: &OpenCall) -> Result<()>;
    /// Removes one, where it is there.
    fn remove_call(&mut self, id: &str) -> Result<()>;
    /// The calls that may be changing a workspace, in the order of their entries' ids.
    fn calls(&self) -> Result<Vec<OpenCall>>;

    /// Adds what the call whose result is this entry moved in git.
    fn insert_git_move(
        &mut self,
        home: &ConversationRow,
        seq: u64,
        workspace: WorkspaceNo,
        moved: &GitMove,
    ) -> Result<()>;
    /// What the calls of a log moved in git, by their results, first first.
    fn git_moves(&self, log: LogNo) -> Result<Vec<(u64, WorkspaceNo, GitMove)>>;

    /// Adds a delta with its number.
    fn insert_delta(&mut self, home: &ConversationRow, line: &DeltaLine, layers: &DeltaLayers) -> Result<()>;
    /// The deltas of a log, first first.
    fn deltas(&self, log: LogNo) -> Result<Vec<DeltaLine>>;
    /// The number of the last delta of a log.
    fn last_delta(&self, log: LogNo) -> Result<Option<DeltaNo>>;
    /// Counts a delta into some more paths (or out of them).
    fn count_applied(&mut self, home: &ConversationRow, no: DeltaNo, by: i64) -> Result<()>;
    /// What a delta did.
    fn delta(&self, log: LogNo, no: DeltaNo) -> Result<DeltaLayers>;
    /// Sets the layers of a path. Derived: from deltas and moves it can be made again.
    fn set_layers(
        &mut self,
        home: &ConversationRow,
        workspace: WorkspaceNo,
        path: &FilePath,
        stack: &Stack,
    ) -> Result<()>;
    /// The layers of a path.
    fn layers(&self, log: LogNo, workspace: WorkspaceNo, path: &FilePath) -> Result<Stack>;

    /// Adds what an operation does to files.
    fn insert_moved(&mut self, home: &ConversationRow, op: OpNo, moved: &Moved) -> Result<()>;
    /// What an operation did to files.
    fn moved(&self, log: LogNo, op: OpNo) -> Result<Option<Moved>>;
    /// Sets or removes the intent of a workspace.
    fn set_intent(&mut self, workspace: WorkspaceNo, intent: Option<&IntentRow>) -> Result<()>;
    /// Every intent.
    fn intents(&self) -> Result<Vec<IntentRow>>;
}
